"""The plan of a command: its units, as a child sends them to the process of the command."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dialect_utils.io.inputs import Input
from relayout.command import Unit
from relayout.supervisor.frames import MalformedFrameError, from_json, to_json


def format_plan(units: Sequence[Unit]) -> bytes:
    """Returns the bytes of a PLAN frame."""
    return to_json({"units": list(map(_described, units))})


def parse_plan(data: bytes | bytearray) -> list[Unit]:
    """Returns the units of a PLAN frame; raises MalformedFrameError for other values than `format_plan` writes."""
    try:
        return [_unit(each) for each in from_json(data)["units"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedFrameError(f"a plan with {error!r}") from None


def format_unit(unit: Unit) -> bytes:
    """Returns the bytes of a UNIT frame: a line of JSON, and the bytes of the inputs that were read already."""
    contents = [each.content for each in unit.inputs]
    sizes = [None if content is None else len(content) for content in contents]
    header = {**_described(unit), "known": unit.known, "sizes": sizes}
    return b"\n".join([to_json(header), b"".join(filter(None, contents))])


def parse_unit(data: bytes) -> Unit:
    """Returns the unit of a UNIT frame."""
    line, _, contents = data.partition(b"\n")
    header = from_json(line)
    unit, inputs = _unit(header), []
    for read, size in zip(unit.inputs, header["sizes"], strict=True):
        inputs.append(read if size is None else replace(read, content=contents[:size]))
        contents = contents[size or 0 :]
    return replace(unit, inputs=tuple(inputs), known=header["known"])


def _described(unit: Unit) -> dict[str, Any]:
    return {
        "inputs": [
            [each.path, each.inner, each.prefix, each.kind, each.proto, each.within, each.wanted]
            for each in unit.inputs
        ],
        "target": unit.target,
        "seconds": unit.seconds,
        "label": unit.label,
    }


def _unit(described: dict[str, Any]) -> Unit:
    inputs = tuple(map(_input, described["inputs"]))
    seconds = float(described["seconds"])
    if not 0 < seconds < math.inf:
        raise ValueError(f"a time limit of {seconds} seconds")
    return Unit(inputs, _optional_text(described["target"]), seconds, label=str(described["label"]))


def _input(described: list[Any]) -> Input:
    path, inner, prefix, kind, proto, within, wanted = described
    known: Any = _optional_text(kind)
    return Input(
        str(path), str(inner), str(prefix), known, _optional_text(proto), str(within), wanted=tuple(map(str, wanted))
    )


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)
