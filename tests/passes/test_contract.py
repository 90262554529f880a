"""Every registered pass keeps the contract, on every program here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dialect_utils.execution import Worker
from dialect_utils.files import read_module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import compare_stages
from passes.base import Pass, Report
from passes.pipeline import verify
from passes.registry import BUILTIN_PASSES, load_pass
from relayout.portable import executable_form
from tests.passes.contract import broken_promises, examples, parse, survives_its_text, variants

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted([*(ROOT / "examples").glob("*.hlo"), *(ROOT / "examples").glob("*.mlir")])
# Every pass meets these beside its own lit files; `make campaign` takes all programs to all passes.
SHARED = ("annotate-layouts", "cancel-relayouts", "expand-tiling", "inline-fusions")


def lit_programs(name: str) -> list[Path]:
    """Returns the small programs that a pass is tried on: its own and some of other passes."""
    folders = sorted({name, *SHARED})
    return [path for folder in folders for path in sorted((ROOT / "lit_tests/passes" / folder).glob("basic.*"))]


ON_SMALL = [(name, path) for name in BUILTIN_PASSES for path in lit_programs(name)]
ON_ALL = [*ON_SMALL, *((name, path) for name in BUILTIN_PASSES for path in EXAMPLES)]


def label(value: object) -> str:
    """Returns the name of a test's program or pass."""
    return f"{value.parent.name}/{value.name}" if isinstance(value, Path) else str(value)


SMALL = "// kept\nHloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"


@pytest.mark.parametrize(("name", "program"), ON_ALL, ids=label)
def test_every_pass_keeps_the_contract(name: str, program: Path) -> None:
    text = program.read_text("utf-8")
    for step in variants(load_pass(name)):
        try:
            broken = broken_promises(step, text, str(program))
        except DiagnosticError:
            continue  # refusing is allowed; the lit files say when
        assert broken == [], step


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as shared:
        yield shared


@pytest.mark.parametrize(("name", "program"), ON_SMALL, ids=label)
def test_every_pass_keeps_the_values(name: str, program: Path, worker: Worker) -> None:
    module = read_module(str(program))
    for step in variants(load_pass(name)):
        try:
            verify(module)
            result = step.run(module)
        except DiagnosticError:
            continue  # refusing is allowed; the lit files say when
        if result.modified:
            stages = [executable_form(module), module, result.module, executable_form(result.module)]
            assert compare_stages(stages, worker=worker).verdict == "equal", step


def test_a_pass_that_changes_values_is_found(worker: Worker) -> None:
    module = parse(SMALL, "small")
    wrong = parse(SMALL.replace("negate", "abs"), "small")
    assert compare_stages([module, wrong], worker=worker).verdict == "different"


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_every_pass_is_its_text(name: str) -> None:
    assert all(map(survives_its_text, variants(load_pass(name))))


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_the_example_of_the_docstring_holds(name: str) -> None:
    found = list(examples(load_pass(name)))
    assert found
    for step, before, after in found:
        assert broken_promises(step, before, name) == []
        module = parse(before, "<docstring>")
        assert step.run(module).module.text() == parse(after, "<docstring>").text()


@dataclass(frozen=True)
class EditsItsInput(Pass):
    name: ClassVar[str] = "edits-its-input"

    def run(self, module: Any) -> Any:
        self.apply(module, Report())
        return super().run(module)

    def apply(self, module: Any, report: Report) -> None:
        value = module.entry.results[0]
        value.set_shape(value.shape.with_layout(None))


@dataclass(frozen=True)
class NeverDone(Pass):
    name: ClassVar[str] = "never-done"

    def apply(self, module: Any, report: Report) -> None:
        operation = module.entry.results[0].operation
        module.before(operation).clone(operation, operation.operands, [operation.results[0].shape], name="more")


@dataclass(frozen=True)
class Liar(Pass):
    name: ClassVar[str] = "liar"

    def run(self, module: Any) -> Any:
        return replace(super().run(module), modified=True)

    def apply(self, module: Any, report: Report) -> None:
        """Does nothing."""


@pytest.mark.parametrize(
    ("step", "promise"),
    [
        (EditsItsInput(), "the input stays as it was"),
        (NeverDone(), "a second run changes nothing"),
        (Liar(), "modified is true iff the text changed"),
    ],
)
def test_a_pass_that_breaks_a_promise_is_found(step: Pass, promise: str) -> None:
    assert promise in broken_promises(step, SMALL, "small")
