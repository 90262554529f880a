import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict.rounding.guarantees import Guarantee, result_guarantees

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
MAX = ADD.replace("add(", "maximum(")
MULTIPLY = ADD.replace("add(", "multiply(")


def guarantee(lines: str, before: str = "", parameter: str = "f32[8,8]") -> Guarantee:
    text = f"HloModule m\n{before}ENTRY e {{\n  p = {parameter} parameter(0)\n  z = f32[] constant(0)\n{lines}\n}}\n"
    [found] = result_guarantees(parse_bytes(text.encode(), "m"))
    return found


SUM = "r = f32[8] reduce({0}, z), dimensions={{1}}, to_apply=add"


@pytest.mark.parametrize(
    ("lines", "before", "expected"),
    [
        ("ROOT r = f32[8,8] tanh(p)", "", Guarantee.ALWAYS),
        ("ROOT " + SUM.format("p"), ADD, Guarantee.ON_INTEGERS),
        ("ROOT " + SUM.format("p"), MAX, Guarantee.ALWAYS),
        ("ROOT " + SUM.format("p"), MULTIPLY, Guarantee.NEVER),
        ("t = f32[8,8] tanh(p)\nROOT " + SUM.format("t"), ADD, Guarantee.NEVER),
        ("ROOT r = f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "", Guarantee.ON_INTEGERS),
        (SUM.format("p") + "\nROOT e = f32[8] exponential(r)", ADD, Guarantee.NEVER),
        (SUM.format("p") + "\nROOT e = s32[8] convert(r)", ADD, Guarantee.ON_INTEGERS),
        ("ROOT r = f32[4,8] reduce-scatter(p), dimensions={0}, to_apply=add", ADD, Guarantee.ON_INTEGERS),
        ("m = f32[8,8] multiply(p, p)\nROOT a = f32[8,8] add(m, p)", "", Guarantee.ALWAYS),
        ("m = f32[8,8] multiply(p, p)\nROOT a = f32[8,8] multiply(m, p)", "", Guarantee.ALWAYS),
        ("t = f32[8,8] tanh(p)\nm = f32[8,8] multiply(t, p)\nROOT a = f32[8,8] subtract(p, m)", "", Guarantee.ALWAYS),
        (
            "m = f32[8,8] multiply(p, p)\nt = f32[8,8] transpose(m), dimensions={1,0}\nROOT a = f32[8,8] add(p, t)",
            "",
            Guarantee.ALWAYS,
        ),
        (
            "t = f32[8,8] tanh(p)\nh = f32[] constant(0.125)\nhb = f32[8,8] broadcast(h), dimensions={}\n"
            "m = f32[8,8] multiply(t, hb)\nROOT a = f32[8,8] subtract(p, m)",
            "",
            Guarantee.ALWAYS,
        ),
        ("b = bf16[8,8] convert(p)\nROOT r = f32[8,8] convert(b)", "", Guarantee.ALWAYS),
        ("b = bf16[8,8] convert(p)\nROOT r = bf16[8,8] transpose(b), dimensions={1,0}", "", Guarantee.ALWAYS),
        ("b = bf16[8,8] convert(p)\nt = bf16[8,8] tanh(b)\nROOT r = bf16[8,8] add(t, b)", "", Guarantee.ALWAYS),
        ('ROOT r = f32[8,8] custom-call(p), custom_call_target="x"', "", Guarantee.NEVER),
    ],
)
def test_guarantees(lines: str, before: str, expected: Guarantee) -> None:
    assert guarantee(lines, before) is expected


@pytest.mark.parametrize(
    "lines",
    [
        "b = f32[8,8] opt-barrier(p)",
        "b = f32[8,8] copy(p)",
        "c = (f32[8,8], f32[8,8], u32[]) copy-start(p)\nb = f32[8,8] copy-done(c)",
        "b = f32[8,8] call(p), to_apply=same",
        "b = f32[8,8] fusion(p), kind=kLoop, calls=same",
        "k = pred[] constant(true)\nb = f32[8,8] conditional(k, p, p), true_computation=same, false_computation=same",
        "c = ((f32[8,8]), f32[8,8], u32[]) async-start(p), calls=same\nb = f32[8,8] async-done(c)",
    ],
)
def test_what_hands_values_on_keeps_their_bounds(lines: str) -> None:
    same = "same { q = f32[8,8] parameter(0)\n ROOT n = f32[8,8] negate(q) }\n"
    assert guarantee(f"{lines}\nROOT {SUM.format('b')}", ADD + same) is Guarantee.ON_INTEGERS


def test_bitwise_operations_on_integers_are_not_predicates() -> None:
    lines = "n = s32[8,8] not(i)\nf = f32[8,8] convert(n)\nROOT " + SUM.format("f")
    assert guarantee(f"i = s32[8,8] convert(p)\n{lines}", ADD) is Guarantee.NEVER
    lines = "c = pred[8,8] compare(p, p), direction=EQ\nn = pred[8,8] not(c)\nf = f32[8,8] convert(n)\nROOT "
    assert guarantee(lines + SUM.format("f"), ADD) is Guarantee.ON_INTEGERS


def test_sums_too_large_for_the_mantissa_are_not_guaranteed() -> None:
    large = SUM.format("p").replace("f32[8] ", "f32[] ").replace("dimensions={1}", "dimensions={0,1}")
    assert guarantee("ROOT " + large, ADD, "f32[4096,1024]") is Guarantee.ON_INTEGERS
    assert guarantee("ROOT " + large, ADD, "f32[4096,4096]") is Guarantee.NEVER


def test_each_element_of_the_root_tuple_has_its_own_guarantee() -> None:
    text = f"""HloModule m
{ADD}ENTRY e {{
  p = f32[8] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(p, z), dimensions={{0}}, to_apply=add
  ROOT t = (f32[8], (f32[])) tuple(p, u)
}}
""".replace("  ROOT", "  u = (f32[]) tuple(r)\n  ROOT")
    assert result_guarantees(parse_bytes(text.encode(), "m")) == [Guarantee.ALWAYS, Guarantee.ON_INTEGERS]


def test_a_loop_carries_its_sums() -> None:
    text = f"""HloModule m
{ADD}condition {{ p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }}
body {{ p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  b = f32[8] broadcast(x), dimensions={{}}
  z = f32[] constant(0)
  r = f32[] reduce(b, z), dimensions={{0}}, to_apply=add
  ROOT t = (s32[], f32[]) tuple(i, r) }}
ENTRY e {{ p = (s32[], f32[]) parameter(0)
  w = (s32[], f32[]) while(p), condition=condition, body=body
  ROOT x = f32[] get-tuple-element(w), index=1 }}
"""
    assert result_guarantees(parse_bytes(text.encode(), "m")) == [Guarantee.NEVER]
