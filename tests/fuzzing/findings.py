"""Writes down inputs that violate a property, once for each kind of exception and line of the product."""

from __future__ import annotations

import hashlib
import json
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dialect_utils.text import DiagnosticError, printable
from tests.paths import ROOT

WORK = ROOT / "build" / "fuzzing"
# The growing corpora, by target.
LIVE = WORK / "live"
FOUND = WORK / "findings"
_LONGEST_TRACEBACK = 4000
_PACKAGES = ("dialect_utils", "passes", "relayout")


class TooSlowError(BaseException):
    """Raised inside a reader that computes for too long; no handler of errors may catch it."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raises TooSlowError once this process has computed for some seconds inside."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    handler = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)


def violation(check: Callable[[bytes], object], data: bytes, seconds: float) -> BaseException | None:
    """Returns how a reader violates its property, or None where it reads the input or rejects it with a diagnostic."""
    try:
        with cpu_limit(seconds):
            check(data)
    except DiagnosticError as error:
        text = str(error)
        return None if printable(text) == text else AssertionError("the diagnostic acts on a terminal")
    except (Exception, TooSlowError) as error:
        return error
    return None


def write_new(folder: Path, data: bytes, prefix: str = "") -> Path:
    """Writes an input to a file named by its content."""
    path = folder / (prefix + hashlib.sha1(data).hexdigest()[:16])
    if not path.exists():
        path.write_bytes(data)
    return path


def write_down(target: str, data: bytes, error: BaseException) -> None:
    """Keeps the shortest input of each kind of violation, with its traceback."""
    kind = _kind(error)
    folder = FOUND / target
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha1(kind.encode()).hexdigest()[:12]
    path = folder / name
    if path.exists() and path.stat().st_size <= len(data):
        return
    path.write_bytes(data)
    frames = "".join(traceback.format_exception(error))
    report = {"target": target, "kind": kind, "traceback": frames[-_LONGEST_TRACEBACK:]}
    path.with_suffix(".json").write_text(json.dumps(report, indent=1))


def _kind(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if any(f"/{package}/" in frame.filename for package in _PACKAGES)]
    last = (own or frames)[-1]
    # A line number would count each change of the file as another kind.
    place = f"{Path(last.filename).name}:{last.name}"
    return f"{type(error).__name__} in {place}" + (f": {error}"[:60] if isinstance(error, AssertionError) else "")
