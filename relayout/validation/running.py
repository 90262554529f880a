"""Pipelines of other tools: runs each pass by itself, and writes the modules as a compiler dumps them.

The passes are those of `--passes`, or those of the RUN lines of a lit file:

    // RUN: my-opt %s --first --pass-pipeline='builtin.module(func.func(second))' -split-input-file | FileCheck %s
"""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import TYPE_CHECKING

from dialect_utils.io.files import decode, encode, parse_bytes
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.ir import Module
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import Diagnostic, DiagnosticError, Source
from dialect_utils.tools.conversion import in_dialect_of
from passes.framework.spec import PassText, parse_innermost, single_passes, split, without_braces
from relayout.output import write_output
from relayout.validation.steps import FAILED_PASS, Step

if TYPE_CHECKING:
    from dialect_utils.execution.pass_runner import PassRunner

# The passes of each file in the directory of modules, for a later search within one of them.
_RECORD = "passes.json"
_TEXTS = ("mlir text", None)
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_RUN = re.compile(r"^.*?\bRUN:(.*)$", re.MULTILINE)
# Arguments of tools like mlir-opt that are no passes; of the first ones a case has nothing left to say.
_DONE = re.compile(r"-*(?:split-input-file|verify-diagnostics|o$|mlir-print|print-ir|debug|stats|time-passes)")
_NO_PASS = re.compile(
    r"-*(?:mlir-|allow-unregistered-dialect|verify-(?:each|roundtrip)|emit-bytecode|no-implicit-module|irdl-file|load-"
    r"|show-dialects|color|x$)"
)
# Words before the name of a tool.
_ENVIRONMENT = re.compile(r"env|\w+=.*")
_PIPELINES = ("pass-pipeline", "passes")
# Those of lists in options.
_SEPARATORS = (";", ",")
_UNSAFE = re.compile(r"[^\w+-]+")
_LONGEST = 100
# The dialects whose operations a step is judged by.
_JUDGED = ("builtin", "func", "stablehlo", "mhlo", "chlo", "sdy", "mpmd")


@dataclass(frozen=True, slots=True)
class ToolPass:
    """One pass: its text in MLIR's syntax, and the arguments of a RUN line that ask for it."""

    text: str
    flags: tuple[str, ...]

    @property
    def parsed(self) -> PassText:
        """Returns the pass without its anchors; raises DiagnosticError."""
        return parse_innermost(self.text)

    @classmethod
    def of_pipeline(cls, pipeline: str, flags: Sequence[str] = ()) -> list[ToolPass]:
        """Returns the passes of a pipeline, each with the `flags` of all; raises DiagnosticError."""
        return [cls(each, (*flags, _flag(each))) for each in single_passes(Source("<passes>", pipeline))]


def _flag(single: str) -> str:
    anchored = single if single.startswith("builtin.module(") else f"builtin.module({single})"
    return f"--pass-pipeline={anchored}"


@dataclass(frozen=True, slots=True)
class Case:
    """One module of a file, and the passes to run on it; or why the file has none."""

    name: str
    text: str
    passes: Sequence[ToolPass] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Stage:
    """The module after passes, of which only the last one makes a module that can be judged; or why there is none."""

    passes: Sequence[ToolPass]
    text: str
    module: Module | None = None
    failure: str = ""


def cases_of(read: Input, pipeline: str | None) -> list[Case]:
    """Returns the modules of a file with the passes of a pipeline, or with those of each of its RUN lines (None).

    Raises DiagnosticError for a file that cannot be read, and for a pipeline of another syntax.
    """
    is_text = read.kind in _TEXTS
    text = decode(read.data()) if is_text else in_dialect_of("stablehlo", read.module()).text()
    lists = [ToolPass.of_pipeline(pipeline)] if pipeline is not None else list(_passes_of_lines(text))
    parts = [part for part in _SPLIT.split(text) if "func" in part or part == text]
    return [
        Case("-".join([read.stem, *([str(number)] if len(parts) > 1 else []), *line]), part, passes)
        for run, passes in enumerate(lists, 1)
        for line in [[f"run{run}"] if len(lists) > 1 else []]
        for number, part in enumerate(parts, 1)
    ]


def _passes_of_lines(text: str) -> Iterator[list[ToolPass]]:
    joined, known = "", list[list[ToolPass]]()
    for match in _RUN.finditer(text):
        joined += match[1].strip()
        if joined.endswith("\\"):
            joined = joined[:-1] + " "
            continue
        found = _passes_of_line(joined)
        joined = ""
        if found and found not in known:
            known.append(found)
            yield found


def _passes_of_line(line: str) -> list[ToolPass]:
    """Returns the passes of a RUN line, empty for one that is expected to fail and for other commands."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    words.whitespace_split, words.commenters = True, ""
    commands: list[list[str]] = [[]]
    try:
        for word in words:
            if set(word) <= set("|&;"):
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:
        return []
    found: list[ToolPass] = []
    for command in commands:
        tool, *arguments = [*dropwhile(_ENVIRONMENT.fullmatch, command)] or [""]
        if "opt" not in os.path.basename(tool).lower():
            break
        found += _passes_of_arguments(arguments)
    return found


def _passes_of_arguments(words: Sequence[str]) -> Iterator[ToolPass]:
    flags = [word for word in words if word.startswith("-") and not _DONE.match(word)]
    rest = [word for word in flags if _NO_PASS.match(word)]
    for word in (each for each in flags if each not in rest):
        name, _, value = word.lstrip("-").partition("=")
        if name in _PIPELINES:
            yield from ToolPass.of_pipeline(value or "".join(words[words.index(word) + 1 :][:1]), rest)
        elif name:
            options = value if value.startswith("{") else f"{{{value}}}" if value else ""
            yield ToolPass(name + options, (*rest, word))


def run_pipelines(files: Sequence[str], pipeline: str | None, runner: PassRunner, folder: str) -> list[Diagnostic]:
    """Runs the passes on all modules of files, and writes each module into a folder; returns the files left out.

    Each function is a program of its own, with this function as its entry. Raises DiagnosticError without any module.
    """
    record: dict[str, list[tuple[str, Sequence[str]]]] = {}
    left_out: list[str] = []
    number, tool = 0, _safe(os.path.basename(runner.tool.split()[0]))
    for read in find_inputs(files).modules:
        try:
            cases = cases_of(read, pipeline)
        except DiagnosticError as error:
            # A row says so.
            cases = [Case(read.stem, "", failure=error.diagnostics[0].message)]
        if not cases:
            left_out.append(read.name)
        for case in cases:
            stages = list(_stages(case, runner))
            for name in _entries(stages[0]):
                program = f"module_{number:04}.{_safe(case.name)}@{_safe(name or 'module')}"
                number += 1
                for (file, made), stage in zip(_written(program, tool, name, stages), stages, strict=False):
                    record[file] = [(each.text, each.flags) for each in stage.passes]
                    write_output(os.path.join(folder, file), encode(made))
    others = f", and {len(left_out) - 1} other files" if left_out[1:] else ""
    said = [Diagnostic(f"{name} has no RUN line with passes{others}", severity="note") for name in left_out[:1]]
    if not number:
        hint = "// RUN: my-opt %s --first --second | FileCheck %s, or --passes 'first,second'"
        raise DiagnosticError(*(replace(each, severity="error", hint=hint) for each in said))
    write_output(os.path.join(folder, _RECORD), encode(json.dumps(record)))
    return said


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[-_LONGEST:]


def _stages(case: Case, runner: PassRunner) -> Iterator[_Stage]:
    if case.failure:
        yield from [_Stage((), "", failure=case.failure)] * 2
        return
    module, reason = _read(case.text, case.name)
    yield _Stage((), case.text, module, reason)
    text, waiting, known = case.text, list[ToolPass](), _dialects(module)
    for number, each in enumerate(case.passes, 1):
        waiting.append(each)
        try:
            text = runner.run(text, each.text, each.flags)
        except DiagnosticError as error:
            later = "; the passes after it did not run" if number < len(case.passes) else ""
            yield _Stage(waiting, "", failure=f"{each.text} failed: {error.diagnostics[0].message}{later}")
            return
        module, reason = _read(text, f"after {each.text}")
        # VHLO, whose functions are no `func.func`, and others are judged once a later pass has made StableHLO of them.
        is_judged = module is not None and any(module.functions) and _dialects(module) <= known
        if is_judged or number == len(case.passes):
            yield _Stage(waiting, text, module, "" if module else f"the module after {each.text}: {reason}")
            waiting, known = [], _dialects(module)


def _read(text: str, name: str) -> tuple[Module | None, str]:
    try:
        return parse_bytes(encode(text), name), ""
    except DiagnosticError as error:
        return None, error.diagnostics[0].message


def _dialects(module: Module | None) -> set[str]:
    """Returns the dialects of a module's operations other than those by which steps are judged."""
    found = {each.opcode.partition(".")[0] for each in module.operations() if "." in each.opcode} if module else set()
    return found.difference(_JUDGED)


def _entries(first: _Stage) -> list[str | None]:
    """Returns the functions to judge, None for a module that cannot be read."""
    return [*first.module.judged] if isinstance(first.module, StableHloModule) else [None]


def _written(program: str, tool: str, entry: str | None, stages: Sequence[_Stage]) -> Iterator[tuple[str, str]]:
    """Yields the files of one function's modules, each with its text."""
    for number, each in enumerate(stages):
        text, failure = each.text, each.failure
        if entry is not None and isinstance(each.module, StableHloModule):
            found = each.module.try_entry()
            if entry not in each.module.defined:
                failure = f"the function @{entry} is not in the module"
            elif found is None or found.name != entry:
                text = each.module.with_entry(entry).text()
        stage = "before_optimizations"
        if number:
            name = _safe("+".join(str(inner.parsed.name) for inner in each.passes) or "read")
            stage = f"{number:04}.{tool}.after_{name}.before_pipeline-end"
        yield f"{program}.{stage}.mlir", f"{FAILED_PASS}{failure}\n" if failure else text
        if failure and number:
            return


@dataclass(frozen=True, slots=True)
class _Listed:
    """An option of a pass whose value is a list, such as the patterns of a rewriting pass."""

    passes: Sequence[ToolPass]
    number: int
    name: str
    written: str
    separator: str
    elements: Sequence[str]

    @classmethod
    def of(cls, passes: Sequence[ToolPass]) -> _Listed | None:
        """Returns the longest list among the options of passes, None without one of two elements."""
        found = [
            cls(passes, number, str(option.name), str(value), separator, elements)
            for number, each in enumerate(passes)
            for option in each.parsed.options
            if option.value is not None
            for value in [without_braces(option.value)]
            for separator in _SEPARATORS
            for elements in [[str(part) for part in split(value, separator) if str(part)]]
            if len(elements) > 1
        ]
        return max(found, key=lambda each: len(each.elements), default=None)

    def first(self, count: int) -> Iterator[ToolPass]:
        """Yields the passes with the first elements only."""
        shorter = self.separator.join(self.elements[:count])
        for number, each in enumerate(self.passes):
            texts = (each.text, *each.flags)
            text, *flags = (part.replace(self.written, shorter) if number == self.number else part for part in texts)
            yield ToolPass(text, tuple(flags))


def bisected(step: Step, runner: PassRunner, is_different: Callable[[Step], bool], seconds: float) -> str:
    """Returns which element of a list in an option makes a step different, empty for a pass without a list.

    The pass runs with the first elements only, of which there are half as many each time. Raises DiagnosticError where
    it fails with them.
    """
    folder, file = os.path.split(step.after.path)
    with open(os.path.join(folder, _RECORD), encoding="utf-8") as record:
        passes = [ToolPass(text, tuple(flags)) for text, flags in json.load(record)[file]]
    listed = _Listed.of(passes)
    if listed is None:
        return ""
    end = time.monotonic() + seconds

    def differs(count: int) -> bool:
        if time.monotonic() > end:
            raise DiagnosticError(Diagnostic(f"not done after {seconds:g} seconds"))
        text = decode(step.before.data())
        for each in listed.first(count):
            text = runner.run(text, each.text, each.flags)
        made = replace(step.after, path=f"{step.after.path}#{count}", content=encode(text))
        return is_different(replace(step, after=made))

    least, most = 0, len(listed.elements)
    if not differs(most):
        return ""
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if differs(middle) else (middle, most)
    element, name = listed.elements[least], listed.name
    return f"the first element of {name} that makes a difference: {element} ({most} of {len(listed.elements)})"
