"""Programs that use the host: its memory, its processor, and its Python."""

import functools
from inspect import signature
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental.compute_on import compute_on

from tests.corpus.campaign.registry import campaign
from tests.corpus.programs.registry import A, arg

_DEVICE, _HOST = jax.memory.Space.Device, jax.memory.Space.Host


def product_of_weights(x: A, w: A) -> Any:
    return jnp.tanh(x @ w)


@campaign(arg(64, 128), arg(128, 128, fill="small"), on="v5e", on_host=(1,), reference=product_of_weights)
def weights_of_the_host(x: A, w: A) -> Any:
    return jnp.tanh(x @ jax.device_put(w, _DEVICE))


def updated(g: A, m: A, p: A) -> Any:
    m = 0.9 * m + g
    return p - 0.1 * m, m


@campaign(arg(64, 128), arg(64, 128), arg(64, 128), on="v6e", on_host=(1, 2), reference=updated)
def optimizer_state_of_the_host(g: A, m: A, p: A) -> Any:
    new_p, new_m = updated(g, jax.device_put(m, _DEVICE), jax.device_put(p, _DEVICE))
    return jax.device_put(new_p, _HOST), jax.device_put(new_m, _HOST)


def scanned_gradient(layer: Any, x: A, ws: A) -> Any:
    return jax.grad(lambda ws: (lax.scan(layer, x, ws)[0] ** 2).sum())(ws)


def plain_layer(x: A, w: A) -> Any:
    return jnp.tanh(x @ w), None


@campaign(
    arg(32, 64), arg(4, 64, 64, fill="small"), on="v5p", reference=functools.partial(scanned_gradient, plain_layer)
)
def activations_sent_to_the_host(x: A, ws: A) -> Any:
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["h"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    @functools.partial(jax.checkpoint, policy=policy)
    def layer(x: A, w: A) -> Any:
        return checkpoint_name(jnp.tanh(x @ w), "h"), None

    return scanned_gradient(layer, x, ws)


def layers_in_a_row(x: A, ws: A) -> Any:
    return lax.scan(plain_layer, x, ws)[0]


@campaign(arg(16, 64), arg(5, 64, 64, fill="small"), on="v5e", on_host=(1,), reference=layers_in_a_row)
def weights_streamed_by_a_loop(x: A, ws: A) -> Any:
    def layer(x: A, w: A) -> Any:
        return jnp.tanh(x @ jax.device_put(w, _DEVICE)), None

    return lax.scan(layer, x, ws)[0]


def _on_the_host(function: Any) -> Any:
    """Returns the function computed on the host; JAX 0.12 wants to know where its results are, 0.10 cannot be told."""
    on: Any = compute_on
    if "out_memory_spaces" in signature(on).parameters:
        return on(function, compute_type="device_host", out_memory_spaces=_DEVICE)
    return on("device_host")(function)


def host_part(x: A) -> A:
    return jnp.sin(x) + jnp.sort(x)


@campaign(arg(1000), on="v5e", reference=lambda x: host_part(x) * 2)
def part_computed_by_the_host(x: A) -> Any:
    return _on_the_host(jax.jit(host_part))(x) * 2


@campaign(arg(5, 7), on="v5e", reference=lambda x: (x.sum(0), jnp.cumsum(jnp.vstack([jnp.zeros(7), x]), 0)[:-1]))
def prints_in_a_loop(x: A) -> Any:
    def body(carry: A, row: A) -> Any:
        jax.debug.print("sum {}", carry.sum())
        return carry + row, carry

    return lax.scan(body, jnp.zeros(7), x)


@campaign(arg(6, 10), on="v6e", reference=lambda x: jnp.where(x > 0, x * 2, x))
def prints_once(x: A) -> Any:
    jax.debug.print("mean {} and {}", x.mean(), x[0])
    return jnp.where(x > 0, x * 2, x)


@campaign(arg(5, 7), on="v5e", reference=lambda x: x * 2 + 1, refused="pure_callback")
def calls_numpy(x: A) -> Any:
    return jax.pure_callback(lambda a: np.asarray(a) * 2, jax.ShapeDtypeStruct((5, 7), np.float32), x) + 1


@campaign(arg(5, 7), on="v5e", reference=lambda x: (x * 3, x.sum()))
def prints_in_order(x: A) -> Any:
    def body(_: A, state: A) -> A:
        jax.debug.print("sum {}", state.sum(), ordered=True)
        return state + x

    jax.debug.print("first {}", x, ordered=True)
    return lax.fori_loop(0, 3, body, jnp.zeros_like(x)), x.sum()
