"""Follows instructions of the final program back through the modules of all passes to the first that has each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.matching import Counterparts
from dialect_utils.ir import Module, Value
from dialect_utils.layout import Layout

# Reads one module of the compilation; None where the file does not hold a module that can be read.
Load = Callable[[], Module | None]


@dataclass(frozen=True, slots=True)
class Introduced:
    """The first module with an instruction: its number in the compilation, and its node there.

    `before` is the last module without the instruction, with its number; None: the compiler's input has it. `replaced`
    is the move in that module whose place a new move takes.
    """

    number: int
    graph: FlatGraph
    node: Value
    before: tuple[int, FlatGraph] | None = None
    replaced: Value | None = None


class History:
    """The modules of a compilation, from its input to the final program. A module is read when it is needed.

    `unread` has the numbers of modules that were needed and could not be read: they are skipped.
    """

    def __init__(self, loads: Sequence[Load]) -> None:
        """Takes the modules in the order of compilation."""
        self._loads = loads
        self._graphs: dict[int, FlatGraph | None] = {}
        self.unread: list[int] = []

    @property
    def final(self) -> tuple[int, FlatGraph] | None:
        """Returns the last module that can be read and its number, None where there is none."""
        found = ((number, self._graph(number)) for number in self._downwards())
        return next(((number, graph) for number, graph in found if graph is not None), None)

    def _downwards(self) -> range:
        return range(len(self._loads) - 1, -1, -1)

    def _graph(self, number: int) -> FlatGraph | None:
        if number not in self._graphs:
            module = self._loads[number]()
            if module is None:
                self.unread.append(number)
            same = self._graphs.get(number + 1)
            is_same = same is not None and module is not None and same.module.text() == module.text()
            self._graphs[number] = same if is_same else None if module is None else FlatGraph(module)
        return self._graphs[number]

    def trace(self, nodes: Mapping[Value, Layout | None]) -> dict[Value, Introduced]:
        """Returns the earliest stage in which each node of the final program exists.

        For a node with a layout that is where the instruction first has this layout.
        """
        found: dict[Value, Introduced] = {}
        waiting: dict[Value, Value] = {}
        after: tuple[int, FlatGraph] | None = None
        for number in self._downwards():
            graph = self._graph(number)
            if graph is None:
                continue
            if after is None:
                waiting = {node: node for node in nodes}
            elif graph is not after[1]:
                waiting = self._step_back(number, graph, after, waiting, nodes, found)
            after = number, graph
            if not waiting:
                return found
        assert after is not None, "no module can be read"
        found.update({node: Introduced(*after, place) for node, place in waiting.items()})
        return found

    def _step_back(
        self,
        number: int,
        graph: FlatGraph,
        after: tuple[int, FlatGraph],
        waiting: Mapping[Value, Value],
        nodes: Mapping[Value, Layout | None],
        found: dict[Value, Introduced],
    ) -> dict[Value, Value]:
        """Returns the places of the nodes in a module; those that begin after it are `found`."""
        counterparts = Counterparts.of(graph, after[1])
        left: dict[Value, Value] = {}
        for node, place in waiting.items():
            earlier = counterparts.get(place)
            if earlier is None:
                found[node] = Introduced(*after, place, (number, graph), counterparts.replaced(place))
            elif not _has(earlier, nodes[node]):
                found[node] = Introduced(*after, place, (number, graph))
            else:
                left[node] = earlier
        return left


def _has(node: Value, layout: Layout | None) -> bool:
    """Is true for a node with an array of this order and these tiles; None: for every node."""
    if layout is None:
        return True
    own = (each.layout for each in node.shape.arrays())
    wanted = layout.minor_to_major, layout.tiles
    return any(each is not None and (each.minor_to_major, each.tiles) == wanted for each in own)
