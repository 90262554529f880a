"""The plan that a tiled layout stands for: from an array to its physical array.

Meaning of tiles: docs/layouts.md section "Meaning" (XLA: docs/tiled_layout.md, xla/layout_util.cc
LinearIndexForNestedTiling).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.layout import COMBINE, MATCH, Layout, Tile
from dialect_utils.layout.moves.pad_slice import Pad
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import BitcastConvert, Reshape, Step, Transpose
from dialect_utils.layout.shape import ArrayShape, Shape


@dataclass(frozen=True, slots=True)
class LatePads:
    """The padding that may follow the transpose: that of array dimensions, that of prepended units."""

    dimensions: bool
    units: bool


# Padding an array dimension early saves a step or costs one, and so does making prepended units
# array dimensions. The shortest of these plans is taken.
LATE_PADS = (LatePads(False, False), LatePads(False, True), LatePads(True, True))


@dataclass(slots=True)
class _Digit:
    """One digit of an array dimension: index // stride % size; the top digit is unbounded above.

    `padded` is the digit's size in the physical array: the last pad adds the difference to `size`. A unit
    dimension that a tile prepends is a digit of no dimension, `dim` -1.
    """

    dim: int
    stride: int
    size: int
    padded: int
    is_top: bool


class Digits:
    """The physical dimensions as tiles are applied: each is a digit of an array dimension.

    Splitting a top digit only enlarges the first pad, so nested tiles whose sizes divide each other
    share one pad, one reshape and one transpose. A tile longer than a digit pads it last. Tiles
    that digits cannot express (`*` over digits that are not neighbours, a tile that does not divide
    a lower digit) first emit the steps for the digits so far and continue from the result.
    """

    def __init__(self, dims: tuple[int, ...], order: tuple[int, ...], late: LatePads) -> None:
        self.late = late
        self.steps: list[Step] = []
        self.dims = dims
        self.digits = [_Digit(i, 1, dims[i], dims[i], True) for i in order]

    def tile(self, tile: Tile) -> None:
        """Applies one tile to the most minor physical dimensions."""
        missing = max(0, len(tile.dimensions) - len(self.digits))
        self.digits = [_Digit(-1, 1, 1, 1, True) for _ in range(missing)] + self.digits
        sizes = self._combine(tile)
        kept = len(self.digits) - len(sizes)
        if any(digit.dim < 0 and self._pads_early(digit, t) for digit, t in self._met(sizes)):
            self._adopt_units()
        if not all(self._splits(digit, t) for digit, t in self._met(sizes)):
            self._realize()
        pairs = [self._split(digit, t) for digit, t in self._met(sizes)]
        self.digits = self.digits[:kept] + [outer for outer, _ in pairs] + [inner for _, inner in pairs]

    def split_minor(self, size: int) -> bool:
        """Splits `size` elements off the most minor dimension; is false where `size` does not divide it."""
        end = len(self.digits)
        while end and self.digits[end - 1].padded == 1 and self.digits[end - 1].dim < 0:
            end -= 1
        while end and self.digits[end - 1].padded == self.digits[end - 1].size == 1:
            end -= 1
        if not end or self.digits[end - 1].padded % size:
            return False
        self.digits = self.digits[:end]
        if not self._splits(self.digits[-1], size):
            self._realize()
        self.digits[-1:] = self._split(self.digits[-1], size)
        return True

    def finish(self) -> tuple[Step, ...]:
        """Returns the steps to the physical array, identities among them."""
        self._realize(transposed=True)
        self._pad_late()
        return tuple(self.steps)

    def _met(self, sizes: list[int]) -> list[tuple[_Digit, int]]:
        """Returns the most minor digits, each with the length of its tile dimension."""
        digits = self.digits[len(self.digits) - len(sizes) :]
        return [(d, d.padded if t == MATCH else t) for d, t in zip(digits, sizes, strict=True)]

    def _pads_late(self, digit: _Digit, t: int) -> bool:
        if digit.size > t or digit.size % max(t, 1) == 0:
            return False
        return not digit.is_top or (self.late.units if digit.dim < 0 else self.late.dimensions)

    def _pads_early(self, digit: _Digit, t: int) -> bool:
        return t > 0 and digit.size % t != 0 and not self._pads_late(digit, t)

    def _splits(self, digit: _Digit, t: int) -> bool:
        return digit.is_top or not self._pads_early(digit, t)

    def _split(self, digit: _Digit, t: int) -> tuple[_Digit, _Digit]:
        """Returns the digit's tile count and its index within the tile."""
        dim, stride = digit.dim, digit.stride
        if t == 0:
            return _Digit(dim, stride, 1, 1, False), digit
        count = -(-digit.padded // t)
        if self._pads_late(digit, t):
            return _Digit(dim, stride * digit.size, 1, count, False), _Digit(dim, stride, digit.size, t, digit.is_top)
        size = digit.size // t if digit.size % t == 0 else count
        return _Digit(dim, stride * t, size, count, digit.is_top), _Digit(dim, stride, t, t, False)

    def _adopt_units(self) -> None:
        """Reshapes the array so that unit digits become leading dimensions, which can be padded."""
        units = [digit for digit in self.digits if digit.dim < 0]
        for digit in self.digits:
            digit.dim += len(units)
        for dim, digit in enumerate(units):
            digit.dim = dim
        self.dims = (1,) * len(units) + self.dims
        self.steps.append(Reshape(self.dims))

    def _combine(self, tile: Tile) -> list[int]:
        """Merges the digits that `*` combines and returns the remaining sizes of the tile."""
        kept = len(self.digits) - len(tile.dimensions)
        groups: list[list[_Digit]] = [[]]
        sizes = []
        for digit, t in zip(self.digits[kept:], tile.dimensions, strict=True):
            groups[-1].append(digit)
            if t != COMBINE:
                sizes.append(t)
                groups.append([])
        groups.pop()
        merged = [_merge_digits(group) for group in groups]
        if any(digit is None for digit in merged):
            self._realize(transposed=True)
            self._pad_late()
            self._reshape([d.padded for d in self.digits[:kept]] + [prod(d.padded for d in group) for group in groups])
        else:
            self.digits = self.digits[:kept] + [digit for digit in merged if digit is not None]
        return sizes

    def _realize(self, *, transposed: bool = False) -> None:
        """Emits pad and reshape (and transpose) so that every digit becomes an array dimension."""
        position = {id(digit): i for i, digit in enumerate(self.digits)}
        digits = sorted(self.digits, key=lambda d: (d.dim, -d.stride, position[id(d)]))
        padded = [1] * len(self.dims)
        for digit in digits:
            if digit.dim >= 0:
                padded[digit.dim] *= digit.size
        high = tuple(p - d for p, d in zip(padded, self.dims, strict=True))
        self.steps += [Pad((0,) * len(high), high), Reshape(tuple(d.size for d in digits))]
        order = {id(digit): i for i, digit in enumerate(digits)}
        permutation = [order[id(digit)] for digit in self.digits]
        self.dims = tuple(d.size for d in digits)
        if transposed:
            self._transpose(permutation)
            permutation = list(range(len(self.dims)))
        for digit, dim in zip(self.digits, permutation, strict=True):
            digit.dim, digit.stride, digit.is_top = dim, 1, True

    def _pad_late(self) -> None:
        """Emits the deferred padding; the digits are in the order of the array."""
        high = tuple(digit.padded - digit.size for digit in self.digits)
        self.steps.append(Pad((0,) * len(high), high))
        for digit in self.digits:
            digit.size = digit.padded
        self.dims = tuple(digit.padded for digit in self.digits)

    def _transpose(self, permutation: list[int]) -> None:
        result = tuple(self.dims[i] for i in permutation)
        moved = [i for i in permutation if self.dims[i] != 1]
        # A transpose of unit dimensions moves no element: it is a reshape.
        step = Reshape(result) if moved == sorted(moved) else Transpose(tuple(permutation))
        self.steps.append(step)
        self.dims = result

    def _reshape(self, dims: list[int]) -> None:
        self.steps.append(Reshape(tuple(dims)))
        self.dims = tuple(dims)
        self.digits = [_Digit(i, 1, size, size, True) for i, size in enumerate(dims)]


def _merge_digits(group: list[_Digit]) -> _Digit | None:
    """Returns one digit equal to a run of neighbouring digits, or None where they are not neighbours."""
    merged = group[-1]
    for digit in reversed(group[:-1]):
        if digit.padded == 1:
            continue
        if merged.padded == 1:
            merged = digit
        elif digit.dim == merged.dim and digit.stride == merged.stride * merged.size and merged.padded == merged.size:
            size, padded = merged.size * digit.size, merged.size * digit.padded
            merged = _Digit(merged.dim, merged.stride, size, padded, digit.is_top)
        else:
            return None
    return merged


_BYTE = 8


@lru_cache(maxsize=4096)
def physical_plan(shape: ArrayShape) -> Plan:
    """Returns the shortest plan from an array to its physical array.

    The physical array is row-major over the final dimensions of the tiled layout; a packed
    sub-byte type (`E(n)`, n < 8) becomes u8. Raises ValueError for dynamic dimensions and for
    an `E(n)` that is not the width of the type.
    """
    if not shape.is_static:
        raise ValueError(f"{shape} has dynamic dimensions, so its physical array has no fixed size")
    layout = shape.effective_layout
    if layout.padded_dimensions is not None:
        rank = shape.rank
        high = tuple(p - d for p, d in zip(layout.padded_dimensions, shape.dimensions, strict=True))
        pad = Plan(shape.element_type, shape.dimensions, (Pad((0,) * rank, high),) if any(high) else ())
        rest = ArrayShape(shape.element_type, layout.padded_dimensions, layout.replace(padded_dimensions=None))
        return pad.then(physical_plan(rest)).simplified()
    first = _plan_for(shape, layout, LATE_PADS[0])
    if not first.adds_elements:
        # Without padding, all of them are the same plan.
        return first
    return min((first, *(_plan_for(shape, layout, late) for late in LATE_PADS[1:])), key=lambda plan: len(plan.steps))


@lru_cache(maxsize=4096)
def logical_plan(shape: ArrayShape) -> Plan:
    """Returns the inverse of `physical_plan`: from the physical array back to the array."""
    return physical_plan(shape).inverse()


@lru_cache(maxsize=4096)
def physical_shape(shape: ArrayShape) -> ArrayShape:
    """Returns the shape of the physical array: final dimensions, descending, no tiles, memory space kept."""
    element_type, dimensions = physical_plan(shape).result
    layout = Layout.descending(len(dimensions), memory_space=shape.effective_layout.memory_space)
    return ArrayShape(element_type, dimensions, layout)


def _plan_for(shape: ArrayShape, layout: Layout, late: LatePads) -> Plan:
    bits = layout.element_size_in_bits
    digits = Digits(shape.dimensions, layout.major_to_minor, late)
    for tile in layout.tiles:
        digits.tile(tile)
    start = Plan(shape.element_type, shape.dimensions)
    if bits in (0, shape.element_type.storage_bits):
        return start.with_steps(digits.finish()).simplified()
    if bits != shape.element_type.bits or _BYTE % bits:
        width = f"whose values have {shape.element_type.bits} bits"
        raise ValueError(f"E({bits}) does not pack {shape.element_type}, {width}")
    if digits.split_minor(_BYTE // bits):
        return start.with_steps((*digits.finish(), BitcastConvert(ELEMENT_TYPES["u8"]))).simplified()
    return _pack_tail(start.with_steps(digits.finish()), _BYTE // bits).simplified()


def _pack_tail(plan: Plan, per_byte: int) -> Plan:
    """Appends the packing of elements into bytes where no single dimension fills whole bytes."""
    _, dimensions = plan.result
    total = prod(dimensions)
    kept = len(dimensions)
    tail = 1
    while kept and tail % per_byte:
        kept -= 1
        tail *= dimensions[kept]
    steps: list[Step] = []
    if tail % per_byte:
        padded = -(-total // per_byte) * per_byte
        steps = [Reshape((total,)), Pad((0,), (padded - total,))]
        kept, tail = 0, padded
    steps += [Reshape((*dimensions[:kept], tail // per_byte, per_byte)), BitcastConvert(ELEMENT_TYPES["u8"])]
    return plan.with_steps((*plan.steps, *steps))


def dense_bitcast_plan(source: ArrayShape, target: ArrayShape) -> Plan | None:
    """Returns the plan that reads the bytes of one row-major array as another, or None where no steps express it.

    Both are physical arrays; the total number of bits must agree, and one element must hold
    whole elements of the other.
    """
    old, new = source.element_type, target.element_type
    if source.element_count * old.bits != target.element_count * new.bits:
        return None
    plan = Plan(old, source.dimensions)
    if old != new:
        if "pred" in (old.name, new.name) or max(old.bits, new.bits) % min(old.bits, new.bits):
            return None
        if old.bits < new.bits:
            count = new.bits // old.bits
            plan = plan.append(Reshape((source.element_count // count, count)))
        plan = plan.append(BitcastConvert(new))
    return plan.append(Reshape(target.dimensions))


def has_tiles(shape: Shape) -> bool:
    """Is true where a static array in the shape is tiled, packed or padded by its layout."""
    return any(map(_is_tiled, shape.arrays()))


# Cached, so that equal shapes of a module are one object: the verifier compares shapes by identity.
@lru_cache(maxsize=4096)
def untiled(shape: Shape) -> Shape:
    """Returns the shape with every tiled static array in the descending layout, the others untouched."""
    return shape.map_arrays(lambda a: a.with_layout(Layout.descending(a.rank)) if _is_tiled(a) else a)


def physical_leaves(shape: Shape) -> Shape:
    """Returns the shape with every tiled static array replaced by its physical array."""
    return shape.map_arrays(lambda array: physical_shape(array) if _is_tiled(array) else array)


def _is_tiled(array: ArrayShape) -> bool:
    return array.is_tiled and array.is_static
