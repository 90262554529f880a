"""Every format into every other one: what comes back computes the same."""

from __future__ import annotations

import re
from itertools import product

import pytest

import relayout
from dialect_utils.io.files import find_kind, parse_bytes
from dialect_utils.layout import parse_shape
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.conversion import FORMS, Form, convert, not_kept
from dialect_utils.tools.extraction import extract
from tests.paths import ROOT

KINDS = {
    "hlo": "hlo text",
    "pb": "hlo proto",
    "stablehlo": "mlir text",
    "bytecode": "mlir bytecode",
    "portable": "mlir bytecode",
}
LAYOUTS = """HloModule m, entry_computation_layout={(f32[3,5]{0,1:T(2,2)}, s32[4])->(f32[3,5]{0,1}, s32[4])}

ENTRY e {
  x = f32[3,5]{0,1:T(2,2)} parameter(0)
  i = s32[4] parameter(1)
  z = f32[3,5]{1,0:T(2,2)} negate(x)
  y = f32[3,5]{0,1} abs(z)
  ROOT t = (f32[3,5]{0,1}, s32[4]) tuple(y, i)
}
"""


def as_form(form: Form) -> bytes:
    return convert(relayout.read(ROOT / "examples" / "attention.mlir"), form)


@pytest.mark.parametrize(("first", "second"), [*product(FORMS, FORMS)])
def test_each_form_becomes_each_other_one(first: Form, second: Form) -> None:
    module = relayout.read(ROOT / "examples" / "attention.mlir")
    between = convert(module, first)
    assert find_kind(between, "between") == KINDS[first]
    after = convert(parse_bytes(between, "between"), second)
    assert find_kind(after, "after") == KINDS[second]
    assert relayout.check(module, after, engines=("proof",)).verdict == "equal"


@pytest.mark.parametrize("name", ["negate.hlo", "attention.hlo", "training_step.hlo", "training_step.mlir"])
def test_examples_compute_the_same_in_the_other_dialect(name: str) -> None:
    module = relayout.read(ROOT / "examples" / name)
    other: Form = "stablehlo" if module.dialect == "hlo" else "hlo"
    made = parse_bytes(convert(module, other), "made")
    assert made.dialect != module.dialect
    assert relayout.check(module, made, engines=("proof", "xla")).found_no_difference
    back = parse_bytes(convert(made, "pb" if module.dialect == "hlo" else "bytecode"), "back")
    assert relayout.check(module, back, engines=("proof",)).verdict == "equal"


def test_layouts_of_hlo_are_attributes_of_stablehlo() -> None:
    module = parse_bytes(convert(relayout.parse(LAYOUTS), "stablehlo"), "made")
    tiled, order, whole = (parse_shape(text) for text in ("f32[3,5]{0,1:T(2,2)}", "f32[3,5]{0,1}", "s32[4]"))
    assert module.entry_layout == ((tiled, whole), (order, whole))
    assert [str(each.results[0].shape) for each in module.entry.operations][:2] == ["f32[3,5]{1,0:T(2,2)}", str(order)]


def test_layouts_of_the_entry_come_back_and_a_note_counts_the_others() -> None:
    module = parse_bytes(convert(relayout.parse(LAYOUTS), "bytecode"), "made")
    back = parse_bytes(convert(module, "hlo"), "back")
    assert back.entry_layout == relayout.parse(LAYOUTS).entry_layout
    [note] = not_kept(module, "hlo")
    assert note.message.startswith("1 layouts of values inside are not in the HLO")
    assert not_kept(module, "portable") == not_kept(relayout.parse(LAYOUTS), "stablehlo") == ()


def test_a_portable_artifact_states_its_version() -> None:
    assert b"StableHLO_v" in as_form("portable")[:20]
    assert b"StableHLO_v" not in as_form("bytecode")[:20]


def test_names_of_hlo_are_locations_of_stablehlo() -> None:
    module = relayout.read(ROOT / "examples" / "negate.hlo")
    assert b"loc(" not in convert(module, "stablehlo")
    assert b'loc("y")' in convert(module, "stablehlo", locations=True)


def test_hlo_made_of_a_text_has_no_metadata_of_the_text() -> None:
    assert b"source_file" not in as_form("hlo")
    located = convert(relayout.read(ROOT / "examples" / "negate.hlo"), "stablehlo", locations=True)
    assert b'metadata={op_name="y"}' in convert(parse_bytes(located, "located"), "hlo")


@pytest.mark.parametrize(("opcode", "name"), [("bitcast", None), ("copy-start", "copy-start")])
def test_an_operation_without_a_stablehlo_form_is_shown_at_its_location(opcode: str, name: str | None) -> None:
    module = relayout.read(ROOT / "examples" / "attention_tpu.hlo")
    if name is not None:
        module = extract(module, name)
    with pytest.raises(DiagnosticError, match=f"{opcode} has no StableHLO form") as caught:
        convert(module, "stablehlo")
    [error] = caught.value.diagnostics
    assert error.location is not None
    assert "make-portable" in (error.hint or "")
    portable = relayout.optimize(module, "make-portable")
    assert parse_bytes(convert(portable, "stablehlo"), "made").dialect == "stablehlo"


ALIASES = """HloModule m, input_output_alias={ {0}: (1, {0,1}, may-alias), {1,0}: (0, {}, must-alias) }

ENTRY e {
  a = f32[2] parameter(0)
  t = ((f32[], f32[3]), s32[4]) parameter(1)
  i = (f32[], f32[3]) get-tuple-element(t), index=0
  x = f32[3] get-tuple-element(i), index=1
  y = s32[4] get-tuple-element(t), index=1
  u = (f32[2], s32[4]) tuple(a, y)
  ROOT r = (f32[3], (f32[2], s32[4])) tuple(x, u)
}
"""


def test_aliases_of_tuples_are_those_of_their_arrays() -> None:
    made = parse_bytes(convert(parse_bytes(ALIASES.encode(), "aliases.hlo"), "stablehlo"), "made.mlir")
    back = parse_bytes(convert(made, "hlo"), "back.hlo")
    assert back.attributes["input_output_alias"] == "{ {0}: (2, {}, may-alias), {1}: (0, {}, must-alias) }"


def test_donors_are_kept() -> None:
    donors = "buffer_donor={ (0, {}), (1, {1}) }"
    text = re.sub(r"input_output_alias=.*", donors, ALIASES)
    made = parse_bytes(convert(parse_bytes(text.encode(), "donors.hlo"), "stablehlo"), "made.mlir")
    assert made.text().count("jax.buffer_donor = true") == 2
    back = parse_bytes(convert(made, "hlo"), "back.hlo")
    assert back.attributes["buffer_donor"] == "{ (0, {}), (3, {}) }"


def test_an_alias_of_the_only_array_of_a_tuple_is_one_of_the_result() -> None:
    text = "HloModule m, input_output_alias={ {0}: (0, {0}) }\nENTRY e { ROOT t = (f32[2]) parameter(0) }"
    made = parse_bytes(convert(parse_bytes(text.encode(), "one.hlo"), "stablehlo"), "made.mlir")
    assert [array.tolist() for array in relayout.run(made, [3.0, 5.0])] == [[3.0, 5.0]]
