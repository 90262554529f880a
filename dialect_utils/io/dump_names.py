"""What the names of files in a dump directory say: the module, its number, and the stage of compilation.

XLA writes `module_0003.jit_f.before_optimizations.txt`, `module_0003.jit_f.0012.fusion.after_x.before_y.hlo.pb.gz`,
`module_0003.jit_f.sm_8.0_gpu_after_optimizations.txt` and, where it is asked for a time, `1700000000000000.module_...`
(xla/service/dump.cc). PjRt writes what it is given as `module_0003.jit_f/module.mlir`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

# Endings that say how a file is written, and nothing of what is in it.
_ENDING = re.compile(r"(?:\.(?:txt|hlo|pb|pbtxt|mlir|mlirbc|gz|xz|zst))+$")
_NUMBERED = re.compile(r"(?:\d+\.)?module_(?P<number>\d+)\.(?P<rest>.+)")
# Where a stage begins: a module's name may have dots of its own.
_STAGE = re.compile(
    r"\.(?=\d{4}\.|(?:\w+_)?before_optimizations|(?:sm_[\d.]+_)?(?:\w+_)?after_optimizations|snapshot\b|execution_\d"
    r"|after_|before_)"
)
_OPTIMIZATIONS = re.compile(r"(?:sm_[\d.]+_)?(?:[a-z\d]+_)?((?:before|after)_optimizations)$")
_COMPILER_INPUT = "module"
_STEP = re.compile(r"^\d{4}\.")
# What the compiler is given before it is HLO.
STABLEHLO_STAGE = "stablehlo"
_FIRST, _INNER, _LAST = range(3)


@dataclass(frozen=True, slots=True)
class DumpName:
    """What a file's name says: the module's name and number, and the stage; nothing but a module for other names."""

    module: str
    number: int | None = None
    stage: str = ""

    def is_stage(self, wanted: str) -> bool:
        """Is true for the stage's name, one part of it, that part without its platform, or a pattern of these."""
        parts = [self.stage, *self.stage.split("."), self.short_stage]
        return any(fnmatchcase(part, wanted) for part in parts)

    def is_module(self, wanted: str) -> bool:
        """Is true for the module's name, `module_` and its number, both joined by a dot, or a pattern of these."""
        return any(fnmatchcase(name, wanted) for name in (self.module, self.label, f"{self.label}.{self.module}"))

    @property
    def label(self) -> str:
        """Returns `module_0003`, or the module's name where the file has no number."""
        return self.module if self.number is None else f"module_{self.number:04}"

    @property
    def short_stage(self) -> str:
        """Returns the stage without the platform: after_optimizations of sm_8.0_gpu_after_optimizations."""
        found = _OPTIMIZATIONS.fullmatch(self.stage)
        return self.stage if found is None else found[1]

    @property
    def step_name(self) -> str:
        """Returns the stage without its number in the order of passes, and without the platform."""
        return _STEP.sub("", self.short_stage)

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Returns what modules and their stages are sorted by, in the order in which they were written."""
        if self.number is None:
            return -1, "", _FIRST, 0, ""
        rank, step = _LAST, 0
        if self.stage[:4].isdecimal():
            rank, step = _INNER, int(self.stage[:4])
        elif self.stage == STABLEHLO_STAGE or self.short_stage == "before_optimizations":
            rank, step = _FIRST, int(self.stage != STABLEHLO_STAGE)
        return self.number, self.module, rank, step, self.stage


def without_endings(name: str) -> str:
    """Returns a file's name without the endings that say how it is written: .txt, .hlo.pb, .gz and the like."""
    return _ENDING.sub("", name) or name


def parse_dump_name(path: str) -> DumpName:
    """Reads the name of a file, given with its path in the directory."""
    pure = PurePosixPath(path)
    stem = without_endings(pure.name)
    found = _NUMBERED.fullmatch(stem)
    if found is not None:
        module, stage = _split(found["rest"])
        return DumpName(module, int(found["number"]), stage)
    parents = (_NUMBERED.fullmatch(parent) for parent in reversed(pure.parts[:-1]))
    parent = next((each for each in parents if each is not None), None)
    if parent is None:
        return DumpName(stem)
    stage = STABLEHLO_STAGE if stem == _COMPILER_INPUT else f"{STABLEHLO_STAGE}.{stem}"
    return DumpName(parent["rest"], int(parent["number"]), stage)


def _split(rest: str) -> tuple[str, str]:
    """Returns a module's name and its stage."""
    found = _STAGE.search(rest)
    if found is not None:
        return rest[: found.start()], rest[found.end() :]
    module, _, stage = rest.partition(".")
    return module, stage
