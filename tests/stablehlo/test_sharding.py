import pytest

from dialect_utils.layout import Reshape, parse_shape
from dialect_utils.stablehlo import parse_module
from dialect_utils.text import DiagnosticError


def _sharded(dimensions: str, mhlo: str = "{replicated}") -> str:
    typed = f"tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{dimensions}]>}}"
    per_value = f"#sdy.sharding_per_value<[<@mesh, [{dimensions}]>]>"
    return f"""\
module {{
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: {typed}) -> ({typed}) {{
    %r = stablehlo.negate %a {{mhlo.sharding = "{mhlo}", sdy.sharding = {per_value}}} : tensor<4x6xf32>
    return %r : tensor<4x6xf32>
  }}
}}
"""


@pytest.mark.parametrize(("dimensions", "expected"), [("{}, {}", "{}, {}, {}"), ("{?}, {?}", "{?}, {?}, {?}")])
def test_shardings_that_split_no_dimension_follow_the_rank(dimensions: str, expected: str) -> None:
    module = parse_module(_sharded(dimensions))
    module.entry.operations[0].results[0].set_shape(parse_shape("f32[2,2,6]"))
    module.entry.parameters[0].set_shape(parse_shape("f32[2,2,6]"))
    module.verify()
    assert module.text().count(f"@mesh, [{expected}]") == 3


def test_new_results_reshard_the_signature() -> None:
    module = parse_module(_sharded("{}, {}"))
    x = module.entry.parameters[0]
    module.entry.set_results([module.at_end(module.entry).apply(Reshape((24,)), x, name="flat", like=x)])
    module.verify()
    assert "-> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})" in module.text()


def test_a_layout_alone_leaves_shardings_alone() -> None:
    module = parse_module(_sharded('{"x"}, {}', "{devices=[2,1]<=[2]}"))
    for value in (module.entry.parameters[0], module.entry.results[0]):
        value.set_shape(parse_shape("f32[4,6]{0,1}"))
    module.verify()
    assert module.text().count('@mesh, [{"x"}, {}]') == 3


@pytest.mark.parametrize("text", [_sharded('{"x"}, {}'), _sharded("{}, {}", "{devices=[2,1]<=[2]}")])
def test_a_split_dimension_is_rejected_before_anything_changes(text: str) -> None:
    module = parse_module(text, "m.mlir")
    before = module.text()
    with pytest.raises(DiagnosticError, match=r"m\.mlir:4:\d+: error: .* splits a dimension"):
        module.entry.operations[0].results[0].set_shape(parse_shape("f32[24]"))
    assert module.text() == before


def test_another_sharding_of_an_argument_or_result() -> None:
    module = parse_module(_sharded('{"x"}, {}'))
    assert module.entry.interface.set_sharding("argument", 0, ((), ("x",)), "")
    assert module.entry.interface.set_sharding("result", 0, ((), ()), "")
    module.verify()
    assert '%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}' in module.text()
    assert "-> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})" in module.text()
    assert not module.entry.interface.set_sharding("argument", 0, None, "{replicated}")
    other = parse_module(
        'func.func @main(%a: tensor<4xf32> {mhlo.sharding = "{replicated}"}) -> tensor<4xf32> {\n'
        "  return %a : tensor<4xf32>\n}"
    )
    assert other.entry.interface.set_sharding("argument", 0, (("x",),), "{devices=[2]<=[2]}")
    assert 'mhlo.sharding = "{devices=[2]<=[2]}"' in other.text()
    assert not other.entry.interface.set_sharding("result", 0, ((),), "{replicated}")
