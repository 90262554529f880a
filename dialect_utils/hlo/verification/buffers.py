"""Whether mutable buffers, `b(f32[4])`, are written once. Source: xla/service/hlo_verifier.cc (VerifyBuffers)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.layout import BufferShape, Shape
from dialect_utils.ops import START, Trait, with_trait
from dialect_utils.ops.control import BUFFER_CALLS, aliases_of
from dialect_utils.ops.inference import Instance, ShapeError
from dialect_utils.text import Diagnostic

_Place = tuple[int, tuple[int, ...]]
# Opcodes that pass buffers on without writing them.
_FORWARDING = with_trait(Trait.TUPLES) | {"parameter", "opt-barrier"}


def find_buffer_problems(module: HloModule) -> Iterator[Diagnostic]:
    """Yields buffers that several instructions write, or that a call takes and does not return."""
    for computation in module.computations:
        writers: dict[tuple[Instruction, tuple[int, ...]], Instruction] = {}
        for instruction in computation.instructions:
            taken = _buffers_taken(instruction)
            if not taken and not any(True for _ in _buffers_in(instruction.shape)):
                continue
            try:
                _check_returned(instruction, taken)
                _check_writers(instruction, taken, writers)
            except ShapeError as error:
                yield Diagnostic(f"{instruction.name}: {error}", instruction.locate(error.part))


def _buffers_in(shape: Shape) -> Iterator[tuple[int, ...]]:
    return (path for path, leaf in shape.leaves_by_path() if isinstance(leaf, BufferShape))


def _buffers_taken(instruction: Instruction) -> list[_Place]:
    operands = enumerate(instruction.operands)
    return [(number, path) for number, operand in operands for path in _buffers_in(operand.shape)]


def _check_returned(instruction: Instruction, taken: list[_Place]) -> None:
    """Raises ShapeError unless a call returns each buffer that it takes once, and no other one."""
    is_call = instruction.opcode == "custom-call" and instruction.callee not in BUFFER_CALLS
    if not is_call and not instruction.opcode.endswith(START):
        return
    instance = Instance(instruction, [each.shape for each in instruction.operands], shape=instruction.shape)
    aliases = list(aliases_of(instance))
    returned = Counter((number, inside) for _, number, inside in aliases)
    for place in taken:
        number, path = place
        if returned[place] > 1:
            message = f"buffer is used in results multiple times: operand {number}, index {list(path)}"
            raise ShapeError(message, "output_to_operand_aliasing")
        if not returned[place]:
            message = f"buffer is used in operands but not in results: operand {number}, index {list(path)}"
            raise ShapeError(message, "operands")
    if instruction.opcode == "custom-call":
        outputs = {path for path, _, _ in aliases}
        for path in _buffers_in(instruction.shape):
            if path not in outputs:
                raise ShapeError(f"buffer is used in results but not in operands: index {list(path)}", "shape")


def _check_writers(
    instruction: Instruction, taken: list[_Place], writers: dict[tuple[Instruction, tuple[int, ...]], Instruction]
) -> None:
    """Raises ShapeError where an instruction writes, or unpins, a buffer that another one has written."""
    if instruction.opcode in _FORWARDING:
        return
    for number, path in taken:
        value = _origin(instruction.operands[number], path)
        other = writers.setdefault(value, instruction)
        if other is not instruction:
            message = (
                f"an HLO buffer value has more than one writers (or unpins): %{other.name} and %{instruction.name}"
            )
            raise ShapeError(message, "operands")


def _origin(value: Instruction, path: tuple[int, ...]) -> tuple[Instruction, tuple[int, ...]]:
    """Returns the instruction that gives a buffer, and the index of the buffer in its result."""
    while value.opcode in ("tuple", "get-tuple-element"):
        if value.opcode == "get-tuple-element":
            value, path = value.operands[0], ((value.ints("index") or (0,))[0], *path)
        elif not path:
            break
        else:
            value, path = value.operands[path[0]], path[1:]
    return value, path
