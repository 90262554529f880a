"""Trip counts of the loops of a schedule, where the text determines them."""

from __future__ import annotations

import re

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.control_flow import BODY, CONDITION
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.schedule import Schedule, runs_called
from dialect_utils.memory.sharing import behind, elements
from dialect_utils.ops import named
from dialect_utils.ops.structured import last_word

_KNOWN = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
# Operations that keep the value of a scalar.
_KEEP_VALUE = named("copy bitcast convert reshape")


def trip_counts(schedule: Schedule) -> dict[Function, int | None]:
    """Returns the executions of each function per execution of the entry, None where a trip count is unknown."""
    counts: dict[Function, int | None] = {}
    for function in reversed(schedule.functions()):
        counts.setdefault(function, 1)
        for operation in function.operations:
            if not runs_called(operation):
                continue
            times = trip_count(operation) if operation.opcode == "while" else 1
            outer = counts[function]
            for called in operation.called:
                counts[called] = outer * times if outer is not None and times is not None else None
    return counts


def trip_count(loop: Operation) -> int | None:
    """Returns the trip count of a loop, or None where it is unknown.

    XLA writes it into the backend_config (`known_trip_count`). In the loops of JAX's `scan` and `fori_loop` a counter
    begins at a constant, grows by a constant, and is compared (LT) with a constant.
    """
    known = _KNOWN.search(loop.attribute("backend_config") or "")
    if known:
        return int(known[1])
    condition, body = loop.called_as(CONDITION), loop.called_as(BODY)
    compare = condition.results[0].operation
    if compare is None or compare.opcode != "compare":
        return None
    if last_word(compare.attribute("direction") or compare.attribute("comparison_direction")) != "LT":
        return None
    counter, bound = _state_index(compare.operands[0], condition), _constant(compare.operands[1], condition, loop)
    if counter is None or bound is None:
        return None
    first, step = _initial(loop, counter), _step(body, counter, loop)
    if first is None or step is None or step <= 0:
        return None
    return max(0, -(-(bound - first) // step))


def _step(body: Function, counter: int, loop: Operation) -> int | None:
    """Returns the constant that one iteration adds to the counter, or None."""
    results = elements(body.results)
    add = results[counter].operation if counter < len(results) else None
    if add is None or add.opcode != "add":
        return None
    for one, other in ((0, 1), (1, 0)):
        if _state_index(add.operands[one], body) == counter:
            return _constant(add.operands[other], body, loop)
    return None


def _state_index(value: Value, function: Function) -> int | None:
    """Returns the index of a value in the loop's state, or None."""
    value = behind(value, _KEEP_VALUE)
    parameters = list(function.parameters)
    if value in parameters:
        return parameters.index(value)
    operation = value.operation
    if operation is None or operation.opcode != "get-tuple-element" or operation.operands[0] not in parameters:
        return None
    return int(operation.attribute("index") or 0)


def _constant(value: Value, function: Function, loop: Operation) -> int | None:
    """Returns the value of a scalar that is a constant or an unchanged element of the loop's state, else None."""
    value = behind(value, _KEEP_VALUE)
    if (bits := _bits(value)) is not None:
        return bits
    index = _state_index(value, function)
    if index is None:
        return None
    body = loop.called_as(BODY)
    results = elements(body.results)
    if index < len(results) and _state_index(results[index], body) == index:
        return _initial(loop, index)
    return None


def _initial(loop: Operation, index: int) -> int | None:
    started = elements(loop.operands)
    return _bits(behind(started[index], _KEEP_VALUE)) if index < len(started) else None


def _bits(value: Value) -> int | None:
    """Returns the integer of a constant scalar, or None."""
    operation, shape = value.operation, value.shape
    if operation is None or not isinstance(shape, ArrayShape) or shape.dimensions:
        return None
    bits = operation.splat_bits
    if bits is None or not (shape.element_type.is_signed or shape.element_type.is_unsigned):
        return None
    is_negative = shape.element_type.is_signed and bits >> (shape.element_type.bits - 1)
    return bits - (1 << shape.element_type.bits) if is_negative else bits
