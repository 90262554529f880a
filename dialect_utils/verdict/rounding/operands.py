"""Finds the operands of an original's dots that its optimized dump rounds to bf16.

A TPU may round the operands of a dot or convolution of f32 at DEFAULT precision, and its compiler rounds some of them.
Each rounding moves the results in a direction of its own. So the roundings of a dump are those whose directions add up
to the difference of both programs, on random data. A further comparison decides whether the dump differs by these
roundings only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array, Program
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.arrays.dtypes import element_type_of
from dialect_utils.ops import Trait, has
from dialect_utils.verdict.outcome import ROUNDED, Rounding
from dialect_utils.verdict.runs import Runs
from dialect_utils.verdict.sampling import DataSet

_SIDES = 2
# Kinds of data on which a rounding changes the results by a small share of their size.
_CONTINUOUS = ("random", "shifted", "given")
# The most operands whose directions are computed, and the most per compilation.
_MOST_OPERANDS = 256
_TOGETHER = 16
# The most numbers to compare in each direction.
_MOST_NUMBERS = 1 << 16
# A rounding counts as present from this factor on; it may be far from 1, as roundings change each other's directions.
_PRESENT = 0.35
# Directions change with the other roundings, so they are computed again once some are known.
_ATTEMPTS = 4


def narrow_operands(module: Module) -> int:
    """Returns the number of operands of dots and convolutions that an optimized dump has in bf16; 0 for no dump."""
    operations = list(module.operations())
    if module.attributes.get("is_scheduled") != "true" and all(each.opcode != "fusion" for each in operations):
        return 0
    return sum(
        isinstance(operand.shape, ArrayShape) and operand.shape.element_type.name == ROUNDED
        for operation in operations
        if has(operation.opcode, Trait.CONTRACTS)
        for operand in operation.operands
    )


@dataclass(frozen=True, slots=True)
class RoundedOperands:
    """The search for the operands that the second of two programs rounds; it may round at most `most` operands."""

    runs: Runs
    most: int

    def found(self) -> tuple[Rounding, Program] | None:
        """Returns the operands, and the original in which these are rounded; None for none. Raises ExecutionError."""
        _, numbers = self.runs.worker.rewrite("round", self.runs.programs[0], operands=0)
        found: dict[int, tuple[list[int], bool]] = {}
        for number, (first, is_convolution) in enumerate(zip(numbers[::2], numbers[1::2], strict=True)):
            found.setdefault(first, ([], bool(is_convolution)))[0].append(number)
        products = [_Product(tuple(members), is_convolution) for members, is_convolution in found.values()]
        if not 0 < _SIDES * len(products) <= _MOST_OPERANDS:
            return None
        chosen: frozenset[int] = frozenset()
        for _ in range(_ATTEMPTS):
            before, chosen = chosen, self._decided(products, chosen)
            if chosen == before:
                break
        if not 0 < len(chosen) <= self.most:
            return None
        return _rounding(products, chosen), self._rounded(products, chosen)

    def _rounded(self, products: Sequence[_Product], chosen: frozenset[int]) -> Program:
        operands = _rounding(products, chosen).operands
        return self.runs.worker.rewrite("round", self.runs.programs[0], operands=operands)[0]

    def _decided(self, products: Sequence[_Product], chosen: frozenset[int]) -> frozenset[int]:
        """Returns the operands whose roundings add up to the difference from the original with the chosen ones."""
        number = range(_SIDES * len(products))
        runs = replace(self.runs, programs=(self._rounded(products, chosen), self.runs.programs[1]))
        results = runs.compared()
        base, wanted = [each.expected for each in results], [each.zeros for each in results]
        vector = _vectors(base)
        columns = []
        for begin in range(0, len(number), _TOGETHER):
            others = [self._rounded(products, chosen ^ {each}) for each in number[begin : begin + _TOGETHER]]
            found = runs.of_others(others)
            columns += [vector(base if each is None else each) for each in found]
        present = _coefficients(np.stack(columns, axis=1), vector(wanted)) > _PRESENT
        return chosen ^ {each for each in number if present[each]}


@dataclass(frozen=True, slots=True)
class _Product:
    """A group of equal dots or convolutions, by their numbers in the module."""

    numbers: tuple[int, ...]
    is_convolution: bool


def _rounding(products: Sequence[_Product], chosen: frozenset[int]) -> Rounding:
    """Returns the rounding of chosen operands; each choice covers the operands of all equal products."""
    bits, counts = 0, [0, 0]
    for position, product in enumerate(products):
        sides = [side for side in range(_SIDES) if _SIDES * position + side in chosen]
        bits |= sum(1 << (_SIDES * number + side) for number in product.numbers for side in sides)
        counts[product.is_convolution] += len(product.numbers) if sides else 0
    return Rounding(bits, *counts)


def _vectors(base: Sequence[Sequence[Array]]) -> Callable[[Sequence[Sequence[Array]]], NDArray[Any]]:
    """Returns a function from outputs to their differences from `base`, relative to each output's size."""
    flat = [[_numbers(array) for array in outputs] for outputs in base]
    count = sum(array.size for outputs in flat for array in outputs)
    step = max(1, count // _MOST_NUMBERS)
    sizes = [[np.abs(array[np.isfinite(array)]).max(initial=0.0) or 1.0 for array in outputs] for outputs in flat]

    def vector(others: Sequence[Sequence[Array]]) -> NDArray[Any]:
        parts = [
            (_numbers(array) - own) / size
            for outputs, owns, of_set in zip(others, flat, sizes, strict=True)
            for array, own, size in zip(outputs, owns, of_set, strict=True)
        ]
        with np.errstate(invalid="ignore"):
            joined = np.concatenate(parts)[::step] if parts else np.zeros(0)
        return np.where(np.isfinite(joined), joined, 0.0)

    return vector


def _numbers(array: Array) -> NDArray[Any]:
    """Returns the real numbers of an output; none for integers, which do not change linearly."""
    element_type = element_type_of(array.dtype)
    if element_type.is_complex:
        return np.concatenate([_numbers(array.real), _numbers(array.imag)])
    return array.astype(np.float64).ravel() if element_type.is_floating else np.zeros(0)


def _coefficients(columns: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """Returns the factors by which the columns add up to a vector; 0 of a column of zeros."""
    sizes = np.linalg.norm(columns, axis=0)
    scaled = columns / np.where(sizes > 0, sizes, 1.0)
    factors = np.linalg.lstsq(scaled, wanted, rcond=None)[0]
    return np.where(sizes > 0, factors / np.where(sizes > 0, sizes, 1.0), 0.0)


def is_continuous(data: DataSet) -> bool:
    """Is true for data on which a rounding moves the results by a small share."""
    return data.kind in _CONTINUOUS
