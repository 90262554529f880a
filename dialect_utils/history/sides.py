"""Both sides of a move: the instruction that makes an array, and those that read the moved one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import kind_of_move
from dialect_utils.history.tracing import Introduced
from dialect_utils.ir import Value
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, by_opcode, has

Role = Literal["argument", "result", "loop state", "instruction"]
# Operations that ask for layouts, those that fix them most firmly first.
_DEMANDING = by_opcode(
    {"custom-call": 0, "convolution": 1, "dot": 2, "gather": 3, "scatter": 4, "sort": 5, "fft": 6, "reduce-window": 7}
)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a move: an instruction or an end of the program, and the layout in which it has the array.

    `number` is that of an argument or result of the entry, or of an element of a loop's state.
    """

    role: Role
    name: str
    opcode: str
    shape: str
    node: Value | None
    number: int | None = None

    def __str__(self) -> str:
        """Returns e.g. `argument 0 (x.1)`, `result 0` and `dot.3 (dot)`."""
        if self.role == "instruction":
            return f"{self.name} ({self.opcode})"
        name = f" ({self.name})" if self.name else ""
        return f"{self.role} {self.number}{name}"


def producer(found: Introduced) -> Side:
    """Returns the side that makes the array; operations that leave its bytes where they are are passed over."""
    graph = found.graph
    node = through_same_bytes(graph, graph.operands(found.node)[0])
    role, number = _role_of_value(graph, node)
    return Side(role, node.name, opcode_of(node), str(node.shape), node, number)


def consumers(found: Introduced) -> list[Side]:
    """Returns the sides that read the moved array, the one that most firmly asks for its layout first."""
    graph, node = found.graph, found.node
    shape = str(next(node.shape.arrays()))
    sides = [Side("result", "", "", shape, None, number) for number in result_numbers(graph, node)]
    for user, number in _reading(graph, node):
        role: Role = "instruction" if number is None else "loop state"
        sides.append(Side(role, user.name, opcode_of(user), shape, user, number))
    return sorted(dict.fromkeys(sides), key=_firmness)


def _firmness(side: Side) -> int:
    if side.role != "instruction":
        return 0 if side.role == "result" else 1
    return 2 + _DEMANDING.get(side.opcode, len(_DEMANDING))


def through_same_bytes(graph: FlatGraph, node: Value, end: Value | None = None) -> Value:
    """Returns the node whose bytes a node has, at most as far as `end`: bitcasts and prefetches are passed over."""
    while node is not end and keeps_bytes(node):
        node = graph.operands(node)[0]
    return node


def keeps_bytes(node: Value) -> bool:
    """Is true for a bitcast, a prefetch, and a transpose or reshape that leaves every byte where it is."""
    operation = node.operation
    if operation is None or not has(operation.opcode, Trait.MAY_BE_BITCAST):
        return False
    return kind_of_move(operation) is None if has(operation.opcode, Trait.IS_STEP) else operation.opcode != "copy"


def result_numbers(graph: FlatGraph, node: Value) -> list[int]:
    """Returns the numbers of the entry's results that have the bytes of a node."""
    return [number for number, each in enumerate(graph.results) if through_same_bytes(graph, each, node) is node]


def _reading(graph: FlatGraph, node: Value) -> Iterator[tuple[Value, int | None]]:
    """Yields the nodes that read the bytes of a node, a loop with the number of the element of its state."""
    yield from graph.carried(node)
    for user in graph.users(node):
        opcode = opcode_of(user)
        if keeps_bytes(user):
            yield from _reading(graph, user)
        elif opcode == "tuple":
            yield from graph.carried_by(user, node)
        elif opcode != "while":
            yield user, None


def _role_of_value(graph: FlatGraph, node: Value) -> tuple[Role, int | None]:
    if node.operation is None:
        number = list(node.function.parameters).index(node)
        return ("argument" if node.function.is_entry else "loop state"), number
    if node.operation.opcode == "get-tuple-element":
        made = graph.source(node.operation.operands[0])
        if made.operation is None or made.operation.opcode == "while":
            return "loop state", int(node.operation.attribute("index") or 0)
    return "instruction", None


def opcode_of(node: Value) -> str:
    """Returns the opcode of a node."""
    return "parameter" if node.operation is None else node.operation.opcode


def array_of(node: Value) -> ArrayShape | None:
    """Returns the array that a node makes, None for a node without one."""
    return next(node.shape.arrays(), None)
