"""Compiles programs for a TPU, and keeps the modules of all passes: `python -m tests.corpus.make_why_dumps`.

Each program is compiled as it is, and with the changes that `report --why` advises; of these only the final module
stays. It needs libtpu, but no TPU.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.layout import Format, Layout

from dialect_utils.execution.compilers import dump_passes
from dialect_utils.execution.compiling import topology_devices
from tests.corpus.make_pass_dumps import keep
from tests.paths import ROOT

HERE = Path(__file__).resolve().parent / "why"
TARGET = "tpu-v5e"
A = jax.Array


def gathered_rows(x: A, i: A) -> A:
    """Gathers rows of three elements, and doubles them."""
    return x[i] * 2


def written_rows(x: A, rows: A) -> A:
    """Writes rows over a part of an argument, which stays as it is."""
    return lax.dynamic_update_slice(x, jnp.sin(rows), (8, 0))


@dataclass(frozen=True)
class Program:
    """A program with its arguments, and the advice: orders of arguments and results, and donated arguments."""

    function: Callable[..., Any]
    arguments: tuple[jax.ShapeDtypeStruct, ...]
    argument_orders: dict[int, tuple[int, ...]] = field(default_factory=dict)
    result_order: tuple[int, ...] | None = None
    donated: tuple[int, ...] = ()


def _struct(*sizes: int, kind: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, kind)


PROGRAMS = (
    Program(gathered_rows, (_struct(512, 3), _struct(1024, kind=jnp.int32)), {0: (0, 1)}, (0, 1)),
    Program(written_rows, (_struct(512, 256), _struct(8, 256)), donated=(0,)),
)


def main() -> None:
    """Writes the directories."""
    shutil.rmtree(HERE, ignore_errors=True)
    for program in PROGRAMS:
        folder = HERE / program.function.__name__
        folder.mkdir(parents=True)
        _compile(jax.jit(program.function).lower(*program.arguments), folder, is_whole=True)
        if program.argument_orders or program.result_order or program.donated:
            followed = HERE / f"{program.function.__name__}_followed"
            followed.mkdir()
            _compile(_followed(program), followed, is_whole=False)


def _followed(program: Program) -> Any:
    # Imported here: the dumps name the lines of the functions above.
    from dialect_utils.layout.targets.known import parse_target

    sharding = jax.sharding.SingleDeviceSharding(topology_devices(parse_target("tpu-v5e"))[0])

    def laid_out(order: tuple[int, ...] | None) -> Any:
        return sharding if order is None else Format(Layout(major_to_minor=order), sharding)

    orders = [program.argument_orders.get(number) for number in range(len(program.arguments))]
    compiled = jax.jit(
        program.function,
        in_shardings=tuple(map(laid_out, orders)),
        out_shardings=laid_out(program.result_order),
        donate_argnums=program.donated,
    )
    return compiled.lower(*program.arguments)


def _compile(lowered: Any, folder: Path, *, is_whole: bool) -> None:
    with tempfile.TemporaryDirectory() as dump:
        dump_passes(lowered.as_text(debug_info=True).replace(f"{ROOT}/", ""), TARGET, dump)
        if is_whole:
            keep(dump, folder, equal=1)
            return
        [final] = Path(dump).glob("*.after_optimizations.txt")
        shutil.copy(final, folder)


if __name__ == "__main__":
    main()
