"""A trial of advice: StableHLO compiled for a target with and without the advised entry layouts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dialect_utils.execution.compilers import CPU, compile_for
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Layout, Shape
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.relayouts import orders_without
from dialect_utils.memory.sharing import elements
from dialect_utils.text import format_bytes
from relayout.reporting.terminal import clip, format_table
from relayout.tuning.changes import EntryArray, as_stablehlo, change_of, changed_module, entry_shapes, mode_of

# The words of `relayout report`, and the names of its totals.
_SHOWN = {
    "arguments": "argument_bytes",
    "outputs": "output_bytes",
    "of which alias": "alias_bytes",
    "temporaries": "temporary_bytes",
    "peak": "main_memory_peak_bytes",
    "accessed": "bytes_accessed",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The reports before and after the advised layouts; `layouts` are pairs: (`argument 0`, layout)."""

    target: str
    layouts: tuple[tuple[str, str], ...]
    before: MemoryReport
    after: MemoryReport | None


def try_advice(module: Module, target: str) -> Trial:
    """Compiles a StableHLO module for a target, then again with the advised layouts of its arguments and results.

    Raises DiagnosticError for HLO, which the compilers do not accept, and the errors of `compile_for`.
    """
    program = as_stablehlo(module)
    before, shapes = compiled_report(program, target), entry_shapes(program)
    wanted = {
        each: order
        for side, values in ((False, before.module.entry.parameters), (True, before.module.entry.results))
        for number, order in _wanted(before, side, values)
        if (each := EntryArray(side, number)) in shapes
    }
    if not wanted:
        return Trial(target, (), before, None)
    change = change_of(program)
    for each, order in wanted.items():
        change = change.with_mode(each, mode_of(order))
    after = compiled_report(changed_module(program, change), target)
    found = [[part for shape in side for part in shape.parts] for side in after.module.entry_layout]
    said = (
        (str(each), _said(shapes[each].with_layout(Layout(wanted[each])), found[each.is_result][each.number]))
        for each in sorted(wanted)
    )
    return Trial(target, tuple(said), before, after)


def compiled_report(module: Module, target: str) -> MemoryReport:
    """Compiles StableHLO for a target and returns the report of the dump; raises the errors of `compile_for`."""
    compiled = parse_bytes(encode(compile_for(module.text(), target).dump), "compiled.hlo")
    return MemoryReport(compiled, None if target == CPU else target)


def _said(wanted: ArrayShape, found: Shape) -> str:
    """Returns the layout that was asked for, and the compiler's where that has another order of dimensions."""
    order = wanted.effective_layout.minor_to_major
    is_same = isinstance(found, ArrayShape) and found.effective_layout.minor_to_major == order
    return str(wanted) if is_same else f"{wanted}, for which the compiler took {found}"


def _wanted(report: MemoryReport, side: bool, values: Sequence[Value]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yields (number, minor_to_major) for arguments that are moved to another order, or results moved from one."""
    numbers = {value: number for number, value in enumerate(elements(values) if side else values)}
    for move in report.moves:
        value = (move.operation.operands, move.operation.results)[side][0]
        if value in numbers and (orders := orders_without(move)) is not None:
            yield numbers[value], orders[side]


def trial_page(trial: Trial, width: int | None = None) -> str:
    """Returns a trial as a page for a terminal."""
    return clip(_lines(trial), width)


def _lines(trial: Trial) -> Iterator[str]:
    yield f"compiled for {trial.target}; the figures are those of relayout report"
    if trial.after is None:
        rows = [(name, format_bytes(size)) for name, size in _figures(trial.before)]
        yield from format_table(("", "as it is"), rows)
        yield "no argument and no result is copied to another order of its dimensions: there is nothing to try"
        return
    for name, layout in trial.layouts:
        yield f"  {name} handed {'over' if name.startswith('argument') else 'back'} as {layout}"
    old, new = dict(_figures(trial.before)), dict(_figures(trial.after))
    rows3 = [(name, format_bytes(old[name]), format_bytes(new[name])) for name in old]
    yield from format_table(("", "as it is", "as advised"), rows3)


def _figures(report: MemoryReport) -> list[tuple[str, int]]:
    totals = report.totals()
    return [(word, totals[name]) for word, name in _SHOWN.items()]
