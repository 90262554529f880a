"""The frames between a command's process and its children, and a sandboxed child's view of that process.

The process prints, writes files and starts other processes for its child. It trusts no frame: it unpickles nothing,
and checks every length, name and value.
"""

from __future__ import annotations

import errno
import io
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Collection, Sequence
from math import inf
from typing import Any, TextIO, cast

from dialect_utils import processes
from dialect_utils.text import PrintableStream

# Frames: a kind of one byte, a length, and bytes


HEADER = struct.Struct("!cQ")

# From a child: output, diagnostics, a file to write, an entry of the cache, a candidate for the command of --oracle, a
# request with an answer, a notice without one, the plan of the command, and the result of a unit.
OUTPUT, ERRORS, FILE, ENTRY, CANDIDATE = b"O", b"E", b"F", b"C", b"T"
REQUEST, NOTICE, PLAN, DONE = b"R", b"N", b"P", b"D"
KINDS = (OUTPUT, ERRORS, FILE, ENTRY, CANDIDATE, REQUEST, NOTICE, PLAN, DONE)
# The names of the files that hold candidates, by dialect.
CANDIDATES = {"hlo": "module.hlo", "stablehlo": "module.mlir"}
# To a child: a unit to work on, and an answer.
UNIT, ANSWER = b"U", b"A"
# The most bytes of a frame that is read as JSON: a plan names all files of a batch, the others name one thing.
MOST_JSON, MOST_PLAN = 1 << 20, 1 << 26
# The most bytes of an entry of the cache.
MOST_ENTRY = 1 << 28
# Output comes in parts, so that the command's process holds little of it.
PART = 1 << 20
# The most bytes that are copied after their header.
_SENT_WITH_HEADER = 1 << 16
_PATH_END = b"\0"


class MalformedFrameError(Exception):
    """Bytes of a child that are not a valid frame."""


def send_frame(connection: socket.socket, kind: bytes, data: bytes | memoryview) -> None:
    """Sends a frame; raises OSError where the other end is gone."""
    header = HEADER.pack(kind, len(data))
    if len(data) > _SENT_WITH_HEADER:
        connection.sendall(header)
        connection.sendall(data)
    else:
        # At once, so that the other end, which waits for bytes, does not wake up for the header alone.
        connection.sendall(header + data)


def receive_frame(connection: socket.socket) -> tuple[bytes, bytes, list[int]]:
    """Receives a frame and the descriptors sent with it; raises EOFError where the other end is gone."""
    header, descriptors = b"", []
    while len(header) < HEADER.size:
        part, found, _, _ = socket.recv_fds(connection, HEADER.size - len(header), 3)
        if not part:
            raise EOFError
        header += part
        descriptors += found
    kind, length = HEADER.unpack(header)
    return kind, _received(connection, length), descriptors


def _received(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(min(count - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def most_bytes(kind: bytes) -> int | float:
    """Returns the most bytes of a frame of a child; only the limit of its output restricts a file or a candidate."""
    if kind in (OUTPUT, ERRORS):
        return PART
    if kind in (FILE, CANDIDATE):
        return inf
    return {PLAN: MOST_PLAN, ENTRY: MOST_ENTRY}.get(kind, MOST_JSON)


def to_json(value: Any) -> bytes:
    """Returns a value as JSON; lone surrogates become escapes."""
    return json.dumps(value).encode()


def from_json(data: bytes | bytearray) -> dict[str, Any]:
    """Returns the object of a frame; raises MalformedFrameError for anything else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedFrameError("no JSON") from None
    if not isinstance(value, dict):
        raise MalformedFrameError("no object")
    return value


def named_file(path: str, data: bytes | memoryview) -> bytes:
    """Returns the bytes of a FILE or CANDIDATE frame."""
    return os.fsencode(path) + _PATH_END + data


def parse_named_file(frame: bytearray) -> tuple[str, memoryview]:
    """Returns the path and the content, which is not copied, of a frame of `named_file`."""
    end = frame.find(_PATH_END)
    if end <= 0:
        raise MalformedFrameError("a file without a name")
    return os.fsdecode(bytes(frame[:end])), memoryview(frame)[end + 1 :]


# The view of the child


# Standard input, output and error of a process.
_PIPES = 3


class Host:
    """A child's connection to the process of the command."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        # The files that the process of the command knows.
        self.known: set[str] = set()

    def send_plan(self, plan: bytes) -> None:
        """Sends the units of the command."""
        send_frame(self._connection, PLAN, plan)

    def send_done(self, result: dict[str, Any]) -> None:
        """Sends the result of a unit, after all that was printed."""
        sys.stdout.flush()
        sys.stderr.flush()
        send_frame(self._connection, DONE, to_json(result))

    def next_unit(self) -> bytes:
        """Returns the next unit; raises EOFError where the command ends."""
        kind, data, _ = receive_frame(self._connection)
        assert kind == UNIT
        return data

    def print(self, kind: bytes, data: bytes | memoryview) -> None:
        """Prints to standard output or standard error of the command."""
        view = memoryview(data)
        for start in range(0, len(view), PART):
            send_frame(self._connection, kind, view[start : start + PART])

    def write_file(self, path: str, data: bytes | memoryview) -> None:
        """Writes a file of the command, whole or not at all; raises OSError that names it."""
        sys.stdout.flush()
        send_frame(self._connection, FILE, named_file(path, data))
        self._answer()

    def new_file(self, prefix: str, suffix: str) -> str:
        """Returns the name of a new empty file in the directory for temporary files; raises OSError."""
        name: str = self._ask({"ask": "new file", "prefix": prefix, "suffix": suffix})["name"]
        return name

    def cached(self) -> tuple[bytes | None, bool]:
        """Returns the entry of the unit in the cache, None where there is none, and whether `keep` would store one.

        The child asks once, before it reads any file but those of the unit.
        """
        send_frame(self._connection, REQUEST, to_json({"ask": "cached"}))
        answer, descriptors = self._answer()
        if not descriptors:
            return None, answer["may store"]
        with os.fdopen(descriptors[0], "rb") as file:
            return file.read(), False

    def keep(self, data: bytes) -> None:
        """Stores the entry of the unit; one that is too large is not stored."""
        if len(data) <= MOST_ENTRY:
            send_frame(self._connection, ENTRY, data)
            self._answer()

    def begin_item(self, name: str) -> None:
        """Starts the clock again for an item, such as a line of standard input."""
        self._tell({"tell": "item", "name": name})

    def enter(self, step: str) -> None:
        """Names the step in which this process is, such as a pass, for the error if it ends there; "" leaves it."""
        self._tell({"tell": "step", "name": step})

    def waits(self, seconds: float | None) -> None:
        """Stops the clock while this process waits, at most so many seconds; None: for standard input."""
        self._tell({"tell": "waits", "seconds": seconds})

    def reads(self, path: str) -> None:
        """Names a file that this process opens, once: no output of the command may replace it."""
        if path not in self.known:
            self.known.add(path)
            self._tell({"tell": "reads", "path": path})

    def goes_on(self) -> None:
        """Starts the clock again after `waits`."""
        self._tell({"tell": "goes on"})

    def start(self, program: str, arguments: Sequence[str]) -> processes.Process:
        """Starts a program of `processes.PROGRAMS`; raises OSError where the system cannot."""
        send_frame(
            self._connection, REQUEST, to_json({"ask": "start", "program": program, "arguments": list(arguments)})
        )
        answer, descriptors = self._answer()
        if len(descriptors) < _PIPES:
            # Linux drops passed descriptors beyond the process's limit of open files.
            for each in descriptors:
                os.close(each)
            self.kill(answer["pid"])
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return _HostProcess(self, answer["pid"], *descriptors)

    def test(self, name: str, candidate: bytes) -> int:
        """Starts the command of --oracle on a candidate; returns the process id; raises OSError.

        The process is to be ended with `kill`, also after its own end.
        """
        send_frame(self._connection, CANDIDATE, named_file(name, candidate))
        pid: int = self._answer()[0]["pid"]
        return pid

    def wait_for(self, pid: int, seconds: float) -> int | None:
        """Returns the exit code of a process that `start` started, or None if it still runs."""
        end = time.monotonic() + seconds
        while True:
            # The process of the command waits a short time only.
            left = max(0.0, end - time.monotonic())
            code: int | None = self._ask({"ask": "wait", "pid": pid, "seconds": left})["code"]
            if code is not None or left == 0:
                return code

    def kill(self, pid: int) -> None:
        """Ends a process that `start` started."""
        self._ask({"ask": "kill", "pid": pid})

    def _tell(self, value: dict[str, Any]) -> None:
        send_frame(self._connection, NOTICE, to_json(value))

    def _ask(self, value: dict[str, Any]) -> dict[str, Any]:
        send_frame(self._connection, REQUEST, to_json(value))
        return self._answer()[0]

    def _answer(self) -> tuple[dict[str, Any], list[int]]:
        kind, data, descriptors = receive_frame(self._connection)
        assert kind == ANSWER
        answer = from_json(data)
        if "error" in answer:
            raise OSError(*answer["error"])
        return answer, descriptors


class _HostProcess(processes.Process):
    """A process that the process of the command started for this child."""

    def __init__(self, host: Host, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self._host = host
        self.pid, self.stdin, self.stdout, self.stderr = pid, stdin, stdout, stderr

    def wait(self, seconds: float) -> int | None:
        return self._host.wait_for(self.pid, seconds)

    def kill(self) -> None:
        self._host.kill(self.pid)


class _HostStream(io.RawIOBase):
    """Standard output or standard error of the process of the command."""

    def __init__(self, host: Host, kind: bytes, *, is_terminal: bool) -> None:
        self._host, self._kind, self._is_terminal = host, kind, is_terminal

    def writable(self) -> bool:
        """Is true."""
        return True

    def isatty(self) -> bool:
        """Is true where the process of the command prints to a terminal."""
        return self._is_terminal

    def write(self, data: Any) -> int:
        """Writes bytes, all of them."""
        view = memoryview(data)
        self._host.print(self._kind, view)
        return len(view)


def use_streams(host: Host, terminals: Collection[str]) -> None:
    """Makes this process print through its host; `terminals` are the names of those streams that are terminals."""
    for name, kind in (("stdout", OUTPUT), ("stderr", ERRORS)):
        stream, is_terminal = getattr(sys, name), name in terminals
        raw = _HostStream(host, kind, is_terminal=is_terminal)
        text = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=stream.encoding or "utf-8",
            errors=stream.errors,
            line_buffering=is_terminal or kind == ERRORS,
        )
        # Results may hold control characters of a file; diagnostics are escaped already.
        setattr(sys, name, cast(TextIO, PrintableStream(text)) if kind == OUTPUT else text)


_host: Host | None = None


def use_host(host: Host) -> None:
    """Makes `current` return a host, in a child."""
    global _host
    _host = host


def current() -> Host | None:
    """Returns the host of this process, or None outside of a sandboxed child."""
    return _host


def begin_item(name: str) -> None:
    """Starts the clock again for an item, such as a line of standard input."""
    if _host is not None:
        _host.begin_item(name)
