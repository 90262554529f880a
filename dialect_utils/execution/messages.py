"""Messages between a process and its worker: a JSON header and blobs, each after its length.

Frame: the header's length in 8 bytes, the header, then the blobs whose lengths the header lists. Nothing is unpickled,
and every length is checked before memory of that size is allocated, so a worker that a hostile module controls can
neither run code in its parent nor exhaust the parent's memory. Diagnostics are JSON values in the header.
"""

from __future__ import annotations

import json
import os
import re
import select
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast, get_args

import numpy as np

from dialect_utils.engine_names import Engine
from dialect_utils.execution.arrays import LARGEST_RANK, LARGEST_SIZE, Array
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of, element_type_of
from dialect_utils.text import Diagnostic, Location, Source, Span
from dialect_utils.text.diagnostics import Severity

if TYPE_CHECKING:
    from dialect_utils.ir import Dialect

Conversion = Literal["proto-to-text", "text-to-proto", "hlo-to-stablehlo", "stablehlo-to-hlo"]
Reading = Literal["mlir", "kernels"]
Rewriting = Literal["widen", "unround", "order", "repeat", "observe", "round", "join"]

# The worker's first answer to a program that is compiled.
EXECUTES = "executes"
_LENGTH = struct.Struct("<Q")
# The most bytes of one read, so that deadlines are checked between reads.
_CHUNK = 1 << 20
_LENGTHS_KEY = "blob_lengths"
# A header describes arrays and may hold one message of jaxlib, which may quote a module.
_LARGEST_HEADER = 64 << 20
# The last bytes of the worker's standard error are kept: XLA writes its reason there before a crash.
_LAST_WORDS = 64 << 10


# One file in what XLA prints with `xla_dump_to=-`.
PRINTED_FILE = re.compile(
    r"^\*\*\* Begin (?P<name>.+) \*\*\*\n(?P<text>[\s\S]*?)^\*\*\* End (?P=name) \*\*\*$", re.MULTILINE
)


class MalformedMessageError(Exception):
    """Bytes that are not a valid message, or a message above its size limit."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: JSON values by name, and bytes."""

    header: dict[str, Any]
    blobs: Sequence[bytes] = field(default=())


def encode_message(message: Message) -> list[bytes]:
    """Returns the parts of a message's frame in order."""
    header = {**message.header, _LENGTHS_KEY: [len(blob) for blob in message.blobs]}
    encoded = json.dumps(header).encode()
    return [_LENGTH.pack(len(encoded)) + encoded, *message.blobs]


def decode_message(read: Callable[[int], bytes], largest: int | None = None) -> Message:
    """Returns the message that `read(count)` gives piece by piece; all blobs together have at most `largest` bytes.

    Raises MalformedMessageError for anything else.
    """
    (length,) = _LENGTH.unpack(read(_LENGTH.size))
    if length > _LARGEST_HEADER:
        raise MalformedMessageError(f"a header of {length} bytes")
    try:
        header = json.loads(read(length))
    except (ValueError, RecursionError):
        raise MalformedMessageError("a header that is no JSON") from None
    if not isinstance(header, dict):
        raise MalformedMessageError("a header that is no object")
    lengths = header.pop(_LENGTHS_KEY, None)
    if not isinstance(lengths, list) or not all(type(size) is int and size >= 0 for size in lengths):
        raise MalformedMessageError("blobs without lengths")
    if largest is not None and sum(lengths) > largest:
        raise MalformedMessageError(f"{sum(lengths)} bytes, of {largest} at most")
    return Message(header, [read(size) for size in lengths])


def write_message(descriptor: int, message: Message) -> None:
    """Writes a message to a file descriptor; raises OSError where the other end is gone."""
    _write_all(partial(os.write, descriptor), message)


def read_message(descriptor: int) -> Message:
    """Reads a message from a file descriptor; raises EOFError where the other end is gone."""
    return decode_message(lambda count: _read_all(partial(os.read, descriptor), count))


def _write_all(write: Callable[[memoryview], int], message: Message) -> None:
    for part in encode_message(message):
        view = memoryview(part)
        while view:
            view = view[write(view) :]


def _read_all(read: Callable[[int], bytes], count: int) -> bytes:
    parts = []
    while count:
        part = read(min(count, _CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


@dataclass(slots=True)
class Channel:
    """The parent's ends of a worker's three pipes: requests, answers, and its standard error.

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

        def write(view: memoryview) -> int:
            self._wait(self.requests, select.POLLOUT, deadline)
            # A write to a pipe that is not empty may write fewer bytes than asked.
            return os.write(self.requests, view[:_CHUNK])

        _write_all(write, message)

    def receive(self, deadline: float, largest: int) -> Message:
        """Reads a message whose blobs have at most `largest` bytes; raises MalformedMessageError."""

        def read(count: int) -> bytes:
            self._wait(self.answers, select.POLLIN, deadline)
            return os.read(self.answers, count)

        return decode_message(partial(_read_all, read), largest)

    def last_words(self) -> str:
        """Returns the end of the worker's standard error up to now."""
        while self._listen():
            continue
        return self._said.decode(errors="replace")

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
        """Stores the readable bytes of standard error; is false where none are readable, and at its end."""
        try:
            part = os.read(self.errors, _CHUNK)
        except BlockingIOError:
            return False
        self._said += part
        del self._said[:-_LAST_WORDS]
        return bool(part)


@dataclass(frozen=True, slots=True)
class Executable:
    """A program that XLA has compiled: its bytes, and `interface`, the JSON value with which a worker loads them."""

    data: bytes
    interface: object


@dataclass(frozen=True, slots=True)
class Program:
    """A module to execute: HLO text, StableHLO text, MLIR bytecode or a portable artifact.

    `name` is the text's name in diagnostics; `partitions` is the number of devices that run it as one replica.
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
    program: Program | None,
    runs: Sequence[Sequence[Array]],
    engine: Engine,
    options: dict[str, Any],
    limit: float,
    with_checks: bool,
) -> Message:
    """Returns the request that runs a program (None: the program that the worker has loaded) on each list of arrays."""
    header = {
        "dialect": "stablehlo" if program is None else program.dialect,
        "engine": engine,
        "loaded": program is None,
        "partitions": 1 if program is None else program.partitions,
        "options": options,
        "checks": with_checks,
        "timeout": limit,
        "runs": [[[element_type_of(array.dtype).name, list(array.shape)] for array in arrays] for arrays in runs],
    }
    data = b"" if program is None else program.data
    return Message(header, [data, *(np.asarray(array).tobytes() for arrays in runs for array in arrays)])


def decode_arguments(description: list[Any], blobs: Iterator[bytes], parameters: Sequence[ArrayShape]) -> list[Array]:
    """Returns the arrays of one run; raises ValueError where they do not have the shapes of main's parameters."""
    arrays = [decode_array(name, dimensions, next(blobs)) for name, dimensions in description]
    found = [ArrayShape(ELEMENT_TYPES[name], tuple(dimensions)) for name, dimensions in description]
    # XLA checks only the number of bytes.
    if found != list(parameters):
        wanted = ", ".join(map(str, parameters))
        raise ValueError(f"the inputs are ({', '.join(map(str, found))}), but main takes ({wanted})")
    return arrays


def decode_array(name: str, dimensions: Sequence[int], data: bytes) -> Array:
    """Returns a writable array from the name of its element type, its dimensions and its bytes."""
    return np.frombuffer(data, dtype_of(ELEMENT_TYPES[name])).reshape(dimensions).copy()


def decode_results(answer: Message, count: int) -> list[list[Array]]:
    """Returns the arrays of an answer; raises MalformedMessageError where the header does not match the bytes."""
    runs = answer.header.get("runs")
    if not isinstance(runs, list) or len(runs) != count:
        raise MalformedMessageError(f"results of other than {count} runs")
    blobs = iter(answer.blobs)
    results = [[_result(described, next(blobs, b"")) for described in run] for run in runs if isinstance(run, list)]
    if len(results) != count or next(blobs, None) is not None:
        raise MalformedMessageError("more arrays than are described")
    return results


def _result(described: object, data: bytes) -> Array:
    match described:
        case [str(name), [*sizes]] if name in ELEMENT_TYPES and are_dimensions(sizes):
            if prod(sizes) * dtype_of(ELEMENT_TYPES[name]).itemsize == len(data):
                return decode_array(name, sizes, data)
    raise MalformedMessageError("an array whose bytes are not those of its shape")


def are_dimensions(sizes: list[Any]) -> TypeGuard[list[int]]:
    """Is true for sizes that an array of numpy can have."""
    return len(sizes) <= LARGEST_RANK and all(type(size) is int and 0 <= size <= LARGEST_SIZE for size in sizes)


def diagnostics_to_json(diagnostics: Sequence[Diagnostic]) -> list[object]:
    """Returns a list for each diagnostic: message, severity, hint, notes, and the start and end of its location."""
    return [_to_json(each) for each in diagnostics]


def _to_json(diagnostic: Diagnostic) -> list[object]:
    place = diagnostic.location
    span = [] if place is None else [place.span.start, place.span.end]
    return [diagnostic.message, diagnostic.severity, diagnostic.hint, diagnostics_to_json(diagnostic.notes), span]


def diagnostics_from_json(described: object, source: Source) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of `diagnostics_to_json`, located in `source`; raises MalformedMessageError."""
    if not isinstance(described, list):
        raise MalformedMessageError("diagnostics that are no list")
    return tuple(_from_json(each, source) for each in described)


def _from_json(described: object, source: Source) -> Diagnostic:
    match described:
        case [str(message), severity, None | str() as hint, notes, [*span]] if severity in get_args(Severity):
            found = _location(span, source)
            return Diagnostic(message, found, cast("Severity", severity), hint, diagnostics_from_json(notes, source))
    raise MalformedMessageError("a diagnostic without its message, severity, hint, notes and span")


def _location(span: list[object], source: Source) -> Location | None:
    match span:
        case []:
            return None
        case [int(start), int(end)] if 0 <= start <= end <= len(source.text):
            return Location(source, Span(start, end))
    raise MalformedMessageError("a location outside of the text")
