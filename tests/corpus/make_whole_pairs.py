"""Compiles programs for TPUs and keeps each module as it was before and after all of the compiler's passes.

`python -m tests.corpus.make_whole_pairs` needs the `tpu` extra but no TPU. It writes whole/NAME.before.hlo.xz and
whole/NAME.after.hlo.xz in the compiler's own words. Large constants are elided, as the compiler does it by default.
"""

from __future__ import annotations

import lzma
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "whole"
TARGET = "tpu-v5e"
_FILE_NAMES = re.compile(r'(?<=^\d )"[^"]*\.py"', re.MULTILINE)
_STAGES = {"before": "before_optimizations.txt", "after": "after_optimizations.txt"}


# Functions and the shapes of their arguments.
Programs = dict[str, tuple[Callable[..., Any], list[Any]]]


def f32(*sizes: int) -> Any:
    """Returns the shape of an argument."""
    import jax

    return jax.ShapeDtypeStruct(sizes, "float32")


def with_roundings() -> Programs:
    """Returns functions of which the compiler rounds operands of dots."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def mlp_step(x: Any, w: Any, b: Any, v: Any, t: Any) -> Any:
        gradients = jax.grad(lambda w, b, v: jnp.mean((jnp.tanh(x @ w + b) @ v - t) ** 2), (0, 1, 2))(w, b, v)
        return tuple(a - 0.1 * c for a, c in zip((w, b, v), gradients, strict=True))

    def recurrent(x: Any, w: Any, u: Any, h: Any) -> Any:
        def step(h: Any, a: Any) -> Any:
            h = jnp.tanh(h @ w + a @ u)
            return h, h

        return lax.scan(step, h, x)

    def conv_gradient(x: Any, w: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.grad(
            lambda w: jnp.sum(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers) ** 2)
        )(w)

    def two_precisions(a: Any, b: Any, c: Any) -> Any:
        return jnp.dot(jnp.dot(a, b, precision="highest"), c)

    return {
        "mlp_step": (mlp_step, [f32(9, 20), f32(20, 30), f32(30), f32(30, 6), f32(9, 6)]),
        "recurrent": (recurrent, [f32(5, 8, 16), f32(16, 16), f32(16, 16), f32(8, 16)]),
        "conv_gradient": (conv_gradient, [f32(2, 8, 8, 3), f32(3, 3, 3, 8)]),
        "two_precisions": (two_precisions, [f32(20, 30), f32(30, 20), f32(20, 10)]),
    }


def without_roundings() -> Programs:
    """Returns functions whose dots keep operands in f32, or that have none."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax, nn

    def attention(q: Any, k: Any, v: Any) -> Any:
        weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

    def largest(x: Any) -> Any:
        return (*lax.top_k(x, 5), jnp.argmax(x, 1))

    def spectrum(x: Any) -> Any:
        return jnp.abs(jnp.fft.fft(x))

    table = np.random.default_rng(0).normal(size=(20, 12)).astype(jnp.bfloat16)

    def elided(x: Any) -> Any:
        return nn.relu(x @ table)

    return {
        "attention": (attention, [f32(2, 16, 2, 8)] * 3),
        "largest": (largest, [f32(20, 30)]),
        "spectrum": (spectrum, [f32(4, 16)]),
        "elided": (elided, [jax.ShapeDtypeStruct((8, 20), jnp.bfloat16)]),
    }


def main() -> int:
    """Writes all pairs."""
    with tempfile.TemporaryDirectory() as texts:
        # libtpu reads this once, as it starts.
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={texts} --xla_dump_hlo_as_text"
        import jax

        from dialect_utils.execution.compiling import topology_devices
        from dialect_utils.layout.targets.known import parse_target
        from tests.corpus.compiling import configure_jax

        configure_jax()
        sharding = jax.sharding.SingleDeviceSharding(topology_devices(parse_target(TARGET))[0])
        FOLDER.mkdir(exist_ok=True)
        for name, (function, arguments) in {**with_roundings(), **without_roundings()}.items():
            placed = [jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=sharding) for each in arguments]
            jax.jit(function, out_shardings=sharding).lower(*placed).compile()
            for stage, suffix in _STAGES.items():
                (written,) = Path(texts).glob(f"*.jit_{function.__name__}.*.{suffix}")
                text = _FILE_NAMES.sub(f'"{name}.py"', written.read_text())
                (FOLDER / f"{name}.{stage}.hlo.xz").write_bytes(lzma.compress(text.encode(), preset=9))
            print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
