"""Costs of operations, compared with those that HloCostAnalysis of the installed jaxlib counts."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.index.index_map import byte_size_of
from dialect_utils.layout.targets.known import TARGETS
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.cost import Cost, CostModel, _positions, total
from dialect_utils.ops import ALL_OPERANDS, HLO_NAMES, OPCODES, Trait, with_trait
from dialect_utils.ops.window import WindowDimension, positions
from relayout.reporting.terminal import terminal_page
from tests.relayout.test_against import PLAIN

_ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n"
_PAIR = """pair {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  s = f32[] add(a, c)
  t = f32[] tanh(d)
  ROOT r = (f32[], f32[]) tuple(s, t)
}
"""
_LESS = """less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
_BODY = """body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[4] exponential(v)
  ROOT r = (s32[], f32[4]) tuple(j, w)
}
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT r = pred[] compare(i, n), direction=LT
}
"""
_FUSED = """fused {
  a = f32[10,8] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  s = f32[2,8] dynamic-slice(a, i, z), dynamic_slice_sizes={2,8}
  t = f32[1,8] slice(a), slice={[3:4], [0:8]}
  b = f32[8] reshape(t)
  c = f32[2,8] broadcast(b), dimensions={1}
  m = f32[2,8] multiply(s, c)
  k = f32[16] constant({1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16})
  q = f32[2,8] reshape(k)
  u = f32[2,8] add(m, q)
  ROOT r = f32[10,8] dynamic-update-slice(a, u, i, z)
}
"""
_ENTRIES = {
    "dot": "p = f32[5,8,16] parameter(0)\nq = f32[16,5,4] parameter(1)\nROOT r = f32[5,8,4] dot(p, q), "
    "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    "convolution": "p = f32[2,9,8,6] parameter(0)\nq = f32[3,2,3,4] parameter(1)\nROOT r = f32[2,5,8,4] "
    "convolution(p, q), window={size=3x2 stride=2x1 pad=1_1x0_1}, dim_labels=b01f_01io->b01f, feature_group_count=2",
    "dilated convolution": "p = f32[2,9,3] parameter(0)\nq = f32[3,3,4] parameter(1)\nROOT r = f32[2,15,4] "
    "convolution(p, q), window={size=3 pad=1_1 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f",
    "product as convolution": "p = f32[7,3,5]{2,1,0} parameter(0)\nq = f32[7,5,2]{2,1,0} parameter(1)\nROOT r = "
    "f32[7,3,2] convolution(p, q), window={size=7 stride=6 lhs_dilate=7}, dim_labels=0bf_0io->0bf",
    "no spatial dimensions": "p = f32[7,3] parameter(0)\nq = f32[3,2] parameter(1)\nROOT r = f32[7,2] "
    "convolution(p, q), dim_labels=bf_io->bf",
    "elementwise": "p = f32[6] parameter(0)\na = f32[6] add(p, p)\nb = f32[6] tanh(a)\nc = bf16[6] convert(b)\n"
    "d = u16[6] bitcast-convert(c)\ne = pred[6] compare(d, d), direction=LT\nROOT r = f32[6] select(e, p, a)",
    "transcendental": "p = f32[6] parameter(0)\na = f32[6] power(p, p)\nb = f32[6] erf(a)\nc = f32[6] rsqrt(b)\n"
    "ROOT r = f32[6] logistic(c)",
    "reduce": "p = f32[6,7] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[6] reduce(p, z), dimensions={1}, "
    "to_apply=add",
    "two reductions": "p = f32[6,7] parameter(0)\nz = f32[] constant(0)\nROOT r = (f32[6], f32[6]) "
    "reduce(p, p, z, z), dimensions={1}, to_apply=pair",
    "reduce-window": "p = f32[6,7] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[3,7] reduce-window(p, z), "
    "window={size=2x3 stride=2x1 pad=0_0x1_1}, to_apply=add",
    "window over a whole dimension": "p = f32[6,7] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[6,7] "
    "reduce-window(p, z), window={size=1x13 pad=0_0x6_6}, to_apply=add",
    "gather": "p = f32[10,3] parameter(0)\ni = s32[4,1] parameter(1)\nROOT r = f32[4,3] gather(p, i), "
    "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
    "scatter": "p = f32[10,3] parameter(0)\ni = s32[4,1] parameter(1)\nu = f32[4,3] parameter(2)\nROOT r = f32[10,3] "
    "scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add",
    "sort": "p = f32[100] parameter(0)\nq = f32[100] parameter(1)\nROOT r = (f32[100], f32[100]) sort(p, q), "
    "dimensions={0}, to_apply=less",
    "while": "p = (s32[], f32[4]) parameter(0)\nROOT r = (s32[], f32[4]) while(p), condition=condition, body=body",
    "fusion": "p = f32[10,8] parameter(0)\ni = s32[] parameter(1)\nROOT r = f32[10,8] fusion(p, i), kind=kLoop, "
    "calls=fused",
    "movement": "p = f32[3,10]{1,0} parameter(0)\na = f32[10,3]{0,1} transpose(p), dimensions={1,0}\n"
    "b = f32[10,3]{1,0} copy(a)\nc = f32[30] reshape(b)\nd = f32[10] slice(c), slice={[0:10]}\n"
    "e = f32[40] concatenate(c, d), dimensions={0}\nf = f32[40] reverse(e), dimensions={0}\n"
    "ROOT r = (f32[40], f32[30]) tuple(f, c)",
    "in place": "p = f32[10,3] parameter(0)\nu = f32[2,3] parameter(1)\ni = s32[] parameter(2)\n"
    "a = f32[10,3] dynamic-update-slice(p, u, i, i)\nROOT r = f32[1,3] dynamic-slice(a, i, i), "
    "dynamic_slice_sizes={1,3}",
    "solvers": "p = f32[4,4] parameter(0)\nc = f32[4,4] cholesky(p), lower=true\nROOT r = f32[4,4] "
    "triangular-solve(c, p), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    "all-reduce": "p = f32[8] parameter(0)\nROOT r = f32[8] all-reduce(p), replica_groups={}, to_apply=add",
    "random": "p = u64[2] parameter(0)\nROOT r = (u64[2], u32[8]) rng-bit-generator(p), algorithm=rng_three_fry",
    "fft": "p = c64[4,8] parameter(0)\nROOT r = c64[4,8] fft(p), fft_type=FFT, fft_length={8}",
}


def _entry_of(opcode: str) -> str:
    """Returns an entry that applies an elementwise operation to arrays of one type."""
    known = OPCODES[opcode]
    kind = "f32" if known.takes is None or known.takes.includes(ELEMENT_TYPES["f32"]) else "s32"
    names = [f"p{number}" for number in range(known.operand_count or 0)]
    parameters = [f"{name} = {kind}[6] parameter({number})" for number, name in enumerate(names)]
    return "\n".join([*parameters, f"ROOT r = {kind}[6] {opcode}({', '.join(names)})"])


# Every elementwise operation of one type. (jaxlib 0.10 does not read mulhi.)
_EACH = {name for name in with_trait(Trait.ELEMENTWISE) & HLO_NAMES if OPCODES[name].typed == ALL_OPERANDS} - {"mulhi"}
_ENTRIES |= {f"each {name}": _entry_of(name) for name in sorted(_EACH)}


# The client of XLA:CPU has threads, which a process that forks must not have.
_ORACLE = """
import json, sys
from jaxlib import _jax
from jaxlib._hlo import hlo_module_from_text
from jaxlib.xla_client import make_cpu_client
client = make_cpu_client()
texts = json.load(sys.stdin)
print(json.dumps({n: dict(_jax.hlo_module_cost_analysis(client, hlo_module_from_text(t))) for n, t in texts.items()}))
"""


@pytest.fixture(scope="module")
def counted() -> dict[str, dict[str, float]]:
    texts = {name: _module(entry) for name, entry in _ENTRIES.items()}
    command = [sys.executable, "-c", _ORACLE]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


def _module(entry: str) -> str:
    called = (text for text in (_ADD, _PAIR, _LESS, _BODY, _FUSED) if re.search(rf"={text.split(' ')[0]}\b", entry))
    return f"HloModule m\n{''.join(called)}ENTRY e {{\n{entry}\n}}\n"


def _cost(entry: str) -> Cost:
    module = parse_module(_module(entry))
    return total(map(CostModel(byte_size_of).of_operation, module.entry.operations))


@pytest.mark.parametrize("name", _ENTRIES)
def test_costs_are_those_of_hlo_cost_analysis(name: str, counted: dict[str, dict[str, float]]) -> None:
    wanted = counted[name]
    cost = _cost(_ENTRIES[name])
    assert cost.flops == wanted.get("flops", 0)
    assert cost.transcendentals == wanted.get("transcendentals", 0)
    assert cost.bytes_accessed == wanted.get("bytes accessed", 0)


def test_positions_of_random_windows() -> None:
    generator = random.Random(5)
    for _ in range(2000):
        low, high = generator.randint(-2, 4), generator.randint(-2, 4)
        numbers = [generator.randint(1, most) for most in (6, 4, 4, 3)]
        window = WindowDimension(numbers[0], numbers[1], low, high, numbers[2], numbers[3])
        inputs = generator.randint(1, 9)
        outputs = positions(inputs, window)
        if outputs <= 0:
            continue
        read = (
            output * window.stride - low + element * window.rhs_dilation
            for element in range(window.size)
            for output in range(outputs)
        )
        last = (inputs - 1) * window.lhs_dilation
        wanted = sum(0 <= position <= last and position % window.lhs_dilation == 0 for position in read)
        assert _positions(window, inputs, outputs) == wanted, (window, inputs)


def test_a_batch_of_a_million_products_is_counted_at_once() -> None:
    size = 1 << 20
    entry = (
        f"p = f32[{size},3,5] parameter(0)\nq = f32[{size},5,2] parameter(1)\nROOT r = f32[{size},3,2] "
        f"convolution(p, q), window={{size={size} stride={size - 1} lhs_dilate={size}}}, dim_labels=0bf_0io->0bf"
    )
    assert _cost(entry).flops == 2 * size * 3 * 5 * 2


def test_loops_count_their_trips_in_the_report() -> None:
    report = MemoryReport(
        parse_module(
            _module(_ENTRIES["while"]).replace(
                "p = (s32[], f32[4]) parameter(0)",
                ("z = s32[] constant(0)\nv = f32[4] parameter(0)\np = (s32[], f32[4]) tuple(z, v)"),
            )
        )
    )
    assert report.cost.transcendentals == 9 * 4
    assert {row.trips for row in report.costs if row.opcode == "exponential"} == {9}


def test_every_target_has_peaks_and_the_page_names_their_source() -> None:
    assert all(target.peak_flops > target.peak_bytes > 0 for target in TARGETS.values())
    page = terminal_page(MemoryReport(parse_module(PLAIN), "tpu-v5e"), 300)
    assert "at least" in page
    assert "bound by memory" in page
    assert "cloud.google.com/tpu/docs" in page
    # Without a target that the user names there is no roofline; that of the tiles is a guess.
    assert "at least" not in terminal_page(MemoryReport(parse_module(PLAIN)), 300)


def test_a_library_call_of_a_gpu_accesses_its_arrays_without_scratch_memory() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4,8] parameter(0)
  y = f32[8,16] parameter(1)
  c = (f32[4,16], s8[4194304]) custom-call(x, y), custom_call_target="__cublas$gemm"
  z = f32[4,16] get-tuple-element(c), index=0
  ROOT u = f32[4,16] custom-call(z), custom_call_target="mine"
}
"""
    rows = {row.name: row.bytes_accessed for row in MemoryReport(parse_module(text)).costs}
    assert {name: accessed for name, accessed in rows.items() if accessed} == {"c": 4 * (4 * 8 + 8 * 16 + 4 * 16)}
