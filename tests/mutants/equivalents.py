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
        Edit("slices:_gather_of_padding", 'raise RefusedError("an indexed dimension is moved")', "pass"),
        "the missing plan is used, and a step whose check fails with an error of Python is refused, too",
    ),
    (
        Edit("Equality.find", "root[node] = root[root[node]]", "pass"),
        "shorter ways to the representative save time only",
    ),
    (
        Edit(
            "Equality._joined",
            "len(self._users.get(first, ())) > len(self._users.get(second, ()))",
            "not (len(self._users.get(first, ())) > len(self._users.get(second, ())))",
        ),
        "the class with fewer users is visited to save time only",
    ),
    (
        Edit(
            "Equality._joined",
            "len(self._users.get(first, ())) > len(self._users.get(second, ()))",
            "len(self._users.get(first, ())) >= len(self._users.get(second, ()))",
        ),
        "of two classes with equally many users either may be visited",
    ),
    (
        Edit("polynomials:_joined", "power > 1", "power >= 1"),
        "the first power of abs(x) stays, and the power of x grows by 0",
    ),
    (
        Edit("polynomials:_joined", "power > 1", "power > 0"),
        "the first power of abs(x) stays, and the power of x grows by 0",
    ),
    (
        Edit(
            "replay.contractions:_orders",
            "prod(split[start:end]) < size and end < len(split)",
            "prod(split[start:end]) < size and end <= len(split)",
        ),
        "parts that are too few are refused, wherever they end",
    ),
    (
        Edit(
            "replay.arrays:_is_same_move",
            "not isinstance(first, Plan) or not isinstance(second, Plan)",
            "not isinstance(first, Plan) and not isinstance(second, Plan)",
        ),
        "something else than a plan has none of its fields, and a step whose check fails with an error is refused, too",
    ),
    (
        Edit("replay.arrays:_rearranged", "0 not in before", "-1 not in before"),
        "arrays without elements are equal, and a step whose check fails with an error is refused, too",
    ),
    (
        Edit(
            "replay.arrays:_reads_part",
            "Plan(*inner.result, (Pad(own.start, highs),), (-1,))",
            "Plan(*inner.result, (Pad(own.start, highs),), (-2,))",
        ),
        "no plan uses a number below 0",
    ),
    (
        Edit(
            "replay.arrays:_cut_of",
            'demand([step.opcode for step in plan.steps] == ["reshape", "slice", "reshape"], "no cut")',
            "pass",
        ),
        "a plan of other steps has no slice in its place, or is not the plan of its cut",
    ),
    *(
        (
            Edit("replay.arrays:_cut_of", *edit),
            "more slices do not fit into a cut, and a cut before the first dimension has another plan",
        )
        for edit in (
            ('demand(len(changed) == 1 and changed[0] > 0, "several dimensions are cut")', "pass"),
            ("len(changed) == 1 and changed[0] > 0", "len(changed) == 1 or changed[0] > 0"),
            ("changed[0] > 0", "changed[0] >= 0"),
        )
    ),
    (
        Edit("replay.arrays:_regrouped", 'demand(opcode is not None, "no combination")', "pass"),
        "no term is a combination by no operation",
    ),
    (
        Edit(
            "replay.arrays:_regrouped",
            'demand(all(try_combination(term, opcode) for term in (before, after)), "no combination")',
            "pass",
        ),
        "what is no combination is compared by its elements, too; the limit of terms saves time only",
    ),
    (Edit("Elements.reread", "old.bits > new.bits", "old.bits >= new.bits"), "equal widths are read above"),
)
