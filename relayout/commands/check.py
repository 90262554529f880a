"""`relayout check`: decides whether two modules compute the same, or whether passes keep what a module computes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dialect_utils.files import read_module
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.pipeline import Pipeline, verify
from relayout.arguments import Command, Parser, choices, count, usage_error
from relayout.console import DONE, FAILED, Console, UsageError, print_json
from relayout.pipelines import add_pipeline_options, read_pipeline
from relayout.portable import executable_form, is_optimized_dump

if TYPE_CHECKING:
    from dialect_utils.execution import Array, Worker
    from dialect_utils.verdict import Options, Verdict

_ENGINES = ("proof", "xla", "interpreter")


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs="+", help="two modules, or with -p any number; - is standard input")
    add_pipeline_options(parser)
    parser.option(
        "--engines",
        type=choices(*_ENGINES),
        default=("proof", "xla"),
        help="of proof, xla, interpreter: a,b (default proof,xla)",
    )
    parser.option("--seeds", metavar="N", type=count, default=1, help="sets of random inputs of each style")
    parser.option("--compare", default="auto", help="auto, bits, ulp:N or rel:X (default auto: bits where promised)")
    parser.option("--verbose", action="store_true", help="say of each output whether all of its bits were equal")
    parser.option("--inputs", metavar="NPZ", help="inputs in0, in1, ... in place of random ones")
    parser.option("--timeout", metavar="SECONDS", type=count, help="for each module and engine (default 120)")


def _run(arguments: Namespace, console: Console) -> int:
    pipeline = read_pipeline(arguments)
    if arguments.passes is None and len(arguments.files) != 2:
        raise usage_error("expected two FILEs to compare", "or FILE... -p SPEC to check a pipeline")
    # Imported here: numpy and jaxlib must not cost what --help and errors in the command take.
    from dialect_utils.execution import Worker

    check = _Check(arguments, pipeline, _options(arguments), console)
    with Worker() as worker:
        if arguments.passes is None:
            return check.report(arguments.files, partial(check.compare_files, worker))
        status = DONE
        for file in console.track(arguments.files, "check"):
            status = max(status, check.report([file], partial(check.compare_with_pipeline, worker, file)))
        return status


def _options(arguments: Namespace) -> Options:
    from dialect_utils.execution import DEFAULT_TIMEOUT_SECONDS
    from dialect_utils.verdict import Options, Tolerance

    if arguments.compare != "auto":
        try:
            Tolerance.parse(arguments.compare)
        except DiagnosticError as error:
            raise UsageError(error.diagnostics) from error
    return Options(
        engines=arguments.engines,
        seeds=arguments.seeds,
        compare=arguments.compare,
        inputs=_inputs(arguments.inputs),
        timeout=arguments.timeout or DEFAULT_TIMEOUT_SECONDS,
    )


def _inputs(path: str | None) -> tuple[Array, ...] | None:
    if path is None:
        return None
    from dialect_utils.execution import read_arrays

    return tuple(read_arrays(path, "in"))


@dataclass(frozen=True, slots=True)
class _Check:
    """Holds what is the same for every file."""

    arguments: Namespace
    pipeline: Pipeline
    options: Options
    console: Console

    def report(self, files: Sequence[str], compare: Callable[[], Verdict]) -> int:
        """Prints one verdict; what cannot be compared is `unknown`, with a diagnostic."""

        def compare_and_print() -> int:
            verdict = compare()
            outputs = verdict.outputs if self.arguments.verbose else ()
            lines = [_format(verdict), *(f"  {output}" for output in outputs)]
            self._print(files, verdict.as_json(), "\n".join(lines))
            return DONE if verdict.verdict == "equal" else FAILED

        return self.console.attempt(compare_and_print, partial(self._print_unknown, files))

    def compare_files(self, worker: Worker) -> Verdict:
        """Compares the two modules of the command line."""
        modules = list(map(read_module, self.arguments.files))
        for module in modules:
            verify(module)
        return self._compare(modules, worker)

    def compare_with_pipeline(self, worker: Worker, file: str) -> Verdict:
        """Compares a module with what the pipeline makes of it."""
        module = read_module(file)
        result = self.pipeline.run(module, verify_each=self.arguments.verify_each)
        self.console.diagnose(result.notes)
        return self._compare([module, *(run.result.module for run in result.runs)], worker)

    def _compare(self, stages: Sequence[Module], worker: Worker) -> Verdict:
        from dialect_utils.verdict import compare_stages

        first, last = stages[0], stages[-1]
        for module in {id(first): first, id(last): last}.values():
            if is_optimized_dump(module):
                message = f"{module.name} is an optimized dump, executed as make-portable rewrites it"
                self.console.diagnose([Diagnostic(message, severity="note")])
        return compare_stages(stages, self.options, worker, executable=executable_form)

    def _print_unknown(self, files: Sequence[str], reason: str) -> None:
        from dialect_utils.verdict import Verdict

        self._print(files, Verdict("unknown", reason=reason).as_json(), f"unknown: {reason}")

    def _print(self, files: Sequence[str], described: dict[str, Any], line: str) -> None:
        if not self.arguments.json:
            print(f"{' and '.join(files)}: {line}", flush=True)
            return
        against = {"against": files[1]} if len(files) > 1 else {}
        print_json({"file": files[0], **against, **described})


def _format(verdict: Verdict) -> str:
    """Returns verdict, methods and what was compared; the counterexample and the reason on lines of their own."""
    parts = [verdict.verdict + (f" ({', '.join(verdict.methods)})" if verdict.methods else "")]
    # Every difference that is tolerated is a reason; without one every bit agreed.
    if verdict.verdict == "equal" and verdict.compared and not verdict.reason:
        parts.append("bit for bit" + (f"; promised: {verdict.compared}" if verdict.compared != "bits" else ""))
    elif verdict.compared:
        parts.append(f"compared {verdict.compared}")
    elif not verdict.gave_up and verdict.proof:
        parts.append(f"compared {verdict.proof}")
    lines = [", ".join(parts)]
    if verdict.counterexample is not None:
        lines.append(f"  {verdict.counterexample}")
    lines += [f"  {remark}" for remark in (verdict.reason, verdict.gave_up) if remark]
    return "\n".join(lines)


COMMAND = Command(
    name="check",
    summary="decides whether modules compute the same, or whether passes keep what a module computes",
    examples=(
        "relayout check examples/attention.mlir -p 'annotate-layouts{target=tpu-v5e},expand-tiling'",
        "relayout check examples/training_step.hlo -p expand-for-tpu --engines xla,interpreter --json",
    ),
    add_arguments=_add_arguments,
    run=_run,
)
