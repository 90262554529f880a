"""Findings that a reduction keeps: the cause of a difference between two modules, or the message of a crash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from passes.dumps.executable import checked_form
from passes.framework.base import Pass
from passes.framework.pipeline import PassError, Pipeline
from relayout.reduction import DEFAULT_TRIALS, output_values, reduce_modules

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.verdict import Cause, Options


@dataclass(frozen=True, slots=True)
class Crash:
    """A crash of an engine, by its message, or of a pass, by the type of the exception."""

    message: str
    of_pass: bool = False

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {"crash": self.message, "of_pass": self.of_pass}

    def __str__(self) -> str:
        return f"crash of {'the pass' if self.of_pass else 'an engine'}: {self.message}"


Find: TypeAlias = "Callable[[Sequence[Module]], Cause | Crash | None]"


@dataclass(frozen=True, slots=True)
class Finder:
    """A search for modules that differ (`keep` is `different`) or crash an engine (`crash`), or for such a pass."""

    worker: Worker
    keep: str
    verify_each: bool = True
    # Those of the comparison; None: the default ones without a measured power, or XLA alone for a crash.
    options: Options | None = None

    def find(self, modules: Sequence[Module]) -> Cause | Crash | None:
        """Returns the cause of the difference between the first and the last module, or the crash; None for neither."""
        from dialect_utils.execution import ExecutionError
        from dialect_utils.verdict import Options, compare_stages

        options = self.options or Options(engines=None if self.keep == "different" else ("xla",), power=0)
        try:
            verdict = compare_stages([modules[0], modules[-1]], options, self.worker, executable=checked_form)
        except ExecutionError as error:
            return Crash(error.message) if self.keep == "crash" and error.failure == "crash" else None
        except DiagnosticError:
            return None
        if self.keep == "different":
            # The verdict `unknown` where an engine contradicts a proof has a cause, too.
            return verdict.cause if verdict.verdict in ("different", "equal-if") else None
        return Crash(verdict.reason) if "crash" in verdict.reason else None

    def find_in(self, step: Pass, module: Module) -> Cause | Crash | None:
        """Returns the finding for a module before and after a pass."""
        try:
            result = Pipeline((step,)).run(module, verify_each=self.verify_each)
        except PassError as error:
            crash = Crash(type(error.raised).__name__, of_pass=True)
            return crash if self.keep == "crash" else None
        except DiagnosticError:
            return None
        return self.find([module, result.module])


def is_kept(wanted: Cause | Crash, found: Cause | Crash | None, modules: Sequence[Module]) -> bool:
    """Is true where reduced modules show the wanted finding: the same crash, or a difference of a similar cause.

    Once the output that differs is the only one of the modules, its number is 0.
    """
    if isinstance(wanted, Crash) or isinstance(found, Crash) or found is None:
        return found == wanted
    is_only = wanted.output is not None and all(len(set(output_values(module))) == 1 for module in modules)
    return found.is_like(replace(wanted, output=0) if is_only else wanted)


def reduce_finding(
    modules: Sequence[Module], found: Cause | Crash, find: Find, trials: int = DEFAULT_TRIALS
) -> tuple[Module, ...]:
    """Returns smaller modules in which `find` finds the same; the output of a difference stays the output."""

    def shows(candidate: Sequence[Module]) -> bool:
        return is_kept(found, find(candidate), candidate)

    return reduce_modules(modules, shows, trials, None if isinstance(found, Crash) else found.output)
