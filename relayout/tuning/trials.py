"""Trials of changes, each with the TPU compiler's figures, which an objective compares.

A file keeps the figures, from which a later search continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from math import inf
from typing import Literal, NamedTuple

from dialect_utils.execution.compilers import FigureCompiler, Figures
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.messages import memory_messages
from dialect_utils.text import DiagnosticError
from relayout.tuning.changes import Change

Objective = Literal["peak", "bytes", "time"]
OBJECTIVES: tuple[Objective, ...] = ("peak", "bytes", "time")
# The figures of each objective, in the order in which they decide.
_ORDER: dict[Objective, tuple[Objective, ...]] = {
    "peak": ("peak", "bytes", "time"),
    "bytes": ("bytes", "peak", "time"),
    "time": ("time", "bytes", "peak"),
}
# Changes below this part of a figure count as equal.
NOTABLE = 0.01


class Score(NamedTuple):
    """The rank of figures: programs that compile, then those that need too much memory, then those with errors."""

    kind: int
    values: tuple[float, ...]


def figure(figures: Figures, objective: Objective) -> float:
    """Returns one figure; an estimated time that is not positive counts as none."""
    if objective == "peak":
        return figures.peak
    if objective == "bytes":
        return figures.accessed
    return figures.seconds if figures.seconds > 0 else inf


def needed_bytes(figures: Figures) -> int | None:
    """Returns the memory that a rejected program needs, as the compiler's message states it."""
    needed = [each.needed for each in memory_messages(figures.error) if each.needed is not None]
    return max(needed, default=None)


def score(figures: Figures, objective: Objective) -> Score:
    """Returns the rank of figures; the smallest is the best."""
    if not figures.error:
        return Score(0, tuple(figure(figures, each) for each in _ORDER[objective]))
    needed = needed_bytes(figures)
    return Score(2, ()) if needed is None else Score(1, (needed,))


def relative(before: Figures, after: Figures, objective: Objective) -> float | None:
    """Returns the change of a figure as a part of the old one; None where one of them has no such figure."""
    old, new = (figure(each, objective) for each in (before, after))
    if before.error or after.error or not 0 < old < inf or new == inf:
        return None
    return new / old - 1


def figure_compiler(target: str, objective: Objective, jobs: int) -> FigureCompiler:
    """Returns the compiler of a target, with the figures of memory that `relayout report` counts.

    Raises DiagnosticError without the compiler, for an unknown target, and for a time that it does not estimate.
    """
    if objective == "time" and not parse_target(target).has_costs:
        hint = "--objective peak or bytes"
        raise DiagnosticError(f"the compiler for {target} estimates no time", hint=hint)
    return FigureCompiler(target, jobs, counted_figures)


def counted_figures(figures: Figures, dump: str) -> Figures:
    """Returns figures with the bytes that `relayout report` counts for an optimized dump."""
    report = MemoryReport(parse_bytes(encode(dump), "compiled.hlo"))
    usage = report.usage
    return replace(
        figures,
        peak=usage.main_memory_peak_bytes,
        argument=usage.argument_bytes,
        output=usage.output_bytes,
        alias=usage.alias_bytes,
        temp=usage.temporary_bytes,
        accessed=report.cost.bytes_accessed,
    )


_VERSION = 3


@dataclass(frozen=True, slots=True)
class Trial:
    """A change, and the figures of the TPU compiler for the changed program."""

    change: Change
    figures: Figures


@dataclass(slots=True)
class Measured:
    """Figures by program, change, target and version of the compiler: of this search, and of earlier ones.

    `compile_all` yields the figures of programs in their order. `keep` takes the text of the file after each of them.
    """

    compile_all: Callable[[Sequence[str]], Iterator[Figures]]
    target: str
    version: str
    keep: Callable[[str], None] | None = None
    known: dict[str, Figures] = field(default_factory=dict)

    def figures(self, texts: Sequence[str]) -> Iterator[Figures]:
        """Yields the figures of the texts of changed programs in their order; known ones are not compiled again."""
        keys = [self._key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        compiled = self.compile_all([*missing.values()])
        for key in keys:
            yield self._known(key, lambda: next(compiled))

    def figures_inside(self, text: str, passes: str, compiled: Callable[[str], Figures]) -> Figures:
        """Returns the figures of a program with passes inside of the compiler, which `compiled` finds if unknown."""
        return self._known(self._key(f"{text}\0{passes}"), lambda: compiled(passes))

    def _known(self, key: str, compiled: Callable[[], Figures]) -> Figures:
        if key not in self.known:
            self.known[key] = compiled()
            if self.keep is not None:
                self.keep(self.text())
        return self.known[key]

    def text(self) -> str:
        """Returns the text of the file."""
        trials = {key: asdict(figures) for key, figures in self.known.items()}
        return json.dumps({"relayout trials": _VERSION, "trials": trials}, indent=1) + "\n"

    def _key(self, text: str) -> str:
        return sha256("\0".join((self.target, self.version, text)).encode()).hexdigest()


def read_trials(text: str, name: str) -> Mapping[str, Figures]:
    """Returns the figures of a file that `Measured.text` made; raises DiagnosticError for another file."""
    try:
        found = json.loads(text)
        if found["relayout trials"] != _VERSION:
            raise ValueError("another version")
        return {str(key): Figures.from_json(value) for key, value in found["trials"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        message = f"{name} is no file of --trials of this version"
        raise DiagnosticError(message, hint="leave out --resume to write it again") from None
