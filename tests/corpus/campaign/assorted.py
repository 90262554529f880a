"""Fourier transforms, convolutions, loops, quantised products and bytes in other types."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign.registry import campaign
from tests.corpus.programs.registry import A, arg

bf16, f32, s8, s32, c64 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32, jnp.complex64


@campaign(arg(4, 6, 10), on="v5e", precise=True)
def fourier_of_three_dimensions(x: A) -> Any:
    spectrum = jnp.fft.fftn(x)
    return spectrum.real, spectrum.imag, jnp.fft.ifftn(spectrum).real


@campaign(arg(3, 21), arg(3, 64), on="v6e", precise=True)
def fourier_of_odd_lengths(x: A, y: A) -> Any:
    return jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(y), 64), jnp.fft.fft(x[:, :7])


@campaign(arg(2, 100), arg(9), on="v4", precise=True)
def convolution_by_fourier(x: A, kernel: A) -> Any:
    return jax.scipy.signal.fftconvolve(x, kernel[None], mode="same"), jnp.convolve(x[0], kernel)


@campaign(arg(2, 64, dtype=c64), on="v5p", precise=True)
def fourier_of_complex_numbers(x: A) -> Any:
    return jnp.fft.fft(x), jnp.fft.ifft2(x), jnp.fft.fftshift(x)


@campaign(arg(2, 12, 13, 8), arg(4, 4, 8, 6, fill="small"), on="v5e")
def transposed_convolution(x: A, w: A) -> Any:
    return lax.conv_transpose(x, w, (2, 3), "SAME")


@campaign(arg(2, 16, 16, 24, dtype=bf16), arg(3, 3, 6, 32, dtype=bf16, fill="small"), on="v6e")
def grouped_convolution(x: A, w: A) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (2, 1), "VALID", dimension_numbers=numbers, feature_group_count=4)


@campaign(arg(1, 7, 8, 9, 4), arg(2, 3, 2, 4, 5, fill="small"), on="v4")
def dilated_convolution_in_space(x: A, w: A) -> Any:
    numbers = ("NDHWC", "DHWIO", "NDHWC")
    return lax.conv_general_dilated(x, w, (1, 2, 1), "SAME", rhs_dilation=(2, 1, 3), dimension_numbers=numbers)


@campaign(arg(2, 9, 9, 16, dtype=s8, fill="bits"), arg(3, 3, 16, 8, dtype=s8, fill="bits"), on="v5e")
def convolution_of_bytes(x: A, w: A) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers, preferred_element_type=s32)


@campaign(arg(2, 10, 11, 6), arg(3, 3, 6, 7, fill="small"), on="tpu7x")
def gradients_of_a_convolution(x: A, w: A) -> Any:
    def loss(x: A, w: A) -> A:
        return (lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) ** 2).sum()

    return jax.grad(loss, (0, 1))(x, w)


@campaign(arg(9, 4, 16), arg(32, 64, fill="small"), on="v5e")
def recurrent_gates(xs: A, w: A) -> Any:
    def cell(state: Any, x: A) -> Any:
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(cell, (jnp.zeros((4, 16)), jnp.zeros((4, 16))), xs)


@campaign(arg(6, 20), on="v6e")
def branches_within_loops(x: A) -> Any:
    def outer(carry: A, row: A) -> Any:
        def inner(i: A, state: A) -> Any:
            return lax.cond(state.sum() > i, lambda s: s * 0.5 + row, lambda s: s - 1.0, state)

        return lax.fori_loop(0, 3, inner, carry), carry.max()

    return lax.scan(outer, jnp.ones(20), x)


@campaign(arg(40, 3), on="v4")
def products_of_prefixes(x: A) -> Any:
    def compose(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    return lax.associative_scan(compose, (jnp.tanh(x), x)), lax.cumlogsumexp(x, 0), lax.cummax(x, 1)


@campaign(arg(1, fill="positive"), on="v5p")
def loop_that_ends_early(x: A) -> Any:
    def goes_on(state: Any) -> Any:
        return (state[0] < 100) & (state[1][0] < 50.0)

    return lax.while_loop(goes_on, lambda s: (s[0] + 1, s[1] * 1.5 + 0.25), (0, x))


@campaign(arg(16, 256, dtype=bf16), arg(256, 128, dtype=s8, fill="bits"), arg(128, fill="positive"), on="v5e")
def product_of_quantised_weights(x: A, w: A, scale: A) -> Any:
    return (x @ (w.astype(bf16) / 64)).astype(f32) * scale


@campaign(arg(64, 128, dtype=s8, fill="bits"), arg(128, 64, dtype=s8, fill="bits"), on="v6e")
def product_of_bytes(a: A, b: A) -> Any:
    total = lax.dot(a, b, preferred_element_type=s32)
    return total, jnp.clip(total >> 8, -128, 127).astype(s8)


@campaign(arg(48, 256, dtype=jnp.float8_e4m3fn), arg(256, 32, dtype=jnp.float8_e5m2, fill="small"), on="tpu7x")
def product_of_eighths(a: A, b: A) -> Any:
    return lax.dot(a, b, preferred_element_type=f32)


@campaign(arg(32, 512, dtype=jnp.int4, fill="below:8"), arg(8, 32), on="v5e")
def product_of_nibbles(w: A, x: A) -> Any:
    return x @ w.astype(f32), w.astype(s8).sum(1, dtype=s32)


@campaign(arg(6, 40, dtype=s8, fill="bits"), arg(3, 80, dtype=bf16), on="v5e")
def bytes_read_as_other_types(a: A, b: A) -> Any:
    halves = lax.bitcast_convert_type(a.reshape(6, 20, 2), jnp.int16)
    return halves, lax.bitcast_convert_type(b, jnp.uint16), lax.bitcast_convert_type(b, jnp.uint8)


@campaign(arg(2, 4, 40, 32, dtype=bf16), arg(2, 4, 40, 32, dtype=bf16), arg(2, 4, 40, 32, dtype=bf16), on="v6e")
def attention_with_gradient(q: A, k: A, v: A) -> Any:
    def loss(q: A) -> A:
        return jax.nn.dot_product_attention(q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2)).astype(f32).sum()

    return jax.value_and_grad(loss)(q)


@campaign(arg(4, 33, dtype=jnp.float64), arg(33, 5, dtype=jnp.float64), on="v5e", x64=True)
def sums_in_double_precision(a: A, b: A) -> Any:
    return jnp.cumsum(a, 1), a @ b, jnp.sort(a, 1), a.max(0) / 3


@campaign(arg(6, 8, dtype=jnp.float64), arg(6, 8, dtype=jnp.complex128), on="v6e", x64=True)
def functions_in_double_precision(x: A, z: A) -> Any:
    return jnp.exp(x), jnp.sin(x), jnp.tanh(x), lax.erf(x), jnp.log1p(jnp.abs(x)), jnp.exp(z), jnp.abs(z)


@campaign(arg(300, dtype=jnp.int64, fill="bits"), on="v4", x64=True)
def integers_of_64_bits(x: A) -> Any:
    return jnp.sort(x), x // 1000, x ^ (x >> 7), lax.population_count(x), x * 12345


@campaign(arg(2, dtype=jnp.uint32, fill="bits"), on="v5e")
def random_bits_and_permutation(key: A) -> Any:
    first, second = jax.random.split(jax.random.wrap_key_data(key))
    return jax.random.bits(first, (50,)), jax.random.permutation(second, 40), jax.random.randint(first, (9,), 0, 77)


@campaign(arg(3, 5, 7, 11), on="v5p")
def dimensions_rearranged(x: A) -> Any:
    return (
        x.transpose(2, 0, 3, 1).reshape(7, 33, 5),
        x.reshape(15, 77)[::-1, 5::3],
        jnp.pad(x, ((0, 0), (1, 2), (0, 3), (2, 0))),
    )
