"""Trials of changes: what the TPU compiler said of each, kept in a file from which a later search goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256

from dialect_utils.execution.tpu_figures import Figures
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.tuning.changes import Change

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """A change, and the figures of the TPU compiler for the changed program."""

    change: Change
    figures: Figures


@dataclass(slots=True)
class Measured:
    """Figures by program, change, target and version of the compiler: of this search, and of earlier ones.

    `compile_text` returns the figures of a program. `keep` takes the text of the file after each compilation.
    """

    compile_text: Callable[[str], Figures]
    target: str
    version: str
    keep: Callable[[str], None] | None = None
    known: dict[str, Figures] = field(default_factory=dict)
    compilations: int = 0

    def figures(self, text: str) -> Figures:
        """Returns the figures of the text of a changed program, from the file where it has them."""
        key = self._key(text)
        if key not in self.known:
            self.known[key] = self.compile_text(text)
            self.compilations += 1
            if self.keep is not None:
                self.keep(self.text())
        return self.known[key]

    def text(self) -> str:
        """Returns the text of the file."""
        trials = {key: asdict(figures) for key, figures in self.known.items()}
        return json.dumps({"relayout trials": _VERSION, "trials": trials}, indent=1) + "\n"

    def _key(self, text: str) -> str:
        return sha256("\0".join((self.target, self.version, text)).encode()).hexdigest()


def read_trials(text: str, name: str) -> Mapping[str, Figures]:
    """Returns the figures of a file that `Measured.text` made; raises DiagnosticError for another file."""
    try:
        found = json.loads(text)
        if found["relayout trials"] != _VERSION:
            raise ValueError("another version")
        return {str(key): Figures.from_json(value) for key, value in found["trials"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        message = f"{name} is no file of --trials of this version"
        raise DiagnosticError(Diagnostic(message, hint="leave out --resume to write it again")) from None
