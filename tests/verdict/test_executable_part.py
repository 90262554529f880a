"""Outputs that do not depend on an operation that no engine executes are executed, and may contradict a proof."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.verdict import Counterexample, compare as comparing, compare_modules
from dialect_utils.verdict.executable_part import executable_part, with_outputs
from dialect_utils.verdict.proof import ProofResult

# The second output waits for another program.
HLO = """HloModule m
inner {
  t = token[] after-all()
  i = (f32[4], token[]) infeed(t)
  ROOT d = f32[4] get-tuple-element(i), index=0
}
ENTRY e {
  x = f32[4] parameter(0)
  n = f32[4] negate(x)
  w = f32[4] call(), to_apply=inner
  s = f32[4] add(w, x)
  c = s32[4] constant({1, 2, 3, 4})
  k = token[] after-all()
  o = token[] outfeed(n, k), outfeed_shape=f32[4]{0}
  ROOT r = (f32[4], f32[4], s32[4]) tuple(n, s, c)
}
"""
MLIR = """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %n = stablehlo.negate %x : tensor<4xf32>
  %w = func.call @inner() : () -> tensor<4xf32>
  %s = stablehlo.add %w, %x : tensor<4xf32>
  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  return %n, %s, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}
func.func private @inner() -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %d, %u = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %d : tensor<4xf32>
}
"""
TEXTS = pytest.mark.parametrize("text", [HLO, MLIR], ids=["hlo", "stablehlo"])
WAITS = "not executed: infeed waits for another program, for ever here"


def parse(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


@pytest.fixture
def proves_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every proof succeed, wrongly where modules differ."""
    monkeypatch.setattr(comparing, "prove", lambda *arguments, **options: ProofResult("equal"))


@TEXTS
def test_the_other_outputs_are_executed(text: str, worker: Worker) -> None:
    verdict = compare_modules(parse(text), parse(text), worker=worker)
    assert (verdict.verdict, verdict.methods) == ("equal", ("proof",))
    first, second, third = verdict.reason.split("; ")
    assert first == WAITS
    assert second.startswith("outputs 0, 2 alone, executed by XLA on ")
    assert second.endswith(" sets of inputs: no difference")
    assert third.startswith("outputs 0, 1, 2 alone with ones for the data of other programs, executed by XLA on ")


@pytest.mark.usefixtures("proves_everything")
@pytest.mark.parametrize(("old", "new", "output"), [("negate", "abs", 0), ("3, 4", "3, 5", 2)])
@TEXTS
def test_a_difference_in_them_contradicts_the_proof(text: str, old: str, new: str, output: int, worker: Worker) -> None:
    verdict = compare_modules(parse(text), parse(text.replace(old, new)), worker=worker)
    assert (verdict.verdict, verdict.methods) == ("unknown", ("proof", "xla"))
    assert isinstance(verdict.counterexample, Counterexample)
    assert verdict.counterexample.output == output
    assert verdict.cause is not None
    assert verdict.cause.output == output
    assert WAITS in verdict.reason
    assert "with ones" not in verdict.reason


@pytest.mark.usefixtures("proves_everything")
@TEXTS
def test_outputs_that_depend_on_it_are_executed_with_ones(
    text: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault is in the second output, which needs the data of another program."""
    wrong = text.replace("add", "subtract")
    verdict = compare_modules(parse(text), parse(wrong), worker=worker)
    assert (verdict.verdict, verdict.counterexample and verdict.counterexample.output) == ("unknown", 1)
    assert "with ones for the data of other programs" in verdict.reason
    monkeypatch.setattr("dialect_utils.verdict.executable_part.with_ones_received", lambda stages: [])
    unfed = compare_modules(parse(text), parse(wrong), worker=worker)
    assert unfed.verdict == "equal"
    assert unfed.reason.count(" alone") == 1


# Both outputs come from one loop, in which the module receives data.
RECEIVES = """HloModule m
body {
  s = (f32[4], f32[4], s32[], token[]) parameter(0)
  a = f32[4] get-tuple-element(s), index=0
  b = f32[4] get-tuple-element(s), index=1
  k = s32[] get-tuple-element(s), index=2
  t = token[] get-tuple-element(s), index=3
  r = (f32[4], u32[], token[]) recv(t), channel_id=1, is_host_transfer=true
  d = (f32[4], token[]) recv-done(r), channel_id=1, is_host_transfer=true
  e = f32[4] get-tuple-element(d), index=0
  u = token[] get-tuple-element(d), index=1
  c = f32[4] add(b, e)
  n = f32[4] negate(a)
  one = s32[] constant(1)
  j = s32[] add(k, one)
  ROOT next = (f32[4], f32[4], s32[], token[]) tuple(n, c, j, u)
}
condition {
  s = (f32[4], f32[4], s32[], token[]) parameter(0)
  k = s32[] get-tuple-element(s), index=2
  three = s32[] constant(3)
  ROOT is = pred[] compare(k, three), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = s32[] constant(0)
  t = token[] after-all()
  s = (f32[4], f32[4], s32[], token[]) tuple(x, y, zero, t)
  w = (f32[4], f32[4], s32[], token[]) while(s), condition=condition, body=body
  a = f32[4] get-tuple-element(w), index=0
  b = f32[4] get-tuple-element(w), index=1
  ROOT r = (f32[4], f32[4]) tuple(a, b)
}
"""


@pytest.mark.usefixtures("proves_everything")
def test_a_loop_that_receives_data_is_executed_with_ones(worker: Worker) -> None:
    right = compare_modules(parse(RECEIVES), parse(RECEIVES), worker=worker)
    assert right.verdict == "equal"
    assert right.reason.startswith(f"{WAITS.replace('infeed', 'recv')}; outputs 0, 1 alone with ones for the data")
    wrong = compare_modules(parse(RECEIVES), parse(RECEIVES.replace("negate", "abs")), worker=worker)
    assert (wrong.verdict, wrong.counterexample and wrong.counterexample.output) == ("unknown", 0)


@pytest.mark.parametrize("kind", ["c64", "f8e8m0fnu", "pred", "s4"])
def test_ones_of_other_types(kind: str, worker: Worker) -> None:
    text = f"""HloModule m
ENTRY e {{
  t = token[] after-all()
  i = (({kind}[2], {kind}[]), token[]) infeed(t)
  d = ({kind}[2], {kind}[]) get-tuple-element(i), index=0
  ROOT a = {kind}[2] get-tuple-element(d), index=0
}}
"""
    verdict = compare_modules(parse(text), parse(text), worker=worker)
    assert (" alone with ones" in verdict.reason) == (kind != "c64")


@pytest.mark.usefixtures("proves_everything")
def test_an_effect_on_which_no_output_depends_hides_nothing(worker: Worker) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  k = token[] after-all()
  o = token[] outfeed(x, k), outfeed_shape=f32[4]{0}
  ROOT n = f32[4] negate(x)
}
"""
    verdict = compare_modules(parse(text), parse(text.replace("negate", "abs")), worker=worker)
    assert (verdict.verdict, verdict.methods) == ("unknown", ("proof", "xla"))


@pytest.mark.usefixtures("proves_everything")
@pytest.mark.parametrize("operation", ["rng(a, b), distribution=rng_uniform", "constant({...})"])
def test_other_operations_that_no_engine_executes(operation: str, worker: Worker) -> None:
    text = f"""HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  a = f32[] constant(0)
  b = f32[] constant(1)
  g = f32[4] {operation}
  n = f32[4] negate(x)
  ROOT r = (f32[4], f32[4]) tuple(g, n)
}}
"""
    right = compare_modules(parse(text), parse(text), worker=worker)
    assert (right.verdict, right.reason.count("output 1 alone")) == ("equal", 1)
    verdict = compare_modules(parse(text), parse(text.replace("negate", "abs")), worker=worker)
    assert verdict.verdict == "unknown"
    assert verdict.counterexample is not None
    assert verdict.counterexample.output == 1


@pytest.mark.usefixtures("proves_everything")
def test_outputs_of_physical_arrays(worker: Worker) -> None:
    """The header's layouts of outputs that are cut out stay."""
    layout = "{1,0:T(2,2)}"
    text = f"""HloModule m, entry_computation_layout={{(f32[3,5]{layout})->(f32[], f32[3,5]{layout})}}
ENTRY e {{
  x = f32[3,5] parameter(0)
  t = token[] after-all()
  i = (f32[], token[]) infeed(t)
  d = f32[] get-tuple-element(i), index=0
  n = f32[3,5] negate(x)
  ROOT r = (f32[], f32[3,5]) tuple(d, n)
}}
"""
    physical = text.partition(",")[0] + text[text.index("\n") :].replace("f32[3,5]", "f32[2,3,2,2]")
    right = compare_modules(parse(text), parse(physical), worker=worker)
    assert "output 1 alone" in right.reason
    wrong = compare_modules(parse(text), parse(physical.replace("negate", "abs")), worker=worker)
    assert (wrong.verdict, wrong.counterexample and wrong.counterexample.output) == ("unknown", 1)


@TEXTS
def test_a_cut_keeps_the_numbers_of_outputs(text: str) -> None:
    part = with_outputs(parse(text), (2, 0))
    shapes = [str(shape.without_layout) for shape in part.entry_layout[1]]
    shapes = shapes if len(shapes) > 1 else [str(leaf.without_layout) for leaf in part.entry_layout[1][0].leaves()]
    assert shapes == ["f32[4]", "s32[4]", "s32[4]"]
    assert not {"infeed", "outfeed", "call", "add"} & {operation.opcode for operation in part.operations()}
    assert [function.is_entry for function in part.functions] == [True]
    assert parse(part.text()).text() == part.text()


def test_the_outputs_are_found_by_halves() -> None:
    asked: list[int] = []

    def is_executable(stages: object) -> bool:
        asked.append(1)
        return "add" not in stages[0].text()  # type: ignore[index]  # a sequence of modules

    names = [f"n{number}" for number in range(16)]
    lines = [f"  {name} = f32[] {'add(x, x)' if name == 'n5' else 'negate(x)'}" for name in names]
    tuple_ = f"  ROOT r = ({', '.join(['f32[]'] * 16)}) tuple({', '.join(names)})"
    module = parse("\n".join(["HloModule m", "ENTRY e {", "  x = f32[] parameter(0)", *lines, tuple_, "}", ""]))
    part = executable_part([module, module], is_executable)
    assert part is not None
    assert part.outputs == (*range(5), *range(6, 16))
    assert part.origin(5) == 0
    assert len(asked) <= 10
    assert executable_part([module], lambda stages: False) is None


LARGE = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  c = f32[] constant(2)
  b = f32[2097152] broadcast(c), dimensions={}
  y = f32[4] OPCODE(x)
  ROOT t = (f32[2097152], f32[4]) tuple(b, y)
}
"""


def test_a_difference_beside_an_output_that_is_not_executed_has_its_own_number(worker: Worker) -> None:
    first, second = (parse_bytes(LARGE.replace("OPCODE", each).encode(), "m") for each in ("negate", "abs"))
    found = compare_modules(first, second, worker=worker)
    assert found.verdict == "different"
    assert isinstance(found.counterexample, Counterexample)
    assert found.counterexample.output == 1
