"""The programs that make_stablehlo.py turns into modules that check themselves: small, one construct or two each."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from tests.corpus.programs.registry import Argument, arg

A = jax.Array
bf16, f16, f32, f64, c64 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64, jnp.complex64
s4, s8, s32, s64, u8, u32 = jnp.int4, jnp.int8, jnp.int32, jnp.int64, jnp.uint8, jnp.uint32


@dataclass(frozen=True, slots=True)
class SelfChecking:
    """A function with its arguments; `is_close` where floats may be rounded otherwise by another engine."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    is_close: bool
    x64: bool

    def draw_inputs(self) -> list[NDArray[Any]]:
        """Draws the inputs, the same in every process."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [argument.draw(rng) for argument in self.arguments]


PROGRAMS: dict[str, SelfChecking] = {}
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def exact(*arguments: Argument, x64: bool = False) -> Decorator:
    """Registers a function whose results every engine computes to the same bits."""
    return _register(arguments, False, x64)


def close(*arguments: Argument, x64: bool = False) -> Decorator:
    """Registers a function whose results may differ in the last places."""
    return _register(arguments, True, x64)


def _register(arguments: tuple[Argument, ...], is_close: bool, x64: bool) -> Decorator:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = SelfChecking(function.__name__, function, arguments, is_close, x64)
        return function

    return register


@exact(arg(3, 5), arg(3, 5))
def elementwise_chain(x: A, y: A) -> Any:
    return jnp.maximum(x + y, x - y) * 0.5


@exact(arg(4, 7, dtype=bf16), arg(7, dtype=bf16))
def bfloat16_broadcast(x: A, y: A) -> Any:
    return x + y, jnp.where(x > y, x, -x), x.astype(f32) * 0.25


@exact(arg(5, 9, dtype=s4, fill="bits"), arg(5, 9, dtype=s4, fill="bits"))
def nibble_arithmetic(x: A, y: A) -> Any:
    return x.astype(s8) * y.astype(s8), jnp.maximum(x, y), x.T


@exact(arg(6, dtype=u8, fill="bits"), arg(6, dtype=u8, fill="bits"))
def byte_logic(x: A, y: A) -> Any:
    return x & y, x ^ ~y, x >> u8(3), lax.population_count(x), x.astype(s32) * y.astype(s32)


@exact(arg(3, 4, dtype=c64), arg(3, 4, dtype=c64))
def complex_parts(x: A, y: A) -> Any:
    return x + y, lax.complex(x.imag, y.real), jnp.conj(x).T


@exact(arg(4, 6, fill="below:9"), arg(6, 3, fill="below:9"), arg(3, fill="below:9"))
def linear_layer(x: A, w: A, b: A) -> Any:
    return jnp.maximum(x @ w + b - 100, 0)


@exact(arg(2, 3, 4, fill="below:5"), arg(2, 5, 4, fill="below:5"))
def batched_product(x: A, y: A) -> Any:
    return jnp.einsum("bik,bjk->bji", x, y)


@exact(arg(4, 8, dtype=s8, fill="bits"), arg(8, 5, dtype=s8, fill="bits"))
def integer_product(x: A, y: A) -> Any:
    return lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=s32)


@exact(arg(1, 6, 6, 2, fill="below:5"), arg(3, 3, 2, 4, fill="below:5"))
def convolution_same(x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@exact(arg(2, 4, 9, fill="below:5"), arg(4, 2, 3, fill="below:5"))
def convolution_grouped_dilated(x: A, w: A) -> Any:
    numbers = ("NCH", "OIH", "NCH")
    return lax.conv_general_dilated(x, w, (2,), ((2, 1),), None, (2,), numbers, feature_group_count=2)


@exact(arg(3, 5, 7, fill="below:9"))
def reductions(x: A) -> Any:
    return x.sum(1), x.max((0, 2)), x.min(), jnp.any(x > 7, 0)


@exact(arg(4, 9))
def position_of_extremes(x: A) -> Any:
    return jnp.argmax(x, 1), jnp.argmin(x, 0)


@exact(arg(3, 8, fill="below:9"))
def running_sums(x: A) -> Any:
    return jnp.cumsum(x, 1), lax.cummax(x, 0), jnp.cumsum(x, 0)[::-1]


@exact(arg(2, 8, 8, fill="below:99"))
def pooling(x: A) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 3), (1, 2, 2), ((0, 0), (0, 0), (1, 1)))


@exact(arg(1, 6, 6, fill="below:99"), arg(1, 3, 3, fill="below:9"))
def pooling_gradient(x: A, cotangent: A) -> Any:
    def pool(x: A) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID")

    return jax.vjp(pool, x)[1](cotangent)[0]


@exact(arg(4, 6, dtype=s32, fill="below:4"), arg(4, 6))
def sort_pairs(keys: A, values: A) -> Any:
    return lax.sort((keys, values), dimension=1, is_stable=True, num_keys=1), jnp.argsort(values, axis=0)


@exact(arg(3, 12))
def largest(x: A) -> Any:
    return jnp.sort(x, axis=1)[:, ::-1][:, :4], jnp.sort(-x, axis=0)


@exact(arg(8, 5), arg(4, dtype=s32, fill="below:8"), arg(3, dtype=s32, fill="below:5"))
def gathers(x: A, rows: A, columns: A) -> Any:
    return x[rows], x[:, columns], x[rows[:3], columns]


@exact(arg(8, 5, fill="below:9"), arg(4, dtype=s32, fill="below:8"), arg(4, 5, fill="below:9"))
def scatters(x: A, rows: A, updates: A) -> Any:
    return x.at[rows].add(updates), x.at[rows].max(updates), x.at[rows * 0 + jnp.arange(4)].set(updates)


@exact(arg(6, 10), arg(2, 3), arg(2, dtype=s32, fill="below:9"))
def dynamic_slices(x: A, update: A, start: A) -> Any:
    return lax.dynamic_slice(x, (start[0], start[1]), (3, 4)), lax.dynamic_update_slice(x, update, (start[1], start[0]))


@exact(arg(5, dtype=s32, fill="below:60"))
def collatz_while(n: A) -> Any:
    def body(state: tuple[A, A]) -> tuple[A, A]:
        n, steps = state
        return jnp.where(n <= 1, n, jnp.where(n % 2 == 0, n >> 1, 3 * n + 1)), steps + (n > 1)

    return lax.while_loop(lambda s: jnp.any(s[0] > 1), body, (n + 1, jnp.zeros_like(n)))


@exact(arg(4, 4, fill="below:3"), arg(dtype=s32, fill="below:3"))
def case_of_three(x: A, choice: A) -> Any:
    return lax.switch(choice, [lambda x: (x.T, x[0]), lambda x: (x @ x, x[1] * 2), lambda x: (x + 1, x.sum(0))], x)


@exact(arg(5, 3, fill="below:9"))
def scan_with_outputs(xs: A) -> Any:
    return lax.scan(lambda c, x: (c + x, (c * 2, x.sum())), jnp.zeros(3), xs)


@exact(arg(4, 6), arg(4, 6))
def private_functions(x: A, y: A) -> Any:
    @jax.jit
    def inner(x: A) -> tuple[A, A]:
        return x * 2, jnp.clip(x, -1, 1)

    @jax.jit
    def outer(x: A, y: A) -> Any:
        return inner(x)[0] - y, inner(y)

    return outer(x, y), outer(y, x)[0]


@exact(arg(3, 4), arg(2, 4))
def pads_and_joins(x: A, y: A) -> Any:
    return (
        lax.pad(x, -7.5, ((1, 2, 0), (-1, 0, 1))),
        jnp.concatenate([x, y, x[:1]]),
        lax.rev(x, (0, 1))[1:, ::2],
    )


@exact(arg(4, 6, 5, dtype=s32, fill="bits"))
def reshapes_and_transposes(x: A) -> Any:
    return x.transpose(2, 0, 1), x.reshape(8, 15).T.reshape(5, 24), x.reshape(2, 2, 30).swapaxes(0, 2)


@exact(arg(4, 6), arg(6, dtype=u32, fill="bits"))
def same_bits_other_type(x: A, y: A) -> Any:
    return lax.bitcast_convert_type(x, s32), lax.bitcast_convert_type(y, u8), y[::-1]


@exact(arg(3, 5, dtype=s64, fill="bits"), arg(3, 5, dtype=f64), x64=True)
def wide_types(x: A, y: A) -> Any:
    return x // 3, x.astype(u8), y * 0.5 + 1, y.astype(f32)


@exact(arg(2, dtype=u32, fill="bits"))
def threefry(key: A) -> Any:
    return jax.random.bits(jax.random.wrap_key_data(key, impl="threefry2x32"), (5, 3))


@exact(arg(4, 12, dtype=jnp.float8_e4m3fn), arg(4, 12, dtype=jnp.float8_e5m2))
def eighth_conversions(x: A, y: A) -> Any:
    return x.astype(f32) + y.astype(f32), x.astype(bf16), y.T.astype(f16)


@exact(arg(7, dtype=s32, fill="below:5"))
def one_hot_and_iota(x: A) -> Any:
    return jax.nn.one_hot(x, 5), lax.broadcasted_iota(s32, (3, 4), 1) * 2, jnp.tri(4, 6, -1)


@close(arg(4, 9))
def softmax_rows(x: A) -> Any:
    return jax.nn.softmax(x, axis=1)


@close(arg(3, 8, fill="positive"))
def transcendental(x: A) -> Any:
    return jnp.exp(-x), jnp.log(x), jnp.sqrt(x), jnp.tanh(x), lax.rsqrt(x)


@close(arg(4, 4, fill="dominant"), arg(4, 2))
def triangular_system(a: A, b: A) -> Any:
    return lax.linalg.triangular_solve(jnp.tril(a), b, left_side=True, lower=True)
