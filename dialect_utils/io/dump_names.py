"""Reads names of files in a dump directory: the module, its number, and the stage of compilation.

XLA writes `module_0003.jit_f.before_optimizations.txt`, `module_0003.jit_f.0012.fusion.after_x.before_y.hlo.pb.gz`,
`module_0003.jit_f.sm_8.0_gpu_after_optimizations.txt` and, with a time stamp, `1700000000000000.module_...`
(xla/service/dump.cc). PjRt writes its input as `module_0003.jit_f/module.mlir`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

# Endings that state the format of a file.
_ENDING = re.compile(r"(?:\.(?:txt|hlo|pb|pbtxt|mlir|mlirbc|gz|xz|zst))+$")
# The GPU for which a module is: sm_8.0_, or sm_9.0a_ with the extensions of one chip.
_CHIP = r"(?:sm_\d+\.\d+[a-z]?_)?"
_NUMBERED = re.compile(r"(?:\d+\.)?module_(?P<number>\d{1,18})\.(?P<rest>.+)")
# The begin of a stage: a module's name may contain dots and numbers, too, such as fusion.1644. The name of a pipeline
# may begin with `after_`: the passes before and after the module follow it.
_STAGE = re.compile(
    rf"\.(?=\d{{4}}\.(?!\d{{4}}\.|(?:before|after)_(?!.*\.(?:before|after)_)|\w*(?:before|after)_optimizations)"
    rf"|(?:\w+_)?before_optimizations|{_CHIP}(?:\w+_)?after_optimizations|snapshot\b|execution_\d"
    r"|after_|before_|oom_intermediate_module\b)"
)
_OPTIMIZATIONS = re.compile(rf"{_CHIP}(?:[a-z\d]+_)?((?:before|after)_optimizations)$")
_COMPILER_INPUT = "module"
_STEP = re.compile(r"^\d{4}\.")
# A module of a pipeline: the last pass that changed it, and the pass that comes next.
_PASS = re.compile(r"\d{4}\.(?P<pipeline>.+?)(?:\.after_(?P<after>.+?))?(?:\.before_(?P<before>.+))?")
# In place of a pass, for the module before the first pass of a pipeline.
_START = "pipeline-start"
# In place of a pass, for the module after the last pass of a pipeline.
_END = "pipeline-end"
# The modules that a compiler writes after all pipelines, in their order: of the TPU compiler, all of them.
_FINAL = (
    "after_optimizations_before_buffer_assignment",
    "after_optimizations",
    "after_optimizations_after_buffer_assignment",
    "after_codegen",
)
# The scheduled module that the TPU compiler writes where memory runs out.
_OUT_OF_MEMORY = "oom_intermediate_module"
_FINAL_STAGE = re.compile(rf"{_CHIP}(?:[a-z\d]+_)?(?P<name>{'|'.join(_FINAL)})")
# The stage of the compiler's input, before it is HLO.
STABLEHLO_STAGE = "stablehlo"
_FIRST, _INNER, _LAST = range(3)


@dataclass(frozen=True, slots=True)
class DumpName:
    """The module's name, number and stage that a file's name states; names of other forms state a module only."""

    module: str
    number: int | None = None
    stage: str = ""

    def is_stage(self, wanted: str) -> bool:
        """Is true for the stage's name, a part of it, the part without its platform, or a pattern of these."""
        parts = [self.stage, *self.stage.split("."), self.short_stage]
        return any(fnmatchcase(part, wanted) for part in parts)

    def is_module(self, wanted: str) -> bool:
        """Is true for the module's name, `module_` and its number, both joined by a dot, or a pattern of these.

        A name may be given without parts after a dot: `jit_f` for `jit_f.cl_1003875606`, as the TPU compiler writes it.
        """
        names = [self.module, self.label, f"{self.label}.{self.module}"]
        start = self.module.partition(".")[0]
        return any(fnmatchcase(name, wanted) for name in (*names, start, f"{self.label}.{start}"))

    def has_word(self, wanted: str) -> bool:
        """Is true for a part of the module's name between dots, hyphens and underscores: `conv` of `jit_conv.cl_1`."""
        return re.search(rf"(?<![^._-]){re.escape(wanted)}(?![^._-])", self.module) is not None

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
    def change(self) -> tuple[str, str]:
        """Returns the pipeline and the pass that changed the module last, each empty where the name states none.

        A module from the begin of a pipeline was changed by no pass, but between pipelines.
        """
        found = _PASS.fullmatch(self.stage)
        if found is None:
            return "", ""
        after = found["after"] or ""
        return found["pipeline"], "" if after == _START else after

    @property
    def next_pass(self) -> str:
        """Returns the pass that comes next, empty where the name states none."""
        found = _PASS.fullmatch(self.stage)
        name = "" if found is None else found["before"] or ""
        return "" if name == _END else name

    @property
    def is_part_of_pass(self) -> bool:
        """Is true for a module that a pass writes while it runs: its name lacks the pass before it or the next one."""
        found = _PASS.fullmatch(self.stage)
        return found is not None and None in (found["after"], found["before"])

    @property
    def place_in_compilation(self) -> tuple[int, int] | None:
        """Returns the sort key of one module's stages in the order of compilation; None for a file of no stage."""
        if self.short_stage == "before_optimizations":
            return _FIRST, 0
        if _STEP.match(self.stage):
            return _INNER, int(self.stage[:4])
        found = _FINAL_STAGE.fullmatch(self.stage)
        return None if found is None else (_LAST, _FINAL.index(found["name"]))

    @property
    def order(self) -> tuple[int, str, int, int, str]:
        """Returns the sort key that orders modules and stages as the compiler wrote them."""
        if self.number is None:
            return -1, "", _FIRST, 0, ""
        place = (_FIRST, -1) if self.stage == STABLEHLO_STAGE else self.place_in_compilation
        return self.number, self.module, *(place or (_LAST, -1)), self.stage

    @property
    def is_out_of_memory(self) -> bool:
        """Is true for a module that does not fit into memory."""
        return self.stage == _OUT_OF_MEMORY

    @property
    def finality(self) -> tuple[int, ...]:
        """Returns a sort key: the module of a program with the largest key is closest to the executed program.

        First comes a module that ran out of memory, then the module after optimizations, in which buffers have their
        memory spaces, then the last module in the order of compilation.
        """
        is_optimized = self.short_stage == "after_optimizations"
        return self.is_out_of_memory, is_optimized, *self.order[2:4]

    @property
    def is_final(self) -> bool:
        """Is true for the module of a numbered program after all pipelines."""
        return self.number is not None and self.order[2] == _LAST


def without_endings(name: str) -> str:
    """Returns a file's name without endings that state its format, such as .txt, .hlo.pb and .gz."""
    return _ENDING.sub("", name) or name


@lru_cache(maxsize=1 << 17)
def parse_dump_name(path: str) -> DumpName:
    """Reads the name of a file from its path in the directory."""
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
