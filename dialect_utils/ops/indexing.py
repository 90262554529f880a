"""Operations that read or write at computed positions: dynamic slices, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import ANY, COMBINED, DATA, TO_APPLY, Opcode, dims, flags, integers, op
from dialect_utils.ops.domain import Domain, UndefinedError, V, required_ints, result_array
from dialect_utils.ops.shapes import indexing as rules

if TYPE_CHECKING:
    from dialect_utils.ir import Operation
    from dialect_utils.ops.positions import GatherNumbers

_GATHERED = "dimension_numbers."
_SCATTERED = "scatter_dimension_numbers."
_SCATTER_DIMENSIONS = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)


def gather_numbers(operation: Operation, slice_sizes: tuple[int, ...] | None = None) -> GatherNumbers:
    """Returns the dimension numbers of a gather in either dialect; raises UndefinedError where one is not written."""
    from dialect_utils.ops.positions import GatherNumbers

    vector, sizes = operation.ints("index_vector_dim"), slice_sizes or operation.ints("slice_sizes")
    if not vector or sizes is None:
        raise UndefinedError("a gather has no index_vector_dim or no slice_sizes")
    return GatherNumbers(
        operation.ints("offset_dims") or (),
        operation.ints("collapsed_slice_dims") or (),
        operation.ints("operand_batching_dims") or (),
        operation.ints("start_indices_batching_dims") or (),
        operation.ints("start_index_map") or (),
        vector[0],
        sizes,
    )


def define_gather(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the slices at the start indices; source: StableHLO's specification of gather."""
    array, starts = operands
    return [domain.gather(operation, array, starts, gather_numbers(operation), result_array(operation).dimensions)]


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


def define_scatter(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands with the updates combined into them; source: HloEvaluator's HandleScatter."""
    from dialect_utils.ops.positions import ScatterNumbers

    count = len(operands) // 2
    arrays, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    (vector,) = required_ints(operation, "index_vector_dim")
    numbers = ScatterNumbers(vector, *(operation.ints(name) or () for name in _SCATTER_DIMENSIONS))
    sizes, windows = domain.dimensions(arrays[0]), domain.dimensions(updates[0])
    positions = numbers.positions(sizes, domain.integers(indices), windows)
    return domain.scatter(operation.called[0], arrays, updates, positions)


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dynamic-slice",
        ANY,
        DATA,
        integers("dynamic_slice_sizes", "slice_sizes", needed=True),
        typed=(0,),
        aligned=1,
        indices=(1, None),
        result=rules.dynamic_slice,
        check=rules.check_memory,
        define=define_dynamic_slice,
    ),
    op(
        "dynamic-update-slice",
        ANY,
        DATA,
        typed=(0, 1),
        aligned=2,
        indices=(2, None),
        result=rules.dynamic_update_slice,
        check=rules.check_memory,
        define=define_dynamic_update_slice,
    ),
    op(
        "gather",
        2,
        DATA,
        dims("offset_dims", None, f"{_GATHERED}offset_dims", needed=True),
        dims("collapsed_slice_dims", 0, f"{_GATHERED}collapsed_slice_dims", needed=True),
        dims("operand_batching_dims", 0, f"{_GATHERED}operand_batching_dims"),
        dims("start_indices_batching_dims", 1, f"{_GATHERED}start_indices_batching_dims"),
        dims("start_index_map", 0, f"{_GATHERED}start_index_map", needed=True),
        integers("index_vector_dim", f"{_GATHERED}index_vector_dim", needed=True),
        integers("slice_sizes", needed=True),
        *flags("indices_are_sorted"),
        typed=(0,),
        indices=(1, None),
        result=rules.gather,
        define=define_gather,
    ),
    op(
        "scatter",
        ANY,
        COMBINED,
        integers("update_window_dims", f"{_SCATTERED}update_window_dims", needed=True),
        dims("inserted_window_dims", 0, f"{_SCATTERED}inserted_window_dims", needed=True),
        dims("input_batching_dims", 0, f"{_SCATTERED}input_batching_dims"),
        integers("scatter_indices_batching_dims", f"{_SCATTERED}scatter_indices_batching_dims"),
        dims("scatter_dims_to_operand_dims", 0, f"{_SCATTERED}scattered_dims_to_operand_dims", needed=True),
        integers("index_vector_dim", f"{_SCATTERED}index_vector_dim", needed=True),
        *flags("indices_are_sorted unique_indices"),
        *TO_APPLY,
        indices=(1, 2),
        result=rules.scatter,
        check=rules.check_scatter,
        define=define_scatter,
    ),
)
