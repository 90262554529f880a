"""Messages between a process and its worker: a JSON header and blobs, each with its length in front.

Frame: 8 bytes length of the header, the header, then the blobs whose lengths the header lists.
Nothing is unpickled, so a worker that a hostile module took over cannot run code elsewhere.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_LENGTH = struct.Struct("<Q")
_LENGTHS_KEY = "blob_lengths"
# One read asks for no more than this, so that a deadline is looked at now and then.
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Message:
    """Is one message: JSON values by name, and bytes."""

    header: dict[str, Any]
    blobs: Sequence[bytes] = field(default=())


def write_message(descriptor: int, message: Message) -> None:
    """Writes a message to a file descriptor; raises OSError where the other end is gone."""
    header = {**message.header, _LENGTHS_KEY: [len(blob) for blob in message.blobs]}
    encoded = json.dumps(header).encode()
    _write(descriptor, _LENGTH.pack(len(encoded)) + encoded)
    for blob in message.blobs:
        _write(descriptor, blob)


def read_message(descriptor: int, deadline: float | None = None) -> Message:
    """Reads a message from a file descriptor.

    `deadline` is a time of `time.monotonic`. Raises EOFError where the other end is gone and
    TimeoutError where the deadline passes.
    """
    (length,) = _LENGTH.unpack(_read(descriptor, _LENGTH.size, deadline))
    header = json.loads(_read(descriptor, length, deadline))
    blobs = [_read(descriptor, size, deadline) for size in header.pop(_LENGTHS_KEY)]
    return Message(header, blobs)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read(descriptor: int, count: int, deadline: float | None) -> bytes:
    parts = []
    while count:
        _wait(descriptor, deadline)
        part = os.read(descriptor, min(count, _CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _wait(descriptor: int, deadline: float | None) -> None:
    if deadline is None:
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError
