"""`relayout extract`: a part of a module as a module of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Value
from dialect_utils.tools.extraction import find_part, part_as_module
from passes.framework.pipeline import verify
from relayout.command import EachModule, LimitOptions
from relayout.console import DONE, Console, print_json
from relayout.options import argument, count, flag, group, natural, option, usage_error
from relayout.output import STANDARD_OUTPUT, text_files, write_output


@dataclass(frozen=True, kw_only=True)
class Extract(EachModule):
    """An operation or a computation of a module, with what it needs, as a module."""

    examples = (
        "relayout extract examples/attention_tpu.hlo fusion.17",
        "relayout extract examples/attention.mlir 10 --up-to --json",
    )

    files: tuple[str, ...] = argument("FILE", "HLO or StableHLO in any format; - is standard input", 1)
    value: str | None = argument("VALUE", "the name of an operation or of a computation", "?")
    computation: str | None = option("NAME", "where VALUE is; without VALUE: what is extracted")
    up_to: bool = flag("with all operations that VALUE needs")
    before: int | None = option("N", "with the operations up to N steps before VALUE", natural)
    around: int | None = option("N", "with the operations up to N steps before and after VALUE", count)
    output: str | None = option("OUT", "write the text here, a file or DIR/", str, "-o", "--output")
    limits: LimitOptions = group(LimitOptions, timeout="for FILE (default 9, more for a large one)")

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        self._check()
        if len(inputs) > 1:
            hint = "--module NAME and --stage NAME choose one"
            raise usage_error(f"{self.files[0]} has {len(inputs)} modules, and VALUE is in one", hint)
        if self.output is None or self.output == STANDARD_OUTPUT:
            return {}
        return text_files(inputs, self.output)

    def _check(self) -> None:
        if self.value is None and self.computation is None:
            raise usage_error("expected a VALUE", "relayout print FILE shows the names")
        steps = {"--up-to": self.up_to or None, "--before": self.before, "--around": self.around}
        given = [name for name, value in steps.items() if value is not None]
        if len(given) > 1:
            raise usage_error(f"{' and '.join(given)} choose different operations", "leave one of them out")
        if given and self.value is None:
            raise usage_error(
                f"{given[0]} is about a VALUE, and a whole computation is extracted", "name a VALUE in it"
            )

    def run(self, read: Input, target: str | None, console: Console) -> int:
        module = read.module()
        verify(module)
        before = None if self.up_to else self.around or self.before or 0
        try:
            part = find_part(module, self.value, computation=self.computation, before=before, after=self.around or 0)
        except ValueError as error:
            raise usage_error(f"{self.value} is not an operation: {error}") from None
        made = part_as_module(module, part)
        verify(made)
        if target is not None or not self.json:
            write_output(target, encode(made.text()))
        if self.json:
            text = {} if target is not None else {"module": made.text()}
            described = {"inputs": _described(part.inputs), "results": _described(part.results)}
            print_json({"file": read.path, "computation": part.function.name, **described, **text})
        return DONE


def _described(values: Sequence[Value]) -> list[dict[str, str]]:
    return [{"name": value.name, "shape": str(value.shape)} for value in values]
