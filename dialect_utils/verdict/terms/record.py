"""Records a module as nodes of a graph: every operation by its definition, without any rewriting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import as_array
from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.control_flow import BODY, CONDITION, MOST_ITERATIONS, is_closed
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, ElementType, Shape, Step, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.layout.proof.reads import origin_of
from dialect_utils.ops import Trait, has, opcode_of, with_trait
from dialect_utils.ops.domain import UndefinedError, static_array
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.rules.formats import is_nan
from dialect_utils.verdict.terms.constants import folded
from dialect_utils.verdict.terms.graph import UNSPECIFIED, Graph
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
from dialect_utils.verdict.terms.loops import LoopRecorder, Program
from dialect_utils.verdict.terms.primitives import CLOSED, OUTERMOST, Primitives, leaves_of, tree_of
from dialect_utils.verdict.terms.scans import Scan
from dialect_utils.verdict.terms.structure import RULES, Tree
from dialect_utils.verdict.terms.wellformed import NOTHING

_EXPANDED = with_trait(Trait.NORMALIZES)
_DEEPEST_CALL = 60


class _Nodes(Primitives[int]):
    """The primitives as nodes, with the values of constants."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder.graph, recorder.applied)
        self.recorder = recorder

    def integers(self, array: int) -> NDArray[np.int64]:
        graph = self.recorder.graph
        kind, label, shape = graph.symbols[array]
        if kind == "splat":
            scalar = self.integers(graph.operands[array][0])
            return np.broadcast_to(scalar, static_array(shape).dimensions)
        if kind != "constant":
            raise UndefinedError("integers that are not constant")
        element_type = static_array(shape).element_type
        data = label.to_bytes(element_type.storage_bytes, "little") if isinstance(label, int) else label
        assert isinstance(data, bytes)  # so constants are recorded
        return as_array(data, element_type, static_array(shape).dimensions).astype("int64")

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[int]) -> int:
        """Returns an elementwise operation; of constant scalars the constant."""
        made = super().each(label, element_type, operands)
        if not self.dimensions(operands[0]):
            self.recorder.fold(made)
        return made

    def move(self, array: int, step: Step, padding: int | None = None) -> int:
        """Returns an array after one more step; a scalar that is read from a constant is that constant."""
        made = super().move(array, step, padding)
        if not self.dimensions(made):
            self.recorder.read(made)
        return made

    def map(self, operation: Operation, function: Function, arrays: Sequence[int]) -> list[int]:
        """Returns the computation's operations on whole arrays, where all of them are elementwise."""
        recorder = self.recorder
        applied = recorder.applied(function)
        sizes = self.dimensions(arrays[0])
        scalars = [ArrayShape(self.element_type(each), ()) for each in arrays]
        found = dict(zip(recorder.parameters_of(applied, scalars), arrays, strict=True))
        return [recorder.lifted(result, found, sizes) for result in recorder.graph.operands[applied]]


@dataclass(slots=True)
class Recorder:
    """One module on a graph. `readings` are those of its loops, `devices` the number of devices that run it.

    Loops of up to `iterations` are unrolled. `claims` are pairs of nodes that must turn out to be equal, `closed` nodes
    that must not depend on a leaf.
    """

    graph: Graph
    devices: Devices = None
    readings: Mapping[Operation, Reading] = field(default_factory=dict)
    iterations: int = MOST_ITERATIONS
    claims: list[tuple[int, int]] = field(default_factory=list)
    closed: list[tuple[int, frozenset[int]]] = field(default_factory=list)
    folds: list[tuple[int, int]] = field(default_factory=list)
    effects: list[int] = field(default_factory=list)
    values: dict[Value, Tree] = field(default_factory=dict)
    scope: tuple[int, ...] = ()
    level: int = OUTERMOST
    _depth: int = 0
    _unwritten: dict[Operation, int] = field(default_factory=dict)
    _bits: dict[int, int] = field(default_factory=dict)
    primitives: _Nodes = field(init=False)

    def __post_init__(self) -> None:
        self.primitives = _Nodes(self)

    def run(self, function: Function, arguments: Sequence[Tree]) -> list[Tree]:
        """Returns the results of a function; raises UndefinedError where calls are nested too deeply."""
        self._depth += 1
        if self._depth > _DEEPEST_CALL:
            raise UndefinedError(f"calls are nested deeper than {_DEEPEST_CALL}")
        if not function.results and not function.operations:
            raise UndefinedError(f"{function.name} has no body")
        self.values.update(zip(function.parameters, arguments, strict=True))
        for operation in function.operations:
            check_deadline()
            self.values.update(zip(operation.results, self._results(operation), strict=True))
        self._depth -= 1
        return [self.values[value] for value in function.results]

    def flat(self, function: Function, leaves: Sequence[int]) -> list[int]:
        """Returns the results of a function of arrays, tuples flattened."""
        rest = iter(leaves)
        arguments = [tree_of(parameter.shape, rest) for parameter in function.parameters]
        return [leaf for tree in self.run(function, arguments) for leaf in leaves_of(tree)]

    # Constants

    def fold(self, node: int) -> None:
        """Notes the constant that an operation on constants is."""
        graph = self.graph
        operands = graph.operands[node]
        known = [bits for bits in map(self.constant_bits, operands) if bits is not None]
        if len(known) < len(operands):
            return
        _, label, shape = graph.symbols[node]
        kinds = [self.primitives.element_type(each) for each in operands]
        bits = folded(label, static_array(shape).element_type, tuple(zip(kinds, known, strict=True)))
        self._note(node, bits)

    def read(self, node: int) -> None:
        """Notes the constant that is read by movement that ends in a scalar."""
        graph, read = self.graph, node
        index: tuple[int, ...] | None = ()
        while isinstance(plan := graph.symbols[read][1], Plan) and not plan.regroups_bits and index is not None:
            array, *scalars = graph.operands[read]
            index = origin_of(plan, index).index
            index, read = ((), scalars[0]) if index is None and scalars else (index, array)
        if graph.symbols[read][0] == "splat":
            (read,) = graph.operands[read]
        self._note(node, None if index is None else self.constant_bits(read))

    def _note(self, node: int, bits: int | None) -> None:
        # The engine chooses the bits of a NaN.
        kind = self.primitives.element_type(node)
        if bits is not None and not is_nan(kind, bits):
            self._bits[node] = bits
            self.folds.append((node, self.primitives.literal(kind, bits, ())))

    def integer(self, node: int) -> int:
        """Returns the value of a constant, at most the largest signed one; raises UndefinedError for other nodes."""
        bits, kind = self.constant_bits(node), self.primitives.element_type(node)
        if bits is None:
            raise UndefinedError("an index is not known")
        is_negative = kind.is_signed and bits >> (kind.bits - 1)
        return bits - (1 << kind.bits) if is_negative else min(bits, np.iinfo(np.int64).max)

    def constant_bits(self, node: int) -> int | None:
        """Returns the bits of a constant, None for other nodes."""
        kind, label, _ = self.graph.symbols[node]
        return label if kind == "constant" and isinstance(label, int) else self._bits.get(node)

    # Operations

    def _results(self, operation: Operation) -> Sequence[Tree]:
        if is_written_in_reverse(operation) or converts_operands(operation):
            return self.opaque(operation)
        opcode = operation.opcode
        rule = RULES.get(opcode)
        operands = [self.values[operand] for operand in operation.operands]
        if returns_operand(operation, self.devices):
            return operands
        if gives_sizes(operation):
            return [self.unspecified()]
        if is_assumed(operation):
            return self.run(operation.called[0], ())
        if rule is not None:
            return rule(self, operation, operands)
        if has(opcode, Trait.PASSES_OPERANDS) and len(operation.called) == 1:
            return self.run(operation.called[0], operands)
        defined = self._defined(operation)
        if defined is not None:
            return defined
        return [self._each(operation, operands)] if is_elementwise(operation) else self.opaque(operation)

    def _defined(self, operation: Operation) -> Sequence[Tree] | None:
        """Returns the operation's definition; None where it has none, or its operands' sizes are not known."""
        known, opcode = opcode_of(operation.opcode), operation.opcode
        if known.define is None or known.has(Trait.ELEMENTWISE):
            return None
        # The definition of rng-bit-generator is thousands of operations.
        is_whole = opcode == "rng-bit-generator" or (known.has(Trait.ENGINE_DEFINED) and opcode not in _EXPANDED)
        if is_whole or is_among_devices(operation) or not is_pure(operation):
            return None
        leaves = [leaf for value in (*counted(operation), *operation.results) for leaf in value.shape.leaves()]
        if not all(isinstance(leaf, ArrayShape) and leaf.is_static for leaf in leaves):
            return None
        arrays = [leaf for operand in operation.operands for leaf in leaves_of(self.values[operand])]
        try:
            return self._trees(operation, known.define(self.primitives, operation, arrays))
        except UndefinedError:
            return None

    def _each(self, operation: Operation, operands: Sequence[Tree]) -> int:
        result = static_array(operation.results[0].shape.without_layout)
        arrays = [leaf for operand in operands for leaf in leaves_of(operand)]
        for index in scalar_operands(operation):
            arrays[index] = self.primitives.splat(arrays[index], result.dimensions)
        if operation.opcode == "convert" and self.primitives.element_type(arrays[0]) == result.element_type:
            return arrays[0]
        return self.primitives.each(elementwise_label(operation), result.element_type, arrays)

    def opaque(self, operation: Operation) -> Sequence[Tree]:
        """Returns the results of an operation without a definition."""
        number = len(self.effects)
        operands = [leaf for operand in counted(operation) for leaf in leaves_of(self.values[operand])]
        functions = [self.function(called) for called in operation.called]
        is_effect = not is_pure(operation) or not operation.results or any(effects for _, effects in functions)
        devices = self.devices if is_among_devices(operation) else None
        found: Hashable = (*self.scope, number) if is_effect else None
        if gives_unwritten_memory(operation):
            # Each call has contents of its own.
            found = ("unwritten", self._unwritten.setdefault(operation, len(self._unwritten)))
        label = (key_of(operation), len(operands), devices, found)
        shapes = [leaf for value in operation.results for leaf in value.shape.without_layout.leaves()]
        made = self.primitives.made(label, TupleShape(tuple(shapes)), [*operands, *(node for node, _ in functions)])
        if is_effect:
            self.effects.append(made)
        return self._trees(operation, [self.graph.make("out", i, shape, (made,)) for i, shape in enumerate(shapes)])

    def _trees(self, operation: Operation, leaves: Sequence[int]) -> list[Tree]:
        rest = iter(leaves)
        return [tree_of(value.shape, rest) for value in operation.results]

    # Bodies whose parameters are variables

    def variables(self, shapes: Sequence[Shape]) -> list[int]:
        """Returns the variables of a body on the level inside of this one."""
        return [self.graph.make("leaf", ("bound", self.level, i), shape) for i, shape in enumerate(shapes)]

    def parameters_of(self, applied: int, shapes: Sequence[Shape]) -> list[int]:
        """Returns the variables that are the parameters of a function."""
        _, label, _ = self.graph.symbols[applied]
        assert isinstance(label, tuple)  # so functions are recorded
        return [self.graph.make("leaf", ("bound", label[1], i), shape) for i, shape in enumerate(shapes)]

    def within(self, part: int, run: Callable[[], list[int]]) -> tuple[list[int], list[int]]:
        """Returns the results of a body and its own effects, on the level inside of this one."""
        outer, scope = self.effects, self.scope
        self.effects, self.scope = [], (*scope, len(outer), part)
        self.level += 1
        try:
            return run(), self.effects
        finally:
            # An operation whose definition fails inside of a body is recorded without it.
            self.effects, self.scope = outer, scope
            self.level -= 1

    def function(self, function: Function) -> tuple[int, list[int]]:
        """Returns the function that an operation applies, and its effects."""
        shapes = [leaf for parameter in function.parameters for leaf in parameter.shape.without_layout.leaves()]
        outer, self.level = self.level, CLOSED if is_closed(function) else self.level
        try:
            variables = self.variables(shapes)
            results, effects = self.within(0, lambda: self.flat(function, variables))
            label = ("function", self.level, tuple(shapes), len(results))
        finally:
            self.level = outer
        return self.primitives.made(label, TupleShape(()), (*results, *effects)), effects

    def applied(self, function: Function) -> int:
        """Returns the function that an operation applies; raises UndefinedError where it has effects."""
        made, effects = self.function(function)
        if effects:
            raise UndefinedError("the function has effects")
        return made

    def lifted(self, node: int, arrays: dict[int, int], sizes: tuple[int, ...]) -> int:
        """Returns an expression of scalars with arrays instead of its variables."""
        if node not in arrays:
            kind, label, shape = self.graph.symbols[node]
            if kind == "constant":
                arrays[node] = self.primitives.splat(node, sizes)
            elif kind != "each":
                raise UndefinedError("the computation of a map is not elementwise")
            else:
                operands = [self.lifted(each, arrays, sizes) for each in self.graph.operands[node]]
                arrays[node] = self.primitives.each(label, static_array(shape).element_type, operands)
        return arrays[node]

    # Control flow

    def branches(self, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
        """Returns the results of all branches, chosen array by array; of one where a constant chooses it."""
        (selector,) = leaves_of(operands[0])
        called = operation.called
        arguments = [[operand] for operand in operands[1:]] or [[] for _ in called]
        bits = self.constant_bits(selector)
        is_truth = self.primitives.element_type(selector).name == "pred"
        if bits is not None:
            chosen = 1 - bits if is_truth else bits if bits < len(called) else len(called) - 1
            return self.run(called[chosen], arguments[chosen])
        label = (*self.scope, len(self.effects))
        leaves = [[leaf for tree in each for leaf in leaves_of(tree)] for each in arguments]
        found = [
            self.within(part, partial(self.flat, function, given))
            for part, (function, given) in enumerate(zip(called, leaves, strict=True))
        ]
        nodes = self.primitives
        effects = [nodes.made(("branch", part), TupleShape(()), made) for part, (_, made) in enumerate(found)]
        is_pure_ = not any(made for _, made in found)
        if not is_pure_:
            self.effects.append(nodes.made(("branches", label), TupleShape(()), (selector, *effects)))
        chosen_ = [
            self._chosen(None if is_pure_ else label, selector, results)
            for results in zip(*(results for results, _ in found), strict=True)
        ]
        return self._trees(operation, chosen_)

    def _chosen(self, label: Hashable, selector: int, results: Sequence[int]) -> int:
        """Returns a result of branches: a select where a truth value chooses one of two arrays."""
        shape, nodes = self.graph.shape(results[0]), self.primitives
        if len({*results}) == 1:
            return results[0]
        if label is None and isinstance(shape, ArrayShape) and nodes.element_type(selector).name == "pred":
            predicate = nodes.splat(selector, shape.dimensions)
            return nodes.each("select", shape.element_type, (predicate, *results))
        return self.graph.make("choice", label, shape, (selector, *results))

    def loop(self, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
        """Returns the results of a `while`."""
        start = [leaf for operand in operands for leaf in leaves_of(operand)]
        condition, body = (operation.called_as(role) for role in (CONDITION, BODY))
        program = Program(partial(self.flat, condition), partial(self.flat, body), body)
        return self._trees(operation, LoopRecorder(self, operation, program).run(start))

    def scan(self, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
        """Returns the results of a `scan`, as those of a loop."""
        try:
            scan = Scan(self.primitives, operation, self.primitives.literal, self.flat)
        except UndefinedError:
            return self.opaque(operation)
        start = scan.start([leaf for operand in operands for leaf in leaves_of(operand)])
        program = Program(scan.tested, scan.ends, scan.function)
        final = LoopRecorder(self, operation, program).run(start)
        results = [final[i] for i in scan.positions()]
        if scan.is_in_any_order:
            results = [self.primitives.in_any_order(each) for each in results]
        return self._trees(operation, results)

    def unspecified(self) -> int:
        """Returns the leaf of undefined padding."""
        return self.graph.make("leaf", UNSPECIFIED, NOTHING)
