"""Custom calls that return their operand are dropped by a proof; calls that look like them are not."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certified import prove
from tests.verdict.proof.dialects import parse

PAIR = "(f32[4], s32[2])"


def module(lines: str, shape: str = "f32[4]", head: str = "") -> str:
    return f"HloModule m{head}\nENTRY e {{\n  x = {shape} parameter(0)\n{lines}\n}}\n"


def call(target: str, attributes: str = "", result: str = "f32[4]") -> str:
    made = f'  c = {result} custom-call(x), custom_call_target="{target}"{attributes}\n'
    return f"{made}  ROOT r = {result} negate(c)"


def answer(first: str, second: str) -> str:
    modules = [parse(first), parse(second)]
    return prove(modules).answer


PLAIN = module("  ROOT r = f32[4] negate(x)")
SIDE_EFFECT = ", custom_call_has_side_effect=true"


@pytest.mark.parametrize(
    "text",
    [
        call("MoveToHost"),
        call("MoveToDevice", ', backend_config="unused"'),
        call("Sharding", ", sharding={unreduced}"),
        call("LayoutConstraint", ", operand_layout_constraints={f32[4]{0}}"),
        call("annotate_device_placement", SIDE_EFFECT + ', frontend_attributes={_xla_buffer_placement="device"}'),
        call("xla.sdy.FuncResultSharding", SIDE_EFFECT),
        call("xla.sdy.PropagationBarrier", ', frontend_attributes={xla.sdy.allowed_direction="3"}'),
        call("SPMDFullToShardShape", ", sharding={manual}"),
    ],
)
def test_a_marker_returns_its_operand(text: str, worker: Worker) -> None:
    first = module(text)
    assert answer(first, PLAIN) == "equal"
    found = compare_modules(parse(first), parse(PLAIN), Options(engines=("proof", "xla")), worker)
    assert str(found).startswith("equal (proof, xla)"), str(found)


@pytest.mark.parametrize("target", ["AllocateBuffer", "movetohost", "MoveToHost ", "Pin", "f"])
def test_other_calls_are_functions_of_which_nothing_is_known(target: str) -> None:
    assert answer(module(call(target)), PLAIN) == "unknown"


def test_a_side_effect_of_another_call_counts() -> None:
    called = '  c = f32[4] custom-call(x), custom_call_target="f"' + SIDE_EFFECT
    assert answer(module(called + "\n  ROOT r = f32[4] negate(x)"), PLAIN) == "unknown"


def test_shards_of_several_partitions_may_hold_terms_of_a_sum() -> None:
    texts = [call("SPMDShardToFullShape", ", sharding={unreduced}"), "  ROOT r = f32[4] negate(x)"]
    assert answer(*(module(text) for text in texts)) == "equal"
    assert answer(*(module(text, head=", num_partitions=2") for text in texts)) == "unknown"


def test_a_call_of_another_shape_is_no_identity() -> None:
    shard = '  c = f32[4] custom-call(x), custom_call_target="SPMDFullToShardShape"\n  ROOT r = f32[4] negate(c)'
    half = "  c = f32[4] slice(x), slice={[0:4]}\n  ROOT r = f32[4] negate(c)"
    assert answer(module(shard, "f32[8]"), module(half, "f32[8]")) == "unknown"
    two = '  c = f32[4] custom-call(x, x), custom_call_target="Sharding"\n  ROOT r = f32[4] negate(c)'
    assert answer(module(two), PLAIN) == "unknown"


def test_a_tuple_is_moved_as_its_elements(worker: Worker) -> None:
    element = "  ROOT r = s32[2] get-tuple-element({}), index=1"
    text = f"""HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  y = s32[2] parameter(1)
  t = {PAIR} tuple(x, y)
  h = {PAIR} custom-call(t), custom_call_target="MoveToHost"
  d = {PAIR} custom-call(h), custom_call_target="MoveToDevice"
{element.format("d")}
}}
"""
    plain = text.replace(element.format("d"), element.format("t"))
    assert answer(text, plain) == "equal"
    assert (
        answer(text, plain.replace("ROOT r = s32[2] get-tuple-element(t), index=1", "ROOT r = s32[2] negate(y)"))
        == "unknown"
    )
    found = compare_modules(parse(text), parse(plain), Options(engines=("proof", "xla")), worker)
    assert str(found).startswith("equal (proof, xla)"), str(found)


def test_two_calls_that_allocate_memory_have_contents_of_their_own() -> None:
    made = 'c{} = f32[4] custom-call(), custom_call_target="AllocateBuffer"'
    lines = [f"  {made.format(i)}\n" for i in (1, 2)]
    sums = [f"  ROOT r = f32[4] add(c{a}, c{b})" for a, b in ((1, 2), (1, 1))]
    first, second = (module("".join(lines) + each) for each in sums)
    assert answer(first, first) == "equal"
    assert answer(first, second) == "unknown"
    written = "  i = s32[] constant(0)\n  ROOT r = f32[4] dynamic-update-slice(c1, x, i)"
    assert answer(module(lines[0] + written), module("  ROOT r = f32[4] copy(x)")) == "equal"


@pytest.mark.parametrize(
    ("line", "others"),
    [
        (
            'ROOT r = f32[4,4]{1,0} custom-call(x), custom_call_target="f", operand_layout_constraints={f32[4,4]{1,0}}',
            (),
        ),
        ('ROOT r = f32[4,4]{1,0} custom-call(x), custom_call_target="ConcatBitcast"', ()),
        ('ROOT r = f32[4,4]{1,0} custom-call(x), custom_call_target="f"', ("equal",)),
    ],
)
def test_the_layout_of_a_result_counts_where_a_call_prescribes_layouts(line: str, others: tuple[str, ...]) -> None:
    """A program that reads and writes bytes gives another array where its result has another layout."""
    first, same, other = (
        line,
        line.replace("r = f32[4,4]{1,0}", "r = f32[4,4]"),
        line.replace("{1,0} cust", "{0,1} cust"),
    )
    found = [answer(module(first, "f32[4,4]"), module(each, "f32[4,4]")) for each in (first, other)]
    assert found == ["equal", *(others or ("unknown",))]
    if "Concat" not in line:
        assert answer(module(first, "f32[4,4]"), module(same, "f32[4,4]")) == "equal"
