"""Bombs and lies in containers: compressed files, NPZ archives, and protocol buffers."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from tests.hostile.case import Data
from tests.paths import ROOT

_NEGATE = (ROOT / "examples/negate.hlo").read_bytes()
_MEGABYTE = 1 << 20
_HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }"
_ROWS = bytes(60)


def _compressors() -> dict[str, Callable[[bytes], bytes]]:
    found: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
    with suppress(ImportError):  # an optional package
        found["zstd"] = importlib.import_module("zstandard").ZstdCompressor().compress
    return found


def _repeated(compress: Callable[[bytes], bytes], unit: bytes, megabytes: int, begin: bytes = b"") -> bytes:
    """Returns compressed repetitions after `begin`; members of all these formats may follow one another."""
    part = compress(unit * (4 * _MEGABYTE // len(unit)))
    return (compress(begin) if begin else b"") + part * (megabytes // 4)


_UNITS = {
    "zeros": b"\0",
    "blanks": b" ",
    "comments": b"// x\n",
    "HLO": b"HloModule m\n",
    "instructions": b"  a = f32[4] add(a, a)\n",
    "braces": b"{",
    "StableHLO": b"%0 = stablehlo.add %0, %0 : tensor<4xf32>\n",
    "bytecode": b"ML\xefR\x0dMLIR\0\x01",
    "protos": b"\x12\x0a",
    "json": b'{"a":[',
}


def compressed() -> Iterator[tuple[str, Data]]:
    """Yields compressed files."""
    for name, compress in _compressors().items():
        for what, unit in _UNITS.items():
            begin = b"" if what in ("bytecode", "zeros", "protos") else _NEGATE
            yield f"{name} of 128 MB of {what}", partial(_repeated, compress, unit, 128, begin)
        yield f"{name} of 4 GB of zeros", partial(_repeated, compress, b"\0", 4096)
        comments = partial(_repeated, compress, b"// x\n", 1024, _NEGATE)
        yield f"{name} of 1 GB of comments after a module", comments
        yield f"{name} 40 times", partial(_nested, compress)
        whole = compress(_NEGATE)
        yield f"{name} cut", whole[:-3]
        yield f"{name} with bytes after it", whole + b"x" * 100
        yield f"{name} with a changed sum", whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:]
        yield f"{name} of nothing", compress(b"")
        yield f"{name} of a magic number alone", whole[:4]
        yield f"{name} of a module", whole
    for name, compress in _compressors().items():
        for other, again in _compressors().items():
            yield f"{name} of {other} of 256 MB", partial(_twice, compress, again)
    yield "an xz dictionary of 4 GB", _xz_with_dictionary(40)
    yield "a gzip header with a long name", b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 10_000_000


def _nested(compress: Callable[[bytes], bytes]) -> bytes:
    found = compress(b"\0" * _MEGABYTE)
    for _ in range(40):
        found = compress(found)
    return found


def _twice(compress: Callable[[bytes], bytes], again: Callable[[bytes], bytes]) -> bytes:
    return compress(_repeated(again, b" ", 256))


def _xz_with_dictionary(size: int) -> bytes:
    """Returns a .lzma file that asks for a dictionary of 4 GB."""
    return bytes([0x5D]) + struct.pack("<I", 0xFFFFFFFF) + b"\xff" * 8 + bytes(5 + size)


def _npy(header: str, data: bytes = _ROWS, version: int = 1) -> bytes:
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode("latin-1") + data


def _zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def _zip_of_zeros(begin: bytes, megabytes: int, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    return _zip({"in0.npy": begin + bytes(megabytes * 1_000_000)}, method)


def npz() -> Iterator[tuple[str, Data]]:
    """Yields archives of arrays; most of them are not valid."""
    good = _npy(_HEADER % "(3, 5)")
    plain = _zip({"in0.npy": good}, zipfile.ZIP_STORED)
    yield "valid", _zip({"in0.npy": good})
    for size in (20, 200, 800):
        yield f"{size} MB of zeros", partial(_zip_of_zeros, _npy(_HEADER % f"({size * 250_000},)", b""), size)
        yield f"{size} MB behind the data", partial(_zip_of_zeros, good, size)
    for shape in (
        "(10**12,)",
        "(-3, 5)",
        "(3, -5)",
        "(18446744073709551616,)",
        "(0, 99999999999999999999)",
        "(1.5,)",
        "()",
        "3",
        "(3, 5)" * 1000,
    ):
        yield f"the shape {shape[:30]}", _zip({"in0.npy": _npy(_HEADER % shape)})
    for kind in ("|O", "<M8[s]", "<U1000000000", "|V2147483647", "<f99", "[('a', '<f4')]", "<i8", ">f4", "|b1", "<c32"):
        yield (
            f"the type {kind}",
            _zip({"in0.npy": _npy((_HEADER % "(3, 5)").replace("'<f4'", kind if kind[0] == "[" else repr(kind)))}),
        )
    for name, header in {
        "deep": "(" * 50_000,
        "long": " " * 5_000_000,
        "code": "__import__('os').abort()",
        "digits": _HEADER % f"({'9' * 5000},)",
        "a set": "{1}",
        "escapes": _HEADER % "(3, 5)\x1b]0;x\x07",
        "keys": "{'descr': '<f4'}",
        "power": _HEADER % "(9**9**9,)",
    }.items():
        yield f"a header: {name}", _zip({"in0.npy": _npy(header, version=2 if len(header) > 60_000 else 1)})
    pickled = b"cos\nabort\n(tR."
    yield "a pickle", _zip({"in0.npy": _npy((_HEADER % "()").replace("'<f4'", "'|O'"), pickled)})
    yield "a pickle alone", pickled
    yield "many members", partial(_zip, {f"x{i}": b"" for i in range(60_000)})
    yield "many arrays", partial(_zip, {f"in{i}.npy": good for i in range(3000)})
    for name in (
        "../in0.npy",
        "/in0.npy",
        "in0.npy\0x",
        "in-1.npy",
        "in0x.npy",
        "in\u0660.npy",
        "in" + "9" * 60_000 + ".npy",
        "\x1b[31m.npy",
    ):
        yield f"a member {name[:20]!r}", _zip({name: good})
    central = plain.rindex(b"PK\x01\x02")
    yield "a size that lies", plain[: central + 24] + struct.pack("<I", 0xFFFFFFF0) + plain[central + 28 :]
    yield "an offset that lies", plain[:-6] + struct.pack("<I", 0x7FFFFFFF) + plain[-2:]
    yield "zip64 without its record", plain[: central + 24] + b"\xff" * 4 + plain[central + 28 :]
    yield "a count that lies", plain[:-14] + struct.pack("<HH", 0xFFFF, 0xFFFF) + plain[-10:]
    yield "an encrypted member", plain[: central + 8] + b"\1" + plain[central + 9 :]
    yield "an unknown method", plain[: central + 10] + b"\x63" + plain[central + 11 :]
    directory = plain[central:-22]
    both = (
        plain[:central]
        + directory * 5000
        + plain[-22:-14]
        + struct.pack("<HHII", 5000, 5000, len(directory) * 5000, central)
        + b"\0\0"
    )
    yield "members that overlap", both
    yield "a long comment", plain[:-2] + b"\xff\xff" + b"x" * 65535
    yield "an archive in an archive", _zip({"in0.npy": _zip({"in0.npy": good})})
    large = _npy(_HEADER % "(50000000,)", b"")
    yield "bz2 members", partial(_zip_of_zeros, large, 200, zipfile.ZIP_BZIP2)
    yield "lzma members", partial(_zip_of_zeros, large, 200, zipfile.ZIP_LZMA)
    yield "deflate without end", plain[:10] + b"\x08" + plain[11:30] + zlib.compress(bytes(1000))[2:9] + plain[central:]


def _field(number: int, data: bytes) -> bytes:
    return _key(number, 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _key(number, 0) + _varint(value)


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


# Fields of xla/service/hlo.proto and xla/xla_data.proto.
_F32, _TUPLE = 11, 13


def _shape(*dimensions: int, kind: int = _F32) -> bytes:
    layout = _field(5, _field(1, b"".join(_varint(i) for i in reversed(range(len(dimensions))))))
    return _number(2, kind) + _field(3, b"".join(map(_varint, dimensions))) + layout


def _instruction(number: int, opcode: bytes, shape: bytes, operands: tuple[int, ...] = (), extra: bytes = b"") -> bytes:
    found = _field(1, b"i%d" % number) + _field(2, opcode) + _field(3, shape) + _number(35, number)
    return _field(2, found + (_field(36, b"".join(map(_varint, operands))) if operands else b"") + extra)


def _computation(number: int, instructions: bytes, root: int, name: bytes = b"e") -> bytes:
    program = _field(1, _shape(4)) + _field(2, _shape(4)) + _field(3, b"p")
    return _field(3, _field(1, name) + instructions + _field(4, program) + _number(5, number) + _number(6, root))


def _module(computations: bytes, entry: int = 1) -> bytes:
    program = _field(1, _shape(4)) + _field(2, _shape(4)) + _field(3, b"p")
    return _field(1, b"m") + _field(2, b"e") + _number(6, entry) + computations + _field(4, program) + _number(5, 1)


def protos() -> Iterator[tuple[str, Data]]:
    """Yields HLO modules as protocol buffers; the first is valid."""
    leaf = _instruction(1, b"parameter", _shape(4), extra=_number(9, 0))
    good = _computation(1, leaf + _instruction(2, b"negate", _shape(4), (1,)), 2)
    yield "valid", _module(good)
    yield "an operand of itself", _module(_computation(1, leaf + _instruction(2, b"negate", _shape(4), (2,)), 2))
    yield "an operand that is missing", _module(_computation(1, leaf + _instruction(2, b"negate", _shape(4), (9,)), 2))
    yield "numbers twice", _module(_computation(1, leaf * 1000 + _instruction(2, b"negate", _shape(4), (1,)), 2))
    yield "a root that is missing", _module(_computation(1, leaf, 77))
    yield "an entry that is missing", _module(good, 99)
    call = _instruction(2, b"call", _shape(4), (1,), _field(38, _varint(1)))
    yield "a call of itself", _module(_computation(1, leaf + call, 2))
    calls = b"".join(
        _computation(
            i + 1, leaf + _instruction(2, b"call", _shape(4), (1,), _field(38, _varint(i % 50 + 2))), 2, b"c%d" % i
        )
        for i in range(50)
    )
    yield "calls in a ring", _module(calls)
    doubling = b"".join(
        _computation(
            i + 1,
            leaf
            + _instruction(2, b"call", _shape(4), (1,), _field(38, _varint(i + 2)))
            + _instruction(3, b"call", _shape(4), (2,), _field(38, _varint(i + 2))),
            3,
            b"d%d" % i,
        )
        for i in range(40)
    )
    yield "calls that double", _module(doubling + _computation(41, leaf, 1, b"last"))
    for size in (-1, 1 << 40, 1 << 62, (1 << 63) - 1):
        wide = _instruction(2, b"broadcast", _shape(size, size), (1,))
        yield f"dimensions of {size}", _module(_computation(1, leaf + wide, 2))
        yield (
            f"a parameter number {size}",
            _module(_computation(1, _instruction(1, b"parameter", _shape(4), extra=_number(9, size)), 1)),
        )
        yield (
            f"a number of an instruction {size}",
            _module(_computation(1, _instruction(size, b"parameter", _shape(4)), size)),
        )
    yield "rank 100000", _module(_computation(1, _instruction(1, b"parameter", _shape(*[1] * 100_000)), 1))
    deep = _shape(4)
    for _ in range(90):
        deep = _number(2, _TUPLE) + _field(4, deep)
    yield "a tuple 90 deep", _module(_computation(1, _instruction(1, b"parameter", deep), 1))
    for _ in range(4000):
        deep = _number(2, _TUPLE) + _field(4, deep)
    yield "a tuple 4000 deep", _module(_computation(1, _instruction(1, b"parameter", deep), 1))
    double = _shape(4)
    for _ in range(14):
        double = _number(2, _TUPLE) + _field(4, double) * 2
    yield "a tuple of 2^14", _module(_computation(1, _instruction(1, b"parameter", double), 1))
    for kind in (0, 12, 13, 17, 34, 99, 1 << 31, -1):
        yield (
            f"an element type {kind}",
            _module(_computation(1, _instruction(1, b"parameter", _shape(4, kind=kind)), 1)),
        )
    for name, literal in {
        "too short": _field(1, _shape(1000)) + _field(9, b"\0" * 4),
        "of 2^62": _field(1, _shape(1 << 62)) + _field(9, b"\0" * 4),
        "without a shape": _field(9, b"\0" * 4000),
        "of tuples": _field(1, double) + _field(10, b"") * 20_000,
    }.items():
        constant = _instruction(1, b"constant", _shape(4), extra=_field(8, literal))
        yield f"a literal {name}", _module(_computation(1, constant, 1))
    for opcode in (
        b"",
        b"x" * 1_000_000,
        b"\xff\xfe",
        b"\x1b[31m",
        b"while",
        b"fusion",
        b"custom-call",
        b"async-start",
    ):
        yield f"an opcode {opcode[:12]!r}", _module(_computation(1, leaf + _instruction(2, opcode, _shape(4), (1,)), 2))
    many = b"".join(_instruction(i + 2, b"negate", _shape(4), (i + 1,)) for i in range(30_000))
    yield "a chain of 30000", _module(_computation(1, leaf + many, 30_001))
    wide_operands = _instruction(2, b"tuple", _number(2, _TUPLE) + _field(4, _shape(4)) * 100_000, (1,) * 100_000)
    yield "100000 operands", _module(_computation(1, leaf + wide_operands, 2))
    yield "a length that lies", _field(1, b"m") + _key(3, 2) + _varint(1 << 60) + b"x" * 100
    yield "groups", (_key(3, 3) * 100_000)
    yield "unknown fields", _module(good) + b"".join(_number(1000 + i, i) for i in range(100_000))
    yield "a field number 0", b"\0\0" + _module(good)
    yield "endless numbers", b"\xff" * 100_000
