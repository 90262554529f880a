"""Children that a file has taken over, as functions that a forked process runs in place of `child.serve`."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from relayout.process import reset_signals
from relayout.supervisor.host import (
    DONE,
    ERRORS,
    FILE,
    HEADER,
    NOTICE,
    OUTPUT,
    PLAN,
    REQUEST,
    named_file,
    receive_frame,
)

# The behaviour of a child; it may also never return.
Deed = Callable[[socket.socket], object]
RESULT = {"status": 0, "seconds": 0.0, "ends_batch": False, "content": "", "is_known": False}
_LIFE_SECONDS = 30.0


def main(deed: Deed, connection: socket.socket, words: int, parent: int) -> Any:
    """Does a deed in a process just forked, and exits with code 0."""
    reset_signals()
    os.dup2(words, 1)
    os.dup2(words, 2)
    os.closerange(3, connection.fileno())
    os.closerange(connection.fileno() + 1, 1024)
    signal.alarm(round(_LIFE_SECONDS))
    deed(connection)
    os._exit(0)


def sends(kind: bytes, data: bytes, *, then: Deed | None = None) -> Deed:
    """Returns a deed that sends a frame, and goes on with another."""

    def deed(connection: socket.socket) -> None:
        connection.sendall(HEADER.pack(kind, len(data)) + data)
        if then is not None:
            then(connection)

    return deed


def says(kind: bytes, value: object) -> Deed:
    """Returns a deed that sends a frame with a value as JSON, and sleeps."""
    return sends(kind, json.dumps(value).encode(), then=sleeps)


def sends_bytes(data: bytes) -> Deed:
    """Returns a deed that sends bytes, and sleeps."""

    def deed(connection: socket.socket) -> None:
        connection.sendall(data)
        sleeps(connection)

    return deed


def result(**changed: object) -> Deed:
    """Returns a deed that sends a result with changed fields."""
    return says(DONE, {**RESULT, **changed})


def sleeps(_: socket.socket) -> None:
    """Sleeps, and ignores signals that may be ignored."""
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    time.sleep(_LIFE_SECONDS)


def spins(_: socket.socket) -> None:
    """Computes for ever."""
    while True:
        pass


def ends_by(number: int) -> Deed:
    """Returns a deed that ends the process with a signal, without a core dump."""

    def deed(_: socket.socket) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        os.kill(os.getpid(), number)

    return deed


def exits(code: int) -> Deed:
    """Returns a deed that ends the process with a code."""
    return lambda _: os._exit(code)


def closes_and_lives(connection: socket.socket) -> None:
    """Closes its connection, and sleeps."""
    connection.close()
    sleeps(connection)


def closes_and_writes(connection: socket.socket) -> None:
    """Closes its connection, and writes to standard error for ever."""
    connection.close()
    writes_for_ever(connection)


def writes_for_ever(_: socket.socket) -> None:
    """Writes to standard error for ever, as a library may."""
    data = b"x" * (1 << 16)
    while True:
        os.write(2, data)


def repeats(kind: bytes, data: bytes) -> Deed:
    """Returns a deed that sends a frame for ever, and reads nothing."""

    def deed(connection: socket.socket) -> None:
        frame = (HEADER.pack(kind, len(data)) + data) * 100
        while True:
            connection.sendall(frame)

    return deed


def stops(_: socket.socket) -> None:
    """Stops itself."""
    os.kill(os.getpid(), signal.SIGSTOP)


def half_a_frame(connection: socket.socket) -> None:
    """Sends a part of a frame, and exits."""
    connection.sendall(HEADER.pack(OUTPUT, 1000) + b"half")


def writes_file(path: str, data: bytes = b"data") -> Deed:
    """Returns a deed that writes a file and returns a result with the answer's keys as its content."""

    def deed(connection: socket.socket) -> None:
        frame = named_file(path, data)
        connection.sendall(HEADER.pack(FILE, len(frame)) + frame)
        answer = json.loads(receive_frame(connection)[1])
        result(content=" ".join(answer))(connection)

    return deed


def asks(value: object) -> Deed:
    """Returns a deed that sends a request."""
    return says(REQUEST, value)


def tells(value: object) -> Deed:
    """Returns a deed that sends a notice."""
    return says(NOTICE, value)


_START = {"ask": "start", "program": "worker", "arguments": ["1000000", "1"]}
# Frames and requests that are wrong: the parent ends the child at once.
MALFORMED: dict[str, Deed] = {
    "unknown-kind": sends_bytes(b"X" * 9),
    "zeros": sends_bytes(bytes(100)),
    "answer": sends(b"A", b"{}", then=sleeps),
    "large-part": sends_bytes(HEADER.pack(OUTPUT, 1 << 21)),
    "huge-notice": sends_bytes(HEADER.pack(NOTICE, 1 << 21)),
    "huge-request": sends_bytes(HEADER.pack(REQUEST, 1 << 21)),
    "huge-plan": sends_bytes(HEADER.pack(PLAN, 1 << 27)),
    "huge-errors": sends_bytes(HEADER.pack(ERRORS, 1 << 21)),
    "notice-list": tells([]),
    "notice-none": tells(None),
    "notice-empty": tells({}),
    "notice-nested": sends(NOTICE, b"[" * 500_000, then=sleeps),
    "item": tells({"tell": "item", "name": "a"}),
    "item-number": tells({"tell": "item", "name": 1}),
    "waits-always": tells({"tell": "waits", "seconds": None}),
    "waits-text": tells({"tell": "waits", "seconds": "1"}),
    "waits-nan": tells({"tell": "waits", "seconds": float("nan")}),
    "waits-infinite": tells({"tell": "waits", "seconds": float("inf")}),
    "waits-negative": tells({"tell": "waits", "seconds": -1}),
    "waits-huge": tells({"tell": "waits", "seconds": 10**400}),
    "request-empty": asks({}),
    "request-unknown": asks({"ask": "system", "command": "true"}),
    "start-unknown": asks({**_START, "program": "sh"}),
    "start-no-arguments": asks({**_START, "arguments": []}),
    "start-compiler": asks({**_START, "program": "tpu-compiler", "arguments": ["v5e:2x2"]}),
    "start-words": asks({**_START, "arguments": ["a", "b"]}),
    "start-zero-byte": asks({**_START, "program": "worker", "arguments": ["\0", "1"]}),
    "start-text": asks({**_START, "arguments": "12"}),
    "wait-for-parent": asks({"ask": "wait", "pid": os.getpid(), "seconds": 1}),
    "kill-parent": asks({"ask": "kill", "pid": os.getpid()}),
    "kill-all": asks({"ask": "kill", "pid": -1}),
    "kill-init": asks({"ask": "kill", "pid": 1}),
    "new-file-above": asks({"ask": "new file", "prefix": "../a", "suffix": ""}),
    "new-file-zero-byte": asks({"ask": "new file", "prefix": "\0", "suffix": ""}),
    "new-file-surrogate": asks({"ask": "new file", "prefix": "\ud800", "suffix": ""}),
    "new-file-number": asks({"ask": "new file", "prefix": 1, "suffix": ""}),
    "file-without-name": sends(FILE, b"no zero byte", then=sleeps),
    "file-empty-name": sends(FILE, b"\0data", then=sleeps),
    "file-elsewhere": sends(FILE, named_file("/elsewhere.hlo", b""), then=sleeps),
    "file-deep": sends(FILE, named_file("out/" + "a/" * 1500 + "a", b""), then=sleeps),
    "asks-and-never-reads": repeats(FILE, named_file("out/" + "x" * 300, b"")),
    "result-empty": says(DONE, {}),
    "result-list": says(DONE, []),
    "result-plan": says(PLAN, {"units": []}),
    "result-more": result(more=1),
    "result-text": result(status="0"),
    "result-huge": result(status=10**400),
    "result-infinite": result(status=float("inf")),
    "result-negative": result(status=-9),
    "result-truth": result(status=True),
    "result-content": result(content=None),
    "result-seconds": result(seconds=10**400),
}
# Ends that the system reports.
ENDS: dict[str, tuple[Deed, str]] = {
    **{
        name: (ends_by(getattr(signal, name)), f"was ended by {name}")
        for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS", "SIGKILL", "SIGTERM")
    },
    "processor-time": (ends_by(signal.SIGXCPU), "no result after all the processor time"),
    "no-answer": (exits(0), "ended with exit code 0"),
    "code": (exits(3), "ended with exit code 3"),
    "half-a-frame": (half_a_frame, "ended with exit code 0"),
    "closes-and-lives": (closes_and_lives, "was ended by SIGKILL"),
    "closes-and-writes": (closes_and_writes, "was ended by SIGKILL"),
}
# Children that the deadline ends.
LATE: dict[str, Deed] = {
    "sleeps": sleeps,
    "spins": spins,
    "stops": stops,
    "writes": writes_for_ever,
    "empty-frames": repeats(OUTPUT, b""),
    "goes-on": repeats(NOTICE, b'{"tell": "goes on"}'),
    "header": sends_bytes(HEADER.pack(OUTPUT, 1000)),
}


def part(deed: Deed) -> partial[Any]:
    """Returns the main function of a child that does a deed."""
    return partial(main, deed)
