"""Whether the dimension numbers in the attributes of HLO instructions exist.

XLA's own verifier names them, too; some kill it, and everything here that reads an attribute may
rely on them. Source: xla/service/shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.hlo import Instruction
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops import opcode_of

_FOURIER_RESULT = "IRFFT"


def find_dimension_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where an attribute names a dimension that its array has not."""
    for attribute in opcode_of(instruction.opcode).attributes:
        if attribute.kind == "dimensions":
            operand = attribute.numbers
            numbers = instruction.ints(attribute.name) or ()
            shape = instruction.shape if operand is None else _operand_shape(instruction, operand)
            if isinstance(shape, ArrayShape):
                yield from _outside(instruction.opcode, attribute.name, numbers, shape)
    if instruction.opcode == "fft":
        yield from _fourier_problems(instruction)


def _operand_shape(instruction: Instruction, operand: int) -> Shape | None:
    return instruction.operands[operand].shape if operand < len(instruction.operands) else None


def _outside(opcode: str, attribute: str, numbers: Sequence[int], shape: ArrayShape) -> Iterator[str]:
    for number in numbers:
        if not 0 <= number < shape.rank:
            yield f"{opcode} names dimension {number} in {attribute}, but {shape} has rank {shape.rank}"


def _fourier_problems(instruction: Instruction) -> Iterator[str]:
    """Yields a length of the transform that is not that of the array; the library aborts on it."""
    lengths = instruction.ints("fft_length")
    is_result = instruction.attribute("fft_type") == _FOURIER_RESULT
    shape = instruction.shape if is_result else _operand_shape(instruction, 0)
    if lengths and isinstance(shape, ArrayShape) and shape.dimensions[-len(lengths) :] != lengths:
        yield f"fft of length {list(lengths)} needs these as the last dimensions of {shape}"
