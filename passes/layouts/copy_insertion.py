"""Puts copies where two layouts meet that have to agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.layout.targets.propagation import laid_out_like
from passes.layouts.constraints import CopyPoint, Definition, Edge, Node


def insert_copies(module: Module, conflicting: Iterable[Edge], shapes: Mapping[Node, ArrayShape]) -> None:
    """Lays out the two ends of every edge alike, by copies in an HLO module; `shapes` are those of its nodes."""
    wanted: dict[CopyPoint, dict[int, ArrayShape]] = {}
    for edge in conflicting:
        assert edge.copy_point is not None  # only such edges have to agree
        source, target = shapes[edge.source], shapes[edge.target]
        if isinstance(edge.copy_point, Definition):
            wanted.setdefault(edge.copy_point, {})[edge.target.leaf] = laid_out_like(target, source)
        else:
            wanted.setdefault(edge.copy_point, {})[edge.source.leaf] = laid_out_like(source, target)
    copies = _Copies(module)
    # Definitions first: what uses them may be mended, too.
    for copy_point, leaves in sorted(wanted.items(), key=lambda item: not isinstance(item[0], Definition)):
        copies.put(copy_point, leaves)


def with_leaves(shape: Shape, leaves: Mapping[int, ArrayShape]) -> Shape:
    """Returns a shape with some of its leaves, by number, replaced."""
    return _rebuilt(shape, iter(leaves.get(i, leaf) for i, leaf in enumerate(shape.leaves())))


def _rebuilt(shape: Shape, leaves: Iterator[Shape]) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_rebuilt(element, leaves) for element in shape.elements))
    return next(leaves)


@dataclass(slots=True)
class _Copies:
    """The copies made, one for each value and layout."""

    module: Module
    made: dict[tuple[Value, Shape], Value] = field(default_factory=dict)

    def put(self, copy_point: CopyPoint, leaves: Mapping[int, ArrayShape]) -> None:
        """Gives a definition other layouts, its users a copy in the old ones; or a use a copy in other layouts."""
        if isinstance(copy_point, Definition):
            self._redefine(copy_point.value, leaves)
        else:
            copy_point.replace(self.copy(copy_point.value, with_leaves(copy_point.value.shape, leaves)))

    def _redefine(self, value: Value, leaves: Mapping[int, ArrayShape]) -> None:
        before, users = value.shape, list(value.users)
        value.set_shape(with_leaves(before, leaves))
        copied = self.copy(value, before)
        value.replace_uses(copied, keep=[user for user in value.users if user not in users])

    def copy(self, value: Value, shape: Shape) -> Value:
        """Returns a value in the layouts of `shape`, which has its types."""
        key = (value, shape)
        if key not in self.made:
            self.made[key] = self._made_copy(value, shape)
        return self.made[key]

    def _made_copy(self, value: Value, shape: Shape) -> Value:
        builder, name = self.module.after(value), f"{value.name}.copy"
        if isinstance(shape, ArrayShape):
            return builder.copy(value, shape.with_effective_layout, name=name, like=value)
        parts = [
            builder.copy(part, leaf.with_effective_layout, name=f"{part.name}.copy", like=value)
            if isinstance(leaf, ArrayShape) and part.shape != leaf
            else part
            for part, leaf in zip(builder.flatten(value, name=value.name), shape.leaves(), strict=True)
        ]
        return builder.make_tuple(parts, shape, name=name, like=value)
