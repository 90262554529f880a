"""Sums in other orders, and programs compared with themselves: the small forms of two campaigns."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare
from dialect_utils.ir import Module
from dialect_utils.verdict import Options, compare_stages
from dialect_utils.verdict.certified import choices_of, prove
from dialect_utils.verdict.terms.orders import order_of
from passes.dumps.executable import executable_form
from tests import campaign_itself
from tests.campaign_orders import HEAD, SUMS, Program, Tally, covers, differs, judge, pairs
from tests.paths import OWN_CORPUS, SHARED_DATA
from tests.verdict.proof.dialects import parse

UNSEEN = SHARED_DATA / "corpus" / "unseen_repro"


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


TURNED = (
    HEAD
    + """\
  x = TYPE parameter(0)
  z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={KEPT}, to_apply=plus
  ROOT r = f32[4] floor(s)
}
"""
)


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


@pytest.mark.shared(UNSEEN)
def test_unseen_programs_are_equal_to_themselves() -> None:
    tally = campaign_itself.run([path for path in sorted(UNSEEN.glob("*.*")) if "{...}" not in path.read_text("utf-8")])
    assert not tally.wrong
    assert not [each for each in tally.found if each[0] == "itself" and each[1] not in ("equal", "not read")]


@pytest.mark.shared(UNSEEN)
def test_a_sum_that_overflows_in_one_order_contradicts_no_proof(worker: Worker) -> None:
    stages = [parse((UNSEEN / f"quax_{each}.hlo").read_text("utf-8")) for each in "ab"]
    found = compare_stages(stages, Options(), worker, executable=executable_form)
    assert (found.verdict, found.choices) == ("equal", ("order of sums",))


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


NORMALIZED = """HloModule m
ENTRY e {
  x = f32[4,8,3] parameter(0)
  s = f32[8] parameter(1)
  o = f32[8] parameter(2)
  n = (f32[4,8,3], f32[8], f32[8]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1
  mean = f32[8] get-tuple-element(n), index=1
  t = f32[8,4,3] transpose(x), dimensions={1,0,2}
  u = (f32[8,4,3], f32[8], f32[8]) batch-norm-training(t, s, o), epsilon=0.001, feature_index=0
  other = f32[8] get-tuple-element(u), index=1
  ROOT r = f32[8] READ
}
"""

CONVOLVED = """HloModule m
ENTRY e {
  x = f32[2,1,9,16] parameter(0)
  k = f32[3,3,16,8] parameter(1)
  c = f32[2,1,7,8] convolution(x, k), window={size=3x3 pad=1_1x0_0}, dim_labels=b01f_01io->b01f
  t = f32[3,3,16,8] reverse(k), dimensions={0,1}
  reversed = f32[2,1,7,8] convolution(x, t), window={size=3x3 pad=1_1x0_0 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f
  dilated = f32[2,1,7,8] convolution(x, k), window={size=3x3 pad=1_1x0_0 lhs_dilate=2x1}, dim_labels=b01f_01io->b01f
  ROOT r = f32[2,1,7,8] READ
}
"""
DYNAMIC = """func.func @main(%x: tensor<2x9x3xf32>, %k: tensor<3x3x4xf32>) -> tensor<2x7x4xf32> {
  %p = stablehlo.constant dense<0> : tensor<1x2xi64>
  %c = "stablehlo.dynamic_conv"(%x, %k, %p) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>} :
      (tensor<2x9x3xf32>, tensor<3x3x4xf32>, tensor<1x2xi64>) -> tensor<2x7x4xf32>
  %t = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x9x3xf32>) -> tensor<2x3x9xf32>
  %o = "stablehlo.dynamic_conv"(%t, %k, %p) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, f, 0]x[0, i, o]->[b, 0, f]>} :
      (tensor<2x3x9xf32>, tensor<3x3x4xf32>, tensor<1x2xi64>) -> tensor<2x7x4xf32>
  %r = stablehlo.READ : tensor<2x7x4xf32>
  return %r : tensor<2x7x4xf32>
}
"""


@pytest.mark.parametrize(
    ("program", "one", "other"),
    [
        (NORMALIZED, "mean", "other"),
        (CONVOLVED, "c", "reversed"),
        (CONVOLVED, "c", "dilated"),
        (DYNAMIC, "%c", "%o"),
    ],
)
def test_each_operation_that_sums_has_an_order(program: str, one: str, other: str) -> None:
    def reading(text: str) -> Module:
        return parse(program.replace("READ", text if one == "%c" else text.replace(" ", "(", 1) + ")"))

    found = prove([reading(f"negate {one}"), reading(f"negate {other}")])
    assert found.answer == "equal"
    assert "order of sums" in choices_of(found.outputs)
    for first, second in ((f"floor {one}", f"floor {other}"), (f"subtract {one}, {one}", f"subtract {one}, {other}")):
        assert prove([reading(first), reading(second)]).answer == "unknown"
        assert choices_of(prove([reading(second), reading(second)]).outputs) == ()


def test_an_engine_sums_a_dilated_window_in_another_order(worker: Worker) -> None:
    rng = np.random.default_rng(0)
    data = [[rng.standard_normal(sizes).astype(np.float32) for sizes in ((2, 1, 9, 16), (3, 3, 16, 8))]]
    texts = [CONVOLVED.replace("READ", f"copy({name})") for name in ("c", "dilated", "reversed")]
    found = [worker.run(prepare(parse(text), "m"), data, engine="xla")[0][0] for text in texts]
    assert all(not np.array_equal(found[0], each) for each in found[1:])
    assert all(np.allclose(found[0], each, atol=1e-4) for each in found[1:])


MOVED = """HloModule m
ENTRY e {
  x = f32[64,32] parameter(0)
  y = f32[64,16] parameter(1)
  t = f32[32,64] transpose(x), dimensions={1,0}
  MADE
  d = f32[32,16] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  o = f32[32,16] dot(z, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[32,16] READ
}
"""
MADE = [
    "z = f32[32,64] opt-barrier(t)",
    "u = f32[32,64] opt-barrier(t)\n  v = f32[32,64] negate(u)\n  z = f32[32,64] negate(v)",
    "u = f32[1,64,32] reshape(x)\n  v = f32[1,32,64] transpose(u), dimensions={0,2,1}\n  z = f32[32,64] reshape(v)",
]


@pytest.mark.parametrize("made", MADE)
def test_an_engine_may_fold_a_transposition_before_a_sum(made: str, worker: Worker) -> None:
    texts = [MOVED.replace("MADE", made).replace("READ", each) for each in ("copy(d)", "copy(o)")]
    found = prove([parse(each) for each in texts])
    assert found.answer == "equal"
    assert "order of sums" in choices_of(found.outputs)
    rng = np.random.default_rng(0)
    data = [[rng.standard_normal(sizes).astype(np.float32) for sizes in ((64, 32), (64, 16))]]
    one, other = (worker.run(prepare(parse(each), "m"), data, engine="xla")[0][0] for each in texts)
    assert not np.array_equal(one, other)
    twice, once = (MOVED.replace("MADE", made).replace("READ", f"subtract(d, {each})") for each in "od")
    assert prove([parse(twice), parse(once)]).answer == "unknown"
    assert choices_of(prove([parse(once), parse(once)]).outputs) == ()


PARTS = (
    HEAD
    + """\
  x = f32[8,4] parameter(0)
  z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={0}, to_apply=plus
  one = f32[1,4] reshape(s)
  again = f32[4] reduce(one, z), dimensions={0}, to_apply=plus
  k = f32[] constant(0.5)
  half = f32[4] broadcast(k), dimensions={}
  ROOT r = f32[4] multiply(READ)
}
"""
)


def test_a_sum_of_one_element_is_no_second_value_of_its_program() -> None:
    first, other = (parse(PARTS.replace("READ", each)) for each in ("again, half", "half, again"))
    assert choices_of(prove([first, other]).outputs) == ("initial zero", "NaN bits")
    assert prove([first, parse(PARTS.replace("READ", "again, s"))]).answer == "unknown"
    # Both are read: 0 + x and x differ for x = -0.
    twice, once = (parse(PARTS.replace("READ", each)) for each in ("again, s", "s, s"))
    assert prove([twice, once]).answer == "unknown"


def test_each_output_is_compared_by_itself() -> None:
    first, other = (
        Program("two results", pair).module()
        for pair in (("two dimensions", "dot"), ("two dimensions", "two dimensions"))
    )
    assert [each.is_equal for each in prove([first, other]).outputs] == [True, True]
    one, two = (
        Program("difference", pair).module()
        for pair in (("two dimensions", "dot"), ("two dimensions", "two dimensions"))
    )
    assert prove([one, two]).answer == "unknown"
