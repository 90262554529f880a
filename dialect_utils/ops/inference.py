"""Shape inference: what the rules of the families share, and the shape of a result that is not written.

XLA's parser fills in a shape that is not written where it can (HloParserImpl::CreateInstruction). The verifier
compares every shape that is written with the inferred one. Source: xla/service/shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dialect_utils.layout import ArrayShape, ElementType, Layout, Shape, TokenShape, TupleShape
from dialect_utils.layout.shape import UNBOUNDED
from dialect_utils.ops.declaration import Opcode

_MOST_DIGITS = 20


class ShapeError(ValueError):
    """Raised where operands or attributes give no shape, or a constraint does not hold.

    `part` names what is at fault: an attribute, `operands`, `operand 2`, `shape` or `opcode`; "" is the instruction.
    """

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part


class Written(Protocol):
    """The opcode and the attributes of an operation, also of one that is still being read."""

    @property
    def opcode(self) -> str:
        """Returns the opcode."""

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None where it is absent."""

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute as integers, or None where it is absent or not a list of integers."""


class Called(NamedTuple):
    """The interface of a computation that an operation names."""

    name: str
    parameters: Sequence[Shape]
    result: Shape


@dataclass(slots=True)
class Instance:
    """One operation with the shapes around it.

    `shape` is the written result shape, None while it is inferred. `is_lenient` is true in a module that a compiler
    has rewritten: the TPU compiler mixes element types inside instructions. `is_layout_sensitive` asks for equal
    layouts on both sides of calls. `replicas` and `partitions` are the counts in the module's header. `is_mixed`
    accepts floats of several precisions in one instruction.
    """

    written: Written
    operands: Sequence[Shape]
    called: Sequence[Called] = ()
    shape: Shape | None = None
    is_lenient: bool = False
    is_layout_sensitive: bool = False
    replicas: int = 1
    partitions: int = 1
    is_mixed: bool = True

    @property
    def opcode(self) -> str:
        """Returns the opcode."""
        return self.written.opcode

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None where it is absent."""
        return self.written.attribute(name)

    def ints(self, name: str) -> tuple[int, ...]:
        """Returns an attribute as integers, () where it is absent."""
        return self.written.ints(name) or ()

    def number(self, name: str, default: int) -> int:
        """Returns an attribute that is one integer."""
        found = self.written.ints(name)
        return found[0] if found else default

    def dims(self, name: str, rank: int) -> tuple[int, ...]:
        """Returns an attribute that numbers dimensions of an array of this rank, each once; () where it is absent."""
        found = self.ints(name)
        for dim in found:
            if not 0 <= dim < rank:
                raise ShapeError(f"{self.opcode} names dimension {dim} in {name}, but the rank is {rank}", name)
        if len(set(found)) != len(found):
            raise ShapeError(f"{self.opcode} names a dimension twice in {name}: {list(found)}", name)
        return found

    def array(self, index: int) -> ArrayShape:
        """Returns the shape of an operand that has to be an array."""
        if index >= len(self.operands):
            raise ShapeError(f"{self.opcode} needs an array as operand {index}", "operands")
        shape = self.operands[index]
        if not isinstance(shape, ArrayShape):
            raise ShapeError(f"{self.opcode} is for arrays, but operand {index} is {shape}", f"operand {index}")
        return shape

    def arrays(self, first: int = 0, last: int | None = None) -> list[ArrayShape]:
        """Returns the shapes of a range of operands, which have to be arrays."""
        stop = len(self.operands) if last is None else last
        return [self.array(index) for index in range(first, stop)]

    def result_array(self) -> ArrayShape:
        """Returns the written shape, which has to be an array."""
        if self.shape is None:
            raise UnwrittenError(f"{self.opcode} needs a written shape")
        if not isinstance(self.shape, ArrayShape):
            raise ShapeError(f"{self.opcode} gives an array, but the shape is {self.shape}", "shape")
        return self.shape

    def require_type(self, index: int, name: str) -> None:
        """Raises ShapeError where an operand is not a scalar of an element type."""
        shape = self.operands[index]
        if not isinstance(shape, ArrayShape) or shape.rank or shape.element_type.name != name:
            raise ShapeError(f"{self.opcode} takes {name}[] as operand {index}, found {shape}", f"operand {index}")


class UnwrittenError(ShapeError):
    """Raised where a result that depends on the written shape is to be inferred."""


def made(element_type: ElementType, dimensions: Sequence[int], dynamic: Sequence[bool] = ()) -> ArrayShape:
    """Returns an array without a layout."""
    return ArrayShape(element_type, tuple(dimensions), None, tuple(dynamic))


def of_type(shape: ArrayShape, element_type: ElementType) -> ArrayShape:
    """Returns an array of the same dimensions and layout with another element type."""
    if shape.element_type == element_type:
        return shape
    return ArrayShape(element_type, shape.dimensions, shape.layout, shape.dynamic)


def wider(first: ElementType, second: ElementType) -> ElementType:
    """Returns the element type that an operation of two types has (ShapeUtil::HigherPrecisionElementType)."""
    if first.is_complex != second.is_complex:
        return first if first.is_complex else second
    if first.is_floating != second.is_floating:
        return first if first.is_floating else second
    return first if first.bits >= second.bits else second


def integer(text: str) -> int:
    """Returns an integer of at most 64 bits, 2^63 for one of more than 20 characters: int() rejects 5,000 digits."""
    return int(text) if len(text) <= _MOST_DIGITS else 1 << 63


def is_same_kind(first: ElementType, second: ElementType) -> bool:
    """Is true for equal element types and for two floats, whatever their precisions."""
    return first == second or (first.is_floating and second.is_floating)


def same_sizes(first: Sequence[int], second: Sequence[int]) -> bool:
    """Is true where dimensions agree; an unbounded size agrees with any."""
    if first == second:
        return True
    return len(first) == len(second) and all(a == b or UNBOUNDED in (a, b) for a, b in zip(first, second, strict=True))


def is_compatible(first: Shape, second: Shape) -> bool:
    """Is true where two shapes agree in all but layouts and dynamic marks (ShapeUtil::Compatible)."""
    if first is second:
        return True
    if isinstance(first, ArrayShape) and isinstance(second, ArrayShape):
        return first.element_type == second.element_type and same_sizes(first.dimensions, second.dimensions)
    if isinstance(first, TupleShape) and isinstance(second, TupleShape):
        return len(first.elements) == len(second.elements) and all(map(is_compatible, first.elements, second.elements))
    return first.without_layout == second.without_layout


def is_equally_ordered(first: Shape, second: Shape) -> bool:
    """Is true for compatible shapes with equal minor_to_major in each array for which both have a layout."""
    return is_compatible(first, second) and all(
        one.layout is None or other.layout is None or one.layout.minor_to_major == other.layout.minor_to_major
        for one, other in zip(first.arrays(), second.arrays(), strict=True)
    )


def agree(instance: Instance, first_name: str, first: Shape, second_name: str, second: Shape, part: str = "") -> None:
    """Raises ShapeError where both sides of a boundary differ in type, or in where a tiled layout places elements.

    Memory spaces are not compared where a compiler wrote the module: a fusion may read a parameter from another one.
    """
    if first is second or first == second:
        return
    if not is_compatible(first, second):
        raise ShapeError(f"{first_name} is {first}, but {second_name} is {second}", part)
    for one, other in zip(first.arrays(), second.arrays(), strict=True):
        is_compared = instance.is_layout_sensitive or (one.is_tiled and other.is_tiled)
        spaces = {each.effective_layout.memory_space for each in (one, other)}
        is_moved = instance.is_layout_sensitive and not instance.is_lenient and len(spaces) > 1
        if is_moved or (is_compared and _placement(one) != _placement(other)):
            raise ShapeError(f"{first_name} is laid out as {first}, but {second_name} as {second}", part)


def _placement(shape: ArrayShape) -> object:
    layout = shape.effective_layout
    return layout.minor_to_major, layout.tiles, layout.element_size_in_bits


# The shape of a result that is not written


def written_only(instance: Instance) -> Shape:
    """Returns the written shape, which nothing else determines."""
    if instance.shape is None:
        raise UnwrittenError(f"{instance.opcode} needs a written shape")
    return instance.shape


def infer_shape(
    opcode: Opcode, written: Written, operands: Sequence[Shape], called: Sequence[Called] = ()
) -> Shape | None:
    """Returns the shape of an instruction, given the declaration of its opcode, or None where it has to be written.

    A result whose rule gives no layout has the descending one where an operand has a layout. Raises ShapeError where
    operands or attributes give no shape.
    """
    if opcode.result is None:
        return None
    instance = Instance(written, operands, called)
    check_operand_count(instance, opcode)
    try:
        found = opcode.result(instance)
    except UnwrittenError:
        return None
    has_layouts = any(each.layout is not None for operand in operands for each in operand.arrays() if each.rank)
    return found.map_arrays(_with_layout) if has_layouts else found


def check_operand_count(instance: Instance, opcode: Opcode) -> None:
    """Raises ShapeError where an operation has too few or too many operands."""
    fewest, most = opcode.operands
    found = len(instance.operands)
    if found < fewest or (most is not None and found > most):
        wanted = f"{fewest} operand{'s' * (fewest != 1)}" if fewest == most else f"{fewest} operands or more"
        raise ShapeError(f"{opcode.name} takes {wanted}, found {found}", "operands")


def _with_layout(shape: ArrayShape) -> ArrayShape:
    is_given = shape.layout is not None or not shape.rank
    return shape if is_given else shape.with_layout(Layout.descending(shape.rank))


# Constraints that several families share

# Operations whose computations take exactly the operands' types where floats do not mix.
_UNMIXED = ("map", "reduce", "reduce-window")


def check_applied(
    instance: Instance, number: int, takes: Sequence[ElementType], gives: Sequence[ElementType] | None
) -> None:
    """Raises ShapeError unless a called computation takes scalars of these types and gives others.

    XLA lets computations compute in another precision.
    """
    if number >= len(instance.called):
        return
    called = instance.called[number]
    if len(called.parameters) != len(takes):
        message = f"{instance.opcode} applies %{called.name} to {len(takes)} values, but it has "
        raise ShapeError(f"{message}{len(called.parameters)} parameters", "to_apply")
    if instance.is_lenient:
        return
    results = list(called.result.leaves())
    is_fit = _are_scalars(called.parameters, takes) and (gives is None or _are_scalars(results, gives))
    if not instance.is_mixed and instance.opcode in _UNMIXED:
        is_fit = is_fit and [each.element_type for shape in called.parameters for each in shape.arrays()] == [*takes]
    if not is_fit:
        wanted = f"({_listed(takes)}) -> {_listed(gives or ())}"
        found = f"({_listed(called.parameters)}) -> {_listed(results)}"
        message = f"{instance.opcode} applies a computation {wanted}, but %{called.name} is {found}"
        raise ShapeError(message, "to_apply")


def check_reducer(instance: Instance, number: int, begun: Sequence[ElementType], kinds: Sequence[ElementType]) -> None:
    """Raises ShapeError unless a called computation combines values of these types with those that it begins with.

    An accumulator has one type as parameter and as result. Source: VerifyReducerShape.
    """
    check_applied(instance, number, [*begun, *kinds], begun)
    if number >= len(instance.called) or instance.is_lenient:
        return
    called = instance.called[number]
    for parameter, result in zip(called.parameters, called.result.leaves(), strict=False):
        if not is_compatible(parameter, result):
            message = f"{instance.opcode} applies %{called.name}, whose accumulator is {parameter}, but its result "
            raise ShapeError(f"{message}{result}", "to_apply")


def _are_scalars(found: Sequence[Shape], wanted: Sequence[ElementType]) -> bool:
    return len(found) == len(wanted) and all(
        isinstance(shape, ArrayShape) and not shape.rank and is_same_kind(shape.element_type, kind)
        for shape, kind in zip(found, wanted, strict=True)
    )


def _listed(each: Sequence[object]) -> str:
    return ", ".join(map(str, each))


def scalar_type(instance: Instance, index: int) -> ElementType:
    """Returns the element type of an operand that has to be a scalar, such as the value a reduction begins with."""
    shape = instance.operands[index]
    if not isinstance(shape, ArrayShape) or shape.rank:
        raise ShapeError(f"{instance.opcode} begins with {shape}, which is not a scalar", f"operand {index}")
    return shape.element_type


def check_tokens(instance: Instance) -> None:
    """Raises ShapeError where an operand is not a token."""
    for index in range(len(instance.operands)):
        _check_token(instance, index)


def check_second_token(instance: Instance) -> None:
    """Raises ShapeError where operand 1 is not a token."""
    _check_token(instance, 1)


def _check_token(instance: Instance, index: int) -> None:
    if not isinstance(instance.operands[index], TokenShape):
        message = f"{instance.opcode} waits for tokens, found {instance.operands[index]}"
        raise ShapeError(message, f"operand {index}")


# Results that several families share


def first_operand(instance: Instance) -> Shape:
    """Returns the shape of the first operand."""
    return instance.operands[0]


def first_array(instance: Instance) -> Shape:
    """Returns the shape of the first operand, which has to be an array."""
    return instance.array(0)


def second_array(instance: Instance) -> Shape:
    """Returns the shape of operand 1, which has to be an array."""
    return instance.array(1)


def token(instance: Instance) -> Shape:
    """Returns a token."""
    return TokenShape()


def one_or_tuple(instance: Instance) -> Shape:
    """Returns the operand, or the tuple of several; each has to be an array."""
    found = instance.arrays()
    if not found:
        raise ShapeError(f"{instance.opcode} needs an array", "operands")
    return found[0] if len(found) == 1 else TupleShape(tuple(found))


def same_dimensions(instance: Instance) -> ArrayShape:
    """Returns the shape of the first operand, whose dimensions all operands have."""
    first = instance.array(0)
    for other in instance.arrays(1):
        if not same_sizes(first.dimensions, other.dimensions):
            raise ShapeError(f"{instance.opcode} of {first} and {other}: the dimensions differ", "operands")
    return first


def same(instance: Instance) -> ArrayShape:
    """Returns the shape of the operands, which have one shape and one kind of elements."""
    first = same_dimensions(instance)
    kind = first.element_type
    for other in instance.arrays(1):
        if kind != other.element_type:
            check_same_kind(instance, first, other)
            kind = wider(kind, other.element_type)
    return of_type(first, kind)


def check_same_kind(instance: Instance, first: ArrayShape, other: ArrayShape) -> None:
    """Raises ShapeError where two operands have elements of different kinds."""
    if not instance.is_lenient and not is_same_kind(first.element_type, other.element_type):
        raise ShapeError(f"{instance.opcode} of {first} and {other}: the element types differ", "operands")
