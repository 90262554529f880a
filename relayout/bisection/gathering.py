"""Gathers the rows of `relayout bisect`: prints the lines of each, and in the end the groups of similar failures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from dialect_utils.io.files import encode
from relayout.bisection.words import Row, grouped, lines, summary
from relayout.command import Result, Unit
from relayout.output import write_output

# A row without findings, which has all fields of others.
_NOTHING_KNOWN: dict[str, Any] = {
    **dict.fromkeys(("broken", "difference", "example", "operation"), ""),
    **dict.fromkeys(("passes", "choices"), ()),
    **dict.fromkeys(("cause", "reduced", "versions")),
    **dict.fromkeys(("data", "tried", "operations"), 0),
    "alone": True,
}


def unknown_row(file: str, reason: str) -> dict[str, Any]:
    """Returns the row of a module of which nothing is known, for a reason."""
    return {"file": file, "place": "unknown", "reason": reason, **_NOTHING_KNOWN}


@dataclass(slots=True)
class Rows:
    """The rows of all modules so far."""

    is_json: bool
    disable: str | None
    _rows: list[Row] = field(default_factory=list, init=False)

    def add(self, unit: Unit, result: Result) -> Result:
        """Takes the row of a module, and returns the lines that the user sees."""
        row = _read(result.output, unit)
        if row is None:
            return result
        self._rows.append(row)
        if self.is_json:
            return replace(result, output=encode(json.dumps(row) + "\n"))
        text = "\n  ".join(lines(row, self.disable))
        return replace(result, output=encode(f"{row['file']}: {text}\n"))

    def end(self) -> None:
        """Prints a summary of several modules."""
        if len(self._rows) < 2:
            return
        if self.is_json:
            found = "\n".join(json.dumps({"group": each.as_json()}) for each in grouped(self._rows))
        else:
            found = "\n".join(["", *summary(self._rows)])
        write_output(None, encode(found + "\n" if found else ""))


def _read(output: bytes, unit: Unit) -> Row | None:
    """Returns the row that a unit printed, None for no or other lines, such as those of a wrong command."""
    if not output.strip():
        return None
    # A sandboxed process, which a file may have taken over, has made it.
    nothing = unknown_row(unit.inputs[0].path, "the process that judged it sent no result")
    try:
        said = json.loads(output)
    except ValueError:
        return nothing
    return said if isinstance(said, dict) and all(map(_fits, nothing.values(), map(said.get, nothing))) else nothing


def _fits(expected: object, value: object) -> bool:
    """Is true for a value of the type that a row has; where it may be None, for a text and a cause, too."""
    if isinstance(expected, tuple):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if expected is None:
        return value is None or isinstance(value, str) or (isinstance(value, dict) and _has_texts(value))
    return type(value) is type(expected)


def _has_texts(value: dict[str, Any]) -> bool:
    return all(isinstance(each, str | int | float | None) for each in value.values())
