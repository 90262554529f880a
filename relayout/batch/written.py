"""The files that a command writes: none of its inputs, none of another kind without --force, each by one command.

The process of the command checks the names before anything is read, and each file again before it is replaced.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from dialect_utils.io.files import STANDARD_INPUT, is_start_of_module, is_url
from dialect_utils.io.remote import local_path
from dialect_utils.text import leaves_directory
from relayout.batch.unit import Unit
from relayout.command import Command
from relayout.options import FOLDERS, declared, texts_in, usage_error, values_of, written
from relayout.output import STANDARD_OUTPUT, guard_with

_LOOKED_AT = 1 << 16
# The starts of the files that an option writes; other options write modules, pages, figures and drawings.
_KINDS: Mapping[str, re.Pattern[bytes]] = {
    "outputs": re.compile(rb"PK\x03\x04"),
    "certificate": re.compile(rb'\{"format":"relayout certificate '),
    "trials": re.compile(rb'\{\s*"relayout trials": '),
    "results": re.compile(rb'\{"name": |PAR1'),
    "junit": re.compile(rb"<\?xml [^>]*>\s*<testsuites\b"),
    "sarif": re.compile(rb'\{\s*"version": "[^"]*",\s*"\$schema": "[^"]*sarif'),
}
_PAGES = re.compile(
    rb'<!doctype html>|\{\s*"(?:module|file)": |\[\{"name": |digraph "|PAR1|<svg |\x89PNG\r\n|\(*[a-z]\w{1,11}\[',
    re.IGNORECASE,
)
# Options with these values read files. The modules of a dump directory are inputs, and all files of a checkpoint.
_READ = re.compile("FILE|NPZ|TOML|TARGET|OLD|SOURCE")
_DUMPS = ("OLD", "SOURCE")
_OTHER_NAME = "name another file"
# Of the name of a file in that of its lock: a name has at most 255.
_LOCK_BYTES = 200


@dataclass(slots=True)
class Outputs:
    """The files that a command line writes, by option, and its inputs: files by device and inode, and directories."""

    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_forced: bool = False
    # The options that name a directory.
    folders: Collection[str] = ()
    _inputs: dict[object, str] = field(default_factory=dict, init=False)
    # Directories, and whether all their files are inputs.
    _folders: dict[str, bool] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, command: Command) -> Outputs:
        """Returns the outputs and inputs that a command line names."""
        values = values_of(command)
        named = {
            name: [str(value) + end for end in (command.endings if name == "output" else ("",))]
            for name, value in written(command).items()
        }
        found = cls(named, command.force, (*FOLDERS, *(["output"] if command.has_several else [])))
        read: list[str] = []
        for each in declared(type(command)):
            first = each.options[0]
            value = values[each.name]
            if value and each.name not in named and (first.is_positional or _READ.search(first.metavar)):
                read += texts_in([value])
                found._add(texts_in([value]), is_whole=not (first.is_positional or first.metavar in _DUMPS))
        if read.count(STANDARD_INPUT) > 1:
            raise usage_error(f"{STANDARD_INPUT} is named twice, and standard input is read once", "name a file")
        # Options of passes name files, too.
        words = (word for text in values.get("passes") or () for word in re.split(r"[{}\"'\s,]+", str(text)))
        found._add([*words, *(command.oracle or "").split()], is_whole=True)
        if STANDARD_INPUT in (command.files or [STANDARD_INPUT]) or command.pairs == STANDARD_INPUT:
            found._inputs[_identity(os.fstat(0))] = "<stdin>"
        return found

    def _add(self, names: Iterable[str], *, is_whole: bool) -> None:
        """Adds the inputs of these names, and those of `NAME=FILE`."""
        for path in {each for name in names for each in (name, name.partition("=")[2])} - {""}:
            self._inputs[path] = path
            with suppress(OSError, ValueError):
                found = os.stat(_local(path))
                self._inputs[_identity(found)] = path
                if stat.S_ISDIR(found.st_mode):
                    self._folders[path] = is_whole

    def check_units(self, units: Sequence[Unit]) -> None:
        """Adds the inputs that directories, lists and patterns name, and checks all outputs that are known."""
        for unit in units:
            self._add((each for read in unit.inputs for each in (read.path, read.proto or "")), is_whole=False)
        self.check_named()
        for unit in units:
            self.check(unit.target or STANDARD_OUTPUT)

    def check_named(self) -> None:
        """Raises UsageError for a named file that must not be replaced, and for one that two options name."""
        seen: dict[str, str] = {}
        for name, paths in self.named.items():
            for path in paths if name not in FOLDERS else ():
                other = seen.setdefault(os.path.realpath(_local(path)), name)
                if other != name and path != STANDARD_OUTPUT and not _is_special(path):
                    raise usage_error(f"--{other} and --{name} both write {path}")
                self.check(path)
        with suppress(OSError):
            if self._inputs.get(_identity(os.fstat(1))) is not None:
                raise usage_error("standard output is a file that is read")

    def check(self, path: str) -> None:
        """Raises UsageError for an output that is an input, or an existing file of another kind without --force."""
        if path == STANDARD_OUTPUT:
            return
        try:
            found = os.stat(_local(path))
            with open(_local(path) if stat.S_ISREG(found.st_mode) else os.devnull, "rb") as file:
                start = file.read(_LOOKED_AT)
        except (OSError, ValueError):
            # It is new or a URL, or the error comes up where it is written.
            if is_url(path) and path in self._inputs:
                raise usage_error(f"{path} would overwrite the input", _OTHER_NAME) from None
            return
        read = self._inputs.get(_identity(found))
        is_module = is_start_of_module(start)
        inside = (each for each, is_whole in self._folders.items() if start and (is_whole or is_module))
        read = read or next((each for each in inside if not leaves_directory(_local(path), each)), None)
        if read is not None:
            raise usage_error(f"{path} would overwrite the input{'' if read == path else f' {read}'}", _OTHER_NAME)
        option = next((name for name, paths in self.named.items() if path in paths), "output")
        is_own = _KINDS[option].match(start) if option in _KINDS else is_module or _PAGES.match(start)
        # Rows are added to a table.
        may_force = option != "results"
        if start and not is_own and not (self.is_forced and may_force):
            hint = "--force replaces it" if may_force else _OTHER_NAME
            raise usage_error(f"{path} exists, and holds something else than this command writes", hint)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keeps other commands from the files that are named, and this process from its inputs, inside.

        Raises UsageError for a file that another command writes. Several commands may write into one directory.
        """
        with ExitStack() as stack:
            for path in (path for name, paths in self.named.items() if name not in self.folders for path in paths):
                if path != STANDARD_OUTPUT and not path.endswith(os.sep) and not _is_special(path):
                    stack.enter_context(_locked(_local(path)))
            stack.callback(guard_with, None)
            guard_with(self)
            yield

    def note_read(self, path: str) -> None:
        """Adds a file that a child opens, such as one that a pipeline of a file names; trials are read and written."""
        if path not in self.named.get("trials", ()):
            with suppress(OSError, ValueError):
                self._inputs.setdefault(_identity(os.stat(path)), path)


def _local(path: str) -> str:
    return (local_path(path) or path) if is_url(path) else path


def _identity(status: os.stat_result) -> object:
    """Returns the device and inode of a file; nothing is lost in a pipe, a terminal or /dev/null."""
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else object()


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Holds a lock for a file, where there can be one: it is on a hidden file beside it, which says who holds it.

    The system frees the lock of a killed process; a later one removes the hidden file.
    """
    folder, name = os.path.split(os.path.realpath(path))
    lock = os.path.join(folder, f".relayout-{os.fsdecode(os.fsencode(name)[-_LOCK_BYTES:])}.lock")
    descriptor = None if is_url(path) else _acquired(lock, path)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                os.unlink(lock)
            os.close(descriptor)


def _acquired(lock: str, path: str) -> int | None:
    while True:
        with ExitStack() as failed, suppress(FileNotFoundError):
            try:
                descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                failed.callback(os.close, descriptor)
                # Unlike that of flock(2), no child inherits this lock.
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 1 << 8, 0).decode(errors="replace")
                raise usage_error(f"{path} is written by another command ({holder})", "wait for its end") from None
            except OSError:
                return None
            # The last holder may have removed the file meanwhile.
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                with suppress(OSError):
                    os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
                failed.pop_all()
                return descriptor
