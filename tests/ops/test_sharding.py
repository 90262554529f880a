"""Shardings of every notation, against the parts that JAX gives each device."""

from __future__ import annotations

import pytest

from dialect_utils.ops.sharding import (
    Digit,
    by_axes,
    replicated,
    sharding_elements,
    try_digits,
    try_mesh,
    try_sharding,
)

MESH = '<["x"=2, "y"=4]>'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        # jax: NamedSharding(Mesh(devices.reshape(2, 4), ("x", "y")), P(...)).devices_indices_map
        ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", [(0, 0)] * 4 + [(1, 0)] * 4),
        ("{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", [(0, i) for i in range(4)] * 2),
        ("{devices=[4,2]<=[2,4]T(1,0)}", [(i, 0) for i in range(4)] + [(i, 1) for i in range(4)]),
        ("{devices=[2,1,4]4,5,6,7,0,1,2,3 last_tile_dim_replicate}", [(1, 0)] * 4 + [(0, 0)] * 4),
        ("{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}", [(0, 0)] * 4 + [(1, 0)] * 4),
        ("{replicated}", [(0, 0)] * 8),
        ('#sdy.sharding<@mesh, [{"y"}, {"x", ?}]>', [(i, 0) for i in range(4)] + [(i, 1) for i in range(4)]),
        ('#sdy.sharding<@mesh, [{"y":(2)2}p1, {?}], replicated={"x"}>', [(i % 2, 0) for i in range(8)]),
        ('#sdy.sharding<@mesh, [{"y":(1)2}, {}]>', [(i // 2 % 2, 0) for i in range(8)]),
        ('#sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x", "y"}, {}]>', [(i, 0) for i in range(8)]),
        ("{mesh['x'=2,'y'=4], [{'y'}, {}], replicated={'x'}}", [(i, 0) for i in range(4)] * 2),
        ("{mesh['x'=2,'y'=4], device_ids=(7,6,5,4,3,2,1,0), [{'x'}, {}]}", [(1, 0)] * 4 + [(0, 0)] * 4),
        ("{mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'0'}, {}]}", [(0, 0), (1, 0)] * 4),
    ],
)
def test_parts(text: str, parts: list[tuple[int, int]]) -> None:
    found = try_sharding(text, 2, 8, lambda name: MESH if name == "mesh" else None)
    assert found is not None
    assert list(found.parts) == parts
    assert try_sharding(str(found), 2, 8) == found


@pytest.mark.parametrize(
    "text",
    [
        "{manual}",
        "{maximal device=0}",
        "{unknown shard_as 1}",
        "{devices=[2,2]<=[4]}",
        "{devices=[8]<=[8]}",
        "{devices=[2,1,4]0,0,1,2,3,4,5,6}",
        '#sdy.sharding<@other, [{"x"}, {}]>',
        '#sdy.sharding<@mesh, [{"z"}, {}]>',
        '#sdy.sharding<@mesh, [{"y":(1)3}, {}]>',
        '#sdy.sharding<@mesh, [{"x"}]>',
        f"{{mesh['x'={'9' * 5000}], [{{'x'}}, {{}}]}}",
        f"{{devices=[{'9' * 5000}]<=[8]}}",
    ],
)
def test_unknown(text: str) -> None:
    assert try_sharding(text, 2, 8, lambda name: MESH if name == "mesh" else None) is None


def test_regions_are_padded_at_the_end() -> None:
    found = by_axes({"x": 4}, [["x"], []])
    assert found.local((10, 3)) == (3, 3)
    assert [found.region(device, (10, 3))[0] for device in range(4)] == [
        slice(0, 3),
        slice(3, 6),
        slice(6, 9),
        slice(9, 10),
    ]
    assert found.region(3, (2, 3))[0] == slice(2, 2)


def test_tuples_have_a_sharding_for_each_element() -> None:
    assert sharding_elements("{{replicated}, {devices=[2]0,1}}") == ["{replicated}", "{devices=[2]0,1}"]
    assert sharding_elements("{replicated}") == ["{replicated}"]


def test_digits_of_devices() -> None:
    assert try_digits([0, 0, 1, 1]) == [Digit(2, 2, 1)]
    assert try_digits([0, 2, 1, 3]) == [Digit(1, 2, 2), Digit(2, 2, 1)]
    assert try_digits([0, 2, 1, 0]) is None
    assert try_mesh(8, [[d // 4 for d in range(8)]]) == (2, 4)
    assert try_mesh(6, [[d // 2 for d in range(6)], [d // 3 for d in range(6)]]) is None
    assert replicated(1, 2).is_replicated
