"""Numbers for the leaves of all values: arrays and tokens, tuples flattened in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dialect_utils.ir import Value
from dialect_utils.layout import Shape, TupleShape


class Leaves:
    """Leaf numbers of values, given in order as values are added; sets of leaves that share a buffer.

    The numbers of a value's leaves are consecutive.
    """

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self._numbers: dict[Value, range] = {}
        self._parent: list[int] = []

    def add(self, value: Value) -> None:
        """Numbers the leaves of a value."""
        first, shape = len(self.shapes), value.shape
        if isinstance(shape, TupleShape):
            self.shapes.extend(flat_leaves(shape))
        else:
            self.shapes.append(shape)
        self._numbers[value] = numbers = range(first, len(self.shapes))
        self._parent.extend(numbers)

    def of(self, value: Value) -> range:
        """Returns the numbers of a value's leaves."""
        return self._numbers[value]

    def at(self, value: Value, path: Sequence[int]) -> range:
        """Returns the numbers of the leaves at an index path into a value's tuples."""
        first, shape = self._numbers[value].start, value.shape
        for index in path:
            assert isinstance(shape, TupleShape)
            first += sum(leaf_count(element) for element in shape.elements[:index])
            shape = shape.elements[index]
        return range(first, first + leaf_count(shape))

    def share(self, some: Iterable[int], others: Iterable[int]) -> None:
        """Says that leaves share their buffers, pair by pair; what one side has more is left alone."""
        for a, b in zip(some, others, strict=False):
            self._parent[self.root(a)] = self.root(b)

    def root(self, leaf: int) -> int:
        """Returns the leaf that stands for all that share a buffer."""
        parent = self._parent
        while parent[leaf] != leaf:
            parent[leaf] = leaf = parent[parent[leaf]]
        return leaf


def leaf_count(shape: Shape) -> int:
    """Returns how many leaves a shape has; one for whatever is no tuple."""
    return sum(map(leaf_count, shape.elements)) if isinstance(shape, TupleShape) else 1


def flat_leaves(shape: Shape) -> Iterator[Shape]:
    """Yields the leaves of a shape in order, tokens and opaque values included."""
    if not isinstance(shape, TupleShape):
        yield shape
        return
    for element in shape.elements:
        yield from flat_leaves(element)
