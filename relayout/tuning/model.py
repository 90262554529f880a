"""A model of the cost of a change without the compiler: the cheapest layouts inside a program, by an integer program.

Each array has a binary variable for each order of dimensions. The bytes are those of the arrays in their orders, by
how often each is read and written, and of a copy wherever the orders at both ends of a link do not fit. The peak is
the most that arrays and copies take at one position.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dialect_utils.ir import Module
from relayout.tuning.changes import AUTO, DEFAULT, Change, EntryArray, in_mode, mode_of
from relayout.tuning.graph import Array, Graph, Link, tiled
from relayout.tuning.solver import IntegerProgram
from relayout.tuning.trials import Objective

# A copy reads and writes an array.
_COPY = 2
# The figure that is not the objective breaks ties.
_SECOND = 1e-3
# Large coefficients cost accuracy.
_UNIT = float(1 << 20)
# A binary variable that is chosen is about 1.
_HALF = 0.5
# The peak is looked for at so many positions with the most bytes in the default orders.
_MOST_POSITIONS = 100


class Prediction(NamedTuple):
    """The modelled bytes of a program: the most that is held, and all that is accessed."""

    peak: float
    accessed: float


class Model:
    """The layouts of a program with the smallest peak, or with the fewest bytes accessed for another objective."""

    def __init__(self, module: Module, target: str, objective: Objective) -> None:
        self._target, self._graph, self._program = target, Graph(module, target), IntegerProgram()
        weight = (1.0, _SECOND) if objective == "peak" else (_SECOND, 1.0)
        self._peak, self._accessed = (self._program.positive(each) for each in weight)
        self._traffic: dict[int, float] = defaultdict(float)
        self._held: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._choices = [self._added_array(array) for array in self._graph.arrays]
        for link in self._graph.links:
            self._add_link(link)
        self._add_figures()
        self._entry = {each.entry: number for number, each in enumerate(self._graph.arrays) if each.entry is not None}

    def _added_array(self, array: Array) -> list[int]:
        """Adds the variables of an array, one of which is 1, and its traffic with the copies that operations make."""
        choices = [self._program.binary() for _ in array.orders]
        self._program.equal(1.0, dict.fromkeys(choices, 1.0))
        for choice, size in zip(choices, array.sizes, strict=True):
            if array.is_stored:
                self._traffic[choice] += array.traffic * size
        for position, denied, size in array.copied:
            for choice in (choices[number] for number in denied):
                self._traffic[choice] += _COPY * size
                self._held[position][choice] += size
        return choices

    def _add_link(self, link: Link) -> None:
        """Adds a variable for each order of a link's target, which is 1 where the source has no order that fits."""
        target = self._graph.arrays[link.target]
        for number, kept in enumerate(link.kept):
            if len(kept) == len(self._choices[link.source]):
                continue
            copied = self._program.positive()
            chosen = self._choices[link.target][number]
            fitting = dict.fromkeys((self._choices[link.source][each] for each in kept), 1.0)
            self._program.at_least(0.0, {copied: 1.0, chosen: -1.0, **fitting})
            self._traffic[copied] += _COPY * target.sizes[number]
            self._held[target.begin][copied] += target.sizes[number]

    def _add_figures(self) -> None:
        """Adds the constraints that make two variables the bytes accessed and the peak."""
        fixed = self._graph.fixed_traffic / _UNIT
        self._program.equal(-fixed, {self._accessed: -1.0, **_in_units(self._traffic)})
        stored = [(array, choices) for array, choices in zip(self._graph.arrays, self._choices, strict=True)]
        positions = {array.begin for array, _ in stored if array.is_stored} | {*self._held}
        ranked = sorted(positions, key=lambda position: (-self._least(position), position))
        for position in ranked[:_MOST_POSITIONS]:
            held = self._held[position]
            for array, choices in stored:
                if array.is_stored and array.begin <= position <= array.end:
                    for choice, size in zip(choices, array.sizes, strict=True):
                        held[choice] += size
            self._program.at_least(0.0, {self._peak: 1.0} | {each: -size for each, size in _in_units(held).items()})

    def _least(self, position: int) -> int:
        held = (array for array in self._graph.arrays if array.is_stored and array.begin <= position <= array.end)
        return sum(min(array.sizes) for array in held)

    def predict(self, change: Change) -> Prediction:
        """Returns the modelled figures of a program whose entry has the layouts of a change."""
        for entry, number in self._entry.items():
            self._choose(number, self._order(self._graph.arrays[number], entry, change.mode(entry)))
        solution = self._program.solve()
        assert solution is not None  # any orders are possible, with copies
        return Prediction(*(solution[each] * _UNIT for each in (self._peak, self._accessed)))

    def best(self, start: Change, count: int) -> list[Change]:
        """Returns changes of the entry's layouts, the one with the smallest figure first, at most so many."""
        for number in self._entry.values():
            self._choose(number, None)
        several = [entry for entry, number in self._entry.items() if len(self._choices[number]) > 1]
        found: list[Change] = []
        cuts: list[int] = []
        while several and len(found) < count and (solution := self._program.solve()) is not None:
            chosen = {entry: self._chosen(self._entry[entry], solution) for entry in several}
            found.append(self._change(start, chosen))
            cut = {self._choices[self._entry[entry]][number]: -1.0 for entry, number in chosen.items()}
            cuts.append(self._program.at_least(1.0 - len(several), cut))
        for each in cuts:
            self._program.drop(each)
        return found

    def _change(self, start: Change, chosen: Mapping[EntryArray, int]) -> Change:
        """Returns a change with the orders of a solution; an order equal to the default has the mode `default`."""
        for entry, number in chosen.items():
            array = self._graph.arrays[self._entry[entry]]
            if number != self._order(array, entry, start.mode(entry)):
                default = self._order(array, entry, DEFAULT)
                start = start.with_mode(entry, DEFAULT if number == default else mode_of(tuple(array.orders[number])))
        return start

    def _order(self, array: Array, entry: EntryArray, mode: str) -> int | None:
        """Returns the number of the order of a mode; None where the compiler chooses."""
        if mode == AUTO:
            return None
        layout = in_mode(array.shape, mode, self._target).layout
        assert layout is not None  # of the mode
        wanted = tiled(array.shape, layout.minor_to_major)
        return next((n for n, order in enumerate(array.orders) if tiled(array.shape, order) == wanted), 0)

    def _choose(self, number: int, order: int | None) -> None:
        for each, variable in enumerate(self._choices[number]):
            self._program.choose(variable, None if order is None else each == order)

    def _chosen(self, number: int, solution: Sequence[float]) -> int:
        return next(order for order, variable in enumerate(self._choices[number]) if solution[variable] > _HALF)


def _in_units(terms: Mapping[int, float]) -> dict[int, float]:
    return {variable: size / _UNIT for variable, size in terms.items()}
