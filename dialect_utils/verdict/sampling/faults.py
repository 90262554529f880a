"""Injects faults into a program: omissions, exchanges, other constants, dimensions, positions and types."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, isinf

import numpy as np

from dialect_utils.execution import to_bits
from dialect_utils.hlo.text.literals import decode_float
from dialect_utils.ir import Builder, Module, Operation, Value, array_shape
from dialect_utils.ir.control_flow import CONDITION
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Pad, Slice
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops import Trait, has, named
from dialect_utils.verdict.certificate import place_of
from dialect_utils.verdict.dataflow import values_behind
from dialect_utils.verdict.outcome import Planted

_PERMUTING = {"transpose": "dimensions", "broadcast": "dimensions", "iota": "iota_dimension"}
_ONE_DIMENSION = named("reduce reverse")
_DIRECTIONS = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}
_OPPOSITE = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
_DIRECTION_ATTRIBUTES = ("direction", "comparison_direction")
_NARROWER = {"f64": "f32", "f32": "bf16", "bf16": "f8e5m2", "f16": "f8e5m2", "s64": "s16", "s32": "s16", "u32": "u8"}

# A constant such as an epsilon is often wrong by powers of ten.
_FACTORS = (10.0, 0.01)
_SEED = 20

_Edit = Callable[[Module, Operation], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One possible fault: the number of the operation in its module, the edit, and the location."""

    number: int
    edit: _Edit
    planted: Planted

    def plant(self, module: Module) -> Module | None:
        """Returns a copy of the module with the fault, or None where the edit does not fit."""
        copy = module.clone()
        operation = list(copy.operations())[self.number]
        try:
            self.edit(copy, operation)
        except ValueError:
            return None
        return copy


def choose_mutants(module: Module, count: int) -> list[Mutant]:
    """Returns `count` faults, or all if there are fewer; a larger count begins with the same faults.

    All faults are equally likely, so the share that is detected estimates the share of all faults. Values that decide
    when a loop ends have only those of `_edits_of_limit`: with others the loop might never end.
    """
    loops = [operation for operation in module.operations() if operation.opcode == "while"]
    conditions = [loop.called_as(CONDITION) for loop in loops]
    ends = values_behind(value for function in conditions for value in function.results)
    # A loop that ends at one number alone may pass it by.
    is_ordered = not any(_is_symmetric(operation) for function in conditions for operation in function.operations)

    def edits(operation: Operation) -> Iterable[tuple[str, _Edit]]:
        if ends.isdisjoint(operation.results):
            return _edits(operation)
        is_limit = is_ordered and (operation.function.is_entry or operation.function in conditions)
        return _edits_of_limit(operation) if is_limit else ()

    found = [
        Mutant(number, edit, Planted(f"{kind} of {operation.opcode}", place_of(operation)))
        for number, operation in enumerate(module.operations())
        for kind, edit in edits(operation)
    ]
    random.Random(_SEED).shuffle(found)
    return found[:count]


def _edits(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields the edits that fit an operation, with their kinds."""
    if len(operation.results) != 1 or not isinstance(operation.results[0].shape, ArrayShape):
        return
    shape = operation.results[0].shape
    if not shape.is_static or not shape.element_count:
        return
    yield from _omissions(operation)
    yield from _exchanges(operation)
    yield from _other_dimensions(operation)
    yield from _other_positions(operation)
    if operation.opcode == "compare":
        yield "other direction", _redirected(_DIRECTIONS)
        if not _is_symmetric(operation):
            yield "opposite direction", _redirected(_OPPOSITE)
    yield from _other_constants(operation)
    if shape.element_type.name in _NARROWER and operation.opcode != "constant" and not operation.function.is_embedded:
        yield "narrowing", _narrowed


def _edits_of_limit(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields edits of the limit of a loop that counts integers: another number, or one iteration more or fewer."""
    shapes = [value.shape for value in (*operation.operands[:1], *operation.results)]
    if any(not isinstance(shape, ArrayShape) or shape.rank or shape.is_inexact for shape in shapes):
        return
    if operation.opcode == "compare":
        yield "other direction", _redirected(_DIRECTIONS)
    elif (operation.splat_bits or 0) > 1:
        yield from _other_constants(operation)


def _other_constants(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields edits that replace a constant by another number."""
    if operation.splat_bits is not None:
        yield "other constant", _changed
        yield from ((f"constant times {factor:g}", _scaled(factor)) for factor in _factors(operation))


def _omissions(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields edits that use an operand instead of the result."""
    if not (has(operation.opcode, Trait.ELEMENTWISE) or has(operation.opcode, Trait.MOVES_DATA)):
        return
    operands = operation.operands
    same = [n for n, value in enumerate(operands) if _have_one_type(value, operation.results[0])]
    if same:
        yield "omission", _omitted(same[0])
    if len(same) > 1 and operands[same[-1]] != operands[same[0]]:
        yield "omission", _omitted(same[-1])


def _exchanges(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields edits that exchange two operands of one type."""
    operands = operation.operands
    is_ordered = has(operation.opcode, Trait.ORDERED) and not _is_symmetric(operation)
    if is_ordered and len(operands) > 1 and _have_one_type(*operands[:2]) and operands[0] != operands[1]:
        yield "swapped operands", _swapped(0, 1)
    if operation.opcode == "select" and _have_one_type(*operands[1:3]) and operands[1] != operands[2]:
        yield "swapped operands", _swapped(1, 2)


def _other_dimensions(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields edits of dimension numbers that keep the type."""
    opcode = operation.opcode
    if opcode in _PERMUTING and (permuted := _permuted(operation)) is not None:
        yield "other dimension", _renumbered(_PERMUTING[opcode], permuted)
    if opcode in _ONE_DIMENSION and (other := _other_dimension(operation)) is not None:
        yield "other dimension", _renumbered("dimensions", (other,))


def _other_dimension(operation: Operation) -> int | None:
    """Returns another dimension to reverse or reduce, where the result has the same type, or None."""
    written, source = operation.ints("dimensions"), operation.operands[0].shape
    if written is None or len(written) != 1 or not isinstance(source, ArrayShape):
        return None
    sizes, [used] = source.dimensions, written
    for other in range(source.rank):
        rest = [[size for i, size in enumerate(sizes) if i != left] for left in (used, other)]
        if other != used and sizes[other] > 1 and (operation.opcode == "reverse" or rest[0] == rest[1]):
            return other
    return None


def _other_positions(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields edits that read a neighbour, or drop the last element of a sum."""
    step, opcode = operation.step, operation.opcode
    if isinstance(step, Slice) and (moved := _moved_slice(step, operation.operands[0])) is not None:
        yield "slice off by one", _restepped(moved)
    if isinstance(step, Pad) and (shifted := _shifted_pad(step)) is not None:
        yield "padding off by one", _restepped(shifted)
    if opcode == "reduce" and len(operation.operands) == 2 and operation.ints("dimensions"):
        yield "dropped last element", _shortened(operation.ints("dimensions") or ())
    yield from (("lost last element", _without_last(n)) for n in _with_elements(operation))
    if opcode == "concatenate" and len(operation.operands) > 1 and _have_one_type(*operation.operands[:2]):
        yield "swapped operands", _swapped(0, 1)


def _moved_slice(step: Slice, operand: Value) -> Slice | None:
    """Returns the slice that begins one element later, or earlier, in the first dimension with a neighbour."""
    for number, size in enumerate(array_shape(operand).dimensions):
        by = 1 if step.limit[number] < size else -1 if step.start[number] > 0 else 0
        if by:
            start, limit = list(step.start), list(step.limit)
            start[number], limit[number] = start[number] + by, limit[number] + by
            return Slice(tuple(start), tuple(limit), step.stride)
    return None


def _shifted_pad(step: Pad) -> Pad | None:
    """Returns padding with one element more below, and one less above, in the first dimension that has padding."""
    for number, (low, high) in enumerate(zip(step.low, step.high, strict=True)):
        if low > 0 or high > 0:
            by = 1 if high > 0 else -1
            lows, highs = list(step.low), list(step.high)
            lows[number], highs[number] = low + by, high - by
            return Pad(tuple(lows), tuple(highs), step.interior)
    return None


def _with_elements(operation: Operation) -> Iterator[int]:
    """Yields the operands of arithmetic, sums of products and movements that have several elements."""
    used = any(has(operation.opcode, trait) for trait in (Trait.ELEMENTWISE, Trait.MOVES_DATA, Trait.CONTRACTS))
    if not used or operation.function.is_embedded:
        return
    for number, value in enumerate(operation.operands):
        if isinstance(value.shape, ArrayShape) and value.shape.is_static and value.shape.element_count > 1:
            yield number


def _without_last(number: int) -> _Edit:
    """Replaces an operand's last elements by zeros, along the last dimension with size above 1."""

    def edit(module: Module, operation: Operation) -> None:
        value = operation.operands[number]
        sizes = array_shape(value).dimensions
        last = max(i for i, size in enumerate(sizes) if size > 1)
        builder, name = module.before(operation), f"{operation.results[0].name}.short"
        zero = builder.constant(array_shape(value).element_type, 0, name=name, like=value)
        operation.set_operand(number, _ended_early(builder, value, last, zero, name))

    return edit


def _ended_early(builder: Builder, value: Value, dimension: int, padding: Value, name: str) -> Value:
    """Returns an array with a scalar instead of the last elements in a dimension."""
    sizes = array_shape(value).dimensions
    zeros, high = (0,) * len(sizes), tuple(int(i == dimension) for i in range(len(sizes)))
    limit = tuple(size - less for size, less in zip(sizes, high, strict=True))
    part = builder.apply(Slice(zeros, limit), value, name=name, like=value)
    return builder.apply(Pad(zeros, high), part, name=name, like=value, padding=padding)


def _restepped(step: Slice | Pad) -> _Edit:
    def edit(module: Module, operation: Operation) -> None:
        value, operands = operation.results[0], operation.operands
        padding = operands[1] if step.adds_elements else None
        name = f"{value.name}.moved"
        value.replace_uses(module.after(value).apply(step, operands[0], name=name, like=value, padding=padding))

    return edit


def _shortened(reduced: tuple[int, ...]) -> _Edit:
    """Replaces a reduction's last elements by the initial value, along the first dimension with size above 1."""

    def edit(module: Module, operation: Operation) -> None:
        source, initial = operation.operands
        sizes = array_shape(source).dimensions
        last = next((i for i in reduced if sizes[i] > 1), None)
        if last is None:
            raise ValueError("one element is reduced")
        builder, name = module.before(operation), f"{operation.results[0].name}.short"
        operation.set_operand(0, _ended_early(builder, source, last, initial, name))

    return edit


def _is_symmetric(operation: Operation) -> bool:
    """Is true for a comparison whose operands may be swapped."""
    texts = [operation.attribute(name) or "" for name in _DIRECTION_ATTRIBUTES]
    return operation.opcode == "compare" and any("EQ" in text or "NE" in text for text in texts)


def _have_one_type(a: Value, b: Value) -> bool:
    x, y = a.shape, b.shape
    if not isinstance(x, ArrayShape) or not isinstance(y, ArrayShape):
        return False
    return (x.element_type, x.dimensions) == (y.element_type, y.dimensions)


def _omitted(operand: int) -> _Edit:
    return lambda module, operation: operation.results[0].replace_uses(operation.operands[operand])


def _swapped(first: int, second: int) -> _Edit:
    def swap(module: Module, operation: Operation) -> None:
        a, b = operation.operands[first], operation.operands[second]
        if a == b:
            raise ValueError("the operands are one value")
        operation.set_operand(first, b)
        operation.set_operand(second, a)

    return swap


def _redirected(others: dict[str, str]) -> _Edit:
    def redirect(module: Module, operation: Operation) -> None:
        for name in _DIRECTION_ATTRIBUTES:
            text = operation.attribute(name)
            for direction, other in others.items():
                if text is not None and direction in text.split(">")[0].split():
                    operation.set_attribute(name, text.replace(direction, other))
                    return
        raise ValueError("the comparison has no direction")

    return redirect


def _permuted(operation: Operation) -> tuple[int, ...] | None:
    """Returns permuted dimension numbers that keep the operation's types, or None."""
    result = array_shape(operation.results[0])
    written = operation.ints(_PERMUTING[operation.opcode])
    if not written:
        return None
    if operation.opcode == "iota":
        size = result.dimensions[written[0]]
        others = [i for i, each in enumerate(result.dimensions) if i != written[0] and each == size > 1]
        return (others[0],) if others else None
    source = array_shape(operation.operands[0])
    sizes = source.dimensions if operation.opcode == "broadcast" else result.dimensions
    for i, j in combinations(range(len(written)), 2):
        if sizes[i] == sizes[j] > 1:
            swapped = list(written)
            swapped[i], swapped[j] = written[j], written[i]
            return tuple(swapped)
    return None


def _renumbered(name: str, dimensions: tuple[int, ...]) -> _Edit:
    return lambda module, operation: operation.set_ints(name, dimensions)


def _factors(constant: Operation) -> Iterator[float]:
    """Yields the factors by which a constant may change."""
    shape, bits = array_shape(constant.results[0]), constant.splat_bits
    if bits and (shape.element_type.is_floating or shape.element_type.is_integral):
        yield from (factor for factor in _FACTORS if _times(shape.element_type, bits, factor) not in (None, bits))


def _times(element_type: ElementType, bits: int, factor: float) -> int | None:
    """Returns the bits of a finite number times a factor; None where a number is not finite, is zero or too large."""
    if not element_type.is_floating:
        number = round((bits - (bits >> element_type.bits - 1 << element_type.bits) * element_type.is_signed) * factor)
        low, high = element_type.integer_range
        return number % (1 << element_type.bits) if low <= number <= high and number else None
    value = float(decode_float(element_type.name, bits))
    with np.errstate(all="ignore"):
        product = np.array(value * factor).astype(dtype_of(element_type))
    is_number = isfinite(value) and value != 0 and isfinite(float(product)) and float(product) != 0
    return int(to_bits(product, element_type)) if is_number else None


def _scaled(factor: float) -> _Edit:
    def scale(module: Module, operation: Operation) -> None:
        shape, bits = array_shape(operation.results[0]), operation.splat_bits
        made = _times(shape.element_type, bits or 0, factor)
        assert made is not None  # checked by _factors
        _replace_constant(module, operation, made)

    return scale


def _changed(module: Module, operation: Operation) -> None:
    """Replaces a constant by the next integer, the other predicate, or a float that differs in one bit."""
    shape, bits = array_shape(operation.results[0]), operation.splat_bits
    assert bits is not None
    element_type = shape.element_type
    is_infinite = element_type.is_floating and isinf(decode_float(element_type.name, bits))
    # The next number is the largest that is finite.
    changed = (
        (bits + (-1 if is_infinite else 1)) % (1 << element_type.bits)
        if element_type.is_integral or is_infinite
        else bits ^ (1 << max(0, element_type.bits - 10))
    )
    _replace_constant(module, operation, 1 - bits if element_type.name == "pred" else changed)


def _replace_constant(module: Module, operation: Operation, bits: int) -> None:
    value = operation.results[0]
    shape = array_shape(value)
    builder = module.after(value)
    made = builder.constant(shape.element_type, bits, name=f"{value.name}.changed", like=value)
    if shape.rank:
        made = builder.broadcast(made, shape.dimensions, name=f"{value.name}.changed", like=value)
    value.replace_uses(made)


def _narrowed(module: Module, operation: Operation) -> None:
    """Converts a value to a narrower type and back."""
    value = operation.results[0]
    shape = array_shape(value)
    builder = module.after(value)
    narrow = ELEMENT_TYPES[_NARROWER[shape.element_type.name]]
    there = builder.convert(value, narrow, name=f"{value.name}.narrow", like=value)
    back = builder.convert(there, shape.element_type, name=f"{value.name}.wide", like=value)
    value.replace_uses(back, keep=[there.operation] if there.operation is not None else [])
