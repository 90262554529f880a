"""Removes data movement that nothing uses."""

from __future__ import annotations

from dialect_utils.ir import Module, Operation
from passes.framework.base import Report, module_pass


@module_pass
def erase_dead_steps(module: Module, report: Report, *, quiet: bool = False) -> None:
    """Removes transposes, reshapes, slices and pads that nothing uses.

    1. A data-movement step that nothing uses goes, and then those that it alone used.

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
    # Backwards, so that what only a dead operation uses is dead by then.
    for operation in reversed(list(module.operations())):
        if operation.step is not None and not _is_used(operation):
            if not quiet:
                report.note(f"erased {operation.results[0].name}")
            operation.erase()


def _is_used(operation: Operation) -> bool:
    returned = operation.function.results
    return any(value.users or value in returned for value in operation.results)
