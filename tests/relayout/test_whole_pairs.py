"""Modules before and after all passes of the TPU compiler: verdicts, roundings that they name, and planted faults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.io.files import read_bytes
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, Verdict
from relayout.elided import compare_forms

FOLDER = Path(__file__).resolve().parents[1] / "corpus" / "whole"
EXECUTED = Options(engines=("xla",), power=0)
ROUNDINGS = {
    "mlp_step": "operands of 3 dots rounded to bf16",
    "recurrent": "operands of 2 dots rounded to bf16",
    "conv_gradient": "operands of 2 convolutions rounded to bf16",
    "two_precisions": "operands of 1 dot rounded to bf16",
    "attention": "",
    "largest": "",
    "spectrum": "",
}


def text_of(name: str, stage: str) -> str:
    return read_bytes(str(FOLDER / f"{name}.{stage}.hlo.xz")).decode()


def compared(
    worker: Worker, before: str, after: str, options: Options = EXECUTED, *, assume_equal: bool = False
) -> Verdict:
    return compare_forms([parse_module(before), parse_module(after)], options, worker, assume_equal=assume_equal)


@pytest.mark.parametrize("name", ROUNDINGS)
def test_a_compiled_program_agrees_with_the_roundings_of_its_dump(name: str, worker: Worker) -> None:
    verdict = compared(worker, text_of(name, "before"), text_of(name, "after"))
    rounding = ROUNDINGS[name]
    assert verdict.verdict == "agrees", verdict
    assert verdict.assumptions == ((f"DEFAULT precision: {rounding}",) if rounding else ())
    assert verdict.lines()[0] == f"agrees{f' [DEFAULT precision: {rounding}]' if rounding else ''} (xla)"


def test_highest_precision_compares_without_roundings(worker: Worker) -> None:
    before, after = (text_of("two_precisions", stage) for stage in ("before", "after"))
    verdict = compared(worker, before, after, Options(engines=("xla",), power=0, precision="highest"))
    assert (verdict.verdict, verdict.rounding) == ("different", None)
    # The first product has this precision already, so only the second may round.
    second = before.replace("rhs_contracting_dims={0}, metadata", "rhs_contracting_dims={0}, PRECISION, metadata")
    assert second.count("PRECISION") == 1
    highest = second.replace("PRECISION", "operand_precision={highest,highest}")
    assert compared(worker, highest, after).verdict == "different"
    default = second.replace("PRECISION", "operand_precision={default,default}")
    assert compared(worker, default, after).rounding is not None


def rounded(text: str, opcode: str) -> str:
    """Returns a dump in which the first result of an opcode in f32 goes through bf16."""
    found = re.search(rf"^  (ROOT )?(%\S+) = f32(\S+) ({opcode}\(.*)$", text, re.MULTILINE)
    assert found is not None
    root, name, shape, rest = found.groups()
    lines = (
        f"{name}.raw = f32{shape} {rest}",
        f"{name}.bf16 = bf16{shape} convert({name}.raw)",
        f"{root or ''}{name} = f32{shape} convert({name}.bf16)",
    )
    return text[: found.start()] + "\n".join(f"  {line}" for line in lines) + text[found.end() :]


# The first fusion is an operand of a product that the dump has in f32.
@pytest.mark.parametrize(("name", "opcode"), [("mlp_step", "tanh"), ("two_precisions", "fusion")])
def test_a_rounding_of_another_operation_is_a_difference(name: str, opcode: str, worker: Worker) -> None:
    planted = rounded(text_of(name, "after"), opcode)
    assert compared(worker, text_of(name, "before"), planted).verdict == "different"


@pytest.mark.parametrize(
    ("name", "written", "planted"),
    [
        ("mlp_step", "constant(0.1)", "constant(0.1001)"),
        ("conv_gradient", "constant(2)", "constant(2.002)"),
        ("recurrent", "constant(5)", "constant(4)"),
        ("attention", "constant(0.25)", "constant(0.2501)"),
        ("largest", "slice={[0:20], [0:5]}", "slice={[0:20], [1:6]}"),
    ],
)
def test_a_wrong_constant_or_slice_is_a_difference(name: str, written: str, planted: str, worker: Worker) -> None:
    after = text_of(name, "after")
    assert written in after
    assert compared(worker, text_of(name, "before"), after.replace(written, planted)).verdict == "different"


def test_constants_that_both_texts_elide_are_equal_only_where_the_user_says_so(worker: Worker) -> None:
    before, after = (text_of("elided", stage) for stage in ("before", "after"))
    with pytest.raises(DiagnosticError, match="--assume-elided-equal"):
        compared(worker, before, after)
    verdict = compared(worker, before, after, assume_equal=True)
    assert verdict.verdict == "agrees"
    assert verdict.lines()[0] == "agrees [elided constants assumed equal: 1] (xla)"
    assert verdict.as_json()["elided"] == 1
    planted = after.replace("maximum", "minimum")
    assert compared(worker, before, planted, assume_equal=True).verdict == "different"


ELIDED = """HloModule m

ENTRY e {
  x = f32[30,40] parameter(0)
  c = f32[30,40] constant({...})
  d = f32[30,40] constant({...})
  s = f32[30,40] add(x, c)
  ROOT r = f32[30,40] multiply(d, s)
}
"""


def test_an_elided_constant_is_an_unknown_value_of_its_name(worker: Worker) -> None:
    proved = Options(power=0)
    swapped = ELIDED.replace("add(x, c)", "add(c, x)")
    verdict = compared(worker, ELIDED, swapped, proved, assume_equal=True)
    assert (verdict.verdict, verdict.elided, "proof" in verdict.methods) == ("equal", 2, True)
    assert (
        compared(worker, ELIDED, ELIDED.replace("add(x, c)", "add(x, d)"), proved, assume_equal=True).verdict
        == "different"
    )
    # Engines see one value of each constant, so they prove nothing.
    alone = "HloModule m\nENTRY e {\n  c = f32[30,40] constant({...})\n  ROOT n = f32[30,40] negate(c)\n}\n"
    assert compared(worker, alone, alone, EXECUTED, assume_equal=True).verdict == "agrees"


@pytest.mark.parametrize(
    ("written", "other"), [("  c = f32", "  b = f32"), ("c = f32[30,40] constant", "c = f32[40,30] constant")]
)
def test_elided_constants_of_other_names_or_shapes_are_not_equal(written: str, other: str, worker: Worker) -> None:
    renamed = ELIDED.replace("(x, c)", "(x, b)") if "b" in other else ELIDED.replace("(x, c)", "(x, x)")
    with pytest.raises(DiagnosticError, match="elided"):
        compared(worker, ELIDED, renamed.replace(written, other), assume_equal=True)


def test_without_elided_constants_there_is_nothing_to_assume(worker: Worker) -> None:
    text = text_of("attention", "before")
    with pytest.raises(DiagnosticError, match="no elided constant of the first module"):
        compared(worker, text, text, assume_equal=True)
