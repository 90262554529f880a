"""XLA's own evaluator tests and StableHLO's self-checking programs, evaluated by definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialect_utils import hlo
from dialect_utils.execution import Array, ExecutionError, Program, Worker, run_module
from dialect_utils.execution.reference import evaluate
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.rewrites.editing import take_check_calls
from dialect_utils.verdict.judge import self_checks
from tests.paths import SHARED_DATA

_CASES = SHARED_DATA / "corpus" / "xla_tests" / "evaluator.json"
_PROGRAMS = SHARED_DATA / "corpus" / "stablehlo_testdata"

# Programs whose expected values are further from the functions than their own checks allow.
_INEXACT = {
    # Computed as exp(x + log 1/2) + exp(-x + log 1/2), which rounds x + log 1/2 to f32: 4 ulp.
    "cosh_float32_20_20_chlo": 1e-6,
    # One ulp of 52700 is more than the check's absolute 0.001; XLA and the interpreter fail it, too.
    "sin_complex64_20_20": 1e-6,
}


def array_of(entry: dict[str, Any]) -> Array:
    kind = ELEMENT_TYPES[entry["type"]]
    values: list[Any] = [_number(value) for value in entry["values"]]
    if kind.is_integral:
        return np.array(list(map(int, values)), object).astype(dtype_of(kind)).reshape(entry["shape"])
    return np.array(values).astype(dtype_of(kind)).reshape(entry["shape"])


def _number(value: Any) -> complex | float | int:
    if isinstance(value, list):
        return complex(*map(float, value))
    return float(value) if isinstance(value, str) else value


@pytest.mark.shared(_CASES)
def test_xla_evaluator_tests() -> None:
    cases = json.loads(_CASES.read_text("utf-8"))
    wrong = [case["id"] for case in cases if not _is_right(case)]
    assert wrong == []
    assert len(cases) == 81


def _is_right(case: dict[str, Any]) -> bool:
    found = evaluate(hlo.parse_module(case["text"], "case"), [array_of(entry) for entry in case["inputs"]])
    expected = [array_of(entry) for entry in case["expected"]]
    absolute, relative = case["tol"] or (0, 0)
    return len(found) == len(expected) and all(
        one.dtype == other.dtype
        and one.shape == other.shape
        and np.allclose(_wide(one), _wide(other), rtol=relative, atol=absolute, equal_nan=True)
        for one, other in zip(found, expected, strict=True)
    )


def _wide(array: Array) -> Array:
    return array.astype(np.complex128) if array.dtype.kind not in "iub" else array


def failures(path: Path) -> list[tuple[Array, Array]]:
    """Returns the operands of the checks of a program that fail."""
    text = path.read_text("utf-8")
    checks = self_checks(parse_module(text, path.name))
    assert checks
    found = evaluate(parse_module(take_check_calls(text, as_results=True), path.name), [])
    operands = iter(found[-2 * len(checks) :])
    pairs = [(check, next(operands), next(operands)) for check in checks]
    return [(actual, expected) for check, actual, expected in pairs if check.fails(actual, expected)]


@pytest.mark.shared(_PROGRAMS)
def test_self_checking_programs() -> None:
    programs = sorted(_PROGRAMS.glob("*.mlir"))
    failed = {path.stem: failures(path) for path in programs}
    assert {name for name, pairs in failed.items() if pairs} == _INEXACT.keys()
    for name, tolerance in _INEXACT.items():
        for actual, expected in failed[name]:
            np.testing.assert_allclose(actual, expected, rtol=tolerance)
    assert len(programs) == 279


def test_an_operation_without_a_definition_is_unsupported_at_its_location() -> None:
    text = "HloModule m\n\nENTRY e {\n  ROOT r = u64[2] rng-get-and-update-state(), delta=1\n}\n"
    with Worker() as worker, pytest.raises(ExecutionError) as caught:
        worker.run(Program(text, "hlo", "my.hlo"), [[]], engine="reference")
    assert caught.value.failure == "unsupported"
    assert str(caught.value).startswith("my.hlo:4:8: error: rng-get-and-update-state: the engine chooses")


def test_what_xla_cannot_execute_runs() -> None:
    text = """HloModule m

ENTRY e {
  a = f32[3,2] parameter(0)
  b = f32[2,2,1] parameter(1)
  sizes = s32[2] constant({1, 1})
  r = f32[3,1] ragged-dot(a, b, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1},
    lhs_ragged_dims={0}, rhs_group_dims={0}
  start = ((f32[3,1]), f32[3,1], u32[]) negate-start(r)
  ROOT done = f32[3,1] negate-done(start)
}
"""
    inputs = [np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((2, 2, 1), np.float32)]
    [found] = run_module(hlo.parse_module(text, "m"), inputs, engine="reference")
    assert found.tolist() == [[-1], [-5], [0]]


def test_one_device_only() -> None:
    module = hlo.parse_module("HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n", "m")
    text = module.text()
    with Worker(devices=2) as worker, pytest.raises(ExecutionError, match="one device only"):
        worker.run(Program(text, "hlo"), [[np.ones((2, 2), np.float32)]], engine="reference")
