"""Packing of numpy arrays for tests: the physical plan, run step by step."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.physical import physical_plan
from tests.layout.interpret import run_plan


def pack(array: NDArray[Any], shape: ArrayShape, padding_bits: int = 0) -> NDArray[Any]:
    """Returns the physical array of `array`, its padding filled with `padding_bits`."""
    return run_plan(physical_plan(shape), array, padding_bits).copy()


def unpack(physical: NDArray[Any], shape: ArrayShape) -> NDArray[Any]:
    """Returns the array whose physical array is given."""
    return run_plan(physical_plan(shape).inverse(), physical)
