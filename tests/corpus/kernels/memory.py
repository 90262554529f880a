"""Kernels about memory: windows, prefetched scalars, copies between memories, loops and semaphores."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from tests.corpus.kernels.arithmetic import like, rows
from tests.corpus.kernels.registry import kernel
from tests.corpus.programs.registry import A, arg

ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)


@kernel(arg(6, dtype=jnp.int32, fill="below:16"), arg(16, 8, 128), on="v6e", tolerance=0)
def rows_by_prefetched_index(places: A, table: A) -> Any:
    def body(places_ref: Any, table_ref: Any, out: Any) -> None:
        out[...] = table_ref[...] * (places_ref[pl.program_id(0)] + 1).astype(jnp.float32)

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(6,),
        in_specs=[pl.BlockSpec((1, 8, 128), lambda i, p: (p[i], 0, 0))],
        out_specs=pl.BlockSpec((1, 8, 128), lambda i, p: (i, 0, 0)),
    )
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((6, 8, 128), table.dtype), grid_spec=spec)(places, table)


@kernel(arg(64, 128))
def double_buffered_copies(x: A) -> Any:
    def body(x_ref: Any, out: Any, buffers: Any, arrived: Any, left: Any) -> None:
        def fetch(slot: Any, chunk: Any) -> Any:
            return pltpu.make_async_copy(x_ref.at[pl.ds(chunk * 8, 8)], buffers.at[slot], arrived.at[slot])

        fetch(0, 0).start()

        def step(i: Any, total: Any) -> Any:
            slot = lax.rem(i, 2)

            @pl.when(i + 1 < 8)
            def _() -> None:
                fetch(1 - slot, i + 1).start()

            fetch(slot, i).wait()
            total = total + buffers[slot]
            buffers[slot] = total
            copy = pltpu.make_async_copy(buffers.at[slot], out.at[pl.ds(i * 8, 8)], left)
            copy.start()
            copy.wait()
            return total

        lax.fori_loop(0, 8, step, jnp.zeros((8, 128), jnp.float32))

    return pl.pallas_call(
        body,
        out_shape=like(x),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.VMEM((2, 8, 128), jnp.float32), pltpu.SemaphoreType.DMA((2,)), pltpu.SemaphoreType.DMA],
    )(x)


@kernel(arg(64, 256), arg(64, 256), on="v5p")
def pipeline_inside_a_kernel(a: A, b: A) -> Any:
    def inner(a_ref: Any, b_ref: Any, out: Any) -> None:
        out[...] = a_ref[...] * b_ref[...] + 1

    def body(a_ref: Any, b_ref: Any, out: Any) -> None:
        spec = pl.BlockSpec((16, 128), lambda i, j: (i, j))
        pltpu.emit_pipeline(inner, grid=(4, 2), in_specs=[spec, spec], out_specs=[spec])(a_ref, b_ref, out)

    return pl.pallas_call(body, out_shape=like(a), in_specs=[ANYWHERE, ANYWHERE], out_specs=ANYWHERE)(a, b)


@kernel(arg(64, 128), on="v5p")
def carried_through_a_loop(x: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        def step(i: Any, carry: Any) -> Any:
            top, total = carry
            v = x_ref[pl.ds(i * 8, 8), :]
            new = jnp.maximum(top, v)
            total = total * jnp.exp(top - new) + jnp.exp(v - new)
            out[pl.ds(i * 8, 8), :] = new + jnp.log(total)
            return new, total

        start = jnp.full((8, 128), -1e30, jnp.float32), jnp.zeros((8, 128), jnp.float32)
        lax.fori_loop(0, 8, step, start)

    return pl.pallas_call(body, out_shape=like(x))(x)


@kernel(arg(8, 128), arg(1, dtype=jnp.int32, fill="below:9"))
def loop_until_small(x: A, most: A) -> Any:
    def body(most_ref: Any, x_ref: Any, out: Any, count: Any) -> None:
        def goes_on(state: Any) -> Any:
            steps, v = state
            return (steps < most_ref[0] + 3) & (jnp.max(v) > 0.5)

        steps, v = lax.while_loop(goes_on, lambda s: (s[0] + 1, s[1] * 0.75), (0, x_ref[...]))
        out[...] = v
        count[0] = steps

    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(
        body,
        out_shape=(like(x), jax.ShapeDtypeStruct((1,), jnp.int32)),
        in_specs=[smem, pl.BlockSpec(memory_space=pltpu.VMEM)],
        out_specs=(pl.BlockSpec(memory_space=pltpu.VMEM), smem),
    )(most, x)


@kernel(arg(40, dtype=jnp.int32, fill="below:8"), tolerance=0)
def histogram_of_scalars(x: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        for i in range(8):
            out[i] = 0

        def step(i: Any, _: Any) -> None:
            out[x_ref[i]] += 1

        lax.fori_loop(0, 40, step, None)

    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((8,), jnp.int32), in_specs=[smem], out_specs=smem)(x)


@kernel(arg(64, 128), arg(1, dtype=jnp.int32, fill="below:8"), on="v6e")
def grid_of_a_running_size(x: A, count: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        out[...] = x_ref[...] * 2

    def run(n: A) -> Any:
        return pl.pallas_call(
            body,
            out_shape=like(x),
            grid=(n + 1,),
            in_specs=[rows(8, 128)],
            out_specs=rows(8, 128),
            input_output_aliases={0: 0},
        )(x)

    return run(count[0])


@kernel(arg(32, 128), arg(8, 128))
def strided_rows(x: A, y: A) -> Any:
    def body(x_ref: Any, y_ref: Any, out: Any) -> None:
        out[...] = x_ref[...]
        out[pl.ds(1, 8, 4), :] = x_ref[pl.ds(2, 8, 4), :] + y_ref[...]

    return pl.pallas_call(body, out_shape=like(x))(x, y)


@kernel(arg(48, 128), on="v5p")
def neighbours_of_rows(x: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        out[...] = x_ref[:8] + x_ref[8:] * 0.5

    return pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((40, 128), x.dtype),
        grid=(5,),
        in_specs=[pl.BlockSpec((pl.Element(16), pl.Element(128)), lambda i: (i * 8, 0))],
        out_specs=rows(8, 128),
    )(x)


@kernel(arg(24, 128), arg(8, 128))
def added_in_place(x: A, y: A) -> Any:
    def body(x_ref: Any, y_ref: Any, out: Any) -> None:
        out[...] = x_ref[...] + y_ref[...]

    return pl.pallas_call(
        body,
        out_shape=like(x),
        grid=(2,),
        in_specs=[rows(8, 128), pl.BlockSpec((8, 128), lambda i: (0, 0))],
        out_specs=rows(8, 128),
        input_output_aliases={0: 0},
    )(x, y)


@kernel(arg(32, 128), on="tpu7x")
def scoped_memory_and_signals(x: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        def inside(scratch: Any, copied: Any, counted: Any) -> None:
            copy = pltpu.make_async_copy(x_ref, scratch, copied)
            copy.start()
            pl.semaphore_signal(counted, 3)
            copy.wait()
            pl.semaphore_wait(counted, 2)
            scratch[8:16, :] = scratch[0:8, :] - scratch[8:16, :]
            back = pltpu.make_async_copy(scratch, out, copied)
            back.start()
            pl.semaphore_wait(counted, 1)
            back.wait()

        pl.run_scoped(inside, pltpu.VMEM((32, 128), jnp.float32), pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR)

    return pl.pallas_call(body, out_shape=like(x), in_specs=[ANYWHERE], out_specs=ANYWHERE)(x)


def rows_in_a_row(counts: A, x: A) -> Any:
    """Returns the first rows of each page, 8 for each count, one page after another, and zeros."""
    parts = [x[i, 8 : 8 + 8 * int(n)] * (i + 1) for i, n in enumerate(counts)]
    return jnp.concatenate([*parts, jnp.zeros((128, 128))])[:64]


@kernel(arg(4, dtype=jnp.int32, fill="below:4"), arg(4, 40, 128), on="v6e", reference=rows_in_a_row)
def copies_of_running_sizes(counts: A, x: A) -> Any:
    def body(counts_ref: Any, x_ref: Any, out: Any, buffers: Any, arrived: Any, left: Any) -> None:
        def copied(source: Any, target: Any, semaphore: Any) -> None:
            copy = pltpu.make_async_copy(source, target, semaphore)
            copy.start()
            copy.wait()

        def step(i: Any, start: Any) -> Any:
            size, slot = pl.multiple_of(counts_ref[i] * 8, 8), i % 2
            copied(x_ref.at[i, pl.ds(8, size)], buffers.at[slot, pl.ds(0, size)], arrived)
            buffers[slot] = buffers[slot] * (i + 1).astype(jnp.float32)
            copied(buffers.at[slot, pl.ds(0, size)], out.at[pl.ds(pl.multiple_of(start * 8, 8), size)], left)
            return start + counts_ref[i]

        buffers[...] = jnp.zeros_like(buffers)
        for half in range(2):
            copied(buffers.at[half], out.at[pl.ds(32 * half, 32)], left)
        lax.fori_loop(0, 4, step, jnp.int32(0))

    return pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((64, 128), x.dtype),
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.VMEM((2, 32, 128), jnp.float32), pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.DMA],
    )(counts, x)
