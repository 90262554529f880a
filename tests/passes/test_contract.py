"""Every registered pass satisfies the contract on every program below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule
from dialect_utils.hlo.module import SoundSignatures
from dialect_utils.io.files import read_module
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import compare_stages
from passes.framework.base import (
    BUILTIN_PASSES,
    COMPILER_FACTS,
    Pass,
    PassResult,
    Report,
    keeping,
    load_pass,
    module_pass,
)
from passes.layouts.verify_layouts import find_problems
from relayout.testing import (
    broken_examples,
    broken_guarantees,
    check_pass,
    compare_values,
    parse,
    survives_its_text,
    variants,
)
from tests.paths import ROOT

if TYPE_CHECKING:
    from passes.framework.base import Fact

EXAMPLES = sorted([*(ROOT / "examples").glob("*.hlo"), *(ROOT / "examples").glob("*.mlir")])
# Every pass runs on these and on its own lit files; `make campaign` runs all passes on all programs.
SHARED = ("annotate-layouts", "cancel-relayouts", "expand-tiling", "inline-fusions")


def lit_programs(name: str) -> list[Path]:
    """Returns the small programs for a pass: its own and some of other passes."""
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
            broken = broken_guarantees(step, text, str(program))
        except DiagnosticError:
            continue  # refusing is allowed; the lit files say when
        assert broken == [], step


@pytest.mark.parametrize(("name", "program"), ON_ALL, ids=label)
def test_what_a_pass_left_is_not_verified_again_and_nothing_is_missed(name: str, program: Path) -> None:
    module = parse(program.read_text("utf-8"), str(program))
    before = list(find_problems(module))
    for step in variants(load_pass(name)):
        try:
            result = step.run(module).module
        except DiagnosticError:
            continue
        if isinstance(result, HloModule):
            known = list(find_problems(result))
            result.sound = SoundSignatures()
            assert known == list(find_problems(result))
    assert before == list(find_problems(module))


@pytest.mark.parametrize(("name", "program"), ON_SMALL, ids=label)
def test_every_pass_keeps_the_values(name: str, program: Path, worker: Worker) -> None:
    module = read_module(str(program))
    compared = set()
    for step in variants(load_pass(name)):
        try:
            text = step.run(module).module.text()
            # Many targets have the same tiles.
            verdict = None if text in compared else compare_values(step, module, worker)
        except DiagnosticError:
            continue  # refusing is allowed; the lit files say when
        compared.add(text)
        assert verdict is None or verdict.found_no_difference, step


# A scheduled module with all that a compiler needs, and changed lines of it, by the fact that they break.
SCHEDULED = """HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY e {
  p = f32[4,8]{1,0:T(8,128)} parameter(0), sharding={replicated}
  a = f32[4,8]{1,0:T(8,128)S(1)} negate(p), backend_config={"flag":"1"}, metadata={op_name="a"}
  b = f32[4,8]{1,0:T(8,128)} abs(p), control-predecessors={a}, frontend_attributes={kept="yes"}
  ROOT c = f32[4,8]{1,0:T(8,128)} add(a, b)
}
"""
NEGATED, ABSOLUTE = SCHEDULED.splitlines()[4:6]
BROKEN: list[tuple[Fact, str, str]] = [
    ("schedule", f"{NEGATED}\n{ABSOLUTE}", f"{ABSOLUTE.replace(', control-predecessors={a}', '')}\n{NEGATED}"),
    ("schedule", "is_scheduled=true, ", ""),
    ("aliases", "may-alias", "must-alias"),
    ("memory-spaces", "S(1)", ""),
    ("control-dependencies", ", control-predecessors={a}", ""),
    ("attributes", '"1"', '"2"'),
    ("attributes", 'op_name="a"', 'op_name="b"'),
    ("attributes", 'kept="yes"', 'kept="no"'),
    ("attributes", ", sharding={replicated}", ""),
]


@pytest.mark.parametrize(("fact", "old", "new"), BROKEN)
def test_a_pass_that_loses_what_it_keeps_is_found(fact: Fact, old: str, new: str) -> None:
    class Loses(Pass):
        def run(self, module: Any) -> Any:
            changed = module.text().replace(old, new)
            return PassResult(parse(changed, "changed"), changed != module.text())

    step = keeping(*COMPILER_FACTS)(Loses(do_nothing.function, ()))
    assert old in SCHEDULED
    assert f"it keeps {fact}" in broken_guarantees(step, SCHEDULED, "scheduled")
    kept = [each for each in COMPILER_FACTS if each != fact]
    others = broken_guarantees(keeping(*kept)(Loses(do_nothing.function, ())), SCHEDULED, "scheduled")
    assert not any(each.startswith("it keeps") for each in others) or fact == "schedule"


KEEPING = [name for name in BUILTIN_PASSES if load_pass(name).keeps]
_CORPUS = ROOT / "tests" / "corpus"
SCHEDULED_DUMPS = [
    *(_CORPUS / "hlo").glob("by_hand_*.hlo"),
    *(_CORPUS / "hlo").glob("switch_in_scan_tpu_*.hlo"),
    *(_CORPUS / "gpu").glob("s*_plain.hlo"),
    *(_CORPUS / "gpu_dumps").glob("[e-f]*/gpu.hlo"),
    *(_CORPUS / "tpu").glob("[c-d]*/tpu.hlo"),
]


@pytest.mark.parametrize("name", KEEPING)
def test_what_compilers_need_of_a_scheduled_module_stays(name: str) -> None:
    step, changed = load_pass(name), 0
    assert step.with_options().keeps == COMPILER_FACTS
    texts = {str(path): path.read_text("utf-8") for path in SCHEDULED_DUMPS}
    own = ROOT / "lit_tests/passes" / name / "basic.hlo"
    texts[str(own)] = own.read_text("utf-8").replace("\nHloModule m", "\nHloModule m, is_scheduled=true", 1)
    for path, text in texts.items():
        if "is_scheduled=true" not in text:
            continue
        try:
            broken = broken_guarantees(step, text, path)
            changed += step.run(parse(text, path)).modified
        except DiagnosticError:
            continue
        assert broken == [], path
    assert changed > (3 if name in ("form-bitcasts", "normalize-layouts") else 0)


def test_a_pass_that_changes_values_is_found(worker: Worker) -> None:
    module = parse(SMALL, "small")
    wrong = parse(SMALL.replace("negate", "abs"), "small")
    assert compare_stages([module, wrong], worker=worker).verdict == "different"


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_every_pass_is_its_text(name: str) -> None:
    assert all(map(survives_its_text, variants(load_pass(name))))


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_the_example_of_the_docstring_holds(name: str) -> None:
    assert broken_examples(load_pass(name)) == []


class EditsItsInput(Pass):
    def run(self, module: Any) -> Any:
        self.apply(module, Report())
        return super().run(module)


@dataclass(frozen=True, repr=False)
class Liar(Pass):
    def run(self, module: Any) -> Any:
        return replace(super().run(module), modified=True)


@module_pass
def drop_layout(module: Module, report: Report) -> None:
    """Drops a layout."""
    value = module.entry.results[0]
    value.set_shape(value.shape.without_layout)


@module_pass
def never_done(module: Module, report: Report) -> None:
    """Adds one more op each time."""
    operation: Any = module.entry.results[0].operation
    module.before(operation).clone(operation, operation.operands, [operation.results[0].shape], name="more")


@module_pass
def do_nothing(module: Module, report: Report) -> None:
    """Does nothing."""


@module_pass
def wrong_example(module: Module, report: Report) -> None:
    """Does nothing.

    Before:
        HloModule m
        ENTRY e {
          ROOT p = f32[3] parameter(0)
        }

    After:
        HloModule m
        ENTRY e {
          ROOT q = f32[3] parameter(0)
        }
    """


@module_pass
def negate_twice(module: Module, report: Report) -> None:
    """Computes something else.

    Before:
        HloModule m
        ENTRY e {
          ROOT p = f32[3] parameter(0)
        }

    After:
        HloModule m
        ENTRY e {
          ROOT p = f32[3] parameter(0)
        }
    """
    root: Any = module.entry.results[0].operation
    if root is not None and root.opcode == "negate":
        operand = module.before(root).clone(root, root.operands, [root.results[0].shape], name="once")[0]
        root.set_operand(0, operand)
        root.set_attribute("frontend_attributes", '{done="1"}')


@pytest.mark.parametrize(
    ("step", "guarantee"),
    [
        (EditsItsInput(drop_layout.function, ()), "the input stays as it was"),
        (never_done, "a second run changes nothing"),
        (Liar(do_nothing.function, ()), "modified is true iff the text changed"),
    ],
    ids=str,
)
def test_a_pass_that_breaks_a_guarantee_is_found(step: Pass, guarantee: str) -> None:
    assert guarantee in broken_guarantees(step, SMALL, "small")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (do_nothing, "its docstring has a `Before:`"),
        (wrong_example, "example 1: wrong-example gives"),
        (negate_twice, "results are different"),
    ],
    ids=str,
)
def test_check_pass_names_what_is_broken(step: Pass, message: str, tmp_path: Path, worker: Worker) -> None:
    program = tmp_path / "small.hlo"
    program.write_text(SMALL)
    with pytest.raises(AssertionError, match=message):
        check_pass(step, [program], worker)
