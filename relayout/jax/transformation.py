"""Passes inside XLA's own compilation: JAX hands over the HLO of a stage, and XLA compiles what it gets back.

XLA does not verify the result, so it is verified and proved equal here; otherwise XLA keeps its own module. XLA waits
meanwhile, so the work has a thread with a time limit.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

from dialect_utils.engine_names import REQUIRED, STAGES, Stage
from dialect_utils.execution.hooks import CPU, PLATFORMS, Platform, hooked, lack_of
from dialect_utils.execution.trials import Submitted, Trials
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, meant
from passes.framework.pipeline import PassError, Pipeline
from relayout.api import PipelineLike, as_pipeline
from relayout.inside import Handed, Rewritten, rewrite
from relayout.jax.limited import LimitedThread

_LOGGER = logging.getLogger(__name__)
# Tries the bytes of a changed module for so many seconds; raises DiagnosticError where no code can be made of it.
_Trial = Callable[[bytes, float], None]


@dataclass(slots=True)
class Applied:
    """The modules that XLA compiled while passes were applied.

    `modules` are programs before and after the passes. `parts` are fusions that XLA:GPU compiles as modules of their
    own, on which no pass runs. `notes` are those of the passes, and name platforms without passes. `errors` say why XLA
    kept its own module.
    """

    modules: list[tuple[Module, Module]] = field(default_factory=list)
    parts: list[Module] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    errors: list[DiagnosticError] = field(default_factory=list)


@contextmanager
def apply_passes(
    passes: PipelineLike,
    platforms: Collection[str] | None = None,
    stage: Stage = "before-scheduling",
    *,
    require: str = "equal-up-to",
    timeout: float = 60.0,
    trial: bool = True,
) -> Iterator[Applied]:
    """Runs a pipeline inside XLA's compilation of all functions compiled within, ahead of time, too.

    A context manager and a decorator. `platforms` are of tpu, cuda and cpu; None: those that jax has. A changed module
    is verified and proved equal, where `require` is the weakest answer that suffices, as for the command `check`.
    For a TPU or GPU a process then compiles the program with this module, because these compilers end their process on
    modules for which they make no code; `trial=False` saves this compilation.
    Otherwise, and `timeout` seconds after XLA handed the module over, XLA keeps its own, and `errors` and the log of
    `relayout.jax` say why. No exception ends a compilation.

    Functions compiled before are not compiled again, and functions compiled within stay compiled afterwards
    (`jax.clear_caches()` drops them). Other threads that compile meanwhile are affected, too. Raises DiagnosticError
    where jax calls passes for none of the platforms: TPUs and GPUs need jax 0.12 or newer.

    >>> import jax, jax.numpy as jnp
    >>> with relayout.jax.apply_passes("annotate-layouts{target=tpu-v5e},expand-tiling") as applied:
    ...     doubled = jax.jit(lambda x: x * 2)(jnp.ones((3, 5)))
    >>> len(applied.modules) > 0, doubled.sum().item()
    (True, 30.0)
    """
    _check_known("stage", stage, STAGES)
    _check_known("answer", require, tuple(REQUIRED))
    applied = Applied()
    found = _called_for(platforms, applied)
    calls = _Calls(as_pipeline(passes), require, timeout, applied, Trials(stage) if trial else None)
    with hooked(found, stage, calls.transform):
        try:
            yield applied
        finally:
            # A thread that still compiles calls the hook.
            calls.thread.close()
            if calls.trials is not None:
                calls.trials.close()
    if calls.interrupt is not None:
        raise calls.interrupt


def _check_known(kind: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise DiagnosticError(f"unknown {kind} {value!r}", hint=meant(str(value), known, f"one of {', '.join(known)}"))


def _called_for(platforms: Collection[str] | None, applied: Applied) -> list[Platform]:
    """Returns the platforms for which jax calls passes, and notes the others; raises DiagnosticError for none."""
    if isinstance(platforms, str):
        raise DiagnosticError(f"platforms are names, not the text {platforms!r}", hint=f'platforms=("{platforms}",)')
    for name in platforms or ():
        _check_known("platform", name, PLATFORMS)
    wanted = [each for each in PLATFORMS if platforms is None or each in platforms]
    lacking = {platform: reason for platform in wanted if (reason := lack_of(platform))}
    found = [platform for platform in wanted if platform not in lacking]
    notes = [Diagnostic(reason, severity="note") for reason in lacking.values()]
    if not found:
        raise DiagnosticError([Diagnostic(each.message) for each in notes] or Diagnostic("no platform is named"))
    applied.notes += notes
    for note in notes if platforms is not None else ():
        _LOGGER.warning("%s", note.message)
    return found


@dataclass(slots=True)
class _Calls:
    """The calls of XLA during one use of `apply_passes`; XLA hands over a module of two devices twice."""

    pipeline: Pipeline
    require: str
    seconds: float
    applied: Applied
    trials: Trials | None
    thread: LimitedThread = field(default_factory=LimitedThread)
    answers: dict[bytes, bytes | None] = field(default_factory=dict)
    interrupt: KeyboardInterrupt | None = None
    # Those of the current call.
    steps: str = ""

    def transform(self, platform: Platform, data: bytes) -> bytes | None:
        """Returns the bytes of a module after the passes, None for the same module; raises nothing."""
        # A pass that compiles a function itself would wait for its own end.
        if self.thread.is_current or self.interrupt is not None:
            return None
        key = sha256(data).digest()
        if key not in self.answers:
            self.answers[key] = self._answer(platform, data)
        return self.answers[key]

    def _answer(self, platform: Platform, data: bytes) -> bytes | None:
        try:
            work = partial(self._work, platform, data, self._trial(platform))
            handed, rewritten = self.thread.call(work, self.seconds)
        except KeyboardInterrupt as error:
            self.interrupt = error
            return None
        except BaseException as error:  # XLA would end the compilation
            self._report(self._as_diagnostics(error))
            return None
        if rewritten is None:
            self.applied.parts.append(handed.module)
            return None
        self.applied.modules.append((handed.module, rewritten.module))
        self.applied.notes += rewritten.notes
        return rewritten.data

    def _as_diagnostics(self, error: BaseException) -> DiagnosticError:
        if isinstance(error, DiagnosticError):
            return error
        if not isinstance(error, TimeoutError):
            return DiagnosticError(f"{type(error).__name__}: {error}")
        late, limit = error.__cause__, f"took longer than {self.seconds:g} seconds"
        if isinstance(late, PassError):
            return DiagnosticError(f"pass {late.step} {limit}", late.diagnostics[0].location)
        return DiagnosticError(f"{self.steps} {limit}")

    def _trial(self, platform: Platform) -> _Trial | None:
        """Returns the trial of a changed module, whose program is in the frames of this thread; None without one."""
        if self.trials is None or platform == CPU:
            return None
        return partial(self.trials.check, platform, Submitted.by_this_thread())

    def _work(self, platform: Platform, data: bytes, trial: _Trial | None) -> tuple[Handed, Rewritten | None]:
        end, self.steps = time.monotonic() + self.seconds, "the passes and the proof"
        handed = Handed.read(platform, data)
        if handed.is_part:
            return handed, None
        found = rewrite(handed, self.pipeline, self.require, self.seconds)
        if trial is not None and found.data is not None:
            self.steps = "the passes, the proof and the compilation of their module"
            trial(found.data, end - time.monotonic())
        return handed, found

    def _report(self, error: DiagnosticError) -> None:
        self.applied.errors.append(error)
        _LOGGER.warning("XLA compiles its own module: %s", error)
