import pytest

from dialect_utils.files import parse_bytes
from dialect_utils.verdict.promises import Promise, coarsest_epsilon, result_promises

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
MAX = ADD.replace("add(", "maximum(")


def promise(lines: str, before: str = "", parameter: str = "f32[8,8]") -> Promise:
    text = f"HloModule m\n{before}ENTRY e {{\n  p = {parameter} parameter(0)\n  z = f32[] constant(0)\n{lines}\n}}\n"
    [found] = result_promises(parse_bytes(text.encode(), "m"))
    return found


SUM = "r = f32[8] reduce({0}, z), dimensions={{1}}, to_apply=add"


@pytest.mark.parametrize(
    ("lines", "before", "expected"),
    [
        ("ROOT r = f32[8,8] tanh(p)", "", Promise.ALWAYS),
        ("ROOT " + SUM.format("p"), ADD, Promise.ON_INTEGERS),
        ("ROOT " + SUM.format("p"), MAX, Promise.ALWAYS),
        ("t = f32[8,8] tanh(p)\nROOT " + SUM.format("t"), ADD, Promise.NEVER),
        ("ROOT r = f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "", Promise.ON_INTEGERS),
        (SUM.format("p") + "\nROOT e = f32[8] exponential(r)", ADD, Promise.ON_INTEGERS),
        (SUM.format("p") + "\nROOT e = s32[8] convert(r)", ADD, Promise.ON_INTEGERS),
        ("ROOT r = f32[4,8] reduce-scatter(p), dimensions={0}, to_apply=add", ADD, Promise.ON_INTEGERS),
        ("m = f32[8,8] multiply(p, p)\nROOT a = f32[8,8] add(m, p)", "", Promise.ON_INTEGERS),
        ("m = f32[8,8] multiply(p, p)\nROOT a = f32[8,8] multiply(m, p)", "", Promise.ALWAYS),
        ("t = f32[8,8] tanh(p)\nm = f32[8,8] multiply(t, p)\nROOT a = f32[8,8] subtract(p, m)", "", Promise.NEVER),
        (
            "m = f32[8,8] multiply(p, p)\nt = f32[8,8] transpose(m), dimensions={1,0}\nROOT a = f32[8,8] add(p, t)",
            "",
            Promise.ON_INTEGERS,
        ),
        (
            "t = f32[8,8] tanh(p)\nh = f32[] constant(0.125)\nhb = f32[8,8] broadcast(h), dimensions={}\n"
            "m = f32[8,8] multiply(t, hb)\nROOT a = f32[8,8] subtract(p, m)",
            "",
            Promise.ALWAYS,
        ),
        ("b = bf16[8,8] convert(p)\nROOT r = f32[8,8] convert(b)", "", Promise.ON_INTEGERS),
        ("b = bf16[8,8] convert(p)\nROOT r = bf16[8,8] transpose(b), dimensions={1,0}", "", Promise.ALWAYS),
        ("b = bf16[8,8] convert(p)\nt = bf16[8,8] tanh(b)\nROOT r = bf16[8,8] add(t, b)", "", Promise.NEVER),
        ('ROOT r = f32[8,8] custom-call(p), custom_call_target="x"', "", Promise.NEVER),
    ],
)
def test_promises(lines: str, before: str, expected: Promise) -> None:
    assert promise(lines, before) is expected


def test_sums_too_large_for_the_mantissa_are_not_promised() -> None:
    large = SUM.format("p").replace("f32[8] ", "f32[] ").replace("dimensions={1}", "dimensions={0,1}")
    assert promise("ROOT " + large, ADD, "f32[4096,1024]") is Promise.ON_INTEGERS
    assert promise("ROOT " + large, ADD, "f32[4096,4096]") is Promise.NEVER


def test_each_element_of_the_root_tuple_has_its_own_promise() -> None:
    text = f"""HloModule m
{ADD}ENTRY e {{
  p = f32[8] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(p, z), dimensions={{0}}, to_apply=add
  ROOT t = (f32[8], (f32[])) tuple(p, u)
}}
""".replace("  ROOT", "  u = (f32[]) tuple(r)\n  ROOT")
    assert result_promises(parse_bytes(text.encode(), "m")) == [Promise.ALWAYS, Promise.ON_INTEGERS]


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
    assert result_promises(parse_bytes(text.encode(), "m")) == [Promise.NEVER]


def test_the_coarsest_type_sets_the_tolerance() -> None:
    text = (
        "HloModule m\nENTRY e {\n  p = f32[3] parameter(0)\n  b = bf16[3] convert(p)\n  ROOT f = f32[3] convert(b)\n}\n"
    )
    assert coarsest_epsilon(parse_bytes(text.encode(), "m")) == 2**-7
