"""The pass between two modules of a compilation, by the names of their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.io.inputs import Input

_INPUT = "the compiler's input"


@dataclass(frozen=True, slots=True)
class PassName:
    """The pass between two modules: its name, its pipeline, and the part of the pass where the dump names one.

    `name` is empty where the files name no pass. `before` and `after` are the files of the two modules.
    """

    name: str
    pipeline: str
    part: str
    before: str
    after: str

    def __str__(self) -> str:
        """Returns e.g. `layout-assignment of Layout_assignment (before_tiling_rewriter)`."""
        if not self.before:
            return _INPUT
        part = f" ({self.part})" if self.part else ""
        if not self.name:
            return f"no pass by name{part}"
        return f"{self.name} of {self.pipeline}{part}" if self.pipeline else f"{self.name}{part}"


def pass_between(modules: Sequence[Input], before: int | None, after: int) -> PassName:
    """Returns the pass between two modules of one compilation; `before` is None for the compiler's input."""
    if before is None:
        return PassName("", "", "", "", modules[after].name)
    names = modules[before].name, modules[after].name
    dump = modules[after].dump
    pipeline, change = dump.change
    if pipeline and dump.is_part_of_pass:
        # The pass writes modules of its own: the next one that a pipeline writes names it.
        whole = next((each.dump for each in modules[after + 1 :] if not each.dump.is_part_of_pass), None)
        around, name = whole.change if whole is not None else ("", "")
        return PassName(name or pipeline, around if name else "", f"{pipeline}: {change or dump.next_pass}", *names)
    if change:
        return PassName(change, pipeline, "", *names)
    first = modules[before].dump
    since = f"{first.next_pass} or a later pass" if first.next_pass else ""
    return PassName(since, first.change[0] if since else "", "" if since else _stages(modules, before, after), *names)


def _stages(modules: Sequence[Input], before: int, after: int) -> str:
    return f"between {modules[before].dump.step_name} and {modules[after].dump.step_name}"
