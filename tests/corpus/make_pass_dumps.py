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

from dialect_utils.execution.compilers import CPU, dump_passes
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
            keep(dump, folder)


def keep(dump: str, folder: Path, equal: int = 2) -> None:
    """Copies the modules of a dump directory to a folder, of equal texts in a row only so many."""
    modules = [each for each in find_inputs([dump]).modules if each.dump.place_in_compilation is not None]
    modules = sorted(modules, key=lambda each: each.dump.place_in_compilation or ())
    before: list[bytes] = []
    for number, each in enumerate(modules):
        text = each.data()
        # The modules around those that a pass writes while it runs, and around the last ones, name the pass.
        near = [other.dump for other in modules[max(0, number - 1) :][:3]]
        is_named = equal == 1 and any(other.is_part_of_pass or not other.change[0] for other in near)
        if before[-equal:] != [text] * equal or is_named or each is modules[-1]:
            (folder / Path(each.path).name).write_bytes(text)
        before.append(text)


if __name__ == "__main__":
    main()
