"""Values that may be tuples, as trees of arrays."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.layout import Shape, TupleShape
from dialect_utils.verdict.proof.terms import Array

# An array (or token), or a tuple.
Tree = Array | tuple["Tree", ...]


def leaves_of(tree: Tree) -> Iterator[Array]:
    """Yields the leaves of a tree in order."""
    if isinstance(tree, tuple):
        for element in tree:
            yield from leaves_of(element)
    else:
        yield tree


def tree_of(shape: Shape, leaves: Iterator[Array]) -> Tree:
    """Returns leaves as a tree of a shape's nesting; takes no more than it needs."""
    if isinstance(shape, TupleShape):
        return tuple(tree_of(element, leaves) for element in shape.elements)
    return next(leaves)
