"""Passes inside of a compilation of `relayout opt --inside`, compared with the compilation without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from dialect_utils.execution.compilers import CPU, Compiled, InsideCompiler, compile_inside
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.io.protos import module_key
from dialect_utils.ir import Module
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.text import Diagnostic, DiagnosticError, format_bytes
from passes.dumps.executable import as_program
from passes.framework.pipeline import Pipeline, verify
from relayout.inside import Handed, rewrite
from relayout.tuning.trials import counted_figures

_COPIES = ("copy", "copy-start")


@dataclass(frozen=True)
class Side:
    """One of two compilations: the optimized dump, and the compiler's figures."""

    compiled: Compiled

    @cached_property
    def module(self) -> HloModule:
        """Returns the optimized module."""
        return parse_module(self.compiled.dump, "<compiled>")

    @cached_property
    def order(self) -> list[str]:
        """Returns the names of the entry's operations in the order of the schedule."""
        return [each.results[0].name for each in self.module.entry.operations]

    def figures(self) -> dict[str, int]:
        """Returns the figures that are compared, by name: bytes as `relayout report` counts them, and numbers."""
        found = counted_figures(self.compiled.figures, self.compiled.dump)
        return {
            "peak": found.peak,
            "arguments": found.argument,
            "temporaries": found.temp,
            "accessed": found.accessed,
            "copies": sum(each.opcode in _COPIES for each in self.module.operations()),
            "scheduled operations": len(self.order),
        }


@dataclass(frozen=True, slots=True)
class Insertion:
    """A compilation without passes and with them, and the modules that the passes changed, with their proofs."""

    before: Side
    after: Side
    changed: int
    handed: int
    notes: tuple[Diagnostic, ...]

    @property
    def keeps_order(self) -> bool:
        """Is true where the operations of both schedules are in the same order."""
        common = {*self.before.order} & {*self.after.order}
        first, second = ([name for name in side.order if name in common] for side in (self.before, self.after))
        return first == second

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON keys of the comparison."""
        sides = {"without": self.before.figures(), "with": self.after.figures()}
        return {"handed_over": self.handed, "changed": self.changed, "keeps_order": self.keeps_order, **sides}

    def lines(self) -> Iterator[str]:
        """Yields the lines of the comparison."""
        yield f"modules handed over: {self.handed}, changed by the passes and proved equal: {self.changed}"
        yield f"{'':22}{'without':>14}{'with':>14}"
        after = self.after.figures()
        for name, old in self.before.figures().items():
            shown = str if name in ("copies", "scheduled operations") else format_bytes
            yield f"{name:22}{shown(old):>14}{shown(after[name]):>14}"
        yield f"the operations of both schedules are in {'the same' if self.keeps_order else 'another'} order"


class Compilation:
    """One program for a target, compiled again and again with other passes inside. A context manager.

    `before` is the compilation without passes, and `handed` are the modules that it hands over. Raises DiagnosticError
    where the compiler rejects the program. A compilation with a `folder` writes the modules of all passes there.
    """

    def __init__(self, module: Module, target: str, stage: str, folder: str = "") -> None:
        verify(module)
        self._text = as_program(module).text()
        platform = CPU if target == CPU else parse_target(target).platform
        self._again = partial(compile_inside, self._text, target, stage)
        self._compiler = InsideCompiler(target, stage, folder)
        compiled, handed = self._compiler.compile(self._text)
        found = (Handed.read(platform, data) for data in dict.fromkeys(handed))
        self.before, self.handed = Side(compiled), [each for each in found if not each.is_part]

    def __enter__(self) -> Compilation:
        return self

    def __exit__(self, *_: object) -> None:
        self._compiler.__exit__()

    def insert(self, pipeline: Pipeline, require: str | None, seconds: float, folder: str = "") -> Insertion:
        """Compiles the program with passes; `require` is as for `rewrite`.

        Both compilations must hand over the same modules: the passes work between the two, and not in the compiler.
        Raises DiagnosticError where a pass's result is not given back, and where the compiler rejects a module.
        """
        done = [rewrite(each, pipeline, require, seconds) for each in self.handed]
        pairs = zip(self.handed, done, strict=True)
        answers = {module_key(each.data): result.data for each, result in pairs if result.data}
        after = self.before
        if answers or folder:
            kept = self._compiler.compile
            again, handed = self._again(answers, folder) if folder else kept(self._text, answers)
            if not answers.keys() <= {*map(module_key, handed)}:
                raise DiagnosticError("the second compilation hands over other modules than the first")
            after = Side(again)
        notes = tuple(note for result in done for note in result.notes)
        return Insertion(self.before, after, len(answers), len(self.handed), notes)


def insert(
    module: Module,
    target: str,
    stage: str,
    pipeline: Pipeline,
    require: str | None,
    seconds: float,
    folders: Sequence[str] = ("", ""),
) -> Insertion:
    """Compiles a program without passes and with them, each with its folder of `folders`, if it has one."""
    with Compilation(module, target, stage, folders[0]) as compilation:
        return compilation.insert(pipeline, require, seconds, folders[1])
