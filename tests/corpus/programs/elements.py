"""Element types: each one stored, converted, computed with, and read as another."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

bf16, f16, f32, f64 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64
s8, s16, s32, s64 = jnp.int8, jnp.int16, jnp.int32, jnp.int64
u8, u16, u32, u64 = jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64


@program(arg(24, 200, dtype=s8, fill="bits"), arg(24, 200, dtype=u8, fill="bits"))
def bytes_arithmetic(x: A, y: A) -> Any:
    wide = x.astype(s32) * y.astype(s32)
    return (wide >> 7).astype(s8), y ^ x.astype(u8), (x.T + s8(3)), jnp.minimum(y, u8(200))[:, 40:173]


@program(arg(20, 260, dtype=s16, fill="bits"), arg(260, 20, dtype=u16, fill="bits"), on="v4")
def halves_arithmetic(x: A, y: A) -> Any:
    return x * s16(5) + y.T.astype(s16), y.sum(0, dtype=u32), jnp.abs(x[::2]), (y >> u16(3)).reshape(130, 40)


@program(arg(9, 130, dtype=jnp.int4, fill="bits"), arg(9, 130, dtype=jnp.uint4, fill="bits"), on="v6e")
def nibbles(x: A, y: A) -> Any:
    return x.astype(s8) * s8(3), (y.astype(s32) + 1).astype(jnp.uint4), x.T, lax.concatenate([x, x[:4]], 0)


@program(arg(7, 66, dtype=u64, fill="bits"), arg(7, 66, dtype=s64, fill="bits"), x64=True)
def wide_integers(x: A, y: A) -> Any:
    return x * u64(3) + y.astype(u64), y & 0x7FFF, (x >> u64(33)).astype(u32), y.T.sum(0), jnp.maximum(y, -5)


@program(arg(6, 140, dtype=f64), arg(140, dtype=f64, fill="positive"), on="v4", x64=True)
def double_precision(x: A, y: A) -> Any:
    return x * y + 0.125, x.sum(1), x.astype(f32), jnp.where(x > y, x, -y).T


@program(arg(12, 200, dtype=f16), arg(200, 12, dtype=f16), on="v6e")
def half_precision(x: A, y: A) -> Any:
    return x * y.T + f16(0.5), jnp.maximum(x, 0).sum(1), jnp.tanh(x.astype(f32)).astype(f16)


@program(arg(10, 256, dtype=jnp.float8_e4m3fn), arg(10, 256, dtype=jnp.float8_e5m2), on="tpu7x")
def eighths(x: A, y: A) -> Any:
    total = x.astype(f32) + y.astype(f32)
    return total.astype(jnp.float8_e4m3fn), total.astype(jnp.float8_e5m2), y.T, x[3:9, 17:200]


@program(arg(33, 70, dtype=jnp.float8_e4m3b11fnuz), arg(33, 70, dtype=jnp.float8_e4m3b11fnuz), on="v5e")
def eighths_b11(x: A, y: A) -> Any:
    return x.astype(bf16) * y.astype(bf16), x.T, (x.astype(f32) - 1).astype(jnp.float8_e4m3b11fnuz)


@program(arg(16, 300, dtype=jnp.float4_e2m1fn), on="tpu7x")
def quarter_bytes(x: A) -> Any:
    return x.astype(bf16) * bf16(2), x.T, x[:, 5:133]


@program(arg(5, 150, dtype=jnp.complex64), arg(5, 150, dtype=jnp.complex64))
def complex_arithmetic(x: A, y: A) -> Any:
    return x * jnp.conj(y), jnp.abs(x), (x + 1j).T, lax.complex(x.imag, y.real)


@program(arg(30, 257, dtype=jnp.bool_, fill="below:2"), arg(257, dtype=jnp.bool_, fill="below:2"), on="v4")
def predicates(m: A, n: A) -> Any:
    return m & n, jnp.logical_not(m).T, m.sum(0), m.astype(s8) - 1, jnp.where(m, n, ~n)[5:, ::2]


@program(arg(16, 256), arg(12, 128, dtype=s32, fill="bits"), arg(8, 512, dtype=u8, fill="bits"))
def read_as_other_type(x: A, y: A, z: A) -> Any:
    halves = lax.bitcast_convert_type(x, u16)
    return (
        lax.bitcast_convert_type(x, s32) & 0x7FFF,
        halves.reshape(16, 512),
        lax.bitcast_convert_type(y, u8).transpose(2, 0, 1),
        lax.bitcast_convert_type(z.reshape(8, 128, 4), u32),
    )


@program(arg(12, 300), arg(12, 300, fill="positive"), on="v6e")
def rounding_and_signs(x: A, y: A) -> Any:
    clamped = lax.clamp(-1.0, x, y)
    return jnp.round(x * 3), jnp.floor(x), jnp.ceil(y), jnp.sign(x), clamped, lax.rem(x, y), jnp.copysign(y, x)


@program(arg(8, 200), arg(8, 200, fill="positive"), on="v4")
def transcendental(x: A, y: A) -> Any:
    return jnp.expm1(x), jnp.log1p(y), lax.erf_inv(jnp.tanh(x)), jnp.cbrt(y), jnp.arctan2(x, y), lax.digamma(y)


@program(arg(6, 130, dtype=u32, fill="bits"), arg(6, 130, dtype=u32, fill="below:40"), on="v5p")
def bit_operations(x: A, y: A) -> Any:
    return lax.population_count(x), lax.clz(x), x << y, lax.shift_right_arithmetic(x.astype(s32), s32(3)), x ^ ~y


@program(arg(2, dtype=u32, fill="bits"), arg(4, dtype=u32, fill="bits"), on="v5e")
def random_bits(key: A, wide_key: A) -> Any:
    threefry = jax.random.wrap_key_data(key, impl="threefry2x32")
    _, philox = lax.rng_bit_generator(wide_key, (5, 260), algorithm=lax.RandomAlgorithm.RNG_PHILOX)
    return jax.random.uniform(threefry, (9, 140)), philox


@program(arg(2, dtype=u32, fill="bits"), arg(20, 100), on="v6e")
def dropout(key: A, x: A) -> Any:
    keep = jax.random.bernoulli(jax.random.wrap_key_data(key, impl="threefry2x32"), 0.75, x.shape)
    return jnp.where(keep, x / 0.75, 0), keep


@program(arg(24, 250), arg(24, 250, dtype=bf16), on="tpu7x")
def narrow_and_widen(x: A, y: A) -> Any:
    return (
        lax.reduce_precision(x, 8, 7),
        x.astype(bf16) + y,
        (x * 40).astype(s8),
        y.astype(f16),
        lax.nextafter(x, 2 * x),
    )
