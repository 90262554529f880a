"""Makes pairs of a program for one device and the same for several: `make sharded-pairs`.

`python -m tests.corpus.make_sharded [NAME ...] [-o DIR] [--forms FORM,...]` writes DIR/NAME.FORM/ with a.mlir (the
StableHLO of the program for one device), b.mlir or b.hlo (the program for several), source.mlir (what JAX lowers for
several devices, with its shardings), placements.json (mesh, parameters and results), data.npz (inputs, and the outputs
of a.mlir) and meta.json. Each b is then run on as many host devices, and its outputs are assembled and compared.
Forms of GPUs need JAX's CUDA plugin, and those of TPUs libtpu; what cannot be compiled here is left out and told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jaxlib._hlo import HloPrintOptions

from dialect_utils.execution.compiling import compile_module, topology_devices
from dialect_utils.layout import targets
from dialect_utils.layout.targets.gpu import described_gpu
from dialect_utils.layout.targets.known import parse_target
from tests.corpus.compiling import configure_jax, make_each, write_data, write_meta
from tests.corpus.sharded import SHARDED, Form, Sharded
from tests.corpus.sharded.running import Placements, Runs

GPU, TPU = "h100", "tpu-v5e"
# The TPU compiler's partitioner has a name of its own.
_PARTITIONED = "*.after_*spmd-partitioning*.txt"
_DUMP = {"xla_dump_hlo_pass_re": ".*spmd.*", "xla_dump_hlo_as_text": True, "xla_dump_large_constants": True}


def devices_of(form: Form, count: int) -> Any:
    """Returns the devices that a form is compiled for."""
    platform = form.removeprefix("partitioned-").split("-")[0]
    if platform == "gpu":
        described = Path(targets.__file__).parent / "gpus" / f"{GPU}.txtpb"
        return topology_devices(described_gpu(GPU, described.read_text("utf-8")), count)[:count]
    return topology_devices(parse_target(TPU), count)[:count] if platform == "tpu" else jax.devices("cpu")[:count]


def text_of_compiled(executable: Any) -> str:
    """Returns the optimized module, with all constants and without the lines of its source."""
    printing = HloPrintOptions()
    printing.print_large_constants, printing.print_metadata = True, False
    text: str = executable.hlo_modules()[0].to_string(printing)
    return text


def shardy_parts(text: str) -> str:
    """Returns the program of one device's parts; raises ValueError where Shardy's passes end with an error."""
    command = [sys.executable, "-m", "tests.corpus.sharded.parts"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr[-400:])
    return done.stdout


def annotated_texts(program: Sharded, form: Form) -> tuple[str, str, Placements]:
    """Returns the same as `texts_of` for a program whose shardings stand in its text alone."""
    inputs, single = program.draw_inputs(), _named(program.name, program.for_one_device())
    lowered = jax.jit(single).lower(*inputs)
    shapes = jax.tree.leaves(jax.eval_shape(single, *inputs))
    specs = [argument.sharding or P() for argument in program.arguments]
    placements = Placements.of(program.mesh, zip(specs, inputs, strict=True), zip(program.results, shapes, strict=True))
    source = placements.annotate(lowered.as_text())
    with tempfile.TemporaryDirectory() as dump:
        partitioned = form.startswith("partitioned")
        executable = compile_module(source, None, {**_DUMP, "xla_dump_to": dump} if partitioned else None)
        text = _partitioned(dump) if partitioned else text_of_compiled(executable)
    return source, text, placements


def _partitioned(dump: str) -> str:
    return sorted(Path(dump).glob(_PARTITIONED))[-1].read_text("utf-8")


def texts_of(program: Sharded, form: Form) -> tuple[str, str, Placements]:
    """Returns what JAX lowers for several devices, the text of the form, and the placements of inputs and outputs."""
    names, sizes = zip(*program.mesh, strict=True)
    mesh = Mesh(np.array(devices_of(form, program.devices)).reshape(sizes), names)
    jax.config.update("jax_use_shardy_partitioner", not form.endswith("gspmd") and form != "full-to-shard")
    function = _named(program.name, program.for_mesh(mesh))
    inputs, specs = program.draw_inputs(), [argument.sharding or P() for argument in program.arguments]
    placed = [
        jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=NamedSharding(mesh, spec))
        for array, spec in zip(inputs, specs, strict=True)
    ]
    jitted: Any = jax.jit(function)
    if program.local is not None:
        shardings = jax.tree.map(lambda spec: NamedSharding(mesh, spec), program.results, is_leaf=_is_spec)
        jitted = jax.jit(function, out_shardings=shardings)
    lowered = jitted.lower(*placed)
    with tempfile.TemporaryDirectory() as dump:
        is_partitioned = form.startswith("partitioned")
        compiled = lowered.compile(compiler_options={**_DUMP, "xla_dump_to": dump} if is_partitioned else None)
        outputs = [sharding.spec for sharding in jax.tree.leaves(compiled.output_shardings)]
        if form == "shardy-parts":
            text = shardy_parts(lowered.as_text())
        elif form in ("sdy", "full-to-shard"):
            text = lowered.as_text()
        elif is_partitioned:
            text = _partitioned(dump)
        else:
            text = text_of_compiled(compiled.runtime_executable())
    shapes = jax.tree.leaves(jax.eval_shape(function, *placed))
    return lowered.as_text(), text, Placements.of(
        program.mesh, zip(specs, inputs, strict=True), zip(outputs, shapes, strict=True)
    )  # fmt: skip


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def named(*args: Any) -> Any:
        return function(*args)

    named.__name__ = name
    return named


def _is_spec(value: Any) -> bool:
    return isinstance(value, P)


def make_pair(program: Sharded, form: Form, folder: Path, runs: Runs) -> None:
    """Writes one pair and runs it; raises ValueError where its outputs are not those of the program for one device."""
    begin = time.perf_counter()
    source, text, placements = (annotated_texts if program.is_annotated else texts_of)(program, form)
    single = _named(program.name, program.for_one_device())
    inputs = program.draw_inputs()
    platform = {"gpu": "cuda", "tpu": "tpu"}.get(form.removeprefix("partitioned-").split("-")[0], "cpu")
    traced = jax.jit(single).trace(*(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in inputs))
    outputs = [np.asarray(a) for a in jax.tree.leaves(jax.jit(single)(*inputs))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.mlir").write_text(traced.lower(lowering_platforms=(platform,)).as_text(), "utf-8")
    name = "b.mlir" if form in ("sdy", "full-to-shard", "shardy-parts") else "b.hlo"
    (folder / name).write_text(text, "utf-8")
    (folder / "source.mlir").write_text(source, "utf-8")
    (folder / "placements.json").write_text(json.dumps(placements.as_json(), indent=1) + "\n", "utf-8")
    write_data(folder, inputs, outputs)
    meta = {
        "name": program.name, "kind": program.kind, "form": form, "mesh": dict(program.mesh),
        "devices": program.devices, "b": name, "jax": jax.__version__,
        "inputs": [{"dtype": a.dtype.name, "shape": list(a.shape)} for a in inputs],
        "outputs": [{"dtype": a.dtype.name, "shape": list(a.shape)} for a in outputs],
        "in_specs": placements.as_json()["parameters"], "out_specs": placements.as_json()["results"],
    }  # fmt: skip
    write_meta(folder, meta)
    wrong = runs.differences(folder)
    write_meta(folder, {**meta, "executed": wrong or "matches"})
    if wrong:
        raise ValueError(f"{folder.name}: {'; '.join(wrong)}")
    print(f"{folder.name}: {time.perf_counter() - begin:.1f} s", flush=True)


def main() -> int:
    """Makes the pairs that the arguments name, or all; returns 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all)")
    parser.add_argument("-o", "--out", type=Path, default=Path("build/sharded"), help="folder for the pairs")
    parser.add_argument("--forms", default="", metavar="FORM,...", help="forms that begin so (default: all)")
    given = parser.parse_args()
    configure_jax()
    wanted = {
        f"{name}.{form}": (SHARDED[name], form)
        for name in given.names or SHARDED
        for form in SHARDED[name].forms
        if form.startswith(tuple(given.forms.split(",")))
    }
    with Runs() as runs:
        return make_each(wanted, lambda name: make_pair(*wanted[name], given.out / name, runs))


if __name__ == "__main__":
    sys.exit(main())
