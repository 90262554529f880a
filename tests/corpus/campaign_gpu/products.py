"""Matrix products with what XLA:GPU joins to them, and convolutions."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

bf16, f16, s8, s32 = jnp.bfloat16, jnp.float16, jnp.int8, jnp.int32


@on_gpu(arg(32, 48), arg(48, 64), arg(64), arg(64, 16, fill="small"), arg(16))
def gpu_layers(x: A, w: A, b: A, v: A, c: A) -> Any:
    hidden = jax.nn.relu(x @ w + b)
    return jax.nn.gelu(hidden @ v / 8 + c)


@on_gpu(arg(32, 64, dtype=bf16), arg(64, 64, dtype=bf16, fill="small"), arg(64, dtype=bf16))
def gpu_silu_layer(x: A, w: A, b: A) -> Any:
    return jax.nn.silu(x @ w + b)


@on_gpu(arg(32, 64, dtype=s8, fill="bits"), arg(64, 32, dtype=s8, fill="bits"))
def gpu_product_of_bytes(x: A, w: A) -> Any:
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=s32)


@on_gpu(arg(2, 8, 8, 8), arg(3, 3, 8, 16, fill="small"))
def gpu_convolution(x: A, w: A) -> Any:
    return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
