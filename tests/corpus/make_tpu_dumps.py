"""Compiles the programs of this corpus ahead of time for TPUs, and computes their outputs on this machine's CPU.

`python -m tests.corpus.make_tpu_dumps [NAME ...]` needs the `tpu` extra but no TPU. One process at a time can hold
libtpu. Each program gives tpu/NAME/ with tpu.hlo (optimized, constants in full), stablehlo.mlir (what went in),
data.npz (in0, in1, ... and out0, out1, ...) and meta.json; some also tpu_elided.hlo, the same module with large
arrays of constants left out. A sharded program's arrays are the global ones: meta.json gives each device's part.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
from jaxlib._hlo import HloPrintOptions
from numpy.typing import NDArray

from tests.corpus.programs import PROGRAMS, Program
from tests.corpus.programs.registry import TOPOLOGIES

DEVICES = 4
HERE = Path(__file__).resolve().parent
Array = NDArray[Any]


def make_dump(program: Program, folder: Path) -> None:
    """Writes the dump of one program, its data and its description into `folder`."""
    inputs = program.draw_inputs()
    topology = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[program.platform])
    function, shardings = _placed_on(program, topology.devices)
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s) for a, s in zip(inputs, shardings, strict=True)]
    lowered = jax.jit(function, donate_argnums=program.donated).lower(*specs)
    compiled = lowered.compile()
    outputs = run_on_cpu(program, inputs)
    folder.mkdir(parents=True, exist_ok=True)
    _write_text(folder, program, lowered, compiled)
    arrays = {f"in{i}": storable(a) for i, a in enumerate(inputs)} | {
        f"out{i}": storable(a) for i, a in enumerate(outputs)
    }
    np.savez_compressed(folder / "data.npz", **arrays)  # type: ignore[arg-type]  # numpy declares its keyword options only
    meta = _describe(program, inputs, outputs)
    if program.mesh:
        meta["devices"] = DEVICES
        _add_shards(meta["inputs"], shardings)
        _add_shards(meta["outputs"], jax.tree.leaves(compiled.output_shardings))
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


def run_on_cpu(program: Program, inputs: Sequence[Array]) -> list[Array]:
    """Computes the outputs on the CPU, a sharded program's over as many host devices."""
    function, shardings = _placed_on(program, jax.devices("cpu"))
    placed = [jax.device_put(a, s) for a, s in zip(inputs, shardings, strict=True)]
    return [np.asarray(a) for a in jax.tree.leaves(jax.jit(function)(*placed))]


def storable(array: Array) -> Array:
    """Returns an array that plain numpy can load: other float types as unsigned integers, 4 bits in 8."""
    kind, bits = array.dtype.name.rstrip("0123456789fnuz_b"), array.dtype.itemsize * 8
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(f"{kind}8") if kind in ("int", "uint") else array.view(f"uint{bits}")


def _placed_on(program: Program, devices: Sequence[Any]) -> tuple[Any, list[Any]]:
    if not program.mesh:
        return program.function, [SingleDeviceSharding(devices[0])] * len(program.arguments)
    names, sizes = zip(*program.mesh, strict=True)
    mesh = Mesh(np.array(devices[:DEVICES]).reshape(sizes), names)
    specs = [argument.sharding or PartitionSpec() for argument in program.arguments]
    return _named_partial(program, mesh), [NamedSharding(mesh, spec) for spec in specs]


def _named_partial(program: Program, mesh: Mesh) -> Any:
    return functools.wraps(program.function)(functools.partial(program.function, mesh))


def _write_text(folder: Path, program: Program, lowered: Any, compiled: Any) -> None:
    module = compiled.runtime_executable().hlo_modules()[0]
    options = HloPrintOptions()
    if program.elided:
        (folder / "tpu_elided.hlo").write_text(module.to_string(options))
    options.print_large_constants = True
    (folder / "tpu.hlo").write_text(module.to_string(options))
    (folder / "stablehlo.mlir").write_text(lowered.as_text())


def _describe(program: Program, inputs: Sequence[Array], outputs: Sequence[Array]) -> dict[str, Any]:
    return {
        "name": program.name,
        "platform": program.platform,
        "topology": TOPOLOGIES[program.platform],
        "source": f"programs/{Path(program.function.__code__.co_filename).name}",
        "inputs": [_describe_array(a) for a in inputs],
        "outputs": [_describe_array(a) for a in outputs],
        "jax": jax.__version__,
    }


def _describe_array(array: Array) -> dict[str, Any]:
    return {"dtype": array.dtype.name, "shape": list(array.shape)}


def _add_shards(described: list[dict[str, Any]], shardings: Sequence[Any]) -> None:
    """Adds each device's part, [start, stop] for each dimension, in the order of the partitions."""
    for array, sharding in zip(described, shardings, strict=True):
        parts = sharding.devices_indices_map(tuple(array["shape"]))
        array["shards"] = [
            [list(s.indices(n)[:2]) for s, n in zip(parts[device], array["shape"], strict=True)]
            for device in sharding.mesh.devices.flat
        ]


def main() -> int:
    """Makes the dumps that the arguments name, or all; returns 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to compile (default: all)")
    parser.add_argument("-o", "--out", type=Path, default=HERE / "tpu", help="folder for the dumps")
    arguments = parser.parse_args()
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"  # there is no metadata server to ask about a TPU host
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without their folders
    failed = 0
    for name in arguments.names or PROGRAMS:
        try:
            with jax.enable_x64(PROGRAMS[name].x64):
                make_dump(PROGRAMS[name], arguments.out / name)
            print(f"{name}: done")
        except Exception as error:  # a compiler's refusal of one program must not cost the others
            traceback.print_exc(limit=-2)
            print(f"{name}: {type(error).__name__}: {str(error)[:400]}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
