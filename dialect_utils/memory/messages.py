"""Reads the messages of compilers and runtimes that a program does not fit into memory.

The forms come from libtpu (its newest one-line form, the tables of allocations that it printed since 2018, and those
of VMEM and SMEM), from XLA:GPU's buffer assignment, and from the runtimes that load a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dialect_utils.layout import ArrayShape, Layout, Tile, parse_array_shape
from dialect_utils.layout.index.index_map import byte_size, byte_size_of
from dialect_utils.memory.allocation import PaddedDimension, padded_dimensions
from dialect_utils.text import DiagnosticError

# A text with one of these lines is a module, whatever else it says.
_MODULE = re.compile(r"^(?:.*?\] )?(?:HloModule |module\b.*\{$|ENTRY )", re.MULTILINE)
_SIZE = r"\d+(?:\.\d+)?\s?(?:[KMGTPE]i?B?|B|bytes)?(?![\w.])"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60}
# Each pattern captures the requested size (`needed`), and most also the size of the memory (`available`).
_FORMS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        r"Ran out of memory on (?P<space>\w+), the total memory required for (?P<what>[\w ]{1,60}?)"
        rf" \((?P<needed>{_SIZE})\) exceeds available \w+ \((?P<available>{_SIZE})\)"
        r"(?:\. HLO module: (?P<module>[\w.\-]*\w))?",
        r"Ran out of memory in memory space (?P<space>\w+) while allocating on stack for (?P<label>.{1,4000}?)"
        rf"\. Scoped allocation with size (?P<needed>{_SIZE}) and limit (?P<available>{_SIZE})",
        r"Ran out of memory in memory space (?P<space>\w+)\.(?: It should not be possible [^.]{1,100}\.| Please [^.]"
        rf"{{1,60}}\.)?\s+Used (?P<needed>{_SIZE}) of (?P<available>{_SIZE})",
        r"Allocation \(size=(?P<needed>\d+)\) would exceed memory \(size=(?P<available>\d+)\) :: #allocation\d*"
        r" \[shape = '(?P<shape>[^']{1,200})', space=(?P<space>\w+), size = 0x[0-9a-f]+(?:, scoped)?"
        r"(?:, tag = '(?P<tag>[^']{1,1000})')?\](?: :: (?P<label>[\w.\-]*\w))?",
        rf"Attempting to (?P<what>reserve|allocate) (?P<needed>{_SIZE})(?: at the bottom of memory)?\."
        rf"\s+That was not possible\.\s+There are (?P<available>{_SIZE}) free",
        rf"Out of memory (?:while )?trying to allocate (?P<needed>{_SIZE})",
        r"Aborting compilation early because it's unlikely to have enough memory\."
        rf" Requires (?P<needed>{_SIZE}), has (?P<available>{_SIZE}) available",
        rf"[Ff]ailed to (?P<what>allocate) (?:request for )?(?P<needed>{_SIZE})(?: \(\d+ ?B?(?:ytes|bytes)?\))?"
        r" (?:on|from) device",
        rf"Could not (?P<what>allocate) (?P<needed>{_SIZE}) in memory (?:\w+_)?(?P<space>\w+);"
        rf" (?P<piece>{_SIZE}) allocatable, (?P<available>{_SIZE}) available",
        rf"(?P<space>Shared memory) size limit exceeded: requested (?P<needed>{_SIZE}),"
        rf" available: (?P<available>{_SIZE})",
        # Compilers of 2020 state no figures here.
        r"Ran out of memory in memory space (?P<space>\w+)\b",
    )
)
_START = re.compile(
    r"Ran out of memory (?:on|in memory space) \w|Allocation \(size=\d+\) would exceed memory"
    r"|Attempting to (?:reserve|allocate) \d|Out of memory (?:while )?trying to allocate \d"
    r"|Shared memory size limit exceeded"
    r"|Aborting compilation early because it's unlikely|(?:[Ff]ailed to|Could not) allocate (?:request for )?\d"
)
# Loggers write this before each line: glog, Python's logging with a place, and the name of a process.
_PREFIX = re.compile(
    r"^(?:\x1b\[[\d;]*m)*(?:\([\w .=:,\-]{1,80}\) *)?(?:\d{4}-\d\d-\d\d [\d:.,]+:? )?"
    r"(?:(?:[EWIF]\d{4} [\d:.]+ +\d+|[EWIF] +\d+|(?:ERROR|WARNING|INFO) [\d\-]+ [\d:]+) +\[?[\w./\-]+:\d+\]:? ?)?"
)
_ENTRY = re.compile(rf"^\s*(?:\d+\. Size: (?P<size>{_SIZE})|Buffer \d+:\s*$)", re.MULTILINE)
_RULE = re.compile(r"^\s*={8,}\s*$", re.MULTILINE)
_FIELD = re.compile(
    r"^\s*(Size|Operator|Shape|Unpadded size|Tag|XLA [Ll]abel|Allocation type|Entry Parameter Subshape): *(.*)$",
    re.MULTILINE,
)
# A heading (`Program hbm requirement 41.22G:`), or a named sum below it.
_TOTAL = re.compile(
    rf"^(?P<section>[A-Z][\w ]+?)(?: (?:>= )?{_SIZE})?:\s*$"
    rf"|^ {{2,}}(?P<name>[A-Za-z][\w/\- ()]*?):? +(?P<size>{_SIZE})",
    re.MULTILINE,
)
# `%copy.1 = s32[8,4]{1,0} copy(...)`: the array of an instruction that a label prints.
_LABELLED = re.compile(r"%?[\w.\-]+ = (\w+\[[\d,]*\](?:\{[^}]*\})?) [\w\-]+\(")
_UNPADDED = re.compile(rf"Unpadded \((?P<unpadded>{_SIZE})\) Padded \((?P<padded>{_SIZE})\)")
# The size ends a sentence.
_EXCEEDED = re.compile(r"Exceeded \w+ capacity by (?P<excess>\d+(?:\.\d+)?[KMGTPE]?)")
_OPERATOR = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\d+))')
# The module's name is in the text only where the message has a table of it; a message ends at the next one.
_LONGEST_MESSAGE = 200_000
# Sizes are printed with three or four digits.
_ROUNDED = 0.01
# The tiles of 32-bit arrays on TPUs: older messages leave the tile out.
_TILES = ((8, 128), (4, 128), (2, 128), (1, 128))


@dataclass(frozen=True, slots=True)
class MessageAllocation:
    """One allocation that a message lists: its bytes, those of its elements, and where it comes from.

    `payload` is None where the message does not tell it. `kind` is e.g. `HLO temp` or `scoped`.
    """

    size: int
    shape: str = ""
    payload: int | None = None
    label: str = ""
    tag: str = ""
    kind: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0

    @property
    def name(self) -> str:
        """Returns the instruction that the label names, empty without a label."""
        return self.label.split(" = ")[0].lstrip("%")

    @property
    def padding(self) -> int:
        """Returns the bytes of padding: as the message states them, else from the shape; 0 where neither tells them."""
        if self.payload is not None:
            return max(0, self.size - self.payload)
        shape = _array(self.shape)
        return max(0, self.size - byte_size_of(shape)) if shape is not None and self.padded else 0

    @property
    def padded(self) -> tuple[PaddedDimension, ...]:
        """Returns the dimensions that the tile enlarges; the tile follows from the size where the message omits it."""
        shape = _array(self.shape)
        if shape is None or shape.layout is None:
            return ()
        if shape.layout.tiles:
            return padded_dimensions(shape)
        for tile in _TILES:
            tiled = _with_tile(shape, tile)
            if tiled is not None and abs(byte_size(tiled) - self.size) <= _ROUNDED * self.size:
                return padded_dimensions(tiled)
        return ()


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """One message: the memory, the bytes that are needed and available (None where it states none), and its lists.

    `what` needs the bytes, such as `HLO temporaries`. `totals` are the sums of the message in its order, each with the
    heading above it and its name. `unpadded_temporaries` are the bytes of the temporaries' elements.
    """

    space: str = ""
    what: str = ""
    needed: int | None = None
    available: int | None = None
    module: str = ""
    allocations: tuple[MessageAllocation, ...] = ()
    totals: tuple[tuple[str, str, int], ...] = ()
    unpadded_temporaries: int | None = None
    # The bytes that are too much, as the message states them, and those that are free in one piece.
    excess: int | None = None
    piece: int | None = None


def message_in(data: bytes) -> str | None:
    """Returns the text in which a compiler or a runtime says that memory ran out, None for any other and a module."""
    text = data.decode("utf-8", "replace")
    return text if _START.search(text) and not _MODULE.search(text) else None


def memory_messages(text: str) -> tuple[OutOfMemory, ...]:
    """Returns the content of each out-of-memory message in a text, equal ones once."""
    plain = "\n".join(_PREFIX.sub("", line) for line in _unescaped(text).splitlines())
    starts = [each.start() for each in _START.finditer(plain)]
    ends = [*starts[1:], len(plain)]
    found = (_parse(plain[a : min(b, a + _LONGEST_MESSAGE)]) for a, b in zip(starts, ends, strict=False))
    return tuple(dict.fromkeys(_most_complete([each for each in found if each is not None])))


def _most_complete(messages: list[OutOfMemory]) -> Iterator[OutOfMemory]:
    """Yields the messages without prefixes of other messages: logs truncate messages that tracebacks print in full."""
    for each in messages:
        bare = replace(each, allocations=(), totals=(), unpadded_temporaries=None)
        if each.allocations or not any(
            other.allocations and replace(other, allocations=(), totals=(), unpadded_temporaries=None) == bare
            for other in messages
        ):
            yield each


def _unescaped(text: str) -> str:
    r"""Returns a text whose line ends are written as `\n`, as in the `repr` of an exception, with real ones."""
    return text.replace("\\n", "\n").replace('\\"', '"') if "\\n     Shape:" in text or "\\n\\n" in text else text


def _parse(text: str) -> OutOfMemory | None:
    first = next((found for form in _FORMS if (found := form.match(text)) is not None), None)
    if first is None:
        return None
    stated = first.groupdict()
    allocations = tuple(_allocations(text))
    if not allocations and stated.get("needed") and (stated.get("shape") or stated.get("label")):
        size = _bytes(stated["needed"])
        label, tag = stated.get("label") or "", stated.get("tag") or ""
        allocations = (MessageAllocation(size, stated.get("shape") or "", None, label, tag, "scoped"),)
    unpadded, exceeded = _UNPADDED.search(text), _EXCEEDED.search(text)
    return OutOfMemory(
        space.lower() if " " in (space := stated.get("space") or "") else space.upper(),
        stated.get("what") or "",
        _bytes(stated["needed"]) if stated.get("needed") else None,
        _bytes(stated["available"]) if stated.get("available") else None,
        stated.get("module") or "",
        allocations,
        tuple(_totals(text)),
        _bytes(unpadded["unpadded"]) if unpadded else None,
        _bytes(exceeded["excess"]) if exceeded else None,
        _bytes(stated["piece"]) if stated.get("piece") else None,
    )


def _totals(text: str) -> Iterator[tuple[str, str, int]]:
    """Yields the named sums before the list of allocations, each with its heading."""
    listed = _ENTRY.search(text)
    section = ""
    for found in _TOTAL.finditer(text, 0, listed.start() if listed else len(text)):
        if found["section"]:
            section = found["section"]
        else:
            yield section, found["name"], _bytes(found["size"])


def _allocations(text: str) -> Iterator[MessageAllocation]:
    entries = list(_ENTRY.finditer(text))
    ends = [*(each.start() for each in entries[1:]), len(text)]
    for entry, end in zip(entries, ends, strict=False):
        rule = _RULE.search(text, entry.end(), end)
        body = text[entry.end() : rule.start() if rule else end]
        fields = {key.lower(): value.strip() for key, value in _FIELD.findall(body)}
        size = entry["size"] or fields.get("size", "")
        if re.fullmatch(_SIZE, size):
            yield _allocation(_bytes(size), fields)


def _allocation(size: int, fields: dict[str, str]) -> MessageAllocation:
    operator = {name: quoted or number for name, quoted, number in _OPERATOR.findall(fields.get("operator", ""))}
    unpadded, label = fields.get("unpadded size", ""), fields.get("xla label", "")
    labelled = _LABELLED.match(label)
    shape = fields.get("shape") or fields.get("entry parameter subshape") or (labelled[1] if labelled else "")
    return MessageAllocation(
        size,
        shape,
        _bytes(unpadded) if re.fullmatch(_SIZE, unpadded) else None,
        label,
        fields.get("tag", ""),
        fields.get("allocation type") or ("argument" if fields.get("entry parameter subshape") else ""),
        operator.get("op_name", ""),
        operator.get("source_file", ""),
        int(operator.get("source_line") or 0),
    )


def _bytes(size: str) -> int:
    """Returns the bytes of a printed size: `7.88G`, `1.00GiB`, `0B`, `4294967296 bytes`."""
    found = re.match(r"([\d.]+)\s?([KMGTPE]?)", size)
    assert found is not None, size
    return round(float(found[1]) * _UNITS.get(found[2], 1))


def _array(text: str) -> ArrayShape | None:
    """Returns the array that a message names, or None for a tuple, nothing, or a text that is cut off."""
    try:
        shape = parse_array_shape(text)
    except DiagnosticError:
        return None
    return shape if shape.is_static and byte_size_of(shape) else None


def _with_tile(shape: ArrayShape, tile: tuple[int, ...]) -> ArrayShape | None:
    """Returns an array with a tile over its most minor dimensions, or None for an array of fewer dimensions."""
    if shape.layout is None or shape.rank < len(tile):
        return None
    return shape.with_layout(Layout(shape.layout.minor_to_major, tiles=(Tile(tile),)))
