"""Rewrites collectives into forms that every backend executes: single arrays, elements, replicas."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import PRED, Ops, add_computation, add_scalar_computation, erase_unused, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.ops import Trait, has, with_trait
from dialect_utils.ops.device_counts import devices_of, written_counts
from dialect_utils.ops.sharding import try_groups
from dialect_utils.text import DiagnosticError
from passes.dumps.inline_fusions import use_elements

_WORD = ELEMENT_TYPES["u32"]
_BYTE_BITS = 8
_CONVERSIONS = ("convert", "bitcast-convert")
_SHIFTS = ("shift-left", "shift-right-logical")
_BESIDES = frozenset({"parameter", "constant", "or", *_CONVERSIONS, *_SHIFTS})
_LIMITS = {"maximum": "-inf", "minimum": "inf"}
_OF_PARTITIONS = ("channel_id", "use_global_device_ids")


def exchange_one_by_one(module: HloModule) -> None:
    """Splits each collective of several arrays, or of tuples, into one for each array, in place.

    XLA:CPU mixes up arrays of two types in one all-gather, and StableHLO has no reduce-scatter of several arrays.
    """
    for item in instructions(module, "collective-permute", "all-gather", "reduce-scatter"):
        if item.attribute("slice_sizes") is None and isinstance(item.shape, TupleShape):
            ops, operands = Ops(item), item.operands
            is_nested = len(operands) == 1 and isinstance(operands[0].shape, TupleShape)
            shapes = (item.shape,) if is_nested else item.shape.elements
            made = [_exchanged(ops, item, *pair) for pair in zip(operands, shapes, strict=True)]
            use_elements(ops.finish(made[0] if is_nested else ops.tuple(made)))


def _exchanged(ops: Ops, item: Instruction, value: Instruction, shape: Shape) -> Instruction:
    if isinstance(shape, TupleShape):
        return ops.tuple([_exchanged(ops, item, ops.element(value, i), part) for i, part in enumerate(shape.elements)])
    return ops.emit(item.opcode, shape, (value,), item.attributes)


def reduce_elements_of_words(module: HloModule) -> None:
    """Replaces every all-reduce of u32 words that reduces the elements inside the words by one of the elements.

    The TPU compiler bitcasts arrays of bytes to u32, combines each byte of two words separately, and bitcasts the
    result to bytes again.
    """
    combiners = {item: item.called[0] for item in instructions(module, "all-reduce")}
    for item, combiner in combiners.items():
        reduction = _reduction_in_words(combiner)
        if reduction is not None:
            _reduce_elements(item, *reduction)
    erase_unused(module, dict.fromkeys(combiners.values()))


def combine_scalars(module: HloModule) -> None:
    """Replaces each combiner of arrays in a reduction among devices by its scalar form, in place.

    XLA computes the same with both; StableHLO has the latter only. A combiner that is not elementwise stays.
    """
    combiners = {item: item.called[0] for item in instructions(module, "all-reduce", "reduce-scatter") if item.called}
    made = {combiner: _of_scalars(combiner) for combiner in dict.fromkeys(combiners.values())}
    for item, combiner in combiners.items():
        if made[combiner] is not None:
            item.set_attribute("to_apply", f"%{made[combiner]}")
    erase_unused(module, made)


def gather_extremes(module: HloModule) -> None:
    """Replaces each all-reduce of floats by maximum or minimum by a gather and a reduction on each device, in place.

    XLA:CPU loses NaN in such an all-reduce.
    """
    for item in instructions(module, "all-reduce"):
        combined = item.called[0].root if item.called else item
        limit = _LIMITS.get(combined.opcode)
        groups = try_groups(item.attribute("replica_groups") or "{}")
        if limit is None or groups is None or not array_shape(combined).element_type.is_floating:
            continue
        ops, count = Ops(item), len(groups[0]) if groups else devices_of(module).count
        attributes: dict[str, str | tuple[int, ...]] = dict(item.attributes)
        attributes |= {"dimensions": (0,)}
        del attributes["to_apply"]
        found = []
        for operand in item.operands:
            kind, sizes = array_shape(operand).element_type, array_shape(operand).dimensions
            row = ops.reshape(operand, (1, *sizes))
            every = ops.emit("all-gather", ops.shape(kind, (count, *sizes)), (row,), attributes)
            reduced: dict[str, str | tuple[int, ...]] = {"dimensions": (0,), "to_apply": f"%{item.called[0].name}"}
            found.append(ops.emit("reduce", ops.shape(kind, sizes), (every, ops.constant(kind, limit)), reduced))
        use_elements(ops.finish(ops.tuple(found) if isinstance(item.shape, TupleShape) else found[0]))


def _of_scalars(combiner: Computation) -> str | None:
    """Adds the scalar form of an elementwise computation on arrays; returns its name, else None."""
    shapes = [item.shape for item in combiner.instructions]
    arrays = [shape for shape in shapes if isinstance(shape, ArrayShape)]
    if len(arrays) < len(shapes) or len({shape.dimensions for shape in arrays}) > 1 or not arrays[0].rank:
        return None
    if not all(item.opcode == "parameter" or has(item.opcode, Trait.ELEMENTWISE) for item in combiner.instructions):
        return None
    lines = []
    for item, shape in zip(combiner.instructions, arrays, strict=True):
        inner = item.contents if item.opcode == "parameter" else ", ".join(f"%{each.name}" for each in item.operands)
        tail = "".join(f", {name}={text}" for name, text in item.attributes.items())
        root = "ROOT " if item.is_root else ""
        lines.append(f"{root}%{item.name} = {shape.element_type}[] {item.opcode}({inner}){tail}")
    return add_computation(combiner.module, f"{combiner.name}.scalar", *lines)


def _reduce_elements(item: Instruction, opcode: str, kind: ElementType) -> None:
    """Reduces the operands of the bitcasts before `item`, and makes the bitcasts after it read the reduced array."""
    readers = _readers(item)
    ends = [*item.operands, *(reader for _, reader in readers)]
    if item.is_root or not all(value.opcode == "bitcast" for value in ends):
        return
    sources = [operand.operands[0] for operand in item.operands]
    arrays = [*sources, *(reader for _, reader in readers)]
    if any(array_shape(value).element_type != kind for value in arrays):
        return
    combiner = add_scalar_computation(item.computation.module, f"{opcode}_{kind}", opcode, kind)
    attributes = {**item.attributes, "to_apply": combiner}
    ops = Ops(item)
    reduced = [ops.emit(item.opcode, array_shape(source), [source], attributes) for source in sources]
    for position, reader in readers:
        reader.set_operand(0, reduced[position])
    for value in (*item.users, item, *item.operands):
        if not value.users:
            value.erase()


def _readers(item: Instruction) -> list[tuple[int, Instruction]]:
    """Returns the readers of a collective's results, each with the number of the result."""
    if isinstance(item.shape, ArrayShape):
        return [(0, user) for user in item.users]
    return [(int(user.attribute("index") or 0), reader) for user in item.users for reader in user.users or [user]]


def _reduction_in_words(combiner: Computation) -> tuple[str, ElementType] | None:
    """Returns the op and the type by which a computation combines the elements of two words, or None."""
    parts = list(_parts(combiner.root))
    op = parts[0][1]
    if array_shape(combiner.root).element_type != _WORD or op.opcode in ("parameter", "constant"):
        return None
    kind = array_shape(op).element_type
    bits = _BYTE_BITS if kind == PRED else kind.bits
    if sorted(shift for shift, _ in parts) != list(range(0, _WORD.bits, bits)):
        return None
    if any(part.opcode != op.opcode or not _combines(part, shift, combiner) for shift, part in parts):
        return None
    return (op.opcode, kind) if _keeps_bits(combiner, op.opcode, kind, bits) else None


def _parts(word: Instruction) -> Iterator[tuple[int, Instruction]]:
    """Yields the first bit of each part of a word, and the instruction that computes the part."""
    if word.opcode == "or" and array_shape(word).element_type == _WORD:
        for operand in word.operands:
            yield from _parts(operand)
    elif word.opcode == "shift-left":
        yield _shift(word), _unconverted(word.operands[0])
    else:
        yield 0, _unconverted(word)


def _combines(op: Instruction, shift: int, combiner: Computation) -> bool:
    """Is true for an op on the parts of both words that begin at bit `shift`."""
    sides = [_unconverted(operand) for operand in op.operands]
    shifts = [_shift(side) if side.opcode in _SHIFTS else 0 for side in sides]
    words = {side.operands[0] if side.opcode in _SHIFTS else side for side in sides}
    return shifts == [shift, shift] and words == set(combiner.parameters)


def _shift(item: Instruction) -> int:
    count = item.operands[1].literal
    return int(count) if count is not None else -1


def _unconverted(value: Instruction) -> Instruction:
    while value.opcode in _CONVERSIONS:
        value = value.operands[0]
    return value


def _keeps_bits(combiner: Computation, opcode: str, kind: ElementType, bits: int) -> bool:
    """Is true if all other ops only move bits between words, integers of `bits` bits, and the type."""
    of_width = ELEMENT_TYPES[f"u{bits}"]
    for item in combiner.instructions:
        types = {array_shape(value).element_type for value in (item, *item.operands)}
        if item.opcode not in (*_BESIDES, opcode) or not types <= {_WORD, of_width, kind}:
            return False
        if item.opcode == "convert" and types == {of_width, kind} and kind.is_floating:
            return False
    return True


def replicate_partitions(module: HloModule) -> None:
    """Turns the partitions of a module into replicas, in place, which every backend executes the same way.

    partition-id becomes replica-id, collectives between partitions become collectives between replicas, and groups
    given by a mesh's axes or an iota become lists. Raises DiagnosticError for a module with several replicas and
    several partitions, and for groups in an unknown form.
    """
    replicas, partitions = written_counts(module)
    if partitions > 1 and replicas > 1:
        message = f"module {module.name} has replicas and partitions: collectives between both cannot be distinguished"
        raise DiagnosticError(message)
    for item in instructions(module, *with_trait(Trait.COLLECTIVE)):
        _list_groups(item)
        if partitions > 1:
            for name in _OF_PARTITIONS:
                item.set_attribute(name, None)
    if partitions == 1:
        return
    for item in instructions(module, "replica-id", "partition-id"):
        ops = Ops(item)
        ops.finish(ops.constant(_WORD, "0") if item.opcode == "replica-id" else ops.emit("replica-id", item.shape))
    module.set_attribute("num_partitions", None)
    module.set_attribute("replica_count", str(partitions))


def _list_groups(item: Instruction) -> None:
    text = item.attribute("replica_groups")
    if text is None or text.startswith("{"):
        return
    groups = try_groups(text)
    if groups is None:
        message = f"{item.opcode} {item.name}: the replica groups {text} are in no form that is known here"
        raise DiagnosticError(message, item.locate("replica_groups"))
    item.set_attribute("replica_groups", "{" + ",".join("{" + ",".join(map(str, g)) + "}" for g in groups) + "}")
