"""`relayout opt --inside`: runs passes inside of a compiler, and compares the compilation with one without them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.engine_names import REQUIRED, STAGES, UP_TO, Stage
from dialect_utils.io import files
from dialect_utils.io.inputs import Input
from relayout.command import EachModule
from relayout.console import DONE, Console, print_json
from relayout.options import choice, excludes, group, needs, option
from relayout.output import STANDARD_OUTPUT, check_uncompressed, output_files, output_name, write_output
from relayout.pipelines import PipelineOptions

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

    @property
    def may_compile(self) -> bool:
        return True

    def seconds(self, read: Input) -> float:
        return self.limits.timeout or _SECONDS

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        output = self.output
        if output is None or output == STANDARD_OUTPUT:
            return {}
        return output_files(inputs, output, lambda name: output_name(name, "text"), lambda: check_uncompressed(output))

    def run(self, read: Input, target: str | None, console: Console) -> int:
        # Imported here: --help starts no compiler.
        from relayout.insertion import Compilation

        seconds = self.seconds(read) / 2
        pipeline = self.pipeline.read()
        with Compilation(read.module(), self.inside, self.at) as compilation:
            found = compilation.insert(pipeline, self.require, seconds)
        console.diagnose(found.notes)
        dump = found.after.compiled.dump
        if not (self.json and target is None):
            write_output(target, files.encode(dump))
        if self.json:
            print_json({"file": read.path, **found.as_json(), **({"module": dump} if target is None else {})})
        else:
            print("\n".join(found.lines()), file=sys.stderr)
        return DONE
