"""Compiles the memory programs for their TPUs and stores the dumps with the compiler's own memory figures.

`python -m tests.memory.make_figures [-o DIR] [NAME ...]` needs the `tpu` extra but no TPU. It writes DIR/NAME.hlo.gz
and one line of DIR/measured.jsonl a program.
"""

from __future__ import annotations

import gzip
import json
import sys
from functools import partial
from pathlib import Path

import jax
from jax.sharding import SingleDeviceSharding

from dialect_utils.execution.compiling import memory_figures, topology_devices
from dialect_utils.layout.targets.known import parse_target
from tests.corpus.compiling import configure_jax, make_each, parse_arguments
from tests.memory.programs import PROGRAMS, MemoryProgram


def measure(name: str, program: MemoryProgram, folder: Path) -> dict[str, object]:
    """Compiles one program, writes its dump and returns the compiler's figures in bytes."""
    device = topology_devices(
        parse_target(program.platform if program.platform == "tpu7x" else f"tpu-{program.platform}")
    )[0]
    specs = [
        jax.tree.map(partial(_spec, SingleDeviceSharding(device, memory_kind=kind)), argument)
        for number, argument in enumerate(program.arguments)
        for kind in ["pinned_host" if number in program.on_host else "device"]
    ]
    compiled = jax.jit(program.function, donate_argnums=program.donated).lower(*specs).compile()
    analysis, text = compiled.memory_analysis(), compiled.as_text()
    assert analysis is not None
    assert text is not None
    (folder / f"{name}.hlo.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return {"name": name, "platform": program.platform, **memory_figures(analysis)}


def _spec(sharding: SingleDeviceSharding, each: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=sharding)


def main() -> int:
    """Measures the programs that the arguments name, or all; returns 1 if one failed."""
    arguments = parse_arguments(__doc__ or "", Path("figures"))
    configure_jax()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with (arguments.out / "measured.jsonl").open("a") as lines:

        def measure_one(name: str) -> None:
            print(json.dumps(measure(name, PROGRAMS[name], arguments.out)), file=lines, flush=True)

        return make_each(arguments.names or PROGRAMS, measure_one)


if __name__ == "__main__":
    sys.exit(main())
