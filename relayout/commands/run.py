"""`relayout run`: executes a module on this machine."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from dialect_utils.files import display_name, read_module
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from passes.pipeline import verify
from relayout.arguments import Command, Parser, choice, count, usage_error
from relayout.console import DONE, FAILED, Console, UsageError, print_json
from relayout.output import write_output
from relayout.portable import executable_form

if TYPE_CHECKING:
    from dialect_utils.execution import Array
    from dialect_utils.layout import ArrayShape
    from dialect_utils.verdict import Tolerance
    from dialect_utils.verdict.expectation import Distance
    from passes.expand_bitcasts import ExpandedBitcast
    from passes.make_portable import MakePortable


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs="+", help="a module in any form; - is standard input")
    parser.option("--inputs", metavar="NPZ", help="inputs in0, in1, ... (default: random ones)")
    parser.option("--outputs", metavar="NPZ", help="write the outputs as out0, out1, ...")
    parser.option("--expect", metavar="NPZ", help="compare with out0, out1, ... of this file")
    parser.option("--compare", default="bits", help="with --expect: bits, ulp:N or rel:X decide the exit code")
    parser.option("--seed", metavar="N", type=int, default=0, help="of the random inputs (default 0)")
    parser.option("--engine", type=choice("xla", "interpreter"), default="xla", help="xla (default) or interpreter")
    parser.option("--devices", metavar="N", type=count, default=1, help="host devices, for a module of N partitions")
    parser.option("--custom-call", metavar="NAME=HLO", action="append", default=[], help="what a custom call computes")
    parser.option(
        "--constants", metavar="like=FILE", help="values of elided constants, from another dump of the module"
    )
    parser.option("--verify-bitcasts", action="store_true", help="print what each bitcast of a dump is, and its proof")
    parser.option("--timeout", metavar="SECONDS", type=count, help="for compilation and execution (default 120)")


def _run(arguments: Namespace, console: Console) -> int:
    if arguments.outputs and len(arguments.files) > 1:
        raise usage_error(f"--outputs holds the outputs of one FILE, not of {len(arguments.files)}")
    if arguments.seed < 0:
        raise usage_error(f"the seed {arguments.seed} is negative")
    runner = _Runner(arguments, _tolerance(arguments.compare))
    status = DONE
    for file in console.track(arguments.files, "run"):
        failed = partial(_print_failure, file) if arguments.json else None
        status = max(status, console.attempt(partial(runner.run, file), failed))
    return status


def _tolerance(text: str) -> Tolerance:
    # Imported here, as all of execution is: --help must not pay for it.
    from dialect_utils.verdict import Tolerance

    try:
        return Tolerance.parse(text)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics) from error


def _print_failure(file: str, message: str) -> None:
    print_json({"file": file, "error": message})


@dataclass(frozen=True, slots=True)
class _Runner:
    """Holds what is the same for every file."""

    arguments: Namespace
    tolerance: Tolerance

    def run(self, file: str) -> int:
        from dialect_utils.execution import DEFAULT_TIMEOUT_SECONDS, arrays_to_npz, entry_arrays, run_module

        module = read_module(file)
        verify(module)
        step = self._make_portable()
        if self.arguments.verify_bitcasts:
            self._print_bitcasts(file, step.bitcasts(module))
        module = executable_form(module, step)
        devices = self.arguments.devices
        _, results = entry_arrays(module, devices)
        expected = self._expected(results)
        timeout = self.arguments.timeout or DEFAULT_TIMEOUT_SECONDS
        start = perf_counter()
        outputs = run_module(
            module,
            self._inputs(module),
            engine=self.arguments.engine,
            name=display_name(file),
            timeout=timeout,
            devices=devices,
        )
        seconds = perf_counter() - start
        if self.arguments.outputs:
            write_output(str(Path(self.arguments.outputs)), arrays_to_npz("out", outputs, results))
        if expected is None:
            self._print_outputs(file, outputs, results, seconds)
            return DONE
        return self._print_distances(file, outputs, expected, results, seconds)

    def _make_portable(self) -> MakePortable:
        # Imported here: the pass is not asked for by every file.
        from passes.make_portable import MakePortable

        kind, separator, path = (self.arguments.constants or "").partition("=")
        if self.arguments.constants and not (kind == "like" and separator):
            raise usage_error(f"--constants is like=FILE, not {self.arguments.constants}")
        return MakePortable(tuple(self.arguments.custom_call), Path(path) if path else None)

    def _print_bitcasts(self, file: str, bitcasts: Sequence[ExpandedBitcast]) -> None:
        rows = [bitcast.row() for bitcast in bitcasts]
        if self.arguments.json:
            print_json({"file": file, "bitcasts": rows})
            return
        widths = {key: max(len(row[key]) for row in rows) for key in rows[0]} if rows else {}
        for row in rows:
            print("  ".join(value.ljust(widths[key]) for key, value in row.items()).rstrip())

    def _inputs(self, module: Module) -> Sequence[Array]:
        from dialect_utils.execution import entry_arrays, read_arrays
        from dialect_utils.verdict import random_inputs, small_integer_positions

        if self.arguments.inputs:
            return read_arrays(self.arguments.inputs, "in")
        parameters, _ = entry_arrays(module, self.arguments.devices)
        return random_inputs(parameters, self.arguments.seed, small=small_integer_positions(module))

    def _expected(self, results: Sequence[ArrayShape]) -> list[Array] | None:
        """Returns the expected outputs, before anything runs: a wrong file must not cost a compilation."""
        from dialect_utils.execution import from_plain_all, read_arrays

        if not self.arguments.expect:
            return None
        return from_plain_all(read_arrays(self.arguments.expect, "out"), results, "out")

    def _print_outputs(
        self, file: str, outputs: Sequence[Array], results: Sequence[ArrayShape], seconds: float
    ) -> None:
        shapes = [str(shape.with_layout(None)) for shape in results]
        if self.arguments.json:
            print_json({"file": file, "outputs": shapes, "seconds": round(seconds, 3)})
            return
        for number, (shape, array) in enumerate(zip(shapes, outputs, strict=True)):
            print(f"out{number} {shape}\n{array}")

    def _print_distances(
        self,
        file: str,
        outputs: Sequence[Array],
        expected: Sequence[Array],
        results: Sequence[ArrayShape],
        seconds: float,
    ) -> int:
        from dialect_utils.verdict.expectation import measure

        found = [
            measure(actual, wanted, shape.element_type, self.tolerance)
            for actual, wanted, shape in zip(outputs, expected, results, strict=True)
        ]
        if self.arguments.json:
            described = [_as_json(number, distance) for number, distance in enumerate(found)]
            print_json({"file": file, "outputs": described, "seconds": round(seconds, 3)})
        else:
            for number, distance in enumerate(found):
                print(f"{file}: out{number}: {distance}")
        return DONE if all(distance.equal for distance in found) else FAILED


def _as_json(number: int, distance: Distance) -> dict[str, object]:
    described: dict[str, object] = {"output": number, "equal": distance.equal, "differing": distance.differing}
    for what, value in (("absolute", distance.absolute), ("relative", distance.relative)):
        described[what] = None if value is None else {"difference": _json_number(value[0]), "index": value[1]}
    return described


def _json_number(value: float) -> float | str:
    """Returns the number, or its name where JSON has none."""
    return value if value not in (float("inf"), float("-inf")) else str(value)


COMMAND = Command(
    name="run",
    summary="executes a module on this machine",
    examples=(
        "relayout run examples/attention.mlir --seed 1",
        "relayout run examples/attention_tpu.hlo --inputs examples/attention_tpu.npz --json",
    ),
    add_arguments=_add_arguments,
    run=_run,
)
