"""Puts copies where two layouts meet that have to agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from passes.carried_layouts import laid_out_like
from passes.expand_tiling import leaf_shapes
from passes.layout_graph import Definition, Edge, Mend, Node, Use


def put_copies(module: Module, apart: Iterable[Edge], shapes: Mapping[Node, ArrayShape]) -> None:
    """Makes the two ends of every edge lie alike, by copies in an HLO module; `shapes` are those of its nodes."""
    wanted: dict[Mend, dict[int, ArrayShape]] = {}
    for edge in apart:
        assert edge.mend is not None  # only such edges have to agree
        source, target = shapes[edge.source], shapes[edge.target]
        if isinstance(edge.mend, Definition):
            wanted.setdefault(edge.mend, {})[edge.target.leaf] = laid_out_like(target, source)
        else:
            wanted.setdefault(edge.mend, {})[edge.source.leaf] = laid_out_like(source, target)
    copies = _Copies(module)
    # Definitions first: what uses them may be mended, too.
    for mend, leaves in sorted(wanted.items(), key=lambda item: not isinstance(item[0], Definition)):
        copies.put(mend, leaves)


def with_leaves(shape: Shape, leaves: Mapping[int, ArrayShape]) -> Shape:
    """Returns a shape with some of its leaves, by number, replaced."""
    return _rebuilt(shape, iter(leaves.get(i, leaf) for i, leaf in enumerate(leaf_shapes(shape))))


def _rebuilt(shape: Shape, leaves: Iterator[Shape]) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_rebuilt(element, leaves) for element in shape.elements))
    return next(leaves)


@dataclass(slots=True)
class _Copies:
    """Makes copies, one for each value and layout."""

    module: Module
    made: dict[tuple[Value, Shape], Value] = field(default_factory=dict)

    def put(self, mend: Mend, leaves: Mapping[int, ArrayShape]) -> None:
        """Gives a definition other layouts, its users a copy in the old ones; or a use a copy in other layouts."""
        if isinstance(mend, Definition):
            self._redefine(mend.value, leaves)
        elif isinstance(mend, Use):
            value = mend.operation.operands[mend.index]
            mend.operation.set_operand(mend.index, self.copy(value, with_leaves(value.shape, leaves)))
        else:
            results = list(mend.function.results)
            value = results[mend.index]
            results[mend.index] = self.copy(value, with_leaves(value.shape, leaves))
            mend.function.set_results(results)

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
            return builder.copy(value, _written(shape), name=name, like=value)
        parts = [
            builder.copy(part, _written(leaf), name=f"{part.name}.copy", like=value)
            if isinstance(leaf, ArrayShape) and part.shape != leaf
            else part
            for part, leaf in zip(builder.leaves(value, name=value.name), leaf_shapes(shape), strict=True)
        ]
        return builder.pack(parts, shape, name=name, like=value)


def _written(shape: ArrayShape) -> ArrayShape:
    """Returns the shape with its layout written: what a copy is for."""
    return shape.with_layout(shape.effective_layout)
