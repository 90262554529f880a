"""The order of instructions of a module without a schedule."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.io.files import read_module
from dialect_utils.memory.schedule import list_schedule
from tests.paths import ROOT

BIG, SMALL = "f32[1024]", "f32[8]"


def names(body: str) -> list[str]:
    module = parse_module(f"HloModule m\n\nENTRY e {{\n{body}\n}}\n", "m.hlo")
    return [operation.results[0].name for operation in list_schedule(module.entry)]


def test_the_instruction_that_frees_most_runs_first() -> None:
    """Of two reductions of large arrays each runs at once, before the next large array is made."""
    body = f"""  p = {SMALL} parameter(0)
  a = {BIG} custom-call(p), custom_call_target="a"
  b = {BIG} custom-call(p), custom_call_target="b"
  c = {SMALL} custom-call(a), custom_call_target="c"
  d = {SMALL} custom-call(b), custom_call_target="d"
  ROOT r = ({SMALL}, {SMALL}) tuple(c, d)"""
    assert names(body) == ["a", "c", "b", "d", "r"]


@pytest.mark.parametrize("name", ["attention.hlo", "training_step.hlo", "training_step.mlir"])
def test_operands_come_first(name: str) -> None:
    for function in read_module(str(ROOT / "examples" / name)).functions:
        order = list_schedule(function)
        position = {operation: i for i, operation in enumerate(order)}
        assert len(position) == len(function.operations)
        for operation in order:
            made = [value.operation for value in operation.operands if value.operation in position]
            assert all(position[each] < position[operation] for each in made if each is not None)
