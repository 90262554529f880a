"""Memory figures of programs for GPUs against the compiler's own, and of programs small enough to count."""

from __future__ import annotations

import json

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.memory import MemoryUsage, measure_memory
from tests.memory.compiled import GPU_FOLDER, KIB, compiled_programs, differences
from tests.paths import SHARED_DATA

RECORDED = compiled_programs(GPU_FOLDER)
SHARED = (SHARED_DATA / "corpus" / "gpu", SHARED_DATA / "corpus" / "gpu_cublas")
HEADER = 'is_scheduled=true, frontend_attributes={fingerprint_before_lhs="0f"}'
F = "f32[1024]{0}"
# Functions of fusions: one that reads each element where it writes the result's, and one that reads another.
ADD = f"add {{\n  x = {F} parameter(0)\n  y = {F} parameter(1)\n  ROOT z = {F} add(x, y)\n}}\n"
TURN = f"turn {{\n  x = {F} parameter(0)\n  ROOT z = {F} reverse(x), dimensions={{0}}\n}}\n"
LESS = "less {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = pred[] compare(x, y), direction=LT\n}\n"
SORT = f"sorted {{\n  x = {F} parameter(0)\n  ROOT z = {F} sort(x), dimensions={{0}}, to_apply=less\n}}\n"
SUM = "sum {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
# The sum of all elements, which is known before an element of the other result is written.
NORM = f"""norm {{
  x = {F} parameter(0)
  k = f32[] constant(0)
  s = f32[] reduce(x, k), dimensions={{0}}, to_apply=sum
  n = {F} negate(x)
  ROOT z = ({F}, f32[]) tuple(n, s)
}}
"""


def usage_of(body: str, computations: str = "", header: str = HEADER) -> MemoryUsage:
    return measure_memory(parse_module(f"HloModule m, {header}\n\n{computations}\nENTRY e {{\n{body}\n}}\n", "m.hlo"))


def temporaries(body: str, computations: str = "", header: str = HEADER) -> int:
    return usage_of(body, computations, header).temporary_bytes


@pytest.mark.parametrize("name", RECORDED)
def test_figures_are_those_of_the_compiler(name: str) -> None:
    compiler, usage = RECORDED[name], measure_memory(RECORDED[name].module())
    assert usage.argument_bytes == compiler.argument
    assert usage.output_bytes == compiler.output
    assert usage.alias_bytes == compiler.alias
    assert abs(usage.temporary_bytes - compiler.temp) <= KIB
    assert usage.peak_bytes == usage.argument_bytes + usage.output_bytes - usage.alias_bytes + usage.temporary_bytes


@pytest.mark.shared(*SHARED)
def test_figures_of_the_shared_programs_are_those_of_the_compiler() -> None:
    found = {}
    folders = [each for folder in SHARED for each in sorted(folder.iterdir()) if each.is_dir()]
    for folder in folders:
        figures = json.loads((folder / "meta.json").read_text("utf-8"))["memory"]
        usage = measure_memory(parse_module((folder / "gpu.hlo").read_text("utf-8")))
        found[folder.name] = differences(usage, {key.split("_")[0]: size for key, size in figures.items()})
    assert len(found) >= 20
    assert not any(found.values()), found


def turned(name: str, operand: str) -> str:
    return f"{name} = {F} fusion({operand}), kind=kLoop, calls=turn\n"


def added(name: str, one: str, other: str) -> str:
    return f"{name} = {F} fusion({one}, {other}), kind=kLoop, calls=add\n"


START = f"p = {F} parameter(0)\n"


def test_a_temporary_lies_in_the_memory_of_the_output() -> None:
    assert temporaries(START + turned("a", "p") + turned("ROOT b", "a"), TURN) == 4 * KIB
    assert temporaries(START + turned("a", "p") + turned("b", "a") + turned("ROOT c", "b"), TURN) == 4 * KIB
    assert temporaries(START + turned("a", "p") + added("ROOT b", "a", "p"), TURN + ADD) == 0
    assert temporaries(START + turned("a", "p") + f"b = {F} negate(a)\nROOT c = {F} negate(b)", TURN) == 0


def test_a_copy_is_not_written_over_its_operand() -> None:
    assert temporaries(START + turned("a", "p") + f"ROOT b = {F} copy(a)", TURN) == 4 * KIB


def test_an_output_of_another_size_takes_no_memory_of_an_output() -> None:
    body = f"{START}a = f32[500]{{0}} slice(p), slice={{[0:500]}}\nROOT t = ({F}, f32[500]{{0}}) tuple(p, a)"
    usage = usage_of(body)
    assert (usage.output_bytes, usage.temporary_bytes) == (4096 + 2000 + 16, 0)


def test_a_donated_argument_lends_its_memory_after_its_last_use() -> None:
    chain = START + turned("a", "p") + turned("b", "a") + turned("c", "b") + turned("ROOT d", "c")
    kept, donated = usage_of(chain, TURN), usage_of(chain, TURN, HEADER + ", input_output_alias={ {}: (0, {}) }")
    assert (kept.alias_bytes, kept.temporary_bytes) == (0, 8 * KIB)
    assert (donated.alias_bytes, donated.temporary_bytes) == (4 * KIB, 4 * KIB)


def test_arrays_of_the_heap_begin_at_multiples_of_256_bytes() -> None:
    body = (
        "p = f32[65]{0} parameter(0)\na = f32[65]{0} reverse(p), dimensions={0}\n"
        "b = f32[65]{0} reverse(a), dimensions={0}\nc = f32[65]{0} subtract(a, b)\n"
        "ROOT s = f32[1]{0} slice(c), slice={[0:1]}"
    )
    assert temporaries(body) == 512 + 260


def test_a_tuple_takes_a_table_of_addresses() -> None:
    body = (
        f'{START}t = ({F}, {F}) custom-call(p), custom_call_target="f"\na = {F} get-tuple-element(t), index=0\n'
        f"b = {F} get-tuple-element(t), index=1\nROOT r = ({F}, {F}) tuple(a, b)"
    )
    usage = usage_of(body)
    assert (usage.output_bytes, usage.temporary_bytes) == (2 * 4096 + 16, 16)


@pytest.mark.parametrize(("beta", "held"), [("1", 16), ("0", 4096 + 16)])
def test_a_product_is_written_over_the_matrix_that_it_is_added_to(beta: str, held: int) -> None:
    config = f'{{"gemm_backend_config":{{"alpha_real":1,"beta":{beta}}}}}'
    body = (
        f"{START}{turned('a', 'p')}"
        f't = ({F}, s8[0]{{0}}) custom-call(p, p, a), custom_call_target="__cublas$lt$matmul", '
        f"backend_config={config}\n"
        f"ROOT b = {F} get-tuple-element(t), index=0"
    )
    assert temporaries(body, TURN) == held


def test_a_fusion_that_sorts_writes_over_its_operand() -> None:
    body = f"{START}{turned('a', 'p')}ROOT b = {F} fusion(a), kind=kCustom, calls=sorted"
    assert temporaries(body, TURN + LESS + SORT) == 0


@pytest.mark.parametrize(("kind", "held"), [("kInput", 16), ("kLoop", 4096 + 16)])
def test_a_fusion_reduces_before_it_writes_the_elements(kind: str, held: int) -> None:
    body = (
        f"{START}{turned('a', 'p')}t = ({F}, f32[]) fusion(a), kind={kind}, calls=norm\n"
        f"b = {F} get-tuple-element(t), index=0\ns = f32[] get-tuple-element(t), index=1\n"
        f"ROOT r = ({F}, f32[]) tuple(b, s)"
    )
    assert temporaries(body, TURN + SUM + NORM) == held


def held_beside(body: str, result: str = F) -> int:
    """Returns the temporaries beside an operand that a fusion with this body may write over; `b` is its result."""
    function = f"f {{\n  x = {F} parameter(0)\n{body}\n}}\n"
    line = f"b = {result} fusion(a), kind=kInput, calls=f\n"
    if result != F:
        line = line.replace("b =", "t =") + f"b = {F} get-tuple-element(t), index=1\n"
    return temporaries(f"{START}{turned('a', 'p')}{line}ROOT r = {F} bitcast(b)", TURN + SUM + function)


def test_a_fusion_reads_in_step_through_bitcasts_and_in_place_but_not_through_copies() -> None:
    cube = "f32[8,128]{1,0}"
    assert held_beside(f"y = {cube} bitcast(x)\nz = {cube} negate(y)\nROOT w = {F} bitcast(z)") == 0
    update = "k = s32[] constant(3)\nu = f32[2]{0} constant({1, 2})\n"
    assert held_beside(f"{update}y = {F} negate(x)\nROOT z = {F} dynamic-update-slice(y, u, k)") == 0
    assert held_beside(f"y = {F} copy(x)\nROOT z = {F} negate(y)") == 4 * KIB
    assert held_beside(f"y = {F} iota(), iota_dimension=0\nROOT z = {F} negate(y)") == 4 * KIB
    assert held_beside(f"y = {F} reverse(x), dimensions={{0}}\nROOT z = {F} add(x, y)") == 4 * KIB
    # Of two results, the one that the operand reaches.
    both = f"({F}, {F})"
    assert (
        held_beside(f"y = {F} iota(), iota_dimension=0\nz = {F} negate(x)\nROOT t = {both} tuple(y, z)", both) == 4112
    )
    assert (
        held_beside(f"y = {F} iota(), iota_dimension=0\nz = {F} negate(x)\nROOT t = {both} tuple(z, y)", both) == 4112
    )


def test_what_follows_a_reduction_does_not_count() -> None:
    three = f"(f32[2]{{0}}, {F}, f32[1]{{0}})"
    body = (
        f"k = f32[] constant(0)\ns = f32[] reduce(x, k), dimensions={{0}}, to_apply=sum\nc = f32[1]{{0}} bitcast(s)\n"
        f"n = {F} negate(x)\nb = f32[2]{{0}} broadcast(s), dimensions={{}}\nROOT t = {three} tuple(b, n, c)"
    )
    # Two small results and the table.
    assert held_beside(body, three) == 256 + 256 + 24


def test_a_sort_writes_over_an_operand_that_nothing_else_reads() -> None:
    once = f"{START}{turned('a', 'p')}ROOT b = {F} sort(a), dimensions={{0}}, to_apply=less"
    assert temporaries(once, TURN + LESS) == 0
    twice = f"{START}{turned('a', 'p')}{turned('c', 'a')}{added('d', 'c', 'p')}"
    both = f"{twice}b = {F} sort(a), dimensions={{0}}, to_apply=less\nROOT r = ({F}, {F}) tuple(d, b)"
    assert temporaries(both, TURN + LESS + ADD) == 4 * KIB
    pairs = (
        "pairs {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  v = f32[] parameter(2)\n"
        "  w = f32[] parameter(3)\n"
        "  ROOT z = pred[] compare(x, y), direction=LT\n}\n"
    )
    body = (
        f"{START}{turned('a', 'p')}t = ({F}, {F}) sort(p, a), dimensions={{0}}, to_apply=pairs\n"
        f"ROOT b = {F} get-tuple-element(t), index=1"
    )
    assert temporaries(body, TURN + pairs) == 4096 + 16
    assert temporaries(body.replace("index=1", "index=0"), TURN + pairs) == 4096 + 16


def test_an_all_reduce_is_done_in_place() -> None:
    body = (
        f"{START}{turned('a', 'p')}b = {F} all-reduce-start(a), replica_groups={{}}, to_apply=sum\n"
        f"c = {F} all-reduce-done(b)\n{turned('ROOT d', 'c')}"
    )
    assert temporaries(body, TURN + SUM) == 4 * KIB
    with_operands = body.replace(f"b = {F}", f"b = (({F}), {F})")
    assert temporaries(with_operands, TURN + SUM) == 4 * KIB
    aliased = with_operands.replace("to_apply=sum", "to_apply=sum, output_to_operand_aliasing={{1}: (0, {})}")
    assert temporaries(aliased, TURN + SUM) == 4 * KIB


def test_what_a_loop_does_not_change_stays_where_it_is() -> None:
    state = f"({F}, {F})"
    loop = (
        f"cond {{\n  s = {state} parameter(0)\n  ROOT k = pred[] constant(false)\n}}\n"
        f"body {{\n  s = {state} parameter(0)\n  x = {F} get-tuple-element(s), index=0\n"
        f"  y = {F} get-tuple-element(s), index=1\n  z = {F} add(x, y)\n  ROOT t = {state} tuple(z, y)\n}}\n"
    )
    body = (
        f"{START}a = {F} copy(p)\nt = {state} tuple(a, p)\nw = {state} while(t), condition=cond, body=body\n"
        f"ROOT r = {F} get-tuple-element(w), index=0"
    )
    # The state lies in the memory of the output, and `p` in its own: only the table of the state remains.
    assert temporaries(body, loop) == 16


def test_an_element_of_a_tuple_is_written_over_like_an_array() -> None:
    call = f't = ({F}) custom-call(p), custom_call_target="f"\na = {F} get-tuple-element(t), index=0\n'
    usage = usage_of(f"{START}{call}ROOT b = {F} negate(a)")
    assert usage.temporary_bytes == 8
    # It is in the memory of the output, which is one buffer beside the argument.
    assert len(usage.buffers) == 2


def test_the_table_of_a_loop_that_returns_is_that_of_the_results() -> None:
    state = f"({F}, f32[])"
    loop = (
        f"cond {{\n  s = {state} parameter(0)\n  ROOT k = pred[] constant(false)\n}}\n"
        f"body {{\n  s = {state} parameter(0)\n  x = {F} get-tuple-element(s), index=0\n"
        f"  y = f32[] get-tuple-element(s), index=1\n  v = {F} negate(x)\n  w = f32[] negate(y)\n"
        f"  ROOT t = {state} tuple(v, w)\n}}\n"
    )
    body = (
        f"{START}q = f32[] parameter(1)\na = {F} copy(p)\nb = f32[] copy(q)\nt = {state} tuple(a, b)\n"
        f"ROOT w = {state} while(t), condition=cond, body=body"
    )
    usage = usage_of(body, loop)
    assert (usage.output_bytes, usage.temporary_bytes) == (4096 + 4 + 16, 0)


def test_the_done_of_several_all_reduces_has_the_table_of_their_start() -> None:
    both = f"({F}, {F})"
    body = (
        f"{START}a = {F} copy(p)\nb = {F} copy(p)\n"
        f"s = {both} all-reduce-start(a, b), replica_groups={{}}, to_apply=sum\nd = {both} all-reduce-done(s)\n"
        f"x = {F} get-tuple-element(d), index=0\ny = {F} get-tuple-element(d), index=1\nROOT r = {both} tuple(x, y)"
    )
    usage = usage_of(body, SUM)
    assert (usage.output_bytes, usage.temporary_bytes) == (2 * 4096 + 16, 16)


def test_one_result_is_written_over_an_operand() -> None:
    results = f"y = {F} negate(x)\n  z = {F} abs(x)\n  ROOT t = ({F}, {F}) tuple(y, z)"
    two = f"two {{\n  x = {F} parameter(0)\n  {results}\n}}\n"
    body = (
        f"{START}{turned('a', 'p')}t = ({F}, {F}) fusion(a), kind=kLoop, calls=two\n"
        f"b = {F} get-tuple-element(t), index=0\nc = {F} get-tuple-element(t), index=1\n"
        'ROOT d = f32[1]{0} custom-call(b, c), custom_call_target="f"'
    )
    assert temporaries(body, TURN + two) == 2 * 4096 + 16


def test_an_operand_of_a_call_lives_until_its_last_use_within() -> None:
    called = f"called {{\n  x = {F} parameter(0)\n{turned('  y', 'x')}{turned('  z', 'y')}{turned('  ROOT w', 'z')}}}\n"
    body = f"{START}{turned('a', 'p')}b = {F} call(a), to_apply=called\n{turned('ROOT c', 'b')}"
    # Two values at each time, one of which is in the memory of the output until the result of the call begins.
    assert temporaries(body, TURN + called) == 4096


def test_the_heap_fills_the_smallest_gap() -> None:
    sizes = {"a": 10000, "b": 8000, "c": 6000, "d": 4000, "e": 3800, "w": 3500, "x": 2600, "y": 2600, "z": 2600}
    made = {
        name: f'{name} = f32[{size * 64 // 100}]{{0}} custom-call(), custom_call_target="f"\n'
        for name, size in sizes.items()
    }
    body = (
        "".join(made[name] for name in "abcde")
        + 'u = f32[1]{0} custom-call(b, d), custom_call_target="f"\n'
        + "".join(made[name] for name in "wxyz")
        + 'ROOT r = f32[8]{0} custom-call(a, c, e, u, w, x, y, z), custom_call_target="f"'
    )
    # `w` takes the place of `d`; `x`, `y` and `z` that of `b`.
    assert temporaries(body) == 318 * 256 + 4


def test_a_constant_is_not_counted() -> None:
    assert temporaries(f"{START}k = {F} constant({{...}})\nROOT a = {F} add(p, k)") == 0


def test_a_module_without_a_schedule_has_a_bound() -> None:
    usage = usage_of(START + turned("a", "p") + turned("ROOT b", "a"), TURN, HEADER.partition(", ")[2])
    assert usage.is_bound
    assert usage.temporary_bytes == 4 * KIB


def test_arrays_on_the_host_take_no_memory_of_the_device() -> None:
    host = F.replace("}", ":S(5)}")
    body = f"{START}a = {host} copy(p)\nb = {F} copy(a)\nROOT c = {F} copy(b)"
    assert temporaries(body) == 4 * KIB


def test_an_argument_on_the_host_may_be_so_by_its_own_shape_alone() -> None:
    layout = f", entry_computation_layout={{({F})->{F}}}"
    usage = usage_of(f"p = {F.replace('}', ':S(5)}')} parameter(0)\nROOT a = {F} copy(p)", header=HEADER + layout)
    assert (usage.argument_bytes, usage.output_bytes, usage.host_bytes) == (0, 4 * KIB, 4 * KIB)


def test_a_start_and_its_done_take_tables_for_tuples() -> None:
    one, all_ = "(f32[256]{0}, f32[256]{0})", f"({F}, {F})"
    body = (
        f"p = f32[256]{{0}} parameter(0)\ns = ({one}, {all_}) all-gather-start(p, p), dimensions={{0}}, "
        f"replica_groups={{{{0,1,2,3}}}}\nd = {all_} all-gather-done(s)\na = {F} get-tuple-element(d), index=0\n"
        f"b = {F} get-tuple-element(d), index=1\nROOT r = ({F}, {F}) tuple(a, b)"
    )
    # Three tables of the start, the last of which is not rounded up, and one of the done.
    assert temporaries(body) == 3 * 256 + 16


def test_a_named_gpu_decides_where_the_text_does_not_tell() -> None:
    body = (
        "p = f32[65] parameter(0)\na = f32[65] reverse(p), dimensions={0}\nROOT b = f32[65] reverse(a), dimensions={0}"
    )
    module = parse_module(f"HloModule m, is_scheduled=true\n\nENTRY e {{\n{body}\n}}\n", "m.hlo")
    assert measure_memory(module, "gpu-a100").temporary_bytes == 260
    assert measure_memory(module, "gpu-a100").target == "gpu-a100"
    assert measure_memory(module, "tpu-v5e").temporary_bytes == 512
