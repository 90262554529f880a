"""Compressed files: content, damage, and the limits of ratio, size and window, reached before memory is spent."""

from __future__ import annotations

import gzip
import lzma
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dialect_utils.io.decompression import ANY_RATIO_BYTES, LARGEST_RATIO, decompressed, start_of_content
from dialect_utils.io.files import kind_of_module, read_module
from dialect_utils.text import DiagnosticError

zstandard = pytest.importorskip("zstandard")

HLO = "HloModule m\n\nENTRY e {\n  p = f32[3]{0} parameter(0)\n  ROOT n = f32[3]{0} negate(p)\n}\n"
METHODS: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, partial(lzma.compress, preset=0), zstandard.compress)
by_method = pytest.mark.parametrize("compress", METHODS, ids=["gzip", "xz", "zstd"])

# The most bytes beyond the content: the growth of a buffer, one step, one window.
MOST_MORE = 20 << 20
_PEAK = """
import resource, sys
from dialect_utils.io.decompression import decompressed
from dialect_utils.text import DiagnosticError
decompressed(open(sys.argv[2], "rb").read(), "x")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(len(decompressed(open(sys.argv[1], "rb").read(), "x")))
except DiagnosticError as error:
    print(error.diagnostics[0].message)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def peak(data: bytes, small: bytes, folder: Path) -> tuple[str, int]:
    """Returns the message or the size of the content, and the bytes by which the process grew."""
    for name, content in (("large", data), ("small", small)):
        (folder / name).write_bytes(content)
    command = [sys.executable, "-c", _PEAK, str(folder / "large"), str(folder / "small")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return printed[0], int(printed[1])


@by_method
def test_compressed_files_are_read(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "module.txt"
    path.write_bytes(compress(HLO.encode()))
    assert read_module(str(path)).text() == HLO


@by_method
def test_concatenated_streams_are_one_content(compress: Callable[[bytes], bytes]) -> None:
    parts = [b"a" * 5000, b"", bytes(range(256)) * 9, b"b"]
    assert decompressed(b"".join(map(compress, parts)), "x") == b"".join(parts)


@by_method
def test_damaged_data_are_an_error_at_every_cut(compress: Callable[[bytes], bytes]) -> None:
    data = compress(HLO.encode())
    for end in range(6, len(data)):
        with pytest.raises(DiagnosticError, match=r"x: damaged (gzip|xz|zstd) data"):
            decompressed(data[:end], "x")
    for tail in (b"garbage", data[:-1]):
        with pytest.raises(DiagnosticError, match=r"x: damaged (gzip|xz|zstd) data"):
            decompressed(data + tail, "x")


@pytest.mark.parametrize("compress", METHODS[:2], ids=["gzip", "xz"])
def test_zeros_after_a_stream_are_padding(compress: Callable[[bytes], bytes]) -> None:
    assert decompressed(compress(b"ab") + bytes(512) + compress(b"c") + bytes(4), "x") == b"abc"


@by_method
def test_the_ratio_is_limited_above_a_size_only(compress: Callable[[bytes], bytes]) -> None:
    allowed = compress(b"a" * ANY_RATIO_BYTES)
    assert len(decompressed(allowed, "x")) == ANY_RATIO_BYTES > LARGEST_RATIO * len(allowed)
    bomb = compress(b"a" * (ANY_RATIO_BYTES + 1))
    message = f"x: its {len(bomb)} compressed bytes hold more than {ANY_RATIO_BYTES} bytes, the limit"
    with pytest.raises(DiagnosticError, match=message):
        decompressed(bomb, "x")


def test_contents_below_the_ratio_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialect_utils.io.decompression.ANY_RATIO_BYTES", 1000)
    data = gzip.compress(b"a" * 2000)
    assert LARGEST_RATIO * len(data) > 2000
    assert len(decompressed(data, "x")) == 2000


def test_the_size_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialect_utils.io.decompression.LARGEST_TEXT", 100)
    with pytest.raises(DiagnosticError, match="hold more than 100 bytes"):
        decompressed(gzip.compress(b"a" * 101), "x")


@by_method
@pytest.mark.parametrize("streams", [1, 30])
def test_bombs_end_before_they_take_memory(compress: Callable[[bytes], bytes], streams: int, tmp_path: Path) -> None:
    text = HLO.encode() + b"// and so on\n" * (1 << 20)
    bomb = compress(text * (300 // 14 // streams + 1)) * streams
    message, growth = peak(bomb, compress(HLO.encode()), tmp_path)
    assert "compressed bytes hold more than" in message
    most = max(ANY_RATIO_BYTES, LARGEST_RATIO * len(bomb))
    assert growth < most + len(bomb) + MOST_MORE


@by_method
def test_a_content_takes_its_own_memory_once(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    content = random.Random(0).randbytes(1 << 20) * 64
    data = compress(content[: 1 << 20]) * 64
    size, growth = peak(data, compress(HLO.encode()), tmp_path)
    assert int(size) == len(content) > 3 * MOST_MORE
    assert growth < len(content) * 9 // 8 + len(data) + MOST_MORE


def test_a_large_dictionary_of_xz_is_rejected_before_it_is_allocated() -> None:
    data = bytearray(lzma.compress(HLO.encode()))
    # The block header: its size, flags, the filter's number, the size of its properties, the dictionary's size.
    assert data[14:16] == b"\x21\x01"
    data[16] = 40  # 4 GB
    end = 12 + (data[12] + 1) * 4
    data[end - 4 : end] = struct.pack("<I", zlib.crc32(data[12 : end - 4]))
    with pytest.raises(DiagnosticError, match="x: damaged xz data: memory usage limit exceeded"):
        decompressed(bytes(data), "x")


def test_a_large_window_of_zstd_is_rejected_before_it_is_allocated() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30, write_content_size=0)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = compressor.compress(HLO.encode()) + compressor.flush()
    with pytest.raises(DiagnosticError, match=r"x: damaged zstd data: .*memory"):
        decompressed(data, "x")


@by_method
def test_the_format_of_a_file_is_found_in_its_first_bytes(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = compress(HLO.encode() + b"// and so on\n" * (2 << 20))
    path = tmp_path / "m.txt"
    path.write_bytes(data)
    # The whole file is a bomb, so that reading it would be an error.
    assert kind_of_module(str(path)) == "hlo text"
    with pytest.raises(DiagnosticError, match="the limit"):
        read_module(str(path))
    assert start_of_content(data, 9, "x") == b"HloModule"
    assert HLO.encode().startswith(start_of_content(compress(HLO.encode())[:-9], 1 << 16, "x"))
