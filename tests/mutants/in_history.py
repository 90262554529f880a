"""Mistakes in what explains a copy."""

from tests.mutants.model import Mutant

_WHY = ("tests/relayout/test_why.py",)
MUTANTS = (
    Mutant(
        "removal",
        "argument is not None and not after and _is_tiled(copy) and _is_only_read_so(graph, back, copy)",
        "argument is not None and not after and _is_only_read_so(graph, back, copy)",
        _WHY,
    ),
    Mutant(
        "history:_through",
        "permutation.index(each) if forward else permutation[each]",
        "permutation[each]",
        _WHY,
    ),
    Mutant(
        "Counterparts._likeness",
        "5 * bool(readers.intersection(self.before.readers(old)))",
        "9 * (old.name == new.name)",
        _WHY,
    ),
    Mutant("History._step_back", "not _has(earlier, nodes[node])", "False", _WHY),
    Mutant("_reading", "yield from graph.carried_by(user, node)", "pass", _WHY),
    Mutant("Moved.cost", "self.bytes_moved * (self.trips or 1) or self.padding_bytes", "self.padding_bytes", _WHY),
    Mutant(
        "_pass_of_part",
        "name and (name == pipeline or (first is not None and first.next_pass == name))",
        "name",
        _WHY,
    ),
)
