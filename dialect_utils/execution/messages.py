"""Messages between a process and its worker: a JSON header and blobs, each with its length before it.

Frame: 8 bytes length of the header, the header, then the blobs whose lengths the header lists.
Nothing is unpickled, and every length is checked before anything of that length is made, so a worker
that a hostile module took over can neither run code elsewhere nor use up the memory of its parent.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, TypeGuard

import numpy as np

from dialect_utils.engine_names import Engine
from dialect_utils.execution.arrays import Array
from dialect_utils.ir import Dialect
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of, element_type_of
from dialect_utils.text import Source

# What the worker says as soon as a program is compiled.
EXECUTES = "executes"
LENGTH = struct.Struct("<Q")
# One read asks for no more than this, so that a deadline is looked at now and then.
CHUNK = 1 << 20
_LENGTHS_KEY = "blob_lengths"
# A header describes arrays and may hold one message of jaxlib, which may quote a module.
_LARGEST_HEADER = 64 << 20


Conversion = Literal["proto-to-text", "text-to-proto", "hlo-to-stablehlo"]
Rewriting = Literal["widen", "order", "repeat"]
# numpy's limits.
_LARGEST_DIMENSION = (1 << 63) - 1
_LARGEST_RANK = 64


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


# Of what the worker writes to standard error, the last bytes are kept: XLA's reason is there.
_LAST_WORDS = 64 << 10


@dataclass(slots=True)
class Channel:
    """Three pipes of a worker: requests to it, answers from it, and its standard error.

    Deadlines are times of `time.monotonic`. Every method raises TimeoutError where one passes, and
    OSError or EOFError where the other end is gone.
    """

    requests: int
    answers: int
    errors: int
    _said: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        for descriptor in (self.requests, self.answers, self.errors):
            os.set_blocking(descriptor, False)

    def send(self, message: Message, deadline: float) -> None:
        """Writes a message."""
        for part in encode_message(message):
            view = memoryview(part)
            while view:
                self._wait(self.requests, select.POLLOUT, deadline)
                # A pipe that is not empty takes less than is asked.
                view = view[os.write(self.requests, view[:CHUNK]) :]

    def receive(self, deadline: float, largest: int) -> Message:
        """Reads a message whose blobs have at most `largest` bytes; raises MalformedMessageError."""
        return decode_message(lambda count: self._read(count, deadline), largest)

    def last_words(self) -> str:
        """Returns the end of what the worker has written to standard error up to now."""
        while self._listen():
            continue
        return self._said.decode(errors="replace")

    def _read(self, count: int, deadline: float) -> bytes:
        parts = []
        while count:
            self._wait(self.answers, select.POLLIN, deadline)
            part = os.read(self.answers, min(count, CHUNK))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        """Waits for one pipe; meanwhile the worker can always write to standard error."""
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self.errors, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            ready = dict(poll.poll(max(0.0, left) * 1000))
            if descriptor in ready:
                return
            if left <= 0:
                raise TimeoutError
            if self.errors in ready and not self._listen():
                poll.unregister(self.errors)

    def _listen(self) -> bool:
        """Keeps what can be read of standard error; is false where there is nothing, or no more will come."""
        try:
            part = os.read(self.errors, CHUNK)
        except BlockingIOError:
            return False
        self._said += part
        del self._said[:-_LAST_WORDS]
        return bool(part)


@dataclass(frozen=True, slots=True)
class Program:
    """A module to execute: HLO text, StableHLO text, MLIR bytecode or a portable artifact.

    `name` is how diagnostics call the text. `partitions`: so many devices run it as the partitions of one replica.
    """

    text: str | bytes
    dialect: Dialect
    name: str = "<module>"
    partitions: int = 1

    @property
    def source(self) -> Source | None:
        """Returns the text as a source for diagnostics, or None for bytecode."""
        return Source(self.name, self.text) if isinstance(self.text, str) else None

    @property
    def data(self) -> bytes:
        """Returns the text as bytes. Only file names hold bytes that are not UTF-8, and XLA reads none of them."""
        return self.text.encode("utf-8", "replace") if isinstance(self.text, str) else self.text


def encode_request(
    program: Program,
    runs: Sequence[Sequence[Array]],
    engine: Engine,
    options: dict[str, Any],
    limit: float,
    with_checks: bool,
) -> Message:
    """Returns the request that executes a program on each list of arrays."""
    header = {
        "dialect": program.dialect,
        "engine": engine,
        "partitions": program.partitions,
        "options": options,
        "checks": with_checks,
        "timeout": limit,
        "runs": [[[element_type_of(array.dtype).name, list(array.shape)] for array in arrays] for arrays in runs],
    }
    return Message(header, [program.data, *(np.asarray(array).tobytes() for arrays in runs for array in arrays)])


def decode_results(answer: Message, count: int) -> list[list[Array]]:
    """Returns the arrays of an answer; raises MalformedMessageError where header and bytes do not fit."""
    runs = answer.header.get("runs")
    if not isinstance(runs, list) or len(runs) != count:
        raise MalformedMessageError(f"results of other than {count} runs")
    blobs = iter(answer.blobs)
    results = [[_array(described, next(blobs, b"")) for described in run] for run in runs if isinstance(run, list)]
    if len(results) != count or next(blobs, None) is not None:
        raise MalformedMessageError("more arrays than are described")
    return results


def _array(described: object, data: bytes) -> Array:
    match described:
        case [str(name), [*sizes]] if name in ELEMENT_TYPES and are_dimensions(sizes):
            dtype = dtype_of(ELEMENT_TYPES[name])
            if prod(sizes) * dtype.itemsize == len(data):
                return np.frombuffer(data, dtype).reshape(sizes).copy()
    raise MalformedMessageError("an array whose bytes are not those of its shape")


def are_dimensions(sizes: list[Any]) -> TypeGuard[list[int]]:
    """Is true for sizes that an array of numpy can have."""
    return len(sizes) <= _LARGEST_RANK and all(type(size) is int and 0 <= size <= _LARGEST_DIMENSION for size in sizes)


def decode_arguments(description: list[Any], blobs: Iterator[bytes], parameters: Sequence[ArrayShape]) -> list[Array]:
    """Returns the arrays of one run; raises ValueError where they do not have the shapes of main's parameters."""
    arrays = [decode_array(name, dimensions, next(blobs)) for name, dimensions in description]
    found = [ArrayShape(ELEMENT_TYPES[name], tuple(dimensions)) for name, dimensions in description]
    # XLA would check no more than the number of bytes.
    if found != list(parameters):
        wanted = ", ".join(map(str, parameters))
        raise ValueError(f"the inputs are ({', '.join(map(str, found))}), but main takes ({wanted})")
    return arrays


def decode_array(name: str, dimensions: Sequence[int], data: bytes) -> Array:
    """Returns an array of its own from its element type's name, dimensions and bytes."""
    return np.frombuffer(data, dtype_of(ELEMENT_TYPES[name])).reshape(dimensions).copy()
