"""The reports of a directory's modules: the order of the modules, a line for each, and a page that links to theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dialect_utils.io.inputs import Input
from dialect_utils.text import format_bytes
from dialect_utils.text.html import html_text

if TYPE_CHECKING:
    from relayout.reporting.contracts import Contract

INDEX = "index.html"
# The most arrays that a page lists.
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Gathered:
    """The report of one module: its peak, one sentence, and its page for a terminal.

    `rank` is 2 for a module that ran out of memory, 1 for an optimized one, and 0 for others. `arrays` are those of
    the entry, as texts (`contracts`).
    """

    name: str
    rank: int
    peak: int
    sentence: str
    page: str = ""
    arrays: tuple[str, ...] = ()

    @classmethod
    def of(cls, read: Input, peak: int, sentence: str, page: str, arrays: Sequence[str]) -> Gathered:
        """Returns the report of an input."""
        rank = 2 if read.dump.is_out_of_memory else int(read.dump.is_final)
        return cls(read.stem, rank, peak, sentence, page, tuple(arrays))

    @property
    def order(self) -> tuple[int, ...]:
        """Returns the sort key: the module that matters most is the first."""
        return -self.rank, -self.peak

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return asdict(self)


def other_modules(others: Sequence[Gathered], width: int | None) -> str:
    """Returns a line for each other module."""
    if not others:
        return ""
    from relayout.reporting.terminal import clip, format_table

    count = f"{len(others)} other modules" if len(others) > 1 else "1 other module"
    title = f"\n{count}, the largest peak first (--module NAME reports one, --all all)"
    rows = [(format_bytes(each.peak), each.name, each.sentence) for each in others]
    return clip((title, *format_table(("peak", "module", ""), rows)), width)


def index_page(found: Sequence[Gathered], contracts: Sequence[Contract]) -> str:
    """Returns the page that links to those of the modules, the one that matters first."""
    from urllib.parse import quote

    from relayout.reporting.pages import page_table, plain_page

    rows = (
        (
            f'<span title="{each.peak} bytes">{format_bytes(each.peak)}</span>',
            f'<a href="{html_text(quote(f"{each.name}.html", errors="surrogateescape"))}">{html_text(each.name)}</a>',
            html_text(each.sentence),
        )
        for each in found
    )
    title = f"memory of {len(found)} modules" if len(found) > 1 else "memory of 1 module"
    table = page_table(("peak", "module", "at the peak"), rows, numbers=("peak",))
    shared = "\n".join(map(html_text, contract_lines(contracts)))
    return plain_page(title, f"{table}<pre>{shared}</pre>" if shared else table)


def contracts_text(contracts: Sequence[Contract]) -> str:
    """Returns the lines after the reports of all modules, empty without contracts."""
    return "".join(f"\n{line}" for line in ["", *contract_lines(contracts)]) + "\n" if contracts else ""


def contract_lines(contracts: Sequence[Contract]) -> list[str]:
    """Returns lines about the arrays on which modules disagree, those that cost most first."""
    if not contracts:
        return []
    count = f"{len(contracts)} arrays" if len(contracts) > 1 else "1 array"
    more = [f"... and {len(contracts) - _SHOWN} more (--json lists them)"] if len(contracts) > _SHOWN else []
    shown = (f"  {line}" for each in contracts[:_SHOWN] for line in each.lines())
    return [f"{count} on which programs disagree", *shown, *more]
