"""Files named by URL, in any file system that fsspec supports: `s3://bucket/key`, `gs://...`, `https://...`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dialect_utils.processes import TRANSFER_SECONDS, waiting
from dialect_utils.text import LARGEST_TEXT, Diagnostic, DiagnosticError, MissingFileError, open_input

_PATTERN_CHARACTERS = "*?["
_LOCAL = re.compile("(?:file|local)://|(?!.*://)")


def local_path(url: str) -> str | None:
    """Returns the path that a name without a protocol, `file://` or `local://` means, None for other URLs."""
    return url.removeprefix("file://").removeprefix("local://") if _LOCAL.match(url) else None


def read_url(url: str) -> bytes:
    """Returns the bytes of a URL; raises DiagnosticError where that fails, and for more than 256 MB."""
    _check_file(url)
    with _file_system(url) as (system, path), system.open(path, "rb") as file:
        data: bytes = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise DiagnosticError(f"{url}: has more than the {LARGEST_TEXT} bytes that are read")
    return data


def _check_file(url: str) -> None:
    """Raises DiagnosticError for a file of this machine that is a pipe or a device, which could block."""
    path = local_path(url)
    if path is not None:
        open_input(path, sys.maxsize).close()


def write_url(url: str, data: bytes) -> None:
    """Writes bytes to a URL, atomically where the store supports that; raises DiagnosticError."""
    with _file_system(url) as (system, path):
        system.makedirs(system._parent(path), exist_ok=True)  # noqa: SLF001 (fsspec documents it for its stores)
        system.pipe_file(path, data)


def remove_url(url: str) -> None:
    """Removes a file; raises DiagnosticError."""
    with _file_system(url) as (system, path):
        system.rm_file(path)


def matching_urls(pattern: str) -> list[str]:
    """Returns the sorted URLs of all files that match a pattern; raises DiagnosticError where no file does."""
    if not any(character in pattern for character in _PATTERN_CHARACTERS) or pattern.startswith("http"):
        # In an http URL `?` starts the query, so it is not a wildcard.
        return [pattern]
    found = existing_urls(pattern)
    if not found:
        raise MissingFileError(Diagnostic(f"{pattern}: no file has such a name"))
    return found


def existing_urls(pattern: str) -> list[str]:
    """Returns the sorted URLs of all existing files that match a URL or a pattern."""
    _, separator, rest = pattern.partition("::")

    with _file_system(pattern) as (system, path):
        system.invalidate_cache()
        # glob would list the directory of a name without a wildcard.
        found = system.glob(path) if any(each in path for each in _PATTERN_CHARACTERS) else [path]
        urls = sorted(system.unstrip_protocol(each) for each in found if system.isfile(each))
    return [url + separator + rest for url in urls]


@contextmanager
def _file_system(url: str) -> Iterator[tuple[Any, str]]:
    """Gives the file system of a URL and the path in it to a block whose errors become DiagnosticErrors."""
    _, chained, archive = url.rpartition("::")
    if chained:
        _check_file(archive)
    try:
        with waiting(TRANSFER_SECONDS):
            from fsspec.core import url_to_fs

            yield url_to_fs(url)
    except ImportError as error:
        # fsspec itself or its package for this kind of URL is missing.
        message = f"{url}: {str(error)[:1].lower()}{str(error)[1:]}"
        raise DiagnosticError(message, hint="pip install 'relayout[remote]'") from None
    except FileNotFoundError:
        # fsspec raises FileNotFoundError for a server that does not answer, too.
        raise MissingFileError(Diagnostic(f"{url}: no such file, or nothing answers at this address")) from None
    except Exception as error:
        # Each file system raises its own errors.
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DiagnosticError(f"{url}: {reason[:1].lower()}{reason[1:]}") from None
