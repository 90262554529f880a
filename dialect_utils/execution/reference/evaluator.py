"""Walks a module of either dialect and computes every value: control flow here, all else by definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dialect_utils.execution.arrays import Array
from dialect_utils.execution.constants import as_array, contents
from dialect_utils.execution.reference.domain import Bits, FlushedBits
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import BODY, CONDITION
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.layout.arrays.dtypes import bits_scalar, dtype_of
from dialect_utils.ops import START, UPDATE, Trait, by_opcode, has, opcode_of, split_asynchronous
from dialect_utils.ops.domain import UndefinedError, static_array
from dialect_utils.ops.inference import same_sizes
from dialect_utils.text import Diagnostic, DiagnosticError

# An array, a tuple of values, or None for a token.
Held = Any
# Operations of scalars that also work element by element on arrays of scalars.
_PLAIN = ("tuple", "get-tuple-element", "constant")


class UnsupportedOperationError(DiagnosticError):
    """Raised at an operation whose value the definitions do not give."""


def evaluate(module: Module, inputs: Sequence[Array], *, flushes: bool = False) -> list[Array]:
    """Returns the entry's results, tuples flattened, of inputs in parameter order, tuples flattened.

    `flushes`: arithmetic counts subnormal numbers as zeros. Raises UnsupportedOperationError for an operation without
    a definition and for shapes that are not static.
    """
    entry = module.entry
    rest = iter(inputs)
    arguments = [_nested(parameter.shape, rest) for parameter in entry.parameters]
    evaluator = Evaluator(FlushedBits if flushes else Bits, has_captures=module.dialect == "stablehlo")
    found = evaluator.call(entry, arguments)
    return [leaf for value in found for leaf in _leaves(value)]


def _nested(shape: Shape, leaves: Any) -> Held:
    if isinstance(shape, TupleShape):
        return tuple(_nested(element, leaves) for element in shape.elements)
    return next(leaves) if isinstance(shape, ArrayShape) else None


def _leaves(value: Held) -> list[Array]:
    if isinstance(value, tuple):
        return [leaf for element in value for leaf in _leaves(element)]
    return [] if value is None else [value]


@dataclass(frozen=True, slots=True)
class _Body:
    """The operations of a function in order, with their operands and results, and the values that die at each."""

    function: Function
    steps: tuple[tuple[Operation, str, tuple[Value, ...], tuple[Value, ...], tuple[Value, ...]], ...]
    results: tuple[Value, ...]
    is_elementwise: bool


@dataclass(frozen=True, slots=True)
class _Retyped:
    """The operation that an asynchronous start wraps: the start with the shape of the wrapped result."""

    operation: Operation
    opcode: str
    shape: Shape

    @property
    def results(self) -> tuple[_Retyped, ...]:
        """Returns the one result, of the shape."""
        return (self,)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.operation, name)


@dataclass(frozen=True, slots=True)
class _Started:
    """An asynchronous operation that is not done, and the operands that it has got."""

    operation: Operation
    operands: tuple[Held, ...]


class Evaluator:
    """One evaluation of a module."""

    def __init__(self, domain: type[Bits], *, has_captures: bool) -> None:
        # Is true where a region may use values of the function around it.
        self._has_captures = has_captures
        self.domain = domain(self.apply, self._call_flat)
        self._bodies: dict[Function, _Body] = {}
        # Values of the functions around a region, which the region may use.
        self._scopes: list[dict[Value, Held]] = [{}]
        # The dimensions of the arrays whose elements a function of scalars is applied to.
        self._sizes: tuple[int, ...] = ()

    def call(self, function: Function, arguments: Sequence[Held]) -> list[Held]:
        """Returns the results of a function."""
        return self._run(self._body(function), arguments)

    def apply(self, function: Function, arrays: Sequence[Array]) -> list[Array]:
        """Returns a function of the elements at each index of arrays of the same dimensions."""
        body = self._body(function)
        sizes = arrays[0].shape
        if body.is_elementwise:
            return [np.broadcast_to(value, sizes) for value in _flat(self._run_on_arrays(body, arrays))]
        flat = [array.reshape(-1) for array in arrays]
        rows = [_flat(self.call(function, [array[i] for array in flat])) for i in range(flat[0].size)]
        if not rows:
            kinds = [leaf.element_type for value in function.results for leaf in value.shape.arrays()]
            return [np.empty(sizes, dtype_of(kind)) for kind in kinds]
        return [np.array(column, column[0].dtype).reshape(sizes) for column in zip(*rows, strict=True)]

    def _run_on_arrays(self, body: _Body, arrays: Sequence[Array]) -> list[Held]:
        """Returns the results of a function of scalars, computed on arrays of them."""
        outer, self._sizes = self._sizes, arrays[0].shape
        try:
            return self._run(body, arrays)
        finally:
            self._sizes = outer

    def _call_flat(self, function: Function, arguments: Sequence[Held]) -> list[Array]:
        return _flat(self.call(function, arguments))

    def _run(self, body: _Body, arguments: Sequence[Held]) -> list[Held]:
        known: dict[Value, Held] = dict(zip(body.function.parameters, arguments, strict=True))
        self._scopes.append(known)
        try:
            for operation, opcode, operands, results, dying in body.steps:
                found = self._placed(operation, opcode, [self._value(operand) for operand in operands])
                known.update(zip(results, found, strict=True))
                for value in dying:
                    known.pop(value, None)
            return [self._value(value) for value in body.results]
        finally:
            self._scopes.pop()

    def _value(self, value: Value) -> Held:
        for scope in reversed(self._scopes):
            if value in scope:
                return scope[value]
        raise UndefinedError(f"{value.name} has no value")

    def _body(self, function: Function) -> _Body:
        if function not in self._bodies:
            self._bodies[function] = self._read(function)
        return self._bodies[function]

    def _read(self, function: Function) -> _Body:
        results = tuple(function.results)
        last: dict[Value, int] = {}
        listed = [(each, each.opcode, tuple(each.operands), tuple(each.results)) for each in function.operations]
        has_regions = self._has_captures and any(each.called for each, *_ in listed)
        for number, (_, _, operands, made) in enumerate(listed):
            last.update(dict.fromkeys((*made, *operands), number))
        dying: dict[int, list[Value]] = {}
        for value, number in last.items():
            if value not in results and not has_regions:
                dying.setdefault(number, []).append(value)
        steps = tuple((*each, tuple(dying.get(number, ()))) for number, each in enumerate(listed))
        return _Body(function, steps, results, all(map(self._is_elementwise, (each for each, *_ in listed))))

    def _is_elementwise(self, operation: Operation) -> bool:
        """Is true where a function of scalars may run once on arrays of scalars."""
        opcode = operation.opcode
        if opcode == "call":
            return self._body(operation.called[0]).is_elementwise
        return has(opcode, Trait.ELEMENTWISE) or opcode in _PLAIN

    def _placed(self, operation: Operation, opcode: str, operands: list[Held]) -> Sequence[Held]:
        """Returns an operation's values; raises UnsupportedOperationError, at the operation, where it has none."""
        try:
            return self._compute(operation, opcode, operands)
        except UndefinedError as error:
            raise UnsupportedOperationError(Diagnostic(str(error), operation.location)) from error

    def _compute(self, operation: Operation, opcode: str, operands: list[Held]) -> Sequence[Held]:
        special = _CONTROL.get(opcode)
        if special is not None:
            values: Sequence[Held] = special(self, operation, operands)
            return values
        base, phase = split_asynchronous(opcode)
        if phase:
            return [self._asynchronous(operation, base, phase, operands)]
        define = opcode_of(opcode).define
        if define is None:
            raise UndefinedError(f"{opcode} has no definition")
        found = self._typed(operation, define(self.domain, operation, operands))
        if len(operation.results) == 1 and isinstance(operation.results[0].shape, TupleShape):
            return [tuple(found)]
        return list(found)

    def _typed(self, operation: Operation, found: Sequence[Array]) -> list[Array]:
        """Returns results in their element types: XLA allows a reduction in f32 whose result is bf16.

        Raises UndefinedError where the dimensions are not those of the type. A scalar may be an array of scalars.
        """
        shapes = [leaf for value in operation.results for leaf in value.shape.arrays()]
        for shape, array in zip(shapes, found, strict=True):
            is_spread = not shape.rank and array.shape == self._sizes
            if not is_spread and not same_sizes(shape.dimensions, array.shape):
                given = list(array.shape)
                raise UndefinedError(f"{operation.opcode} gives the dimensions {given}, but its shape is {shape}")
        return [
            self.domain.each("convert", shape.element_type, [array]) for shape, array in zip(shapes, found, strict=True)
        ]

    def _asynchronous(self, operation: Operation, base: str, phase: str, operands: list[Held]) -> Held:
        """Returns the value of an asynchronous operation: a record of its operands until `done`, which computes it."""
        if phase == START:
            return _Started(operation, tuple(operands))
        started = operands[0]
        if phase == UPDATE:
            return _Started(started.operation, (*started.operands, *operands[1:]))
        if started.operation.called and base in ("async", "call", "fusion"):
            return self.call(started.operation.called[0], started.operands)[0]
        wrapped: Any = _Retyped(started.operation, base, operation.results[0].shape)
        return self._compute(wrapped, base, list(started.operands))[0]

    def run_loop(self, operation: Operation, operands: list[Held]) -> Sequence[Held]:
        """Returns the state after a loop."""
        state = operands
        while bool(self.call(operation.called_as(CONDITION), state)[0]):
            state = self.call(operation.called_as(BODY), state)
        return state

    def run_branch(self, operation: Operation, operands: list[Held]) -> Sequence[Held]:
        """Returns the results of the branch that operand 0 chooses."""
        index, functions = operands[0], operation.called
        # True runs the first branch; an index out of range the last one.
        number = int(not index) if index.dtype == np.bool_ else int(index)
        number = number if 0 <= number < len(functions) else len(functions) - 1
        return self.call(functions[number], operands[number + 1 : number + 2] if len(operands) > 1 else [])

    def run_call(self, operation: Operation, operands: list[Held]) -> Sequence[Held]:
        """Returns the results of the called function."""
        return self.call(operation.called[0], operands)


def _flat(values: Sequence[Held]) -> list[Array]:
    return [leaf for value in values for leaf in _leaves(value)]


def _constant(evaluator: Evaluator, operation: Operation, operands: list[Held]) -> Sequence[Held]:
    shape = operation.results[0].shape
    if isinstance(shape, TupleShape):
        raise UndefinedError("a constant is a tuple")
    array = static_array(shape)
    bits = operation.splat_bits
    if bits is not None:
        return [np.full(array.dimensions, bits_scalar(bits, dtype_of(array.element_type)))]
    data = b"" if 0 in array.dimensions else contents(operation)
    if data is None:
        raise UndefinedError("the text of a constant does not hold its elements")
    return [as_array(data, array.element_type, array.dimensions)]


def _element(evaluator: Evaluator, operation: Operation, operands: list[Held]) -> Sequence[Held]:
    [index] = operation.ints("index") or (0,)
    return [operands[0][index]]


def _forward(evaluator: Evaluator, operation: Operation, operands: list[Held]) -> Sequence[Held]:
    return operands[: len(operation.results)]


# Control flow, tuples and constants; all else is defined with the operations.
_CONTROL: Mapping[str, Any] = by_opcode(
    {
        "add-dependency": _forward,
        "after-all": lambda evaluator, operation, operands: [None],
        "call": Evaluator.run_call,
        "conditional": Evaluator.run_branch,
        "constant": _constant,
        "domain": _forward,
        "fusion": Evaluator.run_call,
        "get-tuple-element": _element,
        "opt-barrier": _forward,
        "stablehlo.composite": Evaluator.run_call,
        "tuple": lambda evaluator, operation, operands: [tuple(operands)],
        "while": Evaluator.run_loop,
    }
)
