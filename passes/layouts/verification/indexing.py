"""Whether the dimension numbers of gather and scatter fit their arrays.

Source: xla/service/shape_inference.cc, ValidateGatherDimensionNumbers and ValidateScatterDimensionNumbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.hlo import Instruction
from dialect_utils.layout import ArrayShape, Shape
from passes.layouts.verification.inferred import dimension_problem


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What the dimension numbers of a gather or scatter have in common.

    `gone` are the dimensions of the array that no window has, `batched` those that also the indices have;
    `mapped` are those that the vectors of indices are for.
    """

    opcode: str
    array: ArrayShape
    indices: ArrayShape
    vector: int
    gone: tuple[int, ...]
    batched: tuple[int, ...]
    batched_indices: tuple[int, ...]
    mapped: tuple[int, ...]

    @property
    def batch(self) -> list[int]:
        """Returns the sizes of the indices' dimensions that hold no vectors."""
        return [size for dim, size in enumerate(self.indices.dimensions) if dim != self.vector]

    def problem(self) -> str | None:
        """Returns what is wrong whatever is done at the indices, or None."""
        sizes, opcode = self.indices.dimensions, self.opcode
        if not 0 <= self.vector <= self.indices.rank:
            return f"{opcode} has its indices in dimension {self.vector} of {self.indices}"
        length = sizes[self.vector] if self.vector < self.indices.rank else 1
        if len(self.mapped) != length:
            return f"{opcode} has {length} indices at a time for {len(self.mapped)} dimensions"
        for dims in (self.gone, self.batched):
            if list(dims) != sorted(set(dims)):
                return f"{opcode} names dimensions out of order: {list(dims)}"
        if len(set(self.mapped)) < len(self.mapped) or {*self.gone} & {*self.batched}:
            return f"{opcode} names a dimension twice"
        return self._batching_problem()

    def _batching_problem(self) -> str | None:
        theirs = self.batched_indices
        if len(theirs) != len(self.batched) or len(set(theirs)) < len(theirs) or self.vector in theirs:
            return (
                f"{self.opcode} joins the dimensions {list(self.batched)} of an array and {list(theirs)} of its indices"
            )
        for ours, other in zip(self.batched, theirs, strict=True):
            if not 0 <= other < self.indices.rank or self.array.dimensions[ours] != self.indices.dimensions[other]:
                return f"{self.opcode} joins dimension {ours} of {self.array} and {other} of {self.indices}"
        return None


def _ints(instruction: Instruction, name: str) -> tuple[int, ...]:
    return instruction.ints(name) or ()


def _vector(instruction: Instruction) -> int:
    return (*_ints(instruction, "index_vector_dim"), -1)[0]


def gather_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the slices, the numbers or the result of a gather, or None."""
    array, indices = operands
    if not (isinstance(array, ArrayShape) and isinstance(indices, ArrayShape) and isinstance(shape, ArrayShape)):
        return "gather is for arrays"
    gone, batched = (_ints(instruction, name) for name in ("collapsed_slice_dims", "operand_batching_dims"))
    joined, mapped = (_ints(instruction, name) for name in ("start_indices_batching_dims", "start_index_map"))
    sizes = _ints(instruction, "slice_sizes")
    if len(sizes) != array.rank or any(
        not 0 <= size <= whole for size, whole in zip(sizes, array.dimensions, strict=True)
    ):
        return f"gather takes slices of {list(sizes)} from {array}"
    if any(not 0 <= dim < array.rank for dim in (*gone, *batched, *mapped)):
        # The dimensions have a rule of their own, which names the attribute.
        return None
    if any(sizes[dim] > 1 for dim in (*gone, *batched)):
        return f"gather takes slices of {list(sizes)}, which are larger than 1 in dimensions {[*gone, *batched]}"
    numbers = _Numbers("gather", array, indices, _vector(instruction), gone, batched, joined, mapped)
    offsets = _ints(instruction, "offset_dims")
    if list(offsets) != sorted(offsets):
        return f"gather names dimensions out of order: {list(offsets)}"
    return numbers.problem() or dimension_problem(instruction, shape, operands)


def scatter_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why a scatter cannot give its shape, or what is wrong with its numbers or updates, or None."""
    count = (len(operands) - 1) // 2
    given = [array.dimensions for operand in operands[:count] for array in operand.arrays()]
    found = [array.dimensions for array in shape.arrays()]
    if count < 1 or len(operands) != 2 * count + 1 or given != found:
        return f"scatter into {', '.join(map(str, operands[:count]))} cannot give {shape}"
    indices, updates = operands[count], operands[count + 1 :]
    arrays = [each for each in (*operands[:count], *updates) if isinstance(each, ArrayShape)]
    if len(arrays) != 2 * count or not isinstance(indices, ArrayShape):
        return "scatter is for arrays"
    if any(len({each.dimensions for each in part}) != 1 for part in (arrays[:count], arrays[count:])):
        return f"scatter of arrays whose dimensions differ: {', '.join(map(str, operands))}"
    return _scattered_problem(instruction, arrays[0], indices, arrays[-1])


def _scattered_problem(
    instruction: Instruction, array: ArrayShape, indices: ArrayShape, update: ArrayShape
) -> str | None:
    gone, batched = (_ints(instruction, name) for name in ("inserted_window_dims", "input_batching_dims"))
    joined, mapped = (
        _ints(instruction, name) for name in ("scatter_indices_batching_dims", "scatter_dims_to_operand_dims")
    )
    if any(not 0 <= dim < array.rank for dim in (*gone, *batched, *mapped)):
        return None
    numbers = _Numbers("scatter", array, indices, _vector(instruction), gone, batched, joined, mapped)
    problem = numbers.problem()
    if problem is not None:
        return problem
    windowed = _ints(instruction, "update_window_dims")
    if list(windowed) != sorted(set(windowed)) or any(not 0 <= dim < update.rank for dim in windowed):
        return f"scatter has its windows in dimensions {list(windowed)} of {update}"
    rest = [size for dim, size in enumerate(update.dimensions) if dim not in windowed]
    if rest != numbers.batch:
        return f"scatter has {rest} updates in {update} for {numbers.batch} indices in {indices}"
    largest = [size for dim, size in enumerate(array.dimensions) if dim not in (*gone, *batched)]
    sizes = [update.dimensions[dim] for dim in windowed]
    if len(sizes) != len(largest) or any(size > most for size, most in zip(sizes, largest, strict=True)):
        return f"scatter puts windows of {sizes} where {array} has {largest}"
    return None
