"""Modules whose inputs have few bits are decided by running all inputs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dialect_utils.execution import Worker, to_bits
from dialect_utils.io.files import parse_bytes
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.verdict import Options, Verdict, compare_modules
from dialect_utils.verdict.sampling.inputs import possible_inputs

XLA = Options(engines=("xla",), power=0)


def compared(worker: Worker, first: str, last: str, options: Options = XLA) -> Verdict:
    a, b = (
        parse_bytes(f"HloModule m\nENTRY e {{\n {body}\n}}\n".encode(), name)
        for name, body in (("a.hlo", first), ("b.hlo", last))
    )
    return compare_modules(a, b, options, worker)


@pytest.mark.parametrize("kinds", [("pred", "s4"), ("u8", "u2"), ("bf16",), ("f8e4m3fn", "pred")])
def test_all_inputs_are_there_once(kinds: tuple[str, ...]) -> None:
    types = [ELEMENT_TYPES[kind] for kind in kinds]
    inputs = possible_inputs([ArrayShape(kind, ()) for kind in types])
    assert inputs is not None
    found = [to_bits(array, kind).tolist() for array, kind in zip(inputs, types, strict=True)]
    assert sorted(zip(*found, strict=True)) == list(product(*(range(1 << kind.bits) for kind in types)))


def test_arrays_and_limits() -> None:
    pred = ELEMENT_TYPES["pred"]
    inputs = possible_inputs([ArrayShape(pred, (2, 3)), ArrayShape(pred, (0,))])
    assert inputs is not None
    assert [array.shape for array in inputs] == [(64, 2, 3), (64, 0)]
    assert len(np.unique(inputs[0].reshape(64, 6), axis=0)) == 64
    assert possible_inputs([ArrayShape(pred, (17,))]) is None


SUM = "x = u8[] parameter(0)\n y = u8[] parameter(1)\n"
RARE = SUM + (
    "a = u8[] constant(173)\n b = u8[] constant(94)\n p = pred[] compare(x, a), direction=EQ\n"
    " q = pred[] compare(y, b), direction=EQ\n r = pred[] and(p, q)\n z = u8[] constant(7)\n s = u8[] add(x, y)\n"
    " ROOT t = u8[] select(r, z, s)"
)
MASKS = SUM + (
    "a = u8[] xor(x, y)\n b = u8[] and(x, y)\n c = u8[] constant(1)\n d = u8[] shift-left(b, c)\n"
    " ROOT s = u8[] add(a, d)"
)


def test_every_input_decides(worker: Worker) -> None:
    plain = SUM + "ROOT s = u8[] add(x, y)"
    found = compared(worker, plain, MASKS)
    assert (found.verdict, found.data) == ("equal", "on every possible input (65,536 of them)")
    found = compared(worker, plain, RARE)
    assert found.verdict == "different"
    assert found.counterexample is not None
    assert found.counterexample.as_json()["values"] == [str((173 + 94) % 256), "7"]


def test_narrow_floats_are_decided(worker: Worker) -> None:
    x = "x = bf16[] parameter(0)\n"
    wide = x + "f = f32[] convert(x)\n g = f32[] multiply(f, f)\n ROOT s = bf16[] convert(g)"
    found = compared(worker, x + "ROOT s = bf16[] multiply(x, x)", wide)
    assert (found.verdict, found.data) == ("equal", "on every possible input (65,536 of them)")


X = "x = u32[] parameter(0)\n"
COUNTED = "i = s32[3] iota(), iota_dimension=0\n o = s32[3] constant({1,1,1})\n ROOT s = s32[3] add(i, o)"
SQUARE = (
    "a = f32[2,2] constant({{1,2},{3,4}})\n"
    " ROOT d = f32[2,2] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
)
CASES = {
    "no inputs": ("ROOT c = s32[3] constant({1,2,3})", COUNTED, "equal"),
    "too many": (
        X + "ROOT s = u32[] add(x, x)",
        X + "c = u32[] constant(1)\n ROOT s = u32[] shift-left(x, c)",
        "agrees",
    ),
    "a sum in any order": (SQUARE, "ROOT c = f32[2,2] constant({{7,10},{15,22}})", "agrees"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_decides(worker: Worker, name: str) -> None:
    first, last, verdict = CASES[name]
    assert compared(worker, first, last).verdict == verdict
