"""`relayout run`: executes a module on this machine.

Longer than most files: it is the command with most options, and each of them is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from dialect_utils.engine_names import DEFAULT_ENGINE, ENGINES, Engine
from dialect_utils.hlo import HloModule
from dialect_utils.io.files import STANDARD_INPUT, decode, display_name, read_bytes
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, render
from passes.framework.pipeline import verify
from relayout.batch.unit import Unit, Work
from relayout.command import BatchOptions, EachModule, LimitOptions
from relayout.console import DONE, FAILED, Console, print_json
from relayout.options import argument, choice, count, flag, group, natural, option, parsed, repeated, usage_error
from relayout.output import write_output
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE

if TYPE_CHECKING:
    from dialect_utils.execution import Array, Recorded, SavedArray, Worker
    from dialect_utils.layout import ArrayShape
    from dialect_utils.ops.sharding import Partition, Sharding
    from dialect_utils.verdict import Tolerance
    from dialect_utils.verdict.expectation import Distance
    from relayout.running.compared import Compared
    from relayout.running.first_difference import FirstDifference, SourceProgram
    from relayout.running.ready import Execution, Forms
    from relayout.supervisor.cache import Selected

_RANDOM, _AUTO = "random", "auto"
# The most choices of shardings to try.
_MOST_CHOICES = 64
_SHARDING_HINT = "a sharding in the program, or --sharded FILE, says it"
_INPUTS_HINT = "--inputs FILE gives the program's own, and --inputs random says that these are wanted"


@dataclass(frozen=True, kw_only=True)
class Run(EachModule):
    """The execution of each module."""

    examples = (
        "relayout run examples/attention.mlir --seed 1",
        "relayout run examples/attention_tpu.hlo --inputs examples/attention_tpu.npz --json",
    )
    takes_final = True
    shared = ("relayout.running.compared", "relayout.running.ready", "numpy.random")

    files: tuple[str, ...] = argument(
        "FILE", "a module in any format, or a dump directory, whose final modules run; - is standard input", "*"
    )
    batch: BatchOptions = group(BatchOptions)
    inputs: tuple[str, ...] = repeated(
        "[NAME=]FILE",
        "inputs in0, in1, ... or by names such as params['w'] or params/w: NPZ, msgpack of flax or a checkpoint of"
        " orbax; NAME=FILE gives one argument; with several devices their first axis counts them; random (default: a"
        " snapshot's own, else random ones)",
    )
    sharded: str | None = option(
        "{auto,FILE}",
        "arrays of --inputs and --expect may be whole, and the devices share them: auto as the module's shardings say,"
        " FILE as its JSON does, which `relayout check --placements` takes, too",
    )
    outputs: str | None = option("NPZ", "write the outputs as out0, out1, ...")
    expect: str | None = option("FILE", "compare with out0, out1, ... of this file")
    compare: str | None = option(
        "COMPARE",
        "with --expect or --explain: bits, ulp:N, rel:X or of-largest:X (default: bits; a dump's own precision)",
    )
    explain: str | None = option(
        "SOURCE",
        "compare with the outputs of SOURCE, the program before optimization, and say where a dump first differs",
    )
    seed: int | None = option("N", "of the random inputs (default 0)", natural)
    engine: Engine = option(
        "ENGINE", f"one of {', '.join(ENGINES)} (default {DEFAULT_ENGINE})", choice(*ENGINES), default=DEFAULT_ENGINE
    )
    devices: int | None = option("N", "host devices, where the module does not say it (default: as it needs)", count)
    custom_call: tuple[str, ...] = repeated("NAME=HLO", "what a custom call computes")
    callback: tuple[str, ...] = repeated(
        "NAME=FUNCTION",
        "what a Python function on the host computes; NAME=undefined if that does not matter, *=... for all",
    )
    constants: str | None = option("like=FILE", "values of elided constants, from another dump of the module")
    no_cache: bool = flag("compile again, and keep nothing for the next run")
    verify_bitcasts: bool = flag("print what each bitcast of a dump is, and its proof")
    limits: LimitOptions = group(LimitOptions, timeout="for compilation and execution (default 120)")

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        if self.outputs and len(inputs) > 1:
            raise usage_error(f"--outputs holds the outputs of one FILE, not of {len(inputs)}")
        if self.no_cache:
            self._check_uses_cache()
        if self.explain and len(inputs) > 1:
            raise usage_error(f"--explain compares SOURCE with one FILE, not with {len(inputs)}")
        if _RANDOM in self.inputs and len(self.inputs) > 1:
            raise usage_error("--inputs random gives all inputs, so no FILE can give some of them")
        if self.seed is not None and self.are_given:
            raise usage_error("--seed is for random inputs, but --inputs gives others")
        if self.sharded and not self.are_given:
            raise usage_error("--sharded splits the arrays of --inputs FILE, which is not given")
        return {}

    def _check_uses_cache(self) -> None:
        """Raises UsageError for --no-cache where the cache is not used anyway."""
        for name, value in (("--cluster", self.batch.cluster), ("--callback", self.callback)):
            if value:
                raise usage_error(f"--no-cache has no effect with {name}, which caches nothing", "leave it out")
        if self.engine != DEFAULT_ENGINE:
            raise usage_error(f"--no-cache is for the engine {DEFAULT_ENGINE}, and {self.engine} compiles nothing")

    @property
    def are_given(self) -> bool:
        """Is true where files give the inputs."""
        return self.inputs not in ((), (_RANDOM,))

    def seconds(self, read: Input) -> float:
        return self.limits.seconds([read], CHECKING_SECONDS_PER_MEGABYTE)

    def cached(self, unit: Unit) -> Selected | None:
        from relayout.supervisor.cache import Selected

        if self.engine != DEFAULT_ENGINE or self.callback:
            return None
        [read] = unit.inputs
        options = [self.devices, self.limits.memory, self.custom_call, self.constants, read.wanted]
        named = [text.partition("=")[2] for text in (*self.custom_call, self.constants) if text]
        files = [read.path, *filter(None, [read.proto]), *named]
        return None if STANDARD_INPUT in files else Selected(options, files)

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        from dialect_utils.execution import DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_SECONDS, Worker
        from dialect_utils.verdict import Tolerance

        tolerance = parsed(Tolerance.parse, self.compare) if self.compare else None
        timeout, memory = self.limits.timeout or DEFAULT_TIMEOUT_SECONDS, self.limits.memory or DEFAULT_MEMORY_BYTES
        with Worker(timeout, self.devices or 1, memory) as worker:
            run = _Runner(self, tolerance, console, worker).run
            yield lambda unit: console.attempt(partial(run, unit.inputs[0]), self.failed(unit))


@dataclass(frozen=True, slots=True)
class _Runner:
    """The execution of one file, with the arguments and the worker that all files share."""

    command: Run
    # None: the tolerance that the dump's precision gives.
    tolerance: Tolerance | None
    console: Console
    worker: Worker

    def run(self, read: Input) -> int:
        """Executes a module; prints its results, or their distance from the expected results."""
        from dialect_utils.execution import arrays_to_npz, read_recorded
        from relayout.running.compared import Compared

        file, forms = read.path, self._forms(read.with_constants())
        execution = self._execution(file, forms)
        ready, results = execution.ready, execution.ready.results
        recorded = None if self.command.inputs else read_recorded(forms.data, forms.name)
        source = self._source(forms, ready.devices, results)
        expected = None if source and not self.command.expect else self._expected(execution, recorded)
        if expected is None and source is None and self.tolerance is not None:
            raise usage_error("--compare needs expected outputs: --expect FILE or --explain SOURCE")
        inputs = self._inputs(execution, recorded)
        outputs = execution.run(inputs)
        if expected is not None and self.command.sharded:
            expected = self._expected(execution, recorded, outputs, is_told=True)
        is_shown = self.command.outputs or (expected is None and source is None)
        wholes, shapes = self._wholes(execution, outputs) if is_shown else (outputs, results)
        if self.command.outputs:
            write_output(str(Path(self.command.outputs)), arrays_to_npz("out", wholes, shapes))
        if expected is None and source is not None:
            expected = source.outputs(inputs, self.worker, self.command.engine)
        if expected is None:
            self._print_outputs(file, wholes, shapes, execution.seconds)
            return DONE
        compared = Compared(forms, self.worker, ready.devices, outputs, expected, results, inputs)
        # A snapshot's own results come from the same program.
        is_other = self.command.expect or self.command.explain
        by_precision = self.tolerance is None and bool(is_other)
        found = compared.by_precision() if by_precision else compared.by_tolerance(self.tolerance)
        explained = None if source is None else partial(self._first_difference, compared, source)
        return self._print_distances(file, found, execution.seconds, explained)

    def _forms(self, read: Input) -> Forms:
        from passes.dumps.executable import Known
        from relayout.running.ready import Forms

        kind, separator, path = (self.command.constants or "").partition("=")
        if self.command.constants and not (kind == "like" and separator):
            raise usage_error(f"--constants is like=FILE, not {self.command.constants}")
        known = Known(self.command.callback, self.command.custom_call, Path(path) if path else None)
        return Forms(read.data(), read.name, read.wanted, known, self.command.devices)

    def _execution(self, file: str, forms: Forms) -> Execution:
        """Returns a module that is checked and ready to run, compiled where the cache has it or stores it."""
        from relayout.running.ready import Execution, Ready, load_cached, store

        engine = self.command.engine
        execution, may_store = load_cached(forms, engine, self.worker.of_devices)
        if execution is None:
            verify(forms.written)
            given = [name for name in ("callback", "custom_call", "constants") if getattr(self.command, name)]
            if given and not isinstance(forms.written, HloModule):
                raise usage_error(f"--{given[0].replace('_', '-')} is for HLO, and this module is StableHLO")
        if self.command.verify_bitcasts:
            self._print_bitcasts(file, forms.dump)
        if execution is not None:
            self.console.diagnose(execution.ready.notes)
            return execution
        devices, is_fixed = self._devices(forms)
        self.console.diagnose(forms.notes(devices))
        # Rejects what must not be executed before random inputs are drawn.
        ready = Ready.of(forms, devices, self.worker.memory, engine)
        execution = Execution(forms, ready, self.worker.of_devices(devices), engine)
        if may_store and is_fixed:
            store(execution)
        return execution

    def _source(self, forms: Forms, devices: int, results: Sequence[ArrayShape]) -> SourceProgram | None:
        """Returns the program of --explain; raises DiagnosticError where it has other inputs or outputs."""
        if not self.command.explain:
            return None
        if not isinstance(forms.module, HloModule):
            message = "--explain is for an optimized dump, which is HLO, and this module is StableHLO"
            raise usage_error(message, f"relayout run DUMP --explain {forms.name}: the program comes second")
        from dialect_utils.execution import entry_arrays
        from relayout.running.first_difference import read_source

        if devices > 1:
            raise usage_error(f"--explain compares programs for one device, and this module runs on {devices}")
        return read_source(self.command.explain, entry_arrays(forms.module)[0], results)

    def _first_difference(self, compared: Compared, source: SourceProgram) -> FirstDifference:
        from relayout.running.first_difference import first_difference

        dump, module = compared.forms.dump, compared.forms.module
        assert isinstance(dump, HloModule)  # _source rejects StableHLO
        assert isinstance(module, HloModule)
        return first_difference(dump, module, source, compared.inputs, self.worker, self.command.engine)

    def _print_bitcasts(self, file: str, module: Module) -> None:
        from passes.dumps.make_portable import proved_bitcasts

        found = proved_bitcasts(module, self.command.custom_call, self.command.callback)
        rows = [bitcast.row() for bitcast in found]
        if not rows:
            self.console.diagnose([Diagnostic(f"{file} has no bitcast", severity="note")])
        if self.command.json:
            print_json({"file": file, "bitcasts": rows})
            return
        header = {key: key.replace("_", " ") for key in rows[0]} if rows else {}
        widths = {key: max(len(row[key]) for row in [header, *rows]) for key in header}
        for row in [header, *rows] if rows else ():
            print("  ".join(value.ljust(widths[key]) for key, value in row.items()).rstrip())

    def _devices(self, forms: Forms) -> tuple[int, bool]:
        """Returns the number of devices, and whether that is independent of the inputs.

        The number is that of the module's results, or of its header where the arrays have parts for all those devices.
        """
        from dialect_utils.execution import entry_arrays
        from dialect_utils.execution.named import arguments_of, have_shapes, read_inputs
        from dialect_utils.ops.device_counts import devices_of

        if self.command.devices:
            return self.command.devices, True
        found = devices_of(forms.module)
        if found.needed == found.count:
            return found.count, True
        if not self.command.are_given:
            return found.needed, False
        arrays, _ = read_inputs(self.command.inputs, arguments_of(forms.dump))
        if self.command.sharded:
            # Whole arrays fit a program that is not partitioned yet, and no other.
            is_for_all = not have_shapes(arrays, entry_arrays(forms.module, found.needed)[0])
        else:
            is_for_all = have_shapes(arrays, entry_arrays(forms.module, found.count)[0])
        return found.count if is_for_all else found.needed, False

    def _inputs(self, execution: Execution, recorded: Recorded | None) -> Sequence[Array | SavedArray]:
        from dialect_utils.execution.named import arguments_of, read_inputs
        from dialect_utils.ops.device_counts import devices_of
        from dialect_utils.verdict import random_inputs

        ready, parameters = execution.ready, execution.ready.parameters
        if self.command.are_given:
            arrays, notes = read_inputs(self.command.inputs, arguments_of(execution.forms.dump))
            self.console.diagnose(notes)
            if self.command.sharded and ready.devices == 1 and devices_of(execution.forms.dump).count == 1:
                raise usage_error("--sharded splits arrays among several devices, but this program runs on one")
            return self._parts(arrays, execution, "in")
        if recorded is not None:
            return recorded.inputs
        if parameters and not self.command.inputs:
            self.console.diagnose([Diagnostic("the inputs are random numbers", None, "note", _INPUTS_HINT)])
        drawn = random_inputs(parameters, self.command.seed or 0, small=ready.small)
        if ready.devices == 1:
            return drawn
        # Imported here: most programs are for one device, and a second run does not read the module.
        from dialect_utils.verdict.partition import with_shared

        return with_shared(drawn, execution.forms.dump, ready.devices)

    def _expected(
        self,
        execution: Execution,
        recorded: Recorded | None,
        outputs: Sequence[Array] | None = None,
        *,
        is_told: bool = False,
    ) -> list[Array] | None:
        """Returns the expected outputs; called before compilation, too, to reject a wrong file early."""
        from dialect_utils.execution import from_plain_all, read_arrays

        results = execution.ready.results
        if not self.command.expect:
            known = None if recorded is None else recorded.results
            return None if known is None else from_plain_all(known, results, "out")
        parts = self._parts(read_arrays(self.command.expect, "out"), execution, "out", outputs, is_told=is_told)
        return from_plain_all(parts, results, "out")

    def _parts(
        self,
        arrays: Sequence[SavedArray],
        execution: Execution,
        prefix: str,
        outputs: Sequence[Array] | None = None,
        *,
        is_told: bool = True,
    ) -> Sequence[Array | SavedArray]:
        """Returns each device's parts of arrays that a file holds, with --sharded also of whole ones.

        Shardings that the module leaves open are chosen by the expected outputs, and those of these by the `outputs`.
        """
        if not self.command.sharded or execution.ready.devices == 1:
            return arrays
        from dialect_utils.execution.named import split_all_among_devices
        from dialect_utils.verdict.partition import placements

        ready, of_results = execution.ready, prefix == "out"
        shapes = ready.results if of_results else ready.parameters
        options: Sequence[Sequence[Sharding]]
        if self.command.sharded == _AUTO:
            sizes = [each.shape for each in arrays]
            options = placements(execution.forms.dump, ready.devices, sizes, of_results=of_results)
        else:
            found = self._partition()
            options = [[each] for each in (found.results if of_results else found.parameters)]
        parts, notes = split_all_among_devices(arrays, shapes, prefix, options, outputs)
        if not of_results and notes and self.command.expect:
            chosen = min(
                islice(product(*options), _MOST_CHOICES), key=partial(self._distance, execution, arrays, shapes)
            )
            parts, _ = split_all_among_devices(arrays, shapes, prefix, [[each] for each in chosen])
            message = f"inputs are taken as split by {', '.join(map(str, chosen))}: the outputs are closest then"
            notes = [Diagnostic(message, None, "note", _SHARDING_HINT)]
        self.console.diagnose(notes if is_told else ())
        return parts

    def _partition(self) -> Partition:
        """Returns the placement in the file of --sharded."""
        from dialect_utils.verdict.partition import read_partition

        file = self.command.sharded or ""
        return read_partition(decode(read_bytes(file)), display_name(file))

    def _wholes(self, execution: Execution, outputs: Sequence[Array]) -> tuple[Sequence[Array], Sequence[ArrayShape]]:
        """Returns the outputs and their shapes: with --sharded whole arrays, where the shardings of results are known.

        Devices that should hold the same part and do not keep their parts.
        """
        ready = execution.ready
        if not self.command.sharded or ready.devices == 1:
            return outputs, ready.results
        from dialect_utils.execution.named import join_parts
        from dialect_utils.verdict.partition import result_shardings

        known: Sequence[Sharding | None] = ()
        if self.command.sharded == _AUTO:
            known = result_shardings(execution.forms.dump, ready.devices)
        else:
            known = self._partition().results
        pairs = zip(outputs, known, strict=False)
        joined = [None if each is None else join_parts(parts, each) for parts, each in pairs]
        found = [parts if whole is None else whole for parts, whole in zip_longest(outputs, joined)]
        if names := [f"out{number}" for number, whole in zip_longest(range(len(found)), joined) if whole is None]:
            message = f"{', '.join(names)}: the parts of each device, because no sharding joins them"
            self.console.diagnose([Diagnostic(message, None, "note", _SHARDING_HINT)])
        return found, [replace(shape, dimensions=each.shape) for shape, each in zip(ready.results, found, strict=True)]

    def _distance(
        self,
        execution: Execution,
        arrays: Sequence[SavedArray],
        shapes: Sequence[ArrayShape],
        shardings: Sequence[Sharding],
    ) -> float:
        """Returns how far the outputs for inputs with these shardings are from the expected ones."""
        from dialect_utils.execution.named import distance, split_all_among_devices

        parts, _ = split_all_among_devices(arrays, shapes, "in", [[each] for each in shardings])
        outputs = execution.run(parts)
        return sum(map(distance, outputs, self._expected(execution, None, outputs) or []))

    def _print_outputs(
        self, file: str, outputs: Sequence[Array], results: Sequence[ArrayShape], seconds: float
    ) -> None:
        shapes = [str(shape.without_layout) for shape in results]
        if self.command.json:
            print_json({"file": file, "outputs": shapes, "seconds": round(seconds, 3)})
            return
        if self.command.has_several:
            print(f"{file}:")
        for number, (shape, array) in enumerate(zip(shapes, outputs, strict=True)):
            print(f"out{number} {shape}\n{array}")

    def _print_distances(
        self, file: str, found: Sequence[Distance], seconds: float, explained: Callable[[], FirstDifference] | None
    ) -> int:
        is_equal = all(distance.equal for distance in found)
        if self.command.json:
            described = [{"output": number, **distance.row()} for number, distance in enumerate(found)]
            row = {"file": file, "outputs": described, "seconds": round(seconds, 3)}
            if explained is not None:
                row["first_difference"] = None if is_equal else explained().as_json()
            print_json(row)
            return DONE if is_equal else FAILED
        if (
            not is_equal
            and self.tolerance is None
            and all(each.allowance.tolerance.of_largest is None for each in found)
        ):
            hint = "--compare ulp:N, rel:X or of-largest:X accepts the rounding of another program"
            self.console.diagnose([Diagnostic("the outputs are compared bit for bit", severity="note", hint=hint)])
        for number, distance in enumerate(found):
            print(f"{file}: out{number}: {distance}")
        if explained is not None and not is_equal:
            print(render(explained().diagnostic()))
        return DONE if is_equal else FAILED
