"""Matrix products with what XLA:GPU joins to them: biases, activations, scales, additions, transposes, batches."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

bf16, f16, f32, f64 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64
c64, c128, s8, s32 = jnp.complex64, jnp.complex128, jnp.int8, jnp.int32
e4m3, e5m2 = jnp.float8_e4m3fn, jnp.float8_e5m2


@on_gpu(arg(32, 48), arg(48, 64), arg(64), arg(64, 16, fill="small"), arg(16))
def layers_with_biases(x: A, w: A, b: A, v: A, c: A) -> Any:
    hidden = jax.nn.relu(x @ w + b)
    return jax.nn.gelu(hidden @ v / 8 + c)


@on_gpu(arg(32, 64, dtype=bf16), arg(64, 64, dtype=bf16, fill="small"), arg(64, dtype=bf16))
def layers_of_halves(x: A, w: A, b: A) -> Any:
    return jax.nn.silu(x @ w + b), jax.nn.relu(x @ w + b), jax.nn.gelu(x @ w), jax.nn.gelu(x @ w + b, approximate=False)


@on_gpu(arg(16, 32, dtype=f16), arg(32, 24, dtype=f16, fill="small"), arg(16, 24, dtype=f16), arg(24, dtype=f16))
def product_added_to_a_matrix(x: A, w: A, c: A, b: A) -> Any:
    return x @ w + c, 0.5 * (x @ w) + c * 2, x @ w + c + b, jax.nn.relu(x @ w + c)


@on_gpu(arg(32, 64, dtype=s8, fill="bits"), arg(64, 32, dtype=s8, fill="bits"))
def product_of_bytes_in_words(x: A, w: A) -> Any:
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=s32)


@on_gpu(arg(32, 64, dtype=s8, fill="bits"), arg(64, 32, dtype=s8, fill="bits"), arg(32), arg(32, fill="positive"))
def quantized_layer(x: A, w: A, b: A, scale: A) -> Any:
    sums = lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=s32)
    return jax.nn.relu(sums.astype(f32) * scale / 4096 + b)


@on_gpu(arg(64, 64, dtype=e4m3), arg(64, 64, dtype=e4m3, fill="small"), arg(fill="positive"), arg(fill="positive"))
def product_of_eighths_with_scales(x: A, w: A, a: A, b: A) -> Any:
    return (x.astype(f32) * a) @ (w.astype(f32) * b)


@on_gpu(arg(64, 64, dtype=e4m3), arg(64, 64, dtype=e5m2, fill="small"), arg(fill="positive"), arg(64, dtype=bf16))
def layer_of_eighths_that_are_rounded_again(x: A, w: A, a: A, b: A) -> Any:
    wide = (x.astype(bf16) * a.astype(bf16)) @ (w.astype(bf16) * a.astype(bf16))
    found = jax.nn.relu(wide + b)
    return jnp.clip(found / a.astype(bf16) / 64, -448, 448).astype(e4m3)


@on_gpu(arg(32, 64, dtype=e4m3), arg(64, 32, dtype=e4m3))
def product_of_eighths_in_words(x: A, w: A) -> Any:
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=f32)


def multiplied_blocks(x: A, w: A, a: A, b: A) -> Any:
    wide = [jnp.asarray(m).astype(f32) * jnp.repeat(jnp.asarray(s).astype(f32), 32, 2) for m, s in ((x, a), (w, b))]
    return jnp.einsum("bik,bjk->bij", *wide)


@on_gpu(
    arg(2, 32, 64, dtype=e4m3), arg(2, 16, 64, dtype=e4m3),
    arg(2, 32, 2, dtype=jnp.float8_e8m0fnu, fill="positive"), arg(2, 16, 2, dtype=jnp.float8_e8m0fnu, fill="positive"),
    reference=multiplied_blocks,
)  # fmt: skip
def product_of_blocks_with_scales(x: A, w: A, a: A, b: A) -> Any:
    return jax.nn.scaled_matmul(x, w, a, b)


@on_gpu(arg(3, 8, 12), arg(3, 12, 6), arg(12, 6), arg(3, 12, 8))
def products_of_batches(x: A, y: A, z: A, w: A) -> Any:
    return x @ y, x @ z, jnp.einsum("bki,bkj->bij", w, y), jnp.einsum("bik,bkj->ijb", x, y)


@on_gpu(arg(8, 12, dtype=c64), arg(12, 6, dtype=c64))
def products_of_complex_numbers(x: A, y: A) -> Any:
    return x @ y, x.conj() @ y, (2 - 1j) * (x @ y), jnp.einsum("ik,jk->ij", x, x.conj())


@on_gpu(arg(8, 12, dtype=f64), arg(12, 6, dtype=f64), arg(8, 6, dtype=f64), x64=True)
def products_in_double_precision(x: A, y: A, c: A) -> Any:
    return x @ y + 3 * c, jnp.tanh(y.T @ x.T)


@on_gpu(arg(8, 12, dtype=c128), arg(12, 6, dtype=c128), x64=True)
def products_of_double_complex_numbers(x: A, y: A) -> Any:
    return x @ y, (x @ y).real


@on_gpu(arg(64), arg(64), arg(64, 48), arg(48))
def products_with_vectors(x: A, y: A, m: A, z: A) -> Any:
    return x @ y, x @ m, m @ z, jnp.outer(x, z)


@on_gpu(arg(32, 64), arg(64, 32, fill="small"), arg(32), arg(32, 32))
def gradients_of_a_layer(x: A, w: A, b: A, target: A) -> Any:
    return jax.value_and_grad(lambda w, b: jnp.mean((jax.nn.gelu(x @ w + b) - target) ** 2), (0, 1))(w, b)


def multiplied(x: A, w: A) -> Any:
    return [jnp.asarray(x).astype(f32) @ jnp.asarray(w).astype(f32)] * 5


@on_gpu(arg(32, 64, dtype=bf16), arg(64, 32, dtype=bf16), reference=multiplied)
def products_by_algorithms(x: A, w: A) -> Any:
    wide = x.astype(f32), w.astype(f32)
    algorithms = ("BF16_BF16_F32_X3", "TF32_TF32_F32", "F32_F32_F32", "BF16_BF16_F32_X6")
    found = [lax.dot(*wide, precision=lax.DotAlgorithmPreset[each]) for each in algorithms]
    return found, lax.dot(x, w, preferred_element_type=f32)


@on_gpu(arg(48, 32), arg(4, 32, 16), arg(4, dtype=s32, fill="parts:48"))
def product_of_groups(x: A, w: A, sizes: A) -> Any:
    return lax.ragged_dot(x, w, sizes)


@on_gpu(arg(16, 64, dtype=jnp.int4, fill="bits"), arg(64, 32, dtype=bf16), arg(32, 64, dtype=s8, fill="bits"))
def weights_in_few_bits(w: A, x: A, v: A) -> Any:
    return w.astype(bf16) @ x, v.astype(bf16) @ x


@on_gpu(arg(2, 3, 4, 5), arg(5, 3, 6), arg(4, 2, 7))
def contractions_of_several_dimensions(x: A, y: A, z: A) -> Any:
    return (
        jnp.einsum("abcd,dbe->ace", x, y),
        jnp.einsum("abcd,dbe,caf->ef", x, y, z),
        jnp.tensordot(x, y, ((3, 1), (0, 1))),
    )
