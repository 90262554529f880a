"""Results that the GPU compiler may write over an operand that nothing reads later.

Sources: xla/hlo/analysis/hlo_dataflow_analysis.cc (CanShareOperandBufferWithUser), xla/service/gpu/alias_info.cc and
nvptx_alias_info.cc. What must be written over an operand is in `sharing`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.sharing import behind
from dialect_utils.ops import IN_PLACE, Trait, has

# A product that is added to its third operand; the factor of that operand is not zero.
_LT_PRODUCT, _BETA = "__cublas$lt$matmul", re.compile(r'"beta":([\d.e+-]+)')
# A value, and an index path into its tuples.
Position = tuple[Value, tuple[int, ...]]


def may_overwrite(read: Position, written: Position) -> bool:
    """Is true where the operation that makes the array `written` may write it over its operand, the array `read`."""
    (operand, path), (result, index), user = read, written, written[0].operation
    if user is None or user.opcode == "copy" or operand not in (operands := list(user.operands)):
        return False
    before, after, number = operand.shape.at(path), result.shape.at(index), operands.index(operand)
    assert isinstance(before, ArrayShape)
    assert isinstance(after, ArrayShape)
    if user.opcode == "custom-call":
        beta = _BETA.search(user.attribute("backend_config") or "")
        is_added = user.callee == _LT_PRODUCT and beta is not None and float(beta[1]) != 0
        return is_added and number == 2 and operands.count(operand) == 1 and index == (0,)
    if user.opcode == "fusion":
        is_equal = before.element_type.storage_bits == after.element_type.storage_bits
        return is_equal and before.element_count == after.element_count and _in_step(user, number, index)
    if user.opcode == "sort":
        return before == after and len(operand.users) == 1 and index in ((), (number,))
    return before == after and _keeps_place(user, operand)


def _keeps_place(user: Operation, operand: Value) -> bool:
    """Is true for an operation that reads each element of an operand where it writes the result's."""
    return has(user.opcode, Trait.ELEMENTWISE) or (user.opcode in IN_PLACE and user.operands[0] == operand)


def _in_step(fusion: Operation, number: int, path: Sequence[int]) -> bool:
    """Is true for a fusion that reads each element of a parameter before it writes the result at that place."""
    body = fusion.called[0]
    parameter, made = body.parameters[number], body.results[0].operation
    if made is not None and made.opcode == "sort":
        return made.operands[path[0] if path else 0] == parameter
    roots = made.operands if made is not None and made.opcode == "tuple" else body.results
    # A reduction is computed first; what follows it may overwrite what it reads.
    ends = (behind(each, ("bitcast",)).operation for each in roots if fusion.attribute("kind") == "kInput")
    reduction = next((each for each in ends if each is not None and each.opcode == "reduce"), None)
    queue = [parameter]
    for value in queue:
        for user in value.users:
            is_step = user.opcode != "copy" and _keeps_place(user, value)
            if not is_step and user.opcode not in ("bitcast", "tuple") and user != reduction:
                return False
            queue += [each for each in user.results if each not in queue and user != reduction]
    return roots[path[0] if path else 0] in queue
