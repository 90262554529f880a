"""Dumps with Pallas kernels have the results of JAX's interpret mode; an injected fault is detected."""

from __future__ import annotations

import os

import numpy as np
import pytest

from dialect_utils.execution import entry_arrays, prepare
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.mosaic.decode import TARGET, kernel_of
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import DiagnosticError
from passes.dumps.make_portable import make_portable
from passes.dumps.mosaic.memory import Unwritten
from passes.framework.base import Report
from tests.conftest import Workers
from tests.passes.dump_files import UNOPTIMIZED, Array, Dump, arrays_of, dumps
from tests.paths import OWN_CORPUS, SHARED_DATA

OWN = dumps(OWN_CORPUS / "mosaic")
SHARED = SHARED_DATA / "corpus" / "mosaic"
# One of each kind; `make kernels` runs them all.
CHOSEN = {
    "copied_to_the_right",
    "copies_of_running_sizes",
    "double_buffered_copies",
    "flash_attention",
    "gelu_with_ragged_rows",
    "grouped_product",
    "histogram_of_scalars",
    "layer_norm_bf16",
    "loop_until_small",
    "neighbours_of_rows",
    "product_f8",
    "product_int8",
    "random_bits_of_the_chip",
    "rows_by_prefetched_index",
    "scoped_memory_and_signals",
    "strided_rows",
    "words_as_halves",
}
RUNS_ALL = os.environ.get("RELAYOUT_KERNELS") == "all"
# The most HLO instructions that one op of a kernel may become.
LONGEST = 100
# The outputs of external dumps were computed by programs other than the kernels, in another precision.
SHARED_TOLERANCE = 3e-2


def portable(dump: Dump, unwritten: Unwritten = "poison") -> HloModule:
    module = dump.module()
    make_portable(module, Report(), unwritten=unwritten)
    return module


def outputs_of(dump: Dump, module: HloModule, workers: Workers) -> list[Array]:
    devices = devices_of(module).count
    parameters, _ = entry_arrays(module)
    inputs = arrays_of(dump, "in", parameters, "inputs", devices)
    worker = workers[devices]
    return worker.run(prepare(module, dump.name), [inputs], options=UNOPTIMIZED)[0]


def distances(dump: Dump, module: HloModule, outputs: list[Array]) -> list[float]:
    """Returns the error of each output, relative to the largest expected magnitude."""
    _, results = entry_arrays(module)
    expected = arrays_of(dump, "out", results, "outputs", devices_of(module).count)
    return [distance(a, b) for a, b in zip(outputs, expected, strict=True)]


def distance(actual: Array, expected: Array) -> float:
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    scale = float(np.abs(b[np.isfinite(b)]).max(initial=0))
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0)) / (scale or 1)


def named(dump: Dump) -> str:
    return dump.name


# `make kernels` runs them all.
TRIED = [dump for dump in OWN if RUNS_ALL or dump.name in CHOSEN]


@pytest.mark.parametrize("dump", TRIED, ids=named)
def test_kernels_compute_what_interpret_mode_computes(dump: Dump, workers: Workers) -> None:
    refused = dump.meta["refused"]
    if refused is not None:
        with pytest.raises(DiagnosticError, match=f"kernel .*{refused}"):
            portable(dump)
        return
    module = portable(dump)
    found = distances(dump, module, outputs_of(dump, module, workers))
    assert all(each <= dump.meta["tolerance"] for each in found), found


@pytest.mark.shared(SHARED)
@pytest.mark.parametrize("dump", dumps(SHARED), ids=named)
def test_kernels_beside_this_tree_run(dump: Dump, workers: Workers) -> None:
    module = portable(dump)
    outputs = outputs_of(dump, module, workers)
    if dump.meta["tol"] >= 1:
        # The outputs are those of another function.
        assert all(np.isfinite(output.astype(np.float64)).all() for output in outputs)
        return
    found = distances(dump, module, outputs)
    assert all(each <= max(dump.meta["tol"], SHARED_TOLERANCE) for each in found), found


def test_there_are_kernels_of_every_kind_and_nearly_all_are_lowered() -> None:
    names = {dump.name for dump in OWN}
    assert names >= CHOSEN
    assert len(OWN) >= 25
    assert {dump.meta["platform"] for dump in OWN} >= {"v4", "v5e", "v5p", "v6e", "tpu7x"}
    assert sum(dump.meta["refused"] is not None for dump in OWN) <= len(OWN) // 10


@pytest.mark.parametrize("dump", [each for each in TRIED if each.meta["refused"] is None], ids=named)
def test_the_text_is_in_proportion_to_the_kernels_ops(dump: Dump) -> None:
    calls = [op for function in dump.module().functions for op in function.operations if op.callee == TARGET]
    ops = sum({call.attribute("backend_config"): kernel_of(call).op_count for call in calls}.values())
    computations = [body for body in portable(dump).functions if body.name.startswith("kernel.")]
    assert calls
    assert computations
    assert sum(len(body.operations) for body in computations) <= LONGEST * ops


def test_a_planted_mistake_is_noticed(workers: Workers) -> None:
    dump = next(dump for dump in OWN if dump.name == "gelu_with_ragged_rows")
    text = portable(dump).text()
    planted = parse_module(text.replace(" tanh(", " negate("), "planted")
    assert planted.text() != text
    assert min(distances(dump, planted, outputs_of(dump, planted, workers))) > dump.meta["tolerance"]


def test_a_distance_is_one() -> None:
    expected = np.array([4.0, -2.0, np.nan], np.float32)
    assert distance(expected, expected) == 0
    assert distance(np.array([4.0, -1.0, np.nan], np.float32), expected) == 0.25
    assert distance(np.array([4.0, -2.0, 0.0], np.float32), expected) == np.inf
    assert distance(np.array([np.nan, -2.0, np.nan], np.float32), expected) == np.inf
