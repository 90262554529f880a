"""Names and positions that MLIR drops, read from the text."""

from __future__ import annotations

import pytest

from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.origins import (
    NOWHERE,
    Origin,
    argument_name,
    blank_locations,
    location_of,
    origin_of,
    result_name,
)
from dialect_utils.text import DiagnosticError, Source
from tests.hostile.bytecode import deep

NAMED = [
    ("%a = op", ["a", None]),
    ("%a:2 = op", ["a#0", "a#1", None]),
    ("%a, %b = op", ["a", "b", None]),
    ("%a, %b:2, %c = op", ["a", "b#0", "b#1", "c", None]),
    ("%0:2 , %x.y = op", ["0#0", "0#1", "x.y", None]),
    ("op", [None]),
]


@pytest.mark.parametrize(("text", "names"), NAMED, ids=[text for text, _ in NAMED])
def test_each_result_has_its_name(text: str, names: list[str | None]) -> None:
    source = Source("m", f"// first\n  {text}")
    origin = Origin(2, source.text.index("op") - len("// first\n") + 1)
    assert [result_name(source, origin, index) for index in range(len(names))] == names


def test_results_of_a_module_have_the_names_in_its_text() -> None:
    text = """func.func @main(%p: tensor<4xf32>, %q: tensor<4xi32>) -> tensor<4xf32> {
  %values, %places = "stablehlo.sort"(%p, %q) ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %values : tensor<4xf32>
}
"""
    sort = parse_module(text, "m").entry.operations[0]
    assert [value.name for value in sort.results] == ["values", "places"]


def test_columns_count_bytes() -> None:
    source = Source("m", 'x "äö" %name')
    assert argument_name(source, Origin(1, len('x "äö" '.encode()) + 1)) == "name"
    found = location_of(source, Origin(1, len('x "äö" '.encode()) + 1))
    assert found is not None
    assert source.text[found.span.start : found.span.end] == "%name"
    assert location_of(source, Origin(NOWHERE, 1)) is None
    assert location_of(source, None) is None


def test_blanked_locations_keep_all_positions() -> None:
    text = 'a loc("x)(" at (b)) "loc(no)" // loc(no)\n#loc1 = loc("y")\n%loc(z)'
    blanked = blank_locations(text)
    assert len(blanked) == len(text)
    assert blanked.split() == ["a", '"loc(no)"', "//", "loc(no)", "%loc(z)"]


def test_locations_that_double_are_not_written_out() -> None:
    call_sites = deep("call sites", 60)
    with pytest.raises(DiagnosticError, match="aliases mean more than 64 MB"):
        parse_module(call_sites, "m")


def test_the_origin_is_that_of_the_first_location_inside_others() -> None:
    with context():
        inside = ir.Location.file("-", 3, 5)
        for location in (inside, ir.Location.name("x", inside), ir.Location.callsite(inside, [ir.Location.unknown()])):
            assert origin_of(location) == Origin(3, 5)
        assert origin_of(ir.Location.fused([inside, ir.Location.unknown()])) == Origin(3, 5)
        assert origin_of(ir.Location.unknown()) is None
        deep: ir.Location = inside
        for _ in range(200):
            deep = ir.Location.name("x", deep)
        assert origin_of(deep) is None
