"""Strided layouts: the linear index as a sum of digits times strides, and CuTe's algebra of them.

The definitions are those of CuTe (NVIDIA/cutlass, media/docs/cpp/cute/02_layout_algebra.md): coordinates are
colexicographic, so that the first mode and the first digit of a mode are the most minor ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES, CachedText
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Step, inverse_permutation
from dialect_utils.layout.shape import ArrayShape, Shape

# The number of values of a digit, and its stride in elements.
Digit = tuple[int, int]
Mode = tuple[Digit, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Strided(CachedText):
    """A function of coordinates: `modes[i]` are the digits of coordinate i, the most minor first.

    >>> layout = relayout.Strided.parse("((2,3),4):((1,8),2)")
    >>> layout, layout(5), layout(1, 2), layout.size, layout.span
    (((2,3),4):((1,8),2), 17, 5, 24, 24)
    """

    modes: tuple[Mode, ...]

    @classmethod
    def of(cls, shape: Shape) -> Strided:
        """Returns the linear index of an array's element, in elements, as a function of its indices.

        Where a size is no multiple of its tile, the mode has more elements: 4 and 6 for `f32[3,5]{1,0:T(2,2)}`.
        Raises ValueError where a tile cuts several dimensions as one (`*`), and for shapes without elements.
        """
        found = try_strided(shape) if isinstance(shape, ArrayShape) else None
        if found is None:
            raise ValueError(f"{shape} has no strides")
        return found

    @classmethod
    def parse(cls, text: str) -> Strided:
        """Reads CuTe's notation, such as `((2,3),4):((1,8),2)`; raises ValueError."""
        shape, colon, strides = text.replace("_", "").partition(":")
        if not colon or re.search(r"[^\d(),\s]", shape + strides) or not (shape.strip() and strides.strip()):
            raise ValueError(f"a layout of CuTe is a shape and strides, such as (3,5):(5,1), not {text}")
        sizes, steps = _tree(shape), _tree(strides)
        if isinstance(sizes, int) or isinstance(steps, int):
            return cls((tuple(_leaves(sizes, steps)),))
        return cls(tuple(tuple(_leaves(*each)) for each in _pairs(sizes, steps)))

    @property
    def digits(self) -> Mode:
        """Returns the digits of all modes, the most minor first."""
        return tuple(digit for mode in self.modes for digit in mode)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Returns the size of each mode."""
        return tuple(prod(size for size, _ in mode) for mode in self.modes)

    @property
    def size(self) -> int:
        """Returns the number of coordinates."""
        return prod(self.dimensions)

    @property
    def span(self) -> int:
        """Returns the largest index plus 1; CuTe calls it the cosize."""
        return 1 + sum((size - 1) * stride for size, stride in self.digits)

    def __call__(self, *coordinates: int) -> int:
        """Returns the index of a coordinate for each mode, or of one colexicographic coordinate for all modes."""
        parts = [(self.digits, coordinates[0])] if len(coordinates) == 1 else zip(self.modes, coordinates, strict=True)
        return sum(index for mode, coordinate in parts for index in _indices(mode, coordinate))

    def _format(self) -> str:
        shapes, strides = zip(*map(_texts, self.modes), strict=True) if self.modes else ((), ())
        # One digit needs no parentheses; one mode of several digits has its own and those of the layout.
        is_plain = len(self.modes) == 1 and len(self.modes[0]) < 2
        return ":".join(texts[0] if is_plain else f"({','.join(texts)})" for texts in (shapes, strides))


def _indices(mode: Mode, coordinate: int) -> Iterator[int]:
    # As in CuTe, the last digit has no upper bound.
    for size, stride in mode[:-1]:
        yield coordinate % size * stride
        coordinate //= size
    yield coordinate * (mode[-1][1] if mode else 0)


def _texts(mode: Mode) -> tuple[str, str]:
    if not mode:
        return "1", "0"
    columns = [[*map(str, column)] for column in zip(*mode, strict=True)]
    first, second = (column[0] if len(column) == 1 else f"({','.join(column)})" for column in columns)
    return first, second


def coalesce(mode: Sequence[Digit]) -> Mode:
    """Returns the digits of the same function without digits of one value, and with neighbours joined."""
    found: list[Digit] = []
    for size, stride in mode:
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = (found[-1][0] * size, found[-1][1])
        elif size != 1:
            found.append((size, stride))
    return tuple(found)


def compose(first: Strided, second: Strided) -> Strided:
    """Returns the layout i -> first(second(i)), with the modes of `second`; raises ValueError where it is not strided.

    >>> relayout.compose(relayout.Strided.parse("(6,2):(8,2)"), relayout.Strided.parse("(4,3):(3,1)"))
    ((2,2),3):((24,2),8)
    """
    digits = sorted((stride, size) for size, stride in second.digits if stride and size > 1)
    if any(stride * size > above for (stride, size), (above, _) in pairwise(digits)):
        raise ValueError(f"{first} after {second} is not strided: digits of {second} overlap")
    return Strided(tuple(coalesce([part for each in mode for part in _composed(first, each)]) for mode in second.modes))


def _composed(first: Strided, digit: Digit) -> Iterator[Digit]:
    """Yields the digits that `first` makes of the indices 0, stride, 2 * stride, ... of a digit."""
    rest, step = digit
    *inner, last = coalesce(first.digits) or ((1, 0),)
    for size, stride in inner:
        if step and max(size, step) % min(size, step):
            raise ValueError(f"{first} after {digit[0]}:{digit[1]} is not strided: {step} and {size} do not divide")
        taken = min(max(1, size // step), rest) if step else rest
        if rest % taken:
            raise ValueError(f"{first} after {digit[0]}:{digit[1]} is not strided: {taken} does not divide {rest}")
        yield taken, step * stride
        rest, step = rest // taken, -(-step // size)
    yield rest, step * last[1]


def complement(layout: Strided, size: int) -> Strided:
    """Returns the layout of the repetitions of `layout` that fill `size` indices, in order.

    Its indices and those of `layout` add up to each index once. Raises ValueError where indices of `layout` overlap.

    >>> relayout.complement(relayout.Strided.parse("4:2"), 24)
    (2,3):(1,8)
    """
    modes: list[Mode] = []
    filled = 1
    for count, stride in sorted(coalesce(layout.digits), key=lambda digit: digit[1]):
        if stride == 0 or stride % filled:
            raise ValueError(f"{layout} has no complement: its stride {stride} is no multiple of {filled}")
        modes.append(((stride // filled, filled),))
        filled = count * stride
    modes.append(((-(-size // filled), filled),))
    return Strided(tuple(kept for mode in modes if (kept := coalesce(mode))) or ((),))


def inverse(layout: Strided) -> Strided:
    """Returns the layout that gives the coordinate of each index; raises ValueError where one has none or several.

    >>> relayout.inverse(relayout.Strided.parse("(4,8):(8,1)"))
    (8,4):(4,1)
    """
    digits = coalesce(layout.digits)
    weights = [prod(size for size, _ in digits[:i]) for i in range(len(digits))]
    found = sorted(zip(digits, weights, strict=True), key=lambda each: each[0][1])
    filled = 1
    for (size, stride), _ in found:
        if stride != filled:
            raise ValueError(f"{layout} has no inverse: its indices do not fill 0 to {layout.size - 1}")
        filled *= size
    return Strided(tuple(((size, weight),) for (size, _), weight in found) or ((),))


def divide(layout: Strided, tile: Strided) -> Strided:
    """Returns a layout of two modes: the elements of a tile of coordinates, and the tiles (CuTe's `logical_divide`).

    >>> relayout.divide(relayout.Strided.parse("(4,2,3):(2,1,8)"), relayout.Strided.parse("4:2"))
    ((2,2),(2,3)):((4,1),(2,8))
    """
    rest = complement(tile, layout.size)
    return compose(layout, Strided((tile.digits, rest.digits)))


# A number, or a tuple of trees.
Tree = int | list["Tree"]
_NESTED = "shape and strides are nested in different ways"


def _tree(text: str) -> Tree:
    """Returns nested tuples of numbers as lists; raises ValueError where parentheses or commas are missing."""
    whole: list[Tree] = []
    open_: list[list[Tree]] = [whole]
    for token in re.findall(r"\d+|[()]", text):
        if token == "(":
            inner: list[Tree] = []
            open_[-1].append(inner)
            open_.append(inner)
        elif token == ")" and len(open_) > 1:
            open_.pop()
        elif token == ")":
            raise ValueError(f"unbalanced parentheses in {text}")
        else:
            open_[-1].append(int(token))
    if len(open_) > 1 or len(whole) != 1:
        raise ValueError(f"unbalanced parentheses in {text}")
    return whole[0]


def _leaves(size: Tree, stride: Tree) -> Iterator[tuple[int, int]]:
    if isinstance(size, int) and isinstance(stride, int):
        yield size, stride
        return
    if isinstance(size, int) or isinstance(stride, int):
        raise ValueError(_NESTED)
    for each in _pairs(size, stride):
        yield from _leaves(*each)


def _pairs(sizes: list[Tree], strides: list[Tree]) -> Iterator[tuple[Tree, Tree]]:
    if len(sizes) != len(strides):
        raise ValueError(_NESTED)
    return zip(sizes, strides, strict=True)


def try_strided(shape: ArrayShape, *, padded: bool = False) -> Strided | None:
    """Returns `Strided.of` a shape, None where it has no strides; with `padded` all padding of dimensions counts."""
    plan = physical_plan(shape.with_layout(shape.effective_layout.replace(element_size_in_bits=0)))
    return strided_plan(plan, padded=padded)


def strided_plan(plan: Plan, *, padded: bool) -> Strided | None:
    """Returns the place in the result of a plan, in row-major order, of each element; `padded` as for `try_strided`."""
    if 0 in plan.dimensions:
        # No element has a place.
        return Strided(tuple(((size, 1),) for size in plan.dimensions))
    final = plan.result[1]
    digits: list[Mode] = [((size, prod(final[i + 1 :])),) for i, size in enumerate(final)]
    for step, (_, before) in zip(reversed(plan.steps), reversed(plan.stages[:-1]), strict=True):
        if padded and step is plan.steps[0] and step.opcode == "pad":
            continue
        made = _before(step, digits, before)
        if made is None:
            return None
        digits = made
    return Strided(tuple(map(coalesce, digits)))


def _before(step: Step, digits: Sequence[Mode], dimensions: Sequence[int]) -> list[Mode] | None:
    """Returns the digits of the dimensions before a step, given those after it."""
    match step.opcode:
        case "pad":
            return [_cropped(mode, size) for mode, size in zip(digits, dimensions, strict=True)]
        case "reshape":
            return _regrouped(digits, dimensions)
        case "transpose":
            return [digits[i] for i in inverse_permutation(step.order or ())]
    return None


def _cropped(mode: Mode, size: int) -> Mode:
    """Returns the digits of an index that is smaller than `size`, where one digit is left of them."""
    if prod(count for count, _ in mode) == size or size == 0:
        return mode
    inner = prod(count for count, _ in mode[:-1])
    return (*mode[:-1], (-(-size // inner), mode[-1][1])) if mode else mode


def _regrouped(modes: Sequence[Mode], dimensions: Sequence[int]) -> list[Mode] | None:
    """Returns the digits of the dimensions of the same row-major array, None where a digit is of two of them."""
    rest = [*reversed(coalesce([digit for mode in reversed(modes) for digit in mode]))]
    found: list[Mode] = []
    for size in reversed(dimensions):
        mode: list[Digit] = []
        while size > 1:
            if not rest:
                return None
            count, stride = rest.pop()
            taken = min(count, size)
            if max(count, size) % taken:
                return None
            mode.append((taken, stride))
            rest += [(count // taken, stride * taken)] if count > taken else []
            size //= taken
        found.append(tuple(mode))
    return None if rest else [*reversed(found)]


def tiled_layout(layout: Strided, lengths: Sequence[int] | None = None) -> Layout | None:
    """Returns XLA's layout with this linear index, with tiles where a mode has several digits; None for none.

    `lengths` are the sizes of the dimensions, where padding enlarges the modes.
    """
    lengths = layout.dimensions if lengths is None else lengths
    modes = tuple(map(coalesce, layout.modes))
    digits = sorted(
        (
            (stride, dim, size)
            for dim, (mode, length) in enumerate(zip(modes, lengths, strict=True))
            for size, stride in _cropped(mode, length)
        ),
        reverse=True,
    )
    dims = [dim for _, dim, _ in digits]
    if digits and digits[-1][0] <= 0:
        return None
    order = [*(dim for dim in range(len(layout.modes)) if dim not in dims), *dict.fromkeys(dims)]
    rest = dict.fromkeys(order, 1)
    # A gap between two strides is padding of the digit with the smaller one: in the tile if it is its mode's first.
    bounds = [-(-layout.span // stride) * stride for stride, *_ in digits[:1]]
    padded = [above // stride for above, stride in pairwise([*bounds, *(stride for stride, *_ in digits)])]
    for number, (_, dim, size) in enumerate(digits):
        rest[dim] *= size if dim in dims[:number] else padded[number]
    tiles: list[Tile] = []
    last = -1
    for number, (_, dim, size) in enumerate(digits):
        is_first = dim not in dims[:number]
        if order.index(dim) <= last or size < padded[number]:
            tiles.append(_tile(order, rest))
        if size < padded[number] and not is_first:
            rest[dim] = rest[dim] // size * padded[number]
            tiles.append(_tile(order, rest))
        rest[dim] //= padded[number]
        last = order.index(dim)
    if digits and digits[-1][0] > 1:
        tiles += [Tile((1,)), Tile((digits[-1][0],))]
    found = Layout(tuple(reversed(order)), tuple(tiles))
    made = ArrayShape(ELEMENT_TYPES["u8"], tuple(lengths), found)
    return found if modes in (_modes(made, padded=False), _modes(made, padded=True)) else None


def _modes(shape: ArrayShape, *, padded: bool) -> tuple[Mode, ...]:
    found = try_strided(shape, padded=padded)
    return () if found is None else found.modes


def _tile(order: Sequence[int], rest: Mapping[int, int]) -> Tile:
    """Returns the tile of the elements that are left of each mode, from the first mode with several, or the last."""
    sizes = [rest[dim] for dim in order]
    return Tile(tuple(sizes[next((i for i, size in enumerate(sizes) if size > 1), len(sizes) - 1) :]))
