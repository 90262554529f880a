"""Measurements of whole commands: new processes, in CPU seconds of all of them, except where wall time is asked for."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import inputs

# Ours and the reference's, in the same unit.
Pair = tuple[float, float]
PARSE_PRINT = (
    "import sys, jaxlib._hlo as h; h.hlo_module_from_text(open(sys.argv[1]).read()).to_string(h.HloPrintOptions())"
)
SMALL = (
    "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0:T(2,2)} negate(p)\n}\n"
)
# The modules of a batch: enough for the time of one to stand out.
_BATCH = 24
# The modules of a batch that two processes share.
SHARED = 48
_RELAYOUT = [sys.executable, "-m", "relayout"]
_CHECK = [*_RELAYOUT, "check", "-p", "expand-tiling"]
_ROUNDS = 3
_EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Imports JAX, reads StableHLO text, compiles it for the CPU and runs it once on random inputs.
COMPILE_RUN = """
import sys
import jax, jaxlib.lapack, numpy
from jaxlib import xla_client
from jaxlib.mlir import ir
client = jax.devices("cpu")[0].client
text = open(sys.argv[1]).read()
if "lapack_" in text:
    jaxlib.lapack.prepare_lapack_call("potrf_ffi", numpy.float32)
devices = jaxlib._jax.DeviceList(tuple(client.local_devices()[:1]))
executable = client.compile_and_load(text, devices, xla_client.CompileOptions())
generator = numpy.random.default_rng(0)
from jax._src.interpreters import mlir
with mlir.make_ir_context() as context:
    module = ir.Module.parse(text)
    main = next(each for each in module.body.operations if each.name.value == "main")
    kinds = [ir.RankedTensorType(each) for each in main.type.inputs]
    types = [str(kind.element_type) for kind in kinds]
    shapes = [tuple(kind.shape) for kind in kinds]
names = {"f32": "float32", "bf16": "bfloat16", "i32": "int32", "ui32": "uint32"}
import jax.numpy as jnp
arguments = []
for shape, kind in zip(shapes, types):
    numbers = generator.standard_normal(shape) if "f" in kind else generator.integers(0, 8, shape)
    arguments.append(jnp.asarray(numpy.asarray(numbers, getattr(jnp, names[kind]))))
outputs = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
[numpy.asarray(each[0]) for each in outputs]
"""


def children_seconds(command: list[str], rounds: int = 3) -> float:
    """Returns the CPU seconds of a command and all that it starts, the fastest round; both sides keep bytecode."""
    seconds = []
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Only a measurement that names a directory of its own is about the cache.
    environment |= {} if "RELAYOUT_CACHE_DIR" in environment else {"RELAYOUT_CACHE": "off"}
    for _ in range(rounds):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=environment)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
    return min(seconds)


def command(arguments: list[str], text: str, reference: str) -> Pair:
    """Measures a whole command on a file, `FILE` in its arguments; the reference is a script that gets the file."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "m.hlo"
        file.write_text(text)
        ours = [str(file) if argument == "FILE" else argument for argument in arguments]
        return _in_turns([*_RELAYOUT, *ours], [sys.executable, "-c", reference, str(file)])


def whole(arguments: list[str], make: Callable[[], str]) -> Pair:
    """Measures a whole command without its start-up, against a process that parses and prints the text with jaxlib."""
    text = make()
    start, loaded = command(arguments, SMALL, "import jaxlib._hlo")
    ours, theirs = command(arguments, text, PARSE_PRINT)
    return ours - start, theirs - loaded


def further_module() -> Pair:
    """Measures the time that each further module of a batch adds to `check`, against importing JAX."""
    with TemporaryDirectory() as folder:
        files = _small_files(Path(folder), _BATCH)
        start = [*_CHECK, "--jobs", "1"]
        one, all_of_them = (children_seconds([*start, *each]) for each in (files[:1], files))
    return (all_of_them - one) / (_BATCH - 1), children_seconds([sys.executable, "-c", "import jax"])


def _in_turns(ours: list[str], reference: list[str]) -> Pair:
    """Returns the CPU seconds of the fastest of several rounds of each, in turns."""
    pairs = [(children_seconds(ours, 1), children_seconds(reference, 1)) for _ in range(_ROUNDS)]
    return min(mine for mine, _ in pairs), min(other for _, other in pairs)


def _small_files(folder: Path, count: int) -> list[str]:
    """Writes small modules into a folder and returns their names."""
    files = [folder / f"{number}.hlo" for number in range(count)]
    for file in files:
        file.write_text(SMALL)
    return [str(file) for file in files]


def two_jobs() -> Pair:
    """Measures the wall time of a batch of small checks in two processes and in one: it means nothing on busy cores."""
    with TemporaryDirectory() as folder:
        files = _small_files(Path(folder), SHARED)
        pairs = [
            (_wall([*_CHECK, "--jobs", "2", *files]), _wall([*_CHECK, "--jobs", "1", *files])) for _ in range(_ROUNDS)
        ]
    return min(two for two, _ in pairs), min(one for _, one in pairs)


def _wall(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def rewrite(example: str) -> Pair:
    """Measures the check of an example after expand-tiling, against compiling and running the original once."""
    file = str(_EXAMPLES / f"{example}.mlir")
    ours = [*_RELAYOUT, "check", file, "-p", "annotate-layouts{target=tpu-v5e},expand-tiling"]
    return _in_turns(ours, [sys.executable, "-c", COMPILE_RUN, file])


def page() -> Pair:
    """Measures the page of a large dump against reading, verifying and printing it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "m.hlo"
        file.write_text(inputs.training_step())
        ours = [*_RELAYOUT, "report", str(file), "-o", f"{folder}/page.html"]
        return _in_turns(ours, [*_RELAYOUT, "opt", str(file), "-o", f"{folder}/out.hlo"])
