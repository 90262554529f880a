"""Terms as nodes of a graph: equal terms are one node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.verdict.terms.primitives import Kind, Term
from dialect_utils.verdict.terms.wellformed import check_term

Symbol = tuple[Kind, Hashable, Shape]
UNSPECIFIED = "unspecified"


class Graph:
    """Nodes, each a symbol (kind, label, shape) with nodes as operands; the same node is never made twice."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.operands: list[tuple[int, ...]] = []
        self.ids: list[int] = []  # the number of the symbol of each node
        # Whether no undefined padding occurs in a node.
        self.is_specified: list[bool] = []
        self._symbols: dict[Symbol, int] = {}
        self._nodes: dict[tuple[int, ...], int] = {}
        self._inserted: dict[Term, int] = {}

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[int] = ()) -> int:
        """Returns the node of a term; a plan of several steps becomes one node for each step."""
        if isinstance(label, Plan) and len(label.steps) != 1:
            return self.moved(operands[0], label, operands[1:])
        symbol = (kind, label, shape)
        number = self._symbols.setdefault(symbol, len(self._symbols))
        key = (number, *operands)
        found = self._nodes.get(key)
        if found is None:
            check_deadline()
            found = self._nodes[key] = len(self.ids)
            self.symbols.append(symbol)
            self.operands.append(tuple(operands))
            self.ids.append(number)
            self.is_specified.append(label != UNSPECIFIED and all(self.is_specified[each] for each in operands))
        return found

    def shape(self, node: int) -> Shape:
        """Returns the shape of a node."""
        return self.symbols[node][2]

    def by_operands(self) -> dict[tuple[int, ...], int]:
        """Returns all nodes by the number of their symbol and their operands."""
        return dict(self._nodes)

    def _is_known(self, term: Term, operands: Sequence[int]) -> bool:
        """Is true for a term that a definition made, too."""
        number = self._symbols.get((term.kind, term.label, term.shape))
        return number is not None and (number, *operands) in self._nodes

    def insert(self, term: Term) -> int:
        """Returns the node of a term of a certificate; raises RefusedError for one that means nothing."""
        pending = [term]
        while pending:
            part = pending[-1]
            missing = [each for each in part.operands if each not in self._inserted]
            if part in self._inserted or not missing:
                pending.pop()
                if part not in self._inserted:
                    operands = [self._inserted[each] for each in part.operands]
                    if part.kind == "moved" or not self._is_known(part, operands):
                        check_term(part)
                    self._inserted[part] = self.make(part.kind, part.label, part.shape, operands)
            pending += missing
        return self._inserted[term]

    def moved(self, node: int, plan: Plan, paddings: Iterable[int]) -> int:
        """Returns a node after all steps of a plan; `paddings` are the scalars of its pads."""
        rest = iter(paddings)
        for i, padding in enumerate(plan.paddings):
            part = plan.part(i, i + 1)
            scalars = () if padding is None else (next(rest),)
            node = self.make("moved", part.with_padding(True), ArrayShape(*part.result), (node, *scalars))
        return node
