"""Changes of a program: passes, and the layouts of its arguments and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.targets.known import allocation_bytes, laid_out
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import DiagnosticError

AUTO, DEFAULT = "auto", "default"


class EntryArray(NamedTuple):
    """An argument (`is_result` false) or a result of a program, by its number."""

    is_result: bool
    number: int

    def __str__(self) -> str:
        return f"{'result' if self.is_result else 'argument'} {self.number}"


@dataclass(frozen=True, slots=True)
class Change:
    """A program that is tried: the passes that changed it, and the layout modes of its arguments and results.

    A mode is `default`, `auto`, or the order of dimensions, most minor first, such as `{0,1}`. The passes `inside`
    change the module that the compiler hands over.
    """

    parameters: tuple[str, ...]
    results: tuple[str, ...]
    passes: str = ""
    inside: str = ""

    def mode(self, entry: EntryArray) -> str:
        """Returns the layout mode of an argument or a result."""
        return (self.results if entry.is_result else self.parameters)[entry.number]

    def with_mode(self, entry: EntryArray, mode: str) -> Change:
        """Returns the change with another layout mode of one argument or result."""
        modes = list(self.results if entry.is_result else self.parameters)
        modes[entry.number] = mode
        return replace(self, results=tuple(modes)) if entry.is_result else replace(self, parameters=tuple(modes))

    def with_modes(self, mode: str) -> Change:
        """Returns the change with one layout mode for all arguments and results."""
        return replace(self, parameters=(mode,) * len(self.parameters), results=(mode,) * len(self.results))

    @property
    def entry_arrays(self) -> tuple[EntryArray, ...]:
        """Returns all arguments and results."""
        arguments = (EntryArray(False, number) for number in range(len(self.parameters)))
        return (*arguments, *(EntryArray(True, number) for number in range(len(self.results))))

    def described(self, start: Change) -> str:
        """Returns the difference from another change in words, such as `argument 0 {0,1}`."""
        if self == start:
            return "as it is"
        base = start
        parts = [self.passes] if self.passes else []
        if AUTO in (*self.parameters, *self.results) and DEFAULT not in (*self.parameters, *self.results):
            base = start.with_modes(AUTO)
            parts.append("AUTO")
        parts += [f"{entry} {self.mode(entry)}" for entry in self.entry_arrays if self.mode(entry) != base.mode(entry)]
        return ", ".join([*parts, f"inside: {self.inside}"] if self.inside else parts)


def as_stablehlo(module: Module) -> StableHloModule:
    """Returns a module whose layouts can be changed; raises DiagnosticError for HLO, which no compiler here takes."""
    if not isinstance(module, StableHloModule):
        message = f"{module.name or 'the module'} is HLO; the compiler is given the StableHLO of a program"
        raise DiagnosticError(message, hint="relayout convert FILE --to stablehlo")
    return module


def change_of(module: StableHloModule) -> Change:
    """Returns the change that changes nothing."""
    return Change(*module.layout_modes)


def changed_module(module: StableHloModule, change: Change) -> StableHloModule:
    """Returns a program, which the passes have changed already, with the layout modes of a change."""
    changed = module.clone()
    changed.set_layout_modes(change.parameters, change.results)
    return changed


def entry_shapes(module: Module) -> Mapping[EntryArray, ArrayShape]:
    """Returns the shapes of the arguments and results that are static arrays, without their layouts."""
    return {
        EntryArray(bool(side), number): shape.without_layout
        for side, shapes in enumerate(module.entry_layout)
        for number, shape in enumerate(shapes)
        if isinstance(shape, ArrayShape) and shape.is_static
    }


def orders(shape: ArrayShape) -> Iterator[tuple[int, ...]]:
    """Yields the orders of dimensions, most minor first, that differ in the tiles: the two most minor dimensions.

    Dimensions of size 1 are most major, and the others are descending.
    """
    wide = [dimension for dimension in range(shape.rank) if shape.dimensions[dimension] > 1]
    thin = [dimension for dimension in range(shape.rank - 1, -1, -1) if dimension not in wide]
    for minor, second in permutations(wide, 2):
        rest = [dimension for dimension in reversed(wide) if dimension not in (minor, second)]
        yield (minor, second, *rest, *thin)


def in_mode(shape: ArrayShape, mode: str, target: str) -> ArrayShape:
    """Returns a shape with the layout of a mode on a target; `auto` counts as the target's default."""
    if mode in (AUTO, DEFAULT):
        return laid_out(shape, None, target)
    order = tuple(int(part) for part in mode.strip("{}").partition(":")[0].split(",") if part)
    return laid_out(shape, order, target)


def padded_bytes(shape: ArrayShape, mode: str, target: str) -> int:
    """Returns the bytes of an array in the layout of a mode on a target."""
    return allocation_bytes(in_mode(shape, mode, target), target)


def mode_of(order: tuple[int, ...]) -> str:
    """Returns the layout mode of an order of dimensions, most minor first."""
    return "{" + ",".join(map(str, order)) + "}"
