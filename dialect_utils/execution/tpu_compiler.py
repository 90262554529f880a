"""The TPU compiler, libtpu, in a separate process: it takes a lock, writes to standard error, and may abort.

`compile_for_tpu` needs the `tpu` extra but no TPU. Run as a program, this module compiles StableHLO from standard
input for the topology that its argument names, and prints one JSON object: the optimized dump and the figures.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from dialect_utils import processes, sandbox
from dialect_utils.layout.targets.tpu import parse_target
from dialect_utils.text import Diagnostic, DiagnosticError

# The smallest topology of each target that libtpu describes.
TOPOLOGIES = {
    "tpu-v2": "v2:2x2",
    "tpu-v3": "v3:2x2",
    "tpu-v4": "v4:2x2x1",
    "tpu-v5e": "v5e:2x2",
    "tpu-v5p": "v5p:2x2x1",
    "tpu-v6e": "v6e:2x2",
    "tpu7x": "tpu7x:2x2x1",
}
FIGURES = ("argument", "output", "alias", "temp", "generated_code")
_SECONDS = 900
_LAST_LINES = 3


@dataclass(frozen=True, slots=True)
class Compiled:
    """The TPU compiler's result: the optimized dump, and its own figures of memory in bytes.

    `memory` has `argument_bytes`, `output_bytes`, `alias_bytes`, `temp_bytes`, `generated_code_bytes` and, where this
    jaxlib has it, `peak_bytes`.
    """

    dump: str
    memory: dict[str, int]


def compile_for_tpu(text: str, target: str) -> Compiled:
    """Compiles StableHLO for one core of a TPU on this machine, without a TPU.

    Raises DiagnosticError without libtpu, for an unknown target, and with the compiler's last lines where it rejects
    the module.
    """
    topology = TOPOLOGIES[parse_target(target).name]
    check_installed()
    try:
        ended = processes.communicate(processes.start(processes.TPU_COMPILER, topology), text.encode(), _SECONDS)
    except TimeoutError as error:
        raise DiagnosticError(Diagnostic(f"the TPU compiler took more than {_SECONDS} seconds")) from error
    if ended.code:
        raise DiagnosticError(Diagnostic(f"the TPU compiler refused the module: {last_lines(ended)}"))
    answer = json.loads(ended.output.splitlines()[-1])
    return Compiled(answer["dump"], answer["memory"])


def last_lines(ended: processes.Ended) -> str:
    """Returns the last lines that a process wrote to standard error."""
    lines = [line for line in ended.errors.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines[-_LAST_LINES:])


def check_installed() -> None:
    """Raises DiagnosticError without libtpu."""
    if find_spec("libtpu") is None:
        hint = "pip install 'relayout[tpu]' (libtpu has a licence of its own)"
        raise DiagnosticError(Diagnostic("the TPU compiler, libtpu, is not installed", hint=hint))


def topology_devices(topology: str) -> Any:
    """Returns JAX's devices of a topology such as `v5e:2x2`; loads the compiler into this process."""
    for name, value in processes.TPU_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform="tpu", topology_name=topology).devices


def memory_figures(stats: Any) -> dict[str, int]:
    """Returns XLA's memory figures of a compiled module in bytes, by their names in `FIGURES`, and the peak."""
    found = {each: int(getattr(stats, f"{each}_size_in_bytes")) for each in FIGURES}
    peak = getattr(stats, "peak_memory_in_bytes", None)
    return found if peak is None else {**found, "peak": int(peak)}


def compile_module(text: str, topology: str) -> Any:
    """Compiles StableHLO in this process for one core of a topology; returns XLA's executable."""
    import numpy as np
    from jaxlib import _jax, xla_client

    from dialect_utils.stablehlo.bindings import context, ir

    devices = topology_devices(topology)
    options = xla_client.CompileOptions()
    options.device_assignment = xla_client.DeviceAssignment.create(np.array([[0]]))
    module = ir.Module.parse(text, context(allow_unregistered=False))
    return devices[0].client.compile(module, _jax.DeviceList((devices[0],)), options)


def _compile(text: str, topology: str) -> dict[str, Any]:
    compiled = compile_module(text, topology)
    figures = memory_figures(compiled.get_compiled_memory_stats())
    memory = {f"{name}_bytes": count for name, count in figures.items()}
    return {"dump": compiled.hlo_modules()[0].to_string(), "memory": memory}


if __name__ == "__main__":
    if parent := int(sys.argv[1]):
        sandbox.die_with_parent(parent)
    print(json.dumps(_compile(sys.stdin.read(), sys.argv[2])))
