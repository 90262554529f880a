"""Evaluates a module on terms: calls inlined, tuples flattened, each operation by its definition."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.control_flow import MOST_ITERATIONS, is_closed
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, Shape, Step, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.ops import Trait, has, opcode_of, with_trait
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.proof.rules import RULES
from dialect_utils.verdict.proof.terms import Array, GaveUpError, Term, Terms, Tree
from dialect_utils.verdict.proof.wholes import Wholes
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.labels import (
    Devices,
    converts_operands,
    counted,
    elementwise_label,
    gives_sizes,
    gives_unwritten_memory,
    is_among_devices,
    is_assumed,
    is_pure,
    is_written_in_reverse,
    key_of,
    returns_operand,
)
from dialect_utils.verdict.terms.primitives import CLOSED, OUTERMOST, leaves_of, tree_of

NORMS = with_trait(Trait.NORMALIZES)
BATCH_NORM = Rule("batch-norm", "Batch normalization is its decomposition in StableHLO's specification.")

# Nested calls; deeper ones count as recursion.
_DEEPEST_CALL = 60
# Operations evaluated before a proof gives up: bodies count each time they are called. 20,000 instructions are 157,000
# where tiling is expanded, which takes five seconds and 300 MB.
_MOST_OPERATIONS = 160_000


@dataclass(slots=True)
class Evaluation:
    """The values of one module, as terms.

    `devices` is the number of devices that run the module. `plans` lists the plans between a shape and its physical
    array, `earlier_loops` the states of the other module's loops. Loops of up to `iterations` are unrolled. `effects`
    are the operations with side effects, in order; `scope` distinguishes those of one body from those of another.
    `level` is one more than the number of bodies around the current operation whose parameters are variables.
    """

    terms: Terms
    devices: Devices = None
    plans: Mapping[tuple[Shape, Shape], Sequence[Plan]] = field(default_factory=dict)
    earlier_loops: Sequence[tuple[Shape, ...]] = ()
    iterations: int = MOST_ITERATIONS
    loops: list[tuple[Shape, ...]] = field(default_factory=list)
    values: dict[Value, Tree] = field(default_factory=dict)
    effects: list[Term] = field(default_factory=list)
    scope: tuple[int, ...] = ()
    level: int = OUTERMOST
    _depth: int = 0
    _unwritten: dict[Operation, int] = field(default_factory=dict)
    _count: int = 0
    _known_calls: dict[Hashable, list[Tree]] = field(default_factory=dict)
    primitives: Wholes = field(init=False)

    def __post_init__(self) -> None:
        self.primitives = Wholes(self)

    def run(self, function: Function, arguments: Sequence[Tree]) -> list[Tree]:
        """Returns the results of a function for its arguments; raises GaveUpError where that takes too long."""
        self._depth += 1
        if self._depth > _DEEPEST_CALL:
            raise GaveUpError(f"calls are nested deeper than {_DEEPEST_CALL}")
        self.values.update(zip(function.parameters, arguments, strict=True))
        for operation in function.operations:
            self._count += 1
            if self._count > _MOST_OPERATIONS:
                raise GaveUpError(f"there are more than {_MOST_OPERATIONS} operations where calls are inlined")
            check_deadline()
            self.terms.place = operation
            found = self._results(operation)
            self.values.update(zip(operation.results, found, strict=True))
            if not self.terms.side:
                for tree in found:
                    self.terms.computed.extend(leaves_of(tree))
        self._depth -= 1
        return [self.values[value] for value in function.results]

    def call(self, function: Function, arguments: Sequence[Tree]) -> list[Tree]:
        """Returns the results of a function; one without effects is evaluated once for the same arguments."""
        if not function.results and not function.operations:
            raise GaveUpError(f"{function.name} has no body")
        key = (function, tuple(map(self.flat, arguments)), self.level)
        if key not in self._known_calls:
            before = len(self.effects)
            found = self.run(function, arguments)
            if len(self.effects) > before:
                return found
            self._known_calls[key] = found
        return self._known_calls[key]

    def array(self, value: Value) -> Array:
        """Returns a value that is not a tuple."""
        tree = self.values[value]
        assert not isinstance(tree, tuple)  # only tuples are
        return tree

    def term(self, value: Value) -> Term:
        """Returns the term of a value that is not a tuple."""
        return self.terms.term(self.array(value))

    def moved(self, array: Array, steps: Sequence[Step]) -> Array:
        """Returns an array after steps that pad nothing."""
        for step in steps:
            array = self.primitives.move(array, step)
        return array

    def flat(self, tree: Tree) -> tuple[Term, ...]:
        """Returns the terms of a tree's leaves."""
        leaves: Iterator[Array] = leaves_of(tree)
        return tuple(map(self.terms.term, leaves))

    # Operations

    def _results(self, operation: Operation) -> Sequence[Tree]:
        if is_written_in_reverse(operation) or converts_operands(operation):
            return self.opaque(operation)
        if returns_operand(operation, self.devices):
            return [self.values[operation.operands[0]]]
        if gives_sizes(operation):
            return [self.terms.unspecified]
        if is_assumed(operation):
            return self.run(operation.called[0], ())
        rule = RULES.get(operation.opcode)
        if rule is not None:
            return rule(self, operation)
        if has(operation.opcode, Trait.PASSES_OPERANDS) and len(operation.called) == 1:
            return self.call(operation.called[0], [self.values[operand] for operand in operation.operands])
        defined = self._defined(operation)
        if defined is not None:
            return defined
        return [self._each(operation)] if is_elementwise(operation) else self.opaque(operation)

    def _defined(self, operation: Operation) -> Sequence[Tree] | None:
        """Returns the operation's definition on terms; None where it has none, or its operands' sizes are not known.

        An elementwise operation is a term by its own attributes.
        """
        known = opcode_of(operation.opcode)
        if known.define is None or known.has(Trait.ELEMENTWISE):
            return None
        # The definition of rng-bit-generator is thousands of operations, which rewrites leave as they are.
        is_whole = operation.opcode == "rng-bit-generator" or (
            known.has(Trait.ENGINE_DEFINED) and operation.opcode not in NORMS
        )
        if is_whole or is_among_devices(operation) or not is_pure(operation):
            return None
        if not all(map(_is_static, (*counted(operation), *operation.results))):
            return None
        try:
            found = known.define(self.primitives, operation, [self.array(operand) for operand in operation.operands])
        except UndefinedError:
            return None
        if operation.opcode in NORMS:
            self.terms.note(BATCH_NORM)
        return self.trees(operation, found)

    def _each(self, operation: Operation) -> Term:
        result = operation.results[0].shape
        assert isinstance(result, ArrayShape)  # elementwise ops make arrays
        operands = [self.term(operand) for operand in operation.operands]
        for index in scalar_operands(operation):
            operands[index] = self.terms.splat(operands[index], result.dimensions)
        if operation.opcode == "convert" and operands[0].array.element_type == result.element_type:
            return operands[0]
        return self.terms.each(elementwise_label(operation), result.element_type, operands)

    def opaque(self, operation: Operation) -> Sequence[Tree]:
        """Returns the results of an operation without a definition: equal operations on equal operands are equal."""
        number = len(self.effects)
        operands = [term for operand in counted(operation) for term in self.flat(self.values[operand])]
        functions = [self.function(called) for called in operation.called]
        is_effect = not is_pure(operation) or not operation.results or any(effects for _, effects in functions)
        found: Hashable = (*self.scope, number) if is_effect else None
        if gives_unwritten_memory(operation):
            # Each call has contents of its own.
            found = ("unwritten", self._unwritten.setdefault(operation, len(self._unwritten)))
        devices = self.devices if is_among_devices(operation) else None
        label = (key_of(operation), len(operands), devices, found)
        shape = TupleShape(tuple(self.result_shapes(operation)))
        made = self.terms.make("op", label, shape, (*operands, *(function for function, _ in functions)))
        if is_effect:
            self.effects.append(made)
        return self.trees(operation, self.outs(made, list(shape.without_layout.leaves())))

    def result_shapes(self, operation: Operation) -> list[Shape]:
        """Returns the shapes of an operation's results, tuples flattened, without layouts."""
        return [leaf for value in operation.results for leaf in value.shape.without_layout.leaves()]

    def trees(self, operation: Operation, leaves: Sequence[Array]) -> list[Tree]:
        """Returns the results of an operation from their arrays, tuples flattened."""
        rest = iter(leaves)
        return [tree_of(value.shape, rest) for value in operation.results]

    def outs(self, made: Term, shapes: Sequence[Shape]) -> list[Term]:
        """Returns the results of an operation, one for each shape."""
        return [self.terms.make("out", number, shape, (made,)) for number, shape in enumerate(shapes)]

    # Bodies whose parameters are variables

    def variables(self, shapes: Sequence[Shape]) -> list[Term]:
        """Returns the variables of a body on the level inside of this one."""
        return [self.terms.make("leaf", ("bound", self.level, i), shape) for i, shape in enumerate(shapes)]

    def within(self, part: int, run: Callable[[], list[Tree]]) -> tuple[list[Term], list[Term]]:
        """Returns the results of a body and its own effects, evaluated on the level inside of this one."""
        outer, scope = self.effects, self.scope
        self.effects, self.scope = [], (*scope, len(outer), part)
        self.level += 1
        results = [term for tree in run() for term in self.flat(tree)]
        effects = self.effects
        self.effects, self.scope = outer, scope
        self.level -= 1
        return results, effects

    def function(self, function: Function) -> tuple[Term, bool]:
        """Returns the function that an operation applies, and whether it has effects."""
        shapes = [leaf for parameter in function.parameters for leaf in parameter.shape.without_layout.leaves()]
        outer, self.level = self.level, CLOSED if is_closed(function) else self.level
        variables: Iterator[Array] = iter(self.variables(shapes))
        arguments = [tree_of(parameter.shape, variables) for parameter in function.parameters]
        results, effects = self.within(0, lambda: self.run(function, arguments))
        label = ("function", self.level, tuple(shapes), len(results))
        self.level = outer
        return self.terms.make("op", label, TupleShape(()), (*results, *effects)), bool(effects)


def _counted(operation: Operation) -> Sequence[Value]:
    """Returns the operands that affect the value: StableHLO's rng has its dimensions as an operand, too."""
    return operation.operands[:2] if operation.opcode == "rng" else operation.operands


def _is_static(value: Value) -> bool:
    return all(isinstance(leaf, ArrayShape) and leaf.is_static for leaf in value.shape.leaves())
