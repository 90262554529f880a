"""The rows of `validate --bisect`: gathered from all modules, as lines of text, and in groups of similar failures."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dialect_utils.io.files import encode
from relayout.batch.unit import Unit
from relayout.command import Gatherer, Result, read_finding
from relayout.output import write_output

_COUNTED = {
    "nowhere": "agree",
    "somewhere": "differ",
    "pass": "differ after a pass",
    "code generation": "differ in code generation",
    "conversion": "differ in the conversion to HLO",
}


_FUSED = "without fused multiply-add (XLA_FLAGS=--xla_cpu_max_isa=AVX); jax.jit compiles with it, and then they differ"
Scalars = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bisection:
    """The place where XLA:CPU departs from the definition of a module in a file; `somewhere`: it was not searched.

    `passes` are passes whose removal makes XLA:CPU agree with the definition: every single such pass (`alone`), or else
    one smallest set. `broken` is the pass after which the definition of the module gives other results, empty where
    unknown. `tried` counts the sets of passes that were disabled. `operation` is the opcode that computes the output
    that differs, in the smaller module in the file `reduced`, which has `operations` operations. `fused` is an element
    that differs only with fused multiply-add. `versions` are those of the programs.
    """

    file: str
    place: str
    passes: tuple[str, ...] = ()
    alone: bool = True
    broken: str = ""
    cause: Scalars | None = None
    difference: str = ""
    example: str = ""
    fused: str = ""
    reason: str = ""
    choices: tuple[str, ...] = ()
    data: int = 0
    tried: int = 0
    operation: str = ""
    operations: int = 0
    reduced: str | None = None
    versions: Scalars | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return asdict(self)

    @property
    def shown(self) -> str:
        """Returns the file that shows the difference: the smaller module, or the module itself."""
        return self.reduced or self.file

    @property
    def step(self) -> str:
        """Returns the pass after which the module is wrong, or the first pass whose removal makes it right."""
        return self.broken or next(iter(self.passes), "")

    @property
    def output(self) -> int | None:
        """Returns the number of the output that differs, None where none does or the module as a whole fails."""
        return None if self.cause is None else self.cause["output"]


@dataclass(slots=True)
class Rows(Gatherer[Bisection]):
    """The rows of all modules so far."""

    disable: str | None = None

    def read(self, unit: Unit, result: Result) -> Bisection | None:
        if not result.output.strip():
            return None
        try:
            return read_finding(Bisection, json.loads(result.output))
        except ValueError:
            return Bisection(unit.inputs[0].path, "unknown", reason="the process that judged it sent no result")

    def text(self, found: Bisection) -> str:
        return f"{found.file}: " + "\n  ".join(lines(found, self.disable)) + "\n"

    def end(self) -> None:
        if len(self.found) < 2:
            return
        if self.is_json:
            found = "\n".join(json.dumps({"group": each.as_json()}) for each in grouped(self.found))
        else:
            found = "\n".join(["", *summary(self.found)])
        write_output(None, encode(found + "\n" if found else ""))


def lines(row: Bisection, disabled: str | None = None) -> list[str]:
    """Returns the lines of a row: the location of the difference, its evidence, and the command that shows it."""
    found = [_headline(row)]
    if row.difference:
        found += [row.difference, f"by definition and by XLA:CPU: {row.example}"]
    if row.fused:
        found += [_FUSED, f"by definition and by XLA:CPU: {row.fused}"]
    if row.choices:
        found.append(f"open: {', '.join(row.choices)}")
    if disabled is not None:
        return found
    if row.passes:
        together = "each of" if row.alone and len(row.passes) > 1 else ""
        found.append(" ".join(filter(None, ["it agrees without", together, ", ".join(row.passes)])))
    if row.operation:
        shown = row.reduced or "a module"
        count = "1 operation" if row.operations == 1 else f"{row.operations} operations"
        found.append(f"{shown} of {count} shows it in the result of {row.operation}")
    if row.passes:
        passes = row.passes[:1] if row.alone else row.passes
        found.append(f"relayout validate --bisect {shlex.quote(row.file)} --disable {shlex.quote(','.join(passes))}")
    return found


def _headline(row: Bisection) -> str:
    place, reason = row.place, row.reason
    if place == "nowhere":
        sets = f"{row.data} set{'s' if row.data != 1 else ''} of inputs"
        return f"agrees: XLA:CPU computes what the module defines on {sets}"
    if place == "pass" and row.broken:
        return f"pass {row.broken}: after it the module computes something else by definition"
    if place == "pass":
        return f"pass {', '.join(row.passes)}: {reason}"
    return f"{place}: {reason}" if reason else place


@dataclass(frozen=True, slots=True)
class Group:
    """Modules whose differences have one place, one pass, one operation and one form."""

    place: str
    step: str
    operation: str
    form: str
    rows: Sequence[Bisection]

    @property
    def smallest(self) -> Bisection:
        """Returns the row with the fewest operations."""
        return min(self.rows, key=lambda row: row.operations)

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {
            "place": self.place,
            "pass": self.step,
            "operation": self.operation,
            "form": self.form,
            "count": len(self.rows),
            "files": [row.file for row in self.rows],
            "example": self.smallest.shown,
        }

    def __str__(self) -> str:
        place = f"pass {self.step}" if self.place == "pass" else self.place
        example = self.smallest.shown
        parts = [f"{len(self.rows):5} {place}", self.operation, self.form, f"{example} ({self.smallest.operations})"]
        return "  ".join(filter(None, parts))


def grouped(rows: Sequence[Bisection]) -> list[Group]:
    """Returns the groups of rows with a difference, the largest first."""
    members: dict[tuple[str, str, str, str], list[Bisection]] = {}
    for row in rows:
        if row.cause is not None and row.place != "unknown":
            key = row.place, row.step if row.place == "pass" else "", row.operation, str(row.cause.get("form"))
            members.setdefault(key, []).append(row)
    groups = [Group(*key, found) for key, found in members.items()]
    return sorted(groups, key=lambda group: -len(group.rows))


def summary(rows: Sequence[Bisection]) -> Iterator[str]:
    """Yields the lines about all modules: a count of each answer, and a line a group."""
    counts = Counter(row.place for row in rows)
    yield ", ".join(f"{count} {_COUNTED.get(place, place)}" for place, count in counts.items())
    groups = grouped(rows)
    if groups:
        yield "count place, operation, kind of difference, smallest example (operations)"
        yield from map(str, groups)
