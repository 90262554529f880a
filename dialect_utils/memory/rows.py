"""Rows of a memory report: buffers, relayouts, bitcasts, op names and costs as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["argument", "output", "temporary"]


@dataclass(frozen=True, slots=True)
class BufferRow:
    """One buffer: its allocated and payload bytes, its lifetime, and its origin in the user's program."""

    name: str
    opcode: str
    function: str
    role: Role
    shape: str
    memory_space: int
    bytes_held: int
    bytes_meant: int
    padding_bytes: int
    padding: str
    start: int
    end: int
    is_at_peak: bool
    op_name: str
    source_file: str
    source_line: int


@dataclass(frozen=True, slots=True)
class RelayoutRow:
    """One operation that moves data to another layout or memory space; `trips` is None where it is unknown."""

    name: str
    opcode: str
    kind: str
    source: str
    result: str
    bytes_read: int
    bytes_written: int
    depth: int
    trips: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    op_name: str
    source_file: str
    source_line: int


@dataclass(frozen=True, slots=True)
class BitcastRow:
    """One pair of shapes of bitcasts, with the verdict and the number of such bitcasts."""

    source: str
    result: str
    verdict: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpNameRow:
    """The allocated and payload bytes of the buffers of one op name."""

    op_name: str
    buffers: int
    bytes_held: int
    bytes_meant: int
    padding_bytes: int


@dataclass(frozen=True, slots=True)
class CostRow:
    """The cost of one operation each time, as HloCostAnalysis counts; `trips` is None where it is unknown."""

    name: str
    opcode: str
    flops: int
    transcendentals: int
    bytes_accessed: int
    trips: int | None
    op_name: str
    source_file: str
    source_line: int
