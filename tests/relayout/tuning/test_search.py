"""The search, with a compiler whose answers are known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest

from dialect_utils.execution.compilers import Figures
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from relayout.tuning import candidates as programs, search as room
from relayout.tuning.changes import as_stablehlo, change_of
from relayout.tuning.page import tuning_json, tuning_page
from relayout.tuning.search import Search, Tuning
from relayout.tuning.trials import Measured, Trial, read_trials
from tests.relayout.tuning.compilers import GATHER, PROGRAM, Compiler

AUTO = ("auto", "auto", "auto")


def tuned(compiler: Callable[[str], Figures], text: str = PROGRAM, **options: object) -> Tuning:
    module = as_stablehlo(parse_bytes(text.encode(), "m.mlir"))
    measured = Measured(lambda texts: map(compiler, texts), "tpu-v5e", "compiler 1")
    return Search(module, measured, **options).run()  # type: ignore[arg-type]  # the options of a test


def test_the_first_trials_are_the_program_as_it_is_and_auto() -> None:
    tuning = tuned(Compiler({}), budget=2)
    start = change_of(as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir")))
    assert [each.change for each in tuning.trials] == [start, start.with_modes("auto")]
    assert tuning.best == tuning.start
    assert tuning.proof == ""
    assert "no change makes the peak of the program 1% smaller, with a proof" in tuning_page(tuning, 200)


def test_the_best_layouts_are_found_one_array_after_the_other_and_proved() -> None:
    tuning = tuned(Compiler({("{0,1}",): 900, ("{0,1}", "{0,1}"): 800, AUTO: 2000}))
    assert tuning.best.change.described(tuning.start.change) == "argument 0 {0,1}, result 0 {0,1}"
    assert tuning.best.figures.peak == 800
    assert tuning.proof.startswith("equal (proof): every output is proved the same")
    assert tuning.program.layout_modes == (("{0,1}", "default"), ("{0,1}",))
    page = tuning_page(tuning, 200)
    assert "AUTO" in page
    assert "800 B -20%" in page


def test_auto_is_the_best_where_it_is() -> None:
    tuning = tuned(Compiler({AUTO: 700}))
    assert tuning.best.change.described(tuning.start.change) == "AUTO"


def test_no_more_programs_are_compiled_than_the_budget_allows() -> None:
    compiler = Compiler({})
    assert len(tuned(compiler, budget=3).trials) == len(compiler.seen) == 3


def test_a_pass_is_tried_and_its_program_is_proved() -> None:
    tuning = tuned(Compiler({}, gathers=10, layouts=("{1,0}", "{1,0}")), GATHER)
    assert tuning.best.change.passes == "split-minor"
    assert tuning.proof.startswith("equal (proof)")
    assert tuning.program.text().count("stablehlo.gather") > 3


def test_passes_of_any_candidates_are_tried_after_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def candidates(module: Module, target: str) -> Iterator[str]:
        yield "split-minor{most=2}"
        yield "no-such-pass"
        yield "split-minor{most=4}"

    monkeypatch.setattr(programs, "_CANDIDATES", (candidates,))
    compiler = Compiler({}, gathers=10, layouts=("{1,0}", "{1,0}"))
    tuning = tuned(compiler, GATHER)
    # The first candidate changes no rows of 3, and after the last one nothing is left to split.
    assert {trial.change.passes for trial in tuning.trials} == {"", "split-minor{most=4}"}
    assert tuning.best.change.passes == "split-minor{most=4}"


def test_a_program_without_a_proof_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "proved_equal", lambda module, changed: (False, "output 0 differs"))
    tuning = tuned(Compiler({}, gathers=10, layouts=("{1,0}", "{1,0}")), GATHER)
    assert tuning.best == tuning.start
    assert (
        "not offered: split-minor: no proof that it is equal to the program as it is: output 0 differs"
        in tuning_page(tuning, 200)
    )


@pytest.mark.parametrize(("peak", "is_offered"), [(990, True), (991, False)])
def test_nothing_is_offered_without_a_notable_gain(peak: int, is_offered: bool) -> None:
    told: list[bool] = []
    tuning = tuned(Compiler({AUTO: peak}), budget=2, told=lambda trial, is_best: told.append(is_best))
    assert (tuning.best != tuning.start) == is_offered
    assert told == [True, is_offered]


def test_a_program_that_fits_is_better_than_one_that_does_not_and_less_memory_is_better() -> None:
    tuning = tuned(Compiler({(): -130, AUTO: -20, ("{0,1}", "auto", "auto"): 5}, otherwise=-200))
    assert tuning.best.figures.peak == 5
    page = tuning_page(tuning, 200)
    assert "out of memory: 130 GiB" in page
    assert "out of memory: 20 GiB" in page


def test_a_worse_figure_is_told_and_a_time_that_is_not_positive_never_wins() -> None:
    def figures(text: str) -> Figures:
        if "{0,1}" in text:
            return Figures(500, 1, 1, 0, 1, 2040, -1.0, ("{0,1}", "{0}"), ("{1,0}",))
        return Figures(1000, 1, 1, 0, 1, 2000, 1.0, ("{1,0}", "{0}"), ("{1,0}",))

    tuning = tuned(figures)
    page = tuning_page(tuning, 200)
    assert "but its bytes accessed is 2.0% larger" in page
    assert "not positive" in page
    assert tuned(figures, objective="time").best.figures.seconds == 1.0


def test_trials_are_read_again_and_nothing_is_compiled_twice() -> None:
    texts: list[str] = []
    module = as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir"))
    compiler = Compiler({("{0,1}",): 900})
    first = Search(module, Measured(compiler.compile_all, "tpu-v5e", "compiler 1", texts.append), budget=4).run()
    assert len(texts) == 4
    known = dict(read_trials(texts[-1], "trials.json"))
    again = Compiler({})
    second = Search(module, Measured(again.compile_all, "tpu-v5e", "compiler 1", known=known), budget=4).run()
    assert again.seen == []
    assert second.trials == first.trials
    Search(module, Measured(again.compile_all, "tpu-v5e", "compiler 2", known=known), budget=1).run()
    Search(module, Measured(again.compile_all, "tpu-v4", "compiler 1", known=known), budget=1).run()
    assert len(again.seen) == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"relayout trials": 1, "trials": {}}', '{"relayout trials": 2}'])
def test_another_file_is_no_file_of_trials(text: str) -> None:
    with pytest.raises(DiagnosticError, match=r"t.json is no file of --trials"):
        read_trials(text, "t.json")


def test_every_trial_is_told_and_the_json_has_all() -> None:
    told: list[tuple[Trial, bool]] = []
    tuning = tuned(Compiler({AUTO: 1}), told=lambda trial, is_best: told.append((trial, is_best)))
    assert [trial for trial, _ in told] == [*tuning.trials]
    assert [is_best for _, is_best in told][:3] == [True, True, False]
    found = json.loads(json.dumps(tuning_json(tuning)))
    assert found["best"] == 1
    assert found["trials"][1]["change"]["parameters"] == ["auto", "auto"]


def test_hlo_is_no_program_of_the_compiler() -> None:
    module = parse_bytes(b"HloModule m\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n", "m.hlo")
    with pytest.raises(DiagnosticError, match="m is HLO; the compiler is given the StableHLO"):
        as_stablehlo(module)


class Inside:
    """A module inside of a compiler that passes a and b make smaller, b only after a, and that pass x breaks."""

    peaks: ClassVar = {"b": 990, "a": 900, "a,b": 800, "a,b,c": 800}
    seen: ClassVar[list[str]] = []

    def __init__(self, module: Module) -> None:
        self.seen.clear()

    def __enter__(self) -> Inside:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def after(self, passes: str) -> list[str]:
        return {"": ["x", "a", "d"], "a": ["x", "b"], "a,b": ["x", "a", "c"]}[passes]

    def figures(self, passes: str) -> Figures:
        self.seen.append(passes)
        return Figures(peak=self.peaks[passes]) if passes in self.peaks else Figures(error="no proof")


def test_passes_inside_are_added_to_the_best_program_while_they_make_it_better() -> None:
    tuning = tuned(Compiler({AUTO: 950}), budget=3, inside=18, enter=Inside)
    # The unchanged program comes second.
    assert Inside.seen == ["x", "a", "a,b", "a,b,c"]
    assert tuning.best.change.described(tuning.start.change) == "AUTO, inside: a,b"
    assert tuning.proof.startswith("equal (proof)")
    assert tuning.program.layout_modes == (("auto", "auto"), ("auto",))
    page = tuning_page(tuning, 200)
    assert re.search(r"AUTO, inside: x +rejected: no proof", page)
    assert "relayout opt OUT --inside tpu-v5e -p 'a,b'" in page
    changes = [each.change.described(tuning.start.change) for each in tuning.trials[3:]]
    assert changes[:2] == ["AUTO, inside: x", "AUTO, inside: a"]
    assert changes[4:6] == ["inside: x", "inside: a"]
    tuned(Compiler({AUTO: 950}), budget=3, inside=5, enter=Inside)
    assert Inside.seen == ["x", "a"]
