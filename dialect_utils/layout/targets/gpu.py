"""NVIDIA's GPUs as targets: each is a description in the text form of XLA's GpuTargetConfigProto.

XLA:GPU gives entry arrays the descending order, without tiles; elements of 2 and 4 bits share bytes
(xla/service/gpu/gpu_compiler.cc, SubByteNormalization).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.index.index_map import byte_size
from dialect_utils.layout.layout import Layout
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.target import Target
from dialect_utils.text import DiagnosticError

SUFFIX = ".txtpb"
_BYTE = 8
# xla/backends/gpu/transforms/collectives, gpu_memory_space_assignment.h: memory that NCCL registers.
_SPACES = ((0, "memory"), (1, "memory of collectives, S(1)"))
# Products and sums of dense bf16 matrices in one clock of one core, by compute capability ("major.minor" or "major"):
# NVIDIA's papers on the architectures Volta (f16), Ampere, Ada, Hopper and Blackwell.
_FLOPS_PER_CLOCK = {"7": 1024, "8": 1024, "8.0": 2048, "9": 4096, "10": 8192, "12": 1024}


@dataclass(frozen=True, slots=True)
class Gpu(Target):
    """A GPU; `memory_bytes` are those of its description."""

    capability: int = field(kw_only=True, default=0)
    platform = "cuda"
    peak_source = "cores, clock and bandwidth of the description"
    has_costs = False

    def order(self, element_type: ElementType, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        return Layout.descending(len(dimensions)).minor_to_major

    def layout(self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]) -> Layout:
        is_packed = element_type.name != "pred" and element_type.bits < _BYTE
        return Layout(minor_to_major, element_size_in_bits=element_type.bits if is_packed else 0)

    def allocation_bytes(self, shape: ArrayShape) -> int:
        return byte_size(shape)

    def topology(self, devices: int) -> dict[str, str]:
        return {"topology_name": "gpu", "topology": f"1x1x{devices}", "target_config": self.description}


def described_gpu(name: str, text: str) -> Gpu:
    """Returns the GPU that a description is about; raises DiagnosticError where it lacks a fact."""
    capability = re.search(r"cuda_compute_capability\s*\{[^}]*", text)
    inside = capability[0] if capability is not None else ""
    major, minor = _fact(name, inside, "major"), _fact(name, inside, "minor", "0")
    names = ("core_count", "clock_rate_ghz", "memory_bandwidth", "device_memory_size", "major")
    cores, clock, bandwidth, memory, number = facts = [
        *(float(_fact(name, text, each)) for each in names[:-1]),
        float(major),
    ]
    wrong = next((each for each, fact in zip(names, facts, strict=True) if not 0 < fact < inf), None)
    if wrong is not None:
        raise DiagnosticError(f"{name}: its {wrong} is no finite positive number")
    per_clock = _FLOPS_PER_CLOCK.get(f"{major}.{minor}") or _FLOPS_PER_CLOCK.get(major, 0)
    peak = cores * clock * 1e9 * per_clock
    return Gpu(name, peak, bandwidth, int(memory), description=text, spaces=_SPACES, capability=int(number))


def _fact(name: str, text: str, field_name: str, default: str | None = None) -> str:
    """Returns the number that a field has where it occurs first."""
    found = re.search(rf"^[^#\n]*\b{field_name}:\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?![\w.])", text, re.MULTILINE)
    if found is None and default is None:
        hint = "it is the text form of XLA's GpuTargetConfigProto"
        raise DiagnosticError(f"{name} is no description of a GPU: it has no {field_name}", hint=hint)
    return default or "" if found is None else found[1]


# gpu-h100 for gpus/h100.txtpb.
GPUS = tuple(
    described_gpu(f"gpu-{file.stem}", file.read_text("utf-8"))
    for file in sorted((Path(__file__).parent / "gpus").glob(f"*{SUFFIX}"))
)
