import pytest

from dialect_utils.layout import Layout, parse_array_shape
from dialect_utils.layout.text.vocabulary import (
    describe_dimensions,
    describe_order,
    dimension_letters,
    dimension_number,
)
from dialect_utils.text import DiagnosticError


def test_negative_numbers_count_from_the_end() -> None:
    assert [dimension_number(n, 3) for n in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    for number, rank in ((3, 3), (-4, 3), (0, 0)):
        with pytest.raises(DiagnosticError, match="outside rank"):
            dimension_number(number, rank)


def test_letters() -> None:
    assert dimension_letters(2) == ("y", "x")
    assert dimension_letters(4) == ("p", "z", "y", "x")
    assert dimension_letters(5) == ()


def test_orders() -> None:
    assert describe_order(Layout((0, 1))) == "dim 0 is minor, dim 1 is major"
    assert describe_order(Layout((2, 1, 0))) == "dim 2 is minor, dim 1 is next, dim 0 is major (the default layout)"
    assert describe_order(Layout((1, 0), memory_space=1)).endswith("(the default order)")
    assert describe_order(Layout((0,))) == "dim 0 is minor and major"
    assert "scalar" in describe_order(Layout(()))


def test_names_of_dimensions() -> None:
    assert describe_dimensions((3, 5)) == "y = dim 0 = dim -2: 3, x = dim 1 = dim -1: 5"
    assert describe_dimensions((2, 3, 4, 5, -1)).endswith("dim 3 = dim -2: 5, dim 4 = dim -1: ?")
    assert describe_dimensions(()) == ""


def test_ranks() -> None:
    shape = parse_array_shape("f32[1,3,1,5]")
    assert (shape.rank, shape.true_rank) == (4, 2)
