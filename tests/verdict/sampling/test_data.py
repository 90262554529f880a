import numpy as np
import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.layout import parse_array_shape
from dialect_utils.verdict import random_inputs, small_integer_positions
from dialect_utils.verdict.sampling import array_demands, data_sets, unreached
from tests.styled_inputs import styled_inputs

TYPES = [
    "pred s2 u4 s8 u16 s64 u64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3fn f8e8m0fnu f4e2m1fn".split()  # noqa: SIM905
][0]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("style", ["integers", "random", "special"])
def test_a_seed_gives_the_same_data_of_the_right_type(name: str, style: str) -> None:
    shape = parse_array_shape(f"{name}[50]")
    arrays = [styled_inputs([shape], seed, style)[0] for seed in (1, 1, 2)]  # type: ignore[arg-type]  # parametrized
    assert arrays[0].shape == (50,)
    assert arrays[0].tobytes() == arrays[1].tobytes()
    assert arrays[0].tobytes() != arrays[2].tobytes()
    drawn = [random_inputs([shape], seed)[0] for seed in (1, 2)]
    assert style != "random" or [each.tobytes() for each in drawn] == [each.tobytes() for each in arrays[1:]]


def test_styles() -> None:
    shape = parse_array_shape("f32[1000]")
    integers, random, special = (styled_inputs([shape], 0, style)[0] for style in ("integers", "random", "special"))
    assert set(integers.tolist()) == {-2, -1, 0, 1, 2}
    assert np.isfinite(random).all()
    assert np.isnan(special).any()
    assert np.isinf(special).any()


INDEXED = """HloModule m
ENTRY e {
  data = f32[9] parameter(0)
  pair = (s32[], s32[]) parameter(1)
  other = s32[9] parameter(2)
  first = s32[] get-tuple-element(pair), index=0
  double = s32[] add(first, first)
  piece = f32[2] dynamic-slice(data, double), dynamic_slice_sizes={2}
  ROOT t = (f32[2], s32[9]) tuple(piece, other)
}
"""


def test_what_becomes_an_index_is_small() -> None:
    assert small_integer_positions(parse_bytes(INDEXED.encode(), "m")) == {1, 2}
    shapes = [parse_array_shape("s32[50]")] * 2
    ordinary, small = random_inputs(shapes, 0, {1})
    assert abs(ordinary).max() > 1000
    assert 0 <= small.min() <= small.max() < 8


def test_sets_hold_what_tells_programs_apart() -> None:
    text = INDEXED.replace("s32[9] parameter(2)", "s32[9] parameter(2)\n  k = s32[] constant(1000)")
    shapes = [parse_array_shape(each) for each in ("f32[9]", "s32[]", "s32[]", "s32[9]")]
    demands = array_demands([parse_bytes(text.encode(), "m")], shapes)
    assert [demand.use.limits for demand in demands] == [(), (9,), (9,), ()]
    sets = data_sets(demands, 1)
    held = [{float(value) for each in sets for value in each.arrays[i].reshape(-1)} for i in range(4)]
    assert {0, -1, 8, 9, 10} <= held[1]
    assert {999, 1000, 1001, 2**31 - 1} <= held[3]
    assert {float("inf"), -float("inf"), 0.0, 1000.0} <= held[0]
    assert any(np.isnan(each.arrays[0]).any() for each in sets)
    again = data_sets(demands, 1)
    assert all(
        a.tobytes() == b.tobytes()
        for x, y in zip(sets, again, strict=True)
        for a, b in zip(x.arrays, y.arrays, strict=True)
    )


def test_what_is_promised_of_indices_is_kept_and_said() -> None:
    text = """HloModule m
put { a = f32[] parameter(0)
  ROOT b = f32[] parameter(1) }
ENTRY e {
  x = f32[9] parameter(0)
  i = s32[4,1] parameter(1)
  u = f32[4] parameter(2)
  ROOT s = f32[9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=put
}
"""  # noqa: E501  # one instruction
    shapes = [parse_array_shape(each) for each in ("f32[9]", "s32[4,1]", "f32[4]")]
    demands = array_demands([parse_bytes(text.encode(), "m")], shapes)
    for each in data_sets(demands, 2):
        assert (np.diff(each.arrays[1].reshape(-1)) > 0).all()
    assert any("indices out of range, in input 1" in line for line in unreached(demands, 2, finite=False))


def test_large_arrays_get_few_sets_of_each_kind_and_the_rest_is_said() -> None:
    text = "HloModule m\nENTRY e {{\n  x = f32[{0}] parameter(0)\n  ROOT a = f32[{0}] abs(x)\n}}\n"
    counts = []
    for size in (40, 5_000_000):
        demands = array_demands([parse_bytes(text.format(size).encode(), "m")], [parse_array_shape(f"f32[{size}]")])
        sets = data_sets(demands, 1)
        counts.append(len(sets))
        said = any("beyond 10 sets" in line for line in unreached(demands, len(sets), finite=False))
        assert said == (size > 40)
    assert len({each.kind for each in sets}) == 10
    assert counts[0] > counts[1] == 10


def test_the_ends_of_a_type_are_drawn() -> None:
    text = "HloModule m\nENTRY e {\n  x = s32[40] parameter(0)\n  ROOT a = s32[40] abs(x)\n}\n"
    shapes = [parse_array_shape("s32[40]")]
    sets = data_sets(array_demands([parse_bytes(text.encode(), "m")], shapes), 1)
    drawn = {int(number) for each in sets for number in each.arrays[0]}
    assert {-(1 << 31), (1 << 31) - 1} <= drawn
