"""The conditions on data that a certificate names: the steps that they allow, and the values that they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dialect_utils.ir import Module
from dialect_utils.verdict.certificate import Excluded
from dialect_utils.verdict.rules.conditions import VALUES
from dialect_utils.verdict.terms.given import Sources
from dialect_utils.verdict.terms.graph import Graph, Nodes
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import RefusedError, demand


class Given:
    """The conditions of a certificate about the nodes of a graph; raises RefusedError for no condition on data."""

    def __init__(self, graph: Graph, conditions: Sequence[tuple[str, Term]]) -> None:
        self._graph, self._sources = graph, Sources[Term]()
        for value, term in conditions:
            demand(value in VALUES and self._sources.of(term, value) == [term], f"no condition on data: {value}")
        self.nodes = dict.fromkeys((value, graph.insert(term)) for value, term in conditions)

    def holds(self, value: str, term: Term) -> bool:
        """Is true where no element of a term is a value, by the conditions."""
        found = self._sources.of(term, value)
        return found is not None and all((value, self._graph.insert(each)) in self.nodes for each in found)

    def excluded(self, find: Callable[[int], int], programs: Sequence[tuple[Module, Nodes]]) -> tuple[Excluded, ...]:
        """Returns the conditions on parameters and on results of the entry's operations.

        `find` returns the class of a node by the steps without conditions. Raises RefusedError for a condition on a
        value that neither program computes in its entry.
        """
        known: dict[int, tuple[str, int, int]] = {}
        for side, (module, nodes) in enumerate(programs):
            numbers = {operation: number for number, operation in enumerate(module.entry.operations)}
            for node, operation in nodes.makers.items():
                if operation in numbers and len(operation.results) == 1:
                    name = f"{operation.opcode} {operation.results[0].name}{' of the last module' * side}"
                    known.setdefault(find(node), (name, side, numbers[operation]))
        parameters = programs[0][0].entry.parameters
        is_flat = all(len([*each.shape.leaves()]) == 1 for each in parameters)
        found: dict[tuple[str, int, int], list[str]] = {}
        for value, node in self.nodes:
            kind, label, _ = self._graph.symbols[node]
            if kind == "leaf" and isinstance(label, tuple):
                name = parameters[label[1]].name if is_flat else f"parameter {label[1]}"
                place: tuple[str, int, int] | None = (name, -1, label[1])
            else:
                place = known.get(find(node))
            if place is None:
                raise RefusedError("a condition is about a value that neither entry computes")
            found.setdefault(place, []).append(value)
        return tuple(Excluded(*place, tuple(each for each in VALUES if each in found[place])) for place in found)
