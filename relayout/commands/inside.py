"""`relayout opt --inside`: runs passes inside of a compiler, and compares the compilation with one without them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from dialect_utils.engine_names import REQUIRED, STAGES, UP_TO, Stage
from dialect_utils.io import files
from dialect_utils.io.inputs import Input
from relayout.command import EachModule
from relayout.console import DONE, Console, print_json
from relayout.options import choice, excludes, group, needs, option, parsed, usage_error
from relayout.output import STANDARD_OUTPUT, text_files, write_output
from relayout.pipelines import PipelineOptions
from relayout.validation.compilation import new_folder

_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Inside(EachModule):
    """Each program, compiled without the passes and with them."""

    examples = (
        "relayout opt examples/negate.hlo --inside cpu -p expand-bitcasts",
        "relayout opt examples/negate.hlo --inside cpu -p expand-bitcasts --json",
    )
    rules = (
        needs(("inside",), "passes", reason="without -p SPEC"),
        excludes("inside", ("verify_each",), "with --inside: a module that goes back is always verified"),
    )

    inside: str = option("TARGET", "compile FILE with the passes inside: tpu-v5e, gpu-h100, cpu", default="")
    pipeline: PipelineOptions = group(PipelineOptions)
    at: Stage = option("STAGE", f"{' or '.join(STAGES)}", choice(*STAGES), default=STAGES[0])
    require: str = option("ANSWER", "the weakest answer for a changed module", choice(*REQUIRED), default=UP_TO)
    output: str | None = option("OUT", "a file, or a directory for several modules: DIR/", str, "-o", "--output")
    dump: str | None = option("DIR", "keep the modules of all passes: DIR/without, DIR/with")
    compilations: tuple[str, ...] = ("without", "with")

    @contextmanager
    def prepared(self) -> Iterator[Self]:
        yield self if self.dump is None else replace(self, compiled=new_folder(self.dump, *self.compilations))

    @property
    def may_compile(self) -> bool:
        return True

    def seconds(self, read: Input) -> float:
        return self.limits.timeout or _SECONDS

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        from dialect_utils.execution.compilers import compilable_target

        parsed(compilable_target, self.inside)
        if len(inputs) > 1 and self.dump is not None:
            raise usage_error("--dump keeps the modules of one program", "name one FILE")
        if self.output is None or self.output == STANDARD_OUTPUT:
            return {}
        return text_files(inputs, self.output)

    def run(self, read: Input, target: str | None, console: Console) -> int:
        from relayout.insertion import insert

        seconds = self.seconds(read) / 2
        given = (self.inside, self.at, self.pipeline.read(), self.require, seconds)
        folders = [os.path.join(self.compiled, side) if self.compiled else "" for side in self.compilations]
        found = insert(read.module(), *given, folders)
        console.diagnose(found.notes)
        dump = found.after.compiled.dump
        if not (self.json and target is None):
            write_output(target, files.encode(dump))
        if self.json:
            print_json({"file": read.path, **found.as_json(), **({"module": dump} if target is None else {})})
        else:
            print("\n".join(found.lines()), file=sys.stderr)
        return DONE
