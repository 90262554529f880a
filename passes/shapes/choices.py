"""The regions of a module for which another form of arrays saves padding, by a model of a TPU's memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Generic, NamedTuple

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import is_plain
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Layout
from dialect_utils.layout.targets.known import allocation_bytes, laid_out, tile_for
from dialect_utils.ops.factors import RESULT, Position
from passes.framework.base import Pass
from passes.framework.options import OptionError, named_value, value_names
from passes.shapes.changes import Change, DimensionChange, F
from passes.shapes.regions import Region, grow, passing, rewrite

MOST_CANDIDATES = 10
# Wide and tall enough for the largest tiles of a target.
_LARGE = 1 << 20
# Only so many arrays, those with the most bytes to save, begin regions.
_MOST_SEEDS = 24
# The TPU compiler keeps rows of these arrays together, so that their order of dimensions is descending: the array and
# the result of a gather, and the updates of a scatter.
_ROWS: dict[str, tuple[Position, ...]] = {"gather": (0, RESULT), "scatter": (0, 2, RESULT)}


class Choice(NamedTuple, Generic[F]):
    """A region that begins at a value, and the bytes that it saves."""

    value: Value
    region: Region[F]
    saved: int


def choices(module: Module, change: Change[F], target: str) -> list[Choice[F]]:
    """Returns the regions that another form makes smaller, those that save the most bytes first."""
    found: list[Choice[F]] = []
    covered: set[tuple[Value, F]] = set()
    arrays = passing(module, change)
    for value in _seeds(module, change, target):
        for form in change.candidates(array_shape(value), target):
            if (value, form) in covered:
                continue
            region = grow(value, form, change, arrays)
            covered.update(region.forms.items())
            saved = saved_bytes(region, target)
            if saved > 0 and not region.is_idle:
                found.append(Choice(value, region, saved))
    return sorted(found, key=lambda choice: -choice.saved)


def texts(module: Module, step: Pass, change: Change[F], target: str) -> Iterator[str]:
    """Yields the first choices as the text of a pass with the options `value` and that of the form."""
    found = choices(module, change, target)
    names = value_names(module) if found else {}
    for choice in found[:MOST_CANDIDATES]:
        value = next((value for value in (choice.value, *choice.region.forms) if value in names), None)
        if value is not None:
            yield str(step.with_options(**{"value": f"%{names[value]}", change.option: choice.region.forms[value]}))


def change_dimensions(
    module: Module, change: DimensionChange, value: str | None, dimension: int | None, target: str
) -> None:
    """Changes the region of a named value; without a name every region that becomes smaller, one after the other.

    Raises OptionError for options that name no region.
    """
    if value is None:
        if dimension is not None:
            raise OptionError("dimension", "option dimension is for a named value", "give value, too")
        lanes(target)
        while found := choices(module, change, target):
            rewrite(module, found[0].region)
        return
    rewrite(module, _named_region(module, change, value, dimension, target))


def lanes(target: str) -> int:
    """Returns the lanes of a tile, to which a target pads the minor dimension; raises OptionError without tiles."""
    tiles = tile_for(ELEMENT_TYPES["f32"], (_LARGE, _LARGE), (1, 0), target)
    if not tiles:
        raise OptionError("target", f"{target} stores arrays without tiles, so nothing is padded")
    return tiles[0].dimensions[-1]


def plain_value(module: Module, name: str) -> Value:
    """Returns the array that the option `value` names; raises OptionError where it has a layout or dynamic sizes."""
    found = named_value(module, name, "value")
    if not is_plain(found):
        raise OptionError("value", f"{name} is {found.shape}, not an array of fixed dimensions without a layout")
    return found


def _named_region(
    module: Module, change: DimensionChange, value: str, dimension: int | None, target: str
) -> Region[int]:
    found = plain_value(module, value)
    shape = array_shape(found)
    possible = change.candidates(shape, target)
    known = f"dimension={' or '.join(map(str, possible))} can" if possible else None
    if dimension is None:
        raise OptionError("value", f"option value needs option dimension, one of {value}", known)
    if dimension not in possible:
        message = f"dimension {dimension} of {value}, {shape.without_layout}, cannot be changed"
        raise OptionError("dimension", message, known or "no dimension of it can")
    region = grow(found, dimension, change, passing(module, change))
    if region.is_idle:
        raise OptionError("dimension", f"no operation around {value} can compute with another dimension {dimension}")
    return region


def _seeds(module: Module, change: Change[F], target: str) -> list[Value]:
    """Returns the arrays that another form makes smaller, those with the most bytes to save first."""
    saved: dict[Value, int] = {}
    for function in module.functions:
        for value in function.values() if not function.is_embedded else ():
            forms = change.candidates(array_shape(value), target) if is_plain(value) else ()
            saved[value] = max((_saved(change, value, form, target) for form in forms), default=0)
    return sorted((value for value in saved if saved[value] > 0), key=lambda value: -saved[value])[:_MOST_SEEDS]


def _saved(change: Change[F], value: Value, form: F, target: str) -> int:
    old, new = _both(change, value, form, target)
    return old - new


def _both(change: Change[F], value: Value, form: F, target: str) -> tuple[int, int]:
    """Returns the bytes of an array in its own form and in another one."""
    shape, is_descending = array_shape(value).without_layout, change.is_descending or _is_row(value)
    old, *new = (
        laid_out_bytes(each, Layout.descending(each.rank).minor_to_major if is_descending else None, target)
        for each in (shape, *change.shapes(shape, form))
    )
    return old, sum(new)


def saved_bytes(region: Region[F], target: str) -> int:
    """Returns the bytes, with padding, that a region saves, less those that the conversions at its borders move.

    A conversion reads an array and writes its parts, or the other way. Where a reshape is at the border anyway, the
    conversion costs nothing.
    """
    change = region.change
    saved = 0
    for value, form in region.computed.items():
        saved += _saved(change, value, form, target)
        if not all(_absorbs(change, each) for each in region.others(value)):
            saved -= sum(_both(change, value, form, target))
    for value, form in region.entering:
        if value.operation is None or not _absorbs(change, value.operation):
            saved -= sum(_both(change, value, form, target))
    return saved


def _absorbs(change: Change[F], reader: Operation | Function) -> bool:
    return isinstance(reader, Operation) and reader.opcode in change.absorbing


def _is_row(value: Value) -> bool:
    """Is true for an array whose rows a gather or scatter moves."""
    around = (operation for operation in (value.operation, *value.users) if operation is not None)
    return any(
        value in (operation.results if position < 0 else operation.operands[position : position + 1])
        for operation in around
        for position in _ROWS.get(operation.opcode, ())
    )


@lru_cache(maxsize=1 << 14)
def laid_out_bytes(shape: ArrayShape, order: tuple[int, ...] | None, target: str) -> int:
    """Returns the bytes with padding of an array in an order of dimensions, most minor first; None is the default."""
    return allocation_bytes(laid_out(shape, order, target), target)
