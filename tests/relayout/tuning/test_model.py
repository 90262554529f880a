"""The model of layout changes, and the layout modes that a program writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, parse_shape
from relayout.tuning.changes import EntryArray, as_stablehlo, change_of, mode_of, orders, padded_bytes
from relayout.tuning.graph import Graph, allowed_result, denied_operands, reads_tiles, tile_bytes
from relayout.tuning.model import Model
from relayout.tuning.search import rank_correlation
from relayout.tuning.trials import Objective
from tests.relayout.tuning.compilers import GATHER, PROGRAM

# 40 x 300 elements of 4 bytes in tiles of 8 x 128, in both orders.
ROWS, COLUMNS = 40 * 384 * 4, 304 * 128 * 4


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def test_orders_differ_in_the_two_most_minor_dimensions() -> None:
    assert [*orders(array("f32[4,5]"))] == [(0, 1), (1, 0)]
    assert len([*orders(array("f32[4,5,6,7]"))]) == 12
    assert [*orders(array("f32[4,1,6]"))] == [(0, 2, 1), (2, 0, 1)]
    assert [*orders(array("f32[4]"))] == []


def test_bytes_have_the_padding_of_the_tiles() -> None:
    assert padded_bytes(array("f32[40,300]"), "{1,0}", "tpu-v5e") == ROWS
    assert padded_bytes(array("f32[40,300]"), "{0,1}", "tpu-v5e") == COLUMNS
    assert padded_bytes(array("f32[40,300]"), "auto", "tpu-v5e") == ROWS
    assert mode_of((2, 0, 1)) == "{2,0,1}"


def test_one_order_everywhere_needs_no_copy_and_two_orders_need_one() -> None:
    module = as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir"))
    start, model = change_of(module), Model(module, "tpu-v5e", "bytes")
    argument, result = start.entry_arrays[0], start.entry_arrays[2]
    turned = start.with_mode(argument, "{0,1}").with_mode(result, "{0,1}")
    # The sum is fused: x is read, the result is written, and so is y, a vector.
    vector = model.predict(start).accessed - 2 * ROWS
    assert 0 < vector < 4096
    assert model.predict(turned).accessed == pytest.approx(vector + 2 * COLUMNS)
    mixed = model.predict(start.with_mode(argument, "{0,1}"))
    # A copy of x is read and written once more.
    assert mixed.accessed == pytest.approx(vector + COLUMNS + ROWS + 2 * min(ROWS, COLUMNS))
    assert mixed.peak > model.predict(start).peak


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 20, 40], 1),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8),
        ([1, 1, 2], [5, 6, 7], math.sqrt(3) / 2),
    ],
)
def test_ranks_correlate(first: list[float], second: list[float], expected: float) -> None:
    assert rank_correlation(first, second) == pytest.approx(expected)


def test_nothing_correlates_with_a_constant() -> None:
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    assert rank_correlation([1, 2], [1, 2]) is None


BRANCHED = """
module @m {
  func.func public @main(%x: tensor<40x300xf32>, %w: tensor<300x40xf32>) -> (tensor<40x300xf32>, tensor<40x40xf32>) {
    %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<300x40xf32>) -> tensor<40x300xf32>
    %1 = stablehlo.add %x, %0 : tensor<40x300xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
      : (tensor<40x300xf32>, tensor<300x40xf32>) -> tensor<40x40xf32>
    %3 = stablehlo.sort %1
    return %3, %2 : tensor<40x300xf32>, tensor<40x40xf32>
  }
}
""".replace(
    "stablehlo.sort %1",
    """"stablehlo.sort"(%1) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<40x300xf32>) -> tensor<40x300xf32>""",
)


def least(graph: Graph, objective: str, fixed: Mapping[EntryArray, tuple[int, ...]]) -> float:
    """Returns the minimum over all orders of all arrays, one by one."""
    found = math.inf
    for chosen in product(*(range(len(array.orders)) for array in graph.arrays)):
        orders_of = dict(zip(range(len(chosen)), chosen, strict=True))
        if any(
            array.orders[orders_of[n]] != fixed.get(array.entry, array.orders[orders_of[n]])  # type: ignore[arg-type]
            for n, array in enumerate(graph.arrays)
        ):
            continue
        copies = [link for link in graph.links if orders_of[link.source] not in link.kept[orders_of[link.target]]]
        size = {n: array.sizes[orders_of[n]] for n, array in enumerate(graph.arrays)}
        accessed = sum(array.traffic * size[n] for n, array in enumerate(graph.arrays) if array.is_stored)
        accessed += sum(2 * size[link.target] for link in copies)
        peak = max(
            sum(size[n] for n, a in enumerate(graph.arrays) if a.is_stored and a.begin <= position <= a.end)
            + sum(size[link.target] for link in copies if graph.arrays[link.target].begin == position)
            for position in range(graph.last + 1)
        )
        found = min(found, peak if objective == "peak" else accessed)
    return found


@pytest.mark.parametrize("objective", ["peak", "bytes"])
def test_the_model_finds_the_minimum_over_all_orders(objective: Objective) -> None:
    module = as_stablehlo(parse_bytes(BRANCHED.encode(), "m.mlir"))
    start, model, graph = change_of(module), Model(module, "tpu-v5e", objective), Graph(module, "tpu-v5e")
    assert any(len(link.kept[0]) < 2 for link in graph.links)
    # A default order is written down, since `default` is a name of it.
    default = {entry: (1, 0) if entry.number != 1 or entry.is_result else (0, 1) for entry in start.entry_arrays}
    seen = set()
    for entry, order in product(start.entry_arrays, [(0, 1), (1, 0)]):
        modes = default | {entry: order}
        change = start
        for each, wanted in modes.items():
            change = change.with_mode(each, mode_of(wanted))
        predicted = model.predict(change)
        found = predicted.peak if objective == "peak" else predicted.accessed
        assert found == pytest.approx(least(graph, objective, modes), rel=1e-3)
        seen.add(round(found))
    assert len(seen) > 1


def test_the_best_layouts_of_the_entry_come_first_and_none_comes_twice() -> None:
    module = as_stablehlo(parse_bytes(BRANCHED.encode(), "m.mlir"))
    start, model = change_of(module), Model(module, "tpu-v5e", "bytes")
    before = model.predict(start)
    best = model.best(start, 100)
    # Each of the three large arrays of the entry and the small one has two orders.
    assert len(best) == len(set(best)) == 16
    figures = [model.predict(change).accessed for change in best]
    assert figures == pytest.approx(sorted(figures), rel=1e-3)
    assert figures[0] == pytest.approx(least(Graph(module, "tpu-v5e"), "bytes", {}), rel=1e-3)
    assert model.predict(start) == pytest.approx(before)


def operation_of(text: str) -> Operation:
    module = as_stablehlo(parse_bytes(text.encode(), "m.mlir"))
    return next(each for each in module.operations() if each.opcode in ("dot", "gather", "scatter", "convolution"))


def test_rows_of_a_gather_stay_together_and_a_batch_is_not_most_minor() -> None:
    gather = operation_of(GATHER)
    assert allowed_result(gather, [(0, 1), (1, 0)]) == [(1, 0)]
    assert reads_tiles(gather, gather.operands[0])
    assert not reads_tiles(gather, gather.operands[1])
    assert tile_bytes(gather) == 50 * 4096
    dot = operation_of("""
        func.func public @main(%x: tensor<7x40x30xf32>, %y: tensor<7x30x20xf32>) -> tensor<7x40x20xf32> {
          %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
            : (tensor<7x40x30xf32>, tensor<7x30x20xf32>) -> tensor<7x40x20xf32>
          return %0 : tensor<7x40x20xf32>
        }
    """)
    possible = [*orders(array("f32[7,40,30]"))]
    denied = denied_operands(dot, dot.operands[0], possible)
    assert [possible[each] for each in sorted(denied)] == [(0, 1, 2), (0, 2, 1)]
    assert (0, 1, 2) not in allowed_result(dot, possible)
    assert tile_bytes(dot) == 0


def test_functions_are_placed_at_their_first_call_and_those_without_a_call_as_well() -> None:
    module = as_stablehlo(
        parse_bytes(
            b"""
            func.func public @main(%x: tensor<400x300xf32>) -> tensor<400x300xf32> {
              %0 = func.call @sine(%x) : (tensor<400x300xf32>) -> tensor<400x300xf32>
              %1 = func.call @sine(%0) : (tensor<400x300xf32>) -> tensor<400x300xf32>
              return %1 : tensor<400x300xf32>
            }
            func.func private @sine(%x: tensor<400x300xf32>) -> tensor<400x300xf32> {
              %0 = stablehlo.sine %x : tensor<400x300xf32>
              return %0 : tensor<400x300xf32>
            }
            func.func private @unused(%x: tensor<400x300xf32>) -> tensor<400x300xf32> {
              %0 = stablehlo.sine %x : tensor<400x300xf32>
              return %0 : tensor<400x300xf32>
            }
            """,
            "m.mlir",
        )
    )
    graph = Graph(module, "tpu-v5e")
    assert graph.last == 4
    size = padded_bytes(array("f32[400,300]"), "default", "tpu-v5e")
    assert Model(module, "tpu-v5e", "peak").predict(change_of(module)).peak == pytest.approx(2 * size)


def test_layout_modes_are_written_and_read_also_the_descending_order() -> None:
    module = as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir"))
    assert module.layout_modes == (("default", "default"), ("default",))
    module.set_layout_modes(("{1,0}", "auto"), ("{0,1}",))
    again = as_stablehlo(parse_bytes(module.text().encode(), "m.mlir"))
    assert again.layout_modes == (("{1,0}", "auto"), ("{0,1}",))
    assert str(again.entry_layout[1][0]) == "f32[40,300]{0,1}"
    again.set_layout_modes(("default", "default"), ("default",))
    assert "layout_mode" not in again.text()
