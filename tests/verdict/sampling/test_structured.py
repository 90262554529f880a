"""Rows, columns and arrays of one magnitude, and pairs of rare values: each program has a planted error."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import Array, Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.sampling import DataSet, array_demands, data_sets
from dialect_utils.verdict.sampling.structured import Scaling, magnitudes, paired, prime_above

XLA = Options(engines=("xla",), power=0)
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
# A Euclidean norm of the rows or columns of a narrow array, computed in f32.
NORM = """ENTRY e {
 x = TYPE[12,20] parameter(0)
 w = f32[12,20] convert(x)
 q = f32[12,20] multiply(w, w)
 z = f32[] constant(0)
 s = f32[SIZE] reduce(q, z), dimensions={REDUCED}, to_apply=add
 k = f32[] constant(EPSILON)
 kb = f32[SIZE] broadcast(k), dimensions={}
 t = f32[SIZE] add(s, kb)
 r = f32[SIZE] rsqrt(t)
 rb = f32[12,20] broadcast(r), dimensions={KEPT}
 y = f32[12,20] multiply(w, rb)
 ROOT n = TYPE[12,20] convert(y)
}
"""
# The mean magnitude of a whole array, below which nothing is divided by less than epsilon.
MEAN = """ENTRY e {
 x = TYPE[12,20] parameter(0)
 w = f32[12,20] convert(x)
 q = f32[12,20] abs(w)
 z = f32[] constant(0)
 s = f32[] reduce(q, z), dimensions={0,1}, to_apply=add
 k = f32[] constant(EPSILON)
 t = f32[] maximum(s, k)
 tb = f32[12,20] broadcast(t), dimensions={}
 y = f32[12,20] divide(w, tb)
 ROOT n = TYPE[12,20] convert(y)
}
"""
ROWS, COLUMNS = {"SIZE": "12", "REDUCED": "1", "KEPT": "0"}, {"SIZE": "20", "REDUCED": "0", "KEPT": "1"}
PROGRAMS = {"rows": (NORM, ROWS), "columns": (NORM, COLUMNS), "a whole array": (MEAN, {})}


def program(text: str, kind: str, epsilon: str, words: dict[str, str]) -> Module:
    for name, value in {**words, "TYPE": kind, "EPSILON": epsilon}.items():
        text = text.replace(name, value)
    return parse_bytes(f"HloModule m\n{ADD}{text}".encode(), "m")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    ("kind", "epsilon", "other"),
    [("f32", "3e-6", "7e-5"), ("bf16", "3e-6", "7e-5"), ("bf16", "2e-4", "0"), ("f16", "5e-4", "7e-3")],
)
def test_another_epsilon_is_seen(worker: Worker, name: str, kind: str, epsilon: str, other: str) -> None:
    text, words = PROGRAMS[name]
    original = program(text, kind, epsilon, words)
    assert compare_modules(original, program(text, kind, epsilon, words), XLA, worker).verdict == "agrees"
    assert compare_modules(original, program(text, kind, other, words), XLA, worker).verdict == "different"


def test_rows_columns_and_arrays_have_one_magnitude() -> None:
    values = np.random.default_rng(1).uniform(1, 2, (8, 6)).astype(np.float32)

    def scaled(run: int) -> Array:
        made: Array = np.abs(Scaling(values, [1e-8], [], run, 0).scaled(np.random.default_rng(2)))
        return made

    for run, axis in ((0, 1), (2, 0)):
        made = scaled(run)
        assert made.shape == values.shape
        smallest, largest = made.min(axis=axis), made.max(axis=axis)
        assert (largest <= 2.01 * smallest).all()
        assert (largest == smallest).any()
        assert (largest == 0).any() == (run == 0)
        assert largest.min() < 1e-2 < 1 < largest.max()
    small, constant = scaled(3), scaled(5)
    assert small.max() < 1e-3
    assert small.std() > 0
    assert (constant == constant[0, 0]).all()


def test_magnitudes_are_roots_of_constants_that_the_type_holds() -> None:
    found = magnitudes([0.0, 1e-8, 64.0], [], np.finfo(np.float32), 4)
    assert found[:4] == pytest.approx([1e-4, 2.5e-9, 5e-5, 1e-8])
    assert 1e-8 not in magnitudes([1e-8], [], np.finfo(np.float16), 4)


@pytest.mark.parametrize("size", [1, 4, 7, 30])
def test_two_arrays_hold_all_pairs(size: int) -> None:
    pool, seen = np.array([11, 22, 33, 44], np.int32), set()
    rng, fill = np.random.default_rng(0), np.zeros(size, np.int32)
    for run in range(0, 2 * -(-(prime_above(4) ** 2) // size), 2):
        first, last = (paired(rng, fill, pool, run, position) for position in (0, 1))
        seen |= set(zip(first.tolist(), last.tolist(), strict=True))
    assert {(a, b) for a in pool.tolist() for b in pool.tolist()} <= seen


RARE = """func.func @main(%a: tensor<6xKIND>, %b: tensor<6xKIND>) -> tensor<6xKIND> {
  %k = stablehlo.constant dense<FIRST> : tensor<6xKIND>
  %l = stablehlo.constant dense<SECOND> : tensor<6xKIND>
  %p = stablehlo.compare EQ, %a, %k : (tensor<6xKIND>, tensor<6xKIND>) -> tensor<6xi1>
  %q = stablehlo.compare EQ, %b, %l : (tensor<6xKIND>, tensor<6xKIND>) -> tensor<6xi1>
  %g = stablehlo.and %p, %q : tensor<6xi1>
  %s = stablehlo.subtract %a, %b : tensor<6xKIND>
  %r = stablehlo.select %g, %OTHER, %s : tensor<6xi1>, tensor<6xKIND>
  return %r : tensor<6xKIND>
}
"""


@pytest.mark.parametrize(("kind", "first", "second"), [("i32", "918273", "-645546"), ("f32", "0.3137", "51.625")])
def test_a_pair_of_rare_values_is_seen(worker: Worker, kind: str, first: str, second: str) -> None:
    text = RARE.replace("KIND", kind).replace("FIRST", first).replace("SECOND", second)
    same, other = (parse_bytes(text.replace("OTHER", name).encode(), "m") for name in ("s", "a"))
    assert compare_modules(same, same, XLA, worker).verdict == "agrees"
    assert compare_modules(same, other, XLA, worker).verdict == "different"


CONVOLUTION = """HloModule m
ENTRY e {
 x = f64[1,9,2] parameter(0)
 w = f64[3,2,1] parameter(1)
 z = f64[] constant(0)
 BODY
}
"""
PADDED_BY_WINDOW = "ROOT r = f64[1,9,1] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f"
PADDED_BEFORE = """p = f64[1,11,2] pad(x, z), padding=0_0x1_1x0_0
 ROOT r = f64[1,9,1] convolution(p, w), window={size=3}, dim_labels=b0f_0io->b0f"""


def test_infinite_weights_meet_the_padding_of_a_convolution(worker: Worker) -> None:
    """HLO skips the padding of a window, and a pad makes zeros, which an infinite weight turns into NaN."""
    by_window, before = (
        parse_bytes(CONVOLUTION.replace("BODY", body).encode(), "m") for body in (PADDED_BY_WINDOW, PADDED_BEFORE)
    )
    assert compare_modules(by_window, by_window, XLA, worker).verdict == "agrees"
    assert compare_modules(by_window, before, XLA, worker).verdict == "different"


def drawn(kind: str) -> list[DataSet]:
    text = f"HloModule m\nENTRY e {{\n  x = {kind}[40] parameter(0)\n  ROOT a = {kind}[40] abs(x)\n}}\n"
    module = parse_bytes(text.encode(), "m")
    shapes = [shape for parameter in module.entry.parameters for shape in parameter.shape.arrays()]
    return data_sets(array_demands([module], shapes), 1)


def test_two_payloads_of_nan_and_both_zeros_are_drawn() -> None:
    bits = {int(each) for data in drawn("f32") for each in np.asarray(data.arrays[0]).view(np.uint32)}
    nans = {each for each in bits if np.isnan(np.uint32(each).view(np.float32))}
    assert len({each & 0x7FFFFFFF for each in nans}) > 1
    assert {0, 1 << 31} <= bits
