"""Operations that read or write at computed positions: dynamic slices, gather and scatter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.ops.declaration import (
    ANY,
    COMBINED,
    DATA,
    TO_APPLY,
    Opcode,
    Trait,
    dims,
    flags,
    integers,
    op,
    size_list,
)
from dialect_utils.ops.domain import Domain, UndefinedError, V, result_array
from dialect_utils.ops.elementwise import HOST_MEMORY
from dialect_utils.ops.factors import RESULT, Factor, Kind, Position, aligned, shared, sizes_at
from dialect_utils.ops.gathering import GATHER_NAMES, SCATTER_NAMES, Numbers, define_gather, define_scatter
from dialect_utils.ops.inference import Instance, ShapeError, check_reducer, is_same_kind, made

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


# Results (ShapeInference::InferDynamicSliceShape, InferGatherShape, InferScatterShape)


def dynamic_slice(instance: Instance) -> Shape:
    """Returns the sizes in `dynamic_slice_sizes`."""
    operand, sizes = instance.array(0), instance.ints("dynamic_slice_sizes")
    if len(sizes) != operand.rank:
        message = f"dynamic-slice of {operand} needs one size for each dimension in dynamic_slice_sizes"
        raise ShapeError(message, "dynamic_slice_sizes")
    if any(not 0 <= size <= bound for size, bound in zip(sizes, operand.dimensions, strict=True)):
        raise ShapeError(f"dynamic-slice takes {list(sizes)} of {operand}, which is smaller", "dynamic_slice_sizes")
    _check_starts(instance, 1, operand)
    return made(operand.element_type, sizes)


def dynamic_update_slice(instance: Instance) -> Shape:
    """Returns the shape of the array, or the buffer, that is updated."""
    given = instance.operands[0]
    operand, update = given.array if isinstance(given, BufferShape) else instance.array(0), instance.array(1)
    if update.rank != operand.rank or any(
        size > bound for size, bound in zip(update.dimensions, operand.dimensions, strict=True)
    ):
        raise ShapeError(f"dynamic-update-slice writes {update} into {operand}, which is smaller", "operand 1")
    if not instance.is_lenient and not is_same_kind(operand.element_type, update.element_type):
        raise ShapeError(f"dynamic-update-slice of {operand} and {update}: the element types differ", "operand 1")
    _check_starts(instance, 2, operand)
    return given


def _check_starts(instance: Instance, first: int, operand: ArrayShape) -> None:
    starts = instance.arrays(first)
    # One vector of all start indices is the legacy form.
    if len(starts) == 1 and starts[0].rank == 1:
        if starts[0].dimensions[0] != operand.rank:
            message = f"{instance.opcode} of {operand} needs {operand.rank} start indices, found {starts[0]}"
            raise ShapeError(message, "operands")
        return
    if len(starts) != operand.rank or any(each.rank for each in starts):
        raise ShapeError(f"{instance.opcode} of {operand} needs {operand.rank} scalar indices", "operands")
    if not instance.is_lenient and len({each.element_type for each in starts}) > 1:
        raise ShapeError(f"{instance.opcode} takes start indices of one type", "operands")


def check_memory(instance: Instance) -> None:
    """Raises ShapeError where a slice leaves the device, or an update comes from the host (HostOffload...)."""
    array, result = instance.operands[0], instance.shape
    if not (instance.is_layout_sensitive and isinstance(array, ArrayShape) and isinstance(result, ArrayShape)):
        return
    if array.layout is None or result.layout is None:
        return
    spaces = array.layout.memory_space, result.layout.memory_space
    is_slice = instance.opcode == "dynamic-slice"
    if spaces == ((0, HOST_MEMORY) if is_slice else (HOST_MEMORY, 0)):
        way = "from device to host" if is_slice else "from host to device"
        message = f"{instance.opcode} should not change the memory space of the layout {way}: {array} to {result}"
        raise ShapeError(message, "shape")


@dataclass(frozen=True, slots=True)
class _Numbers(Numbers):
    """The dimension numbers of an instruction, with the array and the indices that they are about."""

    opcode: str
    array: ArrayShape
    indices: ArrayShape

    @property
    def batch(self) -> list[int]:
        """Returns the sizes of the indices' dimensions that hold no vectors."""
        return [size for dim, size in enumerate(self.indices.dimensions) if dim != self.vector]

    @property
    def windowed(self) -> list[int]:
        """Returns the dimensions of the array that windows have."""
        return self.kept(self.array.rank)

    def check(self, names: Sequence[str]) -> None:
        """Raises ShapeError where the numbers do not fit; `names` are those of mapped, gone, batched and of indices."""
        sizes, opcode, (mapped, gone, batched, _) = self.indices.dimensions, self.opcode, names
        if not 0 <= self.vector <= self.indices.rank:
            message = f"{opcode} has its indices in dimension {self.vector} of {self.indices}"
            raise ShapeError(message, "index_vector_dim")
        for name, found in ((mapped, self.mapped), (gone, self.gone), (batched, self.batched)):
            if any(not 0 <= dim < self.array.rank for dim in found):
                raise ShapeError(f"{opcode} names a dimension in {name} that {self.array} has not: {list(found)}", name)
        length = sizes[self.vector] if self.vector < self.indices.rank else 1
        if len(self.mapped) != length:
            raise ShapeError(f"{opcode} has {length} indices at a time for {len(self.mapped)} dimensions", mapped)
        for name, found in ((gone, self.gone), (batched, self.batched)):
            if list(found) != sorted(set(found)):
                raise ShapeError(f"{opcode} names dimensions out of order in {name}: {list(found)}", name)
        if len(set(self.mapped)) < len(self.mapped) or {*self.gone} & {*self.batched}:
            raise ShapeError(f"{opcode} names a dimension twice", mapped)
        if {*self.mapped} & {*self.batched}:
            raise ShapeError(f"{opcode} names a dimension in both {mapped} and {batched}", mapped)
        self._check_batching(names[-1])

    def _check_batching(self, name: str) -> None:
        theirs = self.joined
        if len(theirs) != len(self.batched) or len(set(theirs)) < len(theirs) or self.vector in theirs:
            message = f"{self.opcode} joins the dimensions {list(self.batched)} of an array and {list(theirs)} of its "
            raise ShapeError(f"{message}indices", name)
        for ours, other in zip(self.batched, theirs, strict=True):
            if not 0 <= other < self.indices.rank or self.array.dimensions[ours] != self.indices.dimensions[other]:
                message = f"{self.opcode} joins dimension {ours} of {self.array} and {other} of {self.indices}"
                raise ShapeError(message, name)


def _numbers(instance: Instance, array: ArrayShape, indices: ArrayShape, names: Sequence[str]) -> _Numbers:
    mapped, gone, batched, joined = (instance.ints(name) for name in names)
    vector = instance.number("index_vector_dim", -1)
    found = _Numbers(mapped, gone, batched, joined, vector, instance.opcode, array, indices)
    found.check(names)
    return found


def gather(instance: Instance) -> Shape:
    """Returns the batch dimensions of the indices, with those of a slice at `offset_dims`."""
    array, indices = instance.arrays()
    numbers, sizes = _numbers(instance, array, indices, GATHER_NAMES), instance.ints("slice_sizes")
    if len(sizes) != array.rank or any(
        not 0 <= size <= bound for size, bound in zip(sizes, array.dimensions, strict=True)
    ):
        raise ShapeError(f"gather takes slices of {list(sizes)} from {array}", "slice_sizes")
    gone = (*numbers.gone, *numbers.batched)
    if any(sizes[dim] > 1 for dim in gone):
        message = f"gather takes slices of {list(sizes)}, which are larger than 1 in dimensions {list(gone)}"
        raise ShapeError(message, "slice_sizes")
    windows, batch = [sizes[dim] for dim in numbers.windowed], numbers.batch
    rank = len(windows) + len(batch)
    offsets = instance.dims("offset_dims", rank)
    if list(offsets) != sorted(offsets):
        raise ShapeError(f"gather names dimensions out of order in offset_dims: {list(offsets)}", "offset_dims")
    if len(offsets) != len(windows):
        message = f"gather has {len(offsets)} offset_dims for {len(windows)} dimensions of a slice"
        raise ShapeError(message, "offset_dims")
    rest_of_windows, rest_of_batch = iter(windows), iter(batch)
    dimensions = [next(rest_of_windows) if dim in offsets else next(rest_of_batch) for dim in range(rank)]
    return made(array.element_type, dimensions)


def scatter(instance: Instance) -> Shape:
    """Returns the shapes of the arrays that are scattered into."""
    count = len(instance.operands) // 2
    if len(instance.operands) % 2 == 0 or not count:
        raise ShapeError("scatter takes arrays, indices, and one update for each array", "operands")
    arrays = instance.arrays(0, count)
    return arrays[0] if count == 1 else TupleShape(tuple(arrays))


def check_scatter(instance: Instance) -> None:
    """Raises ShapeError where indices, updates or the computation of a scatter do not fit."""
    count = len(instance.operands) // 2
    arrays, indices, updates = instance.arrays(0, count), instance.array(count), instance.arrays(count + 1)
    for each in (arrays, updates):
        if len({array.dimensions for array in each}) > 1:
            raise ShapeError(f"scatter of arrays whose dimensions differ: {', '.join(map(str, each))}", "operands")
    if not instance.is_lenient and not indices.element_type.is_integral:
        raise ShapeError(f"scatter takes integers as indices, found {indices.element_type}", f"operand {count}")
    _check_updates(instance, _numbers(instance, arrays[0], indices, SCATTER_NAMES), updates[0])
    kinds = [array.element_type for array in arrays]
    check_reducer(instance, 0, kinds, [update.element_type for update in updates])


def _check_updates(instance: Instance, numbers: _Numbers, update: ArrayShape) -> None:
    windowed = instance.ints("update_window_dims")
    if list(windowed) != sorted(set(windowed)) or any(not 0 <= dim < update.rank for dim in windowed):
        message = f"scatter has its windows in dimensions {list(windowed)} of {update}"
        raise ShapeError(message, "update_window_dims")
    rest = [size for dim, size in enumerate(update.dimensions) if dim not in windowed]
    if rest != numbers.batch:
        message = f"scatter has {rest} updates in {update} for {numbers.batch} indices in {numbers.indices}"
        raise ShapeError(message, "operands")
    largest = [numbers.array.dimensions[dim] for dim in numbers.windowed]
    sizes = [update.dimensions[dim] for dim in windowed]
    if len(sizes) != len(largest) or any(size > most for size, most in zip(sizes, largest, strict=True)):
        message = f"scatter writes windows of {sizes} into {numbers.array}, which has {largest}"
        raise ShapeError(message, "update_window_dims")


_GATHERED = "dimension_numbers."
_SCATTERED = "scatter_dimension_numbers."


def define_dynamic_slice(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the slice at computed start indices, which are clamped."""
    array, *starts = operands
    return [domain.slice_at(array, _scalars(domain, starts), result_array(operation).dimensions)]


def define_dynamic_update_slice(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the array with a slice replaced at computed start indices, which are clamped."""
    array, update, *starts = operands
    return [domain.update_at(array, update, _scalars(domain, starts))]


def _scalars(domain: Domain[V], starts: Sequence[V]) -> Sequence[V]:
    """Returns start indices; raises UndefinedError where HLO passes them as one vector, its old form."""
    if any(domain.dimensions(start) for start in starts):
        raise UndefinedError("start indices are one vector")
    return starts


# Factors


def _moved(operation: Operation, positions: Sequence[Position], part: Position) -> Iterator[Factor]:
    """Yields the dimensions; the start index of a part that spans a whole dimension is clamped to 0."""
    sizes = zip(sizes_at(operation, 0), sizes_at(operation, part), strict=True)
    return aligned(operation, positions, {i: Kind.INDEXED for i, (size, span) in enumerate(sizes) if span != size})


@dataclass(frozen=True, slots=True)
class _Windowed:
    """A gather or scatter: the positions of the arrays that are read or written, of the indices and of the windows."""

    operation: Operation
    arrays: Sequence[Position]
    indices: Position
    windows: Sequence[Position]

    def factors(self, offsets: str, names: Sequence[str]) -> Iterator[Factor]:
        """Yields the dimensions of the array, then those of the indices; `names` are those of `_numbers`."""
        mapped, gone, batched, joined = (self.operation.ints(name) or () for name in names)
        sizes, windows = sizes_at(self.operation, self.arrays[0]), sizes_at(self.operation, self.windows[0])
        offset = iter(sorted(self.operation.ints(offsets) or ()))
        for dimension, size in enumerate(sizes):
            own = dict.fromkeys(self.arrays, dimension)
            if dimension in gone:
                yield shared(self.operation, own, Kind.INDEXED)
            elif dimension not in batched:
                window = next(offset)
                is_kept = windows[window] == size and dimension not in mapped
                dimensions = {**own, **dict.fromkeys(self.windows, window)}
                yield shared(self.operation, dimensions, Kind.KEPT if is_kept else Kind.INDEXED)
        yield from self._of_indices(len(windows), offsets, dict(zip(joined, batched, strict=True)))

    def _of_indices(self, rank: int, offsets: str, batched: Mapping[int, int]) -> Iterator[Factor]:
        """Yields the dimensions of the indices; those of index vectors are needed as a whole.

        A scatter combines updates along all other dimensions of the indices, but not along batching dimensions.
        """
        batch = (i for i in range(rank) if i not in (self.operation.ints(offsets) or ()))
        for dimension, _ in enumerate(sizes_at(self.operation, self.indices)):
            if dimension in (self.operation.ints("index_vector_dim") or ()):
                yield shared(self.operation, {self.indices: dimension}, Kind.WHOLE)
                continue
            dimensions = {self.indices: dimension, **dict.fromkeys(self.windows, next(batch))}
            if dimension in batched:
                dimensions |= dict.fromkeys(self.arrays, batched[dimension])
            is_kept = any(position < 0 for position in dimensions)
            yield shared(self.operation, dimensions, Kind.KEPT if is_kept else Kind.COMBINED)


def scatter_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions of windows, which are kept where they are whole, and those of the indices."""
    count = len(operation.operands) // 2
    arrays, updates = [*range(count), *(~i for i in range(count))], range(count + 1, 2 * count + 1)
    return _Windowed(operation, arrays, count, updates).factors("update_window_dims", SCATTER_NAMES)


GATHERED = (
    dims("offset_dims", None, f"{_GATHERED}offset_dims", needed=True),
    dims("collapsed_slice_dims", 0, f"{_GATHERED}collapsed_slice_dims", needed=True),
    dims("operand_batching_dims", 0, f"{_GATHERED}operand_batching_dims"),
    dims("start_indices_batching_dims", 1, f"{_GATHERED}start_indices_batching_dims"),
    dims("start_index_map", 0, f"{_GATHERED}start_index_map", needed=True),
    integers("index_vector_dim", f"{_GATHERED}index_vector_dim", needed=True, numbers=1),
)

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dynamic-slice",
        ANY,
        DATA | Trait.ORDERED | Trait.FUSIBLE,
        size_list("dynamic_slice_sizes", 0, "slice_sizes"),
        typed=(0,),
        aligned=1,
        indices=(1, None),
        result=dynamic_slice,
        check=check_memory,
        define=define_dynamic_slice,
        factors=partial(_moved, positions=(0, RESULT), part=RESULT),
    ),
    op(
        "dynamic-update-slice",
        ANY,
        DATA | Trait.IN_PLACE,
        typed=(0, 1),
        aligned=2,
        indices=(2, None),
        result=dynamic_update_slice,
        check=check_memory,
        define=define_dynamic_update_slice,
        factors=partial(_moved, positions=(0, 1, RESULT), part=1),
    ),
    op(
        "gather",
        2,
        DATA,
        *GATHERED,
        size_list("slice_sizes", 0),
        *flags("indices_are_sorted"),
        typed=(0,),
        indices=(1, None),
        result=gather,
        define=define_gather,
        factors=lambda operation: _Windowed(operation, [0], 1, [RESULT]).factors("offset_dims", GATHER_NAMES),
    ),
    op(
        "scatter",
        ANY,
        COMBINED | Trait.IN_PLACE,
        integers("update_window_dims", f"{_SCATTERED}update_window_dims", needed=True, numbers=2),
        dims("inserted_window_dims", 0, f"{_SCATTERED}inserted_window_dims", needed=True),
        dims("input_batching_dims", 0, f"{_SCATTERED}input_batching_dims"),
        integers("scatter_indices_batching_dims", f"{_SCATTERED}scatter_indices_batching_dims", numbers=1),
        dims("scatter_dims_to_operand_dims", 0, f"{_SCATTERED}scattered_dims_to_operand_dims", needed=True),
        integers("index_vector_dim", f"{_SCATTERED}index_vector_dim", needed=True, numbers=1),
        *flags("indices_are_sorted unique_indices"),
        *TO_APPLY,
        indices=(1, 2),
        result=scatter,
        check=check_scatter,
        define=define_scatter,
        factors=scatter_factors,
    ),
)
