"""The texts of single attributes, and the order in which XLA prints them."""

from __future__ import annotations

import pytest

from dialect_utils.hlo.text.attributes import (
    escape,
    format_frontend_attributes,
    parse_aliases,
    parse_frontend_attributes,
    parse_ints,
    unescape,
    with_attribute,
)

# In the order in which XLA prints them (HloInstruction::PrintExtraAttributes and Print).
IN_ORDER = (
    *(
        "dimensions",
        "to_apply",
        "sharding",
        "frontend_attributes",
        "control-predecessors",
        "metadata",
        "backend_config",
    ),
)


@pytest.mark.parametrize("name", IN_ORDER[2:])
def test_an_attribute_is_added_where_xla_prints_it(name: str) -> None:
    others = {other: "{}" for other in IN_ORDER if other != name}
    added = with_attribute(others, name, "{x}")
    assert tuple(added) == IN_ORDER
    assert added[name] == "{x}"


def test_an_attribute_of_the_opcode_comes_after_those_of_the_opcode() -> None:
    found = with_attribute({"dimensions": "{0}", "metadata": "{}"}, "to_apply", "%f")
    assert tuple(found) == ("dimensions", "to_apply", "metadata")


def test_a_changed_attribute_stays_where_it_is() -> None:
    before = {"metadata": "{}", "dimensions": "{0}"}
    assert list(with_attribute(before, "metadata", "{a}").items()) == [("metadata", "{a}"), ("dimensions", "{0}")]
    assert before["metadata"] == "{}"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{1,0}", (1, 0)),
        ("{ }", ()),
        (" -3 ", (-3,)),
        ("{1, /*x*/ 2}", (1, 2)),
        ("{1 0}", None),
        (f"{{{9 * 10**30}}}", None),
    ],
)
def test_integers(text: str, wanted: tuple[int, ...] | None) -> None:
    assert parse_ints(text) == wanted


def test_aliases() -> None:
    text = "{ {0}: (1, {}, may-alias), {1, 2}: (0, {3}) }"
    assert parse_aliases(text) == (((0,), 1, ()), ((1, 2), 0, (3,)))


@pytest.mark.parametrize("text", ["", "a b", 'quoted "x"', "tab\tand\nlines\r", "back\\slash", "{in={braces}}"])
def test_what_is_escaped_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text
    written = format_frontend_attributes({"a": text, "b": "1"})
    assert parse_frontend_attributes(written) == {"a": text, "b": "1"}


def test_escapes_of_absl_are_read() -> None:
    assert unescape(r"\x41\101\n\'") == "AA\n'"
