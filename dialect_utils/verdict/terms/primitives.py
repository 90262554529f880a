"""Definitions written down: each primitive becomes one term, and nothing is rewritten.

A term is (kind, label, shape, operands); a store makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Literal, Protocol, Self, TypeAlias, TypeVar

from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.ops.declaration import PRECISION
from dialect_utils.ops.domain import Domain, Scatter, static_array
from dialect_utils.ops.window import Windows
from dialect_utils.verdict.terms.labels import key_of

V = TypeVar("V")
# each: an elementwise operation. choice: one of several terms by a scalar. moved: the first operand after a plan; the
# other operands are padding values. op: any other operation. out: one of its results. element: one element of an array,
# by its number in row-major order. array: an array given by all its elements.
Kind = Literal["leaf", "constant", "splat", "each", "choice", "moved", "op", "out", "element", "array"]

# The level of the entry. Functions without outside values have the level CLOSED, also inside bodies.
OUTERMOST, CLOSED = 1, 0
# The label of the result of a sum, or of a scan, in the order that the engine chooses for it.
ANY_ORDER = "any-order"
# The choices of the engine that a verdict names. No engine here makes the second one.
ORDER_OF_SUMS = "order of sums"
OPERANDS = "operand precision"
# Why programs are not equal up to a choice: whatever bits differ, no choice explains them.
TWICE = "the programs are equal only up to a choice of the engine, which one of them makes twice, and reads both times"


class Term(Hashable, Protocol):
    """A written term; equal terms are one object."""

    @property
    def kind(self) -> Kind:
        """Returns the kind of the term."""

    @property
    def label(self) -> Hashable:
        """Returns all that distinguishes the term besides its kind, shape and operands."""

    @property
    def shape(self) -> Shape:
        """Returns the shape of the value."""

    @property
    def operands(self) -> tuple[Self, ...]:
        """Returns the operands."""


def bottom_up(
    root: V, known: Container[V], operands: Callable[[V], Iterable[V]] = attrgetter("operands")
) -> Iterator[V]:
    """Yields the nodes below a root that are not known, operands first; the caller makes each of them known."""
    pending = [root]
    while pending:
        node = pending[-1]
        missing = [] if node in known else [each for each in operands(node) if each not in known]
        if not missing:
            pending.pop()
            if node not in known:
                yield node
        pending += missing


def reachable(roots: Iterable[V], operands: Callable[[V], Iterable[V]] = attrgetter("operands")) -> set[V]:
    """Returns nodes with all their direct and indirect operands."""
    found, pending = set[V](), [*roots]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += operands(node)
    return found


class Store(Protocol[V]):
    """The maker of terms: equal terms are one."""

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[V] = ()) -> V:
        """Returns the term."""

    def shape(self, term: V) -> Shape:
        """Returns the shape of a term."""


class Primitives(Domain[V]):
    """The domain whose arrays are terms. `applied` returns the term of a function with variables as parameters."""

    def __init__(self, store: Store[V], applied: Callable[[Function], V]) -> None:
        self.store = store
        self._applied = applied

    def made(self, label: tuple[Hashable, ...], shape: Shape, operands: Sequence[V]) -> V:
        """Returns the term of an operation."""
        return self.store.make("op", label, shape, operands)

    def literal(self, element_type: ElementType, bits: int, dimensions: tuple[int, ...]) -> V:
        """Returns an array all of whose elements have these bits."""
        return self.splat(self.store.make("constant", bits, ArrayShape(element_type, ())), dimensions)

    def splat(self, scalar: V, dimensions: tuple[int, ...]) -> V:
        """Returns an array all of whose elements are one scalar."""
        shape = ArrayShape(self.element_type(scalar), dimensions)
        return self.store.make("splat", None, shape, (scalar,)) if dimensions else scalar

    def dimensions(self, array: V) -> tuple[int, ...]:
        return static_array(self.store.shape(array)).dimensions

    def element_type(self, array: V) -> ElementType:
        return static_array(self.store.shape(array)).element_type

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[V]) -> V:
        return self.store.make("each", label, ArrayShape(element_type, self.dimensions(operands[0])), operands)

    def broadcast(self, array: V, dimensions: Sequence[int], sizes: Sequence[int]) -> V:
        shape = ArrayShape(self.element_type(array), tuple(sizes))
        return self.made(("broadcast", tuple(dimensions)), shape, [array])

    def reverse(self, array: V, dimensions: Sequence[int]) -> V:
        return self.made(("reverse", frozenset(dimensions)), static_array(self.store.shape(array)), [array])

    def concatenate(self, arrays: Sequence[V], dimension: int) -> V:
        sizes = list(self.dimensions(arrays[0]))
        sizes[dimension] = sum(self.dimensions(each)[dimension] for each in arrays)
        return self.made(("concatenate", dimension), ArrayShape(self.element_type(arrays[0]), tuple(sizes)), arrays)

    def iota(self, element_type: ElementType, size: int) -> V:
        if size <= 1 and element_type.is_integral:
            return self.literal(element_type, 0, (size,))
        return self.made(("iota",), ArrayShape(element_type, (size,)), [])

    def slice_at(self, array: V, starts: Sequence[V], sizes: tuple[int, ...]) -> V:
        return self.made(("dynamic-slice",), ArrayShape(self.element_type(array), sizes), [array, *starts])

    def update_at(self, array: V, update: V, starts: Sequence[V]) -> V:
        return self.made(("dynamic-update-slice",), static_array(self.store.shape(array)), [array, update, *starts])

    def gather(
        self, operation: Operation, array: V, columns: Sequence[V], windows: tuple[int, ...], order: tuple[int, ...]
    ) -> V:
        return self.gathered(array, columns, windows, promise_of(operation, order))

    def gathered(self, array: V, columns: Sequence[V], windows: tuple[int, ...], promise: Hashable) -> V:
        """Returns a gather with a guarantee about its indices (sorted, unique)."""
        sizes = (*self.dimensions(columns[0]), *windows, self.dimensions(array)[-1])
        return self.made(("gather", windows, promise), ArrayShape(self.element_type(array), sizes), [array, *columns])

    def scatter_at(self, scatter: Scatter, arrays: Sequence[V], columns: Sequence[V], updates: Sequence[V]) -> list[V]:
        label = ("scatter", len(arrays), promise_of(scatter.operation, scatter.order))
        shapes = [static_array(self.store.shape(array)) for array in arrays]
        made = self.made(
            label, TupleShape(tuple(shapes)), [*arrays, *columns, *updates, self._applied(scatter.function)]
        )
        return [self.store.make("out", i, shape, (made,)) for i, shape in enumerate(shapes)]

    def contract(self, operation: Operation, left: V, right: V) -> V:
        batch, rows, _ = self.dimensions(left)
        sizes = (batch, rows, self.dimensions(right)[1])
        shape = ArrayShape(static_array(operation.results[0].shape).element_type, sizes)
        return self.made(("dot", _texts(operation)), shape, [left, right])

    def convolve(self, windows: Windows, lhs: V, rhs: V, groups: int) -> V:
        shape = ArrayShape(static_array(windows.operation.results[0].shape).element_type, windows.sizes)
        is_padded = windows.has_padding and any(dimension.has_padding for dimension in windows.window)
        label = ("convolution", windows.window, groups, is_padded, _texts(windows.operation))
        return self.made(label, shape, [lhs, rhs])

    def combine(self, opcode: str, array: V, initial: V) -> V:
        shape = ArrayShape(self.element_type(array), self.dimensions(array)[:1])
        return self.made(("reduce", opcode), shape, [array, initial])

    def reduce(self, operation: Operation, function: Function, arrays: Sequence[V], initial: Sequence[V]) -> list[V]:
        sizes = self.dimensions(arrays[0])[:1]
        return self.in_general(
            ("reduce", None), result_types(operation), [*arrays, *initial, self._applied(function)], sizes
        )

    def reduce_window(self, windows: Windows, function: Function, arrays: Sequence[V], initial: Sequence[V]) -> list[V]:
        label = ("reduce-window", None, windows.window, windows.has_padding)
        operands = [*arrays, *initial, self._applied(function)]
        return self.in_general(label, result_types(windows.operation), operands, windows.sizes)

    def in_any_order(self, array: V, order: Hashable) -> V:
        """Returns a result in the order that the engine chooses for `order`, given the result in the written order."""
        return self.store.make("each", (ANY_ORDER, order), self.store.shape(array), [array])

    def in_general(
        self,
        label: tuple[Hashable, ...],
        element_types: Sequence[ElementType],
        operands: Sequence[V],
        sizes: tuple[int, ...],
    ) -> list[V]:
        """Returns a reduction by a function, which is the last operand."""
        shapes = tuple(ArrayShape(each, sizes) for each in element_types)
        made = self.made(label, TupleShape(shapes), operands)
        return [self.store.make("out", i, shape, (made,)) for i, shape in enumerate(shapes)]


# An array (or token), or a tuple.
TreeOf: TypeAlias = V | tuple["TreeOf[V]", ...]


def leaves_of(tree: TreeOf[V]) -> Iterator[V]:
    """Yields the leaves of a tree in order."""
    if isinstance(tree, tuple):
        for element in tree:
            yield from leaves_of(element)
    else:
        yield tree


def tree_of(shape: Shape, leaves: Iterator[V]) -> TreeOf[V]:
    """Returns a tree with the nesting of a shape, from the next leaves of an iterator."""
    if isinstance(shape, TupleShape):
        return tuple(tree_of(element, leaves) for element in shape.elements)
    return next(leaves)


def result_types(operation: Operation) -> list[ElementType]:
    """Returns the element types of the results of an operation, tuples flattened."""
    return [static_array(leaf).element_type for value in operation.results for leaf in value.shape.leaves()]


# Attributes that a convolution's windows, groups and dimension numbers are read from.
_OF_WINDOWS = frozenset({"feature_group_count", "batch_group_count", "window", "dim_labels", "dimension_numbers"})
_OF_WINDOWS |= {"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"}


def promise_of(operation: Operation, order: tuple[int, ...]) -> Hashable:
    """Returns the guarantees of a gather or scatter about indices, such as sorted ones, and the column order."""
    texts = key_of(operation)[2]
    return (texts, order) if texts else ()


def _texts(operation: Operation) -> tuple[tuple[str, str], ...]:
    """Returns the attributes of a dot or convolution besides its dimension numbers and windows."""
    return tuple(text for text in key_of(operation)[2] if text[0] not in _OF_WINDOWS)


def is_ordered(label: Hashable) -> bool:
    """Is true for the label of a result in the order that the engine chooses for it."""
    return isinstance(label, tuple) and label[:1] == (ANY_ORDER,)


def texts_of(label: Hashable) -> tuple[tuple[str, str], ...]:
    """Returns the attributes in the label of a dot."""
    assert isinstance(label, tuple)  # a dot's label is (dot, attributes)
    texts: tuple[tuple[str, str], ...] = label[1]
    return texts


def swapped_texts(texts: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...] | None:
    """Returns the attributes of a dot whose operands are swapped; None where an attribute may name one of them."""
    if not all(name == PRECISION.name for name, _ in texts):
        return None
    return tuple((name, " ".join(reversed(text.split()))) for name, text in texts)
