"""The parent's side of a sandboxed child: forks it, serves its requests, holds its clock, and kills it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from array import array
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from dialect_utils import processes, sandbox
from dialect_utils.io.files import is_url
from dialect_utils.text import DiagnosticError
from relayout.output import new_file, note_read, write_to_file
from relayout.process import Clock, fork
from relayout.supervisor import host
from relayout.supervisor.programs import Programs

if TYPE_CHECKING:
    from relayout.supervisor.cache import Entry

_CHUNK = 1 << 18
# The last bytes that libraries write are kept: they give the reason before a crash.
_WORDS_BYTES = 8 << 10
# A process that has closed its connection ends soon.
_END_SECONDS, _LOOK_SECONDS = 0.5, 0.005
_MOST_SECONDS = 1e9
_UNLIMITED = 1e7
# Files for reproducing failures, for one unit.
_MOST_FILES = 1000
# Linux counts in kilobytes, other systems in bytes (getrusage(2)).
_PEAK_UNIT = 1024 if sys.platform == "linux" else 1


class Printer(Protocol):
    """The destination of a unit's output."""

    def write(self, kind: bytes, data: bytearray) -> None:
        """Writes to standard output (`OUTPUT`) or standard error (`ERRORS`)."""


@dataclass(frozen=True, slots=True)
class Writable:
    """The files that a command writes: those that its command line names, and those in directories that it names."""

    names: tuple[str, ...]
    # The names of files without directories: the directories above other files are made.
    files: tuple[str, ...] = ()

    def allows(self, path: str) -> bool:
        """Is true for a file that the command line names, or a file in a directory that it names."""
        parts = PurePath(path).parts
        for name in self.names:
            named = PurePath(name).parts
            rest = parts[len(named) :]
            if parts[: len(named)] == named and os.pardir not in rest and os.sep not in rest:
                return True
        return False


@dataclass(frozen=True, slots=True)
class Lost:
    """The end of a child before its answer: the reason and a hint, in words."""

    reason: str
    hint: str | None = None


class Child:
    """A forked process and its permissions."""

    def __init__(
        self,
        main: Callable[[socket.socket, int, int], NoReturn],
        writable: Writable,
        most_output: int,
        *,
        programs: Programs | None = None,
        reads_input: bool = False,
        longest_wait: float = processes.START_SECONDS,
    ) -> None:
        with ExitStack() as opened, ExitStack() as failed:
            self.connection, theirs = socket.socketpair()
            failed.callback(self.connection.close)
            opened.callback(theirs.close)
            self.words, words = os.pipe()
            failed.callback(os.close, self.words)
            opened.callback(os.close, words)
            self.pid = fork(lambda parent: main(theirs, words, parent))
            failed.pop_all()
        os.set_blocking(self.words, False)
        self.clock = Clock(self.pid, 0.0)
        self._writable, self._most_output, self._reads_input = writable, most_output, reads_input
        self._longest_wait = longest_wait
        self._programs = programs or Programs()
        self._has_items = False
        self._entry: Entry | None = None
        # Whether it has worked on a unit, so that a file may have taken it over.
        self.has_worked = False
        self._files: set[str] = set()
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._said = bytearray()
        self._written = 0
        self.item: str | None = None
        # The most memory that the process held, in bytes, once it has ended.
        self.peak = 0
        self._is_open = self._speaks = True

    def begin(
        self,
        seconds: float,
        credit: float,
        unit: bytes | None = None,
        *,
        has_items: bool = False,
        entry: Entry | None = None,
    ) -> None:
        """Sends the child a unit, or for None the order to plan, with a time limit in seconds; `credit` as in `Clock`.

        `has_items`: the limit is for each item, such as a line of standard input. `entry` is the unit's in the cache.
        """
        self._written, self.item, self._has_items, self._entry = 0, None, has_items, entry
        self.clock = Clock(self.pid, seconds, credit)
        # The system's limit holds even while this process is stopped; a command without inputs has one for each item.
        sandbox.limit_cpu_seconds(_UNLIMITED if has_items else seconds + credit, self.pid)
        if unit is not None:
            self.has_worked = True
            self._unsent += host.HEADER.pack(host.UNIT, len(unit)) + unit
            self.send()

    def send(self) -> None:
        """Sends as much as the child takes now: no child may stop this process by not reading."""
        while self._unsent:
            try:
                sent = self.connection.send(self._unsent, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:
                self._close()
                return
            del self._unsent[:sent]

    def receive(self, printer: Printer) -> tuple[bytes, bytearray] | None:
        """Serves the frames that have come; returns a PLAN or DONE frame, None where there is none yet.

        Raises EOFError where the child has ended, MalformedFrameError where it must be ended.
        """
        try:
            # A large frame is read to its end only, so that it need not be copied out of the buffer.
            part = self.connection.recv(min(_CHUNK, self._missing() or _CHUNK))
        except ConnectionError:
            part = b""
        if not part:
            raise EOFError
        self._buffer += part
        while len(self._buffer) >= host.HEADER.size and self._missing() == 0:
            kind, data = self._next_frame()
            if kind in (host.PLAN, host.DONE):
                return kind, data
            self._serve(kind, data, printer)
        return None

    def _missing(self) -> int:
        """Returns how many bytes of the first frame have not come yet, 0 also before its header is complete."""
        if len(self._buffer) < host.HEADER.size:
            return 0
        kind, length = host.HEADER.unpack_from(self._buffer)
        if kind in (host.OUTPUT, host.ERRORS, host.FILE, host.CANDIDATE) and length > self._most_output:
            raise OutputLimitError
        if kind not in host.KINDS or length > host.most_bytes(kind):
            raise host.MalformedFrameError("a frame of unknown kind or size")
        return max(0, host.HEADER.size + int(length) - len(self._buffer))

    def _next_frame(self) -> tuple[bytes, bytearray]:
        kind, length = host.HEADER.unpack_from(self._buffer)
        del self._buffer[: host.HEADER.size]
        if length == len(self._buffer):
            data, self._buffer = self._buffer, bytearray()
        else:
            data = self._buffer[:length]
            del self._buffer[:length]
        return kind, data

    def _serve(self, kind: bytes, data: bytearray, printer: Printer) -> None:
        if kind in (host.OUTPUT, host.ERRORS, host.FILE):
            self._written += len(data)
            if self._written > self._most_output:
                raise OutputLimitError
        if kind in (host.OUTPUT, host.ERRORS):
            printer.write(kind, data)
        elif kind == host.NOTICE:
            self._notice(host.from_json(data))
        else:
            if self._unsent:
                raise host.MalformedFrameError("asked before it read the last answer")
            self._reply(*self._attempt(kind, data))

    def _reply(self, answer: dict[str, Any], descriptors: list[int]) -> None:
        payload = host.to_json(answer)
        self._unsent += host.HEADER.pack(host.ANSWER, len(payload)) + payload
        try:
            # `socket.send_fds` ignores the flags that it is given.
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))
            sent = self.connection.sendmsg([self._unsent], [rights], socket.MSG_DONTWAIT)
            del self._unsent[:sent]
        except BlockingIOError:
            raise host.MalformedFrameError("asked before it read the last answer") from None
        except OSError:
            self._close()
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _close(self) -> None:
        """Shuts the connection to an unreachable child down, so that the next read finds its end."""
        self._unsent.clear()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _notice(self, said: dict[str, Any]) -> None:
        match said:
            case {"tell": "item", "name": str(name)} if self._has_items:
                self.item = name
                self.clock.restart()
            case {"tell": "step", "name": str(name)}:
                self.item = name
            case {"tell": "waits", "seconds": None} if self._reads_input:
                self.clock.wait(None)
            case {"tell": "waits", "seconds": int() | float() as seconds} if 0 <= seconds <= _MOST_SECONDS:
                self.clock.wait(min(seconds, self._longest_wait))
                for pid in self._programs.running:
                    sandbox.limit_cpu_seconds(seconds, pid)
            case {"tell": "reads", "path": str(path)}:
                note_read(path)
            case {"tell": "goes on"}:
                self.clock.go_on()
            case _:
                raise host.MalformedFrameError("an unknown notice")

    def _attempt(self, kind: bytes, data: bytearray) -> tuple[dict[str, Any], list[int]]:
        try:
            if kind == host.ENTRY:
                if self._entry is not None:
                    self._entry.store(data)
                return {}, []
            if kind == host.CANDIDATE:
                return self._programs.test(data), []
            return (self._write(data), []) if kind == host.FILE else self._answer(host.from_json(data))
        except OSError as error:
            name = None if error.filename is None else os.fsdecode(error.filename)
            return {"error": [error.errno, error.strerror or str(error), name]}, []
        except DiagnosticError as error:
            # The store that a URL names has failed, or the file must not be replaced.
            found = error.diagnostics[0]
            return {"error": [0, f"{found.message} ({found.hint})" if found.hint else found.message, None]}, []
        except (ValueError, RecursionError) as error:
            # The request is malformed: a zero byte in a name, for example, or too few arguments.
            raise host.MalformedFrameError(f"a request that is impossible ({error})") from None

    def _write(self, frame: bytearray) -> dict[str, Any]:
        path, data = host.parse_named_file(frame)
        if path not in self._files and not self._writable.allows(path):
            raise host.MalformedFrameError(f"a file {path} that the command does not write")
        if path not in self._writable.files and not is_url(path):
            os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        write_to_file(path, data)
        return {}

    def _answer(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        match asked:
            case {"ask": "cached"}:
                found = None if self._entry is None else self._entry.open()
                may_store = self._entry is not None and self._entry.may_store
                return {"may store": may_store}, [] if found is None else [found]
            case {"ask": "new file", "prefix": str(prefix), "suffix": str(suffix)} if os.sep not in prefix + suffix:
                if len(self._files) >= _MOST_FILES:
                    raise host.MalformedFrameError("too many new files")
                name = new_file(prefix, suffix)
                self._files.add(name)
                return {"name": name}, []
            case {"ask": "start", "program": str(program), "arguments": [*arguments]} if program in processes.PROGRAMS:
                return self._programs.start(program, arguments)
            case {"ask": "wait", "pid": int(pid), "seconds": int() | float() as seconds}:
                return {"code": self._programs.wait(pid, seconds)}, []
            case {"ask": "kill", "pid": int(pid)}:
                self._programs.kill(pid)
                return {}, []
        raise host.MalformedFrameError("an unknown request")

    @property
    def has_filled_disk(self) -> bool:
        """Is true where a compiler that it asked for has written more than its output may be."""
        return bool(self._programs.running) and self._programs.written() > self._most_output

    def events(self) -> dict[int, int]:
        """Returns the descriptors to wait for, with their events as in `select.poll`."""
        events = {self.connection.fileno(): select.POLLIN | (select.POLLOUT if self._unsent else 0)}
        return events | {self.words: select.POLLIN} if self._speaks else events

    def listen(self) -> None:
        """Reads the output of libraries that is in the pipe now, and keeps its end; libraries may write without end."""
        with contextlib.suppress(BlockingIOError):
            part = os.read(self.words, _CHUNK)
            self._said += part
            del self._said[:-_WORDS_BYTES]
            self._speaks = bool(part)

    def end(self) -> None:
        """Kills the process and those that it asked for."""
        if self._is_open:
            os.kill(self.pid, signal.SIGKILL)
            self._release()

    def ended(self) -> tuple[int, str]:
        """Returns the exit code of a child that closed its connection, and the end of what libraries wrote.

        The child is killed if it lives on.
        """
        give_up = time.monotonic() + _END_SECONDS
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > give_up:
                os.kill(self.pid, signal.SIGKILL)
                break
            time.sleep(_LOOK_SECONDS)
        self.listen()
        return self._release(), self._said.decode(errors="replace")

    def _release(self) -> int:
        self._is_open = False
        if self._programs.running:
            self._programs.end()
        _, status, usage = os.wait4(self.pid, 0)
        self.peak = usage.ru_maxrss * _PEAK_UNIT
        self.connection.close()
        os.close(self.words)
        return os.waitstatus_to_exitcode(status)


class OutputLimitError(Exception):
    """A child that writes more than it may."""
