"""Replaces ops that StableHLO lacks, or that XLA:CPU computes wrongly or very slowly; the results stay the same.

The formulas of elementary functions are those of xla/hlo/builder/lib/math.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, nan

from dialect_utils.hlo import HloModule, Instruction, parse_module
from dialect_utils.hlo.ops import S32, Ops, format_ints, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, Reshape, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import by_opcode
from dialect_utils.ops.window import WindowDimension, parse_window
from passes.dumps.emitter.expressions import Expr, module_text
from passes.dumps.inline_fusions import splice

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
        # A condition that is true for every index.
        zero = ops.constant(S32, "0")
        always = ops.compare("EQ", ops.like("maximum", ops.like("minimum", first, zero), zero), zero)
        holds = ops.broadcast(always, shape.dimensions)
        # Not a constant: a simplifier would fold a select between equal constants.
        other = ops.broadcast(ops.convert(first, shape.element_type), shape.dimensions)
        apart = ops.emit("select", shape, (holds, value, other), name=f"{value.name}{_APART}")
        item.set_operand(position, apart)


_APART = ".apart"


def _first_index(ops: Ops, indices: Instruction) -> Instruction:
    """Builds the first index as a scalar s32 (0 if the array is empty)."""
    shape = array_shape(indices)
    if shape.element_count == 0:
        return ops.constant(S32, "0")
    corner = Plan(shape.element_type, shape.dimensions, (Slice((0,) * shape.rank, (1,) * shape.rank), Reshape(())))
    return ops.convert(ops.steps(corner.simplified(), indices), S32)


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
    found = instructions(module, "constant", "broadcast", *_JOINED)
    for item in found:
        if item.opcode == "constant" or (item.opcode == "broadcast" and item.operands[0] in constants):
            constants.add(item)
    for item in found:
        is_joined = item.opcode in _JOINED and array_shape(item).element_type.is_floating
        if is_joined and constants.intersection(item.operands):
            for position, inner in enumerate(item.operands):
                if _JOINED.get(inner.opcode) == _JOINED[item.opcode] and constants.intersection(inner.operands):
                    item.set_operand(position, Ops(item).emit("opt-barrier", array_shape(inner), (inner,)))


# The simplifier joins ops of one kind.
_JOINED = by_opcode({"add": "sum", "subtract": "sum", "multiply": "product"})


_F32, _F64 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["f64"]
_S64, _U64 = ELEMENT_TYPES["s64"], ELEMENT_TYPES["u64"]
_HALF = 32
_LOG_TWO = log(2)


def expand_elementary_functions(module: HloModule) -> None:
    """Replaces acos, acosh, asin, asinh, atanh, cosh and sinh of real arrays, computed in f32 or f64, and mulhi."""
    for item in instructions(module, "mulhi"):
        _expand_high_product(item)
    for item in instructions(module, *_FORMULAS):
        kind = array_shape(item).element_type
        if not kind.is_floating:
            continue
        ops = Ops(item)
        wide = _F64 if kind == _F64 else _F32
        operand = ops.convert(item.operands[0], wide)
        text = module_text([array_shape(operand)], _FORMULAS[item.opcode])
        ops.finish(ops.convert(splice(ops, parse_module(text, item.opcode), [operand]), kind))


def _expand_high_product(item: Instruction) -> None:
    """Replaces a mulhi, which is the upper half of a product of integers."""
    ops = Ops(item)
    left, right = item.operands
    kind = array_shape(item).element_type
    if kind.bits < _U64.bits:
        wide = _U64 if kind.is_unsigned else _S64
        product = ops.like("multiply", ops.convert(left, wide), ops.convert(right, wide))
        ops.finish(ops.convert(_shifted(ops, product, kind.bits), kind))
        return
    a, b = (ops.convert(value, _U64) for value in (left, right))
    high = _high_unsigned(ops, a, b)
    if not kind.is_unsigned:
        # The value of a negative number is that of its bits, read as unsigned, minus 2**64.
        zero = ops.filled(_U64, array_shape(item).dimensions)
        for value, other, bits in ((left, b, a), (right, a, b)):
            is_negative = ops.compare("LT", value, ops.filled(kind, array_shape(item).dimensions))
            excess = ops.emit("select", array_shape(bits), (is_negative, other, zero))
            high = ops.like("subtract", high, excess)
    ops.finish(ops.convert(high, kind))


def _high_unsigned(ops: Ops, a: Instruction, b: Instruction) -> Instruction:
    """Builds the upper 64 bits of the product of two u64 from the products of their halves."""
    low_mask = ops.filled(_U64, array_shape(a).dimensions, str(2**_HALF - 1))
    (a_low, a_high), (b_low, b_high) = (
        (ops.like("and", value, low_mask), _shifted(ops, value, _HALF)) for value in (a, b)
    )
    first = _shifted(ops, ops.like("multiply", a_low, b_low), _HALF)
    crossed = ops.like("add", ops.like("multiply", a_high, b_low), first)
    middle = ops.like("add", ops.like("multiply", a_low, b_high), ops.like("and", crossed, low_mask))
    carried = ops.like("add", _shifted(ops, crossed, _HALF), _shifted(ops, middle, _HALF))
    return ops.like("add", ops.like("multiply", a_high, b_high), carried)


def _shifted(ops: Ops, value: Instruction, count: int) -> Instruction:
    kind, dims = array_shape(value).type_and_dimensions
    shift = "shift-right-logical" if kind.is_unsigned else "shift-right-arithmetic"
    return ops.like(shift, value, ops.filled(kind, dims, str(count)))


def _sinh(x: Expr) -> Expr:
    shifted = x.unary("exponential-minus-one")
    near = 0.5 * (shifted + shifted / (shifted + 1))
    return abs(x).compare("LT", 1).where(near, _half_exponential(x) - _half_exponential(-x))


def _half_exponential(x: Expr) -> Expr:
    return (x - _LOG_TWO).unary("exponential")


def _asinh(x: Expr) -> Expr:
    size = abs(x)
    square = size * size
    small = (size + square / ((square + 1).unary("sqrt") + 1)).unary("log-plus-one")
    return x.unary("sign") * _unless_large(x, small)


def _acosh(x: Expr) -> Expr:
    small = (x + (x + 1).unary("sqrt") * (x - 1).unary("sqrt")).unary("log")
    return x.compare("LT", 1).where(nan, _unless_large(x, small))


def _unless_large(x: Expr, small: Expr) -> Expr:
    """Returns log(2 |x|) for a large x: x * x overflows in f32 from 1e19 on."""
    size = abs(x)
    return size.compare("GE", 1e18).where(size.unary("log") + _LOG_TWO, small)


def _half_chord(x: Expr) -> Expr:
    return ((1 + x) * (1 - x)).unary("sqrt")


# The formula of each expanded op.
_FORMULAS: Mapping[str, Callable[[Expr], Expr]] = by_opcode(
    {
        "acos": lambda x: _half_chord(x).binary("atan2", x),
        "acosh": _acosh,
        "asin": lambda x: 2 * x.binary("atan2", 1 + _half_chord(x)),
        "asinh": _asinh,
        "atanh": lambda x: 0.5 * (x.unary("log-plus-one") - (-x).unary("log-plus-one")),
        "cosh": lambda x: (_half_exponential(x) + _half_exponential(-x)).binary("maximum", 1),
        "sinh": _sinh,
    }
)
