"""The values that calls, fusions, loops, branches and asynchronous wrappers pass, in both dialects.

Like MLIR's CallOpInterface and RegionBranchOpInterface: the role of each called function (`body`, `branch 0`), and the
parameter or result that receives each value. No other module decides which function is the body of a loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TypeVar

from dialect_utils.ir import Function, Join, Module, Operand, Operation, Passed, Value, Yielded
from dialect_utils.ops import DONE, START, UPDATE, Trait, has, opcode_of, split_asynchronous, with_trait

_T = TypeVar("_T")
CONDITION, BODY = "condition", "body"


# Operations that do not count in the body of a loop: passes that change layouts add them.
_UNCOUNTED = with_trait(Trait.MOVES_DATA) | with_trait(Trait.TUPLES) | {"bitcast-convert", "constant"}

# Proofs unroll loops of at most so many iterations whose bodies compute with at most so many operations.
MOST_ITERATIONS = 8
_LONGEST_BODY = 40


def is_unrolled(body: Function) -> bool:
    """Is true for a short body of a loop: data movement does not count, so that passes that add some change nothing."""
    return sum(each.opcode not in _UNCOUNTED for each in body.operations) <= _LONGEST_BODY


def is_closed(function: Function) -> bool:
    """Is true for a function that uses no value from outside, as each computation of HLO."""
    return not any(True for _ in outside_values(function))


def outside_values(function: Function) -> Iterator[Value]:
    """Yields the values from outside that a function uses."""
    used = (value for each in function.operations for value in (*each.operands, *each.captured))
    return (value for value in (*used, *function.results) if value.function != function)


def reached(starts: Iterable[_T], step: Callable[[_T], Iterable[_T]], ends: Container[_T] = ()) -> list[_T]:
    """Returns items and all on the ways from them, each way as far as its first item that is in `ends`."""
    found = dict.fromkeys(starts)
    waiting = deque(found)
    while waiting:
        item = waiting.popleft()
        for each in step(item) if item not in ends else ():
            if each not in found:
                found[each] = None
                waiting.append(each)
    return list(found)


def call_roles(opcode: str, attributes: Sequence[str]) -> tuple[str, ...]:
    """Returns the roles of called functions, given HLO's names of the attributes that name the functions.

    A role is the attribute's name, or `branch 0`, `branch 1`, ... for the branches of a conditional.
    """
    if opcode == "conditional":
        return tuple(f"branch {number}" for number in range(len(attributes)))
    return tuple(attributes)


def default_roles(opcode: str, count: int) -> tuple[str, ...]:
    """Returns the roles of `count` called functions in the order of the operation's declaration."""
    names = [attribute.name for attribute in opcode_of(opcode).attributes if attribute.names_computations]
    return call_roles(opcode, (names + [names[-1] if names else "to_apply"] * count)[:count])


def in_role_order(opcode: str, calls: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns (attribute, function name) pairs in the order of the operation's declaration, not of the text."""
    if len(calls) == 1:
        return [*calls]
    order = [attribute.name for attribute in opcode_of(opcode).attributes]
    return sorted(calls, key=lambda call: order.index(call[0]) if call[0] in order else len(order))


def role_position(operation: Operation, role: str) -> int:
    """Returns the number of the called function with a role; raises ValueError if the operation has no such role."""
    roles = list(operation.roles)
    if role not in roles:
        raise ValueError(f"{operation.opcode} calls no {role}")
    return roles.index(role)


def joins_of(operation: Operation) -> list[Join]:
    """Returns which parameters and results receive the values that called functions are passed and yield.

    An operation that calls no function, or a malformed one, has no join.
    An embedded computation, such as a reduction's, takes part in no join.
    """
    base, phase = split_asynchronous(operation.opcode)
    if has(base, Trait.PASSES_OPERANDS) and phase in ("", START) and len(operation.called) == 1:
        return _joins_of_call(operation)
    if operation.opcode == "while" and sorted(operation.roles) == [BODY, CONDITION]:
        return _joins_of_loop(operation)
    return _joins_of_branches(operation) if operation.opcode == "conditional" else []


def merged(joins: Iterable[Join]) -> list[Join]:
    """Returns the joins with those merged that share a source or target, e.g. those of all calls of one function."""
    listed = [join for join in joins if join.sources or join.targets]
    leaders: dict[Passed | Value, Passed | Value] = {}
    for join in listed:
        ends: list[Passed | Value] = [*join.sources, *join.targets]
        leader = _leader(leaders, ends[0])
        for end in ends[1:]:
            leaders[_leader(leaders, end)] = leader
    groups: dict[Passed | Value, tuple[dict[Passed, None], dict[Value, None]]] = {}
    for join in listed:
        end = join.sources[0] if join.sources else join.targets[0]
        sources, targets = groups.setdefault(_leader(leaders, end), ({}, {}))
        sources.update(dict.fromkeys(join.sources))
        targets.update(dict.fromkeys(join.targets))
    return [Join(tuple(sources), tuple(targets)) for sources, targets in groups.values()]


def _leader(leaders: dict[Passed | Value, Passed | Value], end: Passed | Value) -> Passed | Value:
    """Returns the representative of a source's or target's group (union-find with path halving)."""
    while (after := leaders.setdefault(end, end)) is not end:
        leaders[end] = leaders[after]
        end = after
    return end


def _joins_of_call(operation: Operation) -> list[Join]:
    (called,) = operation.called
    passed = [Operand(operation, index) for index in range(len(operation.operands))]
    received: list[Sequence[Value]] = [operation.results]
    if operation.opcode.endswith(START):
        later, received = [], []
        for part in _parts_of(operation):
            if part.opcode.endswith(DONE):
                received.append(part.results)
            else:
                later += [Operand(part, index) for index in range(1, len(part.operands))]
        passed += later
    given = [Join((source,), (parameter,)) for source, parameter in zip(passed, called.parameters, strict=False)]
    yielded = [
        Join((Yielded(called, index),), tuple(results[index] for results in received if index < len(results)))
        for index in range(len(called.results))
    ]
    return [*given, *(join for join in yielded if join.targets)]


def _parts_of(start: Operation) -> Iterator[Operation]:
    """Yields the update and done operations of an asynchronous operation."""
    for user in start.results[0].users:
        phase = split_asynchronous(user.opcode)[1]
        if phase in (UPDATE, DONE) and user.operands[0] == start.results[0]:
            yield user
            if phase == UPDATE:
                yield from _parts_of(user)


def _joins_of_loop(operation: Operation) -> list[Join]:
    condition, body = operation.called_as(CONDITION), operation.called_as(BODY)
    state = zip(operation.results, condition.parameters, body.parameters, strict=False)
    count = min(len(operation.operands), len(body.results))
    return [
        Join((Operand(operation, index), Yielded(body, index)), targets)
        for index, targets in enumerate(state)
        if index < count
    ]


def _joins_of_branches(operation: Operation) -> list[Join]:
    given = [
        Join((Operand(operation, index),), (parameter,))
        for index, function in enumerate(operation.called, 1)
        if index < len(operation.operands)
        for parameter in function.parameters[:1]
    ]
    branches = [function for function in operation.called if len(function.results) == len(operation.results)]
    taken = [
        Join(tuple(Yielded(function, index) for function in branches), (result,))
        for index, result in enumerate(operation.results)
        if branches
    ]
    return [*given, *taken]


def in_program_order(module: Module) -> Iterator[Operation]:
    """Yields every operation before those of its called functions and regions, which may use values defined before."""
    seen: set[Function] = set()
    for function in reversed(module.functions):
        waiting = [iter(_begun(function, seen))]
        while waiting:
            operation = next(waiting[-1], None)
            if operation is None:
                waiting.pop()
                continue
            yield operation
            waiting += [iter(_begun(callee, seen)) for callee in reversed(operation.called)]


def _begun(function: Function, seen: set[Function]) -> Sequence[Operation]:
    """Returns the operations of a function at its first visit; none for an embedded function."""
    if function in seen or function.is_embedded:
        return ()
    seen.add(function)
    return function.operations


def callees_first(
    functions: Iterable[Function], on_cycle: Callable[[Operation, Function], None] = lambda *_: None
) -> list[Function]:
    """Returns functions and all that they call, each one after its callees.

    `on_cycle` gets each call that closes a cycle, with the function that calls itself through it.
    """
    order: dict[Function, None] = {}
    for start in functions:
        # An explicit stack: calls may nest deeper than Python's recursion limit.
        stack = [] if start in order else [(start, _calls_in(start))]
        entered = {start}
        while stack:
            function, calls = stack[-1]
            operation, called = next(calls, (None, function))
            if operation is None:
                order[function] = None
                entered.discard(function)
                stack.pop()
            elif called in entered:
                on_cycle(operation, called)
            elif called not in order:
                entered.add(called)
                stack.append((called, _calls_in(called)))
    return list(order)


def recursive_call(module: Module) -> Operation | None:
    """Returns an operation that closes a cycle of calls, or None; XLA's call graph overflows the stack on a cycle."""
    found: list[Operation] = []
    callees_first(module.functions, lambda operation, _: found.append(operation))
    return found[0] if found else None


def remove_uncalled(module: Module) -> None:
    """Removes the functions that nothing calls, except the entry."""
    while uncalled := _uncalled(module):
        for function in uncalled:
            module.remove_function(function)


def _uncalled(module: Module) -> list[Function]:
    called = {function for operation in module.operations() for function in operation.called}
    return [function for function in module.functions if not function.is_entry and function not in called]


def _calls_in(function: Function) -> Iterator[tuple[Operation, Function]]:
    return ((operation, called) for operation in function.operations for called in operation.called)
