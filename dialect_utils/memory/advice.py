"""Advice on how to save memory, with the bytes that each piece of it would save.

The TPU compiler chooses layouts by operation: a gather and a scatter want each row in lanes, and a product of small
matrices wants the columns of each matrix there. For a TPU v5e a gather of 1,310,720 rows of 16 takes 653 MiB at
the peak, and 16 gathers of single columns take 55; a segment sum of rows of 3 takes 534 MiB, and 34 by columns; the
products of 1,048,576 matrices of 3 x 3 take 3,168 MiB, and 96 as products and sums of elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.layout.targets.known import default_layout
from dialect_utils.memory.allocation import Allocation, PaddedDimension, padded_dimensions
from dialect_utils.memory.buffers import Buffer
from dialect_utils.memory.cost import is_scratch
from dialect_utils.memory.relayouts import Origin, Relayout, orders_without
from dialect_utils.memory.sharing import ALIASING, written_in_place
from dialect_utils.memory.usage import MemoryUsage
from dialect_utils.ops import Trait, has, named, with_trait
from dialect_utils.text import format_bytes

# The most gathers or scatters of single columns that advice proposes in place of one operation.
_MOST_COLUMNS = 32
# The operations that ask for the layout of their operands and results.
_DEMANDING = named("gather scatter dot convolution")
# Operations that the search passes on its way from an array to the operation that demands its layout.
_PASSED = with_trait(Trait.ALIASES) | with_trait(Trait.MAY_BE_BITCAST) | {"convert", "copy-start", "copy-done"}
_MOST_PASSED = 4
_PRODUCT = "dot_general"
_LANES = 128
# Operations whose parts may write over an operand.
_WRITING = named("while conditional call tuple")
# Products only: cuBLAS also solves triangular systems.
_CUBLAS = ("__cublas$gemm", "__cublas$lt$matmul")
# A batch of at least this many matrices.
_MANY = 1024
_RANK_OF_BATCH = 3


def remedy(value: Value, padded: PaddedDimension, origin: Callable[[Operation], Origin]) -> str:
    """Returns the change to a program that avoids the padding of a dimension of `value`."""
    return known_remedy(value, padded, origin) or (
        f"{_dimension(padded)} takes the memory of {padded.padded}: "
        f"merge it with a neighbour, or make it a multiple of {padded.tile}"
    )


def known_remedy(value: Value, padded: PaddedDimension, origin: Callable[[Operation], Origin]) -> str | None:
    """Returns another way to write the operation that asks for a padded layout, None where no other way is known."""
    if padded.tile != _LANES or (demanding := demanding_operation(value)) is None:
        return None
    then = f"{_dimension(padded)} would no longer fill {padded.tile} lanes"
    name = origin(demanding).op_name.rpartition("/")[2]
    if demanding.opcode in ("gather", "scatter") and padded.size <= _MOST_COLUMNS:
        # The TPU compiler makes a scatter from a sort and a gather of the updates.
        verb = "scatter" if name.startswith("scatter") else demanding.opcode
        return f"{verb} each of the {padded.size} elements of dimension {padded.dimension} by itself: {then}"
    # It writes a product of matrices as a convolution.
    if (demanding.opcode == "dot" or name.startswith(_PRODUCT)) and _is_batch_of_small(value):
        form = "(a[..., :, :, None] * b[..., None, :, :]).sum(-2)"
        return f"write the product of small matrices as products and a sum, {form}: {then}"
    return None


def _dimension(padded: PaddedDimension) -> str:
    return f"dimension {padded.dimension} ({padded.size})"


def _is_batch_of_small(value: Value) -> bool:
    """Is true for many matrices, each smaller than a tile's lanes."""
    shape = value.shape
    if not isinstance(shape, ArrayShape) or shape.rank < _RANK_OF_BATCH or max(shape.dimensions[-2:]) >= _LANES:
        return False
    return shape.element_count >= _MANY * shape.dimensions[-1] * shape.dimensions[-2]


def demanding_operation(value: Value) -> Operation | None:
    """Returns the operation that asks for an array's layout, None where it is not known.

    It makes the array, or reads it, perhaps after operations that only move the array. The search enters fusions.
    """
    made = value.operation
    for _ in range(_MOST_PASSED):
        if made is None:
            break
        if (found := _demanding_in(made)) is not None:
            return found
        if made.opcode not in _PASSED or not made.operands:
            break
        made = made.operands[0].operation
    return next(_demanding_users(value, _MOST_PASSED), None)


def _demanding_in(operation: Operation) -> Operation | None:
    """Returns the operation that demands layouts: the operation itself or one in its fusion's body, else None."""
    if operation.opcode in _DEMANDING:
        return operation
    if operation.opcode != "fusion":
        return None
    return next((found for each in operation.called[0].operations if (found := _demanding_in(each))), None)


def _demanding_users(value: Value, depth: int) -> Iterator[Operation]:
    for user in value.users:
        if (found := _demanding_in(user)) is not None:
            yield found
        elif depth and user.opcode in _PASSED:
            for result in user.results:
                yield from _demanding_users(result, depth - 1)


AdviceKind = Literal[
    "donation",
    "entry order",
    "entry copy",
    "padded dimension",
    "waiting arrays",
    "cancelling relayouts",
    "narrow reads",
    "library workspace",
]
# Advice that saves less than this share of the peak, or fewer bytes, is noise.
_LEAST_SHARE = 0.01
_LEAST_BYTES = 4096
# A dimension that grows by less than this factor is not worth a change of the model.
_LEAST_FACTOR = 1.25
# JAX names the operations of a gradient so: `jvp(...)`, and `transpose(jvp(...))` for the backward pass.
_FORWARD, _BACKWARD = "jvp(", "transpose("


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to try: its subject, an action, and the bytes of memory or traffic that it would save.

    `names` are the buffers and operations that the advice is about.
    """

    kind: AdviceKind
    subject: str
    text: str
    bytes_saved: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.subject}: {self.text} (saves up to {format_bytes(self.bytes_saved)})"


def find_advice(
    module: Module,
    usage: MemoryUsage,
    relayouts: Sequence[Relayout],
    allocation: Allocation,
    origin: Callable[[Operation], Origin],
) -> tuple[Advice, ...]:
    """Returns the advice for a module, the largest saving first."""
    found = [
        *_donations(module, usage),
        *_entry_orders(module, allocation),
        *_entry_copies(module, relayouts, is_gpu=usage.is_gpu),
        *_padded(usage, origin),
        *_waiting(usage, origin),
        *_cancelling(relayouts),
        *_narrow_reads(usage),
        *_workspaces(usage),
    ]
    least = max(_LEAST_BYTES, usage.peak_bytes * _LEAST_SHARE)
    return tuple(sorted((each for each in found if each.bytes_saved >= least), key=lambda each: -each.bytes_saved))


def _donations(module: Module, usage: MemoryUsage) -> Iterator[Advice]:
    """Yields advice for results that could reuse the memory of arguments of the same shape, which are read before."""
    parameters, _ = module.entry_layout
    # An alias takes an argument and a result of its shape; only some share a buffer here.
    taken = Counter(parameters[number].at(path).without_layout for _, number, path in module.aliases)
    numbers = {value: number for number, value in enumerate(module.entry.parameters)}
    free: dict[ArrayShape, list[tuple[Buffer, set[Operation]]]] = {}
    donated: list[Buffer] = []
    saved = 0
    in_main_memory = [each for each in usage.buffers if not each.memory_space and each.shape.is_static]
    for buffer in in_main_memory:
        if buffer.is_argument and not buffer.is_output and buffer.value in numbers:
            readers = _users_behind([buffer.value], lambda user: user.opcode in ALIASING)
            free.setdefault(buffer.shape, []).append((buffer, readers))
    for result in in_main_memory:
        arguments, made = free.get(result.shape, []), result.value.operation
        if not result.is_output or result.is_argument or made is None or not arguments:
            continue
        later = {made} | _users_behind(made.results, lambda _: True)
        found = next((each for each in arguments if _are_before(each[1] & later, made)), None)
        if found is None:
            continue
        arguments.remove(found)
        if taken[shape := result.shape.without_layout]:
            taken[shape] -= 1
            continue
        donated.append(found[0])
        saved += result.bytes_held
    if donated:
        first, *others = sorted({numbers[each.value] for each in donated})
        subject = f"argument {first}" + (f" and {len(others)} more" if others else "")
        count = f"{len(donated)} results of the same shapes" if len(donated) > 1 else "a result of the same shape"
        text = f"donate what is not used afterwards (donate_argnums): {count} would reuse its memory"
        yield Advice("donation", subject, text, saved)


def _are_before(late: set[Operation], made: Operation) -> bool:
    """Is true where no reader of an argument needs a result, so that all may run before the result is written.

    `late` are the readers that need it or make it. The operation that writes the result may read the argument if it
    does so element by element.
    """
    parts = made.called[0].operations if made.opcode == "fusion" else [made]
    return not late or (
        late == {made} and all(each.opcode == "constant" or has(each.opcode, Trait.ELEMENTWISE) for each in parts)
    )


def _users_behind(values: Sequence[Value], is_passed: Callable[[Operation], bool]) -> set[Operation]:
    """Returns the users of values, and the users of those that are passed, without these."""
    found, stack = set[Operation](), list(values)
    while stack:
        for user in stack.pop().users:
            if user not in found and is_passed(user):
                stack += user.results
            found.add(user)
    return {each for each in found if each.opcode not in ALIASING}


def _entry_orders(module: Module, allocation: Allocation) -> Iterator[Advice]:
    """Yields advice for entry arrays that take fewer bytes with another order of dimensions."""
    if (target := allocation.target) is None:
        return
    for side, shapes in zip(("argument", "result"), module.entry_layout, strict=True):
        for path, shape in _arrays(shapes):
            if shape.layout is None or not shape.is_static:
                continue
            best = shape.with_layout(default_layout(shape.element_type, shape.dimensions, target))
            held, least = allocation.held(shape), allocation.held(best)
            sizes = f"{format_bytes(least)} in place of {format_bytes(held)}"
            text = f"hand {'it over' if side == 'argument' else 'it back'} as {best}, {sizes}"
            yield Advice("entry order", f"{side} {path}", text, held - least)


def _arrays(shapes: Sequence[Shape]) -> list[tuple[str, ArrayShape]]:
    """Returns the arrays of arguments or results with their paths: `0.2` is element 2 of argument 0."""
    leaves = TupleShape(tuple(shapes)).leaves_by_path()
    return [(".".join(map(str, path)), leaf) for path, leaf in leaves if isinstance(leaf, ArrayShape)]


def _entry_copies(module: Module, relayouts: Sequence[Relayout], *, is_gpu: bool) -> Iterator[Advice]:
    """Yields advice for arguments that are copied to another layout, one that takes no more bytes."""
    parameters = {value: number for number, value in enumerate(module.entry.parameters)}
    for relayout in relayouts:
        value = relayout.operation.operands[0]
        if value not in parameters or relayout.row.bytes_written > relayout.row.bytes_read:
            continue
        if (orders := orders_without(relayout)) is None:
            continue
        name = relayout.operation.results[0].name
        # A program chooses the layout of an argument, not its memory.
        wanted = relayout.result.in_default_memory
        if relayout.row.kind == "relayout":
            if wanted.element_type != relayout.source.element_type or wanted == relayout.source.in_default_memory:
                continue
            text = f"hand it over as {wanted}: {name} would not copy it"
        elif is_gpu and len(value.users) == 1 and _is_only_read(relayout.operation.results[0]):
            order = orders[0][::-1]
            text = f"hand it over as Format(Layout(major_to_minor={order}), sharding): {name} would not move it"
        else:
            continue
        yield Advice("entry copy", f"argument {parameters[value]}", text, relayout.row.bytes_written, (name,))


def _is_only_read(value: Value) -> bool:
    """Is true where no user may write over an array: an argument would be copied to stay as it is."""
    for user in value.users:
        if user.opcode == "bitcast":
            if not _is_only_read(user.results[0]):
                return False
        elif user.opcode in _WRITING or any(operand == value for operand, _, _ in written_in_place(user)):
            return False
    return bool(value.users)


def _workspaces(usage: MemoryUsage) -> Iterator[Advice]:
    """Yields advice for the scratch memory of cuBLAS at the peak: Triton computes the same products without it."""
    scratch = [
        buffer
        for buffer in usage.at_peak
        if (made := buffer.value.operation) is not None
        and made.opcode == "custom-call"
        and (made.callee or "").startswith(_CUBLAS)
        and is_scratch(buffer.shape)
    ]
    if scratch:
        made = scratch[0].value.operation
        assert made is not None
        text = f"scratch memory of {made.callee}: a product by Triton takes none (--xla_gpu_enable_triton_gemm=true)"
        names = tuple(each.value.name for each in scratch)
        yield Advice("library workspace", names[0], text, sum(each.bytes_held for each in scratch), names)


def _padded(usage: MemoryUsage, origin: Callable[[Operation], Origin]) -> Iterator[Advice]:
    """Yields advice for arrays in the peak with a dimension that a tile makes much larger, once for equal remedies."""
    groups: dict[str, list[Buffer]] = {}
    for buffer in usage.at_peak:
        grown = padded_dimensions(buffer.shape)
        if grown and grown[0].factor >= _LEAST_FACTOR:
            groups.setdefault(remedy(buffer.value, grown[0], origin), []).append(buffer)
    for text, buffers in groups.items():
        more = f" and {len(buffers) - 1} more" if len(buffers) > 1 else ""
        padding = sum(buffer.padding_bytes for buffer in buffers)
        names = tuple(each.value.name for each in buffers)
        yield Advice("padded dimension", f"{names[0]}{more}", text, padding, names)


def _waiting(usage: MemoryUsage, origin: Callable[[Operation], Origin]) -> Iterator[Advice]:
    """Yields advice for arrays of a forward pass that wait for the backward pass of a gradient."""
    made = [
        (buffer, origin(buffer.value.operation))
        for buffer in usage.at_peak
        if buffer.is_temporary and buffer.value.operation is not None and buffer.shape.rank
    ]
    forward = [
        (buffer, place) for buffer, place in made if _FORWARD in place.op_name and _BACKWARD not in place.op_name
    ]
    waiting = [(buffer, place) for buffer, place in forward if _is_read_backward(buffer.value, origin)]
    if not waiting:
        return
    most, place = max(waiting, key=lambda each: each[0].bytes_held)
    more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    line = f", made at {place.source_file}:{place.source_line}" if place.source_file else ""
    text = f"waits for the backward pass{line}: jax.checkpoint around that part computes it again, for more time"
    names = tuple(buffer.value.name for buffer, _ in waiting)
    yield Advice("waiting arrays", f"{most.value.name}{more}", text, sum(each.bytes_held for each, _ in waiting), names)


def _is_read_backward(value: Value, origin: Callable[[Operation], Origin]) -> bool:
    return any(_BACKWARD in origin(user).op_name for user in value.users)


def _cancelling(relayouts: Sequence[Relayout]) -> Iterator[Advice]:
    """Yields advice for two relayouts in a row that end in the first one's source layout."""
    by_result = {relayout.operation.results[0]: relayout for relayout in relayouts if relayout.row.changes_layout}
    for second in by_result.values():
        first = by_result.get(second.operation.operands[0])
        if first is None or not _is_same(first.source, second.result):
            continue
        names = first.row.name, second.row.name
        text = f"{first.source} becomes {first.result} and is the same again"
        yield Advice(
            "cancelling relayouts", ", ".join(names), text, first.row.total_bytes + second.row.total_bytes, names
        )


def _is_same(one: ArrayShape, other: ArrayShape) -> bool:
    """Is true for equal types, dimensions and layouts; memory spaces may differ."""
    if (one.element_type, one.dimensions) != (other.element_type, other.dimensions):
        return False
    a, b = one.layout, other.layout
    return a is not None and b is not None and (a.minor_to_major, a.tiles) == (b.minor_to_major, b.tiles)


def _narrow_reads(usage: MemoryUsage) -> Iterator[Advice]:
    """Yields advice for f32 values that are only read as bf16."""
    for buffer in usage.buffers:
        value = buffer.value
        if buffer.shape.element_type.name != "f32" or not buffer.is_temporary or buffer.memory_space:
            continue
        users = value.users
        if users and all(_narrows(user, value) for user in users):
            text = f"{buffer.shape} is only read as bf16"
            yield Advice("narrow reads", value.name, text, buffer.bytes_held // 2, (value.name,))


def _narrows(user: Operation, value: Value) -> bool:
    if user.opcode == "convert":
        shape = user.results[0].shape
        return isinstance(shape, ArrayShape) and shape.element_type.name == "bf16"
    if user.opcode != "fusion":
        return False
    parameters = user.called[0].parameters
    read = [parameters[number] for number, operand in enumerate(user.operands) if operand == value]
    return all(p.users and all(inner.opcode == "convert" and _narrows(inner, p) for inner in p.users) for p in read)
