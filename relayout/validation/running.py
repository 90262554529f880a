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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile, groupby
from typing import NamedTuple

from dialect_utils.execution import mlir_to_text
from dialect_utils.execution.passing import PassRunner
from dialect_utils.io.files import decode, encode, find_kind, parse_bytes
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.ir import Module
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import Diagnostic, DiagnosticError, Source
from dialect_utils.tools.conversion import in_dialect_of
from passes.framework.spec import PassText, parse_innermost, single_passes, split, without_braces
from relayout.output import write_output
from relayout.validation.judging import Judge
from relayout.validation.steps import FAILED_PASS, Step, StepResult

# The passes of each file in the directory of modules, for a later search within one of them.
_RECORD = "passes.json"
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_RUN = re.compile(r"^.*?\bRUN:((?:.*\\\n.*?\bRUN:)*.*)$", re.MULTILINE)
_CONTINUED = re.compile(r"\\\n.*?\bRUN:")
# Arguments of tools like mlir-opt that name no pass; the first ones are not repeated for each pass.
_DONE = re.compile(r"-*(?:split-input-file|verify-diagnostics|o$|mlir-print|print-ir|debug|stats|time-passes)")
_NO_PASS = re.compile(
    r"-*(?:mlir-|allow-unregistered-dialect|verify-(?:each|roundtrip)|emit-bytecode|no-implicit-module|irdl-file|load-"
    r"|show-dialects|color|x$)"
)
_PIPELINES = ("pass-pipeline", "passes")
# Words before the name of a tool.
_ENVIRONMENT = re.compile(r"env|\w+=.*")
_SEPARATORS = (";", ",")
_UNSAFE = re.compile(r"[^\w+-]+")
_LONGEST = 100
# The dialects by whose operations a step is judged. MHLO is another one: some of its attributes cannot be read.
_JUDGED = ("builtin", "func", "stablehlo", "chlo", "sdy", "mpmd")
_MHLO = re.compile(r'(?:= |^\s*)"?mhlo\.\w+', re.MULTILINE)


class ToolPass(NamedTuple):
    """One pass: its text in MLIR's syntax, and the arguments of a RUN line that ask for it."""

    text: str
    flags: Sequence[str]

    @property
    def parsed(self) -> PassText:
        """Returns the pass without its anchors; raises DiagnosticError."""
        return parse_innermost(self.text)

    @classmethod
    def of_pipeline(cls, pipeline: str, flags: Sequence[str] = ()) -> list[ToolPass]:
        """Returns the passes of a pipeline, each with the `flags` of all; raises DiagnosticError."""
        single = single_passes(Source("<passes>", pipeline))
        anchored = (each if each.startswith("builtin.module(") else f"builtin.module({each})" for each in single)
        return [cls(each, (*flags, f"--pass-pipeline={of}")) for each, of in zip(single, anchored, strict=True)]


class Case(NamedTuple):
    """One module of a file, and the passes to run on it; or why the file has none."""

    name: str
    text: str
    passes: Sequence[ToolPass] = ()
    failure: str = ""


class _Stage(NamedTuple):
    """The module after passes, of which only the last one makes a module that can be judged; or why there is none."""

    passes: Sequence[ToolPass]
    text: str
    module: Module | None = None
    failure: str = ""


def cases_of(read: Input, pipeline: str | None) -> list[Case]:
    """Returns the modules of a file with the passes of a pipeline, or with those of each of its RUN lines (None).

    Raises DiagnosticError for a file that cannot be read, and for a pipeline of another syntax.
    """
    is_text = (read.kind or find_kind(read.data(), read.name)) == "mlir text"
    text = decode(read.data()) if is_text else in_dialect_of("stablehlo", read.module()).text()
    lines = [_passes_of_line(_CONTINUED.sub(" ", found[1])) for found in _RUN.finditer(text)]
    lists = [ToolPass.of_pipeline(pipeline)] if pipeline is not None else lines
    lists = [each for number, each in enumerate(lists) if each and each not in lists[:number]]
    parts = [part for part in _SPLIT.split(text) if "func" in part or part == text]
    numbers = range(1, len(parts) + 1) if len(parts) > 1 else [""]
    runs = [f"-run{run}" for run in range(1, len(lists) + 1)] if len(lists) > 1 else [""]
    return [
        Case(f"{read.stem}{number and f'-{number}'}{run}", part, passes)
        for run, passes in zip(runs, lists, strict=False)
        for number, part in zip(numbers, parts, strict=True)
    ]


def _passes_of_line(line: str) -> list[ToolPass]:
    """Returns the passes of a RUN line, empty for one that is expected to fail and for other commands."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    found: list[ToolPass] = []
    try:
        commands = [list(words) for ends, words in groupby(lexer, lambda word: set(word) <= set("|&;")) if not ends]
    except ValueError:
        return []
    for command in commands:
        tool, *words = [*dropwhile(_ENVIRONMENT.fullmatch, command), ""]
        if "opt" not in os.path.basename(tool).lower():
            break
        flags = [word for word in words if word.startswith("-") and not _DONE.match(word)]
        rest = [word for word in flags if _NO_PASS.match(word)]
        for word in (each for each in flags if each not in rest):
            name, _, value = word.lstrip("-").partition("=")
            if name in _PIPELINES:
                found += ToolPass.of_pipeline(value or words[words.index(word) + 1], rest)
            elif name:
                options = value if value.startswith("{") else f"{{{value}}}" if value else ""
                found.append(ToolPass(name + options, (*rest, word)))
    return found


def run_pipelines(files: Sequence[str], pipeline: str | None, runner: PassRunner, folder: str) -> list[Diagnostic]:
    """Runs the passes on all modules of files, and writes each module into a folder; returns a note on other files.

    Each function is a program of its own, with this function as its entry. Raises DiagnosticError without any module.
    """
    record: dict[str, Sequence[ToolPass]] = {}
    left_out: list[str] = []
    number, tool = 0, _safe(os.path.basename(runner.tool.split()[0]))
    for read in find_inputs(files).modules:
        try:
            cases = cases_of(read, pipeline)
        except DiagnosticError as error:
            # A row says so.
            cases = [Case(read.stem, "", failure=error.diagnostics[0].message)]
        left_out += [] if cases else [read.name]
        for case in cases:
            stages = list(_stages(case, runner))
            first = stages[0].module
            for entry in first.judged if isinstance(first, StableHloModule) else [""]:
                program = f"module_{number:04}.{_safe(case.name)}@{_safe(entry or 'module')}"
                number += 1
                for (stage, text), made in zip(_texts(tool, entry, stages), stages, strict=False):
                    record[f"{program}.{stage}.mlir"] = made.passes
                    write_output(os.path.join(folder, f"{program}.{stage}.mlir"), encode(text))
    others = f", and {len(left_out) - 1} other files" if left_out[1:] else ""
    said = [Diagnostic(f"{name} has no RUN line with passes{others}", severity="note") for name in left_out[:1]]
    if not number:
        hint = "// RUN: my-opt %s --first --second | FileCheck %s, or --passes 'first,second'"
        raise DiagnosticError(replace(each, severity="error", hint=hint) for each in said)
    write_output(os.path.join(folder, _RECORD), encode(json.dumps(record)))
    return said


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[-_LONGEST:]


def _stages(case: Case, runner: PassRunner) -> Iterator[_Stage]:
    if case.failure:
        yield from [_Stage((), "", failure=case.failure)] * 2
        return
    text, waiting = case.text, list[ToolPass]()
    module = _try_read(text)
    yield _Stage((), text, module)
    known = _dialects(module)
    for number, each in enumerate(case.passes, 1):
        waiting.append(each)
        try:
            text = runner.run(text, each.text, each.flags)
        except DiagnosticError as error:
            later = "; the passes after it did not run" if number < len(case.passes) else ""
            yield _Stage(waiting, "", failure=f"{each.text} failed: {error.diagnostics[0].message}{later}")
            return
        module = _try_read(text)
        # VHLO, whose functions are no `func.func`, and others are judged once a later pass has made StableHLO of them.
        is_judged = module is not None and any(module.functions) and _dialects(module) <= known
        if is_judged or number == len(case.passes):
            yield _Stage(waiting, text, module)
            waiting, known = [], _dialects(module)


def _try_read(text: str) -> Module | None:
    try:
        # MLIR may crash on a module: that costs a worker, not all other files.
        mlir_to_text(encode(text), "<module>")
        return parse_bytes(encode(text), "<module>")
    except DiagnosticError:
        # The judge says so, at the location.
        return None


def _dialects(module: Module | None) -> set[str]:
    """Returns the dialects of a module's operations other than those by which steps are judged."""
    if module is None:
        return set()
    names = [each.opcode.partition(".") for each in module.operations()]
    found = {dialect for dialect, dot, _ in names if dot}
    return found.difference(_JUDGED) | ({"mhlo"} if _MHLO.search(module.text()) else set())


def _texts(tool: str, entry: str, stages: Sequence[_Stage]) -> Iterator[tuple[str, str]]:
    """Yields the modules of one function, each with its stage as a dump names it."""
    for number, (passes, text, module, failure) in enumerate(stages):
        if entry and isinstance(module, StableHloModule):
            found = module.try_entry()
            if entry not in module.defined:
                failure = f"the function @{entry} is not in the module"
            elif found is None or found.name != entry:
                text = module.with_entry(entry).text()
        name = _safe("+".join(str(each.parsed.name) for each in passes) or "read")
        stage = f"{number:04}.{tool}.after_{name}.before_pipeline-end" if number else "before_optimizations"
        yield stage, f"{FAILED_PASS}{failure}\n" if failure else text
        if failure and number:
            return


def with_element(step: Step, result: StepResult, runner: PassRunner, judge: Judge, seconds: float) -> StepResult:
    """Returns the result of a step that is different with the first element of a pass's list that makes it so.

    The pass runs with the first elements of its longest list only, of which there are half as many each time. The
    search, and each comparison in it, ends after so many seconds.
    """
    folder, file = os.path.split(step.after.path)
    with open(os.path.join(folder, _RECORD), encoding="utf-8") as record:
        passes = [ToolPass(*each) for each in json.load(record)[file]]
    lists = [
        (elements, number, str(value), separator, option.name)
        for number, each in enumerate(passes)
        for option in each.parsed.options
        if option.value is not None
        for value in [without_braces(option.value)]
        for separator in _SEPARATORS
        for elements in [[str(part) for part in split(value, separator) if str(part)]]
    ]
    elements, changed, written, separator, name = max(lists, key=lambda each: len(each[0]), default=([], 0, "", "", ""))
    end = time.monotonic() + seconds

    def differs(count: int) -> bool:
        if time.monotonic() > end:
            raise DiagnosticError(f"not done after {seconds:g} seconds")
        text = decode(step.before.data())
        for number, each in enumerate(passes):
            old, new = (written, separator.join(elements[:count])) if number == changed else ("", "")
            flags = [flag.replace(old, new) if old else flag for flag in each.flags]
            text = runner.run(text, each.text.replace(old, new) if old else each.text, flags)
        made = replace(step.after, path=f"{step.after.path}#{count}", content=encode(text))
        return judge.judge(replace(step, after=made), seconds).verdict == "different"

    least, most = 0, len(elements)
    try:
        if most <= 1 or not differs(most):
            return result
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (least, middle) if differs(middle) else (middle, most)
        found = f"the first element of {name} that makes a difference: {elements[least]} ({most} of {len(elements)})"
    except DiagnosticError as error:
        found = f"not searched for an element of {name}: {error.diagnostics[0].message}"
    return replace(result, said=(*result.said, found))
