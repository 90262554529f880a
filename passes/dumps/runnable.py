"""A program that is to run on this machine: what a run needs to know of it beside its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialect_utils.hlo import HloModule
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.executable import executable_form, is_optimized_dump

if TYPE_CHECKING:
    from passes.dumps.host_callbacks import HostCallback


@dataclass(frozen=True, slots=True)
class Known:
    """The user's statements about a dump, each as `NAME=...`: functions of the host, custom calls, and constants."""

    callbacks: tuple[str, ...] = ()
    custom_calls: tuple[str, ...] = ()
    constants_like: Path | None = None


@dataclass(frozen=True, slots=True)
class Runnable:
    """A program as the user knows it, its executable form, and its host calls that are errors only if they run."""

    program: Module
    module: Module
    watched: Sequence[HostCallback]

    def own_results(self, results: list[Any]) -> list[Any]:
        """Returns the results without the number of a watched call that ran, which the executable form returns last."""
        return results[:-1] if self.watched else results

    def check_ran(self, outputs: Sequence[Any]) -> None:
        """Raises DiagnosticError where a watched call ran, since the outputs are then undefined."""
        from passes.dumps.host_callbacks import ran

        # They count from 1.
        if self.watched and (number := int(outputs[-1].max())):
            raise DiagnosticError(ran(self.watched[number - 1]))


def runnable(program: Module, known: Known, told: Callable[[Sequence[Diagnostic]], None]) -> Runnable:
    """Returns a program in its executable form; `told` is called with the notes about it.

    Raises DiagnosticError for a dump that is not supported, and for statements about another program than HLO.
    """
    is_stated = known != Known()
    if is_stated and not isinstance(program, HloModule):
        message = "callbacks, custom calls and constants are given for HLO, and this module is StableHLO"
        raise DiagnosticError(Diagnostic(message))
    if not (isinstance(program, HloModule) and (is_stated or is_optimized_dump(program))):
        return Runnable(program, executable_form(program), ())
    # Imported here: a program that is no dump needs no pass.
    from passes.dumps.host_callbacks import watched_callbacks
    from passes.dumps.make_portable import make_portable

    step = make_portable.with_options(
        custom_call=known.custom_calls,
        callback=known.callbacks,
        constants_like=known.constants_like,
        watch_callbacks=True,
    )
    watched = watched_callbacks(program, known.callbacks)
    return Runnable(program, executable_form(program, step, told, always=is_stated), watched)
