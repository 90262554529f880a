"""form-bitcasts: exactly the movements that move no byte become bitcasts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.layout import ArrayShape, Reshape, Step, Transpose, parse_array_shape
from dialect_utils.layout.index.index_map import byte_size, linear_indices
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.text import DiagnosticError
from passes.bitcasts import form_bitcasts as room
from passes.bitcasts.expand_bitcasts import expand_bitcasts
from passes.bitcasts.form_bitcasts import form_bitcasts
from tests.layout.shapes import tiled_shapes
from tests.passes.dump_files import OWN, SHARED, Dump, dumps
from tests.passes.evaluate import evaluate
from tests.passes.random_modules import modules
from tests.passes.tiling.test_relayout_passes import arguments, same_results

Judge = Callable[[ArrayShape, Plan, ArrayShape], bool]


def bitcasts(module: HloModule) -> dict[str, str]:
    return {
        f"{computation.name}/{item.name}": f"{item.shape} of {item.operands[0].name}"
        for computation in module.functions
        for item in computation.instructions
        if item.opcode == "bitcast"
    }


@settings(max_examples=80, deadline=None)
@given(modules(is_mixed=True))
def test_bitcasts_read_what_was_moved(text: str) -> None:
    module = parse_module(text)
    result = form_bitcasts.run(module)
    assert isinstance(result.module, HloModule)
    assert same_results(module, result.module)
    assert not form_bitcasts.run(result.module).modified


def blind_to_tiles(source: ArrayShape, movement: Plan, destination: ArrayShape) -> bool:
    def untiled(shape: ArrayShape) -> ArrayShape:
        return shape.with_layout(shape.effective_layout.replace(tiles=()))

    return is_bitcast(untiled(source), movement, untiled(destination))


def always(source: ArrayShape, movement: Plan, destination: ArrayShape) -> bool:
    return True


@pytest.mark.parametrize("wrong", [blind_to_tiles, always])
def test_a_wrong_judge_is_found(wrong: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module(
        "HloModule m\n\nENTRY e {\n  p = s32[3,5]{1,0:T(2,2)} parameter(0)\n"
        "  ROOT r = (s32[15]{0}) tuple(q)\n}\n".replace("  ROOT", "  q = s32[15]{0} reshape(p)\n  ROOT")
    )
    monkeypatch.setattr(room, "is_bitcast", wrong)
    after = form_bitcasts.run(module).module
    assert isinstance(after, HloModule)
    assert not np.array_equal(evaluate(module, arguments(module))[0], evaluate(after, arguments(module))[0])


@st.composite
def movements(draw: st.DrawFn) -> tuple[ArrayShape, Step | None, ArrayShape]:
    """Draws a copy, transpose or reshape and the layouts of operand and result."""
    source = draw(tiled_shapes(element_types=("f32",), largest=6))
    steps: list[Step | None] = [None, Reshape(tuple(draw(st.permutations(source.dimensions))))]
    steps.append(Transpose(tuple(draw(st.permutations(range(source.rank))))))
    step = draw(st.sampled_from(steps))
    dimensions = source.dimensions if step is None else step.result(*source.type_and_dimensions)[1]
    layout = source.effective_layout
    order = tuple(draw(st.permutations(layout.minor_to_major)))
    if draw(st.booleans()) and isinstance(step, Transpose):
        order = tuple(step.permutation.index(dim) for dim in layout.minor_to_major)
    tiles = layout.tiles if draw(st.booleans()) else ()
    target = ArrayShape(source.element_type, dimensions, layout.replace(minor_to_major=order, tiles=tiles))
    return source, step, target


@settings(max_examples=300, deadline=None)
@given(movements())
def test_movement_is_free_iff_every_element_stays(drawn: tuple[ArrayShape, Step | None, ArrayShape]) -> None:
    source, step, target = drawn
    plan = Plan(source.element_type, source.dimensions, () if step is None else (step,))
    here = linear_indices(source)
    moved = here if step is None else here.transpose(step.permutation) if isinstance(step, Transpose) else here
    stays = np.array_equal(moved.reshape(target.dimensions), linear_indices(target))
    is_free = byte_size(source) == byte_size(target) and stays
    assert is_bitcast(source, plan, target) == is_free or 0 in source.dimensions


def test_movement_between_packings_or_of_wide_types_stays() -> None:
    packed, plain = parse_array_shape("s4[8]{0:E(4)}"), parse_array_shape("s4[8]{0}")
    wide = parse_array_shape("pred[8]{0:E(32)}")
    assert not is_bitcast(packed, Plan(packed.element_type, (8,)), plain)
    assert not is_bitcast(wide, Plan(wide.element_type, (8,)), wide.without_layout)


@pytest.mark.parametrize(
    ("folder", "least"),
    [pytest.param(OWN, 400, id="own"), pytest.param(SHARED, 30, id="shared", marks=pytest.mark.shared(SHARED))],
)
def test_expanded_bitcasts_are_restored(folder: Path, least: int) -> None:
    assert sum(map(recovered, dumps(folder))) >= least


def recovered(dump: Dump) -> int:
    """Expands and forms a dump's bitcasts; returns their number if all are restored.

    A bitcast between equal layouts expands to no op, so it is not restored.
    """
    module = dump.module()
    try:
        expanded = expand_bitcasts.run(module).module
    except DiagnosticError:
        return 0  # one reads padding
    left = bitcasts(form_bitcasts.run(expanded).module)  # type: ignore[arg-type]  # it is HLO
    wanted = {
        f"{computation.name}/{item.name}"
        for computation in module.functions
        for item in computation.instructions
        if item.opcode == "bitcast" and item.shape != item.operands[0].shape
    }
    before = bitcasts(module)
    assert {name: before[name] for name in wanted} == {name: left.get(name) for name in wanted}, dump.name
    return len(wanted)
