"""A loop's state in another order, and without dead elements: proved in both dialects; negative examples are not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare
from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.paths import ROOT
from tests.verdict.proof.dialects import parse

_TYPES = {"i": "s32[]", "d": "s32[]", "j": "s32[]", "x": "f32[4]", "y": "f32[4]"}
_MLIR = {"s32[]": "tensor<i32>", "f32[4]": "tensor<4xf32>"}


@dataclass(frozen=True)
class Loop:
    """A loop over named elements; i, d and j count, x and y depend on each other, d and j on nothing else."""

    order: str = "idjxy"
    result: str = "x"
    starts: str = "zzzab"
    rounds: int = 70
    counter: str = "i"
    x: tuple[str, str, str] = ("subtract", "x", "y")
    y: tuple[str, str, str] = ("multiply", "y", "x")
    d: tuple[str, str, str] = ("add", "d", "two")

    @property
    def body(self) -> dict[str, tuple[str, str, str]]:
        found = {"i": ("add", "i", "one"), "j": ("add", "j", "one"), "d": self.d, "x": self.x, "y": self.y}
        return {name: found[name] for name in self.order}

    def start(self, name: str) -> str:
        return self.starts["idjxy".index(name)]

    def stablehlo(self) -> str:
        types = ", ".join(_MLIR[_TYPES[name]] for name in self.order)
        given = ", ".join(f"%{name} = %{self.start(name)}" for name in self.order)
        rows = [
            f"    %{name}1 = stablehlo.{opcode} %{left}, %{right} : {_MLIR[_TYPES[name]]}"
            for name, (opcode, left, right) in self.body.items()
        ]
        numbers = {"z": 0, "n": self.rounds, "one": 1, "two": 2}
        constants = [f"  %{name} = stablehlo.constant dense<{value}> : tensor<i32>" for name, value in numbers.items()]
        return "\n".join(
            [
                "func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {",
                *constants,
                f"  %w:{len(self.order)} = stablehlo.while({given}) : {types}",
                "  cond {",
                f"    %c = stablehlo.compare LT, %{self.counter}, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>",
                "    stablehlo.return %c : tensor<i1>",
                "  } do {",
                *rows,
                f"    stablehlo.return {', '.join(f'%{name}1' for name in self.order)} : {types}",
                "  }",
                f"  return %w#{self.order.index(self.result)} : tensor<4xf32>",
                "}",
                "",
            ]
        )

    def hlo(self) -> str:
        state = f"({', '.join(_TYPES[name] for name in self.order)})"
        taken = [f"  {name} = {_TYPES[name]} get-tuple-element(s), index={i}" for i, name in enumerate(self.order)]
        rows = [
            f"  {name}1 = {_TYPES[name]} {opcode}({left}, {right})" for name, (opcode, left, right) in self.body.items()
        ]
        return "\n".join(
            [
                "HloModule m",
                "less {",
                f"  s = {state} parameter(0)",
                *taken,
                f"  n = s32[] constant({self.rounds})",
                f"  ROOT c = pred[] compare({self.counter}, n), direction=LT",
                "}",
                "step {",
                f"  s = {state} parameter(0)",
                *taken,
                "  one = s32[] constant(1)",
                "  two = s32[] constant(2)",
                *rows,
                f"  ROOT t = {state} tuple({', '.join(f'{name}1' for name in self.order)})",
                "}",
                "ENTRY e {",
                "  a = f32[4] parameter(0)",
                "  b = f32[4] parameter(1)",
                "  z = s32[] constant(0)",
                f"  t0 = {state} tuple({', '.join(self.start(name) for name in self.order)})",
                f"  w = {state} while(t0), condition=less, body=step",
                f"  ROOT r = f32[4] get-tuple-element(w), index={self.order.index(self.result)}",
                "}",
                "",
            ]
        )


PLAIN = Loop()
SAME_STARTS = Loop(starts="zzzaa")
WITHOUT_DEAD = replace(PLAIN, order="ixy")


def prove(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return try_prove(modules)


def orders(loop: Loop) -> Sequence[Loop]:
    """Returns some orders of a loop's state."""
    return [replace(loop, order="".join(order)) for order in list(permutations(loop.order))[1::11]]


@pytest.mark.parametrize("loop", [PLAIN, SAME_STARTS, WITHOUT_DEAD], ids=["plain", "same starts", "no dead"])
def test_the_state_may_be_in_any_order(loop: Loop) -> None:
    for other in orders(loop):
        assert prove(loop.stablehlo(), other.stablehlo()).answer == "equal", other.order
    assert prove(loop.hlo(), orders(loop)[-1].stablehlo()).answer == "equal"
    assert prove(loop.hlo(), orders(loop)[-1].hlo()).answer == "equal"


@pytest.mark.parametrize("order", ["ixy", "yxi", "xiy", "jyix", "xdyi"])
def test_what_reaches_no_result_does_not_count(order: str) -> None:
    other = replace(PLAIN, order=order)
    found = prove(PLAIN.stablehlo(), other.stablehlo())
    assert found.answer == "equal"
    assert "loop-state" in [rule.name for rule in found.rules]
    assert prove(PLAIN.hlo(), other.hlo()).answer == "equal"
    assert prove(PLAIN.stablehlo(), other.hlo()).answer == "equal"


WRONG = {
    "starts swapped": replace(PLAIN, order="yxi", starts="zzzba"),
    "another result": replace(PLAIN, order="yxi", result="y"),
    "another count": replace(PLAIN, order="yxi", rounds=71),
    "operands swapped": replace(PLAIN, order="yxi", x=("subtract", "y", "x")),
    "bodies swapped": replace(PLAIN, order="yxi", x=PLAIN.y, y=PLAIN.x),
    "another element": replace(PLAIN, order="yxi", y=("multiply", "y", "y")),
    "another counter": replace(PLAIN, order="yxdi", counter="d"),
    "of the same start the other": replace(SAME_STARTS, order="yxi", result="y"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_loop_of_another_function_is_not_proved(name: str, worker: Worker) -> None:
    wrong = WRONG[name]
    right = replace(SAME_STARTS if wrong.starts == SAME_STARTS.starts else PLAIN, rounds=70)
    assert prove(right.stablehlo(), wrong.stablehlo()).answer != "equal"
    assert prove(right.hlo(), wrong.stablehlo()).answer != "equal"
    data = [np.linspace(0.9, 1.1, 4, dtype=np.float32), np.linspace(-1e-3, 2e-3, 4, dtype=np.float32)]
    first, second = (
        worker.run(prepare(parse(loop.stablehlo()), "m"), [data], engine="interpreter")[0][0] for loop in (right, wrong)
    )
    assert not np.array_equal(first, second)


def test_a_dead_element_that_a_result_is_taken_from_counts() -> None:
    read = replace(PLAIN, y=("multiply", "y", "y"), x=("subtract", "x", "x"), result="y")
    assert prove(read.stablehlo(), replace(read, order="iy").stablehlo()).answer == "equal"
    assert prove(read.stablehlo(), replace(read, order="iy", starts="zzzaa").stablehlo()).answer != "equal"


def test_a_certificate_is_the_same_in_every_process() -> None:
    loop = replace(SAME_STARTS, y=("add", "y", "x"))
    loops = [replace(loop, order="yjxid").hlo(), loop.hlo()]
    probe = f"import sys; from tests.verdict.proof.test_loop_state import prove; print(prove(*{loops!r}).certificate)"
    found = {
        subprocess.run(
            [sys.executable, "-c", probe],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1
