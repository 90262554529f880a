"""Whether Python has compiled the modules of this program: a sandboxed child, which writes no file, compiles again."""

from __future__ import annotations

import os
from importlib.util import MAGIC_NUMBER, cache_from_source

# The header of a compiled file: magic number, flags, time and size of the source, 4 bytes each.
_HEADER = 16
_UNCHECKED = 0b11


def modules_to_compile(root: str, packages: tuple[str, ...]) -> tuple[list[str], int]:
    """Returns the files of packages that each import compiles again, and the number of all files."""
    folders = [each for package in packages for each in os.walk(os.path.join(root, package))]
    files = [
        os.path.join(within, name) for within, _, names in folders for name in sorted(names) if name.endswith(".py")
    ]
    return [file for file in files if not _is_compiled(file)], len(files)


def _is_compiled(file: str) -> bool:
    """Is true where a compiled file belongs to this version of Python and to this version of the source."""
    try:
        source = os.stat(file)
        with open(cache_from_source(file), "rb") as compiled:
            header = compiled.read(_HEADER)
    except (OSError, NotImplementedError):
        return False
    magic, flags, time, size = (header[start : start + 4] for start in range(0, _HEADER, 4))
    if int.from_bytes(flags, "little") & _UNCHECKED:
        # A hash-based file, as in reproducibly built packages: the header holds a hash of the source, not its time.
        return magic == MAGIC_NUMBER
    numbers = int.from_bytes(time, "little"), int.from_bytes(size, "little")
    return magic == MAGIC_NUMBER and numbers == (int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF)
