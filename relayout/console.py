"""Output to the user: results on standard output, everything else on standard error."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar

from dialect_utils.sandbox import is_sandboxed
from dialect_utils.text import Diagnostic, DiagnosticError, MissingFileError, printable, render

T = TypeVar("T")

_COLOURS = {"error": "1;31", "warning": "1;35", "note": "1;36", "hint": "1;32"}
_SEVERITY = re.compile(r"^((?:.*?:\d+:\d+: )?)(error|warning|note|hint):", re.MULTILINE)
_CARET = re.compile(r"^(\s*\^~*)$", re.MULTILINE)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

COLOURS = ("auto", "always", "never")

DONE = 0
FAILED = 1
WRONG_COMMAND = 2


def is_coloured(choice: str, stream: TextIO) -> bool:
    """Is true where the user wants colours on a stream: --color decides, then NO_COLOR, then FORCE_COLOR."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


class UsageError(DiagnosticError):
    """An error in the command line: exit code 2."""


@dataclass(slots=True)
class Console:
    """The printer of diagnostics and progress, with the user's choice of colours and tracebacks."""

    show_traceback: bool = False
    colour: str = "auto"

    def colour_of_errors(self) -> str:
        """Returns `always` or `never`, for processes that make diagnostics which this process prints."""
        return "always" if is_coloured(self.colour, sys.stderr) else "never"

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Prints diagnostics to standard error."""
        for diagnostic in diagnostics:
            # A file name may hold characters that the terminal's encoding lacks.
            text = printable(render(diagnostic))
            encoding = sys.stderr.encoding or "utf-8"
            safe = text.encode(encoding, "backslashreplace").decode(encoding)
            print(colour(safe) if is_coloured(self.colour, sys.stderr) else safe, file=sys.stderr)

    def attempt(self, work: Callable[[], int], failed: Callable[[str], None] | None = None) -> int:
        """Runs work on one input and returns its exit code; errors become diagnostics and the code of `fail`.

        `failed` receives the first error's message.
        """
        try:
            return work()
        except (BrokenPipeError, UsageError):
            raise
        except Exception as error:  # internal errors included: no traceback without --traceback
            if isinstance(error, MemoryError) and is_sandboxed():
                # The parent of this process knows the limit, and has memory for a message.
                raise
            status = self.fail(error)
            if failed is not None:
                failed(_diagnostics(error)[0].message)
        return status

    def fail(self, error: Exception) -> int:
        """Prints an error and returns its exit code: a file that does not exist is a mistake in the command."""
        if self.show_traceback:
            traceback.print_exception(error)
        self.diagnose(_diagnostics(error))
        return WRONG_COMMAND if isinstance(error, MissingFileError) else FAILED

    def track(self, items: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Yields the items; several that take more than a second have a progress bar on a terminal."""
        if total < 2 or not sys.stderr.isatty():
            yield from items
            return
        from tqdm import tqdm

        with tqdm(items, desc=what, total=total, delay=1, leave=False, file=sys.stderr) as bar:
            yield from bar


def _diagnostics(error: Exception) -> Sequence[Diagnostic]:
    if isinstance(error, DiagnosticError):
        return error.diagnostics
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        # Errors of files have a file name; those without one concern standard output.
        name = "standard output" if error.errno in _FULL and not error.filename else error.filename
        return (Diagnostic(f"{os.fsdecode(name)}: {reason}" if name else reason),)
    if isinstance(error, MemoryError):
        said = str(error)
        return (Diagnostic(f"not enough memory{f': {said[:1].lower()}{said[1:]}' if said else ''}"),)
    if isinstance(error, RecursionError):
        return (Diagnostic("calls or regions nest too deep here", hint="inline some of them"),)
    message = f"internal error: {type(error).__name__}: {error}"
    return (Diagnostic(message, hint="--traceback shows where"),)


def colour(text: str) -> str:
    """Colours severities and carets of rendered diagnostics with terminal escapes."""
    text = _SEVERITY.sub(lambda match: f"{match[1]}\033[{_COLOURS[match[2]]}m{match[2]}:\033[0m", text)
    return _CARET.sub("\033[1;32m\\1\033[0m", text)


def print_failure(subject: Mapping[str, Any], message: str) -> None:
    """Prints the JSON object of an input that failed."""
    print_json({**subject, "error": message})


def print_json(value: Mapping[str, Any]) -> None:
    """Prints one object on its own line and flushes; lone surrogates become escapes."""
    print(json.dumps(value), flush=True)
