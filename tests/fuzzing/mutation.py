"""Changes of inputs that know their structure: tokens of a text, and sections and numbers of MLIR bytecode."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from random import Random

_TOKEN = re.compile(rb'"[^"\n]*"|[\w.%@-]+|\s+|.', re.DOTALL)
_PIECES = (
    *b"{ } ( ) [ ] , = % -> /* */ // -1 0 1 2 9223372036854775807 9223372036854775808 1e999 nan ? * < > : # \\".split(),
    *b"ROOT ENTRY HloModule parameter constant(0) s32[] f32[8,8] {1,0:T(8,128)} true loc( dense< tensor<3xf32>".split(),
    *(b'"', b"\n", b"\r\n", b"\t", b"\x00", b"\xff", b"\\FF", b"9" * 5000),
    # Characters that only look like digits, or end lines in Python alone, or reverse text.
    *(character.encode() for character in "\u00b2\u0663\u2028\u202e"),
)
# One change in so many repeats a part until the input is long: work must not grow faster than the input.
_STRETCHES = 60
_LONGEST = 1 << 12


def split_tokens(data: bytes) -> list[bytes]:
    """Returns the words, strings, blanks and marks of a text in order."""
    return _TOKEN.findall(data)


def mutate_tokens(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    """Returns a text with a few tokens cut out, repeated, exchanged, or taken from another text."""
    tokens = split_tokens(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        start = draw.randrange(len(tokens) + 1)
        end = min(len(tokens), start + draw.choice((0, 1, 1, 1, 2, 5, 20)))
        tokens[start:end] = _replacement(tokens, start, end, others, draw)
    return b"".join(tokens)


def _replacement(tokens: list[bytes], start: int, end: int, others: Sequence[bytes], draw: Random) -> list[bytes]:
    match draw.randrange(6):
        case 0:
            return []
        case 1:
            return tokens[start:end] * 2
        case 2 if tokens:
            other = draw.randrange(len(tokens))
            return tokens[other : other + end - start + 1]
        case 3 if others:
            found = split_tokens(draw.choice(others))
            other = draw.randrange(len(found) + 1)
            return found[other : other + draw.choice((1, 1, 3, 12, 40))]
        case 4 if draw.randrange(_STRETCHES // 6) == 0:
            part = b"".join(tokens[start : end + 1]) or b"("
            return [part * max(1, _LONGEST // len(part))]
    return [draw.choice(_PIECES)]


def mutate_bytes(data: bytes, draw: Random) -> bytes:
    """Returns bytes with a few of them changed, cut out, repeated or set to an extreme."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        start = draw.randrange(len(found) + 1)
        end = start + draw.choice((1, 1, 2, 8))
        change: Callable[[bytes], bytes] = draw.choice(_BYTE_CHANGES)
        found[start:end] = change(bytes(found[start:end]))
    return bytes(found)


_BYTE_CHANGES: tuple[Callable[[bytes], bytes], ...] = (
    lambda part: b"",
    lambda part: part * 2,
    lambda part: bytes((byte + 1) % 256 for byte in part),
    lambda part: bytes((byte - 1) % 256 for byte in part),
    lambda part: bytes(byte ^ 0x41 for byte in part),
    lambda part: b"\xff" * len(part),
    lambda part: bytes(len(part)),
)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Returns the number of MLIR's bytecode at a position, and the position after it.

    The trailing zeros of the first byte count the bytes that follow (mlir/lib/Bytecode/Reader/BytecodeReader.cpp).
    """
    first = data[position]
    if first & 1:
        return first >> 1, position + 1
    count = (first & -first).bit_length() if first else 9
    return int.from_bytes(data[position : position + count], "little") >> min(count, 8), position + count


def write_varint(value: int) -> bytes:
    """Returns a number as MLIR's bytecode writes it."""
    count = max(1, -(-value.bit_length() // 7))
    if count > 8:
        return b"\0" + value.to_bytes(8, "little")
    return (value << count | 1 << (count - 1)).to_bytes(count, "little")


_MAGIC = b"ML\xefR"
_ALIGNED = 0x80
_EXTREMES = (0, 1, 2, 127, 128, 1 << 20, (1 << 32) - 1, (1 << 63) - 1, (1 << 64) - 1)


def sections_of(data: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Returns the head of a bytecode file, and the id and content of each section; raises IndexError for damage."""
    position = data.index(b"\0", len(_MAGIC) + 1) + 1
    head, found = data[:position], []
    while position < len(data):
        kind = data[position]
        size, position = read_varint(data, position + 1)
        if kind & _ALIGNED:
            alignment, position = read_varint(data, position)
            position += -position % max(1, alignment)
        found.append((kind & ~_ALIGNED, data[position : position + size]))
        position += size
    return head, found


def mutate_bytecode(data: bytes, draw: Random) -> bytes:
    """Returns bytecode with bytes or numbers of a section changed, its length kept true; or with other sections."""
    try:
        head, sections = sections_of(data)
        number = draw.randrange(len(sections))
        kind, content = sections[number]
    except (IndexError, ValueError):
        return mutate_bytes(data, draw)
    match draw.randrange(8):
        case 0:
            sections[number : number + 1] = []
        case 1:
            sections.append(draw.choice(sections))
        case 2:
            return mutate_bytes(data, draw)
        case 3 | 4:
            place = draw.randrange(len(content) + 1)
            extreme = write_varint(draw.choice(_EXTREMES))
            sections[number] = (kind, content[:place] + extreme + content[place + draw.choice((0, 1)) :])
        case _:
            sections[number] = (kind, mutate_bytes(content, draw))
    return head + b"".join(bytes([kind]) + write_varint(len(part)) + part for kind, part in sections)


def mutate_encoded(data: bytes, draw: Random) -> bytes:
    """Returns bytecode in base64, as the configuration of a kernel's call holds it, changed."""
    return base64.b64encode(mutate_bytecode(base64.b64decode(data), draw))
