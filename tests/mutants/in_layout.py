"""Mistakes in layouts: index maps, plans, normal forms, searches, targets, text."""

from tests.mutants.model import Mutant

_TESTS = "tests/layout"

MUTANTS = (
    Mutant("LayoutChoice.covers", "self.rank in (None, other.rank)", "True", (f"{_TESTS}/targets/test_described.py",)),
    Mutant(
        "cheapest_route",
        "_movement(source, route) == normal_form(plan)",
        "True",
        (f"{_TESTS}/targets/test_routes.py",),
    ),
    Mutant(
        "routes:_copies",
        "cost + _written(types[is_last], *_sizes(copy[1]), chip)",
        "cost",
        (f"{_TESTS}/targets/test_routes.py",),
    ),
    Mutant("routes:_divided", "_size(rows[1:]) % _ROWS == 0", "True", (f"{_TESTS}/targets/test_routes.py",)),
    Mutant("tiled_layout", "size < padded[number] and not is_first", "False", (f"{_TESTS}/notation/test_strided.py",)),
    Mutant("complement", "stride % filled", "stride < filled", (f"{_TESTS}/notation/test_strided.py",)),
    Mutant("notation:compose", "stride * size > above", "False", (f"{_TESTS}/notation/test_strided.py",)),
    Mutant("writing:_linear", "weight << bit", "weight", (f"{_TESTS}/notation/test_writing.py",)),
    Mutant("_with_pack", "starts[dim] + 1", "starts[dim]", (f"{_TESTS}/notation/test_writing.py",)),
    Mutant(
        "ShapeParser._parts",
        "<=",
        "<",
        (f"{_TESTS}/text/test_grammar.py",),
    ),
    Mutant("ShapeParser._dimension", "size < 0", "size < -1", (f"{_TESTS}/text/test_grammar.py",)),
    Mutant(
        "ShapeParser.shape",
        "not dims and layout is not None and layout.is_default",
        "layout is not None and layout.is_default",
        (f"{_TESTS}/text/test_grammar.py",),
    ),
    Mutant(
        "is_pack_of",
        "is_identity(found.then(wanted.inverse()))",
        "True",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    Mutant(
        "is_pack_of",
        "(plan.start, plan.result) != (wanted.start, wanted.result)",
        "plan.start != wanted.start",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    # With it, what a slice cuts off comes back as padding.
    Mutant(
        "is_pack_of",
        "plan.with_padding(_PADDING)",
        "plan.with_padding(None)",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    Mutant(
        "Tiling.last_tiles",
        "len(sizes) // 2 + 1",
        "len(sizes) // 2",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    Mutant(
        "moves:_remainder",
        "tuple(min(p, p + q) if q < 0 else p for p, q in zip(a.low, b.low, strict=True))",
        "a.low",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        "moves:_remainder",
        "tuple(min(p, p + q) if q < 0 else p for p, q in zip(a.high, b.high, strict=True))",
        "a.high",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        "moves:_add",
        "first < 0 < second",
        "first < 0 <= second",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        "try_commute",
        "Permute(moved.result, a.permutation)",
        "Permute(a.sizes, a.permutation)",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        "_MetTile.apply",
        "[0] * self.prepended + position",
        "position + [0] * self.prepended",
        (f"{_TESTS}/index/test_index_map.py",),
    ),
    Mutant(
        "_MetTile.result",
        "-(-size // t)",
        "size // t",
        (f"{_TESTS}/index/test_index_map.py",),
    ),
    Mutant(
        "elements_at",
        "(linear >= 0) & (linear < count)",
        "linear < count",
        (f"{_TESTS}/index/test_index_map.py",),
    ),
    Mutant(
        "Tpu._rows",
        "min(_SUBLANES, max(fewest, _next_power_of_two(size)))",
        "max(fewest, _next_power_of_two(size))",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        "Tpu._tiles",
        "height = max(height, _TWO_BIT_ROWS)",
        "pass",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        "Tpu.order",
        "sorted(minor_orders(len(dimensions)), reverse=True)",
        "sorted(minor_orders(len(dimensions)))",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        "Tpu.layout",
        "bits < _BYTE",
        "bits < _BYTE and tiles",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        "index:_move",
        "[b - a for a, b in zip(step.start, step.limit, strict=True)]",
        "list(step.limit)",
        (f"{_TESTS}/index/test_positions.py",),
    ),
    Mutant(
        "regroup_units",
        "position.coordinates.pop() * old",
        "position.coordinates.pop() * new",
        (f"{_TESTS}/index/test_positions.py",),
    ),
    Mutant(
        "Digits._transpose",
        "[i for i in permutation if self.dims[i] != 1]",
        "list(self.dims)",
        (f"{_TESTS}/moves/test_physical.py",),
    ),
    Mutant(
        "moves:merged",
        "found[-1].stride == digit.stride * digit.size",
        "found[-1].stride > digit.stride",
        (f"{_TESTS}/moves/test_relabel.py",),
    ),
    Mutant("reads:origins", "padding == 0", "True", (f"{_TESTS}/proof/test_reads.py",)),
    Mutant(
        "decide:_differs_by_blocks",
        "kept & (a != b)",
        "a != b",
        (f"{_TESTS}/proof/test_decide.py",),
    ),
    Mutant(
        "_padding_by_blocks",
        "-(-(first + width) // slot)",
        "first // slot + 1",
        (f"{_TESTS}/proof/test_witnesses.py",),
    ),
    Mutant(
        "propagate_transposed",
        "permutation.index(dim)",
        "permutation[dim]",
        (f"{_TESTS}/targets/test_propagation.py",),
    ),
    Mutant(
        "_Expression._within",
        'f"({self.text})" if self.binding < binding else self.text',
        "self.text",
        (f"{_TESTS}/text/test_explain.py",),
    ),
)
