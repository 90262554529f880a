"""Small random StableHLO programs of every operation and element type, and how closely engines must agree on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import ml_dtypes
import numpy as np

from dialect_utils.execution import Array, Engine, from_bits
from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of

FLOATS = ("f32", "f64", "f16", "bf16", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz")
WIDE_FLOATS = ("f32", "f64", "f16", "bf16")
INTEGERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "s4", "u4")
COMPLEX = ("c64", "c128")
NUMBERS = ("f32", "f64", "f16", "bf16", "s32", "u8", "s64")

_UNARY_FLOAT = "abs ceil floor negate round_nearest_afz round_nearest_even sign sqrt"
_UNARY_INTEGER = "abs count_leading_zeros negate not popcnt sign"
_FUNCTIONS = "cbrt cosine exponential exponential_minus_one log log_plus_one rsqrt sine tan tanh".split()  # noqa: SIM905
_CHLO = "acos acosh asin asinh atan atanh cosh erf erf_inv erfc digamma lgamma sinh bessel_i1e".split()  # noqa: SIM905
_BINARY_FLOAT = "add subtract multiply divide maximum minimum remainder"
_BINARY_INTEGER = (
    "add subtract multiply maximum minimum and or xor shift_left shift_right_arithmetic shift_right_logical"
)
_UNSIGNED_LACK = ("abs", "negate", "sign")
# XLA:CPU counts the bits of a byte.
_NARROW_LACK = ("popcnt",)
_COMPARED = ("EQ", "NE", "LT", "LE", "GT", "GE")


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its inputs, and for each result the tolerance: 0 for equal bits, else units in the last place.

    `is_sum` allows a difference in the order of summation instead. Numbers below `floor` have its
    units. `engines` are those that execute the program as specified.
    """

    name: str
    text: str
    inputs: tuple[Array, ...]
    ulp: float = 0
    is_sum: bool = False
    floor: float = 0
    engines: tuple[Engine, ...] = ("xla", "interpreter")


def mlir_type(kind: str, sizes: Sequence[int] = ()) -> str:
    """Returns a tensor type: `tensor<2x3xf8E4M3FN>`."""
    element = {"pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>", "bf16": "bf16"}.get(kind)
    if element is None and kind[0] == "f":
        element = kind if kind[1:].isdigit() else kind[:2] + kind[2:].upper()
    element = element or kind.replace("s", "i", 1).replace("u", "ui", 1)
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def values(random: np.random.Generator, kind: ElementType, sizes: Sequence[int], special: float = 0.2) -> Array:
    """Returns random elements; some are zeros, infinities, NaN or the largest numbers."""
    count = prod(sizes)
    if kind.name == "pred":
        return random.integers(0, 2, sizes).astype(np.bool_)
    if kind.is_complex:
        part = ELEMENT_TYPES["f32" if kind.bits == 64 else "f64"]
        halves = [values(random, part, sizes, special) for _ in range(2)]
        found = np.empty(sizes, dtype_of(kind))
        found.real, found.imag = halves
        return found
    if kind.is_integral:
        bits = random.integers(0, 1 << min(kind.bits, 63), count, dtype=np.uint64)
        small = random.integers(0, 4, count).astype(np.uint64)
        chosen = np.where(random.random(count) < 0.5, bits, small - np.uint64(1))
        mask = np.uint64((1 << kind.bits) - 1)
        return from_bits((chosen & mask).astype(f"u{kind.storage_bytes}").reshape(sizes), kind)
    normal = (random.standard_normal(count) * random.choice([0.5, 2, 8], count)).astype(np.float64)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 2.5, -3.5])
    picked = np.where(random.random(count) < special, random.choice(edges, count), normal)
    with np.errstate(all="ignore"):
        return picked.astype(dtype_of(kind)).reshape(sizes)


def module(arguments: Sequence[str], lines: Sequence[str], results: Sequence[tuple[str, str]]) -> str:
    """Returns a StableHLO module whose main takes %a0, %a1, ... of these types."""
    inside = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(arguments))
    names, kinds = ", ".join(name for name, _ in results), ", ".join(kind for _, kind in results)
    body = "\n    ".join([*lines, f"return {names} : {kinds}"])
    return f"module {{\n  func.func @main({inside}) -> ({kinds}) {{\n    {body}\n  }}\n}}\n"


def _generic(name: str, operands: Sequence[str], given: Sequence[str], result: str, attributes: str = "") -> str:
    full = name if "." in name else f"stablehlo.{name}"
    written = f" {{{attributes}}}" if attributes else ""
    return f'"{full}"({", ".join(operands)}){written} : ({", ".join(given)}) -> {result}'


def _each(names: Sequence[str], kind: str, arity: int, result: str | None = None) -> str:
    shape = mlir_type(kind, (24,))
    out = result or shape
    operands = [f"%a{i}" for i in range(arity)]
    lines = [f"%r{i} = {_generic(name, operands, [shape] * arity, out)}" for i, name in enumerate(names)]
    return module([shape] * arity, lines, [(f"%r{i}", out) for i in range(len(names))])


def elementwise(random: np.random.Generator) -> Iterator[Case]:
    """Yields each elementwise operation of each element type."""

    def draw(kind: str, count: int) -> tuple[Array, ...]:
        return tuple(values(random, ELEMENT_TYPES[kind], (24,)) for _ in range(count))

    for kind in FLOATS:
        yield Case(f"unary {kind}", _each(_UNARY_FLOAT.split(), kind, 1), draw(kind, 1))
        yield Case(f"is_finite {kind}", _each(["is_finite"], kind, 1, mlir_type("pred", (24,))), draw(kind, 1))
        yield Case(f"binary {kind}", _each(_BINARY_FLOAT.split(), kind, 2), draw(kind, 2))
        ulp = {"f32": 16, "f64": 64}.get(kind, 1)
        yield Case(f"functions {kind}", _each(_FUNCTIONS, kind, 1), draw(kind, 1), ulp)
        yield Case(f"power {kind}", _each(["power", "atan2"], kind, 2), draw(kind, 2), ulp)
    for kind in WIDE_FLOATS:
        ulp = {"f32": 1 << 9, "f64": 1 << 20}.get(kind, 1 << 4)
        for name in _CHLO:
            (operand,) = draw(kind, 1)
            # Versions of jaxlib differ at the pole (docs/semantics.md).
            operand = np.where((operand == 0) & (name == "digamma"), np.ones_like(operand), operand)
            yield Case(f"chlo.{name} {kind}", _each([f"chlo.{name}"], kind, 1), (operand,), ulp, floor=0.1)
        yield Case(f"logistic {kind}", _each(["logistic"], kind, 1), draw(kind, 1), 16)
        yield Case(f"next_after {kind}", _each(["chlo.next_after"], kind, 2), draw(kind, 2))
    for kind in INTEGERS:
        names = [name for name in _UNARY_INTEGER.split() if kind[0] == "s" or name not in _UNSIGNED_LACK]
        names = [name for name in names if kind not in ("s4", "u4") or name not in _NARROW_LACK]
        left, right = draw(kind, 2)
        yield Case(f"unary {kind}", _each(names, kind, 1), (left,))
        yield Case(f"binary {kind}", _each(_BINARY_INTEGER.split(), kind, 2), (left, right))
        quotients = _each(["divide", "remainder"], kind, 2)
        # Division by zero ends the interpreter.
        yield Case(f"division {kind}", quotients, (left, right), engines=("xla",))
        yield Case(
            f"division {kind} without zero", quotients, (left, np.where(right < 1, 3, right).astype(right.dtype))
        )
        # XLA:CPU reads 6 bits of an exponent.
        exponent = np.where((right < 0) | (right > 63), 5, right).astype(right.dtype)
        yield Case(f"power {kind}", _each(["power"], kind, 2), (left, exponent))
    for kind in COMPLEX:
        yield Case(f"binary {kind}", _each(["add", "subtract"], kind, 2), draw(kind, 2))
        finite = tuple(values(random, ELEMENT_TYPES[kind], (24,), 0) for _ in range(2))
        yield Case(f"products {kind}", _each(["multiply", "divide", "power"], kind, 2), finite, is_sum=True)
        functions = "negate exponential log sqrt rsqrt sine cosine tanh exponential_minus_one log_plus_one sign"
        yield Case(f"functions {kind}", _each(functions.split(), kind, 1), finite[:1], is_sum=True)
        part = mlir_type("f32" if kind == "c64" else "f64", (24,))
        yield Case(f"parts {kind}", _each(["real", "imag"], kind, 1, part), draw(kind, 1))
        yield Case(f"abs {kind}", _each(["abs"], kind, 1, part), finite[:1], 4)
    yield Case(
        "logic", _each(["and", "or", "xor", "add", "multiply", "maximum", "minimum"], "pred", 2), draw("pred", 2)
    )
    yield Case("not", _each(["not"], "pred", 1), draw("pred", 1))


def comparisons(random: np.random.Generator) -> Iterator[Case]:
    """Yields comparisons, selections, clamps, conversions and reduced precisions of each element type."""
    size, truth = (24,), mlir_type("pred", (24,))
    for kind in (*FLOATS, *INTEGERS, "pred"):
        shape = mlir_type(kind, size)
        drawn = tuple(values(random, ELEMENT_TYPES[kind], size) for _ in range(3))
        # The one NaN of an fnuz type is negative by its bits, but not in XLA.
        orders = ["FLOAT"] if kind.endswith("fnuz") else ["FLOAT", "TOTALORDER"]
        types = orders if kind in FLOATS else ["SIGNED" if kind[0] == "s" else "UNSIGNED"]
        lines = [
            f"%r{i} = stablehlo.compare {direction}, %a0, %a1, {order} : ({shape}, {shape}) -> {truth}"
            for i, (direction, order) in enumerate((d, o) for d in _COMPARED for o in types)
        ]
        text = module([shape] * 2, lines, [(f"%r{i}", truth) for i in range(len(lines))])
        yield Case(f"compare {kind}", text, drawn[:2])
        lines = [
            f"%p = stablehlo.compare EQ, %a0, %a1 : ({shape}, {shape}) -> {truth}",
            f"%r0 = stablehlo.select %p, %a1, %a2 : {truth}, {shape}",
        ]
        yield Case(f"select {kind}", module([shape] * 3, lines, [("%r0", shape)]), drawn)
        if kind != "pred":
            lines = [f"%r0 = stablehlo.clamp %a0, %a1, %a2 : {shape}"]
            yield Case(f"clamp {kind}", module([shape] * 3, lines, [("%r0", shape)]), drawn)
    everything = (*FLOATS, *INTEGERS, "pred", *COMPLEX)
    for kind in everything:
        targets = [
            target for target in everything if target != kind and not (kind in COMPLEX and target not in COMPLEX)
        ]
        for group in (targets[i : i + 8] for i in range(0, len(targets), 8)):
            shape, outs = mlir_type(kind, size), [mlir_type(target, size) for target in group]
            lines = [f"%r{i} = stablehlo.convert %a0 : ({shape}) -> {out}" for i, out in enumerate(outs)]
            text = module([shape], lines, [(f"%r{i}", out) for i, out in enumerate(outs)])
            yield Case(f"convert {kind} to {' '.join(group)}", text, (values(random, ELEMENT_TYPES[kind], size),))
    for kind in WIDE_FLOATS:
        shape, exponent = mlir_type(kind, size), int(random.integers(2, 6))
        mantissa = int(random.integers(1, 9))
        lines = [f"%r0 = stablehlo.reduce_precision %a0, format = e{exponent}m{mantissa} : {shape}"]
        text = module([shape], lines, [("%r0", shape)])
        yield Case(f"reduce_precision {kind}", text, (values(random, ELEMENT_TYPES[kind], size),))


def movement(random: np.random.Generator) -> Iterator[Case]:
    """Yields data movement at fixed and computed positions, of each element type."""
    for kind in (*FLOATS, *INTEGERS, "pred", *COMPLEX):
        sizes = tuple(int(size) for size in random.integers(1, 5, 3))
        array = values(random, ELEMENT_TYPES[kind], sizes)
        shape, scalar = mlir_type(kind, sizes), mlir_type(kind)
        order = [int(i) for i in random.permutation(3)]
        turned = mlir_type(kind, [sizes[i] for i in order])
        low, high, gap = ([int(i) for i in random.integers(*bounds, 3)] for bounds in ((-1, 3), (0, 3), (0, 3)))
        padded = [a + size + (size - 1) * g + b for a, size, g, b in zip(low, sizes, gap, high, strict=True)]
        start = [int(random.integers(0, size)) for size in sizes]
        strides = [int(i) for i in random.integers(1, 3, 3)]
        cut = [-(-(size - begin) // step) for size, begin, step in zip(sizes, start, strides, strict=True)]
        bounds = [f"{a}:{b}:{c}" for a, b, c in zip(start, sizes, strides, strict=True)]
        spread = (2, *sizes)
        lines = [
            f"%r0 = stablehlo.transpose %a0, dims = {order} : ({shape}) -> {turned}",
            f"%r1 = stablehlo.reshape %a0 : ({shape}) -> {mlir_type(kind, [prod(sizes)])}",
            f"%r2 = stablehlo.pad %a0, %a1, low = {low}, high = {high}, interior = {gap} : ({shape}, {scalar}) -> "
            f"{mlir_type(kind, padded)}",
            f"%r3 = stablehlo.slice %a0 [{', '.join(bounds)}] : ({shape}) -> {mlir_type(kind, cut)}",
            f"%r4 = stablehlo.reverse %a0, dims = [0, 2] : {shape}",
            f"%r5 = stablehlo.concatenate %a0, %a0, dim = 1 : ({shape}, {shape}) -> "
            f"{mlir_type(kind, (sizes[0], 2 * sizes[1], sizes[2]))}",
            f"%r6 = stablehlo.broadcast_in_dim %a0, dims = [1, 2, 3] : ({shape}) -> {mlir_type(kind, spread)}",
            f"%r7 = stablehlo.dynamic_slice %a0, %a2, %a3, %a2, sizes = [1, 1, 1] : "
            f"({shape}, tensor<i32>, tensor<i32>, tensor<i32>) -> {mlir_type(kind, (1, 1, 1))}",
            f"%r8 = stablehlo.dynamic_update_slice %a0, %r7, %a3, %a2, %a3 : "
            f"({shape}, {mlir_type(kind, (1, 1, 1))}, tensor<i32>, tensor<i32>, tensor<i32>) -> {shape}",
        ]
        kinds = [turned, mlir_type(kind, [prod(sizes)]), mlir_type(kind, padded), mlir_type(kind, cut), shape]
        kinds += [mlir_type(kind, (sizes[0], 2 * sizes[1], sizes[2])), mlir_type(kind, spread)]
        kinds += [mlir_type(kind, (1, 1, 1)), shape]
        index = tuple(np.array(int(i), np.int32) for i in random.integers(-2, 6, 2))
        inputs = (array, values(random, ELEMENT_TYPES[kind], ()), *index)
        arguments = [shape, scalar, "tensor<i32>", "tensor<i32>"]
        # XLA requires no negative interior padding; edges may be negative.
        if min(padded) > 0:
            results = [(f"%r{i}", each) for i, each in enumerate(kinds)]
            yield Case(f"movement {kind}", module(arguments, lines, results), inputs)
    for kind in (*INTEGERS, "f32", "f16", "bf16", "c64"):
        shape = mlir_type(kind, (3, 4))
        lines = [f"%r{i} = stablehlo.iota dim = {i} : {shape}" for i in range(2)]
        yield Case(f"iota {kind}", module([], lines, [("%r0", shape), ("%r1", shape)]), ())
    for kind, other in (("f32", "u8"), ("u8", "f32"), ("f64", "s32"), ("s16", "u4"), ("bf16", "u16"), ("u4", "s8")):
        a, b = ELEMENT_TYPES[kind].bits, ELEMENT_TYPES[other].bits
        sizes = (3, b // a) if b > a else (3,)
        found = (3,) if b > a else (3, a // b) if a > b else (3,)
        shape, out = mlir_type(kind, sizes), mlir_type(other, found)
        lines = [f"%r0 = stablehlo.bitcast_convert %a0 : ({shape}) -> {out}"]
        text = module([shape], lines, [("%r0", out)])
        yield Case(f"bitcast {kind} {other}", text, (values(random, ELEMENT_TYPES[kind], sizes),))


def indexed(random: np.random.Generator) -> Iterator[Case]:
    """Yields gathers and scatters; no scatter has a window that is partly outside."""
    for kind in ("f32", "s32", "u8", "bf16", "pred", "c64"):
        sizes = tuple(int(i) for i in random.integers(3, 6, 2))
        array = values(random, ELEMENT_TYPES[kind], sizes)
        index = random.integers(-1, 7, (4, 1)).astype(np.int32)
        shape, result = mlir_type(kind, sizes), mlir_type(kind, (4, sizes[1]))
        line = (
            f'%r0 = "stablehlo.gather"(%a0, %a1) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
            f"collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
            f"{sizes[1]}>, indices_are_sorted = false}} : ({shape}, tensor<4x1xi32>) -> {result}"
        )
        text = module([shape, "tensor<4x1xi32>"], [line], [("%r0", result)])
        yield Case(f"gather {kind}", text, (array, index))
        scalar, name = mlir_type(kind), random.choice(["add", "maximum", "minimum"] if kind != "c64" else ["add"])
        lines = [
            '%r0 = "stablehlo.scatter"(%a0, %a1, %a2) ({',
            f"^bb0(%x: {scalar}, %y: {scalar}):",
            f"  %s = stablehlo.{name} %x, %y : {scalar}",
            f"  stablehlo.return %s : {scalar}",
            "}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = "
            f"false}} : ({shape}, tensor<4x1xi32>, {result}) -> {shape}",
        ]
        text = module([shape, "tensor<4x1xi32>", result], lines, [("%r0", shape)])
        updates = values(random, ELEMENT_TYPES[kind], (4, sizes[1]), 0)
        plain = values(random, ELEMENT_TYPES[kind], sizes, 0)
        yield Case(f"scatter {name} {kind}", text, (plain, index, updates), is_sum=True)


def combined(random: np.random.Generator) -> Iterator[Case]:
    """Yields reductions, windows, sorts and scans over a body of one operation."""
    for kind in (*NUMBERS, "u32", "s8"):
        element, sizes = ELEMENT_TYPES[kind], (4, 5)
        shape, scalar, kept = mlir_type(kind, sizes), mlir_type(kind), mlir_type(kind, (4,))
        array, initial = values(random, element, sizes, 0), values(random, element, (), 0)
        name = str(random.choice(["add", "multiply", "maximum", "minimum"]))
        line = f"%r0 = stablehlo.reduce(%a0 init: %a1) applies stablehlo.{name} across dimensions = [1] : "
        text = module([shape, scalar], [line + f"({shape}, {scalar}) -> {kept}"], [("%r0", kept)])
        yield Case(f"reduce {name} {kind}", text, (array, initial), is_sum=True)
        body = [f"^bb0(%x: {scalar}, %y: {scalar}):", f"  %s = stablehlo.{name} %x, %y : {scalar}"]
        low, high = (int(i) for i in random.integers(0, 2, 2))
        stride, dilation = (int(i) for i in random.integers(1, 3, 2))
        count = (low + 5 + high - 1 - dilation) // stride + 1
        neutral = {"add": 0, "multiply": 1}.get(name)
        start = np.array(neutral).astype(dtype_of(element)) if neutral is not None else array.min()
        result = mlir_type(kind, (4, count))
        lines = [
            '%r0 = "stablehlo.reduce_window"(%a0, %a1) ({',
            *body,
            f"  stablehlo.return %s : {scalar}",
            f"}}) {{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, {stride}>, "
            f"window_dilations = array<i64: 1, {dilation}>, padding = dense<[[0, 0], [{low}, {high}]]> : "
            f"tensor<2x2xi64>}} : ({shape}, {scalar}) -> {result}",
        ]
        text = module([shape, scalar], lines, [("%r0", result)])
        yield Case(f"reduce_window {name} {kind}", text, (array, np.asarray(start)), is_sum=True)
        yield _selected(random, kind)
        yield _sorted(random, kind)
    yield from _functions(random)


def _selected(random: np.random.Generator, kind: str) -> Case:
    element = ELEMENT_TYPES[kind]
    shape, scalar, source = mlir_type(kind, (4, 6)), mlir_type(kind), mlir_type(kind, (2, 3))
    lines = [
        '%r0 = "stablehlo.select_and_scatter"(%a0, %a1, %a2) ({',
        f"^bb0(%x: {scalar}, %y: {scalar}):",
        f"  %s = stablehlo.compare GE, %x, %y : ({scalar}, {scalar}) -> tensor<i1>",
        "  stablehlo.return %s : tensor<i1>",
        "}, {",
        f"^bb0(%x: {scalar}, %y: {scalar}):",
        f"  %s = stablehlo.add %x, %y : {scalar}",
        f"  stablehlo.return %s : {scalar}",
        "}) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : "
        f"({shape}, {source}, {scalar}) -> {shape}",
    ]
    text = module([shape, source, scalar], lines, [("%r0", shape)])
    zero = np.zeros((), dtype_of(element))
    inputs = (values(random, element, (4, 6), 0), values(random, element, (2, 3), 0), zero)
    return Case(f"select_and_scatter {kind}", text, inputs)


def _sorted(random: np.random.Generator, kind: str) -> Case:
    shape, scalar, index = mlir_type(kind, (3, 7)), mlir_type(kind), mlir_type("s32", (3, 7))
    order = ", TOTALORDER" if kind in FLOATS else ""
    lines = [
        f"%i = stablehlo.iota dim = 1 : {index}",
        '%r:2 = "stablehlo.sort"(%a0, %i) ({',
        f"^bb0(%x: {scalar}, %y: {scalar}, %p: tensor<i32>, %q: tensor<i32>):",
        f"  %s = stablehlo.compare LT, %x, %y{order} : ({scalar}, {scalar}) -> tensor<i1>",
        "  stablehlo.return %s : tensor<i1>",
        f"}}) {{dimension = 1 : i64, is_stable = true}} : ({shape}, {index}) -> ({shape}, {index})",
    ]
    text = module([shape], lines, [("%r#0", shape), ("%r#1", index)])
    return Case(f"sort {kind}", text, (values(random, ELEMENT_TYPES[kind], (3, 7)),))


def _functions(random: np.random.Generator) -> Iterator[Case]:
    """Yields loops, branches and random bits."""
    lines = [
        "%c = stablehlo.constant dense<1> : tensor<i32>",
        "%r:2 = stablehlo.while(%i = %a0, %x = %a1) : tensor<i32>, tensor<4xf32>",
        " cond {",
        "  %z = stablehlo.constant dense<9> : tensor<i32>",
        "  %p = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "  stablehlo.return %p : tensor<i1>",
        "} do {",
        "  %j = stablehlo.add %i, %c : tensor<i32>",
        "  %y = stablehlo.add %x, %x : tensor<4xf32>",
        "  stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>",
        "}",
        '%s = "stablehlo.case"(%a0) ({',
        "  stablehlo.return %a1 : tensor<4xf32>",
        "}, {",
        "  %n = stablehlo.negate %a1 : tensor<4xf32>",
        "  stablehlo.return %n : tensor<4xf32>",
        "}) : (tensor<i32>) -> tensor<4xf32>",
    ]
    results = [("%r#0", "tensor<i32>"), ("%r#1", "tensor<4xf32>"), ("%s", "tensor<4xf32>")]
    text = module(["tensor<i32>", "tensor<4xf32>"], lines, results)
    start = np.array(int(random.integers(-2, 6)), np.int32)
    yield Case("loop and branch", text, (start, values(random, ELEMENT_TYPES["f32"], (4,))))
    for algorithm, words in (("THREE_FRY", 2), ("PHILOX", 3), ("PHILOX", 2)):
        for kind in ("u32", "u64", "u16", "u8"):
            sizes = [int(i) for i in random.integers(1, 6, int(random.integers(0, 3)))]
            state, out = mlir_type("u64", (words,)), mlir_type(kind, sizes)
            drawn = f"stablehlo.rng_bit_generator %a0, algorithm = {algorithm} : ({state}) -> ({state}, {out})"
            text = module([state], [f"%r0, %r1 = {drawn}"], [("%r0", state), ("%r1", out)])
            seed = random.integers(0, 1 << 63, words, dtype=np.uint64)
            yield Case(f"{algorithm} {words} {kind}", text, (seed,), engines=("xla",))


def contracted(random: np.random.Generator) -> Iterator[Case]:
    """Yields dots, convolutions, transforms and decompositions."""
    for kind in (*NUMBERS, "c64", "s8"):
        element = ELEMENT_TYPES[kind]
        batch, rows, summed, columns = (int(i) for i in random.integers(1, 5, 4))
        left, right = mlir_type(kind, (batch, rows, summed)), mlir_type(kind, (summed, batch, columns))
        out = mlir_type(kind, (batch, rows, columns))
        line = (
            f"%r0 = stablehlo.dot_general %a0, %a1, batching_dims = [0] x [1], contracting_dims = [2] x [0] : "
            f"({left}, {right}) -> {out}"
        )
        drawn = (
            values(random, element, (batch, rows, summed), 0),
            values(random, element, (summed, batch, columns), 0),
        )
        yield Case(f"dot {kind}", module([left, right], [line], [("%r0", out)]), drawn, is_sum=True)
        if kind != "c64":
            yield _convolution(random, kind)
    for kind in ("c64", "c128"):
        shape = mlir_type(kind, (3, 6))
        line = f"%r0 = stablehlo.fft %a0, type = {random.choice(['FFT', 'IFFT'])}, length = [6] : ({shape}) -> {shape}"
        operand = values(random, ELEMENT_TYPES[kind], (3, 6), 0)
        yield Case(f"fft {kind}", module([shape], [line], [("%r0", shape)]), (operand,), is_sum=True, engines=("xla",))
    for kind in ("f32", "f64"):
        yield from _decomposed(random, kind)


def _convolution(random: np.random.Generator, kind: str) -> Case:
    element, groups = ELEMENT_TYPES[kind], int(random.integers(1, 3))
    by_batch = int(random.integers(0, 2)) if groups > 1 else 0
    features = (1, groups) if by_batch else (groups, 1)
    inputs = (2, 4, 2 * features[0]), (3, 2, 2 * groups)
    stride, lhs, rhs, low, high = (int(random.integers(*b)) for b in ((1, 3), (1, 3), (1, 3), (-1, 3), (0, 3)))
    count = (low + 3 * lhs + 1 + high - (2 * rhs + 1)) // stride + 1
    if count < 1:
        low, high, count = 3, 3, (6 + 3 * lhs + 1 - (2 * rhs + 1)) // stride + 1
    sizes = (2 // features[1], count, 2 * groups)
    left, right, out = (mlir_type(kind, each) for each in (*inputs, sizes))
    line = (
        "%r0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
        f"window = {{stride = [{stride}], pad = [[{low}, {high}]], lhs_dilate = [{lhs}], rhs_dilate = [{rhs}], "
        f"reverse = [{str(bool(random.integers(0, 2))).lower()}]}} {{batch_group_count = {features[1]} : i64, "
        f"feature_group_count = {features[0]} : i64}} : ({left}, {right}) -> {out}"
    )
    drawn = tuple(values(random, element, each, 0) for each in inputs)
    return Case(f"convolution {kind}", module([left, right], [line], [("%r0", out)]), drawn, is_sum=True)


def _decomposed(random: np.random.Generator, kind: str) -> Iterator[Case]:
    element, shape = ELEMENT_TYPES[kind], mlir_type(kind, (2, 3, 3))
    root = values(random, element, (2, 3, 3), 0)
    positive = (root @ root.transpose(0, 2, 1) + 3 * np.eye(3)).astype(root.dtype)
    lower = bool(random.integers(0, 2))
    line = f"%r0 = stablehlo.cholesky %a0, lower = {str(lower).lower()} : {shape}"
    # The other triangle is the engine's choice.
    mask = np.tril(np.ones((3, 3), np.bool_)) if lower else np.triu(np.ones((3, 3), np.bool_))
    keep = f"%m = stablehlo.multiply %r0, %a1 : {shape}"
    text = module([shape, shape], [line, keep], [("%m", shape)])
    inputs = (positive, np.broadcast_to(mask, (2, 3, 3)).astype(root.dtype))
    yield Case(f"cholesky {kind}", text, inputs, is_sum=True, engines=("xla",))
    flags = [str(bool(flag)).lower() for flag in random.integers(0, 2, 3)]
    turn = str(random.choice(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]))
    right = mlir_type(kind, (2, 3, 2) if flags[0] == "true" else (2, 2, 3))
    attributes = (
        f"left_side = {flags[0]}, lower = {flags[1]}, unit_diagonal = {flags[2]}, "
        f"transpose_a = #stablehlo<transpose {turn}>"
    )
    line = f"%r0 = {_generic('triangular_solve', ['%a0', '%a1'], [shape, right], right, attributes)}"
    given = values(random, element, (2, 3, 2) if flags[0] == "true" else (2, 2, 3), 0)
    text = module([shape, right], [line], [("%r0", right)])
    yield Case(f"triangular_solve {kind}", text, (positive, given), is_sum=True, engines=("xla",))


FAMILIES: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "elementwise": elementwise,
    "comparisons": comparisons,
    "movement": movement,
    "indexed": indexed,
    "combined": combined,
    "contracted": contracted,
}


def cases(seed: int, family: str) -> Iterator[Case]:
    """Yields the cases of a family, drawn from a seed."""
    yield from FAMILIES[family](np.random.default_rng(seed))


def far(case: Case, actual: Array, expected: Array) -> Array:
    """Returns a mask of the elements in which two engines must not differ, but do."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return np.ones(1, np.bool_)
    if actual.dtype.kind in "iub" or "int" in actual.dtype.name:
        return np.not_equal(actual, expected)
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    info = ml_dtypes.finfo(actual.real.dtype)
    with np.errstate(all="ignore"):
        x, y = actual.astype(wide), expected.astype(wide)
        size = np.maximum(np.abs(x), np.abs(y))
        largest = np.max(size[np.isfinite(size)], initial=0)
        allowed = (
            64 * float(info.eps) * largest if case.is_sum else case.ulp * float(info.eps) * np.maximum(size, case.floor)
        )
        is_near = np.abs(x - y) <= allowed
    # XLA takes subnormal numbers for zeros, and the sign of a rounded zero does not count.
    is_tiny = size < float(info.smallest_normal)
    is_equal = (x == y) & ((np.signbit(x.real) == np.signbit(y.real)) | case.is_sum | (case.ulp > 0))
    is_rounded = is_near & np.isfinite(size) & (case.is_sum or case.ulp > 0)
    near: Array = is_equal | is_rounded | (is_tiny & (size > 0)) | (np.isnan(x) & np.isnan(y))
    return ~near
