"""The plan of a command: its units, as a child sends them to the process of the command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialect_utils.io.inputs import Input
from relayout.batch.unit import Unit
from relayout.supervisor.frames import MalformedFrameError, from_json, to_json


def format_plan(units: Sequence[Unit]) -> bytes:
    """Returns the bytes of a PLAN frame."""
    described = [
        {
            "inputs": [[each.path, each.inner, each.prefix, each.kind, each.proto] for each in unit.inputs],
            "target": unit.target,
            "seconds": unit.seconds,
        }
        for unit in units
    ]
    return to_json({"units": described})


def parse_plan(data: bytes) -> list[Unit]:
    """Returns the units of a PLAN frame; raises MalformedFrameError for other values than `format_plan` writes."""
    try:
        return [
            Unit(tuple(map(_input, each["inputs"])), _optional_text(each["target"]), float(each["seconds"]))
            for each in from_json(data)["units"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedFrameError(f"a plan with {error!r}") from None


def _input(described: list[Any]) -> Input:
    path, inner, prefix, kind, proto = described
    known: Any = _optional_text(kind)
    return Input(str(path), str(inner), str(prefix), known, _optional_text(proto))


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)
