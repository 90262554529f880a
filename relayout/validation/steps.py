"""The steps of a compilation: which modules of a dump directory follow each other, and the pass that made each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dialect_utils.io.inputs import Input
from dialect_utils.text import Diagnostic, DiagnosticError

_BEFORE, _AFTER = "before_optimizations", "after_optimizations"
# A module that was changed between pipelines is written at the start of the next one.
_START = "start of "
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
        raise DiagnosticError(Diagnostic(message, hint=hint))
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
        raise DiagnosticError(Diagnostic(f"no pass matches {only.pattern}", hint=f"there are {known}"))
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
