"""Reads an array with a layout from the notation of another tool, as `writing` writes it, into XLA's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType
from dialect_utils.layout.index.index_map import physical_element_count
from dialect_utils.layout.moves.packs import try_tiled_layout
from dialect_utils.layout.moves.pad_slice import Pad
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape, Step, Transpose
from dialect_utils.layout.notation.strided import Mode, Strided, strided_plan, tiled_layout
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.type_names import element_type_name

_TYPE = r"(?P<type>complex<f\d+>|\w+)"
_DIMS = r"\[(?P<dims>[\d,\s]*)\]"
_CUTE = re.compile(rf"(?:{_TYPE}\s+)?(?P<shape>\([\d_(),\s]*\)|_?\d+)\s*:\s*(?P<strides>\([\d_(),\s]*\)|_?\d+)")
_LINEAR = re.compile(
    r"!?(?:ttg\.)?memdesc<(?P<dims>(?:\d+x)*)(?P<type>\w+),\s*"
    r"#ttg\.shared_linear<\{\s*offset\s*=\s*\[(?P<bases>[\d,\s\[\]]*)\]\s*\}(?:,[^>]*)?>(?:,\s*#?[\w.]+)*>"
)
_STRIDES = re.compile(rf"{_TYPE}{_DIMS}\s*strides=\((?P<strides>[\d,\s]*)\)")
_MEMREF = re.compile(
    r"memref<(?P<dims>(?:\d+x)*)(?P<type>complex<f\d+>|\w+)"
    r"(?:,\s*(?:strided<\[(?P<strides>[\d,\s]*)\](?:,\s*offset:\s*0)?>"
    r"|affine_map<\((?P<names>[\w,\s]*)\)\s*->\s*\((?P<map>.*)\)>))?(?:,\s*(?P<space>\d+)(?:\s*:\s*\w+)?)?>"
)
_PLACE = re.compile(r"\(?\s*(?P<name>\w+)(?:\s+floordiv\s+(?P<by>\d+))?\s*\)?(?:\s+mod\s+(?P<size>\d+))?")
_PACK = re.compile(
    r"(?:%\S+\s*=\s*)?(?:linalg|tensor)\.pack\s.*?(?:outer_dims_perm\s*=\s*\[(?P<perm>[\d,\s]*)\]\s*)?"
    r"inner_dims_pos\s*=\s*\[(?P<where>[\d,\s]*)\]\s*inner_tiles\s*=\s*\[(?P<tiles>[\d,\s]*)\]\s*into\s+\S+\s*:"
    r"\s*tensor<(?P<dims>(?:\d+x)*)(?P<type>[\w<>]+)>\s*->\s*tensor<[\w<>]+>"
)
_TRANSPOSE = re.compile(
    r"linalg\.transpose\s+ins\(\S+\s*:\s*tensor<(?P<dims>(?:\d+x)*)(?P<type>[\w<>]+?)>\).*permutation\s*=\s*\[(?P<perm>[\d,\s]*)\]"
)
_ENCODING = re.compile(
    r"tensor<(?P<dims>(?:\d+x)*)(?P<type>\w+),\s*#iree_encoding\..*encoding_info\s*=\s*\{\s*innerDimsPos\s*=\s*"
    r"\[(?P<where>[\d,\s]*)\],\s*innerTileSizes\s*=\s*\[(?P<tiles>[\d,\s]*)\],\s*outerDimsPerm\s*=\s*\[(?P<perm>[\d,\s]*)\]"
    r"\s*\}.*>"
)
_EINOPS = re.compile(
    rf"{_TYPE}{_DIMS}\s*(?:einops\.)?rearrange\((?P<array>\w+|np\.pad\(\w+,\s*\((?P<pads>[\d(),\s]*)\)\)),"
    r"\s*['\"](?P<left>[^'\"]*?)->(?P<right>[^'\"]*)['\"](?P<sizes>(?:\s*,\s*\w+\s*=\s*\d+)*)\s*\)"
)
_STEPS = re.compile(rf"{_TYPE}{_DIMS}(?P<steps>(?:\s*->\s*(?:pad|reshape|transpose)[\[{{][\d_x,\s]*[\]}}])+)")
_NO_LAYOUT = "no layout of XLA was found for"


def read_notation(text: str) -> str | None:
    """Returns a shape as XLA writes it, None for a text of no known notation; ValueError for a layout XLA lacks."""
    for pattern, read in _READERS.items():
        found = pattern.fullmatch(text) if pattern is not _PACK else pattern.match(text)
        if found is None:
            continue
        if found["type"] is None:
            raise ValueError("a layout of CuTe has no element type: write one before it, such as f32 (3,5):(5,1)")
        name = element_type_name(found["type"])
        return None if name is None else str(read(ELEMENT_TYPES[name], found))
    return None


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text or "")))


def _placed(
    kind: ElementType, modes: Sequence[Mode], lengths: Sequence[int] | None = None, space: int = 0
) -> ArrayShape:
    layout = Strided(tuple(modes))
    if 0 in layout.dimensions:
        raise ValueError("a size is 0")
    found = tiled_layout(layout, lengths)
    if found is None:
        raise ValueError(f"{_NO_LAYOUT} {layout}")
    dimensions = layout.dimensions if lengths is None else tuple(lengths)
    return ArrayShape(kind, dimensions, found.replace(memory_space=space))


def _packed(plan: Plan) -> ArrayShape:
    layout = strided_plan(plan, padded=True)
    found = None if layout is None else tiled_layout(layout, plan.dimensions)
    if found is None or physical_element_count(ArrayShape(*plan.start, found)) != prod(plan.result[1]):
        found = try_tiled_layout(plan)
    if found is None:
        raise ValueError(f"{_NO_LAYOUT} {plan}")
    return ArrayShape(*plan.start, found)


def _cute(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    return _placed(kind, Strided.parse(f"{found['shape']}:{found['strides']}").modes)


def _linear(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    bases = [_numbers(base) for base in re.findall(r"\[([\d,\s]*)\]", found["bases"])]
    sizes = _numbers(found["dims"])
    rank = len(sizes)
    bits: list[list[tuple[int, int]]] = [[] for _ in range(rank)]
    for bit, base in enumerate(bases):
        moved = [dim for dim, weight in enumerate(base) if weight]
        if len(base) != rank or len(moved) != 1 or base[moved[0]].bit_count() != 1:
            raise ValueError(f"XLA has no swizzles: bit {bit} of the index moves {list(base)}, not one power of two")
        bits[moved[0]].append((base[moved[0]], 1 << bit))
    modes = []
    for each in bits:
        if [weight for weight, _ in sorted(each)] != [1 << bit for bit in range(len(each))]:
            raise ValueError("a bit of a dimension belongs to no bit of the index, or to several")
        modes.append(tuple((2, stride) for _, stride in sorted(each)))
    if tuple(1 << len(mode) for mode in modes) != sizes:
        raise ValueError(f"the bits are those of {[1 << len(mode) for mode in modes]}, not of {list(sizes)}")
    return _placed(kind, modes)


def _strides(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    sizes, strides, width = _numbers(found["dims"]), _numbers(found["strides"]), -(-kind.bits // 8)
    wrong = next((each for each in strides if each % width), None)
    if wrong is not None:
        raise ValueError(f"strides count bytes, and {wrong} bytes are no whole elements of {width}")
    return _strided(kind, sizes, [stride // width for stride in strides])


def _strided(kind: ElementType, sizes: Sequence[int], strides: Sequence[int], space: int = 0) -> ArrayShape:
    if len(sizes) != len(strides):
        raise ValueError(f"{len(sizes)} dimensions have {len(strides)} strides")
    return _placed(kind, [(each,) for each in zip(sizes, strides, strict=True)], space=space)


def _memref(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    sizes, space = _numbers(found["dims"]), int(found["space"] or 0)
    if found["map"] is not None:
        return _mapped(kind, sizes, found["names"].replace(" ", "").split(","), found["map"], space)
    strides = _numbers(found["strides"]) or [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return _strided(kind, sizes, strides, space)


def _mapped(kind: ElementType, sizes: Sequence[int], names: Sequence[str], places: str, space: int) -> ArrayShape:
    """Returns the array of a map to physical dimensions, each of which is a digit of one dimension."""
    digits: list[tuple[int, int, int]] = []
    for text in places.split(","):
        place = _PLACE.fullmatch(text.strip())
        if place is None or place["name"] not in names:
            raise ValueError(
                f"{text.strip()} is no digit of a dimension, such as d0 floordiv 8 or (d1 floordiv 2) mod 4"
            )
        dim, weight = names.index(place["name"]), int(place["by"] or 1)
        digits.append((dim, weight, int(place["size"] or -(-sizes[dim] // weight))))
    modes: list[list[tuple[int, int]]] = [[] for _ in sizes]
    for number, (dim, weight, size) in sorted(enumerate(digits), key=lambda each: each[1][1]):
        if weight != prod(count for count, _ in modes[dim]):
            raise ValueError(f"the digits of {names[dim]} leave a gap or overlap at {weight}")
        modes[dim].append((size, prod(count for *_, count in digits[number + 1 :])))
    return _placed(kind, [tuple(mode) for mode in modes], sizes, space)


def _pack(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    plan = Plan(kind, _numbers(found["dims"]))
    for each in found.re.finditer(found.string):
        plan = _with_pack(plan, _numbers(each["perm"]), _numbers(each["where"]), _numbers(each["tiles"]))
    return _packed(plan)


def _transpose(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    plan = Plan(kind, _numbers(found["dims"]))
    return _packed(plan.append(Transpose(_numbers(found["perm"]))))


def _with_pack(plan: Plan, perm: Sequence[int], where: Sequence[int], tiles: Sequence[int]) -> Plan:
    """Returns the plan with the pad, reshape and transpose of a pack (the definition of `linalg.pack`)."""
    dimensions = plan.result[1]
    if (
        len(where) != len(tiles)
        or len({*where}) < len(where)
        or not {*where} <= {*range(len(dimensions))}
        or 0 in tiles
    ):
        raise ValueError(f"tiles {list(tiles)} of dimensions {list(where)} do not fit {list(dimensions)}")
    length = dict(zip(where, tiles, strict=True))
    plan = plan.append(_pad([(0, -size % length.get(dim, 1)) for dim, size in enumerate(dimensions)]))
    split = [[size // length[dim], length[dim]] if dim in length else [size] for dim, size in enumerate(plan.result[1])]
    starts = [sum(map(len, split[:dim])) for dim in range(len(split))]
    outer = [starts[dim] for dim in (perm or range(len(split)))]
    plan = plan.append(Reshape(tuple(size for sizes in split for size in sizes)))
    return plan.append(Transpose((*outer, *(starts[dim] + 1 for dim in where))))


def _pad(widths: Sequence[tuple[int, int]]) -> Pad:
    low, high = zip(*widths, strict=True) if widths else ((), ())
    return Pad(tuple(low), tuple(high))


def _einops(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    plan = Plan(kind, _numbers(found["dims"]))
    if found["pads"]:
        numbers = _numbers(found["pads"])
        plan = plan.append(_pad([*zip(numbers[::2], numbers[1::2], strict=True)]))
    sizes = {name: int(size) for name, size in re.findall(r"(\w+)\s*=\s*(\d+)", found["sizes"])}
    left, right = (re.findall(r"\(([\w\s]*)\)|(\w+)", found[side]) for side in ("left", "right"))
    groups, made = ([(group or name).split() for group, name in side] for side in (left, right))
    if len(groups) != len(plan.result[1]):
        raise ValueError(f"{len(groups)} axes for {len(plan.result[1])} dimensions")
    for group, size in zip(groups, plan.result[1], strict=True):
        known = prod(sizes.get(name, 1) for name in group)
        free = [name for name in group if name not in sizes]
        if len(free) > 1 or size % known:
            raise ValueError(f"({' '.join(group)}) of {size} elements needs the sizes of all its axes but one")
        sizes.update(dict.fromkeys(free, size // known))
    names = [name for group in groups for name in group]
    order = [name for group in made for name in group]
    if sorted(names) != sorted(order) or len({*names}) < len(names):
        raise ValueError("the axes on both sides of -> are not the same")
    plan = plan.append(Reshape(tuple(sizes[name] for name in names)))
    plan = plan.append(Transpose(tuple(map(names.index, order))))
    return _packed(plan.append(Reshape(tuple(prod(sizes[name] for name in group) for group in made))))


def _steps(kind: ElementType, found: re.Match[str]) -> ArrayShape:
    plan = Plan(kind, _numbers(found["dims"]))
    for name, numbers in re.findall(r"(\w+)[\[{]([\d_x,\s]*)[\]}]", found["steps"]):
        plan = plan.append(_STEP_OF[name](numbers))
    return _packed(plan)


_STEP_OF: Mapping[str, Callable[[str], Step]] = {
    "pad": lambda text: _pad([(int(low), int(high)) for low, high in re.findall(r"(\d+)_(\d+)", text)]),
    "reshape": lambda text: Reshape(_numbers(text)),
    "transpose": lambda text: Transpose(_numbers(text)),
}
_READERS: Mapping[re.Pattern[str], Callable[[ElementType, re.Match[str]], ArrayShape]] = {
    _CUTE: _cute,
    _LINEAR: _linear,
    _STRIDES: _strides,
    _MEMREF: _memref,
    _PACK: _pack,
    _TRANSPOSE: _transpose,
    _ENCODING: _pack,
    _EINOPS: _einops,
    _STEPS: _steps,
}
