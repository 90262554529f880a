"""Memory as values: a buffer is an array that each store replaces, and a reference is a view of one buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, Protocol, TypeAlias

from dialect_utils.layout import ElementType
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import PRED, Code, Dims, Number, Val, constant, index

Unwritten = Literal["zero", "poison"]
# The dynamic size in MLIR's types (ShapedType::kDynamic).
RUNNING = -(2**63)


@dataclass(frozen=True, eq=False, slots=True)
class Buffer:
    """One piece of memory; the current frame holds the contents."""

    kind: ElementType
    dims: Dims


class Store(Protocol):
    """The holder of the contents of buffers: a frame."""

    @property
    def code(self) -> Code:
        """Returns the current computation."""

    @property
    def memory(self) -> dict[Buffer, Val]:
        """Returns the contents of each buffer."""


@dataclass(frozen=True, slots=True)
class WholeRef:
    """The whole of a buffer."""

    buffer: Buffer

    @property
    def kind(self) -> ElementType:
        """Returns the element type."""
        return self.buffer.kind

    @property
    def dims(self) -> Dims:
        """Returns the dimensions."""
        return self.buffer.dims

    def read(self, store: Store, starts: Sequence[Val], sizes: Sequence[int]) -> Val:
        """Returns a part of the contents."""
        return arrays.slice_dynamic(store.code, store.memory[self.buffer], starts, sizes)

    def write(self, store: Store, starts: Sequence[Val], value: Val) -> None:
        """Replaces a part of the contents."""
        store.memory[self.buffer] = arrays.update(store.code, store.memory[self.buffer], value, starts)

    def moved(self, change: Callable[[Val], Val]) -> Ref:
        """Returns the same view with other starts."""
        return self


@dataclass(frozen=True, slots=True)
class _View:
    """A view of another reference."""

    base: Ref

    @property
    def buffer(self) -> Buffer:
        """Returns the viewed buffer."""
        return self.base.buffer

    @property
    def kind(self) -> ElementType:
        """Returns the element type."""
        return self.base.kind


@dataclass(frozen=True, slots=True)
class SlicedRef(_View):
    """A rectangle of another reference, with the numbers of the kept dimensions."""

    starts: tuple[Val, ...]
    sizes: Dims
    kept: tuple[int, ...]

    @property
    def dims(self) -> Dims:
        """Returns the dimensions."""
        return tuple(self.sizes[i] for i in self.kept)

    def read(self, store: Store, starts: Sequence[Val], sizes: Sequence[int]) -> Val:
        """Returns a part of the contents."""
        offsets, full = self._inside(store.code, starts, sizes)
        return arrays.reshape(store.code, self.base.read(store, offsets, full), sizes)

    def write(self, store: Store, starts: Sequence[Val], value: Val) -> None:
        """Replaces a part of the contents."""
        offsets, full = self._inside(store.code, starts, value.dims)
        self.base.write(store, offsets, arrays.reshape(store.code, value, full))

    def moved(self, change: Callable[[Val], Val]) -> Ref:
        """Returns the same view with other starts."""
        return SlicedRef(self.base.moved(change), tuple(map(change, self.starts)), self.sizes, self.kept)

    def _inside(self, code: Code, starts: Sequence[Val], sizes: Sequence[int]) -> tuple[list[Val], list[int]]:
        offsets, full = list(self.starts), [1] * len(self.sizes)
        for i, start, size in zip(self.kept, starts, sizes, strict=True):
            offsets[i] = arrays.binary(code, "add", offsets[i], start)
            full[i] = size
        return offsets, full


@dataclass(frozen=True, slots=True)
class RecastRef:
    """The whole of another reference under another shape or element type of the same bits."""

    base: Ref
    kind: ElementType
    dims: Dims

    @property
    def buffer(self) -> Buffer:
        """Returns the viewed buffer."""
        return self.base.buffer

    def read(self, store: Store, starts: Sequence[Val], sizes: Sequence[int]) -> Val:
        """Returns a part of the contents."""
        return arrays.slice_dynamic(store.code, self._whole(store), starts, sizes)

    def write(self, store: Store, starts: Sequence[Val], value: Val) -> None:
        """Replaces a part of the contents."""
        changed = arrays.update(store.code, self._whole(store), value, starts)
        back = recast(store.code, changed, self.base.kind, self.base.dims)
        self.base.write(store, arrays.zeros(len(self.base.dims)), back)

    def moved(self, change: Callable[[Val], Val]) -> Ref:
        """Returns the same view with other starts."""
        return RecastRef(self.base.moved(change), self.kind, self.dims)

    def _whole(self, store: Store) -> Val:
        whole = self.base.read(store, arrays.zeros(len(self.base.dims)), self.base.dims)
        return recast(store.code, whole, self.kind, self.dims)


@dataclass(frozen=True, slots=True)
class RunningRef(_View):
    """A rectangle of another reference with dynamic sizes (RUNNING in `dims`); `base` is the largest rectangle.

    Elements that are read beyond the rectangle are undefined; elements beyond the rectangle are not written.
    """

    starts: tuple[Val, ...]
    lengths: tuple[Val, ...]
    dims: Dims

    def read(self, store: Store, starts: Sequence[Val], sizes: Sequence[int]) -> Val:
        """Returns a part of the contents."""
        return arrays.slice_dynamic(store.code, self._with_room(store, sizes), self._offset(store, starts), sizes)

    def write(self, store: Store, starts: Sequence[Val], value: Val) -> None:
        """Replaces a part of the contents."""
        code, offsets = store.code, self._offset(store, starts)
        whole = self._with_room(store, value.dims)
        is_inside = constant(PRED, True, value.dims)
        for i, (length, start) in enumerate(zip(self.lengths, starts, strict=True)):
            if self.dims[i] != RUNNING:
                continue
            rest = arrays.broadcast(code, arrays.binary(code, "subtract", length, start), value.dims, ())
            is_before = arrays.compare(code, "LT", arrays.iota(code, rest.kind, value.dims, i), rest)
            is_inside = arrays.binary(code, "and", is_inside, is_before)
        merged = arrays.select(code, is_inside, value, arrays.slice_dynamic(code, whole, offsets, value.dims))
        changed = arrays.slice_static(
            code, arrays.update(code, whole, merged, offsets), [0] * len(offsets), self.base.dims
        )
        self.base.write(store, arrays.zeros(len(offsets)), changed)

    def moved(self, change: Callable[[Val], Val]) -> Ref:
        """Returns the same view with other starts."""
        starts, lengths = tuple(map(change, self.starts)), tuple(map(change, self.lengths))
        return RunningRef(self.base.moved(change), starts, lengths, self.dims)

    def _offset(self, store: Store, starts: Sequence[Val]) -> list[Val]:
        return [arrays.binary(store.code, "add", *pair) for pair in zip(self.starts, starts, strict=True)]

    def _with_room(self, store: Store, sizes: Sequence[int]) -> Val:
        """Returns the contents of the base, padded for a part that starts at the end."""
        whole = self.base.read(store, arrays.zeros(len(sizes)), self.base.dims)
        after = [size if dim == RUNNING else 0 for size, dim in zip(sizes, self.dims, strict=True)]
        return arrays.pad(store.code, whole, constant(self.kind, 0), [0] * len(sizes), after)


# A view of a buffer. The `starts` of a read or write are scalar indices, one for each dimension.
Ref: TypeAlias = WholeRef | SlicedRef | RecastRef | RunningRef


def recast(code: Code, value: Val, kind: ElementType, dims: Sequence[int]) -> Val:
    """Builds an array of another element type with the bits of packed rows.

    A word of a wider type holds consecutive rows, the first one in the lowest bits (the tile `(n,1)` of packed
    layouts). Other differences of `dims` are a reshape.
    """
    if value.kind.bits > kind.bits:
        count = value.kind.bits // kind.bits
        split = code.emit("bitcast-convert", kind, (*value.dims, count), [value])
        rank = len(split.dims)
        value = arrays.transpose(code, split, [*range(rank - 2), rank - 1, rank - 2])
    elif value.kind.bits < kind.bits:
        count = kind.bits // value.kind.bits
        *major, rows, lanes = value.dims
        split = arrays.reshape(code, value, (*major, rows // count, count, lanes))
        rank = len(split.dims)
        words = arrays.transpose(code, split, [*range(rank - 2), rank - 1, rank - 2])
        value = code.emit("bitcast-convert", kind, words.dims[:-1], [words])
    else:
        value = arrays.bitcast_convert(code, value, kind)
    return arrays.reshape(code, value, dims)


def can_recast(kind: ElementType, dims: Sequence[int], other: ElementType, other_dims: Sequence[int]) -> bool:
    """Is true if `recast` is defined: the number of bits is equal, and rows fill whole words."""
    if kind.bits * prod(dims) != other.bits * prod(other_dims) or PRED in (kind, other):
        return False
    if kind.bits == other.bits:
        return True
    if len(dims) < 2:
        return False
    return kind.bits > other.bits or dims[-2] % (other.bits // kind.bits) == 0


def read_strided(store: Store, ref: Ref, starts: Sequence[Val], sizes: Sequence[int], strides: Sequence[int]) -> Val:
    """Reads each `strides`-th element."""
    spans = [(size - 1) * stride + 1 for size, stride in zip(sizes, strides, strict=True)]
    return arrays.slice_static(store.code, ref.read(store, starts, spans), [0] * len(sizes), sizes, strides)


def write_strided(store: Store, ref: Ref, starts: Sequence[Val], value: Val, strides: Sequence[int]) -> None:
    """Replaces each `strides`-th element; those between stay."""
    code, between = store.code, [stride - 1 for stride in strides]
    none = [0] * len(strides)
    spread = arrays.pad(code, value, constant(value.kind, 0), none, none, between)
    mask = arrays.pad(code, constant(PRED, True, value.dims), constant(PRED, False), none, none, between)
    write_masked(store, ref, starts, spread, mask)


def write_masked(store: Store, ref: Ref, starts: Sequence[Val], value: Val, mask: Val) -> None:
    """Replaces the elements for which the mask is true."""
    ref.write(store, starts, arrays.select(store.code, mask, value, ref.read(store, starts, value.dims)))


def unwritten(kind: ElementType, dims: Sequence[int], how: Unwritten) -> Val:
    """Returns the contents of unwritten memory: zeros or poison."""
    return constant(kind, 0 if how == "zero" else poison(kind), dims)


def poison(kind: ElementType) -> Number:
    """Returns NaN for a floating-point type, else an odd bit pattern."""
    return float("nan") if kind.is_floating else kind.poison_bits


def sliced(ref: Ref, starts: Sequence[Val], sizes: Sequence[int]) -> SlicedRef:
    """Returns a rectangle of a reference with all dimensions."""
    return SlicedRef(ref, tuple(starts), tuple(sizes), tuple(range(len(sizes))))


def sliced_running(ref: Ref, starts: Sequence[Val], lengths: Sequence[Val], dims: Sequence[int]) -> RunningRef:
    """Returns a rectangle of a reference with static sizes; `lengths` are the sizes for RUNNING in `dims`."""
    given = iter(lengths)
    first, room, later, sizes = [], [], [], []
    for start, size, full in zip(starts, dims, ref.dims, strict=True):
        is_running = size == RUNNING
        first.append(index(0) if is_running else start)
        room.append(full if is_running else size)
        later.append(start if is_running else index(0))
        sizes.append(next(given) if is_running else index(size))
    return RunningRef(sliced(ref, first, room), tuple(later), tuple(sizes), tuple(dims))


def squeezed(ref: Ref, dims: Sequence[int]) -> Ref | None:
    """Returns a reference without dimensions of size 1, or None if the other dimensions are not `dims`."""
    kept: list[int] = []
    for i, size in enumerate(ref.dims):
        if len(kept) < len(dims) and size == dims[len(kept)]:
            kept.append(i)
        elif size != 1:
            return None
    if len(kept) != len(dims):
        return None
    if isinstance(ref, RunningRef):
        room = SlicedRef(ref.base, tuple(index(0) for _ in ref.dims), ref.base.dims, tuple(kept))
        return RunningRef(room, tuple(ref.starts[i] for i in kept), tuple(ref.lengths[i] for i in kept), tuple(dims))
    return SlicedRef(ref, tuple(index(0) for _ in ref.dims), ref.dims, tuple(kept))
