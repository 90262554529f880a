"""Which elements a gather takes, where its start indices are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray


def gathered_indices(
    numbers: Mapping[str, Sequence[int]], sizes: Sequence[int], starts: NDArray[Any], results: Sequence[int]
) -> tuple[NDArray[Any], ...] | None:
    """Returns the operand's index of every result element, one array for each of its dimensions.

    `numbers` has HLO's names. Meaning: StableHLO's specification of gather; start indices are clamped.
    """
    offset, collapsed = numbers["offset_dims"], numbers["collapsed_slice_dims"]
    operand_batch, start_batch = numbers["operand_batching_dims"], numbers["start_indices_batching_dims"]
    start_map, vector = numbers["start_index_map"], numbers["index_vector_dim"][0]
    slice_sizes = numbers["slice_sizes"]
    batch = [i for i in range(len(results)) if i not in offset]
    kept = [i for i in range(len(sizes)) if i not in collapsed and i not in operand_batch]
    found: list[list[int]] = [[] for _ in sizes]
    for result in product(*map(range, results)):
        at = [result[i] for i in batch]
        index = [0] * len(sizes)
        for k, dimension in enumerate(start_map):
            place = tuple(at) if vector == starts.ndim else (*at[:vector], k, *at[vector:])
            index[dimension] = max(0, min(int(starts[place]), sizes[dimension] - slice_sizes[dimension]))
        for dimension, start in zip(operand_batch, start_batch, strict=True):
            index[dimension] = at[start - (start > vector)]
        for dimension, to in zip(kept, offset, strict=True):
            index[dimension] += result[to]
        for dimension, value in enumerate(index):
            found[dimension].append(value)
    return tuple(np.array(column, np.int64).reshape(results) for column in found)
