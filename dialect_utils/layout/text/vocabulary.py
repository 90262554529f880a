"""The words XLA's documents use for dimensions: numbers, letters, minor and major.

Source: openxla.org/xla/shapes, "Terminology, notation, and conventions".
"""

from __future__ import annotations

from dialect_utils.layout.layout import Layout
from dialect_utils.text import Diagnostic, DiagnosticError

# From the most major to the most minor dimension; other ranks have no letters.
_LETTERS = {1: "x", 2: "yx", 3: "zyx", 4: "pzyx"}


def dimension_number(number: int, rank: int) -> int:
    """Returns the dimension a number means: -1 is the last one, as in Python.

    Raises DiagnosticError outside the rank.
    """
    if not -rank <= number < rank:
        hint = f"use {-rank} to {rank - 1}" if rank else "a scalar has no dimensions"
        raise DiagnosticError(Diagnostic(f"dimension {number} is outside rank {rank}", hint=hint))
    return number % rank


def dimension_letters(rank: int) -> tuple[str, ...]:
    """Returns the letter of each dimension, dimension 0 first; empty where a rank has none."""
    return tuple(_LETTERS.get(rank, ""))


def describe_order(layout: Layout) -> str:
    """Returns the physical order in the documents' words, e.g. `dim 0 is minor, dim 1 is major`."""
    order = layout.minor_to_major
    if len(order) < 2:
        return f"dim {order[0]} is minor and major" if order else "a scalar has no dimensions"
    between = "".join(f"dim {dim} is next, " for dim in order[1:-1])
    suffix = ""
    if layout.is_descending:
        suffix = " (the default layout)" if layout.is_default else " (the default order)"
    return f"dim {order[0]} is minor, {between}dim {order[-1]} is major{suffix}"


def describe_dimensions(dimensions: tuple[int, ...]) -> str:
    """Returns every dimension with its names and its size in elements, e.g. `y = dim 0 = dim -2: 3`.

    Unbounded dimensions, which are negative, show as `?`.
    """
    rank = len(dimensions)
    letters = dimension_letters(rank) or ("",) * rank
    names = [f"{letter} = " if letter else "" for letter in letters]
    sizes = ["?" if size < 0 else str(size) for size in dimensions]
    parts = zip(names, range(rank), sizes, strict=True)
    return ", ".join(f"{name}dim {dim} = dim {dim - rank}: {size}" for name, dim, size in parts)
