"""Data movement: transposes, reshapes, pads, slices and concatenations that change the tiles."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import A, arg, program

bf16, f32, s8, s16, s32, u8 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int16, jnp.int32, jnp.uint8


@program(arg(4, 12, 130), arg(16, 3, 256, dtype=bf16), on="v4")
def transposes_of_tiles(x: A, y: A) -> Any:
    return x.transpose(1, 0, 2), y.transpose(2, 1, 0), y.swapaxes(0, 1).reshape(48, 256), x.transpose(0, 2, 1) + 1


@program(arg(16, 384), arg(16, 512, dtype=bf16), arg(32, 512, dtype=s8, fill="bits"))
def reshapes_across_tiles(x: A, y: A, z: A) -> Any:
    return (
        x.reshape(16, 3, 128).transpose(1, 0, 2),
        y.reshape(4, 4, 4, 128).swapaxes(1, 2).reshape(16, 512),
        z.reshape(8, 4, 512)[:, 1],
        x.reshape(48, 128) * 2,
        z.reshape(128, 128).T,
    )


@program(arg(10, 18, 5, 7, dtype=s16, fill="bits"), arg(1, 600), on="v6e")
def reshape_chains(x: A, y: A) -> Any:
    flat = x.reshape(180, 35).T.reshape(7, 900)
    return flat, y.reshape(20, 30).T.reshape(4, 150), x.transpose(3, 0, 2, 1).reshape(70, 90), y.reshape(600, 1) + 1


@program(arg(9, 210), arg(17, 30, dtype=bf16), on="v5e")
def pads_with_holes(x: A, y: A) -> Any:
    return (
        lax.pad(x, 1.5, ((-2, 3, 0), (1, -30, 1))),
        lax.pad(y, bf16(-1), ((0, 2, 3), (-4, -5, 0))),
        jnp.pad(x, ((2, 1), (3, 4)), mode="reflect"),
    )


@program(
    arg(6, 200, dtype=u8, fill="bits"), arg(3, 200, dtype=u8, fill="bits"), arg(6, 77, dtype=u8, fill="bits"), on="v4"
)
def concatenations(x: A, y: A, z: A) -> Any:
    return jnp.concatenate([x, y, x]), jnp.concatenate([z, x, z[:, :5]], 1), jnp.stack([x, x[::-1]], 1)


@program(arg(4, 10, 260), arg(260, dtype=s32, fill="bits"), on="tpu7x")
def reversals_and_strides(x: A, y: A) -> Any:
    return x[::-1, 1::3, ::-2], lax.rev(x, (1, 2)), y[::-1][7:200:5], jnp.flip(x, 2)[0]


@program(arg(13, 250), on="v6e", elided=True)
def large_constants(x: A) -> Any:
    rng = np.random.default_rng(7)
    table = np.round(rng.standard_normal((13, 250)) * 8).astype(np.float32) / 8
    order = rng.permutation(250).astype(np.int32)
    return x * table, x[:, order], jnp.asarray(rng.integers(-100, 100, (40, 30)).astype(np.int8)).T


@program(arg(5, 140), arg(140, dtype=bf16), on="v5p")
def broadcasts(x: A, y: A) -> Any:
    return (
        jnp.broadcast_to(x[:, None], (5, 3, 140)).reshape(15, 140),
        jnp.broadcast_to(y[:, None], (140, 9)),
        lax.broadcast_in_dim(y, (2, 140, 4), (1,)) * bf16(2),
        jnp.meshgrid(x[0, :6], x[1, :9]),
    )


@program(arg(12, 256), on="v5e")
def iotas(x: A) -> Any:
    rows = lax.broadcasted_iota(s32, (12, 256), 0)
    columns = lax.broadcasted_iota(s32, (12, 256), 1)
    return jnp.where((rows * 7 + columns) % 5 == 0, x, 0), jnp.triu(x[:, :12], 2), jnp.linspace(0, 1, 200), rows.T


@program(arg(2, 16, 16, 12, dtype=bf16), arg(4, 6, 140), on="v2")
def space_to_depth(x: A, y: A) -> Any:
    blocks = x.reshape(2, 8, 2, 8, 2, 12).transpose(0, 1, 3, 2, 4, 5).reshape(2, 8, 8, 48)
    return blocks, y.reshape(24, 140).T.reshape(14, 10, 24), jnp.squeeze(y[:1], 0)
