"""Sums in other orders, and programs compared with themselves: the small forms of two campaigns."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.execution import Worker
from dialect_utils.ir import Module
from dialect_utils.verdict import Options, compare_stages
from dialect_utils.verdict.certified import choices_of, prove
from dialect_utils.verdict.terms.orders import order_of
from tests import campaign_itself
from tests.campaign_orders import SUMS, Program, Tally, covers, differs, judge, pairs
from tests.paths import OWN_CORPUS
from tests.verdict.proof.dialects import parse


def test_no_answer_about_random_sums_is_wrong(worker: Worker) -> None:
    tally, source = Tally(), pairs(random.Random(1))
    for _ in range(25):
        judge(worker, next(source), tally)
    assert not tally.wrong
    assert {"equal", "equal up to the order of sums", "unknown"} <= {*tally.found}


def test_two_sums_are_not_one() -> None:
    rng = np.random.default_rng(0)
    one, two = (Program("three differences", pair) for pair in (("dot", "dot"), ("dot", "reversed")))
    assert covers(one, one, rng)
    assert covers(two, Program("three differences", ("reversed", "dot")), rng)
    assert not covers(one, two, rng)
    assert prove([one.module(), two.module()]).answer == "unknown"
    assert choices_of(prove([one.module(), one.module()]).outputs) == ()


@pytest.mark.parametrize(
    ("reader", "one", "two"),
    [
        ("three differences", "turned", ("windows", "reversed")),
        ("difference", "reversed", ("reversed", "two dimensions")),
        ("product", "reversed", ("two programs of rows", "turned")),
    ],
)
def test_two_sums_are_not_one_element_by_element(reader: str, one: str, two: tuple[str, str]) -> None:
    """The sums of each element are values, too."""
    first, second = Program(reader, (one, one)), Program(reader, two)
    assert (
        prove([first.module(), second.module()]).answer == prove([second.module(), first.module()]).answer == "unknown"
    )


@pytest.mark.parametrize("name", SUMS)
def test_each_sum_is_equal_in_bits_to_itself_and_up_to_its_order_to_the_sum_of_two_dimensions(name: str) -> None:
    first, other = (Program("negate", (each, each)).module() for each in ("two dimensions", name))
    assert prove([other, parse(other.text())]).outputs[0].choices == ()
    found = prove([first, other])
    assert found.answer == "equal"
    assert ("order of sums" in choices_of(found.outputs)) == (name != "two dimensions")


def test_an_engine_sums_listed_pairs_in_the_listed_order(worker: Worker) -> None:
    first, other = (Program("negate", (each, each)).module() for each in ("dot", "dot of listed pairs"))
    assert differs(worker, first, other)


@pytest.mark.parametrize("reader", ["difference", "three differences"])
def test_bits_that_no_order_explains_leave_the_verdict_open(worker: Worker, reader: str) -> None:
    one, two = (Program(reader, pair).module() for pair in (("dot", "dot"), ("dot", "dot of listed pairs")))
    found = compare_stages([one, two], Options(engines=("proof", "xla")), worker)
    assert found.verdict in ("unknown", "different")
    assert "makes twice" in found.gave_up
    assert "is not guaranteed to be equal" in found.reason or found.counterexample is not None


TURNED = """HloModule m
plus {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = TYPE parameter(0)
  z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={KEPT}, to_apply=plus
  ROOT r = f32[4] floor(s)
}
"""


def _turned(kind: str, reduced: int) -> Module:
    return parse(TURNED.replace("TYPE", kind).replace("KEPT", str(reduced)))


def test_the_order_depends_on_the_dimensions_in_memory() -> None:
    rows = [each for each in _turned("f32[4,8]{0,1}", 1).operations() if each.opcode == "reduce"]
    columns = [each for each in _turned("f32[8,4]", 0).operations() if each.opcode == "reduce"]
    others = [each for each in _turned("f32[4,8]", 1).operations() if each.opcode == "reduce"]
    assert order_of(rows[0]) == order_of(columns[0]) != order_of(others[0])
    ones = [each for each in _turned("f32[4,1]", 1).operations() if each.opcode == "reduce"]
    assert order_of(ones[0]) is None


def test_programs_are_equal_to_themselves(tmp_path: Path) -> None:
    paths = sorted([*(OWN_CORPUS / "hlo").glob("*.hlo"), *(OWN_CORPUS / "stablehlo").glob("*.mlir")])
    tally = campaign_itself.run([path for path in random.Random(2).sample(paths, 24) if path.stat().st_size < 20_000])
    assert not tally.wrong
    assert tally.found["itself", "equal"] > 10
    broken = tmp_path / "slice_of_a_scalar.mlir"
    broken.write_text(SLICED, encoding="utf-8")
    assert campaign_itself.run([broken]).found["itself", "equal"] == 1


# A slice of one repeated scalar, at an index that is known only after the proof has folded it.
SLICED = """func.func @main(%i: tensor<29xi32>) -> tensor<29xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<30xf32>
  %at = stablehlo.constant dense<0> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.scatter"(%one, %at, %zero) <{indices_are_sorted = true, unique_indices = true,
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>
    }> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<30xf32>, tensor<1xi32>, tensor<f32>) -> tensor<30xf32>
  %columns = stablehlo.reshape %i : (tensor<29xi32>) -> tensor<29x1xi32>
  %r = "stablehlo.gather"(%s, %columns) <{slice_sizes = array<i64: 1>, dimension_numbers = #stablehlo.gather<
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> :
      (tensor<30xf32>, tensor<29x1xi32>) -> tensor<29xf32>
  return %r : tensor<29xf32>
}
"""
