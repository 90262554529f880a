"""Finds the results of a module whose bits are equal in every correct form of it.

XLA and the interpreter choose the order in which they add floats, so a sum over another shape may
round differently. Other operations round element by element, equally in both forms: the worker runs
XLA:CPU without fused multiply-add, without excess precision and without its simplifier. On small
whole numbers sums are exact, in any order, as long as the largest possible one fits the mantissa.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import isfinite, prod

from dialect_utils.hlo.text.literals import decode_float
from dialect_utils.ir import Function, Module, Operand, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.ops import DONE, UPDATE, Trait, has, split_asynchronous, with_trait
from dialect_utils.verdict.sampling import LARGEST_INTEGER
from dialect_utils.verdict.sampling.needs import values_behind


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


_UNKNOWN = _State(Guarantee.ALWAYS, None)
_LOST = _State(Guarantee.NEVER, None)

# Bits of the significand, the hidden one included.
_MANTISSA_BITS = {"f64": 53, "f32": 24, "bf16": 8, "f16": 11, "c64": 24, "c128": 53}
_SMALLEST_MANTISSA_BITS = 2
_LARGEST_EXACT = 1 << max(_MANTISSA_BITS.values())

_ROUNDED_ARITHMETIC = with_trait(Trait.ROUNDS)
_LOOP_ITERATIONS = 3
# Operations whose result may change much where an operand changes by a rounding error.
_NOT_CONTINUOUS = with_trait(Trait.JUMPS)


def result_guarantees(module: Module, others: Sequence[Value] = ()) -> list[Guarantee]:
    """Returns the guarantee of every array among the entry's results and `others` in the entry, tuples flattened."""
    analysis = _analysis(module)
    return [guarantee for value in (*module.entry.results, *others) for guarantee in analysis.leaf_guarantees(value)]


def threshold_results(module: Module, others: Sequence[Value] = ()) -> frozenset[int]:
    """Returns the arrays of `result_guarantees` that compare or round the result of a sum of floats."""
    analysis = _analysis(module)
    found: set[int] = set()
    begin = 0
    for value in (*module.entry.results, *others):
        leaves = analysis.leaves(value)
        found |= {begin + number for number, leaf in enumerate(leaves) if analysis.has_threshold(leaf)}
        begin += len(leaves)
    return frozenset(found)


def _analysis(module: Module) -> _Analysis:
    """Returns the analysis of the entry, whose parameters hold integers that sums keep exact."""
    analysis = _Analysis()
    for parameter in module.entry.parameters:
        analysis.states[parameter] = _State(Guarantee.ALWAYS, LARGEST_INTEGER)
    analysis.run(module.entry)
    return analysis


def _mantissa_bits(element_type: ElementType) -> int:
    return _MANTISSA_BITS.get(element_type.name, _SMALLEST_MANTISSA_BITS)


class _Analysis:
    def __init__(self) -> None:
        self.states: dict[Value, _State] = {}

    def leaf_guarantees(self, value: Value) -> list[Guarantee]:
        """Returns the guarantee of each array of a value; the elements of a `tuple` operation have one each."""
        operation = value.operation
        if operation is not None and operation.opcode == "tuple":
            return [guarantee for operand in operation.operands for guarantee in self.leaf_guarantees(operand)]
        return [_final(self.states[value], array) for array in value.shape.arrays()]

    def leaves(self, value: Value) -> list[Value]:
        """Returns the source of each array: the elements of a `tuple` operation, or one value several times."""
        operation = value.operation
        if operation is not None and operation.opcode == "tuple":
            return [leaf for operand in operation.operands for leaf in self.leaves(operand)]
        return [value for _ in value.shape.arrays()]

    def has_threshold(self, value: Value) -> bool:
        """Is true where a value depends on a sum of floats through an operation that is not continuous."""
        makers = {each.operation for each in values_behind([value])}
        return any(operation is not None and self._is_threshold(operation) for operation in makers)

    def _is_threshold(self, operation: Operation) -> bool:
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
            return _State(Guarantee.ALWAYS, _whole_number(operation))
        if has(opcode, Trait.COMBINES):
            return self._combined(operation, operands)
        if has(opcode, Trait.CONTRACTS):
            return _summed(operation, _terms_of_product(operation), operands, _product(operands))
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
            for join in operation.control_flow()
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


def _whole_number(constant: Operation) -> int | None:
    """Returns the magnitude of a constant whose elements are all one whole number, else None."""
    bits, shape = constant.splat_bits, constant.results[0].shape
    if bits is None or not isinstance(shape, ArrayShape):
        return None
    element_type = shape.element_type
    if element_type.is_complex:
        return None
    if not element_type.is_floating:
        return min(bits, (1 << element_type.bits) - bits) if element_type.is_signed else bits
    value = decode_float(element_type.name, bits)
    return abs(int(value)) if isfinite(value) and value == int(value) else None


def _elementwise(operation: Operation, operands: Sequence[_State]) -> _State:
    guarantee = _join(operands).guarantee
    bounds = [state.bound for state in operands]
    opcode = operation.opcode
    # The result of a `-done` was computed by its `-start`.
    is_bounded = has(opcode, Trait.BOUNDED) or split_asynchronous(opcode)[1] in (UPDATE, DONE)
    if opcode == "sign" or all(map(_is_predicate, operation.results)):
        return _State(guarantee, 1)
    if opcode == "iota":
        return _State(guarantee, None)
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds) or not known:
        return _State(guarantee, None)
    if is_bounded:
        return _State(guarantee, max(known))
    if opcode in ("add", "subtract"):
        return _State(guarantee, sum(known))
    return _State(guarantee, prod(known) if opcode == "multiply" else None)


def _is_predicate(value: Value) -> bool:
    return isinstance(value.shape, ArrayShape) and value.shape.element_type.name == "pred"


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


def _product(operands: Sequence[_State]) -> int | None:
    bounds = [state.bound for state in operands[:2]]
    known = [bound for bound in bounds if bound is not None]
    return prod(known) if len(known) == len(bounds) else None


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
        bound <= 1 << _mantissa_bits(array.element_type) for array in shape.arrays() if array.element_type.is_inexact
    )


def _fit(state: _State, shape: Shape) -> _State:
    """Returns a state without a bound that the type cannot hold exactly; products of integers grow without end."""
    if state.bound is None or (state.bound <= _LARGEST_EXACT and _fits(state.bound, shape)):
        return state
    return replace(state, bound=None)


def _join(states: Sequence[_State]) -> _State:
    if not states:
        return _UNKNOWN
    bounds = [state.bound for state in states]
    known = [bound for bound in bounds if bound is not None]
    return _State(
        max(state.guarantee for state in states),
        max(known) if len(known) == len(bounds) else None,
    )
