"""Where an operation comes from in the user's program: op name, source file and line, from an HLO dump's metadata.

Dumps name files in `metadata={... source_file="..." source_line=N}` or, newer ones, by `stack_frame_id` into the tables
FileNames, FileLocations and StackFrames between the header and the first computation (xla/hlo.proto, StackFrameIndex).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dialect_utils.ir import Module, Operation

_OP_NAME = re.compile(r'\bop_name="((?:[^"\\]++|\\.)*+)"')
_SOURCE = re.compile(r'\bsource_file="((?:[^"\\]++|\\.)*+)"(?:.*?\bsource_line=(\d+))?')
_FRAME_ID = re.compile(r"\bstack_frame_id=(\d+)")
_FILE_NAME = re.compile(r'^(\d+) "(.*)"$', re.MULTILINE)
_FILE_LOCATION = re.compile(r"^(\d+) \{file_name_id=(\d+)(?: function_name_id=\d+)?(?: line=(\d+))?", re.MULTILINE)
_FRAME = re.compile(r"^(\d+) \{file_location_id=(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Origin:
    """One place in the user's program; what a dump does not say is empty, or line 0."""

    op_name: str = ""
    source_file: str = ""
    source_line: int = 0


def find_origins(module: Module) -> Callable[[Operation], Origin]:
    """Returns the function that tells where a module's operations come from."""
    frames = _frames(module.text()) if module.dialect == "hlo" else {}

    def origin(operation: Operation) -> Origin:
        metadata = operation.attribute("metadata")
        if metadata is None:
            return Origin()
        name = _OP_NAME.search(metadata)
        op_name = name[1] if name else ""
        if (source := _SOURCE.search(metadata)) is not None:
            return Origin(op_name, source[1], int(source[2] or 0))
        frame = _FRAME_ID.search(metadata)
        return Origin(op_name, *frames.get(int(frame[1]) if frame else 0, ("", 0)))

    return origin


def _frames(text: str) -> dict[int, tuple[str, int]]:
    """Returns (file, line) of each stack frame of a dump's tables."""
    end = text.find("\nENTRY") if "StackFrames" in text else 0
    first = text.find("\n%", 0, end)
    tables = text[: first if first >= 0 else end]
    parts = re.split(r"^(FileNames|FunctionNames|FileLocations|StackFrames)$", tables, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    files = dict(_FILE_NAME.findall(found.get("FileNames", "")))
    places = {
        number: (files.get(file, ""), int(line or 0))
        for number, file, line in _FILE_LOCATION.findall(found.get("FileLocations", ""))
    }
    return {int(number): places.get(place, ("", 0)) for number, place in _FRAME.findall(found.get("StackFrames", ""))}
