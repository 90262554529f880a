"""Advice about copies says what the program costs that is compiled with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import relayout
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.causes import trying
from relayout.causes.trying import try_advice
from relayout.reporting.causes import Change
from tests.paths import ROOT

PROGRAM = b"""func.func @main(%x: tensor<512x3xf32>, %i: tensor<7xi32>) -> tensor<512x3xf32> {
  return %x : tensor<512x3xf32>
}
"""
LAYOUT = 'mhlo.layout_mode = "{1,0}"'


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ((30 << 20, 4096), "the program accesses 30 MiB in place of 20 MiB, and its peak is 4 KiB as before"),
        ((20 << 20, 2048), "the program accesses 20 MiB as before, and its peak is 2 KiB in place of 4 KiB"),
        (None, ""),
    ],
)
def test_advice_says_its_costs(monkeypatch: pytest.MonkeyPatch, after: tuple[int, int] | None, said: str) -> None:
    def costs(program: Module, target: str) -> tuple[int, int]:
        assert target == "tpu-v5e"
        if LAYOUT not in program.text():
            return 20 << 20, 4096
        if after is None:
            raise DiagnosticError(Diagnostic("refused"))
        return after

    monkeypatch.setattr(trying, "_costs", costs)
    (why,) = relayout.why(ROOT / "tests" / "corpus" / "why" / "gathered_rows", "copy.2")
    (cause,) = try_advice(why, parse_bytes(PROGRAM, "f.mlir"), "tpu-v5e").causes
    assert cause.advice == (f"{why.causes[0].advice}; compiled so, {said}" if said else "")
    assert (cause.change is None) == (after is None)


def test_without_advice_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "_costs", None)
    (why,) = relayout.why(ROOT / "tests" / "corpus" / "why" / "gathered_rows", "copy.2")
    bare = replace(why, causes=(replace(why.causes[0], change=None),))
    assert try_advice(bare, parse_bytes(PROGRAM, "f.mlir"), "tpu-v5e") is bare


def test_a_donation_is_tried_as_jax_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def costs(program: Module, target: str) -> tuple[int, int]:
        return 1 << 20, (1 if "jax.buffer_donor = true" in program.text() else 2) << 20

    monkeypatch.setattr(trying, "_costs", costs)
    (why,) = relayout.why(ROOT / "tests" / "corpus" / "why" / "gathered_rows", "copy.2")
    donated = replace(why.causes[0], change=Change("donation", 0, (), 0, 0))
    (cause,) = try_advice(replace(why, causes=(donated,)), parse_bytes(PROGRAM, "f.mlir"), "tpu-v5e").causes
    assert cause.advice.endswith("accesses 1 MiB as before, and its peak is 1 MiB in place of 2 MiB")
