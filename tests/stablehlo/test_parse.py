import subprocess
import sys

import pytest

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.origins import blank_locations
from dialect_utils.text import DiagnosticError
from tests.stablehlo.texts import CONTROL_FLOW, IMPORTED, MANY_RESULTS, one_op

WITH_LOCATIONS = """\
#loc1 = loc("x")
module @m {
  func.func @main(%arg0: tensor<3xf32> loc("x")) -> tensor<3xf32> {
    %sum = stablehlo.add %arg0, %arg0 : tensor<3xf32> loc(#loc2)
    %plain = stablehlo.add %sum, %sum : tensor<3xf32>
    return %plain : tensor<3xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("jit(f)/add ) (é"("model.py":3:4 to :9))
"""


@pytest.mark.parametrize("text", [CONTROL_FLOW, IMPORTED, MANY_RESULTS, WITH_LOCATIONS])
def test_print_is_a_fixed_point_and_every_form_reads_back(text: str) -> None:
    module = parse_module(text)
    printed = module.text()
    assert parse_module(printed).text() == printed
    assert parse_module(text.encode()).text() == printed
    assert parse_module(module.bytecode()).text() == printed
    assert parse_module(module.portable_artifact()).entry_layout == module.entry_layout
    assert module.clone().text() == printed


def test_cut_bytecode_is_rejected() -> None:
    data = parse_module(CONTROL_FLOW).bytecode()
    with pytest.raises(DiagnosticError, match="cut is not a valid MLIR bytecode file: "):
        parse_module(data[: len(data) // 2], "cut")


def test_bytecode_whose_text_is_too_long_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    data = parse_module(CONTROL_FLOW).bytecode()
    monkeypatch.setattr("dialect_utils.stablehlo.parse.LARGEST_TEXT", 100)
    with pytest.raises(DiagnosticError, match="the text of long has more than the 100 bytes that are read"):
        parse_module(data, "long")


def test_strings_that_are_not_utf_8_stay_unchanged() -> None:
    text = """module {
  func.func @main(%arg0: tensor<4xf32> {mhlo.sharding = "\\08\\FF"}) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @"f\\FF"(%arg0) {mhlo.sharding = "\\08\\FF"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
    module = parse_module(text)
    assert module.text() == text
    assert module.entry.operations[0].callee == "f\\xff"


@pytest.mark.parametrize("text", [CONTROL_FLOW, IMPORTED, MANY_RESULTS, WITH_LOCATIONS])
def test_implements_the_interface(text: str) -> None:
    module: Module = parse_module(text)
    assert isinstance(module, Module)
    for function in module.functions:
        assert isinstance(function, Function)
        assert all(isinstance(value, Value) for value in function.parameters)
        for operation in function.operations:
            assert isinstance(operation, Operation)
            assert all(isinstance(value, Value) for value in operation.results)
            assert operation.function is function


def test_functions_regions_and_callers() -> None:
    module = parse_module(CONTROL_FLOW)
    assert [f.name for f in module.functions] == ["twice", "total.0", "loop#0.0", "loop#0.1", "main"]
    assert [f.is_embedded for f in module.functions] == [False, True, False, False, False]
    twice, _, _, body, main = module.functions
    assert [operation.opcode for operation in main.operations] == ["call", "constant", "reduce", "while"]
    assert [c.opcode for c in twice.callers] == ["call"]
    assert list(main.operations[0].called) == [twice]
    assert list(body.callers) == [main.operations[3]]
    assert main.is_entry
    assert module.entry is main
    assert module.aliases == (((1,), 0, ()),)
    assert [value.name for value in main.results] == ["called", "loop#0"]
    assert [value.name for value in body.parameters] == ["it", "other"]


def test_all_operations_and_all_values() -> None:
    text = """func.func private @g(tensor<f32>)
func.func @main(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%b init: %a) applies stablehlo.add across dimensions = [0]
    : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    module = parse_module(text)
    assert sorted(operation.opcode for operation in module.operations()) == ["add", "reduce"]
    # Two arguments of main, two of the region, and one result of each of the two operations.
    assert len(set(module.values())) == len(list(module.values())) == 6
    assert {value.name for value in module.entry.values()} == {"a", "b", "0"}


def test_external_and_recursive_functions_are_listed_once() -> None:
    text = (
        "func.func private @out(tensor<3xf32>) -> tensor<3xf32>\n"
        "func.func private @f(%a: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %r = call @g(%a) : (tensor<3xf32>) -> tensor<3xf32>\n  return %r : tensor<3xf32>\n}\n"
        "func.func private @g(%a: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %r = call @f(%a) : (tensor<3xf32>) -> tensor<3xf32>\n  return %r : tensor<3xf32>\n}\n"
    )
    module = parse_module(text)
    assert [f.name for f in module.functions] == ["out", "g", "f"]
    assert not module.functions[0].operations
    with pytest.raises(DiagnosticError, match="no public function @main"):
        _ = module.entry


def test_values_have_names_and_origins_where_the_text_gives_locations() -> None:
    module = parse_module(WITH_LOCATIONS)
    added, plain = module.entry.operations
    assert [added.results[0].name, plain.results[0].name] == ["sum", "plain"]
    assert module.entry.parameters[0].name == "arg0"
    for copy in (module, module.clone()):
        location = copy.entry.operations[0].location
        assert location is not None
        assert location.source.line_and_column(location.span.start) == (4, 12)
        assert location.source.text[location.span.start : location.span.end] == "stablehlo.add"
    assert 'loc("jit(f)/add' in module.text()
    assert '"-"' not in module.text()


def test_blanking_keeps_length_and_leaves_other_text_alone() -> None:
    text = 'call @loc(%loc(1)) {a = "loc(", b = 1} // loc(\n#a = loc("x)")\n}loc(callsite("f" at "g"))'
    blanked = blank_locations(text)
    assert len(blanked) == len(text)
    assert blanked.split() == 'call @loc(%loc(1)) {a = "loc(", b = 1} // loc( }'.split()  # noqa: SIM905  the text


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (one_op("stablehlo.add %a, %b : tensor<3x5xf32>"), "bad.mlir:2:26", "use of undeclared SSA value name"),
        (one_op("stablehlo.foo %a : tensor<3x5xf32>"), "bad.mlir:2:8", "custom op 'stablehlo.foo' is unknown"),
        (one_op("stablehlo.reshape %a : (tensor<3x5xf32>) -> tensor<7xf32>", result="tensor<7xf32>"), "bad.mlir:2:8",
         "number of output elements"),
        (one_op('stablehlo.reshape %a : (tensor<3x5xf32>) -> tensor<7xf32> loc("x.py":9:9)', result="tensor<7xf32>"),
         "bad.mlir:2:8", "number of output elements"),
        ('module {\n  // é\n  func.func @f() {é}\n}', "bad.mlir:3:19", ""),
        ("[" * 5000, "bad.mlir:1:1", "nest deeper"),
        ("func.func @main() {\n  cf.br ^a\n^a:\n  return\n}", "bad.mlir:1:1", "branches between blocks"),
    ],
)  # fmt: skip
def test_errors_have_their_locations(text: str, place: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_module(text, "bad.mlir")
    rendered = str(caught.value)
    assert rendered.startswith(f"{place}: error: ")
    assert message in rendered


@pytest.mark.parametrize(
    "data", [b"ML\xefR", b"ML\xefR\x0dStableHLO_v1.0\x00junk", b"\xff\xfe", b"ML\xefR" + b"\x00" * 99]
)
def test_bad_bytes_are_a_diagnostic(data: bytes) -> None:
    with pytest.raises(DiagnosticError):
        parse_module(data)


def test_a_lone_surrogate_is_a_diagnostic() -> None:
    with pytest.raises(DiagnosticError, match="surrogate"):
        parse_module("// \ud800")


def test_unknown_dialects_are_read_in_generic_form() -> None:
    module = parse_module(one_op('"check.thing"(%a) : (tensor<3x5xf32>) -> tensor<3x5xf32>'))
    assert module.entry.operations[0].opcode == "check.thing"


def test_importing_the_package_does_not_load_mlir() -> None:
    code = (
        "import sys, dialect_utils.stablehlo; assert not {m.split('.')[0] for m in sys.modules} & {'jaxlib', 'numpy'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reading_does_not_load_the_runtime() -> None:
    code = (
        "import sys; from dialect_utils.stablehlo import parse_module; parse_module('module {}').text()\n"
        "assert not {'jax', 'jaxlib.xla_client', 'jaxlib._jax', 'ml_dtypes'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_jax_finds_all_of_a_dialect_that_was_loaded_for_reading() -> None:
    code = (
        "from dialect_utils.stablehlo import parse_module; parse_module('module {}')\n"
        "from jaxlib.mlir._mlir_libs import _sdy\n"
        "from jaxlib.mlir.dialects import sdy\n"
        "missing = [name for name in dir(_sdy) if name[0] != '_' and not hasattr(sdy, name)]\n"
        "assert not missing, missing"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_attributes_without_a_python_form_are_skipped() -> None:
    complex_value = "dense<(1.0, 2.0)> : tensor<complex<f32>>"
    module = parse_module(
        f"module attributes {{mhlo.frontend_attributes = {complex_value}, mhlo.a = 1 : i32}} {{\n"
        f"  func.func @main(%a: tensor<f32>) -> tensor<f32> {{\n"
        f"    %r = stablehlo.negate %a {{xla_shape = {complex_value}, dimensions = {complex_value}}} : tensor<f32>\n"
        f"    return %r : tensor<f32>\n  }}\n}}"
    )
    operation = module.entry.operations[0]
    assert str(operation.results[0].shape) == "f32[]"
    assert operation.ints("dimensions") is None
    assert operation.attribute("xla_shape") is None
    assert module.attributes["mhlo.a"] == "1 : i32"
    assert module.entry_layout[1] == (operation.results[0].shape,)


@pytest.mark.parametrize("count", [10, 600])
def test_brackets_in_arrows_strings_and_comments_do_not_nest(count: int) -> None:
    name = "(<{[" * count
    kind = "(tensor<4xf32>) -> tensor<4xf32> // ((("
    call = f'  %1 = stablehlo.custom_call @f(%0) {{backend_config = "{name}"}} : {kind}'
    functions = [
        f"func.func private @f{i}(%a: tensor<4xf32>) -> tensor<4xf32> {{\n  return %a : tensor<4xf32>\n}}"
        for i in range(count)
    ]
    text = f"func.func public @main(%0: tensor<4xf32>) -> tensor<4xf32> {{\n{call}\n  return %1 : tensor<4xf32>\n}}\n"
    assert len(parse_module("\n".join([*functions, text])).functions) == count + 1
