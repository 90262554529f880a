"""Reports as values: rows, relayouts with their loops, advice with its figures."""

from __future__ import annotations

import json
import re

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.trips import trip_count
from relayout.reporting.terminal import terminal_page
from tests.memory.compiled import compiled_programs
from tests.memory.test_usage import LOOP, LOOP_BODY

PROGRAMS = compiled_programs()


def report_of(text: str) -> MemoryReport:
    return MemoryReport(parse_module(text, "m.hlo"), "tpu-v5e")


def test_rows_add_up() -> None:
    report = MemoryReport(PROGRAMS["residual_net_training"].module())
    totals = report.totals()
    main = [row for row in report.buffers if row.memory_space == 0 and row.role == "argument"]
    assert sum(row.bytes_held for row in main) == totals["argument_bytes"]
    assert all(row.padding_bytes == row.bytes_held - row.bytes_meant >= 0 for row in report.buffers)
    assert sum(row.padding_bytes for row in report.buffers if row.is_at_peak) == totals["padding_bytes"]
    assert sum(row.bytes_held for row in report.op_names) == sum(row.bytes_held for row in report.buffers)
    assert json.loads(json.dumps(report.as_json()))["peak_bytes"] == totals["peak_bytes"]


# 8 GiB of an argument, 8 GiB of a result, and as much in VMEM between them, which no chip has.
LARGE = """HloModule m, is_scheduled=true

ENTRY e {
  p = f32[2147483648]{0:T(1024)} parameter(0)
  v = f32[2147483648]{0:T(1024)S(1)} negate(p)
  ROOT r = f32[2147483648]{0:T(1024)} abs(v)
}
"""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            None,
            "fits into the HBM of tpu-v5p (95.7 GiB), tpu-v6e (31.2 GiB), tpu7x (94.7 GiB), but does not fit into "
            "the HBM of tpu-v4 (15.2 GiB), tpu-v5e (15.8 GiB): 16 GiB",
        ),
        ("tpu-v5e", "does not fit into the HBM of tpu-v5e, 15.8 GiB: 256 MiB too much, 16 GiB at the peak"),
        ("tpu-v6e", "fits into the HBM of tpu-v6e, 31.2 GiB: 16 GiB at the peak (51.2% of it)"),
    ],
)
def test_whether_main_memory_holds_a_program_is_said_first(target: str | None, said: str) -> None:
    report = MemoryReport(parse_module(LARGE, "m.hlo"), target)
    assert report.fit.startswith(said)
    lines = terminal_page(report, 200).splitlines()
    assert lines[0] == report.fit
    assert "m: peak 16 GiB in main memory" in lines
    assert any(re.fullmatch(r"  VMEM, S\(1\) +8 GiB   temporaries, beside main memory", line) for line in lines)
    capacity = report.as_json()["capacity_bytes"]
    assert (capacity is None) == (target is None)
    assert capacity is None or (capacity >= report.usage.main_memory_peak_bytes) == said.startswith("fits")


def test_nothing_is_said_about_the_memory_of_an_unknown_machine() -> None:
    bare = parse_module("HloModule m\nENTRY e {\n  p = f32[3] parameter(0)\n  ROOT r = f32[3] abs(p)\n}\n", "m.hlo")
    assert MemoryReport(bare).fit == ""
    bound = MemoryReport(bare, "tpu-v5e").fit
    assert MemoryReport(bare, "gpu-h100").fit.startswith("fits into the memory of gpu-h100, 79.1 GiB: ")
    assert (
        bound
        == "fits into the HBM of tpu-v5e, 15.8 GiB: 1 KiB at the peak (0.0% of it), a bound: the module has no schedule"
    )


def test_origins_come_from_the_tables_of_the_dump() -> None:
    report = MemoryReport(PROGRAMS["heat_in_loop"].module())
    assert {row.source_file for row in report.buffers} >= {"programs.py"}
    assert any(row.op_name.startswith("jit(heat_in_loop)/") for row in report.buffers)


def loop_text(bound: str = "constant(5)", start: str = "constant(0)", step: str = "constant(1)") -> str:
    loop = LOOP.replace("n = s32[]{:T(128)} constant(5)", f"n = s32[]{{:T(128)}} {bound}")
    loop = loop.replace("one = s32[]{:T(128)} constant(1)", f"one = s32[]{{:T(128)}} {step}")
    body = LOOP_BODY.replace("zero = s32[]{:T(128)} constant(0)", f"zero = s32[]{{:T(128)}} {start}")
    return f"HloModule m, is_scheduled=true\n{loop}\nENTRY e {{{body}}}\n"


@pytest.mark.parametrize(
    ("bound", "start", "step", "expected"),
    [(5, 0, 1, 5), (5, 0, 2, 3), (5, 2, 1, 3), (0, 0, 1, 0), (5, 9, 1, 0), (7, 1, 3, 2)],
)
def test_trip_counts_are_those_of_running_the_loop(bound: int, start: int, step: int, expected: int) -> None:
    ran, counter = 0, start
    while counter < bound:
        ran, counter = ran + 1, counter + step
    assert ran == expected
    module = parse_module(loop_text(f"constant({bound})", f"constant({start})", f"constant({step})"), "m.hlo")
    loop = next(each for each in module.entry.operations if each.opcode == "while")
    assert trip_count(loop) == expected


def test_a_count_that_is_not_in_the_text_is_unknown() -> None:
    module = parse_module(loop_text().replace("direction=LT", "direction=NE"), "m.hlo")
    loop = next(each for each in module.entry.operations if each.opcode == "while")
    assert trip_count(loop) is None
    negative = parse_module(loop_text(step="constant(-1)"), "m.hlo")
    assert trip_count(next(each for each in negative.entry.operations if each.opcode == "while")) is None


def test_a_copy_in_a_loop_counts_with_its_trips() -> None:
    text = loop_text().replace(
        "y = f32[1024]{0:T(1024)} negate(x)", "y = f32[1024]{0:T(1024)} negate(x)\n  c = f32[1024]{0:T(512)} copy(y)"
    )
    (row,) = report_of(text).relayouts
    assert (row.name, row.kind, row.trips, row.depth, row.bytes_read) == ("c", "relayout", 5, 1, 4096)


def nested() -> str:
    """Returns the loop with a copy in it inside another loop of the same state, whose counter grows by two."""
    text = loop_text().replace(
        "y = f32[1024]{0:T(1024)} negate(x)", "y = f32[1024]{0:T(1024)} negate(x)\n  c = f32[1024]{0:T(512)} copy(y)"
    )
    state = "(s32[]{:T(128)}, f32[1024]{0:T(1024)})"
    around = f"""
around {{
  s = {state} parameter(0)
  i = s32[]{{:T(128)}} get-tuple-element(s), index=0
  x = f32[1024]{{0:T(1024)}} get-tuple-element(s), index=1
  zero = s32[]{{:T(128)}} constant(0)
  t = {state} tuple(zero, x)
  w = {state} while(t), condition=cond, body=body
  z = f32[1024]{{0:T(1024)}} get-tuple-element(w), index=1
  two = s32[]{{:T(128)}} constant(2)
  j = s32[]{{:T(128)}} add(i, two)
  ROOT r = {state} tuple(j, z)
}}
ENTRY e {{"""
    return text.replace("while(t), condition=cond, body=body", "while(t), condition=cond, body=around").replace(
        "ENTRY e {", around
    )


def test_trips_of_nested_loops_multiply() -> None:
    (row,) = report_of(nested()).relayouts
    assert (row.name, row.trips, row.depth) == ("c", 5 * 3, 2)
    unknown = nested().replace("direction=LT", "direction=NE")
    assert [row.trips for row in report_of(unknown).relayouts] == [None]


def test_relayouts_that_move_the_most_come_first() -> None:
    sizes = (1024, 4096, 2048)
    lines = [
        f"p{n} = f32[{n}]{{0:T(1024)}} parameter({at})\nc{n} = f32[{n}]{{0:T(512)}} copy(p{n})"
        for at, n in enumerate(sizes)
    ]
    types = ", ".join(f"f32[{n}]{{0:T(512)}}" for n in sizes)
    root = f"ROOT t = ({types}) tuple({', '.join(f'c{n}' for n in sizes)})"
    text = "HloModule m, is_scheduled=true\nENTRY e {\n" + "\n".join([*lines, root]) + "\n}\n"
    assert [row.name for row in report_of(text).relayouts] == ["c4096", "c2048", "c1024"]


def test_a_copy_to_another_memory_space_is_no_relayout() -> None:
    text = (
        "HloModule m, is_scheduled=true\nENTRY e {\np = f32[1024]{0:T(1024)} parameter(0)\n"
        "c = f32[1024]{0:T(1024)S(1)} copy(p)\nROOT r = f32[1024]{0:T(1024)} negate(c)\n}\n"
    )
    assert [row.kind for row in report_of(text).relayouts] == ["memory space"]


ADVICE = {
    "entry copy": """
  p = f32[1024,64]{1,0:T(8,128)} parameter(0)
  c = f32[1024,64]{0,1:T(8,128)} copy(p)
  ROOT r = f32[1024,64]{0,1:T(8,128)} negate(c)""",
    "entry order": """
  p = f32[1024,64]{1,0:T(8,128)} parameter(0)
  ROOT r = f32[1024,64]{0,1:T(8,128)} negate(p)""",
    "padded dimension": """
  p = f32[100000,3]{0,1:T(4,128)} parameter(0)
  a = f32[100000,3]{1,0:T(8,128)} negate(p)
  ROOT r = f32[100000,3]{0,1:T(4,128)} negate(a)""",
    "cancelling relayouts": """
  p = f32[1024,128]{1,0:T(8,128)} parameter(0)
  n = f32[1024,128]{1,0:T(8,128)} negate(p)
  a = f32[1024,128]{0,1:T(8,128)} copy(n)
  b = f32[1024,128]{1,0:T(8,128)} copy(a)
  ROOT r = f32[1024,128]{1,0:T(8,128)} negate(b)""",
    "narrow reads": """
  p = f32[1024,128]{1,0:T(8,128)} parameter(0)
  n = f32[1024,128]{1,0:T(8,128)} negate(p)
  ROOT b = bf16[1024,128]{1,0:T(8,128)(2,1)} convert(n)""",
}


@pytest.mark.parametrize("kind", ADVICE)
def test_each_kind_of_advice_is_given_where_it_helps(kind: str) -> None:
    report = report_of(f"HloModule m, is_scheduled=true\nENTRY e {{{ADVICE[kind]}\n}}\n")
    assert kind in {each.kind for each in report.advice}
    assert all(each.bytes_saved > 0 for each in report.advice)


def test_no_advice_where_nothing_helps() -> None:
    text = (
        "HloModule m, is_scheduled=true\nENTRY e {\np = f32[1024,128]{1,0:T(8,128)} parameter(0)\n"
        "n = f32[1024,128]{1,0:T(8,128)} negate(p)\n"
        "ROOT r = f32[128,1024]{1,0:T(8,128)} transpose(n), dimensions={1,0}\n}\n"
    )
    assert report_of(text).advice == ()


_ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
_ROWS = """
  t = f32[1000,3]{0,1:T(4,128)} parameter(0)
  i = s32[200000]{0:T(1024)} parameter(1)
  g = f32[200000,3]{1,0:T(8,128)} gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
index_vector_dim=1, slice_sizes={1,3}METADATA
  ROOT r = f32[200000,3]{0,1:T(4,128)} copy(g)"""
_UPDATES = """
  t = f32[1000,3]{1,0:T(8,128)} parameter(0)
  i = s32[200000,1]{0,1:T(1,128)} parameter(1)
  u = f32[200000,3]{0,1:T(4,128)} parameter(2)
  c = f32[200000,3]{1,0:T(8,128)} copy(u)
  ROOT r = f32[1000,3]{1,0:T(8,128)} scatter(t, i, c), update_window_dims={1}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"""
_PRODUCT = """
  a = f32[SIZE]{2,1,0:T(8,128)} parameter(0)
  b = f32[SIZE]{2,1,0:T(8,128)} parameter(1)
  ROOT r = f32[SIZE]{2,1,0:T(8,128)} dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
rhs_contracting_dims={1}"""


def _padded_advice(entry: str) -> str:
    report = report_of(f"HloModule m, is_scheduled=true\n{_ADD}ENTRY e {{{entry}\n}}\n")
    found = [each for each in report.advice if each.kind == "padded dimension"]
    return max(found, key=lambda each: each.bytes_saved).text


def test_rows_are_gathered_and_scattered_by_elements() -> None:
    then = "each of the 3 elements of dimension 1 by itself: dimension 1 (3) would no longer fill 128 lanes"
    assert _padded_advice(_ROWS.replace("METADATA", "")) == f"gather {then}"
    assert _padded_advice(_UPDATES) == f"scatter {then}"
    # The TPU compiler sorts the updates of a scatter and gathers them in their new order.
    named = _ROWS.replace("METADATA", ', metadata={op_name="jit(f)/scatter-add"}')
    assert _padded_advice(named) == f"scatter {then}"


def test_products_of_many_small_matrices_are_written_as_sums() -> None:
    assert _padded_advice(_PRODUCT.replace("SIZE", "65536,8,8")).startswith("write the product of small matrices as")
    # Neither a few matrices nor large ones.
    other = "dimension 2 (8) takes the memory of 128: merge it with a neighbour, or make it a multiple of 128"
    assert _padded_advice(_PRODUCT.replace("SIZE", "16,8,8")) == other
    assert _padded_advice(_PRODUCT.replace("SIZE", "4096,130,130")).startswith(
        "dimension 2 (130) takes the memory of 256"
    )


def test_only_results_without_an_alias_ask_for_a_donation() -> None:
    entry = """
  p = f32[1024,128]{1,0:T(8,128)} parameter(0)
  ROOT r = f32[1024,128]{1,0:T(8,128)} negate(p)"""
    header = "HloModule m, is_scheduled=true"
    (advice,) = report_of(f"{header}\nENTRY e {{{entry}\n}}\n").advice
    assert (advice.kind, advice.subject, advice.bytes_saved) == ("donation", "argument 0", 1024 * 128 * 4)
    aliased = f"{header}, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}"
    assert report_of(f"{aliased}\nENTRY e {{{entry}\n}}\n").advice == ()


def test_an_argument_that_is_read_after_the_result_is_written_is_not_donated() -> None:
    array = "f32[1024,128]{1,0:T(8,128)}"
    entry = f"""
  p = {array} parameter(0)
  q = {array} parameter(1)
  t = {array} negate(q)
  ROOT r = {array} READ"""
    module = f"HloModule m, is_scheduled=true\nENTRY e {{{entry}\n}}\n"
    # A kernel may read any element of its operand after it has written the first one of its result.
    kernel = 'custom-call(p, t), custom_call_target="kernel"'
    assert [each.subject for each in report_of(module.replace("READ", kernel)).advice] == ["argument 1"]
    assert [each.subject for each in report_of(module.replace("READ", "add(p, t)")).advice] == ["argument 0"]


def test_operands_that_an_update_binds_live_from_there() -> None:
    array = "f32[4096]{0:T(1024)}"
    report = report_of(f"""HloModule late, is_scheduled=true
body {{
  a = {array} parameter(0)
  b = {array} parameter(1)
  ROOT c = {array} add(a, b)
}}
ENTRY e {{
  x = {array} parameter(0)
  s = ((), (), ()) async-start(), async_execution_thread="sparsecore", calls=body
  y = {array} negate(x)
  z = {array} sine(y)
  w = {array} cosine(z)
  v = {array} negate(w)
  u = (({array}, {array}), {array}, ()) async-update(s, w, v)
  ROOT d = {array} async-done(u)
}}
""")
    # Of y, z, w and v at most two at a time.
    assert report.totals()["temporary_bytes"] == 2 * 4 * 4096


def test_arrays_of_the_forward_pass_that_the_backward_pass_reads() -> None:
    entry = """
  p = f32[1024,128]{1,0:T(8,128)} parameter(0)
  a = f32[1024,128]{1,0:T(8,128)} sine(p), metadata={op_name="jit(f)/jvp()/sin" source_file="m.py" source_line=7}
  ROOT r = f32[128,1024]{1,0:T(8,128)} transpose(a), dimensions={1,0}, metadata={op_name="jit(f)/NAME"}"""
    (advice,) = report_of(
        f"HloModule m, is_scheduled=true\nENTRY e {{{entry.replace('NAME', 'transpose(jvp())/mul')}\n}}\n"
    ).advice
    assert (advice.kind, advice.subject) == ("waiting arrays", "a")
    assert "m.py:7" in advice.text
    forward = f"HloModule m, is_scheduled=true\nENTRY e {{{entry.replace('NAME', 'jvp()/mul')}\n}}\n"
    assert report_of(forward).advice == ()
