"""The process of a compiler: compiles the StableHLO of each request, and answers with figures and the optimized dump.

Run as `python -m dialect_utils.execution.compiling PARENT MEMORY_BYTES PLATFORM FOLDER`; with a FOLDER the compiler
writes the module after every pass there. A request has the name of a target (or cpu), and as a second text the
description of a GPU. The process loads the compiler, takes the limits of a worker, and then reads requests; with a
FOLDER it may write files.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dialect_utils import sandbox
from dialect_utils.execution import adapter
from dialect_utils.execution.compilers import CPU, Figures
from dialect_utils.execution.hooks import Platform, hooked, lack_of
from dialect_utils.execution.messages import PRINTED_FILE, Message, read_message, write_message
from dialect_utils.execution.trials import try_module
from dialect_utils.hlo import parse_module
from dialect_utils.io.protos import find_proto, module_key
from dialect_utils.layout.targets.gpu import described_gpu
from dialect_utils.layout.targets.known import TARGETS, parse_target
from dialect_utils.layout.targets.target import Target
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.processes import TPU_ENVIRONMENT

# The proto of a module has the constants that its text leaves out.
_DUMP = "--xla_dump_to={} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"
# Nothing is timed: there is no GPU.
_NO_AUTOTUNING = "--xla_gpu_autotune_level=0"
# From this jaxlib on XLA:GPU compiles a product by Triton with a program of NVIDIA's, to see whether its tiles work.
_FIRST_TRYING, _NO_TRITON = (0, 11, 1), "--xla_gpu_enable_triton_gemm=false"
_HOST_DEVICES = "--xla_force_host_platform_device_count={}"
# In bytes.
_LARGEST_FILE = 2_000_000_000
# XLA's figures of memory, in bytes for one device.
_FIGURES = ("argument", "output", "alias", "temp")
# The ends of the names of two files that XLA:GPU prints.
_OPTIMIZED, _BUFFERS = "gpu_after_optimizations.txt", "-buffer-assignment.txt"
_OPTIMIZED_PROTO = "gpu_after_optimizations.hlo.pb"
_ALLOCATION = re.compile(r"^allocation \d+: size (?P<size>\d+), (?P<kinds>.*):$", re.MULTILINE)


def topology_devices(target: Target, count: int = 1) -> Any:
    """Returns JAX's devices of a machine with at least `count` of a target; loads its compiler into this process.

    Raises DiagnosticError where no machine has as many.
    """
    from jaxlib.version import __version_info__ as version

    add_flags(f"{_NO_TRITON} {_NO_AUTOTUNING}" if version >= _FIRST_TRYING else _NO_AUTOTUNING)
    for name, value in TPU_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform=target.platform, **target.topology(count)).devices


def add_flags(flags: str) -> None:
    """Adds flags of XLA, which reads them once, before the first compilation; those of the user come last and win."""
    given = os.environ.get("XLA_FLAGS", "")
    if flags not in given:
        os.environ["XLA_FLAGS"] = f"{flags} {given}".strip()


def memory_figures(stats: Any) -> dict[str, int]:
    """Returns XLA's memory figures of a compiled module in bytes: its peak, arguments, outputs, aliases and so on."""
    found = {each: int(getattr(stats, f"{each}_size_in_bytes")) for each in _FIGURES}
    return {**found, "peak": int(stats.peak_memory_in_bytes)}


def compile_module(text: str, target: Target | None, overrides: Mapping[str, Any] | None = None) -> Any:
    """Compiles StableHLO in this process for as many devices as it is for; None is the CPU. Returns XLA's executable.

    `overrides` are debug options of XLA. Raises DiagnosticError where no machine has as many devices.
    """
    import numpy as np
    from jaxlib import _jax, xla_client

    from dialect_utils.stablehlo import parse_module as parse_mlir
    from dialect_utils.stablehlo.bindings import context, ir
    from dialect_utils.stablehlo.foreign import for_xla

    program, _ = for_xla(parse_mlir(text))
    found, module = devices_of(program), ir.Module.parse(program.text(), context())
    replicas, partitions, count = found.replicas, found.partitions, found.count
    devices = _host_devices(count) if target is None else topology_devices(target, count)
    options = xla_client.CompileOptions()
    options.env_option_overrides = list((overrides or {}).items())
    build = options.executable_build_options
    options.num_replicas = build.num_replicas = replicas
    options.num_partitions = build.num_partitions = partitions
    assignment = xla_client.DeviceAssignment.create(np.arange(count).reshape(replicas, partitions))
    options.device_assignment = build.device_assignment = assignment
    build.use_spmd_partitioning = partitions > 1
    build.use_shardy_partitioner = partitions > 1 and "sdy." in text
    client, placed = devices[0].client, _jax.DeviceList(tuple(devices[:count]))
    return (client.compile_and_load if target is None else client.compile)(module, placed, options)


def _host_devices(count: int) -> Any:
    """Returns devices of the CPU, as many as this process was told first."""
    add_flags(_HOST_DEVICES.format(count))
    import jax

    return jax.devices(CPU)


def _answer(request: Message, folder: str) -> Message:
    """Compiles a program; with a stage, the answer also has the modules that the compiler hands over in it."""
    _, _, *answers = map(bytes, request.blobs)
    if not request.header["stage"]:
        return _compiled(request, folder)
    given, handed = dict(zip(answers[::2], answers[1::2], strict=True)), list[bytes]()
    platform = _platform(request)
    if reason := lack_of(platform):
        return Message(asdict(Figures(error=reason)), [b""])

    def transform(_: Platform, data: bytes) -> bytes | None:
        handed.append(bytes(data))
        return given.get(module_key(data))

    with hooked((platform,), request.header["stage"], transform):
        answer = _compiled(request, folder)
    return Message(answer.header, [*answer.blobs, *handed])


def _platform(request: Message) -> Platform:
    name = request.header["target"]
    if name == CPU:
        return "cpu"
    # A target with a description is a GPU.
    return "cuda" if request.blobs[1] or parse_target(name).platform == "cuda" else "tpu"


def _compiled(request: Message, folder: str) -> Message:
    text, description = (bytes(blob).decode() for blob in request.blobs[:2])
    name = request.header["target"]
    try:
        if description:
            return _printed_by_gpu_compiler(text, described_gpu(name, description), folder)
        compiled = compile_module(text, None if name == CPU else parse_target(name))
    except Exception as error:  # jaxlib raises errors of several kinds, and MLIR its own
        return Message(asdict(Figures(error=str(error) or type(error).__name__)), [b""])
    costs = compiled.cost_analysis()
    found = {
        **memory_figures(compiled.get_compiled_memory_stats()),
        "accessed": round(costs.get("bytes accessed", 0.0)),
        "seconds": float(costs.get("optimal_seconds", 0.0)),
        "parameters": tuple(map(str, compiled.get_parameter_layouts())),
        "results": tuple(map(str, compiled.get_output_layouts())),
    }
    # jaxlib cannot print some modules of TPUs.
    return Message(found, [adapter.text_of(compiled.hlo_modules()[0]).encode() if request.header["dump"] else b""])


def _printed_by_gpu_compiler(text: str, target: Target, folder: str) -> Message:
    """Compiles for a GPU as far as the optimized module and its buffers, which XLA prints, or writes into a folder.

    Machine code follows, which needs a program (ptxas) and a library of NVIDIA's: without them XLA ends with an error,
    which does not matter here. Raises what XLA raises where it printed no module.
    """
    failure = None
    with adapter.printed() as parts:
        try:
            compile_module(text, target, None if folder else adapter.DUMP_OPTIONS)
        except Exception as error:  # as in _answer
            failure = error
    dump, buffers = _written_in(folder) if folder else _printed_in(b"".join(parts).decode(errors="replace"))
    if not (dump and buffers):
        raise failure or ValueError("the compiler printed no optimized module")
    parameters, results = (
        tuple(str(leaf.effective_layout) for shape in side for leaf in shape.arrays())
        for side in parse_module(dump).entry_layout
    )
    figures = {**_allocated(buffers), "parameters": parameters, "results": results}
    return Message(figures, [dump.encode()])


def _printed_in(printed: str) -> list[str]:
    files = {found["name"]: found["text"] for found in PRINTED_FILE.finditer(printed)}
    return [next((each for name, each in files.items() if name.endswith(end)), "") for end in (_OPTIMIZED, _BUFFERS)]


def _written_in(folder: str) -> list[str]:
    """Returns the optimized module, with the constants that its text leaves out, and its buffers."""
    dumps, buffers = ([*Path(folder).glob(f"*{end}")] for end in (_OPTIMIZED_PROTO, _BUFFERS))
    texts = [adapter.hlo_text_from_proto(bytes(find_proto(each.read_bytes()).module)) for each in dumps[:1]]
    return [*texts, *(each.read_text() for each in buffers[:1])] if dumps and buffers else ["", ""]


def _allocated(buffers: str) -> dict[str, int]:
    """Returns the figures of XLA's list of allocations, as its memory statistics count them (buffer_assignment.cc)."""
    found = dict.fromkeys(_FIGURES, 0)
    for line in _ALLOCATION.finditer(buffers):
        size, kinds = int(line["size"]), line["kinds"]
        is_argument, is_output = "parameter " in kinds, "maybe-live-out" in kinds
        found["argument"] += size * is_argument
        found["output"] += size * is_output
        found["alias"] += size * (is_argument and is_output)
        found["temp"] += size * ("preallocated-temp" in kinds)
    return {**found, "peak": sum(found.values()) - 2 * found["alias"]}


def _serve(memory: int, platform: str, folder: str) -> None:
    sandbox.hide_other_processes()
    # Libraries print to standard output.
    answers = os.dup(1)
    os.dup2(2, 1)
    if folder:
        add_flags(_DUMP.format(folder))
        sandbox.write_only_in(folder)
    _load(platform)
    sandbox.confine(memory, _LARGEST_FILE if folder else 0)
    while True:
        try:
            request = read_message(0)
        except EOFError:
            return
        write_message(answers, try_module(request) if "devices" in request.header else _answer(request, folder))


def _load(platform: str) -> None:
    """Loads the compiler of a platform, and what reads modules: a sandboxed process could not."""
    import dialect_utils.stablehlo.bindings  # noqa: F401

    if platform != CPU:
        topology_devices(next(each for each in TARGETS.values() if each.platform == platform))
        if adapter.has_plugin_hook():
            lack_of("cuda" if platform == "cuda" else "tpu")


if __name__ == "__main__":
    if parent := int(sys.argv[1]):
        sandbox.die_with_parent(parent)
    _serve(int(sys.argv[2]), *sys.argv[3:5])
