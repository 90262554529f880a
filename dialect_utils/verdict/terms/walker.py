"""Walks through a module and makes its nodes: calls inlined, tuples flattened, each operation by its definition."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import MOST_ITERATIONS, is_closed, outside_values
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.ops import Trait, has, opcode_of
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.ops.domain import UndefinedError, static_array
from dialect_utils.verdict.rules import Definition
from dialect_utils.verdict.terms.exchanges import Exchange
from dialect_utils.verdict.terms.handlers import HANDLERS
from dialect_utils.verdict.terms.labels import (
    Devices,
    converts_operands,
    counted,
    device_counts,
    elementwise_label,
    gives_sizes,
    gives_unwritten_memory,
    has_undeclared,
    is_among_devices,
    is_assumed,
    is_pure,
    is_written_in_reverse,
    key_of,
    mixed_type,
    returns_operand,
    typed_operands,
)
from dialect_utils.verdict.terms.maker import Maker
from dialect_utils.verdict.terms.orders import order_of
from dialect_utils.verdict.terms.primitives import CLOSED, OUTERMOST, TreeOf, V, leaves_of, tree_of

BATCH_NORM = Definition("batch-norm", "Batch normalization is its decomposition in StableHLO's specification.")
MAP = Definition("map", "A map whose computation is elementwise computes the same on whole arrays, element by element.")

# Nested calls; deeper ones count as recursion.
_DEEPEST_CALL = 60


def walk(
    maker: Maker[V], module: Module, inputs: Sequence[V], iterations: int = MOST_ITERATIONS
) -> tuple[list[V], list[V]]:
    """Returns the results of a module, tuples flattened, and its side effects in order.

    Loops of up to `iterations` are unrolled.
    """
    found = devices_of(module)
    may_have_partitions = bool(found.named) and found.replicas > 1
    walker = Walker(maker, device_counts(module), iterations, may_have_partitions=may_have_partitions)
    return walker.flat(module.entry, inputs), walker.effects


@dataclass(slots=True)
class Walker(Generic[V]):
    """The values of one module, as nodes of a maker.

    `devices` are the numbers of replicas and partitions that run the module; a text that names replicas without a count
    leaves the latter open. Loops of up to `iterations` are unrolled. `effects` are the operations with side effects, in
    order; `scope` identifies the current body. `level` is one more than the nesting depth of bodies whose parameters
    are variables.
    """

    maker: Maker[V]
    devices: Devices
    iterations: int
    effects: list[V] = field(default_factory=list)
    values: dict[Value, TreeOf[V]] = field(default_factory=dict)
    scope: tuple[int, ...] = ()
    level: int = OUTERMOST
    may_have_partitions: bool = False
    _depth: int = 0
    _unwritten: dict[Operation, int] = field(default_factory=dict)
    _calls: dict[Hashable, list[TreeOf[V]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.maker.walker = self

    @property
    def known(self) -> Devices:
        """Returns the numbers of replicas and partitions, None where the latter is open."""
        return None if self.may_have_partitions else self.devices

    # Functions

    def run(self, function: Function, arguments: Sequence[TreeOf[V]]) -> list[TreeOf[V]]:
        """Returns the results of a function; raises UndefinedError where calls are nested too deeply."""
        if self._depth == _DEEPEST_CALL:
            raise UndefinedError(f"calls are nested deeper than {_DEEPEST_CALL}")
        if not function.results and not function.operations:
            raise UndefinedError(f"{function.name} has no body")
        self._depth += 1
        try:
            self.values.update(zip(function.parameters, arguments, strict=True))
            for operation in function.operations:
                check_deadline()
                self.maker.enter(operation)
                found = self._results(operation)
                self.values.update(zip(operation.results, found, strict=True))
                self.maker.leave(found)
            return [self.values[value] for value in function.results]
        finally:
            self._depth -= 1

    def call(self, function: Function, arguments: Sequence[TreeOf[V]]) -> list[TreeOf[V]]:
        """Returns the results of a function; a closed one without effects is walked once for the same arguments."""
        if not is_closed(function):
            return self.run(function, arguments)
        key = (function, tuple(self.leaves(arguments)), self.level)
        if key not in self._calls:
            count = len(self.effects)
            found = self.run(function, arguments)
            if len(self.effects) > count:
                return found
            self._calls[key] = found
        return self._calls[key]

    def flat(self, function: Function, leaves: Sequence[V]) -> list[V]:
        """Returns the results of a function of arrays, tuples flattened."""
        rest = iter(leaves)
        return self.leaves(self.run(function, [tree_of(parameter.shape, rest) for parameter in function.parameters]))

    def leaves(self, trees: Iterable[TreeOf[V]]) -> list[V]:
        """Returns the leaves of trees, each in its form as an operand."""
        return [self.maker.term(leaf) for tree in trees for leaf in leaves_of(tree)]

    def trees(self, operation: Operation, leaves: Iterable[V]) -> list[TreeOf[V]]:
        """Returns the results of an operation from their arrays, tuples flattened."""
        rest = iter(leaves)
        return [tree_of(value.shape, rest) for value in operation.results]

    # Operations

    def _results(self, operation: Operation) -> Sequence[TreeOf[V]]:
        operands = [self.values[operand] for operand in operation.operands]
        is_mixed = converts_operands(operation)
        kind = mixed_type(operation) if is_mixed else None
        if is_written_in_reverse(operation) or (is_mixed and kind is None):
            return self.opaque(operation)
        if kind is not None:
            return self._mixed(operation, operands, kind)
        is_identity = returns_operand(operation, self.known)
        found = operands if is_identity else self.maker.among_devices(operation, operands)
        if found is not None:
            return found
        if gives_sizes(operation):
            return [self.maker.unspecified()]
        if is_assumed(operation):
            return self.run(operation.called[0], ())
        if has_undeclared(operation):
            # It equals only an operation with the same attributes as written.
            return [self._each(operation, operands)] if is_elementwise(operation) else self.opaque(operation)
        if operation.opcode in HANDLERS:
            return HANDLERS[operation.opcode](self, operation, operands)
        if has(operation.opcode, Trait.PASSES_OPERANDS) and len(operation.called) == 1:
            return self.call(operation.called[0], operands)
        defined = self._defined(operation, operands)
        if defined is not None:
            return defined
        return [self._each(operation, operands)] if is_elementwise(operation) else self.opaque(operation)

    def _mixed(self, operation: Operation, operands: Sequence[TreeOf[V]], kind: ElementType) -> Sequence[TreeOf[V]]:
        """Returns the result of an operation of mixed precision, which converts its operands to one type."""
        arrays = list(operands)
        for index in typed_operands(operation):
            (array,) = leaves_of(operands[index])
            arrays[index] = self._in_type(array, kind)
        if not is_elementwise(operation):
            return self._defined(operation, arrays) or self.opaque(operation)
        if operation.opcode == "copy":
            return arrays
        result = static_array(operation.results[0].shape.without_layout)
        computed = self._each(operation, arrays, kind)
        return [self._in_type(computed, result.element_type)]

    def _in_type(self, array: V, kind: ElementType) -> V:
        return array if self.maker.element_type(array) == kind else self.maker.each("convert", kind, [array])

    def _defined(self, operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]] | None:
        """Returns the operation's definition; None where it has none, or its operands' sizes are not known.

        An elementwise operation becomes a node with its attributes.
        """
        known, opcode = opcode_of(operation.opcode), operation.opcode
        if known.define is None or known.has(Trait.ELEMENTWISE):
            return None
        is_norm = known.has(Trait.NORMALIZES)
        # The definition of rng-bit-generator has thousands of operations, and no rewrite changes it.
        is_whole = opcode == "rng-bit-generator" or (known.has(Trait.ENGINE_DEFINED) and not is_norm)
        if is_whole or is_among_devices(operation) or not is_pure(operation):
            return None
        shapes = [leaf for value in (*counted(operation), *operation.results) for leaf in value.shape.leaves()]
        if not all(isinstance(shape, ArrayShape) and shape.is_static for shape in shapes):
            return None
        arrays = [leaf for operand in operands for leaf in leaves_of(operand)]
        try:
            found = known.define(self.maker, operation, arrays)
        except UndefinedError:
            return None
        if is_norm:
            self.maker.note(BATCH_NORM)
        # Each sum of a batch normalization is in an order of its own.
        order = None if is_norm else order_of(operation)
        if order is not None:
            found = [self.maker.in_any_order(each, order) for each in found]
        return self.trees(operation, found)

    def _each(self, operation: Operation, operands: Sequence[TreeOf[V]], kind: ElementType | None = None) -> V:
        result = static_array(operation.results[0].shape.without_layout)
        arrays = self.leaves(operands)
        for index in scalar_operands(operation):
            arrays[index] = self.maker.splat(arrays[index], result.dimensions)
        label = elementwise_label(operation)
        if label == "convert" and self.maker.element_type(arrays[0]) == result.element_type:
            return arrays[0]
        return self.maker.each(label, kind or result.element_type, arrays)

    def opaque(self, operation: Operation) -> Sequence[TreeOf[V]]:
        """Returns the results of an operation without a definition, as an unknown function of its operands."""
        number = len(self.effects)
        operands = self.leaves(self.values[operand] for operand in counted(operation))
        functions = [self.function(called) for called in operation.called]
        is_effect = not is_pure(operation) or not operation.results or any(effects for _, effects in functions)
        found: Hashable = (*self.scope, number) if is_effect else None
        if gives_unwritten_memory(operation):
            # Each call returns different memory.
            found = ("unwritten", self._unwritten.setdefault(operation, len(self._unwritten)))
        devices = self.devices if is_among_devices(operation) else None
        label = (key_of(operation), len(operands), devices, found)
        shapes = [leaf for value in operation.results for leaf in value.shape.without_layout.leaves()]
        made = self.maker.make("op", label, TupleShape(tuple(shapes)), [*operands, *(node for node, _ in functions)])
        if is_effect:
            self.effects.append(made)
        return self.trees(operation, self.maker.outs(made, shapes))

    def exchanged(self, functions: Sequence[V], part: Exchange, arrays: Sequence[V]) -> list[V]:
        """Returns the results of one exchange of a collective operation that applies `functions`."""
        label = (part.key, len(arrays), self.devices, None)
        made = self.maker.make("op", label, TupleShape(part.shapes), (*arrays, *functions))
        return self.maker.outs(made, part.shapes)

    # Bodies whose parameters are variables

    def variables(self, shapes: Sequence[Shape]) -> list[V]:
        """Returns the variables of a body, at the current level."""
        return [self.maker.make("leaf", ("bound", self.level, i), shape) for i, shape in enumerate(shapes)]

    def within(self, part: int, run: Callable[[], Sequence[V]]) -> tuple[list[V], list[V]]:
        """Returns the results and effects of a body, which `run` walks one level deeper."""
        outer, scope = self.effects, self.scope
        self.effects, self.scope = [], (*scope, len(outer), part)
        self.level += 1
        try:
            return [self.maker.term(each) for each in run()], self.effects
        finally:
            # Restore the state even on failure: the caller then makes a node without the definition.
            self.effects, self.scope = outer, scope
            self.level -= 1

    def function(self, function: Function) -> tuple[V, list[V]]:
        """Returns the function that an operation applies, and its effects."""
        shapes = [leaf for parameter in function.parameters for leaf in parameter.shape.without_layout.leaves()]
        # A constant from outside is as good as one inside.
        is_constant = all(map(_is_constant, outside_values(function)))
        outer, self.level = self.level, CLOSED if is_constant else self.level
        try:
            variables = self.variables(shapes)
            results, effects = self.within(0, lambda: self.flat(function, variables))
            label = ("function", self.level, tuple(shapes), len(results))
        finally:
            self.level = outer
        return self.maker.make("op", label, TupleShape(()), (*results, *effects)), effects

    def applied(self, function: Function) -> V:
        """Returns the function that an operation applies; raises UndefinedError where it has effects."""
        made, effects = self.function(function)
        if effects:
            raise UndefinedError("the function has effects")
        return made

    def mapped(self, function: Function, arrays: Sequence[V]) -> list[V]:
        """Returns the results of a function of scalars on whole arrays, where all its operations are elementwise."""
        if len(arrays) != len(function.parameters):
            raise UndefinedError("the computation of a map has other parameters")
        sizes = self.maker.dimensions(arrays[0])
        # A value from outside is one scalar at every index.
        values = {each: self.maker.term(*leaves_of(self.values[each])) for each in outside_values(function)}
        if any(static_array(self.maker.shape(each)).dimensions for each in values.values()):
            raise UndefinedError("the computation of a map uses an array")
        values = {each: self.maker.splat(scalar, sizes) for each, scalar in values.items()}
        values.update(zip(function.parameters, arrays, strict=True))
        for operation in function.operations:
            if operation.opcode != "tuple":
                values[operation.results[0]] = self._on_arrays(operation, values, sizes)
        results = list(function.results)
        if len(results) == 1 and results[0].operation is not None and results[0].operation.opcode == "tuple":
            results = list(results[0].operation.operands)
        self.maker.note(MAP)
        return [values[result] for result in results]

    def _on_arrays(self, operation: Operation, values: Mapping[Value, V], sizes: tuple[int, ...]) -> V:
        """Applies an operation on scalars to whole arrays."""
        bits = operation.splat_bits
        if bits is not None:
            return self.maker.literal(static_array(operation.results[0].shape).element_type, bits, sizes)
        is_opaque = is_written_in_reverse(operation) or converts_operands(operation) or has_undeclared(operation)
        if is_opaque or not is_elementwise(operation) or not values.keys() >= {*operation.operands}:
            raise UndefinedError("the computation of a map is not elementwise")
        operands = [values[operand] for operand in operation.operands]
        return operands[0] if operation.opcode == "copy" else self._each(operation, operands)


def _is_constant(value: Value) -> bool:
    return value.operation is not None and value.operation.opcode == "constant"
