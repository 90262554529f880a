"""A trial of advice: StableHLO compiled for a TPU with and without the advised entry layouts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dialect_utils.execution.tpu_compiler import Compiled, compile_for_tpu
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.memory import MemoryReport
from dialect_utils.text import Diagnostic, DiagnosticError, format_bytes
from relayout.report.terminal import clip, format_table

_SHOWN = ("argument_bytes", "output_bytes", "alias_bytes", "temp_bytes", "peak_bytes")


@dataclass(frozen=True, slots=True)
class Trial:
    """The compiler's figures before and after the advised layouts; `layouts` are changed (argument, layout) pairs."""

    target: str
    layouts: tuple[tuple[int, str], ...]
    before: Compiled
    after: Compiled | None
    report: MemoryReport


def try_advice(module: Module, target: str) -> Trial:
    """Compiles a StableHLO module for a target, then again with the advised layouts of its arguments.

    Raises DiagnosticError for HLO, which the TPU compiler does not accept, and the errors of `compile_for_tpu`.
    """
    if module.dialect != "stablehlo":
        message = f"{module.name or 'the module'} is HLO; the TPU compiler is given the StableHLO of a program"
        raise DiagnosticError(Diagnostic(message))
    before = compile_for_tpu(module.text(), target)
    report = MemoryReport(parse_bytes(encode(before.dump), "compiled.hlo"), target)
    wanted = dict(_wanted_layouts(report))
    if not wanted:
        return Trial(target, (), before, None, report)
    changed = module.clone()
    parameters, results = changed.entry_layout
    layouts = [
        shape.with_layout(Layout(wanted[number])) if number in wanted and isinstance(shape, ArrayShape) else shape
        for number, shape in enumerate(parameters)
    ]
    changed.set_entry_layout(layouts, results)
    after = compile_for_tpu(changed.text(), target)
    said = tuple((number, str(layouts[number])) for number in sorted(wanted))
    return Trial(target, said, before, after, report)


def _wanted_layouts(report: MemoryReport) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yields (argument, minor_to_major) for the arguments that are copied to another order of dimensions."""
    numbers = {value: number for number, value in enumerate(report.module.entry.parameters)}
    for move in report.moves:
        value = move.operation.operands[0]
        layout = move.result.layout
        if move.kind == "relayout" and value in numbers and layout and move.source.dimensions == move.result.dimensions:
            yield numbers[value], layout.minor_to_major


def trial_page(trial: Trial, width: int | None = None) -> str:
    """Returns a trial as a page for a terminal."""
    return clip(_lines(trial), width)


def _lines(trial: Trial) -> Iterator[str]:
    yield f"compiled for {trial.target}; the compiler's own figures"
    if trial.after is None:
        rows = [(name.removesuffix("_bytes"), format_bytes(size)) for name, size in _figures(trial.before)]
        yield from format_table(("", "as it is"), rows)
        yield "no argument is copied to another order of its dimensions: there is nothing to try"
        return
    for number, layout in trial.layouts:
        yield f"  argument {number} handed over as {layout}"
    old, new = dict(_figures(trial.before)), dict(_figures(trial.after))
    rows3 = [(name.removesuffix("_bytes"), format_bytes(old[name]), format_bytes(new[name])) for name in old]
    yield from format_table(("", "as it is", "as advised"), rows3)


def _figures(compiled: Compiled) -> list[tuple[str, int]]:
    return [(name, compiled.memory[name]) for name in _SHOWN if name in compiled.memory]
