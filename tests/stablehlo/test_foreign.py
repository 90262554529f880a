"""Attributes and operations of dialects that are not known: kept, printed back, dropped for XLA, opaque to proofs."""

from __future__ import annotations

import pytest

import relayout
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.foreign import for_xla
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.conversion import convert

NOTES = """module attributes {dlti.x = #dlti.foo<1>} {
  func.func @f(%a: tensor<4xf32> {ex.in = #ex<x y>, tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {ex.out = #ex.z}) {
    %0 = stablehlo.add %a, %a {ex.sure = [#ex<sure>], mhlo.frontend_attributes = {text = "#ex<no attribute>"}}
        : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  llvm.module_flags [#llvm.mlir.module_flag<warning, "Debug Info Version", 3>]
}
"""
PLAIN = NOTES.replace("ex.sure = [#ex<sure>], ", "")


def unknown(operation: str) -> relayout.Module:
    """Returns a module that computes with an operation, and has two functions that it may name."""
    return relayout.parse(
        f"""module {{
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = {operation} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
  func.func private @same(%a: tensor<4xf32>) -> tensor<4xf32> {{ return %a : tensor<4xf32> }}
  func.func private @negated(%a: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = stablehlo.negate %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
}}"""
    )


def test_notes_of_other_dialects_are_printed_back_and_dropped_for_xla() -> None:
    module = parse_module(NOTES)
    text = module.text()
    assert parse_module(text).text() == parse_module(module.bytecode()).text() == text
    assert all(word in text for word in ("#dlti.foo<1>", "#ex<x y>", "#ex.z", "[#ex.sure]", "llvm.module_flags"))
    read, dropped = for_xla(module)
    names = [each.message.split(" is not in HLO")[0] for each in dropped]
    assert names == ["dlti.x", "ex.in", "ex.out", "ex.sure", "llvm.module_flags"]
    assert all(each.location is not None for each in dropped)
    assert "#ex<no attribute>" in read.text()  # the text of a string
    assert "tf.aliasing_output" in read.text()
    assert convert(module, "hlo").startswith(b"HloModule")
    assert for_xla(read)[1] == ()


def test_no_proof_and_no_engine_depends_on_a_note() -> None:
    found = relayout.check(relayout.parse(NOTES), relayout.parse(PLAIN))
    assert (found.verdict, found.methods) == ("equal", ("proof", "xla"))


REGION = (
    '"o.p"(%a) ({{ ^bb0(%x: tensor<4xf32>): "o.br"(%x)[^bb{}] : (tensor<4xf32>) -> () '
    '^bb1: "o.e"(%a) : (tensor<4xf32>) -> () ^bb2: "o.e"(%b) : (tensor<4xf32>) -> () }})'
)
EFFECT = "(tensor<4xf32>) -> ()"


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ('"o.p"(%a) {x = 1 : i32}', '"o.p"(%a) {x = 2 : i32}'),
        ('"o.p"(%a) {x = 1 : i32}', '"o.p"(%b) {x = 1 : i32}'),
        ('"o.p"(%a) {o.x = #o<x>}', '"o.p"(%a)'),
        ('"o.p"(%a) {f = @same}', '"o.p"(%a) {f = @negated}'),
        ('"o.p"(%a) ({"o.e"(%a) {y = 1} : ' + EFFECT + "})", '"o.p"(%a) ({"o.e"(%a) {y = 2} : ' + EFFECT + "})"),
        (REGION.format(1), REGION.format(2)),
    ],
    ids=["attribute", "operand", "note", "function", "end of a region", "next block"],
)
def test_an_unknown_operation_equals_only_itself(first: str, last: str) -> None:
    modules = unknown(first), unknown(last)
    assert relayout.check(modules[0], modules[0]).verdict == "equal"
    with pytest.raises(DiagnosticError, match="is of a dialect that is not known here, so nothing can execute it"):
        relayout.check(*modules)


def test_an_unknown_operation_may_call_the_functions_that_it_names() -> None:
    text = unknown('"o.p"(%a) {f = [@negated]}').text()
    other = text.replace("stablehlo.negate", "stablehlo.abs")
    assert relayout.check(relayout.parse(text), relayout.parse(text)).verdict == "equal"
    with pytest.raises(DiagnosticError, match=r"o\.p is of a dialect"):
        relayout.check(relayout.parse(text), relayout.parse(other))


def test_an_unknown_operation_without_results_is_an_effect() -> None:
    text = PLAIN.replace("return", '"o.p"(%0) : (tensor<4xf32>) -> ()\n    return')
    with pytest.raises(DiagnosticError, match=r"o\.p is of a dialect"):
        relayout.check(relayout.parse(text), relayout.parse(PLAIN))


def test_what_cannot_be_executed_or_converted_is_named_with_its_place() -> None:
    module = unknown('"o.p"(%a)')
    for work in (lambda: relayout.run(module), lambda: convert(module, "hlo")):
        with pytest.raises(DiagnosticError, match=r"3:10: error: o\.p is of a dialect that is not known here"):
            work()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("check.expect_eq %a", "check is a dialect that is not read here"),
        (
            '%0 = "stablehlo.uniform_dequantize"(%q) : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4xf32>',
            "quant is",
        ),
        ('%0 = "o.p"(%a) ({ o.yield %a : tensor<4xf32> }) : (tensor<4xf32>) -> tensor<4xf32>', "o is a dialect"),
    ],
)
def test_the_words_of_mlir_do_not_reach_the_user(text: str, said: str) -> None:
    parameters = "%a: tensor<4xf32>, %q: tensor<4x!quant.uniform<i8:f32, 1.0>>"
    with pytest.raises(DiagnosticError) as raised:
        relayout.parse(f"func.func @main({parameters}) {{\n  {text}\n  return\n}}")
    assert said in str(raised.value)
    assert not any(word in str(raised.value) for word in ("MLIRContext", "allowUnregistered", "If this is intended"))


def test_an_alias_of_another_type_is_an_error_at_its_argument() -> None:
    module = relayout.parse(
        NOTES.replace("%a: tensor<4xf32>", "%a: tensor<4xf64>")
        .replace("%a, %a", "%b, %b")
        .replace("%0 =", "%b = stablehlo.convert %a : (tensor<4xf64>) -> tensor<4xf32>\n    %0 =")
    )
    with pytest.raises(DiagnosticError, match="2:16: error: an alias joins result"):
        relayout.optimize(module, "verify-layouts")
