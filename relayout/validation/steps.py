"""The steps of a compilation, and what was found at each: as text, as JSON and as tables of a notebook.

A step is a pass and the modules before and after it, which follow each other in a dump directory.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import dropwhile, groupby, pairwise
from typing import Any

from dialect_utils.io.inputs import Input
from dialect_utils.text import DiagnosticError
from dialect_utils.text.html import html_details, html_table, html_text
from relayout.command import read_finding

_BEFORE, _AFTER = "before_optimizations", "after_optimizations"
# A module that was changed between pipelines is written at the start of the next one.
_START = "start of "
# The pass of XLA that hands a module over and gets it back.
_INSERTED = "apply-xla-transforms"
# The label, and in place of a pass's name, of the whole compilation.
_WHOLE, _WHOLE_CHANGE = "whole", f"{_BEFORE} to {_AFTER}"


@dataclass(frozen=True, slots=True)
class Step:
    """Two modules of one program: what a pass was given, and what it made of it.

    `number` counts the steps of the program from 1; 0 is the whole compilation. `change` is the pass that changed the
    module last; where no pass of a pipeline did, it says at which point of the compilation the second one was written.
    """

    program: str
    number: int
    pipeline: str
    change: str
    before: Input
    after: Input

    @classmethod
    def of(cls, label: str, inputs: Sequence[Input]) -> Step:
        """Returns the step with a `label`, and its two modules."""
        number, _, program = label.partition(" ")
        before, after = inputs
        if number == _WHOLE:
            return cls(program, 0, "", _WHOLE_CHANGE, before, after)
        return cls(program, int(number), *_change(after), before, after)

    @property
    def label(self) -> str:
        """Returns the number of the compilation and the name of the program, in which `of` finds the modules."""
        return f"{_WHOLE if self.is_whole else self.number} {self.program}"

    @property
    def is_whole(self) -> bool:
        """Is true for the whole compilation."""
        return self.number == 0


def find_steps(inputs: Sequence[Input], folder: str) -> list[Step]:
    """Returns the steps of all programs among the files of a dump directory, each program's whole compilation last.

    Raises DiagnosticError where no program has two modules. `folder` is the name of the directory in the message.
    """
    return [step for name, members in find_programs(inputs, folder).items() for step in _steps_of(name, members)]


def program_key(file: Input) -> tuple[object, ...]:
    """Returns the number, the name and the directory that the modules of one compilation share."""
    return file.dump.number, file.dump.module, os.path.dirname(file.relative)


def find_programs(inputs: Sequence[Input], folder: str) -> dict[str, list[Input]]:
    """Returns the modules of each program among the files of a dump directory, in the order of compilation.

    Raises DiagnosticError where no program has two modules. `folder` is the name of the directory in the message.
    """
    programs: dict[tuple[object, ...], list[Input]] = {}
    for each in inputs:
        if each.dump.place_in_compilation is not None:
            programs.setdefault(program_key(each), []).append(each)
    found = {}
    for members in programs.values():
        first, *others = ordered = sorted(members, key=lambda each: each.dump.place_in_compilation or ())
        if others:
            name = os.path.join(os.path.dirname(first.relative), f"{first.dump.label}.{first.dump.module}")
            found[name] = ordered
    if not found:
        hint = "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*' writes the modules"
        message = f"{folder}: no two modules of one compilation, such as module_0000.jit_f.{_BEFORE}.txt"
        raise DiagnosticError(message, hint=hint)
    return found


def chosen_steps(steps: Sequence[Step], only: re.Pattern[str] | None) -> list[Step]:
    """Returns the steps whose pass or pipeline matches a pattern, without whole compilations; None: all steps.

    Raises DiagnosticError where none matches.
    """
    if only is None:
        return list(steps)
    found = [each for each in steps if not each.is_whole and any(map(only.search, (each.change, each.pipeline)))]
    if not found:
        known = ", ".join(dict.fromkeys(each.change for each in steps if not each.change.startswith(_START)))
        raise DiagnosticError(f"no pass matches {only.pattern}", hint=f"there are {known}")
    return found


def steps_from_insertion(steps: Sequence[Step]) -> list[Step]:
    """Returns the steps of each program from that of the inserted passes on, and its whole compilation.

    Raises DiagnosticError where the passes changed no program.
    """
    found: list[Step] = []
    for _, members in groupby(steps, lambda each: each.program):
        found += dropwhile(lambda each: not each.change.startswith(_INSERTED), members)
    if not found:
        raise DiagnosticError("the passes change no module that the compiler hands over")
    return found


def _steps_of(program: str, ordered: Sequence[Input]) -> list[Step]:
    steps = [
        Step(program, number, *_change(after), before, after)
        for number, (before, after) in enumerate(pairwise(ordered), 1)
    ]
    ends = [each for name in (_BEFORE, _AFTER) for each in ordered if each.dump.is_stage(name)]
    if len(ends) > 1 and len(steps) > 1:
        steps.append(Step(program, 0, "", _WHOLE_CHANGE, ends[0], ends[-1]))
    return steps


def _change(after: Input) -> tuple[str, str]:
    pipeline, name = after.dump.change
    if name:
        return pipeline, name
    return pipeline, f"{_START}{pipeline}" if pipeline else after.dump.short_stage


ANSWERS = ("equal", "equal-if", "agrees", "close", "unknown", "different")
# The method of steps that change no text, or only names and metadata, and that of a pass that makes no module.
TEXT, FAILED = "text", "failed"
# The begin of a file that has the reason in place of the module after a pass.
FAILED_PASS = "// no module: "
# The most steps whose reasons a summary names.
_SHOWN = 5
_ULPS = re.compile(r"\d+ ulps?")
_UNSAFE = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Reduced:
    """A smaller pair of modules that shows the difference of a step; `files` are empty until they are written."""

    before: str
    after: str
    suffix: str
    kept: str
    files: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """Returns the command that shows the difference, empty where no files are written."""
        return f"relayout check {' '.join(map(shlex.quote, self.files))}" if self.files else ""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The verdict on one step: `verdict` is one of `check`, `said` has the lines of its evidence.

    `methods` are those that decided; `text` stands for modules that differ in names and metadata only, or in nothing.
    `difference` is what changed in the text of the module, if that was asked for. `how` is the class of a difference
    of results, such as `in NaN` or `by 2 ulps`.
    """

    program: str
    number: int
    pipeline: str
    change: str
    before: str
    after: str
    verdict: str
    methods: tuple[str, ...] = ()
    up_to: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    how: str = ""
    assumptions: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    seconds: float = 0.0
    difference: str = ""
    reduced: Reduced | None = None

    @classmethod
    def of(cls, step: Step, verdict: str, **found: Any) -> StepResult:
        """Returns the result of a step."""
        names = step.before.name, step.after.name
        return cls(step.program, step.number, step.pipeline, step.change, *names, verdict, **found)

    @property
    def is_whole(self) -> bool:
        """Is true for the whole compilation."""
        return self.number == 0

    @property
    def label(self) -> str:
        """Returns the name of the step in messages: `step 12 of module_0000.jit_f (algsimp of simplification-1)`."""
        number = "the whole" if self.is_whole else f"step {self.number}"
        return f"{number} of {self.program} ({self.name})"

    @property
    def name(self) -> str:
        """Returns the pass and its pipeline: `algsimp of simplification-1`."""
        is_named = self.pipeline and self.pipeline not in self.change
        return f"{self.change} of {self.pipeline}" if is_named else self.change

    @property
    def reason(self) -> str:
        """Returns the evidence in one line, empty where there is none."""
        return "; ".join(self.said)

    @property
    def answer(self) -> str:
        """Returns the verdict, what it leaves open, what it assumes, and the methods that decided."""
        from dialect_utils.verdict.outcome import answer_text

        answer = answer_text(self.verdict, self.up_to, self.conditions, self.how)
        answer += "".join(f" [{each}]" for each in self.assumptions)
        return answer + (f" ({', '.join(self.methods)})" if self.methods else "")

    @property
    def file_stem(self) -> str:
        """Returns a name for files about this step: program, number and pass, without characters of other kinds."""
        return _UNSAFE.sub("_", f"{self.program}.{self.number:04}.{self.change}")

    @property
    def line(self) -> str:
        """Returns the line of a terminal: number, pass, answer and time."""
        number = "whole" if self.is_whole else f"{self.number:5}"
        return f"{number}  {self.answer:24}  {self.seconds:6.1f} s  {self.name}"

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name, and the command that shows a reduced pair."""
        found = asdict(self)
        if self.reduced is not None:
            found["reduced"]["command"] = self.reduced.command
        return found

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> StepResult:
        """Returns the result of `as_json`; raises ValueError for values of other types."""
        pair = described.get("reduced")
        reduced = None if pair is None else read_finding(Reduced, pair)
        result = replace(read_finding(cls, {**described, "reduced": None}), reduced=reduced)
        if result.verdict not in ANSWERS:
            raise ValueError(f"no verdict: {result.verdict}")
        return result


@dataclass(frozen=True, slots=True)
class Validation:
    """The results of all steps of a compilation, or of several; of each program the whole compilation is the last."""

    results: tuple[StepResult, ...]

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """Returns the results of the steps, without those of whole compilations."""
        return tuple(each for each in self.results if not each.is_whole)

    @property
    def wholes(self) -> tuple[StepResult, ...]:
        """Returns the results of whole compilations, one a program."""
        return tuple(each for each in self.results if each.is_whole)

    @property
    def first_difference(self) -> StepResult | None:
        """Returns the first step that is different, None where there is none."""
        return next((each for each in self.steps if each.verdict == "different"), None)

    @property
    def verdict(self) -> str:
        """Returns the most severe verdict of all steps and wholes."""
        return max((each.verdict for each in self.results), key=ANSWERS.index, default="unknown")

    @property
    def counts(self) -> str:
        """Returns how many steps have each verdict: `75 steps: 70 equal (61 of them the same text), 5 agrees`."""
        found = Counter(each.verdict for each in self.steps)
        same = sum(each.methods == (TEXT,) for each in self.steps)
        texts = {"equal": f" ({same} of them by their text)"} if same else {}
        classes = Counter(
            _ULPS.sub("ulps", each.how) for each in self.steps if each.verdict == "different" and each.how
        )
        if classes:
            texts["different"] = f" ({', '.join(f'{number} {how}' for how, number in classes.items())})"
        parts = [f"{found[name]} {name}{texts.get(name, '')}" for name in ANSWERS if found[name]]
        count = len(self.steps)
        return f"{count} step{'s' * (count != 1)}: {', '.join(parts)}"

    @property
    def lines(self) -> list[str]:
        """Returns the first step that is different with its evidence, or a summary."""
        first = self.first_difference
        rest = [self.counts, *self._open, *(f"the whole of {each.program}: {each.answer}" for each in self.wholes)]
        if first is None:
            return ["no step is different", *rest]
        found = [f"the first difference: {first.label}"]
        found += [f"  {line}" for line in first.said]
        if first.reduced is not None:
            command = first.reduced.command or "--reduced-dir DIR writes the two modules that still differ"
            found += [f"  reduced: {command}", f"  kept: {first.reduced.kept}"]
        return [*found, *rest]

    @property
    def _open(self) -> list[str]:
        """Returns why steps are unknown, for the first ones."""
        found = [each for each in self.results if each.verdict == "unknown"]
        lines = [f"  {each.label} is unknown: {each.reason}" for each in found[:_SHOWN]]
        left = len(found) - len(lines)
        return [*lines, *([f"  {left} more are unknown, as their lines say; --json has the reasons"] if left else [])]

    def as_json(self) -> dict[str, Any]:
        """Returns the verdict, the counts, and all results as JSON has them."""
        first = self.first_difference
        return {
            "verdict": self.verdict,
            "counts": dict(Counter(each.verdict for each in self.steps)),
            "first_difference": None if first is None else first.as_json(),
            "results": [each.as_json() for each in self.results],
        }

    def __str__(self) -> str:
        """Returns a line for each step, then the first that is different, or a summary."""
        return "\n".join([*lines_of(self.results), *self.lines])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: what was found, and a table of all steps that changed more than the text."""
        head, *said = self.lines
        parts = [f"<p><b>{html_text(head)}</b></p>", *(f"<p>{html_text(line)}</p>" for line in said)]
        changed = [each for each in self.results if each.methods != (TEXT,)]
        header = ("step", "pipeline", "pass", "verdict", "evidence", "time")
        table = html_table(header, map(_row, changed))
        parts.append(html_details("all steps", html_table(header, map(_row, self.results))))
        return table.join(("".join(parts[:-1]), parts[-1]))


def _row(each: StepResult) -> Sequence[str]:
    number = "whole" if each.is_whole else str(each.number)
    return number, each.pipeline, each.change, each.answer, each.reason, f"{each.seconds:.1f} s"


def lines_of(results: Sequence[StepResult]) -> list[str]:
    """Returns a heading for each program, and a line for each of its results."""
    lines: list[str] = []
    program = None
    for each in results:
        if each.program != program:
            program = each.program
            lines.append(f"{program}:")
        lines.append(each.line)
    return lines
