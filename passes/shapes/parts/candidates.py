"""The regions of a module for which another representation saves padding, by a model of a TPU's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import is_plain
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.layout.targets.tpu import allocation_bytes, laid_out
from dialect_utils.ops import named
from dialect_utils.ops.factors import RESULT, Position
from passes.framework.base import Pass
from passes.framework.options import OptionError, named_value, value_names
from passes.shapes.parts.region import Region, Representation, grow, rewrite

# Returns the dimensions of an array that a representation may be for.
Dimensions = Callable[[ArrayShape], Sequence[int]]

MOST_CANDIDATES = 10
# Only so many arrays, those with the most padding, begin regions.
_MOST_SEEDS = 24
# The TPU compiler keeps rows of these arrays together, so that their order of dimensions is descending: the array and
# the result of a gather, and the updates of a scatter.
_ROWS: dict[str, tuple[Position, ...]] = {"gather": (0, RESULT), "scatter": (0, 2, RESULT)}
# Operations that make any shape of their operand, and those without operands.
_ABSORBING = named("reshape constant iota broadcast")


class Choice(NamedTuple):
    """A region that begins at a dimension of a value, and the bytes that its representation saves."""

    value: Value
    dimension: int
    region: Region
    saved: int


def choices(module: Module, representation: Representation, dimensions: Dimensions, target: str) -> list[Choice]:
    """Returns the regions that another representation makes smaller, those that save the most bytes first."""
    found: list[Choice] = []
    covered: set[tuple[Value, int]] = set()
    passed = representation.passed(module)
    for value in _padded(module, dimensions, target):
        for dimension in dimensions(array_shape(value)):
            if (value, dimension) in covered:
                continue
            region = grow({value: dimension}, representation, passed)
            covered.update(region.members.items())
            saved = saved_bytes(region, representation, target)
            if region.operations and saved > 0:
                found.append(Choice(value, dimension, region, saved))
    return sorted(found, key=lambda choice: -choice.saved)


def texts(module: Module, step: Pass, found: Sequence[Choice]) -> Iterator[str]:
    """Yields the first choices as the text of a pass with the options `value` and `dimension`."""
    names = value_names(module) if found else {}
    for choice in found[:MOST_CANDIDATES]:
        named = (value for value in (choice.value, *choice.region.members) if value in names)
        value = next(named, None)
        if value is not None:
            yield str(step.with_options(value=f"%{names[value]}", dimension=choice.region.members[value]))


def change(
    module: Module,
    representation: Representation,
    dimensions: Dimensions,
    value: str | None,
    dimension: int | None,
    target: str,
) -> None:
    """Changes the region of a named value; without a name every region that becomes smaller, one after the other.

    Raises OptionError for options that name no region.
    """
    if value is None:
        if dimension is not None:
            raise OptionError("dimension", "option dimension is for a named value", "give value, too")
        while found := choices(module, representation, dimensions, target):
            rewrite(module, found[0].region, representation)
        return
    region = _named_region(module, representation, dimensions, value, dimension)
    rewrite(module, region, representation)


def _named_region(
    module: Module, representation: Representation, dimensions: Dimensions, value: str, dimension: int | None
) -> Region:
    found = named_value(module, value, "value")
    if not is_plain(found):
        raise OptionError("value", f"{value} is {found.shape}, not an array of fixed dimensions without a layout")
    shape = array_shape(found)
    possible = dimensions(shape)
    known = f"dimension={' or '.join(map(str, possible))} can" if possible else None
    if dimension is None:
        raise OptionError("value", f"option value needs option dimension, one of {value}", known)
    if dimension not in possible:
        message = f"dimension {dimension} of {value}, {shape.without_layout}, cannot be changed"
        raise OptionError("dimension", message, known or "no dimension of it can")
    region = grow({found: dimension}, representation, representation.passed(module))
    if not region.operations:
        raise OptionError("dimension", f"no operation around {value} can compute with another dimension {dimension}")
    return region


def _padded(module: Module, dimensions: Dimensions, target: str) -> list[Value]:
    """Returns the arrays with padding, those with the most first."""
    wasted: dict[Value, int] = {}
    for function in module.functions:
        for value in function.values() if not function.is_embedded else ():
            if is_plain(value) and dimensions(shape := array_shape(value).without_layout):
                payload = prod(shape.dimensions) * shape.element_type.storage_bits // 8
                wasted[value] = _bytes(shape, target, is_row=_is_row(value)) - payload
    return sorted((value for value in wasted if wasted[value] > 0), key=lambda value: -wasted[value])[:_MOST_SEEDS]


def saved_bytes(region: Region, representation: Representation, target: str) -> int:
    """Returns the bytes, with padding, that a region saves, less those that the conversions at its borders move.

    A conversion reads an array and writes its parts, or the other way. Where a reshape is at the border anyway, the
    conversion costs nothing.
    """
    entering = {value for value in region.entering if value.operation is None or not _absorbs(value.operation)}
    leaving = {value for value in region.leaving if not all(map(_absorbs, region.others(value)))}
    saved = 0
    for value, dimension in region.members.items():
        shape, is_row = array_shape(value).without_layout, _is_row(value)
        old = _bytes(shape, target, is_row=is_row)
        new = sum(_bytes(part, target, is_row=is_row) for part in representation.shapes(shape, dimension))
        saved += old - new if value not in entering else 0
        saved -= old + new if value in entering or value in leaving else 0
    return saved


def _absorbs(reader: Operation | Function) -> bool:
    return isinstance(reader, Operation) and reader.opcode in _ABSORBING


def _is_row(value: Value) -> bool:
    """Is true for an array whose rows a gather or scatter moves."""
    around = (operation for operation in (value.operation, *value.users) if operation is not None)
    return any(
        value in (operation.results if position < 0 else operation.operands[position : position + 1])
        for operation in around
        for position in _ROWS.get(operation.opcode, ())
    )


@lru_cache(maxsize=1 << 14)
def _bytes(shape: ArrayShape, target: str, *, is_row: bool) -> int:
    order = Layout.descending(shape.rank).minor_to_major if is_row else None
    return allocation_bytes(laid_out(shape, order, target), target)
