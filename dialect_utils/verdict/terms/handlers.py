"""Operations that become nodes without a definition: tuples, constants, asynchronous ops, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

from dialect_utils.execution.constants import contents, contents_of_leaves, repeated_bits
from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.control_flow import BODY, CONDITION
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.ops import by_opcode, opcode_of
from dialect_utils.ops.collectives import wraps_operands
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.rules import Definition
from dialect_utils.verdict.terms.exchanges import by_phase, exchange_of, function_of, is_exchange, is_sum, trees
from dialect_utils.verdict.terms.loops import Loop, Scan
from dialect_utils.verdict.terms.primitives import TreeOf, V

if TYPE_CHECKING:
    from dialect_utils.verdict.terms.walker import Walker

KNOWN_BRANCH = Definition("known-branch", "A conditional on a constant runs one branch.")
SCAN = Definition("scan", "A scan is the loop over the slices of its inputs that calls its function on each.")


def _element(_: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    tree, index = operands[0], operation.ints("index")
    if not isinstance(tree, tuple) or index is None:
        raise UndefinedError("an element is taken from an array")
    if index[0] >= len(tree):
        raise UndefinedError(f"element {index[0]} is taken from a tuple of {len(tree)}")
    return [tree[index[0]]]


def _constant(walker: Walker[V], operation: Operation, _: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    shape, bits = operation.results[0].shape.without_layout, operation.splat_bits
    if isinstance(shape, TupleShape):
        return _constant_tuple(walker, operation)
    if not isinstance(shape, ArrayShape):
        return walker.opaque(operation)
    if bits is not None:
        return [walker.maker.literal(shape.element_type, bits, shape.dimensions)]
    data = contents(operation)
    return walker.opaque(operation) if data is None else [walker.maker.make("constant", data, shape)]


def _constant_tuple(walker: Walker[V], operation: Operation) -> Sequence[TreeOf[V]]:
    """Returns a tuple of constants, array by array."""
    contents, maker = contents_of_leaves(operation), walker.maker
    if contents is None:
        return walker.opaque(operation)
    found = []
    for shape, data in zip(operation.results[0].shape.without_layout.arrays(), contents, strict=True):
        bits = repeated_bits(data, shape.element_type)
        if bits is None:
            found.append(maker.make("constant", data, shape))
        else:
            found.append(maker.literal(shape.element_type, bits, shape.dimensions))
    return walker.trees(operation, found)


# Asynchronous operations and collectives


def _with_contexts(walker: Walker[V], operation: Operation, *parts: TreeOf[V]) -> TreeOf[V]:
    """Returns the tuple of a start operation: operands, results, and contexts, which hold no values."""
    shape = operation.results[0].shape
    count = len(shape.elements) if isinstance(shape, TupleShape) else 0
    return (*parts, *[walker.maker.unspecified()] * (count - len(parts)))


def _async_start(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    (called,) = operation.called
    if len(operands) < len(called.parameters):
        return _waiting(walker, operation)
    (result,) = walker.call(called, operands)
    return [_with_contexts(walker, operation, tuple(operands), result)]


def _waiting(walker: Walker[V], operation: Operation) -> Sequence[TreeOf[V]]:
    """Returns the state of a call that still lacks operands, which its updates add: the state holds no result."""
    return walker.trees(operation, repeat(walker.maker.unspecified()))


def _late_call(operation: Operation) -> tuple[Function, Sequence[Value]] | None:
    """Returns the function and all operands of a start whose updates add operands; None for other starts.

    `operation` is an update, or the done.
    """
    late: list[Value] = []
    while operation.opcode in ("async-update", "async-done"):
        late[:0] = operation.operands[1:]
        before = operation.operands[0].operation
        if before is None:
            return None
        operation = before
    is_late = operation.opcode == "async-start" and len(operation.operands) < len(operation.called[0].parameters)
    return (operation.called[0], [*operation.operands, *late]) if is_late else None


def _async_done(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    call = _late_call(operation)
    if call is None:
        return _done(walker, operation, operands)
    called, given = call
    is_complete = len(given) == len(called.parameters)
    return walker.call(called, [walker.values[each] for each in given]) if is_complete else walker.opaque(operation)


def _done(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    begun, position = operands[0], opcode_of(operation.opcode).started
    if position is None and not wraps_operands(operation.operands[0].shape):
        return operands[:1]
    return [begun[1 if position is None else position]] if isinstance(begun, tuple) else walker.opaque(operation)


def _update(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    if len(operands) == 1:
        return operands
    if _late_call(operation) is not None:
        return _waiting(walker, operation)
    # Further operands of a start that has all may change the result.
    return walker.opaque(operation)


def _exchange(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    """Returns the results of a collective operation, exchanged array by array, or of its start."""
    called, maker = [walker.function(each) for each in operation.called], walker.maker
    if not is_exchange(operation) or any(effects for _, effects in called):
        return walker.opaque(operation)
    arrays, functions = walker.leaves(operands), [function for function, _ in called]
    if is_sum(operation):
        functions = [function_of(maker, maker.each, "add", maker.element_type(arrays[0]))]
    exchange = exchange_of(operation, walker.known)
    found = exchange.results(maker, arrays, partial(maker.exchange, operation, functions))
    return trees(operation, operands, found, maker.unspecified())


def _bitcast(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    """Returns the data movement of an HLO bitcast by its layouts, if that is proved."""
    from dialect_utils.layout.proof.bitcast_proof import proved_movement

    plan, (array,) = proved_movement(operation.operands[0].shape, operation.results[0].shape), operands
    if plan is None or isinstance(array, tuple):
        return walker.opaque(operation)
    for step in plan.steps:
        array = walker.maker.move(array, step)
    return [array]


# Control flow


def _conditional(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    """Returns a choice between the branches for each result, or the branch that a constant selects."""
    (selector,), maker, branches = walker.leaves(operands[:1]), walker.maker, operation.called
    is_truth = maker.element_type(selector).name == "pred"
    arguments = [[operand] for operand in operands[1:]] or [[] for _ in branches]
    bits = maker.constant_bits(selector)
    if bits is not None:
        # A constant out of range selects the last branch.
        chosen = 1 - bits if is_truth else min(bits, len(branches) - 1)
        maker.note(KNOWN_BRANCH)
        return walker.run(branches[chosen], arguments[chosen])
    label = (*walker.scope, len(walker.effects))
    found = [
        walker.within(part, partial(walker.flat, function, walker.leaves(given)))
        for part, (function, given) in enumerate(zip(branches, arguments, strict=True))
    ]
    effects = [maker.make("op", ("branch", part), TupleShape(()), made) for part, (_, made) in enumerate(found)]
    has_effects = any(made for _, made in found)
    if has_effects:
        walker.effects.append(maker.make("op", ("branches", label), TupleShape(()), (selector, *effects)))
    chosen_ = []
    for results in zip(*(results for results, _ in found), strict=True):
        is_select = is_truth and not has_effects and isinstance(maker.shape(results[0]), ArrayShape)
        chosen_.append(
            maker.select(selector, results)
            if is_select
            else maker.choice(label if has_effects else None, selector, results)
        )
    return walker.trees(operation, chosen_)


def _while(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    """Returns the results of a `while`."""
    start = walker.leaves(operands)
    condition, body = (operation.called_as(role) for role in (CONDITION, BODY))
    test, step = partial(walker.flat, condition), partial(walker.flat, body)
    return walker.trees(operation, Loop(walker, operation, test, step, body, range(len(start))).run(start))


def _scan(walker: Walker[V], operation: Operation, operands: Sequence[TreeOf[V]]) -> Sequence[TreeOf[V]]:
    """Returns the results of a `scan`, as a loop over slices."""
    maker = walker.maker
    try:
        scan = Scan(maker, operation, walker.flat)
    except UndefinedError:
        return walker.opaque(operation)
    loop = Loop(walker, operation, scan.tested, scan.ends, scan.function, scan.positions())
    results = loop.run([maker.term(each) for each in scan.start(walker.leaves(operands))])
    maker.note(SCAN)
    if scan.is_in_any_order:
        results = [maker.in_any_order(each, "scan") for each in results]
    return walker.trees(operation, results)


Handler = Callable[["Walker[Any]", Operation, Sequence[TreeOf[Any]]], Sequence[TreeOf[Any]]]


# One handler for each operation that has no definition on arrays.
HANDLERS: Mapping[str, Handler] = by_opcode(
    {
        **by_phase(_exchange, _done, _update),
        "add-dependency": lambda _, __, operands: operands[:1],
        "async-done": _async_done,
        "async-start": _async_start,
        "async-update": _update,
        "bitcast": _bitcast,
        "conditional": _conditional,
        "constant": _constant,
        "copy": lambda _, __, operands: operands[:1],
        "copy-done": _done,
        "copy-start": lambda walker, operation, operands: [_with_contexts(walker, operation, operands[0], operands[0])],
        "domain": lambda _, __, operands: operands[:1],
        "get-tuple-element": _element,
        "opt-barrier": lambda _, __, operands: operands,
        "scan": _scan,
        "tuple": lambda _, __, operands: [tuple(operands)],
        "while": _while,
    }
)
