"""Parts of modules: XLA reads them, and they compute what the whole program computes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import relayout
from dialect_utils import execution
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.extraction import around, extract, find_part, part_as_module, whole
from passes.framework.pipeline import verify
from tests.paths import OWN_CORPUS, ROOT

DIAMOND = """HloModule diamond

max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}

ENTRY main {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  zero = f32[] constant(0)
  left = f32[4] add(p, q)
  right = f32[4] subtract(p, q), control-predecessors={left}
  top = f32[4] multiply(left, right)
  last = f32[] reduce(top, zero), dimensions={0}, to_apply=max
  ROOT pair = (f32[], f32[4]) tuple(last, left)
}
"""
LOOP = """
func.func public @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %twice = stablehlo.add %x, %x : tensor<4xf32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.multiply %v, %twice : tensor<4xf32>
    stablehlo.return %next, %w : tensor<i32>, tensor<4xf32>
  }
  return %out#1 : tensor<4xf32>
}
"""
ASYNCHRONOUS = """HloModule copies

ENTRY main {
  p = f32[4]{0} parameter(0)
  n = f32[4]{0} negate(p)
  start = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(n)
  e = f32[4]{0} exponential(p)
  done = f32[4]{0} copy-done(start)
  ROOT s = f32[4]{0} add(done, e)
}
"""


def names(module: Module) -> list[str]:
    return [value.name for value in module.entry.values()]


def results(module: Module) -> list[str]:
    root = module.entry.results[0].operation
    return [value.name for value in (root.operands if root is not None and root.opcode == "tuple" else [])]


def test_the_operations_around_a_value_are_chosen_by_steps() -> None:
    module = relayout.parse(DIAMOND)
    assert names(extract(module, "top")) == ["left", "right", "top"]
    assert names(extract(module, "top", before=1)) == ["p", "q", "left", "right", "top"]
    assert names(extract(module, "last", before=None)) == ["p", "q", "zero", "left", "right", "top", "last"]
    assert [function.name for function in extract(module, "last").functions] == ["max", "main"]
    assert module.text() == DIAMOND


def test_values_that_leave_a_part_are_a_tuple() -> None:
    made = extract(relayout.parse(DIAMOND), "top", before=1, after=1)
    # `left` is also an output of the program, `last` has no user in the part.
    assert names(made) == ["p", "q", "zero", "left", "right", "top", "last", "results"]
    assert results(made) == ["left", "last"]


def test_control_predecessors_outside_the_part_go() -> None:
    module = relayout.parse(DIAMOND)
    assert "control" not in extract(module, "right").text()
    assert "control-predecessors={left}" in extract(module, "top", before=1).text()


@pytest.mark.parametrize("value", ["start", "done"])
def test_the_phases_of_an_asynchronous_operation_stay_together(value: str) -> None:
    made = extract(relayout.parse(ASYNCHRONOUS), value)
    verify(made)
    assert names(made) == ["n", "start", "done"]
    assert made.entry.results[0].name == "done"


def test_a_computation_is_a_module_with_all_its_parameters() -> None:
    made = extract(relayout.parse(DIAMOND), "max")
    assert names(made) == ["a", "b", "m"]
    assert names(extract(relayout.parse(DIAMOND), computation="main")) == names(relayout.parse(DIAMOND))


def test_regions_bring_the_values_that_they_use() -> None:
    module = relayout.parse(LOOP)
    part = find_part(module, "out")
    assert [value.name for value in part.inputs] == ["x", "n", "zero", "one", "twice"]
    assert [value.name for value in part.results] == ["out#0", "out#1"]
    body = find_part(module, "w", before=1)
    assert [value.name for value in body.inputs] == ["v", "twice"]
    for each in (part, body, find_part(module, "out", before=None)):
        verify(part_as_module(module, each))
    assert len(find_part(module, "out", before=None).operations) == 4


def test_a_root_may_be_a_parameter_or_come_first() -> None:
    text = "first {\n  ROOT a = f32[] parameter(0)\n  b = f32[] parameter(1)\n}\n\n"
    module = relayout.parse(DIAMOND.replace("ENTRY", text + "ENTRY", 1))
    made = extract(module, "first")
    assert (names(made), made.entry.results[0].name) == (["a", "b"], "a")
    early = DIAMOND.replace("ROOT m = f32[] maximum(a, b)", "ROOT m = f32[] maximum(a, b)\n  n = f32[] negate(m)")
    assert extract(relayout.parse(early), "max").entry.results[0].name == "m"


def test_a_value_that_the_function_returns_leaves_the_part() -> None:
    text = """func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = stablehlo.negate %x : tensor<4xf32>
  %b = stablehlo.abs %a : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
"""
    part = find_part(relayout.parse(text), "b", before=1, after=1)
    assert [value.name for value in part.results] == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "options", "message", "hint"),
    [
        ("tpo", {}, "no operation or computation is called tpo in module diamond", "did you mean top"),
        ("p", {}, "p is a parameter of main: nothing computes it", "name one of the operations"),
        ("m", {"computation": "mx"}, "no computation is called mx", "did you mean max?"),
        ("m", {"computation": "main"}, "no operation of main is called m in module diamond", "relayout print"),
    ],
)
def test_an_unknown_name_is_an_error_with_names_like_it(
    value: str, options: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(DiagnosticError) as caught:
        extract(relayout.parse(DIAMOND), value, computation=options.get("computation"))
    assert message in caught.value.diagnostics[0].message
    assert hint in (caught.value.diagnostics[0].hint or "")


def test_a_name_in_several_computations_is_that_of_the_entry() -> None:
    text = DIAMOND.replace("ROOT m =", "ROOT top =")
    assert find_part(relayout.parse(text), "top").function.name == "main"
    assert find_part(relayout.parse(text), "top", computation="max").function.name == "max"
    text = text.replace("max", "other", 1).replace("to_apply=max", "to_apply=other")
    again = "max {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT top = f32[] maximum(a, b)\n}\n\n"
    several = text.replace("ENTRY", again + "ENTRY").replace("top = f32[4]", "peak = f32[4]").replace("(top", "(peak")
    with pytest.raises(DiagnosticError, match="2 operations are called top"):
        find_part(relayout.parse(several), "top")


def value_of(module: Module, value: Value, arrays: list[np.ndarray]) -> np.ndarray:
    """Returns a value of the entry: the whole program runs with that value as its result.

    The reference evaluator rounds each operation by itself; XLA's fusions round differently in a part.
    """
    if value in module.entry.parameters:
        return arrays[list(module.entry.parameters).index(value)]
    copy = module.clone()
    found = next(each for each in copy.entry.values() if each.name == value.name)
    copy.entry.set_results([found])
    return relayout.run(copy, *arrays, engine="reference")[0]


@pytest.mark.parametrize(
    ("file", "value", "before"),
    [
        ("attention.hlo", "transpose.2", None),
        ("attention.hlo", "div.7", 2),
        ("attention.mlir", "16", None),
        ("attention.mlir", "17", 2),
    ],
)
def test_a_part_computes_the_value_of_the_whole_program(file: str, value: str, before: int | None) -> None:
    module = relayout.read(ROOT / "examples" / file)
    part = find_part(module, value, before=before)
    made = part_as_module(module, part)
    rng = np.random.default_rng(1)
    arrays = [_random(parameter, rng) for parameter in module.entry.parameters]
    [result] = part.results
    inputs = [value_of(module, each, arrays) for each in part.inputs]
    assert relayout.run(made, *inputs, engine="reference")[0].tobytes() == value_of(module, result, arrays).tobytes()


def _random(value: Value, rng: np.random.Generator) -> np.ndarray:
    from dialect_utils.layout.arrays.dtypes import dtype_of

    assert isinstance(value.shape, ArrayShape)
    made = rng.standard_normal(value.shape.dimensions).astype(dtype_of(value.shape.element_type))
    assert isinstance(made, np.ndarray)
    return made


FILES = sorted(
    file
    for folder in (OWN_CORPUS / "hlo", OWN_CORPUS / "stablehlo", ROOT / "examples")
    for file in folder.iterdir()
    if file.suffix in (".hlo", ".mlir")
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_parts_of_the_corpus_verify(file: Path) -> None:
    try:
        module = relayout.read(file)
        verify(module)
    except DiagnosticError:
        pytest.skip("no whole module")
    rng = random.Random(file.name)
    operations = [each for each in module.operations() if each.results]
    for operation in rng.sample(operations, min(3, len(operations))):
        for before, after in ((0, 0), (None, 0), (1, 1)):
            made = part_as_module(module, around(operation, before, after))
            verify(made)
            assert made.text() == relayout.parse(made.text()).text()
    for function in rng.sample(list(module.functions), min(2, len(module.functions))):
        made = part_as_module(module, whole(function))
        verify(made)
        assert len(made.entry.operations) == len(function.operations)


@pytest.mark.parametrize("name", ["attention.hlo", "training_step.hlo", "forces_tpu.hlo", "attention_tpu.hlo"])
def test_xla_reads_the_parts(name: str) -> None:
    module = relayout.read(ROOT / "examples" / name)
    rng = random.Random(name)
    for operation in rng.sample(list(module.operations()), 5):
        for before, after in ((0, 0), (None, 0), (1, 1)):
            execution.hlo_text_to_proto(part_as_module(module, around(operation, before, after)).text())
