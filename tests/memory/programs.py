"""Programs of real size, each with the TPU it is compiled for: their memory matters, not their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

A = jax.Array
bf16, f32, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32
Tree = Any


@dataclass(frozen=True, slots=True)
class MemoryProgram:
    """One program: the function, its arguments' types, the TPU, the arguments whose memory it may take over, and those
    that are in the host's memory."""

    function: Callable[..., Any]
    arguments: tuple[Tree, ...]
    platform: str
    donated: tuple[int, ...]
    on_host: tuple[int, ...]


PROGRAMS: dict[str, MemoryProgram] = {}


def program(
    *arguments: Tree, on: str, donated: tuple[int, ...] = (), on_host: tuple[int, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the decorated function under its own name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = MemoryProgram(function, arguments, on, donated, on_host)
        return function

    return register


def arg(*dims: int, dtype: Any = f32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dims, dtype)


# Language models


def model(layers: int, width: int, vocabulary: int, dtype: Any = f32) -> Tree:
    layer = {
        "qkv": arg(width, 3 * width, dtype=dtype),
        "out": arg(width, width, dtype=dtype),
        "up": arg(width, 4 * width, dtype=dtype),
        "down": arg(4 * width, width, dtype=dtype),
        "gain": arg(2, width, dtype=dtype),
    }
    return {"embedding": arg(vocabulary, width, dtype=dtype), "layers": [dict(layer) for _ in range(layers)]}


def stacked(layers: int, width: int, vocabulary: int, dtype: Any = f32) -> Tree:
    one = model(1, width, vocabulary, dtype)
    layer = jax.tree.map(lambda leaf: arg(layers, *leaf.shape, dtype=dtype), one["layers"][0])
    return {"embedding": one["embedding"], "layers": layer}


def norm(x: A, gain: A) -> A:
    wide = x.astype(f32)
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * gain


def block(x: A, layer: Tree, heads: int = 8) -> A:
    batch, length, width = x.shape
    q, k, v = jnp.split((norm(x, layer["gain"][0]) @ layer["qkv"]).reshape(batch, length, heads, -1), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    scores = jnp.where(jnp.tri(length, dtype=bool), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(batch, length, width)
    x = x + mixed @ layer["out"]
    grown: A = x + jax.nn.gelu(norm(x, layer["gain"][1]) @ layer["up"]) @ layer["down"]
    return grown


def unrolled_loss(parameters: Tree, tokens: A, remat: bool = False) -> A:
    x = parameters["embedding"][tokens]
    one = jax.checkpoint(block) if remat else block
    for layer in parameters["layers"]:
        x = one(x, layer)
    logits = (x @ parameters["embedding"].T).astype(f32)
    picked: A = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], -1)
    return -picked.mean()


def scanned_loss(parameters: Tree, tokens: A, remat: bool = False) -> A:
    x = parameters["embedding"][tokens]
    one = jax.checkpoint(block) if remat else block
    x, _ = lax.scan(lambda x, layer: (one(x, layer), None), x, parameters["layers"])
    logits = (x @ parameters["embedding"].T).astype(f32)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], -1).mean()


def sgd(loss: Callable[..., A], parameters: Tree, tokens: A, **options: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(parameters, tokens, **options)
    return value, jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradient)


def adam(loss: Callable[..., A], parameters: Tree, first: Tree, second: Tree, tokens: A, **options: Any) -> Any:
    gradient = jax.grad(loss)(parameters, tokens, **options)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
    parameters = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
    return parameters, first, second


TOKENS = arg(8, 512, dtype=s32)


@program(model(4, 1024, 16384, bf16), TOKENS, on="v5e")
def forward_unrolled(parameters: Tree, tokens: A) -> Any:
    return unrolled_loss(parameters, tokens)


@program(stacked(8, 768, 16384), TOKENS, on="v4")
def forward_scanned(parameters: Tree, tokens: A) -> Any:
    return scanned_loss(parameters, tokens)


@program(model(3, 768, 8192), TOKENS, on="v5p", donated=(0,))
def train_unrolled(parameters: Tree, tokens: A) -> Any:
    return sgd(unrolled_loss, parameters, tokens)


@program(model(3, 768, 8192), TOKENS, on="v4")
def train_unrolled_remat(parameters: Tree, tokens: A) -> Any:
    return sgd(unrolled_loss, parameters, tokens, remat=True)


@program(stacked(6, 512, 8192), TOKENS, on="v5e", donated=(0,))
def train_scanned(parameters: Tree, tokens: A) -> Any:
    return sgd(scanned_loss, parameters, tokens)


@program(stacked(6, 768, 8192), TOKENS, on="v6e", donated=(0,))
def train_scanned_remat(parameters: Tree, tokens: A) -> Any:
    return sgd(scanned_loss, parameters, tokens, remat=True)


@program(stacked(4, 512, 8192), stacked(4, 512, 8192), stacked(4, 512, 8192), TOKENS, on="tpu7x", donated=(0, 1, 2))
def adam_scanned_donated(parameters: Tree, first: Tree, second: Tree, tokens: A) -> Any:
    return adam(scanned_loss, parameters, first, second, tokens, remat=True)


@program(model(2, 512, 8192), model(2, 512, 8192), model(2, 512, 8192), TOKENS, on="v3")
def adam_unrolled(parameters: Tree, first: Tree, second: Tree, tokens: A) -> Any:
    return adam(unrolled_loss, parameters, first, second, tokens)


@program(model(2, 512, 8192, bf16), TOKENS, on="v2")
def gradient_bf16(parameters: Tree, tokens: A) -> Any:
    return jax.grad(unrolled_loss)(parameters, tokens)


@program(
    stacked(6, 1024, 8192, bf16),
    arg(6, 16, 1024, 8, 128, dtype=bf16),
    arg(6, 16, 1024, 8, 128, dtype=bf16),
    arg(16, dtype=s32),
    arg(dtype=s32),
    on="v5e",
    donated=(1, 2),
)
def decode_step(parameters: Tree, keys: A, values: A, token: A, position: A) -> Any:
    x = parameters["embedding"][token]

    def layer_step(x: A, each: Tree) -> tuple[A, Tree]:
        layer, keys, values = each
        q, k, v = jnp.split((norm(x, layer["gain"][0]) @ layer["qkv"]).reshape(16, 8, -1), 3, -1)
        keys = lax.dynamic_update_slice(keys, k[:, None], (0, position, 0, 0))
        values = lax.dynamic_update_slice(values, v[:, None], (0, position, 0, 0))
        scores = jnp.where(jnp.arange(1024) <= position, jnp.einsum("bhd,bkhd->bhk", q, keys).astype(f32), -1e9)
        mixed = jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(scores).astype(bf16), values).reshape(16, -1)
        x = x + mixed @ layer["out"]
        x = x + jax.nn.gelu(norm(x, layer["gain"][1]) @ layer["up"]) @ layer["down"]
        return x, (keys, values)

    x, (keys, values) = lax.scan(layer_step, x, (parameters["layers"], keys, values))
    return (x @ parameters["embedding"].T).argmax(-1), keys, values


@program(model(2, 1024, 8192, bf16), arg(4, 1, dtype=s32), arg(2, 4, 512, 8, 128, dtype=bf16), on="v6e", donated=(2,))
def generate_in_while(parameters: Tree, first: A, cache: A) -> Any:
    def step(state: Tree) -> Tree:
        i, token, cache = state
        x = parameters["embedding"][token[:, 0]]
        for n, layer in enumerate(parameters["layers"]):
            q, k, _ = jnp.split((x @ layer["qkv"]).reshape(4, 8, -1), 3, -1)
            cache = lax.dynamic_update_slice(cache, k[None, :, None], (n, 0, i, 0, 0))
            scores = jnp.einsum("bhd,bkhd->bhk", q, cache[n])
            x = x + jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(scores), cache[n]).reshape(4, -1) @ layer["out"]
        token = (x @ parameters["embedding"].T).argmax(-1).astype(s32)[:, None]
        return i + 1, token, cache

    return lax.while_loop(lambda state: state[0] < 512, step, (jnp.int32(0), first, cache))


@program(arg(4, 2048, 8, 128, dtype=bf16), arg(4, 2048, 8, 128, dtype=bf16), arg(4, 2048, 8, 128, dtype=bf16), on="v5e")
def attention_gradient(q: A, k: A, v: A) -> Any:
    def loss(q: A, k: A, v: A) -> A:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(f32)
        return (jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(bf16), v).astype(f32) ** 2).sum()

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@program(arg(512, 256, dtype=bf16), arg(8, 256, 1024, dtype=bf16), arg(8, 1024, 256, dtype=bf16), arg(256, 8), on="v5p")
def mixture_of_experts(x: A, up: A, down: A, router: A) -> Any:
    weights = jax.nn.softmax(x.astype(f32) @ router)
    hidden = jax.nn.silu(jnp.einsum("td,edf->tef", x, up))
    return jnp.einsum("tef,efd,te->td", hidden, down, weights.astype(bf16))


# Convolution nets


def conv(x: A, k: A, stride: int = 1) -> A:
    return lax.conv_general_dilated(x, k, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


RESIDUAL = [arg(3, 3, 3, 64), *[arg(3, 3, 64, 64)] * 4, arg(3, 3, 64, 128), *[arg(3, 3, 128, 128)] * 3]


def residual_net(kernels: list[A], x: A) -> A:
    x = jax.nn.relu(conv(x, kernels[0], 2))
    for i in (1, 3):
        x = jax.nn.relu(x + conv(jax.nn.relu(conv(x, kernels[i])), kernels[i + 1]))
    x = jax.nn.relu(conv(x, kernels[5], 2))
    x = jax.nn.relu(x + conv(jax.nn.relu(conv(x, kernels[6])), kernels[7]))
    return conv(x, kernels[8]).mean((1, 2))


@program(RESIDUAL, arg(16, 128, 128, 3), on="v5e")
def residual_net_forward(kernels: list[A], x: A) -> Any:
    return residual_net(kernels, x)


@program(RESIDUAL, arg(16, 128, 128, 3), on="v4", donated=(0,))
def residual_net_training(kernels: list[A], x: A) -> Any:
    gradient = jax.grad(lambda kernels: (residual_net(kernels, x) ** 2).mean())(kernels)
    return jax.tree.map(lambda k, g: k - 0.1 * g, kernels, gradient)


@program([arg(3, 3, c, d) for c, d in ((1, 16), (16, 32), (48, 16), (16, 1))], arg(8, 256, 256, 1), on="v5p")
def encoder_decoder(kernels: list[A], x: A) -> Any:
    def loss(kernels: list[A]) -> A:
        high = jax.nn.relu(conv(x, kernels[0]))
        low = jax.nn.relu(
            conv(lax.reduce_window(high, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"), kernels[1])
        )
        up = jnp.repeat(jnp.repeat(low, 2, 1), 2, 2)
        out = conv(jax.nn.relu(conv(jnp.concatenate([high, up], -1), kernels[2])), kernels[3])
        return ((out - x) ** 2).mean()

    return jax.value_and_grad(loss)(kernels)


@program(arg(8, 64, 64, 64, 4), arg(3, 3, 3, 4, 8), arg(3, 3, 3, 8, 8), on="v6e")
def volume_net(x: A, first: A, second: A) -> Any:
    layout = ("NDHWC", "DHWIO", "NDHWC")
    y = jax.nn.relu(lax.conv_general_dilated(x, first, (1, 1, 1), "SAME", dimension_numbers=layout))
    return lax.conv_general_dilated(y, second, (2, 2, 2), "SAME", dimension_numbers=layout)


@program(arg(64, 4096, 32), arg(7, 1, 256), arg(32, 256), on="v4")
def depthwise_sequences(x: A, k: A, w: A) -> Any:
    y = lax.conv_general_dilated(
        x @ w, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=256
    )
    return jax.nn.silu(y).sum(1)


# Sorts, stencils, graphs, simulation


@program(arg(8_000_000), on="v5p")
def sort_one_array(x: A) -> Any:
    return jnp.sort(x)


@program(arg(4_000_000), arg(4_000_000, dtype=s32), on="v5e")
def sort_pairs(keys: A, values: A) -> Any:
    return lax.sort((keys, values), num_keys=1)


@program(arg(64, 65536), on="v4")
def argsort_rows(x: A) -> Any:
    return jnp.argsort(x, -1)


@program(arg(256, 100_000), on="v6e")
def top_of_rows(x: A) -> Any:
    return lax.top_k(x, 64)


@program(arg(4096, 4096), on="v5e", donated=(0,))
def heat_in_loop(x: A) -> Any:
    def step(_: int, x: A) -> A:
        return x + 0.1 * (jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1) - 4 * x)

    return lax.fori_loop(0, 100, step, x)


@program(arg(256, 256, 256), arg(256, 256, 256), on="v4")
def waves_in_loop(now: A, before: A) -> Any:
    def step(state: Tree, _: None) -> tuple[Tree, A]:
        now, before = state
        around = sum(jnp.roll(now, s, d) for s in (1, -1) for d in range(3))
        after = 2 * now - before + 0.1 * (around - 6 * now)
        return (after, now), after[128, 128]

    return lax.scan(step, (now, before), None, length=64)


@program(arg(2048, 2048), arg(2048), on="v5p")
def scan_with_stacked_outputs(w: A, x: A) -> Any:
    return lax.scan(lambda x, _: (jnp.tanh(w @ x), jnp.outer(x, x)[:64]), x, None, length=256)


@program(arg(100_000, 64), arg(1_000_000, dtype=s32), arg(1_000_000, dtype=s32), arg(64, 64), on="v5e")
def graph_network(nodes: A, source: A, target: A, w: A) -> Any:
    for _ in range(2):
        messages = jax.nn.relu(nodes[source] @ w)
        nodes = nodes + jax.ops.segment_sum(messages, target, 100_000)
    return nodes


@program(arg(50_000, 128), arg(300_000, dtype=s32), arg(300_000, dtype=s32), arg(128, 128), on="v4")
def graph_network_gradient(nodes: A, source: A, target: A, w: A) -> Any:
    def loss(nodes: A, w: A) -> A:
        return (jax.ops.segment_sum(jnp.tanh(nodes[source] @ w), target, 50_000) ** 2).mean()

    return jax.grad(loss, (0, 1))(nodes, w)


@program(arg(500_000, 128, dtype=bf16), arg(65536, dtype=s32), arg(65536, 128, dtype=bf16), on="v5e", donated=(0,))
def embedding_update(table: A, rows: A, updates: A) -> Any:
    return table.at[rows].add(updates)


@program(arg(300, 1000, 37), arg(300, 1000, 37), on="v5e")
def odd_shapes(x: A, y: A) -> Any:
    z = jnp.transpose(x, (2, 0, 1)) * 2
    return z.reshape(37, -1) @ y.reshape(-1, 37), (x + y).sum(0), jnp.concatenate([x, y], 2)


@program(arg(2_000_000, 3), arg(2_000_000, 4, dtype=bf16), on="v6e")
def thin_arrays(points: A, colours: A) -> Any:
    centred = points - points.mean(0)
    return centred / jnp.linalg.norm(centred, axis=1, keepdims=True), colours.astype(f32) ** 2.2


@program(arg(1024, 1024), arg(1024, 1024), on="v4")
def chain_of_products(x: A, y: A) -> Any:
    for _ in range(6):
        x, y = x @ y, jnp.sin(y) + x
    return x + y


@program(arg(64, 1024, 1024, dtype=bf16), arg(64, 1024, 1024, dtype=bf16), on="v5p")
def batched_products(x: A, y: A) -> Any:
    return jnp.einsum("bij,bjk->bik", jax.nn.relu(x), y), jnp.einsum("bij,bkj->bik", x, y).astype(f32)


@program(arg(512, 512, 40), arg(dtype=s32), on="v5e")
def branches(x: A, which: A) -> Any:
    return lax.switch(
        which,
        [lambda x: jnp.sort(x, 0), lambda x: jnp.fft.fft(x, axis=1).real, lambda x: jnp.cumsum(x, 1) + x.T.T],
        x,
    )


@program(arg(4096, 4096, dtype=s8), arg(4096, 4096, dtype=s8), arg(4096), on="v6e")
def quantized_product(x: A, w: A, scale: A) -> Any:
    total = lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=s32)
    return jnp.clip(total.astype(f32) * scale, -128, 127).astype(s8)


@program(arg(4096, 4096, dtype=jnp.int4), arg(4096, 512, dtype=bf16), on="v5e")
def nibble_weights(w: A, x: A) -> Any:
    return w.astype(bf16) @ x


@program(arg(256, 256, 256, dtype=jnp.complex64), on="v4")
def spectral_filter(x: A) -> Any:
    return jnp.fft.ifft(jnp.fft.fft(x, axis=2) * 0.5, axis=2)


@program(arg(2048, 2048), on="v5p")
def cholesky_of_large(x: A) -> Any:
    return jnp.linalg.cholesky(x @ x.T + 2048 * jnp.eye(2048))


@program(arg(32, 1024, 512), arg(512, 2048), arg(512, 2048), on="v5e")
def recurrent_net(x: A, w: A, u: A) -> Any:
    def step(state: Tree, x: A) -> tuple[Tree, A]:
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = (jnp.zeros((32, 512)), jnp.zeros((32, 512)))
    return lax.scan(step, start, x.swapaxes(0, 1))[1]


@program(arg(32, 512, 512), arg(512, 2048), arg(512, 2048), on="v4")
def recurrent_net_gradient(x: A, w: A, u: A) -> Any:
    return jax.grad(lambda w, u: (recurrent_net(x, w, u) ** 2).mean(), (0, 1))(w, u)


@program(arg(16, 1024, 1024), arg(16, 1024, 1024), on="tpu7x")
def elementwise_of_large(x: A, y: A) -> Any:
    return jnp.exp(x) / (1 + y * y), jnp.where(x > y, x, y).sum((1, 2))


@program([arg(2048, 2048) for _ in range(8)], [arg(2048, 2048) for _ in range(8)], on="v6e", donated=(0,))
def states_donated(states: list[A], gradients: list[A]) -> Any:
    return [0.9 * s + g for s, g in zip(states, gradients, strict=True)], sum(s.sum() for s in states)


@program(arg(8, 1024, 1024, dtype=bf16), arg(6, 1024, 4096, dtype=bf16), arg(6, 4096, 1024, dtype=bf16), on="v5p")
def feed_forward_scan_gradient(x: A, up: A, down: A) -> Any:
    def loss(up: A, down: A) -> A:
        y, _ = lax.scan(lambda x, w: (x + jax.nn.gelu(x @ w[0]) @ w[1], None), x, (up, down))
        return (y.astype(f32) ** 2).mean()

    return jax.grad(loss, (0, 1))(up, down)


@program(arg(64, 512, 512), arg(64, 512, 512), on="v5e")
def reshapes_and_transposes(x: A, y: A) -> Any:
    z = (x + y).transpose(1, 2, 0).reshape(512, -1)
    return jnp.flip(z, 0), jnp.pad(y, ((0, 0), (3, 5), (1, 2))), x.reshape(64, 16, 32, 512).swapaxes(1, 2) * 2


# Arrays in VMEM, or on the host


@program(arg(2048), arg(2048), on="v5e")
def escape_times(x: A, y: A) -> Any:
    start = lax.complex(*jnp.meshgrid(x, y))

    def step(_: int, state: Tree) -> Tree:
        z, count = state
        z = z * z + start
        return z, count + (jnp.abs(z) < 2)

    return lax.fori_loop(0, 50, step, (start * 0, jnp.zeros(start.shape, s32)))[1]


@program(
    arg(4096, 84, 84, dtype=jnp.uint8),
    arg(64, 84, 84, dtype=jnp.uint8),
    arg(dtype=s32),
    arg(256, dtype=s32),
    on="v4",
    donated=(0,),
)
def replay_buffer(frames: A, new: A, position: A, sample: A) -> Any:
    frames = lax.dynamic_update_slice(frames, new, (position, 0, 0))
    return frames, frames[sample].astype(f32) / 255


@program(arg(128, 128, 128), arg(128, 128, 128), on="v5e")
def wave_inversion(speed: A, start: A) -> Any:
    def loss(speed: A) -> A:
        def step(state: Tree, _: None) -> tuple[Tree, None]:
            now, before = state
            around = sum(jnp.roll(now, shift, axis) for shift in (1, -1) for axis in range(3))
            return (2 * now - before + speed * (around - 6 * now), now), None

        outer = jax.checkpoint(lambda state, _: (lax.scan(step, state, None, length=4)[0], None))
        (end, _), _ = lax.scan(outer, (start, start), None, length=4)
        return (end * end).sum()

    return jax.grad(loss)(speed)


@program([arg(2048, 2048)] * 4, [arg(2048, 2048)] * 4, arg(1024, 2048), on="v5e", donated=(0, 1), on_host=(1,))
def momentum_on_host(weights: list[A], momenta: list[A], x: A) -> Any:
    def loss(weights: list[A]) -> A:
        y = x
        for w in weights:
            y = jnp.tanh(y @ w)
        return (y * y).mean()

    gradients = jax.grad(loss)(weights)
    here = [jax.device_put(each, jax.memory.Space.Device) for each in momenta]
    new = [0.9 * m + g for m, g in zip(here, gradients, strict=True)]
    moved = [w - 0.1 * m for w, m in zip(weights, new, strict=True)]
    return moved, [jax.device_put(each, jax.memory.Space.Host) for each in new]


WEIGHTS = {"up": arg(12, 1024, 1024), "down": arg(12, 1024, 1024)}


@program(WEIGHTS, WEIGHTS, arg(64, 1024, dtype=bf16), on="v6e", donated=(0, 1))
def master_weights(weights: Tree, momenta: Tree, x: A) -> Any:
    def loss(weights: Tree) -> A:
        y, _ = lax.scan(lambda x, w: (x + jax.nn.gelu(x @ w["up"]) @ w["down"], None), x, weights)
        return (y.astype(f32) ** 2).mean()

    gradient = jax.grad(loss)(jax.tree.map(lambda w: w.astype(bf16), weights))
    momenta = jax.tree.map(lambda m, g: 0.9 * m + g.astype(f32), momenta, gradient)
    return jax.tree.map(lambda w, m: w - 0.1 * m, weights, momenta), momenta
