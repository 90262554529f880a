"""`relayout print`: modules as short texts for people."""

from __future__ import annotations

from dataclasses import dataclass

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from dialect_utils.tools.printing import DETAILS, Detail, format_short
from relayout.command import BatchOptions, EachModule
from relayout.console import DONE, Console, print_json
from relayout.options import choices, group, option
from relayout.output import write_output


@dataclass(frozen=True, kw_only=True)
class Print(EachModule):
    """A short text of each module, or of one of its computations."""

    examples = (
        "relayout print examples/attention_tpu.hlo",
        "relayout print examples/attention_tpu.hlo --computation main.4 --keep names",
    )

    computation: str | None = option("NAME", "print this computation, function or region only")
    keep: tuple[Detail, ...] = option(
        "LIST", f"what is not left out or made shorter, of {','.join(DETAILS)}", choices(*DETAILS), default=()
    )
    batch: BatchOptions = group(BatchOptions)

    def run(self, read: Input, target: str | None, console: Console) -> int:
        text = format_short(read.module(), keep=self.keep, computation=self.computation)
        if self.json:
            print_json({"file": read.path, "module": text})
            return DONE
        # A comment distinguishes the texts of several modules.
        heading = f"// {read.name}\n" if self.has_several else ""
        write_output(target, encode(heading + text))
        return DONE
