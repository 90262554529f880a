"""The result of a search as a page for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dialect_utils.execution.compilers import Figures
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.text import format_bytes
from relayout.reporting.terminal import clip, format_table
from relayout.tuning.changes import EntryArray, entry_shapes
from relayout.tuning.search import Modelled, Tuning
from relayout.tuning.trials import NOTABLE, OBJECTIVES, Objective, Trial, needed_bytes, relative

_HEADER = ("", "change", "peak", "arguments", "temporaries", "accessed", "estimated")
_NAMES: dict[Objective, str] = {"peak": "peak", "bytes": "bytes accessed", "time": "estimated time"}
_LONGEST_ERROR = 100
# A longer change shows its end: of passes inside of the compiler, the last ones are new.
_LONGEST_CHANGE = 100
# The most changes without a proof that are listed.
_UNPROVED = 3


def tuning_page(tuning: Tuning, width: int | None = None) -> str:
    """Returns a search as a page: every trial, the best one, and its evidence."""
    return clip(_lines(tuning), width)


def trial_line(trial: Trial, start: Trial, *, is_best: bool) -> str:
    """Returns one line about a trial, for the progress of a search."""
    if trial.figures.error:
        return f"  {trial.change.described(start.change)}: {_failure(trial.figures)}"
    mark, _, *cells = _row(trial, start, is_best=is_best)
    return f"{mark:1} {trial.change.described(start.change)}: " + ", ".join(
        f"{name} {cell}" for name, cell in zip(_HEADER[2:], cells, strict=True) if cell
    )


def _lines(tuning: Tuning) -> Iterator[str]:
    start, best = tuning.start, tuning.best
    yield f"{tuning.target}, {tuning.version}: {len(tuning.trials)} programs compiled, none of them executed"
    yield "bytes are those that relayout report counts: of main memory, and accessed by loops in all iterations"
    if not parse_target(tuning.target).has_costs:
        yield "the compiler estimates no time"
    rows = [_row(each, start, is_best=each == best) for each in tuning.trials]
    yield from format_table(_HEADER, rows)
    if tuning.correlation is not None:
        yield f"rank correlation of the model with the {_NAMES[tuning.objective]}: {tuning.correlation:.2f}"
    for change, reason in tuning.unproved[:_UNPROVED]:
        no_proof = f"no proof that it is equal to the program as it is: {reason}"
        yield f"not offered: {change.described(start.change)}: {no_proof}"
    if best == start:
        yield f"no change makes the {_NAMES[tuning.objective]} of the program {NOTABLE:.0%} smaller, with a proof"
        return
    yield f"best {_NAMES[tuning.objective]}: {best.change.described(start.change)}"
    yield from _worse(tuning)
    yield f"  {tuning.proof}"
    if best.change.inside:
        yield "  and so is the module inside of the compiler, with each pass; for the program that -o OUT writes:"
        yield f"  relayout opt OUT --inside {tuning.target} -p '{best.change.inside}'"
    yield from (f"  {entry} {layout}" for entry, layout in _layouts(tuning))


def _row(trial: Trial, start: Trial, *, is_best: bool) -> Sequence[str]:
    mark = "*" if is_best else ""
    change, figures = trial.change.described(start.change), trial.figures
    if len(change) > _LONGEST_CHANGE:
        change = f"... {change[-_LONGEST_CHANGE:].partition(',')[2]}"
    if figures.error:
        return (mark, change, _failure(figures), "", "", "", "")
    peak, accessed, seconds = (_changed(start.figures, figures, each) for each in OBJECTIVES)
    arguments, temporaries = format_bytes(figures.argument), format_bytes(figures.temp)
    return (mark, change, peak, arguments, temporaries, accessed, seconds)


def _failure(figures: Figures) -> str:
    needed = needed_bytes(figures)
    if needed is not None:
        return f"out of memory: {format_bytes(needed)}"
    first = " ".join(figures.error.split())
    return f"rejected: {first[:_LONGEST_ERROR]}"


def _changed(before: Figures, after: Figures, objective: Objective) -> str:
    """Returns a figure, with its change where that is notable."""
    if objective == "time":
        text = f"{after.seconds * 1e6:.4g} us" if after.seconds > 0 else "not positive" * (after.seconds < 0)
    else:
        text = format_bytes(after.peak if objective == "peak" else after.accessed)
    part = relative(before, after, objective)
    return text if part is None or abs(part) < NOTABLE else f"{text} {part:+.0%}"


def _worse(tuning: Tuning) -> Iterator[str]:
    """Yields a line for each figure that the best change makes notably worse."""
    for each in OBJECTIVES:
        part = relative(tuning.start.figures, tuning.best.figures, each)
        if part is not None and part >= NOTABLE:
            yield f"  but its {_NAMES[each]} is {part:.1%} larger than that of the program as it is"


def _layouts(tuning: Tuning) -> Iterator[tuple[EntryArray, str]]:
    """Yields the arguments and results whose layouts the best program chooses, with their layouts."""
    figures, shapes = tuning.best.figures, entry_shapes(tuning.program)
    for entry in tuning.best.change.entry_arrays:
        found = figures.results if entry.is_result else figures.parameters
        if tuning.best.change.mode(entry) != tuning.start.change.mode(entry) and entry.number < len(found):
            yield entry, f"{shapes.get(entry)}{found[entry.number]}"


def modelled_page(modelled: Modelled, width: int | None = None) -> str:
    """Returns the modelled figures of changes as a page: every change, the best one, and its evidence."""
    return clip(_modelled_lines(modelled), width)


def _modelled_lines(modelled: Modelled) -> Iterator[str]:
    yield f"{parse_target(modelled.target).name}, modelled: no program was compiled"
    rows = [
        ("*" * (change == modelled.best), change.described(modelled.start), *map(format_bytes, map(round, figures)))
        for change, figures in modelled.figures
    ]
    yield from format_table(("", "change", "peak", "accessed"), rows)
    if modelled.best == modelled.start:
        yield f"no change with a proof has a smaller modelled {_NAMES[modelled.objective]} than the program as it is"
        return
    yield f"best modelled {_NAMES[modelled.objective]}: {modelled.best.described(modelled.start)}"
    yield f"  {modelled.proof}"


def modelled_json(modelled: Modelled) -> dict[str, Any]:
    """Returns the modelled figures of changes as JSON."""
    changes = [change for change, _ in modelled.figures]
    return {
        "target": parse_target(modelled.target).name,
        "objective": modelled.objective,
        "best": changes.index(modelled.best),
        "proof": modelled.proof,
        "changes": [{"change": asdict(change), **figures._asdict()} for change, figures in modelled.figures],
    }


def tuning_json(tuning: Tuning) -> dict[str, Any]:
    """Returns a search as JSON."""
    return {
        "target": tuning.target,
        "compiler": tuning.version,
        "objective": tuning.objective,
        "best": tuning.trials.index(tuning.best),
        "proof": tuning.proof,
        "unproved": [{"change": asdict(change), "reason": reason} for change, reason in tuning.unproved],
        "correlation": tuning.correlation,
        "trials": [{"change": asdict(each.change), **asdict(each.figures)} for each in tuning.trials],
    }
