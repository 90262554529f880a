"""Rewrites ops that XLA:CPU computes wrongly or very slowly; the results stay the same."""

from __future__ import annotations

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import S32, Ops, format_ints, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import Reshape, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import by_opcode
from dialect_utils.ops.window import WindowDimension, parse_window

# The neutral elements of each reducing op, as XLA prints their literals.
_NEUTRAL = by_opcode(
    {
        "add": ("0", "-0"),
        "multiply": ("1",),
        "maximum": ("-inf",),
        "minimum": ("inf",),
        "and": ("true", "1"),
        "or": ("false", "0"),
    }
)


def separate_scatter_operands(module: HloModule) -> None:
    """Makes the arrays that one scatter updates different instructions, in place.

    If two of them are one value, e.g. after common subexpression elimination, XLA:CPU assigns both results to one
    buffer and returns the first one twice. A select by a true condition that no simplifier folds prevents this.
    """
    for item in instructions(module, "scatter"):
        count = len(item.called[0].parameters) // 2
        if count > 1:
            _separate_operands(item, count)


def _separate_operands(item: Instruction, count: int) -> None:
    indices = item.operands[count]
    for position in range(1, count):
        if item.operands[position].opcode == "select" and item.operands[position].name.endswith(_APART):
            continue
        ops = Ops(item)
        value = item.operands[position]
        shape = array_shape(value)
        first = _first_index(ops, indices)
        holds = ops.broadcast(_always(ops, first), shape.dimensions)
        # Not a constant: a simplifier would fold a select between equal constants.
        other = ops.broadcast(ops.convert(first, shape.element_type), shape.dimensions)
        apart = ops.emit("select", shape, (holds, value, other), name=f"{value.name}{_APART}")
        item.set_operand(position, apart)


_APART = ".apart"


def _first_index(ops: Ops, indices: Instruction) -> Instruction:
    """Makes the first index as a scalar s32 (0 if the array is empty)."""
    shape = array_shape(indices)
    if shape.element_count == 0:
        return ops.constant(S32, "0")
    corner = Plan(shape.element_type, shape.dimensions, (Slice((0,) * shape.rank, (1,) * shape.rank), Reshape(())))
    return ops.convert(ops.steps(corner.simplified(), indices), S32)


def _always(ops: Ops, value: Instruction) -> Instruction:
    """Makes a scalar condition that is true for every value."""
    zero = ops.constant(S32, "0")
    return ops.compare("EQ", ops.like("maximum", ops.like("minimum", value, zero), zero), zero)


def reduce_whole_windows(module: HloModule) -> None:
    """Replaces a reduce-window whose windows each cover the whole dimension by reduce and broadcast, in place.

    The TPU compiler writes a reduction this way if the result is needed at every index; XLA:CPU would reduce once for
    each of them.
    """
    for item in instructions(module, "reduce-window"):
        if len(item.operands) == 2:
            _reduce_whole_window(item)


def _reduce_whole_window(item: Instruction) -> None:
    source, result = array_shape(item.operands[0]), array_shape(item)
    window = parse_window(item.attribute("window"), source.rank)
    sizes = list(zip(window, source.dimensions, result.dimensions, strict=True))
    whole = [i for i, (dim, size, out) in enumerate(sizes) if _holds_all(dim, size, out)]
    if not any(result.dimensions[i] > 1 for i in whole) or not _is_neutral(item):
        return
    if any(not dim.is_trivial for i, dim in enumerate(window) if i not in whole):
        return
    ops = Ops(item)
    kept = [i for i in range(source.rank) if i not in whole]
    reduced = ops.array(
        "reduce",
        [source.dimensions[i] for i in kept],
        item.operands,
        {"dimensions": format_ints(whole), "to_apply": item.attribute("to_apply") or ""},
    )
    ops.finish(ops.broadcast(reduced, result.dimensions, kept))


def _holds_all(dim: WindowDimension, size: int, out_size: int) -> bool:
    """Is true if every window covers all of a dimension of `size`."""
    if dim.lhs_dilation != 1 or dim.rhs_dilation != 1 or dim.is_trivial:
        return False
    return (out_size - 1) * dim.stride <= dim.low and dim.size - dim.low >= size


def _is_neutral(item: Instruction) -> bool:
    """Is true if the initial value is neutral, so that combining it once more changes nothing."""
    initial = item.operands[1]
    return initial.literal is not None and initial.literal.strip() in _NEUTRAL.get(item.called[0].root.opcode, ())


def keep_roundings(module: HloModule) -> None:
    """Inserts a barrier between two float additions of constants, and between two products with constants, in place.

    XLA's simplifier rewrites (x + a) + b to x + (a + b). That is wrong for ops that compute a rounding error, as
    (x + a) - a in TPU code for f64. The TPU compiler has already simplified the ops of a dump.
    """
    constants: set[Instruction] = set()
    for item in instructions(module):
        if item.opcode == "constant" or (item.opcode == "broadcast" and item.operands[0] in constants):
            constants.add(item)
    for item in instructions(module, *_JOINED):
        if array_shape(item).element_type.is_floating and constants.intersection(item.operands):
            _separate_constants(item, constants)


# The simplifier joins ops of one kind.
_JOINED = by_opcode({"add": "sum", "subtract": "sum", "multiply": "product"})


def _separate_constants(item: Instruction, constants: set[Instruction]) -> None:
    for position, inner in enumerate(item.operands):
        if _JOINED.get(inner.opcode) == _JOINED[item.opcode] and constants.intersection(inner.operands):
            barrier = Ops(item).emit("opt-barrier", array_shape(inner), (inner,))
            item.set_operand(position, barrier)
