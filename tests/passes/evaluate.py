"""Evaluates HLO of data movement and s32 arithmetic with numpy, as an oracle that shares no code with the passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.index.index_map import linear_indices, physical_element_count
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from tests.layout.moves.test_normal_form import move

# The padding of packed arguments, which differs from every test value.
POISON = 987_654

ELEMENTWISE: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "negate": np.negative,
    "copy": np.copy,
}


def evaluate(module: HloModule, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """Returns the entry's results, a tuple flattened."""
    values: dict[Instruction, np.ndarray] = dict(zip(module.entry.parameters, arguments, strict=True))
    for operation in module.entry.operations:
        if operation.opcode != "tuple":
            values[operation] = _evaluate(operation, [values[operand] for operand in operation.operands])
    root = module.entry.root
    returned = root.operands if root.opcode == "tuple" else [root]
    return [values[value] for value in returned]


def _evaluate(operation: Instruction, operands: list[np.ndarray]) -> np.ndarray:
    shape = operation.shape
    assert isinstance(shape, ArrayShape)
    if operation.opcode == "constant":
        assert operation.literal is not None
        return np.array(int(operation.literal))
    if operation.opcode == "broadcast":
        return np.broadcast_to(operands[0], shape.dimensions)
    if operation.opcode == "reduce":
        return np.asarray(operands[0].sum(axis=operation.ints("dimensions")))
    if operation.opcode == "select":
        return np.where(operands[0], operands[1], operands[2])
    if operation.opcode == "compare":
        return operands[0] > operands[1]
    if operation.opcode == "bitcast":
        source = operation.operands[0].shape
        assert isinstance(source, ArrayShape)
        return read_as(operands[0], source, shape)
    if operation.step is None:
        return ELEMENTWISE[operation.opcode](*operands)
    fill = int(operands[1]) if len(operands) > 1 else 0
    return move(operands[0], operation.step, fill)


def read_as(array: np.ndarray, source: ArrayShape, destination: ArrayShape) -> np.ndarray:
    """Returns the array in another layout that the memory of an array holds, by the definition of both."""
    memory = np.full(max(physical_element_count(source), physical_element_count(destination)), POISON)
    memory[linear_indices(source)] = array
    return np.asarray(memory[linear_indices(destination)])


def pack(array: np.ndarray, shape: ArrayShape) -> np.ndarray:
    """Returns the physical array of a tiled shape, with poison padding."""
    return _run(physical_plan(shape), array)


def unpack(array: np.ndarray, shape: ArrayShape) -> np.ndarray:
    """Returns the logical array in a physical one."""
    return _run(physical_plan(shape).inverse(), array)


def _run(plan: Plan, array: np.ndarray) -> np.ndarray:
    for step in plan.steps:
        array = move(array, step, POISON)
    return array
