"""Compiles programs for the CPU, and keeps the modules of XLA's passes: `python -m tests.corpus.make_pass_dumps`.

Of modules with one text the first two stay, and the last of all, so that the directories are small.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from dialect_utils.execution.pass_dumps import CPU, dump_passes
from dialect_utils.io.inputs import find_inputs

HERE = Path(__file__).resolve().parent / "passes"
A = jax.Array


def clipped_rows(x: A, y: A, i: A) -> Any:
    """Selects differences, writes over a part of them, and sums rows."""
    chosen = jnp.where(x > y, x - y, 0.375)
    written = lax.dynamic_update_slice(chosen, jnp.sin(y[:2, :3]), (i, 1))
    return jnp.maximum(written.sum(1), y[0]), written


def decayed_states(x: A, w: A) -> Any:
    """Carries a state through a loop that multiplies it by a matrix."""

    def body(_: int, state: A) -> A:
        return jnp.tanh(state @ w) - 0.375 * x

    return lax.fori_loop(0, 3, body, x)


def _struct(*sizes: int, kind: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, kind)


PROGRAMS: tuple[tuple[Callable[..., Any], tuple[jax.ShapeDtypeStruct, ...]], ...] = (
    (clipped_rows, (_struct(5, 5), _struct(5, 5), _struct(kind=jnp.int32))),
    (decayed_states, (_struct(4, 4), _struct(4, 4))),
)


def main() -> None:
    """Writes the directories."""
    shutil.rmtree(HERE, ignore_errors=True)
    for program, arguments in PROGRAMS:
        folder = HERE / program.__name__
        folder.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as dump:
            dump_passes(jax.jit(program).lower(*arguments).as_text(), CPU, dump)
            _keep(dump, folder)


def _keep(dump: str, folder: Path) -> None:
    before: list[bytes] = []
    modules = [each for each in find_inputs([dump]).modules if each.dump.place_in_compilation is not None]
    for each in sorted(modules, key=lambda each: each.dump.place_in_compilation or ()):
        text = each.data()
        if before[-2:] != [text, text] or each is modules[-1]:
            (folder / Path(each.path).name).write_bytes(text)
        before.append(text)


if __name__ == "__main__":
    main()
