"""Replica groups in each notation are the lists that numpy computes by the definition of the notation."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.ops.devices import check_iota
from dialect_utils.ops.inference import ShapeError
from dialect_utils.ops.sharding import try_groups


def test_lists_of_devices() -> None:
    assert try_groups("{{0,1},{2, 3}}") == [[0, 1], [2, 3]]
    assert try_groups("{0,1}{3,2}") == [[0, 1], [3, 2]]
    assert try_groups("{}") == []


@pytest.mark.parametrize(
    ("text", "dims", "order", "shape"),
    [
        ("[2,4]<=[8]", (8,), (0,), (2, 4)),
        ("[2,2]<=[2,2]T(1,0)", (2, 2), (1, 0), (2, 2)),
        ("[4,6]<=[2,3,4]T(2,0,1)", (2, 3, 4), (2, 0, 1), (4, 6)),
    ],
)
def test_an_iota_is_transposed_and_cut(
    text: str, dims: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, int]
) -> None:
    devices = np.arange(np.prod(dims)).reshape(dims).transpose(order).reshape(shape)
    assert try_groups(text) == devices.tolist()


def test_a_list_of_more_than_a_million_devices_is_rejected() -> None:
    most = 1 << 20
    check_iota("list", [most, 1], [most], "groups")
    for sizes, reshaped in (([most + 1], [most + 1]), ([most + 1], [most]), ([most], [most + 1])):
        with pytest.raises(ShapeError, match="more than 1048576 devices"):
            check_iota("list", sizes, reshaped, "groups")


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("mesh['x'=4] {'x'}", (0,)),
        ("mesh['x'=2,'y'=3] {'x'}", (0,)),
        ("mesh['x'=2,'y'=3] {'y'}", (1,)),
        ("mesh['x'=2,'y'=3] {'y','x'}", (1, 0)),
    ],
)
def test_the_axes_of_a_mesh_differ_within_a_group(text: str, axes: tuple[int, ...]) -> None:
    sizes = (4,) if "'y'=" not in text else (2, 3)
    others = tuple(axis for axis in range(len(sizes)) if axis not in axes)
    devices = np.arange(np.prod(sizes)).reshape(sizes).transpose((*others, *axes))
    length = int(np.prod([sizes[axis] for axis in axes]))
    assert try_groups(text) == devices.reshape(-1, length).tolist()


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("mesh['x'=2,'y'=4] {'1':(1)2}", [[0, 2], [1, 3], [4, 6], [5, 7]]),
        ("mesh['x'=2,'y'=4] {'y':(2)2,'x'}", [[0, 4, 1, 5], [2, 6, 3, 7]]),
        ("mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'x'}", [[3, 2], [1, 0]]),
        ("mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'x'}", [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ],
)
def test_parts_of_axes_and_listed_devices(text: str, groups: list[list[int]]) -> None:
    assert try_groups(text) == groups


@pytest.mark.parametrize(
    "text",
    [
        "mesh['x'=2,'x'=4] {'x'}",
        "mesh['x'=4], device_ids=(0,1,2) {'x'}",
        "mesh['x'=4] {'y'}",
        "mesh['x'=4] {'x','x'}",
        "[2,2]<=[5]",
        "[2,2]<=[2,2]T(0,0)",
        "[65536,2]<=[131072]",
        "somehow",
    ],
)
def test_other_texts_are_no_groups(text: str) -> None:
    assert try_groups(text) is None


def test_a_number_of_many_digits_is_no_device() -> None:
    assert try_groups("{{" + "9" * 5000 + "}}") is None
