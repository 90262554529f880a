"""Computes the terms of a module: calls inlined, tuples taken apart, data movement collected."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeGuard

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.elementwise import is_elementwise, scalar_operands
from dialect_utils.verdict.proof.array_ops.table import ARRAY_RULES
from dialect_utils.verdict.proof.attributes.keys import elementwise_label, is_among_devices, is_pure, key_of
from dialect_utils.verdict.proof.rules import INLINED, RULES
from dialect_utils.verdict.proof.terms import Array, GaveUpError, Term, Terms
from dialect_utils.verdict.proof.trees import Tree, leaves_of, tree_of

# Calls within calls; more are taken for recursion.
_DEEPEST_CALL = 60
# Operations evaluated before a proof gives up: bodies count each time they are called. 20,000 instructions are 157,000
# where tiling is expanded, which takes five seconds and 300 MB.
_MOST_OPERATIONS = 160_000


@dataclass(slots=True)
class Evaluation:
    """What the terms of one module need to remember.

    `devices` says how many run it; `plans` are those that may be between a shape and its physical
    array, and `earlier_loops` the states of the other module's loops. `effects` are the operations
    that do more than compute, in order; `scope` tells those of one body from another's, and
    `level` counts the bodies around whose parameters are variables.
    """

    terms: Terms
    devices: Hashable = None
    plans: Mapping[tuple[Shape, Shape], Sequence[Plan]] = field(default_factory=dict)
    earlier_loops: Sequence[tuple[Shape, ...]] = ()
    loops: list[tuple[Shape, ...]] = field(default_factory=list)
    values: dict[Value, Tree] = field(default_factory=dict)
    effects: list[Term] = field(default_factory=list)
    scope: tuple[int, ...] = ()
    level: int = 0
    _depth: int = 0
    _count: int = 0
    _known_calls: dict[Hashable, list[Tree]] = field(default_factory=dict)

    def run(self, function: Function, arguments: Sequence[Tree]) -> list[Tree]:
        """Returns what a function yields for its arguments; raises GaveUpError where that takes too long."""
        self._depth += 1
        if self._depth > _DEEPEST_CALL:
            raise GaveUpError(f"calls are nested deeper than {_DEEPEST_CALL}")
        self.values.update(zip(function.parameters, arguments, strict=True))
        for operation in function.operations:
            self._count += 1
            if self._count > _MOST_OPERATIONS:
                raise GaveUpError(f"there are more than {_MOST_OPERATIONS} operations where calls are inlined")
            self.terms.place = operation
            self.values.update(zip(operation.results, self._results(operation), strict=True))
        self._depth -= 1
        return [self.values[value] for value in function.results]

    def call(self, function: Function, arguments: Sequence[Tree]) -> list[Tree]:
        """Returns what a function yields; what has no effects is evaluated once for the same arguments."""
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
        """Returns a value that is no tuple."""
        tree = self.values[value]
        assert not isinstance(tree, tuple)  # only tuples are
        return tree

    def term(self, value: Value) -> Term:
        """Returns the term of a value that is no tuple."""
        return self.terms.term(self.array(value))

    def flat(self, tree: Tree) -> tuple[Term, ...]:
        """Returns the terms of a tree's leaves."""
        return tuple(map(self.terms.term, leaves_of(tree)))

    # Operations

    def _results(self, operation: Operation) -> Sequence[Tree]:
        if operation.opcode in INLINED and len(operation.called) == 1:
            return self.call(operation.called[0], [self.values[operand] for operand in operation.operands])
        rule = RULES.get(operation.opcode)
        if rule is not None:
            return rule(self, operation)
        array_rule = ARRAY_RULES.get(operation.opcode)
        found = array_rule(self, operation) if array_rule is not None else None
        if found is not None:
            return found
        moved = self._moved(operation)
        if moved is not None:
            return [moved]
        return [self._each(operation)] if is_elementwise(operation) else self.opaque(operation)

    def _moved(self, operation: Operation) -> Array | None:
        """Returns what a movement op makes, or None for other ops and dynamic sizes."""
        step = operation.step
        if step is None:
            return self._bitcast(operation) if operation.opcode == "bitcast" else None
        source, result = operation.operands[0].shape, operation.results[0].shape
        if not _is_static(source) or not _is_static(result):
            return None
        if step.regroups_bits:
            if source.element_type.bits == result.element_type.bits:
                return self.terms.reread(self.term(operation.operands[0]), result.element_type)
            if "pred" in (source.element_type.name, result.element_type.name):
                return None
        padding = self.term(operation.operands[1]) if step.adds_elements else None
        return self.terms.chain(self.array(operation.operands[0])).append(step, padding)

    def _bitcast(self, operation: Operation) -> Array | None:
        """Returns what an HLO bitcast moves, where its layouts say that and it is proved."""
        source, result = operation.operands[0].shape, operation.results[0].shape
        if not _is_static(source) or not _is_static(result):
            return None
        plan = classify_bitcast(source, result).decomposition
        if plan is None or (plan.element_type, plan.result[0]) != (source.element_type, result.element_type):
            return None
        if plan.adds_elements or _rereads_elements(plan):
            return None
        if not _is_proved(source, result):
            return None
        return self.terms.chain(self.array(operation.operands[0])).then(plan.with_padding(None))

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
        """Returns the results of an operation of which only that equal ones are equal is known."""
        number = len(self.effects)
        operands = [term for operand in _counted(operation) for term in self.flat(self.values[operand])]
        functions = [self.function(called) for called in operation.called]
        is_effect = not is_pure(operation) or not operation.results or any(effects for _, effects in functions)
        label = (
            key_of(operation),
            len(operands),
            self.devices if is_among_devices(operation) else None,
            (*self.scope, number) if is_effect else None,
        )
        shape = TupleShape(tuple(self.result_shapes(operation)))
        made = self.terms.make("op", label, shape, (*operands, *(function for function, _ in functions)))
        if is_effect:
            self.effects.append(made)
        return self.trees(operation, self.outs(made, list(shape.without_layout.leaves())))

    def result_shapes(self, operation: Operation) -> list[Shape]:
        """Returns the shapes of what an operation yields, tuples taken apart, without layouts."""
        return [leaf for value in operation.results for leaf in value.shape.without_layout.leaves()]

    def trees(self, operation: Operation, leaves: Sequence[Array]) -> list[Tree]:
        """Returns the arrays that an operation yields as its results."""
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
        variables: Iterator[Array] = iter(self.variables(shapes))
        arguments = [tree_of(parameter.shape, variables) for parameter in function.parameters]
        results, effects = self.within(0, lambda: self.run(function, arguments))
        label = ("function", self.level, tuple(shapes), len(results))
        return self.terms.make("op", label, TupleShape(()), (*results, *effects)), bool(effects)


def _counted(operation: Operation) -> Sequence[Value]:
    """Returns the operands that say more than the result's shape does: of StableHLO's rng not its dimensions."""
    return operation.operands[:2] if operation.opcode == "rng" else operation.operands


@lru_cache(maxsize=4096)
def _is_proved(source: ArrayShape, result: ArrayShape) -> bool:
    # Imported here: it loads isl.
    from dialect_utils.layout.proof.bitcast_proof import prove_bitcast

    return prove_bitcast(source, result).holds


def _is_static(shape: Shape) -> TypeGuard[ArrayShape]:
    return isinstance(shape, ArrayShape) and shape.is_static


def _rereads_elements(plan: Plan) -> bool:
    """Is true where a bitcast-convert keeps the width of elements: each is read as another one."""
    stages = zip(plan.steps, plan.stages, plan.stages[1:], strict=False)
    return any(step.regroups_bits and before[0].bits == after[0].bits for step, before, after in stages)
