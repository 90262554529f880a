"""Differences between the reports of two dumps."""

from __future__ import annotations

from dialect_utils.hlo import parse_module
from dialect_utils.memory import MemoryReport
from relayout.reporting.against import compare_reports, comparison_page

SHAPE = "f32[1024,64]{1,0:T(8,128)}"
OTHER = "f32[1024,64]{0,1:T(8,128)}"
PLAIN = f"""HloModule m, is_scheduled=true
ENTRY e {{
  p = {SHAPE} parameter(0)
  n = {SHAPE} negate(p), metadata={{op_name="jit(f)/neg"}}
  ROOT r = {SHAPE} negate(n), metadata={{op_name="jit(f)/out"}}
}}
"""
COPIED = PLAIN.replace(
    "  ROOT r",
    f'  c = {OTHER} copy(n), metadata={{op_name="jit(f)/copy"}}\n'
    f'  d = {SHAPE} copy(c), metadata={{op_name="jit(f)/copy"}}\n  ROOT r',
).replace("negate(n), metadata", "negate(d), metadata")


def report(text: str) -> MemoryReport:
    return MemoryReport(parse_module(text, "m"), "tpu-v5e")


def test_a_program_against_itself_changes_nothing() -> None:
    found = compare_reports(report(COPIED), report(COPIED))
    assert (found.changes, found.added, found.gone) == ((), (), ())
    assert all(old == new for old, new in found.totals.values())


def test_relayouts_that_were_added_and_their_bytes() -> None:
    found = compare_reports(report(PLAIN), report(COPIED))
    assert [(row.name, row.source, row.result) for row in found.added] == [("c", SHAPE, OTHER), ("d", OTHER, SHAPE)]
    assert found.gone == ()
    (change,) = (each for each in found.changes if each.op_name == "jit(f)/copy")
    assert (change.shape, change.old_count, change.new_count, change.old_bytes) == ("f32[1024,64]", 0, 2, 0)
    # 64 columns take 128 lanes; 1024 of them need no padding.
    assert change.new_bytes == 4 * (1024 * 128 + 64 * 1024)
    back = compare_reports(report(COPIED), report(PLAIN))
    assert [row.name for row in back.gone] == ["c", "d"]
    assert back.totals == {name: (new, old) for name, (old, new) in found.totals.items()}
    assert "2 relayouts added" in comparison_page(found)
    assert "2 relayouts gone" in comparison_page(back)


def test_a_second_relayout_like_the_first_counts_as_added() -> None:
    twice = COPIED.replace(
        "  ROOT r",
        f'  e = {OTHER} copy(d), metadata={{op_name="jit(f)/copy"}}\n'
        f'  f = {SHAPE} copy(e), metadata={{op_name="jit(f)/copy"}}\n  ROOT r',
    ).replace("negate(d), metadata", "negate(f), metadata")
    found = compare_reports(report(COPIED), report(twice))
    assert len(found.added) == 2
    assert found.gone == ()
