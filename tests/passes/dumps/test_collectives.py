"""Collectives of words and of several arrays equal numpy's results."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.collectives import combine_scalars
from passes.dumps.make_portable import make_portable
from passes.framework.pipeline import verify
from tests.conftest import Workers
from tests.passes.dump_files import UNOPTIMIZED

Array = NDArray[Any]
BYTES, HALVES = "{0:T(512)(128)(4,1)}", "{0:T(256)(128)(2,1)}"


def part(kind: str, bits: int, opcode: str, shift: int) -> list[str]:
    """Returns the lines that combine the elements of two words that begin at a bit, as libtpu writes them."""
    convert = "convert" if kind == "pred" else "bitcast-convert"
    return [
        f"c{shift} = u32[] constant({shift})",
        *(
            line
            for word in "xy"
            for line in (
                f"{word}s{shift} = u32[] shift-right-logical({word}, c{shift})",
                f"{word}n{shift} = u{bits}[] convert({word}s{shift})",
                f"{word}e{shift} = {kind}[] {convert}({word}n{shift})",
            )
        ),
        f"e{shift} = {kind}[] {opcode}(xe{shift}, ye{shift})",
        f"n{shift} = u{bits}[] {convert}(e{shift})",
        f"z{shift} = u32[] convert(n{shift})",
        f"w{shift} = u32[] shift-left(z{shift}, c{shift})",
    ]


def combiner(kind: str, bits: int, *opcodes: str) -> str:
    lines = ["x = u32[] parameter(0)", "y = u32[] parameter(1)"]
    shifts = range(0, 32, bits)
    for opcode, shift in zip(opcodes, shifts, strict=True):
        lines += part(kind, bits, opcode, shift)
    joined = "w0"
    for shift in shifts[1:]:
        lines.append(f"j{shift} = u32[] or({joined}, w{shift})")
        joined = f"j{shift}"
    *most, last = lines
    return "combine {\n  " + "\n  ".join([*most, f"ROOT {last}"]) + "\n}\n"


def module_of(combine: str, shape: str) -> HloModule:
    return parse_module(
        f"HloModule m, replica_count=2, is_scheduled=true\n{combine}ENTRY e {{\n"
        f"  p = {shape} parameter(0)\n"
        "  w = u32[128]{0:T(128)} bitcast(p)\n"
        "  r = u32[128]{0:T(128)} all-reduce(w), replica_groups={{0,1}}, to_apply=combine\n"
        f"  ROOT b = {shape} bitcast(r)\n}}\n"
    )


@pytest.mark.parametrize(
    ("kind", "layout", "opcode", "function"),
    [
        ("s8", BYTES, "maximum", np.maximum),
        ("s8", BYTES, "add", np.add),
        ("pred", BYTES, "or", np.logical_or),
        ("bf16", HALVES, "add", np.add),
    ],
)
def test_elements_of_words_are_reduced(workers: Workers, kind: str, layout: str, opcode: str, function: Any) -> None:
    bits = 16 if layout == HALVES else 8
    module = module_of(combiner(kind, bits, *[opcode] * (32 // bits)), f"{kind}[5]{layout}")
    make_portable(module)
    assert "u32" not in module.text()
    dtype = {"s8": np.int8, "pred": np.bool_, "bf16": ml_dtypes.bfloat16}[kind]
    parts: Array = np.array([[100, -128, 0, 0, 7], [100, 127, 0, -3, -7]]).astype(dtype)
    for found in workers[2].run(prepare(module, "<test>"), [[parts]], options=UNOPTIMIZED)[0][0]:
        assert np.array_equal(found, function(*parts))


@pytest.mark.parametrize(
    "combine",
    [
        "combine {\n  x = u32[] parameter(0)\n  y = u32[] parameter(1)\n  ROOT s = u32[] add(x, y)\n}\n",
        combiner("s8", 8, "add", "add", "maximum", "add"),
        combiner("s8", 8, *["add"] * 4).replace("shift-left(z8, c8)", "shift-left(z8, c0)"),
        combiner("s8", 8, *["add"] * 4).replace("shift-right-logical(y, c8)", "shift-right-logical(y, c0)"),
        combiner("s8", 8, *["add"] * 4).replace("xe8 = s8[] bitcast-convert(xn8)", "xe8 = s8[] negate(xn8)"),
    ],
)
def test_another_combiner_of_words_reads_padding(combine: str) -> None:
    with pytest.raises(DiagnosticError, match="padding"):
        make_portable(module_of(combine, f"s8[5]{BYTES}"))


def test_several_arrays_are_permuted_one_by_one(workers: Workers) -> None:
    text = """HloModule m, replica_count=2, is_scheduled=true
ENTRY e {
  a = f32[2] parameter(0)
  b = s32[] parameter(1)
  pair = (s32[], f32[2]) tuple(b, a)
  start = ((f32[2], (s32[], f32[2])), (f32[2], (s32[], f32[2])))
    collective-permute-start(a, pair), source_target_pairs={{0,1}}
  d = (f32[2], (s32[], f32[2])) collective-permute-done(start)
  first = f32[2] get-tuple-element(d), index=0
  rest = (s32[], f32[2]) get-tuple-element(d), index=1
  second = s32[] get-tuple-element(rest), index=0
  ROOT r = (f32[2], s32[]) tuple(first, second)
}
"""
    module = parse_module(text)
    make_portable(module)
    a, b = np.array([[1.5, 2], [3, 4]], np.float32), np.array([5, 6], np.int32)
    first, second = workers[2].run(prepare(module, "<test>"), [[a, b]], options=UNOPTIMIZED)[0]
    assert first.tolist() == [[0, 0], [1.5, 2]]
    assert second.tolist() == [0, 5]


def test_maps_and_reductions_without_percent_signs_are_legal_in_their_own_types(worker: Worker) -> None:
    text = """HloModule m, is_scheduled=true
each {
  p = s16[] parameter(0)
  q = f32[] parameter(1)
  c = f32[] convert(p)
  ROOT r = f32[] add(c, q)
}
sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  s = f32[] add(x, y)
  ROOT n = bf16[] convert(s)
}
ENTRY e {
  p = s16[3] parameter(0)
  q = f32[3] parameter(1)
  m = f32[3] map(p, q), to_apply=each
  zero = bf16[] constant(0)
  ROOT t = bf16[] reduce(m, zero), dimensions={0}, to_apply=sum
}
"""
    module = parse_module(text)
    make_portable(module)
    verify(module)
    (found,) = worker.run(
        prepare(module, "<test>"), [[np.array([1, -2, 3], np.int16), np.ones(3, np.float32)]], options=UNOPTIMIZED
    )[0]
    assert found == 5


ARRAYS = """HloModule m, replica_count=2

sum {
  a = bf16[4] parameter(0)
  b = bf16[4] parameter(1)
  x = f32[4] convert(a)
  y = f32[4] convert(b)
  s = f32[4] add(x, y)
  ROOT c = bf16[4] convert(s)
}

ENTRY e {
  p = bf16[4] parameter(0)
  q = bf16[4] all-reduce(p), replica_groups={{0,1}}, to_apply=sum
  r = bf16[2] reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, to_apply=sum
  ROOT t = (bf16[4], bf16[2]) tuple(q, r)
}
"""


def test_combiners_of_arrays_become_combiners_of_scalars() -> None:
    module = parse_module(ARRAYS)
    combine_scalars(module)
    verify(module)
    [combiner, _] = module.computations
    assert [str(item.shape) for item in combiner.instructions] == [
        "bf16[]",
        "bf16[]",
        "f32[]",
        "f32[]",
        "f32[]",
        "bf16[]",
    ]
    assert {item.called[0] for item in module.entry.instructions if item.called} == {combiner}


@pytest.mark.parametrize(
    "combiner",
    [
        "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n",
        "  a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  r = f32[4] reverse(a), dimensions={0}\n"
        "  ROOT c = f32[4] add(r, b)\n",
    ],
)
def test_other_combiners_stay(combiner: str) -> None:
    module = parse_module(
        f"HloModule m, replica_count=2\n\nsum {{\n{combiner}}}\n\nENTRY e {{\n  p = f32[4] parameter(0)\n"
        "  ROOT q = f32[4] all-reduce(p), replica_groups={{0,1}}, to_apply=sum\n}\n"
    )
    text = module.text()
    combine_scalars(module)
    assert module.text() == text
