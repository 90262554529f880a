"""Mistakes in what explains a copy."""

from tests.mutants.model import Mutant

_FLAT = ("tests/history/test_flat.py",)
_MATCHING = ("tests/history/test_matching.py",)
_NORMALIZED = ("tests/history/test_normalized.py",)
_MOVED = ("tests/history/test_moved.py",)
_REMOVAL = ("tests/history/test_removal.py",)
_SIDES = ("tests/history/test_sides.py",)
_TRACING = ("tests/history/test_tracing.py",)
_EXPLAINING = ("tests/relayout/causes/test_explaining.py",)
_RESULT = ("tests/relayout/causes/test_result.py",)
_STAGES = ("tests/relayout/causes/test_stages.py",)
MUTANTS = (
    Mutant(
        "removal",
        "compiler is not None and not after and not _is_written_over(graph, copy)",
        "not after and not _is_written_over(graph, copy)",
        _REMOVAL,
    ),
    Mutant("removal", "_is_written_over(graph, copy)", "False", _NORMALIZED),
    Mutant("_is_changed", 'element.attribute("index") != str(number)', "False", _NORMALIZED),
    Mutant("_order_before", "tuple(step.order[each] for each in order)", "order", _NORMALIZED),
    Mutant("history.flat:is_settled", 'node.operation.opcode == "copy"', "False", _NORMALIZED),
    Mutant("Counterparts._passed", "is_same_move(each, node)", "False", _NORMALIZED),
    Mutant(
        "history:_through",
        "permutation.index(each) if forward else permutation[each]",
        "permutation[each]",
        _REMOVAL,
    ),
    Mutant(
        "Counterparts._likeness",
        "5 * bool(readers.intersection(self.before.readers(old)))",
        "9 * (old.name == new.name)",
        _MATCHING,
    ),
    Mutant("History._step_back", "not _has(earlier, nodes[node])", "False", _TRACING),
    Mutant("history:reading", "yield from graph.carried_by(user, node)", "pass", _SIDES),
    Mutant("Moved.cost", "self.bytes_moved * (self.trips or 1) or self.padding_bytes", "self.padding_bytes", _MOVED),
    Mutant(
        "_pass_of_part",
        "name and (name == pipeline or (first is not None and first.next_pass == name))",
        "name",
        _STAGES,
    ),
    Mutant("FlatGraph._maker", 'made.opcode == "tuple"', "False", _FLAT),
    Mutant("FlatGraph.is_fused", 'caller.opcode == "fusion"', "True", _FLAT),
    Mutant(
        "Counterparts._among_operands",
        "operands if is_before else [self._found.get(each) for each in operands]",
        "operands",
        _MATCHING,
    ),
    Mutant("Counterparts._pair", "is_expression or len(olds) == len(news)", "True", _MATCHING),
    Mutant("History.graph", "self.unread.append(number)", "pass", _TRACING),
    Mutant("history.moved:_moved", "move.row.bytes_read + move.row.bytes_written", "move.row.bytes_written", _MOVED),
    Mutant("firmness", "_DEMANDING.get(opcode, len(_DEMANDING))", "0", _SIDES),
    Mutant("_donation", "graph.operands(each)[0] is copy", "True", _REMOVAL),
    Mutant("Explainer._origin", "origin.source_file", "False", _EXPLAINING, occurrence=1),
    Mutant("causes.run:_chosen", 'value.removeprefix("%")', "value", _EXPLAINING),
    Mutant("Cause.kept", "self.changes_layout and self.read_by", "self.read_by", _RESULT),
    Mutant("causes_section", "len(why.causes) < why.arrays", "True", _RESULT),
    Mutant("pass_names:_named", "first.next_pass", "False", _STAGES, occurrence=1),
)
