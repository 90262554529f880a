"""Calls that compute nothing become their operands; other shapes are errors."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.expand_custom_calls import expand_custom_calls
from passes.framework.pipeline import verify


def expanded(*lines: str) -> str:
    module = parse_module("HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n" + "\n".join(lines) + "\n}\n")
    expand_custom_calls(module)
    verify(module)
    return module.text()


@pytest.mark.parametrize(
    "target",
    ["MoveToHost", "MoveToDevice", "annotate_device_placement", "SPMDFullToShardShape", "SPMDShardToFullShape"],
)
def test_a_place_is_no_computation(target: str) -> None:
    call = f'custom-call(p), custom_call_target="{target}"'
    text = expanded(f"  c = f32[4] {call}", "  ROOT n = f32[4] negate(c)")
    assert "custom-call" not in text
    assert "negate(p)" in text
    with pytest.raises(DiagnosticError, match=f"calls {target}, but it"):
        expanded(f"  ROOT c = f32[2] {call}")


def test_pinned_buffers_are_arrays_in_loops_too() -> None:
    text = expanded(
        '  b = b(f32[4]) custom-call(p), custom_call_target="Pin"',
        "  t = (b(f32[4])) tuple(b)",
        "  e = b(f32[4]) get-tuple-element(t), index=0",
        '  ROOT u = f32[4] custom-call(e), custom_call_target="Unpin"',
    )
    assert "b(f32" not in text
    assert "custom-call" not in text


def test_marks_around_a_piece_leave_its_values() -> None:
    text = expanded(
        '  before = (f32[4]) custom-call(p), custom_call_target="__xla_internal_call_marker_before"',
        "  e = f32[4] get-tuple-element(before), index=0",
        "  n = f32[4] negate(e)",
        '  ROOT after = f32[4] custom-call(n), custom_call_target="__xla_internal_call_marker_after"',
    )
    assert "ROOT n = f32[4] negate(p)" in text


def test_a_computation_is_given_by_the_instruction_before_the_target(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("given")
    for name, opcode in (("one", "negate"), ("all", "abs")):
        text = f"HloModule {name}\nENTRY e {{\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] {opcode}(x)\n}}\n"
        (folder / f"{name}.hlo").write_text(text)
    calls = [f'  c{i} = f32[4] custom-call(p), custom_call_target="kernel"' for i in range(2)]
    lines = ["  p = f32[4] parameter(0)", *calls, "  ROOT s = f32[4] add(c0, c1)"]
    module = parse_module("HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}\n")
    expand_custom_calls.with_options(custom_call=(f"kernel={folder}/all.hlo", f"c1={folder}/one.hlo"))(module)
    assert [item.opcode for item in module.entry.root.operands] == ["abs", "negate"]


START = "(f32[4], f32[8], s32[2], u32[])"
GATHER = "  g = f32[8] all-gather(p), dimensions={0}, replica_groups={{0,1}}"


def test_a_collective_under_way_is_the_tuple_of_its_state() -> None:
    text = expanded(
        GATHER,
        f'  start = {START} custom-call(g), custom_call_target="AsyncCollectiveStart"',
        *[f"  e{i} = {shape} get-tuple-element(start), index={i}" for i, shape in enumerate(START[1:-1].split(", "))],
        "  again = f32[8] all-gather(e0), dimensions={0}, replica_groups={{0,1}}",
        '  done = f32[8] custom-call(e0, e1, again, e2, e3), custom_call_target="AsyncCollectiveDone"',
        "  ROOT t = (f32[8], s32[2]) tuple(done, e2)",
    )
    assert "custom-call" not in text
    assert "ROOT t = (f32[8], s32[2]) tuple(g, start.broadcast)" in text


@pytest.mark.parametrize(
    "line",
    [
        'ROOT s = (f32[8], f32[8]) custom-call(g), custom_call_target="AsyncCollectiveStart"',
        'ROOT s = f32[8] custom-call(g), custom_call_target="AsyncCollectiveStart"',
        'ROOT s = (f32[4]) custom-call(g), custom_call_target="AsyncCollectiveStart"',
        'ROOT s = (f32[4], f32[8], token[]) custom-call(g), custom_call_target="AsyncCollectiveStart"',
        'ROOT s = (f32[4], f32[8]) custom-call(g, g), custom_call_target="AsyncCollectiveStart"',
        'ROOT d = f32[4] custom-call(g, g), custom_call_target="AsyncCollectiveDone"',
        'ROOT d = f32[8] custom-call(g), custom_call_target="AsyncCollectiveDone"',
    ],
)
def test_a_collective_of_another_state_is_refused(line: str) -> None:
    with pytest.raises(DiagnosticError, match=r"AsyncCollective|is not a tuple"):
        expanded(GATHER, f"  {line}")
