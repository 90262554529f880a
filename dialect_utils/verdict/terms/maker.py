"""The interface between the walker of modules and the nodes that a module becomes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.execution.constants import as_array
from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ELEMENT_TYPES, ElementType, Shape, Step
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.domain import Domain, UndefinedError
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.exchanges import Exchange
from dialect_utils.verdict.terms.orders import order_of
from dialect_utils.verdict.terms.primitives import Kind, TreeOf, V

if TYPE_CHECKING:
    from dialect_utils.layout import ArrayShape
    from dialect_utils.ops.positions import Positions
    from dialect_utils.verdict.terms.loops import Loop
    from dialect_utils.verdict.terms.walker import Walker


class Maker(Domain[V]):
    """The primitives of array definitions, control flow, collectives and loops.

    The replay implements them with plain nodes, the prover with terms in normal form. `walker` is the current walker.
    """

    walker: Walker[V]

    @abstractmethod
    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[V] = ()) -> V:
        """Returns a node; equal nodes are one."""

    @abstractmethod
    def shape(self, array: V) -> Shape:
        """Returns the shape of a node."""

    @abstractmethod
    def literal(self, element_type: ElementType, bits: int, dimensions: tuple[int, ...]) -> V:
        """Returns an array all of whose elements have these bits."""

    @abstractmethod
    def splat(self, scalar: V, dimensions: tuple[int, ...]) -> V:
        """Returns an array all of whose elements are one scalar."""

    @abstractmethod
    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[V]) -> V:
        """Returns an elementwise operation on arrays of the same dimensions."""

    @abstractmethod
    def unspecified(self) -> V:
        """Returns undefined padding."""

    @abstractmethod
    def contents(self, array: V) -> int | bytes | None:
        """Returns the bits of all elements of a constant, or the bytes of different elements; None for other nodes."""

    @abstractmethod
    def after(self, array: V, plan: Plan) -> V:
        """Returns an array after a plan whose padding is undefined."""

    @abstractmethod
    def in_any_order(self, array: V, order: Hashable) -> V:
        """Returns a result in the order that the engine chooses for `order`, given the result in the written order."""

    def sum_of(self, operation: Operation, array: V) -> V:
        found, order = super().sum_of(operation, array), order_of(operation)
        return found if order is None else self.in_any_order(found, order)

    @abstractmethod
    def select(self, selector: V, results: Sequence[V]) -> V:
        """Returns one of two arrays by a scalar truth value: the first where it is true."""

    @abstractmethod
    def choice(self, label: Hashable, selector: V, results: Sequence[V]) -> V:
        """Returns one of several nodes of one shape, by a scalar."""

    @abstractmethod
    def final(self, loop: Loop[V], start: Sequence[V]) -> Sequence[V]:
        """Returns the final state of a loop that is not unrolled."""

    def constant_bits(self, array: V) -> int | None:
        """Returns the bits that all elements of a constant have, None for other nodes."""
        found = self.contents(array)
        return found if isinstance(found, int) else None

    def integers(self, array: V) -> Positions:
        found, kind, sizes = self.contents(array), self.element_type(array), self.dimensions(array)
        if found is None:
            raise UndefinedError("integers that are not constant")
        data = found.to_bytes(kind.storage_bytes, "little") * prod(sizes) if isinstance(found, int) else found
        return as_array(data, kind, sizes).astype("int64")

    def number(self, element_type: ElementType, value: float, dimensions: tuple[int, ...]) -> V:
        return self.literal(element_type, parse_scalar(element_type, repr(value)), dimensions)

    def compare(self, direction: str, left: V, right: V, *, is_total: bool) -> V:
        return self.each(("compare", direction, is_total), ELEMENT_TYPES["pred"], [left, right])

    def move(self, array: V, step: Step, padding: V | None = None) -> V:
        """Returns an array after one more step; a step to a type of equal width becomes `reread`."""
        if step.regroups_bits:
            old = self.element_type(array)
            new, _ = step.result(old, self.dimensions(array))
            if old.bits == new.bits:
                return self.reread(array, new)
            if "pred" in (old.name, new.name):
                raise UndefinedError("truth values are not regrouped")
        return self.moved(array, step, padding)

    @abstractmethod
    def moved(self, array: V, step: Step, padding: V | None) -> V:
        """Returns an array after one more step."""

    def reread(self, array: V, element_type: ElementType) -> V:
        """Returns an array whose bits are read as another element type of the same width."""
        return self.each(("bitcast-convert", element_type), element_type, [array])

    def term(self, array: V) -> V:
        """Returns an array as a node; the prover normalizes pending movement."""
        return array

    def outs(self, made: V, shapes: Sequence[Shape]) -> list[V]:
        """Returns the results of an operation, one for each shape."""
        return [self.make("out", number, shape, (made,)) for number, shape in enumerate(shapes)]

    def exchange(
        self, operation: Operation, functions: Sequence[V], part: Exchange, arrays: Sequence[V]
    ) -> Sequence[V]:
        """Returns the results of one exchange of a collective operation that applies `functions`."""
        return self.walker.exchanged(functions, part, arrays)

    def among_devices(self, operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]] | None:
        """Returns the results of an operation that only programs of several devices have; None for others."""

    def applied(self, function: Function) -> V:
        """Returns the function that an operation applies; raises UndefinedError where it has effects."""
        return self.walker.applied(function)

    def map(self, operation: Operation, function: Function, arrays: Sequence[V]) -> list[V]:
        """Returns the computation's operations on whole arrays, where all of them are elementwise."""
        return self.walker.mapped(function, arrays)

    def packed(self, array: V, layouts: Sequence[ArrayShape]) -> V:
        """Returns the physical array of a logical array, through layouts from the first to the last."""
        for layout in layouts:
            array = self.after(array, physical_plan(layout))
        return array

    def unpacked(self, array: V, layouts: Sequence[ArrayShape]) -> V:
        """Returns the logical array of a physical array, through layouts from the last to the first."""
        for layout in reversed(layouts):
            array = self.after(array, physical_plan(layout).inverse())
        return array

    # Records of a proof

    def enter(self, operation: Operation) -> None:
        """Records that the following nodes belong to an operation."""

    def leave(self, results: Sequence[TreeOf[V]]) -> None:
        """Records the results of an operation."""

    def note(self, rule: Rule) -> None:
        """Records that a definition was used."""
