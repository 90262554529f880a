"""Blocks of indices against plain counting."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.layout.index.positions import Condition, Position
from dialect_utils.layout.proof import enumeration
from dialect_utils.layout.proof.enumeration import at, blocks, keeps


@pytest.mark.parametrize("size", [1, 5, 24, 1000])
def test_blocks_are_every_index_once_in_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "_BLOCK", size)
    found = []
    for index, unit in blocks((2, 3, 4)):
        assert len(unit) <= size
        found += [(*at(index, k), int(unit[k])) for k in range(len(unit))]
    assert found == list(np.ndindex(2, 3, 4))


def test_conditions_of_a_block() -> None:
    values = np.arange(-2, 8)
    kept = keeps(Position([], 0, [Condition(values, 0, 6, 2), Condition(values, -5, 4)]), values.shape)
    assert values[kept].tolist() == [0, 2]
    assert keeps(Position([], 0), (3,)).all()
