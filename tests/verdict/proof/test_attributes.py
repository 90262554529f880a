"""Attributes that affect a value: equal in both dialects, without those that are notes."""

from __future__ import annotations

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Operation
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.certificate import Certificate
from dialect_utils.verdict.proof import try_prove
from dialect_utils.verdict.replay import replay
from dialect_utils.verdict.terms.labels import elementwise_label, is_pure, key_of


def hlo(line: str, opcode: str) -> Operation:
    text = f"""HloModule m
less {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}}
ENTRY e {{
  p = f32[4,4] parameter(0)
  {line}
}}
"""
    return of_opcode(text, opcode)


def stablehlo(line: str, opcode: str, result: str = "tensor<4x4xf32>") -> Operation:
    text = f"func.func @main(%p: tensor<4x4xf32>) -> {result} {{\n  {line}\n  return %r : {result}\n}}\n"
    return of_opcode(text, opcode)


def of_opcode(text: str, opcode: str) -> Operation:
    module = parse_bytes(text.encode(), "m")
    (found,) = (each for each in module.entry.operations if each.opcode == opcode)
    return found


SORT = "r = f32[4,4] sort(p), dimensions={1}, to_apply=less"


def test_an_absent_flag_is_false() -> None:
    plain = key_of(hlo(SORT, "sort"))
    assert key_of(hlo(SORT + ", is_stable=false", "sort")) == plain
    assert key_of(hlo(SORT + ", is_stable=true", "sort")) != plain
    assert key_of(hlo(SORT.replace("{1}", "{0}"), "sort")) != plain


def test_what_is_only_noted_says_nothing() -> None:
    negate = "r = f32[4,4] negate(p)"
    noted = negate + ', sharding={replicated}, metadata={op_name="a"}, backend_config={"a":1}'
    assert key_of(hlo(noted, "negate")) == key_of(hlo(negate, "negate"))
    call = 'r = f32[4,4] custom-call(p), custom_call_target="f"'
    assert key_of(hlo(call + ', backend_config="x"', "custom-call")) != key_of(hlo(call, "custom-call"))
    assert key_of(hlo(call + ', metadata={op_name="a"}', "custom-call")) == key_of(hlo(call, "custom-call"))


REVERSED = """HloModule m, is_scheduled=true

f {
  a = f32[3,5] parameter(0)
  ROOT n = f32[3,5] negate(a)
}

ENTRY e {
  p = f32[3,5] parameter(0)
  r = f32[3,5] OPERATION
  c = f32[3,5] copy(r)
  ROOT s = f32[3,5] add(c, p)
}
"""


@pytest.mark.parametrize(
    "operation", ["negate(p)", "fusion(p), kind=kLoop, calls=f", "copy(p)", "reverse(p), dimensions={1}"]
)
def test_a_result_written_in_reverse_is_another_one(operation: str) -> None:
    def is_equal(*dims: str) -> tuple[bool, bool]:
        """Returns the answers of the proof, and of a replay that begins without a step."""
        noted = [f'{operation}, backend_config={{"output_reverse_dimensions":[{each}]}}' for each in dims]
        stages = [parse_bytes(REVERSED.replace("OPERATION", each).encode(), "m") for each in noted]
        return try_prove(stages).answer == "equal", replay(stages, Certificate((), ({}, {}))).is_equal

    assert is_equal("", "") == is_equal('"0"', '"0"') == (True, True)
    assert is_equal('"0"', "") == is_equal('"0"', '"1"') == (False, False)


# A copy or a movement of an optimized dump may round f32 to bf16.
ROUNDED = """HloModule m, is_scheduled=true

add32 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  p = f32[3,5] parameter(0)
  q = f32[3,1,5] reshape(p)
  m = f32[] constant(-0)
  z = KIND[] constant(0)
  r = KIND[3,5] OPERATION
  s = f32[3,5] convert(r)
  ROOT n = f32[3,5] negate(s)
}
"""


@pytest.mark.parametrize(
    "operation",
    [
        "copy(p)",
        "reshape(p)",
        "transpose(p), dimensions={0,1}",
        "pad(p, z), padding=0_0x0_0",
        "slice(p), slice={[0:3], [0:5]}",
        "maximum(p, p)",
        "reduce(q, m), dimensions={1}, to_apply=add32",
    ],
)
def test_an_operation_that_converts_its_operand_moves_no_elements(operation: str) -> None:
    texts = [ROUNDED.replace("OPERATION", operation).replace("KIND", kind) for kind in ("f32", "bf16")]
    plain = ROUNDED.replace("OPERATION", "copy(p)").replace("KIND", "f32")

    def is_equal(*texts: str) -> tuple[bool, bool]:
        stages = [parse_bytes(each.encode(), "m") for each in texts]
        return try_prove(stages).answer == "equal", replay(stages, Certificate((), ({}, {}))).is_equal

    assert is_equal(texts[0], plain)[0]
    assert is_equal(texts[1], texts[1])[0]
    assert is_equal(texts[1], plain) == is_equal(texts[0], texts[1]) == (False, False)


def test_the_default_precision_says_nothing() -> None:
    dot = "r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    plain = key_of(hlo(dot, "dot"))
    assert key_of(hlo(dot + ", operand_precision={default,default}", "dot")) == plain
    assert key_of(hlo(dot + ", operand_precision={highest,highest}", "dot")) != plain
    general = "%r = stablehlo.dot_general %p, %p, contracting_dims = [1] x [0]"
    kinds = " : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
    assert key_of(stablehlo(general + ", precision = [DEFAULT, DEFAULT]" + kinds, "dot")) == plain
    highest = key_of(stablehlo(general + ", precision = [HIGHEST, HIGHEST]" + kinds, "dot"))
    assert highest == key_of(hlo(dot + ", operand_precision={highest,highest}", "dot"))


def test_comparisons_differ_by_direction_and_total_order() -> None:
    less = "r = pred[4,4] compare(p, p), direction=LT"
    label = elementwise_label(hlo(less, "compare"))
    assert label == ("compare", "LT", False)
    assert elementwise_label(hlo(less + ", type=FLOAT", "compare")) == label
    assert elementwise_label(hlo(less + ", type=TOTALORDER", "compare")) == ("compare", "LT", True)
    assert elementwise_label(hlo(less + ", order=TOTAL", "compare")) == ("compare", "LT", True)
    assert elementwise_label(hlo(less + ", order=PARTIAL", "compare")) == label
    assert elementwise_label(hlo(less.replace("LT", "GE"), "compare")) == ("compare", "GE", False)
    written = "%r = stablehlo.compare LT, %p, %p, FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>"
    assert elementwise_label(stablehlo(written, "compare", "tensor<4x4xi1>")) == label


def test_integers_are_the_same_in_both_dialects() -> None:
    line = "r = f32[4,4] transpose(p), dimensions={1,0}"
    written = "%r = stablehlo.transpose %p, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>"
    assert key_of(hlo(line, "transpose")) == key_of(stablehlo(written, "transpose"))
    assert key_of(hlo("r = f32[4,4] reverse(p), dimensions={0}", "reverse")) != key_of(
        hlo("r = f32[4,4] reverse(p), dimensions={1}", "reverse")
    )


def test_a_constant_is_what_it_holds() -> None:
    assert key_of(hlo("r = f32[] constant(1)", "constant")) == key_of(hlo("r = f32[] constant( 1 )", "constant"))
    assert key_of(hlo("r = f32[] constant(1)", "constant")) != key_of(hlo("r = f32[] constant(2)", "constant"))
    with pytest.raises(UndefinedError, match="lost its values"):
        key_of(hlo("r = f32[9] constant({...})", "constant"))


def test_a_bitcast_is_its_layouts() -> None:
    found = [key_of(hlo(f"r = f32[16]{{0{tile}}} bitcast(p)", "bitcast")) for tile in ("", ":T(4)")]
    assert found[0] != found[1]


@pytest.mark.parametrize(("more", "pure"), [("", True), (", custom_call_has_side_effect=true", False)])
def test_side_effects_of_custom_calls(more: str, pure: bool) -> None:
    assert is_pure(hlo('r = f32[4] custom-call(p), custom_call_target="f"' + more, "custom-call")) is pure


def test_the_ends_of_a_transfer_count() -> None:
    def line(pairs: str, handler: str = "f") -> str:
        notes = f'_xla_send_recv_source_target_pairs={pairs}, _xla_host_transfer_handler_name="{handler}"'
        token = "t = token[] after-all()\n  "
        sent = "r = (f32[4,4], u32[], token[]) send(p, t), channel_id=1, frontend_attributes="
        return f'{token}{sent}{{{notes}, _scheduling_group_id="1"}}'

    plain = key_of(hlo(line("{{0,1}}"), "send"))
    assert key_of(hlo(line('"{{0,1}}"').replace('"1"', '"2"'), "send")) == plain
    assert key_of(hlo(line("{{1,0}}"), "send")) != plain
    assert key_of(hlo(line("{{0,1}}", "g"), "send")) != plain
