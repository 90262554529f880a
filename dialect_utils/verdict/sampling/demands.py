"""Finds the uses of each array of the entry that decide which input values are worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import CONDITION
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import EXTREMES, Trait, has, opcode_of
from dialect_utils.verdict.dataflow import splat_number, values_behind

_CHOICES = EXTREMES | {"compare"}
# With few constants, their sums, differences, products and quotients are thresholds, too.
_FEW_CONSTANTS = 8
_MOST_CONSTANTS = 64
# A loop computes up to so many elements in a run, or takes the smaller number of iterations.
_LOOP_ELEMENTS, _FEW_ITERATIONS, _MOST_ITERATIONS = 1 << 17, 300, 2048
# The most bytes of all sets of a comparison; both programs hold their results, too.
_MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Use:
    """Uses of integers that decide which of them are worth trying.

    `limits`: the sizes of dimensions that the integers index; `counts`: they may count so many iterations of a loop;
    `branches`: the number of branches that they select from; `widths`: the widths of the values that they shift;
    `distinct` and `ascending`: a gather or scatter promises that its indices are unique or sorted.
    """

    limits: tuple[int, ...] = ()
    counts: int = 0
    branches: int = 0
    widths: tuple[int, ...] = ()
    distinct: bool = False
    ascending: bool = False

    def __or__(self, other: Use) -> Use:
        """Returns both uses as one."""
        return Use(
            tuple(sorted({*self.limits, *other.limits})),
            min(filter(None, (self.counts, other.counts)), default=0),
            max(self.branches, other.branches),
            tuple(sorted({*self.widths, *other.widths})),
            self.distinct or other.distinct,
            self.ascending or other.ascending,
        )

    @property
    def is_free(self) -> bool:
        """Is true where an integer may be any of its type."""
        return not (self.limits or self.counts or self.branches or self.widths)


@dataclass(frozen=True, slots=True)
class Demand:
    """One array of the entry, its uses, and what the programs contain.

    `numbers`: constants of the programs and results of arithmetic on them; `constants`: the constants alone, except 0
    and 1; `compares`: the programs compare values; `peaks`: they select the largest of many elements, or sort them.
    """

    shape: ArrayShape
    use: Use
    numbers: tuple[float, ...]
    peaks: bool
    constants: tuple[float, ...]
    compares: bool


def sets_that_fit(demands: Sequence[Demand]) -> int:
    """Returns the most sets of arrays that a comparison holds at once, two at least."""
    size = sum(each.shape.element_count * each.shape.element_type.storage_bytes for each in demands)
    return max(2, _MOST_BYTES // max(1, size))


def array_demands(modules: Sequence[Module], shapes: Sequence[ArrayShape]) -> list[Demand]:
    """Returns the demands of the entry's arrays, tuples flattened, whose shapes in the first module are `shapes`."""
    operations = [operation for module in modules for operation in module.operations()]
    constants = {number for number in map(splat_number, operations) if number is not None}
    numbers = _with_arithmetic(constants)
    kept = tuple(sorted((each for each in constants if each not in (0, 1)), key=abs)[:_MOST_CONSTANTS])
    compares = any(operation.opcode == "compare" for operation in operations)
    peaks = any(map(_chooses, operations))
    uses = [Use() for _ in shapes]
    for module in modules:
        spans = leaf_spans(module.entry)
        for roots, use in (each for operation in module.operations() for each in _uses(operation)):
            reached = values_behind(roots)
            for leaf in (leaf for value, span in spans.items() if value in reached for leaf in span):
                if leaf < len(uses):
                    uses[leaf] |= use
    return [Demand(shape, use, numbers, peaks, kept, compares) for shape, use in zip(shapes, uses, strict=True)]


def _chooses(operation: Operation) -> bool:
    """Is true for operations that select one of many elements, such as sort or a reduction by maximum."""
    inner = {each.opcode for function in operation.called for each in function.operations}
    return has(operation.opcode, Trait.SORTS) or (has(operation.opcode, Trait.COMBINES) and bool(inner & _CHOICES))


def leaf_spans(entry: Function) -> dict[Value, range]:
    """Returns for each parameter the range of its arrays in the entry's flattened arrays."""
    spans, begin = {}, 0
    for parameter in entry.parameters:
        end = begin + len(list(parameter.shape.arrays()))
        spans[parameter] = range(begin, end)
        begin = end
    return spans


def index_operands(operation: Operation) -> Sequence[Value]:
    """Returns the operands that are indices."""
    indices = opcode_of(operation.opcode).indices
    return () if indices is None else operation.operands[slice(*indices)]


def _uses(operation: Operation) -> Iterator[tuple[Sequence[Value], Use]]:
    """Yields the values that steer an operation: indices, shift amounts, branch selectors and loop conditions."""
    opcode, operands = operation.opcode, operation.operands
    indices = index_operands(operation)
    if indices and isinstance(operands[0].shape, ArrayShape):
        promised = [operation.attribute(name) in ("true", "unit") for name in ("unique_indices", "indices_are_sorted")]
        yield indices, Use(operands[0].shape.dimensions, distinct=promised[0], ascending=promised[1])
    elif has(opcode, Trait.SHIFTS) and isinstance(operands[1].shape, ArrayShape):
        yield operands[1:2], Use(widths=(operands[1].shape.element_type.bits,))
    elif opcode == "conditional":
        yield operands[:1], Use(branches=len(operation.called))
    elif opcode == "while":
        yield operation.called_as(CONDITION).results, Use(counts=_most_iterations(operation))


def _most_iterations(loop: Operation) -> int:
    """Returns the number of iterations that take a short time: loops run to the limits that are below."""
    inner = (operation for function in loop.called for operation in function.operations)
    elements = sum(value.shape.element_count for operation in inner for value in operation.results)
    return max(_FEW_ITERATIONS, min(_MOST_ITERATIONS, _LOOP_ELEMENTS // max(1, elements)))


def _with_arithmetic(constants: set[float]) -> tuple[float, ...]:
    """Returns constants and, where they are few, the results of arithmetic on pairs."""
    pairs = list(product(constants, repeat=2)) if len(constants) <= _FEW_CONSTANTS else []
    made = {c for a, b in pairs for c in (a + b, a - b, a * b, a / b if b else a)}
    return tuple(sorted((number for number in constants | made if isfinite(number)), key=abs)[:_MOST_CONSTANTS])
