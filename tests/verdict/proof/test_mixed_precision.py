"""Proofs about a TPU's products at DEFAULT precision, and about operations whose operands have several float types."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certified import choices_of, prove

PLAIN = """HloModule m
ENTRY e {
  a = f32[8,16] parameter(0)
  b = f32[16,4] parameter(1)
  ROOT d = f32[8,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}PRECISION
}
"""
NARROW = """HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8,16] parameter(0)
  b = f32[16,4] parameter(1)
  narrow = bf16[8,16] convert(a)
  ROOT d = f32[8,4] convolution(narrow, b), dim_labels=bf_io->bf
}
"""
ROUNDED_RESULT = NARROW.replace("ROOT d = f32", "d = bf16").replace("}", "  ROOT r = f32[8,4] convert(d)\n}")
# The sums of a product in bf16 are rounded, and so are the largest of padded windows.
WIDE_CHAIN = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[4,6] parameter(0)
  k = f32[9,5] parameter(1)
  w = f32[6,6] parameter(2)
  p = pred[4,9] parameter(3)
  h = f32[4,6] convolution(x, w), dim_labels=bf_io->bf
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  left = f32[4,9] pad(h, least), padding=0_0x3_0
  right = f32[4,9] pad(h, zero), padding=0_0x0_3
  leasts = f32[4,9] broadcast(least), dimensions={}
  chosen = f32[4,9] select(p, right, leasts)
  most = f32[4,9] maximum(left, chosen)
  ROOT d = f32[4,5] convolution(most, k), dim_labels=bf_io->bf
}
"""
NARROW_CHAIN = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[4,6] parameter(0)
  k = f32[9,5] parameter(1)
  w = f32[6,6] parameter(2)
  p = pred[4,9] parameter(3)
  h = bf16[4,6] convolution(x, w), dim_labels=bf_io->bf
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  left = bf16[4,9] pad(h, least), padding=0_0x3_0
  right = bf16[4,9] pad(h, zero), padding=0_0x0_3
  leasts = f32[4,9] broadcast(least), dimensions={}
  chosen = bf16[4,9] select(p, right, leasts)
  most = bf16[4,9] maximum(left, chosen)
  ROOT d = f32[4,5] convolution(most, k), dim_labels=bf_io->bf
}
"""


def choices(first: str, last: str) -> tuple[str, ...] | None:
    """Returns the choices of a proof in which operands may be rounded, None without one."""
    found = prove([parse_module(first), parse_module(last)], rounds_operands=True)
    return choices_of(found.outputs) if found.answer == "equal" else None


@pytest.mark.parametrize(
    ("first", "last"),
    [(PLAIN.replace("PRECISION", ""), NARROW), (WIDE_CHAIN, NARROW_CHAIN), (NARROW_CHAIN, WIDE_CHAIN)],
)
def test_operands_of_products_are_rounded_at_default_precision(first: str, last: str) -> None:
    assert "operand precision" in (choices(first, last) or ())
    assert prove([parse_module(first), parse_module(last)]).answer == "unknown"


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (PLAIN.replace("PRECISION", ", operand_precision={highest,highest}"), NARROW),
        (PLAIN.replace("PRECISION", ""), NARROW.replace("bf16", "f16")),
        (PLAIN.replace("PRECISION", ""), ROUNDED_RESULT),
        (WIDE_CHAIN, NARROW_CHAIN.replace("maximum", "minimum")),
        (WIDE_CHAIN, NARROW_CHAIN.replace("select(p, right, leasts)", "select(p, left, leasts)")),
        (WIDE_CHAIN, NARROW_CHAIN.replace("constant(0)", "constant(1)")),
    ],
)
def test_other_roundings_and_mistakes_are_not_explained(first: str, last: str) -> None:
    assert choices(first, last) is None


def test_highest_precision_rounds_no_operand(worker: Worker) -> None:
    first, last = parse_module(PLAIN.replace("PRECISION", "")), parse_module(NARROW)
    assert compare_modules(first, last, Options(power=0), worker).methods == ("proof",)
    assert compare_modules(first, last, Options(power=0, precision="highest"), worker).verdict == "different"


MIXED = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[4] parameter(0)
  y = bf16[4] parameter(1)
  ROOT r = OPERATION
}
"""


@pytest.mark.parametrize(
    ("mixed", "written"),
    [
        ("bf16[4] add(x, y)", "bf16[4] convert(s)\n  w = f32[4] convert(y)\n  s = f32[4] add(x, w)"),
        ("f32[4] multiply(y, x)", "f32[4] multiply(w, x)\n  w = f32[4] convert(y)"),
        ("bf16[4] copy(x)", "bf16[4] convert(x)"),
        (
            "bf16[8] concatenate(x, y), dimensions={0}",
            "bf16[8] concatenate(w, y), dimensions={0}\n  w = bf16[4] convert(x)",
        ),
    ],
)
def test_an_operation_of_mixed_precision_converts_its_operands(mixed: str, written: str) -> None:
    result, *lines = written.split("\n  ")
    definitions = "\n  ".join([*lines, f"ROOT r = {result}"])
    other = MIXED.replace("ROOT r = OPERATION", definitions)
    assert prove([parse_module(MIXED.replace("OPERATION", mixed)), parse_module(other)]).answer == "equal"
