"""A sandboxed child's view of the process of its command, which prints, writes files and starts processes for it."""

from __future__ import annotations

import errno
import io
import os
import socket
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any, TextIO, cast

from dialect_utils import processes
from dialect_utils.text import PrintableStream
from relayout.supervisor.frames import (
    ANSWER,
    CANDIDATE,
    DONE,
    ENTRY,
    ERRORS,
    FILE,
    MOST_ENTRY,
    NOTICE,
    OUTPUT,
    PART,
    PLAN,
    REQUEST,
    UNIT,
    from_json,
    named_file,
    receive_frame,
    send_frame,
    to_json,
)

# Standard input, output and error of a process.
_PIPES = 3


class Host:
    """A child's connection to the process of the command."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

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

    def waits(self, seconds: float | None) -> None:
        """Stops the clock while this process waits, at most so many seconds; None: for standard input."""
        self._tell({"tell": "waits", "seconds": seconds})

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


class _HostProcess:
    """A process that the process of the command started for this child."""

    def __init__(self, host: Host, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self._host = host
        self.pid, self.stdin, self.stdout, self.stderr = pid, stdin, stdout, stderr

    def wait(self, seconds: float) -> int | None:
        """Returns the exit code, negative for a signal; None if the process still runs after so many seconds."""
        return self._host.wait_for(self.pid, seconds)

    def kill(self) -> None:
        """Ends the process."""
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
