"""Ops that move, repeat, reduce and multiply vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from dialect_utils.mosaic.kernel import KernelOp
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import F32, PRED, S32, Code, Val, constant, index
from passes.dumps.emitter.expressions import Expr
from passes.dumps.mosaic.elementwise_ops import identity_of
from passes.dumps.mosaic.frame import Frame, Lowering, Meaning, integers, starts
from passes.dumps.mosaic.memory import RUNNING, can_recast, recast

_LISTS = re.compile(r"\[([^\]]*)\]")
# The opcodes of vector.kind and tpu.reduction_kind.
_REDUCTIONS = {
    **{name: name for name in ("add", "and", "or", "xor")},
    "sum": "add",
    "mul": "multiply",
    **{f"max{kind}": "maximum" for kind in ("", "imumf", "numf", "si", "ui")},
    **{f"min{kind}": "minimum" for kind in ("", "imumf", "numf", "si", "ui")},
}
_NUMBER_LISTS = 7


def _shape_cast(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    dims = op.results[0].type.dimensions
    if prod(a.dims) != prod(dims):
        raise frame.refused(op, f"turns {list(a.dims)} into {list(dims)}, which has another number of elements")
    return [arrays.reshape(frame.code, a, dims)]


def _broadcast(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    return [arrays.stretched(frame.code, frame.val(op.operands[0], op), op.results[0].type.dimensions)]


def _transpose(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    permutation = integers(op, "permutation", "transp")
    if permutation is None:
        raise frame.refused(op, "has no permutation")
    return [arrays.transpose(frame.code, frame.val(op.operands[0], op), permutation)]


def _concatenate(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    return [arrays.concatenate(frame.code, frame.vals(op.operands, op), _one(frame, op, "dimension"))]


def _repeat(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    dimension, times = _one(frame, op, "dimension"), _one(frame, op, "times")
    spread = (*a.dims[:dimension], times, *a.dims[dimension:])
    along = [i if i < dimension else i + 1 for i in range(len(a.dims))]
    copies = arrays.broadcast(frame.code, a, spread, along)
    return [arrays.reshape(frame.code, copies, op.results[0].type.dimensions)]


def _extract_slice(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    offsets, sizes, strides = (list(integers(op, name) or ()) for name in ("offsets", "sizes", "strides"))
    rest = len(a.dims) - len(offsets)
    offsets, sizes, strides = offsets + [0] * rest, sizes + list(a.dims[len(sizes) :]), strides + [1] * rest
    return [arrays.slice_static(frame.code, a, offsets, sizes, strides)]


def _insert_slice(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    part, whole = frame.vals(op.operands, op)
    if any(stride != 1 for stride in integers(op, "strides") or ()):
        raise frame.refused(op, "has strides, which are not known here")
    part = arrays.reshape(frame.code, part, (*[1] * (len(whole.dims) - len(part.dims)), *part.dims))
    return [arrays.update(frame.code, whole, part, [index(i) for i in integers(op, "offsets") or ()])]


def _positions(frame: Frame, op: KernelOp, first: int) -> list[Val]:
    """Returns the static and dynamic indices of vector.extract and vector.insert."""
    dynamic = iter(starts(frame, op.operands[first:], op))
    return [next(dynamic) if i == RUNNING else index(i) for i in integers(op, "static_position", "position") or ()]


def _extract(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a = frame.val(op.operands[0], op)
    indices = _positions(frame, op, 1)
    rest = a.dims[len(indices) :]
    part = arrays.slice_dynamic(frame.code, a, [*indices, *arrays.zeros(len(rest))], [1] * len(indices) + list(rest))
    return [arrays.reshape(frame.code, part, op.results[0].type.dimensions)]


def _insert(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    part, whole = frame.vals(op.operands[:2], op)
    indices = _positions(frame, op, 2)
    rest = whole.dims[len(indices) :]
    part = arrays.reshape(frame.code, part, (*[1] * len(indices), *rest))
    return [arrays.update(frame.code, whole, part, [*indices, *arrays.zeros(len(rest))])]


def _from_elements(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    parts = [arrays.reshape(frame.code, value, (1,)) for value in frame.vals(op.operands, op)]
    return [arrays.reshape(frame.code, arrays.concatenate(frame.code, parts, 0), op.results[0].type.dimensions)]


def _reduce(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds a reduction in 32 bits or more, combined with the accumulator at the end."""
    a = frame.val(op.operands[0], op)
    kind = str(op.attributes.get("kind", "")).partition("<")[2].removesuffix(">")
    if kind not in _REDUCTIONS:
        raise frame.refused(op, f"reduces by {op.attributes.get('kind')}, which is not known here")
    opcode, is_unsigned = _REDUCTIONS[kind], kind in ("maxui", "minui")
    dims = integers(op, "reduction_dims", "dim", "dims")
    reduced = reduce_along(frame.code, opcode, a, range(len(a.dims)) if dims is None else dims, is_unsigned)
    if len(op.operands) > 1:
        start = frame.val(op.operands[1], op)
        if start.known is None or start.known != identity_of(a.kind, opcode):
            reduced = arrays.binary(frame.code, opcode, reduced, start)
    result = op.results[0].type.dimensions
    if reduced.dims != result and len(a.dims) == len(result):
        # tpu.all_reduce keeps the dimension: every element is the result.
        reduced = arrays.broadcast(
            frame.code, reduced, result, [i for i in range(len(result)) if i not in (dims or ())]
        )
    return [reduced]


def reduce_along(code: Code, opcode: str, a: Val, dims: Sequence[int], is_unsigned: bool = False) -> Val:
    """Builds a reduction; floats narrower than f32 are combined in f32, as in the vector unit."""
    kind = a.kind
    if is_unsigned:
        a = Expr(code, a).unsigned().value
    elif kind.is_floating and kind.bits < F32.bits:
        a = arrays.convert(code, a, F32)
    found = arrays.reduce(code, opcode, a, identity_of(a.kind, opcode), list(dims))
    return arrays.bitcast_convert(code, found, kind) if is_unsigned else arrays.convert(code, found, kind)


def _reduce_index(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds the first index of the largest or smallest element, or of a NaN."""
    (a,) = frame.exprs(op.operands[:1], op)
    axis = _one(frame, op, "axis")
    opcode = "minimum" if "min" in str(op.attributes.get("kind")) else "maximum"
    best = Expr(frame.code, reduce_along(frame.code, opcode, a.value, [axis]))
    is_best = a.compare("EQ", best.broadcast(a.dims, *(i for i in range(len(a.dims)) if i != axis)))
    if a.kind.is_floating:
        is_best |= a.compare("NE", a)
    candidates = is_best.where(a.iota(axis), a.dims[axis])
    found = reduce_along(frame.code, "minimum", candidates.value, [axis])
    return [arrays.reshape(frame.code, found, op.results[0].type.dimensions)]


def _iota(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (result,) = op.results
    kind, dims = frame.kind(result, op), result.type.dimensions
    along = integers(op, "dimensions", "dimension") or (len(dims) - 1,)
    if len(along) == 1:
        return [arrays.iota(frame.code, kind, dims, along[0])]
    # The linear index over several dimensions, the last one minor.
    total = Expr(frame.code, constant(kind, 0, dims))
    stride = 1
    for dimension in reversed(along):
        total = total.iota(dimension, kind) * stride + total
        stride *= dims[dimension]
    return [total.value]


def _rotate(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds a rotation towards higher indices; `stride` is added for each index of `stride_dimension`."""
    code = frame.code
    a = frame.val(op.operands[0], op)
    dimension = _one(frame, op, "dimension")
    size = a.dims[dimension]
    amount = frame.val(op.operands[1], op) if len(op.operands) > 1 else index(_one(frame, op, "amount"))
    amount = arrays.modulo(code, arrays.convert(code, amount, S32), size)
    stride, stride_dimension = integers(op, "stride"), integers(op, "stride_dimension")
    if stride is not None and stride_dimension is not None and stride[0]:
        return [_rotate_by_rows(code, a, dimension, amount, stride[0], stride_dimension[0])]
    start = arrays.binary(code, "subtract", index(size), amount)
    twice = arrays.concatenate(code, [a, a], dimension)
    indices = arrays.zeros(len(a.dims))
    indices[dimension] = start
    return [arrays.slice_dynamic(code, twice, indices, a.dims)]


def _rotate_by_rows(code: Code, a: Val, dimension: int, amount: Val, stride: int, along: int) -> Val:
    whole = Expr(code, a)
    total = whole.iota(along) * stride + Expr(code, amount).broadcast(a.dims)
    source = whole.iota(dimension) - total
    return arrays.take_along(code, a, arrays.modulo(code, source.value, a.dims[dimension]), dimension)


def _gather(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, indices = frame.vals(op.operands, op)
    dims = integers(op, "dimensions", "dimension") or ()
    if len(dims) != 1:
        raise frame.refused(op, f"gathers along {list(dims)}; one dimension is known here")
    return [arrays.take_along(frame.code, a, arrays.convert(frame.code, indices, S32), dims[0])]


def _matmul(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds a product plus an accumulator, with products and sums in f32 (f64) or s32 for all operand types."""
    code = frame.code
    a, b, start = frame.vals(op.operands[:3], op)
    kind = start.kind
    wide = S32 if kind.is_integral else kind if kind.bits >= F32.bits else F32
    a, b = arrays.convert(code, a, wide), arrays.convert(code, b, wide)
    contracting, batch, order = _dot_dimensions(frame, op, a, b)
    made = arrays.dot(code, a, b, contracting, batch)
    made = arrays.transpose(code, made, order) if order is not None else made
    made = arrays.reshape(code, made, op.results[0].type.dimensions)
    if start.known != 0:
        made = arrays.binary(code, "add", made, arrays.convert(code, start, wide))
    return [arrays.convert(code, made, kind)]


_Groups = tuple[Sequence[int], Sequence[int]]


def _dot_dimensions(frame: Frame, op: KernelOp, a: Val, b: Val) -> tuple[_Groups, _Groups, list[int] | None]:
    """Returns contracting and batch dimensions, and the permutation of the dot's result, if any."""
    text = op.attributes.get("dimension_numbers")
    if text is None:
        flip_a, flip_b = (bool(op.attributes.get(name)) for name in ("transpose_lhs", "transpose_rhs"))
        return ([0 if flip_a else 1], [1 if flip_b else 0]), ((), ()), None
    lists = [[int(i) for i in part.split(",") if i.strip()] for part in _LISTS.findall(str(text))]
    if len(lists) != _NUMBER_LISTS:
        raise frame.refused(op, f"has the dimension numbers {text}, which are not known here")
    contract_a, contract_b, free_a, free_b, output, batch_a, batch_b = lists
    natural = [(0, i) for i in batch_a] + [(0, i) for i in sorted(free_a)] + [(1, i) for i in sorted(free_b)]
    wanted = list(zip(output[::2], output[1::2], strict=True))
    if sorted(natural) != sorted(wanted):
        raise frame.refused(op, f"has the dimension numbers {text}, whose output does not fit")
    return (contract_a, contract_b), (batch_a, batch_b), [natural.index(each) for each in wanted]


def _bitcast(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds an array of another type with the same bits; a word holds consecutive rows."""
    a = frame.val(op.operands[0], op)
    (result,) = op.results
    kind, dims = frame.kind(result, op), result.type.dimensions
    # vector.bitcast regroups the last dimension, tpu.bitcast regroups rows.
    is_regrouped = op.name == "vector.bitcast" and a.kind.bits != kind.bits
    if is_regrouped or not can_recast(a.kind, a.dims, kind, dims):
        raise frame.refused(op, f"reads {a} as {result.type}, which is not known here")
    return [recast(frame.code, a, kind, dims)]


def _create_mask(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds a mask that is true inside a box, from low (or 0) to high in each dimension."""
    dims = op.results[0].type.dimensions
    bounds = [Expr(frame.code, bound) for bound in starts(frame, op.operands, op)]
    has_low = len(bounds) == 2 * len(dims)
    mask = Expr(frame.code, constant(PRED, True, dims))
    for dimension in range(len(dims)):
        position = mask.iota(dimension)
        mask &= position.compare("LT", bounds[dimension + (len(dims) if has_low else 0)].broadcast(dims))
        if has_low:
            mask &= position.compare("GE", bounds[dimension].broadcast(dims))
    return [mask.value]


def _one(frame: Frame, op: KernelOp, name: str) -> int:
    found = integers(op, name)
    if found is None or len(found) != 1:
        raise frame.refused(op, f"has no number {name}")
    return found[0]


ROWS: tuple[Lowering, ...] = (
    Lowering("vector.shape_cast tpu.reshape", "a", "reshape", _shape_cast),
    Lowering("vector.broadcast", "a", "reshape, broadcast", _broadcast),
    Lowering("vector.splat", "a", "broadcast", _broadcast),
    Lowering("vector.transpose tpu.transpose", "a", "transpose", _transpose),
    Lowering("tpu.concatenate", "parts", "concatenate", _concatenate),
    Lowering("tpu.repeat", "a", "broadcast, reshape", _repeat),
    Lowering("vector.extract_strided_slice", "a", "slice", _extract_slice),
    Lowering("vector.insert_strided_slice", "part, a", "dynamic-update-slice", _insert_slice),
    Lowering("vector.extract", "a, indices", "dynamic-slice, reshape", _extract),
    Lowering("vector.insert", "part, a, indices", "reshape, dynamic-update-slice", _insert),
    Lowering("vector.from_elements", "elements", "reshape, concatenate", _from_elements),
    Lowering("vector.multi_reduction vector.reduction", "a, start", "reduce, and the op of its kind", _reduce),
    Lowering("tpu.reduce", "a", "reduce", _reduce),
    Lowering("tpu.all_reduce", "a", "reduce, broadcast", _reduce),
    Lowering("tpu.reduce_index", "a", "reduce, compare, iota, select", _reduce_index),
    Lowering("tpu.iota vector.step", "", "iota", _iota),
    Lowering("tpu.dynamic_rotate", "a, amount", "concatenate, dynamic-slice; gather with a stride", _rotate),
    Lowering("tpu.rotate", "a", "concatenate, slice; gather with a stride", _rotate),
    Lowering("tpu.dynamic_gather", "a, indices", "iota, concatenate, gather", _gather),
    Lowering("tpu.matmul", "a, b, start", "convert, dot, transpose, add", _matmul),
    Lowering("tpu.bitcast", "a", "bitcast-convert, transpose, reshape", _bitcast),
    Lowering("vector.bitcast", "a", "bitcast-convert", _bitcast),
    Lowering("tpu.create_mask", "low, high", "iota, compare, and", _create_mask),
    Lowering("vector.create_mask", "high", "iota, compare, and", _create_mask),
)
