"""The causes of moved arrays as text, as JSON and as a part of a page."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relayout.reporting.causes import Cause, Change, End, Why, causes_section
from relayout.reporting.pass_names import PassName

ARGUMENT = End("argument", "x", "parameter", "f32[4,8]{1,0}", 0, "argument 0 (x)")
READER = End("instruction", "d", "dot", "f32[4,8]{0,1}", None, "d (dot)")
PASS = PassName("assign", "layouts", "", False, "a/m.0001.txt", "a/m.0002.txt")
CAUSE = Cause(
    name="c",
    kind="relayout",
    opcode="copy",
    fusion="",
    source="f32[4,8]{1,0}",
    result="f32[4,8]{0,1}",
    bytes_moved=2048,
    trips=1,
    padding_bytes=0,
    padding="",
    introduced_by=PASS,
    introduced_as="copy.1",
    in_place_of="",
    made_by=ARGUMENT,
    read_by=(READER,),
    changes_layout=True,
    op_name="jit(f)/dot",
    source_file="f.py",
    source_line=7,
    source_of="",
    change=Change("argument layout", 0, (1, 0), 128, 256),
    advice="pass argument 0 in another layout",
)


def text(cause: Cause) -> list[str]:
    return list(cause.lines)


def test_a_relayout_has_its_facts_one_a_line() -> None:
    assert text(CAUSE) == [
        "c: relayout, 2 KiB read and written",
        "  array       f32[4,8]{1,0} -> f32[4,8]{0,1}",
        "  introduced  by assign of layouts",
        "  first in    m.0002.txt, as copy.1",
        *[line for line in text(CAUSE)[4:-2] if "argument 0 (x)" in line or "d (dot)" in line],
        "  from        f.py:7 jit(f)/dot",
        "  remove      pass argument 0 in another layout",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"trips": 5}, "c: relayout, 2 KiB read and written, 5 times"),
        ({"trips": None}, "c: relayout, 2 KiB read and written, an unknown number of times"),
        ({"fusion": "f.1"}, "f.1 (c): relayout, 2 KiB read and written"),
        ({"bytes_moved": 0, "padding_bytes": 1024}, "c: relayout, 1 KiB of padding"),
        ({"source": ""}, "  array       f32[4,8]{0,1}"),
        ({"padding": "dimension 1: 3 -> 128", "padding_bytes": 1024}, "  padding     1 KiB: dimension 1: 3 -> 128"),
        ({"introduced_by": replace(PASS, name="", before="")}, "  introduced  in the program"),
        ({"source_of": "d"}, "  from        f.py:7 jit(f)/dot (of d)"),
        ({"source_file": ""}, "  from        jit(f)/dot"),
    ],
)
def test_a_line_states_what_differs(changes: dict[str, object], line: str) -> None:
    changed = replace(CAUSE, **changes)  # type: ignore[arg-type]  # values of several types
    assert line in text(changed)
    assert line not in text(CAUSE)


def test_both_sides_are_told_apart_only_where_the_layout_changes() -> None:
    assert (CAUSE.adapted, CAUSE.kept) == (ARGUMENT, READER)
    same = replace(CAUSE, changes_layout=False)
    assert (same.adapted, same.kept) == (None, None)
    assert replace(CAUSE, read_by=()).kept is None


def test_json_has_every_field_and_both_sides() -> None:
    found = json.loads(json.dumps(Why("jit_f", "m.txt", 3, (CAUSE,)).as_json()))
    [cause] = found["causes"]
    assert (found["program"], found["arrays"], cause["name"], cause["trips"]) == ("jit_f", 3, "c", 1)
    assert (cause["adapted"]["text"], cause["kept"]["text"]) == ("argument 0 (x)", "d (dot)")
    assert cause["change"] == {
        "action": "argument layout",
        "number": 0,
        "major_to_minor": [1, 0],
        "bytes_now": 128,
        "bytes_then": 256,
    }


@pytest.mark.parametrize(
    ("arrays", "count", "headline"),
    [
        (1, 1, "jit_f: 1 array is moved or padded"),
        (3, 3, "jit_f: 3 arrays are moved or padded"),
        (3, 1, "jit_f: 3 arrays are moved or padded, 1 of them here"),
        (0, 0, "jit_f: 0 arrays are moved or padded"),
    ],
)
def test_the_headline_counts_all_arrays_and_those_that_are_shown(arrays: int, count: int, headline: str) -> None:
    assert str(Why("jit_f", "m.txt", arrays, (CAUSE,) * count)).splitlines()[0] == headline


def test_files_that_could_not_be_read_are_named_last() -> None:
    assert str(Why("jit_f", "m.txt", 0, (), ("a.txt", "b.txt"))).splitlines()[-1] == "not read: a.txt, b.txt"


def test_a_page_has_a_part_for_each_cause_and_escapes_names() -> None:
    odd = replace(CAUSE, name="<c>", fusion="a&b")
    section = causes_section(Why("jit_f", "m.txt", 3, (CAUSE, odd)))
    assert section.count("<details>") == 2
    assert "(2 of 3)" in section
    assert "<c>" not in section
    assert "&lt;c&gt;" in section
    assert 'href="#a%26b"' in section
    assert causes_section(Why("jit_f", "m.txt", 0, ())) == ""
    assert "(2 of 2)" not in causes_section(Why("jit_f", "m.txt", 2, (CAUSE, odd)))
