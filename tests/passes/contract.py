"""The contract of every pass, as a function that names what is broken."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator

from dialect_utils.files import encode, parse_bytes
from dialect_utils.ir import Module
from passes.base import Pass
from passes.options import option_types, without_none
from passes.pipeline import Pipeline, verify


def broken_promises(step: Pass, text: str, name: str) -> list[str]:
    """Runs a pass on a module's text and returns what of the contract it breaks; raises what it refuses."""
    module = parse(text, name)
    verify(module)  # what a pass is promised
    before = module.text()
    result = step.run(module)
    after = result.module.text()
    again = step.run(parse(after, name))
    broken = {
        "modified is true iff the text changed": result.modified != (before != after),
        "the input stays as it was": module.text() != before,
        "a second run changes nothing": again.modified,
        "the output prints as it parses": parse(after, name).text() != after,
        "comments stay": not set(comments(before)) <= set(comments(after)),
    }
    verify(result.module)
    return [promise for promise, is_broken in broken.items() if is_broken]


def parse(text: str, name: str) -> Module:
    return parse_bytes(encode(text), name)


def comments(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.lstrip().startswith("//"))


def variants(cls: type[Pass]) -> Iterator[Pass]:
    """Yields the pass with its defaults and with every other value of each option that is a choice."""
    yield cls()
    for name, kind in option_types(cls).items():
        kind = without_none(kind)
        choices = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
        choices = (False, True) if kind is bool else choices
        for value in choices:
            step = dataclasses.replace(cls(), **{name: value})
            if step != cls():
                yield step


def survives_its_text(step: Pass) -> bool:
    return Pipeline.parse(str(step)).passes == (step,)


def examples(cls: type[Pass]) -> Iterator[tuple[Pass, str, str]]:
    """Yields (pass, before, after) of a docstring; `After name{a=b}:` gives the options."""
    parts = re.split(r"^(Before|After)(?: (\S+))?:\n", inspect.getdoc(cls) or "", flags=re.MULTILINE)[1:]
    before = ""
    for word, spec, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        code = indented_block(body)
        if word == "Before":
            before = code
            continue
        yield Pipeline.parse(spec or cls.name).passes[0], before, code


def indented_block(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if line.strip() and not line.startswith(" "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines)).strip() + "\n"
