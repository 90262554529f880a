"""Compiles the kernel programs of this corpus ahead of time for TPUs, and interprets them on this machine's CPU.

`python -m tests.corpus.make_mosaic_dumps [NAME ...]` needs the `tpu` extra but no TPU; one process at a time can hold
libtpu. Each program gives mosaic/NAME/ with tpu.hlo, data.npz (in0, ... and out0, ...: what JAX's interpret mode
computes) and meta.json. A program whose kernel cannot be lowered has no outputs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
from jax._src.pallas.mosaic import tpu_info
from jax.experimental import pallas

from tests.corpus.compiling import (
    Array,
    compiled_for_tpu,
    configure_jax,
    describe,
    make_each,
    parse_arguments,
    run_on_cpu,
    write_data,
    write_meta,
)
from tests.corpus.kernels import KERNELS, KernelProgram

HERE = Path(__file__).resolve().parent


def make_dump(program: KernelProgram, folder: Path) -> None:
    """Writes the dump of one program, its data and its description into `folder`."""
    inputs = program.draw_inputs()
    compiled = compiled_for_tpu(program, inputs)
    outputs = [] if program.refused else interpret(program, inputs)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tpu.hlo").write_text(compiled.text)
    write_data(folder, inputs, outputs)
    meta = describe(program, compiled, inputs, outputs)
    write_meta(folder, {"devices": 1, **meta, "tolerance": program.tolerance, "refused": program.refused or None})


def interpret(program: KernelProgram, inputs: Sequence[Array]) -> list[Array]:
    """Computes the outputs by JAX's interpret mode on the CPU, or by the program's reference."""
    if program.reference is not None:
        return run_on_cpu(program, inputs)
    with interpreted():
        jax.clear_caches()
        return run_on_cpu(program, inputs)


@contextmanager
def interpreted() -> Iterator[None]:
    """Makes every kernel an interpreted one, those of JAX's own library too."""
    call = pallas.pallas_call

    def interpreting(*arguments: Any, **options: Any) -> Any:
        return call(*arguments, **{**options, "interpret": True})

    pallas.pallas_call = interpreting
    try:
        yield
    finally:
        pallas.pallas_call = call
        jax.clear_caches()


def main() -> int:
    """Makes the dumps that the arguments name, or all; returns 1 if one failed."""
    arguments = parse_arguments(__doc__ or "", HERE / "mosaic")
    configure_jax()
    # Some kernels ask which chip they are written for; here there is none to ask.
    tpu_info.registry["cpu"] = lambda: tpu_info.get_tpu_info_for_chip(tpu_info.ChipVersion.TPU_V5E, 1)
    return make_each(arguments.names or KERNELS, lambda name: make_dump(KERNELS[name], arguments.out / name))


if __name__ == "__main__":
    sys.exit(main())
