"""Counts the operations of modules by opcode, shape, element type or computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dialect_utils.ir import Function, Module, Value
from dialect_utils.layout import Shape
from dialect_utils.layout.index.index_map import byte_size
from dialect_utils.layout.shape import UNBOUNDED
from dialect_utils.ops import Trait, has

Key = Literal["opcode", "shape", "type", "computation"]


class Tally(NamedTuple):
    """The number of operations, and the bytes of the arrays that they make."""

    operations: int = 0
    bytes: int = 0


def sum_of(tallies: Iterable[Tally]) -> Tally:
    """Returns the sum of figures."""
    return Tally(*map(sum, zip(*tallies, strict=True)))


@dataclass(slots=True)
class Counts:
    """Operations by the values of some keys, such as (`add`, `f32[3]`)."""

    keys: Sequence[Key]
    rows: dict[tuple[str, ...], Tally] = field(default_factory=dict)

    def add(self, rows: Iterable[tuple[tuple[str, ...], Tally]]) -> None:
        """Adds rows, such as those of another module by the same keys."""
        for names, tally in rows:
            self.rows[names] = sum_of((self.rows.get(names, Tally()), tally))

    @property
    def total(self) -> Tally:
        """Returns the sum of all rows."""
        return sum_of(self.rows.values())

    def sorted(self) -> list[tuple[tuple[str, ...], Tally]]:
        """Returns the rows, those with most operations first."""
        return sorted(self.rows.items(), key=lambda row: (-row[1].operations, -row[1].bytes, row[0]))


def count_operations(
    module: Module, keys: Sequence[Key] = ("opcode",), functions: Iterable[Function] | None = None
) -> Counts:
    """Counts the operations of a module by keys, parameters included; those of all computations unless some are given.

    The bytes are those of the arrays that operations make, in their layouts with padding. A parameter outside the entry
    makes none, nor does an operation whose result has the bytes of its operand, such as a tuple or a bitcast, nor an
    operation of a fusion or of a computation that is applied per element. An array with an unbounded dimension has no
    size.

    >>> count_operations(relayout.read("examples/negate.hlo"), ["opcode"]).rows
    {('parameter',): Tally(operations=1, bytes=96), ('negate',): Tally(operations=1, bytes=60)}
    """
    counts = Counts(keys)
    for function in module.functions if functions is None else functions:
        makes_arrays = not function.is_embedded and all(caller.opcode != "fusion" for caller in function.callers)
        for value in function.parameters:
            _count(counts, "parameter", [value], function, _bytes([value]) if function.is_entry else 0)
        for operation in function.operations:
            is_alias = has(operation.opcode, Trait.ALIASES)
            size = _bytes(operation.results) if makes_arrays and not is_alias else 0
            _count(counts, operation.opcode, operation.results, function, size)
    return counts


def _count(counts: Counts, opcode: str, values: Sequence[Value], function: Function, size: int) -> None:
    shapes = [value.shape for value in values]
    names = tuple(_NAMES[key](opcode, shapes, function) for key in counts.keys)
    counts.add([(names, Tally(1, size))])


def _bytes(values: Sequence[Value]) -> int:
    arrays = [array for value in values for array in value.shape.arrays()]
    return sum(byte_size(array) for array in arrays if UNBOUNDED not in array.dimensions)


def _shape(opcode: str, shapes: Sequence[Shape], function: Function) -> str:
    return str(shapes[0]) if len(shapes) == 1 else f"({', '.join(map(str, shapes))})"


def _type(opcode: str, shapes: Sequence[Shape], function: Function) -> str:
    """Returns the element types of the results, each once."""
    arrays = [array for shape in shapes for array in shape.arrays()]
    return ",".join(dict.fromkeys(array.element_type.name for array in arrays)) or "none"


_NAMES: Mapping[Key, Callable[[str, Sequence[Shape], Function], str]] = {
    "opcode": lambda opcode, shapes, function: opcode,
    "shape": _shape,
    "type": _type,
    "computation": lambda opcode, shapes, function: function.name,
}
KEYS = tuple(_NAMES)
