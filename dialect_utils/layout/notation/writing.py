"""Writes an array's layout in the notation of another tool, and names what the notation cannot say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul

from dialect_utils.layout.index.index_map import physical_element_count
from dialect_utils.layout.layout import COMBINE, MATCH
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.notation.strided import Digit, Strided, try_strided
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.type_names import mlir_name, numpy_name

_MERGED = "a tile over several dimensions (*): these are the steps"


@dataclass(frozen=True, slots=True)
class Written:
    """A layout in a notation, or the closest that the notation can say; `lost` names what it cannot say."""

    text: str
    lost: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"  not said: {each}" for each in self.lost)])


def write(shape: ArrayShape, notation: str) -> Written:
    """Returns a static array's layout in one of NOTATIONS; raises ValueError for dimensions without a size."""
    if not shape.is_static:
        raise ValueError(f"{shape} has a dimension without a size, so no other notation writes it")
    shape = shape.with_effective_layout
    found = NOTATIONS[notation](shape)
    layout = shape.effective_layout
    lost = list(found.lost)
    if layout.memory_space and notation != "memref":
        lost.append(f"the memory space {layout.memory_space}")
    if layout.tail_padding_alignment_in_elements > 1:
        lost.append(f"an allocation of whole multiples of {layout.tail_padding_alignment_in_elements} elements")
    if layout.split_configs:
        lost.append("the split between memories")
    if layout.element_size_in_bits and notation not in ("jax", "steps"):
        lost.append(f"the packing: sizes count elements, which have {layout.element_size_in_bits} bits")
    return Written(found.text, tuple(lost))


def _padding(shape: ArrayShape, layout: Strided) -> tuple[str, ...]:
    """Returns remarks where a notation writes an array of larger dimensions, or less than the whole allocation."""
    sizes, own = (",".join(map(str, dimensions)) for dimensions in (layout.dimensions, shape.dimensions))
    larger = () if sizes == own else (f"padding: of [{sizes}] the elements are [{own}]",)
    return (*larger, *_tail(shape, layout))


def _tail(shape: ArrayShape, layout: Strided) -> tuple[str, ...]:
    slots = physical_element_count(shape)
    return (f"padding after the last element: {layout.span} of {slots} slots",) if layout.span < slots else ()


def _with_strides(write: Callable[[ArrayShape, Strided], Written]) -> Callable[[ArrayShape], Written]:
    """Returns the writer of a notation of strides, which writes the steps of an array without strides."""

    def written(shape: ArrayShape) -> Written:
        layout = try_strided(shape)
        return _steps(shape, _MERGED) if layout is None else write(shape, layout)

    return written


def _cute(shape: ArrayShape, layout: Strided) -> Written:
    return Written(f"{shape.element_type} {layout}", _padding(shape, layout))


def _linear(shape: ArrayShape, layout: Strided) -> Written:
    """Returns a layout over F2: the element that each bit of the index belongs to, as Triton writes it."""
    layout = try_strided(shape, padded=True) or layout
    rounded = _powers_of_two(layout)
    bits: list[tuple[int, list[int]]] = []
    for dim, mode in enumerate(rounded.modes):
        weights = accumulate((size for size, _ in mode), mul, initial=1)
        for (size, stride), weight in zip(mode, weights, strict=False):
            bits += [
                (stride << bit, [weight << bit if each == dim else 0 for each in range(shape.rank)])
                for bit in range(size.bit_length() - 1)
            ]
    lost = _padding(shape, rounded)
    if rounded != layout:
        lost += ("sizes that are no powers of two: each digit is rounded up, and strides with it",)
    bases = ", ".join(f"[{', '.join(map(str, base))}]" for _, base in sorted(bits))
    array = f"{''.join(f'{size}x' for size in rounded.dimensions)}{mlir_name(shape.element_type)}"
    linear = f"#ttg.shared_linear<{{offset = [{bases}]}}, alignment = 16>"
    return Written(f"!ttg.memdesc<{array}, {linear}, #ttg.shared_memory>", lost)


def _powers_of_two(layout: Strided) -> Strided:
    """Returns the compact layout with the same order of digits, and each size rounded up to a power of two."""
    strides: dict[Digit, int] = {}
    filled = 1
    for size, stride in sorted(layout.digits, key=lambda digit: digit[1]):
        strides[size, stride] = filled
        filled *= _rounded(size)
    return Strided(tuple(tuple((_rounded(size), strides[size, stride]) for size, stride in m) for m in layout.modes))


def _rounded(size: int) -> int:
    return 1 << (size - 1).bit_length()


def _strides(shape: ArrayShape, layout: Strided) -> Written:
    """Returns numpy's strides, in bytes."""
    width = -(-shape.element_type.bits // 8)
    start = numpy_name(shape.element_type)
    if all(len(mode) < 2 for mode in layout.modes):
        strides = [mode[0][1] if mode else 1 for mode in layout.modes]
        text = f"{start}{list(layout.dimensions)} strides={tuple(each * width for each in strides)}"
        return Written(text, _padding(shape, layout))
    digits = [digit for mode in layout.modes for digit in reversed(mode or ((1, 1),))]
    text = f"{start}{[size for size, _ in digits]} strides={tuple(stride * width for _, stride in digits)}"
    said = f"tiles: a dimension has one stride, so each digit of a dimension is one; all are {list(layout.dimensions)}"
    return Written(text, (said, *_padding(shape, layout)))


def _memref(shape: ArrayShape, layout: Strided) -> Written:
    """Returns a memref with strides, or with the affine map to its physical dimensions."""
    sizes, kind = "".join(f"{size}x" for size in shape.dimensions), mlir_name(shape.element_type)
    space = shape.effective_layout.memory_space
    end = f", {space}>" if space else ">"
    if all(len(mode) < 2 for mode in layout.modes):
        strides = [mode[0][1] if mode else 1 for mode in layout.modes]
        is_plain = strides == [prod(shape.dimensions[i + 1 :]) for i in range(shape.rank)]
        # MLIR's default is the descending order without gaps.
        own = "" if is_plain else f", strided<[{', '.join(map(str, strides))}]>"
        return Written(f"memref<{sizes}{kind}{own}{end}", _padding(shape, layout))
    layout = try_strided(shape, padded=True) or layout
    digits: list[tuple[int, str]] = []
    for dim, (mode, length) in enumerate(zip(layout.modes, shape.dimensions, strict=True)):
        weight = 1
        for size, stride in mode:
            text = f"d{dim} floordiv {weight}" if weight > 1 else f"d{dim}"
            is_whole = weight * size < length + weight
            if not is_whole or weight * size < length:
                text = f"({text}) mod {size}" if " " in text else f"{text} mod {size}"
            digits.append((stride, text))
            weight *= size
        if mode and not is_whole:
            # The padding follows from the result of the map that is always 0.
            digits.append((layout.span, f"d{dim} floordiv {weight}"))
    ordered = [text for _, text in sorted(digits, key=lambda each: -each[0])]
    names = ", ".join(f"d{dim}" for dim in range(shape.rank))
    gaps = () if layout.span == layout.size else ("padding inside of tiles",)
    return Written(f"memref<{sizes}{kind}, affine_map<({names}) -> ({', '.join(ordered)})>{end}", gaps)


def _pack(shape: ArrayShape) -> Written:
    """Returns a `linalg.pack` for each tile, the first with the order of the dimensions."""
    layout = shape.effective_layout
    order = list(layout.major_to_minor)
    tiles = [tile.dimensions for tile in layout.tiles]
    if not tiles and order == sorted(order):
        return Written(_tensor(shape.dimensions, shape))
    if not tiles:
        moved = _tensor([shape.dimensions[dim] for dim in order], shape)
        return Written(
            f"linalg.transpose ins(%0 : {_tensor(shape.dimensions, shape)}) outs(%1 : {moved}) permutation = {order}"
        )
    sizes = [shape.dimensions[dim] for dim in range(shape.rank)]
    where, is_first, lines = order, True, []
    for number, tile in enumerate(tiles):
        if {COMBINE, MATCH} & {*tile} or len(tile) > len(where):
            return _steps(shape, "a tile over several dimensions (*) or more than there are: these are the steps")
        inner = where[len(where) - len(tile) :]
        outer = [-(-size // dict(zip(inner, tile, strict=True)).get(dim, 1)) for dim, size in enumerate(sizes)]
        made = [*(outer[dim] for dim in order), *tile] if is_first else [*outer, *tile]
        padding = any(sizes[dim] % length for dim, length in zip(inner, tile, strict=True))
        parts = [f"linalg.pack %{number}", f"padding_value(%p : {mlir_name(shape.element_type)})" if padding else ""]
        parts.append(f"outer_dims_perm = {order}" if is_first and order != sorted(order) else "")
        parts += [f"inner_dims_pos = {inner}", f"inner_tiles = {list(tile)}", f"into %{number + 1} :"]
        lines.append(" ".join(filter(None, parts)) + f" {_tensor(sizes, shape)} -> {_tensor(made, shape)}")
        sizes, where, is_first = made, list(range(len(made))), False
    return Written("\n".join(lines))


def _tensor(sizes: Sequence[int], shape: ArrayShape) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{mlir_name(shape.element_type)}>"


def _jax(shape: ArrayShape) -> Written:
    layout = shape.effective_layout
    if any({COMBINE, MATCH} & {*tile.dimensions} for tile in layout.tiles):
        return _steps(shape, _MERGED)
    tiling = tuple(tile.dimensions for tile in layout.tiles) or None
    sizes = ",".join(map(str, shape.dimensions))
    fields = f"major_to_minor={layout.major_to_minor}, tiling={tiling}"
    bits = f"sub_byte_element_size_in_bits={layout.element_size_in_bits}"
    return Written(f"{numpy_name(shape.element_type)}[{sizes}] Layout({fields}, {bits})")


def _einops(shape: ArrayShape) -> Written:
    """Returns the call of `einops.rearrange` that makes the physical array, after padding."""
    layout = try_strided(shape, padded=True)
    if layout is None or layout.span != layout.size:
        return _steps(shape, "a tile over several dimensions (*), or padding inside of tiles: these are the steps")
    groups, digits, sizes = [], [], []
    for dim, mode in enumerate(layout.modes):
        name = chr(ord("a") + dim % 26) + ("" if shape.rank <= 26 else str(dim))
        names = [f"{name}{number}" for number in range(len(mode))] if len(mode) > 1 else [name]
        groups.append(f"({' '.join(names)})" if len(mode) > 1 else name)
        for number, (size, stride) in enumerate(reversed(mode or ((1, 0),))):
            digits.append((-stride, names[number]))
            sizes += [f", {names[number]}={size}"] * (number > 0)
    right = " ".join(name for _, name in sorted(digits, key=lambda each: each[0]))
    array = "x"
    if layout.dimensions != shape.dimensions:
        widths = [(0, new - old) for new, old in zip(layout.dimensions, shape.dimensions, strict=True)]
        array = f"np.pad(x, {tuple(widths)})"
    start = f"{shape.element_type}[{','.join(map(str, shape.dimensions))}]"
    text = f"{start} rearrange({array}, '{' '.join(groups)} -> {right}'{''.join(sizes)})"
    return Written(text, _tail(shape, layout))


def _steps(shape: ArrayShape, *lost: str) -> Written:
    return Written(str(physical_plan(shape)), lost)


# The notations of `explain --as`.
NOTATIONS: Mapping[str, Callable[[ArrayShape], Written]] = {
    "cute": _with_strides(_cute),
    "linear": _with_strides(_linear),
    "strides": _with_strides(_strides),
    "memref": _with_strides(_memref),
    "pack": _pack,
    "jax": _jax,
    "einops": _einops,
    "steps": _steps,
}
