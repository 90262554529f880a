"""Checks of the contract of every pass, for this project's passes and for yours.

    from relayout.testing import check_pass

    def test_my_pass() -> None:
        check_pass(my_pass, [Path("lit_tests/basic.hlo")])

`check_pass` raises AssertionError with every guarantee that the pass breaks.
"""

from __future__ import annotations

import re
import textwrap
import typing
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from dialect_utils.hlo.kept import changes
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError, Source
from passes.dumps.executable import executable_form
from passes.framework.base import Pass
from passes.framework.options import parse_options, without_none
from passes.framework.pipeline import verify
from passes.framework.spec import parse_spec

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.verdict import Verdict


def check_pass(step: Pass, programs: Iterable[Path] = (), worker: Worker | None = None) -> None:
    """Checks a pass, with every choice of its options, on the example of its docstring and on programs.

    A pass guarantees: `modified` is true iff the text changed, the input stays as it was, a second run changes nothing,
    the output parses and verifies, comments stay, the pass's text parses back to the pass, the docstring's examples
    hold, executed results stay the same, and the facts stay that it declares by `keeping`. A program that the pass
    rejects with a DiagnosticError is skipped. Raises AssertionError that names every broken guarantee.
    """
    broken = [] if all(map(survives_its_text, variants(step))) else ["its text parses back to it"]
    broken += broken_examples(step)
    for program in programs:
        for variant in variants(step):
            broken += [f"{program}: {variant}: {each}" for each in _broken_on(variant, program, worker)]
    assert not broken, "\n".join(broken)


def _broken_on(step: Pass, program: Path, worker: Worker | None) -> list[str]:
    text = program.read_text("utf-8")
    try:
        broken = broken_guarantees(step, text, str(program))
        verdict = compare_values(step, parse(text, str(program)), worker)
    except DiagnosticError:
        return []
    return broken if verdict is None or verdict.found_no_difference else [*broken, f"results are {verdict.verdict}"]


def broken_examples(step: Pass) -> list[str]:
    """Returns the failures of a docstring's examples; a docstring without an example is a failure, too."""
    broken, number = [], 0
    for number, (variant, before, after) in enumerate(examples(step), start=1):
        broken += [f"example {number}: {each}" for each in broken_guarantees(variant, before, "<docstring>")]
        made = variant.run(parse(before, "<docstring>")).module.text()
        if made != parse(after, "<docstring>").text():
            broken.append(f"example {number}: {variant} gives\n{made}")
    return broken if number else ["its docstring has a `Before:` and an `After:`"]


def broken_guarantees(step: Pass, text: str, name: str) -> list[str]:
    """Runs a pass on a module's text and returns the guarantees that it breaks; raises the errors of the pass."""
    module = parse(text, name)
    verify(module)  # a pass may rely on it
    before = module.text()
    result = step.run(module)
    after = result.module.text()
    again = _is_modified(step, parse(after, name))
    broken = {
        "modified is true iff the text changed": result.modified != (before != after),
        "the input stays as it was": module.text() != before,
        "a second run changes nothing": again,
        "the output prints as it parses": parse(after, name).text() != after,
        "comments stay": not set(_comments(before)) <= set(_comments(after)),
    }
    verify(result.module)
    found = [guarantee for guarantee, is_broken in broken.items() if is_broken]
    lost = (fact for fact in step.keeps if any(changes(fact, module, result.module)))
    return [*found, *(f"it keeps {fact}" for fact in lost)]


def _is_modified(step: Pass, module: Module) -> bool:
    """Returns whether a pass changes a module; a module that the pass rejects counts as unchanged."""
    try:
        return step.run(module).modified
    except DiagnosticError:
        return False


def compare_values(step: Pass, module: Module, worker: Worker | None = None) -> Verdict | None:
    """Executes a module before and after a pass and compares; None where the pass changes nothing.

    The power of the data is not measured.
    """
    from dialect_utils.verdict import Options, compare_stages

    verify(module)
    result = step.run(module)
    if not result.modified:
        return None
    stages = [executable_form(module), module, result.module, executable_form(result.module)]
    return compare_stages(stages, Options(power=0), worker)


def parse(text: str, name: str) -> Module:
    """Reads a module's text in either dialect."""
    return parse_bytes(encode(text), name)


def _comments(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.lstrip().startswith("//"))


def variants(step: Pass) -> Iterator[Pass]:
    """Yields the pass, then the pass with every other value of each option with a finite choice."""
    yield step
    for option in step.options:
        kind = without_none(option.kind)
        choices = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
        for value in (False, True) if kind is bool else choices:
            variant = step.with_options(**{option.name: value})
            if variant != step:
                yield variant


def survives_its_text(step: Pass) -> bool:
    """Is true if the pass's text, parsed as a pipeline, gives an equal pass."""
    return _with_text(step, str(step)) == step


def _with_text(step: Pass, spec: str) -> Pass:
    """Returns the pass with the options of a text; the pass need not be registered."""
    (written,) = parse_spec(Source("<pass>", spec))
    assert str(written.name) == step.name, f"{spec} is not {step.name}"
    defaults = {option.name: option.default for option in step.options}
    return step.with_options(**{**defaults, **parse_options(step.options, written.options, f"pass {step.name}")})


def examples(step: Pass) -> Iterator[tuple[Pass, str, str]]:
    """Yields (pass, before, after) for each example of a docstring; `After name{a=b}:` sets options."""
    parts = re.split(r"^(Before|After)(?: (\S.*))?:\n", step.doc, flags=re.MULTILINE)[1:]
    before = ""
    for word, spec, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        lines = takewhile(lambda line: not line.strip() or line.startswith(" "), body.splitlines())
        code = textwrap.dedent("\n".join(lines)).strip() + "\n"
        if word == "Before":
            before = code
            continue
        yield _with_text(step, spec or step.name), before, code
