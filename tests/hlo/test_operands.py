"""Operands that are more than names: elements of tuples, and whole instructions."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import HloModule, parse_module

ELEMENTS = """HloModule m

ENTRY e {
  p = (f32[2]{0}, (s32[3]{0}, f32[])) parameter(0)
  a = f32[2]{0} negate(p#0)
  b = s32[3]{0} negate(p#1#0)
  c = s32[3]{0} add(s32[3]{0} p#1#0, s32[3]{0} b)
  ROOT t = (f32[2]{0}, s32[3]{0}) tuple(a, c)
}
"""
IN_PLACE = """HloModule m

ENTRY %e {
  ROOT %a = add(negate(f16[10]{0} parameter(1)), /* two */ f16[10]{0} parameter(0)), metadata={op_name="a"}
}
"""


def lines(module: HloModule) -> list[str]:
    return [item.text() for item in module.entry.instructions]


@pytest.mark.parametrize("text", [ELEMENTS, IN_PLACE, ELEMENTS.replace("\n", "\r\n")])
def test_they_come_back_byte_for_byte(text: str) -> None:
    module = parse_module(text)
    assert module.text() == text
    module.mark_edited()
    for computation in module.computations:
        computation.edits.any = True
    assert module.text() == text
    assert module.clone().text() == text


def test_elements_are_instructions() -> None:
    module = parse_module(ELEMENTS)
    entry = module.entry
    first, inner = entry.find("p_0"), entry.find("p_1_0")
    assert first is not None
    assert inner is not None
    assert first.opcode == "get-tuple-element"
    assert first.ints("index") == (0,)
    assert [user.name for user in first.users] == ["a"]
    # One for all that name it, as XLA reads them.
    assert [user.name for user in inner.users] == ["b", "c"]
    assert [item.name for item in entry.instructions] == ["p", "p_0", "a", "p_1", "p_1_0", "b", "c", "t"]
    assert inner.location is not None
    start, end = inner.location.span.start, inner.location.span.end
    assert "p#1#0" in ELEMENTS[start:end]


def test_an_edit_of_either_gives_it_a_line() -> None:
    for name in ("b", "p_1_0"):
        module = parse_module(ELEMENTS)
        item = module.entry.find(name)
        assert item is not None
        item.set_frontend_attribute("mark", "1")
        text = module.text()
        assert "  a = f32[2]{0} negate(p#0)\n" in text
        assert "#1" not in text
        again = parse_module(text)
        assert again.text() == text
        assert [(i.name, i.opcode) for i in again.entry.instructions] == [
            (i.name, i.opcode) for i in module.entry.instructions
        ]


def test_a_copy_is_edited_like_the_original() -> None:
    module = parse_module(ELEMENTS)
    copy = module.clone()
    for each in (module, copy):
        item = each.entry.find("p_1_0")
        assert item is not None
        item.rename("other")
    assert copy.text() == module.text()
    assert "other = s32[3]{0} get-tuple-element(p_1), index=0" in copy.text()


def test_instructions_in_place() -> None:
    module = parse_module(IN_PLACE)
    assert lines(module) == [
        "%parameter.anon = f16[10]{0} parameter(1)",
        "%negate.anon = f16[10]{0} negate(%parameter.anon)",
        "%parameter.anon.1 = f16[10]{0} parameter(0)",
        'ROOT %a = f16[10]{0} add(%negate.anon, %parameter.anon.1), metadata={op_name="a"}',
    ]
    assert [item.name for item in module.entry.parameters] == ["parameter.anon.1", "parameter.anon"]
    module.entry.root.set_attribute("metadata", None)
    assert module.text() == (
        "HloModule m\n\nENTRY %e {\n"
        "  %parameter.anon = f16[10]{0} parameter(1)\n"
        "  %negate.anon = f16[10]{0} negate(%parameter.anon)\n"
        "  %parameter.anon.1 = f16[10]{0} parameter(0)\n"
        "  ROOT %a = f16[10]{0} add(%negate.anon, %parameter.anon.1)\n}\n"
    )


def test_a_name_that_is_taken_is_not_given() -> None:
    text = ELEMENTS.replace("a = f32[2]{0} negate(p#0)", "p_0 = f32[2]{0} negate(p#0)").replace("(a, c)", "(p_0, c)")
    module = parse_module(text)
    assert module.entry.find("p_0.1").opcode == "get-tuple-element"  # type: ignore[union-attr]
    assert module.text() == text


def test_all_of_them_get_lines() -> None:
    module = parse_module(ELEMENTS)
    assert module.hides_instructions
    module.give_lines()
    text = module.text()
    assert "#" not in text
    again = parse_module(text)
    assert not again.hides_instructions
    assert [item.name for item in again.entry.instructions] == [item.name for item in module.entry.instructions]
