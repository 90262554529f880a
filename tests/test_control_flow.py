"""Values that calls, loops and branches pass, in both dialects and in any order of the text."""

from __future__ import annotations

import re

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Join, Module, Operand, Operation, Yielded
from dialect_utils.ir.control_flow import joins_of, merged
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.proof.decide import try_prove
from dialect_utils.verdict.rounding.guarantees import result_guarantees
from passes.framework.base import BUILTIN_PASSES, load_pass

LOOP = """HloModule loop

step {
  s = (f32[6,6]{1,0:T(4,2)}, s32[]) parameter(0)
  x = f32[6,6]{1,0:T(4,2)} get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[6,6] negate(x)
  ROOT n = (f32[6,6]{1,0:T(4,2)}, s32[]) tuple(y, j)
}

more {
  t = (f32[6,6]{1,0:T(4,2)}, s32[]) parameter(0)
  k = s32[] get-tuple-element(t), index=1
  three = s32[] constant(3)
  ROOT below = pred[] compare(k, three), direction=LT
}

turn { v = pred[] parameter(0)
  ROOT flipped = pred[] not(v) }
again { w = pred[] parameter(0)
  ROOT is_set = pred[] copy(w) }
minus { a = f32[6,6]{1,0} parameter(0)
  ROOT m = f32[6,6]{1,0} negate(a) }
sine { b = f32[6,6]{1,0} parameter(0)
  ROOT o = f32[6,6]{1,0} sine(b) }
larger { c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT g = pred[] compare(c, d), direction=GE }
total { e = f32[] parameter(0)
  f = f32[] parameter(1)
  ROOT h = f32[] add(e, f) }

ENTRY main {
  p = f32[6,6]{1,0:T(4,2)} parameter(0)
  q = pred[] parameter(1)
  r = s32[] parameter(2)
  init = (f32[6,6]{1,0:T(4,2)}, s32[]) tuple(p, r)
  l = (f32[6,6], s32[]) while(init), CONDITION_AND_BODY
  z = f32[6,6] get-tuple-element(l), index=0
  u = pred[] while(q), CONDITION_AND_BODY_OF_FLAG
  plain = f32[6,6]{1,0} copy(z)
  branch = f32[6,6]{1,0} conditional(u, plain, plain), BRANCHES
  zero = f32[] constant(0)
  windows = f32[3,3]{1,0} slice(plain), slice={[0:3], [0:3]}
  spread = f32[6,6]{1,0} select-and-scatter(branch, windows, zero), window={size=2x2 stride=2x2}, SELECT_AND_SCATTER
  ROOT results = (f32[6,6]{1,0:T(4,2)}, f32[6,6]{1,0}) tuple(z, spread)
}
"""
ORDERED = {
    "CONDITION_AND_BODY_OF_FLAG": ("condition=again", "body=turn"),
    "CONDITION_AND_BODY": ("condition=more", "body=step"),
    "BRANCHES": ("true_computation=minus", "false_computation=sine"),
    "SELECT_AND_SCATTER": ("select=larger", "scatter=total"),
}
PAIRS = [("condition", "body"), ("true_computation", "false_computation"), ("select", "scatter")]


def loop(*, swapped: bool) -> str:
    text = LOOP
    for place, parts in ORDERED.items():
        text = text.replace(place, ", ".join(reversed(parts) if swapped else parts))
    return text


def in_one_order(text: str) -> str:
    for first, second in PAIRS:
        text = re.sub(rf"({second}=[%\w.\-]+), ({first}=[%\w.\-]+)", r"\2, \1", text)
    return text


def outcome(name: str, text: str) -> str:
    """Returns the module after a pass, or the error."""
    step = load_pass(name)
    if name == "annotate-layouts":
        step = step.with_options(target="tpu-v5e")
    try:
        return in_one_order(step.run(parse_module(text, "loop.hlo")).module.text())
    except DiagnosticError as error:
        return in_one_order("\n".join(each.message for each in error.diagnostics))


def test_the_texts_differ_in_nothing_but_their_order() -> None:
    assert loop(swapped=True) != loop(swapped=False)
    assert in_one_order(loop(swapped=True)) == loop(swapped=False)


@pytest.mark.parametrize("name", sorted(BUILTIN_PASSES))
def test_no_pass_depends_on_the_order_of_called_computations(name: str) -> None:
    assert outcome(name, loop(swapped=True)) == outcome(name, loop(swapped=False))


@pytest.mark.parametrize("name", ["expand-tiling", "propagate-layouts", "strip-layouts"])
def test_the_passes_rewrite_the_loop(name: str) -> None:
    assert outcome(name, loop(swapped=True)) != loop(swapped=False)


def test_a_pipeline_does_not_depend_on_the_order() -> None:
    found = set()
    for swapped in (True, False):
        text = loop(swapped=swapped)
        for name in ("propagate-layouts", "expand-tiling", "propagate-physical", "cancel-relayouts"):
            text = load_pass(name).run(parse_module(text, "loop.hlo")).module.text()
        found.add(in_one_order(text))
    assert len(found) == 1


@pytest.mark.parametrize("swapped", [True, False])
def test_roles_do_not_depend_on_the_order(swapped: bool) -> None:
    module = parse_module(loop(swapped=swapped), "loop.hlo")
    found = {operation.name: operation for operation in module.entry.operations}
    roles = {
        name: {role: operation.called_as(role).name for role in operation.roles}
        for name, operation in found.items()
        if operation.called
    }
    assert roles == {
        "l": {"condition": "more", "body": "step"},
        "u": {"condition": "again", "body": "turn"},
        "branch": {"branch 0": "minus", "branch 1": "sine"},
        "spread": {"select": "larger", "scatter": "total"},
    }
    assert [list(value) for value in roles.values()] == [
        ["condition", "body"], ["condition", "body"], ["branch 0", "branch 1"], ["select", "scatter"]
    ]  # fmt: skip
    with pytest.raises(ValueError, match="while calls no to_apply"):
        found["l"].called_as("to_apply")


def test_the_order_changes_no_proof_and_no_guarantee() -> None:
    stages = [parse_module(loop(swapped=swapped), "loop.hlo") for swapped in (True, False)]
    assert try_prove(stages).answer == "equal"
    assert result_guarantees(stages[0]) == result_guarantees(stages[1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("negate(x)", "abs(x)"),
        ("constant(3)", "constant(4)"),
        ("negate(a)", "cosine(a)"),
        ("add(e, f)", "maximum(e, f)"),
    ],
)
def test_another_loop_in_the_other_order_is_not_proved_equal(old: str, new: str) -> None:
    stages = [parse_module(loop(swapped=True).replace(old, new), "a.hlo"), parse_module(loop(swapped=False), "b.hlo")]
    assert old in LOOP
    assert try_prove(stages).answer != "equal"


def test_exchanged_functions_are_not_proved_equal() -> None:
    exchanged = loop(swapped=False).replace(
        "true_computation=minus, false_computation=sine", "true_computation=sine, false_computation=minus"
    )
    stages = [parse_module(exchanged, "a.hlo"), parse_module(loop(swapped=False), "b.hlo")]
    assert try_prove(stages).answer != "equal"


def test_a_loop_without_a_condition_is_a_problem_and_no_crash() -> None:
    text = loop(swapped=False).replace("condition=more, body=step", "condition=more, to_apply=step")
    with pytest.raises(DiagnosticError, match="while names condition and body, found condition, to_apply"):
        load_pass("verify-layouts").run(parse_module(text, "loop.hlo"))


# The joins themselves, equal in both dialects


def named_joins(operation: Operation) -> list[tuple[list[str], list[str]]]:
    return [
        ([place(source) for source in join.sources], [target.name for target in join.targets])
        for join in joins_of(operation)
    ]


def place(source: Operand | Yielded) -> str:
    if isinstance(source, Operand):
        return f"operand {source.index} {source.value.name}"
    return f"{source.function.name} {source.index} {source.value.name}"


def only(module: Module, opcode: str) -> Operation:
    [found] = [each for function in module.functions for each in function.operations if each.opcode == opcode]
    return found


HLO = """HloModule m
f { a = f32[2] parameter(0)
  ROOT n = f32[2] negate(a) }
g { b = f32[2] parameter(0)
  ROOT s = f32[2] sine(b) }
test { c = f32[2] parameter(0)
  ROOT t = pred[] constant(false) }
add { d = f32[] parameter(0)
  e = f32[] parameter(1)
  ROOT sum = f32[] add(d, e) }
ENTRY main {
  p = f32[2] parameter(0)
  k = s32[] parameter(1)
  %s
}
"""


@pytest.mark.parametrize(
    ("line", "opcode", "joins"),
    [
        ("ROOT r = f32[2] call(p), to_apply=f", "call", [(["operand 0 p"], ["a"]), (["f 0 n"], ["r"])]),
        ("ROOT r = f32[2] fusion(p), kind=kLoop, calls=f", "fusion", [(["operand 0 p"], ["a"]), (["f 0 n"], ["r"])]),
        (
            "ROOT r = f32[2] while(p), body=f, condition=test",
            "while",
            [(["operand 0 p", "f 0 n"], ["r", "c", "a"])],
        ),
        (
            "ROOT r = f32[2] conditional(k, p, p), branch_computations={f, g}",
            "conditional",
            [(["operand 1 p"], ["a"]), (["operand 2 p"], ["b"]), (["f 0 n", "g 0 s"], ["r"])],
        ),
        (
            "w = ((f32[2]), f32[2], u32[]) async-start(p), calls=f\n"
            "  x = ((f32[2]), f32[2], u32[]) async-update(w)\n  ROOT r = f32[2] async-done(x)",
            "async-start",
            [(["operand 0 p"], ["a"]), (["f 0 n"], ["r"])],
        ),
        ("z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add", "reduce", []),
        ('ROOT r = f32[2] custom-call(p), custom_call_target="t", called_computations={f}', "custom-call", []),
    ],
)
def test_joins_of_hlo(line: str, opcode: str, joins: list[tuple[list[str], list[str]]]) -> None:
    assert named_joins(only(parse_module(HLO.replace("%s", line), "m"), opcode)) == joins


MLIR = """func.func @main(%p: tensor<2xf32>, %k: tensor<i32>, %b: tensor<i1>) -> tensor<2xf32> {
  %r = BODY
  return %r : tensor<2xf32>
}
func.func private @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %n = stablehlo.negate %a : tensor<2xf32>
  return %n : tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    ("body", "opcode", "joins"),
    [
        ("func.call @f(%p) : (tensor<2xf32>) -> tensor<2xf32>", "call", [(["operand 0 p"], ["a"]), (["f 0 n"], ["r"])]),
        (
            "stablehlo.while(%c = %p) : tensor<2xf32> cond { stablehlo.return %b : tensor<i1> } "
            "do { %n = stablehlo.negate %c : tensor<2xf32> stablehlo.return %n : tensor<2xf32> }",
            "while",
            [(["operand 0 p", "r.1 0 n"], ["r", "c", "c"])],
        ),
        (
            '"stablehlo.case"(%k) ({ stablehlo.return %p : tensor<2xf32> }, '
            "{ %n = stablehlo.negate %p : tensor<2xf32> stablehlo.return %n : tensor<2xf32> }) "
            ": (tensor<i32>) -> tensor<2xf32>",
            "conditional",
            [(["r.0 0 p", "r.1 0 n"], ["r"])],
        ),
        (
            'stablehlo.composite "some.name" %p {decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>',
            "stablehlo.composite",
            [(["operand 0 p"], ["a"]), (["f 0 n"], ["r"])],
        ),
    ],
)
def test_joins_of_stablehlo(body: str, opcode: str, joins: list[tuple[list[str], list[str]]]) -> None:
    operation = only(parse_bytes(MLIR.replace("BODY", body).encode(), "m.mlir"), opcode)
    assert named_joins(operation) == joins
    assert len(operation.roles) == len(operation.called)


def test_calls_of_one_function_are_one_join() -> None:
    line = "q = f32[2] call(p), to_apply=f\n  ROOT r = f32[2] call(q), to_apply=f"
    module = parse_module(HLO.replace("%s", line), "m")
    joins: list[Join] = [join for operation in module.entry.operations for join in joins_of(operation)]
    assert [(len(join.sources), [each.name for each in join.targets]) for join in merged(joins)] == [
        (2, ["a"]),
        (1, ["q", "r"]),
    ]
