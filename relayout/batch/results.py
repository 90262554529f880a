"""A results file: one row a module, written as they come, whole at the end, and read again to go on."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialect_utils.io.files import is_url, write_file
from dialect_utils.io.remote import existing_urls, read_url, remove_url, write_url
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.batch.records import Row, from_lines, from_parquet, to_lines, to_parquet

PARQUET = ".parquet"
_LINES = (".jsonl", ".ndjson", ".json")
ENDINGS = (*_LINES, PARQUET)
# What a run that is stopped loses at most.
_ROWS_PER_PART = 1000
_SECONDS_PER_PART = 20.0


@dataclass(slots=True)
class ResultsFile:
    """A file or URL of rows; until it is complete, parts beside it (`NAME.part-000001.jsonl`) hold what there is."""

    path: str
    _part: list[Row] = field(default_factory=list, init=False)
    _count: int = field(default=0, init=False)
    _written: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        """Raises DiagnosticError for a file that could not be written at the end."""
        if not self.path.endswith(ENDINGS):
            raise DiagnosticError(Diagnostic(f"{self.path} has no known ending", hint=f"one of {', '.join(ENDINGS)}"))
        if self.path.endswith(PARQUET):
            try:
                import pyarrow  # noqa: F401 (before hours of work)
            except ImportError:
                message = "a Parquet file needs pyarrow, which is not installed"
                raise DiagnosticError(Diagnostic(message, hint="pip install 'relayout[report]'")) from None
        self._count = len(self._parts())

    def exists(self) -> bool:
        """Is true where a run has left rows."""
        return bool(self._parts()) or _exists(self.path)

    def rows(self) -> list[Row]:
        """Returns the rows that there are, the later one where a module has two."""
        read = from_parquet if self.path.endswith(PARQUET) else from_lines
        rows = read(_read(self.path)) if _exists(self.path) else []
        rows += [row for part in self._parts() for row in from_lines(_read(part))]
        return list({row["name"]: row for row in rows}.values())

    def add(self, row: Row) -> None:
        """Adds a row; it is kept within seconds."""
        self._part.append(row)
        if len(self._part) >= _ROWS_PER_PART or time.monotonic() - self._written > _SECONDS_PER_PART:
            self.close()

    def close(self) -> None:
        """Writes what was added to a part of its own."""
        if self._part:
            self._count += 1
            _write(f"{self.path}.part-{self._count:06}.jsonl", to_lines(self._part))
            self._part.clear()
        self._written = time.monotonic()

    def complete(self, names: Sequence[str]) -> None:
        """Writes all rows of these modules, in this order, to the file, and removes the parts."""
        self.close()
        by_name = {row["name"]: row for row in self.rows()}
        rows = [by_name[name] for name in names if name in by_name]
        _write(self.path, to_parquet(rows) if self.path.endswith(PARQUET) else to_lines(rows))
        for part in self._parts():
            (remove_url if is_url(part) else os.unlink)(part)

    def _parts(self) -> list[str]:
        pattern = f"{self.path}.part-*.jsonl"
        if is_url(self.path):
            return existing_urls(pattern)
        path = Path(pattern)
        return sorted(map(str, path.parent.glob(path.name)))


def _exists(path: str) -> bool:
    return bool(existing_urls(path)) if is_url(path) else os.path.exists(path)


def _read(path: str) -> bytes:
    return read_url(path) if is_url(path) else Path(path).read_bytes()


def _write(path: str, data: bytes) -> None:
    if is_url(path):
        write_url(path, data)
    else:
        write_file(Path(path), data)
