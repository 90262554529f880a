"""Programs about bits, constants and precision: proved with the choices that they use, and similar ones refused."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution.reference import evaluate
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.verdict.certified import choices_of, prove
from dialect_utils.verdict.proof import ProofResult
from dialect_utils.verdict.proof.terms import Terms
from dialect_utils.verdict.replay.scalars import check_scalar
from tests.styled_inputs import styled_inputs
from tests.verdict.proof.dialects import parse

_KEY = """  {0}b = {2} bitcast-convert({1})
  {0}z = {2} constant(0)
  {0}n = pred[] compare({0}b, {0}z), direction={3}
  {0}m = {2} constant({4})
  {0}x = {2} {5}({0}m, {0}b)
  {0}k = {2} select({0}n, {0}x, {0}b)
"""
_SORT = """HloModule m
less {{
  p = {0}[] parameter(0)
  q = {0}[] parameter(1)
{1}}}
ENTRY e {{
  v = {0}[7] parameter(0)
  ROOT r = {0}[7] sort(v), dimensions={{0}}, is_stable=true, to_apply=less
}}
"""


def _proved(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return prove(modules, seconds=20)


def _choices(first: str, second: str) -> tuple[str, ...]:
    found = _proved(first, second)
    assert found.answer == "equal", found.reason
    return choices_of(found.outputs)


def _entry(*lines: str, parameters: str = "x = bf16[6] parameter(0)") -> str:
    rows = [*parameters.split("; "), *lines]
    return "HloModule m\nENTRY e {\n" + "".join(f"  {row}\n" for row in rows) + "}\n"


def _in_total_order(kind: str, direction: str = "LT") -> str:
    return _SORT.format(kind, f"  ROOT c = pred[] compare(p, q), direction={direction}, type=TOTALORDER\n")


def _by_bits(kind: str, direction: str = "LT", sign: str = "LT", opcode: str = "xor", less: int = 0) -> str:
    width = int(kind.lstrip("bf"))
    highest = (1 << (width - 1)) - 1 - less
    keys = [_KEY.format(name, name, f"s{width}[]", sign, highest, opcode) for name in "pq"]
    return _SORT.format(kind, "".join(keys) + f"  ROOT c = pred[] compare(pk, qk), direction={direction}\n")


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("direction", ["LT", "GT", "LE", "GE", "EQ", "NE"])
def test_the_total_order_of_floats_is_an_order_of_their_bits(kind: str, direction: str) -> None:
    assert _choices(_in_total_order(kind, direction), _by_bits(kind, direction)) == ()


def test_the_bits_of_negative_floats_may_be_subtracted_from_the_highest_integer() -> None:
    assert _choices(_in_total_order("f32"), _by_bits("f32", opcode="subtract")) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        _by_bits("f32", "GT"),
        _by_bits("f32", sign="LE"),
        _by_bits("f32", sign="GT"),
        _by_bits("f32", opcode="or"),
        _by_bits("f32", less=1),
        _in_total_order("f32").replace(", type=TOTALORDER", ""),
    ],
)
def test_another_order_of_bits_is_not_the_total_order(wrong: str) -> None:
    assert _proved(_in_total_order("f32"), wrong).answer != "equal"


def test_a_comparison_with_a_constant_in_total_order_is_one_of_bits() -> None:
    head = "x = f32[6] parameter(0); c = f32[] constant(-0); w = f32[6] broadcast(c), dimensions={}"
    plain = _entry("ROOT r = pred[6] compare(x, w), direction=GE, type=TOTALORDER", parameters=head)
    keys = [
        line.strip().replace("s32[]", "s32[6]").replace("pred[]", "pred[6]")
        for name in "xw"
        for line in _KEY.format(name, name, "s32[]", "LT", (1 << 31) - 1, "xor").splitlines()
    ]
    keys = [f"{key.replace('constant(', 'broadcast(')}" if "constant" not in key else key for key in keys]
    rows = []
    for key in keys:
        name, _, text = key.partition(" = ")
        if "constant" in text:
            rows += [
                f"{name}c = s32[] {text.partition(' ')[2]}",
                f"{name} = s32[6] broadcast({name}c), dimensions={{}}",
            ]
        else:
            rows.append(key)
    assert _choices(plain, _entry(*rows, "ROOT r = pred[6] compare(xk, wk), direction=GE", parameters=head)) == ()
    wrong = _entry(*rows, "ROOT r = pred[6] compare(xk, wk), direction=GT", parameters=head)
    assert _proved(plain, wrong).answer != "equal"


# Constants

_FOLDED = [
    ("f32", "add", "8.51261425", "8", "16.5126152", "16.5126133"),
    ("f32", "divide", "1", "3", "0.333333343", "0.333333313"),
    ("bf16", "multiply", "1.1015625", "3", "3.3125", "3.296875"),
    ("f64", "subtract", "0.3", "0.1", "0.19999999999999998", "0.2"),
    ("s8", "power", "7", "7", "-9", "9"),
    ("s32", "remainder", "-7", "3", "-1", "2"),
    ("u8", "shift-left", "3", "9", "0", "6"),
]


@pytest.mark.parametrize(("kind", "opcode", "left", "right", "found", "wrong"), _FOLDED)
def test_an_operation_on_constants_is_its_rounded_result(
    kind: str, opcode: str, left: str, right: str, found: str, wrong: str
) -> None:
    head = f"x = {kind}[6] parameter(0); a = {kind}[] constant({left}); b = {kind}[] constant({right})"
    whole = f"w = {kind}[6] broadcast(c), dimensions={{}}"
    root = f"ROOT r = {kind}[6] add(x, w)"
    before = _entry(f"c = {kind}[] {opcode}(a, b)", whole, root, parameters=head)
    assert _choices(before, _entry(f"c = {kind}[] constant({found})", whole, root, parameters=head)) in (
        (),
        ("NaN bits",),
    )
    other = _entry(f"c = {kind}[] constant({wrong})", whole, root, parameters=head)
    assert _proved(before, other).answer != "equal"


def test_a_constant_that_a_definition_rounds_twice_is_not_folded() -> None:
    # 1 + 2^-8 + 2^-40 is above the middle of two numbers of bf16; f32 rounds it to the middle.
    head = "x = bf16[6] parameter(0); a = f64[] constant(1.0039062500009095)"
    rows = ["w = bf16[6] broadcast(c), dimensions={}", "ROOT r = bf16[6] add(x, w)"]
    before = _entry("c = bf16[] convert(a)", *rows, parameters=head)
    for found in ("1", "1.0078125"):
        assert _proved(before, _entry(f"c = bf16[] constant({found})", *rows, parameters=head)).answer != "equal"
    exact = before.replace("1.0039062500009095", "1.00390625")
    whole = head.replace("1.0039062500009095", "1.00390625")
    assert _choices(exact, _entry("c = bf16[] constant(1)", *rows, parameters=whole)) == ()


def test_a_nan_of_constants_is_a_nan_but_no_number() -> None:
    head = "x = f32[6] parameter(0); a = f32[] constant(-1)"
    whole = "w = f32[6] broadcast(m), dimensions={}"
    before = _entry("s = f32[] sqrt(a)", "m = f32[] maximum(s, a)", f"ROOT {whole}", parameters=head)
    assert _choices(before, _entry("m = f32[] constant(-nan)", f"ROOT {whole}", parameters=head)) == ("NaN bits",)
    assert _proved(before, _entry("m = f32[] constant(-1)", f"ROOT {whole}", parameters=head)).answer != "equal"
    bits = "ROOT b = u32[6] bitcast-convert(w)"
    read = [_entry(f"m = f32[] constant({nan})", whole, bits, parameters=head) for nan in ("nan", "-nan")]
    assert _proved(*read).answer != "equal"


def test_a_constant_tuple_holds_its_arrays_in_order() -> None:
    head = "HloModule m\nENTRY e {\n"
    root = '  ROOT r = u32[2] custom-call(t), custom_call_target="Consume"\n}\n'
    parts = "  a = u32[1] constant({7})\n  b = u32[2] constant({8, 9})\n  t = (u32[1], u32[2]) tuple(a, b)\n"
    whole = "  t = (u32[1], u32[2]) constant(({7}, {8, 9}))\n"
    assert _choices(head + parts + root, head + whole + root) == ()
    assert _proved(head + parts + root, head + whole.replace("8, 9", "9, 8") + root).answer != "equal"


# Precision


def _twice_rounded(opcode: str, kind: str = "bf16", wide: str = "f32", operands: str = "x, y") -> tuple[str, str]:
    """Returns an operation, and the same in a wider type, converted back."""
    head = f"x = {kind}[6] parameter(0); y = {kind}[6] parameter(1)"
    words = [f"{name}w = {wide}[6] convert({name})" for name in "xy"]
    wider = ", ".join(f"{name}w" for name in operands.split(", "))
    narrow = _entry(f"ROOT r = {kind}[6] {opcode}({operands})", parameters=head)
    return narrow, _entry(*words, f"s = {wide}[6] {opcode}({wider})", f"ROOT r = {kind}[6] convert(s)", parameters=head)


@pytest.mark.parametrize("kind", ["bf16", "f16", "f8e5m2", "f8e4m3fn"])
@pytest.mark.parametrize("opcode", ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"])
def test_an_operation_in_f32_that_is_rounded_is_that_of_the_narrow_type(opcode: str, kind: str) -> None:
    assert _choices(*_twice_rounded(opcode, kind)) == ("NaN bits",)


@pytest.mark.parametrize("opcode", ["sqrt", "negate", "abs", "floor", "ceil", "round-nearest-even", "sign"])
def test_a_function_in_f32_that_is_rounded_is_that_of_the_narrow_type(opcode: str) -> None:
    assert set(_choices(*_twice_rounded(opcode, operands="x"))) <= {"NaN bits"}


def _commutes(opcode: str, kind: str) -> bool:
    """Is true where the replay accepts that an operation commutes with a conversion to f32."""
    terms, narrow, wide = Terms(), ELEMENT_TYPES[kind], ELEMENT_TYPES["f32"]
    x = terms.make("leaf", ("parameter", 0), ArrayShape(narrow, ()))
    after = terms.each_as_is("convert", wide, [terms.each_as_is(opcode, narrow, [x])])
    before = terms.each_as_is(opcode, wide, [terms.each_as_is("convert", wide, [x])])
    return check_scalar("convert-exact", before, after) is not None


def test_an_operation_that_leaves_a_type_does_not_commute_with_a_conversion() -> None:
    assert _commutes("ceil", "f8e4m3")
    # 15.5 is rounded to 16, which the type does not have.
    assert not _commutes("ceil", "f8e3m4")
    assert _commutes("negate", "f8e4m3")
    # The type has one zero.
    assert not _commutes("negate", "f8e4m3fnuz")
    assert not _commutes("sqrt", "bf16")


def test_a_type_of_too_few_digits_rounds_twice() -> None:
    assert _proved(*_twice_rounded("add", "f8e4m3fn", "bf16")).answer != "equal"
    assert _proved(*_twice_rounded("multiply", "f16", "bf16")).answer != "equal"


def test_a_sum_of_three_numbers_that_is_rounded_once_is_another_one() -> None:
    head = "x = bf16[6] parameter(0); y = bf16[6] parameter(1)"
    narrow = _entry("s = bf16[6] add(x, y)", "ROOT r = bf16[6] add(s, x)", parameters=head)
    rows = ["a = f32[6] convert(x)", "b = f32[6] convert(y)", "s = f32[6] add(a, b)"]
    once = _entry(*rows, "t = f32[6] add(s, a)", "ROOT r = bf16[6] convert(t)", parameters=head)
    assert _proved(narrow, once).answer != "equal"
    rounded = ["n = bf16[6] convert(s)", "w = f32[6] convert(n)", "t = f32[6] add(w, a)"]
    assert _choices(narrow, _entry(*rows, *rounded, "ROOT r = bf16[6] convert(t)", parameters=head)) == ("NaN bits",)


def test_a_function_of_the_engine_is_named_as_a_choice() -> None:
    assert _choices(*_twice_rounded("exponential", operands="x")) == ("function rounding", "NaN bits")


def test_an_operation_that_observes_a_choice_of_the_engine_is_not_proved() -> None:
    narrow, wide = _twice_rounded("exponential", operands="x")
    observed = [
        text.replace("ROOT r", "t").replace("}\n", "  ROOT o = s32[6] convert(t)\n}\n") for text in (narrow, wide)
    ]
    found = _proved(*observed)
    assert found.answer != "equal"
    assert "a choice of the engine, which an operation observes" in found.reason


_DOT = "x = {0}[4,3] parameter(0); y = {0}[3,5] parameter(1)"
_NUMBERS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_WIDE = ("a = f32[4,3] convert(x)", "b = f32[3,5] convert(y)")


def test_the_precision_of_a_dot_is_the_choice_of_the_engine() -> None:
    head = _DOT.format("bf16")
    narrow = _entry(f"ROOT r = bf16[4,5] dot(x, y), {_NUMBERS}", parameters=head)
    wide = _entry(*_WIDE, f"d = f32[4,5] dot(a, b), {_NUMBERS}", "ROOT r = bf16[4,5] convert(d)", parameters=head)
    assert {*_choices(narrow, wide)} == {"dot precision", "order of sums", "NaN bits"}
    exact = ", operand_precision={highest,highest}"
    assert _proved(narrow.replace("={0}\n", "={0}" + exact + "\n"), wide).answer != "equal"
    negated = "n = f32[4,3] negate(a)\n  d = f32[4,5] dot(n, b)"
    assert _proved(narrow, wide.replace("d = f32[4,5] dot(a, b)", negated)).answer != "equal"


def test_equal_dots_use_no_choice() -> None:
    head = _DOT.format("bf16")
    wide = [*_WIDE, f"d = f32[4,5] dot(a, b), {_NUMBERS}"]
    first = _entry(*wide, "ROOT r = bf16[4,5] convert(d)", parameters=head)
    second = _entry(*wide, "n = bf16[4,5] convert(d)", "ROOT r = bf16[4,5] copy(n)", parameters=head)
    assert _choices(first, second) == ()


_REDUCED = """HloModule m
f {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
{1}}}
ENTRY e {{
  x = bf16[9] parameter(0)
  i = bf16[] constant(0)
{2}}}
"""
_NARROW_SUM = _REDUCED.format(
    "bf16", "  ROOT s = bf16[] add(a, b)\n", "  ROOT r = bf16[] reduce(x, i), dimensions={0}, to_apply=f\n"
)
_OF_WIDE = (
    "  w = f32[9] convert(x)\n  j = f32[] convert(i)\n  t = f32[] reduce(w, j), dimensions={0}, to_apply=f\n"
    "  ROOT r = bf16[] convert(t)\n"
)


def test_a_sum_whose_steps_are_rounded_is_that_of_the_narrow_type() -> None:
    steps = "  s = f32[] add(a, b)\n  n = bf16[] convert(s)\n  ROOT r = f32[] convert(n)\n"
    assert _choices(_NARROW_SUM, _REDUCED.format("f32", steps, _OF_WIDE)) == ("order of sums", "NaN bits")
    other = steps.replace("bf16", "f16")
    assert _proved(_NARROW_SUM, _REDUCED.format("f32", other, _OF_WIDE)).answer != "equal"
    doubled = steps.replace("convert(s)", "convert(b)")
    assert _proved(_NARROW_SUM, _REDUCED.format("f32", doubled, _OF_WIDE)).answer != "equal"


def test_a_sum_that_is_rounded_once_has_excess_precision() -> None:
    wide = _REDUCED.format("f32", "  ROOT s = f32[] add(a, b)\n", _OF_WIDE)
    assert {*_choices(_NARROW_SUM, wide)} == {"excess precision", "order of sums", "NaN bits"}


def test_a_maximum_in_a_wider_type_is_exact() -> None:
    narrow, wide = _NARROW_SUM.replace("add", "maximum"), "  ROOT s = f32[] maximum(a, b)\n"
    assert _choices(narrow, _REDUCED.format("f32", wide, _OF_WIDE)) == ("NaN bits",)


def test_a_largest_element_and_its_index_in_a_wider_type() -> None:
    def argmax(kind: str, rounded: str, whole: str, result: str) -> str:
        return f"""HloModule m
f {{
  a = {kind}[] parameter(0)
  i = s32[] parameter(1)
  b = {kind}[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT
  v = {kind}[] select(g, a, b)
{rounded}  k = s32[] select(g, i, j)
  ROOT t = ({kind}[], s32[]) tuple(v{"" if not rounded else "2"}, k)
}}
ENTRY e {{
  x = bf16[4,9] parameter(0)
  n = s32[4,9] iota(), iota_dimension=1
  z = s32[] constant(0)
  l = bf16[] constant(-inf)
{whole}  ROOT r = s32[4] get-tuple-element(m), index=1
}}
"""

    narrow = argmax(
        "bf16",
        "",
        "  m = (bf16[4], s32[4]) reduce(x, n, l, z), dimensions={1}, to_apply=f\n",
        "bf16",
    )
    wide = argmax(
        "f32",
        "  c = bf16[] convert(v)\n  v2 = f32[] convert(c)\n",
        "  w = f32[4,9] convert(x)\n  h = f32[] convert(l)\n"
        "  m = (f32[4], s32[4]) reduce(w, n, h, z), dimensions={1}, to_apply=f\n",
        "f32",
    )
    assert _proved(narrow, wide).answer == "equal"
    assert _proved(narrow, wide.replace("direction=GT", "direction=GE")).answer != "equal"


@pytest.mark.parametrize("opcode", ["divide", "remainder", "maximum", "and", "shift-right-logical"])
def test_integers_of_four_bits_are_computed_as_bytes(opcode: str) -> None:
    assert _choices(*_twice_rounded(opcode, "u4", "u8")) == ()
    narrow, wide = _twice_rounded(opcode, "s4", "s8")
    is_same = opcode != "shift-right-logical"
    assert (_proved(narrow, wide).answer == "equal") is is_same


# Bits of other widths


@pytest.mark.parametrize(("first", "second"), [("f32", "s8"), ("s64", "u32"), ("u16", "s4")])
def test_joined_elements_are_shifted_elements(first: str, second: str) -> None:
    width, size = int(first[1:]), int(second[1:])
    count = width // size
    head = f"x = {second}[3,{count}] parameter(0)"
    read = _entry(f"ROOT r = {first}[3] bitcast-convert(x)", parameters=head)
    rows, total = [], ""
    for i in range(count):
        rows += [
            f"p{i}_ = {second}[3,1] slice(x), slice={{[0:3], [{i}:{i + 1}]}}",
            f"q{i}_ = {second}[3] reshape(p{i}_)",
            f"b{i}_ = u{size}[3] bitcast-convert(q{i}_)",
            f"c{i}_ = u{width}[3] convert(b{i}_)",
            f"k{i}_ = u{width}[] constant({i * size})",
            f"w{i}_ = u{width}[3] broadcast(k{i}_), dimensions={{}}",
            f"l{i}_ = u{width}[3] shift-left(c{i}_, w{i}_)",
        ]
        if total:
            rows.append(f"o{i}_ = u{width}[3] or({total}, l{i}_)")
        total = f"o{i}_" if total else f"l{i}_"
    plain = _entry(*rows, f"ROOT r = {first}[3] bitcast-convert({total})", parameters=head)
    assert _choices(read, plain) == ()
    swapped = plain.replace("[0:1]", "[9:9]").replace("[1:2]", "[0:1]").replace("[9:9]", "[1:2]")
    assert swapped != plain
    assert _proved(read, swapped).answer != "equal"


def _executed(text: str, seed: int) -> np.ndarray:
    module = parse(text)
    shapes = [value.shape for value in module.entry.parameters if isinstance(value.shape, ArrayShape)]
    return np.asarray(evaluate(module, styled_inputs(shapes, seed, "special"))[0])


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_the_definitions_agree_about_the_total_order(kind: str) -> None:
    for seed in range(4):
        found = [_executed(text, seed).tobytes() for text in (_in_total_order(kind), _by_bits(kind))]
        assert found[0] == found[1]
