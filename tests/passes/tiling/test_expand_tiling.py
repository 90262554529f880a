"""Tiled values in every position of a program, in both dialects: expanded, executed, folded back."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.io.files import read_module
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.layout.index.index_map import linear_indices
from dialect_utils.layout.moves.physical import physical_shape
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_stages
from passes.dumps.executable import executable_form
from passes.framework.base import Report
from passes.framework.pipeline import verify
from passes.tiling.expand_tiling import expand_tiling
from passes.tiling.fold_tiling import fold_tiling
from relayout.testing import parse
from tests.layout.shapes import tiled_shapes
from tests.passes.evaluate import evaluate

Interface = Literal["logical", "physical"]

PROGRAMS = sorted((Path(__file__).parent / "tiled_programs").iterdir())
INTERFACES: tuple[Interface, ...] = ("logical", "physical")


def values(module: Module) -> list[Value]:
    inside = [(*f.parameters, *(value for o in f.operations for value in o.results)) for f in module.functions]
    return [value for function in inside for value in function]


def as_printed(module: Module) -> Module:
    """Returns the module with annotations only in positions where folding can restore them."""
    if module.dialect == "hlo":
        return module
    module = module.clone()
    interface = module.entry_layout
    for value in values(module):
        value.set_shape(value.shape)
    module.set_entry_layout(*interface)
    return module


def tiled(module: Module) -> list[str]:
    return [value.name for value in values(module) if any(leaf.is_tiled for leaf in value.shape.arrays())]


def is_equal(module: Module, expanded: Module, worker: Worker) -> bool:
    stages = [executable_form(module), module, expanded, executable_form(expanded)]
    return compare_stages(stages, Options(power=0), worker).found_no_difference


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_no_tile_stays_and_every_result_does(program: Path, interface: Interface, worker: Worker) -> None:
    module = as_printed(read_module(str(program)))
    verify(module)
    assert tiled(module)
    expanded = expand_tiling.with_options(interface=interface).run(module).module
    verify(expanded)
    assert tiled(expanded) == []
    assert is_equal(module, expanded, worker)
    assert fold_tiling.run(expanded).module.text() == module.text()


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("form", ["hlo", "mlir"])
def test_a_wrong_program_is_found(form: str, interface: Interface, worker: Worker) -> None:
    module = as_printed(read_module(str(next(p for p in PROGRAMS if p.name == f"while.{form}"))))
    expanded = expand_tiling.with_options(interface=interface).run(module).module
    right, wrong = {"hlo": ("add(%x", "subtract(%x"), "mlir": ("stablehlo.negate", "stablehlo.abs")}[form]
    assert right in expanded.text()
    broken = parse(expanded.text().replace(right, wrong), "broken")
    assert not is_equal(module, broken, worker)


HLO = """HloModule m

ENTRY e {{
  x = {shape} parameter(0)
  n = {shape} negate(x)
  ROOT r = ({shape}, {shape}) tuple(n, x)
}}
"""
STABLEHLO = """func.func public @main(
    %x: {type} {{mhlo.layout_mode = "{layout}"}}
) -> ({type} {{mhlo.layout_mode = "{layout}"}}) {{
  %n = stablehlo.negate %x {{xla_shape = "{shape}"}} : {type}
  return %n : {type}
}}
"""


TENSORS = {"f32": "f32", "s8": "i8", "s4": "i4"}


@settings(max_examples=10, deadline=None)
@given(shape=tiled_shapes(tuple(TENSORS)).filter(lambda shape: shape.is_tiled))
def test_any_tiled_layout_executes_in_both_forms(shape: ArrayShape, worker: Worker) -> None:
    sizes = "".join(f"{size}x" for size in shape.dimensions)
    tensor = f"tensor<{sizes}{TENSORS[shape.element_type.name]}>"
    for text in (HLO.format(shape=shape), STABLEHLO.format(type=tensor, layout=shape.layout, shape=shape)):
        module = parse(text, "drawn")
        for interface in INTERFACES:
            expanded = expand_tiling.with_options(interface=interface).run(module).module
            assert is_equal(module, expanded, worker)
            # The slot size of a wider element type is not a tile of this layout.
            assert tiled(expanded) == []


def hlo(*lines: str, header: str = "HloModule m") -> HloModule:
    return parse_module(f"{header}\n\nENTRY e {{\n  " + "\n  ".join(lines) + "\n}\n")


def expand(module: Module, interface: Interface = "physical") -> Module:
    verify(module)
    expanded = expand_tiling.with_options(interface=interface).run(module).module
    verify(expanded)
    return expanded


def function(arguments: str, results: str, *lines: str) -> Module:
    body = "\n  ".join(lines)
    return parse(f"func.func public @main({arguments}) -> ({results}) {{\n  {body}\n}}\n", "m.mlir")


def test_legacy_padded_dimensions_lie_as_the_index_formula_says() -> None:
    module = hlo("x = s32[2,3]{1,0} parameter(0)", "ROOT n = s32[2,3]{1,0} negate(x)")
    layout = Layout((0, 1), padded_dimensions=(3, 5))
    shape = ArrayShape(module.entry.parameters[0].shape.element_type, (2, 3), layout)  # type: ignore[union-attr]  # an array
    for value in values(module):
        value.set_shape(shape)
    expand_tiling(module, interface="physical")
    logical = np.arange(6).reshape(2, 3)
    packed = np.full(physical_shape(shape).dimensions, 77)
    packed.reshape(-1)[linear_indices(shape)] = logical
    (found,) = evaluate(module, [packed])
    assert np.array_equal(found.reshape(-1)[linear_indices(shape)], -logical)


ALIASED = (
    "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, entry_computation_layout={(f32[3,5]%s)->f32[3,5]%s}"
)
PARAMETER = '{mhlo.layout_mode = "%s", tf.aliasing_output = 0 : i32}'


@pytest.mark.parametrize(("of_result", "is_kept"), [("{1,0:T(2,2)}", True), ("{1,0:T(4,2)}", False), ("{1,0}", False)])
def test_an_alias_stays_where_both_sides_are_one_physical_array(of_result: str, is_kept: bool) -> None:
    of_parameter = "{1,0:T(2,2)}"
    lines = (f"x = f32[3,5]{of_parameter} parameter(0)", f"ROOT n = f32[3,5]{of_result} negate(x)")
    tensor = "tensor<3x5xf32>"
    modules: list[Module] = [
        hlo(*lines, header=ALIASED % (of_parameter, of_result)),
        function(
            f"%x: {tensor} {PARAMETER % of_parameter}",
            f'{tensor} {{mhlo.layout_mode = "{of_result}"}}',
            f'%n = stablehlo.negate %x {{xla_shape = "f32[3,5]{of_result}"}} : {tensor}',
            f"return %n : {tensor}",
        ),
    ]
    for module in modules:
        assert expand(module, "logical").aliases == module.aliases != ()
        if is_kept:
            assert expand(module).aliases == module.aliases
        else:
            with pytest.raises(DiagnosticError, match=r"aliased to a result .* of another physical type"):
                expand(module)


def test_unused_and_donated_parameters_become_physical_too() -> None:
    layout = '{mhlo.layout_mode = "{0:T(4)}"}'
    donated = '{jax.buffer_donor = true, mhlo.layout_mode = "{0:T(4)}"}'
    module = function(
        f"%x: tensor<3xf32> {layout}, %u: tensor<7xf32> {layout}, %d: tensor<5xf32> {donated}",
        f"tensor<3xf32> {layout}",
        "return %x : tensor<3xf32>",
    )
    expanded = expand(module)
    assert [str(shape) for shape in expanded.entry_layout[0]] == ["f32[1,4]", "f32[2,4]", "f32[2,4]"]
    assert "jax.buffer_donor = true" in expanded.text()


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize(
    "module",
    [
        hlo(
            "x = f32[<=5,3]{1,0:T(2,2)} parameter(0)",
            "y = f32[3]{0:T(4)} parameter(1)",
            "ROOT t = (f32[<=5,3]{1,0:T(2,2)}, f32[3]{0:T(4)}) tuple(x, y)",
        ),
        function(
            '%x: tensor<?x3xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, '
            '%y: tensor<3xf32> {mhlo.layout_mode = "{0:T(4)}"}',
            'tensor<?x3xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<3xf32> {mhlo.layout_mode = "{0:T(4)}"}',
            "return %x, %y : tensor<?x3xf32>, tensor<3xf32>",
        ),
    ],
    ids=["hlo", "stablehlo"],
)
def test_dynamic_dimensions_keep_their_tiles_with_a_note(module: Module, interface: Interface) -> None:
    report = Report()
    expanded = module.clone()
    expand_tiling(expanded, report, interface=interface)
    x, y = expanded.entry.parameters
    assert "T(2,2)" in str(x.shape)
    assert "T(" not in str(y.shape)
    note = report.diagnostics[0]
    assert "its dimensions are dynamic" in note.message
    assert note.location is not None


def test_memory_spaces_stay_with_the_bytes() -> None:
    module = hlo(
        "x = f32[3,5]{1,0:T(2,2)S(1)} parameter(0)",
        "y = f32[4]{0:T(d)S(5)} parameter(1)",
        "n = f32[3,5]{1,0:T(2,2)S(1)} negate(x)",
        "ROOT t = (f32[3,5]{1,0:T(2,2)S(1)}, f32[4]{0:T(d)S(5)}) tuple(n, y)",
    )
    spaces = {value.name: value.shape for value in values(expand(module, "logical"))}
    assert "S(1)" in str(spaces["n.physical"])
    x, y = expand(module).entry.parameters
    assert str(x.shape) == "f32[2,3,2,2]{3,2,1,0:S(1)}"
    assert str(y.shape).endswith("S(5)}")


def test_names_metadata_and_attributes_stay_on_the_op() -> None:
    module = hlo(
        "x = f32[3,5]{1,0:T(2,2)} parameter(0)",
        'n = f32[3,5]{1,0:T(2,2)} negate(x), metadata={op_name="f/neg"}, frontend_attributes={a="b"}',
        "ROOT r = f32[3,5]{1,0} copy(n)",
    )
    by_name = {value.name: value.operation for value in values(expand(module, "logical"))}
    ours = {name for name in by_name if name.startswith("n")}
    assert ours == {"n", "n.padding", "n.pad", "n.reshape", "n.physical", "n.transpose", "n.reshape.1", "n.logical"}
    for name in ours:
        operation = by_name[name]
        assert operation is not None
        assert operation.attributes["metadata"] == '{op_name="f/neg"}'
        assert operation.frontend_attributes == ({"a": "b"} if name == "n" else {})


def test_locations_and_shardings_stay_on_the_op() -> None:
    program = next(path for path in PROGRAMS if path.name == "shardings-and-locations.mlir")
    text = expand(read_module(str(program))).text()
    named, pad = (next(line for line in text.splitlines() if f"stablehlo.{op}" in line) for op in ("negate", "pad"))
    assert 'a = "b"' in named
    assert 'mhlo.sharding = "{replicated}"' in named
    assert 'a = "b"' not in pad
    place = pad.rsplit("loc(", 1)[1].rstrip(")")
    outer = named.rsplit("loc(", 1)[1].rstrip(")")
    assert f'{place} = loc("n.pad"({outer}))' in text
    assert f'{outer} = loc("jit(f)/neg"' in text
    assert "#sdy.sharding<@mesh, [{}, {}, {}, {}]>" in text


CALL = "ROOT c = f32[3,5]{1,0:T(2,2)} custom-call(x), "


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            CALL + 'custom_call_target="f", operand_layout_constraints={f32[3,5]{1,0:T(2,2)}}',
            "custom call f prescribes tiled layouts",
        ),
        (CALL + 'custom_call_target="ConcatBitcast"', None),
        (CALL + 'custom_call_target="f"', None),
        (CALL + 'custom_call_target="f", operand_layout_constraints={f32[3,5]{1,0}}', None),
        (
            CALL + 'custom_call_target="AssumeGatherIndicesInBound", operand_layout_constraints={f32[3,5]{1,0:T(2,2)}}',
            None,
        ),
    ],
)
def test_a_call_that_reads_tiled_bytes_is_refused(line: str, message: str | None) -> None:
    module = hlo("x = f32[3,5]{1,0:T(2,2)} parameter(0)", line)
    if message is None:
        assert tiled(expand(module, "logical")) == []
        return
    with pytest.raises(DiagnosticError, match=message) as caught:
        expand(module)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.location is not None
    assert diagnostic.hint == "run expand-custom-calls first"


def test_a_bitcast_of_a_tuple_may_change_memory_spaces_only() -> None:
    def module(layout: str) -> HloModule:
        shape = f"(f32[3,5]{layout})"
        return hlo(
            "x = f32[3,5]{1,0:T(2,2)} parameter(0)",
            "t = (f32[3,5]{1,0:T(2,2)}) tuple(x)",
            f"b = {shape} bitcast(t)",
            f"ROOT g = f32[3,5]{layout} get-tuple-element(b), index=0",
        )

    assert tiled(expand(module("{1,0:T(2,2)S(1)}"))) == []
    with pytest.raises(DiagnosticError, match="reads elements of a tuple under other layouts"):
        expand(module("{0,1:T(2,2)}"))


def test_a_tiled_buffer_of_the_interface_is_refused() -> None:
    pinned = 'ROOT p = b(f32[3,5]{1,0:T(2,2)}) custom-call(x), custom_call_target="Pin"'
    module = hlo("x = f32[3,5]{1,0:T(2,2)} parameter(0)", f"{pinned}, output_to_operand_aliasing={{{{}}: (0, {{}})}}")
    assert tiled(expand(module, "logical")) == []
    with pytest.raises(DiagnosticError, match="no op moves what is in a buffer"):
        expand(module)


def test_elements_wider_than_their_type_are_refused() -> None:
    module = hlo("ROOT x = pred[5,3]{1,0:E(32)} parameter(0)")
    with pytest.raises(DiagnosticError, match=r"E\(32\) does not pack pred"):
        expand(module)


def test_a_result_of_another_layout_and_the_same_physical_dimensions_is_put_anew(worker: Worker) -> None:
    module = hlo(
        "p = f32[4,4]{1,0:T(2,2)} parameter(0)",
        "ROOT n = f32[4,4]{1,0:T(2,2)} negate(p)",
        header="HloModule m, entry_computation_layout={(f32[4,4]{1,0:T(2,2)})->f32[4,4]{0,1:T(2,2)}}",
    )
    # The verifier rejects this module; the pass, called directly, must also report the error.
    assert is_equal(module, expand_tiling.with_options(interface="physical").run(module).module, worker)
