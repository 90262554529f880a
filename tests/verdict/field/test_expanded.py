"""Laws that are tried last: logarithms of products, powers, complex numbers, and constants made of other constants."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof.dialects import parse

_HEADER = "HloModule m\nENTRY e {{\n  x = {0}[8] parameter(0)\n  y = {0}[8] parameter(1)\n"


def text(kind: str, body: str) -> str:
    """Returns a module; `$0.1` in a body is an array of this constant, `f(x, y)` an operation on arrays."""
    lines, count = [_HEADER.format(kind)], 0
    for line in filter(None, map(str.strip, body.split(";"))):
        name, _, call = line.partition(" = ")
        opcode, _, operands = call.rstrip(")").partition("(")
        names = []
        for operand in map(str.strip, operands.split(",")):
            if operand.startswith("$"):
                count += 1
                lines.append(f"  k{count} = {kind}[] constant({operand[1:]})\n")
                lines.append(f"  b{count} = {kind}[8] broadcast(k{count}), dimensions={{}}\n")
                operand = f"b{count}"
            names.append(operand)
        lines.append(f"  {'ROOT ' * (name == 'r')}{name} = {kind}[8] {opcode}({', '.join(names)})\n")
    return "".join([*lines, "}\n"])


def is_equal(kind: str, first: str, last: str) -> bool:
    modules = [parse(text(kind, each)) for each in (first, last)]
    return try_prove(modules, over_reals=True).is_equal_over_reals


# A program, one that is equal over the reals, and one that is not.
LAWS = {
    "log of a product": (
        "m = multiply(x, y); r = log(m)",
        "a = log(x); b = log(y); r = add(a, b)",
        "a = log(x); b = log(y); r = subtract(a, b)",
    ),
    "log of a quotient": (
        "m = divide(x, y); r = log(m)",
        "a = log(x); b = log(y); r = subtract(a, b)",
        "a = log(x); b = log(y); r = subtract(b, a)",
    ),
    "log of a root": (
        "m = sqrt(x); r = log(m)",
        "a = log(x); r = multiply(a, $0.5)",
        "a = log(x); r = multiply(a, $2)",
    ),
    "log of a cube root": ("m = cbrt(x); r = log(m)", "a = log(x); r = divide(a, $3)", "a = log(x); r = divide(a, $2)"),
    "log of an exponential": ("m = exponential(x); r = log(m)", "r = add(x, $0)", "r = exponential(x)"),
    "log of a multiple": (
        "m = multiply(x, $4); r = log(m)",
        "a = log(x); r = add(a, $1.38629436)",
        "a = log(x); r = add(a, $1.3863)",
    ),
    "log of a magnitude": (
        "a = abs(x); m = multiply(a, a); r = log(m)",
        "a = abs(x); b = log(a); r = multiply(b, $2)",
        "a = abs(x); b = log(a); r = multiply(b, $3)",
    ),
    "a square": ("r = power(x, $2)", "r = multiply(x, x)", "r = multiply(x, y)"),
    "a cube": ("r = power(x, $3)", "a = multiply(x, x); r = multiply(a, x)", "r = multiply(x, x)"),
    "a reciprocal": ("r = power(x, $-1)", "r = divide($1, x)", "r = divide($2, x)"),
    "a root": ("r = power(x, $0.5)", "r = sqrt(x)", "r = rsqrt(x)"),
    "a reciprocal root": ("r = power(x, $-0.5)", "r = rsqrt(x)", "r = sqrt(x)"),
    "a sum of exponents": (
        "a = power(x, $1.5); b = power(x, y); r = multiply(a, b)",
        "a = add(y, $1.5); r = power(x, a)",
        "a = add(y, $2.5); r = power(x, a)",
    ),
    "divided by 1.7": ("r = divide(x, $1.7)", "r = multiply(x, $0.588235259)", "r = multiply(x, $0.588235378)"),
    "divided by any number": (
        "r = divide(x, $1.14960444)",
        "r = multiply(x, $0.869864404)",
        "r = multiply(x, $0.869864345)",
    ),
    "a folded sum": ("a = add(x, $0.1); r = add(a, $0.2)", "r = add(x, $0.3)", "r = add(x, $0.30000007)"),
    "a folded product": (
        "a = multiply(x, $1.1); r = multiply(a, $1.3)",
        "r = multiply(x, $1.43)",
        "r = multiply(x, $1.4300001)",
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_holds_over_the_reals_and_a_wrong_form_does_not(name: str) -> None:
    first, same, other = LAWS[name]
    assert is_equal("f32", first, same)
    assert is_equal("f32", same, first)
    assert not is_equal("f32", first, other)


COMPLEX = {
    "another order": (
        "a = multiply(x, y); r = multiply(a, x)",
        "a = multiply(x, x); r = multiply(y, a)",
        "a = multiply(x, x); r = multiply(a, x)",
    ),
    "distributed": (
        "a = add(x, y); r = multiply(a, x)",
        "a = multiply(x, x); b = multiply(x, y); r = add(a, b)",
        "a = multiply(x, x); r = add(a, y)",
    ),
    "a power of a sum": (
        "a = exponential(x); b = exponential(y); r = multiply(a, b)",
        "a = add(x, y); r = exponential(a)",
        "a = add(x, y); r = sine(a)",
    ),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_have_the_laws_of_a_field(name: str) -> None:
    first, same, other = COMPLEX[name]
    assert is_equal("c64", first, same)
    assert not is_equal("c64", first, other)


def test_a_cube_root_of_a_complex_number_is_not_odd() -> None:
    """The principal cube root of -1 is not -1."""
    odd = "a = negate(x); b = cbrt(a); r = negate(b)", "r = cbrt(x)"
    assert is_equal("f32", *odd)
    assert not is_equal("c64", *odd)


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        ("f32", *LAWS["divided by 1.7"][:2]),
        ("c64", *COMPLEX["another order"][:2]),
        (
            "f32",
            "a = multiply(x, y); b = multiply(a, x); r = multiply(b, y)",
            "a = multiply(x, x); b = multiply(y, y); r = multiply(a, b)",
        ),
        ("bf16", "a = multiply(x, y); r = multiply(a, x)", "a = multiply(x, x); r = multiply(a, y)"),
    ],
)
def test_reassociated_programs_are_close_on_data_that_overflows_in_one_order(
    worker: Worker, kind: str, first: str, last: str
) -> None:
    modules = [parse(text(kind, each)) for each in (first, last)]
    assert compare_modules(modules[0], modules[1], Options(power=0), worker).verdict == "close"


def test_an_overflow_of_the_logarithm_of_an_exponential_is_different(worker: Worker) -> None:
    modules = [parse(text("f32", each)) for each in LAWS["log of an exponential"][:2]]
    found = compare_modules(modules[0], modules[1], Options(power=0), worker)
    assert (found.verdict, found.as_json()["class"]) in (("different", "infinities"), ("different", "value"))
