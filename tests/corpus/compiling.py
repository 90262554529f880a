"""Parts of the scripts that compile programs ahead of time for TPUs: devices, texts, arrays and the command line."""

from __future__ import annotations

import argparse
import functools
import json
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
from jaxlib._hlo import HloPrintOptions
from numpy.typing import NDArray

from dialect_utils.execution.compiling import topology_devices
from tests.corpus.programs.registry import Program

Array = NDArray[Any]
DEVICES = 8
# How libtpu calls the text of the module that it compiles to code.
_OPTIMIZED = "after_optimizations.txt"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program compiled for a TPU: what went in, the optimized text, and how inputs and outputs are placed.

    `elided` is the text without large constants, where jaxlib can print the module.
    """

    stablehlo: str
    text: str
    elided: str | None
    inputs: Sequence[Any]
    outputs: Sequence[Any]


def compiled_for_tpu(program: Program, inputs: Sequence[Array], texts: Path | None = None) -> Compiled:
    """Compiles a program for its TPU.

    Some modules (scatters on SparseCores) jaxlib cannot print: their text is taken from the folder `texts`, into which
    XLA_FLAGS has the compiler write its own.
    """
    function, shardings = placed_on(program, topology_devices(program.target, program.device_count))
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s) for a, s in zip(inputs, shardings, strict=True)]
    lowered = jax.jit(function, donate_argnums=program.donated).lower(*specs)
    executable: Any = lowered.compile()
    try:
        text, elided = _text_of(executable), _text_of(executable, constants=False)
        outputs = jax.tree.leaves(executable.output_shardings)
    except jax.errors.JaxRuntimeError:
        written = sorted(texts.glob(f"*.jit_{program.name}.*{_OPTIMIZED}")) if texts is not None else []
        if not written or program.mesh:
            raise
        return Compiled(lowered.as_text(), written[-1].read_text(), None, shardings, [])
    return Compiled(lowered.as_text(), text, elided, shardings, outputs)


def _text_of(compiled: Any, *, constants: bool = True) -> str:
    options = HloPrintOptions()
    if constants:
        options.print_large_constants = True
    text: str = compiled.runtime_executable().hlo_modules()[0].to_string(options)
    return text


def placed_on(program: Program, devices: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Returns the function to compile for `devices`, and the sharding of each argument."""
    if not program.mesh:
        kinds = [{"memory_kind": "pinned_host"} if i in program.on_host else {} for i in range(len(program.arguments))]
        return program.function, [SingleDeviceSharding(devices[0], **kind) for kind in kinds]
    names, sizes = zip(*program.mesh, strict=True)
    mesh = Mesh(np.array(devices[: program.device_count]).reshape(sizes), names)
    specs = [argument.sharding or PartitionSpec() for argument in program.arguments]
    function = functools.wraps(program.function)(functools.partial(program.function, mesh))
    return function, [NamedSharding(mesh, spec) for spec in specs]


def run_on_cpu(program: Program, inputs: Sequence[Array]) -> list[Array]:
    """Computes the outputs on the CPU, a sharded program's over as many host devices."""
    if program.reference is not None:
        return [np.asarray(a) for a in jax.tree.leaves(program.reference(*inputs))]
    function, shardings = placed_on(program, jax.devices("cpu"))
    placed = [jax.device_put(a, s) for a, s in zip(inputs, shardings, strict=True)]
    return [np.asarray(a) for a in jax.tree.leaves(jax.jit(function)(*placed))]


def write_data(folder: Path, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Writes data.npz."""
    arrays = {f"in{i}": storable(a) for i, a in enumerate(inputs)}
    arrays |= {f"out{i}": storable(a) for i, a in enumerate(outputs)}
    np.savez_compressed(folder / "data.npz", **arrays)  # type: ignore[arg-type]  # numpy declares its keyword options only


def storable(array: Array) -> Array:
    """Returns an array that plain numpy can load: other float types as unsigned integers, 4 bits in 8."""
    kind, bits = array.dtype.name.rstrip("0123456789fnuz_b"), array.dtype.itemsize * 8
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(f"{kind}8") if kind in ("int", "uint") else array.view(f"uint{bits}")


def write_meta(folder: Path, meta: Mapping[str, Any]) -> None:
    """Writes meta.json."""
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


def describe(program: Program, compiled: Compiled, inputs: Sequence[Array], outputs: Sequence[Array]) -> dict[str, Any]:
    """Returns what meta.json says of every dump; of a sharded program also each device's part of its arrays."""
    source = Path(program.function.__code__.co_filename)
    meta: dict[str, Any] = {
        "name": program.name,
        "platform": program.platform,
        "topology": program.topology,
        "source": f"{source.parent.name}/{source.name}",
        "inputs": [_describe_array(a) for a in inputs],
        "outputs": [_describe_array(a) for a in outputs],
        "jax": jax.__version__,
    }
    if program.mesh:
        meta["devices"] = program.device_count
        _add_shards(meta["inputs"], compiled.inputs)
        _add_shards(meta["outputs"], compiled.outputs)
    return meta


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


def parse_arguments(description: str, out: Path) -> argparse.Namespace:
    """Reads the command line of a script: names of programs (`names`) and the folder (`out`)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to compile (default: all)")
    parser.add_argument("-o", "--out", type=Path, default=out, help="folder for the dumps")
    return parser.parse_args()


def configure_jax() -> None:
    """Makes JAX compute on host devices, and write file names without their folders into dumps."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def make_each(names: Iterable[str], make: Callable[[str], None]) -> int:
    """Makes one dump after another and returns 1 if one failed: a compiler's refusal must not cost the others."""
    failed = 0
    for name in names:
        try:
            make(name)
            print(f"{name}: done", flush=True)
        except Exception as error:
            traceback.print_exc(limit=-2, file=sys.stderr)
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            failed = 1
    return failed
