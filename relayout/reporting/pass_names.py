"""The name of the pass between two modules of a compilation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.io.dump_names import DumpName
from dialect_utils.io.inputs import Input

_INPUT = "the compiler's input"
# The name of a module before a step outside of all pipelines: after_optimizations_before_buffer_assignment.
_LAST_STEP = re.compile(r"after_optimizations_before_(\w+)")


@dataclass(frozen=True, slots=True)
class PassName:
    """The pass between two modules: its name, its pipeline, and the part of the pass where the dump names one.

    `is_or_later`: from the files, a later pass is also possible. `before` and `after` are the files of
    the two modules; an instruction of the compiler's input has no pass and no `before`.
    """

    name: str
    pipeline: str
    part: str
    is_or_later: bool
    before: str
    after: str

    def __str__(self) -> str:
        """Returns e.g. `layout-assignment of Layout_assignment (tpu-tiling-rewriter: tiling_rewriter)`."""
        if not self.name:
            return _INPUT
        pipeline = f" of {self.pipeline}" if self.pipeline else ""
        later = ", or a later pass" if self.is_or_later else ""
        return f"{self.name}{pipeline}{later}" + (f" ({self.part})" if self.part else "")


def pass_between(modules: Sequence[Input], before: int | None, after: int) -> PassName:
    """Returns the pass between two modules of one compilation; `before` is None for the compiler's input."""
    if before is None or not modules:
        return PassName("", "", "", False, "", modules[after].name if modules else "")
    dumps = [each.dump for each in modules]
    return PassName(*_named(dumps, before, after), modules[before].name, modules[after].name)


def _named(dumps: Sequence[DumpName], before: int, after: int) -> tuple[str, str, str, bool]:
    """Returns the name, the pipeline and the part of a pass, and whether a later pass is also possible."""
    first, second = dumps[before], dumps[after]
    pipeline, change = second.change
    if pipeline and second.is_part_of_pass:
        return _pass_of_part(dumps, after)
    if change:
        return change, pipeline, "", False
    part = f"between {first.step_name} and {second.step_name}"
    if last := _LAST_STEP.search(first.stage):
        return last[1], "", part, False
    # A pipeline that starts while a pass runs: the next module of the pipeline around it names the pass.
    outer = (each.change for each in dumps[after + 1 :] if first.change[0] and each.change[0] == first.change[0])
    around, name = next(outer, ("", ""))
    if pipeline not in ("", around) and name not in ("", pipeline):
        return name, around, "", False
    if first.next_pass:
        return first.next_pass, first.change[0], part, True
    # The last pass that the module before names: this is a part of a later one.
    pipeline, change = first.change
    return (change, pipeline, part, True) if change else (first.step_name, "", part, True)


def _pass_of_part(dumps: Sequence[DumpName], number: int) -> tuple[str, str, str, bool]:
    """Returns the pass that dumped a module while it ran: the pass that the dumps before and after it name.

    A pass may also write its modules under its own name.
    """
    pipeline, change = dumps[number].change
    part = f"{pipeline}: {change or dumps[number].next_pass}"
    whole = next((each for each in dumps[number + 1 :] if not each.is_part_of_pass), None)
    first = next((each for each in dumps[number - 1 :: -1] if not each.is_part_of_pass), None) if number else None
    around, name = whole.change if whole is not None else ("", "")
    if name and (name == pipeline or (first is not None and first.next_pass == name)):
        return name, around, part, False
    if first is not None and first.next_pass:
        return first.next_pass, first.change[0], part, True
    return pipeline, "", change or dumps[number].next_pass, False
