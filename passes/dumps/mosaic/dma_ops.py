"""Copies between memories, semaphores, and queries of the device and the core.

A copy is complete when it starts, in program order. A semaphore is a counter: a copy adds its number of bytes, a wait
subtracts them. A wait for more than the counter never ends: the kernel is then `stuck`, and all results are poison.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dialect_utils.mosaic.kernel import KernelOp, KernelValue
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import S32, U32, Val, index
from passes.dumps.mosaic.frame import Frame, Lowering, Meaning, integers, segments
from passes.dumps.mosaic.memory import Ref, RunningRef, WholeRef

_BYTE = 8
_SOURCE, _SOURCE_SEMAPHORE, _TARGET, _TARGET_SEMAPHORE, _DEVICE, _CORE = range(6)


def _groups(op: KernelOp, count: int) -> list[tuple[KernelValue, ...]]:
    found = segments(op)
    return found + [()] * (count - len(found))


def _enqueue(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    groups = _groups(op, _CORE + 1)
    source, target = frame.ref(groups[_SOURCE][0], op), frame.ref(groups[_TARGET][0], op)
    if source.dims != target.dims or source.kind != target.kind:
        raise frame.refused(op, f"copies {source.kind}{list(source.dims)} to {target.kind}{list(target.dims)}")
    if groups[_CORE]:
        raise frame.refused(op, "copies to another core, which is not known here")
    value = source.read(frame, arrays.zeros(len(source.dims)), _most_copied(source, target))
    if groups[_DEVICE]:
        pairs = _pairs(frame, op, groups[_DEVICE][0])
        value = _permuted(frame, value, pairs)
        target = target.moved(lambda start: _permuted(frame, start, pairs))
    target.write(frame, arrays.zeros(len(target.dims)), value)
    for semaphore in (*groups[_SOURCE_SEMAPHORE], *groups[_TARGET_SEMAPHORE]):
        _count(frame, frame.ref(semaphore, op), _bytes(frame, target))
    return []


def _most_copied(source: Ref, target: Ref) -> Sequence[int]:
    """Returns the sizes of a copy; for dynamic sizes the largest that fit into both sides."""
    if not isinstance(source, RunningRef) or not isinstance(target, RunningRef):
        return source.dims
    return [min(pair) for pair in zip(source.base.dims, target.base.dims, strict=True)]


def _bytes(frame: Frame, ref: Ref) -> Val:
    if not isinstance(ref, RunningRef):
        return index(max(prod(ref.dims) * ref.kind.bits // _BYTE, 1))
    bits = index(ref.kind.bits)
    for length in ref.lengths:
        bits = arrays.binary(frame.code, "multiply", bits, length)
    return arrays.binary(frame.code, "divide", bits, index(_BYTE))


def _count(frame: Frame, semaphore: Ref, amount: Val) -> None:
    starts = arrays.zeros(len(semaphore.dims))
    old = semaphore.read(frame, starts, semaphore.dims)
    amount = arrays.broadcast(frame.code, amount, semaphore.dims, ())
    semaphore.write(frame, starts, arrays.binary(frame.code, "add", old, amount))


def _wait_for(frame: Frame, op: KernelOp, semaphore: Ref, amount: Val) -> None:
    """Subtracts an amount from a counter; the kernel is stuck if the counter is smaller."""
    starts = arrays.zeros(len(semaphore.dims))
    old = arrays.reshape(frame.code, semaphore.read(frame, starts, semaphore.dims), ())
    too_few = arrays.compare(frame.code, "LT", old, amount)
    if too_few.known:
        raise frame.refused(op, f"waits forever: its semaphore holds {old.known}, it waits for {amount.known}")
    stuck = frame.context.stuck
    frame.memory[stuck] = arrays.binary(frame.code, "or", frame.memory[stuck], too_few)
    rest = arrays.binary(frame.code, "subtract", old, amount)
    semaphore.write(frame, starts, arrays.reshape(frame.code, rest, semaphore.dims))


def _wait_copy(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    groups = segments(op)
    semaphore, target = (groups[0][0], groups[2][0]) if groups else (op.operands[0], op.operands[1])
    _wait_for(frame, op, frame.ref(semaphore, op), _bytes(frame, frame.ref(target, op)))
    return []


def _wait(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    _wait_for(frame, op, frame.ref(op.operands[0], op), frame.val(op.operands[1], op))
    return []


def _signal(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    groups = _groups(op, 4)
    amount = frame.val(op.operands[1], op)
    if groups[3]:
        raise frame.refused(op, "signals another core, which is not known here")
    if groups[2]:
        amount = _permuted(frame, amount, _pairs(frame, op, groups[2][0]))
    _count(frame, frame.ref(op.operands[0], op), amount)
    return []


def _read(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    semaphore = frame.ref(op.operands[0], op)
    return [arrays.reshape(frame.code, semaphore.read(frame, arrays.zeros(len(semaphore.dims)), semaphore.dims), ())]


def _pairs(frame: Frame, op: KernelOp, device: KernelValue) -> list[tuple[int, int]]:
    """Returns (sender, receiver) pairs of devices; raises DiagnosticError unless they are a known permutation."""
    value = frame.val(device, op)
    devices = frame.context.devices
    if value.known is not None:
        targets: Sequence[int] | None = [int(value.known)] * devices
    else:
        targets = frame.code.program.by_device.get(value)
    if targets is None:
        raise frame.refused(op, "addresses a device that only the running kernel knows")
    if sorted(targets) != list(range(devices)):
        raise frame.refused(
            op, f"addresses the devices {list(targets)}, where a permutation of {devices} is known here"
        )
    if frame.is_branch:
        raise frame.refused(op, "addresses another device in a branch, which not every device may take")
    return list(enumerate(targets))


def _permuted(frame: Frame, value: Val, pairs: Sequence[tuple[int, int]]) -> Val:
    if value.known is not None or all(source == target for source, target in pairs):
        return value
    listed = ",".join(f"{{{source},{target}}}" for source, target in pairs)
    attributes = f", source_target_pairs={{{listed}}}"
    return frame.code.emit("collective-permute", value.kind, value.dims, [value], attributes)


def _device(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    devices = frame.context.devices
    if devices == 1:
        return [index(0)]
    number = arrays.convert(frame.code, frame.code.emit("replica-id", U32, ()), S32)
    frame.code.program.by_device[number] = tuple(range(devices))
    return [number]


def _bound(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (dimension,) = integers(op, "dim", "dimension") or (0,)
    return [frame.context.grid_bounds[dimension]]


def _random(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    raise frame.refused(op, "makes random bits that only the TPU's own generator makes")


def _written_by_copy(op: KernelOp) -> Sequence[int]:
    """Returns the operand numbers of the target and of the semaphores."""
    sizes = integers(op, "operandSegmentSizes") or ()
    first = [sum(sizes[:i]) for i in range(len(sizes))]
    return [first[i] for i in (_TARGET, _SOURCE_SEMAPHORE, _TARGET_SEMAPHORE) if i < len(sizes) and sizes[i]]


ROWS: tuple[Lowering, ...] = (
    Lowering(
        "tpu.enqueue_dma",
        "source, target, semaphores, device",
        "slice, dynamic-update-slice; collective-permute to another device; add to a counter",
        _enqueue,
        _written_by_copy,
    ),
    Lowering(
        "tpu.wait_dma2 tpu.wait_dma",
        "semaphore, source, target",
        "compare, subtract from a counter",
        _wait_copy,
        lambda op: (0,),
        waits=True,
    ),
    Lowering(
        "tpu.sem_wait", "semaphore, amount", "compare, subtract from a counter", _wait, lambda op: (0,), waits=True
    ),
    Lowering("tpu.sem_signal", "semaphore, amount, device", "add to a counter", _signal, lambda op: (0,)),
    Lowering("tpu.sem_read", "semaphore", "the counter", _read),
    Lowering("tpu.sem_barrier", "", "a counter", lambda frame, op: [WholeRef(frame.context.barrier)]),
    Lowering("tpu.barrier", "", "nothing", lambda frame, op: []),
    Lowering("tpu.device_id", "", "replica-id", _device),
    Lowering("tpu.core_id", "", "0: one core runs everything", lambda frame, op: [index(0)]),
    Lowering("tpu.iteration_bound", "", "the bound of the grid", _bound),
    Lowering("tpu.prng_set_seed_32", "seeds", "refused", _random, effect=True),
    Lowering("tpu.prng_random_bits", "", "refused", _random, effect=True),
    Lowering("tpu.stochastic_convert", "a, random", "refused", _random, effect=True),
)
