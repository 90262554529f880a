"""Compiles programs for a GPU, and keeps the modules of all passes: `python -m tests.corpus.make_gpu_why_dumps`.

Each program is compiled as it is, and with the changes that `report --why` advises; of these only the final module
stays. It needs JAX's CUDA plugin, but no GPU.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import topologies
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

from tests.corpus.make_gpu_dumps import TARGETS
from tests.corpus.make_pass_dumps import keep
from tests.paths import ROOT

HERE = Path(__file__).resolve().parent / "why"
GPU = "h100"
FLAGS = "--xla_dump_to={} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text"
A = jax.Array


def filtered_images(x: A, w: A) -> A:
    """Filters images whose channels are major; cuDNN wants them minor."""
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))


ARGUMENTS = (jax.ShapeDtypeStruct((2, 8, 16, 16), jnp.float32), jax.ShapeDtypeStruct((4, 8, 3, 3), jnp.float32))
# The advice: the channels of both arguments and of the result are the most minor dimension.
CHANNELS_LAST = Layout(major_to_minor=(0, 2, 3, 1))


def main() -> None:
    """Writes the directories, each from a process of its own: the compiler reads once where to write modules."""
    if len(sys.argv) > 1:
        _compile(is_followed=sys.argv[1] == "followed")
        return
    for change in ("plain", "followed"):
        folder = HERE / (filtered_images.__name__ + ("_followed" if change == "followed" else ""))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as dump:
            settings = {**os.environ, "XLA_FLAGS": FLAGS.format(dump), "JAX_PLATFORMS": "cpu"}
            command = [sys.executable, "-m", "tests.corpus.make_gpu_why_dumps", change]
            subprocess.run(command, cwd=ROOT, env=settings, check=True)
            if change == "plain":
                keep(dump, folder, equal=1)
            else:
                [final] = Path(dump).glob("*after_optimizations.txt")
                shutil.copy(final, folder)


def _compile(*, is_followed: bool) -> None:
    jax.config.update("jax_hlo_source_file_canonicalization_regex", f"{ROOT}/")
    devices = topologies.get_topology_desc(
        platform="cuda", topology_name="gpu", topology="1x1x1", target_config=TARGETS[GPU].read_text()
    ).devices
    plain = SingleDeviceSharding(devices[0])
    placed: Any = Format(CHANNELS_LAST, plain) if is_followed else plain
    jitted: Any = jax.jit(filtered_images, in_shardings=(placed, placed), out_shardings=placed)
    lowered = jitted.trace(*ARGUMENTS).lower(lowering_platforms=("cuda",))
    # Nothing can be timed without a GPU.
    lowered.compile(compiler_options={"xla_gpu_autotune_level": 0})


if __name__ == "__main__":
    main()
