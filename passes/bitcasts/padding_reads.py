"""Follows elements that come from padding through a module to the operations that read them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dialect_utils.hlo import Instruction
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.reads import origins
from dialect_utils.ops import Trait, has

Mask = NDArray[np.bool_]

_BYTE = ELEMENT_TYPES["u8"]


def first_reader(value: Instruction, mask: Mask) -> Instruction | None:
    """Returns an instruction that reads elements of `value` that `mask` marks, or None if no instruction does.

    Data movement and elementwise ops forward marks; any other op, and the ROOT, is a reader.
    """
    waiting = [(value, mask)]
    while waiting:
        current, marked = waiting.pop()
        if not marked.any():
            continue
        if current.is_root:
            return current
        for user in current.users:
            carried = _carried(user, current, marked)
            if carried is None:
                return user
            waiting.append((user, carried))
    return None


def _carried(user: Instruction, value: Instruction, marked: Mask) -> Mask | None:
    """Returns the marks of a user's result, or None if the user is a reader."""
    if not isinstance(user.shape, ArrayShape):
        return None
    dimensions = user.shape.dimensions
    if has(user.opcode, Trait.ELEMENTWISE):
        return marked if marked.shape == dimensions else np.broadcast_to(marked.any(), dimensions)
    if user.opcode == "broadcast":
        shape = [1] * len(dimensions)
        for size, dim in zip(marked.shape, user.ints("dimensions") or (), strict=True):
            shape[dim] = size
        return np.broadcast_to(marked.reshape(shape), dimensions)
    if user.opcode == "reverse":
        return np.flip(marked, user.ints("dimensions") or ())
    if user.opcode == "concatenate":
        parts = [marked if each is value else np.zeros(array_shape(each).dimensions, bool) for each in user.operands]
        return np.concatenate(parts, axis=(user.ints("dimensions") or (0,))[0])
    step = user.step
    if step is None or step.regroups_bits or value is not user.operands[0] or value in user.operands[1:]:
        return None
    found = origins(Plan(_BYTE, marked.shape, (step,)), _BYTE.bits)[..., 0]
    marks = np.append(marked, False)  # The last one is that of padding.
    return np.asarray(marks[found])
