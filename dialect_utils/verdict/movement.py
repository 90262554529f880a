"""Whether a module only moves data: every element of its results is an element of an input, or a constant.

Where that is so of two modules, they are the same if they put the same elements in the same places. Carriers
show it: inputs that all hold other values. What does not depend on the inputs (indices, predicates, what
pads) may be computed, of whole numbers alone, which no engine rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dialect_utils.execution import Array, from_bits
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops import Trait, has, named
from dialect_utils.verdict.data.needs import index_operands

_INLINED = named("call fusion")
_GIVEN = named("constant iota")
# Its sizes are operands.
_DYNAMIC = named("dynamic-reshape")
# Engines do not agree on a division by 0.
_DIVISIONS = named("divide remainder")
# Patterns of types up to this width are looked at one by one.
_NARROW_BITS = 16


def only_moves_data(module: Module) -> bool:
    """Is true where each element of the results is moved from an input, or is a constant; never true of loops."""
    variable: set[Value] = set(module.entry.parameters)
    return _only_moves(module.entry, variable)


def _only_moves(function: Function, variable: set[Value]) -> bool:
    """Adds the values that depend on the inputs to `variable`; is false at the first that is not moved."""
    for operation in function.operations:
        if operation.opcode == "parameter":
            continue
        is_variable = any(value in variable for value in operation.operands)
        if operation.opcode in _INLINED:
            [called] = operation.called
            given = zip(called.parameters, operation.operands, strict=True)
            # A function that is called twice must not keep what an earlier call passed.
            inner = {parameter for parameter, operand in given if operand in variable}
            if not _only_moves(called, inner):
                return False
        elif not (_moves(operation, variable) if is_variable else _is_exact(operation)):
            return False
        if is_variable:
            variable.update(operation.results)
    return True


def _moves(operation: Operation, variable: set[Value]) -> bool:
    """Is true where elements are moved to places that do not depend on the inputs."""
    opcode = operation.opcode
    places = operation.operands[:1] if opcode == "select" else index_operands(operation)
    if any(value in variable for value in places):
        return False
    if has(opcode, Trait.AMONG_DEVICES) or opcode in _DYNAMIC:
        return False
    return opcode == "select" or any(has(opcode, trait) for trait in (Trait.MOVES_DATA, Trait.FORWARDS, Trait.TUPLES))


def _is_exact(operation: Operation) -> bool:
    """Is true where a value is computed in whole numbers, or moved."""
    opcode = operation.opcode
    if opcode in _GIVEN or _moves(operation, set()):
        return True
    values = [*operation.operands, *operation.results]
    kinds = [array.element_type for value in values for array in value.shape.arrays()]
    is_whole = all(not kind.is_floating and not kind.is_complex for kind in kinds)
    is_simple = has(opcode, Trait.ELEMENTWISE) and has(opcode, Trait.PURE)
    return is_simple and is_whole and opcode not in _DIVISIONS and not operation.called


def carriers(shapes: Sequence[ArrayShape]) -> list[list[Array]]:
    """Returns sets of inputs in which all elements of one type together hold distinct values.

    An element's values in all sets are the digits of its number. No element has one value in all of them, as a
    constant has: where an output's elements are those of another module in every set, each is the same constant, or
    comes from the same element. Floats are normal numbers, which no engine changes when it moves them.
    """
    counts: dict[str, int] = {}
    for shape in shapes:
        name = shape.element_type.name
        counts[name] = counts.get(name, 0) + shape.element_count
    digits = max((_digits(_part(shape.element_type), counts[shape.element_type.name]) for shape in shapes), default=0)
    return [_set(shapes, counts, number) for number in range(digits)]


def _set(shapes: Sequence[ArrayShape], counts: dict[str, int], digit: int) -> list[Array]:
    begin = dict.fromkeys(counts, 0)
    arrays = []
    for shape in shapes:
        kind = shape.element_type
        numbers = begin[kind.name] + np.arange(shape.element_count, dtype=np.int64)
        begin[kind.name] += shape.element_count
        arrays.append(_values(kind, counts[kind.name], numbers, digit).reshape(shape.dimensions))
    return arrays


def _values(kind: ElementType, count: int, numbers: Any, digit: int) -> Array:
    """Returns one digit of the numbers, each written without those whose digits are all the same."""
    part = _part(kind)
    base, digits = _base(part, count), _digits(part, count)
    step = sum(base**i for i in range(digits))
    codes = numbers + 1 + numbers // (step - 1)
    values = from_bits(_patterns(part, base)[codes // base ** (digit % digits) % base], part)
    if not kind.is_complex:
        return values
    whole = np.empty(values.shape, dtype_of(kind))
    whole.real, whole.imag = values, values
    return whole


def _part(kind: ElementType) -> ElementType:
    return ElementType(f"f{kind.bits // 2}", kind.bits // 2) if kind.is_complex else kind


def _base(kind: ElementType, count: int) -> int:
    """Returns how many values of a type are used: one more than elements, where it has them."""
    return len(_patterns(kind, max(2, count + 1)))


def _digits(kind: ElementType, count: int) -> int:
    base = _base(kind, count)
    digits = 2
    while base**digits - base < count:
        digits += 1
    return digits


def _patterns(kind: ElementType, most: int) -> Any:
    """Returns bits of that many values of a type, fewer where it has fewer; of floats normal ones."""
    if not kind.is_floating:
        return np.arange(min(most, 1 << min(kind.bits, 62)), dtype=np.uint64)
    if kind.bits > _NARROW_BITS:
        # The positive numbers from 1 on.
        one = {32: 0x3F800000, 64: 0x3FF0000000000000}[kind.bits]
        return np.uint64(one) + np.arange(most, dtype=np.uint64)
    import ml_dtypes

    bits = np.arange(1 << kind.bits, dtype=np.uint64)
    with np.errstate(all="ignore"):
        values = from_bits(bits, kind).astype(np.float64)
    smallest = float(ml_dtypes.finfo(dtype_of(kind)).smallest_normal)
    return bits[np.isfinite(values) & (np.abs(values) >= smallest)][:most]
