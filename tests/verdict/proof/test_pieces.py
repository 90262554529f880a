"""Results piece by piece, and the elements of scatters: programs that optimizers write, and wrong ones beside them."""

from __future__ import annotations

import pytest

from dialect_utils.stablehlo import parse_module
from dialect_utils.verdict.certified import prove

LARGE = "tensor<1000x2000xf32>"
# A name, a program, an equal one and wrong ones.
Case = tuple[str, str, str, tuple[str, ...]]


def module(parameters: str, result: str, body: str) -> str:
    return f"func.func @main({parameters}) -> {result} {{\n{body}\n}}"


def _of_array(result: str, body: str) -> str:
    return module(f"%x: {LARGE}, %y: {LARGE}", result, body)


def _joined(first: str, second: str) -> str:
    """Returns rows of x over rows of y."""
    return _of_array(
        LARGE,
        f"""%a = stablehlo.slice %x [{first}, 0:2000] : ({LARGE}) -> tensor<400x2000xf32>
  %b = stablehlo.slice %y [{second}, 0:2000] : ({LARGE}) -> tensor<600x2000xf32>
  %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<400x2000xf32>, tensor<600x2000xf32>) -> {LARGE}
  return %r : {LARGE}""",
    )


def _updated(start: int) -> str:
    """Returns y with rows of x written into it."""
    return _of_array(
        LARGE,
        f"""%a = stablehlo.slice %x [0:400, 0:2000] : ({LARGE}) -> tensor<400x2000xf32>
  %i = stablehlo.constant dense<{start}> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %y, %a, %i, %z :
    ({LARGE}, tensor<400x2000xf32>, tensor<i32>, tensor<i32>) -> {LARGE}
  return %r : {LARGE}""",
    )


def _padded(low: int, high: int, padding: str, columns: str = "0:1900") -> str:
    """Returns the sine of columns of x with a number before and after them, or of the whole array with the number."""
    return _of_array(
        LARGE,
        f"""%a = stablehlo.slice %x [0:1000, {columns}] : ({LARGE}) -> tensor<1000x1900xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.sine %c : tensor<f32>
  %s = stablehlo.sine %a : tensor<1000x1900xf32>
  %r = stablehlo.pad %s, {padding}, low = [0, {low}], high = [0, {high}], interior = [0, 0] :
    (tensor<1000x1900xf32>, tensor<f32>) -> {LARGE}
  return %r : {LARGE}""",
    )


SINE = _of_array(
    LARGE,
    f"""%a = stablehlo.slice %x [0:1000, 0:1900] : ({LARGE}) -> tensor<1000x1900xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %p = stablehlo.pad %a, %c, low = [0, 60], high = [0, 40], interior = [0, 0] :
    (tensor<1000x1900xf32>, tensor<f32>) -> {LARGE}
  %r = stablehlo.sine %p : {LARGE}
  return %r : {LARGE}""",
)


def _scattered(indices: str, body: str, *, is_unique: bool = False) -> str:
    return module(
        "%x: tensor<5xf32>, %y: tensor<2xf32>, %z: tensor<f32>",
        "tensor<5xf32>",
        f"""%i = stablehlo.constant dense<{indices}> : tensor<2x1xi32>
  %r = "stablehlo.scatter"(%x, %i, %y) <{{unique_indices = {str(is_unique).lower()},
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
    index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    {body}
  }}) : (tensor<5xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>""",
    )


def _written(opcode: str, rows: str, rest: str) -> str:
    return module(
        "%x: tensor<5xf32>, %y: tensor<2xf32>, %z: tensor<f32>",
        "tensor<5xf32>",
        f"""%a = stablehlo.slice %x [{rows}] : (tensor<5xf32>) -> tensor<2xf32>
  %b = stablehlo.{opcode} %a, %y : tensor<2xf32>
  %c = stablehlo.slice %x [{rest}] : (tensor<5xf32>) -> tensor<3xf32>
  %r = stablehlo.concatenate %b, %c, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>""",
    )


def _returned(opcode: str, first: str = "%a", second: str = "%b") -> str:
    return f"%s = stablehlo.{opcode} {first}, {second} : tensor<f32>\n    stablehlo.return %s : tensor<f32>"


def _rows(first: str, second: str, initial: str = "0.0") -> str:
    """Returns the sum of two rows as a reduction."""
    return _of_array(
        "tensor<2000xf32>",
        f"""%a = stablehlo.slice %x [{first}:{second}, 0:2000] : ({LARGE}) -> tensor<2x2000xf32>
  %z = stablehlo.constant dense<{initial}> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] :
    (tensor<2x2000xf32>, tensor<f32>) -> tensor<2000xf32>
  return %r : tensor<2000xf32>""",
    )


ADDED_ROWS = _of_array(
    "tensor<2000xf32>",
    f"""%a = stablehlo.slice %x [7:8, 0:2000] : ({LARGE}) -> tensor<1x2000xf32>
  %b = stablehlo.slice %x [8:9, 0:2000] : ({LARGE}) -> tensor<1x2000xf32>
  %s = stablehlo.add %a, %b : tensor<1x2000xf32>
  %r = stablehlo.reshape %s : (tensor<1x2000xf32>) -> tensor<2000xf32>
  return %r : tensor<2000xf32>""",
)
SUBTRACTED = _returned("subtract", "%a", "%z")
CASES: list[Case] = [
    (
        "a concatenation as an update",
        _joined("0:400", "400:1000"),
        _updated(0),
        (_joined("0:400", "399:999"), _joined("1:401", "400:1000"), _updated(1)),
    ),
    (
        "an elementwise operation of padding",
        SINE,
        _padded(60, 40, "%d"),
        (_padded(59, 41, "%d"), _padded(60, 40, "%c"), _padded(60, 40, "%d", "1:1901")),
    ),
    (
        "a scatter as a concatenation",
        _scattered("[[0], [1]]", _returned("multiply"), is_unique=True),
        _written("multiply", "0:2", "2:5"),
        (
            _written("add", "0:2", "2:5"),
            _written("multiply", "1:3", "2:5"),
            _scattered("[[1], [0]]", _returned("multiply")),
            _scattered("[[0], [2]]", _returned("multiply")),
            _scattered("[[0], [-1]]", _returned("multiply")),
        ),
    ),
    (
        "a scatter whose function has a scalar from outside",
        _scattered("[[3], [7]]", SUBTRACTED),
        _scattered("[[3], [-1]]", _returned("subtract", "%a", "%z")),
        (_scattered("[[3], [4]]", SUBTRACTED), _scattered("[[3], [7]]", _returned("subtract"))),
    ),
    (
        "a sum of two rows as a reduction",
        ADDED_ROWS,
        _rows("7", "9"),
        (_rows("6", "8"), _rows("7", "9", "1.0")),
    ),
]


def _proved(first: str, second: str) -> str:
    return prove([parse_module(first), parse_module(second)]).answer


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_an_equal_program_is_proved_and_wrong_ones_are_not(case: Case) -> None:
    _, program, same, wrong = case
    assert _proved(program, same) == "equal"
    assert "equal" not in [_proved(program, each) for each in wrong]


def test_updates_of_one_element_are_in_no_order_that_a_proof_may_choose() -> None:
    twice = _scattered("[[2], [2]]", "stablehlo.return %b : tensor<f32>")
    body = """%i = stablehlo.constant dense<2> : tensor<i32>
  %b = stablehlo.slice %y [1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %r = stablehlo.dynamic_update_slice %x, %b, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
  return %r : tensor<5xf32>"""
    last = module("%x: tensor<5xf32>, %y: tensor<2xf32>, %z: tensor<f32>", "tensor<5xf32>", body)
    assert _proved(twice, last) != "equal"
