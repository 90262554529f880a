"""Sorts, selections, scans, Fourier transforms, gathers, scatters and random bits."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

bf16, f16, f32, f64 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64
c64, c128, s8, s32, u32, u8 = jnp.complex64, jnp.complex128, jnp.int8, jnp.int32, jnp.uint32, jnp.uint8


@on_gpu(arg(4, 256), arg(1000, dtype=s32, fill="bits"), arg(3, 40, 5, dtype=bf16))
def sorts_of_rows_and_columns(x: A, y: A, z: A) -> Any:
    return jnp.sort(x), jnp.sort(x, 0), jnp.sort(y, descending=True), jnp.sort(z, 1), jnp.argsort(y)


@on_gpu(arg(20000), arg(20000, dtype=s32, fill="below:50"))
def sort_of_many_keys(x: A, y: A) -> Any:
    return jnp.sort(x), jnp.sort(y)[::-1], jnp.argsort(x), lax.sort((y, x), num_keys=1)


@on_gpu(arg(17000, dtype=u32, fill="bits"), arg(17000, dtype=bf16), arg(17000, dtype=u8, fill="bits"))
def sort_of_keys_with_values(x: A, y: A, z: A) -> Any:
    return lax.sort((x, y), num_keys=1), lax.sort((z, x), num_keys=1), jnp.sort(y), jnp.sort(z, descending=True)


@on_gpu(arg(2, 17000, dtype=f16))
def sort_of_long_rows(x: A) -> Any:
    return jnp.sort(x), jnp.sort(x, descending=True), jnp.argsort(x, axis=1)


@on_gpu(arg(8, 2048), arg(5000), arg(2, 3, 1200, dtype=bf16))
def largest_elements(x: A, y: A, z: A) -> Any:
    return lax.top_k(x, 4), lax.top_k(y, 16), lax.top_k(z, 2), lax.approx_max_k(x, 8)


@on_gpu(arg(4, 2048, dtype=s32, fill="bits"), arg(2, 9000))
def largest_integers_and_of_long_rows(x: A, y: A) -> Any:
    return lax.top_k(x, 8), lax.top_k(y, 100), jnp.argmax(y, 1), jnp.argmin(x, 0)


@on_gpu(arg(3000), arg(4, 700), arg(300, dtype=s32, fill="below:5"), arg(5, 6, 7))
def running_sums_and_products(x: A, y: A, z: A, w: A) -> Any:
    return (
        jnp.cumsum(x),
        jnp.cumsum(y, 1),
        jnp.cumsum(z),
        jnp.cumprod(w / 2, 1),
        lax.cummax(y, 1),
        lax.cumlogsumexp(w, 0),
    )


@on_gpu(arg(16, 40, dtype=f16), arg(100, dtype=f64), x64=True)
def running_sums_of_other_types(x: A, y: A) -> Any:
    return jnp.cumsum(x, 1), jnp.cumsum(y), jnp.cumsum(y[::-1])[::-1], lax.cumsum(y, reverse=True)


@on_gpu(arg(64, 8), arg(64, 8))
def linear_recurrence(a: A, b: A) -> Any:
    def joined(x: Any, y: Any) -> Any:
        return x[0] * y[0], x[1] * y[0] + y[1]

    return lax.associative_scan(joined, (a / 2, b))


@on_gpu(arg(8, 16, dtype=c64), arg(8, 24), arg(4, 6, 10))
def fourier_transforms(x: A, y: A, z: A) -> Any:
    return (
        jnp.fft.fft(x),
        jnp.fft.ifft2(x),
        jnp.fft.rfft(y),
        jnp.fft.irfft(x[:, :13]),
        jnp.fft.rfftn(z),
        jnp.fft.fftn(z),
    )


@on_gpu(arg(6, 15, dtype=c128), x64=True)
def fourier_transforms_in_double_precision(x: A) -> Any:
    return jnp.fft.fft(x), jnp.fft.irfft(x, 28), jnp.fft.fftshift(jnp.fft.fft2(x))


@on_gpu(arg(50, 12), arg(40, dtype=s32, fill="below:50"), arg(40, 12), arg(40, dtype=s32, fill="below:12"))
def gathers_and_scatters(table: A, rows: A, updates: A, columns: A) -> Any:
    added = table.at[rows].add(updates)
    points = table.at[rows, columns].max(updates[:, 0])
    return table[rows], table[rows, columns], added, points, jax.ops.segment_sum(updates, rows, 50)


@on_gpu(arg(30, 9, dtype=bf16), arg(20, dtype=s32, fill="below:30"), arg(30, dtype=s32, fill="below:10"))
def scatters_of_halves_and_counts(table: A, rows: A, values: A) -> Any:
    return (
        table.at[rows].set(1),
        jnp.bincount(values, length=10),
        jnp.unique(values, size=10),
        table.at[rows].multiply(2),
    )


@on_gpu(arg(2, dtype=u32, fill="bits"), arg(10, dtype=s32, fill="below:10"))
def random_numbers(key: A, order: A) -> Any:
    a, b, c, d = jax.random.split(key, 4)
    return (
        jax.random.normal(a, (100,)), jax.random.uniform(b, (3, 7)), jax.random.permutation(c, order),
        jax.random.categorical(d, jnp.zeros((4, 5))), jax.random.bits(a, (9,), u8), jax.random.gamma(b, 2.0, (5,)),
    )  # fmt: skip


@on_gpu(arg(1000, fill="positive"), arg(37, 5))
def statistics(x: A, y: A) -> Any:
    return (
        jnp.median(x),
        jnp.quantile(x, 0.3),
        jnp.var(y, 0),
        jnp.histogram(x, 7)[0],
        jnp.corrcoef(y.T),
        jnp.percentile(y, 20, 1),
    )


@on_gpu(arg(33, 65), arg(5, 7, 129), arg(1030))
def reductions_of_odd_sizes(x: A, y: A, z: A) -> Any:
    return x.sum(0), x.sum(1), y.max((0, 2)), y.prod(1), z.min(), jnp.any(z > 3), jnp.all(y > -9, 1), jnp.argmax(y, 2)


@on_gpu(arg(17, 33, 3), arg(8, 129))
def movement_of_data(x: A, y: A) -> Any:
    return (
        x.transpose(2, 0, 1), jnp.flip(y, 1), jnp.roll(x, 5, 1), jnp.pad(y, ((1, 2), (3, 0)), mode="reflect"),
        jnp.concatenate([y[:, 3:9], y[:, ::2]], 1), jnp.repeat(y, 2, 0), jnp.tile(x, (1, 2, 1)), y.reshape(4, 258),
        jnp.stack([y, y * 2], 1), jnp.triu(y),
    )  # fmt: skip


@on_gpu(arg(200, dtype=c64), arg(200, fill="positive"), arg(60, dtype=f16), arg(60, dtype=bf16))
def elementary_functions(z: A, x: A, h: A, b: A) -> Any:
    return (
        jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.tanh(z), jnp.abs(z), jnp.angle(z), z**2.5,
        jnp.sin(x), jnp.arctan2(x, 1 - x),
        lax.erf_inv(x / (1 + x)), lax.lgamma(x), lax.digamma(x), jnp.expm1(x), jnp.cbrt(x), jax.scipy.special.i0(x),
        jnp.tanh(h), jnp.exp(b), jnp.log1p(jnp.abs(h)), lax.igamma(x, x + 1), lax.bessel_i1e(x),
        jnp.round(b), jnp.rint(h),
    )  # fmt: skip


@on_gpu(arg(300, dtype=s32, fill="bits"), arg(300, dtype=u32, fill="bits"), arg(300, dtype=s8, fill="bits"))
def arithmetic_of_integers(x: A, y: A, z: A) -> Any:
    return (
        x // 7, x % 5, y // 3, lax.population_count(y), lax.clz(x), x >> 3, y << 2, z * z, -z, jnp.gcd(x, 12), x ^ 5,
        lax.shift_right_logical(x, 4), z.astype(f32), (y / 3).astype(jnp.uint8), jnp.bitwise_not(z), jnp.sign(x),
    )  # fmt: skip
