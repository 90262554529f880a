"""Chooses the sets of data on which two modules run, among them tagged inputs and all possible inputs.

A module only moves data where every element of its results is an element of an input, or a constant. Two such
modules are equal if they move the same elements to the same positions. Tagged inputs, whose elements all differ,
show that. Values that do not depend on the inputs (indices, predicates, padding) may be computed, but only of whole
numbers, which no engine rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dialect_utils.execution import Array, from_bits, from_plain_all
from dialect_utils.execution.custom_calls import is_linear_algebra
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.floats import complex_array, smallest_normal
from dialect_utils.ops import SOLVED, Trait, has, named
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.structured import group_counts
from dialect_utils.verdict.options import Options
from dialect_utils.verdict.sampling import DataSet, array_demands, data_sets, unreached
from dialect_utils.verdict.sampling.demands import index_operands


def chosen_data(
    shapes: Sequence[ArrayShape], modules: Sequence[Module], options: Options, *, sums: bool
) -> tuple[list[DataSet], list[str]]:
    """Returns the sets of data for entry arrays of these shapes, and remarks on values that they do not reach.

    Where both modules only move data, tagged inputs are among the sets. `sums`: some output is a sum of floats.
    """
    if options.inputs is not None:
        return [DataSet("given", from_plain_all(options.inputs, shapes))], []
    if not shapes:
        return [DataSet("own", [])], []
    demands = array_demands(modules, shapes)
    is_finite = any(_spreads_infinities(operation) for module in modules for operation in module.operations())
    computed = [operation for operation in modules[0].operations() if operation.opcode == "conditional"]
    names = [each.results[0].name if each.results else each.opcode for each in computed]
    branches = [f"not known: which branches of conditional {name} were taken" for name in names]
    sets = data_sets(demands, options.seeds, finite=is_finite, sums=sums)
    missing = unreached(demands, len(sets), finite=is_finite)
    if all(map(only_moves_data, modules)):
        sets += [DataSet("tagged", arrays) for arrays in tagged_inputs(shapes)]
    return sets, [*missing, *branches]


def _spreads_infinities(operation: Operation) -> bool:
    """Is true for operations in which engines differ: some multiply infinities by 0, which gives NaN.

    XLA:CPU multiplies the elements of a convolution's other groups by 0. An fft, a factorization and a complex product
    have several algorithms.
    """
    values = [*operation.operands, *operation.results]
    is_complex = any(array.element_type.is_complex for value in values for array in value.shape.arrays())
    if (
        operation.opcode in SOLVED
        or is_linear_algebra(operation.callee or "")
        or (is_complex and has(operation.opcode, Trait.CONTRACTS))
    ):
        return True
    if operation.opcode != "convolution":
        return False
    try:
        return group_counts(operation) != (1, 1)
    except (UndefinedError, ValueError):
        return True


_INLINED = named("call fusion")
_GIVEN = named("constant iota")
# All bit patterns of types up to this width are tried.
_NARROW_BITS = 16


def only_moves_data(module: Module) -> bool:
    """Is true where each element of the results is an element of an input, or a constant; false for loops."""
    variable: set[Value] = set(module.entry.parameters)
    return _only_moves(module.entry, variable)


def _only_moves(function: Function, variable: set[Value]) -> bool:
    """Adds the values that depend on the inputs to `variable`; returns false at the first value that is not moved."""
    for operation in function.operations:
        if operation.opcode == "parameter":
            continue
        is_variable = any(value in variable for value in operation.operands)
        if operation.opcode in _INLINED:
            [called] = operation.called
            given = zip(called.parameters, operation.operands, strict=True)
            # Each call of a function starts without the variables of an earlier call.
            inner = {parameter for parameter, operand in given if operand in variable}
            if not _only_moves(called, inner):
                return False
        elif not (_moves(operation, variable) if is_variable else _is_exact(operation)):
            return False
        if is_variable:
            variable.update(operation.results)
    return True


def _moves(operation: Operation, variable: set[Value]) -> bool:
    """Is true where elements are moved to positions that do not depend on the inputs."""
    opcode = operation.opcode
    places = operation.operands[:1] if opcode == "select" else index_operands(operation)
    if any(value in variable for value in places):
        return False
    # The sizes of a dynamic-reshape are operands.
    if has(opcode, Trait.AMONG_DEVICES) or opcode == "dynamic-reshape":
        return False
    return opcode == "select" or any(has(opcode, trait) for trait in (Trait.MOVES_DATA, Trait.FORWARDS, Trait.TUPLES))


def _is_exact(operation: Operation) -> bool:
    """Is true where a value is computed from whole numbers, or moved."""
    opcode = operation.opcode
    if opcode in _GIVEN or _moves(operation, set()):
        return True
    values = [*operation.operands, *operation.results]
    kinds = [array.element_type for value in values for array in value.shape.arrays()]
    is_whole = all(not kind.is_inexact for kind in kinds)
    is_simple = has(opcode, Trait.ELEMENTWISE) and has(opcode, Trait.PURE)
    return is_simple and is_whole and not has(opcode, Trait.DIVIDES) and not operation.called


def tagged_inputs(shapes: Sequence[ArrayShape]) -> list[list[Array]]:
    """Returns sets of inputs in which all elements of one type together hold distinct values.

    Set k holds digit k of each element's number. No element has the same value in all sets, unlike a constant. So
    outputs that are equal in every set take each element from the same input element or constant. Floats are normal
    numbers, which no engine changes when it moves them.
    """
    counts: dict[str, int] = {}
    for shape in shapes:
        name = shape.element_type.name
        counts[name] = counts.get(name, 0) + shape.element_count
    digits = max((_digits(shape.element_type.part, counts[shape.element_type.name]) for shape in shapes), default=0)
    return [_set(shapes, counts, number) for number in range(digits)]


def _set(shapes: Sequence[ArrayShape], counts: dict[str, int], digit: int) -> list[Array]:
    begin = dict.fromkeys(counts, 0)
    arrays = []
    for shape in shapes:
        element_type = shape.element_type
        numbers = begin[element_type.name] + np.arange(shape.element_count, dtype=np.int64)
        begin[element_type.name] += shape.element_count
        arrays.append(_values(element_type, counts[element_type.name], numbers, digit).reshape(shape.dimensions))
    return arrays


def _values(element_type: ElementType, count: int, numbers: Any, digit: int) -> Array:
    """Returns one digit of the numbers, skipping codes whose digits are all the same."""
    part = element_type.part
    base, digits = _base(part, count), _digits(part, count)
    step = sum(base**i for i in range(digits))
    codes = numbers + 1 + numbers // (step - 1)
    values = from_bits(_patterns(part, base)[codes // base ** (digit % digits) % base], part)
    return complex_array(values, values) if element_type.is_complex else values


def _base(element_type: ElementType, count: int) -> int:
    """Returns the number of values of a type to use: one more than elements, where the type has that many."""
    return len(_patterns(element_type, max(2, count + 1)))


def _digits(element_type: ElementType, count: int) -> int:
    base = _base(element_type, count)
    digits = 2
    while base**digits - base < count:
        digits += 1
    return digits


def _patterns(element_type: ElementType, most: int) -> Any:
    """Returns the bits of `most` values of a type, or of all where it has fewer; of floats only normal numbers."""
    if not element_type.is_floating:
        return np.arange(min(most, 1 << min(element_type.bits, 62)), dtype=np.uint64)
    if element_type.bits > _NARROW_BITS:
        # The positive numbers from 1 on.
        one = {32: 0x3F800000, 64: 0x3FF0000000000000}[element_type.bits]
        return np.uint64(one) + np.arange(most, dtype=np.uint64)
    bits = np.arange(1 << element_type.bits, dtype=np.uint64)
    with np.errstate(all="ignore"):
        values = from_bits(bits, element_type).astype(np.float64)
    return bits[np.isfinite(values) & (np.abs(values) >= smallest_normal(element_type))][:most]


# The bits of all inputs together: two bytes, one bf16 or sixteen predicates.
_MOST_BITS = 16


def possible_inputs(shapes: Sequence[ArrayShape]) -> list[Array] | None:
    """Returns all inputs of these shapes, stacked along a leading dimension; None where they are too many.

    `shapes` have no packed layouts; an input without elements has one value.
    """
    bits = sum(shape.element_count * shape.element_type.bits for shape in shapes)
    if bits > _MOST_BITS:
        return None
    numbers = np.arange(1 << bits, dtype=np.uint64)
    arrays = []
    for shape in shapes:
        count, width = shape.element_count, shape.element_type.bits
        elements = [numbers >> np.uint64(i * width) & np.uint64((1 << width) - 1) for i in range(count)]
        numbers = numbers >> np.uint64(count * width)
        whole = np.stack(elements, axis=1) if elements else np.zeros((len(numbers), 0), np.uint64)
        arrays.append(from_bits(whole, shape.element_type).reshape(len(numbers), *shape.dimensions))
    return arrays
