"""The elements of operations on whole arrays, from those of their operands.

Each function takes what is known, the term and its label, and the elements of the operands; None means that only
equal operations on equal operands are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from dialect_utils.ops import by_opcode
from dialect_utils.ops.positions import window_positions
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.proof.algebra.numbers import number_bits, value_of
from dialect_utils.verdict.proof.elements.arrays import Elements, array_of
from dialect_utils.verdict.proof.elements.known import KnownElements
from dialect_utils.verdict.proof.elements.sums import reduced, sum_of_products
from dialect_utils.verdict.proof.terms import Term


def _broadcast(_: KnownElements, term: Term, label: Any, array: Elements) -> Elements:
    sizes = [1] * len(term.array.dimensions)
    for size, to in zip(array.shape, label[1], strict=True):
        sizes[to] = size
    return np.broadcast_to(array.reshape(sizes), term.array.dimensions)


def _reverse(_: KnownElements, __: Term, label: Any, array: Elements) -> Elements:
    return np.flip(array, tuple(label[1]))


def _concatenate(_: KnownElements, __: Term, label: Any, *arrays: Elements) -> Elements:
    return np.concatenate(arrays, axis=label[1])


def _iota(known: KnownElements, term: Term, _: Any) -> Elements | None:
    element_type, (size,) = term.array.element_type, term.array.dimensions
    bits = [number_bits(element_type, i) for i in range(size)]
    if None in bits:
        return None
    return array_of([known.terms.literal(element_type, b or 0, ()) for b in bits], (size,))


# Sums of products


def _dot(known: KnownElements, term: Term, label: Any, left: Elements, right: Elements) -> Elements:
    batch, rows, columns = term.array.dimensions
    kind = term.array.element_type
    known.spend(batch * rows * columns * left.shape[2])
    items = [
        sum_of_products(known.terms, kind, label[1], zip(left[b, i], right[b, j], strict=True))
        for b, i, j in product(range(batch), range(rows), range(columns))
    ]
    return array_of(items, term.array.dimensions)


def _convolution(known: KnownElements, term: Term, label: Any, lhs: Elements, rhs: Elements) -> Elements | None:
    window, (features, batches), texts = label[1:]
    if batches != 1:
        return None
    kind, (batch, outputs, *sizes) = term.array.element_type, term.array.dimensions
    per_group, out_per_group = rhs.shape[1], outputs // features
    kernels = list(product(*map(range, rhs.shape[2:])))
    known.spend(batch * outputs * prod(sizes) * len(kernels) * per_group)
    places = window_positions(window, lhs.shape[2:], sizes)
    zero = known.terms.literal(term.operands[0].array.element_type, 0, ())
    padded = [[[*channel.reshape(-1), zero] for channel in image] for image in lhs]
    items = []
    for b, o, place in product(range(batch), range(outputs), places):
        group = o // out_per_group
        pairs = [
            (padded[b][group * per_group + i][at], rhs[(o, i, *kernel)])
            for kernel, at in zip(_kernel_order(window, kernels), place, strict=True)
            for i in range(per_group)
        ]
        items.append(sum_of_products(known.terms, kind, texts, pairs))
    return array_of(items, term.array.dimensions)


def _kernel_order(window: Sequence[WindowDimension], kernels: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Returns the kernel's places in the order of a window's: reversed where the window says so."""
    return [
        tuple(
            dimension.size - 1 - k if dimension.is_reversed else k for dimension, k in zip(window, kernel, strict=True)
        )
        for kernel in kernels
    ]


# Reductions


def _reduce(known: KnownElements, term: Term, label: Any, array: Elements, initial: Elements) -> Elements:
    items = [reduced(known.terms, label[1], list(row), initial[()]) for row in array]
    return array_of(items, term.array.dimensions)


def _reduce_window(known: KnownElements, term: Term, label: Any, array: Elements, initial: Elements) -> Elements | None:
    _, opcode, window = label
    if opcode is None:
        return None
    known.spend(prod(term.array.dimensions) * prod(dimension.size for dimension in window))
    start = initial[()]
    padded = [*array.reshape(-1), start]
    places = window_positions(window, array.shape, term.array.dimensions)
    items = [reduced(known.terms, opcode, [padded[at] for at in place], start) for place in places]
    return array_of(items, term.array.dimensions)


# Slices at computed places


def _dynamic_slice(known: KnownElements, term: Term, _: Any, array: Elements, *indices: Elements) -> Elements:
    sizes = term.array.dimensions

    def at(starts: tuple[int, ...]) -> Elements:
        return array[tuple(slice(a, a + size) for a, size in zip(starts, sizes, strict=True))]

    lasts = [a - b for a, b in zip(array.shape, sizes, strict=True)]
    return known.picks.picked(at, [index[()] for index in indices], lasts, sizes)


def _dynamic_update_slice(
    known: KnownElements, _: Term, __: Any, array: Elements, update: Elements, *indices: Elements
) -> Elements:
    def at(starts: tuple[int, ...]) -> Elements:
        written = array.copy()
        written[tuple(slice(a, a + size) for a, size in zip(starts, update.shape, strict=True))] = update
        return written

    lasts = [a - b for a, b in zip(array.shape, update.shape, strict=True)]
    return known.picks.picked(at, [index[()] for index in indices], lasts, array.shape)


def _gather(known: KnownElements, term: Term, label: Any, array: Elements, starts: Elements) -> Elements | None:
    constants = [known.terms.constant_bits(each) for each in starts.flat]
    if None in constants or not starts.size:
        return None
    kind = starts.flat[0].array.element_type
    largest = max(array.shape, default=0)
    numbers = [min(int(value_of(kind, bits or 0) or 0), largest) for bits in constants]
    values = np.array(numbers, np.int64).reshape(starts.shape)
    return array[label[1].positions(array.shape, values, term.array.dimensions)]


# By the first word of a term's label, which is an opcode's.
OPERATIONS: Mapping[str, Callable[..., Elements | None]] = by_opcode(
    {
        "broadcast": _broadcast,
        "concatenate": _concatenate,
        "convolution": _convolution,
        "dot": _dot,
        "dynamic-slice": _dynamic_slice,
        "dynamic-update-slice": _dynamic_update_slice,
        "gather": _gather,
        "iota": _iota,
        "reduce": _reduce,
        "reduce-window": _reduce_window,
        "reverse": _reverse,
    }
)
