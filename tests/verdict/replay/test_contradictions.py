"""Terms that two rules would read in different ways: a certificate may not hold one of them."""

from __future__ import annotations

import pytest

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, BitcastConvert, ElementType, Pad, Reshape, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm, Step, certificate_text, read_certificate
from dialect_utils.verdict.proof import try_prove
from tests.verdict.replay.forging import FALSE, TRUE, array, constant, each, hlo, moved, parameter, step, term, told

PRED, NUMBERS, AT = array("pred"), array("s32", 1), parameter(1, "s32")
HEAD = "x = s32[{0}] parameter(0)\n i = s32[] parameter(1)\n b = s32[{0}] broadcast(i), dimensions={{}}\n"


def elements(*terms: ReadTerm) -> list[Step]:
    return [step("elements", each_, each_) for each_ in terms]


def test_a_reduction_is_by_an_operation_that_commutes() -> None:
    """Its initial value is its first operand by definition, and the last one in the rule `initial-value`."""
    first, second = (hlo(f"{HEAD.format(1)} ROOT r = s32[1] subtract({names})") for names in ("x, b", "b, x"))
    x = parameter(0, "s32", 1)
    row, repeated = moved(x, Reshape((1, 1))), term("splat", None, NUMBERS, AT)
    left = term("op", ("reduce", "subtract"), NUMBERS, row, AT)
    total = each(("sum", "subtract"), array("s32"), AT, term("element", 0, array("s32"), x))
    found = told(
        (first, second),
        step("initial-value", left, each("subtract", NUMBERS, moved(row, Reshape((1,))), repeated)),
        step("moved", moved(row, Reshape((1,))), x),
        step("broadcast", repeated, term("op", ("broadcast", ()), NUMBERS, AT)),
        step("one-sum", total, each("subtract", array("s32"), *total.operands)),
        *elements(left, row, each("subtract", NUMBERS, repeated, x)),
    )
    assert not found.is_equal
    assert "does not commute" in found.refused


def test_movement_reads_bits_as_a_type_of_xla() -> None:
    """A signed type of 8 bits that is called s32 is converted as s32, and compared as a number of 8 bits."""
    wrong, u8 = ElementType("s32", 8), parse_element_type("u8")
    plan = Plan(u8, (), (BitcastConvert(wrong), BitcastConvert(u8)))
    numbers = [term("constant", bits, ArrayShape(wrong, ())) for bits in (200, 0)]
    wide, known = [each("convert", array("s64"), one) for one in numbers], [constant(bits, "s64") for bits in (200, 0)]
    below = [each(("compare", "LT", False), PRED, *pair) for pair in (numbers, wide, known)]
    found = told(
        (TRUE, FALSE),
        *elements(*(term("moved", plan, array("u8"), constant(bits, "u8")) for bits in (200, 0))),
        *(step("constants", *pair) for pair in zip(wide, known, strict=True)),
        step("compare-converted", below[1], below[0]),
        step("constants", below[0], constant(1, "pred")),
        step("constants", below[2], constant(0, "pred")),
    )
    assert not found.is_equal
    assert "no shape of a term" in found.refused


def test_a_window_goes_forwards() -> None:
    """Before the array a window that goes backwards reads padding that it does not have."""
    x = parameter(0, "s32", 3)
    before = Plan(parse_element_type("s32"), (3,), (Pad((1,), (-1,)),), (True,))
    shifted, repeated = (
        term("moved", before, array("s32", 3), x, constant(0, "s32")),
        term("splat", None, array("s32", 3), AT),
    )
    total = each("add", array("s32", 3), each("add", array("s32", 3), x, shifted), repeated)
    for backwards in (WindowDimension(2, 1, 0, -1, 1, -1), WindowDimension(1, 1, 0, 0, 0, 1)):
        window = term("op", ("reduce-window", "add", (backwards,), True), array("s32", 3), x, AT)
        assert "backwards" in told((TRUE, TRUE), step("regrouped", window, total), *elements(window)).refused
    forwards = WindowDimension(2, 1, 0, 1, 1, 1)
    for opcode, is_refused in (("add", False), ("subtract", True)):
        window = term("op", ("reduce-window", opcode, (forwards,), True), array("s32", 3), x, AT)
        assert bool(told((TRUE, TRUE), *elements(window)).refused) == is_refused


DOT = "x = {0}[2] parameter(0)\n y = {0}[2] parameter(1)\n"
SUMMED = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"


def dots(kind: str) -> tuple[Module, Module]:
    """Returns a dot, and the dot of its products with ones."""
    head = DOT.format(kind)
    first = hlo(f"{head} ROOT d = {kind}[] dot(x, y), {SUMMED}")
    second = hlo(
        f"{head} z = {kind}[2] multiply(x, y)\n o = {kind}[] constant(1)\n s = {kind}[2] broadcast(o), "
        f"dimensions={{}}\n ROOT d = {kind}[] dot(z, s), {SUMMED}"
    )
    return first, second


@pytest.mark.parametrize(("kind", "is_equal"), [("bf16", False), ("f16", False), ("f32", True), ("s8", True)])
def test_a_dot_of_narrow_floats_rounds_no_product(kind: str, is_equal: bool) -> None:
    """A product in bf16 that is multiplied by 1 is rounded, a product in a dot is not."""
    certificate = try_prove(dots(kind)).certificate
    assert (certificate is not None and told(dots(kind), *certificate.steps).is_equal) == is_equal


def test_the_proof_about_dots_of_f32_is_none_about_dots_of_bf16() -> None:
    certificate = try_prove(dots("f32")).certificate
    assert certificate is not None
    text = certificate_text(certificate)
    assert told(dots("f32"), *read_certificate(text).steps).is_equal
    for old, new in (('"f32",32', '"bf16",16'), (str(0x3F800000), str(0x3F80))):
        assert old in text
        text = text.replace(old, new)
    found = told(dots("bf16"), *read_certificate(text).steps)
    assert not found.is_equal
    assert not found.refused
