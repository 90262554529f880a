"""Finds the results of a module whose bits are equal in every correct form of it.

XLA and the interpreter choose the order in which they add floats, so a sum over another shape may
round differently. Other operations round element by element, equally in both forms: the worker runs
XLA:CPU without fused multiply-add, without excess precision and without its simplifier. On small
whole numbers sums are exact, in any order, as long as the largest possible one fits the mantissa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import prod

from dialect_utils.ir import Function, Module, Operand, Operation, Value
from dialect_utils.ir.control_flow import joins_of
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops import DONE, UPDATE, Trait, has, named, split_asynchronous, with_trait
from dialect_utils.verdict.dataflow import array_sources, splat_number
from dialect_utils.verdict.sampling import LARGEST_INTEGER


class Guarantee(IntEnum):
    """The data on which the bits of a result are the same in every correct form; weaker guarantees are larger."""

    ALWAYS = 0
    ON_INTEGERS = 1
    NEVER = 2


@dataclass(frozen=True, slots=True)
class _State:
    """The guarantee of a value, and a bound of its magnitude where it is a whole number.

    The bound holds for inputs of small whole numbers; None: not a whole number, or unbounded.
    """

    guarantee: Guarantee
    bound: int | None


_LOST = _State(Guarantee.NEVER, None)

# Bits of the significand, the hidden one included.
_MANTISSA_BITS = {"f64": 53, "f32": 24, "bf16": 8, "f16": 11, "c64": 24, "c128": 53}
_SMALLEST_MANTISSA_BITS = 2
_LARGEST_EXACT = 1 << max(_MANTISSA_BITS.values())

_ROUNDED_ARITHMETIC = with_trait(Trait.ROUNDS)
_LOOP_ITERATIONS = 3
# Operations whose result may change much where an operand changes by a rounding error.
_NOT_CONTINUOUS = with_trait(Trait.JUMPS)
# A comparison mostly steers a select, whose result may be continuous.
_STEPS = _NOT_CONTINUOUS - named("compare")


# Elementwise operations that move bits, or change the sign bit alone.
_KEEP_BITS = named("abs bitcast-convert complex copy imag negate real select")
# The choice of an engine between -0 and 0 (`ops/choices.py`).
SIGN_OF_ZERO = named("clamp maximum minimum")


def computes_floats(operation: Operation) -> bool:
    """Is true for arithmetic of floats: an engine may flush subnormal numbers in it, and chooses the bits of a NaN."""
    opcode = operation.opcode
    is_arithmetic = has(opcode, Trait.ELEMENTWISE) and opcode not in _KEEP_BITS
    is_other = any(has(opcode, trait) for trait in (Trait.CONTRACTS, Trait.ENGINE_DEFINED, Trait.NORMALIZES))
    return (is_arithmetic or is_other) and _is_inexact([*operation.operands, *operation.results])


def makes_nan(operation: Operation) -> bool:
    """Is true for an operation that may make a NaN, whose bits the engine chooses."""
    return computes_floats(operation) and _is_inexact(operation.results)


def makes_steps(operation: Operation) -> bool:
    """Is true for an operation that makes steps of floats: rounding may decide between two of them."""
    kinds = [
        array.element_type for value in (*operation.operands, *operation.results) for array in value.shape.arrays()
    ]
    is_whole = operation.opcode == "convert" and not kinds[-1].is_inexact
    return bool(kinds) and kinds[0].is_inexact and (operation.opcode in _STEPS or is_whole)


def expanded_opcodes(first: Module, last: Module) -> set[str]:
    """Returns the opcodes of operations that one module expands.

    Engines expand batch normalizations and operations of CHLO in their own ways, which round otherwise.
    """
    counts = [Counter(filter(_is_expanded, (each.opcode for each in module.operations()))) for module in (first, last)]
    return {opcode for opcode in counts[0] | counts[1] if counts[0][opcode] != counts[1][opcode]}


def _is_expanded(opcode: str) -> bool:
    return has(opcode, Trait.NORMALIZES) or opcode.startswith("chlo.")


def result_guarantees(module: Module) -> list[Guarantee]:
    """Returns the guarantee of every array among the entry's results, tuples flattened."""
    arrays = [each for value in module.entry.results for each in array_sources(value)]
    return RoundingAnalysis(module).guarantees(arrays)


class RoundingAnalysis:
    """The guarantees of the values of a module whose entry takes integers that sums keep exact."""

    def __init__(self, module: Module) -> None:
        """Analyses the entry and all functions that it calls."""
        self.states: dict[Value, _State] = {}
        self._run_called(module.entry, {}, _State(Guarantee.ALWAYS, LARGEST_INTEGER))

    def guarantees(self, arrays: Sequence[tuple[Value, ArrayShape]]) -> list[Guarantee]:
        """Returns the guarantee of each array of the entry, given with its source."""
        return [_final(self.states[value], array) for value, array in arrays]

    def is_threshold(self, operation: Operation) -> bool:
        """Is true for an operation that is not continuous, such as a comparison, of the result of a sum of floats."""
        opcode = operation.opcode
        inner = {each.opcode for function in operation.called for each in function.operations}
        is_combined = has(opcode, Trait.COMBINES) and "compare" in inner
        is_whole = opcode == "convert" and not _is_inexact(operation.results)
        if not (opcode in _NOT_CONTINUOUS or is_combined or is_whole) or not _is_inexact(operation.operands):
            return False
        states = (self.states.get(operand, _LOST) for operand in operation.operands)
        return any(state.guarantee is not Guarantee.ALWAYS for state in states)

    def run(self, function: Function) -> _State:
        """Computes the states of a function whose parameters have states; returns the joined state of its results."""
        for operation in function.operations:
            state = self._state(operation)
            for value in operation.results:
                self.states[value] = _fit(state, value.shape)
        return _join([self.states[value] for value in function.results])

    def _state(self, operation: Operation) -> _State:
        operands = [self.states[value] for value in operation.operands]
        opcode = operation.opcode
        if has(opcode, Trait.ENGINE_DEFINED):
            # The engine chooses the algorithm, or draws random numbers.
            return _LOST
        if opcode == "constant":
            number = splat_number(operation)
            return _State(Guarantee.ALWAYS, None if number is None or number != int(number) else abs(int(number)))
        if has(opcode, Trait.COMBINES):
            return self._combined(operation, operands)
        if has(opcode, Trait.CONTRACTS):
            return _summed(operation, _terms_of_product(operation), operands, _bound(operands[:2], prod))
        if operation.called and not has(opcode, Trait.BOUNDED):
            return self._called(operation, operands)
        # The padding of a correct form is not read, or is the same in both.
        return _elementwise(operation, operands[:1] if opcode == "pad" else operands)

    def _combined(self, operation: Operation, operands: Sequence[_State]) -> _State:
        """Returns the state of an operation that combines many elements in some order."""
        joined = _join(operands)
        used = {inner.opcode for function in operation.called for inner in function.operations} & _ROUNDED_ARITHMETIC
        if not used or not _is_inexact(operation.results):
            return joined
        data = _summands(operation)
        summed = _join([self.states[value] for value in data])
        if used != {"add"}:
            return _LOST
        terms = max(value.shape.element_count for value in data) + 1
        return _summed(operation, terms, operands, summed.bound)

    def _called(self, operation: Operation, operands: Sequence[_State]) -> _State:
        """Returns the state of a call, fusion, loop or branch; unknown sources of a parameter are all operands."""
        joined = _join(operands)
        if operation.opcode == "while":
            return self._loop(operation, joined)
        passed = {
            target: _join([self.states[source.value] for source in join.sources])
            for join in joins_of(operation)
            if all(isinstance(source, Operand) for source in join.sources)
            for target in join.targets
        }
        whole = _join([self._run_called(function, passed, joined) for function in operation.called])
        return _State(max(whole.guarantee, joined.guarantee), whole.bound)

    def _loop(self, operation: Operation, joined: _State) -> _State:
        """Returns the state of a loop: its functions run until the guarantee is stable; bounds are lost.

        A loop that adds floats is a sum over its iterations, which another form may add in another order.
        """
        if any(map(_adds_floats, operation.called)):
            joined = _LOST
        for _ in range(_LOOP_ITERATIONS):
            found = [self._run_called(function, {}, joined) for function in operation.called]
            joined = _State(max(state.guarantee for state in [joined, *found]), None)
        return joined

    def _run_called(self, function: Function, passed: Mapping[Value, _State], other: _State) -> _State:
        for parameter in function.parameters:
            self.states[parameter] = passed.get(parameter, other)
        return self.run(function)


def _final(state: _State, shape: ArrayShape) -> Guarantee:
    """Returns the guarantee of a result: where an exact sum is rounded later, a correct form may round earlier."""
    is_rounded = state.bound is None and shape.element_type.is_inexact
    return Guarantee.NEVER if state.guarantee is Guarantee.ON_INTEGERS and is_rounded else state.guarantee


def _adds_floats(function: Function) -> bool:
    """Is true where a function, or a function that it calls, adds floats."""
    for operation in function.operations:
        if operation.opcode in ("add", "subtract") and _is_inexact(operation.results):
            return True
        if any(map(_adds_floats, operation.called)):
            return True
    return False


def _elementwise(operation: Operation, operands: Sequence[_State]) -> _State:
    guarantee, opcode = _join(operands).guarantee, operation.opcode
    # The result of a `-done` was computed by its `-start`.
    is_bounded = has(opcode, Trait.BOUNDED) or split_asynchronous(opcode)[1] in (UPDATE, DONE)
    if opcode == "sign" or all(_is_predicate(value.shape) for value in operation.results):
        return _State(guarantee, 1)
    if is_bounded:
        return _State(guarantee, _bound(operands, max))
    if opcode in ("add", "subtract"):
        return _State(guarantee, _bound(operands, sum))
    return _State(guarantee, _bound(operands, prod) if opcode == "multiply" else None)


def _is_predicate(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and shape.element_type.name == "pred"


def _summed(operation: Operation, terms: int, operands: Sequence[_State], largest: int | None) -> _State:
    """Returns the state of a sum of `terms` whole numbers up to `largest`, in an order that the engine chooses."""
    if not _is_inexact(operation.results):
        return _State(_join(operands).guarantee, None if largest is None else terms * largest)
    if largest is None or not _fits(terms * largest, operation.results[0].shape):
        return _LOST
    return _State(max(Guarantee.ON_INTEGERS, _join(operands).guarantee), terms * largest)


def _summands(operation: Operation) -> Sequence[Value]:
    """Returns the operands that are added: neither indices nor initial values (a small number, mostly zero)."""
    operands = operation.operands
    if operation.opcode == "scatter":
        arrays = (len(operands) - 1) // 2
        return [*operands[:arrays], *operands[arrays + 1 :]]
    if operation.opcode == "select-and-scatter":
        return operands[:2]
    return operands[: len(operands) // 2] if operation.opcode in ("reduce", "reduce-window") else operands


def _terms_of_product(operation: Operation) -> int:
    """Returns the largest number of products that one element of a dot or convolution sums."""
    lhs, rhs = (operand.shape for operand in operation.operands[:2])
    contracting = operation.ints("lhs_contracting_dims")
    if contracting is not None and isinstance(lhs, ArrayShape):
        return prod(lhs.dimensions[i] for i in contracting)
    return min(lhs.element_count, rhs.element_count)


def _is_inexact(values: Sequence[Value]) -> bool:
    return any(value.shape.is_inexact for value in values)


def _fits(bound: int, shape: Shape) -> bool:
    return all(
        bound <= 1 << _MANTISSA_BITS.get(array.element_type.name, _SMALLEST_MANTISSA_BITS)
        for array in shape.arrays()
        if array.element_type.is_inexact
    )


def _fit(state: _State, shape: Shape) -> _State:
    """Returns a state without its bound if the type cannot represent the bound exactly."""
    if state.bound is None or (state.bound <= _LARGEST_EXACT and _fits(state.bound, shape)):
        return state
    return replace(state, bound=None)


def _join(states: Sequence[_State]) -> _State:
    return _State(max((state.guarantee for state in states), default=Guarantee.ALWAYS), _bound(states, max))


def _bound(states: Sequence[_State], combined: Callable[[Iterable[int]], int]) -> int | None:
    """Returns the combination of the bounds of states, None if one of them is unknown."""
    known = [state.bound for state in states if state.bound is not None]
    return combined(known) if known and len(known) == len(states) else None
