"""Arrays of a replayed proof as their elements: each element is a scalar node, made by the definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import bits_of
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops.arrays import Patches
from dialect_utils.ops.contractions import summed_in
from dialect_utils.ops.domain import UndefinedError, static_array
from dialect_utils.verdict.replay.moving import is_op, label_of
from dialect_utils.verdict.terms.bits import joined_bits, part_of_bits
from dialect_utils.verdict.terms.graph import UNSPECIFIED, Nodes
from dialect_utils.verdict.terms.interpretation import Interpretation
from dialect_utils.verdict.terms.primitives import Term

_Array = NDArray[np.int64]
# The most nodes that a replay makes: twice as many as a proof.
_MOST_ELEMENTS = 300_000


class Elements(Interpretation[Term, Any]):
    """The elements of terms; `equal` lists pairs of nodes that are equal by definition."""

    def __init__(self, nodes: Nodes) -> None:
        super().__init__()
        self.graph, self.nodes = nodes.graph, nodes
        self.equal: list[tuple[int, int]] = []
        self._count = 0
        self._scalars: dict[str, ArrayShape] = {}

    def spend(self, count: int) -> None:
        """Counts nodes that are made; raises UndefinedError where there are too many."""
        self._count += count
        if self._count > _MOST_ELEMENTS:
            raise UndefinedError("the arrays are too large to be compared element by element")

    def interpreted(self, term: Term) -> _Array | None:
        """Returns the elements of an array, None for other values."""
        node, shape = self.graph.insert(term), term.shape
        if not isinstance(shape, ArrayShape) or not shape.is_static:
            return None
        self.spend(prod(shape.dimensions))
        found = self._of(term, shape, node).reshape(shape.dimensions)
        if shape.dimensions:
            self.equal.append((node, self.graph.make("array", None, shape, [*map(int, found.flat)])))
        elif int(found) != node:
            self.equal.append((node, int(found)))
        return found

    def _of(self, term: Term, shape: ArrayShape, node: int) -> _Array:
        operands = [self.values[operand] for operand in term.operands]
        scalar = ArrayShape(shape.element_type, ())
        match term.kind:
            case _ if not shape.dimensions:
                return self._scalar_of(term, node)
            case "constant" if isinstance(term.label, bytes):
                bits = bits_of(term.label, shape.element_type)
                return np.array([self.nodes.literal(shape.element_type, each, ()) for each in bits], np.int64)
            case "splat":
                return np.broadcast_to(operands[0], shape.dimensions)
            case "array":
                return np.array([self.graph.insert(each) for each in term.operands], np.int64)
            case "each":
                label = self.graph.symbols[node][1]
                return self._mapped(lambda *each: self.nodes.each(label, shape.element_type, each), operands)
            case "choice":
                selector, *branches = operands
                return self._mapped(
                    lambda *each: self.graph.make("choice", term.label, scalar, [int(selector), *each]), branches
                )
            case "moved":
                return np.asarray(self.moved(term))
            case "out" if (rows := self._result(term)) is not None:
                return rows
        try:
            return np.asarray(self.computed(term))
        except UndefinedError:
            made = (self.graph.make("element", i, scalar, (node,)) for i in range(prod(shape.dimensions)))
            return np.fromiter(made, np.int64)

    def _scalar_of(self, term: Term, node: int) -> _Array:
        """Returns a scalar; for movement the element that it reads, unless that is undefined padding."""
        try:
            return np.asarray(self.moved(term)) if term.kind == "moved" else np.array(node)
        except UndefinedError:
            return np.array(node)

    def _rows(self, term: Term) -> _Array | None:
        """Returns a result of a reduction by a function as one node per row; None for other operations."""
        (general,) = term.operands
        if general.label != ("reduce", None):
            return None
        *operands, function = general.operands
        count = len(operands) // 2
        arrays, initial = ([self.values[each] for each in part] for part in (operands[:count], operands[count:]))
        found = []
        scalar = ArrayShape(static_array(term.shape).element_type, ())
        for row in range(len(arrays[0])):
            items = [int(each) for array in arrays for each in array[row]]
            items += [*(int(each) for each in initial), self.graph.insert(function)]
            made = self.graph.make("op", ("reduce-row", count), general.shape, items)
            found.append(self.graph.make("out", term.label, scalar, (made,)))
        return np.array(found, np.int64)

    def _result(self, term: Term) -> _Array | None:
        """Returns a result of a reduction by a function, or of a scatter at known positions; None for others."""
        (general,) = term.operands
        if not is_op(general, "scatter"):
            return self._rows(term)
        assert isinstance(term.label, int)  # the number of a result
        try:
            return np.asarray(self.scattered(general, self._applied)[term.label])
        except UndefinedError:
            return None

    def _applied(self, function: Term, arrays: Sequence[_Array]) -> list[_Array]:
        """Applies a function to elements; raises UndefinedError for one that is not elementwise."""
        _, level, shapes, count = label_of(function)
        variables = [self.graph.make("leaf", ("bound", level, i), shape) for i, shape in enumerate(shapes)]
        self.spend(count * len(arrays[0]))

        results = [self.graph.insert(each) for each in function.operands[:count]]
        if not all(self.graph.is_elementwise(result, variables) for result in results):
            raise UndefinedError("the function is not elementwise")

        def applied(result: int, *items: int) -> int:
            return self.graph.substituted(result, dict(zip(variables, items, strict=True)))

        return [self._mapped(partial(applied, result), arrays) for result in results]

    def _mapped(self, make: Callable[..., int], arrays: Sequence[_Array]) -> _Array:
        rows = zip(*(array.flat for array in arrays), strict=True)
        return np.array([make(*map(int, row)) for row in rows], np.int64).reshape(arrays[0].shape)

    def select(self, make: Callable[..., NDArray[Any]], *arrays: _Array) -> _Array:
        return make(*arrays)

    def dimensions(self, array: _Array) -> tuple[int, ...]:
        return array.shape

    def integers(self, array: _Array) -> NDArray[np.int64]:
        found = [self.nodes.integer(int(each)) for each in array.flat]
        return np.array(found, np.int64).reshape(array.shape)

    def iota(self, element_type: ElementType, size: int) -> _Array:
        return np.array([self.nodes.number(element_type, i, ()) for i in range(size)], np.int64)

    def contract(self, operation: Term, left: _Array, right: _Array, present: object = None) -> _Array:
        assert isinstance(operation.label, tuple)  # the label ends with the attributes
        kind, texts = static_array(operation.shape).element_type, operation.label[-1]
        self.spend(left.size * right.shape[1])
        found = np.empty((*left.shape[:2], right.shape[1]), np.int64)
        for b, i, j in product(*map(range, found.shape)):
            pairs = zip(left[b, i], right[b, j], strict=True)
            found[b, i, j] = self._sum(kind, texts, [self._product(kind, int(x), int(y)) for x, y in pairs])
        return found

    def _product(self, kind: ElementType, left: int, right: int) -> int:
        types = {self.nodes.element_type(left), self.nodes.element_type(right)}
        if kind.is_floating:
            # A dot does not round the products of a type that is summed in a wider one.
            is_rounded = types == {kind} == {summed_in(kind)}
            return self.graph.make("each", "multiply" if is_rounded else "product", self._scalar(kind), (left, right))
        if kind.is_integral and types != {kind} and all(each.is_integral for each in types):
            left, right = (self.nodes.each("convert", kind, [each]) for each in (left, right))
            types = {kind}
        return self.nodes.each("multiply" if types == {kind} else "product", kind, (left, right))

    def _scalar(self, kind: ElementType) -> ArrayShape:
        """Returns the shape of a scalar; one object for each type makes comparisons fast."""
        if kind.name not in self._scalars:
            self._scalars[kind.name] = ArrayShape(kind, ())
        return self._scalars[kind.name]

    def _sum(self, kind: ElementType, texts: Any, products: Sequence[int]) -> int:
        if not products:
            return self.nodes.literal(kind, 0, ())
        return self.nodes.each(("sum-of-products", texts), kind, products)

    def convolved(self, operation: Term, lhs: _Array, rhs: _Array, patches: Patches) -> _Array:
        """Returns a convolution; skipped padding is a distinct unknown."""
        kind = static_array(operation.operands[0].shape).element_type
        zero = self.nodes.literal(kind, 0, ())
        left = patches.left(lhs)
        is_zero = patches.has_padding or kind.is_integral
        left[:, ~patches.present] = zero if is_zero else self.graph.make("leaf", "optional zero", ArrayShape(kind, ()))
        return patches.result(self.contract(operation, left, patches.right(rhs)))

    def combine(self, opcode: str, element_type: ElementType, array: _Array, initial: _Array) -> _Array:
        """Returns the combination of each row, which begins with the initial value."""
        rows = [[int(initial), *map(int, row)] for row in array]
        return np.array([self.nodes.each(("sum", opcode), element_type, row) for row in rows], np.int64)

    def skipped(self, opcode: str, element_type: ElementType, initial: _Array) -> _Array:
        """Returns an unknown function of the initial value, for padding that is combined or skipped."""
        return np.array(self.nodes.each(("padding", opcode), element_type, [int(initial)]))

    def padding(self, written: Any, sizes: tuple[int, ...], position: tuple[Term, int]) -> _Array:
        """Returns a padding value; undefined padding has no elements."""
        if written.label == UNSPECIFIED:
            raise UndefinedError("undefined padding is not compared element by element")
        return np.asarray(self.values[written])

    def reread(self, array: _Array, old: ElementType, new: ElementType, sizes: tuple[int, ...]) -> _Array:
        if old.bits == new.bits:
            return self._mapped(lambda item: self.nodes.reread(item, new), [array])
        if old.bits > new.bits:
            parts = range(old.bits // new.bits)
            part = partial(part_of_bits, self.nodes, old=old, new=new)
            return np.stack([self._mapped(partial(part, position=i), [array]) for i in parts], -1)
        rows = array.reshape(-1, new.bits // old.bits)
        found = [joined_bits(self.nodes, [*map(int, row)], old, new) for row in rows]
        return np.array(found, np.int64).reshape(sizes)
