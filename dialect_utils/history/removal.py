"""Changes of a program that remove a copy: another layout of an argument or result, or a donated argument.

Advice is given only for classes of copies that disappeared from recompiled programs (docs/why.md has the figures).
XLA:GPU copies by transposes, and the program's own transposes go the same way: an argument that only transposes of one
order read may come in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dialect_utils.history.flat import FlatGraph, array_of, opcode_of
from dialect_utils.history.moved import keeps_bytes, reading, through_same_bytes
from dialect_utils.history.tracing import Introduced
from dialect_utils.ir import Operation, Value
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.memory.relayouts import kind_of_move
from dialect_utils.memory.sharing import written_in_place
from dialect_utils.ops import IN_PLACE, named

Action = Literal["argument layout", "result layout", "donation"]
# Operands that may have any layout at no cost.
_FREE = named("broadcast constant iota")


@dataclass(frozen=True, slots=True)
class Removal:
    """A change of the program: its kind, an argument or result, and the order of its dimensions from major to minor.

    `shape` is the array before the change.
    """

    action: Action
    number: int
    shape: ArrayShape
    major_to_minor: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Returns the change as a sentence for a program that jax.jit compiles."""
        if self.action == "donation":
            return f"donate argument {self.number} if it is not used afterwards: jax.jit(..., donate_argnums=...)"
        layout = f"Format(Layout(major_to_minor={self.major_to_minor}), sharding)"
        if self.action == "argument layout":
            return f"pass argument {self.number} in the layout of the copy: {layout} in in_shardings of jax.jit"
        return f"return result {self.number} in the layout before the copy: {layout} in out_shardings of jax.jit"


def removal(found: Introduced, compiler: str | None) -> Removal | None:
    """Returns the change that removes a copy, or a transpose on a GPU; None where none is known.

    `compiler` is the one that wrote the program, as `guess_compiler` returns it.
    """
    graph, copy = found.graph, found.node
    if copy.operation is None or not (copy.operation.opcode == "copy" or (compiler == "gpu" and _is_transpose(copy))):
        return None
    if kind_of_move(copy.operation) == "copy":
        return _donation(graph, copy)
    back = path_back(graph, graph.operands(copy)[0])
    argument = argument_number(back[-1])
    order: tuple[int, ...] | None
    after = paths_to_results(graph, copy)
    # XLA:CPU copies an argument of another layout once more.
    is_kept = compiler is not None and not after and not _is_written_over(graph, copy)
    if argument is not None and is_kept and _is_only_read_so(graph, back, copy):
        order = _order_before(copy)
        for node, before in pairwise(back):
            order = _through(order, before, node, forward=False)
        return _changed("argument layout", argument, back[-1], order)
    # An argument that the program returns unchanged is copied in any layout.
    if len(after) == 1 and argument_number(through_same_bytes(graph, back[0])) is None:
        [(number, path)] = after
        order = _through(_order(graph.operands(copy)[0]), graph.operands(copy)[0], copy, forward=True)
        for before, node in pairwise(path):
            order = _through(order, before, node, forward=True)
        return _changed("result layout", number, path[-1], order)
    return None


def _changed(action: Action, number: int, node: Value, order: tuple[int, ...] | None) -> Removal | None:
    shape = array_of(node)
    # An array that has the order already, as each one of one dimension, is copied for another reason.
    return None if not order or shape is None or order == _order(node) else Removal(action, number, shape, order)


def _is_transpose(node: Value) -> bool:
    """Is true for a transpose that moves elements."""
    return node.operation is not None and kind_of_move(node.operation) == "transpose"


def path_back(graph: FlatGraph, node: Value) -> list[Value]:
    """Returns the path back from a node through elementwise and byte-preserving operations to the first other one."""
    path = [node]
    while (before := _carried(graph, path[-1])) is not None:
        path.append(before)
    return path


def _carried(graph: FlatGraph, node: Value) -> Value | None:
    """Returns the operand whose layout an operation may keep, None for operations without such an operand."""
    if node.operation is None:
        return None
    if keeps_bytes(node):
        return graph.operands(node)[0]
    if not is_elementwise(node.operation):
        return None
    large = [each for each in dict.fromkeys(graph.operands(node)) if opcode_of(graph.unmoved(each)) not in _FREE]
    return large[0] if len(large) == 1 else None


def paths_to_results(graph: FlatGraph, copy: Value) -> list[tuple[int, list[Value]]]:
    """Returns the numbers of the results that a copy reaches, each with the nodes from the copy to it."""
    found = []
    for number, result in enumerate(graph.results):
        path = [result]
        while path[-1] is not copy and (before := _carried(graph, path[-1])) is not None:
            path.append(before)
        if path[-1] is copy:
            found.append((number, path[::-1]))
    return found


def _is_only_read_so(graph: FlatGraph, back: list[Value], copy: Value) -> bool:
    """Is true where every reader of an argument, or of a value on the path from it, is a copy into the same order."""
    wanted, path = _order_before(copy), set(back)
    for node in back:
        for user in graph.users(node):
            is_copy = (opcode_of(user) == "copy" or _is_transpose(user)) and _order_before(user) == wanted
            if user not in path and not is_copy:
                return False
    return True


def _is_written_over(graph: FlatGraph, copy: Value) -> bool:
    """Is true where a reader may write into the array: an argument has to stay as it is, so it would be copied."""
    for user, number in reading(graph, copy):
        assert user.operation is not None
        if number is not None and _is_changed(graph, user.operation, number):
            return True
        written = (graph.source(operand) for operand, _, _ in written_in_place(user.operation))
        if number is None and any(copy in graph.moves_to(each) for each in written):
            return True
    return False


def _is_changed(graph: FlatGraph, loop: Operation, number: int) -> bool:
    """Is true where the body of a loop returns another array as this element of the state."""
    body = loop.called_as("body")
    assert body is not None
    [state] = body.parameters
    result = graph.source(body.results[0])
    made = result.operation
    if made is not None and made.opcode == "tuple":
        result = graph.source(made.operands[number])
    element = result.operation
    if element is None or element.opcode != "get-tuple-element" or graph.operands(result)[0] is not state:
        return result is not state
    return element.attribute("index") != str(number)


def argument_number(node: Value) -> int | None:
    """Returns the number of an argument of the entry, None for other nodes."""
    if node.operation is not None or not node.function.is_entry:
        return None
    return list(node.function.parameters).index(node)


def _order(node: Value) -> tuple[int, ...]:
    shape = array_of(node)
    return () if shape is None or shape.layout is None else tuple(reversed(shape.layout.minor_to_major))


def _order_before(move: Value) -> tuple[int, ...]:
    """Returns the order of the result of a copy or transpose, as dimensions of the operand."""
    step = None if move.operation is None else move.operation.step
    order = _order(move)
    return order if step is None or step.order is None else tuple(step.order[each] for each in order)


def _through(order: tuple[int, ...] | None, before: Value, after: Value, *, forward: bool) -> tuple[int, ...] | None:
    """Returns an order of dimensions on the other side of an operation, None where the sizes differ there."""
    permutation = _permutation(before, after)
    if order is None or permutation is None:
        return None
    return tuple(permutation.index(each) if forward else permutation[each] for each in order)


def _permutation(before: Value, after: Value) -> tuple[int, ...] | None:
    """Returns the permutation of dimensions that an operation makes, None for other changes of dimensions."""
    one, other = array_of(before), array_of(after)
    if one is None or other is None or sorted(one.dimensions) != sorted(other.dimensions):
        return None
    assert after.operation is not None
    step = after.operation.step
    if step is None and not keeps_bytes(after):
        return tuple(range(one.rank))
    if step is not None and step.order is not None:
        return step.order
    plan = classify_bitcast(one.in_default_memory, other.in_default_memory).decomposition if one.is_static else None
    if plan is None or len(plan.steps) > 1:
        return None
    if not plan.steps:
        return tuple(range(one.rank))
    [step] = plan.steps
    return step.order


def _donation(graph: FlatGraph, copy: Value) -> Removal | None:
    """Returns the donation of an argument that is copied so that an operation may write into the copy."""
    made = through_same_bytes(graph, graph.operands(copy)[0])
    argument, shape = argument_number(made), array_of(made)
    if argument is None or shape is None or argument in {number for _, number, _ in graph.module.aliases}:
        return None
    updates = [each for each in graph.users(copy) if opcode_of(each) in IN_PLACE and graph.operands(each)[0] is copy]
    taken = {result for result, _, _ in graph.module.aliases}
    arrays = [(number, node, array_of(node)) for number, node in enumerate(graph.results)]
    same = [
        node
        for number, node, each in arrays
        if (number,) not in taken and each is not None and each.type_and_dimensions == shape.type_and_dimensions
    ]
    # JAX gives the memory of a donated argument to the first result of its type.
    is_first = len(same) == 1 or (bool(same) and _written_over(graph, same[0], copy) is copy)
    return Removal("donation", argument, shape) if updates and is_first else None


def _written_over(graph: FlatGraph, node: Value, end: Value) -> Value:
    """Returns the array whose memory an array may have, back as far as `end` through writes in place."""
    while node is not end:
        before = graph.operands(node)[0] if opcode_of(node) in IN_PLACE else _carried(graph, node)
        if before is None:
            break
        node = before
    return node
