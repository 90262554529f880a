"""Compiles programs for NVIDIA GPUs and compares the memory report of each with the compiler's own figures.

`python -m tests.campaign_gpu_memory [NAME ...] [-o DIR]` needs JAX's CUDA plugin but no GPU. The programs are those of
`tests.memory.programs` (arrays of real size) and of `tests.corpus.make_gpu_dumps`; the GPU of each, and whether Triton
or cuBLAS computes its products, follow from its name. A line has the compiler's temporaries, the report's, their ratio,
and the figures that differ by more than 1 % and 1 KiB. With -o the folder gets NAME.hlo.gz and measured.jsonl, as in
`tests/memory/gpu_dumps`. Ends with 1 if more than 5 % of the programs differ.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

from dialect_utils.hlo import parse_module
from dialect_utils.memory import measure_memory
from tests.corpus.compiling import configure_jax
from tests.corpus.make_gpu_dumps import TARGETS, compiled_for_gpu, programs
from tests.memory.compiled import differences
from tests.memory.programs import PROGRAMS, MemoryProgram

MOST_DIFFERENT = 0.05


def compiled(name: str) -> tuple[str, Mapping[str, Any]]:
    """Returns the optimized text of a program, with the GPU, the choice of the products and the compiler's figures."""
    drawn = zlib.crc32(name.encode())
    gpu, triton = sorted(TARGETS)[drawn % len(TARGETS)], drawn // len(TARGETS) % 3 != 0
    options: dict[str, Any] = {} if triton else {"xla_gpu_enable_triton_gemm": False}
    description = TARGETS[gpu].read_text("utf-8")
    if name in PROGRAMS:
        text, analysis = _compiled(PROGRAMS[name], description, {"xla_gpu_autotune_level": 0, **options})
        figures = {key: getattr(analysis, f"{key}_size_in_bytes") for key in ("argument", "output", "alias", "temp")}
    else:
        program = programs()[name]
        with jax.enable_x64(program.x64):
            made, memory = compiled_for_gpu(program, description, options)
        text, figures = made.text, {key: memory[f"{key}_bytes"] for key in ("argument", "output", "alias", "temp")}
    return text, {"platform": gpu if triton else f"{gpu}, cuBLAS", **figures}


def _compiled(program: MemoryProgram, description: str, options: Mapping[str, Any]) -> tuple[str, Any]:
    devices = topologies.get_topology_desc(
        platform="cuda", topology_name="gpu", topology="1x1x1", target_config=description
    ).devices
    placed = partial(_placed, SingleDeviceSharding(devices[0]))
    traced = jax.jit(program.function, donate_argnums=program.donated).trace(*jax.tree.map(placed, program.arguments))
    made = traced.lower(lowering_platforms=("cuda",)).compile(compiler_options=dict(options))
    text, analysis = made.as_text(), made.memory_analysis()
    assert text is not None
    return text, analysis


def _placed(sharding: SingleDeviceSharding, each: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=sharding)


def main() -> int:
    """Compares the programs that the arguments name, or all; returns 1 if too many differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to compile (default: all)")
    parser.add_argument("-o", "--out", type=Path, help="folder for the texts and figures")
    given = parser.parse_args()
    configure_jax()
    known = [name for name, each in PROGRAMS.items() if not each.on_host] + list(programs())
    differing = compared = 0
    for name in given.names or known:
        try:
            text, record = compiled(name)
        except jax.errors.JaxRuntimeError as error:
            print(f"{name:45} not compiled: {str(error).splitlines()[0][:100]}", flush=True)
            continue
        usage = measure_memory(parse_module(text, name))
        found = differences(usage, record)
        ratio = usage.temporary_bytes / record["temp"] if record["temp"] else float(not usage.temporary_bytes)
        line = f"{name:45} {record['platform']:13} {record['temp']:14,} {usage.temporary_bytes:14,} {ratio:7.4f}"
        print(line, *found, flush=True)
        compared, differing = compared + 1, differing + bool(found)
        if given.out:
            given.out.mkdir(parents=True, exist_ok=True)
            (given.out / f"{name}.hlo.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
            with (given.out / "measured.jsonl").open("a") as lines:
                print(json.dumps({"name": name, **record}), file=lines)
    print(f"{compared - differing} of {compared} programs within 1 % or 1 KiB in every figure")
    return int(differing > MOST_DIFFERENT * compared)


if __name__ == "__main__":
    sys.exit(main())
