"""The verdict `equal if`: its sentence, its data, and wrong rewrites that no condition on data excuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dialect_utils.execution import Worker
from dialect_utils.ir import Module
from dialect_utils.verdict import Options, Verdict, compare_modules
from dialect_utils.verdict.certificate import Excluded, clauses
from dialect_utils.verdict.conditional import ConditionalProof
from dialect_utils.verdict.proof import ProofResult
from relayout.cli import main
from relayout.comparison import ComparisonOptions
from relayout.validation.steps import ANSWERS, StepResult, Validation
from tests.verdict.proof.dialects import parse

OPTIONS = Options(power=0)
HEADER = "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
CONSTANTS = "".join(
    f"  s{name} = f32[] constant({value})\n  {name} = f32[8] broadcast(s{name}), dimensions={{}}\n"
    for name, value in (("zero", 0), ("one", 1), ("two", 2), ("top", "inf"))
)


def text(expression: str) -> str:
    """Returns a module of an expression such as `add(x, multiply(y, zero))`; `LT(x, y)` is a comparison."""
    lines: list[str] = []

    def written(part: str) -> str:
        name, bracket, rest = part.partition("(")
        if not bracket:
            return name
        operands, depth, start = [], 0, 0
        for at, letter in enumerate(rest):
            depth += (letter == "(") - (letter == ")")
            if (letter == "," and depth == 0) or depth < 0:
                operands.append(written(rest[start:at].strip()))
                start = at + 1
        compares = name in ("LT", "LE", "EQ", "GT", "GE", "NE")
        kind = "pred" if compares or name in ("not", "and", "is-finite") else "f32"
        opcode, direction = ("compare", f", direction={name}") if compares else (name, "")
        lines.append(f"  v{len(lines)} = {kind}[8] {opcode}({', '.join(operands)}){direction}\n")
        return f"v{len(lines) - 1}"

    root = written(expression)
    return f"{HEADER}{CONSTANTS}{''.join(lines)}  ROOT r = f32[8] copy({root})\n}}\n"


def modules(first: str, last: str) -> tuple[Module, Module]:
    return parse(text(first)), parse(text(last))


def verdict(worker: Worker, first: str, last: str) -> Verdict:
    return compare_modules(*modules(first, last), OPTIONS, worker)


RIGHT = (
    ("subtract(x, x)", "zero", "x is never NaN or infinite"),
    ("divide(x, x)", "one", "x is never NaN or infinite or 0"),
    ("add(x, zero)", "x", "x is never -0"),
    ("multiply(x, zero)", "zero", "x is never NaN or infinite and multiply v0 is never -0"),
    ("subtract(zero, x)", "negate(x)", "negate v0 of the last module is never -0"),
    ("negate(subtract(x, y))", "subtract(y, x)", "negate v1 is never -0"),
    ("select(LT(x, y), y, x)", "maximum(x, y)", "x is never NaN or -0 and y is never NaN"),
    ("select(GE(x, y), x, y)", "select(LT(x, y), y, x)", "y and x are never NaN"),
    ("select(EQ(x, x), y, zero)", "y", "x is never NaN"),
    ("select(is-finite(x), x, zero)", "x", "x is never NaN or infinite"),
    ("maximum(x, top)", "top", "x is never NaN"),
    ("exponential(subtract(log(x), log(x)))", "exponential(zero)", "log v0 is never NaN or infinite"),
    ("subtract(abs(x), abs(x))", "zero", "x is never NaN or infinite"),
)


@pytest.mark.parametrize(("first", "last", "said"), RIGHT)
def test_the_verdict_names_the_weakest_condition(worker: Worker, first: str, last: str, said: str) -> None:
    found = verdict(worker, first, last)
    assert found.verdict == "equal-if"
    assert " and ".join(found.conditions) == said
    assert f" if {said}" in str(found).split("\n")[0]
    assert "contradicts nothing" in str(found)
    assert "other data: output 0" in str(found)
    assert found.as_json()["conditions"] == [*found.conditions]
    assert not found.found_no_difference


WRONG = (
    ("subtract(x, y)", "zero"),
    ("subtract(x, x)", "one"),
    ("subtract(x, x)", "x"),
    ("add(x, x)", "zero"),
    ("divide(x, x)", "zero"),
    ("divide(x, x)", "x"),
    ("divide(x, y)", "one"),
    ("divide(x, negate(x))", "one"),
    ("divide(one, x)", "x"),
    ("add(x, one)", "x"),
    ("add(x, zero)", "zero"),
    ("add(x, y)", "x"),
    ("multiply(x, zero)", "x"),
    ("multiply(x, one)", "zero"),
    ("multiply(x, two)", "x"),
    ("subtract(zero, x)", "x"),
    ("subtract(x, zero)", "negate(x)"),
    ("negate(subtract(x, y))", "subtract(x, y)"),
    ("negate(add(x, y))", "subtract(y, x)"),
    ("select(LT(x, y), y, x)", "minimum(x, y)"),
    ("select(LT(x, y), x, y)", "maximum(x, y)"),
    ("select(LE(x, y), y, x)", "minimum(x, y)"),
    ("select(LT(x, y), y, x)", "x"),
    ("select(GE(x, y), x, y)", "select(GT(y, x), x, y)"),
    ("select(not(LT(x, y)), x, y)", "select(GT(x, y), y, x)"),
    ("select(EQ(x, y), x, y)", "x"),
    ("select(EQ(x, x), y, zero)", "zero"),
    ("select(EQ(x, y), y, zero)", "y"),
    ("select(NE(x, x), y, zero)", "y"),
    ("select(is-finite(x), x, zero)", "zero"),
    ("maximum(x, top)", "x"),
    ("minimum(x, top)", "top"),
    ("maximum(x, minimum(x, y))", "y"),
    ("exponential(subtract(log(x), log(y)))", "one"),
    ("multiply(divide(x, y), y)", "y"),
    ("abs(x)", "negate(x)"),
)


@pytest.mark.parametrize(("first", "last"), WRONG)
def test_a_wrong_rewrite_stays_different(worker: Worker, first: str, last: str) -> None:
    assert verdict(worker, first, last).verdict == "different"


def test_a_condition_that_no_data_meets_proves_nothing(worker: Worker) -> None:
    found = verdict(worker, "divide(sine(minimum(abs(x), zero)), sine(minimum(abs(x), zero)))", "one")
    assert found.verdict == "different"
    assert "conditions that no data here meets: " in str(found)
    without_data = compare_modules(*modules("divide(add(x, y), add(x, y))", "one"), Options(engines=("proof",)))
    assert without_data.verdict == "unknown"


def test_only_inputs_have_conditions_where_nothing_is_executed() -> None:
    found = compare_modules(*modules("divide(x, x)", "one"), Options(engines=("proof",)))
    assert found.verdict == "equal-if"
    assert found.methods == ("proof",)


def test_data_that_meets_the_condition_refutes_a_wrong_proof(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = modules("subtract(x, y)", "zero")
    condition = Excluded("x", -1, 0, ("NaN",))

    def forged(forms: Sequence[Module], *_: object) -> ConditionalProof:
        return ConditionalProof((forms[0], forms[-1]), ProofResult("equal"), (condition,))

    monkeypatch.setattr("dialect_utils.verdict.compare._conditional", forged)
    found = compare_modules(*stages, OPTIONS, worker)
    assert found.verdict == "unknown"
    assert "yet an engine computes something else on data that meets them" in found.reason


@pytest.mark.parametrize(
    ("require", "code"), [("equal", 3), ("equal-up-to", 3), ("equal-if", 0), ("agrees", 0), ("close", 0)]
)
def test_the_exit_code_is_between_equal_up_to_and_agrees(require: str, code: int) -> None:
    options = replace(ComparisonOptions(), require=require)
    assert options.exit_code("equal-if", ()) == options.exit_code("equal-if", ("NaN bits",)) == code
    assert options.exit_code("agrees", ()) == (0 if require in ("agrees", "close") else 3)


def test_a_table_of_steps_counts_it_and_names_the_condition() -> None:
    result = StepResult("p", 1, "", "algsimp", "a", "b", "equal-if", ("proof",), conditions=("x is never NaN",))
    assert ANSWERS.index("equal") < ANSWERS.index("equal-if") < ANSWERS.index("agrees")
    assert result.answer == "equal if x is never NaN (proof)"
    assert StepResult.from_json(json.loads(json.dumps(result.as_json()))) == result
    assert Validation((result,)).counts == "1 step: 1 equal-if"


def test_the_command_writes_the_certificate_and_replay_says_the_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("a.hlo", "b.hlo", "p.json")]
    for file, each in zip(files, ("divide(x, x)", "one"), strict=False):
        file.write_text(text(each))
    assert main(["check", *map(str, files[:2]), "--engines", "proof", "--certificate", str(files[2]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "equal-if"
    assert main(["check", "--replay", *map(str, files)]) == 0
    assert capsys.readouterr().out.startswith("equal if x is never NaN or infinite or 0: all ")


def test_clauses_join_names_and_values() -> None:
    found = (Excluded("x", -1, 0, ("NaN", "0", "-0")), Excluded("y", -1, 1, ("NaN", "0")), Excluded("v", 0, 3, ("-0",)))
    assert clauses(found) == ("x and y are never NaN or 0", "v is never -0")
