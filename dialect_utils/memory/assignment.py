"""Memory for the arrays of a GPU program, as the compiler assigns it: the memory of outputs, and a heap.

The compiler assigns memory to the values of a schedule (xla/service/buffer_assignment.cc). A temporary takes the memory
of an output, or of a donated argument, that is free as long as it lives. The others are in a heap: the largest first,
or the longest-lived first, each in the smallest gap that is large enough (xla/service/heap_simulator). The smaller of
both heaps counts.

A result may be written over an operand that nothing reads later: xla/hlo/analysis/hlo_dataflow_analysis.cc
(CanShareOperandBufferWithUser), xla/service/gpu/alias_info.cc and nvptx_alias_info.cc. What must be written over an
operand is in `sharing`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, pairwise

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import BODY, joins_of
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.memory.allocation import Allocation, is_on_host
from dialect_utils.memory.schedule import Schedule, runs_called
from dialect_utils.memory.sharing import ALIASING, Leaves, behind, is_forwarding
from dialect_utils.ops import DONE, IN_PLACE, START, STARTED, Trait, has, split_asynchronous
from dialect_utils.ops.collectives import wraps_operands

# xla/service/gpu/gpu_constants.h, kXlaAllocatedBufferAlignBytes, and the bytes of an address.
_ALIGNMENT, _POINTER_BYTES = 256, 8
# A value's place in XLA's order: callers come before what they call, and operands before what is made of them.
_Number = tuple[int, int, int]


@dataclass(slots=True, eq=False)
class _Held:
    """A value: its lifetime, both ends included, and its first position and its last one, at `last_time`.

    `together` are the values in its memory. In the heap, events with the numbers `begun` and `ended` begin and end it.
    """

    number: _Number
    start: int
    end: int
    size: int
    first: Position
    last: Position
    last_time: int
    together: list[_Held] = field(default_factory=list)
    begun: int = field(init=False)
    ended: int = field(init=False)


@dataclass(slots=True)
class _Memory:
    """The values that share memory of `size` bytes; `root` is the representative of their leaves."""

    root: int
    size: int
    values: list[_Held]
    is_output: bool
    is_argument: bool

    def fits(self, other: _Memory) -> bool:
        """Is true where the values of another memory can be in this one."""
        is_small = other.size <= self.size
        return is_small and not any(_interferes(new, old) for new in other.values for old in self.values)


def table_bytes(shape: Shape) -> Iterator[int]:
    """Yields the bytes of the table of addresses of each tuple in a shape."""
    if isinstance(shape, TupleShape):
        yield _POINTER_BYTES * len(shape.elements)
        yield from chain.from_iterable(map(table_bytes, shape.elements))


def assign_memory(module: Module, schedule: Schedule, leaves: Leaves, allocation: Allocation) -> int:
    """Returns the bytes of all temporaries, and joins in `leaves` each temporary with the output whose memory it takes.

    The leaves of donated arguments and of the outputs in their memory are joined, too.
    """
    donated = [leaves.at(module.entry.parameters[number], path) for _, number, path in module.aliases]
    for (output, _, _), numbers in zip(module.aliases, donated, strict=True):
        leaves.share(leaves.at(module.entry.results[0], output), numbers)
    reusable = {leaves.root(leaf) for leaf in chain.from_iterable(donated)}

    def rank(memory: _Memory) -> tuple[int, bool, _Number]:
        return -memory.size, not memory.is_output, min(each.number for each in memory.values)

    kept: list[_Memory] = []
    heap: list[_Memory] = []
    for memory in sorted(_memories(module, schedule, leaves, allocation), key=rank):
        if memory.is_argument:
            kept += [memory] if memory.root in reusable else []
        elif not any((made := each.first[0].operation) and made.opcode == "constant" for each in memory.values):
            found = next((each for each in reversed(kept) if each.fits(memory)), None)
            if found is not None:
                found.values += memory.values
                leaves.share([memory.root], [found.root])
            else:
                (kept if memory.is_output else heap).append(memory)
    tables = sorted(size for each in _tables(module, schedule) for size in table_bytes(each.shape))
    # The parts follow one another, each aligned; the largest table comes last.
    *before, last = [size for size in (_heap_bytes(heap), *tables) if size] or [0]
    return sum(map(_aligned, before)) + last


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _interferes(one: _Held, other: _Held) -> bool:
    if one.start > other.end or other.start > one.end:
        return False
    if one.end == other.start:
        return not may_overwrite(one.last, other.first)
    return one.start != other.end or not may_overwrite(other.last, one.first)


def _tables(module: Module, schedule: Schedule) -> list[Value]:
    """Returns the tuples that take tables of addresses, besides the results; the state of a loop takes one."""
    joined, made = set(module.entry.results), []
    for operation in schedule.times:
        for join in joins_of(operation) if runs_called(operation) else ():
            is_result = join.targets[0] in module.entry.results
            joined.update(source.value for source in join.sources[0 if is_result else 1 :])
        # A tuple, and both ends of an asynchronous operation, pass arrays on in tables of their own.
        is_table = operation.opcode == "tuple" or operation.opcode.endswith((START, DONE))
        if operation.opcode.startswith("all-reduce-"):
            is_table = operation.opcode.endswith(START) and not wraps_operands(operation.results[0].shape)
        if is_table or not is_forwarding(operation):
            made += [each for each in operation.results if isinstance(each.shape, TupleShape)]
    return [each for each in made if each not in joined]


# Values and their lifetimes


def _memories(module: Module, schedule: Schedule, leaves: Leaves, allocation: Allocation) -> Iterator[_Memory]:
    """Yields the values of each buffer; of values that follow one another, each ends where the next one begins."""
    arguments = {leaves.root(leaf) for each in module.entry.parameters for leaf in leaves.of(each)}
    outputs = {leaves.root(leaf) for each in module.entry.results for leaf in leaves.of(each)}
    sharing: defaultdict[int, list[_Held]] = defaultdict(list)
    for leaf, value in _values(schedule, leaves, allocation).items():
        sharing[leaves.root(leaf)].append(value)
    for root, values in sharing.items():
        values.sort(key=lambda each: (each.start, each.end, each.number))
        for before, after in pairwise(values):
            after.end, before.end = max(before.end, after.end), min(before.end, after.start)
        size = max(each.size for each in values)
        for each in values:
            each.size, each.together = size, values
        yield _Memory(root, size, values, root in outputs, root in arguments)


def _values(schedule: Schedule, leaves: Leaves, allocation: Allocation) -> dict[int, _Held]:
    """Returns the values of everything that runs, with their lifetimes (xla/hlo/utils/hlo_live_range.cc)."""
    values: dict[int, _Held] = {}
    callers_first = {function: -number for number, function in enumerate(schedule.spans)}
    order = {value: number for function in schedule.spans for number, value in enumerate(_post_order(function))}
    for value, time in _positions(schedule):
        level = 1 if _is_wrapped(value) else callers_first[value.function]
        for leaf, (path, shape) in zip(leaves.of(value), value.shape.leaves_by_path(), strict=True):
            if isinstance(shape, ArrayShape) and not is_on_host(shape):
                here, number, size = (value, path), (level, order[value], leaf), allocation.held(shape)
                known = values.setdefault(leaves.values[leaf], _Held(number, time, time, size, here, here, time))
                if time < known.start:
                    known.number, known.start, known.first = number, time, here
                if time > known.last_time:
                    known.last_time, known.last = time, here
                known.end = max(known.end, time)
    for operation, time in schedule.times.items():
        if operation.opcode not in ALIASING and operation.opcode != "call":
            # The initial state of a loop lives until the body begins.
            last = schedule.spans[operation.called_as(BODY)][0] if operation.opcode == "while" else time
            for leaf in chain.from_iterable(map(leaves.of, operation.operands)):
                if (used := values.get(leaves.values[leaf])) is not None:
                    used.end = max(used.end, last)
    return values


def _positions(schedule: Schedule) -> Iterator[tuple[Value, int]]:
    """Yields every value with each time at which it appears."""
    for function, (start, end) in schedule.spans.items():
        yield from ((parameter, start) for parameter in function.parameters)
        for operation in function.operations:
            yield from ((result, schedule.times[operation]) for result in operation.results)
        yield from ((result, end) for result in function.results)


def _is_wrapped(value: Value) -> bool:
    """Is true for what an asynchronous operation makes in a computation of its own, which the text leaves out."""
    base, phase = split_asynchronous(value.operation.opcode) if value.operation is not None else ("", "")
    return phase == START and base not in STARTED


def _post_order(function: Function) -> Iterable[Value]:
    """Returns a function's values in XLA's order: each after the operands that it is made of."""
    found: dict[Value, None] = {}
    opened: set[Value] = set()
    stack = [*function.parameters, *(each for made in function.operations for each in made.results if not each.users)]
    stack.reverse()
    while stack:
        value = stack[-1]
        if value in opened:
            found.setdefault(stack.pop())
        else:
            opened.add(value)
            stack += reversed(value.operation.operands) if value.operation is not None else ()
    return found


# The heap


def _heap_bytes(memories: Iterable[_Memory]) -> int:
    """Returns the size of the smaller heap of the two that the compiler tries."""
    clusters = _clusters(memories)

    def largest(cluster: Sequence[_Held]) -> tuple[int, int, _Number]:
        return -cluster[0].size, cluster[0].begun - cluster[0].ended, cluster[0].number

    def longest(cluster: Sequence[_Held]) -> tuple[int, int, _Number]:
        span = min(each.begun for each in cluster) - max(each.ended for each in cluster)
        return span, -cluster[0].size, cluster[0].number

    return min(_packed(sorted(clusters, key=key)) for key in (largest, longest))


def _clusters(memories: Iterable[_Memory]) -> list[list[_Held]]:
    """Returns the values of the heap, those together at one place, and numbers the events.

    A value alone in its memory may begin in the place of an operand that ends there and is alone in its own.
    """
    begin: defaultdict[int, list[_Held]] = defaultdict(list)
    end: defaultdict[int, list[_Held]] = defaultdict(list)
    values = [each for memory in memories if memory.size for each in memory.values]
    for each in sorted(values, key=lambda each: (each.start, each.end, each.number)):
        begin[each.start].append(each)
        end[each.end].append(each)
    places: dict[int, list[_Held]] = {}
    event = count()
    for time in sorted({*begin, *end}):
        for new in begin[time]:
            if len(new.together) == 1:
                ending = (old for old in end[time] if len(old.together) == 1 and may_overwrite(old.first, new.first))
                if (over := next(ending, None)) is not None:
                    end[time].remove(over)
                    over.ended = next(event)
                    places[id(new.together)] = places[id(over.together)]
            new.begun = next(event)
            places.setdefault(id(new.together), []).append(new)
        for old in end[time]:
            old.ended = next(event)
    return list({id(each): each for each in places.values()}.values())


def _packed(clusters: Sequence[Sequence[_Held]]) -> int:
    """Returns the size of a heap in which each cluster in turn gets the smallest gap that is large enough."""
    placed: list[tuple[int, int, int, int]] = []
    most = 0
    for cluster in clusters:
        size = max(each.size for each in cluster)
        used: set[tuple[int, int]] = set()
        for each in cluster:
            used.update([(begin, end) for begin, end, a, b in placed if a <= each.ended and b >= each.begun])
        gaps, free = [], 0
        for begin, end in sorted(used):
            if begin - free >= size:
                gaps.append((begin - free, free))
            free = max(free, _aligned(end))
        place = min(gaps)[1] if gaps else free
        placed += [(place, place + size, each.begun, each.ended) for each in cluster]
        most = max(most, place + size)
    return most


# Results over operands

# A product that is added to its third operand; the factor of that operand is not zero.
_LT_PRODUCT, _BETA = "__cublas$lt$matmul", re.compile(r'"beta":([\d.e+-]+)')
# A value, and an index path into its tuples.
Position = tuple[Value, tuple[int, ...]]


def may_overwrite(read: Position, written: Position) -> bool:
    """Is true where the operation that makes the array `written` may write it over its operand, the array `read`."""
    (operand, path), (result, index), user = read, written, written[0].operation
    if user is None or user.opcode == "copy" or operand not in (operands := list(user.operands)):
        return False
    before, after, number = operand.shape.at(path), result.shape.at(index), operands.index(operand)
    assert isinstance(before, ArrayShape)
    assert isinstance(after, ArrayShape)
    if user.opcode == "custom-call":
        beta = _BETA.search(user.attribute("backend_config") or "")
        is_added = user.callee == _LT_PRODUCT and beta is not None and float(beta[1]) != 0
        return is_added and number == 2 and operands.count(operand) == 1 and index == (0,)
    if user.opcode == "fusion":
        is_equal = before.element_type.storage_bits == after.element_type.storage_bits
        return is_equal and before.element_count == after.element_count and _in_step(user, number, index)
    if user.opcode == "sort":
        return before == after and len(operand.users) == 1 and index in ((), (number,))
    return before == after and _keeps_place(user, operand)


def _keeps_place(user: Operation, operand: Value) -> bool:
    """Is true for an operation that reads each element of an operand where it writes the result's."""
    return has(user.opcode, Trait.ELEMENTWISE) or (user.opcode in IN_PLACE and user.operands[0] == operand)


def _in_step(fusion: Operation, number: int, path: Sequence[int]) -> bool:
    """Is true for a fusion that reads each element of a parameter before it writes the result at that place."""
    body = fusion.called[0]
    parameter, made = body.parameters[number], body.results[0].operation
    if made is not None and made.opcode == "sort":
        return made.operands[path[0] if path else 0] == parameter
    roots = made.operands if made is not None and made.opcode == "tuple" else body.results
    # A reduction is computed first; what follows it may overwrite what it reads.
    ends = (behind(each, ("bitcast",)).operation for each in roots if fusion.attribute("kind") == "kInput")
    reduction = next((each for each in ends if each is not None and each.opcode == "reduce"), None)
    queue = [parameter]
    for value in queue:
        for user in value.users:
            is_step = user.opcode != "copy" and _keeps_place(user, value)
            if not is_step and user.opcode not in ("bitcast", "tuple") and user != reduction:
                return False
            queue += [each for each in user.results if each not in queue and user != reduction]
    return roots[path[0] if path else 0] in queue
