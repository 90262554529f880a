"""The rows of `relayout bisect`: gathered from all modules, as lines of text, and in groups of similar failures."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dialect_utils.io.files import encode
from relayout.batch.unit import Unit
from relayout.command import Result
from relayout.output import write_output

# A row without findings, which has all fields of others.
_NOTHING_KNOWN: dict[str, Any] = {
    **dict.fromkeys(("broken", "difference", "example", "operation"), ""),
    **dict.fromkeys(("passes", "choices"), ()),
    **dict.fromkeys(("cause", "reduced", "versions")),
    **dict.fromkeys(("data", "tried", "operations"), 0),
    "alone": True,
}
Row = Mapping[str, Any]
_COUNTED = {
    "nowhere": "agree",
    "somewhere": "differ",
    "pass": "differ after a pass",
    "code generation": "differ in code generation",
    "conversion": "differ in the conversion to HLO",
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


def lines(row: Row, disabled: str | None = None) -> list[str]:
    """Returns the lines of a row: the location of the difference, its evidence, and the command that shows it."""
    found = [_headline(row)]
    if row["difference"]:
        found += [row["difference"], f"by definition and by XLA:CPU: {row['example']}"]
    if row["choices"]:
        found.append(f"open: {', '.join(row['choices'])}")
    if disabled is not None:
        return found
    if row["passes"]:
        together = "each of" if row["alone"] and len(row["passes"]) > 1 else ""
        found.append(" ".join(filter(None, ["it agrees without", together, ", ".join(row["passes"])])))
    if row["operation"]:
        shown = row["reduced"] or "a module"
        count = "1 operation" if row["operations"] == 1 else f"{row['operations']} operations"
        found.append(f"{shown} of {count} shows it in the result of {row['operation']}")
    if row["passes"]:
        passes = row["passes"][:1] if row["alone"] else row["passes"]
        found.append(f"relayout bisect {shlex.quote(row['file'])} --disable {shlex.quote(','.join(passes))}")
    return found


def _headline(row: Row) -> str:
    place, reason = row["place"], row["reason"]
    if place == "nowhere":
        sets = f"{row['data']} set{'s' if row['data'] != 1 else ''} of inputs"
        return f"agrees: XLA:CPU computes what the module defines on {sets}"
    if place == "pass" and row["broken"]:
        return f"pass {row['broken']}: after it the module computes something else by definition"
    if place == "pass":
        return f"pass {', '.join(row['passes'])}: {reason}"
    return f"{place}: {reason}" if reason else place


@dataclass(frozen=True, slots=True)
class Group:
    """Modules whose differences have one place, one pass, one operation and one form."""

    place: str
    step: str
    operation: str
    form: str
    rows: Sequence[Row]

    @property
    def smallest(self) -> Row:
        """Returns the row with the fewest operations."""
        return min(self.rows, key=lambda row: row["operations"])

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {
            "place": self.place,
            "pass": self.step,
            "operation": self.operation,
            "form": self.form,
            "count": len(self.rows),
            "files": [row["file"] for row in self.rows],
            "example": self.smallest["reduced"] or self.smallest["file"],
        }

    def __str__(self) -> str:
        place = f"pass {self.step}" if self.place == "pass" else self.place
        example = self.smallest["reduced"] or self.smallest["file"]
        parts = [f"{len(self.rows):5} {place}", self.operation, self.form, f"{example} ({self.smallest['operations']})"]
        return "  ".join(filter(None, parts))


def grouped(rows: Sequence[Row]) -> list[Group]:
    """Returns the groups of rows with a difference, the largest first."""
    members: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if row["cause"] is not None and row["place"] != "unknown":
            step = row["broken"] or next(iter(row["passes"]), "")
            key = row["place"], step if row["place"] == "pass" else "", row["operation"], str(row["cause"].get("form"))
            members.setdefault(key, []).append(row)
    groups = [Group(*key, found) for key, found in members.items()]
    return sorted(groups, key=lambda group: -len(group.rows))


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the lines about all modules: a count of each answer, and a line a group."""
    counts = Counter(row["place"] for row in rows)
    yield ", ".join(f"{count} {_COUNTED.get(place, place)}" for place, count in counts.items())
    groups = grouped(rows)
    if groups:
        yield "count place, operation, kind of difference, smallest example (operations)"
        yield from map(str, groups)
