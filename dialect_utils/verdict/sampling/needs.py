"""Finds the uses of each array of the entry that decide which input values are worth trying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite

from dialect_utils.hlo.text.literals import decode_float
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import BODY, CONDITION
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import EXTREMES, Trait, has, opcode_of

_CHOICES = EXTREMES | {"compare"}
# With few constants, their sums, differences, products and quotients are thresholds, too.
_FEW_CONSTANTS = 8
_MOST_CONSTANTS = 64


@dataclass(frozen=True, slots=True)
class Need:
    """One array of the entry and its uses.

    `limits`: the sizes of dimensions that it indexes; `counts`: it may count the iterations of a loop;
    `branches`: the number of branches that it selects from; `widths`: the widths of the values that it shifts;
    `distinct` and `ascending`: a gather or scatter promises that its indices are unique or sorted. `numbers`:
    constants of the programs and results of arithmetic on them; `constants`: these constants alone, but for 0 and 1;
    `compares`: the programs compare values; `peaks`: the programs select the largest of many elements, or sort them.
    """

    shape: ArrayShape
    limits: tuple[int, ...] = ()
    counts: bool = False
    branches: int = 0
    widths: tuple[int, ...] = ()
    distinct: bool = False
    ascending: bool = False
    numbers: tuple[float, ...] = ()
    peaks: bool = False
    constants: tuple[float, ...] = ()
    compares: bool = False

    @property
    def is_free(self) -> bool:
        """Is true where an integer may be any of its type."""
        return not (self.limits or self.counts or self.branches or self.widths)


def array_needs(modules: Sequence[Module], shapes: Sequence[ArrayShape]) -> list[Need]:
    """Returns the needs of the entry's arrays, tuples flattened, whose shapes in the first module are `shapes`."""
    constants = _constants(modules)
    numbers = _numbers(constants)
    kept = tuple(sorted((each for each in constants if each not in (0, 1)), key=abs)[:_MOST_CONSTANTS])
    compares = any(operation.opcode == "compare" for module in modules for operation in module.operations())
    peaks = any(_chooses(operation) for module in modules for operation in module.operations())
    needs = [Need(shape, numbers=numbers, peaks=peaks, constants=kept, compares=compares) for shape in shapes]
    for module in modules:
        spans = leaf_spans(module.entry)
        for operation in module.operations():
            for sensed in _sensed(operation):
                for leaf in _leaves_behind(sensed.roots, spans):
                    if leaf < len(needs):
                        needs[leaf] = sensed.noted(needs[leaf])
    return needs


def _chooses(operation: Operation) -> bool:
    """Is true where a result may be one of many elements."""
    inner = {each.opcode for function in operation.called for each in function.operations}
    return has(operation.opcode, Trait.SORTS) or (has(operation.opcode, Trait.COMBINES) and bool(inner & _CHOICES))


@dataclass(frozen=True, slots=True)
class _Sensed:
    """Values that an operation reads, and its use of them."""

    roots: tuple[Value, ...]
    limits: tuple[int, ...] = ()
    counts: bool = False
    branches: int = 0
    widths: tuple[int, ...] = ()
    distinct: bool = False
    ascending: bool = False

    def noted(self, need: Need) -> Need:
        """Returns a need with this use added."""
        return replace(
            need,
            limits=tuple(sorted({*need.limits, *self.limits})),
            counts=need.counts or self.counts,
            branches=max(need.branches, self.branches),
            widths=tuple(sorted({*need.widths, *self.widths})),
            distinct=need.distinct or self.distinct,
            ascending=need.ascending or self.ascending,
        )


def leaf_spans(entry: Function) -> dict[Value, range]:
    """Returns for each parameter the range of its arrays among those of the entry, tuples flattened."""
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


def values_behind(roots: Iterable[Value]) -> set[Value]:
    """Returns all values that the given values depend on, through calls in both directions."""
    reached: set[Value] = set()
    pending = list(roots)
    while pending:
        value = pending.pop()
        if value not in reached:
            reached.add(value)
            pending += _sources(value)
    return reached


def _leaves_behind(roots: Sequence[Value], spans: dict[Value, range]) -> Iterator[int]:
    reached = values_behind(roots)
    return (leaf for value, span in spans.items() if value in reached for leaf in span)


def _sources(value: Value) -> list[Value]:
    """Returns the direct sources of a value; for one element of a loop's state, only the same element."""
    operation = value.operation
    if operation is None:
        return [source for caller in value.function.callers for source in _passed(caller, value)]
    if operation.opcode == "while" and len(operation.results) == len(operation.operands):
        return _of_iteration(operation, operation.results.index(value))
    if operation.opcode == "get-tuple-element":
        return _parts(operation.operands[0], (operation.ints("index") or (0,))[0])
    inside = [result for function in operation.called for result in function.results]
    return [*operation.operands, *inside]


def _passed(caller: Operation, parameter: Value) -> Sequence[Value]:
    parameters = parameter.function.parameters
    if caller.opcode == "while" and len(parameters) == len(caller.operands):
        return _of_iteration(caller, parameters.index(parameter))
    return caller.operands


def _of_iteration(loop: Operation, number: int) -> list[Value]:
    """Returns one element of a loop's state before the loop and after an iteration."""
    return [loop.operands[number], loop.called_as(BODY).results[number]]


def _parts(whole: Value, number: int) -> list[Value]:
    """Returns the sources of one element of a tuple; the tuple itself where they are not known."""
    operation = whole.operation
    if operation is not None and operation.opcode == "tuple":
        return [operation.operands[number]]
    loops = [operation] if operation is not None else list(whole.function.callers)
    if not loops or any(loop.opcode != "while" for loop in loops):
        return [whole]
    state = [source for loop in loops for source in _of_iteration(loop, 0)]
    tuples = [value.operation for value in state]
    if not all(made is not None and made.opcode == "tuple" for made in tuples):
        return [whole]
    return [made.operands[number] for made in tuples if made is not None]


def _sensed(operation: Operation) -> Iterator[_Sensed]:
    """Yields the values that steer an operation: indices, shift amounts, branch selectors and loop conditions."""
    opcode, operands = operation.opcode, operation.operands
    indices = tuple(index_operands(operation))
    if indices and isinstance(operands[0].shape, ArrayShape):
        promised = [operation.attribute(name) in ("true", "unit") for name in ("unique_indices", "indices_are_sorted")]
        yield _Sensed(indices, operands[0].shape.dimensions, distinct=promised[0], ascending=promised[1])
    elif has(opcode, Trait.SHIFTS) and isinstance(operands[1].shape, ArrayShape):
        yield _Sensed((operands[1],), widths=(operands[1].shape.element_type.bits,))
    elif opcode == "conditional":
        yield _Sensed((operands[0],), branches=len(operation.called))
    elif opcode == "while":
        yield _Sensed(
            tuple(operation.called_as(CONDITION).results),
            counts=True,
        )


def _constants(modules: Sequence[Module]) -> set[float]:
    """Returns the finite numbers that constants of the programs hold."""
    numbers = (_number(operation) for module in modules for operation in module.operations())
    return {number for number in numbers if number is not None}


def _numbers(found: set[float]) -> tuple[float, ...]:
    """Returns constants and, where they are few, the results of arithmetic on pairs."""
    pairs = list(product(found, repeat=2)) if len(found) <= _FEW_CONSTANTS else []
    made = {c for a, b in pairs for c in (a + b, a - b, a * b, a / b if b else a)}
    return tuple(sorted((number for number in found | made if isfinite(number)), key=abs)[:_MOST_CONSTANTS])


def _number(operation: Operation) -> float | None:
    """Returns the number that all elements of a constant equal, or None."""
    bits = operation.splat_bits
    if bits is None:
        return None
    shape = operation.results[0].shape
    assert isinstance(shape, ArrayShape)  # it is a constant
    kind = shape.element_type
    if kind.is_complex:
        return None
    if kind.is_integral or kind.name == "pred":
        return bits - (1 << kind.bits) if kind.is_signed and bits >> (kind.bits - 1) else bits
    number = float(decode_float(kind.name, bits))
    return number if isfinite(number) else None
