"""Counts of operations, against counts by regular expressions of the texts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import relayout
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.counting import Counts, Tally, count_operations
from tests.paths import OWN_CORPUS, ROOT

HLO = """HloModule m

body {
  a = f32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT b = f32[3,5]{1,0:T(2,2)} negate(a)
}

ENTRY main {
  p = f32[3,5]{1,0:T(2,2)} parameter(0)
  f = f32[3,5]{1,0:T(2,2)} fusion(p), kind=kLoop, calls=body
  c = pred[7]{0} constant({0,1,0,1,0,1,0})
  ROOT t = (f32[3,5]{1,0:T(2,2)}, pred[7]{0}) tuple(f, c)
}
"""
# `name = shape opcode(`; a shape has no blank before its parentheses, unless it is a tuple's.
OPCODE = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\([^=]*?\)|[^ (]+(?:\([^ ]*)?) ([a-z][\w\-]*)\(", re.MULTILINE)
TPU = sorted((OWN_CORPUS / "tpu").glob("a*/tpu.hlo"))


def test_bytes_are_those_of_arrays_in_memory() -> None:
    counts = count_operations(relayout.parse(HLO))
    # Six tiles of 2 x 2 floats; the tuple and the inside of the fusion make no array.
    assert counts.rows == {
        ("parameter",): Tally(2, 96),
        ("negate",): Tally(1, 0),
        ("fusion",): Tally(1, 96),
        ("constant",): Tally(1, 7),
        ("tuple",): Tally(1, 0),
    }
    assert counts.total == Tally(6, 199)


def test_keys_make_rows() -> None:
    module = relayout.parse(HLO)
    rows = dict(count_operations(module, ["computation", "type"]).sorted())
    assert rows == {
        ("body", "f32"): Tally(2, 0),
        ("main", "f32"): Tally(2, 192),
        ("main", "pred"): Tally(1, 7),
        ("main", "f32,pred"): Tally(1, 0),
    }
    by_shape = count_operations(module, ["shape"], [module.entry])
    assert by_shape.rows[("(f32[3,5]{1,0:T(2,2)}, pred[7]{0})",)] == Tally(1, 0)
    assert by_shape.total.operations == 4


def test_counts_of_modules_are_added() -> None:
    together = Counts(["opcode"])
    for _ in range(3):
        together.add(count_operations(relayout.parse(HLO)).rows.items())
    assert together.total == Tally(18, 597)
    assert together.sorted()[0] == (("parameter",), Tally(6, 288))


@pytest.mark.parametrize("file", TPU, ids=lambda file: file.parent.name)
def test_opcodes_are_those_of_the_text(file: Path) -> None:
    counts = count_operations(relayout.read(file))
    wanted = Counter(OPCODE.findall(file.read_text("utf-8")))
    assert {names[0]: tally.operations for names, tally in counts.rows.items()} == wanted


@pytest.mark.parametrize("name", ["attention.mlir", "training_step.mlir"])
def test_operations_of_stablehlo_are_those_of_the_text(name: str) -> None:
    text = (ROOT / "examples" / name).read_text("utf-8")
    counts = count_operations(relayout.read(ROOT / "examples" / name), ["opcode"])
    for opcode, written in (("transpose", "stablehlo.transpose"), ("call", "call @"), ("dot", "stablehlo.dot_general")):
        assert counts.rows[(opcode,)].operations == len(re.findall(rf"= {re.escape(written)}\b|= {written}", text))


def test_every_text_of_the_corpus_is_counted() -> None:
    for file in sorted((OWN_CORPUS / "hlo").glob("*.hlo")):
        try:
            module = relayout.read(file)
        except DiagnosticError:
            continue
        total = count_operations(module).total
        assert total.operations == sum(len(function.values()) for function in module.functions)
