"""A reduction keeps the cause of a difference; without the check of the cause, it drifts to another difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule
from dialect_utils.io.files import parse_bytes, read_module
from dialect_utils.ir import Module
from dialect_utils.verdict import Cause, ProofResult
from passes.framework.base import BUILTIN_PASSES, Report, module_pass
from relayout.cli import main
from relayout.findings import Finder, is_kept, reduce_finding
from relayout.reduction import Reduction
from tests.paths import SHARED_DATA
from tests.relayout.drifting import NAN, PAIRS, SECOND, VARIANCE

SLIPPED = SHARED_DATA / "corpus" / "wrong_verdicts" / "39_reduce_slips"
# Without the check of the cause, so many modules reach another difference.
_TRIALS = 20
# An opcode that the reduced pair still has, in the first or in the second module.
LEFT = {
    "variance": ("multiply", "subtract"),
    "epsilon": ("reduce", "add"),
    "axis": ("reduce", "reduce"),
    "nan": ("log", "log"),
    "integer": ("convert", "convert"),
    "second output": ("add", "subtract"),
}


def opcodes(module: Module) -> list[str]:
    return [operation.opcode for operation in module.operations()]


def parsed(texts: tuple[str, ...]) -> list[Module]:
    return [parse_bytes(text.encode(), "m") for text in texts]


@pytest.fixture
def finder(worker: Worker) -> Finder:
    return Finder(worker, "different")


def cause_of(finder: Finder, modules: list[Module]) -> Cause:
    found = finder.find(modules)
    assert isinstance(found, Cause)
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_the_cause_is_kept(name: str, finder: Finder) -> None:
    modules = parsed(PAIRS[name])
    found = cause_of(finder, modules)
    small = reduce_finding(modules, found, finder.find, _TRIALS)
    shown = cause_of(finder, list(small))
    assert shown.is_like(Cause(0, found.data, found.form, found.size, found.is_rounding))
    assert sum(map(len, map(opcodes, small))) < sum(map(len, map(opcodes, modules)))
    assert all(opcode in opcodes(module) for opcode, module in zip(LEFT[name], small, strict=True))


@pytest.mark.parametrize("name", PAIRS)
def test_without_the_check_the_reduction_drifts(name: str, finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = parsed(PAIRS[name])
    found = cause_of(finder, modules)
    with monkeypatch.context() as careless:
        careless.setattr(Cause, "is_like", lambda cause, other: True)
        careless.setattr(Reduction, "_positions", lambda reduction: range(2))
        careless.setattr(Reduction, "_carries", lambda reduction, before, numbers: True)
        small = reduce_finding(modules, found, finder.find, _TRIALS)
    assert not is_kept(found, finder.find(small), small)


BESIDE = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  s = f32[8] maximum(x, y)
  n = f32[8] negate(s)
  is = pred[8] compare(n, n), direction=EQ
  d = f32[8] add(x, y)
  a = f32[8] abs(d)
  ROOT out = f32[8] select(is, a, x)
}
"""


@pytest.mark.parametrize(("is_careless", "left"), [(False, ["add", "subtract"]), (True, ["maximum", "minimum"])])
def test_an_inner_value_replaces_the_output_only_if_it_carries_the_difference(
    is_careless: bool, left: list[str], finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The maximum differs on the same data by a similar size, and the output does not depend on it for numbers."""
    modules = parsed((BESIDE, BESIDE.replace("maximum", "minimum").replace("add(", "subtract(")))
    found = cause_of(finder, modules)
    if is_careless:
        monkeypatch.setattr(Reduction, "_carries", lambda reduction, before, numbers: True)
    small = reduce_finding(modules, found, finder.find)
    assert [opcodes(module)[0] for module in small] == left


def test_a_contradicted_proof_is_no_difference(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = parsed(NAN)
    assert finder.find(modules) is not None
    monkeypatch.setattr("dialect_utils.verdict.compare.prove", lambda *arguments, **options: ProofResult("equal"))
    assert finder.find(modules) is None


def test_the_command_prints_the_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "a.hlo", tmp_path / "b.hlo"]
    for file, text in zip(files, NAN, strict=True):
        file.write_text(text)
    command = ["reduce", *map(str, files), "-o", str(tmp_path / "small"), "--trials", "5"]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["  kept: output 0 on small whole numbers: NaN in the first"]
    assert main([*command, "--json"]) == 0
    kept = {"output": 0, "data": "small whole numbers", "form": "NaN in the first", "size": None, "is_rounding": False}
    assert json.loads(capsys.readouterr().out)["kept"] == kept


def test_files_that_show_another_difference_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "a.hlo", tmp_path / "b.hlo"]
    for file, text in zip(files, SECOND, strict=True):
        file.write_text(text)
    other = parsed(NAN)
    monkeypatch.setattr("relayout.commands.reduce.reduce_finding", lambda *arguments: other)
    assert main(["reduce", *map(str, files), "-o", str(tmp_path / "small")]) == 1
    assert "the reduced files show output 0 on small whole numbers: NaN in the first, not" in capsys.readouterr().err


@module_pass
def swap_operands(module: HloModule, report: Report) -> None:
    """Exchanges the operands of each subtraction."""
    for operation in list(module.operations()):
        if operation.opcode == "subtract":
            first, second = operation.operands
            operation.set_operand(0, second)
            operation.set_operand(1, first)


def test_the_difference_that_a_pass_makes_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILTIN_PASSES, "swap-operands", __name__)
    file, prefix = tmp_path / "a.hlo", str(tmp_path / "small")
    file.write_text(VARIANCE[0])
    assert main(["reduce", str(file), "-p", "swap-operands", "-o", prefix]) == 0
    out = capsys.readouterr().out
    assert "kept: output 0 on small whole numbers: numbers that differ by about 2 of their magnitude" in out
    assert opcodes(read_module(f"{prefix}.hlo")) == ["constant", "broadcast", "broadcast", "subtract"]


@pytest.mark.shared(SLIPPED)
def test_a_variance_in_two_ways_stays_one(finder: Finder) -> None:
    modules = [read_module(str(SLIPPED / name)) for name in ("a.mlir", "b.mlir")]
    found = cause_of(finder, modules)
    small = reduce_finding(modules, found, finder.find, _TRIALS)
    assert opcodes(small[0]).count("reduce") == 2
    assert cause_of(finder, list(small)).is_rounding
