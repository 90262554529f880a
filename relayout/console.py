"""What reaches the user: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dialect_utils.text import Diagnostic, DiagnosticError, render

T = TypeVar("T")

_COLOURS = {"error": "1;31", "warning": "1;35", "note": "1;36", "hint": "1;32"}
_SEVERITY = re.compile(r"^((?:.*?:\d+:\d+: )?)(error|warning|note|hint):", re.MULTILINE)
_CARET = re.compile(r"^(\s*\^~*)$", re.MULTILINE)

DONE = 0
FAILED = 1
WRONG_COMMAND = 2


class UsageError(DiagnosticError):
    """Is raised where the command itself is wrong."""


@dataclass(slots=True)
class Console:
    """Prints diagnostics, progress and results; knows whether the user wants tracebacks."""

    show_traceback: bool = False
    coloured: bool = field(default_factory=lambda: sys.stderr.isatty() and not os.environ.get("NO_COLOR"))

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Prints diagnostics to standard error."""
        for diagnostic in diagnostics:
            text = render(diagnostic)
            # A name or a line of the input may hold what the terminal's encoding lacks.
            encoding = sys.stderr.encoding or "utf-8"
            safe = text.encode(encoding, "backslashreplace").decode(encoding)
            print(colour(safe) if self.coloured else safe, file=sys.stderr)

    def attempt(self, work: Callable[[], int], failed: Callable[[str], None] | None = None) -> int:
        """Runs work on one input and returns its exit code; errors become diagnostics and `FAILED`.

        `failed` receives the first error's message.
        """
        try:
            return work()
        except (BrokenPipeError, UsageError):
            raise
        except Exception as error:  # a mistake of ours too: no traceback unless asked for
            status = self.fail(error)
            if failed is not None:
                failed(_diagnostics(error)[0].message)
        return status

    def fail(self, error: Exception) -> int:
        """Shows an error and returns the exit code it ends with."""
        if self.show_traceback:
            traceback.print_exception(error)
        self.diagnose(_diagnostics(error))
        return FAILED

    def track(self, items: Sequence[T], what: str) -> Iterator[T]:
        """Yields the items; several that take longer than a second show a bar on a terminal."""
        if len(items) < 2 or not sys.stderr.isatty():
            yield from items
            return
        from tqdm import tqdm

        with tqdm(items, desc=what, delay=1, leave=False, file=sys.stderr) as bar:
            yield from bar


def _diagnostics(error: Exception) -> Sequence[Diagnostic]:
    if isinstance(error, DiagnosticError):
        return error.diagnostics
    if isinstance(error, OSError):
        return (Diagnostic(_os_message(error)),)
    if isinstance(error, MemoryError):
        return (Diagnostic(f"not enough memory: {str(error)[:1].lower()}{str(error)[1:]}"),)
    if isinstance(error, RecursionError):
        return (Diagnostic("calls or regions nest too deep here", hint="inline some of them"),)
    message = f"internal error: {type(error).__name__}: {error}"
    return (Diagnostic(message, hint="--traceback shows where"),)


def _os_message(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason


def colour(text: str) -> str:
    """Colours severities and carets of rendered diagnostics with terminal escapes."""
    text = _SEVERITY.sub(lambda match: f"{match[1]}\033[{_COLOURS[match[2]]}m{match[2]}:\033[0m", text)
    return _CARET.sub("\033[1;32m\\1\033[0m", text)


def print_json(value: Mapping[str, Any]) -> None:
    """Prints one object on its own line, at once; lone surrogates come out as escapes."""
    print(json.dumps(value), flush=True)
