"""Shapes of windows, reductions and products (ShapeInference::InferReduceShape, InferDotOpShape and the like)."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo.inference.elementwise import pair, part
from dialect_utils.hlo.inference.model import (
    ShapeError,
    Written,
    array,
    arrays,
    dims_of,
    element_of,
    made,
    wider,
)
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops.window import WindowDimension, parse_labels, parse_window


def reduce(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the dimensions that are left, with the element types that the computation returns."""
    found = _reduced(what, operands)
    removed = dims_of(what, "dimensions", found[0].rank)
    wanted = [size for dim, size in enumerate(found[0].dimensions) if dim not in removed]
    return _each(found, wanted, called)


def _reduced(what: Written, operands: Sequence[Shape]) -> list[ArrayShape]:
    count = len(operands) // 2
    if not count or len(operands) % 2:
        raise ShapeError(f"{what.opcode} takes as many initial values as arrays")
    found = arrays(operands[:count], what)
    if any(each.dimensions != found[0].dimensions for each in found):
        listed = ", ".join(map(str, found))
        raise ShapeError(f"{what.opcode} of arrays whose dimensions differ: {listed}")
    return found


def _each(found: Sequence[ArrayShape], dimensions: Sequence[int], called: Sequence[Shape]) -> Shape:
    results = [made(element_of(called, i, each.element_type), dimensions) for i, each in enumerate(found)]
    return results[0] if len(results) == 1 else TupleShape(tuple(results))


def reduce_window(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns how many windows fit into each dimension."""
    found = _reduced(what, operands)
    window = window_of(what, found[0].rank)
    sizes = [positions(size, dim) for size, dim in zip(found[0].dimensions, window, strict=True)]
    return _each(found, sizes, called)


def window_of(what: Written, rank: int) -> tuple[WindowDimension, ...]:
    """Returns the window of an operation, one entry for each of `rank` dimensions; raises ShapeError."""
    text = what.attribute("window")
    try:
        window = parse_window(text, rank)
    except ValueError:
        raise ShapeError(f"{what.opcode} has window={text}, but moves it over {rank} dimensions") from None
    if len(window) != rank or any(dim.size < 1 or dim.stride < 1 for dim in window):
        raise ShapeError(f"{what.opcode} has window={text}, but moves it over {rank} dimensions")
    return window


def positions(size: int, window: WindowDimension) -> int:
    """Returns at how many places a window fits into one padded, dilated dimension."""
    base = (size - 1) * window.lhs_dilation + 1 if size else 0
    reach = (window.size - 1) * window.rhs_dilation + 1
    padded = base + window.low + window.high
    return (padded - reach) // window.stride + 1 if padded >= reach else 0


def scatter(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shapes of the arrays that are scattered into."""
    count = len(operands) // 2
    if len(operands) % 2 == 0 or not count:
        raise ShapeError("scatter takes arrays, indices, and one update for each array")
    found = arrays(operands[:count], what)
    return found[0] if count == 1 else TupleShape(tuple(found))


def convolution(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns batch, features and the windows that fit, where `dim_labels` says."""
    lhs, rhs = arrays(operands, what)
    text = what.attribute("dim_labels")
    try:
        labels = parse_labels(text or "")
    except ValueError as error:
        raise ShapeError(str(error)) from None
    rank = len(labels.lhs_spatial)
    if not lhs.rank == rhs.rank == len(labels.out_spatial) + 2 == rank + 2:
        raise ShapeError(f"convolution of {lhs} and {rhs} has dim_labels {text}")
    window = window_of(what, rank)
    batches = (what.ints("batch_group_count") or (1,))[0]
    dimensions = [0] * lhs.rank
    dimensions[labels.out_batch] = lhs.dimensions[labels.lhs_batch] // max(batches, 1)
    dimensions[labels.out_feature] = rhs.dimensions[labels.rhs_output]
    for spatial, dim in enumerate(window):
        size = lhs.dimensions[labels.lhs_spatial[spatial]]
        dimensions[labels.out_spatial[spatial]] = positions(size, dim)
    return made(wider(lhs.element_type, rhs.element_type), dimensions)


def dot(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the batch dimensions, then what is left of the left side, then of the right."""
    lhs, rhs = arrays(operands[:2], what)
    lhs_batch, rhs_batch = dims_of(what, "lhs_batch_dims", lhs.rank), dims_of(what, "rhs_batch_dims", rhs.rank)
    lhs_summed = dims_of(what, "lhs_contracting_dims", lhs.rank)
    rhs_summed = dims_of(what, "rhs_contracting_dims", rhs.rank)
    for kind, first, second in (("contracting", lhs_summed, rhs_summed), ("batch", lhs_batch, rhs_batch)):
        if [lhs.dimensions[dim] for dim in first] != [rhs.dimensions[dim] for dim in second]:
            raise ShapeError(f"dot of {lhs} and {rhs}: the sizes of the {kind} dimensions differ")
    dimensions = [
        *(lhs.dimensions[dim] for dim in lhs_batch),
        *(size for dim, size in enumerate(lhs.dimensions) if dim not in (*lhs_batch, *lhs_summed)),
        *(size for dim, size in enumerate(rhs.dimensions) if dim not in (*rhs_batch, *rhs_summed)),
    ]
    return made(wider(lhs.element_type, rhs.element_type), dimensions)


def fft(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operand's shape; transforms of real numbers keep half of the last dimension, and give it back."""
    operand, kind = array(operands[0], what), what.attribute("fft_type")
    lengths = what.ints("fft_length") or ()
    if kind == "RFFT" and lengths and operand.rank:
        last = lengths[-1] // 2 + 1 if lengths[-1] else 0
        return _with_last(array(pair(what, [operand], called), what), last)
    if kind == "IRFFT" and lengths and operand.rank:
        return _with_last(array(part(what, [operand], called), what), lengths[-1])
    return operand


def _with_last(shape: ArrayShape, size: int) -> ArrayShape:
    return ArrayShape(shape.element_type, (*shape.dimensions[:-1], size), shape.layout)
