"""Every reader, on inputs that hypothesis makes and shrinks: each is read, or refused with a diagnostic."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from dialect_utils.execution import read_arrays
from dialect_utils.execution.messages import MalformedMessageError, decode_message
from dialect_utils.io.files import Emit, parse_bytes, read_module, serialize
from dialect_utils.layout import parse_layout, parse_shape
from dialect_utils.text import Diagnostic, DiagnosticError, printable, render
from passes.framework.pipeline import Pipeline, read_pipelines, verify
from passes.layouts.annotate_layouts import read_layout_rules
from tests.hostile.table import cases
from tests.paths import ROOT

# `make fuzz` asks for a hundred thousand shapes; what reads modules costs a hundred times as much.
_ASKED = int(os.environ.get("RELAYOUT_FUZZ", "0"))
EXAMPLES = max(15, _ASKED // 50)
# A reader in a process of its own takes a second each time.
COSTLY_EXAMPLES = max(3, _ASKED // 500)

_PIECES = st.sampled_from(
    (
        *b"{ } ( ) [ ] , = % -> /* */ // -1 0 9223372036854775808 1e999 nan <=3 ? loc( dense< ROOT ENTRY".split(),
        *(
            b"\n",
            b'"',
            b"\x00",
            b"\xff",
            b"\xe2\x80\xae",
            b"\x1b[31m",
            b"constant({1,2})",
            b"tensor<3xf32>",
            b"T(8,128)",
        ),
    )
)


def mutations(originals: list[bytes]) -> st.SearchStrategy[bytes]:
    """Returns a strategy of originals with pieces inserted, cut out, or taken from elsewhere."""

    @st.composite
    def mutated(draw: st.DrawFn) -> bytes:
        data = draw(st.sampled_from(originals))
        for _ in range(draw(st.integers(1, 4))):
            start = draw(st.integers(0, len(data)))
            end = min(len(data), start + draw(st.integers(0, 30)))
            piece = draw(_PIECES | st.binary(max_size=6) | st.just(data[start // 2 : start // 2 + 20]))
            data = data[:start] + piece + data[end:]
        return data

    return mutated()


def _examples(suffix: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "examples").glob(f"*{suffix}")) if path.stat().st_size < 9000]


def _read_module(data: bytes) -> None:
    verify(parse_bytes(data, "m"))


def _as_file(read: Callable[[Path], object]) -> Callable[[bytes], None]:
    def read_bytes(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name, "f")
            path.write_bytes(data)
            read(path)

    return read_bytes


def _read_message(data: bytes) -> None:
    rest = memoryview(data)

    def read(count: int) -> bytes:
        nonlocal rest
        if count > len(rest):
            raise MalformedMessageError("cut short")
        part, rest = rest[:count], rest[count:]
        return bytes(part)

    try:
        decode_message(read, largest=1000)
    except MalformedMessageError as error:
        raise DiagnosticError(Diagnostic(str(error))) from error


def _text(read: Callable[[str], object]) -> Callable[[bytes], None]:
    return lambda data: (read(data.decode("utf-8", "surrogateescape")), None)[1]


_SHAPES = [b"f32[3,5]{1,0:T(2,2)}", b"(bf16[2,?]{0,1:T(8,128)(2,1)S(1)}, token[])", b"u4[7]{0:T(256)E(4)}"]
_SPECS = [b"annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}", b"strip-layouts"]
_MESSAGE = b'{"status":"ok","runs":[[["f32",[2]]]],"blob_lengths":[8]}'
_SMALL = {case.name: case.data for case in cases() if isinstance(case.data, bytes) and len(case.data) < 5000}
_ARRAYS = [data for name, data in _SMALL.items() if name.startswith("npz")]
# flax.serialization.to_bytes({"in0": numpy.array([1, 2], "float32"), "a": {"b": 1j}})
_TREE = (
    b"\x82\xa3in0\xc7\x15\x01\x93\x91\x02\xa7float32\xc4\x08\x00\x00\x80?\x00\x00\x00@"
    b"\xa1a\x81\xa1b\xc7\x13\x02\x92\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xcb?\xf0\x00\x00\x00\x00\x00\x00"
)
_TABLE = b'[a]\nsummary = "s"\npasses = "strip-layouts"\n'

READERS: dict[str, tuple[Callable[[bytes], None], list[bytes]]] = {
    "hlo": (_read_module, _examples(".hlo")),
    "stablehlo": (_read_module, _examples(".mlir")),
    "nonsense": (_read_module, [data for name, data in _SMALL.items() if name.startswith("nonsense")]),
    "shapes": (_text(parse_shape), _SHAPES),
    "layouts": (_text(parse_layout), [b"{1,0:T(2,2)}", b"{0:T(256)E(4)S(1)}"]),
    "pipelines": (_text(Pipeline.parse), _SPECS),
    "named pipelines": (_as_file(read_pipelines), [_TABLE]),
    "layout rules": (_as_file(read_layout_rules), [b"f32[*,128] {1,0:T(8,128)}\n"]),
    "arrays": (_as_file(lambda path: [array.__array__() for array in read_arrays(str(path), "in")]), [*_ARRAYS, _TREE]),
    "messages": (_read_message, [len(_MESSAGE).to_bytes(8, "little") + _MESSAGE + bytes(8)]),
    "compressed": (
        _read_module,
        [
            compress(data)
            for data in _examples("negate.hlo")
            for compress in (gzip.compress, bz2.compress, lzma.compress)
        ],
    ),
}


def _serialized(name: str, emit: Emit) -> list[bytes]:
    return [serialize(read_module(str(ROOT / "examples" / name)), emit)]


# The inputs of these readers are made only when they are tried.
COSTLY_READERS: dict[str, Callable[[], list[bytes]]] = {
    "bytecode": lambda: _serialized("attention.mlir", "bytecode"),
    "protos": lambda: _serialized("negate.hlo", "pb"),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_reads_or_refuses(name: str) -> None:
    read, originals = READERS[name]
    assert_reads_or_refuses(read, originals, EXAMPLES)


@pytest.mark.parametrize("name", COSTLY_READERS)
def test_every_reader_of_another_process_reads_or_refuses(name: str) -> None:
    originals = COSTLY_READERS[name]()
    for original in originals:
        _read_module(original)
    assert_reads_or_refuses(_read_module, originals, COSTLY_EXAMPLES)


def assert_reads_or_refuses(read: Callable[[bytes], None], originals: list[bytes], examples: int) -> None:
    assert originals

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(mutations(originals))
    def check(data: bytes) -> None:
        try:
            read(data)
        except DiagnosticError as error:
            for diagnostic in error.diagnostics:
                text = render(diagnostic)
                assert printable(text) == text

    check()
