"""`relayout print --count`: how many operations modules have, and the bytes that these make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from dialect_utils.io.inputs import Input
from dialect_utils.ops.device_counts import notes_of_report
from dialect_utils.text import Diagnostic
from dialect_utils.tools.counting import KEYS, Counts, Key, count_operations, sum_of
from dialect_utils.tools.extraction import find_function
from relayout.batch.unit import Unit
from relayout.command import MODULES, Command, InputOptions, LimitOptions, files_or_input
from relayout.console import DONE, Console, print_failure, print_json
from relayout.options import argument, choices, count, group, option, usage_error
from relayout.process import REWRITING_SECONDS_PER_MEGABYTE
from relayout.reporting.terminal import format_table


@dataclass(frozen=True, kw_only=True)
class Count(Command):
    """The operations of all modules together, as a table."""

    examples = (
        "relayout print --count examples/attention_tpu.hlo",
        "relayout print --count examples --by opcode,type --top 5",
    )

    files: tuple[str, ...] = argument("FILE", MODULES, "*")
    selection: InputOptions = group(InputOptions)
    by: tuple[Key, ...] = option("LIST", f"some of {','.join(KEYS)} (opcode)", choices(*KEYS), default=("opcode",))
    computation: str | None = option("NAME", "count this computation, function or region only")
    top: int | None = option("N", "print the N most frequent rows", count)
    limits: LimitOptions = group(LimitOptions, timeout="for all FILEs (default 9, more for large ones)")

    def plan(self, console: Console) -> Sequence[Unit]:
        if len(set(self.by)) < len(self.by):
            raise usage_error(f"--by {','.join(self.by)} names a key twice")
        inputs = tuple(self.selection.find(files_or_input(self.files), console))
        return [Unit(inputs, seconds=self.limits.seconds(inputs, REWRITING_SECONDS_PER_MEGABYTE))]

    def work(self, unit: Unit, console: Console) -> int:
        together = Counts(self.by)
        notes: dict[str, Diagnostic] = {}
        statuses = [
            console.attempt(partial(self._count, each, together, notes), self._failed(each)) for each in unit.inputs
        ]
        console.diagnose(notes.values())
        if not self.json and DONE in statuses:
            _print_table(together, statuses.count(DONE), self.top)
        return max(statuses)

    def _failed(self, read: Input) -> Callable[[str], None] | None:
        return partial(print_failure, {"file": read.path}) if self.json else None

    def _count(self, read: Input, together: Counts, notes: dict[str, Diagnostic]) -> int:
        module = read.module()
        notes.update({each.message: each for each in notes_of_report(module)})
        functions = None if self.computation is None else [find_function(module, self.computation)]
        counts = count_operations(module, self.by, functions)
        together.add(counts.rows.items())
        if self.json:
            rows = [
                {**dict(zip(counts.keys, names, strict=True)), **tally._asdict()}
                for names, tally in counts.sorted()[: self.top]
            ]
            print_json({"file": read.path, **counts.total._asdict(), "rows": rows})
        return DONE


def _print_table(counts: Counts, modules: int, top: int | None) -> None:
    rows = counts.sorted()
    shown, others = rows[:top], [tally for _, tally in rows[len(rows[:top]) :]]
    blanks = [""] * (len(counts.keys) - 1)
    listed = [(tally, list(names)) for names, tally in shown]
    if others:
        listed.append((sum_of(others), [f"{len(others)} others", *blanks]))
    listed.append((counts.total, ["total" if modules == 1 else f"total of {modules} modules", *blanks]))
    width = max(len("bytes"), *(len(str(tally.bytes)) for tally, _ in listed))
    cells = [[str(tally.operations), str(tally.bytes).rjust(width), *names] for tally, names in listed]
    print("\n".join(format_table(["operations", "bytes".rjust(width), *counts.keys], cells)))
