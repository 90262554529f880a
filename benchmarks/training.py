"""Compiles the Adam step of a language model for a TPU, as long as is asked for.

Run: python -m benchmarks.training LAYERS FILE (some minutes of one core; needs libtpu, not a TPU)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from relayout.jax.modules import dump

WIDTH, VOCABULARY, POSITIONS, HEADS, BATCH = 256, 4096, 1024, 4, 2
_RATE, _FIRST, _SECOND, _SMALL = 1e-3, 0.9, 0.999, 1e-8
Weights = Mapping[str, Any]


def weights(layers: int) -> dict[str, Any]:
    """Returns the shapes of a model's weights."""

    def array(*dimensions: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(dimensions, jnp.float32)

    layer = {
        "down": array(4 * WIDTH, WIDTH),
        "norms": array(2, WIDTH),
        "out": array(WIDTH, WIDTH),
        "qkv": array(WIDTH, 3 * WIDTH),
        "up": array(WIDTH, 4 * WIDTH),
    }
    return {
        "embedding": array(VOCABULARY, WIDTH),
        "positions": array(POSITIONS, WIDTH),
        "layers": [dict(layer) for _ in range(layers)],
    }


def _normalized(x: Any, scale: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale


def _attention(x: Any, layer: Weights) -> Any:
    batch, length, _ = x.shape
    q, k, v = jnp.split((x @ layer["qkv"]).reshape(batch, length, HEADS, -1), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[-1] ** -0.5)
    causal = jnp.tril(jnp.ones((length, length), bool))
    weighted = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(causal, scores, -jnp.inf)), v)
    return weighted.reshape(batch, length, WIDTH) @ layer["out"]


def _loss(model: Weights, tokens: Any) -> Any:
    x = model["embedding"][tokens[:, :-1]] + model["positions"]
    for layer in model["layers"]:
        x = x + _attention(_normalized(x, layer["norms"][0]), layer)
        x = x + jax.nn.gelu(_normalized(x, layer["norms"][1]) @ layer["up"]) @ layer["down"]
    logits = jax.nn.log_softmax(x @ model["embedding"].T)
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


def step(model: Weights, first: Weights, second: Weights, count: Any, tokens: Any) -> Any:
    """Returns the model, both moments and the count after one step of Adam."""
    gradient = jax.grad(_loss)(model, tokens)
    first = jax.tree.map(lambda m, g: _FIRST * m + (1 - _FIRST) * g, first, gradient)
    second = jax.tree.map(lambda v, g: _SECOND * v + (1 - _SECOND) * g * g, second, gradient)
    count = count + 1
    rate = _RATE * jnp.sqrt(1 - _SECOND**count) / (1 - _FIRST**count)
    model = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + _SMALL), model, first, second)
    return model, first, second, count


def compiled(layers: int) -> str:
    """Returns the optimized dump of a step, for a TPU v4."""
    model, count = weights(layers), jax.ShapeDtypeStruct((), jnp.int32)
    tokens = jax.ShapeDtypeStruct((BATCH, POSITIONS + 1), jnp.int32)
    return dump(step, model, model, model, count, tokens, target="tpu-v4").module.text()


def main() -> int:
    """Writes the dump of as many layers as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", type=int)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    arguments.file.write_text(compiled(arguments.layers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
