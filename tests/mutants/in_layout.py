"""Mistakes in layouts: index maps, plans, normal forms, searches, targets, text."""

from tests.mutants.model import Mutant

_LAYOUT = "dialect_utils/layout"
_TESTS = "tests/layout"

MUTANTS = (
    Mutant(
        f"{_LAYOUT}/text/grammar.py",
        "if rank <= done:",
        "if rank < done:",
        (f"{_TESTS}/text/test_grammar.py",),
    ),
    Mutant(f"{_LAYOUT}/text/grammar.py", "if size < 0:", "if size < -1:", (f"{_TESTS}/text/test_grammar.py",)),
    Mutant(
        f"{_LAYOUT}/text/grammar.py",
        "if not dims and layout is not None and layout.is_default:",
        "if layout is not None and layout.is_default:",
        (f"{_TESTS}/text/test_grammar.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/packs.py",
        "    return is_identity(found.then(wanted.inverse()))",
        "    return True",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/packs.py",
        "    if (plan.start, plan.result) != (wanted.start, wanted.result):",
        "    if plan.start != wanted.start:",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    # With it, what a slice cuts off comes back as padding.
    Mutant(
        f"{_LAYOUT}/moves/packs.py",
        "found = plan.with_padding(_PADDING)",
        "found = plan.with_padding(None)",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/packs.py",
        "for count in range(1, len(sizes) // 2 + 1):",
        "for count in range(1, len(sizes) // 2):",
        (f"{_TESTS}/moves/test_packs.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/linear_map.py",
        "low = tuple(min(p, p + q) if q < 0 else p for p, q in zip(a.low, b.low, strict=True))",
        "low = a.low",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/linear_map.py",
        "high = tuple(min(p, p + q) if q < 0 else p for p, q in zip(a.high, b.high, strict=True))",
        "high = a.high",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/linear_map.py",
        "first < 0 < second for first, second",
        "first < 0 <= second for first, second",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/linear_map.py",
        "kept = Permute(moved.result, a.permutation)",
        "kept = Permute(a.sizes, a.permutation)",
        (f"{_TESTS}/moves/test_linear_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/index/index_map.py",
        "position = [0] * self.prepended + position",
        "position = position + [0] * self.prepended",
        (f"{_TESTS}/index/test_index_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/index/index_map.py",
        "counts = [-(-size // t) if t else 1 for size, t",
        "counts = [size // t if t else 1 for size, t",
        (f"{_TESTS}/index/test_index_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/index/index_map.py",
        "valid = (linear >= 0) & (linear < count)",
        "valid = linear < count",
        (f"{_TESTS}/index/test_index_map.py",),
    ),
    Mutant(
        f"{_LAYOUT}/targets/tpu.py",
        "return min(_SUBLANES, max(fewest, _next_power_of_two(size)))",
        "return max(fewest, _next_power_of_two(size))",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        f"{_LAYOUT}/targets/tpu.py",
        "height = max(height, _TWO_BIT_ROWS)",
        "pass",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        f"{_LAYOUT}/targets/tpu.py",
        "return min(sorted(_orders(len(dimensions)), reverse=True), key=cost)",
        "return min(sorted(_orders(len(dimensions))), key=cost)",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        f"{_LAYOUT}/targets/tpu.py",
        "element_size_in_bits=bits if bits < _BYTE else 0)",
        "element_size_in_bits=bits if bits < _BYTE and tiles else 0)",
        (f"{_TESTS}/targets/test_tpu.py",),
    ),
    Mutant(
        f"{_LAYOUT}/index/positions.py",
        "ends = [b - a for a, b in zip(step.start, step.limit, strict=True)]",
        "ends = list(step.limit)",
        (f"{_TESTS}/index/test_positions.py",),
    ),
    Mutant(
        f"{_LAYOUT}/index/positions.py",
        "position.unit = position.coordinates.pop() * old + position.unit",
        "position.unit = position.coordinates.pop() * new + position.unit",
        (f"{_TESTS}/index/test_positions.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/physical.py",
        "moved = [i for i in permutation if self.dims[i] != 1]",
        "moved = list(self.dims)",
        (f"{_TESTS}/moves/test_physical.py",),
    ),
    Mutant(
        f"{_LAYOUT}/moves/relabel.py",
        "if merged and merged[-1].stride == digit.stride * digit.size:",
        "if merged and merged[-1].stride > digit.stride:",
        (f"{_TESTS}/moves/test_relabel.py",),
    ),
    Mutant(
        f"{_LAYOUT}/arrays/interpret.py",
        "end = max(first, min(size, -((low - result) // stride)))",
        "end = max(first, size)",
        (f"{_TESTS}/arrays/test_interpret.py",),
    ),
    Mutant(
        f"{_LAYOUT}/proof/decide.py",
        "different |= kept & (a != b)",
        "different |= a != b",
        (f"{_TESTS}/proof/test_decide.py",),
    ),
    Mutant(
        f"{_LAYOUT}/proof/witnesses.py",
        "begin, end = first // slot, -(-(first + width) // slot)",
        "begin, end = first // slot, first // slot + 1",
        (f"{_TESTS}/proof/test_witnesses.py",),
    ),
    Mutant(
        f"{_LAYOUT}/targets/propagation.py",
        "order = tuple(permutation.index(dim) for dim in source",
        "order = tuple(permutation[dim] for dim in source",
        (f"{_TESTS}/targets/test_propagation.py",),
    ),
    Mutant(
        f"{_LAYOUT}/text/explain.py",
        'return f"({self.text})" if self.binding < binding else self.text',
        "return self.text",
        (f"{_TESTS}/text/test_explain.py",),
    ),
)
