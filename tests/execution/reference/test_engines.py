"""The reference evaluator against StableHLO's interpreter and XLA:CPU, on small random programs of every operation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from jaxlib._jax import mlir

from dialect_utils.execution import Engine, Program, Worker
from dialect_utils.execution.reference import evaluate
from dialect_utils.hlo import parse_module as parse_hlo
from dialect_utils.stablehlo import parse_module
from tests.execution.reference.programs import FAMILIES, Case, cases, far

# XLA compiles each program, so it runs every so many-th one, and all that the interpreter does not execute.
_SAMPLED = 16


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


def disagreements(worker: Worker, case: Case, engines: tuple[Engine, ...]) -> list[str]:
    """Returns a line for each result in which an engine differs from the reference evaluator."""
    expected = evaluate(parse_module(case.text, case.name), case.inputs)
    found = []
    for engine in engines:
        [outputs] = worker.run(Program(case.text, "stablehlo"), [case.inputs], engine=engine)
        for number, (actual, reference) in enumerate(zip(outputs, expected, strict=True)):
            where = np.flatnonzero(far(case, actual, reference))[:3]
            if len(where):
                values = f"{actual.reshape(-1)[where]}, not {reference.reshape(-1)[where]}"
                found.append(f"{case.name}, result {number}, {engine}: {values}")
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_engines_agree(worker: Worker, family: str) -> None:
    wrong = []
    for number, case in enumerate(cases(0, family)):
        is_asked = number % _SAMPLED == 0 or "interpreter" not in case.engines
        engines = tuple(engine for engine in case.engines if engine != "xla" or is_asked)
        wrong += disagreements(worker, case, engines)
    assert wrong == []


def test_a_difference_is_noticed() -> None:
    one = np.array([1.0, -0.0, np.nan, 3e38], np.float32)
    other = np.array([np.nextafter(np.float32(1), np.float32(2)), 0.0, 1.0, np.inf], np.float32)
    assert far(Case("exact", "", ()), one, other).tolist() == [True, True, True, True]
    assert far(Case("rounded", "", (), ulp=2), one, other).tolist() == [False, False, True, True]
    assert far(Case("sum", "", (), is_sum=True), one, other).tolist() == [False, False, True, True]
    assert not far(Case("exact", "", ()), one, one).any()


@pytest.mark.parametrize("family", FAMILIES)
def test_hlo_gives_the_bits_of_stablehlo(family: str) -> None:
    wrong = [case.name for case in cases(1, family) if _is_hlo(case) and not _is_equal_in_hlo(case)]
    assert wrong == []


def _is_hlo(case: Case) -> bool:
    # XLA replaces these functions by others as it reads MLIR.
    return not case.name.startswith(("chlo.", "next_after", "functions c"))


def _is_equal_in_hlo(case: Case) -> bool:
    computation = mlir.mlir_module_to_xla_computation(case.text, use_tuple_args=False, return_tuple=False)
    in_hlo = evaluate(parse_hlo(computation.as_hlo_text()), case.inputs)
    written = evaluate(parse_module(case.text, case.name), case.inputs)
    return [array.tobytes() for array in in_hlo] == [array.tobytes() for array in written]
