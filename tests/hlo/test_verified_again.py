"""A clone is verified where it differs from the module that was verified before."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.hlo.module import SoundSignatures
from dialect_utils.hlo.verify import find_problems
from dialect_utils.layout import parse_shape
from dialect_utils.text import DiagnosticError

TEXT = """HloModule m

%plus (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (p: f32[3,5]) -> f32[3] {
  %p = f32[3,5]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %n = f32[3,5]{1,0} negate(%p), metadata={op_name="n"}
  %t = f32[5,3]{1,0} transpose(%n), dimensions={1,0}, metadata={op_name="t"}
  ROOT %r = f32[3]{0} reduce(%t, %zero), dimensions={0}, to_apply=%plus, metadata={op_name="r"}
}
"""


def messages(module: HloModule) -> list[str]:
    return [problem.message for problem in find_problems(module)]


def messages_or_error(text: str) -> list[str]:
    try:
        return messages(parse_module(text))
    except DiagnosticError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]


def in_full(module: HloModule) -> list[str]:
    """Returns the problems that a verification without knowledge of earlier ones finds."""
    module.sound = SoundSignatures()
    return messages(module)


@pytest.mark.parametrize(
    ("name", "attribute", "text"),
    [
        ("t", "dimensions", "{1,1}"),
        ("t", "metadata", "{op_name=3}"),
        ("t", "unheard_of", "1"),
        ("r", "dimensions", "{1}"),
        ("n", "sharding", "{devices=[2]0,0}"),
    ],
)
def test_a_wrong_attribute_of_a_clone_is_found(name: str, attribute: str, text: str) -> None:
    module = parse_module(TEXT)
    assert messages(module) == []
    clone = module.clone()
    edited = clone.entry.find(name)
    assert edited is not None
    edited.set_attribute(attribute, text)
    found = messages(clone)
    assert found
    assert found == in_full(clone)
    assert messages(module) == []


@pytest.mark.parametrize(("name", "shape"), [("n", "f32[5,3]{1,0}"), ("p", "f32[3,6]{1,0}"), ("zero", "s32[]")])
def test_a_wrong_shape_of_a_clone_is_found_at_its_users(name: str, shape: str) -> None:
    module = parse_module(TEXT)
    assert messages(module) == []
    clone = module.clone()
    edited = clone.entry.find(name)
    assert edited is not None
    edited.set_shape(parse_shape(shape))
    found = messages(clone)
    assert found
    assert found == in_full(clone)


def test_a_computation_with_another_interface_is_found_at_its_caller() -> None:
    module = parse_module(TEXT)
    assert messages(module) == []
    clone = module.clone()
    plus = clone.find("plus")
    assert plus is not None
    for item in plus.instructions:
        item.set_shape(parse_shape("s32[]"))
    found = messages(clone)
    assert found
    assert found == in_full(clone)


def test_the_imitated_state_of_an_asynchronous_operation_is_not_known_to_be_sound() -> None:
    # The users of the tuple decide whether its shape is compared; they are not in its signature.
    text = """HloModule m

ENTRY %main (p: f32[3]) -> f32[3] {
  %p = f32[3]{0} parameter(0)
  %context = u32[] constant(0)
  %state = ((f32[3]{0}), f32[4]{0}, u32[]) tuple(%p, %p, %context)
  ROOT %done = f32[4]{0} custom-call-done(%state)
}
"""
    module = parse_module(text)
    messages(module)
    clone = module.clone()
    [done] = [item for item in clone.entry.instructions if item.opcode == "custom-call-done"]
    made = clone.before(done).flatten(done.operands[0], name="part")[0]
    clone.entry.set_root(made)
    done.erase()
    assert messages(clone) == in_full(clone)
    assert any("state" in message for message in in_full(clone))


@pytest.mark.parametrize(
    ("signature", "is_sound"),
    [
        ("(p: f32[3,5]) -> f32[3]", True),
        ("(another.name: f32[3,5]) -> f32[3]", True),
        ("(p: f32[3,5]{1,0}) -> f32[3]{0}", True),
        ("(p: f32[3,5], q: f32[]) -> f32[3]", False),
        ("(p: f32[3,6]) -> f32[3]", False),
        ("(p: f32[3,5]) -> f32[4]", False),
        ("(p: q: f32[3,5]) -> f32[3]", False),
        ("(f32[3,5]) -> f32[3]", False),
        ("() -> f32[3]", False),
        ("(p: (q: f32[3,5])) -> f32[3]", False),
    ],
)
def test_the_signature_of_a_header_is_compared_with_the_parameters(signature: str, is_sound: bool) -> None:
    text = TEXT.replace("(p: f32[3,5]) -> f32[3]", signature)
    if is_sound:
        assert messages(parse_module(text)) == []
    else:
        assert messages_or_error(text)
