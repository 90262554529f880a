"""Mistakes in what explains a copy."""

from tests.mutants.model import Mutant

_WHY = ("tests/relayout/test_why.py",)
MUTANTS = (
    Mutant(
        "dialect_utils/history/removal.py",
        "_is_tiled(copy) and _is_only_read_so(graph, back, copy)",
        "_is_only_read_so(graph, back, copy)",
        _WHY,
    ),
    Mutant(
        "dialect_utils/history/removal.py",
        "tuple(permutation.index(each) if forward else permutation[each] for each in order)",
        "tuple(permutation[each] for each in order)",
        _WHY,
    ),
    Mutant(
        "dialect_utils/history/matching.py",
        "score = 5 * bool(readers.intersection(self.before.readers(old)))",
        "score = 9 * (old.name == new.name)",
        _WHY,
    ),
    Mutant("dialect_utils/history/tracing.py", "elif not _has(earlier, nodes[node]):", "elif False:", _WHY),
    Mutant("dialect_utils/history/sides.py", "yield from graph.carried_by(user, node)", "pass", _WHY),
    Mutant("dialect_utils/history/moved.py", "self.bytes_moved * (self.trips or 1) or", "", _WHY),
    Mutant(
        "relayout/causes/stages.py",
        "if name and (name == pipeline or (first is not None and first.next_pass == name)):",
        "if name:",
        _WHY,
    ),
)
