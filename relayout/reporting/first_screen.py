"""The first screen of a report: does it fit, what is wasted, in which line, why, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from dialect_utils.ir import Value
from dialect_utils.layout import parse_array_shape
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.advice import Advice, remedy
from dialect_utils.memory.allocation import padded_dimensions
from dialect_utils.memory.rows import LEAST_SHARE, Waste, grouped, of_shape, origin_text
from dialect_utils.text.html import html_text

# The most kinds of waste, and pieces of advice beside those about them; tables have all.
_WASTE, _ADVICE = 3, 3
_UNKNOWN = "the module names no chip: --target NAME says whether its memory holds the peak"
_NOTHING = "no array is copied to another layout, and padding takes less than 1% of the peak"
Passes = Callable[[Sequence[Waste]], Sequence[Waste]]


@dataclass(frozen=True)
class FirstScreen:
    """The answers of one report; `passes` adds those that introduced waste."""

    report: MemoryReport
    passes: Passes | None = None

    @cached_property
    def waste(self) -> Sequence[Waste]:
        """Returns the largest waste, the most bytes first."""
        report, least = self.report, LEAST_SHARE * self.report.usage.main_memory_peak_bytes
        found = [*self._padding()]
        if any(not row.is_prefetch and row.total_bytes >= least / len(report.relayouts) for row in report.relayouts):
            from relayout.reporting.explainer import moved_waste

            found += moved_waste(report, _WASTE)
        largest = sorted((each for each in found if each.bytes >= least), key=lambda each: -each.bytes)[:_WASTE]
        return self.passes(largest) if self.passes is not None and largest else largest

    def _padding(self) -> Iterator[Waste]:
        """Yields the most padding at the peak."""
        report = self.report
        values = {each.value.name: each.value for each in report.usage.at_peak}
        rows = (row for row in report.rows_of(report.usage.at_peak) if row.padding)
        for group in grouped(rows, lambda row: row.padding_bytes, of_shape)[:_WASTE]:
            first, value = group.first, values[group.first.name]
            change = remedy(value, padded_dimensions(parse_array_shape(first.shape))[0], report.origin)
            array, line = f"{first.name} {first.shape}", origin_text(first) or self._line_of_reader(value)
            yield Waste("padding", first.name, len(group.rows), group.size, array, line, first.padding, change)

    def _line_of_reader(self, value: Value) -> str:
        """Returns the line of the first reader that has one: an argument has none of its own."""
        found = ((user.results[0].name, origin_text(self.report.origin(user))) for user in value.users if user.results)
        return next((f"{line} (of {name})" for name, line in found if line), "")

    @property
    def sentences(self) -> Sequence[str]:
        """Returns whether main memory holds the peak, and the array that takes the most of it."""
        return self.report.fit or _UNKNOWN, self.report.headline

    @property
    def advice(self) -> Sequence[Advice]:
        """Returns the advice about other arrays than those of the waste."""
        told = {each.name for each in self.waste}
        return [each for each in self.report.advice if not told & {*each.names}][:_ADVICE]

    def lines(self) -> Iterator[str]:
        """Yields the answers as text."""
        yield from self.sentences
        yield "largest waste" if self.waste else f"largest waste: none: {_NOTHING}"
        for each in self.waste:
            yield f"  {each.title}"
            yield from (f"    {name:6}  {text}" for name, text in each.facts)
        yield from (f"  {each}" for each in self.advice)

    def html(self) -> str:
        """Returns the answers about waste as HTML; names are links to the buffers of the page."""
        parts = []
        for each in self.waste:
            facts = "".join(f"<dt>{name}</dt><dd>{html_text(text)}</dd>" for name, text in each.facts)
            parts.append(f"<li>{_linked(each.title, each.name)}<dl>{facts}</dl></li>")
        buffers = {buffer.value.name for buffer in self.report.usage.buffers}
        for advice in self.advice:
            parts.append(f"<li>{_linked(str(advice), next(iter(buffers & {*advice.names}), ''))}</li>")
        head = "Largest waste" if self.waste else f"Largest waste: none: {_NOTHING}"
        return f'<h2>{head}</h2><ul class="advice">{"".join(parts)}</ul>'


def report_json(report: MemoryReport, passes: Passes | None = None) -> dict[str, Any]:
    """Returns a report as plain values, with the sentences and the largest waste of the first screen."""
    waste = [asdict(each) for each in FirstScreen(report, passes).waste]
    return {**report.as_json(), "fit": report.fit, "headline": report.headline, "waste": waste}


def _linked(text: str, name: str) -> str:
    """Returns a text as HTML in which a name is a link to its buffer."""
    before, found, after = text.partition(name) if name else (text, "", "")
    link = f'<a href="#{html_text(quote(found))}">{html_text(found)}</a>' if found else ""
    return html_text(before) + link + html_text(after)
