"""How the arrays of one module's entry become those of another: as they are, or packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.layout.moves.physical import physical_shape
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.packing import Array, pack_by_index, unpack_by_index


@dataclass(frozen=True, slots=True)
class Port:
    """One array of the entry: its shape in the first module, and the layouts the last one's array is packed by.

    No layouts: both modules take the same array. Several are applied one after another.
    """

    shape: ArrayShape
    layouts: tuple[ArrayShape, ...] = ()

    def pack(self, array: Array, *, poison: bool) -> Array:
        """Returns the last module's array for one of the first, its padding zero or poison.

        An array with one dimension more than the port's holds one for each device.
        """
        if self.layouts and array.ndim > self.shape.rank:
            return np.stack([self.pack(part, poison=poison) for part in array])
        for layout in self.layouts:
            array = pack_by_index(array, layout, layout.element_type.poison_bits if poison else 0)
        return array

    def unpack(self, array: Array) -> Array:
        """Returns the first module's array for one of the last, or those for each device."""
        if self.layouts and array.ndim > physical_shape(self.layouts[-1]).rank:
            return np.stack([self.unpack(part) for part in array])
        for layout in reversed(self.layouts):
            array = unpack_by_index(array, layout)
        return array

    def of_devices(self, count: int) -> ArrayShape:
        """Returns the shape of the first module's arrays on so many devices, which a leading dimension counts."""
        if count == 1:
            return self.shape
        return ArrayShape(self.shape.element_type, (count, *self.shape.dimensions))


def entry_ports(stages: Sequence[Module]) -> tuple[list[Port], list[Port]]:
    """Returns the ports of parameters and of results, tuples flattened.

    `stages` are the first module, those in between that give the entry layouts, and the last one.
    An array of the same type and dimensions stays as it is; one with the type and dimensions of
    the physical array of what stood there before is packed. Raises DiagnosticError for anything
    else.
    """
    parameters, results = ([stage.entry_layout[side] for stage in stages] for side in (0, 1))
    return _ports("parameter", parameters), _ports("result", results)


def _ports(kind: str, stages: Sequence[Sequence[Shape]]) -> list[Port]:
    leaves = [[leaf for shape in shapes for leaf in _leaves(shape, kind)] for shapes in stages]
    counts = {len(each) for each in leaves}
    if len(counts) > 1:
        message = f"different signatures: {len(leaves[0])} {kind}s in one module, {len(leaves[-1])} in the other"
        raise DiagnosticError(Diagnostic(message))
    return [_port(f"{kind} {i}", chain) for i, chain in enumerate(zip(*leaves, strict=True))]


def _leaves(shape: Shape, kind: str) -> list[ArrayShape]:
    if isinstance(shape, TupleShape):
        return [leaf for element in shape.elements for leaf in _leaves(element, kind)]
    if isinstance(shape, BufferShape):
        shape = shape.array
    if not isinstance(shape, ArrayShape) or not shape.is_static:
        raise DiagnosticError(Diagnostic(f"a {kind} of the entry is {shape}, which no input or output can hold"))
    return [shape]


def _port(name: str, chain: Sequence[ArrayShape]) -> Port:
    layouts: list[ArrayShape] = []
    before = chain[0]
    for shape in chain[1:]:
        if not _same_array(shape, before):
            if not _same_array(shape, physical_shape(before)):
                message = f"different signatures: {name} is {before} in one module, {shape} in the other"
                raise DiagnosticError(Diagnostic(message))
            layouts.append(before)
        before = shape
    return Port(chain[0], tuple(layouts))


def _same_array(a: ArrayShape, b: ArrayShape) -> bool:
    return a.type_and_dimensions == b.type_and_dimensions
