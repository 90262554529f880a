import re

import pytest

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Shape, TupleShape, parse_shape
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.function import StableHloValue
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.types import element_type_text
from dialect_utils.text import DiagnosticError
from tests.stablehlo.texts import CONTROL_FLOW, IMPORTED, MANY_RESULTS, one_op

TILED = "f32[3,5]{0,1:T(2,2)S(1)}"


def all_values(module: StableHloModule) -> list[StableHloValue]:
    """Returns every value of a module."""
    operations = [operation for function in module.functions for operation in function.operations]
    parameters = [value for function in module.functions for value in function.parameters]
    return parameters + [value for operation in operations for value in operation.results]


def shapes(module: StableHloModule) -> list[Shape]:
    return [value.shape for value in all_values(module)]


def tile_all(module: StableHloModule) -> None:
    """Sets a tiled layout on every array of rank 2 outside applied regions."""
    for value in all_values(module):
        shape = value.shape
        if isinstance(shape, ArrayShape) and shape.rank == 2 and not value.function.is_embedded:
            layout = parse_shape(f"{shape.element_type}[1,1]{{0,1:T(2,2)S(1)}}")
            assert isinstance(layout, ArrayShape)
            value.set_shape(shape.with_layout(layout.layout))


@pytest.mark.parametrize(
    ("mlir_type", "expected"),
    [
        ("tensor<3x5xf32>", "f32[3,5]"),
        ("tensor<f32>", "f32[]"),
        ("tensor<2xi1>", "pred[2]"),
        ("tensor<2xi2>", "s2[2]"),
        ("tensor<2xui4>", "u4[2]"),
        ("tensor<2xi8>", "s8[2]"),
        ("tensor<2xui64>", "u64[2]"),
        ("tensor<2xf8E8M0FNU>", "f8e8m0fnu[2]"),
        ("tensor<2xf4E2M1FN>", "f4e2m1fn[2]"),
        ("tensor<2xf8E4M3B11FNUZ>", "f8e4m3b11fnuz[2]"),
        ("tensor<2xcomplex<f64>>", "c128[2]"),
        ("tensor<3x?xf32>", "f32[3,?]"),
        ("tensor<3x?xf32, #stablehlo.bounds<?, 5>>", "f32[3,<=5]"),
        ("!stablehlo.token", "token[]"),
        ("tuple<tensor<f32>, tuple<>>", "(f32[], ())"),
        ("tensor<3xindex>", "opaque[]"),
        ("tensor<*xf32>", "opaque[]"),
        ("!stablehlo.future<tensor<3xf32>>", "opaque[]"),
        ("memref<3xf32>", "b(f32[3])"),
    ],
)
def test_types_are_shapes(mlir_type: str, expected: str) -> None:
    module = parse_module(f"func.func @main(%a: {mlir_type}) {{ return }}")
    assert str(module.entry.parameters[0].shape) == expected


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name not in ("s1", "u1")])
def test_every_element_type_can_be_set(name: str) -> None:
    module = parse_module("func.func @main(%a: tensor<3xf32>) { return }")
    value = module.entry.parameters[0]
    for text in (f"{name}[2,4]{{0,1:T(2,2)}}", f"{name}[]{{:T(128)}}", f"{name}[2,<=4]", f"{name}[?]"):
        value.set_shape(parse_shape(text))
        module.verify()
        assert str(parse_module(module.text()).entry.parameters[0].shape) == text


@pytest.mark.parametrize("name", ["s1", "u1"])
def test_element_types_that_stablehlo_lacks_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        element_type_text(ELEMENT_TYPES[name])


@pytest.mark.parametrize("text", [CONTROL_FLOW, MANY_RESULTS])
def test_layouts_survive_text_bytecode_and_portable_artifact(text: str) -> None:
    module = parse_module(text)
    plain = module.text()
    tile_all(module)
    module.verify()
    expected = shapes(module)
    assert sum("T(2,2)S(1)" in str(shape) for shape in expected) >= 4
    for form in (module.text(), module.bytecode(), module.portable_artifact()):
        again = parse_module(form)
        assert shapes(again) == expected
        assert again.entry_layout == module.entry_layout
    for value in all_values(module):
        shape = value.shape
        if isinstance(shape, ArrayShape):
            value.set_shape(shape.without_layout)
    assert module.text() == plain


def test_while_regions_have_the_layouts_of_the_loop() -> None:
    module = parse_module(CONTROL_FLOW)
    loop = module.entry.operations[3]
    loop.results[0].set_shape(parse_shape(TILED))
    for region in loop.called:
        assert [str(value.shape) for value in region.parameters] == [TILED, "f32[]"]
        region.parameters[0].set_shape(parse_shape("f32[3,5]"))
        assert str(region.parameters[0].shape) == TILED
    assert [str(value.shape) for value in module.entry.operations[2].called[0].parameters] == ["f32[]", "f32[]"]


def test_annotations_are_written_where_the_conventions_say() -> None:
    module = parse_module(CONTROL_FLOW)
    module.entry.operations[0].results[0].set_shape(parse_shape(TILED))
    module.entry.parameters[0].set_shape(parse_shape(TILED))
    text = module.text()
    mirror = f'mhlo.frontend_attributes = {{relayout.xla_shape = "{TILED}"}}'
    assert f'%0 = call @twice(%arg0) {{{mirror}, xla_shape = "{TILED}"}}' in text
    assert f'relayout.xla_shape = "{TILED}"}}, mhlo.layout_mode = "{{0,1:T(2,2)S(1)}}", tf.aliasing_output = 1' in text
    assert '-> (tensor<3x5xf32> {mhlo.layout_mode = "{0,1:T(2,2)S(1)}"}, tensor<3x5xf32>)' in text
    assert f'relayout.result_shapes = "({TILED}, f32[3,5])"' in text


def test_mirrors_alone_are_enough() -> None:
    module = parse_module(CONTROL_FLOW)
    tile_all(module)
    # Only frontend attributes survive a conversion to HLO and back.
    lost = re.sub(r"mhlo\.layout_mode|(?<!relayout\.)xla_shape", "lost.annotation", module.text())
    assert shapes(parse_module(lost)) == shapes(module)
    assert parse_module(lost).entry_layout == module.entry_layout
    assert shapes(parse_module(lost.replace("relayout.", "lost."))) != shapes(module)


def test_the_primary_annotation_wins_over_its_mirror() -> None:
    mirror = 'mhlo.frontend_attributes = {relayout.xla_shape = "f32[3,5]{1,0:T(2,2)}"}'
    op = f'stablehlo.negate %a {{xla_shape = "f32[3,5]{{0,1}}", {mirror}}} : tensor<3x5xf32>'
    module = parse_module(one_op(op))
    assert str(module.entry.operations[0].results[0].shape) == "f32[3,5]{0,1}"


@pytest.mark.parametrize("stale", ["f32[3,6]{0,1}", "(f32[3,5]{0,1}, f32[])", "bf16[3,5]{0,1}"])
def test_a_mirror_of_another_type_is_ignored(stale: str) -> None:
    op = f'stablehlo.negate %a {{mhlo.frontend_attributes = {{relayout.xla_shape = "{stale}"}}}} : tensor<3x5xf32>'
    assert str(parse_module(one_op(op)).entry.operations[0].results[0].shape) == "f32[3,5]"


def test_the_importers_layouts_are_read_and_moved() -> None:
    module = parse_module(IMPORTED)
    expected = (("bf16[4,8]{0,1:T(2,4)(2,1)}", "s32[]"), ("bf16[4,8]{1,0:T(2,2)}",))
    assert tuple(tuple(map(str, side)) for side in module.entry_layout) == expected
    assert str(module.entry.results[0].shape) == "bf16[4,8]{0,1:T(2,4)(2,1)}"
    module.entry.parameters[1].set_shape(parse_shape("s32[]{:T(128)}"))
    text = module.text()
    assert "xla_entry_computation" not in text
    assert tuple(map(str, module.entry_layout[0])) == ("bf16[4,8]{0,1:T(2,4)(2,1)}", "s32[]{:T(128)}")
    assert tuple(map(str, parse_module(text).entry_layout[1])) == expected[1]
    module.entry.results[0].set_shape(parse_shape("bf16[4,8]"))
    assert "result_layout" not in module.text()


@pytest.mark.parametrize("mode", ["default", "auto"])
def test_default_and_auto_give_no_layout(mode: str) -> None:
    text = f'func.func @main(%a: tensor<3x5xf32> {{mhlo.layout_mode = "{mode}"}}) {{ return }}'
    module = parse_module(text)
    value = module.entry.parameters[0]
    assert str(value.shape) == "f32[3,5]"
    value.set_shape(value.shape)
    assert f'"{mode}"' in module.text()


def test_a_scalars_layout_mode() -> None:
    text = 'func.func @main(%a: tensor<f32> {mhlo.layout_mode = "{}"}) { return }'
    assert str(parse_module(text).entry.parameters[0].shape) == "f32[]"


@pytest.mark.parametrize(
    ("annotation", "column", "message"),
    [
        ("f32[3,5]{1,1}", "{1,1}", "repeats dimension 1"),
        ("f32[3,6]{1,0}", "f32", "does not fit the type, which is f32[3,5]"),
        ("f32[3,5", "", "expected"),
    ],
)
def test_a_wrong_xla_shape_is_an_error_at_its_location(annotation: str, column: str, message: str) -> None:
    text = one_op(f'stablehlo.negate %a {{xla_shape = "{annotation}"}} : tensor<3x5xf32>')
    module = parse_module(text, "m.mlir")
    with pytest.raises(DiagnosticError) as caught:
        _ = module.entry.operations[0].results[0].shape
    assert message in str(caught.value)
    at = text.splitlines()[1].index('"' + annotation) + 2 + (annotation.index(column) if column else len(annotation))
    found = str(caught.value).split(":", 3)
    assert found[:2] == ["m.mlir", "2"]
    assert abs(int(found[2]) - at) <= 3


def test_a_wrong_layout_mode_is_an_error_at_its_location() -> None:
    text = 'func.func @main(%a: tensor<3x5xf32> {mhlo.layout_mode = "{1,0,2}"}) { return }'
    module = parse_module(text, "m.mlir")
    for read in (lambda: module.entry.parameters[0].shape, lambda: module.entry_layout):
        with pytest.raises(DiagnosticError, match=r"m\.mlir:1:\d+: error: .*rank is 2"):
            read()


def test_set_shape_changes_types_and_signatures() -> None:
    module = parse_module(CONTROL_FLOW)
    value = module.entry.parameters[0]
    value.set_shape(parse_shape("bf16[2,2,3,2]"))
    assert str(module.entry.interface.argument_shapes[0]) == "bf16[2,2,3,2]"
    module.entry.operations[3].results[0].set_shape(parse_shape("s4[8]"))
    assert [str(shape) for shape in module.entry.interface.result_shapes] == ["f32[3,5]", "s4[8]"]
    assert module.aliases == (((1,), 0, ()),)
    with pytest.raises(DiagnosticError):
        module.verify()


def test_entry_layout_and_value_layout_are_separate() -> None:
    module = parse_module(one_op("stablehlo.negate %a : tensor<3x5xf32>"))
    tiled = parse_shape(TILED)
    module.set_entry_layout([tiled], [tiled])
    assert module.entry_layout == ((tiled,), (tiled,))
    assert str(module.entry.operations[0].results[0].shape) == "f32[3,5]"
    with pytest.raises(ValueError, match="is not the type"):
        module.set_entry_layout([tiled], [parse_shape("f32[3,6]")])


def test_tuple_values_have_layouts_too() -> None:
    op = 'stablehlo.custom_call @f(%a) {xla_shape = "(f32[3,5]{0,1}, f32[3,5]{1,0:T(2,2)})"}'
    both = "tuple<tensor<3x5xf32>, tensor<3x5xf32>>"
    module = parse_module(one_op(f"{op} : (tensor<3x5xf32>) -> {both}", result=both))
    value = module.entry.operations[0].results[0]
    assert str(value.shape) == "(f32[3,5]{0,1}, f32[3,5]{1,0:T(2,2)})"
    value.set_shape(TupleShape((parse_shape("f32[2]{0:T(128)}"), parse_shape("f32[]"))))
    assert str(parse_module(module.text()).entry.operations[0].results[0].shape) == "(f32[2]{0:T(128)}, f32[])"


def test_padded_dimensions_are_rejected() -> None:
    module = parse_module(CONTROL_FLOW)
    shape = parse_shape("f32[3,5]{1,0}")
    assert isinstance(shape, ArrayShape)
    assert shape.layout is not None
    padded = shape.with_layout(shape.layout.replace(padded_dimensions=(4, 6)))
    with pytest.raises(ValueError, match="no text form"):
        module.entry.parameters[0].set_shape(padded)
