"""`relayout convert`: modules in another format, between HLO and StableHLO too."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.io.dump_names import without_endings
from dialect_utils.io.files import decode
from dialect_utils.io.inputs import Input
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.tools.conversion import FORMS, Form, in_dialect_of, not_kept, write
from passes.framework.pipeline import verify
from relayout.command import BatchOptions, EachModule
from relayout.console import DONE, Console, print_json
from relayout.options import choice, flag, group, option, usage_error
from relayout.output import STANDARD_OUTPUT, check_uncompressed, output_files, write_output

# The endings of files of each form; the first is that of new files.
_ENDINGS: dict[Form, tuple[str, ...]] = {
    "hlo": (".hlo", ".txt"),
    "pb": (".hlo.pb", ".pb"),
    "stablehlo": (".mlir",),
    "bytecode": (".mlirbc", ".bc"),
    "portable": (".mlirbc", ".bc"),
}
_TEXTS: tuple[Form, ...] = ("hlo", "stablehlo")


@dataclass(frozen=True, kw_only=True)
class Convert(EachModule):
    """Each module in another format, of the other dialect, too."""

    examples = (
        "relayout convert examples/negate.hlo --to stablehlo",
        "relayout convert examples/attention.mlir -o attention.hlo.pb --json",
    )

    to: Form | None = option(
        "TO",
        "hlo, pb (HloModuleProto), stablehlo, bytecode, portable (an artifact); default: by the ending of OUT",
        choice(*FORMS),
    )
    batch: BatchOptions = group(BatchOptions)
    output: str | None = option("OUT", "a file, or a directory for several modules: DIR/", str, "-o", "--output")
    locations: bool = flag("print StableHLO with locations: the names of HLO")

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        output, form = self.output, self.form
        if self.locations and FORMS[form][0] == "hlo":
            raise usage_error("--locations is for StableHLO, HLO always has its names")
        if output is None or output == STANDARD_OUTPUT:
            if form not in _TEXTS and sys.stdout.isatty():
                raise usage_error(f"--to {form} writes no text for a terminal", "write it to a file with -o OUT")
            if form not in _TEXTS and self.json:
                raise usage_error(f"--json prints text, and --to {form} writes none", "write it to a file with -o OUT")
            return {}

        def check() -> None:
            check_uncompressed(output)
            if _form_of(output) not in (None, form) and not output.endswith(_ENDINGS[form]):
                raise usage_error(f"-o {output}: {form} has another ending, such as {_ENDINGS[form][0]}")

        return output_files(inputs, output, lambda name: without_endings(name) + _ENDINGS[form][0], check)

    @property
    def form(self) -> Form:
        """Returns the form that --to names, or that of the ending of OUT; raises UsageError for neither."""
        form = self.to or _form_of(self.output or "")
        if form is None:
            raise usage_error("expected --to FORM, or an OUT with the ending of one", f"one of {', '.join(FORMS)}")
        return form

    def run(self, read: Input, target: str | None, console: Console) -> int:
        form = self.form
        module = read.with_constants().module()
        verify(module)
        notes = (*devices_of(module).notes, *not_kept(module, form))
        console.diagnose(notes)
        converted = in_dialect_of(form, module)
        verify(converted)
        made = write(converted, form, locations=self.locations)
        if target is not None or not self.json:
            write_output(target, made)
        if self.json:
            text = {"module": decode(made)} if target is None else {}
            print_json({"file": read.path, "form": form, "notes": [note.message for note in notes], **text})
        return DONE


def _form_of(output: str) -> Form | None:
    return next((form for form, endings in _ENDINGS.items() if output.endswith(endings)), None)
