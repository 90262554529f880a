"""Compiles programs ahead of time for NVIDIA GPUs, and computes their outputs on this machine's CPU.

`python -m tests.corpus.make_gpu_dumps [NAME ...] -o DIR` needs JAX's CUDA plugin but no GPU, no driver and no library
of NVIDIA's. Each program gives DIR/NAME/ with gpu.hlo (optimized, constants in full), stablehlo.mlir (what went in),
data.npz (in0, in1, ... and out0, out1, ...) and meta.json, which has the compiler's figures of memory; with --passes
also passes/, the module after each pass. The GPU is one of those that the package describes. Nothing can be timed
without it, so the compiler chooses by rules (--xla_gpu_autotune_level=0).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jax
from jax._src.cudnn import fused_attention_stablehlo as fused_attention
from jax.experimental import topologies
from jaxlib._hlo import HloPrintOptions

from dialect_utils.layout import targets
from tests.corpus.campaign import CAMPAIGN
from tests.corpus.campaign_gpu import GPU_CAMPAIGN
from tests.corpus.compiling import (
    Compiled,
    configure_jax,
    describe,
    make_each,
    placed_on,
    run_on_cpu,
    write_data,
    write_meta,
)
from tests.corpus.programs import PROGRAMS, Program

TARGETS = {path.stem: path for path in sorted((Path(targets.__file__).parent / "gpus").glob("*.txtpb"))}
FIGURES = ("argument", "output", "alias", "temp", "generated_code")
# These arrange work for parts of a TPU that a GPU lacks, or are larger than a quick run allows.
_ONLY_TPU = ("offload", "overlapped")


def programs() -> dict[str, Program]:
    """Returns all programs that make sense on a GPU: those of the TPU corpora, and those for GPUs."""
    found = {**PROGRAMS, **CAMPAIGN}
    kept = {name: each for name, each in found.items() if each.function.__module__.split(".")[-1] not in _ONLY_TPU}
    return {**{name: each for name, each in kept.items() if not each.refused and not each.on_host}, **GPU_CAMPAIGN}


def compiled_for_gpu(program: Program, target: str, options: Mapping[str, Any]) -> tuple[Compiled, dict[str, int]]:
    """Compiles a program for a GPU of a description; returns the texts, and the compiler's figures of memory."""
    # JAX asks the machine for cuDNN's version and the GPU; the description has both.
    fused_attention.check_cudnn_version = lambda: 91000
    fused_attention.check_compute_capability = lambda capability: True
    devices = topologies.get_topology_desc(
        platform="cuda", topology_name="gpu", topology=f"1x1x{program.device_count}", target_config=target
    ).devices
    function, shardings = placed_on(program, devices)
    specs = [
        jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=sharding)
        for array, sharding in zip(program.draw_inputs(), shardings, strict=True)
    ]
    traced = jax.jit(function, donate_argnums=program.donated).trace(*specs)
    lowered = traced.lower(lowering_platforms=("cuda",))
    compiled: Any = lowered.compile(compiler_options={"xla_gpu_autotune_level": 0, **options})
    printing = HloPrintOptions()
    printing.print_large_constants = True
    text = compiled.runtime_executable().hlo_modules()[0].to_string(printing)
    analysis = compiled.memory_analysis()
    memory = {f"{name}_bytes": int(getattr(analysis, f"{name}_size_in_bytes")) for name in FIGURES}
    outputs = jax.tree.leaves(compiled.output_shardings)
    return Compiled(lowered.as_text(), text, None, shardings, outputs), memory


def make_dump(program: Program, folder: Path, gpu: str, *, triton: bool = True, passes: bool = False) -> None:
    """Writes the dump of one program, its data and its description into `folder`."""
    options: dict[str, Any] = {} if triton else {"xla_gpu_enable_triton_gemm": False}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as settings:
        texts = Path(settings.enter_context(tempfile.TemporaryDirectory()))
        settings.enter_context(jax.enable_x64(program.x64))
        if program.precise:
            settings.enter_context(jax.default_matmul_precision("highest"))
        if passes:
            options |= {"xla_dump_to": str(texts), "xla_dump_hlo_as_text": True, "xla_dump_hlo_pass_re": ".*"}
        compiled, memory = compiled_for_gpu(program, TARGETS[gpu].read_text("utf-8"), options)
        inputs = program.draw_inputs()
        outputs = run_on_cpu(program, inputs)
        if passes:
            shutil.rmtree(folder / "passes", ignore_errors=True)
            (folder / "passes").mkdir()
            for path in sorted(texts.glob(f"module_*.jit_{program.name}.*.txt")):
                shutil.move(path, folder / "passes" / path.name)
    (folder / "gpu.hlo").write_text(compiled.text)
    (folder / "stablehlo.mlir").write_text(compiled.stablehlo)
    write_data(folder, inputs, outputs)
    meta = describe(program, compiled, inputs, outputs)
    meta |= {"platform": gpu, "topology": f"1x1x{program.device_count}", "devices": program.device_count}
    write_meta(folder, meta | {"triton": triton, "memory": memory})


def main() -> int:
    """Makes the dumps that the arguments name, or all; returns 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to compile (default: all)")
    parser.add_argument("-o", "--out", type=Path, default=Path("build/gpu_dumps"), help="folder for the dumps")
    parser.add_argument("--gpu", choices=sorted(TARGETS), default="h100", help="the GPU (default: h100)")
    parser.add_argument("--no-triton", action="store_true", help="leave matrix products to cuBLAS")
    parser.add_argument("--passes", action="store_true", help="also write the module after each pass")
    given = parser.parse_args()
    configure_jax()
    known = programs()

    def make(name: str) -> None:
        make_dump(known[name], given.out / name, given.gpu, triton=not given.no_triton, passes=given.passes)

    return make_each(given.names or known, make)


if __name__ == "__main__":
    sys.exit(main())
