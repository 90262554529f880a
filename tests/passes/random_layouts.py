"""Gives the values of a StableHLO program random layouts, to test passes under all of them."""

from __future__ import annotations

import random

from dialect_utils.io.files import read_module
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Layout, Tile
from tests.paths import OWN_CORPUS

CORPUS = OWN_CORPUS / "stablehlo"

_TILES = ((), ((2, 2),), ((8, 128),), ((2, 4), (2, 1)), ((4,),))


def laid_out(name: str, *, share: float, seed: int = 0) -> Module:
    """Returns a program of the tree in which a share of the arrays have layouts of their own."""
    module = read_module(str(CORPUS / f"{name}.mlir"))
    choose = random.Random(seed)
    for value in _values(module):
        shape = value.shape
        if isinstance(shape, ArrayShape) and shape.is_static and choose.random() < share:
            order = choose.sample(range(shape.rank), shape.rank)
            tiles = tuple(Tile(tile) for tile in choose.choice(_TILES))
            value.set_shape(shape.with_layout(Layout(tuple(order), tiles)))
    return module


def _values(module: Module) -> list[Value]:
    values: list[Value] = []
    for function in module.functions:
        if not function.is_embedded:
            values += function.parameters
            values += [value for operation in function.operations for value in operation.results]
    return values
