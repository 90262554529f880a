"""Modules that differ are never proved equal: one planted mistake of each kind, in both dialects."""

from __future__ import annotations

import pytest

from dialect_utils.ir import Module
from dialect_utils.verdict.differences import Place
from dialect_utils.verdict.proof import ProofResult, rewriter, try_prove
from tests.verdict.proof.dialects import parse


def prove(*stages: Module) -> ProofResult:
    return try_prove(stages)


# The loops start at a parameter: 70 known iterations would be tried one after another first, as in LOOP below.
HLO = """HloModule m
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}
less {
  s = (s32[], f32[4,4], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(70)
  ROOT c = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], f32[4,4], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,4] get-tuple-element(s), index=1
  w = f32[4,4] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[4,4], f32[4,4]) tuple(j, y, w)
}
yes {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}
no {
  p = f32[4] parameter(0)
  ROOT n = f32[4] exponential(p)
}
ENTRY e {
  p = f32[4,4] parameter(0)
  q = f32[4,4] parameter(1)
  i0 = s32[] parameter(2)
  t0 = (s32[], f32[4,4], f32[4,4]) tuple(i0, p, q)
  w = (s32[], f32[4,4], f32[4,4]) while(t0), condition=less, body=step
  x = f32[4,4] get-tuple-element(w), index=1
  low = f32[] constant(-inf)
  r = f32[4] reduce(x, low), dimensions={1}, to_apply=max
  z = f32[] constant(0.5)
  k = f32[4] iota(), iota_dimension=0
  l = f32[4] constant({1, 2, 3, 4})
  g = pred[4] compare(k, l), direction=GT
  m = f32[4] select(g, r, l)
  h = f32[6] pad(m, z), padding=0_2
  ps = f32[1,1] slice(p), slice={[0:1], [0:1]}
  s0 = f32[] reshape(ps)
  d = pred[] compare(s0, low), direction=EQ
  c = f32[4] conditional(d, m, r), true_computation=yes, false_computation=no
  o = f32[6] exponential(h)
  u = f32[4,4] transpose(p), dimensions={1,0}
  v = f32[2,4] slice(u), slice={[0:2], [0:4]}
  f = f32[] rng(z, low), distribution=rng_uniform
  ROOT all = (f32[6], f32[4], f32[2,4], f32[]) tuple(o, c, v, f)
}
"""
HLO_EDITS = [
    ("maximum(a, b)", "minimum(a, b)"),
    ("n = s32[] constant(70)", "n = s32[] constant(80)"),
    ("one = s32[] constant(1)", "one = s32[] constant(2)"),
    ("compare(i, n), direction=LT", "compare(i, n), direction=LE"),
    ("compare(i, n)", "compare(n, i)"),
    ("dot(x, w)", "dot(w, x)"),
    ("lhs_contracting_dims={1}", "lhs_contracting_dims={0}"),
    ("{0}\n  ROOT t", "{0}, operand_precision={highest,highest}\n  ROOT t"),
    ("tuple(j, y, w)", "tuple(j, y, y)"),
    ("tuple(j, y, w)", "tuple(j, w, w)"),
    ("tuple(i0, p, q)", "tuple(i0, q, p)"),
    ("get-tuple-element(w), index=1", "get-tuple-element(w), index=2"),
    ("constant(-inf)", "constant(-1e38)"),
    ("dimensions={1}, to_apply", "dimensions={0}, to_apply"),
    ("constant(0.5)", "constant(0.50000006)"),
    ("{1, 2, 3, 4}", "{1, 2, 3, 5}"),
    ("compare(k, l), direction=GT", "compare(l, k), direction=GT"),
    ("select(g, r, l)", "select(g, l, r)"),
    ("padding=0_2", "padding=1_1"),
    ("padding=0_2", 'padding=0_0_1, metadata={op_name=""}'),
    ("pad(m, z)", "pad(m, low)"),
    ("conditional(d, m, r)", "conditional(d, r, m)"),
    ("true_computation=yes, false_computation=no", "true_computation=no, false_computation=yes"),
    ("compare(s0, low), direction=EQ", "compare(s0, low), direction=NE"),
    ("transpose(p), dimensions={1,0}", "transpose(p), dimensions={0,1}"),
    ("transpose(p)", "transpose(q)"),
    ("[0:2], [0:4]", "[1:3], [0:4]"),
    ("[0:2], [0:4]", "[0:4:2], [0:4]"),
    ("rng(z, low)", "rng(low, z)"),
    ("  f = f32[] rng", "  f0 = f32[] rng(z, low), distribution=rng_uniform\n  f = f32[] rng"),
]

MLIR = """module {
  func.func public @main(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>, %i0: tensor<i32>)
      -> (tensor<6xf32>, tensor<4xf32>, tensor<2x4xf32>) {
    %w:2 = stablehlo.while(%i = %i0, %x = %p) : tensor<i32>, tensor<4x4xf32>
     cond {
      %n = stablehlo.constant dense<70> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.dot_general %x, %q, contracting_dims = [1] x [0]
        : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
    }
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %r = stablehlo.reduce(%w#1 init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %z = stablehlo.constant dense<0.5> : tensor<f32>
    %k = stablehlo.iota dim = 0 : tensor<4xf32>
    %l = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %g = stablehlo.compare GT, %k, %l, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %m = stablehlo.select %g, %r, %l : tensor<4xi1>, tensor<4xf32>
    %h = stablehlo.pad %m, %z, low = [0], high = [2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
    %ps = stablehlo.slice %p [0:1, 0:1] : (tensor<4x4xf32>) -> tensor<1x1xf32>
    %s0 = stablehlo.reshape %ps : (tensor<1x1xf32>) -> tensor<f32>
    %d = stablehlo.compare EQ, %s0, %low, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %c = "stablehlo.if"(%d) ({
      %n = stablehlo.negate %m : tensor<4xf32>
      stablehlo.return %n : tensor<4xf32>
    }, {
      %n = stablehlo.exponential %r : tensor<4xf32>
      stablehlo.return %n : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %o = stablehlo.exponential %h : tensor<6xf32>
    %u = stablehlo.transpose %p, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %v = stablehlo.slice %u [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    return %o, %c, %v : tensor<6xf32>, tensor<4xf32>, tensor<2x4xf32>
  }
}
"""
MLIR_EDITS = [
    ("applies stablehlo.maximum", "applies stablehlo.minimum"),
    ("dense<70>", "dense<80>"),
    ("compare LT", "compare LE"),
    ("dot_general %x, %q", "dot_general %q, %x"),
    ("dot_general %x, %q", "dot_general %x, %p"),
    ("[1] x [0]", "[0] x [0]"),
    ("[1] x [0]\n", "[1] x [0], precision = [HIGHEST, HIGHEST]\n"),
    ("%x = %p", "%x = %q"),
    ("return %j, %y", "return %j, %x"),
    ("0xFF800000", "0xFF7FFFFF"),
    ("dimensions = [1]", "dimensions = [0]"),
    ("dense<0.5>", "dense<0x3F000001>"),
    ("3.0, 4.0]", "3.0, 5.0]"),
    ("%k, %l, FLOAT", "%l, %k, FLOAT"),
    ("select %g, %r, %l", "select %g, %l, %r"),
    ("low = [0], high = [2]", "low = [1], high = [1]"),
    ("pad %m, %z", "pad %m, %low"),
    ("negate %m", "negate %r"),
    ("exponential %r", "negate %r"),
    ("compare EQ", "compare NE"),
    ("transpose %p, dims = [1, 0]", "transpose %p, dims = [0, 1]"),
    ("transpose %p", "transpose %q"),
    ("[0:2, 0:4]", "[1:3, 0:4]"),
    ("[0:2, 0:4]", "[0:4:2, 0:4]"),
]


@pytest.mark.parametrize(
    ("text", "edit"),
    [*((HLO, edit) for edit in HLO_EDITS), *((MLIR, edit) for edit in MLIR_EDITS)],
    ids=[f"{before} -> {after}"[:60] for before, after in HLO_EDITS + MLIR_EDITS],
)
def test_a_planted_mistake_is_never_proved_equal(text: str, edit: tuple[str, str]) -> None:
    before, after = edit
    assert before in text
    module, wrong = parse(text), parse(text.replace(before, after, 1))
    assert prove(module, wrong).answer != "equal"
    assert prove(wrong, module).answer != "equal"


@pytest.mark.parametrize("text", [HLO, MLIR], ids=["HLO", "StableHLO"])
def test_a_copy_of_a_program_is_proved_equal(text: str) -> None:
    assert prove(parse(text), parse(text)).answer == "equal"


def test_the_same_program_in_both_forms_is_proved() -> None:
    without_rng = HLO.replace("  f = f32[] rng(z, low), distribution=rng_uniform\n", "").replace(
        "(f32[6], f32[4], f32[2,4], f32[]) tuple(o, c, v, f)", "(f32[6], f32[4], f32[2,4]) tuple(o, c, v)"
    )
    found = prove(parse(without_rng), parse(MLIR))
    assert found.answer == "equal", found.reason


TILED = """HloModule m, entry_computation_layout={(f32[3,5]{1,0:T(2,2)})->f32[3,5]{1,0:T(2,2)}}
ENTRY e {
  p = f32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT n = f32[3,5]{1,0:T(2,2)} OP(p)
}
"""
PHYSICAL = """HloModule m
ENTRY e {
  p = f32[2,3,2,2] parameter(0)
  t = f32[2,2,3,2] transpose(p), dimensions={0,2,1,3}
  r = f32[4,6] reshape(t)
  s = f32[3,5] slice(r), slice={[0:3], [0:5]}
  n = f32[3,5] OP(s)
  z = f32[] constant(0)
  w = f32[4,6] pad(n, z), padding=0_1x0_1
  x = f32[2,2,3,2] reshape(w)
  ROOT y = f32[2,3,2,2] transpose(x), dimensions={0,2,1,3}
}
"""


@pytest.mark.parametrize("opcode", ["copy", "negate", "exponential"])
def test_physical_arrays_are_proved(opcode: str) -> None:
    found = prove(parse(TILED.replace("OP", opcode)), parse(PHYSICAL.replace("OP", opcode)))
    assert found.answer == "equal", found.reason


def test_on_the_physical_array_itself_the_padding_may_hold_anything() -> None:
    short = "HloModule m\nENTRY e {\n  p = f32[2,3,2,2] parameter(0)\n  ROOT n = f32[2,3,2,2] exponential(p)\n}\n"
    assert prove(parse(TILED.replace("OP", "exponential")), parse(short)).answer == "equal"


@pytest.mark.parametrize(
    ("edit", "index", "places"),
    [
        (
            ("f32[2,2,3,2] transpose(p), dimensions={0,2,1,3}", "f32[2,2,3,2] transpose(p), dimensions={0,3,1,2}"),
            (0, 1),
            ((0, 1), (1, 0)),
        ),
        (("[0:3], [0:5]", "[0:3], [1:6]"), (0, 0), ((0, 0), (0, 1))),
    ],
)
def test_the_element_that_moved_is_named(
    edit: tuple[str, str], index: tuple[int, ...], places: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    before, after = edit
    assert before in PHYSICAL
    found = prove(parse(TILED.replace("OP", "copy")), parse(PHYSICAL.replace("OP", "copy").replace(before, after)))
    assert found.answer == "different"
    assert found.moved is not None
    assert (found.moved.output, found.moved.index) == (0, index)
    assert found.moved.places == (Place("parameter 0", places[0]), Place("parameter 0", places[1]))


def test_an_element_that_is_padding_is_named() -> None:
    wrong = PHYSICAL.replace("OP", "copy").replace("[0:3], [0:5]", "[1:4], [0:5]")
    found = prove(parse(TILED.replace("OP", "copy")), parse(wrong))
    assert found.answer == "different"
    assert str(found.moved) == "output 0 at [0,0]: parameter 0[0,0] in one module, parameter 0[1,0] in the other"


def test_a_layout_of_another_order_under_the_same_signature_is_seen() -> None:
    rows = """HloModule m
ENTRY e {
  p = f32[4,4]{1,0:T(2,2)} parameter(0)
  ROOT s = f32[2,4] slice(p), slice={[0:2], [0:4]}
}
"""
    physical = """HloModule m
ENTRY e {
  p = f32[2,2,2,2] parameter(0)
  t = f32[2,2,2,2] transpose(p), dimensions={0,2,1,3}
  r = f32[4,4] reshape(t)
  ROOT s = f32[2,4] slice(r), slice={[0:2], [0:4]}
}
"""
    assert prove(parse(rows), parse(physical)).answer == "equal"
    assert prove(parse(rows.replace("{1,0:", "{0,1:")), parse(physical)).answer == "different"


SUM = """HloModule m, entry_computation_layout={(f32[3]{0:T(4)})->f32[]}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[3]{0:T(4)} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add
}
"""


def test_padding_that_leaks_into_a_sum_is_seen() -> None:
    right = SUM.replace(", entry_computation_layout={(f32[3]{0:T(4)})->f32[]}", "").replace(
        "p = f32[3]{0:T(4)} parameter(0)",
        "q = f32[1,4] parameter(0)\n  f = f32[4] reshape(q)\n  p = f32[3] slice(f), slice={[0:3]}",
    )
    assert prove(parse(SUM), parse(right)).answer == "equal"
    leak = right.replace("p = f32[3] slice(f), slice={[0:3]}", "p = f32[4] copy(f)")
    found = prove(parse(SUM), parse(leak))
    assert (found.answer, found.reason) == (
        "unknown",
        "output 0: movement of parameter 0 reads what a physical array has as padding",
    )


LOOP = """HloModule m
less {
  s = (s32[], f32[3,5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(70)
  ROOT c = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], f32[3,5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3,5]{1,0:T(2,2)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[3,5] exponential(x)
  ROOT t = (s32[], f32[3,5]) tuple(j, y)
}
ENTRY e {
  p = f32[3,5]{1,0:T(2,2)} parameter(0)
  i0 = s32[] constant(0)
  t0 = (s32[], f32[3,5]) tuple(i0, p)
  w = (s32[], f32[3,5]) while(t0), condition=less, body=step
  ROOT x = f32[3,5]{1,0:T(2,2)} get-tuple-element(w), index=1
}
"""
LOOP_PHYSICAL = LOOP.replace("f32[3,5]{1,0:T(2,2)}", "f32[2,3,2,2]").replace("f32[3,5]", "f32[2,3,2,2]")


def test_a_loop_may_carry_physical_arrays_of_which_it_reads_no_padding() -> None:
    assert prove(parse(LOOP), parse(LOOP_PHYSICAL)).answer == "equal"
    turned = LOOP_PHYSICAL.replace(
        "y = f32[2,3,2,2] exponential(x)",
        "x2 = f32[2,3,2,2] transpose(x), dimensions={0,1,3,2}\n  y = f32[2,3,2,2] exponential(x2)",
    )
    # 70 transposes cancel, 71 do not.
    odd, turned_odd = (text.replace("constant(70)", "constant(71)") for text in (LOOP, turned))
    assert prove(parse(LOOP), parse(turned)).answer == "equal"
    assert prove(parse(odd), parse(turned_odd)).answer != "equal"
    first = LOOP_PHYSICAL.replace("n = s32[] constant(70)", "n = s32[] constant(60)")
    assert prove(parse(LOOP), parse(first)).answer != "equal"


def test_a_declaration_and_a_lost_constant_are_no_proof() -> None:
    declared = """func.func private @f() -> tensor<f32>
func.func public @main() -> tensor<f32> {
  %0 = call @f() : () -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    lost = "HloModule m\nENTRY e {\n  ROOT c = f32[4] constant({...})\n}\n"
    assert prove(parse(declared), parse(declared)).reason == "f has no body"
    assert prove(parse(lost), parse(lost)).reason == "a constant has lost its values"


def test_calls_that_multiply_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriter, "_MOST_OPERATIONS", 1000)
    functions = ["level_0 {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}"]
    for i in range(1, 40):
        calls = f"  a = f32[] call(p), to_apply=level_{i - 1}\n  b = f32[] call(a), to_apply=level_{i - 1}\n"
        functions.append(f"level_{i} {{\n  p = f32[] parameter(0)\n{calls}  ROOT c = f32[] add(a, b)\n}}")
    entry = "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=level_39\n}"
    module = parse("\n".join(["HloModule m", *functions, entry, ""]))
    found = prove(module, module)
    assert (found.answer, found.reason) == ("unknown", "there are more than 1000 operations where calls are inlined")
