"""The entry of modules without @main, and modules whose entry is a function by name."""

from __future__ import annotations

import pytest

import relayout
from dialect_utils.stablehlo import parse_module
from dialect_utils.text import DiagnosticError

ONE = """module @m {
  func.func public @only(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""
SEVERAL = """module @m attributes {mhlo.xla_entry_computation_result_layout = [dense<[0]> : tensor<1xindex>]} {
  func.func private @caller(%x: tensor<2xf32> {jax.result_info = "x"}) -> tensor<2xf32> {
    %0 = call @"a b"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = call @main(%0) : (tensor<2xf32>) -> tensor<2xf32>
    "other.op"() {by_name = [@named]} : () -> ()
    return %1 : tensor<2xf32>
  }
  func.func @"a b"(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
  func.func private @named(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
  func.func private @unnamed(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
  func.func private @declared(tensor<2xf32>) -> tensor<2xf32>
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
}
"""
TWO = SEVERAL.replace("@main", "@second")


def test_the_only_public_function_is_the_entry_and_keeps_its_name() -> None:
    module = relayout.parse(ONE)
    assert module.entry.name == "only"
    assert relayout.optimize(module, "verify-layouts").text() == module.text()
    assert relayout.check(module, passes="expand-tiling").verdict == "equal"


def test_with_several_public_functions_there_is_no_entry() -> None:
    module = relayout.parse(TWO)
    assert module.try_entry() is None
    with pytest.raises(DiagnosticError, match="nor exactly one public function") as raised:
        _ = module.entry
    assert raised.value.diagnostics[0].hint == "--function chooses one of @caller, @a b, @named, @unnamed, @second"
    assert relayout.optimize(module, "verify-layouts").text() == module.text()


def test_a_function_becomes_the_entry_with_all_that_it_names() -> None:
    module = parse_module(SEVERAL)
    made = module.with_entry("caller")
    assert [each.name for each in made.functions] == ["a b", "main.1", "named", "main"]
    assert made.entry.parameters[0].shape == module.entry.parameters[0].shape
    text = made.text()
    assert "call @main.1" in text
    assert "xla_entry_computation_result_layout" not in text  # it was about another function
    assert 'func.func @main(%arg0: tensor<2xf32> {jax.result_info = "x"})' in text
    assert parse_module(text).text() == text
    assert "by_name = [@named]" in text
    assert module.text() == parse_module(SEVERAL).text()  # a copy was changed


def test_the_entry_itself_keeps_the_layouts_of_the_module() -> None:
    made = parse_module(SEVERAL).with_entry("main")
    assert [each.name for each in made.functions] == ["main"]
    assert "xla_entry_computation_result_layout" in made.text()


@pytest.mark.parametrize(("name", "hint"), [("calle", "did you mean @caller?"), ("declared", None)])
def test_a_function_that_is_not_defined_is_named(name: str, hint: str | None) -> None:
    with pytest.raises(DiagnosticError, match=f"no function with a body is called @{name}") as raised:
        parse_module(SEVERAL).with_entry(name)
    assert hint is None or raised.value.diagnostics[0].hint == hint


def test_the_functions_of_several_modules_in_a_file_are_numbered() -> None:
    module = parse_module(ONE + ONE.replace("@m", "").replace("negate", "abs"))
    assert list(module.defined) == ["0::only", "1::only"]
    assert relayout.optimize(module, "verify-layouts").text() == module.text()
    made = [module.with_entry(name) for name in module.defined]
    assert ["stablehlo.abs" in each.text() for each in made] == [False, True]
    assert relayout.check(*made).verdict == "different"
    with pytest.raises(DiagnosticError, match="--function chooses one of @0::only, @1::only"):
        _ = module.entry


def test_a_module_without_a_function_is_read_but_has_no_entry() -> None:
    module = relayout.parse("llvm.func @f(%a: i32) -> i32 {\n  llvm.return %a : i32\n}")
    assert relayout.optimize(module, "verify-layouts").text() == module.text()
    with pytest.raises(DiagnosticError, match=r"the entry is a func\.func called @main"):
        _ = module.entry
