"""Compiles the programs of this corpus ahead of time for TPUs, and computes their outputs on this machine's CPU.

`python -m tests.corpus.make_tpu_dumps [NAME ...]` needs the `tpu` extra but no TPU. One process at a time can hold
libtpu. Each program gives tpu/NAME/ with tpu.hlo (optimized, constants in full), stablehlo.mlir (what went in),
data.npz (in0, in1, ... and out0, out1, ...) and meta.json; some also tpu_elided.hlo, the same module with large
arrays of constants left out. A sharded program's arrays are the global ones: meta.json gives each device's part.
Programs of `campaign` are made only where they are named: their dumps are not kept, but for some.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import jax

from tests.corpus.campaign import CAMPAIGN
from tests.corpus.compiling import (
    compiled_for_tpu,
    configure_jax,
    describe,
    make_each,
    parse_arguments,
    run_on_cpu,
    write_data,
    write_meta,
)
from tests.corpus.programs import PROGRAMS, Program

HERE = Path(__file__).resolve().parent


def make_dump(program: Program, folder: Path, texts: Path | None = None) -> None:
    """Writes the dump of one program, its data and its description into `folder`.

    `texts` is where the compiler writes texts of its own, for modules that jaxlib cannot print.
    """
    inputs = program.draw_inputs()
    with ExitStack() as settings:
        settings.enter_context(jax.enable_x64(program.x64))
        if program.precise:
            settings.enter_context(jax.default_matmul_precision("highest"))
        compiled = compiled_for_tpu(program, inputs, texts)
        outputs = run_on_cpu(program, inputs)
    folder.mkdir(parents=True, exist_ok=True)
    if program.elided and compiled.elided is not None:
        (folder / "tpu_elided.hlo").write_text(compiled.elided)
    (folder / "tpu.hlo").write_text(compiled.text)
    (folder / "stablehlo.mlir").write_text(compiled.stablehlo)
    write_data(folder, inputs, outputs)
    write_meta(folder, describe(program, compiled, inputs, outputs))


def main() -> int:
    """Makes the dumps that the arguments name, or all; returns 1 if one failed."""
    arguments = parse_arguments(__doc__ or "", HERE / "tpu")
    configure_jax()
    known = {**CAMPAIGN, **PROGRAMS}
    return make_each(arguments.names or PROGRAMS, lambda name: make_dump(known[name], arguments.out / name))


if __name__ == "__main__":
    sys.exit(main())
