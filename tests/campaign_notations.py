"""Layouts in the notations of Triton and CuTe, read by Triton's and CUTLASS's own code, which need no GPU.

`python -m tests.campaign_notations [COUNT [SEED]]` draws COUNT layouts; it needs triton and nvidia-cutlass-dsl, and
says which of them is absent.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from typing import Any

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Layout, Tile
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.notation.strided import Strided, complement, compose, divide, try_strided
from dialect_utils.layout.notation.writing import write

_COUNT, _SEED = 10_000, 1
# The layouts that one traced function of CuTe asks about.
_BATCH = 200


def drawn(count: int, seed: int) -> Iterator[ArrayShape]:
    """Yields arrays of powers of two and of other sizes, with up to two tiles."""
    source = random.Random(seed)
    for number in range(count):
        rank = source.randint(1, 3)
        sizes = (1, 2, 4, 8, 16) if number % 2 else range(1, 10)
        dimensions = tuple(source.choice([*sizes]) for _ in range(rank))
        order = tuple(source.sample(range(rank), rank))
        first = [source.choice((1, 2, 4, 8)) for _ in range(source.randint(1, rank))]
        second = [source.choice([part for part in (1, 2, 4) if part <= size]) for size in first]
        tiles = [Tile(tuple(sizes)) for sizes in (first, second)[: source.randint(0, 2)]]
        yield ArrayShape(ELEMENT_TYPES["f32"], dimensions, Layout(order, tuple(tiles)))


def by_triton(shapes: list[ArrayShape]) -> tuple[int, int]:
    """Returns how many layouts Triton places as the index formula does, and how many were compared."""
    linear = import_module("triton._C.libtriton").linear_layout.LinearLayout
    right = compared = 0
    for shape in shapes:
        found = write(shape, "linear")
        if any(not each.startswith("padding") for each in found.lost):
            continue
        listed = found.text.split("offset = [", 1)[1].split("}")[0]
        bases = [[*map(int, re.findall(r"\d+", base))] for base in re.findall(r"\[([\d, ]*)\]", listed)]
        names = [f"dim{dim}" for dim in range(shape.rank)]
        sizes = [*map(int, found.text.split("<")[1].split("xf32")[0].split("x"))]
        layout = linear.from_bases([("offset", bases)], names, sizes, True)
        inverse = layout.invert()
        compared += 1
        right += all(
            inverse.apply(dict(zip(names, index, strict=True)))["offset"] == linear_index(shape, index)
            for index in product(*map(range, shape.dimensions))
        )
    return right, compared


def by_cute(shapes: list[ArrayShape]) -> tuple[int, int]:
    """Returns how many layouts and results of the algebra are those of CuTe, and how many were compared."""
    cute: Any = import_module("cutlass.cute")
    answers: list[bool] = []

    def compare(batch: list[ArrayShape]) -> None:
        for shape in batch:
            layout = try_strided(shape)
            if layout is not None:
                answers.append(has_indices(_made(cute, layout), shape))
                answers.extend(_of_algebra(cute, layout))

    def ask(batch: list[ArrayShape]) -> None:
        @cute.jit  # type: ignore[untyped-decorator]
        def traced() -> None:
            compare(batch)

        traced()

    for start in range(0, len(shapes), _BATCH):
        ask(shapes[start : start + _BATCH])
    return sum(answers), len(answers)


def has_indices(layout: Any, shape: ArrayShape) -> bool:
    """Is true where a layout of CuTe has the indices of the formula; one of one mode takes a number."""
    indices = product(*map(range, shape.dimensions))
    return all(layout(index if len(index) > 1 else index[0]) == linear_index(shape, index) for index in indices)


def _made(cute: Any, layout: Strided) -> Any:
    sizes, strides = (eval(part) for part in str(layout).split(":"))  # nested tuples of numbers
    return cute.make_layout(sizes, stride=strides)


def _of_algebra(cute: Any, layout: Strided) -> Iterator[bool]:
    if layout.span != layout.size or layout.size % 2:
        return
    tile = Strided((((2, 1),),))
    own, pair = _made(cute, layout), _made(cute, tile)
    for ours, theirs in (
        (complement(tile, layout.size), cute.complement(pair, layout.size)),
        (try_(compose, layout, tile), cute.composition(own, pair)),
        (try_(divide, layout, tile), cute.logical_divide(own, pair)),
    ):
        if ours is not None:
            yield ours.size == cute.size(theirs) and all(ours(i) == theirs(i) for i in range(ours.size))


def try_(function: Any, *layouts: Strided) -> Strided | None:
    """Returns a result of the algebra, None where it is not strided."""
    try:
        found: Strided = function(*layouts)
    except ValueError:
        return None
    return found


def main(count: int = _COUNT, seed: int = _SEED) -> int:
    """Prints a line for each reader; returns 1 where one disagrees."""
    shapes = [*drawn(count, seed)]
    status = 0
    for name, read in (("triton", by_triton), ("cutlass", by_cute)):
        try:
            right, compared = read(shapes)
        except ModuleNotFoundError as error:
            print(f"{name}: not asked, {error.name} is not installed")
            continue
        print(f"{name}: {right} of {compared} answers are the same")
        status |= right != compared
    return status


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
