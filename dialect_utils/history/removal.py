"""What removes a move from a program: another layout of an argument or result, or a donated argument.

Advice is given only for classes of moves that were seen to disappear from recompiled programs (docs/why.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import kind_of_move
from dialect_utils.history.sides import array_of, opcode_of, result_numbers, through_same_bytes
from dialect_utils.history.tracing import Introduced
from dialect_utils.ir import Value
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.steps import Transpose

Action = Literal["argument layout", "result layout", "donation"]


@dataclass(frozen=True, slots=True)
class Removal:
    """A change of the program: its kind, the argument or result, and the order of the dimensions from major to minor."""

    action: Action
    number: int
    major_to_minor: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Returns the change as a sentence for a program that jax.jit compiles."""
        if self.action == "donation":
            return f"donate argument {self.number}: jax.jit(..., donate_argnums={self.number})"
        side = "in_shardings" if self.action == "argument layout" else "out_shardings"
        what = "pass argument" if self.action == "argument layout" else "return result"
        layout = f"Format(Layout(major_to_minor={self.major_to_minor}), sharding)"
        return f"{what} {self.number} in the layout of the copy: {layout} in {side} of jax.jit"


def removal(found: Introduced) -> Removal | None:
    """Returns the change that removes a move, or None where none is known."""
    graph, node = found.graph, found.node
    if node.operation is None or node.operation.opcode != "copy":
        return None
    kind = kind_of_move(node.operation)
    made = through_same_bytes(graph, graph.operands(node)[0])
    argument = _argument(made)
    results = result_numbers(graph, node)
    if kind == "copy":
        return _donation(graph, made, argument, node)
    if argument is not None and not results:
        order = _order_before(made, graph.operands(node)[0], node)
        if order is not None and _is_only_read_so(graph, made, node):
            return Removal("argument layout", argument, order)
    if len(results) == 1 and argument is None:
        order = _order_after(node, graph.results[results[0]])
        return None if order is None else Removal("result layout", results[0], order)
    return None


def _argument(node: Value) -> int | None:
    """Returns the number of an argument of the entry, None for other nodes."""
    if node.operation is not None or not node.function.is_entry:
        return None
    return list(node.function.parameters).index(node)


def _is_only_read_so(graph: FlatGraph, argument: Value, copy: Value) -> bool:
    """Is true where every user of an argument is a copy into one order."""
    wanted = _order(copy)
    waiting, users = [argument], []
    while waiting:
        for user in graph.users(waiting.pop()):
            same = opcode_of(user) in ("bitcast", "copy-start", "copy-done")
            (waiting if same else users).append(user)
    return all(opcode_of(user) == "copy" and _order(user) == wanted for user in users)


def _order(node: Value) -> tuple[int, ...]:
    shape = array_of(node)
    return () if shape is None or shape.layout is None else tuple(reversed(shape.layout.minor_to_major))


def _order_before(made: Value, read: Value, copy: Value) -> tuple[int, ...] | None:
    """Returns the order, major to minor, in which an argument would have the bytes of its copy."""
    permutation = _permutation(made, read)
    return None if permutation is None else tuple(permutation[each] for each in _order(copy))


def _order_after(copy: Value, result: Value) -> tuple[int, ...] | None:
    """Returns the order, major to minor, in which a result would have the bytes that the copy reads."""
    permutation = _permutation(copy, result)
    assert copy.operation is not None
    source = _order(copy.operation.operands[0])
    if permutation is None or not source:
        return None
    return tuple(permutation.index(each) for each in source)


def _permutation(source: Value, result: Value) -> tuple[int, ...] | None:
    """Returns the permutation of dimensions as which bitcasts read an array, None for other bitcasts."""
    one, other = array_of(source), array_of(result)
    if one is None or other is None or sorted(one.dimensions) != sorted(other.dimensions):
        return None
    if source is result or one == other:
        return tuple(range(one.rank))
    if not one.is_static or not other.is_static or one.element_type != other.element_type:
        return None
    plan = classify_bitcast(one.in_default_memory, other.in_default_memory).decomposition
    if plan is None or len(plan.steps) > 1:
        return None
    if not plan.steps:
        return tuple(range(one.rank))
    [step] = plan.steps
    return step.permutation if isinstance(step, Transpose) else None


def _donation(graph: FlatGraph, made: Value, argument: int | None, copy: Value) -> Removal | None:
    """Returns the donation of an argument that is copied so that the program may write to the copy."""
    shape = array_of(made)
    if argument is None or shape is None:
        return None
    aliased = {number for _, number, _ in graph.module.aliases}
    if argument in aliased:
        return None
    if any(_is_like(shape, array_of(each)) and not _is_argument(graph, each) for each in graph.results):
        return Removal("donation", argument)
    return None


def _is_argument(graph: FlatGraph, node: Value) -> bool:
    return _argument(through_same_bytes(graph, node)) is not None


def _is_like(one: ArrayShape, other: ArrayShape | None) -> bool:
    return other is not None and one.type_and_dimensions == other.type_and_dimensions
