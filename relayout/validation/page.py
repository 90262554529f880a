"""The results of a validation as one HTML file: a row a step, with the difference of its texts. It has no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from dialect_utils.text.html import html_text
from relayout.reporting.pages import filled_page
from relayout.validation.steps import ANSWERS, TEXT, StepResult, Validation

_COLUMNS = ("step", "pipeline", "pass", "verdict", "evidence", "seconds")
# The class of a line of a difference, by its first character.
_MARKS = {"+": "added", "-": "removed", "@": "place"}


def html_page(found: Validation) -> str:
    """Returns the page: totals, the first step that is different, and a table of steps for each program."""
    programs = [(name, list(rows)) for name, rows in groupby(found.results, lambda each: each.program)]
    parts = {
        "title": html_text(f"validation of {programs[0][0] if len(programs) == 1 else f'{len(programs)} programs'}"),
        "cards": "".join(_cards(found)),
        "found": _found(found),
        "programs": "\n".join(_program(name, rows) for name, rows in programs),
    }
    return filled_page("steps", parts)


def _cards(found: Validation) -> Iterator[str]:
    counts = Counter(each.verdict for each in found.steps)
    shown = [("steps", len(found.steps), ""), *((name, counts[name], name) for name in ANSWERS if counts[name])]
    for name, count, kind in shown:
        yield f'<div class="card"><b class="{kind}">{count}</b><span>{name}</span></div>'


def _found(found: Validation) -> str:
    head, *said = (html_text(line.strip()) for line in found.lines)
    first = found.first_difference
    if first is not None:
        head = f'<a href="#{_anchor(first)}">{head}</a>'
    return "".join(f"<p>{line}</p>" for line in (head, *said))


def _anchor(each: StepResult) -> str:
    return f"step.{each.file_stem}"


def _program(name: str, rows: list[StepResult]) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in _COLUMNS)
    body = "\n".join(map(_row, rows))
    heading = f'<h2 id="{_anchor(rows[0])}-program">{html_text(name)}</h2>'
    table = f'<table class="steps" aria-labelledby="{_anchor(rows[0])}-program"><thead><tr>{head}</tr></thead>'
    return f"  <section>{heading}\n{table}<tbody>\n{body}\n</tbody></table></section>"


def _row(each: StepResult) -> str:
    verdict, _, methods = each.answer.partition(" ")
    same = ' class="same"' if each.methods == (TEXT,) and not each.difference else ""
    cells = (
        f'<td class="number" data-name="step">{"whole" if each.is_whole else each.number}</td>',
        f'<td class="pipeline" data-name="pipeline">{html_text(each.pipeline)}</td>',
        f'<td class="pass" data-name="pass">{html_text(each.change)}</td>',
        f'<td class="verdict {each.verdict}">{verdict} <span class="methods">{html_text(methods)}</span></td>',
        f'<td class="evidence">{_evidence(each)}</td>',
        f'<td class="number" data-name="seconds">{each.seconds:.1f}</td>',
    )
    return f'<tr id="{_anchor(each)}"{same}>{"".join(cells)}</tr>'


def _evidence(each: StepResult) -> str:
    parts = [f"<p>{html_text(line)}</p>" for line in each.said]
    if each.difference:
        count = sum(line[:1] in "+-" for line in each.difference.split("\n"))
        parts.append(_details(f"{count} line{'s' * (count != 1)} of the text changed", each.difference))
    if each.reduced is not None:
        kept = f"<p>reduced: {html_text(each.reduced.kept)}</p><p><code>{html_text(each.reduced.command)}</code></p>"
        parts.append(kept)
        parts.append(_details("the reduced module before the pass", each.reduced.before))
        parts.append(_details("the reduced module after it", each.reduced.after))
    return "".join(parts)


def _details(summary: str, text: str) -> str:
    lines = "".join(_line(line) for line in text.split("\n"))
    return f'<details><summary>{html_text(summary)}</summary><pre tabindex="0">{lines}</pre></details>'


def _line(line: str) -> str:
    mark = _MARKS.get(line[:1], "")
    kind = f' class="{mark}"' if mark else ""
    return f"<span{kind}>{html_text(line) or '&#160;'}</span>"
