"""Removes data movement that nothing uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.ir import Module, Operation
from passes.base import Pass, Report


@dataclass(frozen=True)
class EraseDeadSteps(Pass):
    """Removes transposes, reshapes, slices and pads that nothing uses.

    1. An operation with a data-movement step goes, unless an operation or the function's
       results use it; operations in front of it that it alone used go too.

    Before:
        HloModule m
        ENTRY e {
          p = f32[3,5] parameter(0)
          t = f32[5,3] transpose(p), dimensions={1,0}
          ROOT n = f32[3,5] negate(p)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[3,5] parameter(0)
          ROOT n = f32[3,5] negate(p)
        }
    """

    name: ClassVar[str] = "erase-dead-steps"

    quiet: bool = False

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        for operation in erase_dead_steps(module):
            if not self.quiet:
                report.note(f"erased {operation}")


def erase_dead_steps(module: Module) -> list[str]:
    """Removes data movement that nothing uses, in place, and returns the names of what went."""
    erased = []
    for function in module.functions:
        # Backwards, so that what only a dead operation uses is dead by then.
        for operation in reversed(function.operations):
            if operation.step is not None and not _is_used(operation):
                erased.append(operation.results[0].name)
                operation.erase()
    return erased


def _is_used(operation: Operation) -> bool:
    returned = operation.function.results
    return any(value.users or value in returned for value in operation.results)
