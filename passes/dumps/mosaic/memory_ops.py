"""Ops on references: loads, stores, and views of memory."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.mosaic.kernel import KernelOp
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import Val, index
from passes.dumps.mosaic import memory
from passes.dumps.mosaic.frame import Frame, Lowering, Meaning, integers, segments, starts


def _load(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    ref, dims = frame.ref(op.operands[0], op), op.results[0].type.dimensions
    if any(segments(op)[2:]):
        raise frame.refused(op, "loads by a mask, which is not known here")
    indexes = _indices(frame, op, ref, 1)
    strides, sizes = integers(op, "strides") or (), _full_rank(dims, ref)
    if any(stride != 1 for stride in strides):
        value = memory.read_strided(frame, ref, indexes, sizes, strides)
    else:
        value = ref.read(frame, indexes, sizes)
    return [arrays.reshape(frame.code, value, dims)]


def _store(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    value, ref = frame.val(op.operands[0], op), frame.ref(op.operands[1], op)
    indexes, [mask] = _indices(frame, op, ref, 2), segments(op)[3:] or [()]
    value = arrays.reshape(frame.code, value, _full_rank(value.dims, ref))
    if op.attributes.get("add"):
        value = arrays.binary(frame.code, "add", ref.read(frame, indexes, value.dims), value)
    strides = integers(op, "strides") or ()
    if any(stride != 1 for stride in strides):
        if mask:
            raise frame.refused(op, "stores by a mask and strides, which is not known here")
        memory.write_strided(frame, ref, indexes, value, strides)
    elif mask:
        memory.write_masked(frame, ref, indexes, value, arrays.reshape(frame.code, frame.val(mask[0], op), value.dims))
    else:
        ref.write(frame, indexes, value)
    return []


def _indices(frame: Frame, op: KernelOp, ref: memory.Ref, position: int) -> list[Val]:
    """Returns the indices into memory: a group of operands or, without groups, all operands from a position on."""
    groups = segments(op)
    found = starts(frame, groups[position] if groups else op.operands[position:], op)
    if len(found) != len(ref.dims):
        raise frame.refused(op, f"has {len(found)} indices into memory of {len(ref.dims)} dimensions")
    return found


def _full_rank(dims: Sequence[int], ref: memory.Ref) -> list[int]:
    """Returns the dimensions of a part of a reference; a part of lower rank has leading dimensions of size 1."""
    return [1] * (len(ref.dims) - len(dims)) + list(dims)


def _slice(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    ref = frame.ref(op.operands[0], op)
    sizes, indexes = op.results[0].type.dimensions, _indices(frame, op, ref, 1)
    if memory.RUNNING not in sizes:
        return [memory.sliced(ref, indexes, sizes)]
    if memory.RUNNING in ref.dims:
        raise frame.refused(
            op, f"has a size that only the running kernel knows, in memory of such a size: {op.results[0].type}"
        )
    return [memory.sliced_running(ref, indexes, starts(frame, segments(op)[2], op), sizes)]


def _subview(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Returns the view of memref.subview; offsets may be dynamic, sizes and strides have to be static."""
    ref = frame.ref(op.operands[0], op)
    offsets, sizes, strides = (integers(op, f"static_{name}") or () for name in ("offsets", "sizes", "strides"))
    if memory.RUNNING in (*sizes, *strides) or any(stride != 1 for stride in strides):
        raise frame.refused(op, "has sizes or strides that are not known here")
    dynamic = iter(starts(frame, op.operands[1:], op))
    indexes = [next(dynamic) if offset == memory.RUNNING else index(offset) for offset in offsets]
    return [_squeezed(frame, op, memory.sliced(ref, indexes, sizes))]


def _squeezed(frame: Frame, op: KernelOp, ref: memory.Ref) -> memory.Ref:
    found = memory.squeezed(ref, op.results[0].type.dimensions)
    if found is None:
        raise frame.refused(op, f"leaves {op.results[0].type} of memory of {list(ref.dims)}")
    return found


def _recast(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    ref = frame.ref(op.operands[0], op)
    (result,) = op.results
    kind, dims = frame.kind(result, op), result.type.dimensions
    if (kind, dims) == (ref.kind, ref.dims):
        return [ref]
    if memory.RUNNING in (*dims, *ref.dims) or not memory.can_recast(ref.kind, ref.dims, kind, dims):
        raise frame.refused(op, f"reads memory of {ref.kind}{list(ref.dims)} as {result.type}, which is not known here")
    return [memory.RecastRef(ref, kind, dims)]


def _allocate(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds unwritten memory; semaphores start at 0."""
    (result,) = op.results
    if memory.RUNNING in result.type.dimensions:
        raise frame.refused(op, f"has a size that only the running kernel knows: {result.type}")
    buffer = memory.Buffer(frame.kind(result, op), result.type.dimensions)
    how = "zero" if result.type.is_semaphore else frame.context.unwritten
    frame.memory[buffer] = memory.unwritten(buffer.kind, buffer.dims, how)
    return [memory.WholeRef(buffer)]


_RECASTS = "tpu.memref_bitcast tpu.memref_reshape tpu.reinterpret_cast memref.collapse_shape"
_CASTS = "tpu.erase_memref_layout memref.cast memref.memory_space_cast"
ROWS: tuple[Lowering, ...] = (
    Lowering(
        "vector.load memref.load tpu.vector_load tpu.strided_load",
        "memory, indices",
        "dynamic-slice (slice where the indices are constant), reshape",
        _load,
    ),
    Lowering(
        "vector.store memref.store tpu.vector_store tpu.strided_store",
        "value, memory, indices, mask",
        "dynamic-update-slice, select by a mask",
        _store,
        lambda op: (1,),
    ),
    Lowering("tpu.memref_slice", "memory, indices, sizes", "a view", _slice),
    Lowering("memref.subview", "memory, indices", "a view", _subview),
    Lowering(
        "tpu.memref_squeeze",
        "memory",
        "a view",
        lambda frame, op: [_squeezed(frame, op, frame.ref(op.operands[0], op))],
    ),
    Lowering(_RECASTS, "memory", "a view: bitcast-convert, transpose, reshape", _recast),
    Lowering(_CASTS, "memory", "a view", lambda frame, op: [frame.ref(op.operands[0], op)]),
    Lowering("memref.alloca memref.alloc", "", "unspecified memory", _allocate),
    Lowering("tpu.sem_alloc", "", "counters at 0", _allocate),
)
