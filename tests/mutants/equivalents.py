"""Edits that no test can notice, with the reason."""

from __future__ import annotations

from tests.mutants.edits import Edit

# The edit, and why both programs compute the same.
EQUIVALENTS: tuple[tuple[Edit, str], ...] = (
    (Edit("UNBOUNDED", "-1", "-2"), "the value is used by its name only, and no size is negative"),
    (Edit("stablehlo:_MAX_NESTING", "500", "499"), "the limit is far below Python's and far above that of programs"),
    (Edit("mosaic:_name", "8", "7"), "the digest only has to differ"),
    (
        Edit("_Spread._go", "(each - number) * step <= 0", "(each - number) * step < 0"),
        "the edge that made the change makes none if it is visited again",
    ),
    (
        Edit("tiling:_candidates", "len(fitting) > 1", "len(fitting) >= 1"),
        "a plan that fits one array only is tried twice, the second time without a gain",
    ),
    (
        Edit("slices:_dynamic_slice", 'demand(before.shape == after.shape, "another shape")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit("slices:_dynamic_slice", 'demand(sizes[0] == sizes[1], "the update is a part of the array")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit("slices:_indexed_dimensions", 'demand(before.shape == step.after.shape, "another shape")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit("slices:_indexed_dimensions", 'demand(order[-1] == plain[-1], "the last dimension is indexed")', ""),
        "there is no window and no column of the last dimension, and a step that looks for one is refused",
    ),
    (
        Edit("slices:_order_of_gather", 'demand(others == tuple(windows[i] for i in order[:-1]), "other windows")', ""),
        "the sizes of windows are those of the result, whose shape is compared",
    ),
    (
        Edit("slices:_columns", 'demand(label_of(after)[1] == last, "another dimension")', ""),
        "parts of one column that are joined otherwise have another shape",
    ),
    (
        Edit(
            "slices:_columns", 'demand(len(after.operands) == array_of(before).dimensions[last], "other columns")', ""
        ),
        "other numbers of columns have another shape",
    ),
    (
        Edit(
            "replay.arrays:_through",
            'demand(array_of(after).element_type == array_of(before).element_type, "another element type")',
            "",
        ),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit("replay.arrays:_broadcast_moved", 'demand(before.shape == after.shape, "another shape")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit("replay.arrays:_moved_parts", 'demand(step.before.shape == step.after.shape, "another shape")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit(
            "replay.arrays:_origins",
            'demand(len(targets) == len(array_of(operand).dimensions) == len({*targets}), "dimensions do not fit")',
            "",
        ),
        "a term with another one is refused before its rule is looked at",
    ),
    (
        Edit(
            "replay.arrays:_origins",
            'demand(all(array_of(operand).dimensions[i] == sizes[targets[i]] for i in kept), "sizes do not fit")',
            "",
        ),
        "a term with another one is refused before its rule is looked at",
    ),
    (
        Edit("replay.arrays:reducer", 'demand(step.before.shape == step.after.shape, "another shape")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
    (
        Edit("replay:promoted", 'demand(step.before.shape == step.after.shape, "another shape")', ""),
        "the shapes of both sides of every step are compared after its rule, too",
    ),
)
