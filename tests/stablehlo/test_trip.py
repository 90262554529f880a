import pytest

from dialect_utils.layout import ArrayShape, parse_shape
from dialect_utils.stablehlo import parse_module
from tests.stablehlo.texts import CONTROL_FLOW


def _through_hlo(text: str) -> str:
    """Returns StableHLO text that went to HLO and back in XLA."""
    mlir = pytest.importorskip("jaxlib._jax").mlir
    computation = mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)
    return str(mlir.xla_computation_to_mlir_module(computation))


def _annotated(*, is_mirrored: bool) -> str:
    module = parse_module(CONTROL_FLOW)
    tiled = parse_shape("f32[3,5]{0,1:T(2,2)S(1)}")
    module.entry.parameters[0].set_shape(tiled)
    module.entry.operations[0].results[0].set_shape(tiled)
    module.function_named("twice").parameters[0].set_shape(tiled)
    return module.text() if is_mirrored else module.text().replace("relayout.", "lost.")


def test_layouts_survive_a_trip_through_hlo() -> None:
    module = parse_module(_through_hlo(_annotated(is_mirrored=True)))
    tiled = parse_shape("f32[3,5]{0,1:T(2,2)S(1)}")
    assert module.entry_layout[0][0] == tiled
    assert module.entry_layout[1] == (tiled, parse_shape("f32[3,5]"))
    calls = [operation for operation in module.entry.operations if operation.opcode == "call"]
    assert [value.shape for value in calls[0].results] == [tiled]
    assert [value.shape for value in calls[0].called[0].parameters] == [tiled]


def test_without_the_mirrors_they_are_lost() -> None:
    module = parse_module(_through_hlo(_annotated(is_mirrored=False)))
    shapes = [*module.entry_layout[0], *module.entry_layout[1]]
    assert all(shape.layout is None for shape in shapes if isinstance(shape, ArrayShape))
