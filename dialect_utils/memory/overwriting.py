"""Results that the GPU compiler may write over an operand that nothing reads later.

Sources: xla/hlo/analysis/hlo_dataflow_analysis.cc (CanShareOperandBufferWithUser), xla/service/gpu/alias_info.cc and
nvptx_alias_info.cc. What must be written over an operand is in `sharing`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.sharing import behind
from dialect_utils.ops import IN_PLACE, Trait, has

# A product that is added to its third operand; the factor of that operand is not zero.
_LT_PRODUCT, _BETA = "__cublas$lt$matmul", re.compile(r'"beta":([\d.e+-]+)')
# A value, and an index path into its tuples.
Position = tuple[Value, tuple[int, ...]]


def may_overwrite(read: Position, written: Position) -> bool:
    """Is true where the operation that makes `written` may write it over its operand `read`."""
    (operand, path), user = read, written[0].operation
    if user is None or user.opcode == "copy" or operand not in (operands := list(user.operands)):
        return False
    number, is_constant = (
        operands.index(operand),
        operand.operation is not None and operand.operation.opcode == "constant",
    )
    before, after = operand.shape.at(path), written[0].shape.at(written[1])
    if is_constant or not isinstance(before, ArrayShape) or not isinstance(after, ArrayShape):
        return False
    if user.opcode == "custom-call":
        beta = _BETA.search(user.attribute("backend_config") or "")
        is_added = user.callee == _LT_PRODUCT and beta is not None and float(beta[1]) != 0
        return is_added and number == 2 and operands.count(operand) == 1 and written[1] == (0,)
    if user.opcode == "fusion":
        is_equal = before.element_type.storage_bits == after.element_type.storage_bits
        return is_equal and before.element_count == after.element_count and _in_step(user, number, written[1])
    if before != after:
        return False
    if user.opcode == "sort":
        return len(operand.users) == 1 and written[1] in ((), (number,))
    return user.opcode in ("while", "conditional") or _keeps_place(user, operand)


def _keeps_place(user: Operation, operand: Value) -> bool:
    """Is true for an operation that reads each element of an operand where it writes the result's."""
    return has(user.opcode, Trait.ELEMENTWISE) or (user.opcode in IN_PLACE and user.operands[0] == operand)


def _in_step(fusion: Operation, number: int, path: Sequence[int]) -> bool:
    """Is true for a fusion that reads each element of a parameter before it writes the result at that place."""
    body = fusion.called[0]
    parameter, roots = body.parameters[number], _roots(body)
    root = roots[path[0] if len(roots) > 1 else 0]
    made = behind(root, ("bitcast",)).operation
    if made is not None and made.opcode == "sort":
        return made.operands[path[0] if path else 0] == parameter
    # A reduction is computed first; what follows it may overwrite what it reads.
    ends = (behind(each, ("bitcast",)).operation for each in roots if fusion.attribute("kind") == "kInput")
    reduction = next((each for each in ends if each is not None and each.opcode == "reduce"), None)
    reached = {parameter: None}
    queue = [parameter]
    for value in queue:
        if reduction is not None and value.operation == reduction:
            continue
        for user in value.users:
            is_step = user.opcode != "copy" and _keeps_place(user, value)
            if not is_step and user.opcode not in ("bitcast", "tuple") and user != reduction:
                return False
            queue += [each for each in user.results if each not in reached]
            reached.update(dict.fromkeys(user.results))
    is_alone = all(each == root or each not in reached for each in roots)
    return root in reached and (is_alone or made is None or has(made.opcode, Trait.ELEMENTWISE))


def _roots(body: Function) -> Sequence[Value]:
    made = body.results[0].operation
    if made is not None and made.opcode == "tuple":
        return made.operands
    return [body.results[0]]
