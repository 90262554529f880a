"""Whether contractions, slices at indices and the like fit their arrays. Source: xla/service/shape_inference.cc."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import Instruction
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from passes.layouts.verification.inferred import dimension_problem


def dot_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the dimensions of a dot, or None; sparse ones, of more operands, are not looked at."""
    if not all(isinstance(each, ArrayShape) for each in (*operands, shape)):
        return "dot is for arrays"
    if len(operands) != 2:
        return None
    left, right = (operand.dimensions for operand in operands if isinstance(operand, ArrayShape))
    batches = [instruction.ints(f"{side}_batch_dims") or () for side in ("lhs", "rhs")]
    contracted = [instruction.ints(f"{side}_contracting_dims") or () for side in ("lhs", "rhs")]
    for what, (a, b) in (("batch", batches), ("contracting", contracted)):
        if len(a) != len(b):
            return f"dot has {len(a)} {what} dimensions on the left and {len(b)} on the right"
        if any(left[i] != right[j] for i, j in zip(a, b, strict=True) if i < len(left) and j < len(right)):
            return f"dot joins {what} dimensions {list(a)} of {operands[0]} and {list(b)} of {operands[1]}"
    for batch, others in zip(batches, contracted, strict=True):
        if len({*batch, *others}) != len(batch) + len(others):
            return f"dot names a dimension twice: {[*batch, *others]}"
    if not any((*batches, *contracted)):
        # Without numbers it is XLA's product of matrices and vectors of old.
        return None
    return dimension_problem(instruction, shape, operands)


def dynamic_slice_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the sizes or indices of a dynamic-slice, or None."""
    array = operands[0] if operands else None
    sizes = instruction.ints("dynamic_slice_sizes") or ()
    if not isinstance(array, ArrayShape) or not isinstance(shape, ArrayShape):
        return "dynamic-slice is for arrays"
    if shape.dimensions != sizes or len(sizes) != array.rank:
        return f"dynamic-slice of sizes {list(sizes)} of {array} cannot give {shape}"
    if any(size > whole for size, whole in zip(sizes, array.dimensions, strict=True)):
        return f"dynamic-slice takes {list(sizes)} of {array}, which is smaller"
    return _index_problem(instruction, operands[1:], array)


def dynamic_update_slice_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the update or indices of a dynamic-update-slice, or None."""
    if len(operands) < 2:
        return "dynamic-update-slice needs an array and an update"
    array, update = operands[:2]
    if not all(isinstance(each, ArrayShape) for each in (array, update, shape)):
        return "dynamic-update-slice is for arrays"
    assert isinstance(array, ArrayShape)
    assert isinstance(update, ArrayShape)
    assert isinstance(shape, ArrayShape)
    if shape.dimensions != array.dimensions:
        return f"dynamic-update-slice gives dimensions {list(array.dimensions)}, but the shape is {shape}"
    if update.rank != array.rank or any(
        size > whole for size, whole in zip(update.dimensions, array.dimensions, strict=True)
    ):
        return f"dynamic-update-slice puts {update} into {array}, which is smaller"
    return _index_problem(instruction, operands[2:], array)


def _index_problem(instruction: Instruction, indices: Sequence[Shape], array: ArrayShape) -> str | None:
    # One vector of all indices is the form of old.
    if len(indices) == 1 and isinstance(indices[0], ArrayShape) and indices[0].rank == 1:
        return None
    if len(indices) != array.rank or any(not isinstance(each, ArrayShape) or each.rank for each in indices):
        return f"{instruction.opcode} of {array} needs {array.rank} scalar indices"
    return None


def square_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why an op whose first operand must hold square matrices has none, or None."""
    matrix = operands[0]
    if not isinstance(matrix, ArrayShape) or matrix.rank < 2 or matrix.dimensions[-1] != matrix.dimensions[-2]:
        return f"{instruction.opcode} needs square matrices, found {matrix}"
    other = operands[-1]
    if isinstance(shape, ArrayShape) and isinstance(other, ArrayShape) and shape.dimensions != other.dimensions:
        return f"{instruction.opcode} gives dimensions {list(other.dimensions)}, but the shape is {shape}"
    return None


def sort_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why a sort cannot give its shape, or None."""
    results = shape.elements if isinstance(shape, TupleShape) else (shape,)
    given = [each.dimensions if isinstance(each, ArrayShape) else None for each in operands]
    found = [each.dimensions if isinstance(each, ArrayShape) else None for each in results]
    if not given or given != found or len(set(given)) != 1:
        return f"sort of {', '.join(map(str, operands))} cannot give {shape}"
    return None


def same_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why an op that gives arrays of its operands' dimensions does not, or None."""
    for operand in operands:
        if isinstance(operand, ArrayShape) and isinstance(shape, ArrayShape) and operand.dimensions != shape.dimensions:
            return f"{instruction.opcode} of {operand} cannot give {shape}: the dimensions differ"
    return None


def static_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why a set-dimension-size makes no sense: its whole point is a dimension that is not static."""
    return f"set-dimension-size gives a dynamic dimension, but the shape is {shape}"


def random_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the operands of a rng, or None."""
    if len(operands) != 2 or any(not isinstance(each, ArrayShape) or each.rank for each in operands):
        return "rng takes two scalars"
    return None


def top_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why a topk cannot keep so many elements, or give its shape, or None."""
    array = operands[0] if operands else None
    kept = instruction.ints("k") or ()
    if not isinstance(array, ArrayShape):
        return "topk is for arrays"
    if not array.rank or not kept or not 0 < kept[0] <= array.dimensions[-1]:
        return f"topk keeps {kept[0] if kept else 'no'} elements of {array}"
    wanted = (*array.dimensions[:-1], kept[0])
    if any(each.dimensions != wanted for each in shape.arrays()):
        return f"topk gives arrays of dimensions {list(wanted)}, but the shape is {shape}"
    return None


def fourier_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns why an fft cannot give its shape, or None: half of the last dimension where one side is real."""
    array = operands[0]
    lengths = instruction.ints("fft_length") or ()
    if not isinstance(array, ArrayShape) or not isinstance(shape, ArrayShape) or not lengths:
        return "fft is for arrays and needs a length"
    kind, half = instruction.attribute("fft_type"), lengths[-1] // 2 + 1
    last = {"RFFT": half, "IRFFT": lengths[-1]}.get(kind or "", array.dimensions[-1] if array.rank else 0)
    wanted = (*array.dimensions[:-1], last)
    if kind == "IRFFT" and (not array.rank or array.dimensions[-1] != half):
        return f"fft back to {lengths[-1]} real numbers needs {half} complex ones, found {array}"
    return None if shape.dimensions == wanted else f"fft gives dimensions {list(wanted)}, but the shape is {shape}"


def normalization_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the features of a batch normalization, or None."""
    array, *others = operands
    feature = (instruction.ints("feature_index") or (-1,))[0]
    if not isinstance(array, ArrayShape) or not 0 <= feature < array.rank:
        return f"{instruction.opcode} of {array} has no dimension {feature} of features"
    wanted = array.dimensions[feature : feature + 1]
    # The gradient has one more array: that of the output's own gradient.
    is_gradient = instruction.opcode == "batch-norm-grad"
    vectors, arrays = (others[:-1], others[-1:]) if is_gradient else (others, [])
    found = [each.dimensions if isinstance(each, ArrayShape) else None for each in (*vectors, *arrays)]
    if found != [wanted] * len(vectors) + [array.dimensions] * len(arrays):
        return f"{instruction.opcode} of {array} needs {list(wanted)} elements for each feature's numbers"
    return dimension_problem(instruction, shape, operands)
