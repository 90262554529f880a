"""Parameters that one of two modules lacks, or has at another position: matched, named, and never certified."""

from __future__ import annotations

import pytest

import relayout
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules

MOVED = """HloModule moved, input_output_alias={ {}: (1, {}, may-alias) }
ENTRY e {
  y = f32[2] parameter(0)
  x = f32[4] parameter(1)
  ROOT n = f32[4] negate(x)
}
"""


def function(parameters: str, *lines: str) -> relayout.Module:
    """Returns a module that returns `%r`, an array of four integers."""
    typed = ", ".join(
        f"%{name}: tensor<{kind}>" for name, _, kind in (each.partition(":") for each in parameters.split())
    )
    body = "\n  ".join(lines)
    return relayout.parse(f"func.func @main({typed}) -> tensor<4xi32> {{\n  {body}\n  return %r : tensor<4xi32>\n}}")


def operation(name: str, *operands: str, result: str = "r") -> str:
    return f"%{result} = stablehlo.{name} {', '.join('%' + each for each in operands)} : tensor<4xi32>"


def only(name: str) -> str:
    return operation("negate", name)


DROPPED = function("x:4xi32 y:2xi32", only("x")), function("x:4xi32", only("x"))
BY_USE = function("arg0:4xi32 arg1:4xi32", only("arg1")), function("arg0:4xi32", only("arg0"))
CANCELLED = (
    function("arg0:4xi32 arg1:4xi32", operation("subtract", "arg0", "arg0", result="z"), operation("add", "z", "arg1")),
    function(
        "arg1:4xi32",
        operation("add", "arg1", "z").replace("%r", "%z = stablehlo.constant dense<0> : tensor<4xi32>\n  %r"),
    ),
)
NEEDED = function("x:4xi32 y:4xi32", operation("add", "x", "y")), function("y:4xi32", only("y"))
REORDERED = function("x:4xi32 y:2xi32", only("x")), relayout.parse(MOVED.replace("f32", "s32"))


@pytest.mark.parametrize(
    ("modules", "verdict", "said"),
    [
        (DROPPED, "equal", ("parameter 1 (y) of the first is not in the second; the first does not use it",)),
        (DROPPED[::-1], "equal", ("parameter 1 (y) of the second is not in the first; the second does not use it",)),
        (BY_USE, "equal", ("parameter 0 (arg0) of the first is not in the second; the first does not use it",)),
        (CANCELLED, "equal", ("parameter 0 (arg0) of the first is not in the second; the first uses it",)),
        (NEEDED, "different", ("parameter 0 (x) of the first is not in the second; the first uses it",)),
        (REORDERED, "equal", tuple(f"parameter {i} of the first is parameter {1 - i} of the second" for i in (0, 1))),
    ],
    ids=["dropped", "added", "by use", "used in vain", "needed", "reordered"],
)
def test_parameters_are_matched_and_named(
    modules: tuple[relayout.Module, relayout.Module], verdict: str, said: tuple[str, ...]
) -> None:
    texts = [each.text() for each in modules]
    found = compare_modules(*modules, Options(engines=("proof", "xla"), power=0))
    assert (found.verdict, found.assumptions) == (verdict, said)
    assert found.certificate is None
    assert [each.text() for each in modules] == texts


def test_parameters_that_fit_by_position_are_not_moved() -> None:
    swapped = function("y:4xi32 x:4xi32", operation("subtract", "x", "y"))
    found = compare_modules(function("x:4xi32 y:4xi32", operation("subtract", "x", "y")), swapped)
    assert (found.verdict, found.assumptions) == ("different", ())


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (function("arg0:4xi32 arg1:4xi32", operation("add", "arg0", "arg1")), function("arg0:4xi32", only("arg0"))),
        (function("x:4xi32 y:4xi32", only("x")), function("x:2xi32 y:4xi32 z:3xi32", only("y"))),
        (function("x:4xi32 y:2xi32", only("x")), function("x:4xi32 y:3xi32", only("x"))),
    ],
    ids=["which one is dropped", "a name with two types", "another type"],
)
def test_an_unclear_match_is_an_error_with_both_signatures(first: relayout.Module, last: relayout.Module) -> None:
    with pytest.raises(DiagnosticError, match="different signatures") as raised:
        compare_modules(first, last)
    hint = raised.value.diagnostics[0].hint or ""
    assert all(f"{each.name}: {each.shape}" in hint for module in (first, last) for each in module.entry.parameters)
