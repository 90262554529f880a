"""Texts that are small and were expensive: lists and tuples that they imply, long numbers, many mistakes."""

from __future__ import annotations

import tracemalloc
from functools import partial

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.hlo.reading import MOST_INFERRED_LEAVES
from dialect_utils.ops.devices import group_sizes
from dialect_utils.ops.inference import Instance, integer
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import verify
from tests.profiling import least_seconds
from tests.ratio_inputs import HLO

# The digits of a number that int() rejects.
LONG = "9" * 5000
REDUCTION = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n\n"


def checked(text: str) -> list[str]:
    """Reads and verifies a text, and returns the messages of its errors."""
    try:
        verify(parse_module(text))
    except DiagnosticError as error:
        return [each.message for each in error.diagnostics]
    return []


def entry(*lines: str, header: str = "", before: str = "") -> str:
    body = "\n  ".join(lines)
    return f"HloModule m{header}\n\n{before}ENTRY e {{\n  p = f32[4]{{0}} parameter(0)\n  {body}\n}}\n"


def all_reduce(groups: str, replicas: int) -> str:
    reduce = f"ROOT r = f32[4]{{0}} all-reduce(p), replica_groups={groups}, to_apply=add"
    return entry(reduce, header=f", replica_count={replicas}", before=REDUCTION)


@pytest.mark.parametrize("copies", [1, 16, 1000])
def test_tuples_without_shapes_may_not_double_for_ever(copies: int) -> None:
    tracemalloc.start()
    try:
        [message] = checked(HLO["doubling tuples without shapes"](64, copies))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert f"have more than {MOST_INFERRED_LEAVES} leaves" in message


def test_the_limit_counts_the_leaves_of_all_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    text = entry("t0 = tuple(p, p)", "t1 = tuple(t0, t0)", "ROOT r = tuple(t1, p)")
    monkeypatch.setattr("dialect_utils.hlo.reading.MOST_INFERRED_LEAVES", 11)
    assert checked(text) == []
    monkeypatch.setattr("dialect_utils.hlo.reading.MOST_INFERRED_LEAVES", 10)
    assert checked(text) == ["the shapes of tuples that are not written, up to %r, have more than 10 leaves"]


def test_ordinary_tuples_without_shapes_are_read() -> None:
    assert checked(entry("t0 = tuple(p, p)", "t1 = tuple(t0, t0)", "ROOT r = tuple(t1, t0)")) == []


@pytest.mark.parametrize("groups", ["[{n},1]<=[{n}]", "[{n},1]<=[2,{half}]T(1,0)", "mesh['a'={n}] {{}}"])
def test_groups_of_a_million_devices_are_counted_and_not_listed(groups: str) -> None:
    count = 1 << 20
    tracemalloc.start()
    try:
        assert checked(all_reduce(groups.format(n=count, half=count // 2), count)) == []
        [message] = checked(all_reduce(groups.format(n=count, half=count // 2), 8))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert message.endswith(f"should contain 8 replicas, but contain {count}")


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ("{{0,1},{2,3},{4}}", {2: 2, 1: 1}),
        ("[2,4]<=[8]", {4: 2}),
        ("[4,2]<=[2,4]T(1,0)", {2: 4}),
        ("mesh['a'=2,'b'=4] {'b'}", {4: 2}),
        ("{}", {}),
    ],
)
def test_groups_are_counted_by_size(groups: str, expected: dict[int, int]) -> None:
    module = parse_module(all_reduce(groups, 8))
    assert group_sizes(Instance(module.entry.root, [])) == expected


@pytest.mark.parametrize(
    "text",
    [
        entry("ROOT r = f32[4]{0} negate(p)", header=f", replica_count={LONG}"),
        entry("ROOT r = f32[4]{0} negate(p)", header=f", num_partitions={LONG}"),
        entry(f"ROOT r = f32[4]{{0}} negate(p), sharding={{devices=[{LONG}]<=[{LONG}]}}"),
        all_reduce(f"[{LONG},1]<=[{LONG}]", 4),
        entry("ROOT r = f32[4]{0} negate(p)", header=f", input_output_alias={{ {{}}: ({LONG}, {{}}, must-alias) }}"),
        entry(f"ROOT r = f32[4]{{0}} collective-permute(p), source_target_pairs={{{{{LONG},1}}}}"),
        all_reduce(f"{{{{{LONG}}}}}", 4),
        all_reduce(f"mesh['a'={LONG}] {{'a'}}", 4),
        entry(f"ROOT r = f32[4]{{0}} negate(p), sharding={{devices=[2]{LONG},1}}", header=", num_partitions=2"),
        entry("ROOT r = f32[4]{0} negate(p)", header=f", buffer_donor={{ ({LONG}, {{}}) }}"),
        entry("ROOT r = f32[4]{0} negate(p)", header=f", buffer_donor={{ (0, {{{LONG}}}) }}"),
    ],
)
def test_long_numbers_are_errors_and_not_exceptions(text: str) -> None:
    assert checked(text)


def test_a_long_number_is_larger_than_every_64_bit_integer() -> None:
    assert [integer(text) for text in ("7", "-3", str((1 << 63) - 1), LONG)] == [7, -3, (1 << 63) - 1, 1 << 63]


@pytest.mark.parametrize(
    "name", ["unknown attributes", "repeated attributes", "wrong shapes", "pairs", "listed groups"]
)
def test_many_mistakes_take_time_in_proportion(name: str) -> None:
    texts = [HLO[name](count, 8) for count in (100, 800)]
    small, large = (least_seconds(partial(checked, text)) for text in texts)
    assert large < 24 * max(small, 0.005)


@pytest.mark.parametrize("digits", ["0", "1"])
def test_a_number_of_a_million_digits_with_a_letter_behind_takes_little(digits: str) -> None:
    text = entry(f"ROOT c = f32[] constant({digits * 1_000_000}x)")
    assert least_seconds(partial(checked, text), 1) < 1
