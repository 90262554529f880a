"""Makes gathers and scatters of short rows one operation for each element of the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from dialect_utils.ir import Builder, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import is_pinned, is_plain
from dialect_utils.layout import ArrayShape, Slice
from passes.framework.base import Report, module_pass

_MOST = 8


class _Window(NamedTuple):
    """A dimension of rows that no index moves: in each operand (None: it has none), in the result, and its size."""

    operands: tuple[int | None, ...]
    result: int
    size: int


@module_pass
def split_minor(module: Module, report: Report, *, most: int = _MOST) -> None:
    """Makes gathers and scatters of short rows one operation for each element of the row.

    A TPU stores 128 elements for a row of 3, so a gather of rows may take 42 times the memory of its elements.

    1. A gather whose slices span a whole last dimension of its operand, of 2 to `most` elements, and that has this
       dimension last in its result, becomes as many gathers of one column each, and a concatenate of their results.
    2. A scatter of such rows into one array becomes as many scatters, and a concatenate. The gradient of such a gather
       is such a scatter.
    3. Indices, promises about them and the function of a scatter stay. Each element of a row is read from, or combined
       with, the same elements in the same order as before.
    4. Operations with shardings, control dependencies, several arrays or layouts other than the descending one stay,
       and those of a single row, which is small however it is stored.

    Before:
        HloModule m
        ENTRY e {
          p = f32[8,2] parameter(0)
          i = s32[4,1] parameter(1)
          ROOT g = f32[4,2] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[8,2] parameter(0)
          i = s32[4,1] parameter(1)
          p.0 = f32[8,1] slice(p), slice={[0:8], [0:1]}
          g.0 = f32[4,1] gather(p.0, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}
          p.1 = f32[8,1] slice(p), slice={[0:8], [1:2]}
          g.1 = f32[4,1] gather(p.1, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}
          ROOT g = f32[4,2] concatenate(g.0, g.1), dimensions={1}
        }
    """  # noqa: E501  # instructions
    for operation in list(module.operations()):
        window = _window(operation)
        if window is not None and 1 < window.size <= most:
            _split(module, operation, window)


def candidates(module: Module, target: str) -> Iterator[str]:
    """Yields the text of this pass where a module has such rows, for the search of `relayout tune`."""
    windows = map(_window, module.operations())
    if any(window is not None and 1 < window.size <= _MOST for window in windows):
        yield split_minor.name


def _window(operation: Operation) -> _Window | None:
    """Returns the last dimension of rows that a gather or scatter moves as a whole; None where there is none."""
    if operation.opcode not in ("gather", "scatter") or len(operation.results) != 1 or is_pinned(operation):
        return None
    if not all(map(is_plain, (*operation.operands, *operation.results))):
        return None
    found = _gathered(operation) if operation.opcode == "gather" else _scattered(operation)
    return None if found is None or _is_single(operation) else found


def _is_single(operation: Operation) -> bool:
    """Is true for a gather or scatter of one row."""
    rows = operation.results[0] if operation.opcode == "gather" else operation.operands[2]
    name = "offset_dims" if operation.opcode == "gather" else "update_window_dims"
    windows = operation.ints(name) or ()
    return prod(size for i, size in enumerate(array_shape(rows).dimensions) if i not in windows) == 1


def _gathered(operation: Operation) -> _Window | None:
    source, result = array_shape(operation.operands[0]), array_shape(operation.results[0])
    dimension, offsets = source.rank - 1, operation.ints("offset_dims") or ()
    fixed = _fixed(operation, "collapsed_slice_dims", "operand_batching_dims", "start_index_map")
    sizes = operation.ints("slice_sizes") or ()
    if not offsets or dimension in fixed or offsets[-1] != result.rank - 1:
        return None
    if sizes[dimension] != source.dimensions[dimension]:
        return None
    return _Window((dimension, None), result.rank - 1, sizes[dimension])


def _scattered(operation: Operation) -> _Window | None:
    if len(operation.operands) != len(("array", "indices", "updates")):
        return None
    array, updates = array_shape(operation.operands[0]), array_shape(operation.operands[2])
    dimension, windows = array.rank - 1, operation.ints("update_window_dims") or ()
    fixed = _fixed(operation, "inserted_window_dims", "input_batching_dims", "scatter_dims_to_operand_dims")
    if not windows or dimension in fixed or windows[-1] != updates.rank - 1:
        return None
    if updates.dimensions[-1] != array.dimensions[-1]:
        return None
    return _Window((dimension, None, updates.rank - 1), dimension, array.dimensions[-1])


def _fixed(operation: Operation, *names: str) -> set[int]:
    return {dimension for name in names for dimension in operation.ints(name) or ()}


def _split(module: Module, operation: Operation, window: _Window) -> None:
    builder, result, sizes = module.before(operation), operation.results[0], operation.ints("slice_sizes")
    parts = []
    for number in range(window.size):
        operands = list(_columns(builder, operation, window, number))
        shape = _resized(array_shape(result), window.result)
        [made] = builder.clone(operation, operands, [shape], name=f"{result.name}.{number}")
        if sizes is not None:
            assert made.operation is not None  # the clone
            made.operation.set_ints("slice_sizes", (*sizes[:-1], 1))
        parts.append(made)
    name = result.name
    whole = builder.concatenate(parts, window.result, result.shape, name=name, like=result)
    result.replace_uses(whole)
    operation.erase()
    whole.rename(name)


def _columns(builder: Builder, operation: Operation, window: _Window, number: int) -> Iterator[Value]:
    """Yields the operands for one element of the rows."""
    for value, dimension in zip(operation.operands, window.operands, strict=True):
        if dimension is None:
            yield value
            continue
        shape = array_shape(value)
        start, limit = [0] * shape.rank, list(shape.dimensions)
        start[dimension], limit[dimension] = number, number + 1
        step = Slice(tuple(start), tuple(limit))
        yield builder.apply(step, value, name=f"{value.name}.{number}", like=operation.results[0])


def _resized(shape: ArrayShape, dimension: int) -> ArrayShape:
    sizes: Sequence[int] = [1 if i == dimension else size for i, size in enumerate(shape.dimensions)]
    return ArrayShape(shape.element_type, tuple(sizes), shape.layout)
