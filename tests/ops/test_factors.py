"""Factors are what their kind says: by the definitions, computed on operands that are permuted, changed or cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest

from dialect_utils.execution import Array
from dialect_utils.execution.reference.domain import Bits
from dialect_utils.execution.reference.evaluator import Evaluator
from dialect_utils.ir import Operation
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops import OPCODES, Trait, has, opcode_of
from dialect_utils.ops.factors import Factor, Kind, of_reshape, result_positions, sizes_at
from dialect_utils.ops.table import HLO_OPCODES
from tests.ops.instances import hlo_operations, stablehlo_operations

Operands = list[Array]
# The neutral element of the functions that combine, and the function itself.
_COMBINERS: dict[str, tuple[float, Callable[..., Array]]] = {
    "add": (0, np.add),
    "multiply": (1, np.multiply),
    "maximum": (-99, np.maximum),
    "minimum": (99, np.minimum),
}
# Sums of many products may round.
_TOLERANCE = 1e-4


@cache
def instances() -> tuple[Operation, ...]:
    """Returns operations that declare factors, and have a definition."""
    found = [*hlo_operations(), *stablehlo_operations()]
    return tuple(each for each in found if callable(opcode_of(each.opcode).factors))


def factors(operation: Operation) -> list[Factor]:
    rule = opcode_of(operation.opcode).factors
    assert callable(rule)
    return list(rule(operation))


def drawn(random: np.random.Generator, kind: ElementType, sizes: Sequence[int]) -> Array:
    """Returns random small integers, exact in each type and order of summation."""
    low, high = (0, 2) if kind.name == "pred" else (0, 5) if kind.is_unsigned else (-2, 6)
    return random.integers(low, high, sizes).astype(dtype_of(kind))


def operands_of(operation: Operation, seed: int) -> Operands:
    random = np.random.default_rng(seed)
    shapes = [leaf for value in operation.operands for leaf in value.shape.arrays()]
    return [drawn(random, shape.element_type, shape.dimensions) for shape in shapes]


def computed(operation: Operation, operands: Operands) -> list[Array]:
    with np.errstate(all="ignore"):
        found = Evaluator(Bits, has_captures=False)._compute(operation, operation.opcode, operands)  # noqa: SLF001
    return [array for value in found for array in (value if isinstance(value, tuple) else (value,))]


def is_equal(first: Array, second: Array) -> bool:
    if first.dtype.kind in "biu" or first.dtype.name[:3] in ("int", "uin"):
        return np.array_equal(first, second)
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        return np.allclose(first.astype(wide), second.astype(wide), _TOLERANCE, _TOLERANCE, equal_nan=True)


def parted(operation: Operation, listed: Sequence[Factor], position: int) -> tuple[list[int], dict[int, int]]:
    """Returns sizes that have a dimension for each factor, and the number of that dimension by number of the factor."""
    sizes: list[int] = []
    numbers: dict[int, int] = {}
    for dimension, size in enumerate(sizes_at(operation, position)):
        inside = [i for i, each in enumerate(listed) if each.dimensions.get(position) == dimension]
        if len(inside) > 1:
            assert prod(listed[i].size for i in inside) == size, (operation, listed)
        for i in inside:
            numbers[i] = len(sizes)
            sizes.append(listed[i].size if len(inside) > 1 else size)
        if not inside:
            sizes.append(size)
    return sizes, numbers


class Split:
    """An operation whose operands and results have a dimension for each factor."""

    def __init__(self, operation: Operation, listed: Sequence[Factor]) -> None:
        self.operation, self.listed = operation, listed
        positions = (*range(len(operation.operands)), *result_positions(operation))
        self.parts = {position: parted(operation, listed, position) for position in positions}

    def changed(self, array: Array, position: int, number: int, change: Callable[[Array], Array]) -> Array:
        """Returns an array whose parts along a factor, which come first for `change`, are changed."""
        sizes, numbers = self.parts[position]
        if number not in numbers:
            return array
        moved = np.moveaxis(array.reshape(sizes), numbers[number], 0)
        return np.moveaxis(change(moved), 0, numbers[number]).reshape(array.shape)

    def operands(self, operands: Operands, number: int, change: Callable[[Array], Array]) -> Operands:
        return [self.changed(each, position, number, change) for position, each in enumerate(operands)]

    def sizes(self, number: int) -> set[int]:
        return {sizes[numbers[number]] for sizes, numbers in self.parts.values() if number in numbers}


def complaints_of_kept(split: Split, number: int, operands: Operands, others: Operands) -> Iterator[str]:
    """Yields where the results do not follow a permutation of the indices, or an index depends on other ones."""
    operation, factor = split.operation, split.listed[number]
    if len(split.sizes(number)) > 1 or all(position >= 0 for position in factor.dimensions):
        yield "sizes differ, or no result has it"
        return
    results = computed(operation, operands)
    order = np.roll(np.arange(factor.size)[::-1], 1)
    permuted = computed(operation, split.operands(operands, number, lambda array: array[order]))
    for i, (before, after) in enumerate(zip(results, permuted, strict=True)):
        if not is_equal(split.changed(before, ~i, number, lambda array: array[order]), after):
            yield "results do not follow a permutation"
    for index in {0, factor.size // 2, factor.size - 1}:
        mixed = [
            mixed_at(split, number, position, (own, other), index)
            for position, (own, other) in enumerate(zip(operands, others, strict=True))
        ]
        for i, (before, after) in enumerate(zip(results, computed(operation, mixed), strict=True)):
            sizes, numbers = split.parts[~i]
            if number in numbers:
                first, second = (np.delete(each.reshape(sizes), index, numbers[number]) for each in (before, after))
                if not is_equal(first, second):
                    yield "an index depends on others"
            elif not is_equal(before, after):
                yield "a result without the factor depends on it"


def mixed_at(split: Split, number: int, position: int, arrays: tuple[Array, Array], index: int) -> Array:
    """Returns an array that has the elements of another one at an index of a factor."""
    own, other = arrays
    sizes, numbers = split.parts[position]
    if number not in numbers:
        return own
    found = np.moveaxis(own.reshape(sizes).copy(), numbers[number], 0)
    found[index] = np.moveaxis(other.reshape(sizes), numbers[number], 0)[index]
    return np.moveaxis(found, 0, numbers[number]).reshape(own.shape)


def combiner(operation: Operation) -> tuple[float, Callable[..., Array] | None] | None:
    """Returns the neutral element of the function by which an operation combines, and the function if it is simple."""
    if has(operation.opcode, Trait.CONTRACTS):
        return _COMBINERS["add"]
    if not has(operation.opcode, Trait.COMBINES):
        return None
    root = operation.called[0].results[0].operation
    return _COMBINERS.get("" if root is None else root.opcode, (0, None))


def complaints_of_combined(split: Split, number: int, operands: Operands) -> Iterator[str]:
    """Yields where the results of two parts, combined, are not those of the whole."""
    operation, factor = split.operation, split.listed[number]
    known = combiner(operation)
    if any(position < 0 for position in factor.dimensions) or not known:
        yield "a result has it, or no function combines it"
    elif known[1] is not None:
        neutral, function = known[0], known[1]
        taken = {"scatter": [2], "reduce": [0]}.get(operation.opcode, [0])
        whole, other = list(operands), list(operands)
        if operation.opcode == "reduce":
            whole[1] = other[1] = np.full_like(operands[1], neutral)
        if operation.opcode == "scatter":
            other[0] = np.full_like(operands[0], neutral)
        parts = [
            computed(
                operation,
                [masked(split, number, i, each, neutral, half) if i in taken else each for i, each in enumerate(given)],
            )
            for half, given in ((0, whole), (1, other))
        ]
        for before, first, second in zip(computed(operation, whole), *parts, strict=True):
            if not is_equal(before, function(first, second)):
                yield "parts, combined, are not the whole"


def masked(split: Split, number: int, position: int, array: Array, neutral: float, half: int) -> Array:
    """Returns an array whose first half along a factor, or its second half, is neutral."""

    def change(moved: Array) -> Array:
        found, middle = moved.copy(), len(moved) // 2
        found[slice(middle, None) if half else slice(middle)] = neutral
        return found

    return split.changed(array, position, number, change)


def complaints_of_cut(split: Split, number: int, operands: Operands, others: Operands) -> Iterator[str]:
    """Yields where neighbours of an operand are not neighbours of the result."""
    results = computed(split.operation, operands)
    sizes, numbers = split.parts[~0]
    for position in (each for each in split.listed[number].dimensions if each >= 0):
        own = split.parts[position][0][split.parts[position][1][number]]
        found: list[int] = []
        for index in range(own):
            mixed = list(operands)
            mixed[position] = mixed_at(split, number, position, (operands[position], others[position]), index)
            [after] = computed(split.operation, mixed)
            axes = tuple(axis for axis, _ in enumerate(sizes) if axis != numbers[number])
            differs = np.flatnonzero((results[0] != after).reshape(sizes).any(axes))
            if len(differs) > 1:
                yield "an index becomes several"
            found += differs.tolist()
        if found != [*range(found[0], found[0] + len(found))] if found else False:
            yield "neighbours do not stay neighbours"


def complaints(operation: Operation, listed: Sequence[Factor], seed: int = 0) -> list[str]:
    """Returns what is wrong with the factors of an operation."""
    split, found = Split(operation, listed), list[str]()
    operands, others = (operands_of(operation, each) for each in (2 * seed, 2 * seed + 1))
    for number, factor in enumerate(listed):
        wrong: Iterator[str] = iter(())
        if factor.kind is Kind.KEPT:
            wrong = complaints_of_kept(split, number, operands, others)
        elif factor.kind is Kind.COMBINED:
            wrong = complaints_of_combined(split, number, operands)
        elif factor.kind is Kind.CUT:
            wrong = complaints_of_cut(split, number, operands, others)
        found += [f"{operation.opcode} {factor}: {each}" for each in wrong]
    return found


def uncovered(operation: Operation, listed: Sequence[Factor]) -> list[str]:
    """Returns the dimensions of several indices that no factor has."""
    positions = (*range(len(operation.operands)), *result_positions(operation))
    return [
        f"{operation.opcode}, position {position}, dimension {dimension}"
        for position in positions
        for dimension, size in enumerate(sizes_at(operation, position))
        if size > 1 and not any(each.dimensions.get(position) == dimension for each in listed)
    ]


def test_each_operation_has_factors_or_a_reason() -> None:
    assert [name for name, each in OPCODES.items() if not each.factors] == []
    seen = {each.opcode for each in instances()}
    # Others are not HLO, or exist in HLO for StableHLO's sake only.
    assert [each.name for each in HLO_OPCODES if callable(each.factors) and each.name not in seen] == []


def test_factors_are_what_their_kind_says() -> None:
    wrong = [line for each in instances() for seed in (0, 1) for line in complaints(each, factors(each), seed)]
    assert wrong == []


def test_each_dimension_of_several_indices_has_a_factor() -> None:
    listed = [line for each in instances() if each.opcode != "reshape" for line in uncovered(each, factors(each))]
    assert listed == []


def test_no_kept_factor_is_declared_as_another_kind() -> None:
    """Passes would miss a kept factor that has another kind."""
    found: dict[tuple[str, Kind], list[bool]] = defaultdict(list)
    for operation in instances():
        listed = factors(operation)
        for number, factor in enumerate(listed):
            if factor.kind in (Kind.CUT, Kind.WINDOWED, Kind.INDEXED, Kind.WHOLE) and factor.size > 1:
                kept = [replace(each, kind=Kind.KEPT) if i == number else each for i, each in enumerate(listed)]
                found[operation.opcode, factor.kind].append(complaints(operation, kept) != [])
    weak = {opcode for (opcode, _), is_found in found.items() if not any(is_found)}
    # On one device an exchange moves nothing.
    assert weak <= {name for name in OPCODES if has(name, Trait.COLLECTIVE)}


def planted(listed: Sequence[Factor]) -> Iterator[list[Factor]]:
    """Yields factors with a mistake: another kind, or two dimensions of the result exchanged."""
    for number, factor in enumerate(listed):
        if factor.kind is Kind.KEPT and factor.size > 1:
            yield [replace(each, kind=Kind.COMBINED) if i == number else each for i, each in enumerate(listed)]
        for other in range(number):
            is_kept = factor.kind is listed[other].kind is Kind.KEPT
            wrong = exchanged(listed, number, other)
            if is_kept and factor.size == listed[other].size > 1 and wrong != listed:
                yield wrong


def exchanged(listed: Sequence[Factor], first: int, second: int) -> list[Factor]:
    found = list(listed)
    for one, other in ((first, second), (second, first)):
        dimensions = {position: each for position, each in listed[one].dimensions.items() if position >= 0}
        dimensions |= {position: each for position, each in listed[other].dimensions.items() if position < 0}
        found[one] = replace(listed[one], dimensions=dimensions)
    return found


@pytest.mark.parametrize("operation", [*hlo_operations()], ids=lambda each: str(each.opcode))
def test_planted_mistakes_are_found(operation: Operation) -> None:
    rule = opcode_of(operation.opcode).factors
    if not callable(rule) or not operation.operands:
        return
    for wrong in planted(list(rule(operation))):
        assert any(complaints(operation, wrong, seed) for seed in range(12)), wrong


def test_a_reshape_has_the_parts_that_both_sides_have() -> None:
    def parts(before: tuple[int, ...], after: tuple[int, ...]) -> list[Any]:
        return [(each.size, *each.dimensions.values()) for each in of_reshape(before, after)]

    assert parts((6, 4), (2, 12)) == [(2, 0, 0), (3, 0, 1), (4, 1, 1)]
    assert parts((1, 5, 4), (5, 2, 2)) == [(5, 1, 0), (2, 2, 1), (2, 2, 2)]
    assert parts((4, 6), (6, 4)) == parts((0, 3), (3, 0)) == []
    assert parts((7, 4, 6), (7, 6, 4)) == [(7, 0, 0)]
