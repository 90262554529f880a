"""Follows instructions of the final program back through the modules of all passes to the first that has each.

Counterparts pair each instruction of a module with the same instruction of the module before a pass. Names decide only
between candidates that nothing else distinguishes: passes number instructions again.

Longer than others: the rules that pair the instructions of two modules belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from dialect_utils.history.flat import (
    FlatGraph,
    array_of,
    firmness,
    is_same_move,
    is_settled,
    movement,
    opcode_of,
    order_of,
)
from dialect_utils.hlo.text.attributes import op_name_in
from dialect_utils.ir import Module, Value
from dialect_utils.ir.control_flow import reached
from dialect_utils.layout import Layout, Shape
from dialect_utils.memory.collectives import collective_kind
from dialect_utils.ops import Trait, has
from dialect_utils.text import DiagnosticError

# Attributes that passes add or change while the instruction stays the same one.
_UNSTABLE = frozenset({"metadata", "backend_config", "sharding", "frontend_attributes", "origin"}) | frozenset(
    {"calls", "to_apply", "body", "condition", "branch_computations", "control-predecessors"}
    | {"operand_precision", "cross_program_prefetch_index", "dim_labels", "window"}
)
_LONGEST_LITERAL = 64
# The least similarity score of two moves that count as the same instruction; the maximum is 17.
_LEAST = 6
# The least score for moves of arrays without counterparts: dimensions, order and readers agree.
_LEAST_WITHOUT_SOURCE = 12
# Above the firmness of every operation.
_UNREAD = 100

_Key = Callable[[FlatGraph, Value], Hashable]


@dataclass(slots=True)
class Counterparts:
    """A map from the nodes of the module after a pass to those before the pass; a node without an entry is new."""

    before: FlatGraph
    after: FlatGraph
    _found: dict[Value, Value] = field(default_factory=dict, init=False)
    _reached: set[Value] = field(default_factory=set, init=False)
    _hashes: dict[Value, int] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, before: FlatGraph, after: FlatGraph) -> Counterparts:
        """Returns the counterparts: of the operations that compute, then of those that move their results."""
        made = cls(before, after)
        made._match_computing()
        made._match_moves()
        return made

    def get(self, node: Value) -> Value | None:
        """Returns the node before the pass, or None for a new one."""
        return self._found.get(node)

    def replaced(self, node: Value) -> Value | None:
        """Returns a move that a new move of the same array replaces: it is not in the module after the pass."""
        source = self._found.get(self.after.unmoved(node))
        readers = {self._found.get(each) for each in self.after.readers(node)}
        best: tuple[int, Value] | None = None
        for each in _moves(self.before):
            if each in self._reached or self.before.unmoved(each) is not source or opcode_of(each) == "bitcast":
                continue
            if _size(each.shape) != _size(node.shape):
                continue
            likeness = len(readers.intersection(self.before.readers(each))) + (op_name(each) == op_name(node))
            if best is None or likeness > best[0]:
                best = likeness, each
        return best[1] if best else None

    def replaced_collectives(self, node: Value) -> list[Value]:
        """Returns the collectives that a new one replaces: those of the same arrays that the pass has removed.

        A pass may also exchange a collective with the operation after it: one sum of `a + b` for the sums of both.
        """
        ways = reached(self.after.operands(node), self.after.operands, self._found)
        sources = {self._found[each] for each in ways if each in self._found and opcode_of(each) != "constant"}
        old = [each for each in self.before.nodes if each not in self._reached and each.operation is not None]
        gone = [each for each in old if each.operation is not None and collective_kind(each.operation) is not None]
        for step in (self.before.operands, self.before.users):
            ends = ((each, reached(step(each), step, self._reached)) for each in gone)
            if found := [each for each, known in ends if not sources.isdisjoint(known)]:
                return found
        return []

    def _match_computing(self) -> None:
        self._pair(self._expression, self._expression)
        while True:
            known = len(self._found)
            for label in (_label, _loose_label, _kind, _dimensions):
                self._pair(self._among_operands(label, True), self._among_operands(label, False))
            self._pair(lambda _, node: (_label(node), op_name(node)))
            if len(self._found) == known:
                break
        self._pair(lambda _, node: (_loose_label(node), op_name(node)))
        self._pair(lambda _, node: _loose_label(node))

    def _pair(self, of_before: _Key, of_after: _Key | None = None) -> None:
        """Pairs the nodes without counterparts that have equal keys, in the order of the text.

        Nodes that share a key are paired only if both modules have equally many of them. Equal expressions are exempt:
        a pass may duplicate them.
        """
        left, right = (
            _grouped(key, graph, (each for each in graph.nodes if each not in done and not _is_move(each)))
            for key, graph, done in (
                (of_before, self.before, self._reached),
                (of_after or of_before, self.after, self._found),
            )
        )
        is_expression = of_before == self._expression
        for key, news in right.items():
            olds = left.get(key, ())
            if olds and (is_expression or len(olds) == len(news)):
                self._pair_all(olds, news)

    def _pair_all(self, olds: Sequence[Value], news: Sequence[Value]) -> None:
        by_name = {each.name: each for each in olds}
        free = [each for each in olds if each.name not in {new.name for new in news}]
        for new in news:
            old = by_name.get(new.name) or (free.pop(0) if free else olds[-1])
            self._found[new] = old
            self._reached.add(old)

    def _among_operands(self, label: Callable[[Value], Hashable], is_before: bool) -> _Key:
        """Returns a key of a label and the operands' counterparts before the pass."""

        def key(graph: FlatGraph, node: Value) -> Hashable:
            operands = [graph.unmoved(each) for each in graph.operands(node)]
            known = operands if is_before else [self._found.get(each) for each in operands]
            # An unknown operand is equal to nothing.
            return (label(node), *((node, number) if each is None else each for number, each in enumerate(known)))

        return key

    def _expression(self, graph: FlatGraph, node: Value) -> int:
        """Returns the hash of the expression that a node computes, without moves."""
        stack = [node]
        while stack:
            each = stack[-1]
            needed = [graph.unmoved(operand) for operand in _inputs(graph, each)]
            missing = [operand for operand in needed if operand not in self._hashes]
            if missing:
                stack += missing
                continue
            stack.pop()
            number = _number(graph, each)
            self._hashes[each] = hash((_label(each), number, *(self._hashes[operand] for operand in needed)))
        return self._hashes[node]

    def _match_moves(self) -> None:
        by_source: dict[Value, list[Value]] = {}
        by_kind: dict[Hashable, list[Value]] = {}
        for each in _moves(self.before):
            by_source.setdefault(self.before.unmoved(each), []).append(each)
            by_kind.setdefault(_loose_label(each), []).append(each)
        scored = []
        for position, node in enumerate(_moves(self.after)):
            source = self._found.get(self.after.unmoved(node))
            # A pass may insert an operation before a move: then only the readers are the same.
            candidates = by_kind.get(_loose_label(node), ()) if source is None else by_source.get(source, ())
            readers = {self._found.get(each) for each in self.after.readers(node)} - {None}
            for old in candidates:
                likeness = self._likeness(old, node, readers)
                if likeness >= (_LEAST if source is not None else _LEAST_WITHOUT_SOURCE):
                    scored.append((-likeness, position, self._firmest(old, readers), node, old))
        for _, _, _, node, old in sorted(scored, key=lambda each: each[:3]):
            # A pass may duplicate a move into several fusions.
            if node not in self._found and (old not in self._reached or self.after.is_fused(node)):
                self._found[node] = old
                self._reached.add(old)
        self._match_movements(by_source)

    def _match_movements(self, by_source: Mapping[Value, Sequence[Value]]) -> None:
        """Pairs the moves that are left with those that move the elements of the same array to the same positions.

        XLA:GPU gives all arrays the default layout (xla/service/layout_normalization.cc): each copy into another
        layout becomes a transpose, each transpose one of other dimensions.
        """
        for node in _moves(self.after):
            source = None if node in self._found else self._found.get(self.after.unmoved(node))
            if source is None:
                continue
            readers = {self._found.get(each) for each in self.after.readers(node)}
            wanted = movement(node) if opcode_of(node) == "transpose" else None
            settled = filter(is_settled, by_source.get(source, ()) if wanted is not None else ())
            if equal := [each for each in settled if movement(each) == wanted] or self._passed(node, source):
                firmest = [self._firmest(each, readers) for each in equal]
                old = equal[firmest.index(min(firmest))]
                self._found[node] = old
                self._reached.add(old)

    def _passed(self, node: Value, source: Value) -> list[Value]:
        """Returns the move that a pass exchanged with the operation before it or after it.

        An example is `copy(pad(x))` for `pad(copy(x))` (xla/service/gpu/transforms/move_copy_to_users.cc).
        """
        users = [self._found.get(each) for each in self.after.users(node)]
        olds = [*self.before.operands(source), *(move for each in users if each for move in self.before.users(each))]
        return [each for each in olds if _is_move(each) and each not in self._reached and is_same_move(each, node)]

    def _firmest(self, old: Value, readers: set[Value | None]) -> int:
        """Returns how firmly one of the readers asks for a layout: a pass may join moves that are equal."""
        shared = (each for each in self.before.readers(old) if each in readers)
        return min((firmness(opcode_of(each)) for each in shared), default=_UNREAD)

    def _likeness(self, old: Value, new: Value, readers: set[Value | None]) -> int:
        """Returns the similarity score of two moves of one array, 0 for moves that cannot be the same instruction."""
        one, other = array_of(old), array_of(new)
        if opcode_of(old) != opcode_of(new) or one is None or other is None or _size(one) != _size(other):
            return 0
        # The dimensions of the result define a transpose and a reshape.
        if has(opcode_of(new), Trait.IS_STEP) and one.dimensions != other.dimensions:
            return 0
        score = 5 * bool(readers.intersection(self.before.readers(old))) + 4 * (one.dimensions == other.dimensions)
        score += 3 * (order_of(one) == order_of(other)) + (one.element_type == other.element_type)
        score += 2 * (op_name(old) == op_name(new)) + (old.name == new.name)
        return score + (_opcodes_before(self.before, old) == _opcodes_before(self.after, new))


def op_name(node: Value) -> str:
    """Returns the op name in the metadata of a node, empty where it has none."""
    metadata = node.operation.attribute("metadata") if node.operation is not None else None
    return op_name_in(metadata) if metadata is not None else ""


def _moves(graph: FlatGraph) -> list[Value]:
    return [each for each in graph.nodes if _is_move(each)]


def _is_move(node: Value) -> bool:
    """Is true where the result has the elements of the first operand, perhaps in another order or another memory."""
    return has(opcode_of(node), Trait.MAY_BE_BITCAST)


def _opcodes_before(graph: FlatGraph, node: Value) -> str:
    [first, *_] = graph.operands(node)
    return opcode_of(first)


def _inputs(graph: FlatGraph, node: Value) -> Sequence[Value]:
    """Returns the nodes that an expression depends on: of a parameter of a loop, the initial state."""
    if node.operation is not None:
        return graph.operands(node)
    caller = None if node.function.is_entry else graph.caller(node.function)
    return [] if caller is None else [graph.source(each) for each in caller.operands]


def _number(graph: FlatGraph, node: Value) -> Hashable:
    """Returns the number of a parameter, and the number of its function among those that its caller calls."""
    if node.operation is not None:
        return None
    caller = None if node.function.is_entry else graph.caller(node.function)
    role = -1 if caller is None else list(caller.called).index(node.function)
    return role, list(node.function.parameters).index(node)


def _grouped(key: _Key, graph: FlatGraph, nodes: Iterable[Value]) -> dict[Hashable, list[Value]]:
    groups: dict[Hashable, list[Value]] = {}
    for node in nodes:
        groups.setdefault(key(graph, node), []).append(node)
    return groups


def _label(node: Value) -> Hashable:
    operation = node.operation
    types = tuple((each.element_type.name, each.dimensions) for each in node.shape.arrays())
    if operation is None:
        return "parameter", types
    kept = tuple((name, text) for name, text in operation.attributes.items() if name not in _UNSTABLE)
    literal = getattr(operation, "literal", None)
    return operation.opcode, types, kept, literal and literal[:_LONGEST_LITERAL]


def _loose_label(node: Value) -> Hashable:
    return opcode_of(node), tuple(each.dimensions for each in node.shape.arrays())


def _dimensions(node: Value) -> Hashable:
    return tuple(each.dimensions for each in node.shape.arrays())


def _kind(node: Value) -> Hashable:
    return opcode_of(node), tuple(_size(each) for each in node.shape.arrays())


def _size(shape: Shape) -> int:
    array = next(iter(shape.arrays()), None)
    return array.element_count if array is not None and array.is_static else -1


# Reads one module of the compilation; None where the file does not hold a module that can be read.
Load = Callable[[], Module | None]


@dataclass(frozen=True, slots=True)
class Introduced:
    """The first module with an instruction: its number in the compilation, and its node there.

    `before` is the last module without the instruction, with its number; None: the compiler's input has it. `replaced`
    is the move in that module that a new move replaces.
    """

    number: int
    graph: FlatGraph
    node: Value
    before: tuple[int, FlatGraph] | None = None
    replaced: Value | None = None


class History:
    """The modules of a compilation, from its input to the final program. A module is parsed when it is needed.

    `unread` has the numbers of modules that were needed and could not be read: they are skipped.
    """

    def __init__(self, loads: Sequence[Load], files: Sequence[Callable[[], bytes]] = ()) -> None:
        """Stores the loaders of the modules, in the order of compilation, and of their files.

        A module whose file has the lines of all wanted instructions unchanged need not be parsed.
        """
        self._loads = loads
        self._files = files
        self._graphs: dict[int, FlatGraph | None] = {}
        self._pairs: dict[tuple[int, int], Counterparts] = {}
        self.unread: list[int] = []

    @property
    def final(self) -> tuple[int, FlatGraph] | None:
        """Returns the last module that can be read and its number, None where there is none."""
        found = ((number, self.graph(number)) for number in self._downwards())
        return next(((number, graph) for number, graph in found if graph is not None), None)

    def _downwards(self) -> range:
        return range(len(self._loads) - 1, -1, -1)

    def graph(self, number: int) -> FlatGraph | None:
        """Returns the graph of a module, None for one that cannot be read."""
        if number not in self._graphs:
            module = self._loads[number]()
            if module is None:
                self.unread.append(number)
            same = self._graphs.get(number + 1)
            is_same = same is not None and module is not None and same.module.text() == module.text()
            self._graphs[number] = same if is_same else None if module is None else FlatGraph(module)
        return self._graphs[number]

    def counterparts(self, before: tuple[int, FlatGraph], after: tuple[int, FlatGraph]) -> Counterparts:
        """Returns the counterparts of two modules, each with its number."""
        key = before[0], after[0]
        if key not in self._pairs:
            self._pairs[key] = Counterparts.of(before[1], after[1])
        return self._pairs[key]

    def trace(self, nodes: Mapping[Value, Layout | None], start: int | None = None) -> dict[Value, Introduced]:
        """Returns the earliest stage in which each node of the final program, or of module `start`, exists.

        For a node with a layout this is the first stage in which the instruction has the layout.
        """
        found: dict[Value, Introduced] = {}
        waiting: dict[Value, Value] = {}
        after: tuple[int, FlatGraph] | None = None
        same = None
        for number in self._downwards() if start is None else range(start, -1, -1):
            if after is not None and self._has_lines(number, waiting.values()):
                same = number
                continue
            graph = self.graph(number)
            if graph is None:
                continue
            if after is None:
                waiting = {node: node for node in nodes}
            elif graph is not after[1]:
                after, waiting = self._moved_to(same, after, waiting)
                waiting = self._step_back(number, graph, after, waiting, nodes, found)
            after, same = (number, graph), None
            if not waiting:
                return found
        assert after is not None, "no module can be read"
        after, waiting = self._moved_to(same, after, waiting)
        found.update({node: Introduced(*after, place) for node, place in waiting.items()})
        return found

    def _has_lines(self, number: int, nodes: Iterable[Value]) -> bool:
        """Is true for a module whose file holds the lines of all these instructions of a later module."""
        if not self._files:
            return False
        with suppress(DiagnosticError):
            data = self._files[number]()
            return all(line is not None and line in data for line in map(_line, nodes))
        return False

    def _moved_to(
        self, number: int | None, after: tuple[int, FlatGraph], waiting: dict[Value, Value]
    ) -> tuple[tuple[int, FlatGraph], dict[Value, Value]]:
        """Returns the module of a number, which has the lines of the instructions, with their nodes there."""
        graph = None if number is None else self.graph(number)
        if number is None or graph is None:
            return after, waiting
        named = {value.name: value for function in graph.module.functions for value in function.values()}
        return (number, graph), {node: named[place.name] for node, place in waiting.items()}

    def _step_back(
        self,
        number: int,
        graph: FlatGraph,
        after: tuple[int, FlatGraph],
        waiting: Mapping[Value, Value],
        nodes: Mapping[Value, Layout | None],
        found: dict[Value, Introduced],
    ) -> dict[Value, Value]:
        """Returns the counterparts of nodes that an earlier module has; adds all other nodes to `found`."""
        counterparts = self.counterparts((number, graph), after)
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


def _line(node: Value) -> bytes | None:
    """Returns the line of an instruction in the text that was read, with both of its ends; None where it has none."""
    if node.location is None:
        return None
    text, position = node.location.source.text, node.location.span.start
    start, end = text.rfind("\n", 0, position), text.find("\n", position)
    return None if start < 0 or end < 0 else text[start : end + 1].encode("utf-8", "replace")


def _has(node: Value, layout: Layout | None) -> bool:
    """Is true for a node with an array of this order and these tiles; None: for every node."""
    if layout is None:
        return True
    own = (each.layout for each in node.shape.arrays())
    wanted = layout.minor_to_major, layout.tiles
    return any(each is not None and (each.minor_to_major, each.tiles) == wanted for each in own)
