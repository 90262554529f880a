"""The process of a compiler: compiles the StableHLO of each request, and answers with figures and the optimized dump.

Run as `python -m dialect_utils.execution.compiling PARENT FOLDER`; with a FOLDER the compiler writes the module after
every pass there. A request has the name of a target (or cpu), and as a second text the description of a GPU. Compilers
write to standard error, libtpu takes a lock, and both may abort: so they have a process of their own.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from math import prod
from typing import Any

from dialect_utils import sandbox
from dialect_utils.execution.compilers import CPU, Figures
from dialect_utils.execution.messages import Message, read_message, write_message
from dialect_utils.layout.targets.gpu import described_gpu
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.layout.targets.target import Target
from dialect_utils.processes import TPU_ENVIRONMENT

# The proto of a module has the constants that its text leaves out.
_DUMP = "--xla_dump_to={} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"
# Nothing is timed: there is no GPU.
_NO_AUTOTUNING = "--xla_gpu_autotune_level=0"
_HOST_DEVICES = "--xla_force_host_platform_device_count={}"
# XLA's figures of memory, in bytes for one device.
_FIGURES = ("argument", "output", "alias", "temp")


def topology_devices(target: Target, count: int = 1) -> Any:
    """Returns JAX's devices of a machine with at least `count` of a target; loads its compiler into this process.

    Raises DiagnosticError where no machine has as many.
    """
    add_flags(_NO_AUTOTUNING)
    for name, value in TPU_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from jax.experimental import topologies

    topology, description = target.topology(count)
    if not description:
        return topologies.get_topology_desc(platform=target.platform, topology_name=topology).devices
    return topologies.get_topology_desc(
        platform=target.platform, topology_name="gpu", topology=topology, target_config=description
    ).devices


def add_flags(flags: str) -> None:
    """Adds flags of XLA, which reads them once, before the first compilation; those of the user come last and win."""
    os.environ["XLA_FLAGS"] = f"{flags} {os.environ.get('XLA_FLAGS', '')}".strip()


def memory_figures(stats: Any) -> dict[str, int]:
    """Returns XLA's memory figures of a compiled module in bytes: its peak, arguments, outputs, aliases and so on."""
    found = {each: int(getattr(stats, f"{each}_size_in_bytes")) for each in _FIGURES}
    return {**found, "peak": int(stats.peak_memory_in_bytes)}


def compile_module(text: str, target: Target | None) -> Any:
    """Compiles StableHLO in this process for as many devices as it is for; None is the CPU. Returns XLA's executable.

    Raises DiagnosticError where no machine has as many devices.
    """
    import numpy as np
    from jaxlib import _jax, xla_client

    from dialect_utils.stablehlo.bindings import context, ir

    module = ir.Module.parse(text, context(allow_unregistered=False))
    replicas, partitions = (_count(module, f"mhlo.num_{each}") for each in ("replicas", "partitions"))
    devices = (
        _host_devices(replicas * partitions) if target is None else topology_devices(target, replicas * partitions)
    )
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_replicas = build.num_replicas = replicas
    options.num_partitions = build.num_partitions = partitions
    numbers = np.arange(replicas * partitions).reshape(replicas, partitions)
    options.device_assignment = build.device_assignment = xla_client.DeviceAssignment.create(numbers)
    build.use_spmd_partitioning = partitions > 1
    build.use_shardy_partitioner = partitions > 1 and "sdy." in text
    client = devices[0].client
    placed = _jax.DeviceList(tuple(devices[: prod(numbers.shape)]))
    return (client.compile_and_load if target is None else client.compile)(module, placed, options)


def _count(module: Any, name: str) -> int:
    attributes = module.operation.attributes
    return int(attributes[name].value) if name in attributes else 1


def _host_devices(count: int) -> Any:
    """Returns devices of the CPU, as many as this process was told first."""
    add_flags(_HOST_DEVICES.format(count))
    import jax

    return jax.devices(CPU)


def _answer(request: Message) -> Message:
    text, description = (blob.decode() for blob in request.blobs)
    name = request.header["target"]
    try:
        target = described_gpu(name, description) if description else None if name == CPU else parse_target(name)
        compiled = compile_module(text, target)
    except Exception as error:  # jaxlib raises errors of several kinds, and MLIR its own
        return Message(asdict(Figures(error=str(error) or type(error).__name__)), [b""])
    # XLA:GPU has no analysis of costs without a device.
    costs = compiled.cost_analysis() if target is None or target.has_costs else {}
    found = {
        **memory_figures(compiled.get_compiled_memory_stats()),
        "accessed": round(costs.get("bytes accessed", 0.0)),
        "seconds": float(costs.get("optimal_seconds", 0.0)),
        "parameters": tuple(map(str, compiled.get_parameter_layouts())),
        "results": tuple(map(str, compiled.get_output_layouts())),
    }
    # jaxlib cannot print some modules of TPUs.
    return Message(found, [_text(compiled) if request.header["dump"] else b""])


def _text(compiled: Any) -> bytes:
    """Returns the optimized module with all constants."""
    from jaxlib._hlo import HloPrintOptions

    options = HloPrintOptions()
    options.print_large_constants = True
    text: str = compiled.hlo_modules()[0].to_string(options)
    return text.encode()


def _serve(folder: str) -> None:
    # Libraries print to standard output.
    answers = os.dup(1)
    os.dup2(2, 1)
    if folder:
        add_flags(_DUMP.format(folder))
    while True:
        try:
            request = read_message(0)
        except EOFError:
            return
        write_message(answers, _answer(request))


if __name__ == "__main__":
    if parent := int(sys.argv[1]):
        sandbox.die_with_parent(parent)
    _serve(sys.argv[2])
