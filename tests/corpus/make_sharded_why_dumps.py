"""Compiles a program for four host devices, and keeps the modules of all passes.

`python -m tests.corpus.make_sharded_why_dumps`
"""

from __future__ import annotations

import shutil
import tempfile

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from dialect_utils.execution.compilers import CPU, dump_passes
from tests.corpus.make_pass_dumps import keep
from tests.corpus.make_why_dumps import HERE
from tests.paths import ROOT

A = jax.Array


def column_products(x: A, w: A, v: A) -> A:
    """Multiplies by two matrices whose columns are on different devices."""
    return jnp.maximum(x @ w, 0) @ v


def main() -> None:
    """Writes the directory."""
    mesh = AbstractMesh((4,), ("model",))
    whole, columns = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), (None, "model")))
    arguments = [jax.ShapeDtypeStruct(sizes, jnp.float32) for sizes in ((64, 128), (128, 256), (256, 128))]
    program = jax.jit(column_products, in_shardings=(whole, columns, columns), out_shardings=whole)
    folder = HERE / column_products.__name__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tempfile.TemporaryDirectory() as dump:
        text = program.trace(*arguments).lower(lowering_platforms=("cpu",)).as_text(debug_info=True)
        dump_passes(text.replace(f"{ROOT}/", ""), CPU, dump)
        keep(dump, folder, equal=1)


if __name__ == "__main__":
    main()
