"""Collectives in forms that only their own compiler's backend has."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import PRED, Ops, erase_unused, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, TupleShape
from passes.dumps.inline_fusions import use_elements

_WORD = ELEMENT_TYPES["u32"]
_BYTE_BITS = 8
_CONVERSIONS = ("convert", "bitcast-convert")
_SHIFTS = ("shift-left", "shift-right-logical")
_BESIDES = frozenset({"parameter", "constant", "or", *_CONVERSIONS, *_SHIFTS})


def permute_one_by_one(module: HloModule) -> None:
    """Makes each collective-permute of several arrays, or of tuples of them, one for each array, in place."""
    for item in instructions(module, "collective-permute"):
        is_whole = item.attribute("slice_sizes") is None
        if is_whole and (len(item.operands) > 1 or isinstance(item.shape, TupleShape)):
            ops = Ops(item)
            made = [_permuted(ops, item, operand) for operand in item.operands]
            use_elements(ops.finish(made[0] if len(made) == 1 else ops.tuple(made)))


def _permuted(ops: Ops, item: Instruction, value: Instruction) -> Instruction:
    if isinstance(value.shape, TupleShape):
        return ops.tuple([_permuted(ops, item, ops.element(value, i)) for i in range(len(value.shape.elements))])
    return ops.emit(item.opcode, value.shape, (value,), item.attributes)


def reduce_elements_of_words(module: HloModule) -> None:
    """Makes every all-reduce of words that reduces their elements, each by itself, one of these elements, in place.

    The TPU compiler reads arrays of bytes as u32, reduces each byte of two words by itself, so that padding stays where
    it is, and reads the result as bytes again.
    """
    combiners = {item: item.called[0] for item in instructions(module, "all-reduce")}
    for item, combiner in combiners.items():
        reduction = _reduction_in_words(combiner)
        if reduction is not None:
            _reduce_elements(item, *reduction)
    erase_unused(module, dict.fromkeys(combiners.values()))


def _reduce_elements(item: Instruction, opcode: str, kind: ElementType) -> None:
    """Reduces what the operands are bitcasts of; the bitcasts of the results then read that."""
    readers = _readers(item)
    ends = [*item.operands, *(reader for _, reader in readers)]
    if item.is_root or not all(value.opcode == "bitcast" for value in ends):
        return
    sources = [operand.operands[0] for operand in item.operands]
    arrays = [*sources, *(reader for _, reader in readers)]
    if any(array_shape(value).element_type != kind for value in arrays):
        return
    attributes = {**item.attributes, "to_apply": _combiner(item.computation.module, opcode, kind)}
    ops = Ops(item)
    reduced = [ops.emit(item.opcode, array_shape(source), [source], attributes) for source in sources]
    for position, reader in readers:
        reader.set_operand(0, reduced[position])
    for value in (*item.users, item, *item.operands):
        if not value.users:
            value.erase()


def _readers(item: Instruction) -> list[tuple[int, Instruction]]:
    """Returns what reads each result of a collective, with the result's number."""
    if isinstance(item.shape, ArrayShape):
        return [(0, user) for user in item.users]
    return [(int(user.attribute("index") or 0), reader) for user in item.users for reader in user.users or [user]]


def _combiner(module: HloModule, opcode: str, kind: ElementType) -> str:
    name = module.fresh_name(f"{opcode}_{kind.name}")
    lines = (
        f"x = {kind.name}[] parameter(0)",
        f"y = {kind.name}[] parameter(1)",
        f"ROOT r = {kind.name}[] {opcode}(x, y)",
    )
    return module.add_computation(f"{name} {{\n  " + "\n  ".join(lines) + "\n}").name


def _reduction_in_words(combiner: Computation) -> tuple[str, ElementType] | None:
    """Returns the op and the type by which a computation combines the elements of two words, or None for another."""
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
    """Returns what each part of a word is made of, and the bit where it begins."""
    if word.opcode == "or" and array_shape(word).element_type == _WORD:
        for operand in word.operands:
            yield from _parts(operand)
    elif word.opcode == "shift-left":
        yield _shift(word), _unconverted(word.operands[0])
    else:
        yield 0, _unconverted(word)


def _combines(op: Instruction, shift: int, combiner: Computation) -> bool:
    """Is true for an op on the parts of both words that begin at a bit."""
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
    """Is true where all else in the computation only moves bits: between words, numbers of the width, and the type."""
    of_width = ELEMENT_TYPES[f"u{bits}"]
    for item in combiner.instructions:
        types = {array_shape(value).element_type for value in (item, *item.operands)}
        if item.opcode not in (*_BESIDES, opcode) or not types <= {_WORD, of_width, kind}:
            return False
        if item.opcode == "convert" and types == {of_width, kind} and kind.is_floating:
            return False
    return True
