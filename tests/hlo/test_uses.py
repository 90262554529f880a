"""Users of a value: each one once, in order, also after edits."""

from __future__ import annotations

from dialect_utils.hlo import parse_module

TEXT = """HloModule m

ENTRY e {
  p = s32[4]{0} parameter(0)
  a = s32[4]{0} multiply(p, p)
  b = s32[4]{0} clamp(p, a, p)
  ROOT r = s32[4]{0} add(a, b)
}
"""


def users(text: str, name: str) -> list[str]:
    value = parse_module(text).entry.find(name)
    assert value is not None
    return [user.name for user in value.users]


def test_what_uses_a_value_twice_is_one_user() -> None:
    assert users(TEXT, "p") == ["a", "b"]
    assert users(TEXT, "a") == ["b", "r"]
    assert users(TEXT, "r") == []


def test_an_edit_adds_and_drops_users() -> None:
    module = parse_module(TEXT)
    p, a, b, root = (module.entry.find(name) for name in "pabr")
    assert p is not None
    assert a is not None
    assert b is not None
    assert root is not None
    assert [user.name for user in b.users] == ["r"]
    root.set_operand(0, b)
    assert [user.name for user in a.users] == ["b"]
    assert [user.name for user in b.users] == ["r"]
    root.set_operand(1, p)
    assert [user.name for user in b.users] == ["r"]
    assert [user.name for user in p.users] == ["a", "b", "r"]
