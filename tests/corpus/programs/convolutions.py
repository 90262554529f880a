"""Convolutions of every kind, and their gradients."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

bf16, f32, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32
NHWC = ("NHWC", "HWIO", "NHWC")
NCHW = ("NCHW", "OIHW", "NCHW")


def _max_pool(x: A) -> A:
    return jnp.asarray(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))


@program(
    arg(2, 12, 12, 3), arg(3, 3, 3, 8, fill="small"), arg(288, 10, fill="small"), arg(2, dtype=s32, fill="below:10")
)
def conv_net_gradient(x: A, w: A, head: A, labels: A) -> Any:
    def loss(w: A, head: A) -> A:
        features = _max_pool(jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC)))
        scores = jax.nn.log_softmax(features.reshape(2, 288) @ head)
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    return jax.value_and_grad(loss, (0, 1))(w, head)


@program(arg(2, 9, 9, 40, dtype=bf16), arg(3, 3, 1, 40, dtype=bf16), arg(1, 1, 40, 12, dtype=bf16), on="v4")
def depthwise_separable(x: A, depthwise: A, pointwise: A) -> Any:
    y = lax.conv_general_dilated(x, depthwise, (1, 1), "SAME", dimension_numbers=NHWC, feature_group_count=40)
    return lax.conv_general_dilated(y, pointwise, (2, 2), "VALID", dimension_numbers=NHWC)


@program(arg(2, 12, 7, 8), arg(12, 4, 3, 3), on="v6e")
def grouped_conv(x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1, 2), ((1, 1), (0, 2)), dimension_numbers=NCHW, feature_group_count=3)


@program(arg(1, 16, 20, 5), arg(3, 3, 5, 7), arg(4, 4, 7, 3), on="v5p")
def dilated_and_transposed_conv(x: A, w: A, w_up: A) -> Any:
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME", rhs_dilation=(2, 3), dimension_numbers=NHWC)
    return y, lax.conv_transpose(y, w_up, (2, 2), "SAME", dimension_numbers=NHWC)


@program(arg(1, 5, 6, 7, 4), arg(2, 3, 3, 4, 6), on="tpu7x")
def conv3d(x: A, w: A) -> Any:
    numbers = ("NDHWC", "DHWIO", "NDHWC")
    return lax.conv_general_dilated(x, w, (1, 1, 2), "SAME", dimension_numbers=numbers)


@program(arg(2, 8, 8, 32, dtype=s8, fill="bits"), arg(3, 3, 32, 24, dtype=s8, fill="bits"))
def integer_conv(x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=NHWC, preferred_element_type=s32)


@program(arg(4, 6, 6, 4), arg(3, 3, 4, 4), on="v4")
def batch_grouped_conv(x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC, batch_group_count=2)


@program(arg(3, 200, 6), arg(4, 1, 6), on="v5e")
def causal_depthwise_conv1d(x: A, w: A) -> Any:
    numbers = ("NWC", "WIO", "NWC")
    y = lax.conv_general_dilated(x, w, (1,), ((3, 0),), dimension_numbers=numbers, feature_group_count=6)
    return jax.nn.silu(y)


@program(arg(2, 10, 10, 6), arg(3, 3, 6, 12), arg(2, 5, 5, 12), on="v6e")
def strided_conv_gradients(x: A, w: A, cotangent: A) -> Any:
    def forward(x: A, w: A) -> A:
        return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=NHWC)

    return jax.vjp(forward, x, w)[1](cotangent)
