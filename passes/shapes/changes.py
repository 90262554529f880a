"""Changes of arrays, such as f32[8,3,3] -> f32[8,9] or a cut into two parts, and of the operations around them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from dialect_utils.ir import Builder, Operation, Value, array_shape
from dialect_utils.ir.chains import is_pinned, is_plain, is_relayout
from dialect_utils.ir.factors import Groups, NamedInts, factors_of, regrouped_ints, regrouped_operands, value_at
from dialect_utils.layout import ArrayShape, Layout, Step
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, named, opcode_of, with_trait
from dialect_utils.ops.factors import Dimensions, Factor, Kind, Position, sizes_at

F = TypeVar("F", bound=Hashable)
Parts = tuple[Value, ...]


class Change(ABC, Generic[F]):
    """A change of arrays. A form, of type F, describes that of one array: an order, or the dimension that is cut."""

    # The name of the pass's option that gives the form.
    option: ClassVar[str]
    # Operations that may pass arrays in another form to their parameters and results.
    crossed: ClassVar[frozenset[str]] = with_trait(Trait.CONTROL_FLOW)
    # Operations at which a conversion costs nothing: they build any shape from their operand, or have no operand.
    absorbing: ClassVar[frozenset[str]] = frozenset()
    # Operations that compute nothing: a region of only these gets no new form.
    idle: ClassVar[frozenset[str]] = frozenset()
    # Is true where arrays in another form are stored with descending layouts.
    is_descending: ClassVar[bool] = False
    # Is true where a conversion also gives a form to arrays that no operation computes in this form.
    converts_all: ClassVar[bool] = True

    def __init__(self) -> None:
        self._factors: dict[Operation, Sequence[Factor] | None] = {}

    def forget(self) -> None:
        """Clears the cached factors: after a rewrite some operations read other values."""
        self._factors.clear()

    def factors(self, operation: Operation) -> Sequence[Factor] | None:
        """Returns the factors of an operation; None for one that keeps its dimensions."""
        if operation not in self._factors:
            self._factors[operation] = factors_of_changeable(operation)
        return self._factors[operation]

    @abstractmethod
    def forms(self, operation: Operation, known: Mapping[Position, F]) -> Mapping[Position, F]:
        """Returns the form of each array of an operation that changes, given the known forms of some of its arrays.

        Empty for an operation that cannot compute in another form.
        """

    @abstractmethod
    def candidates(self, shape: ArrayShape, target: str) -> Sequence[F]:
        """Returns the forms that an array may get."""

    @abstractmethod
    def shapes(self, shape: ArrayShape, form: F) -> Sequence[ArrayShape]:
        """Returns the shapes of the parts of an array."""

    def result_shapes(self, operation: Operation, forms: Mapping[Position, F]) -> list[ArrayShape]:
        """Returns the shapes of the only parts of the results of an operation, some of which have forms."""
        shapes = enumerate(map(array_shape, operation.results))
        return [self.shapes(shape, forms[~i])[0] if ~i in forms else shape for i, shape in shapes]

    @abstractmethod
    def plan(self, shape: ArrayShape, form: F) -> Plan:
        """Returns the movement from an array to its only part."""

    @abstractmethod
    def convert(self, builder: Builder, value: Value, parts: Parts, own: F | None, form: F) -> Parts:
        """Builds the parts of a value in another form from its `parts` in the form `own`."""

    @abstractmethod
    def join(self, builder: Builder, parts: Parts, value: Value, form: F) -> Value:
        """Builds a value of its parts; `value` gives name and shape."""

    @abstractmethod
    def remake(
        self, builder: Builder, operation: Operation, forms: Mapping[Position, F], operands: Sequence[Parts]
    ) -> Sequence[Parts]:
        """Builds an operation on parts; returns the parts of each result."""


def factors_of_changeable(operation: Operation) -> Sequence[Factor] | None:
    """Returns the factors of an operation on plain arrays; None for one with fixed dimensions, e.g. a sharded one."""
    is_fixed = is_pinned(operation) or operation.attribute("sdy.sharding")
    if is_fixed or not all(map(is_plain, (*operation.operands, *operation.results))):
        return None
    return factors_of(operation)


class DimensionChange(Change[int]):
    """A change of one dimension of each array."""

    option = "dimension"
    # Reshapes and broadcasts make the changed shape of their operand; constants and iotas have no operand.
    absorbing = named("reshape constant iota broadcast")

    @abstractmethod
    def match(self, operation: Operation, position: Position, dimension: int) -> Dimensions | None:
        """Returns the dimensions that change at all positions if one does; None where the operation cannot do so."""

    def factor_at(self, operation: Operation, position: Position, dimension: int) -> Factor | None:
        """Returns the factor that consists of a whole dimension of an array, if it is kept, combined or cut."""
        # The padding of a marked pad is undefined, which only its own operation says.
        if operation.opcode == "pad" and operation.frontend_attributes:
            return None
        for factor in self.factors(operation) or ():
            if factor.dimensions.get(position) == dimension:
                return factor if _is_of_ranges(operation, factor) else None
        return None

    def forms(self, operation: Operation, known: Mapping[Position, int]) -> Mapping[Position, int]:
        """Returns the dimensions of the factor of a known dimension, if they agree with all known dimensions."""
        for position, dimension in known.items():
            found = self.match(operation, position, dimension)
            if found is not None and _agree(operation, found, known):
                return found
        return {}


def _agree(operation: Operation, found: Dimensions, known: Dimensions) -> bool:
    """Is true where found dimensions match the known ones, and a value at several positions has one dimension."""
    of_values = {value_at(operation, position): dimension for position, dimension in found.items()}
    return all(
        known.get(position, dimension) == dimension == of_values[value_at(operation, position)]
        for position, dimension in found.items()
    )


def _is_of_ranges(operation: Operation, factor: Factor) -> bool:
    """Is true where a range of indices of the factor is a range of each of its dimensions."""
    if factor.kind in (Kind.KEPT, Kind.COMBINED):
        return all(sizes_at(operation, each)[dim] == factor.size for each, dim in factor.dimensions.items())
    return factor.kind is Kind.CUT


def with_size(sizes: Sequence[int], dimension: int, size: int) -> tuple[int, ...]:
    """Returns sizes with the size of one dimension replaced."""
    return (*sizes[:dimension], size, *sizes[dimension + 1 :])


def resized_slices(operation: Operation, forms: Dimensions, values: Sequence[Value]) -> Iterator[NamedInts]:
    """Yields the sizes of the slices of a gather or dynamic slice where its array has another size in a dimension."""
    for attribute in opcode_of(operation.opcode).attributes:
        sizes = operation.ints(attribute.name) if attribute.kind == "sizes" and 0 in forms else None
        if sizes is not None:
            yield attribute.name, with_size(sizes, forms[0], array_shape(values[0]).dimensions[forms[0]])


def resized(shape: ArrayShape, dimensions: Sequence[int]) -> ArrayShape:
    """Returns a shape with other dimensions, whose layout is descending if the shape has one."""
    layout = None if shape.layout is None else Layout.descending(len(dimensions))
    return ArrayShape(shape.element_type, tuple(dimensions), layout)


def remade(
    builder: Builder,
    operation: Operation,
    operands: Sequence[Value],
    shapes: Sequence[ArrayShape],
    ints: Sequence[NamedInts],
    *,
    name: str,
    step: Step | None,
) -> Sequence[Value]:
    """Rebuilds an operation with changed attributes, or as a `step` of data movement; returns the results.

    A constant of equal elements becomes a broadcast.
    """
    like = operation.results[0]
    if operation.opcode == "constant":
        bits = operation.splat_bits
        assert bits is not None  # checked by the caller
        scalar = builder.constant(shapes[0].element_type, bits, name=f"{name}.scalar", like=like)
        return [builder.broadcast(scalar, shapes[0].dimensions, name=name, like=like)]
    if step is not None:
        padding = operands[1] if step.adds_elements else None
        return [builder.apply(step, operands[0], name=name, like=like, padding=padding)]
    made = builder.clone(operation, operands, shapes, name=name)
    assert made[0].operation is not None  # the clone
    for key, values in ints:
        made[0].operation.set_ints(key, values)
    return made


def remade_in_groups(
    builder: Builder,
    operation: Operation,
    operands: Sequence[Parts],
    shapes: Sequence[ArrayShape],
    groups: Mapping[Position, Groups],
    *,
    name: str,
    step: Step | None,
) -> Sequence[Parts]:
    """Rebuilds an operation on arrays whose dimensions are joined or in another order; returns the results' parts."""
    values = regrouped_operands(operation, [part for (part,) in operands], groups)
    ints = [*regrouped_ints(operation, groups)]
    return [(each,) for each in remade(builder, operation, values, shapes, ints, name=name, step=step)]


def bypass(value: Value, source: Value, step: Step) -> None:
    """Replaces users of a value that apply `step` by `source`, the result of that; other reshapes then read it."""
    for user in value.users:
        if user.step == step and is_relayout(user):
            user.results[0].replace_uses(source)
            user.erase()
        elif user.opcode == step.opcode == "reshape" and is_relayout(user):
            user.set_operand(0, source)
