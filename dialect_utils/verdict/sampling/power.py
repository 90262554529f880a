"""Measures the power of a check: injects faults into the original and counts those that the data detects."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from dialect_utils.execution import Array, ExecutionError, Program, prepare
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.ops import Trait, has, named
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import place_of
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.comparator import Comparator
from dialect_utils.verdict.outcome import Planted, Power
from dialect_utils.verdict.ports import entry_ports
from dialect_utils.verdict.sampling import DataSet
from dialect_utils.verdict.scale import Scale

# The most faults to name that the data does not detect.
_TOLD = 3

Execute = Callable[[Program], Sequence[Sequence[Array]]]


@dataclass(frozen=True, slots=True)
class Trial:
    """The means to measure whether injected faults are detected.

    `execute` runs a program on all sets of data; `expected` has the original's outputs, `scale` returns the scale of
    its own error on a set, in an output.
    """

    original: Module
    comparator: Comparator
    data: Sequence[DataSet]
    expected: Sequence[Sequence[Array]]
    execute: Execute
    scale: Callable[[int, int], Scale]
    flushes: bool

    def measure(self, count: int) -> Power | None:
        """Injects `count` faults; returns None where no fault fits the original, or none can be executed."""
        results = [(mutant.planted, seen) for mutant, seen in self._judged(choose_mutants(self.original, count))]
        if not results:
            return None
        missed = [planted for planted, seen in results if not seen]
        return Power(len(results) - len(missed), len(results), tuple(_distinct(missed))[:_TOLD])

    def _judged(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bool]]:
        for mutant in mutants:
            planted = mutant.plant(self.original)
            if planted is None:
                continue
            try:
                is_seen = self._is_seen(self.execute(prepare(planted, "planted mistake")))
                if is_seen or not self._is_harmless(planted):
                    yield mutant, is_seen
            except (DiagnosticError, ExecutionError):
                # A check need not detect a fault that every engine rejects.
                continue

    def _is_harmless(self, planted: Module) -> bool:
        """Is true where the faulty module is proved to be equal to the original."""
        modules = [self.original, planted]
        return prove(modules, *entry_ports(modules)).answer == "equal"

    def _is_seen(self, found: Sequence[Sequence[Array]]) -> bool:
        pairs = list(zip(self.data, self.expected, found, strict=True))
        first = [self.comparator.find(*pair, None, flushes=self.flushes) for pair in pairs]
        if any(finding.answer == "different" for finding in first):
            return True
        for number, (finding, pair) in enumerate(zip(first, pairs, strict=True)):
            if finding.undecided:
                scales = _scales_of(self.scale, number)
                if self.comparator.find(*pair, scales, flushes=self.flushes).answer == "different":
                    return True
        return False


def _scales_of(scale: Callable[[int, int], Scale], number: int) -> Callable[[int], Scale]:
    return lambda output: scale(number, output)


def _distinct(planted: Sequence[Planted]) -> list[Planted]:
    return list(dict.fromkeys(planted))


# Operations for which the order of the first two operands matters, and of the last two.
_ORDERED = named("subtract divide power remainder atan2 compare shift-left shift-right-logical dynamic-slice")
_ORDERED_LAST = named("select")
_PERMUTING = {"transpose": "dimensions", "broadcast": "dimensions", "iota": "iota_dimension"}
_DIRECTIONS = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}
_DIRECTION_ATTRIBUTES = ("direction", "comparison_direction")
_NARROWER = {"f64": "f32", "f32": "bf16", "bf16": "f8e5m2", "f16": "f8e5m2", "s64": "s16", "s32": "s16", "u32": "u8"}

_Edit = Callable[[Module, Operation], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One possible fault: the number of the operation in its module, the edit, and the location."""

    number: int
    edit: _Edit
    planted: Planted

    def plant(self, module: Module) -> Module | None:
        """Returns a copy of the module with the fault, or None where the edit does not fit."""
        copy = module.clone()
        operation = list(copy.operations())[self.number]
        try:
            self.edit(copy, operation)
        except ValueError:
            return None
        return copy


def choose_mutants(module: Module, count: int) -> list[Mutant]:
    """Returns `count` faults, or all where there are fewer, of every kind in turn; the same ones each time."""
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for number, operation in enumerate(module.operations()):
        for kind, edit in _edits(operation):
            by_kind[kind].append(Mutant(number, edit, Planted(f"{kind} of {operation.opcode}", place_of(operation))))
    rng = random.Random(count)
    for mutants in by_kind.values():
        rng.shuffle(mutants)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(by_kind.values()):
        for kind in sorted(by_kind):
            chosen += [by_kind[kind].pop()] if by_kind[kind] else []
    return chosen[:count]


def _edits(operation: Operation) -> Iterator[tuple[str, _Edit]]:
    """Yields the edits that fit an operation, with their kinds."""
    if len(operation.results) != 1 or not isinstance(operation.results[0].shape, ArrayShape):
        return
    shape, opcode = operation.results[0].shape, operation.opcode
    if not shape.is_static or not shape.element_count:
        return
    same = [number for number, value in enumerate(operation.operands) if _have_one_type(value, operation.results[0])]
    if same and (has(opcode, Trait.ELEMENTWISE) or has(opcode, Trait.MOVES_DATA)):
        yield "omission", _omitted(same[0])
    if (
        opcode in _ORDERED
        and not _is_symmetric(operation)
        and len(operation.operands) > 1
        and _have_one_type(*operation.operands[:2])
    ):
        yield "swapped operands", _swapped(0, 1)
    if opcode in _ORDERED_LAST and _have_one_type(*operation.operands[1:3]):
        yield "swapped operands", _swapped(1, 2)
    if opcode == "compare":
        yield "other direction", _redirected
    if opcode in _PERMUTING and (permuted := _permuted(operation)) is not None:
        yield "other dimension", _renumbered(_PERMUTING[opcode], permuted)
    if operation.splat_bits is not None:
        yield "other constant", _changed
    kind = shape.element_type.name
    if kind in _NARROWER and opcode != "constant" and not operation.function.is_embedded:
        yield "narrowing", _narrowed


def _is_symmetric(operation: Operation) -> bool:
    """Is true for a comparison whose operands may be swapped."""
    texts = [operation.attribute(name) or "" for name in _DIRECTION_ATTRIBUTES]
    return operation.opcode == "compare" and any("EQ" in text or "NE" in text for text in texts)


def _have_one_type(a: Value, b: Value) -> bool:
    x, y = a.shape, b.shape
    if not isinstance(x, ArrayShape) or not isinstance(y, ArrayShape):
        return False
    return (x.element_type, x.dimensions) == (y.element_type, y.dimensions)


def _omitted(operand: int) -> _Edit:
    return lambda module, operation: operation.results[0].replace_uses(operation.operands[operand])


def _swapped(first: int, second: int) -> _Edit:
    def swap(module: Module, operation: Operation) -> None:
        a, b = operation.operands[first], operation.operands[second]
        if a == b:
            raise ValueError("the operands are one value")
        operation.set_operand(first, b)
        operation.set_operand(second, a)

    return swap


def _redirected(module: Module, operation: Operation) -> None:
    for name in _DIRECTION_ATTRIBUTES:
        text = operation.attribute(name)
        for direction, other in _DIRECTIONS.items():
            if text is not None and direction in text.split(">")[0].split():
                operation.set_attribute(name, text.replace(direction, other))
                return
    raise ValueError("the comparison has no direction")


def _permuted(operation: Operation) -> tuple[int, ...] | None:
    """Returns different dimensions with which the operation has the same types, or None."""
    result = operation.results[0].shape
    assert isinstance(result, ArrayShape)  # checked by _edits
    written = operation.ints(_PERMUTING[operation.opcode])
    if not written:
        return None
    if operation.opcode == "iota":
        size = result.dimensions[written[0]]
        others = [i for i, each in enumerate(result.dimensions) if i != written[0] and each == size > 1]
        return (others[0],) if others else None
    source = operation.operands[0].shape
    assert isinstance(source, ArrayShape)  # the result is one
    sizes = source.dimensions if operation.opcode == "broadcast" else result.dimensions
    for i, j in combinations(range(len(written)), 2):
        if sizes[i] == sizes[j] > 1:
            swapped = list(written)
            swapped[i], swapped[j] = written[j], written[i]
            return tuple(swapped)
    return None


def _renumbered(name: str, dimensions: tuple[int, ...]) -> _Edit:
    return lambda module, operation: operation.set_ints(name, dimensions)


def _changed(module: Module, operation: Operation) -> None:
    """Replaces a constant by the next integer, the other predicate, or a float that differs in one bit."""
    shape, bits = operation.results[0].shape, operation.splat_bits
    assert isinstance(shape, ArrayShape)  # a constant with bits is an array
    assert bits is not None
    kind = shape.element_type
    value = operation.results[0]
    changed = (bits + 1) % (1 << kind.bits) if kind.is_integral else bits ^ (1 << max(0, kind.bits - 10))
    if kind.name == "pred":
        changed = 1 - bits
    builder = module.after(value)
    made = builder.constant(kind, changed, name=f"{value.name}.changed", like=value)
    if shape.rank:
        made = builder.broadcast(made, shape.dimensions, name=f"{value.name}.changed", like=value)
    value.replace_uses(made)


def _narrowed(module: Module, operation: Operation) -> None:
    """Converts a value to a narrower type and back."""
    value = operation.results[0]
    shape = value.shape
    assert isinstance(shape, ArrayShape)  # checked by _edits
    builder = module.after(value)
    narrow = ELEMENT_TYPES[_NARROWER[shape.element_type.name]]
    there = builder.convert(value, narrow, name=f"{value.name}.narrow", like=value)
    back = builder.convert(there, shape.element_type, name=f"{value.name}.wide", like=value)
    value.replace_uses(back, keep=[there.operation] if there.operation is not None else [])
