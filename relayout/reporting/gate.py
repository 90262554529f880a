"""Conditions on the figures of a report, such as `peak > 1.02 * old`, as a gate for CI."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dialect_utils.memory.collectives import KINDS
from dialect_utils.text import DiagnosticError, format_bytes, meant

if TYPE_CHECKING:
    from dialect_utils.memory import MemoryReport

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_CONDITION = re.compile(r"\s*(?P<figure>[a-z][a-z -]*?)\s*(?P<comparison>[<>]=?)\s*(?P<limit>\S.*?)\s*")
_FACTOR = re.compile(r"(?:(?P<factor>\d+(?:\.\d+)?)\s*\*\s*)?old")
_SIZE = re.compile(rf"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>{'|'.join(_UNITS)})?")
# Figures that are numbers of operations; all other figures are sizes in bytes.
_COUNTS = ("copies", "relayouts", "collectives", "contracts", *(f"{kind} count" for kind in KINDS))
EXAMPLE = "peak > 1.02 * old"


def _figures(report: MemoryReport) -> dict[str, float]:
    """Returns the figures that a condition may name."""
    totals, kinds = report.totals(), report.collective_kinds
    relayouts = [row for row in report.relayouts if row.changes_layout]
    return {
        "peak": totals["main_memory_peak_bytes"],
        "arguments": totals["argument_bytes"],
        "outputs": totals["output_bytes"],
        "temporaries": totals["temporary_bytes"],
        "padding": totals["padding_bytes"],
        "relayout bytes": sum(row.total_bytes for row in relayouts),
        "relayouts": len(relayouts),
        "copies": sum(row.opcode.startswith("copy") for row in report.relayouts),
        "collectives": len(report.collectives),
        "collective bytes": sum(row.total_bytes for row in report.collectives),
        **{f"{kind} {what}": kinds.get(kind, (0, 0))[i] for kind in KINDS for i, what in enumerate(("count", "bytes"))},
    }


def figures_row(report: MemoryReport) -> dict[str, Any]:
    """Returns the figures of a row of results: the totals, the moves, the buffer with the most padding, and the fit."""
    figures = _figures(report)
    most = max(report.usage.buffers, key=lambda each: each.padding_bytes, default=None)
    waste = next((row for row in report.rows_of([most] if most is not None and most.padding_bytes else [])), None)
    return {
        "program": report.module.name,
        "target": report.usage.target,
        **report.totals(),
        **{name.replace(" ", "_"): figures[name] for name in _MOVES},
        "waste_bytes": 0 if waste is None else waste.padding_bytes,
        "waste": "" if waste is None else f"{waste.name} {waste.shape}",
        "waste_source": "" if waste is None or not waste.source_file else f"{waste.source_file}:{waste.source_line}",
        "waste_op_name": "" if waste is None else waste.op_name,
        "fit": report.fit,
    }


_MOVES = ("copies", "relayouts", "relayout bytes", "collectives", "collective bytes")
_OF_ARRAYS = ("peak", "arguments", "outputs", "temporaries", "padding", "relayout bytes", "relayouts", "copies")
_OF_KINDS = tuple(f"{kind} {what}" for kind in KINDS for what in ("count", "bytes"))
# The figure of several programs together.
CONTRACTS = "contracts"
FIGURES = (*_OF_ARRAYS, "collectives", "collective bytes", *_OF_KINDS, CONTRACTS)


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a figure with `factor` times the old one, or with `limit` where `factor` is None."""

    text: str
    figure: str
    comparison: str
    factor: float | None = None
    limit: float = 0.0

    @property
    def needs_old(self) -> bool:
        """Is true where the condition compares with an older report."""
        return self.factor is not None

    def failure(self, report: MemoryReport, old: MemoryReport | None) -> str | None:
        """Returns a sentence with both figures where the condition holds, else None."""
        if self.figure == CONTRACTS:
            return None
        figure = _figures(report)[self.figure]
        limit, against = self.limit, ""
        if self.factor is not None:
            assert old is not None, self.text
            before = _figures(old)[self.figure]
            limit, against = self.factor * before, f", and {self._written(before)} in the old report"
        return self._sentence(figure, limit, against)

    def failure_of(self, contracts: int) -> str | None:
        """Returns a sentence where the condition is one on the number of contracts and holds, else None."""
        return self._sentence(contracts, self.limit, "") if self.figure == CONTRACTS else None

    def _sentence(self, figure: float, limit: float, against: str) -> str | None:
        if not _COMPARISONS[self.comparison](figure, limit):
            return None
        verb = "are" if self.figure.endswith("s") else "is"
        return f"{self.text}: {self.figure} {verb} {self._written(figure)}{against}"

    def _written(self, figure: float) -> str:
        return str(figure) if self.figure in _COUNTS else f"{format_bytes(round(figure))} ({figure:.0f} bytes)"


def parse_condition(text: str) -> Condition:
    """Reads a condition: a figure, `<`, `<=`, `>` or `>=`, and `old`, `1.02 * old`, or a number such as `2 GiB`.

    Raises DiagnosticError for another text.
    """
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise DiagnosticError(f"{text!r} is no condition", hint=f'a condition is "{EXAMPLE}"')
    figure, comparison, limit = found["figure"], found["comparison"], found["limit"]
    if figure not in FIGURES:
        hint = meant(figure, FIGURES, f"the figures are {', '.join(FIGURES)}")
        raise DiagnosticError(f"{figure!r} is no figure of a report", hint=hint)
    if (factor := _FACTOR.fullmatch(limit)) is not None:
        return Condition(text, figure, comparison, float(factor["factor"] or 1))
    size = _SIZE.fullmatch(limit)
    if size is None or (size["unit"] and figure in _COUNTS):
        wanted = "a number" if figure in _COUNTS else "a size such as 2 GiB, in B, KiB, MiB, GiB or TiB"
        raise DiagnosticError(f"{limit!r} is no limit of {figure}", hint=f"old, 1.02 * old, or {wanted}")
    return Condition(text, figure, comparison, None, float(size["number"]) * _UNITS[size["unit"] or "B"])
