"""Dumps compiled for TPUs, with the compiler's own memory figures (made by `tests.memory.make_figures`)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dialect_utils.hlo import HloModule, parse_module

FOLDER = Path(__file__).resolve().parent / "dumps"


@dataclass(frozen=True, slots=True)
class Compiled:
    """One program's dump and the compiler's figures for it, in bytes."""

    name: str
    platform: str
    argument: int
    output: int
    alias: int
    temp: int
    generated_code: int
    peak: int

    def text(self) -> str:
        return gzip.decompress((FOLDER / f"{self.name}.hlo.gz").read_bytes()).decode("utf-8")

    def module(self) -> HloModule:
        return parse_module(self.text(), self.name)


@cache
def compiled_programs() -> dict[str, Compiled]:
    lines = (FOLDER / "measured.jsonl").read_text("utf-8").splitlines()
    return {each.name: each for each in (Compiled(**json.loads(line)) for line in lines)}
