"""Equations on every bit pattern of their variables and constants, by the definitions in the domain of bits.

Values are arrays of bits. An operation on operands of few bits becomes a table of its definition's results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.arrays import Array, from_bits, to_bits
from dialect_utils.execution.reference import conversions, elementwise
from dialect_utils.layout import ElementType
from dialect_utils.verdict.rules import conditions
from dialect_utils.verdict.rules.conditions import Condition
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.pattern import Pattern
from tests.rules.cases import Case, required_type

# Unsigned integers; of c128, which is wider, the bytes of each element.
Bits = NDArray[Any]
WIDE = np.dtype("V16")
Guard = tuple[Condition, ...]
Formats = tuple[tuple[str, ElementType], ...]
# Assignments that are computed at once.
_CHUNK = 1 << 17
_TABLE_BITS = 16
# How an operation is named: its opcode, its direction, whether it orders totally, and the type of its result.
Operation = tuple[str, str, bool, ElementType]


def counterexample(case: Case) -> dict[str, int] | None:
    """Returns the bits of variables and constants for which both sides differ; None where the equation holds."""
    for values in assignments(case):
        at = differences(case, values)
        if len(at):
            return {name: int(column[at[0]]) for name, column in values.items()}
    return None


def differences(case: Case, values: Mapping[str, Bits]) -> NDArray[np.intp]:
    """Returns the positions of the assignments for which both sides differ."""
    left, right = (evaluate(side, case, values) for side in (case.equation.left, case.equation.right))
    differs = left != right
    for condition in case.equation.given:
        own = {conditions.LEFT: left, conditions.RIGHT: right}.get(condition.name)
        kind = required_type(case.equation.left, case.types) if own is not None else case.leaves[condition.name]
        differs &= ~_has(values[condition.name] if own is None else own, kind, condition.values)
    at = np.flatnonzero(differs)
    kind = required_type(case.equation.left, case.types)
    if not len(at) or case.level == "bits" or not (kind.is_floating or kind.is_complex):
        return at
    return at[~(_is_nan(left[at], kind) & _is_nan(right[at], kind))]


def assignments(case: Case) -> Iterator[dict[str, Bits]]:
    """Yields all bits of the variables, with the constants that the guard admits, in chunks."""
    constants = case.constants
    chosen = admitted(case)
    variables = {name: kind for name, kind in case.leaves.items() if name not in constants}
    total = len(chosen) << sum(kind.bits for kind in variables.values())
    for start in range(0, total, _CHUNK):
        rest = np.arange(start, min(start + _CHUNK, total), dtype=np.uint32)
        values = {}
        for name, kind in variables.items():
            values[name] = _narrowed(rest & np.uint32((1 << kind.bits) - 1), kind)
            rest = rest >> np.uint32(kind.bits)
        for i, name in enumerate(constants):
            values[name] = _narrowed(chosen[:, i], case.leaves[name])[rest]
        yield values


def admitted(case: Case) -> Bits:
    """Returns the bits of constants that the guard admits, a row for each choice."""
    widths = tuple(case.leaves[name].bits for name in case.constants)
    return _admitted(case.equation.guard, case.formats, tuple(case.constants), widths)


@cache
def _admitted(guard: Guard, formats: Formats, constants: tuple[str, ...], widths: tuple[int, ...]) -> Bits:
    types = dict(formats)
    rows = [
        bits
        for bits in product(*(range(1 << width) for width in widths))
        if all(condition.holds(types, dict(zip(constants, bits, strict=True))) for condition in guard)
    ]
    return np.array(rows, np.uint32).reshape(len(rows), len(constants))


def evaluate(pattern: Pattern, case: Case, values: Mapping[str, Bits]) -> Bits:
    """Returns the bits of a pattern's value for each assignment."""
    kind = required_type(pattern, case.types)
    if pattern.kind == "number":
        bits = word_bits(kind, pattern.name)
        assert bits is not None  # a case has numbers of its types only
        return _narrowed(np.full(len(next(iter(values.values()), np.zeros(1))), bits, np.uint64), kind)
    if pattern.kind != "each":
        return values[pattern.name]
    operands = [evaluate(operand, case, values) for operand in pattern.operands]
    kinds = tuple(required_type(operand, case.types) for operand in pattern.operands)
    return applied((pattern.name, pattern.direction, pattern.is_total, kind), kinds, operands)


def applied(operation: Operation, kinds: tuple[ElementType, ...], operands: Sequence[Bits]) -> Bits:
    """Returns an operation on bits: by its table where it has one and that is shorter than the operands."""
    width = sum(kind.bits for kind in kinds)
    if width > _TABLE_BITS or len(operands[0]) < 1 << width:
        return _defined(operation, kinds, operands)
    index = operands[0].astype(np.uint16)
    for kind, bits in zip(kinds[1:], operands[1:], strict=True):
        index = index << np.uint16(kind.bits) | bits.astype(np.uint16)
    return _table(operation, kinds)[index]


@cache
def _table(operation: Operation, kinds: tuple[ElementType, ...]) -> Bits:
    """Returns the results of an operation for all bits of its operands, the first operand's bits the highest."""
    rest = np.arange(1 << sum(kind.bits for kind in kinds), dtype=np.uint64)
    columns = []
    for kind in reversed(kinds):
        columns.append(rest & np.uint64((1 << kind.bits) - 1))
        rest = rest >> np.uint64(kind.bits)
    return _narrowed(_defined(operation, kinds, columns[::-1]), operation[-1])


def _narrowed(bits: Bits, kind: ElementType) -> Bits:
    """Returns bits in an unsigned integer as short as an element, so that tables and columns stay in the cache."""
    return bits if kind.bits > 64 else bits.astype(f"u{kind.storage_bytes}")


def _defined(operation: Operation, kinds: Sequence[ElementType], operands: Sequence[Bits]) -> Bits:
    """Returns an operation on bits by its definition."""
    opcode, direction, is_total, result = operation
    arrays = [array_of(bits, kind) for bits, kind in zip(operands, kinds, strict=True)]
    if opcode == "bitcast-convert":
        return operands[0]
    if opcode == "compare":
        return bits_of(conversions.compare(direction, *arrays, is_total=is_total), result)
    return bits_of(elementwise.each(opcode, result, arrays), result)


def array_of(bits: Bits, kind: ElementType) -> Array:
    """Returns the array with these bits."""
    if kind.name == "c128":
        return bits.view(np.complex128)
    return from_bits(bits.astype(f"u{kind.storage_bytes}"), kind)


def bits_of(array: Array, kind: ElementType) -> Bits:
    """Returns the bits of an array."""
    if kind.name == "c128":
        return np.ascontiguousarray(array).view(WIDE)
    return to_bits(array, kind)


def _has(bits: Bits, kind: ElementType, values: Sequence[str]) -> NDArray[np.bool_]:
    """Returns a mask of the elements that are a value of a condition on data, by the definition of the format."""
    unique, at = np.unique(bits, return_inverse=True)
    found = [any(conditions.is_value(kind, int(each), value) for value in values) for each in unique]
    return np.array(found, np.bool_)[at]


def _is_nan(bits: Bits, kind: ElementType) -> NDArray[np.bool_]:
    wide = conversions.widened(array_of(bits, kind))
    with np.errstate(invalid="ignore"):
        return np.asarray(wide != wide)
