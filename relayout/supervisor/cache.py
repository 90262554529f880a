"""Executables on disk, which a later command runs again; only the process of a command opens and writes them.

The name of an entry is a digest of everything that affects the compilation. This process computes it from the bytes of
the files that the command line names, so a child that one file has taken over cannot change the entry of another file.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

# The packages whose code affects compilation and execution, with all files below or their own files only.
_OWN, _FOREIGN = ("dialect_utils", "passes", "relayout"), ("jaxlib", "jax")
_SOURCE = ".py"
_LIBRARY = (".so", ".py", ".dylib", ".pyd")
_PROCESSOR = Path("/proc/cpuinfo")
# The lines with the abilities of a processor, of x86 and of ARM.
_ABILITIES = ("model name", "flags", "Features", "CPU part")
_LARGEST_FILE, _CHUNK = 1 << 30, 1 << 20


@dataclass(frozen=True, slots=True)
class Selected:
    """The values of a command line, as JSON, and the files that affect the compilation.

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
    """Returns the sizes and times of the files of this program and of jaxlib, which identify their versions."""
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


# The variables that name another directory, and that switch the cache off.
DIRECTORY_VARIABLE, SWITCH_VARIABLE = "RELAYOUT_CACHE_DIR", "RELAYOUT_CACHE"
_OFF = ("0", "off", "no", "false")
_FOLDER = "runs"
# Least recently used entries are removed beyond this.
MOST_BYTES = 2_000_000_000
_DIGEST_BYTES = sha256().digest_size
_NAME_LENGTH = 2 * _DIGEST_BYTES
# An unfinished file of a process that ended is removed after so many seconds.
_ABANDONED_SECONDS = 3600.0
_UNFINISHED = ".new"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Cache:
    """A directory that only this user can open."""

    def __init__(self, directory: int) -> None:
        self._directory = directory

    @classmethod
    def of_user(cls) -> Cache | None:
        """Returns the cache of this user, or None where it is switched off or no such directory can be made.

        Raises PermissionError, with a reason, for a directory that others may change or read.
        """
        path = _path()
        if path is None:
            return None
        try:
            os.makedirs(os.path.dirname(path), mode=stat.S_IRWXU, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, stat.S_IRWXU)
            directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        found = os.fstat(directory)
        if found.st_uid == os.geteuid() and not found.st_mode & _OTHERS:
            return cls(directory)
        os.close(directory)
        reason = "belongs to another user" if found.st_uid != os.geteuid() else "is open to other users"
        raise PermissionError(f"{path} {reason}")

    def has(self, key: str) -> bool:
        """Is true for a key that has a file."""
        try:
            os.stat(key, dir_fd=self._directory, follow_symlinks=False)
        except OSError:
            return False
        return True

    def open(self, key: str) -> int | None:
        """Returns a descriptor of an entry's content, or None where no entry exists or it is damaged."""
        try:
            entry = os.open(key, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._directory)
        except OSError:
            return None
        if not _is_whole(entry):
            os.close(entry)
            return None
        with contextlib.suppress(OSError):
            # The time of the last use.
            os.utime(entry)
        os.lseek(entry, _DIGEST_BYTES, os.SEEK_SET)
        return entry

    def store(self, key: str, data: bytes | bytearray) -> None:
        """Writes an entry, whole or not at all; an error, such as a full disk, does not fail the command."""
        unfinished = f"{key}.{os.getpid()}{_UNFINISHED}"
        with contextlib.suppress(OSError):
            try:
                with open(unfinished, "xb", opener=self._opener) as file:
                    file.write(sha256(data).digest())
                    file.write(data)
                os.rename(unfinished, key, src_dir_fd=self._directory, dst_dir_fd=self._directory)
            except OSError:
                self._remove(unfinished)
                raise
            self._shrink()

    def _opener(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW, stat.S_IRUSR | stat.S_IWUSR, dir_fd=self._directory)

    def _remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self._directory)

    def _shrink(self) -> None:
        """Removes unfinished files of ended processes, and the least recently used entries beyond `MOST_BYTES`."""
        total = 0
        for used, size, name in sorted(self._entries(), reverse=True):
            if name.endswith(_UNFINISHED):
                if used < time.time() - _ABANDONED_SECONDS:
                    self._remove(name)
                continue
            total += size
            if total > MOST_BYTES:
                self._remove(name)

    def _entries(self) -> Iterator[tuple[float, int, str]]:
        """Yields the time of the last use, the size and the name of each entry and each unfinished file."""
        with os.scandir(self._directory) as found:
            for each in found:
                if len(each.name) == _NAME_LENGTH or each.name.endswith(_UNFINISHED):
                    with contextlib.suppress(FileNotFoundError):
                        status = each.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, each.name


def _path() -> str | None:
    """Returns the path of the cache, or None where it is switched off or this user has no home directory."""
    if os.environ.get(SWITCH_VARIABLE, "").lower() in _OFF:
        return None
    named = os.environ.get(DIRECTORY_VARIABLE)
    if named:
        return os.path.join(os.path.abspath(named), _FOLDER)
    home = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG Base Directory Specification ignores relative paths.
    home = home if os.path.isabs(home) else os.path.expanduser("~/.cache")
    return os.path.join(home, "relayout", _FOLDER) if os.path.isabs(home) else None


def _is_whole(entry: int) -> bool:
    """Is true for an ordinary file whose bytes have the digest at its begin."""
    try:
        if not stat.S_ISREG(os.fstat(entry).st_mode):
            return False
        wanted, found = os.read(entry, _DIGEST_BYTES), sha256()
        while part := os.read(entry, _CHUNK):
            found.update(part)
    except OSError:
        return False
    return wanted == found.digest()


@dataclass(slots=True)
class Entry:
    """The entry of one unit, which its child may open once, and store once if none was found.

    A child opens it before it reads any other file and stores it before it reads the arrays of a command line. So a
    file that takes over the child later cannot change an entry. `may_store` is false for a child that has read the
    files of another unit. An entry that grows may be stored again, also where one was found.
    """

    cache: Cache
    selected: Selected
    key: str
    may_store: bool = True
    _is_asked: bool = False

    @classmethod
    def of(cls, cache: Cache, selected: Selected) -> Entry | None:
        """Returns an entry, which may not exist yet; None for files without one, such as standard input."""
        key = key_of(selected)
        return None if key is None else cls(cache, selected, key)

    @property
    def exists(self) -> bool:
        """Is true for a key that the cache has; its content may be damaged."""
        return self.cache.has(self.key)

    def open(self) -> int | None:
        """Returns a descriptor of the content; None without an entry, and on every later call."""
        if self._is_asked:
            return None
        self._is_asked = True
        found = self.cache.open(self.key)
        self.may_store = self.may_store and (found is None or self.selected.grows)
        return found

    def store(self, data: bytes | bytearray) -> None:
        """Stores the content, once, if `open` has found none and the files are still the same."""
        if self._is_asked and self.may_store and key_of(self.selected) == self.key:
            self.cache.store(self.key, data)
        self.may_store = self.may_store and self.selected.grows
