"""The names of entries of the cache: digests of the files, the options, this program, jaxlib and the processor."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

# The packages whose code decides what is compiled and how it is executed, at any depth, or their own files only.
_OWN, _FOREIGN = ("dialect_utils", "passes", "relayout"), ("jaxlib", "jax")
_SOURCE = ".py"
_LIBRARY = (".so", ".py", ".dylib", ".pyd")
_PROCESSOR = Path("/proc/cpuinfo")
# The lines with the abilities of a processor, of x86 and of ARM.
_ABILITIES = ("model name", "flags", "Features", "CPU part")
_LARGEST_FILE, _CHUNK = 1 << 30, 1 << 20


@dataclass(frozen=True, slots=True)
class Selected:
    """The values of a command line, as JSON, and the files that decide what is compiled.

    An entry that `grows` has the results of several compilations: it may be stored after each of them.
    """

    options: object
    files: Sequence[str]
    grows: bool = False


def key_of(selected: Selected) -> str | None:
    """Returns the name of an entry, or None where a file is not an ordinary one."""
    digests = [_digest(file) for file in selected.files]
    if None in digests:
        return None
    parts = [selected.options, digests, *_program(), _processor(), sys.version]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _digest(path: str) -> str | None:
    """Returns the SHA-256 of an ordinary file, None for others, such as pipes and URLs."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    found, status = sha256(), os.fstat(file)
    try:
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_FILE:
            return None
        while part := os.read(file, _CHUNK):
            found.update(part)
    except OSError:
        return None
    finally:
        os.close(file)
    return found.hexdigest()


@cache
def _program() -> tuple[list[object], ...]:
    """Returns the sizes and times of the files of this program and of jaxlib: other versions have others."""
    own = Path(__file__).parents[2]
    found = [sorted(_stamps(str(own / package), (_SOURCE,), is_deep=True)) for package in _OWN]
    for package in _FOREIGN:
        spec = find_spec(package)
        folders = [] if spec is None else spec.submodule_search_locations or []
        found.append([stamp for folder in folders for stamp in sorted(_stamps(folder, _LIBRARY, is_deep=False))])
    return tuple([*each] for each in found)


def _stamps(folder: str, endings: tuple[str, ...], *, is_deep: bool) -> list[tuple[str, int, int]]:
    found = []
    with os.scandir(folder) as entries:
        for each in entries:
            if is_deep and each.is_dir():
                found += _stamps(each.path, endings, is_deep=True)
            elif each.name.endswith(endings):
                status = each.stat()
                found.append((each.path, status.st_size, status.st_mtime_ns))
    return found


@cache
def _processor() -> list[str]:
    """Returns the machine, and the model and the abilities of its first processor where the system says them."""
    machine = [sys.platform, os.uname().machine]
    try:
        with _PROCESSOR.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(_ABILITIES):
                    machine.append(line)
                elif not line.strip():
                    break
    except OSError:
        return machine
    return machine
