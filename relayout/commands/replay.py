"""`relayout check --replay`: checks the certificate of a proof that two modules are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.io.files import function_of, read_bytes, read_module
from dialect_utils.io.inputs import named_input
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import verify
from relayout.batch.unit import Unit
from relayout.command import Command, LimitOptions, function_option
from relayout.console import DONE, Console, print_json
from relayout.options import argument, group
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE


@dataclass(frozen=True, kw_only=True)
class Replay(Command):
    """The check of a certificate, without the code that made it."""

    examples = (
        "relayout check examples/negate.hlo examples/negate.hlo --certificate p.json && "
        "relayout check --replay examples/negate.hlo examples/negate.hlo p.json",
        "relayout check examples/negate.hlo examples/negate.hlo --engines proof --certificate q.json && "
        "relayout check --replay examples/negate.hlo examples/negate.hlo q.json --json",
    )

    first: str = argument("FILE", "the first module")
    last: str = argument("FILE", "the module that computes the same")
    certificate: str = argument("CERTIFICATE", "what `relayout check --certificate` wrote for both")
    function: str | None = function_option()
    limits: LimitOptions = group(LimitOptions, timeout="for the whole check (default 9, more for large files)")

    def plan(self, console: Console) -> Sequence[Unit]:
        inputs = tuple(map(named_input, (self.first, self.last, self.certificate)))
        return [Unit(inputs, seconds=self.limits.seconds(inputs, CHECKING_SECONDS_PER_MEGABYTE))]

    def work(self, unit: Unit, console: Console) -> int:
        modules = [read_module(file, function_of(self.function)) for file in (self.first, self.last)]
        for module in modules:
            verify(module)
        from dialect_utils.verdict.certificate import clauses, read_certificate
        from dialect_utils.verdict.outcome import CONDITIONAL, answer_text
        from dialect_utils.verdict.replay import replay

        certificate = read_certificate(read_bytes(self.certificate).decode(errors="replace"), self.certificate)
        replayed = replay(modules, certificate)
        if not replayed.is_equal:
            open_ = [f"output {i}" for i, level in enumerate(replayed.outputs) if level is None]
            open_ += [] if replayed.effects is not None else ["the side effects"]
            reason = replayed.refused or f"the steps do not prove {', '.join(open_)} equal"
            raise DiagnosticError(f"{self.certificate} does not replay: {reason}")
        choices, conditions = replayed.all_choices, clauses(replayed.conditions)
        verdict = CONDITIONAL if conditions else "equal"
        if self.json:
            found = {"verdict": verdict, "up_to": list(choices), "conditions": list(conditions)}
            print_json({**found, "steps": len(certificate.steps)})
        else:
            print(f"{answer_text(verdict, choices, conditions)}: all {len(certificate.steps)} steps replay")
        return DONE
