"""The rows of bisections as text: one module, and groups of modules with one pass, operation and kind of difference."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
_COUNTED = {
    "nowhere": "agree",
    "somewhere": "differ",
    "pass": "differ after a pass",
    "code generation": "differ in code generation",
    "conversion": "differ in the conversion to HLO",
}


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
