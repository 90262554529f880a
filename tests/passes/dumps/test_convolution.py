from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.ops.window import WindowDimension, classify, format_window, parse_labels, parse_window

SMALL = st.integers(1, 4)
WINDOWS = st.builds(
    WindowDimension,
    size=SMALL,
    stride=SMALL,
    low=st.integers(-1, 4),
    high=st.integers(-1, 4),
    lhs_dilation=SMALL,
    rhs_dilation=st.integers(1, 2),
    is_reversed=st.booleans(),
)


def out_size(dim: WindowDimension, lhs_size: int) -> int:
    base = (lhs_size - 1) * dim.lhs_dilation + 1 + dim.low + dim.high
    window = (dim.size - 1) * dim.rhs_dilation + 1
    return (base - window) // dim.stride + 1 if base >= window else 0


def triples(dim: WindowDimension, lhs_size: int) -> set[tuple[int, int, int]]:
    """Returns the convolution by definition: a sum over pairs of kernel and input indices."""
    found = set()
    for out, offset in product(range(out_size(dim, lhs_size)), range(dim.size)):
        index, rest = divmod(out * dim.stride + offset * dim.rhs_dilation - dim.low, dim.lhs_dilation)
        if rest == 0 and 0 <= index < lhs_size:
            found.add((out, dim.size - 1 - offset if dim.is_reversed else offset, index))
    return found


@settings(max_examples=400, deadline=None)
@given(WINDOWS, SMALL)
def test_a_role_says_exactly_which_indices_meet(dim: WindowDimension, lhs_size: int) -> None:
    out = out_size(dim, lhs_size)
    role, is_reversed = classify(dim, lhs_size, out)
    if role == "window":
        return
    count = max(out, dim.size, lhs_size)
    kernel = [j if dim.size > 1 else 0 for j in range(count)]
    kernel = [dim.size - 1 - k for k in kernel] if is_reversed else kernel
    pairs = {(j if out > 1 else 0, kernel[j], j if lhs_size > 1 else 0) for j in range(count)}
    assert triples(dim, lhs_size) == pairs
    sizes = {"batch": (out, dim.size, lhs_size), "contracting": (dim.size, lhs_size), "lhs": (out, lhs_size)}
    assert len(set(sizes.get(role, (out, dim.size)))) == 1


@pytest.mark.parametrize(
    ("dim", "lhs_size", "expected"),
    [
        (WindowDimension(4, 3, lhs_dilation=4), 4, ("batch", False)),
        (WindowDimension(2, 1, lhs_dilation=2), 2, ("batch", False)),
        (WindowDimension(2), 2, ("contracting", False)),
        (WindowDimension(3, 1, 2, 2, is_reversed=True), 1, ("rhs", False)),
        (WindowDimension(3, 1, 2, 2), 1, ("rhs", True)),
        (WindowDimension(1), 512, ("lhs", False)),
        (WindowDimension(1), 1, ("lhs", False)),
        (WindowDimension(3, 1, 1, 1), 5, ("window", False)),
        (WindowDimension(1, 2), 5, ("window", False)),
        (WindowDimension(4096, 4095, lhs_dilation=4096), 4096, ("batch", False)),
    ],
)
def test_forms_of_dumps(dim: WindowDimension, lhs_size: int, expected: tuple[str, bool]) -> None:
    assert classify(dim, lhs_size, out_size(dim, lhs_size)) == expected


@given(st.lists(WINDOWS, min_size=1, max_size=3))
def test_windows_survive_their_text(window: list[WindowDimension]) -> None:
    assert parse_window(format_window(tuple(window)), len(window)) == tuple(window)


def test_labels() -> None:
    labels = parse_labels("0b1f_0o1i->01bf")
    assert (labels.lhs_batch, labels.lhs_feature, labels.lhs_spatial) == (1, 3, (0, 2))
    assert (labels.rhs_input, labels.rhs_output, labels.rhs_spatial) == (3, 1, (0, 2))
    assert (labels.out_batch, labels.out_feature, labels.out_spatial) == (2, 3, (0, 1))
    with pytest.raises(ValueError, match="is not of the form"):
        parse_labels("bf->bf")
