"""Array operations on a computation's values; operations on constants are folded."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from dialect_utils.hlo.ops import format_ints
from dialect_utils.layout import ElementType
from dialect_utils.ops import by_opcode
from dialect_utils.ops.domain import DIRECTIONS
from passes.dumps.emitter.code import PRED, S32, Code, Number, Update, Val, constant, index, wrapped

# Float types of 8 bits or more, except the narrowest, represent integers up to this magnitude.
_EXACT = 8


def _truncated_quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# The integer operations that are folded; a division by zero is not.
_FOLDED: Mapping[str, Callable[[int, int], int]] = by_opcode(
    {
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "maximum": max,
        "minimum": min,
        "and": operator.and_,
        "or": operator.or_,
        "xor": operator.xor,
        "divide": _truncated_quotient,
        "remainder": lambda a, b: a - b * _truncated_quotient(a, b),
    }
)


def binary(code: Code, opcode: str, a: Val, b: Val) -> Val:
    """Builds an elementwise op of two values of one type and dimensions."""
    folded = _folded(opcode, a, b)
    if folded is not None:
        return folded
    made = code.emit(opcode, a.kind, a.dims, [a, b])
    if opcode in _FOLDED and a.kind.is_integral:
        _follow(code, made, (a, b), lambda numbers: int(wrapped(a.kind, _FOLDED[opcode](*numbers))))
    return made


def _follow(code: Code, made: Val, operands: Sequence[Val], number: Callable[[list[int]], int]) -> None:
    """Records the values of a scalar on each device, if those of its operands are known."""
    found = code.program.by_device
    if made.dims or not any(operand in found for operand in operands):
        return
    devices = next(len(found[operand]) for operand in operands if operand in found)
    columns = []
    for operand in operands:
        if operand.known is None and operand not in found:
            return
        columns.append(found[operand] if operand in found else (int(operand.known or 0),) * devices)
    try:
        found[made] = tuple(number(list(numbers)) for numbers in zip(*columns, strict=True))
    except ZeroDivisionError:
        return


def _folded(opcode: str, a: Val, b: Val) -> Val | None:
    if not (a.kind.is_integral or a.kind == PRED):
        return None
    if a.known is not None and b.known is not None:
        if opcode not in _FOLDED or (opcode in ("divide", "remainder") and not b.known):
            return None
        return constant(a.kind, _FOLDED[opcode](int(a.known), int(b.known)), a.dims)
    # x + 0, x * 1, ...: most of the index arithmetic of a kernel.
    for one, other in ((a, b), (b, a)):
        if one.known is None:
            continue
        if (opcode, int(one.known)) in (("add", 0), ("multiply", 1), ("or", 0)) and one.kind != PRED:
            return other
        if opcode == "multiply" and one.known == 0:
            return one
        if one.kind == PRED and opcode in ("and", "or"):
            return other if one.known is (opcode == "and") else one
    if opcode in ("subtract", "divide") and b.known == (0 if opcode == "subtract" else 1):
        return a
    return None


def shift(code: Code, opcode: str, a: Val, count: Val) -> Val:
    """Builds a shift of integers; one by a known number of bits, less than the width, is folded."""
    if a.known is None or count.known is None or not 0 <= int(count.known) < a.kind.bits:
        return code.emit(opcode, a.kind, a.dims, [a, count])
    number, by = int(a.known), int(count.known)
    if opcode == "shift-right-logical":
        number &= (1 << a.kind.bits) - 1
    return constant(a.kind, number << by if opcode == "shift-left" else number >> by, a.dims)


def unary(code: Code, opcode: str, a: Val, kind: ElementType | None = None) -> Val:
    """Builds an elementwise op of one value, whose result has another type if `kind` is given."""
    if opcode == "not" and a.kind == PRED and a.known is not None:
        return constant(PRED, not a.known, a.dims)
    return code.emit(opcode, kind or a.kind, a.dims, [a])


def compare(code: Code, direction: str, a: Val, b: Val) -> Val:
    """Builds a comparison: EQ, NE, LT, LE, GT or GE; only NE is true for NaN."""
    if a.known is not None and b.known is not None:
        return constant(PRED, DIRECTIONS[direction](a.known, b.known), a.dims)
    made = code.emit("compare", PRED, a.dims, [a, b], f", direction={direction}")
    _follow(code, made, (a, b), lambda numbers: DIRECTIONS[direction](*numbers))
    return made


def select(code: Code, condition: Val, a: Val, b: Val) -> Val:
    """Builds a select; a scalar condition is broadcast."""
    if condition.known is not None:
        return a if condition.known else b
    if condition.dims != a.dims:
        condition = broadcast(code, condition, a.dims, ())
    made = code.emit("select", a.kind, a.dims, [condition, a, b])
    _follow(code, made, (condition, a, b), lambda numbers: numbers[1] if numbers[0] else numbers[2])
    return made


def convert(code: Code, a: Val, kind: ElementType) -> Val:
    """Builds a conversion; floats become integers by rounding towards zero."""
    if a.kind == kind:
        return a
    is_whole = a.kind == PRED or a.kind.is_integral
    if a.known is not None and is_whole and (kind.is_integral or kind == PRED or abs(int(a.known)) <= _EXACT):
        return constant(kind, wrapped(kind, a.known), a.dims)
    made = code.emit("convert", kind, a.dims, [a])
    _follow(code, made, (a,), lambda numbers: int(wrapped(kind, numbers[0])))
    return made


def bitcast_convert(code: Code, a: Val, kind: ElementType) -> Val:
    """Builds a bitcast of types of one width."""
    if a.kind == kind:
        return a
    if a.known is not None and a.kind.is_integral and kind.is_integral:
        return constant(kind, a.known, a.dims)
    return code.emit("bitcast-convert", kind, a.dims, [a])


def broadcast(code: Code, a: Val, dims: Sequence[int], along: Sequence[int]) -> Val:
    """Builds a broadcast: dimension i becomes dimension `along[i]`."""
    if a.known is not None:
        return constant(a.kind, a.known, dims)
    if a.dims == tuple(dims):
        return a
    return code.emit("broadcast", a.kind, dims, [a], f", dimensions={format_ints(along)}")


def stretched(code: Code, a: Val, dims: Sequence[int]) -> Val:
    """Builds numpy's broadcast: aligns dimensions at the end and repeats those of size 1."""
    if a.known is not None:
        return constant(a.kind, a.known, dims)
    first = len(dims) - len(a.dims)
    kept = [i for i, size in enumerate(a.dims) if size != 1 or dims[first + i] == 1]
    return broadcast(code, reshape(code, a, [a.dims[i] for i in kept]), dims, [first + i for i in kept])


def reshape(code: Code, a: Val, dims: Sequence[int]) -> Val:
    """Builds a reshape."""
    if a.dims == tuple(dims):
        return a
    if a.known is not None:
        return constant(a.kind, a.known, dims)
    return code.emit("reshape", a.kind, dims, [a])


def transpose(code: Code, a: Val, permutation: Sequence[int]) -> Val:
    """Builds a transpose: dimension `permutation[i]` becomes dimension i."""
    dims = [a.dims[i] for i in permutation]
    if a.known is not None:
        return constant(a.kind, a.known, dims)
    if list(permutation) == list(range(len(permutation))):
        return a
    return code.emit("transpose", a.kind, dims, [a], f", dimensions={format_ints(permutation)}")


def slice_static(code: Code, a: Val, starts: Sequence[int], sizes: Sequence[int], strides: Sequence[int] = ()) -> Val:
    """Builds a slice of `sizes` elements, each `strides`-th one, from `starts`."""
    steps = list(strides) or [1] * len(a.dims)
    if a.known is not None:
        return constant(a.kind, a.known, sizes)
    if tuple(sizes) == a.dims:
        return a
    ends = [start + (size - 1) * step + 1 for start, size, step in zip(starts, sizes, steps, strict=True)]
    bounds = ", ".join(
        f"[{start}:{end}]" if step == 1 else f"[{start}:{end}:{step}]"
        for start, end, step in zip(starts, ends, steps, strict=True)
    )
    return code.emit("slice", a.kind, sizes, [a], f", slice={{{bounds}}}")


def slice_dynamic(code: Code, a: Val, starts: Sequence[Val], sizes: Sequence[int]) -> Val:
    """Builds a dynamic-slice, whose starts are clamped, or a slice if the starts are constants."""
    if a.known is not None:
        return constant(a.kind, a.known, sizes)
    if tuple(sizes) == a.dims:
        return a
    known = [start.known for start in starts]
    if all(value is not None for value in known):
        limits = [size - part for size, part in zip(a.dims, sizes, strict=True)]
        clamped = [min(max(int(value or 0), 0), limit) for value, limit in zip(known, limits, strict=True)]
        return slice_static(code, a, clamped, sizes)
    return code.emit("dynamic-slice", a.kind, sizes, [a, *starts], f", dynamic_slice_sizes={format_ints(sizes)}")


def update(code: Code, a: Val, part: Val, starts: Sequence[Val]) -> Val:
    """Builds an array with a part replaced; starts are clamped."""
    if part.dims == a.dims:
        return part
    if a.known is not None and a.known == part.known:
        return a
    made = code.emit("dynamic-update-slice", a.kind, a.dims, [a, part, *starts])
    code.updates[made] = Update(a, part, tuple(starts))
    return made


def pad(code: Code, a: Val, value: Val, low: Sequence[int], high: Sequence[int], interior: Sequence[int] = ()) -> Val:
    """Builds a pad with a scalar padding value."""
    inner = list(interior) or [0] * len(a.dims)
    if not any((*low, *high, *inner)):
        return a
    dims = [
        below + size + above + max(size - 1, 0) * between
        for below, size, above, between in zip(low, a.dims, high, inner, strict=True)
    ]
    text = "x".join(f"{b}_{h}_{i}" if i else f"{b}_{h}" for b, h, i in zip(low, high, inner, strict=True))
    return code.emit("pad", a.kind, dims, [a, value], f", padding={text}")


def concatenate(code: Code, parts: Sequence[Val], dimension: int) -> Val:
    """Builds a concatenate along a dimension."""
    if len(parts) == 1:
        return parts[0]
    dims = list(parts[0].dims)
    dims[dimension] = sum(part.dims[dimension] for part in parts)
    return code.emit("concatenate", parts[0].kind, dims, parts, f", dimensions={{{dimension}}}")


def iota(code: Code, kind: ElementType, dims: Sequence[int], dimension: int) -> Val:
    """Builds an iota: each element is its index along a dimension."""
    return code.emit("iota", kind, dims, (), f", iota_dimension={dimension}")


def reduce(code: Code, opcode: str, a: Val, identity: Number, dimensions: Sequence[int]) -> Val:
    """Builds a reduction by an op of two scalars."""
    kept = [size for i, size in enumerate(a.dims) if i not in dimensions]
    name = code.program.scalar_computation(opcode, a.kind)
    attributes = f", dimensions={format_ints(dimensions)}, to_apply=%{name}"
    return code.emit("reduce", a.kind, kept, [a, constant(a.kind, identity)], attributes)


def dot(
    code: Code,
    a: Val,
    b: Val,
    contracting: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]],
) -> Val:
    """Builds a dot: the result has the batch dimensions, then the free dimensions of `a` and of `b`."""
    dims = [a.dims[i] for i in batch[0]]
    dims += [size for i, size in enumerate(a.dims) if i not in (*batch[0], *contracting[0])]
    dims += [size for i, size in enumerate(b.dims) if i not in (*batch[1], *contracting[1])]
    groups = {
        "lhs_batch_dims": batch[0],
        "lhs_contracting_dims": contracting[0],
        "rhs_batch_dims": batch[1],
        "rhs_contracting_dims": contracting[1],
    }
    attributes = "".join(f", {name}={format_ints(group)}" for name, group in groups.items() if group)
    return code.emit("dot", a.kind, dims, [a, b], attributes)


def take_along(code: Code, a: Val, indices: Val, dimension: int) -> Val:
    """Builds numpy's take_along_axis: element i of the result along a dimension is element `indices[i]`."""
    dims = indices.dims
    parts = [indices if i == dimension else iota(code, S32, dims, i) for i in range(len(dims))]
    starts = concatenate(code, [reshape(code, part, (*dims, 1)) for part in parts], len(dims))
    every = format_ints(range(len(dims)))
    attributes = (
        f", offset_dims={{}}, collapsed_slice_dims={every}, start_index_map={every}, "
        f"index_vector_dim={len(dims)}, slice_sizes={format_ints([1] * len(dims))}"
    )
    return code.emit("gather", a.kind, dims, [a, starts], attributes)


def modulo(code: Code, a: Val, n: int) -> Val:
    """Builds the remainder from 0 to n - 1."""
    size = constant(a.kind, n, a.dims)
    once = binary(code, "remainder", a, size)
    return binary(code, "remainder", binary(code, "add", once, size), size)


def zeros(count: int) -> list[Val]:
    """Returns `count` start indices of 0."""
    return [index(0)] * count
