"""Loops and branches, with nested tuples carried through them."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

bf16, f32, s32 = jnp.bfloat16, jnp.float32, jnp.int32


@program(arg(6, 12, 20), arg(20, 120, fill="small"), arg(40, 160, fill="small"))
def lstm_scan(xs: A, w: A, u: A) -> Any:
    weights = jnp.concatenate([jnp.pad(w, ((0, 0), (0, 40))), u], 0)

    def step(carry: tuple[A, A], x: A) -> tuple[tuple[A, A], A]:
        hidden, cell = carry
        gates = jnp.concatenate([x, hidden], -1) @ weights
        i, f, g, o = jnp.split(gates, 4, -1)
        cell = jax.nn.sigmoid(f + 1) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden.sum(-1)

    return lax.scan(step, (jnp.zeros((12, 40)), jnp.zeros((12, 40))), xs)


@program(arg(8, 130), arg(130, 130, fill="small"), on="v4")
def scan_gradient(x: A, w: A) -> Any:
    def loss(w: A) -> A:
        return lax.scan(lambda c, _: (jnp.tanh(c @ w), None), x, None, length=4)[0].sum()

    return jax.grad(loss)(w)


@program(arg(7, 40), arg(dtype=s32, fill="below:5"), on="v6e")
def while_nested_tuples(x: A, start: A) -> Any:
    def body(state: Any) -> Any:
        count, (current, (history, best)) = state
        current = current * 0.75 + 0.5
        return count + 1, (current, (history.at[count].set(current.sum(1)), jnp.maximum(best, current.max())))

    initial = (start, (x, (jnp.zeros((9, 7)), jnp.float32(-10))))
    return lax.while_loop(lambda s: s[0] < 9, body, initial)


@program(arg(9, 200), arg(4, dtype=s32, fill="below:4"), on="v5e")
def switch_in_scan(x: A, choices: A) -> Any:
    branches = [jnp.sin, lambda y: y[::-1], lambda y: jnp.cumsum(y, 0) * 0.1, lambda y: jnp.roll(y, 3, 1)]
    return lax.scan(lambda c, i: (lax.switch(i, branches, c), c[0]), x, choices)


@program(arg(16, 24), arg(dtype=f32), on="v5p")
def cond_with_tuples(x: A, p: A) -> Any:
    def first(operands: tuple[A, A]) -> tuple[A, dict[str, A]]:
        x, y = operands
        return x @ y, {"sum": x.sum(0), "flag": jnp.any(x > 1)}

    def second(operands: tuple[A, A]) -> tuple[A, dict[str, A]]:
        x, y = operands
        return jnp.tanh(x @ y) - 1, {"sum": y.sum(1), "flag": jnp.all(y > 1)}

    return lax.cond(p > 0, first, second, (x, x.T))


@program(arg(64, 6), arg(5, 6), on="v4")
def k_means(points: A, centres: A) -> Any:
    def body(step: int, state: tuple[A, A]) -> tuple[A, A]:
        centres = state[0]
        nearest = jnp.argmin(((points[:, None] - centres) ** 2).sum(-1), 1)
        member = jax.nn.one_hot(nearest, 5)
        return member.T @ points / jnp.maximum(member.sum(0), 1)[:, None], nearest

    return lax.fori_loop(0, 3, body, (centres, jnp.zeros(64, s32)))


@program(arg(10, 300, fill="positive"))
def nested_loops(x: A) -> Any:
    def outer(i: A, total: A) -> A:
        return jnp.asarray(lax.fori_loop(0, i + 1, lambda j, t: t + x[j] * (i - j), total))

    return lax.fori_loop(0, 6, outer, jnp.zeros(300))


@program(arg(5, 20, 32), arg(5, 32, 32, fill="small"), on="v6e")
def stacked_layers_remat(x: A, weights: A) -> Any:
    @jax.checkpoint
    def layer(x: A, w: A) -> tuple[A, None]:
        return jnp.sin(x @ w) + x, None

    return jax.value_and_grad(lambda ws: lax.scan(layer, x[0], ws)[0].sum())(weights)


@program(arg(16, 24, dtype=bf16), arg(16, 24, dtype=bf16, fill="positive"), on="tpu7x")
def associative_scan(x: A, decay: A) -> Any:
    def combine(left: tuple[A, A], right: tuple[A, A]) -> tuple[A, A]:
        return left[0] * right[0], right[0] * left[1] + right[1]

    return lax.associative_scan(combine, (decay * bf16(0.5), x))[1]


@program(arg(12, dtype=jnp.uint32, fill="below:1000"), arg(12, dtype=jnp.uint32, fill="below:1000"))
def greatest_common_divisor(a: A, b: A) -> Any:
    return lax.while_loop(
        lambda s: jnp.any(s[1] != 0),
        lambda s: (jnp.where(s[1] == 0, s[0], s[1]), jnp.where(s[1] == 0, 0, s[0] % jnp.maximum(s[1], 1))),
        (a, b),
    )
