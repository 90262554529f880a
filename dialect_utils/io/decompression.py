"""Decompresses gzip, xz and zstd in small steps, and stops before a small file takes much memory.

The limits: a content of 256 MB; 200 bytes of content for each byte of the file, for contents above 16 MB; a window
or dictionary of 128 MB. Dumps of compilers compress to a tenth, and the most repetitive ones to a hundredth.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, Protocol

from dialect_utils.text import LARGEST_TEXT, DiagnosticError

_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_ZSTD = b"\x28\xb5\x2f\xfd"
COMPRESSED = (_GZIP, _XZ, _ZSTD)
_METHODS = {_GZIP: "gzip", _XZ[:2]: "xz", _ZSTD[:2]: "zstd"}

LARGEST_RATIO = 200
# Contents up to this size may have any ratio: a dump with a large constant of zeros is valid.
ANY_RATIO_BYTES = 16 << 20
# `xz -9` has a dictionary of 64 MB, `zstd --ultra -22` a window of 128 MB.
_LARGEST_WINDOW = 128 << 20
_STEP = 1 << 20
# Python's zstandard has no limit for the output of a step. Four bytes expand to 128 KB: a piece gives at most 8 MB.
_PIECE = 256
# Zeros may follow a stream of gzip or xz.
_ZEROS = re.compile(rb"\0*")


class _Decompressor(Protocol):
    """One stream; the interface of `lzma.LZMADecompressor` and of `compression.zstd.ZstdDecompressor`."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _GzipDecompressor:
    """A stream of gzip, in zlib's own format."""

    def __init__(self) -> None:
        import zlib

        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


class _ZstandardDecompressor:
    """A frame of zstd, for Python before 3.14; `max_length` has no effect."""

    needs_input = True

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data)

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return bytes(self._stream.decompress(data))


def decompressed(data: bytes, name: str) -> bytes:
    """Returns the content of gzip, xz or zstd bytes; other bytes stay as they are.

    Needs memory for the content, an eighth of it and a window. Raises DiagnosticError for damaged bytes, and
    for a content or a window beyond the limits of this module.
    """
    if not data.startswith(COMPRESSED):
        return data
    # The value of BytesIO shares the memory of its buffer; joining pieces would take twice the memory.
    content = BytesIO()
    try:
        for step in _steps(data, name):
            check_ratio(content.tell() + len(step), len(data), name)
            content.write(step)
    except (DiagnosticError, MemoryError):
        raise
    except Exception as error:
        # Each library raises its own errors for damaged or truncated data.
        message = f"{name}: damaged {_METHODS[data[:2]]} data: {str(error).lower()}"
        raise DiagnosticError(message, hint="copy the file again; only the whole file can be read") from None
    return content.getvalue()


def start_of_content(data: bytes, size: int, name: str) -> bytes:
    """Returns the first bytes of the content, as far as `data`, the first bytes of a compressed file, hold them.

    Raises DiagnosticError where zstd cannot be read; damaged data end the result.
    """
    found = b""
    try:
        for step in _steps(data, name):
            found += step[:size]
            if len(found) >= size:
                break
    except (DiagnosticError, MemoryError):
        raise
    except Exception:
        # Reading of the whole file reports what is damaged.
        return found
    return found[:size]


def check_ratio(size: int, compressed_size: int, name: str) -> None:
    """Raises DiagnosticError where a content of at least `size` bytes is too large for its compressed size."""
    most = min(LARGEST_TEXT, max(ANY_RATIO_BYTES, LARGEST_RATIO * compressed_size))
    if size > most:
        message = f"{name}: its {compressed_size} compressed bytes hold more than {most} bytes, the limit"
        hint = f"the limit is {LARGEST_RATIO} times the compressed size, at least {ANY_RATIO_BYTES} bytes"
        raise DiagnosticError(message, hint=f"{hint}, at most {LARGEST_TEXT}")


def _steps(data: bytes, name: str) -> Iterator[bytes]:
    """Yields the content of all streams or frames, concatenated, in bounded steps."""
    new_decompressor = _decompressors(data, name)
    position = 0
    while position < len(data):
        stream = new_decompressor()
        while not stream.eof:
            piece = b""
            if stream.needs_input:
                piece = data[position : position + _PIECE]
                if not piece:
                    raise EOFError("they end too soon")
                position += len(piece)
            yield stream.decompress(piece, _STEP)
        position -= len(stream.unused_data)
        zeros = _ZEROS.match(data, position)
        position = zeros.end() if zeros else position


def _decompressors(data: bytes, name: str) -> Callable[[], _Decompressor]:
    """Returns the constructor of a decompressor for the method that the first bytes state."""
    if data.startswith(_GZIP):
        return _GzipDecompressor
    if data.startswith(_XZ):
        import lzma

        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _LARGEST_WINDOW)
    try:
        # Python's own decompressor limits windows to 128 MB.
        new: Callable[[], _Decompressor] = importlib.import_module("compression.zstd").ZstdDecompressor
    except ImportError:
        return _zstandard(name)
    return new


def _zstandard(name: str) -> Callable[[], _Decompressor]:
    try:
        library = importlib.import_module("zstandard")
    except ImportError:
        message = f"{name}: is compressed with zstd, which this Python cannot read"
        raise DiagnosticError(message, hint="pip install 'relayout[zstd]'") from None
    decompressor = library.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    return lambda: _ZstandardDecompressor(decompressor.decompressobj())
