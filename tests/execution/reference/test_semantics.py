"""Executes the examples of docs/semantics.md, and compares its lists with the table of operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, cast

import numpy as np
import pytest

from dialect_utils import hlo
from dialect_utils.engine_names import ENGINES
from dialect_utils.execution import Engine, ExecutionError, Program, Worker, entry_arrays
from dialect_utils.ir import Dialect, Module
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.stablehlo import parse_module
from tests.paths import ROOT

_PAGE = (ROOT / "docs" / "semantics.md").read_text("utf-8")
_EXAMPLE = re.compile(r"```(hlo|mlir)\n(.*?)```\n+```text\n(.*?)```", re.DOTALL)
_INPUTS = re.compile(r"// inputs: (.*)")
# `xla, interpreter since jaxlib 0.12: [0]`: the engines, and the versions that give this output.
_RESULT = re.compile(r"(?P<engines>[\w, ]+?)(?: (?P<bound>before|since) jaxlib (?P<version>[\d.]+))?: (?P<outputs>.*)")


@dataclass(frozen=True, slots=True)
class Example:
    """A module of the page, its inputs and the outputs that the page gives for each engine."""

    heading: str
    dialect: Dialect
    text: str
    inputs: list[Any]
    results: dict[str, str]


def examples(page: str) -> Iterator[Example]:
    """Yields the examples of a page: a module, then one line `engine, engine: outputs` for each different result."""
    installed = release(version("jaxlib"))
    for found in _EXAMPLE.finditer(page):
        heading = page[: found.start()].rpartition("\n### ")[2].partition("\n")[0]
        inputs = _INPUTS.search(found[2])
        results = {}
        for line in _RESULT.finditer(found[3]):
            is_newer = line["version"] is not None and installed >= release(line["version"])
            if line["bound"] is None or is_newer == (line["bound"] == "since"):
                results.update(dict.fromkeys(line["engines"].split(", "), line["outputs"].strip()))
        dialect: Dialect = "hlo" if found[1] == "hlo" else "stablehlo"
        yield Example(heading, dialect, found[2], json.loads(inputs[1]) if inputs else [], results)


def release(text: str) -> tuple[int, int]:
    """Returns the first two numbers of a version."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def outcome(worker: Worker, example: Example, engine: str) -> str:
    """Returns the outputs of an engine as the page writes them, or the engine's error message."""
    module: Module = (
        hlo.parse_module(example.text, "page") if example.dialect == "hlo" else parse_module(example.text, "page")
    )
    parameters, _ = entry_arrays(module)
    arrays = [
        np.array(value).astype(dtype_of(shape.element_type))
        for value, shape in zip(example.inputs, parameters, strict=True)
    ]
    try:
        [outputs] = worker.run(Program(example.text, example.dialect), [arrays], engine=cast(Engine, engine))
    except ExecutionError as error:
        return error.message
    return "; ".join(str(output.tolist()) for output in outputs)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("example", list(examples(_PAGE)), ids=lambda example: example.heading)
def test_example(worker: Worker, example: Example) -> None:
    assert set(example.results) <= set(ENGINES)
    assert "reference" in example.results
    assert {engine: outcome(worker, example, engine) for engine in example.results} == example.results


def test_every_choice_is_on_the_page_with_its_operations() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", _PAGE, re.MULTILINE))
    assert rows.keys() == {choice.name.lower() for choice in Choice}
    for choice in Choice:
        assert rows[choice.name.lower()] == ", ".join(sorted(USES[choice]))
        assert f"| {choice.value} |" in _PAGE
