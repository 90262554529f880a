"""Arrays that several programs pass to each other, and the layouts, shardings and types on which they disagree.

A result that takes the buffer of an argument is the same array as the argument; so are arguments of one name. A result
of one program is taken for an argument of another where no other result, and no other argument of that program, has its
dimensions: that is a guess.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape, parse_array_shape
from dialect_utils.layout.index.index_map import byte_size
from dialect_utils.layout.targets.known import default_layout
from dialect_utils.text import format_bytes

Dimensions = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ProgramArray:
    """An array of a program's entry: `argument` or `result`, its number among them, and what the program fixes.

    `name` is JAX's for an argument, empty where none is written. `source` is the argument whose buffer a result takes,
    -1 for none.
    """

    program: str
    kind: str
    number: int
    name: str
    shape: str
    sharding: str
    source: int = -1

    @property
    def array(self) -> ArrayShape:
        """Returns the shape with the layout that callers see."""
        return parse_array_shape(self.shape)

    def __str__(self) -> str:
        return f"{self.program} {self.kind} {self.number}" + (f" {self.name}" if self.name else "")


def arrays_of_entry(module: Module, program: str, target: str | None = None) -> list[ProgramArray]:
    """Returns the arrays of an entry, tuples flattened; those without a layout get the default of a target."""
    # Imported here: it loads numpy, and the process that gathers arrays reads no module.
    from dialect_utils.execution.named import arguments_of

    (parameters, results), shardings = module.entry_layout, module.entry_shardings
    taken, made = (_leaves(shapes, own) for shapes, own in zip((parameters, results), shardings, strict=True))
    numbers = {path: number for number, (path, *_) in enumerate(taken)}
    names = [each.name for each in arguments_of(module)]
    # The path in the only result, a tuple or an array, has no number of a result.
    start = (0,) if len(results) == 1 else ()
    sources = {(*start, *output): numbers.get((argument, *path), -1) for output, argument, path in module.aliases}
    return [
        *(
            ProgramArray(program, "argument", number, name, str(_laid_out(leaf, target)), sharding)
            for number, ((_, leaf, sharding), name) in enumerate(zip(taken, names, strict=True))
        ),
        *(
            ProgramArray(program, "result", number, "", str(_laid_out(leaf, target)), sharding, sources.get(path, -1))
            for number, (path, leaf, sharding) in enumerate(made)
        ),
    ]


def texts_of_arrays(module: Module, program: str, target: str | None = None) -> list[str]:
    """Returns `arrays_of_entry` as JSON, a text for each."""
    return [json.dumps(asdict(each)) for each in arrays_of_entry(module, program, target)]


def _leaves(shapes: Sequence[Shape], shardings: Sequence[str | None]) -> list[tuple[tuple[int, ...], ArrayShape, str]]:
    """Returns the path of each array, which begins with the number of its shape, the array, and its sharding."""
    padded = [*shardings, *[None] * (len(shapes) - len(shardings))]
    return [
        ((position, *path), leaf, sharding or "")
        for position, (shape, sharding) in enumerate(zip(shapes, padded, strict=False))
        for path, leaf in shape.leaves_by_path()
        if isinstance(leaf, ArrayShape)
    ]


def _laid_out(shape: ArrayShape, target: str | None) -> ArrayShape:
    if shape.layout is not None or target is None:
        return shape.with_effective_layout
    return shape.with_layout(default_layout(shape.element_type, shape.dimensions, target))


@dataclass(frozen=True, slots=True)
class Contract:
    """An array that programs share. `differing` names what they disagree on; `is_guess`: only its shape says so.

    `best` is the shape to which the programs move the fewest bytes, empty where several are as good, and `bytes_moved`
    are these bytes, in one step of each program.
    """

    name: str
    arrays: tuple[ProgramArray, ...]
    differing: tuple[str, ...]
    best: str
    bytes_moved: int
    is_guess: bool

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {**asdict(self), "arrays": [asdict(each) for each in self.arrays]}

    def lines(self) -> Iterator[str]:
        """Yields the sentence about the array, and a line for each program's form of it."""
        guess = "; that this is one array is a guess by its shape" if self.is_guess else ""
        cost = f"{format_bytes(self.bytes_moved)} moved in a step of each" if self.bytes_moved else "no copy"
        yield f"{self.name}: {' and '.join(self.differing)} differ{'s' * (len(self.differing) == 1)}, {cost}{guess}"
        forms: dict[tuple[str, str], list[str]] = {}
        for each in self.arrays:
            forms.setdefault((each.shape, each.sharding), []).append(str(each))
        for (shape, sharding), places in forms.items():
            is_best = " (moves least)" if shape == self.best and self.bytes_moved else ""
            yield f"  {shape}{f' sharding={sharding}' if sharding else ''}{is_best}: {', '.join(places)}"


def find_contracts(arrays: Sequence[ProgramArray]) -> list[Contract]:
    """Returns the arrays on which programs disagree, those that cost most first."""
    found = []
    for group, is_guess in _groups(arrays):
        differing = tuple(_differing(group))
        if differing:
            best, moved = _best(group)
            name = next((each.name for each in group if each.name), str(group[0]))
            found.append(Contract(name, tuple(group), differing, best, moved, is_guess))
    return sorted(found, key=lambda each: -each.bytes_moved)


ByProgram = Mapping[str, list[ProgramArray]]


def _groups(arrays: Sequence[ProgramArray]) -> Iterator[tuple[list[ProgramArray], bool]]:
    """Yields the arrays of each array that several programs have, and whether only shapes say that it is one."""
    arguments = {(each.program, each.number): each for each in arrays if each.kind == "argument"}
    groups: dict[object, list[ProgramArray]] = {}
    alone: dict[tuple[str, Dimensions], dict[str, list[ProgramArray]]] = {}
    for each in arrays:
        own = arguments.get((each.program, each.source)) if each.kind == "result" else each
        if own is not None:
            key = (own.name, _dimensions(own)) if own.name else (own.program, own.number)
            groups.setdefault(key, []).append(each)
        alone.setdefault((each.kind, _dimensions(each)), {}).setdefault(each.program, []).append(each)
    for (kind, dimensions), made in alone.items():
        if kind == "result" and dimensions:
            yield from _guessed(made, alone.get(("argument", dimensions), {}))
    for group in groups.values():
        if len({each.program for each in group}) > 1:
            yield group, False


def _guessed(made: ByProgram, taken: ByProgram) -> Iterator[tuple[list[ProgramArray], bool]]:
    """Yields the one result of new memory with these dimensions, with the arguments that alone have them elsewhere."""
    results = [each for results in made.values() for each in results]
    if len(results) == 1 and results[0].source < 0:
        takers = [each[0] for program, each in taken.items() if program not in made and len(each) == 1]
        if takers:
            yield [*results, *takers], True


def _dimensions(port: ProgramArray) -> Dimensions:
    """Returns the dimensions, which one array has in all programs, whatever its layout and element type."""
    return port.array.dimensions


def _differing(group: Sequence[ProgramArray]) -> Iterator[str]:
    arrays = [each.array for each in group]
    layouts = [each.effective_layout for each in arrays]
    aspects: Mapping[str, set[object]] = {
        "element type": {each.element_type for each in arrays},
        "layout": {each.in_default_memory for each in layouts},
        "memory space": {each.memory_space for each in layouts},
        # A text without a sharding says nothing about it.
        "sharding": {each.sharding for each in group if each.sharding},
    }
    yield from (name for name, values in aspects.items() if len(values) > 1)


def _best(group: Sequence[ProgramArray]) -> tuple[str, int]:
    """Returns the shape to which the programs move the fewest bytes, and those bytes."""

    def moved(shape: str) -> int:
        # A copy reads one array and writes the other.
        size = byte_size(parse_array_shape(shape))
        return sum(byte_size(each.array) + size for each in group if each.shape != shape)

    best, *others = sorted(dict.fromkeys(each.shape for each in group), key=moved)
    is_sole = not others or moved(best) < moved(others[0])
    return best if is_sole else "", moved(best)
