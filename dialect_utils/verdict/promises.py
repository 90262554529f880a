"""For which results two correct forms of a module have equal bits: an analysis of one module.

XLA and the interpreter add floats in an order of their own choosing, so a sum over another shape
may round otherwise; and XLA:CPU leaves out a rounding between two ops that it fuses. What is
neither rounds element by element, alike in both forms (measured with XLA:CPU at default options).
On small whole numbers sums are exact, in any order, as long as the largest possible one fits the
mantissa.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import frexp, isfinite, prod

from dialect_utils.hlo.literals import decode_float
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType, Shape, array_leaves
from dialect_utils.verdict.data import LARGEST_INTEGER


class Promise(IntEnum):
    """Says on which data the bits of a result are the same in every correct form; the worse, the larger."""

    ALWAYS = 0
    ON_INTEGERS = 1
    NEVER = 2


@dataclass(frozen=True, slots=True)
class _State:
    """Is what is known of a value: the promise, and a bound of its magnitude where it is a whole number.

    The bound holds for inputs of the style "integers"; None: no whole number, or unbounded.
    `is_product`: a float product that an addition may take unrounded. `is_narrow`: a rounded float
    of 16 bits or fewer, whose rounding XLA may leave out before the next op. `is_scale`: a power of
    two, by which a product is exact.
    """

    promise: Promise
    bound: int | None
    is_product: bool = False
    is_narrow: bool = False
    is_scale: bool = False


_UNKNOWN = _State(Promise.ALWAYS, None)
_LOST = _State(Promise.NEVER, None)

# Bits of the significand, the hidden one included.
_MANTISSA_BITS = {"f64": 53, "f32": 24, "bf16": 8, "f16": 11, "c64": 24, "c128": 53}
_SMALLEST_MANTISSA_BITS = 2
_NARROW_BITS = 16
# The significand that frexp gives a power of two.
_HALF = 0.5

_MOVEMENT = frozenset(
    {"transpose", "reshape", "slice", "pad", "broadcast", "concatenate", "reverse", "gather", "select", "sort", "copy"}
    | {"dynamic-slice", "dynamic-update-slice", "tuple", "get-tuple-element", "optimization-barrier"}
    | {"maximum", "minimum", "clamp", "abs", "negate", "convert", "real", "imag"}
)
_PREDICATES = frozenset(["compare", "and", "or", "not", "xor", "is-finite", "sign"])
_COMBINING = frozenset(["reduce", "reduce-window", "scatter", "select-and-scatter", "all-reduce", "reduce-scatter"])
_PRODUCTS = frozenset({"dot", "convolution"})
# Their algorithms are the engine's own, or draw numbers.
_UNPROMISED = frozenset(
    {"fft", "cholesky", "triangular-solve", "rng", "custom-call", "batch-norm-training", "batch-norm-grad"}
)
_ORDERED_ARITHMETIC = frozenset(
    {"add", "subtract", "multiply", "divide", "power", "exponential", "log", "log-plus-one"}
)
_LOOP_ROUNDS = 3


def result_promises(module: Module, others: Sequence[Value] = ()) -> list[Promise]:
    """Returns the promise of every array among the entry's results and `others` in the entry, tuples flattened."""
    analysis = _Analysis()
    entry = module.entry
    for parameter in entry.parameters:
        analysis.states[parameter] = _State(Promise.ALWAYS, LARGEST_INTEGER)
    analysis.run(entry)
    return [promise for value in (*entry.results, *others) for promise in analysis.leaf_promises(value)]


def coarsest_epsilon(module: Module) -> float:
    """Returns the largest distance from 1 to the next number among the module's float types."""
    bits = [
        _mantissa_bits(array.element_type)
        for function in module.functions
        for operation in function.operations
        for value in operation.results
        for array in array_leaves(value.shape)
        if array.element_type.is_floating or array.element_type.is_complex
    ]
    return 2.0 ** (1 - min(bits, default=_MANTISSA_BITS["f64"]))


def _mantissa_bits(element_type: ElementType) -> int:
    return _MANTISSA_BITS.get(element_type.name, _SMALLEST_MANTISSA_BITS)


class _Analysis:
    def __init__(self) -> None:
        self.states: dict[Value, _State] = {}

    def leaf_promises(self, value: Value) -> list[Promise]:
        """Returns the promise of each array of a value; those of a `tuple` operation singly."""
        operation = value.operation
        if operation is not None and operation.opcode == "tuple":
            return [promise for operand in operation.operands for promise in self.leaf_promises(operand)]
        return [self.states[value].promise] * len(list(array_leaves(value.shape)))

    def run(self, function: Function) -> _State:
        """Computes the states of a function whose parameters have one; returns its results' joined."""
        for operation in function.operations:
            state = self._rounded(operation, self._state(operation))
            for value in operation.results:
                self.states[value] = _fit(state, value.shape)
        return _join([self.states[value] for value in function.results])

    def _state(self, operation: Operation) -> _State:
        operands = [self.states[value] for value in operation.operands]
        opcode = operation.opcode
        if opcode in _UNPROMISED:
            return _LOST
        if opcode == "constant":
            return _State(Promise.ALWAYS, _whole_number(operation), is_scale=_is_power_of_two(operation))
        if opcode in _COMBINING:
            return self._combined(operation, operands)
        if opcode in _PRODUCTS:
            return _summed(operation, _terms_of_product(operation), operands, _product(operands))
        if operation.called and opcode not in _MOVEMENT:
            return self._called(operation, operands)
        # What a correct form pads with is not read, or is the same in both.
        return _elementwise(opcode, operands[:1] if opcode == "pad" else operands)

    def _rounded(self, operation: Operation, state: _State) -> _State:
        """Lowers the promise where XLA may round twice or once, as it fuses or not.

        XLA:CPU contracts a multiplication and an addition to one fused multiply-add inside a
        fusion, and computes chains of 16-bit floats in 32 bits; data movement in between
        decides. Both were seen to change the last bit of random data, and cannot where every
        value is a whole number that the type holds.
        """
        if not _is_inexact(operation.results):
            return state
        operands = [self.states[value] for value in operation.operands]
        opcode = operation.opcode
        moves = opcode in _MOVEMENT and not _widens(operation)
        is_scaling = opcode == "multiply" and any(operand.is_scale for operand in operands)
        contracts = opcode in ("add", "subtract") and any(operand.is_product for operand in operands)
        rounds = contracts or (not moves and any(operand.is_narrow for operand in operands))
        promise = max(state.promise, Promise.NEVER if state.bound is None else Promise.ON_INTEGERS)
        return _State(
            promise if rounds else state.promise,
            state.bound,
            any(operand.is_product for operand in operands) if moves or is_scaling else opcode == "multiply",
            _is_narrow(operation) and (not moves or opcode == "convert" or any(op.is_narrow for op in operands)),
            state.is_scale,
        )

    def _combined(self, operation: Operation, operands: Sequence[_State]) -> _State:
        """Handles an op that applies a function to many elements in some order."""
        joined = _join(operands)
        used = {inner.opcode for function in operation.called for inner in function.operations} & _ORDERED_ARITHMETIC
        if not used or not _is_inexact(operation.results):
            return joined
        data = _summands(operation)
        summed = _join([self.states[value] for value in data])
        if used != {"add"}:
            return _LOST
        terms = max(_elements(value.shape) for value in data) + 1
        return _summed(operation, terms, operands, summed.bound)

    def _called(self, operation: Operation, operands: Sequence[_State]) -> _State:
        """Handles calls, fusions, loops and branches: every function may see every operand's state."""
        joined = _join(operands)
        is_loop = operation.opcode == "while"
        for _ in range(_LOOP_ROUNDS if is_loop else 1):
            found = [self._run_called(function, operation, operands, joined) for function in operation.called]
            if is_loop:
                joined = _State(max(state.promise for state in [joined, *found]), None)
                operands = [joined] * len(operands)
                found = [joined]
        whole = _join(found)
        return _State(max(whole.promise, joined.promise), whole.bound)

    def _run_called(
        self, function: Function, operation: Operation, operands: Sequence[_State], joined: _State
    ) -> _State:
        direct = len(operation.called) == 1 and len(function.parameters) == len(operands)
        for position, parameter in enumerate(function.parameters):
            self.states[parameter] = operands[position] if direct else joined
        return self.run(function)


def _whole_number(constant: Operation) -> int | None:
    """Returns the magnitude of a constant whose elements all are one whole number, else None."""
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


def _is_power_of_two(constant: Operation) -> bool:
    bits, shape = constant.splat_bits, constant.results[0].shape
    if bits is None or not isinstance(shape, ArrayShape) or not shape.element_type.is_floating:
        return False
    value = decode_float(shape.element_type.name, bits)
    return isfinite(value) and value != 0 and abs(frexp(value)[0]) == _HALF


def _elementwise(opcode: str, operands: Sequence[_State]) -> _State:
    promise = _join(operands).promise
    bounds = [state.bound for state in operands]
    if opcode in _PREDICATES or opcode == "iota":
        return _State(promise, 1 if opcode in _PREDICATES else None)
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds) or not known:
        return _State(promise, None, is_scale=opcode in _MOVEMENT and _join(operands).is_scale)
    if opcode in _MOVEMENT:
        return _State(promise, max(known), is_scale=_join(operands).is_scale)
    if opcode in ("add", "subtract"):
        return _State(promise, sum(known))
    return _State(promise, prod(known) if opcode == "multiply" else None)


def _summed(operation: Operation, terms: int, operands: Sequence[_State], largest: int | None) -> _State:
    """Returns the state of a sum of `terms` whole numbers up to `largest`, in an order of the engine's choosing."""
    if not _is_inexact(operation.results):
        return _State(_join(operands).promise, None if largest is None else terms * largest)
    if largest is None or not _fits(terms * largest, operation.results[0].shape):
        return _LOST
    return _State(max(Promise.ON_INTEGERS, _join(operands).promise), terms * largest)


def _summands(operation: Operation) -> Sequence[Value]:
    """Returns the operands that are added up: neither indices nor initial values (a small number, mostly zero)."""
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
    """Returns how many products one element of a dot or convolution sums at most."""
    lhs, rhs = (operand.shape for operand in operation.operands[:2])
    contracting = operation.ints("lhs_contracting_dims")
    if contracting is not None and isinstance(lhs, ArrayShape):
        return prod(lhs.dimensions[i] for i in contracting)
    return min(_elements(lhs), _elements(rhs))


def _elements(shape: Shape) -> int:
    return sum(array.element_count for array in array_leaves(shape))


def _is_inexact(values: Sequence[Value]) -> bool:
    arrays = [array for value in values for array in array_leaves(value.shape)]
    return any(array.element_type.is_floating or array.element_type.is_complex for array in arrays)


def _is_narrow(operation: Operation) -> bool:
    arrays = [array for value in operation.results for array in array_leaves(value.shape)]
    return any(array.element_type.is_floating and array.element_type.bits <= _NARROW_BITS for array in arrays)


def _widens(operation: Operation) -> bool:
    """Is true for a conversion to a wider float, which XLA merges with the one to the narrow type."""
    return operation.opcode == "convert" and not _is_narrow(operation)


def _fits(bound: int, shape: Shape) -> bool:
    return all(
        bound <= 1 << _mantissa_bits(array.element_type)
        for array in array_leaves(shape)
        if array.element_type.is_floating or array.element_type.is_complex
    )


def _fit(state: _State, shape: Shape) -> _State:
    """Drops a bound that the value's type cannot hold exactly."""
    if state.bound is None or _fits(state.bound, shape):
        return state
    return replace(state, bound=None)


def _join(states: Sequence[_State]) -> _State:
    if not states:
        return _UNKNOWN
    bounds = [state.bound for state in states]
    known = [bound for bound in bounds if bound is not None]
    return _State(
        max(state.promise for state in states),
        max(known) if len(known) == len(bounds) else None,
        any(state.is_product for state in states),
        any(state.is_narrow for state in states),
        all(state.is_scale for state in states),
    )
