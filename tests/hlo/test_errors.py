from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError

HEAD = "HloModule m\nENTRY e {\n"
# More digits than int() reads.
MANY_DIGITS = "9" * 5000

# The text, with the span of the error between « and », and a part of the message.
CASES = [
    (HEAD + "  p = f32[] parameter(0)\n  q = f32[] negate(«%pp»)\n}", "unknown operand %pp", "did you mean %p?"),
    (HEAD + "  q = f32[] negate(«p»)\n  p = f32[] parameter(0)\n}", "unknown operand %p", None),
    (HEAD + "  p = f32[] parameter(0)\n  «p» = f32[] negate(p)\n}", "defined twice", None),
    (
        HEAD + "  p = f32[] parameter(0)\n  ROOT q = f32[] negate(p)\n  «ROOT» r = f32[] negate(p)\n}",
        "already the ROOT",
        None,
    ),
    (HEAD + "  p = f32[] parameter(«1»)\n}", "parameter number 1", "number them from 0"),
    (HEAD + "  p = f32[] parameter(0)\n  q = f32[] parameter(«0»)\n}", "occurs twice", None),
    (HEAD + "  p = f32[] parameter(«x»)\n}", "expected a parameter number", "write parameter(0)"),
    (HEAD + "  p = «f23»[] parameter(0)\n}", "unknown element type 'f23'", "write f32"),
    (HEAD + "  p = f32[3,5]{1,0:T(2,«0»)} parameter(0)\n}", "must be positive", None),
    (HEAD + "  p = (f32[2], /* x */ f32[3]{«1»}) parameter(0)\n}", "names dimension 1", None),
    (HEAD + "  p = f32[] parameter(0\n«}»", "expected ')', found '}'", None),
    (HEAD + "  p = f32[] parameter(0), sharding=«{»a=(0)\n", "never closed", None),
    (HEAD + '  p = f32[] parameter(0), metadata={op_name=«"»x}\n}', "string does not end", None),
    (HEAD + "  p = f32[] parameter(0) «/*» x\n}", "comment does not end", None),
    (HEAD + "  «p=»f32[] parameter(0)\n}", "is an attribute name", "write p = or %p ="),
    (HEAD + "  p = f32[] parameter(0), «}»", "expected an attribute name", None),
    (HEAD + "  p = f32[] parameter(0)\n  q = f32[] call(p), to_apply=%«f»\n}", "unknown computation %f", None),
    (
        HEAD + "  p = f32[] parameter(0)\n  q = f32[] negate(p), control-predecessors={«x»}\n}",
        "unknown control predecessor %x",
        None,
    ),
    (
        HEAD + "  p = f32[] parameter(0)\n  «q = pad»(p, p)\n}",
        "%q has no shape: pad of f32[] needs its attributes",
        None,
    ),
    (
        HEAD + "  p = f32[] parameter(0)\n  q = f32[] add(«constant(1)», p)\n}",
        "the shape of this constant is not written",
        "write it before the opcode",
    ),
    (HEAD + "  p = f32[] parameter(0)\n  q = f32[] add(«nonsense»(p), p)\n}", "unknown opcode nonsense", None),
    (HEAD + "  p = f32[] «parmeter»(0)\n}", "unknown opcode parmeter", "did you mean parameter?"),
    (HEAD + "  c = f32[] «constnt»(0)\n}", "unknown opcode constnt", "did you mean constant?"),
    (HEAD + "  p = (f32[], s8[]) parameter(0)\n  q = f32[] negate(p#«2»)\n}", "%p has no element #2", None),
    (HEAD + "  p = (f32[], s8[]) parameter(0)\n  q = f32[] negate(p#0#«1»)\n}", "%p has no element #0#1", None),
    (HEAD + "  p = (f32[], s8[]) parameter(0)\n  q = f32[] negate(p#«x»)\n}", "expected the number", None),
    (
        "HloModule m\nf { p = f32[] parameter(0) }\n«f» { p = f32[] parameter(0) }",
        "computation %f is defined twice",
        None,
    ),
    ("HloModule m\nENTRY f { p = f32[] parameter(0) }\nENTRY «g» { p = f32[] parameter(0) }", "only one ENTRY", None),
    ("HloModule m\nf { p = f32[] parameter(0) «q» = f32[] call(p), to_apply=f }", "%f calls itself", None),
    ("HloModule m\nENTRY «e» { }", "no instructions", None),
    ("HloModule m\n", "no HLO computation", None),
    ("", "no HLO computation", "HloModule NAME"),
    ("HloModule m\nENTRY e { p = f32[] parameter(0) }\n«}»", "expected a computation", None),
    ("%b = f32[2] negate(«%a»)", "unknown operand %a", "write its shape"),
    (
        HEAD + "  p = f32[] parameter(«»)\n  q = f32[] negate(p)\n}\n",
        "expected a parameter number",
        "write parameter(0)",
    ),
    (
        HEAD + f"  p = f32[] parameter(«{MANY_DIGITS}»)\n  q = f32[] negate(p)\n}}\n",
        "expected a parameter number",
        None,
    ),
    (HEAD + "  p = f32[] parameter(0)\n  q = f32[] negate(p), «#»x\n}\n", "expected an attribute name", None),
    (HEAD + "  p = f32[] parameter(0)\n  q = f32[] negate(p), sharding={[x«}»\n}\n", "expected ']', found '}'", None),
    ("HloModule m\ne { p = f32[] parameter(0) }\n«HloModule» n\n", "a second module begins here", "--split-input-file"),
    ("«hello» world, this is no module", "hello begins no HLO", "begins with HloModule NAME"),
]


@pytest.mark.parametrize(("marked", "message", "hint"), CASES)
def test_errors_point_at_what_is_wrong(marked: str, message: str, hint: str | None) -> None:
    text = marked.replace("«", "").replace("»", "")
    with pytest.raises(DiagnosticError) as caught:
        parse_module(text, "f.hlo")
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert (hint or "") in (diagnostic.hint or "")
    assert diagnostic.location is not None
    assert diagnostic.location.source.name == "f.hlo"
    if "«" in marked:
        span = diagnostic.location.span
        assert text[span.start : span.end] == marked[marked.index("«") + 1 : marked.index("»")]
        assert span.start == marked.index("«")


def test_locations_of_parts() -> None:
    text = HEAD + '  p = f32[3]{0} parameter(0)\n  ROOT %q = f32[3]{0} negate(p), metadata={op_name="a"}\n}'
    root = parse_module(text, "f.hlo").entry.root
    parts = {"shape": "f32[3]{0}", "opcode": "negate", "operands": "p", "metadata": 'metadata={op_name="a"}', "x": "%q"}
    for part, expected in parts.items():
        location = root.locate(part)
        assert location is not None
        assert location.source.text[location.span.start : location.span.end] == expected


def test_a_wrong_entry_layout_is_found_where_it_is() -> None:
    module = parse_module(
        "HloModule m, entry_computation_layout={(f33[2])->f32[]}\nENTRY e { p = f32[] parameter(0) }", "f.hlo"
    )
    with pytest.raises(DiagnosticError, match=r"f\.hlo:1:41: error: unknown element type 'f33'"):
        _ = module.entry_layout


def test_long_numbers_that_are_no_integers_are_read() -> None:
    long = "3" * 30
    text = HEAD + f'  a.{long} = f32[] constant(0.{long})\n  ROOT b = f32[] negate(a.{long}), x={{f="{long}"}}\n}}\n'
    assert parse_module(text).text() == text
