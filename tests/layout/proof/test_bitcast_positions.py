"""The origins of the atoms of a bitcast, against packing numbers and reading them as the other array."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.proof.bitcast_positions import (
    agrees,
    atom_bits,
    defined_positions,
    padding_mask,
    planned_positions,
)
from tests.layout.packing import pack, unpack

# Both ends, and whether the result has elements that are padding of the operand.
BITCASTS = [
    ("s32[3,5]{1,0}", "s32[15]{0}", False),
    ("s32[4,6]{1,0:T(2,2)}", "s32[2,3,2,2]{3,2,1,0}", False),
    ("s32[3,5]{1,0:T(2,2)}", "s32[2,3,2,2]{3,2,1,0}", True),
    ("s32[4,6]{0,1}", "s32[6,4]{1,0}", False),
    ("s32[2,3]{1,0:T(2,4)}", "s32[2,4]{1,0}", True),
]


@pytest.mark.parametrize(("source", "destination", "reads_padding"), BITCASTS)
def test_positions_are_those_of_the_bytes(source: str, destination: str, reads_padding: bool) -> None:
    one, other = parse_array_shape(source), parse_array_shape(destination)
    numbers = np.arange(one.element_count, dtype=np.int32).reshape(one.dimensions)
    memory = pack(numbers, one, padding_bits=0xFFFFFFFF).reshape(-1)
    form = pack(np.zeros(other.dimensions, np.int32), other)
    read = unpack(memory[: form.size].reshape(form.shape), other)
    found = defined_positions(one, other, 32)
    assert np.array_equal(found[..., 0], read)
    assert bool(padding_mask(found).any()) == reads_padding
    assert np.array_equal(padding_mask(found), read < 0)


@pytest.mark.parametrize(("source", "destination", "reads_padding"), BITCASTS)
def test_the_plan_that_replaces_the_bitcast_agrees(source: str, destination: str, reads_padding: bool) -> None:
    one, other = parse_array_shape(source), parse_array_shape(destination)
    plan = classify_bitcast(one, other).decomposition
    assert (plan is None) == reads_padding
    if plan is None:
        return
    atom = atom_bits(one, other, plan)
    defined, planned = defined_positions(one, other, atom), planned_positions(one, plan, atom)
    assert agrees(defined, planned)
    assert not agrees(defined, np.roll(planned, 1))
    assert not agrees(defined, planned[..., None])


def test_narrow_elements_share_an_element_of_the_result() -> None:
    one, other = parse_array_shape("u16[4]{0}"), parse_array_shape("u32[2]{0}")
    assert defined_positions(one, other, 16).tolist() == [[0, 1], [2, 3]]
