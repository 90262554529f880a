"""Twenty programs whose TPU dumps have thousands of lines, with small arrays, so that compilation dominates a run.

Run: python -m benchmarks.large_programs FOLDER [NAME ...] (some minutes of one core; needs libtpu, not a TPU)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from relayout.jax.modules import dump, from_jax

Tree = Any
# A function and the shapes of its arguments.
Program = tuple[Callable[..., Any], tuple[Tree, ...]]
_WIDTH, _HEADS, _BATCH, _LENGTH, _VOCABULARY = 64, 4, 2, 32, 256
_IMAGES = 8


def _array(*dimensions: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dimensions, dtype)


_TOKENS = _array(_BATCH, _LENGTH, dtype=jnp.int32)


def _adam(loss: Callable[..., Any], model: Tree, *data: Tree) -> Program:
    """Returns one step of Adam."""

    def step(model: Tree, first: Tree, second: Tree, *data: Tree) -> Tree:
        value, gradient = jax.value_and_grad(loss)(model, *data)
        first = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(m.dtype), first, gradient)
        second = jax.tree.map(lambda v, g: (0.999 * v + 0.001 * g * g).astype(v.dtype), second, gradient)
        model = jax.tree.map(
            lambda w, m, v: (w - 1e-3 * m / (jnp.sqrt(jnp.abs(v)) + 1e-8)).astype(w.dtype), model, first, second
        )
        return value, model, first, second

    return step, (model, model, model, *data)


def _sgd(loss: Callable[..., Any], model: Tree, *data: Tree) -> Program:
    """Returns one step of gradient descent."""

    def step(model: Tree, *data: Tree) -> Tree:
        return jax.tree.map(lambda w, g: w - 0.01 * g, model, jax.grad(loss)(model, *data))

    return step, (model, *data)


def _normalized(x: Any, axes: Any = -1) -> Any:
    centred = x - x.mean(axes, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(axes, keepdims=True) + 1e-5)


def _attention(x: Any, qkv: Any, out: Any, mask: Any = None) -> Any:
    batch, length, width = x.shape
    q, k, v = jnp.split((x @ qkv).reshape(batch, length, _HEADS, -1), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // _HEADS) ** -0.5
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    weighted = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return weighted.reshape(batch, length, width) @ out


def _block(dtype: Any = jnp.float32) -> dict[str, Any]:
    shapes = {"qkv": (_WIDTH, 3 * _WIDTH), "out": (_WIDTH, _WIDTH), "up": (_WIDTH, 256), "down": (256, _WIDTH)}
    return {name: _array(*shape, dtype=dtype) for name, shape in shapes.items()}


def _transformed(x: Any, layers: Tree, *, is_causal: bool) -> Any:
    mask = jnp.tril(jnp.ones((x.shape[1],) * 2, bool)) if is_causal else None
    for layer in layers:
        x = x + _attention(_normalized(x), layer["qkv"], layer["out"], mask)
        x = x + jax.nn.gelu(_normalized(x) @ layer["up"]) @ layer["down"]
    return x


def _language_loss(model: Tree, tokens: Any) -> Any:
    x = _transformed(model["embedding"][tokens], model["layers"], is_causal=True)
    logits = jax.nn.log_softmax((x @ model["embedding"].T).astype(jnp.float32))
    return -jnp.take_along_axis(logits, tokens[..., None], -1).mean()


def language(layers: int, dtype: Any = jnp.float32) -> Program:
    """Returns a training step of a decoder."""
    model = {"embedding": _array(_VOCABULARY, _WIDTH, dtype=dtype), "layers": [_block(dtype) for _ in range(layers)]}
    return _adam(_language_loss, model, _TOKENS)


def vision(layers: int) -> Program:
    """Returns a training step of a vision transformer."""

    def loss(model: Tree, images: Any) -> Any:
        batch, size, _, channels = images.shape
        patches = images.reshape(batch, size // 8, 8, size // 8, 8, channels).transpose(0, 1, 3, 2, 4, 5)
        x = patches.reshape(batch, -1, 64 * channels) @ model["patch"]
        return (_transformed(x, model["layers"], is_causal=False).mean(1) @ model["head"]).var()

    model = {"patch": _array(192, _WIDTH), "head": _array(_WIDTH, 10), "layers": [_block() for _ in range(layers)]}
    return _adam(loss, model, _array(_BATCH, 32, 32, 3))


def experts(layers: int, count: int = 4) -> Program:
    """Returns a training step of a mixture of experts, each token to its best two."""

    def layer_of(x: Any, layer: Tree) -> Any:
        gates, chosen = lax.top_k(jax.nn.softmax(x @ layer["gate"]), 2)
        routed = jnp.einsum("blke,blk->ble", jax.nn.one_hot(chosen, count), gates)
        hidden = jax.nn.silu(jnp.einsum("bld,edf->eblf", x, layer["up"]))
        return (jnp.einsum("eblf,efd->ebld", hidden, layer["down"]) * routed.transpose(2, 0, 1)[..., None]).sum(0)

    def loss(model: Tree, tokens: Any) -> Any:
        x = model["embedding"][tokens]
        for layer in model["layers"]:
            x = x + _attention(_normalized(x), layer["qkv"], layer["out"])
            x = x + layer_of(_normalized(x), layer)
        return jax.nn.logsumexp(x @ model["embedding"].T, -1).mean()

    layer = {
        "qkv": _array(_WIDTH, 3 * _WIDTH),
        "out": _array(_WIDTH, _WIDTH),
        "gate": _array(_WIDTH, count),
        "up": _array(count, _WIDTH, 128),
        "down": _array(count, 128, _WIDTH),
    }
    return _adam(loss, {"embedding": _array(_VOCABULARY, _WIDTH), "layers": [layer] * layers}, _TOKENS)


def _convolved(x: Any, kernel: Any, stride: int = 1) -> Any:
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def residual(blocks: int, channels: int = 16) -> Program:
    """Returns a training step of a residual network with batch normalization."""

    def loss(model: Tree, images: Any) -> Any:
        x = _convolved(images, model["stem"], 2)
        for first, second in model["blocks"]:
            hidden = jax.nn.relu(_normalized(_convolved(x, first), (0, 1, 2)))
            x = jax.nn.relu(x + _normalized(_convolved(hidden, second), (0, 1, 2)))
        return jax.nn.logsumexp(x.mean((1, 2)) @ model["head"], -1).mean()

    kernel = _array(3, 3, channels, channels)
    model = {"stem": _array(3, 3, 3, channels), "head": _array(channels, 10), "blocks": [(kernel, kernel)] * blocks}
    return _adam(loss, model, _array(_IMAGES, 32, 32, 3))


def unet(depth: int, channels: int = 8) -> Program:
    """Returns a training step of a U-Net with a skip connection at each depth."""

    def loss(model: Tree, images: Any) -> Any:
        x, kept = _convolved(images, model["stem"]), []
        for first, second in model["down"]:
            x = jax.nn.silu(_normalized(_convolved(x, first), (1, 2)))
            x = jax.nn.silu(_normalized(_convolved(x, second), (1, 2)))
            kept.append(x)
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        for (first, second), skip in zip(model["up"], reversed(kept), strict=True):
            x = jnp.concatenate([jax.image.resize(x, skip.shape, "bilinear"), skip], -1)
            x = jax.nn.silu(_normalized(_convolved(x, first), (1, 2)))
            x = jax.nn.silu(_normalized(_convolved(x, second), (1, 2)))
        return ((_convolved(x, model["last"]) - images) ** 2).mean()

    square, wide = _array(3, 3, channels, channels), _array(3, 3, 2 * channels, channels)
    model = {
        "stem": _array(3, 3, 3, channels),
        "last": _array(3, 3, channels, 3),
        "down": [(square, square)] * depth,
        "up": [(wide, square)] * depth,
    }
    return _adam(loss, model, _array(_IMAGES, 32, 32, 3))


def _lstm_cell(state: Tree, x: Any, layer: Tree) -> Tree:
    hidden, memory = state
    i, f, g, o = jnp.split(x @ layer["input"] + hidden @ layer["hidden"], 4, -1)
    memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(memory), memory


def recurrent(layers: int, steps: int, *, is_unrolled: bool) -> Program:
    """Returns a training step of an LSTM, its steps unrolled or in loops."""

    def loss(model: Tree, x: Any) -> Any:
        for layer in model:
            zero = jnp.zeros(x.shape[1:])
            body = partial(_scanned, layer=layer)
            _, x = lax.scan(body, (zero, zero), x, unroll=steps if is_unrolled else 1)
        return (x**2).mean()

    def _scanned(state: Tree, x: Any, layer: Tree) -> Tree:
        state = _lstm_cell(state, x, layer)
        return state, state[0]

    layer = {"input": _array(_WIDTH, 4 * _WIDTH), "hidden": _array(_WIDTH, 4 * _WIDTH)}
    return _adam(loss, [layer] * layers, _array(steps, _BATCH, _WIDTH))


def state_space(layers: int) -> Program:
    """Returns a training step of linear recurrences by associative scans."""

    def loss(model: Tree, x: Any) -> Any:
        for layer in model:
            decay, value = jax.nn.sigmoid(x @ layer["decay"]), x @ layer["value"]
            _, state = lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (decay, value), axis=1)
            x = x + jax.nn.silu(_normalized(state)) @ layer["out"]
        return (x**2).mean()

    layer = {name: _array(_WIDTH, _WIDTH) for name in ("decay", "value", "out")}
    return _sgd(loss, [layer] * layers, _array(_BATCH, _LENGTH, _WIDTH))


def graph(layers: int, nodes: int = 64, edges: int = 256) -> Program:
    """Returns a training step of message passing along edges."""

    def loss(model: Tree, x: Any, source: Any, target: Any) -> Any:
        for layer in model:
            messages = jax.nn.relu(jnp.concatenate([x[source], x[target]], -1) @ layer["message"])
            summed = jax.ops.segment_sum(messages, target, nodes)
            x = x + jax.nn.relu(_normalized(summed) @ layer["update"])
        return (x**2).mean()

    layer = {"message": _array(2 * _WIDTH, _WIDTH), "update": _array(_WIDTH, _WIDTH)}
    ends = _array(edges, dtype=jnp.int32)
    return _adam(loss, [layer] * layers, _array(nodes, _WIDTH), ends, ends)


def dropout(layers: int) -> Program:
    """Returns a training step of dense layers with random masks."""

    def loss(model: Tree, x: Any, key: Any) -> Any:
        for number, weight in enumerate(model):
            kept = jax.random.bernoulli(jax.random.fold_in(key, number), 0.9, x.shape)
            x = x + jnp.where(kept, jnp.tanh(_normalized(x) @ weight), 0) / 0.9
        return (x**2).mean()

    return _adam(loss, [_array(_WIDTH, _WIDTH)] * layers, _array(_BATCH, _WIDTH), _array(2, dtype=jnp.uint32))


def particles(steps: int) -> Program:
    """Returns unrolled steps of Runge and Kutta for particles that attract each other."""

    def force(place: Any) -> Any:
        apart = place[:, None] - place[None, :]
        return -(apart / ((apart**2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)

    def simulate(place: Any, speed: Any) -> Any:
        for _ in range(steps):
            a1 = force(place)
            a2 = force(place + 0.005 * speed)
            a3 = force(place + 0.005 * speed + 0.000025 * a2)
            place, speed = place + 0.01 * speed + 5e-5 * (a1 + a2) / 2, speed + 0.01 * (a1 + 4 * a2 + a3) / 6
        return place, speed

    def gradient(place: Any, speed: Any) -> Any:
        return jax.grad(lambda p, s: (simulate(p, s)[0] ** 2).sum(), (0, 1))(place, speed)

    return gradient, (_array(32, 3), _array(32, 3))


def decompositions() -> Program:
    """Returns solutions and decompositions of symmetric and general matrices."""

    def compute(*matrices: Any) -> Any:
        results = []
        for a in matrices:
            symmetric = a @ a.T + 16 * jnp.eye(a.shape[0])
            results += [jnp.linalg.qr(a), jnp.linalg.solve(symmetric, a), jnp.linalg.cholesky(symmetric)]
            results += [jnp.linalg.eigh(symmetric), jnp.linalg.svd(a), jnp.linalg.inv(a)]
        return results

    return compute, tuple(_array(size, size) for size in (8, 16, 24))


PROGRAMS: Mapping[str, Callable[[], Program]] = {
    "language-6": partial(language, 6),
    "language-12": partial(language, 12),
    "language-24": partial(language, 24),
    "language-bf16-8": partial(language, 8, jnp.bfloat16),
    "vision-8": partial(vision, 8),
    "vision-16": partial(vision, 16),
    "experts-4": partial(experts, 4),
    "experts-8": partial(experts, 8),
    "residual-8": partial(residual, 8),
    "residual-16": partial(residual, 16),
    "unet-3": partial(unet, 3),
    "unet-4": partial(unet, 4),
    "lstm-unrolled": partial(recurrent, 2, 24, is_unrolled=True),
    "lstm-loops": partial(recurrent, 8, 16, is_unrolled=False),
    "state-space-6": partial(state_space, 6),
    "graph-8": partial(graph, 8),
    "graph-16": partial(graph, 16),
    "dropout-16": partial(dropout, 16),
    "particles-16": partial(particles, 16),
    "decompositions": decompositions,
}


def compile_to(folder: Path, name: str) -> None:
    """Writes the TPU dump of a program and its StableHLO text into a folder: `NAME.hlo` and `NAME.mlir`."""
    function, arguments = PROGRAMS[name]()
    (folder / f"{name}.mlir").write_text(from_jax(function, *arguments).text())
    (folder / f"{name}.hlo").write_text(dump(function, *arguments, target="tpu-v4").module.text())


def main() -> int:
    """Compiles the programs that the arguments name, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"programs: {', '.join(PROGRAMS)} (default: all)")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or PROGRAMS:
        compile_to(arguments.folder, name)
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
