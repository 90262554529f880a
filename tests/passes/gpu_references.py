"""The results of the hand-written GPU dumps by definition, with numpy in f64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Reference = Callable[[Sequence[Array]], list[Array]]


def gelu(x: Array) -> Array:
    result: Array = x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return result


def convolve(x: Array, k: Array, strides: tuple[int, int], low: tuple[int, int], out: tuple[int, int]) -> Array:
    """Returns y[b, p, q, o] = sum of x[b, p s - l + i, q t - m + j, c] k[i, j, c, o]."""
    y = np.zeros((x.shape[0], *out, k.shape[3]))
    for (p, q, i, j), (row, column) in taps(k.shape[:2], strides, low, out, x.shape[1:3]):
        y[:, p, q] += x[:, row, column] @ k[i, j]
    return y


def input_gradient(g: Array, k: Array, strides: tuple[int, int], low: tuple[int, int], size: tuple[int, int]) -> Array:
    dx = np.zeros((g.shape[0], *size, k.shape[2]))
    for (p, q, i, j), (row, column) in taps(k.shape[:2], strides, low, g.shape[1:3], size):
        dx[:, row, column] += g[:, p, q] @ k[i, j].T
    return dx


def filter_gradient(
    x: Array, g: Array, strides: tuple[int, int], low: tuple[int, int], window: tuple[int, int]
) -> Array:
    dk = np.zeros((*window, x.shape[3], g.shape[3]))
    for (p, q, i, j), (row, column) in taps(window, strides, low, g.shape[1:3], x.shape[1:3]):
        dk[i, j] += x[:, row, column].T @ g[:, p, q]
    return dk


def taps(
    window: Sequence[int], strides: Sequence[int], low: Sequence[int], out: Sequence[int], size: Sequence[int]
) -> list[tuple[tuple[int, int, int, int], tuple[int, int]]]:
    """Returns the indices of output, filter and input that are multiplied, if inside the input."""
    found = []
    for p, q, i, j in np.ndindex(out[0], out[1], window[0], window[1]):
        row, column = p * strides[0] - low[0] + i, q * strides[1] - low[1] + j
        if 0 <= row < size[0] and 0 <= column < size[1]:
            found.append(((p, q, i, j), (row, column)))
    return found


def dense_layers(inputs: Sequence[Array]) -> list[Array]:
    x, w, b, v, r = inputs
    return [np.tanh(2 * (gelu(x @ w + b) @ v.T / 2 + r)).T]


def attention(inputs: Sequence[Array]) -> list[Array]:
    q, k, v = inputs
    scores = np.einsum("bihd,bjhd->bhij", q, k) / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return [np.einsum("bhij,bjhd->bihd", weights, v)]


def products(inputs: Sequence[Array]) -> list[Array]:
    a, b, c, d, e, f, g, h, i, j, k = inputs
    before = c @ d + e
    along = a[1] @ b + k[:, None]
    return [a @ b, gelu(before), before, (0.5 - 1j) * (f @ g) + 2 * h, i @ j, np.maximum(along, 0)]


def eighth_products(inputs: Sequence[Array]) -> list[Array]:
    a, b, s, t, c, d, m = inputs
    product = s * t * (a @ b.T)
    relu = np.maximum(product + c, 0)
    return [np.clip(d * relu, -448, 448), relu.max(), product + m, product + c]


def convolutions(inputs: Sequence[Array]) -> list[Array]:
    x, k, g, b, s = inputs
    strides, low = (2, 2), (1, 0)
    xs, ks, gs = (np.split(array, 2, axis=3) for array in (x, k, g))
    y = np.concatenate([convolve(xs[n], ks[n], strides, low, (5, 4)) for n in range(2)], axis=3)
    dx = np.concatenate([input_gradient(gs[n], ks[n], strides, low, (9, 8)) for n in range(2)], axis=3)
    dk = np.concatenate([filter_gradient(xs[n], gs[n], strides, low, (3, 2)) for n in range(2)], axis=3)
    return [y, dx, dk, np.maximum(y / 2 + 2 * s + b, 0)]


def byte_convolution(inputs: Sequence[Array]) -> list[Array]:
    x, k, b, s, u, v, w = inputs
    y = convolve(x, k.transpose(1, 2, 3, 0), (1, 1), (0, 0), (4, 4))
    narrow = np.rint(np.clip(y / 128 + s / 4 + b, 0, 127))
    line = convolve(u.transpose(0, 2, 1)[:, None], v.transpose(2, 1, 0)[None], (1, 1), (0, 0), (1, 5))
    shifted = line[:, 0].transpose(0, 2, 1) + w[:, None]
    return [narrow, np.where(shifted > 0, shifted, shifted / 8), y]


def solvers(inputs: Sequence[Array]) -> list[Array]:
    a, b = inputs
    factor = np.linalg.cholesky(a @ a.transpose(0, 2, 1) + np.eye(a.shape[1]))
    return [factor, np.linalg.solve(factor.transpose(0, 2, 1), b)]


def sorts(inputs: Sequence[Array]) -> list[Array]:
    k, v, u, t = inputs
    order = np.argsort(-k, axis=1, kind="stable")
    top = np.argsort(-t, axis=1, kind="stable")[:, :4]
    return [
        np.take_along_axis(k, order, 1),
        np.take_along_axis(v, order, 1),
        np.sort(u),
        np.take_along_axis(t, top, 1),
        top,
    ]


def streams(inputs: Sequence[Array]) -> list[Array]:
    a, b, c = inputs
    return [a[2] @ b.T + b, b @ c @ c @ c @ c / 8**3]


def random_bits(inputs: Sequence[Array]) -> list[Array]:
    key = [int(word) for word in inputs[0]]
    pairs = [threefry(key, (i, i + 3)) for i in range(3)]
    return [np.array([x for x, _ in pairs] + [y for _, y in pairs])]


def threefry(key: Sequence[int], counter: tuple[int, int]) -> tuple[int, int]:
    """Returns Threefry-2x32-20 of one counter, as defined by its authors."""
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for number in range(20):
        distance = (13, 15, 26, 6, 17, 29, 16, 24)[number % 8]
        x, y = (x + y) % 2**32, y % 2**32
        y = ((y << distance | y >> 32 - distance) % 2**32) ^ x
        if number % 4 == 3:
            group = number // 4 + 1
            x, y = x + keys[group % 3], y + keys[(group + 1) % 3] + group
    return x % 2**32, y % 2**32


REFERENCES: dict[str, Reference] = {
    "attention": attention,
    "byte_convolution": byte_convolution,
    "convolutions": convolutions,
    "dense_layers": dense_layers,
    "eighth_products": eighth_products,
    "products": products,
    "random_bits": random_bits,
    "solvers": solvers,
    "sorts": sorts,
    "streams": streams,
}
