"""Dumps with the compiler's own memory figures.

Those for TPUs are made by `tests.memory.make_figures`, those for GPUs by `tests.campaign_gpu_memory`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.memory import MemoryUsage

FOLDER = Path(__file__).resolve().parent / "dumps"
GPU_FOLDER = FOLDER.with_name("gpu_dumps")
KIB = 1024


@dataclass(frozen=True, slots=True)
class Compiled:
    """One program's dump and the compiler's figures for it, in bytes; for GPUs no code and no peak is recorded."""

    name: str
    platform: str
    argument: int
    output: int
    alias: int
    temp: int
    generated_code: int = 0
    peak: int = 0
    folder: Path = FOLDER

    def text(self) -> str:
        return gzip.decompress((self.folder / f"{self.name}.hlo.gz").read_bytes()).decode("utf-8")

    def module(self) -> HloModule:
        return parse_module(self.text(), self.name)


@cache
def compiled_programs(folder: Path = FOLDER) -> dict[str, Compiled]:
    lines = (folder / "measured.jsonl").read_text("utf-8").splitlines()
    return {each.name: each for each in (Compiled(**json.loads(line), folder=folder) for line in lines)}


def differences(usage: MemoryUsage, compiler: Mapping[str, int]) -> list[str]:
    """Returns the figures that differ from the compiler's by more than 1 % and by more than 1 KiB."""
    found = {
        "argument": usage.argument_bytes,
        "output": usage.output_bytes,
        "alias": usage.alias_bytes,
        "temp": usage.temporary_bytes,
    }
    pairs = {name: (size, compiler[name]) for name, size in found.items()}
    return [f"{name}: {a}, not {b}" for name, (a, b) in pairs.items() if abs(a - b) > max(KIB, b / 100)]
