"""Makes gathers and scatters of short rows one operation for each element of the row."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from dialect_utils.ir import Builder, Module, Operation, Value, array_shape
from dialect_utils.layout import Slice
from dialect_utils.ops.factors import RESULT, Factor, Kind, sizes_at
from passes.framework.base import Report, module_pass
from passes.shapes.changes import factors_of_changeable, remade, resized, resized_slices, with_size

_MOST = 8


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
        row = _row(operation)
        if row is not None and 1 < row.size <= most:
            _split(module, operation, row)


def candidates(module: Module, target: str) -> Iterator[str]:
    """Yields the text of this pass where a module has such rows, for the search of `relayout tune`."""
    if any(row is not None and 1 < row.size <= _MOST for row in map(_row, module.operations())):
        yield split_minor.name


def _row(operation: Operation) -> Factor | None:
    """Returns the last dimension of rows that a gather or scatter moves as a whole; None where there is none."""
    if operation.opcode not in ("gather", "scatter") or len(operation.results) != 1:
        return None
    factors = factors_of_changeable(operation) or ()
    return next((each for each in factors if _is_row(operation, each)), None)


def _is_row(operation: Operation, factor: Factor) -> bool:
    """Is true for the last dimension of an array and of its windows, unless there is a single window."""
    indices, windows = 1, RESULT if operation.opcode == "gather" else 2
    if factor.kind is not Kind.KEPT or not {0, windows} <= {*factor.dimensions} or indices in factor.dimensions:
        return False
    is_last = all(dim == len(sizes_at(operation, each)) - 1 for each, dim in factor.dimensions.items())
    name = "offset_dims" if operation.opcode == "gather" else "update_window_dims"
    within = operation.ints(name) or ()
    return is_last and prod(size for i, size in enumerate(sizes_at(operation, windows)) if i not in within) > 1


def _split(module: Module, operation: Operation, row: Factor) -> None:
    builder, result = module.before(operation), operation.results[0]
    shape, dimension, name = array_shape(result), row.dimensions[RESULT], result.name
    parts: list[Value] = []
    for number in range(row.size):
        operands = [
            _column(builder, value, row.dimensions[i], number, result) if i in row.dimensions else value
            for i, value in enumerate(operation.operands)
        ]
        column = resized(shape, with_size(shape.dimensions, dimension, 1))
        ints = [*resized_slices(operation, row.dimensions, operands)]
        parts += remade(builder, operation, operands, [column], ints, name=f"{name}.{number}", step=None)
    whole = builder.concatenate(parts, dimension, result.shape, name=name, like=result)
    result.replace_uses(whole)
    operation.erase()
    whole.rename(name)


def _column(builder: Builder, value: Value, dimension: int, number: int, like: Value) -> Value:
    sizes = array_shape(value).dimensions
    step = Slice(with_size((0,) * len(sizes), dimension, number), with_size(sizes, dimension, number + 1))
    return builder.apply(step, value, name=f"{value.name}.{number}", like=like)
