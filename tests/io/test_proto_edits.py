"""Serialized modules whose text changes keep what no text says."""

from __future__ import annotations

import pytest

from dialect_utils.execution import hlo_proto_to_text, hlo_text_to_proto
from dialect_utils.io.proto_edits import LostFieldError, merge_protos
from dialect_utils.io.protos import BYTES, VARINT, Field, has_device_assignment, read_fields, write_fields

_TEXT = """HloModule m, is_scheduled=true

%fused (a: f32[3]) -> f32[3] {
  %a = f32[3]{0} parameter(0)
  ROOT %n = f32[3]{0} negate(%a)
}

ENTRY %e (p: f32[3]) -> f32[3] {
  %p = f32[3]{0} parameter(0)
  %c = f32[3]{0} copy(%p)
  %f = f32[3]{0} fusion(%c), kind=kLoop, calls=%fused
  ROOT %t = f32[3]{0} tanh(%f), control-predecessors={%c}
}
"""
_UNKNOWN = 900


def compilers(text: str) -> bytes:
    """Returns the module of a text with ids of its own, a device assignment, and fields of a later XLA."""
    fields = []
    for field in read_fields(memoryview(hlo_text_to_proto(text))):
        if field.number != 3:
            fields.append(field)
            continue
        parts = []
        for part in read_fields(field.bytes):
            if part.number == 2:
                later = [*read_fields(part.bytes), Field(_UNKNOWN, VARINT, 5)]
                part = Field(2, BYTES, memoryview(write_fields(later)))
            parts.append(part)
        fields.append(Field(3, BYTES, memoryview(write_fields(parts))))
    assigned = Field(15, BYTES, memoryview(b"\x08\x01\x10\x01\x1a\x03\x0a\x01\x00"))
    return write_fields([*fields, assigned])


def merged(text: str, changed: str) -> bytes:
    return merge_protos(compilers(text), hlo_text_to_proto(text), hlo_text_to_proto(changed))


def later_fields(data: bytes) -> int:
    computations = [each.bytes for each in read_fields(memoryview(data)) if each.number == 3]
    found = [part.bytes for each in computations for part in read_fields(each) if part.number == 2]
    return sum(field.number == _UNKNOWN for each in found for field in read_fields(each))


CHANGED = {
    "nothing": _TEXT,
    "dropped": _TEXT.replace("  %c = f32[3]{0} copy(%p)\n", "")
    .replace("fusion(%c)", "fusion(%p)")
    .replace(", control-predecessors={%c}", ""),
    "new": _TEXT.replace("ROOT %t = f32[3]{0} tanh(%f)", "%s = f32[3]{0} sine(%f)\n  ROOT %t = f32[3]{0} tanh(%s)"),
    "another order": _TEXT.replace(
        "%c = f32[3]{0} copy(%p)", "%c = f32[3]{0} copy(%p)\n  %d = f32[3]{0} copy(%c)"
    ).replace("fusion(%c)", "fusion(%d)"),
    "a new computation": _TEXT.replace(
        "\nENTRY", "\n%other (b: f32[3]) -> f32[3] {\n  ROOT %b = f32[3]{0} parameter(0)\n}\n\nENTRY"
    ).replace("calls=%fused", "calls=%other"),
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_the_merged_module_has_the_changed_text_and_the_fields_of_the_first(changed: str) -> None:
    found = merged(_TEXT, changed)
    assert hlo_proto_to_text(found) == hlo_proto_to_text(hlo_text_to_proto(changed))
    assert has_device_assignment(found)
    assert not has_device_assignment(hlo_text_to_proto(changed))
    kept = {line.split(" = ")[0].strip() for line in _TEXT.splitlines() if " = " in line}
    lines = [line.split(" = ")[0].strip() for line in changed.splitlines() if " = " in line]
    assert later_fields(found) == sum(line in kept for line in lines)


_STARTED = """HloModule m, is_scheduled=true

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%wrapped (q: f32[3]) -> f32[3] {
  %q = f32[3]{0} parameter(0)
  ROOT %r = f32[3]{0} all-reduce(%q), replica_groups={}, to_apply=%sum
}

ENTRY %e (p: f32[3]) -> f32[3] {
  %p = f32[3]{0} parameter(0)
  %n = f32[3]{0} negate(%p)
  %b = ((f32[3]{0}), f32[3]{0}) async-start(%n), calls=%wrapped
  ROOT %d = f32[3]{0} async-done(%b)
}
"""


def printed(text: str) -> str:
    """Returns the text in which the operation of a wrapped computation is that of its caller."""
    start, end = text.index("%wrapped"), text.index("ENTRY")
    short = text[:start] + text[end:].replace("calls=%wrapped", "replica_groups={}, to_apply=%sum")
    return short.replace("async-start", "all-reduce-start").replace("async-done", "all-reduce-done")


def test_a_computation_that_no_text_names_stays_with_its_caller() -> None:
    short = printed(_STARTED)

    def merged_with(changed: str) -> str:
        found = merge_protos(compilers(_STARTED), hlo_text_to_proto(short), hlo_text_to_proto(changed))
        return hlo_proto_to_text(found)

    usual = hlo_proto_to_text(hlo_text_to_proto(_STARTED))
    assert merged_with(short) == usual
    assert merged_with(short.replace("negate(%p)", "abs(%p)")) == usual.replace("negate(%p)", "abs(%p)")
    direct = short.replace("all-reduce-start(%n)", "all-reduce-start(%p)").replace("%n = f32[3]{0} negate(%p)\n", "")
    assert "all-reduce-start(%p)" in merged_with(direct).replace("async-start(%p)", "all-reduce-start(%p)")
    without = short[: short.index("  %b")] + "  ROOT %d = f32[3]{0} copy(%n)\n}\n"
    assert "wrapped" not in merged_with(without)
    with pytest.raises(LostFieldError, match="does not say the computation of b, which a pass changes"):
        merged_with(short.replace("to_apply=%sum", "to_apply=%sum, channel_id=2"))


def test_a_text_of_another_module_is_not_merged() -> None:
    other = hlo_text_to_proto(_TEXT.replace("%fused", "%another"))
    with pytest.raises(LostFieldError, match="name all of its computations"):
        merge_protos(compilers(_TEXT), other, other)
    moved = "  %c = f32[3]{0} copy(%p)\n  %f = f32[3]{0} fusion(%c), kind=kLoop, calls=%fused\n"
    late = _TEXT.replace(moved, moved + "  %x = f32[3]{0} copy(%p)\n")
    early = _TEXT.replace(moved, "  %x = f32[3]{0} copy(%p)\n" + moved)
    with pytest.raises(LostFieldError, match="does not say its schedule"):
        merge_protos(compilers(late), hlo_text_to_proto(early), hlo_text_to_proto(early))
