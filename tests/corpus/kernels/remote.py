"""Kernels that copy to other devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from tests.corpus.kernels.registry import kernel
from tests.corpus.programs.registry import A, arg

RING = (("ring", 4),)


@kernel(arg(4, 8, 128, sharding=("ring",)), mesh=RING)
def copied_to_the_right(mesh: Any, x: A) -> Any:
    def body(x_ref: Any, out: Any, sent: Any, received: Any) -> None:
        me = lax.axis_index("ring")
        copy = pltpu.make_async_remote_copy(
            src_ref=x_ref,
            dst_ref=out,
            send_sem=sent,
            recv_sem=received,
            device_id=lax.rem(me + 1, 4),
            device_id_type=pl.DeviceIdType.LOGICAL,
        )
        copy.start()
        copy.wait()

    call = pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((1, 8, 128), jnp.float32),
        in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM)],
        out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
        scratch_shapes=[pltpu.SemaphoreType.DMA] * 2,
    )
    spec = jax.sharding.PartitionSpec("ring")
    return jax.shard_map(call, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(x)


@kernel(arg(4, 8, 128, sharding=("ring",)), mesh=RING)
def gathered_around_the_ring(mesh: Any, x: A) -> Any:
    def body(x_ref: Any, out: Any, held: Any, copied: Any, sent: Any, received: Any) -> None:
        me = lax.axis_index("ring")
        right = lax.rem(me + 1, 4)
        first = pltpu.make_async_copy(x_ref, out.at[pl.ds(me, 1)], copied)
        first.start()
        first.wait()
        held[0] = x_ref[0]

        def step(i: Any, _: Any) -> None:
            copy = pltpu.make_async_remote_copy(
                src_ref=held.at[lax.rem(i, 2)],
                dst_ref=held.at[1 - lax.rem(i, 2)],
                send_sem=sent,
                recv_sem=received,
                device_id=right,
                device_id_type=pl.DeviceIdType.LOGICAL,
            )
            copy.start()
            copy.wait()
            out[lax.rem(me - i + 3, 4)] = held[1 - lax.rem(i, 2)]

        lax.fori_loop(0, 3, step, None)

    vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
    call = pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((4, 8, 128), jnp.float32),
        in_specs=[vmem],
        out_specs=vmem,
        scratch_shapes=[pltpu.VMEM((2, 8, 128), jnp.float32), *[pltpu.SemaphoreType.DMA] * 3],
    )
    spec = jax.sharding.PartitionSpec("ring")
    return jax.shard_map(call, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(x)
