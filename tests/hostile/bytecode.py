"""Hostile MLIR bytecode, written by a small encoder: any attribute, type, location, count and length.

The format is that of MLIR's page "MLIR Bytecode Format", version 6. An entry of the table of attributes and types is
bytes after a code, or text that MLIR's parser reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tests.hostile.case import Data

_MAGIC = b"ML\xefR"
_STRINGS = ("builtin", "func", "stablehlo", "module", "return", "negate", "main", "public", "name")
_MAIN, _PUBLIC, _NAME = 6, 7, 8
# Codes of the builtin dialect (mlir/lib/IR/BuiltinDialectBytecode.cpp).
_ARRAY, _DICTIONARY, _STRING, _TYPE, _CALL_SITE, _FILE, _FUSED, _FUSED_WITH, _NAMED, _UNKNOWN = (
    *(0, 1, 2, 6, 10, 11, 12, 13, 14, 15),
)
_RESOURCE, _DENSE_ARRAY, _DENSE, _DENSE_STRING, _SPARSE, _DISTINCT = 16, 17, 18, 19, 20, 21
_INTEGER, _FUNCTION, _F32, _COMPLEX, _MEMREF, _TENSOR, _ENCODED, _TUPLE, _VECTOR = 0, 2, 5, 9, 10, 13, 14, 15, 19
# The attributes and types that each module has, before its own: the location, the type of main, and its names.
_OWN_ATTRIBUTES, _OWN_TYPES = 4, 3
_LARGEST = (1 << 63) - 1
_DEPTHS = (18, 34, 60, 3000, 100_000)

Entry = bytes | str


def varint(value: int) -> bytes:
    """Returns a number as bytes, the first of which tells how many follow."""
    for extra in range(8):
        if value < 1 << (7 * (extra + 1)):
            return ((value << (extra + 1)) | (1 << extra)).to_bytes(extra + 1, "little")
    return b"\0" + (value & (1 << 64) - 1).to_bytes(8, "little")


def _signed(value: int) -> bytes:
    return varint((value << 1) ^ (-1 if value < 0 else 0))


def _numbers(*values: int) -> bytes:
    return b"".join(map(varint, values))


def _list(values: Sequence[int]) -> bytes:
    return _numbers(len(values), *values)


def _section(number: int, data: bytes, length: int | None = None) -> bytes:
    return bytes([number]) + varint(len(data) if length is None else length) + data


@dataclass(frozen=True, slots=True)
class Module:
    """A module whose location is one of its attributes; the other fields replace parts of the file.

    `counts` are sizes that the file claims, by name; `sections` follow the others.
    """

    attributes: Sequence[Entry] = ()
    types: Sequence[Entry] = ()
    location: int | None = None
    version: int = 6
    counts: tuple[tuple[str, int], ...] = ()
    strings: Sequence[bytes] = ()
    sections: bytes = b""

    def encode(self) -> bytes:
        """Returns the file."""
        shape = varint(_TENSOR) + _numbers(1) + _signed(4) + varint(1)
        types: list[Entry] = [shape, varint(_F32), varint(_FUNCTION) + _list([0]) + _list([0])]
        own: list[Entry] = [varint(_UNKNOWN), _numbers(_TYPE, 2), _numbers(_STRING, _MAIN), _numbers(_STRING, _PUBLIC)]
        offsets, entries = self._entries([*own, *self.attributes], [*types, *self.types])
        location = (_OWN_ATTRIBUTES if self.attributes else 0) if self.location is None else self.location
        return b"".join(
            (
                _MAGIC + varint(self.version) + b"MLIR\0",
                _section(1, self._dialects(), self._count("dialects length", None)),
                _section(3, offsets, self._count("offsets length", None)),
                _section(2, entries, self._count("entries length", None)),
                _section(4, self._ir(location), self._count("ir length", None)),
                _section(6, varint(0)) + _section(5, b""),
                _section(0, self._text(), self._count("strings length", None)),
                _section(8, _properties()),
                self.sections,
            )
        )

    def _count(self, name: str, right: int | None) -> int | None:
        return dict(self.counts).get(name, right)

    def _number(self, name: str, right: int) -> int:
        found = self._count(name, right)
        return right if found is None else found

    def _dialects(self) -> bytes:
        names = _numbers(self._number("dialects", 3), 0 << 1, 1 << 1, 2 << 1)
        operations = [(0, [3]), (1, [1, 4]), (2, [5])]
        found = names + varint(self._number("operations", 4))
        for dialect, each in operations:
            found += _numbers(dialect, len(each), *(name << 1 | 1 for name in each))
        return found

    def _entries(self, attributes: Sequence[Entry], types: Sequence[Entry]) -> tuple[bytes, bytes]:
        counts = self._number("attributes", len(attributes)), self._number("types", len(types))
        offsets, data = _numbers(*counts), b""
        for group in (attributes, types):
            written = [each.encode() + b"\0" if isinstance(each, str) else each for each in group]
            offsets += _numbers(0, self._number("group", len(group)))
            for entry, part in zip(group, written, strict=True):
                offsets += varint(self._number("size", len(part)) << 1 | isinstance(entry, bytes))
                data += part
        return offsets, data

    def _ir(self, location: int) -> bytes:
        blocks, values = self._number("blocks", 1), self._number("values", 2)
        arguments, operands = self._number("arguments", 1), self._number("operands", 1)
        body = _numbers(blocks, values, self._number("body", 2) << 1 | 1, arguments, 0 << 1 | 1, 0) + b"\0"
        body += varint(3) + bytes([6]) + _numbers(0, 1, 0, operands, 0)
        body += varint(2) + bytes([4]) + _numbers(0, 1, self._number("operand", 1))
        function = _numbers(1, 0, 1 << 1, 1) + bytes([0x50]) + _numbers(0, 1, 1 << 1 | 1) + _section(4, body)
        regions = self._number("regions", 1) << 1 | 1
        return _numbers(1 << 1, 0) + bytes([0x50]) + _numbers(location, 0, regions) + _section(4, function)

    def _text(self) -> bytes:
        every = [each.encode() for each in _STRINGS] + [*self.strings]
        sizes = [len(each) + 1 for each in reversed(every)]
        return _numbers(self._number("strings", len(every)), *sizes) + b"".join(each + b"\0" for each in every)


def _properties() -> bytes:
    of_module, of_function = _numbers(0, 0), _numbers(0, 1, 0, 0, 2, 3 << 1 | 1)
    parts = [varint(len(each)) + each for each in (of_module, of_function)]
    return varint(2) + b"".join(parts)


# Builders of entries, by the number of the next ones.
_NEXT: dict[str, Callable[[int], bytes]] = {
    "call sites": lambda i: _numbers(_CALL_SITE, i, i),
    "fused locations": lambda i: varint(_FUSED) + _list([i, i]),
    "fused locations with data": lambda i: varint(_FUSED_WITH) + _list([i, i]) + varint(2),
    "named locations": lambda i: _numbers(_NAMED, 2, i),
    "arrays": lambda i: varint(_ARRAY) + _list([i, i]),
    "single arrays": lambda i: varint(_ARRAY) + _list([i]),
    "dictionaries": lambda i: _numbers(_DICTIONARY, 1, 2, i),
    "distinct": lambda i: _numbers(_DISTINCT, i),
}
_NEXT_TYPES: dict[str, Callable[[int], bytes]] = {
    "tuples": lambda i: varint(_TUPLE) + _list([i, i]),
    "single tuples": lambda i: varint(_TUPLE) + _list([i]),
    "functions": lambda i: varint(_FUNCTION) + _list([i]) + _list([i]),
    "complex numbers": lambda i: _numbers(_COMPLEX, i),
    "tensors": lambda i: varint(_TENSOR) + _numbers(1) + _signed(4) + varint(i),
    "vectors": lambda i: varint(_VECTOR) + _numbers(1) + _signed(4) + varint(i),
}
_IS_LOCATION = ("call sites", "fused locations", "fused locations with data", "named locations")
_TEXTS = {
    "arrays": "[" * 20_000,
    "tuples": "tuple<" * 20_000,
    "a splat": "dense<-1> : tensor<1000000000x1000000000xi64>",
    "digits": "9" * 100_000,
    "a resource": "dense_resource<x> : tensor<1000000x1000000xf32>",
    "hexadecimal": 'dense<"0x' + "00" * 100_000 + '"> : tensor<1000000x1000000xf32>',
    "no kind": "#stablehlo.nothing<" * 1000,
    "dictionaries": "{a = " * 20_000,
    "affine maps": "affine_map<(d0) -> (" + "(" * 20_000 + "d0",
    "a location": "loc(" + "callsite(" * 10_000,
}


def files() -> Iterator[tuple[str, Data]]:
    """Yields names and files; the first is valid."""
    yield "valid", Module().encode()
    yield from _nested()
    yield from _claims()
    yield from _payloads()
    yield from _broken()


def deep(name: str, depth: int) -> bytes:
    """Returns a file with a chain of attributes, each of which refers to the next one."""
    # The last one refers to the location or string that each module has.
    make, first = _NEXT[name], _OWN_ATTRIBUTES
    last = 0 if name in _IS_LOCATION else 2
    chain = [make(first + i + 1 if i + 1 < depth else last) for i in range(depth)]
    if name not in _IS_LOCATION:
        chain = [_located(first + 1), *(make(first + i + 2) for i in range(depth))]
        chain[-1] = make(last)
    return Module(chain).encode()


def _deep_types(name: str, depth: int) -> bytes:
    make = _NEXT_TYPES[name]
    chain = [make(_OWN_TYPES + i + 1 if i + 1 < depth else 1) for i in range(depth)]
    return Module(_with_type(_OWN_TYPES), chain).encode()


def _nested() -> Iterator[tuple[str, Data]]:
    for name, make in _NEXT.items():
        for depth in _DEPTHS:
            yield f"{name} {depth} deep", partial(deep, name, depth)
        for to in (_OWN_ATTRIBUTES, _OWN_ATTRIBUTES + 1):
            yield (
                f"{name} of {'itself' if to == _OWN_ATTRIBUTES else 'each other'}",
                Module([make(to), make(4)]).encode(),
            )
        yield f"{name} of nothing", Module([make(1 << 40)]).encode()
    for name, make in _NEXT_TYPES.items():
        for depth in _DEPTHS:
            yield f"{name} {depth} deep", partial(_deep_types, name, depth)
        yield f"{name} of itself", Module(_with_type(_OWN_TYPES), [make(_OWN_TYPES)]).encode()
        yield f"{name} of nothing", Module(_with_type(_OWN_TYPES), [make(1 << 40)]).encode()


def _located(data: int) -> bytes:
    """Returns a location with an attribute as data."""
    return varint(_FUSED_WITH) + _list([0]) + varint(data)


def _with_type(number: int) -> list[Entry]:
    """Returns a location with a type as data."""
    return [_located(_OWN_ATTRIBUTES + 1), _numbers(_TYPE, number)]


def _claims() -> Iterator[tuple[str, bytes]]:
    names = (
        "dialects operations attributes types group size blocks values body arguments operands operand regions strings"
    )
    lengths = ("dialects length", "offsets length", "entries length", "ir length", "strings length")
    for name in (*names.split(), *lengths):
        for count in (0, 1 << 20, 1 << 31, 1 << 40, (1 << 61) - 1, _LARGEST):
            yield f"{count} {name}", Module(counts=((name, count),)).encode()
    for version in (0, 1, 2, 3, 4, 5, 7, 99, 1 << 40):
        yield f"version {version}", Module(version=version).encode()


def _payloads() -> Iterator[tuple[str, bytes]]:
    wide = list(range(100_000))
    payloads: dict[str, Entry] = {
        "a wide fused location": varint(_FUSED) + _list([0] * 100_000),
        "a fused location of nothing": varint(_FUSED) + _list(wide),
        "a dense array that is too long": _numbers(_DENSE_ARRAY, 1, 1 << 60, 4) + b"\0" * 4,
        "a dense array of another type": _numbers(_DENSE_ARRAY, 0, 4, 4) + b"\0" * 4,
        "a dense value that is too short": _numbers(_DENSE, 0, 4) + b"\0" * 4,
        "a dense value without elements": _numbers(_DENSE, 1, 0),
        "a dense value of a function": _numbers(_DENSE, 2, 16) + b"\0" * 16,
        "dense strings": _numbers(_DENSE_STRING, 0, 1 << 60) + b"\1",
        "a sparse value": _numbers(_SPARSE, 0, 1, 1),
        "a resource without a name": _numbers(_RESOURCE, 0, 0),
        "an integer of 2^24 bits": varint(8) + _numbers(3) + varint(1 << 60),
        "a location with a large line": _numbers(_FILE, 2, (1 << 64) - 1, (1 << 64) - 1),
        "an unknown code": varint(1 << 30),
        "a string of nothing": _numbers(_STRING, 1 << 30),
        "no bytes": b"",
    }
    for name, payload in payloads.items():
        root = _located(_OWN_ATTRIBUTES + 1)
        yield name, Module([root, payload], [_numbers(_INTEGER, ((1 << 24) - 1) << 2)]).encode()
    for name, text in _TEXTS.items():
        root = _located(_OWN_ATTRIBUTES + 1)
        yield f"text: {name}", Module([root, text]).encode()
        yield f"text of a type: {name}", Module(_with_type(_OWN_TYPES), [text]).encode()
    sizes = [(1 << 62,), (1 << 31, 1 << 31, 1 << 31), (-1,) * 5000, (-(1 << 62),), (1,) * 100_000, (0, 1 << 62)]
    for each in sizes:
        shape = varint(_TENSOR) + varint(len(each)) + b"".join(map(_signed, each)) + varint(1)
        yield f"dimensions {str(each)[:40]}", Module(_with_type(_OWN_TYPES), [shape]).encode()
        splat = _numbers(_DENSE, _OWN_TYPES, 4) + b"\0" * 4
        root = _located(_OWN_ATTRIBUTES + 1)
        yield f"a splat of dimensions {str(each)[:40]}", Module([root, splat], [shape]).encode()
    for name, content in {
        "utf-8": b"\xff\xfe\x80",
        "nul": b"a\0b",
        "bidi": "\u202e\x1b]0;x\x07".encode(),
        "long": b"x" * 10**6,
    }.items():
        module = Module([_numbers(_NAMED, _OWN_ATTRIBUTES + 1, 0), _numbers(_STRING, len(_STRINGS))], strings=[content])
        yield f"a name: {name}", module.encode()


def _broken() -> Iterator[tuple[str, bytes]]:
    whole = Module().encode()
    for length in (4, 5, 9, 10, 12, 30, len(whole) // 2, len(whole) - 1):
        yield f"cut at {length}", whole[:length]
    yield "twice", whole + whole
    yield "sections twice", Module(sections=_section(4, b"") + _section(4, b"")).encode()
    yield "an unknown section", Module(sections=_section(77, b"x" * 100)).encode()
    yield "a section of 2^60 bytes", Module(sections=_section(5, b"", 1 << 60)).encode()
    yield (
        "an aligned section",
        Module(sections=bytes([0x80 | 5]) + varint(4) + varint(1 << 40) + b"\xcb" * 100).encode(),
    )
    yield "a long producer", whole[:5] + b"x" * 1_000_000 + whole[5:]
    yield "no end of the producer", whole[:5] + b"x" * 1000
    for number in range(24):
        data = bytearray(whole)
        position = 9 + (number * 7919) % (len(whole) - 9)
        data[position] ^= 1 << number % 8
        data[(position * 31) % (len(whole) - 9) + 9] = (number * 37) % 256
        yield f"damage {number}", bytes(data)
