"""A program on several devices as a program on one: each value has more dimensions, which count devices.

A mesh factors the devices: device d has the index d // stride % size along each axis. A value that differs along some
axes is one array with a leading dimension for each of them, so each operation works on all devices at once, and a
collective operation is movement, or a combination, of leading dimensions. What has no such form is done device by
device.

Longer than other files: each primitive in one place, with all that collective operations need.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Any, Generic

from dialect_utils.ir import Function, Module, Operation
from dialect_utils.ir.control_flow import is_closed
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Pad, Shape, Slice, Step
from dialect_utils.layout.moves.plan import Plan, try_with_leading
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops import Trait, has
from dialect_utils.ops.domain import Scatter, UndefinedError, grouped, reshaped, section, static_array, transposed
from dialect_utils.ops.manual import COMPUTATION, boundaries, boundary_of, is_boundary
from dialect_utils.ops.sharding import Sharding, device_lists, try_digits, try_mesh
from dialect_utils.ops.window import WindowDimension, Windows
from dialect_utils.verdict.rules.formats import value_of
from dialect_utils.verdict.terms.combinations import neutral
from dialect_utils.verdict.terms.constants import folded
from dialect_utils.verdict.terms.exchanges import (
    Exchange,
    device_groups,
    device_pairs,
    exchange_of,
    is_exchange,
    is_sum,
)
from dialect_utils.verdict.terms.graph import Graph, Nodes
from dialect_utils.verdict.terms.labels import device_counts, elementwise_label, has_undeclared
from dialect_utils.verdict.terms.loops import Loop
from dialect_utils.verdict.terms.maker import Maker
from dialect_utils.verdict.terms.primitives import Kind, TreeOf, V, leaves_of, promise_of, tree_of
from dialect_utils.verdict.terms.walker import Walker, walk

if TYPE_CHECKING:
    from dialect_utils.verdict.entry import EntryInterface

# The number of a device is of this type in both dialects.
_NUMBER = ELEMENT_TYPES["u32"]
_PAIRS = "source_target_pairs"
_NUMBERS = ("partition-id", "replica-id")
# The most values that are made device by device, each of some operations.
_MOST_PARTS = 4096
Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Local(Generic[V]):
    """A value on all devices: an array whose first dimensions are those of the mesh along `axes`, where it differs.

    `bits` has the element that each device holds, where the value is one known number, and `data` the contents of a
    constant. `parts` has the value of each index along `axes` in place of an array where the value is no array.
    """

    array: V
    axes: Axes = ()
    bits: tuple[int, ...] | None = None
    parts: tuple[V, ...] = ()
    data: bytes | None = None


def mesh_of(module: Module, shardings: Sequence[Sharding] = ()) -> tuple[int, ...]:
    """Returns the sizes of the axes by which all groups and shardings divide the devices of a module.

    Raises UndefinedError where no axes do.
    """
    replicas, partitions = device_counts(module)
    count = replicas * partitions
    functions = [[part[i] for part in each.parts] for each in shardings for i in range(len(each.tiles))]
    functions.append([device // partitions for device in range(count)])
    for boundary in boundaries(module, count):
        found_ = (*boundary.entering, *boundary.leaving)
        functions += [[part[i] for part in each.parts] for each in found_ for i in range(len(each.tiles))]
    for operation in module.operations():
        if is_exchange(operation) and operation.attribute("replica_groups") is not None:
            groups = device_groups(exchange_of(operation, (replicas, partitions)), replicas, partitions)
            functions += try_positions(groups, count) or ()
    found = try_mesh(count, functions)
    if found is None:
        raise UndefinedError("the groups of devices are those of no common mesh")
    return found


def try_positions(groups: Sequence[Sequence[int]], count: int) -> list[list[int]] | None:
    """Returns for each device the number of its group, and its place in it; None unless each device is in one group."""
    if sorted(device for group in groups for device in group) != [*range(count)]:
        return None
    places = {device: (number, place) for number, group in enumerate(groups) for place, device in enumerate(group)}
    return [[places[device][i] for device in range(count)] for i in range(2)]


class Devices(Maker[Local[V]]):
    """The values of a module on all devices of a mesh, made of the values of one device."""

    def __init__(self, inner: Maker[V], module: Module, mesh: Sequence[int], iterations: int) -> None:
        self.inner, self.module, self.mesh = inner, module, tuple(mesh)
        self.replicas, self.partitions = device_counts(module)
        self.count = prod(self.mesh)
        self.strides = [prod(self.mesh[i + 1 :]) for i in range(len(self.mesh))]
        self._all = tuple(range(len(self.mesh)))
        self._operations: list[Operation] = []
        self._functions = Walker(inner, (1, 1), iterations)

    def run(self, inputs: Sequence[Local[V]]) -> list[Local[V]]:
        """Returns the results of the module; raises UndefinedError where it has side effects."""
        walker = Walker(self, (self.replicas, self.partitions), self._functions.iterations)
        found = walker.flat(self.module.entry, inputs)
        if walker.effects:
            raise UndefinedError("a program on several devices has side effects")
        return found

    # Devices

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """Returns the sizes of axes of the mesh."""
        return tuple(self.mesh[axis] for axis in axes)

    def index(self, device: int, axes: Axes) -> tuple[int, ...]:
        """Returns the indices of a device along axes."""
        return tuple(device // self.strides[axis] % self.mesh[axis] for axis in axes)

    def indices(self, axes: Axes) -> Iterator[tuple[int, ...]]:
        """Yields all indices along axes; raises UndefinedError where they are too many."""
        if prod(self.sizes(axes)) > _MOST_PARTS:
            raise UndefinedError(f"{prod(self.sizes(axes))} devices compute different operations")
        return product(*map(range, self.sizes(axes)))

    def axes_of(self, stride: int, size: int) -> Axes | None:
        """Returns the axes that a digit of the device's number consists of, the major one first."""
        found = tuple(axis for axis in self._all if stride <= self.strides[axis] < stride * size)
        is_whole = prod(self.sizes(found)) == size and (not found or self.strides[found[-1]] == stride)
        return found if is_whole else None

    def axes_by(self, values: Sequence[int]) -> list[tuple[Axes, int]] | None:
        """Returns the axes that a number of each device depends on, with the weights of their indices."""
        digits = try_digits(values)
        found = None if digits is None else [(self.axes_of(each.stride, each.size), each.weight) for each in digits]
        if found is None or any(axes is None for axes, _ in found):
            return None
        return sorted(((axes or (), weight) for axes, weight in found), key=lambda pair: -pair[1])

    # Values

    def aligned(self, local: Local[V], axes: Axes) -> V:
        """Returns the array of a value with a dimension for each of `axes`, which include its own."""
        if local.axes == axes:
            return local.array
        sizes = self.inner.dimensions(local.array)
        own = [*map(axes.index, local.axes), *range(len(axes), len(axes) + len(sizes) - len(local.axes))]
        return self.inner.broadcast(local.array, own, (*self.sizes(axes), *sizes[len(local.axes) :]))

    def _union(self, values: Sequence[Local[V]]) -> Axes:
        return tuple(sorted({axis for each in values for axis in each.axes}))

    def together(self, values: Sequence[Local[V]]) -> tuple[Axes, list[V]]:
        """Returns the axes along which any of several values differs, and their arrays along these."""
        axes = self._union(values)
        return axes, [self.aligned(each, axes) for each in values]

    def _lead(self, axes: Axes) -> int:
        return prod(self.sizes(axes))

    def _folded(self, array: V, axes: Axes, dimension: int) -> V:
        """Returns an array with its axes as the major part of one of its other dimensions."""
        if not axes:
            return array
        count, rank = len(axes), len(self.inner.dimensions(array))
        groups = [[i] for i in range(count, rank)]
        groups[dimension][:0] = range(count)
        return grouped(self.inner, array, *groups)

    def _unfolded(self, array: V, axes: Axes, dimension: int) -> Local[V]:
        """Returns the value of an array whose axes are the major part of one dimension."""
        if not axes:
            return Local(array)
        places = [*range(dimension, dimension + len(axes))]
        return self._sorted(self._unfolded_at(array, axes, dimension), axes, places)

    def part(self, local: Local[V], axes: Axes, index: Sequence[int]) -> V:
        """Returns the value at one index along `axes`, which include its own."""
        own = tuple(index[axes.index(axis)] for axis in local.axes)
        if local.parts:
            return local.parts[_linear(own, self.sizes(local.axes))]
        if not own:
            return local.array
        sizes = self.inner.dimensions(local.array)
        rest = sizes[len(own) :]
        limits = (*(each + 1 for each in own), *rest)
        cut = self.inner.move(local.array, Slice((*own, *[0] * len(rest)), limits))
        return reshaped(self.inner, cut, rest)

    def joined_parts(self, parts: Sequence[V], axes: Axes) -> Local[V]:
        """Returns the value that has a part at each index along axes."""
        if not axes:
            return Local(parts[0])
        sizes = self.inner.dimensions(parts[0])
        whole = self.inner.concatenate([reshaped(self.inner, each, (1, *sizes)) for each in parts], 0)
        return Local(reshaped(self.inner, whole, (*self.sizes(axes), *sizes)), axes)

    def apart(self, values: Sequence[Local[V]], make: Callable[[Sequence[V]], Sequence[V]]) -> list[Local[V]]:
        """Returns the results of `make`, done once for each index of the axes along which any value differs."""
        axes = self._union(values)
        rows = [make([self.part(each, axes, index) for each in values]) for index in self.indices(axes)]
        return [self.joined_parts(parts, axes) for parts in zip(*rows, strict=True)]

    def one_element(self, element_type: ElementType, bits: Sequence[int], dimensions: tuple[int, ...]) -> Local[V]:
        """Returns the value with one known element on each device."""
        if len({*bits}) == 1:
            return self.literal(element_type, bits[0], dimensions)
        axes = self._varying(bits)
        firsts = [bits[self._device(axes, index)] for index in self.indices(axes)]
        data = b"".join(each.to_bytes(element_type.storage_bytes, "little") for each in firsts)
        shape = ArrayShape(element_type, (*self.sizes(axes), *dimensions))
        return Local(self.inner.make("constant", data, shape), axes, tuple(bits))

    def _neighbour(self, device: int, axis: int) -> int:
        """Returns the device with index 0 along an axis, and the same indices along the others."""
        return device - device // self.strides[axis] % self.mesh[axis] * self.strides[axis]

    def _device(self, axes: Axes, index: Sequence[int]) -> int:
        return sum(i * self.strides[axis] for axis, i in zip(axes, index, strict=True))

    def _numbers(self, local: Local[V]) -> list[int] | None:
        """Returns a known integer on each device."""
        kind = self.element_type(local)
        found = None if local.bits is None else [value_of(kind, each) for each in local.bits]
        return None if found is None else [int(each or 0) for each in found]

    # The primitives

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[Local[V]] = ()) -> Local[V]:
        if kind == "op" and isinstance(label, tuple) and isinstance(label[0], tuple):
            key, _, devices, effect = label
            if devices is not None:
                raise UndefinedError("an exchange among devices is in a form without a definition")
            if effect is not None and effect[:1] != ("unwritten",):
                raise UndefinedError(f"{self._operations[-1].opcode} on several devices has side effects")
            if ("custom_call_target", "tpu_custom_call") in key[2]:
                raise UndefinedError("a kernel may exchange data among devices")
            if key[0] == "custom-call" and not operands:
                # Each device may read other data, for example uninitialized memory.
                labels = [(*label[:-1], (*(effect or ()), device)) for device in range(self.count)]
                made_ = tuple(self.inner.make(kind, each, shape) for each in labels)
                return Local(made_[0], self._all, None, made_)
        axes = self._union(operands)
        if not axes:
            made = self.inner.make(kind, label, shape, [each.array for each in operands])
            return Local(made, data=label if isinstance(label, bytes) else None)
        parts = [
            self.inner.make(kind, label, shape, [self.part(each, axes, index) for each in operands])
            for index in self.indices(axes)
        ]
        return (
            self.joined_parts(parts, axes) if isinstance(shape, ArrayShape) else Local(parts[0], axes, None, (*parts,))
        )

    def shape(self, array: Local[V]) -> Shape:
        found = self.inner.shape(array.array)
        if array.parts or not isinstance(found, ArrayShape):
            return found
        return ArrayShape(found.element_type, found.dimensions[len(array.axes) :])

    def dimensions(self, array: Local[V]) -> tuple[int, ...]:
        return static_array(self.shape(array)).dimensions

    def element_type(self, array: Local[V]) -> ElementType:
        return self.inner.element_type(array.array)

    def literal(self, element_type: ElementType, bits: int, dimensions: tuple[int, ...]) -> Local[V]:
        known = (bits,) * self.count if prod(dimensions) == 1 else None
        return Local(self.inner.literal(element_type, bits, dimensions), bits=known)

    def unspecified(self) -> Local[V]:
        return Local(self.inner.unspecified())

    def contents(self, array: Local[V]) -> int | bytes | None:
        if array.bits is not None and len({*array.bits}) == 1:
            return array.bits[0]
        return None if array.axes else self.inner.contents(array.array)

    def splat(self, scalar: Local[V], dimensions: tuple[int, ...]) -> Local[V]:
        if not scalar.axes:
            known = scalar.bits if prod(dimensions) == 1 else None
            return Local(self.inner.splat(scalar.array, dimensions), bits=known)
        return self.broadcast(scalar, (), dimensions)

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[Local[V]]) -> Local[V]:
        known = [each.bits for each in operands]
        if None not in known:
            kinds = [*map(self.element_type, operands)]
            rows = [tuple(zip(kinds, bits, strict=True)) for bits in zip(*(each or () for each in known), strict=True)]
            is_select = label == "select"
            found = [row[2 - row[0][1]][1] if is_select else folded(label, element_type, row) for row in rows]
            bits = [each for each in found if each is not None]
            if len(bits) == len(found):
                return self.one_element(element_type, bits, self.dimensions(operands[0]))
        axes, arrays = self.together(operands)
        return Local(self.inner.each(label, element_type, arrays), axes)

    def moved(self, array: Local[V], step: Step, padding: Local[V] | None) -> Local[V]:
        if padding is not None and padding.axes:
            return self.apart([array, padding], lambda pair: [self.inner.move(pair[0], step, pair[1])])[0]
        lead = self.sizes(array.axes)
        lifted = step if step.regroups_bits or not lead else step.try_with_leading((), lead)
        assert lifted is not None  # each step has a form under more leading dimensions
        found = self.inner.move(array.array, lifted, None if padding is None else padding.array)
        sizes = step.result(self.element_type(array), self.dimensions(array))[1]
        keeps = prod(sizes) == 1 and padding is None and not step.regroups_bits
        return Local(found, array.axes, array.bits if keeps else None)

    def after(self, array: Local[V], plan: Plan) -> Local[V]:
        lifted = try_with_leading(plan, 0, self.sizes(array.axes)) if array.axes else plan
        if lifted is None:
            raise UndefinedError("a layout on several devices regroups bits")
        return Local(self.inner.after(array.array, lifted), array.axes)

    def broadcast(self, array: Local[V], dimensions: Sequence[int], sizes: Sequence[int]) -> Local[V]:
        count = len(array.axes)
        targets = [*range(count), *(count + each for each in dimensions)]
        found = self.inner.broadcast(array.array, targets, (*self.sizes(array.axes), *sizes))
        return Local(found, array.axes, array.bits if prod(sizes) == 1 else None)

    def reverse(self, array: Local[V], dimensions: Sequence[int]) -> Local[V]:
        return Local(self.inner.reverse(array.array, [len(array.axes) + each for each in dimensions]), array.axes)

    def concatenate(self, arrays: Sequence[Local[V]], dimension: int) -> Local[V]:
        axes, found = self.together(arrays)
        return Local(self.inner.concatenate(found, len(axes) + dimension), axes)

    def iota(self, element_type: ElementType, size: int) -> Local[V]:
        return Local(self.inner.iota(element_type, size))

    def contract(self, operation: Operation, left: Local[V], right: Local[V]) -> Local[V]:
        """Returns the product: shared axes are batch dimensions, the others belong to rows or to columns."""
        shared = tuple(axis for axis in left.axes if axis in right.axes)
        rows, columns = (tuple(axis for axis in each.axes if axis not in shared) for each in (left, right))
        operands = []
        for each, own in ((left, rows), (right, columns)):
            (major, minor), count = ([*map(each.axes.index, part)] for part in (shared, own)), len(each.axes)
            operands.append(grouped(self.inner, each.array, [*major, count], [*minor, count + 1], [count + 2]))
        found = self.inner.contract(operation, *operands)
        batch, first, second = self.dimensions(left)[0], self.dimensions(left)[1], self.dimensions(right)[1]
        parts = (*self.sizes(shared), batch, *self.sizes(rows), first, *self.sizes(columns), second)
        starts = [0, len(shared) + 1, len(shared) + len(rows) + 2]
        lead = [start + i for start, own in zip(starts, (shared, rows, columns), strict=True) for i in range(len(own))]
        axes = (*shared, *rows, *columns)
        order = [lead[axes.index(axis)] for axis in sorted(axes)]
        order += [len(shared), len(shared) + len(rows) + 1, len(parts) - 1]
        return Local(transposed(self.inner, reshaped(self.inner, found, parts), order), tuple(sorted(axes)))

    def convolve(self, windows: Windows, lhs: Local[V], rhs: Local[V], groups: int) -> Local[V]:
        if rhs.axes:
            return self.apart([lhs, rhs], lambda pair: [self.inner.convolve(windows, pair[0], pair[1], groups)])[0]
        folded_ = self._folded(lhs.array, lhs.axes, 0)
        large = replace(windows, sizes=(self._lead(lhs.axes) * windows.sizes[0], *windows.sizes[1:]))
        found = self.inner.convolve(large, folded_, rhs.array, groups)
        return self._unfolded(found, lhs.axes, 0)

    def combine(self, opcode: str, array: Local[V], initial: Local[V]) -> Local[V]:
        if initial.axes:
            return self.apart([array, initial], lambda pair: [self.inner.combine(opcode, *pair)])[0]
        found = self.inner.combine(opcode, self._folded(array.array, array.axes, 0), initial.array)
        return self._unfolded(found, array.axes, 0)

    def reduce(
        self, operation: Operation, function: Function, arrays: Sequence[Local[V]], initial: Sequence[Local[V]]
    ) -> list[Local[V]]:
        _check_closed(function)
        count, make = len(arrays), self.inner.reduce
        if self._union(initial):
            return self.apart([*arrays, *initial], lambda all_: make(operation, function, all_[:count], all_[count:]))
        axes, found = self.together(arrays)
        folded_ = [self._folded(each, axes, 0) for each in found]
        made = make(operation, function, folded_, [each.array for each in initial])
        return [self._unfolded(each, axes, 0) for each in made]

    def reduce_window(
        self, windows: Windows, function: Function, arrays: Sequence[Local[V]], initial: Sequence[Local[V]]
    ) -> list[Local[V]]:
        _check_closed(function)
        count, make = len(arrays), self.inner.reduce_window
        if self._union(initial):
            return self.apart([*arrays, *initial], lambda all_: make(windows, function, all_[:count], all_[count:]))
        axes, found = self.together(arrays)
        window, sizes = (*[WindowDimension(1)] * len(axes), *windows.window), (*self.sizes(axes), *windows.sizes)
        starts = [each.array for each in initial]
        made = make(replace(windows, window=window, sizes=sizes), function, found, starts)
        return [Local(each, axes) for each in made]

    def in_any_order(self, array: Local[V], order: Hashable) -> Local[V]:
        return Local(self.inner.in_any_order(array.array, order), array.axes)

    # Slices at computed positions

    def slice_at(self, array: Local[V], starts: Sequence[Local[V]], sizes: tuple[int, ...]) -> Local[V]:
        own = self.dimensions(array)
        known = [self._numbers(each) for each in starts]
        if array.data is not None and prod(sizes) == 1 and None not in known:
            return self._read(array, [each for each in known if each is not None], array.data, sizes)
        for dimension, (start, values) in enumerate(zip(starts, known, strict=True)):
            if start.axes and values is not None:
                size, most = sizes[dimension], own[dimension] - sizes[dimension]
                array = self.cut(array, dimension, [max(0, min(each, most)) for each in values], size)
        zero = self.inner.literal(_NUMBER, 0, ())
        rest = [
            Local(zero) if each.axes and values is not None else each
            for each, values in zip(starts, known, strict=True)
        ]
        if self.dimensions(array) == sizes:
            return array
        if not self._union(rest):
            lead = self.sizes(array.axes)
            at = [*[zero] * len(lead), *(each.array for each in rest)]
            return Local(self.inner.slice_at(array.array, at, (*lead, *sizes)), array.axes)
        return self.apart([array, *rest], lambda all_: [self.inner.slice_at(all_[0], all_[1:], sizes)])[0]

    def _read(self, table: Local[V], known: Sequence[Sequence[int]], data: bytes, sizes: tuple[int, ...]) -> Local[V]:
        """Returns the element of a constant at positions that each device knows."""
        kind, own, found = self.element_type(table), self.dimensions(table), []
        for device in range(self.count):
            at = [max(0, min(values[device], size - 1)) for values, size in zip(known, own, strict=True)]
            start = _linear(at, own) * kind.storage_bytes
            found.append(int.from_bytes(data[start : start + kind.storage_bytes], "little"))
        return self.one_element(kind, found, sizes)

    def cut(self, array: Local[V], dimension: int, starts: Sequence[int], size: int) -> Local[V]:
        """Returns `size` elements along a dimension, from a known position of each device on."""
        if len({*starts}) == 1:
            return section(self, array, dimension, size, starts[0])
        split = self.axes_by(starts)
        if split is None or not _is_partition(split, self.mesh, size) or {*_joined(split)} & {*array.axes}:
            axes = tuple(sorted({*array.axes, *self._varying(starts)}))
            parts = []
            for index in self.indices(axes):
                part = self.part(array, axes, index)
                parts.append(section(self.inner, part, dimension, size, starts[self._device(axes, index)]))
            return self.joined_parts(parts, axes)
        order = _joined(split)
        whole = section(self, array, dimension, size * self._lead(order), starts[0])
        return self._split(whole, dimension, order)

    def _varying(self, values: Sequence[int]) -> Axes:
        return tuple(
            axis for axis in self._all if any(values[d] != values[self._neighbour(d, axis)] for d in range(self.count))
        )

    def _split(self, local: Local[V], dimension: int, order: Axes) -> Local[V]:
        """Returns the parts of a dimension, device by device along the axes of `order`, the major one first."""
        count, place = len(local.axes), len(local.axes) + dimension
        apart = self._unfolded_at(local.array, order, place)
        return self._sorted(apart, (*local.axes, *order), [*range(count), *range(place, place + len(order))])

    def _sorted(self, array: V, axes: Axes, places: Sequence[int]) -> Local[V]:
        """Returns the value of an array whose dimensions `places` are those of axes; the others keep their order."""
        rank = len(self.inner.dimensions(array))
        lead = [place for _, place in sorted(zip(axes, places, strict=True))]
        order = [*lead, *(i for i in range(rank) if i not in lead)]
        return Local(transposed(self.inner, array, order), tuple(sorted(axes)))

    def update_at(self, array: Local[V], update: Local[V], starts: Sequence[Local[V]]) -> Local[V]:
        if self._union(starts):
            return self.apart(
                [array, update, *starts], lambda all_: [self.inner.update_at(all_[0], all_[1], all_[2:])]
            )[0]
        axes, (whole, new) = self.together([array, update])
        at = [*[self.inner.literal(_NUMBER, 0, ())] * len(axes), *(each.array for each in starts)]
        return Local(self.inner.update_at(whole, new, at), axes)

    def gather(
        self,
        operation: Operation,
        array: Local[V],
        columns: Sequence[Local[V]],
        windows: tuple[int, ...],
        order: tuple[int, ...],
    ) -> Local[V]:
        """Returns a gather: axes of the array are part of its rows, those of the indices count more of them."""
        axes, found = self.together(columns)
        is_promised = bool(promise_of(operation, order)) and bool(axes)
        if is_promised or {*axes} & {*array.axes}:
            make = self.inner.gather
            return self.apart([array, *columns], lambda all_: [make(operation, all_[0], all_[1:], windows, order)])[0]
        folded_ = [self._folded(each, axes, 0) for each in found]
        whole = self._folded(array.array, array.axes, len(self.dimensions(array)) - 1)
        made = self.inner.gather(operation, whole, folded_, windows, order)
        inner = self._unfolded(made, array.axes, len(windows) + 1)
        count = len(array.axes)
        outer = self._unfolded_at(inner.array, axes, count)
        return self._sorted(outer, (*array.axes, *axes), [*range(count + len(axes))])

    def _unfolded_at(self, array: V, axes: Axes, dimension: int) -> V:
        """Returns an array with a dimension that axes are the major part of as several dimensions."""
        sizes = self.inner.dimensions(array)
        inner = sizes[dimension] // self._lead(axes)
        return reshaped(self.inner, array, (*sizes[:dimension], *self.sizes(axes), inner, *sizes[dimension + 1 :]))

    def scatter_at(
        self, scatter: Scatter, arrays: Sequence[Local[V]], columns: Sequence[Local[V]], updates: Sequence[Local[V]]
    ) -> list[Local[V]]:
        _check_closed(scatter.function)
        first, second = len(arrays), len(arrays) + len(columns)

        def made(all_: Sequence[V]) -> list[V]:
            return self.inner.scatter_at(scatter, all_[:first], all_[first:second], all_[second:])

        if self._union(columns):
            return self.apart([*arrays, *columns, *updates], made)
        axes, found = self.together([*arrays, *updates])
        rows = [self._folded(each, axes, len(self.inner.dimensions(each)) - len(axes) - 1) for each in found]
        results = made([*rows[:first], *(each.array for each in columns), *rows[first:]])
        return [self._unfolded(each, axes, len(columns)) for each in results]

    # Control flow

    def select(self, selector: Local[V], results: Sequence[Local[V]]) -> Local[V]:
        axes, arrays = self.together(results)
        if not selector.axes:
            return Local(self.inner.select(selector.array, arrays), axes)
        self._check_uniform(selector)
        predicate = self.splat(selector, self.dimensions(results[0]))
        return self.each("select", self.element_type(results[0]), [predicate, *results])

    def choice(self, label: Hashable, selector: Local[V], results: Sequence[Local[V]]) -> Local[V]:
        if not selector.axes:
            axes, arrays = self.together(results) if self._union(results) else ((), [each.array for each in results])
            return Local(self.inner.choice(label, selector.array, arrays), axes)
        self._check_uniform(selector)
        return self.apart([selector, *results], lambda all_: [self.inner.choice(label, all_[0], all_[1:])])[0]

    def _check_uniform(self, chosen: Local[V]) -> None:
        """Raises UndefinedError where devices that take different ways exchange data on them."""
        operation = self._operations[-1] if self._operations else None
        called = [] if operation is None else [each for each in operation.called if _exchanges(each, frozenset())]
        if chosen.axes and called:
            raise UndefinedError("devices that take different branches or iterations exchange data there")

    def final(self, loop: Loop[Local[V]], start: Sequence[Local[V]]) -> Sequence[Local[V]]:
        """Returns the final state of a loop, whose values differ along the same axes before each iteration."""
        axes = self._axes_of_state(loop, start)
        first = [
            each.array if each.axes == own else self.aligned(each, own) for each, own in zip(start, axes, strict=True)
        ]

        def step(state: Sequence[V]) -> list[V]:
            ends = self._within(loop.step, state, axes)
            return [self.aligned(each, own) for each, own in zip(ends, axes, strict=True)]

        def test(state: Sequence[V]) -> list[V]:
            (found,) = self._within(loop.test, state, axes)
            return [found.array]

        lifted = Loop(self._functions, loop.operation, test, step, loop.body, loop.results)
        self._functions.level, self._functions.scope = self.walker.level, self.walker.scope
        final = self.inner.final(lifted, first)
        return [Local(each, own) for each, own in zip(final, axes, strict=True)]

    def _within(
        self, run: Callable[[Sequence[Local[V]]], list[Local[V]]], state: Sequence[V], axes: Sequence[Axes]
    ) -> list[Local[V]]:
        outer = self.walker.level, self.walker.scope
        self.walker.level, self.walker.scope = self._functions.level, self._functions.scope
        try:
            return run([Local(each, own) for each, own in zip(state, axes, strict=True)])
        finally:
            self.walker.level, self.walker.scope = outer

    def _axes_of_state(self, loop: Loop[Local[V]], start: Sequence[Local[V]]) -> list[Axes]:
        """Returns the axes along which the elements of a loop's state differ in some iteration.

        They are found on plain nodes of a graph of their own. Raises UndefinedError where devices may take different
        numbers of iterations.
        """
        axes = [each.axes for each in start]
        scratch = Devices(Nodes(Graph()), self.module, self.mesh, self.walker.iterations)
        walker = Walker(scratch, self.walker.devices, self.walker.iterations)
        shapes = [self.shape(each) for each in start]
        condition, body = (
            (loop.operation.called_as(role) for role in ("condition", "body"))
            if loop.operation.opcode.endswith("while")
            else (None, None)
        )
        if condition is None or body is None:
            raise UndefinedError("a scan differs among devices")
        outer = [(value, self.walker.leaves([self.walker.values[value]])) for value in loop.operation.captured]
        for place, (value, leaves) in enumerate(outer):
            found = scratch.variables([self.shape(each) for each in leaves], [each.axes for each in leaves], (place,))
            walker.values[value] = tree_of(value.shape, iter(found))
        while True:
            state = scratch.variables(shapes, axes)
            (test,) = walker.flat(condition, state)
            if test.axes:
                raise UndefinedError("devices may take different numbers of iterations")
            ends = walker.flat(body, state)
            if walker.effects:
                raise UndefinedError("a loop on several devices has side effects")
            grown = [tuple(sorted({*own, *end.axes})) for own, end in zip(axes, ends, strict=True)]
            if grown == axes:
                return axes
            axes = grown

    def variables(self, shapes: Sequence[Shape], axes: Sequence[Axes], name: tuple[int, ...] = ()) -> list[Local[V]]:
        """Returns values that nothing is known of, which differ along axes."""
        found = []
        for number, (shape, own) in enumerate(zip(shapes, axes, strict=True)):
            if isinstance(shape, ArrayShape):
                shape = ArrayShape(shape.element_type, (*self.sizes(own), *shape.dimensions))
            found.append(Local(self.inner.make("leaf", ("bound", 0, number, *name), shape), own))
        return found

    # Exchanges

    def among_devices(
        self, operation: Operation, operands: Sequence[TreeOf[Local[V]]]
    ) -> Sequence[TreeOf[Local[V]]] | None:
        if is_boundary(operation):
            return self._at_boundary(operation, operands)
        if operation.opcode not in _NUMBERS:
            return None
        is_partition = operation.opcode == _NUMBERS[0]
        numbers = [d % self.partitions if is_partition else d // self.partitions for d in range(self.count)]
        return [self.one_element(static_array(operation.results[0].shape).element_type, numbers, ())]

    def _at_boundary(self, operation: Operation, operands: Sequence[TreeOf[Local[V]]]) -> Sequence[TreeOf[Local[V]]]:
        """Returns the parts of whole arrays, or whole arrays of parts, or the results of a computation on parts."""
        boundary, values = boundary_of(self.module, operation, self.count), self.walker.leaves(operands)
        if boundary.entering:
            if any(each.axes for each in values):
                raise UndefinedError("a manual computation is inside another one")
            values = [self.split(each.array, own) for each, own in zip(values, boundary.entering, strict=True)]
        if operation.opcode == COMPUTATION:
            values = self.walker.flat(operation.called[0], values)
        if boundary.leaving:
            shapes = [leaf for value in operation.results for leaf in value.shape.leaves()]
            values = [
                self._whole(each, own, static_array(shape).dimensions)
                for each, own, shape in zip(values, boundary.leaving, shapes, strict=True)
            ]
        return self.walker.trees(operation, values)

    def _whole(self, local: Local[V], sharding: Sharding, sizes: tuple[int, ...]) -> Local[V]:
        array, rest = self.joined(local, sharding, sizes)
        if rest:
            raise UndefinedError("devices that hold the same part of a result of a manual computation may differ")
        return Local(array)

    def exchange(
        self, operation: Operation, functions: Sequence[Local[V]], part: Exchange, arrays: Sequence[Local[V]]
    ) -> Sequence[Local[V]]:
        if unknown := {name for name, _ in part.texts} - {_PAIRS, "concat_dimension", "split_count"}:
            raise UndefinedError(f"{part.opcode} with {', '.join(sorted(unknown))} has no definition among devices")
        if part.opcode == "collective-permute":
            return [self._permuted(arrays[0], part, device_lists(operation, _PAIRS))]
        groups = device_groups(part, self.replicas, self.partitions)
        if part.opcode == "all-to-all":
            return self._all_to_all(arrays, groups)
        if len(arrays) != 1:
            raise UndefinedError(f"{part.opcode} of {len(arrays)} arrays that belong together")
        found, places = self.members(arrays[0], groups), try_positions(groups, self.count)
        assert places is not None  # `members` has checked the groups
        (dimension,) = dict(part.dimensions).get("dimensions") or (0,)
        count, sizes = len(groups[0]), self.dimensions(arrays[0])
        # The result of each operation, given the values of a group.
        match part.opcode:
            case "all-gather":
                groups = [[i + 1] for i in range(len(sizes))]
                groups[dimension].insert(0, 0)
                return [grouped(self, found, *groups)]
            case "all-reduce":
                return [self._combined(operation, found, sizes)]
            case "reduce-scatter":
                whole_, size = self._combined(operation, found, sizes), sizes[dimension] // count
                return [self.cut(whole_, dimension, [place * size for place in places[1]], size)]
            case "collective-broadcast":
                return [reshaped(self, section(self, found, 0, 1), sizes)]
        raise UndefinedError(f"{part.opcode} has no definition among devices")

    def members(self, local: Local[V], groups: Sequence[Sequence[int]]) -> Local[V]:
        """Returns the values of all devices of a device's group, along a new first dimension."""
        places = try_positions(groups, self.count)
        if places is None or len({*map(len, groups)}) != 1:
            raise UndefinedError("the groups of a collective operation do not hold each device once")
        split = self.axes_by(places[1])
        order = () if split is None else _joined(split)
        if split is None or not self._is_product(groups, order):
            return self._members_one_by_one(local, groups, places[0])
        axes = tuple(sorted({*local.axes, *order}))
        array = self.aligned(local, axes)
        rest = tuple(axis for axis in axes if axis not in order)
        others = [[i] for i in range(len(axes), len(self.inner.dimensions(array)))]
        kept, joined = ([*map(axes.index, part)] for part in (rest, order))
        return Local(grouped(self.inner, array, *([i] for i in kept), joined, *others), rest)

    def _is_product(self, groups: Sequence[Sequence[int]], order: Axes) -> bool:
        """Is true where the devices of each group differ in the indices along `order` only, and are sorted by these."""
        offsets = [self._device(order, index) for index in self.indices(order)]
        return all([*group] == [group[0] + each for each in offsets] for group in groups)

    def _members_one_by_one(self, local: Local[V], groups: Sequence[Sequence[int]], numbers: Sequence[int]) -> Local[V]:
        whole, found = self._all, []
        for index in self.indices(whole):
            group = groups[numbers[self._device(whole, index)]]
            parts = [self.part(local, whole, self.index(device, whole)) for device in group]
            sizes = self.inner.dimensions(parts[0])
            found.append(self.inner.concatenate([reshaped(self.inner, each, (1, *sizes)) for each in parts], 0))
        return self.joined_parts(found, whole)

    def _combined(self, operation: Operation, found: Local[V], sizes: tuple[int, ...]) -> Local[V]:
        """Returns the combination of the arrays along the first dimension."""
        kind = self.element_type(found)
        opcode = "add" if is_sum(operation) else _only_opcode(operation)
        unit = None if opcode is None else neutral(opcode, kind)
        if opcode is None or unit is None:
            raise UndefinedError(f"{operation.opcode} combines by a function that is no commutative operation")
        rank = len(sizes)
        rows = grouped(self, found, range(1, rank + 1), [0])
        return reshaped(self, self.combine(opcode, rows, self.literal(kind, unit, ())), sizes)

    def _all_to_all(self, arrays: Sequence[Local[V]], groups: Sequence[Sequence[int]]) -> list[Local[V]]:
        """Returns for each device of a group what it has sent: array i of a device goes to device i."""
        places = try_positions(groups, self.count)
        if places is None or len(arrays) != len(groups[0]):
            raise UndefinedError("an all-to-all has another number of arrays than its groups have devices")
        sizes = self.dimensions(arrays[0])
        sent = self.concatenate([reshaped(self, each, (1, *sizes)) for each in arrays], 0)
        received = self.cut(self.members(sent, groups), 1, places[1], 1)
        return [reshaped(self, section(self, received, 0, 1, i), sizes) for i in range(len(arrays))]

    def _permuted(self, local: Local[V], part: Exchange, pairs: Sequence[Sequence[int]] | None) -> Local[V]:
        """Returns the value of the device that sends to a device, and zeros where none does."""
        sources: list[int | None] = [None] * self.count
        for source, target in device_pairs(pairs, part.mode, self.replicas, self.partitions):
            if not 0 <= source < self.count or not 0 <= target < self.count:
                raise UndefinedError(f"the pair {source}, {target} names a device that is not there")
            sources[target] = source
        moved = tuple(
            axis
            for axis in self._all
            if any(s is not None and self.index(s, (axis,)) != self.index(d, (axis,)) for d, s in enumerate(sources))
        )
        axes = tuple(sorted({*local.axes, *moved}))
        for chosen in (moved, self._all):
            table = self._table(sources, chosen)
            if table is not None:
                axes = tuple(sorted({*axes, *chosen}))
                return self._taken(Local(self.aligned(local, axes), axes), chosen, table)
        raise UndefinedError("the pairs of a collective-permute name no devices")

    def _table(self, sources: Sequence[int | None], axes: Axes) -> list[int | None] | None:
        """Returns for each index along axes the index of the source; None where other axes decide, too."""
        sizes = self.sizes(axes)
        found: dict[int, int | None] = {}
        for device, source in enumerate(sources):
            own = _linear(self.index(device, axes), sizes)
            other = None if source is None else _linear(self.index(source, axes), sizes)
            if found.setdefault(own, other) != other:
                return None
        return [found[i] for i in range(prod(sizes))]

    def _taken(self, local: Local[V], chosen: Axes, table: Sequence[int | None]) -> Local[V]:
        """Returns the value at other indices along axes; None is zeros."""
        rest = tuple(axis for axis in local.axes if axis not in chosen)
        sizes = self.inner.dimensions(local.array)
        order = [*map(local.axes.index, (*chosen, *rest)), *range(len(local.axes), len(sizes))]
        turned = transposed(self.inner, local.array, order)
        dims = self.inner.dimensions(turned)[len(chosen) :]
        flat, parts = reshaped(self.inner, turned, (len(table), *dims)), []
        for start, limit, source in _runs(table):
            if source is None:
                zero = self.inner.literal(self.element_type(local), 0, ())
                parts.append(self.inner.splat(zero, (limit - start, *dims)))
            else:
                parts.append(section(self.inner, flat, 0, limit - start, source))
        whole = parts[0] if len(parts) == 1 else self.inner.concatenate(parts, 0)
        back = reshaped(self.inner, whole, (*self.sizes(chosen), *dims))
        return Local(transposed(self.inner, back, inverse_permutation(tuple(order))), local.axes)

    # Whole arrays

    def split(self, array: V, sharding: Sharding) -> Local[V]:
        """Returns the part of an array that each device holds; parts of one size, the last ones with padding."""
        own = self.inner.dimensions(array)
        high = tuple(
            size * count - full for size, count, full in zip(sharding.local(own), sharding.tiles, own, strict=True)
        )
        if any(high):
            step = Pad((0,) * len(own), high)
            plan = Plan(self.inner.element_type(array), own, (step,), (True,))
            array = self.inner.after(array, plan)
        local = Local(array)
        for dimension, order in enumerate(self._orders(sharding)):
            local = self._split(local, dimension, order)
        return local

    def joined(self, local: Local[V], sharding: Sharding, sizes: tuple[int, ...]) -> tuple[V, Axes]:
        """Returns the array that devices hold parts of, without padding, and the axes along which there are several."""
        orders = self._orders(sharding)
        used = tuple(axis for order in orders for axis in order)
        axes = tuple(sorted({*local.axes, *used}))
        array, rest = self.aligned(local, axes), tuple(axis for axis in axes if axis not in used)
        groups = [*([axes.index(axis)] for axis in rest)]
        groups += [[*map(axes.index, own), len(axes) + dimension] for dimension, own in enumerate(orders)]
        whole = grouped(self.inner, array, *groups)
        padded, lead = self.inner.dimensions(whole)[len(rest) :], self.sizes(rest)
        if padded != sizes:
            whole = self.inner.move(whole, Slice((0,) * len((*lead, *sizes)), (*lead, *sizes)))
        return whole, rest

    def _orders(self, sharding: Sharding) -> list[Axes]:
        """Returns the axes that split each dimension, the major one first; raises UndefinedError for other parts."""
        found = []
        for dimension, count in enumerate(sharding.tiles):
            split = self.axes_by([part[dimension] for part in sharding.parts])
            if split is None or not _is_partition(split, self.mesh, 1) or self._lead(_joined(split)) != count:
                raise UndefinedError("a sharding does not follow the axes of the mesh")
            found.append(_joined(split))
        return found

    # Records of a proof

    def term(self, array: Local[V]) -> Local[V]:
        return array if array.parts else replace(array, array=self.inner.term(array.array))

    def outs(self, made: Local[V], shapes: Sequence[Shape]) -> list[Local[V]]:
        return [self.make("out", number, shape, (made,)) for number, shape in enumerate(shapes)]

    def enter(self, operation: Operation) -> None:
        self._operations.append(operation)
        self.inner.enter(operation)

    def leave(self, results: Sequence[TreeOf[Local[V]]]) -> None:
        self._operations.pop()
        self.inner.leave([leaf.array for tree in results for leaf in leaves_of(tree) if not leaf.parts])

    def note(self, rule: Any) -> None:
        self.inner.note(rule)


def _check_closed(function: Function) -> None:
    if not is_closed(function):
        raise UndefinedError("a function on several devices uses values from outside")


def _exchanges(function: Function, above: frozenset[Function]) -> bool:
    """Is true for a function with a collective operation, also in the functions that it calls."""
    return function not in above and any(
        has(each.opcode, Trait.COLLECTIVE) or any(_exchanges(called, above | {function}) for called in each.called)
        for each in function.operations
    )


def _only_opcode(operation: Operation) -> str | None:
    """Returns the commutative operation that a function of two scalars applies to its parameters, else None."""
    (function,) = operation.called or (None,)
    if function is None:
        return None
    found = [each for each in function.operations if each.opcode not in ("parameter", "tuple")]
    if len(found) != 1 or {*found[0].operands} != {*function.parameters} or not has(found[0].opcode, Trait.COMMUTATIVE):
        return None
    kinds = {leaf.element_type for value in (*function.parameters, *found[0].results) for leaf in value.shape.arrays()}
    is_plain = elementwise_label(found[0]) == found[0].opcode and not has_undeclared(found[0])
    return (
        found[0].opcode if len(kinds) == 1 and len(found[0].operands) == len(function.parameters) and is_plain else None
    )


def _joined(split: Sequence[tuple[Axes, int]]) -> Axes:
    return tuple(axis for axes, _ in split for axis in axes)


def _is_partition(split: Sequence[tuple[Axes, int]], mesh: Sequence[int], size: int) -> bool:
    """Is true where indices along axes count parts of `size` elements, one after another."""
    for axes, weight in reversed(split):
        if weight != size:
            return False
        size *= prod(mesh[axis] for axis in axes)
    return True


def _linear(index: Sequence[int], sizes: Sequence[int]) -> int:
    found = 0
    for i, size in zip(index, sizes, strict=True):
        found = found * size + i
    return found


def _runs(table: Sequence[int | None]) -> Iterator[tuple[int, int, int | None]]:
    """Yields the runs of consecutive numbers, or of None, in a table: start, limit, first number."""
    start = 0
    for i in range(1, len(table) + 1):
        first, last = table[start], table[i] if i < len(table) else -1
        is_next = last is None if first is None else last == first + i - start
        if i == len(table) or not is_next:
            yield start, i, first
            start = i


# Two programs


@dataclass(frozen=True, slots=True)
class Results(Generic[V]):
    """The results and side effects of two programs on the same inputs."""

    expected: list[V]
    found: list[V]
    effects: list[V] = field(default_factory=list)
    other_effects: list[V] = field(default_factory=list)


def run_both(
    first: Maker[V],
    make_last: Callable[[], Maker[V]],
    modules: Sequence[Module],
    interface: EntryInterface,
    iterations: int,
    *,
    on_each: bool = False,
) -> Results[V]:
    """Returns the results of two programs; with `on_each` both are for the same devices.

    `make_last` returns the maker of the last one after the first one was walked. Raises UndefinedError where devices do
    something without a definition.
    """
    count = prod(device_counts(modules[0])) if on_each else 1
    inputs = [
        first.make("leaf", ("parameter", i), each.of_devices(count).without_layout)
        for i, each in enumerate(interface.parameters)
    ]
    if on_each:
        if any(each.layouts or each.sharding is not None for side in interface for each in side):
            raise UndefinedError("arrays are packed on several devices, or are parts of whole ones")
        expected = _run_on_each(first, modules, 0, inputs, iterations)
        return Results(expected, _run_on_each(make_last(), modules, 1, inputs, iterations))
    if interface.shardings is not None:
        whole, last = _run_whole(first, modules[0], inputs, iterations), make_last()
        wanted = [*map(last.term, whole)]
        return _run_partitioned(last, modules[1], interface.shardings, inputs, wanted, iterations)
    expected, effects = ([*map(first.term, part)] for part in walk(first, modules[0], inputs, iterations))
    last = make_last()
    packed = [last.packed(node, each.layouts) for node, each in zip(inputs, interface.parameters, strict=True)]
    found, other_effects = ([*map(last.term, part)] for part in walk(last, modules[1], packed, iterations))
    found = [last.unpacked(node, each.layouts) for node, each in zip(found, interface.results, strict=True)]
    return Results(expected, found, effects, other_effects)


def _run_partitioned(
    maker: Maker[V],
    module: Module,
    shardings: tuple[Sequence[Sharding], Sequence[Sharding]],
    inputs: Sequence[V],
    expected: Sequence[V],
    iterations: int,
) -> Results[V]:
    """Returns the results of a program for several devices, joined, and the expected results in the same shape.

    `shardings` are those of parameters and results. A result that several devices hold is compared on each of them.
    """
    devices = Devices(maker, module, mesh_of(module, [*shardings[0], *shardings[1]]), iterations)
    found = devices.run([devices.split(array, each) for array, each in zip(inputs, shardings[0], strict=True)])
    wholes, wanted = [], []
    for local, array, sharding in zip(found, expected, shardings[1], strict=True):
        sizes = maker.dimensions(array)
        whole, rest = devices.joined(local, sharding, sizes)
        lead = devices.sizes(rest)
        wholes.append(whole)
        places = [*range(len(lead), len(lead) + len(sizes))]
        wanted.append(maker.broadcast(array, places, (*lead, *sizes)) if lead else array)
    return Results(wanted, wholes)


def _run_whole(maker: Maker[V], module: Module, inputs: Sequence[V], iterations: int) -> list[V]:
    """Returns the results of a program that computes whole arrays, where it may use parts on several devices."""
    if prod(device_counts(module)) > 1:
        found = Devices(maker, module, mesh_of(module), iterations).run([Local(array) for array in inputs])
        if any(each.axes for each in found):
            raise UndefinedError("a result differs among devices, though it is no part")
        return [each.array for each in found]
    walker = Walker(maker, device_counts(module), iterations)
    results = walker.flat(module.entry, inputs)
    if walker.effects:
        raise UndefinedError("a program on several devices has side effects")
    return results


def _run_on_each(
    maker: Maker[V], modules: Sequence[Module], number: int, inputs: Sequence[V], iterations: int
) -> list[V]:
    """Returns the results of one of two programs for several devices, with a leading dimension for these.

    So have the inputs. Raises UndefinedError where the two programs have no common mesh.
    """
    mesh = common_mesh([mesh_of(each) for each in modules])
    devices, axes = Devices(maker, modules[number], mesh, iterations), tuple(range(len(mesh)))
    parts = [Local(reshaped(maker, array, (*mesh, *maker.dimensions(array)[1:])), axes) for array in inputs]
    wholes = [(devices.aligned(each, axes), devices.dimensions(each)) for each in devices.run(parts)]
    return [reshaped(maker, array, (devices.count, *sizes)) for array, sizes in wholes]


def common_mesh(meshes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Returns the mesh that has the axes of all meshes; raises UndefinedError where none has."""
    bounds = sorted({prod(mesh[i:]) for mesh in meshes for i in range(len(mesh) + 1)}, reverse=True)
    if len({*map(prod, meshes)}) > 1 or any(whole % part for whole, part in pairwise(bounds)):
        raise UndefinedError("the groups of devices are those of no common mesh")
    return tuple(whole // part for whole, part in pairwise(bounds))
