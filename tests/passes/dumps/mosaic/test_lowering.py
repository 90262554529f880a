"""Small kernels in text, lowered to HLO, compared with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.executable import checked_form, is_optimized_dump
from passes.dumps.make_portable import make_portable
from passes.framework.base import Report
from passes.framework.pipeline import Pipeline
from tests.mosaic.kernels import TRIPLED, call_of
from tests.passes.dump_files import UNOPTIMIZED

ROWS = np.arange(24 * 128, dtype=np.float32).reshape(24, 128)


def run(worker: Worker, kernel: str, unwritten: str = "zero") -> NDArray[Any]:
    module = parse_module(call_of(kernel), "m.hlo")
    portable = Pipeline.parse(f"make-portable{{unwritten={unwritten}}}").run(module).module
    return np.asarray(worker.run(prepare(portable, "m"), [[ROWS]], options=UNOPTIMIZED)[0][0])


def test_a_grid_is_a_loop_over_blocks(worker: Worker) -> None:
    assert np.array_equal(run(worker, TRIPLED), 3 * ROWS)


def test_a_block_that_no_step_writes_is_unspecified(worker: Worker) -> None:
    kernel = TRIPLED.replace("array<i64: 3>", "array<i64: 2>")
    assert np.array_equal(run(worker, kernel)[:16], 3 * ROWS[:16])
    assert not run(worker, kernel)[16:].any()
    assert np.isnan(run(worker, kernel, "poison")[16:]).all()


def test_an_unknown_op_is_refused_with_its_place(worker: Worker) -> None:
    kernel = TRIPLED.replace("arith.mulf %value, %factor", "math.acos %value")
    with pytest.raises(DiagnosticError, match=r"(?s)<kernel k>:6:\d+: error: kernel tripled: math.acos is not known"):
        run(worker, kernel)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("window_bounds = array<i64: 8, 128>", "window_bounds = array<i64: 8>", "takes memref<8x128xf32"),
        (
            "window_bounds = array<i64: 8, 128>",
            "window_bounds = array<i64: 1024>",
            r"cuts \[1024\] out of f32\[24,128\]",
        ),
        ("return %step, %zero : i32, i32", "return %step : i32", "@rows gives 1 indices into"),
        ("%kept: memref<1xi32, #tpu.memory_space<smem>>", "%kept: i64", "takes i64, which is not a reference"),
        ("scratch_operands = 1", "scratch_operands = 0", "arguments, which its grid and windows do not explain"),
    ],
)
def test_a_kernel_that_does_not_fit_its_call_is_refused(before: str, after: str, reason: str) -> None:
    kernel = TRIPLED.replace(before, after)
    if "return %step : i32" in kernel:
        kernel = kernel.replace("-> (i32, i32)", "-> i32")
    assert kernel != TRIPLED
    with pytest.raises(DiagnosticError, match=reason):
        make_portable(parse_module(call_of(kernel), "m.hlo"), Report())


def test_a_check_runs_with_poison(worker: Worker) -> None:
    module = parse_module(call_of(TRIPLED.replace("array<i64: 3>", "array<i64: 2>")).replace(", is_scheduled=true", ""))
    assert is_optimized_dump(module)
    checked = np.asarray(worker.run(prepare(checked_form(module), "m"), [[ROWS]], options=UNOPTIMIZED)[0][0])
    assert np.isnan(checked[16:]).all()
    assert not np.isnan(checked[:16]).any()
