from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from tests.hlo.texts import IN_TREE, MODULE, REJECTED, SHARED, read, shared_dumps

SAMPLE = [path for path in IN_TREE if path.name not in REJECTED][::7]


def touch_everything(module: HloModule) -> None:
    for computation in module.computations:
        for item in computation.instructions:
            computation.mark_edited(item)
        computation.edits.header = True


def structure(module: HloModule) -> list[object]:
    return [
        (c.name, c.root.name, [(i.name, str(i.shape), i.opcode, [o.name for o in i.operands]) for i in c.instructions])
        for c in module.computations
    ]


@pytest.mark.parametrize("path", [p for p in IN_TREE if p.name not in REJECTED], ids=lambda path: path.stem)
def test_texts_in_the_tree_come_back_byte_for_byte(path: Path) -> None:
    text = read(path)
    module = parse_module(text, path.name)
    assert module.text() == text
    # The joined parts also equal the source.
    module.mark_edited()
    for computation in module.computations:
        computation.edits.any = computation.owner is None
    assert module.text() == text
    assert module.clone().text() == text


@pytest.mark.shared(SHARED)
def test_shared_dumps_come_back_byte_for_byte() -> None:
    for path in shared_dumps():
        module = parse_module(read(path), path.name)
        touch_everything(module)
        # Every instruction that we print again is the one that XLA printed.
        assert module.text() == read(path), path


def test_a_text_printed_from_the_graph_means_the_same() -> None:
    for path in SAMPLE:
        module = parse_module(read(path), path.name)
        before = structure(module)
        touch_everything(module)
        again = parse_module(module.text())
        assert sorted(map(str, structure(again))) == sorted(map(str, before)), path


def test_an_edit_elsewhere_is_seen_by_the_comparison() -> None:
    module = parse_module(MODULE)
    module.entry.root.rename("other")
    assert module.text() != MODULE
    assert structure(parse_module(module.text())) != structure(parse_module(MODULE))


SEPARATORS = st.sampled_from([" ", "  ", "\t", "\n", "\r\n", " /* note */ ", " // note\n", "/*index=5*/ "])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_white_space_and_comments_anywhere(data: st.DataObject) -> None:
    parts = re.split(r"(?<=[,({]) |(?<=\)) |(?<== )| (?==)", MODULE)
    text = parts[0]
    for part in parts[1:]:
        text += data.draw(SEPARATORS) + part
    module = parse_module(text)
    assert module.text() == text
    assert structure(module) == structure(parse_module(MODULE))
    touch_everything(module)
    assert structure(parse_module(module.text())) == structure(parse_module(MODULE))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(MODULE)), st.integers(0, 12), st.text('{}()[]",=%/*\\\n ax0', max_size=4))
def test_damaged_text_is_read_back_or_rejected(start: int, length: int, text: str) -> None:
    damaged = MODULE[:start] + text + MODULE[start + length :]
    module = try_parse(damaged)
    if module is not None:
        assert module.text() == damaged


def try_parse(text: str) -> HloModule | None:
    try:
        return parse_module(text)
    except DiagnosticError:
        return None


def test_the_collector_is_left_as_it_was() -> None:
    import gc

    parse_module(MODULE)
    assert gc.isenabled()
    gc.disable()
    try:
        parse_module(MODULE)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_colon_after_the_name_of_a_module_is_no_part_of_it() -> None:
    text = "HloModule m:, is_scheduled=true\n\nENTRY e {\n  ROOT p = f32[3]{0} parameter(0)\n}\n"
    for each in (text, text.replace(":,", ",").replace("m, is_scheduled=true", "m:")):
        module = parse_module(each, "m")
        assert module.name == "m"
        assert module.attributes.get("is_scheduled") == ("true" if "is_scheduled" in each else None)
        touch_everything(module)
        assert module.text() == each
