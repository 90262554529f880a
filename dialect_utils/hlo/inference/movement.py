"""Shapes of data movement (ShapeInference::InferTransposeShape, InferPadShape, InferConcatOpShape and the like)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dialect_utils.hlo.inference.model import ShapeError, Written, array, arrays, dims_of, made, wider
from dialect_utils.hlo.steps import step_of_attributes
from dialect_utils.layout import ArrayShape, Shape, Transpose


def one_step(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the result of an operation that is one step of data movement."""
    operand, step = array(operands[0], what), step_of_attributes(what)
    if step is None:
        raise ShapeError(f"{what.opcode} of {operand} needs its attributes")
    try:
        element_type, dimensions = step.result(*operand.type_and_dimensions)
    except ValueError as error:
        raise ShapeError(str(error)) from None
    if step.adds_elements:
        element_type = wider(element_type, array(operands[1], what).element_type)
    if isinstance(step, Transpose):
        # The bytes stay where they are (ShapeUtil::PermuteDimensions).
        order = operand.with_effective_layout.layout
        assert order is not None  # it is written now
        moved = tuple(step.permutation.index(dim) for dim in order.minor_to_major)
        return ArrayShape(element_type, tuple(dimensions), replace(order, minor_to_major=moved))
    return made(element_type, dimensions)


def first_operand(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of the first operand."""
    return operands[0]


def second_operand(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of the second operand."""
    return operands[1]


def first_array(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of the first operand, which has to be an array."""
    if not operands:
        raise ShapeError(f"{what.opcode} needs an array")
    return array(operands[0], what)


def broadcast(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns what XLA infers for a broadcast without a shape: the sizes in `dimensions`, then the operand's own."""
    operand = array(operands[0], what)
    return made(operand.element_type, (*(what.ints("dimensions") or ()), *operand.dimensions))


def concatenate(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operands' dimensions with the sizes along one of them added up."""
    along = what.ints("dimensions")
    found = arrays(operands, what)
    if not along or not found or not 0 <= along[0] < found[0].rank:
        raise ShapeError("concatenate needs a dimension that its operands have")
    dim, first = along[0], found[0].dimensions
    for operand in found:
        others = operand.dimensions
        if others[:dim] + others[dim + 1 :] != first[:dim] + first[dim + 1 :]:
            raise ShapeError(f"concatenate of {found[0]} and {operand}: the dimensions other than {dim} differ")
    total = sum(operand.dimensions[dim] for operand in found)
    return made(found[0].element_type, (*first[:dim], total, *first[dim + 1 :]))


def dynamic_slice(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the sizes in `dynamic_slice_sizes`."""
    operand, sizes = array(operands[0], what), what.ints("dynamic_slice_sizes")
    if sizes is None or len(sizes) != operand.rank:
        raise ShapeError(f"dynamic-slice of {operand} needs one size for each dimension in dynamic_slice_sizes")
    return made(operand.element_type, sizes)


def gather(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the batch dimensions of the indices, with those of a slice put in at `offset_dims`."""
    operand, indices = arrays(operands[:2], what)
    sizes = what.ints("slice_sizes") or ()
    vector = (what.ints("index_vector_dim") or (indices.rank,))[0]
    if len(sizes) != operand.rank or not 0 <= vector <= indices.rank:
        raise ShapeError(f"gather of {operand} by {indices} needs one size for each dimension in slice_sizes")
    gone = {
        *dims_of(what, "collapsed_slice_dims", operand.rank),
        *dims_of(what, "operand_batching_dims", operand.rank),
    }
    windows = [size for dim, size in enumerate(sizes) if dim not in gone]
    batch = [size for dim, size in enumerate(indices.dimensions) if dim != vector]
    rank = len(windows) + len(batch)
    offsets = dims_of(what, "offset_dims", rank)
    if len(offsets) != len(windows):
        raise ShapeError(f"gather has {len(offsets)} offset_dims for {len(windows)} dimensions of a slice")
    rest_of_windows, rest_of_batch = iter(windows), iter(batch)
    dimensions = [next(rest_of_windows) if dim in offsets else next(rest_of_batch) for dim in range(rank)]
    return made(operand.element_type, dimensions)
