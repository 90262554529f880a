"""Writing results: whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

STANDARD_OUTPUT = "-"


def write_output(path: str | None, data: bytes) -> None:
    """Writes to a file (whole or not at all), or to standard output for None and `-`."""
    if path is None or path == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        write_atomically(Path(path), data)
    except OSError as error:
        # The temporary file's name says nothing to the user.
        raise OSError(error.errno, error.strerror, path) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces a file by a temporary one beside it; its mode stays, a link is followed.

    What is no regular file (a pipe, a device) is written directly. Raises OSError.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too
        os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """Returns the file's own mode, or that of a new file."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
