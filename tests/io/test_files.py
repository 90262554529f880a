from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from dialect_utils.execution import hlo_text_to_proto
from dialect_utils.io.files import decode, encode, find_kind, parse_bytes, read_module, serialize
from dialect_utils.text import DiagnosticError
from relayout.comments import split_input
from tests.paths import ROOT

HLO = (
    "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0:T(2,2)} negate(p)\n}\n"
)
MLIR = "func.func @main(%p: tensor<3x5xf32>) -> tensor<3x5xf32> {\n  return %p : tensor<3x5xf32>\n}\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (HLO, "hlo text"),
        (f"\ufeff// RUN: module\n/* func.func */ {HLO}", "hlo text"),
        ("%f (p: f32[3]) -> f32[3] {\n  ROOT %p = f32[3]{0} parameter(0)\n}", "hlo text"),
        ('ROOT add.1 = f32[3]{0} add(a, b), metadata={op_name="jit(f)/func.call"}', "hlo text"),
        ("ENTRY %e (p: f32[]) -> f32[] {", "hlo text"),
        ("name {\n  p = f32[3] parameter(0)\n  ROOT q = negate(p)\n}", "hlo text"),
        ("ROOT a = add(f16[10] parameter(0), f16[10] parameter(1))", "hlo text"),
        ("module {\n}", "mlir text"),
        ("I0102 a.cc:3] func.func\nI0102 a.cc:3] HloModule m\n", "hlo text"),
        (MLIR, "mlir text"),
        (f"// HloModule\n#loc = loc(unknown)\n{MLIR}", "mlir text"),
        ("module @x attributes {} {\n}", "mlir text"),
        ("#map = affine_map<(d0) -> (d0)>\nmodule {}", "mlir text"),
        ('"builtin.module"() ({}) : () -> ()', "mlir text"),
        ("%0 = stablehlo.constant dense<1> : tensor<i32>", "mlir text"),
        ("ML\u00efR", "mlir bytecode"),
        ("\n\x02ab\x1a\x03", "hlo proto"),
    ],
)
def test_the_form_is_found_by_content(text: str, kind: str) -> None:
    data = b"ML\xefR\x01" if text.startswith("ML\u00ef") else text.encode()
    assert find_kind(data, "x.txt") == kind


@pytest.mark.parametrize("data", [b"", b"  \n", b"// only a comment", b"\x7fELF\x01\x00", b"\x1f\x8b\x08\x00"])
def test_data_without_a_module_are_rejected_by_name(data: bytes) -> None:
    with pytest.raises(DiagnosticError, match=r"^error: x\.hlo: "):
        find_kind(data, "x.hlo")


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (HLO.encode("utf-16"), "convert it to UTF-8"),
        (HLO.replace("negate", "neg\0ate").encode(), "is 0x00, which no text"),
    ],
)
def test_an_error_explains_why_bytes_are_not_text(data: bytes, hint: str) -> None:
    with pytest.raises(DiagnosticError, match=hint):
        parse_bytes(data, "x.hlo")


@pytest.mark.parametrize("text", [HLO, MLIR])
def test_a_byte_order_mark_is_no_part_of_the_text(text: str) -> None:
    assert parse_bytes(b"\xef\xbb\xbf" + text.encode(), "x").text() == parse_bytes(text.encode(), "x").text()


def test_a_proto_cut_short_is_rejected_by_name() -> None:
    with pytest.raises(DiagnosticError, match=r"error: m\.pb: is no serialized HLO module: an integer is cut short"):
        parse_bytes(b"\x0a\x05hello\x12", "m.pb")


@given(st.binary())
def test_decoding_loses_nothing(data: bytes) -> None:
    assert encode(decode(data)) == data


@given(st.lists(st.sampled_from(["// -----\n", "// ----- x\r\n", "text\n", "  // -----\n", "\xe9", "\n"])).map("".join))
def test_chunks_and_separators_are_the_text(text: str) -> None:
    data = text.encode("latin-1")
    chunks = split_input(data)
    assert b"".join(chunk.data + chunk.separator for chunk in chunks) == data
    for chunk in chunks:
        assert decode(data)[chunk.start :].startswith(decode(chunk.data))


def test_a_proto_and_bytecode_are_read_and_written() -> None:
    module = parse_bytes(hlo_text_to_proto(HLO), "m.pb")
    assert "f32[3,5]{1,0:T(2,2)} negate" in module.text()
    assert parse_bytes(serialize(module, "pb"), "m.pb").text() == module.text()
    stablehlo = parse_bytes(MLIR.encode(), "m.mlir")
    bytecode = serialize(stablehlo, "bytecode")
    assert bytecode.startswith(b"ML\xefR")
    assert parse_bytes(bytecode, "m.mlirbc").text() == stablehlo.text()


@pytest.mark.parametrize(("text", "emit"), [(HLO, "bytecode"), (MLIR, "pb")])
def test_a_form_of_the_other_dialect_is_rejected(text: str, emit: str) -> None:
    with pytest.raises(DiagnosticError, match=r"only (StableHLO|HLO) is written as"):
        serialize(parse_bytes(text.encode(), "m"), emit)  # type: ignore[arg-type]  # one of the two


def test_examples_are_read_from_their_files() -> None:
    assert read_module(str(ROOT / "examples/attention.hlo")).dialect == "hlo"
    assert read_module(str(ROOT / "examples/attention.mlir")).dialect == "stablehlo"
    with pytest.raises(DiagnosticError, match="absent: no such file"):
        read_module("absent")
