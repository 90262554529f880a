"""Messages between a process and its worker: a JSON header and blobs, each with its length before it.

Frame: 8 bytes length of the header, the header, then the blobs whose lengths the header lists.
Nothing is unpickled, and every length is checked before anything of that length is made, so a worker
that a hostile module took over can neither run code elsewhere nor use up the memory of its parent.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

# What the worker says as soon as a program is compiled.
EXECUTES = "executes"
LENGTH = struct.Struct("<Q")
# One read asks for no more than this, so that a deadline is looked at now and then.
CHUNK = 1 << 20
_LENGTHS_KEY = "blob_lengths"
# A header describes arrays and may hold one message of jaxlib, which may quote a module.
_LARGEST_HEADER = 64 << 20


class MalformedMessageError(Exception):
    """What is no message, or one that is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: JSON values by name, and bytes."""

    header: dict[str, Any]
    blobs: Sequence[bytes] = field(default=())


def encode_message(message: Message) -> list[bytes]:
    """Returns the parts of a message's frame in order."""
    header = {**message.header, _LENGTHS_KEY: [len(blob) for blob in message.blobs]}
    encoded = json.dumps(header).encode()
    return [LENGTH.pack(len(encoded)) + encoded, *message.blobs]


def decode_message(read: Callable[[int], bytes], largest: int | None = None) -> Message:
    """Returns the message that `read(count)` gives piece by piece; all blobs have at most `largest` bytes.

    Raises MalformedMessageError for anything else.
    """
    (length,) = LENGTH.unpack(read(LENGTH.size))
    if length > _LARGEST_HEADER:
        raise MalformedMessageError(f"a header of {length} bytes")
    header = _header(read(length))
    lengths = header.pop(_LENGTHS_KEY, None)
    if not isinstance(lengths, list) or not all(type(size) is int and size >= 0 for size in lengths):
        raise MalformedMessageError("blobs without lengths")
    if largest is not None and sum(lengths) > largest:
        raise MalformedMessageError(f"{sum(lengths)} bytes, of {largest} at most")
    return Message(header, [read(size) for size in lengths])


def _header(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedMessageError("a header that is no JSON") from None
    if not isinstance(header, dict):
        raise MalformedMessageError("a header that is no object")
    return header


def write_message(descriptor: int, message: Message) -> None:
    """Writes a message to a file descriptor; raises OSError where the other end is gone."""
    for part in encode_message(message):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]


def read_message(descriptor: int) -> Message:
    """Reads a message from a file descriptor; raises EOFError where the other end is gone."""
    return decode_message(lambda count: _read(descriptor, count))


def _read(descriptor: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(descriptor, min(count, CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
