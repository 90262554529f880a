"""Layouts in the notations of other tools, each read by an evaluator of its own at every index."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape, parse_array_shape, parse_shape
from dialect_utils.layout.index.index_map import linear_index, physical_element_count
from dialect_utils.layout.notation.writing import NOTATIONS, Written, write
from dialect_utils.layout.text.explain import explain_shape
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from tests.layout.shapes import GIVEN, tiled_shapes

Array = NDArray[Any]


def numbers(text: str) -> list[int]:
    return [*map(int, re.findall(r"\d+", text))]


def memory(shape: ArrayShape) -> Array:
    """Returns the slots of an array, each with the row-major number of its element, or -1 for padding."""
    slots = np.full(physical_element_count(shape), -1)
    for number, index in enumerate(product(*map(range, shape.dimensions))):
        slots[linear_index(shape, index)] = number
    return slots


def elements(shape: ArrayShape) -> Array:
    return np.arange(shape.element_count).reshape(shape.dimensions)


def by_cute(text: str, shape: ArrayShape) -> Callable[[tuple[int, ...]], int]:
    """Evaluates shape:stride by the definition: the remainders and quotients of each coordinate, leftmost first."""
    tree = text.split(" ")[1].replace("(", "[").replace(")", "]")
    sizes, strides = (eval(part) for part in tree.split(":"))  # lists of numbers

    def leaf(size: Any, stride: Any, coordinate: int) -> int:
        if isinstance(size, int):
            return coordinate * int(stride)
        total = 0
        for position, (each, step) in enumerate(zip(size, stride, strict=True)):
            own = coordinate if position == len(size) - 1 else coordinate % int(np.prod(each))
            total += leaf(each, step, own)
            coordinate //= int(np.prod(each))
        return total

    if not shape.rank:
        return lambda index: 0
    pairs = [*zip(sizes, strides, strict=True)] if isinstance(sizes, list) and shape.rank > 1 else [(sizes, strides)]
    if shape.rank == 1 and isinstance(sizes, list) and len(sizes) == 1:
        pairs = [(sizes[0], strides[0])]
    return lambda index: sum(leaf(*pair, at) for pair, at in zip(pairs, index, strict=True))


def by_bits(text: str, shape: ArrayShape) -> Callable[[tuple[int, ...]], int]:
    """Evaluates a layout over F2: the coordinates of an index are the XOR of the bases of its bits."""
    bases = [numbers(base) for base in re.findall(r"\[([\d, ]*)\]", text.split("offset = [", 1)[1].split("}")[0])]
    places = {}
    for index in range(1 << len(bases)):
        at = [0] * shape.rank
        for bit, base in enumerate(bases):
            if index >> bit & 1:
                at = [one ^ other for one, other in zip(at, base, strict=True)]
        places[tuple(at)] = index
    return places.__getitem__


def by_map(text: str, shape: ArrayShape) -> Callable[[tuple[int, ...]], int]:
    """Evaluates an affine map: the result is the index of the row-major array of its values."""
    match = re.search(r"affine_map<\((.*?)\) -> \((.*)\)>", text)
    if match is None:
        strides = numbers(text.split("strided<")[1].split(">")[0]) if "strided" in text else None
        made = strides or [int(np.prod(shape.dimensions[i + 1 :])) for i in range(shape.rank)]
        return lambda index: sum(at * stride for at, stride in zip(index, made, strict=True))
    places = match[2].replace("floordiv", "//").replace("mod", "%")

    def values(index: Sequence[int]) -> list[int]:
        known = {f"d{dim}": at for dim, at in enumerate(index)}
        return [int(eval(place, {}, known)) for place in places.split(",")]  # expressions of integers

    # The size of a dimension follows from the map's values; a remainder has as many as its divisor.
    corners = [values([size - 1 for size in shape.dimensions])]
    corners += [values(index) for index in product(*map(range, shape.dimensions))]
    sizes = [max(column) + 1 for column in zip(*corners, strict=True)]
    for number, place in enumerate(places.split(",")):
        divisor = re.search(r"% (\d+)$", place.strip())
        sizes[number] = int(divisor[1]) if divisor else sizes[number]
    return lambda index: int(np.ravel_multi_index(values(index), sizes))


INDEXED = {"cute": by_cute, "linear": by_bits, "memref": by_map}
EXACT = ("padding after", "padding: of", "the memory space", "the packing", "an allocation", "the split")


def is_exact(found: Written) -> bool:
    """Is true where the text is the layout of the elements, whatever it leaves out besides."""
    return all(each.startswith(EXACT) for each in found.lost)


def check_indices(shape: ArrayShape) -> None:
    for notation, evaluator in INDEXED.items():
        found = write(shape, notation)
        if is_exact(found) and 0 not in shape.dimensions:
            place = evaluator(found.text, shape)
            for index in product(*map(range, shape.dimensions)):
                assert place(index) == linear_index(shape, index), f"{shape} is not {found} at {index}"


@pytest.mark.parametrize("shape", GIVEN, ids=str)
def test_indices_are_those_of_the_formula(shape: ArrayShape) -> None:
    check_indices(shape)


@given(tiled_shapes())
def test_indices_of_drawn_shapes_are_those_of_the_formula(shape: ArrayShape) -> None:
    check_indices(shape)


@given(tiled_shapes(("f32",)))
def test_strides_are_those_of_numpy(shape: ArrayShape) -> None:
    found = write(shape, "strides")
    if not is_exact(found) or 0 in shape.dimensions or any("padding" in each for each in found.lost):
        return
    slots = memory(shape).astype(np.float32)
    strides = numbers(found.text.split("strides=")[1])
    assert np.array_equal(as_strided(slots, shape.dimensions, strides), elements(shape))


def packed(text: str, array: Array) -> Array:
    """Runs `linalg.pack` and `linalg.transpose` by their definitions."""
    for line in text.splitlines():
        said = {name: numbers(found) for name, found in re.findall(r"(\w+) = \[([\d, ]*)\]", line)}
        if "permutation" in said:
            array = array.transpose(said["permutation"])
        if "inner_tiles" not in said:
            continue
        where, tiles = said["inner_dims_pos"], said["inner_tiles"]
        for dim, tile in zip(where, tiles, strict=True):
            widths = [(0, -array.shape[dim] % tile if each == dim else 0) for each in range(array.ndim)]
            assert widths[dim][1] == 0 or "padding_value" in line
            array = np.pad(array, widths, constant_values=-1)
        outer = said.get("outer_dims_perm") or [*range(array.ndim)]
        # Each outer index gets the tile of the elements there.
        made = np.empty(
            [array.shape[dim] // dict(zip(where, tiles, strict=True)).get(dim, 1) for dim in outer] + tiles, array.dtype
        )
        for at in np.ndindex(*made.shape):
            source = dict(zip(outer, at, strict=False))
            for dim, tile, inner in zip(where, tiles, at[array.ndim :], strict=True):
                source[dim] = source[dim] * tile + inner
            made[at] = array[tuple(source[dim] for dim in range(array.ndim))]
        array = made
    return array.reshape(-1)


@given(tiled_shapes(largest=5))
def test_packs_make_the_physical_array(shape: ArrayShape) -> None:
    found = write(shape, "pack")
    if is_exact(found) and 0 not in shape.dimensions:
        assert np.array_equal(packed(found.text, elements(shape)), memory(shape))


@given(tiled_shapes(largest=6))
def test_einops_makes_the_physical_array(shape: ArrayShape) -> None:
    einops = pytest.importorskip("einops")
    found = write(shape, "einops")
    if not is_exact(found) or 0 in shape.dimensions:
        return
    padded = re.search(r"np\.pad\(x, \((.*?)\)\), '", found.text)
    array = elements(shape)
    if padded is not None:
        widths = numbers(padded[1])
        array = np.pad(array, [*zip(widths[::2], widths[1::2], strict=True)], constant_values=-1)
    pattern = re.search(r"'(.*)'", found.text)
    assert pattern is not None
    sizes = {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", found.text)}
    made = einops.rearrange(array, pattern[1], **sizes).reshape(-1)
    assert np.array_equal(np.pad(made, (0, memory(shape).size - made.size), constant_values=-1), memory(shape))


def test_layouts_of_jax_are_its_own() -> None:
    layouts = pytest.importorskip("jax.experimental.layout")
    for text in ("f32[3,5]{1,0:T(2,2)}", "bf16[30,200]{0,1:T(8,128)(2,1)}", "s4[3,5]{1,0:T(2,4)E(4)}", "f32[5]{0}"):
        shape = parse_array_shape(text)
        found = write(shape, "jax").text.partition(" ")[2]
        made = eval(found, {"Layout": layouts.Layout})  # a constructor that this test imports
        assert str(made._to_xla_layout(np.dtype(np.float32))) == str(shape.layout)  # noqa: SLF001


@pytest.mark.parametrize(
    ("text", "notation", "lost"),
    [
        ("f32[3,5]{1,0:T(2,2)}", "cute", ["padding: of [4,6] the elements are [3,5]"]),
        ("f32[3,5]{1,0:T(2,2)S(1)}", "memref", []),
        ("f32[4,6]{1,0:T(2,2)S(1)}", "cute", ["the memory space 1"]),
        ("f32[4,6]{1,0:T(2,2)L(64)}", "jax", ["an allocation of whole multiples of 64 elements"]),
        ("s4[4,6]{1,0:E(4)}", "cute", ["the packing: sizes count elements, which have 4 bits"]),
        ("s4[4,6]{1,0:E(4)}", "jax", []),
        (
            "f32[3,4]{1,0}",
            "linear",
            [
                "padding: of [4,4] the elements are [3,4]",
                "sizes that are no powers of two: each digit is rounded up, and strides with it",
            ],
        ),
        (
            "f32[2,3,5]{2,1,0:T(*,d,4)}",
            "memref",
            ["a tile over several dimensions (*): these are the steps"],
        ),
        ("f32[5,7]{1,0:T(8)}", "strides", ["padding after the last element: 39 of 40 slots"]),
    ],
)
def test_what_a_notation_cannot_say_is_named(text: str, notation: str, lost: list[str]) -> None:
    assert [*write(parse_array_shape(text), notation).lost] == lost


def test_arrays_without_a_size_are_errors() -> None:
    shape = parse_array_shape("f32[?,4]")
    for notation in NOTATIONS:
        with pytest.raises(ValueError, match="without a size"):
            explain_shape(shape).written(notation)


def test_a_tile_that_only_pads_is_read_back_or_an_error() -> None:
    shape = parse_array_shape("f32[2,2]{0,1:T(2)(2,1)}")
    for notation in ("pack", "jax", "steps"):
        again, _ = read_shape(write(shape, notation).text)
        assert isinstance(again, ArrayShape)
        assert np.array_equal(memory(again), memory(shape)), notation
    with pytest.raises(DiagnosticError, match="no layout of XLA was found"):
        read_shape(write(shape, "einops").text)


@settings(max_examples=40)
@given(tiled_shapes())
def test_written_layouts_are_read_back(shape: ArrayShape) -> None:
    """A layout that is written whole comes back as one with the same places."""
    if 0 in shape.dimensions or not shape.is_static:
        return
    for notation in NOTATIONS:
        found = write(shape, notation)
        if found.lost:
            continue
        try:
            again, _ = read_shape(found.text)
        except DiagnosticError:
            # Dimensions of size 1 that a tile pads.
            continue
        assert isinstance(again, ArrayShape)
        assert again.dimensions == shape.dimensions
        assert np.array_equal(memory(again), memory(shape)), found.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(3,5):(5,1)", "has no element type"),
        ("f32 (3,5):(5,0)", "no layout of XLA was found for (3,5):(5,0)"),
        ("f32 (3,5):(5)", "nested in different ways"),
        ("float32[3,5] strides=(20,3)", "3 bytes are no whole elements of 4"),
        ("float32[3,5] strides=(20,)", "2 dimensions have 1 strides"),
        ("memref<4x4xf32, strided<[4]>>", "2 dimensions have 1 strides"),
        ("memref<4x4xf32, affine_map<(d0, d1) -> (d0 + d1)>>", "d0 + d1 is no digit of a dimension"),
        (
            "memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>",
            "the digits of d0 leave a gap or overlap at 2",
        ),
        ("f32[4,6] rearrange(x, 'a b -> a c')", "the axes on both sides of -> are not the same"),
        ("f32[4,6] rearrange(x, '(a b) c -> a b c')", "needs the sizes of all its axes but one"),
        (
            "!ttg.memdesc<4x2xf32, #ttg.shared_linear<{offset = [[0, 1], [1, 1], [2, 0]]}, alignment = 16>>",
            "XLA has no swizzles: bit 1 of the index moves [1, 1]",
        ),
        ("linalg.pack %0 inner_dims_pos = [2] inner_tiles = [2] into %1 : tensor<4x4xf32> -> tensor<4x2x2xf32>", "fit"),
    ],
)
def test_layouts_that_xla_does_not_have_are_errors(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=re.escape(message)):
        read_shape(text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("bf16 ((2,4,2),(128,2)):((1,256,2048),(2,1024))", "bf16[16,256]{1,0:T(8,128)(2,1)}"),
        ("f32 (_3,_5):(_1,_3)", "f32[3,5]{0,1}"),
        ("memref<4x6xi32, strided<[1, 4], offset: 0>, 1 : i64>", "s32[4,6]{0,1:S(1)}"),
        (
            "tensor<30x200xbf16, #iree_encoding.layout<[#iree_cpu.x<configuration = {encoding_info = "
            "{innerDimsPos = [0, 1], innerTileSizes = [8, 128], outerDimsPerm = [0, 1]}}>]>>",
            "bf16[30,200]{1,0:T(8,128)}",
        ),
        ("f32[3,5] -> pad[0_1x0_1] -> reshape[2,2,3,2] -> transpose{0,2,1,3}", "f32[3,5]{1,0:T(2,2)}"),
    ],
)
def test_other_spellings_are_read(text: str, shape: str) -> None:
    assert str(read_shape(text)[0]) == str(parse_shape(shape))


def test_the_help_names_each_notation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--help"]) == 0
    assert set(NOTATIONS) <= set(re.findall(r"\w+", capsys.readouterr().out))
