"""Whether what devices exchange keeps its dimensions.

Sources: xla/service/shape_inference.cc, xla/service/hlo_verifier.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dialect_utils.hlo import Instruction
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import named

_LISTED_GROUPS = re.compile(r"\{(?:\{[\d,\s]*\}[,\s]*)*\}")
_PAIRS = re.compile(r"\{(?:\{\d+,\d+\}[,\s]*)*\}")
# They give another size in the dimension that they gather or scatter.
_RESIZING = named("all-gather reduce-scatter")


def collective_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why a collective cannot give its shape, or None."""
    opcode = instruction.opcode
    results = shape.elements if isinstance(shape, TupleShape) else (shape,)
    if opcode == "collective-permute" and len(operands) != len(results):
        # The form in place has its buffers and offsets as operands, too.
        return None
    if len(operands) != len(results):
        return f"{opcode} of {', '.join(map(str, operands))} cannot give {shape}"
    if opcode == "all-to-all" and isinstance(shape, ArrayShape) and not instruction.ints("dimensions"):
        return "all-to-all of one array needs a dimension to split"
    along = (instruction.ints("dimensions") or (None,))[0] if opcode in _RESIZING else None
    for operand, result in zip(operands, results, strict=True):
        if not isinstance(operand, ArrayShape) or not isinstance(result, ArrayShape):
            return f"{opcode} is for arrays"
        if not _fits(opcode, operand.dimensions, result.dimensions, along):
            return f"{opcode} of {operand} cannot give {result}"
    return None


def _fits(opcode: str, given: Sequence[int], found: Sequence[int], along: int | None) -> bool:
    if len(given) != len(found):
        return False
    for dim, (before, after) in enumerate(zip(given, found, strict=True)):
        small, large = (before, after) if opcode == "all-gather" else (after, before)
        is_fit = (large % small == 0 and large > 0 if small else large == 0) if dim == along else small == large
        if not is_fit:
            return False
    return True


def find_group_problems(instruction: Instruction) -> Iterator[str]:
    """Yields groups of devices, and pairs of them, that are none."""
    opcode = instruction.opcode
    groups, pairs = instruction.attribute("replica_groups"), instruction.attribute("source_target_pairs")
    if groups is not None and "-" in groups:
        yield f"the replica_groups {groups} of {opcode} name a device below 0"
    elif groups is not None and _LISTED_GROUPS.fullmatch(groups):
        devices = [int(number) for number in re.findall(r"\d+", groups)]
        if sorted(devices) != list(range(len(devices))):
            yield f"the replica_groups {groups} of {opcode} do not name each device once"
    if pairs is not None and not _PAIRS.fullmatch(pairs):
        yield f"the source_target_pairs {pairs} of {opcode} are none"
