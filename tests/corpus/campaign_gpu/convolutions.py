"""Convolutions of all kinds, forward and backward, as cuDNN computes them."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

e4m3 = jnp.float8_e4m3fn
bf16, f16, f32, f64, c64, s8, s32 = (
    jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64, jnp.complex64, jnp.int8, jnp.int32
)  # fmt: skip
NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")
conv = lax.conv_general_dilated


@on_gpu(arg(2, 8, 8, 8), arg(3, 3, 8, 16, fill="small"), arg(16))
def convolution_with_bias_and_relu(x: A, w: A, b: A) -> Any:
    return jax.nn.relu(conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC) + b)


@on_gpu(arg(2, 4, 9, 7), arg(6, 4, 3, 3, fill="small"), arg(6), arg(2, 6, 9, 7))
def convolutions_with_activations(x: A, w: A, b: A, side: A) -> Any:
    y = conv(x, w, (1, 1), "SAME", dimension_numbers=NCHW) + b[:, None, None]
    leaky = jnp.where(y > 0, y, 0.125 * y)
    return jax.nn.elu(y), jnp.clip(y, 0, 6), leaky, jax.nn.relu(y + side), jax.nn.relu(y + 0.5 * side)


@on_gpu(arg(2, 8, 8, 8, dtype=f16), arg(3, 3, 8, 16, dtype=f16, fill="small"), arg(16, dtype=f16))
def convolutions_of_halves_with_activations(x: A, w: A, b: A) -> Any:
    y = conv(x, w, (2, 2), ((1, 1), (1, 1)), dimension_numbers=NHWC) + b
    return jax.nn.relu(y), jax.nn.elu(y), jnp.clip(y, 0, 6), jnp.where(y > 0, y, 0.25 * y), 2 * y


@on_gpu(arg(2, 8, 8, 8, dtype=bf16), arg(3, 3, 8, 16, dtype=bf16, fill="small"))
def convolution_of_bf16(x: A, w: A) -> Any:
    y = conv(x, w, (1, 1), "VALID", dimension_numbers=NHWC)
    return y, conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=f32)


@on_gpu(arg(2, 12, 5), arg(4, 5, 7, fill="small"))
def convolution_along_one_dimension(x: A, w: A) -> Any:
    layout = ("NWC", "WIO", "NWC")
    y = conv(x, w, (2,), ((3, 1),), dimension_numbers=layout)
    return y, jax.grad(lambda x, w: (conv(x, w, (1,), "SAME", dimension_numbers=layout) ** 2).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 5, 6, 4, 3), arg(2, 3, 2, 3, 8, fill="small"))
def convolution_in_space(x: A, w: A) -> Any:
    call = partial(conv, window_strides=(1, 2, 1), padding="SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
    return call(x, w), jax.grad(lambda x, w: (call(x, w) ** 2).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 8, 8, 8), arg(3, 3, 2, 12, fill="small"))
def grouped_convolution_and_gradients(x: A, w: A) -> Any:
    call = partial(conv, window_strides=(1, 1), padding="SAME", dimension_numbers=NHWC, feature_group_count=4)
    return call(x, w), jax.grad(lambda x, w: jnp.tanh(call(x, w)).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 8, 8, 6), arg(3, 3, 1, 6, fill="small"))
def depthwise_convolution_and_gradients(x: A, w: A) -> Any:
    call = partial(conv, window_strides=(2, 1), padding="SAME", dimension_numbers=NHWC, feature_group_count=6)
    return call(x, w), jax.grad(lambda x, w: jnp.tanh(call(x, w)).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 4, 10, 11), arg(8, 4, 3, 3, fill="small"))
def dilated_convolution_and_gradients(x: A, w: A) -> Any:
    call = partial(conv, window_strides=(1, 1), padding=((2, 1), (0, 3)), rhs_dilation=(2, 3), dimension_numbers=NCHW)
    return call(x, w), jax.grad(lambda x, w: jnp.tanh(call(x, w)).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 5, 6, 4), arg(3, 3, 4, 8, fill="small"))
def transposed_convolution_and_gradients(x: A, w: A) -> Any:
    call = partial(lax.conv_transpose, strides=(2, 2), padding="SAME", dimension_numbers=NHWC)
    return call(x, w), jax.grad(lambda x, w: jnp.tanh(call(x, w)).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 9, 9, 4), arg(3, 3, 4, 8, fill="small"))
def strided_convolution_and_gradients(x: A, w: A) -> Any:
    call = partial(conv, window_strides=(2, 3), padding=((1, 0), (2, 1)), dimension_numbers=NHWC)
    return call(x, w), jax.grad(lambda x, w: jnp.tanh(call(x, w)).sum(), (0, 1))(x, w)


@on_gpu(arg(4, 6, 6, 8), arg(3, 3, 8, 6, fill="small"))
def convolution_with_groups_of_the_batch(x: A, w: A) -> Any:
    return conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC, batch_group_count=2)


@on_gpu(arg(2, 8, 8, 8, dtype=s8, fill="below:4"), arg(3, 3, 8, 8, dtype=s8, fill="below:3"), arg(8, fill="below:9"))
def convolutions_of_bytes_with_scale(x: A, w: A, b: A) -> Any:
    # Whole numbers: cuDNN rounds where the program truncates.
    sums = conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=s32)
    wide = sums.astype(f32) * 2 + b
    return jnp.clip(jax.nn.relu(wide), -128, 127).astype(s8)


@on_gpu(arg(2, 8, 8, 4, dtype=s8, fill="bits"), arg(3, 3, 4, 4, dtype=s8, fill="bits"))
def convolution_of_bytes_in_floats(x: A, w: A) -> Any:
    sums = conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=s32)
    return sums.astype(f32)


@on_gpu(
    arg(2, 8, 8, 64, dtype=s8, fill="below:3"), arg(3, 3, 64, 32, dtype=s8, fill="below:2"), arg(32, fill="below:9")
)
def convolution_of_bytes_in_vectors(x: A, w: A, b: A) -> Any:
    sums = conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=s32)
    return jnp.clip(sums.astype(f32) - jnp.round(9 * b), -128, 127).astype(s8)


@on_gpu(arg(2, 7, 7, 3, dtype=f64), arg(3, 3, 3, 4, dtype=f64), x64=True)
def convolution_in_double_precision(x: A, w: A) -> Any:
    call = partial(conv, window_strides=(1, 1), padding="SAME", dimension_numbers=NHWC)
    return call(x, w), jax.grad(lambda x, w: (call(x, w) ** 2).sum(), (0, 1))(x, w)


@on_gpu(arg(2, 7, 7, 3, dtype=c64), arg(3, 3, 3, 4, dtype=c64))
def convolution_of_complex_numbers(x: A, w: A) -> Any:
    return conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC)


@on_gpu(arg(1, 16, 16, 3), arg(5, 5, 3, 8, fill="small"), arg(3, 3, 8, 16, fill="small"), arg(64, 10, fill="small"))
def small_network(x: A, w: A, v: A, u: A) -> Any:
    def loss(w: A, v: A, u: A) -> A:
        y = jax.nn.relu(conv(x, w, (2, 2), "SAME", dimension_numbers=NHWC))
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        y = jax.nn.relu(conv(y, v, (2, 2), "SAME", dimension_numbers=NHWC))
        return jax.nn.logsumexp(y.reshape(1, -1) @ u)

    return jax.value_and_grad(loss, (0, 1, 2))(w, v, u)


@on_gpu(arg(2, 6, 6, 16), arg(1, 1, 16, 8, fill="small"), arg(2, 6, 6, 8))
def convolution_of_points(x: A, w: A, side: A) -> Any:
    return conv(x, w, (1, 1), "VALID", dimension_numbers=NHWC) + side


@on_gpu(arg(2, 6, 6, 4), arg(3, 3, 4, 4, fill="small"))
def reversed_convolution(x: A, w: A) -> Any:
    y = conv(x, w[::-1, ::-1], (1, 1), "SAME", dimension_numbers=NHWC)
    return y, conv(
        x, jnp.swapaxes(w, 2, 3)[::-1, ::-1], (1, 1), ((1, 1), (1, 1)), lhs_dilation=(2, 2), dimension_numbers=NHWC
    )


@on_gpu(arg(3, 3, 8, 6), arg(2, 8, 8, 8), arg(2, 6, 6, 6))
def gradient_of_a_filter_in_halves(w: A, x: A, y: A) -> Any:
    wide = x.astype(f16), w.astype(f16)
    _, back = jax.vjp(lambda x, w: conv(x, w, (1, 1), "VALID", dimension_numbers=NHWC), *wide)
    return back(y.astype(f16))


@on_gpu(arg(2, 8, 8, 16, dtype=e4m3), arg(3, 3, 16, 16, dtype=e4m3, fill="small"), arg(fill="positive"))
def convolutions_of_eighths(x: A, w: A, scale: A) -> Any:
    y = conv(x.astype(f32) * scale, w.astype(f32), (1, 1), "SAME", dimension_numbers=NHWC)
    largest = jnp.abs(y).max()
    return jnp.clip(y / scale, -448, 448).astype(e4m3), largest


def leaky(y: A) -> A:
    return jnp.where(y > 0, y, 0.125 * y)


@on_gpu(arg(2, 8, 8, 16, dtype=e4m3), arg(3, 3, 16, 16, dtype=e4m3, fill="small"), arg(), arg(2, 8, 8, 16))
def layers_of_eighths(x: A, w: A, scale: A, side: A) -> Any:
    found = []
    ways: tuple[Any, ...] = (jax.nn.relu, lambda y: jnp.clip(y, 0, 6), jax.nn.elu, leaky)
    for number, activated in enumerate(ways):
        y = conv(jnp.roll(x, number, 1).astype(f32), w.astype(f32) * scale, (1, 1), "SAME", dimension_numbers=NHWC)
        y = activated(y + side)
        found.append((jnp.clip(y * scale, -448, 448).astype(e4m3), jnp.abs(y).max()))
    return found


@on_gpu(arg(2, 8, 8, 16, dtype=e4m3), arg(3, 3, 16, 16, dtype=e4m3, fill="small"))
def convolution_of_eighths_in_halves(x: A, w: A) -> Any:
    return conv(x.astype(bf16), w.astype(bf16), (2, 1), "SAME", dimension_numbers=NHWC)
