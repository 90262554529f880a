"""Tuples, constants, asynchronous operations and branches: how a recorder records operations without a definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from dialect_utils.execution.constants import contents, contents_of_leaves, repeated_bits
from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import by_opcode, opcode_of
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.terms.exchanges import (
    Exchange,
    by_phase,
    exchange_of,
    function_of,
    is_exchange,
    is_sum,
    trees,
)
from dialect_utils.verdict.terms.primitives import TreeOf, leaves_of, tree_of

if TYPE_CHECKING:
    from dialect_utils.verdict.certificate import Reading
    from dialect_utils.verdict.terms.record import Recorder


Tree: TypeAlias = TreeOf[int]


def check_reading(reading: Reading, shapes: Sequence[Shape]) -> None:
    """Raises UndefinedError for a reading that does not fit a state of these shapes."""
    listed = [*reading.order, *reading.changed]
    is_fitting = len(reading.plans) == len(shapes) and all(type(i) is int and 0 <= i < len(shapes) for i in listed)
    is_fitting &= all(len({*each}) == len(each) for each in (reading.order, reading.changed))
    for plan, shape in zip(reading.plans, shapes, strict=False):
        if plan is not None:
            # Only a pad may drop elements, where its edges are negative.
            is_fitting &= not plan.drops_elements and all(getattr(step, "only_adds", True) for step in plan.steps)
            is_fitting &= ArrayShape(*plan.result) == shape
    if not is_fitting:
        raise UndefinedError("the reading of a loop does not fit its state")


def _element(_: Recorder, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
    tree, index = operands[0], operation.ints("index")
    if not isinstance(tree, tuple) or index is None or index[0] >= len(tree):
        raise UndefinedError("an element is taken from what has none")
    return [tree[index[0]]]


def _constant(recorder: Recorder, operation: Operation, _: Sequence[Tree]) -> Sequence[Tree]:
    shape, bits = operation.results[0].shape, operation.splat_bits
    if isinstance(shape, TupleShape):
        return _constant_tuple(recorder, operation)
    if not isinstance(shape, ArrayShape):
        return recorder.opaque(operation)
    if bits is not None:
        return [recorder.primitives.literal(shape.element_type, bits, shape.dimensions)]
    data = contents(operation)
    if data is None:
        return recorder.opaque(operation)
    return [recorder.graph.make("constant", data, shape.without_layout)]


def _constant_tuple(recorder: Recorder, operation: Operation) -> Sequence[Tree]:
    """Returns a tuple of constants, array by array."""
    contents = contents_of_leaves(operation)
    if contents is None:
        return recorder.opaque(operation)
    found = []
    for shape, data in zip(operation.results[0].shape.without_layout.arrays(), contents, strict=True):
        bits = repeated_bits(data, shape.element_type)
        if bits is None:
            found.append(recorder.graph.make("constant", data, shape))
        else:
            found.append(recorder.primitives.literal(shape.element_type, bits, shape.dimensions))
    return [tree_of(operation.results[0].shape, iter(found))]


def _with_contexts(recorder: Recorder, operation: Operation, *parts: Tree) -> Tree:
    """Returns the result of a start operation: the parts, and contexts, which hold no values."""
    shape = operation.results[0].shape
    count = len(shape.elements) if isinstance(shape, TupleShape) else 0
    return (*parts, *[recorder.unspecified()] * (count - len(parts)))


def _async_start(recorder: Recorder, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
    (called,) = operation.called
    (result,) = recorder.run(called, operands)
    return [_with_contexts(recorder, operation, tuple(operands), result)]


def _done(recorder: Recorder, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
    begun, position = operands[0], opcode_of(operation.opcode).started
    if position is None:
        return operands[:1]
    return [begun[position]] if isinstance(begun, tuple) else recorder.opaque(operation)


def _update(recorder: Recorder, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
    # An update may give operands that the start lacks.
    return operands if len(operands) == 1 else recorder.opaque(operation)


def _exchange(recorder: Recorder, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
    """Returns the results of a collective operation, exchanged array by array, or of its start."""
    functions = [recorder.function(called) for called in operation.called]
    if not is_exchange(operation) or any(effects for _, effects in functions):
        return recorder.opaque(operation)
    exchange, arrays = exchange_of(operation, recorder.devices), [leaf for tree in operands for leaf in leaves_of(tree)]
    nodes = recorder.primitives
    applied = [node for node, _ in functions]
    if is_sum(operation):
        applied = [function_of(recorder.graph, nodes.each, "add", nodes.element_type(arrays[0]))]

    def make(part: Exchange, given: Sequence[int]) -> list[int]:
        label = (part.key, len(given), recorder.devices, None)
        made = nodes.made(label, TupleShape(part.shapes), (*given, *applied))
        return [recorder.graph.make("out", i, shape, (made,)) for i, shape in enumerate(part.shapes)]

    return trees(operation, operands, exchange.results(nodes, arrays, make), recorder.unspecified())


def _bitcast(recorder: Recorder, operation: Operation, operands: Sequence[Tree]) -> Sequence[Tree]:
    """Returns the movement that an HLO bitcast's layouts stand for, where that is proved."""
    # Imported here: it loads isl.
    from dialect_utils.layout.proof.bitcast_proof import proved_movement

    source, result = operation.operands[0].shape, operation.results[0].shape
    plan = proved_movement(source, result)
    if plan is None or not isinstance(operands[0], int):
        return recorder.opaque(operation)
    moved = operands[0]
    for step in plan.steps:
        moved = recorder.primitives.move(moved, step)
    return [moved]


Rule = Callable[["Recorder", Operation, Sequence[Tree]], Sequence[Tree]]


# One rule for each opcode that is recorded in a way of its own.
RULES: Mapping[str, Rule] = by_opcode(
    {
        **by_phase(_exchange, _done, _update),
        "add-dependency": lambda _, __, operands: operands[:1],
        "async-done": _done,
        "async-start": _async_start,
        "async-update": _update,
        "bitcast": _bitcast,
        "conditional": lambda recorder, operation, operands: recorder.branches(operation, operands),
        "constant": _constant,
        "copy": lambda _, __, operands: operands[:1],
        "copy-done": _done,
        "copy-start": lambda recorder, operation, operands: [
            _with_contexts(recorder, operation, operands[0], operands[0])
        ],
        "domain": lambda _, __, operands: operands[:1],
        "get-tuple-element": _element,
        "opt-barrier": lambda _, __, operands: operands,
        "scan": lambda recorder, operation, operands: recorder.scan(operation, operands),
        "tuple": lambda _, __, operands: [tuple(operands)],
        "while": lambda recorder, operation, operands: recorder.loop(operation, operands),
    }
)
