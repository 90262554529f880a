"""The rank of figures by an objective: programs that compile, those that need too much memory, those with errors."""

from __future__ import annotations

import pytest

from dialect_utils.execution.compilers import Figures
from dialect_utils.io.files import parse_bytes
from dialect_utils.memory import MemoryReport
from relayout.tuning.trials import (
    NOTABLE,
    OBJECTIVES,
    Objective,
    counted_figures,
    figure,
    needed_bytes,
    relative,
    score,
)

DUMP = """HloModule m, is_scheduled=true

ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  a = f32[8,128]{1,0:T(8,128)S(1)} negate(p)
  b = f32[8,128]{1,0:T(8,128)S(1)} negate(a)
  ROOT r = f32[8,128]{1,0:T(8,128)} add(a, b)
}
"""
SMALL = Figures(peak=100, accessed=50, seconds=3.0)
_FULL = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
    "temporaries ({}.00G) exceeds available HBM (15.75G). HLO module: jit_f."
)
FULL, FULLER, WRONG = (
    Figures(error=_FULL.format(20)),
    Figures(error=_FULL.format(30)),
    Figures(error="no such operation"),
)


@pytest.mark.parametrize(("objective", "value"), [("peak", 100), ("bytes", 50), ("time", 3.0)])
def test_each_objective_has_its_figure(objective: Objective, value: float) -> None:
    assert figure(SMALL, objective) == value


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_time_that_is_not_positive_is_the_worst(seconds: float) -> None:
    assert score(Figures(peak=100, accessed=50, seconds=seconds), "time") > score(SMALL, "time")


@pytest.mark.parametrize(
    ("objective", "better"),
    [
        ("peak", Figures(peak=99, accessed=900, seconds=90)),
        ("peak", Figures(peak=100, accessed=49, seconds=90)),
        ("peak", Figures(peak=100, accessed=50, seconds=2)),
        ("bytes", Figures(peak=900, accessed=49, seconds=90)),
        ("bytes", Figures(peak=99, accessed=50, seconds=90)),
        ("time", Figures(peak=900, accessed=900, seconds=2)),
        ("time", Figures(peak=900, accessed=49, seconds=3)),
    ],
)
def test_figures_decide_in_the_order_of_the_objective(objective: Objective, better: Figures) -> None:
    assert score(better, objective) < score(SMALL, objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_program_that_compiles_is_first_and_one_with_an_error_last(objective: Objective) -> None:
    ranked = [SMALL, FULL, FULLER, WRONG]
    scores = [score(each, objective) for each in ranked]
    assert scores == sorted(set(scores))


def test_the_memory_that_a_program_needs_is_in_the_message() -> None:
    assert needed_bytes(FULL) == 20 << 30
    assert needed_bytes(WRONG) is None


def test_a_change_is_a_part_of_the_old_figure() -> None:
    other = Figures(peak=125, accessed=25, seconds=0.0)
    assert relative(SMALL, other, "peak") == 0.25
    assert relative(SMALL, other, "bytes") == -0.5
    assert relative(SMALL, other, "time") is None
    assert relative(Figures(), SMALL, "peak") is None
    assert relative(SMALL, FULL, "peak") is None
    assert relative(FULL, SMALL, "peak") is None
    assert 0 < NOTABLE < 0.1


def test_a_peak_leaves_out_temporaries_beside_main_memory() -> None:
    usage = MemoryReport(parse_bytes(DUMP.encode(), "m")).usage
    assert counted_figures(SMALL, DUMP).peak == usage.main_memory_peak_bytes == 2 * 4096
    assert usage.peak_bytes == 4 * 4096
