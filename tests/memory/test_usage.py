"""Memory figures against the TPU compiler's own, and by forward programs small enough to count."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.memory import MemoryUsage, measure_memory
from tests.memory.compiled import compiled_programs
from tests.paths import SHARED_DATA

PROGRAMS = compiled_programs()
REAL_SIZE = 16 << 20
KIB = 1024
SMALL = SHARED_DATA / "corpus" / "tpu_third_party"


def measured(name: str) -> MemoryUsage:
    return measure_memory(PROGRAMS[name].module())


@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_and_aliases_are_exact_and_outputs_but_for_their_table(name: str) -> None:
    usage, compiler = measured(name), PROGRAMS[name]
    assert usage.argument_bytes == compiler.argument
    assert usage.alias_bytes == compiler.alias
    assert abs(usage.output_bytes - compiler.output) <= 512


def test_peaks_are_those_of_the_compiler() -> None:
    ratios = {
        name: measured(name).peak_bytes / compiler.peak
        for name, compiler in PROGRAMS.items()
        if compiler.peak > REAL_SIZE
    }
    off_by_one_percent = {name: ratio for name, ratio in ratios.items() if abs(ratio - 1) > 0.01}
    off_by_ten = {name: ratio for name, ratio in ratios.items() if abs(ratio - 1) > 0.1}
    assert len(ratios) >= 40
    assert len(off_by_one_percent) <= 0.05 * len(ratios), off_by_one_percent
    assert len(off_by_ten) == 0, off_by_ten


def peak_of(body: str, header: str = "is_scheduled=true", computations: str = "") -> int:
    text = f"HloModule m, {header}\n\n{computations}\nENTRY e {{\n{body}\n}}\n"
    return measure_memory(parse_module(text, "m.hlo"), "tpu-v5e").temporary_bytes


# f32[1024] in one tile of 1024 elements: 4 KiB.
F = "f32[1024]{0:T(1024)}"


def test_a_chain_holds_two_values_at_a_time() -> None:
    assert peak_of(f"p = {F} parameter(0)\na = {F} negate(p)\nb = {F} negate(a)\nROOT c = {F} negate(b)") == 8 * KIB


def test_what_is_used_late_lives_long() -> None:
    chain = f"p = {F} parameter(0)\na = {F} negate(p)\nb = {F} negate(a)\nc = {F} negate(b)\nROOT d = {F} add(c, a)"
    assert peak_of(chain) == 12 * KIB


def test_a_constant_in_main_memory_counts_throughout() -> None:
    chain = f"p = {F} parameter(0)\na = {F} negate(p)\nb = {F} negate(a)\nc = {F} constant({{...}})\n"
    assert peak_of(f"{chain}ROOT d = {F} add(b, c)") == 12 * KIB
    # A copy of the constant lives as long as it is used, and the constant beside it.
    copied = f"{chain}e = {F} copy(c)\nf = {F} add(b, e)\nROOT g = {F} negate(f)"
    assert peak_of(copied) == 16 * KIB


def test_constants_count_beside_the_temporaries_of_another_memory() -> None:
    fast = F.replace(")}", ")S(1)}")
    body = (
        f"p = {F} parameter(0)\na = {fast} negate(p)\nb = {fast} negate(a)\nc = {F} constant({{...}})\n"
        f"d = {fast} add(b, c)\nROOT e = {F} negate(d)"
    )
    text = f"HloModule m, is_scheduled=true\n\nENTRY e {{\n{body}\n}}\n"
    usage = measure_memory(parse_module(text, "m.hlo"), "tpu-v5e")
    # The argument, the output, the constant, and two values in VMEM.
    assert usage.peak_bytes == (4 + 4 + 4 + 8) * KIB
    assert usage.main_memory_peak_bytes == (4 + 4 + 4) * KIB


def test_constants_of_a_comparator_count_and_those_of_a_fusion_do_not() -> None:
    """Figures of libtpu 0.0.52: 4 KiB + 512 bytes for each constant of a comparator in main memory."""
    called = """before {
  a = f32[]{:T(128)} parameter(0)
  b = f32[]{:T(128)} parameter(1)
  zero = f32[]{:T(128)} constant(0)
  one = f32[]{:T(128)S(6)} constant(1)
  c = f32[]{:T(128)S(6)} multiply(a, one)
  d = f32[]{:T(128)S(6)} add(b, zero)
  ROOT r = pred[]{:T(512)} compare(c, d), direction=LT
}

inside {
  x = f32[1024]{0:T(1024)} parameter(0)
  zero = f32[]{:T(128)} constant(0)
  z = f32[1024]{0:T(1024)} broadcast(zero), dimensions={}
  ROOT y = f32[1024]{0:T(1024)} add(x, z)
}
"""
    body = f"p = {F} parameter(0)\nf = {F} fusion(p), kind=kLoop, calls=inside\n"
    assert (
        peak_of(f"{body}ROOT s = {F} sort(f), dimensions={{0}}, to_apply=before", computations=called) == 4 * KIB + 512
    )


@pytest.mark.parametrize(("scalar", "granule"), [("{:T(256)}", 1024), ("{:T(128)}", 512)])
def test_the_table_of_the_results_takes_a_granule_of_the_target(scalar: str, granule: int) -> None:
    body = f"p = f32[]{scalar} parameter(0)\nn = f32[]{scalar} negate(p)\n"
    text = (
        f"HloModule m, is_scheduled=true\nENTRY e {{\n{body}ROOT t = (f32[]{scalar}, f32[]{scalar}) tuple(p, n)\n}}\n"
    )
    assert measure_memory(parse_module(text, "m.hlo")).output_bytes == 3 * granule


@pytest.mark.shared(SMALL)
@pytest.mark.parametrize("path", sorted(SMALL.glob("*.tar.xz")), ids=lambda path: path.stem)
def test_peaks_of_small_programs_are_those_of_the_compiler(path: Path) -> None:
    name = path.name.partition(".")[0]
    with tarfile.open(path) as archive:
        figures, text = (archive.extractfile(f"{name}/{each}") for each in ("mem.json", "tpu.hlo"))
        assert figures is not None
        assert text is not None
        peak = json.load(figures)["peak_memory_in_bytes"]
        usage = measure_memory(parse_module(text.read().decode(), name))
    if peak < 128 * KIB:
        pytest.skip(f"the peak is {peak} bytes, of which single allocations are more than 1 %")
    assert usage.peak_bytes == pytest.approx(peak, rel=0.01)


def test_bitcasts_and_tuples_hold_nothing() -> None:
    body = (
        f"p = {F} parameter(0)\na = {F} negate(p)\nb = f32[1,1024]{{1,0:T(1,128)}} bitcast(a)\n"
        f"t = (f32[1,1024]{{1,0:T(1,128)}}) tuple(b)\ng = f32[1,1024]{{1,0:T(1,128)}} get-tuple-element(t), index=0\n"
        f"ROOT c = {F} bitcast(g)"
    )
    assert peak_of(body) == 0  # the output holds all of it


def test_an_update_is_written_in_place() -> None:
    body = (
        f"p = {F} parameter(0)\nu = f32[8]{{0:T(128)}} parameter(1)\ni = s32[]{{:T(128)}} parameter(2)\n"
        f"a = {F} negate(p)\nb = {F} dynamic-update-slice(a, u, i)\nROOT c = {F} negate(b)"
    )
    assert peak_of(body) == 4 * KIB


def test_a_fusion_that_updates_its_parameter_is_in_place() -> None:
    fused = (
        f"f {{\nx = {F} parameter(0)\nu = f32[8]{{0:T(128)}} parameter(1)\ni = s32[]{{:T(128)}} parameter(2)\n"
        f"ROOT b = {F} dynamic-update-slice(x, u, i)\n}}\n"
    )
    body = (
        f"p = {F} parameter(0)\nu = f32[8]{{0:T(128)}} parameter(1)\ni = s32[]{{:T(128)}} parameter(2)\n"
        f"a = {F} negate(p)\nb = {F} fusion(a, u, i), kind=kLoop, calls=f\nROOT c = {F} negate(b)"
    )
    assert peak_of(body, computations=fused) == 4 * KIB
    other = fused.replace("dynamic-update-slice(x, u, i)", "negate(x)")
    assert peak_of(body, computations=other) == 8 * KIB


def test_what_the_compiler_says_of_reuse_is_believed() -> None:
    reuse = ', backend_config={"aliasing_operands":{"lists":[{"indices":["0","1"]}]}}'
    body = f"p = {F} parameter(0)\na = {F} negate(p)\nb = {F} negate(a)REUSE\nROOT c = {F} negate(b)"
    assert peak_of(body.replace("REUSE", reuse)) == 4 * KIB
    assert peak_of(body.replace("REUSE", "")) == 8 * KIB


def test_a_reuse_that_the_compiler_names_is_the_only_one() -> None:
    body = (
        f"p = {F} parameter(0)\ni = s32[]{{:T(128)}} parameter(1)\na = {F} negate(p)\nb = {F} abs(p)\n"
        f"c = {F} dynamic-update-slice(a, b, i)REUSE\nROOT d = {F} add(c, a)"
    )
    reuse = ', backend_config={"aliasing_operands":{"lists":[{"indices":["1","3"]}]}}'
    assert peak_of(body.replace("REUSE", reuse)) == 8 * KIB  # a, and b with c


SUM = """
f {
  x = f32[]{:T(128)} parameter(0)
  y = f32[]{:T(128)} parameter(1)
  ROOT s = f32[]{:T(128)} add(x, y)
}
"""


def test_a_scatter_is_written_over_its_operand() -> None:
    attributes = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    body = (
        f"p = {F} parameter(0)\ni = s32[8,1]{{0,1:T(1,128)}} parameter(1)\nu = f32[8]{{0:T(128)}} parameter(2)\n"
        f"a = {F} negate(p)\nb = {F} scatter(a, i, u), {attributes}, to_apply=f\nROOT c = {F} negate(b)"
    )
    assert peak_of(body, computations=SUM) == 4 * KIB


LOOP = f"""
cond {{
  s = (s32[]{{:T(128)}}, {F}) parameter(0)
  i = s32[]{{:T(128)}} get-tuple-element(s), index=0
  n = s32[]{{:T(128)}} constant(5)
  ROOT lt = pred[]{{:T(512)}} compare(i, n), direction=LT
}}
body {{
  s = (s32[]{{:T(128)}}, {F}) parameter(0)
  i = s32[]{{:T(128)}} get-tuple-element(s), index=0
  x = {F} get-tuple-element(s), index=1
  one = s32[]{{:T(128)}} constant(1)
  j = s32[]{{:T(128)}} add(i, one)
  y = {F} negate(x)
  z = {F} add(y, x)
  ROOT t = (s32[]{{:T(128)}}, {F}) tuple(j, z)
}}
"""
LOOP_BODY = f"""
  p = {F} parameter(0)
  zero = s32[]{{:T(128)}} constant(0)
  a = {F} negate(p)
  t = (s32[]{{:T(128)}}, {F}) tuple(zero, a)
  w = (s32[]{{:T(128)}}, {F}) while(t), condition=cond, body=body
  x = {F} get-tuple-element(w), index=1
  ROOT r = {F} negate(x)
"""


def test_the_state_of_a_loop_is_one_buffer() -> None:
    # The state, the counter, the constants' 512 bytes each, and y inside.
    peak = peak_of(LOOP_BODY, computations=LOOP)
    assert 8 * KIB < peak <= 8 * KIB + 4 * 512


def test_branches_do_not_live_together() -> None:
    branch = (
        "{name} {{\n  q = {F} parameter(0)\n  a = {F} negate(q)\n  b = {F} negate(a)\n  ROOT c = {F} negate(b)\n}}\n"
    )
    branches = "".join(branch.format(name=name, F=F) for name in ("one", "two"))
    body = (
        f"p = {F} parameter(0)\ni = s32[]{{:T(128)}} parameter(1)\n"
        f"c = {F} conditional(i, p, p), branch_computations={{one, two}}\nROOT r = {F} negate(c)"
    )
    assert peak_of(body, computations=branches) == 8 * KIB


def test_donated_arguments_count_once() -> None:
    text = (
        "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }\n"
        f"ENTRY e {{\np = {F} parameter(0)\nROOT a = {F} negate(p)\n}}\n"
    )
    usage = measure_memory(parse_module(text, "m.hlo"), "tpu-v5e")
    assert (usage.argument_bytes, usage.output_bytes, usage.alias_bytes) == (4 * KIB, 4 * KIB, 4 * KIB)
    assert usage.peak_bytes == 4 * KIB


def test_memory_spaces_are_counted_apart() -> None:
    fast = F.replace("}", "S(1)}")
    body = f"p = {F} parameter(0)\na = {fast} negate(p)\nb = {fast} negate(a)\nROOT c = {F} negate(b)"
    text = f"HloModule m, is_scheduled=true\n\nENTRY e {{\n{body}\n}}\n"
    usage = measure_memory(parse_module(text, "m.hlo"), "tpu-v5e")
    assert usage.peak_by_space == {0: 0, 1: 8 * KIB}
    assert usage.main_memory_peak_bytes == 8 * KIB
    assert usage.peak_bytes == 16 * KIB  # as the compiler counts it


def test_outside_of_main_memory_what_is_overwritten_counts_with_what_is_written_over_it() -> None:
    fast = F.replace("}", "S(1)}")
    body = (
        f"p = {F} parameter(0)\nu = f32[8]{{0:T(128)}} parameter(1)\ni = s32[]{{:T(128)}} parameter(2)\n"
        f"a = {fast} negate(p)\nb = {fast} dynamic-update-slice(a, u, i)\nROOT c = {F} negate(b)"
    )
    text = f"HloModule m, is_scheduled=true\n\nENTRY e {{\n{body}\n}}\n"
    usage = measure_memory(parse_module(text, "m.hlo"), "tpu-v5e")
    assert usage.peak_by_space == {0: 0, 1: 4 * KIB}  # it is written in place
    assert usage.counted_by_space == {0: 0, 1: 8 * KIB}
    assert usage.peak_bytes == usage.main_memory_peak_bytes + 8 * KIB
    elsewhere = measure_memory(parse_module(text.replace("S(1)", ""), "m.hlo"), "tpu-v5e")
    assert elsewhere.peak_by_space == elsewhere.counted_by_space == {0: 4 * KIB}


def test_arrays_on_the_host_are_no_arguments_of_the_device() -> None:
    host = F.replace("}", "S(5)}")
    text = (
        "HloModule m, is_scheduled=true, input_output_alias={ {1}: (1, {}, may-alias) }\n\n"
        f"ENTRY e {{\np = {F} parameter(0)\nq = {host} parameter(1)\na = {F} negate(p)\n"
        f"ROOT t = ({F}, {host}) tuple(a, q)\n}}\n"
    )
    usage = measure_memory(parse_module(text, "m.hlo"), "tpu-v5e")
    assert (usage.argument_bytes, usage.output_bytes, usage.alias_bytes) == (4 * KIB, 4 * KIB + 512, 0)
    assert usage.host_bytes == 4 * KIB
    assert usage.peak_bytes == usage.main_memory_peak_bytes + 4 * KIB == 12 * KIB + 512


@pytest.mark.parametrize(("opcode", "what"), [("custom-call", 'custom_call_target="x"'), ("async", "calls=c")])
def test_what_an_asynchronous_update_brings_is_not_copied(opcode: str, what: str) -> None:
    body = (
        f"p = {F} parameter(0)\na = {F} negate(p)\ns = ((), (), u32[]) {opcode}-start(), {what}\n"
        f"u = (({F}), {F}, u32[]) {opcode}-update(s, a)\nd = {F} {opcode}-done(u)\nROOT r = {F} negate(d)"
    )
    called = f"c {{\n  q = {F} parameter(0)\n  ROOT n = {F} negate(q)\n}}\n\n"
    assert 8 * KIB <= peak_of(body, computations=called) < 12 * KIB


def test_a_module_without_a_schedule_gets_a_bound_from_one_of_our_own() -> None:
    body = (
        f"p = {F} parameter(0)\na = {F} negate(p)\nb = {F} negate(p)\nc = {F} negate(a)\nd = {F} negate(b)\n"
        f"e = f32[]{{:T(128)}} constant(0)\nROOT r = {F} add(c, d)"
    )
    usage = measure_memory(parse_module(f"HloModule m\n\nENTRY e {{\n{body}\n}}\n", "m.hlo"), "tpu-v5e")
    assert usage.is_bound
    # In the order of the text a and b live together with c; one chain after the other needs one buffer less.
    assert usage.temporary_bytes <= 12 * KIB + 512
