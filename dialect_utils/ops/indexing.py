"""Operations that read or write at computed positions: dynamic slices, gather and scatter."""

from __future__ import annotations

from dialect_utils.ops.declaration import ANY, COMBINED, DATA, TO_APPLY, Opcode, dims, flags, integers, op

_GATHERED = "dimension_numbers."
_SCATTERED = "scatter_dimension_numbers."

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dynamic-slice",
        ANY,
        DATA,
        integers("dynamic_slice_sizes", "slice_sizes"),
        typed=(0,),
        aligned=1,
        indices=(1, None),
    ),
    op("dynamic-update-slice", ANY, DATA, typed=(0, 1), aligned=2, indices=(2, None)),
    op(
        "gather",
        2,
        DATA,
        dims("offset_dims", None, f"{_GATHERED}offset_dims"),
        dims("collapsed_slice_dims", 0, f"{_GATHERED}collapsed_slice_dims"),
        dims("operand_batching_dims", 0, f"{_GATHERED}operand_batching_dims"),
        dims("start_indices_batching_dims", 1, f"{_GATHERED}start_indices_batching_dims"),
        dims("start_index_map", 0, f"{_GATHERED}start_index_map"),
        integers("index_vector_dim", f"{_GATHERED}index_vector_dim"),
        integers("slice_sizes"),
        *flags("indices_are_sorted"),
        typed=(0,),
        indices=(1, None),
    ),
    op(
        "scatter",
        ANY,
        COMBINED,
        integers("update_window_dims", f"{_SCATTERED}update_window_dims"),
        dims("inserted_window_dims", 0, f"{_SCATTERED}inserted_window_dims"),
        dims("input_batching_dims", 0, f"{_SCATTERED}input_batching_dims"),
        integers("scatter_indices_batching_dims", f"{_SCATTERED}scatter_indices_batching_dims"),
        dims("scatter_dims_to_operand_dims", 0, f"{_SCATTERED}scattered_dims_to_operand_dims"),
        integers("index_vector_dim", f"{_SCATTERED}index_vector_dim"),
        *flags("indices_are_sorted unique_indices"),
        *TO_APPLY,
        indices=(1, 2),
    ),
)
