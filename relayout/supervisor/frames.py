"""Frames between a command's process and its children: a kind of one byte, a length, and bytes.

The command's process trusts no frame: it unpickles nothing, and checks every length, name and value.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from math import inf
from typing import Any

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
