"""A module made ready to run: the facts that `relayout run` needs, which the cache keeps beside the executable."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

from dialect_utils.engine_names import Engine
from dialect_utils.execution import (
    Array,
    Executable,
    ExecutionError,
    SavedArray,
    Worker,
    check_devices,
    check_executable,
    entry_arrays,
    from_plain_all,
    program_of,
    run_module,
)
from dialect_utils.execution.messages import MalformedMessageError, diagnostics_from_json, diagnostics_to_json
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.ops.device_counts import devices_of, with_devices
from dialect_utils.text import Diagnostic, DiagnosticError, Source
from passes.dumps.executable import Known, Runnable, runnable, with_given_data
from relayout.supervisor.host import current

# Even this level compresses executables to a fifth.
_FASTEST = 1
_END_OF_HEADER = b"\n"
# An entry of the cache comes from a child that this file may have taken over.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Forms:
    """The forms of one file, built on demand: the written module, the same without transfers, the executable module."""

    data: bytes
    name: str
    # The names of the module in a log that holds several; none for another file.
    wanted: Sequence[str]
    known: Known
    # The number of devices that the user gives.
    devices: int | None = None

    @cached_property
    def written(self) -> Module:
        """Returns the module as the file has it, for as many devices as the user says."""
        found = parse_bytes(self.data, self.name, self.wanted)
        return with_devices(found, self.devices) if self.devices else found

    @cached_property
    def _given(self) -> tuple[Module, list[Diagnostic]]:
        notes: list[Diagnostic] = []
        return with_given_data(self.written, notes.extend), notes

    @property
    def dump(self) -> Module:
        """Returns the module as the file has it, with parameters and results in place of transfers."""
        return self._given[0]

    @cached_property
    def _runnable(self) -> tuple[Runnable, list[Diagnostic]]:
        notes: list[Diagnostic] = []
        return runnable(self.dump, self.known, notes.extend), notes

    @property
    def module(self) -> Module:
        """Returns the module that engines execute."""
        return self._runnable[0].module

    def notes(self, devices: int) -> Sequence[Diagnostic]:
        """Returns the notes of the passes that made the module, and those of a run on `devices`."""
        return [*devices_of(self.written).notes_of_run(devices), *self._given[1], *self._runnable[1]]

    @cached_property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Returns the errors about calls of host functions if they run, in the order of the numbers that they give."""
        watched = self._runnable[0].watched
        if not watched:
            return ()
        from passes.dumps.host_callbacks import ran

        return tuple(map(ran, watched))


@dataclass(frozen=True, slots=True)
class Ready:
    """The facts of a module that runs on `devices`: its arrays, and the positions of inputs that hold small integers.

    With `errors` the program returns one more value than `results`: the number of the error that happened, from 1 on.
    """

    devices: int
    parameters: Sequence[ArrayShape]
    results: Sequence[ArrayShape]
    small: Collection[int]
    errors: Sequence[Diagnostic]
    notes: Sequence[Diagnostic]

    @classmethod
    def of(cls, forms: Forms, devices: int, memory: int, engine: Engine) -> Ready:
        """Returns the facts of a module; raises DiagnosticError for one that must not be executed."""
        from dialect_utils.verdict import small_integer_positions

        module, errors = forms.module, forms.errors
        parameters, results = entry_arrays(module, devices)
        check_executable(module, forms.name, memory, engine)
        small = small_integer_positions(module)
        return cls(devices, parameters, results[:-1] if errors else results, small, errors, forms.notes(devices))


@dataclass(slots=True)
class Execution:
    """A module that is ready, and the worker that runs it; `is_loaded`: the worker has compiled or loaded it.

    `seconds` is the time of compiling, loading and running.
    """

    forms: Forms
    ready: Ready
    worker: Worker
    engine: Engine
    is_loaded: bool = False
    seconds: float = 0.0

    def run(self, inputs: Sequence[Array | SavedArray]) -> list[Array]:
        """Returns the outputs; raises DiagnosticError for a call of a host function that ran, and as `run_module`."""
        with self.timed():
            outputs = self._run(inputs)
        if self.ready.errors and (number := int(outputs.pop().max())):
            raise DiagnosticError(self.ready.errors[number - 1])
        return outputs

    def _run(self, inputs: Sequence[Array | SavedArray]) -> list[Array]:
        if self.is_loaded:
            return self.worker.run_loaded(from_plain_all(inputs, self.ready.parameters, devices=self.ready.devices))
        return run_module(
            self.forms.module,
            inputs,
            engine=self.engine,
            name=self.forms.name,
            devices=self.ready.devices,
            timeout=self.worker.timeout,
            memory=self.worker.memory,
            worker=self.worker,
        )

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Adds the time inside to `seconds`."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds += perf_counter() - start


def load_cached(forms: Forms, engine: Engine, worker_of: Callable[[int], Worker]) -> tuple[Execution | None, bool]:
    """Returns the execution that the cache has, None where it has none, and whether it would store one.

    An entry that the worker cannot load counts as none.
    """
    host = current()
    data, may_store = (None, False) if host is None else host.cached()
    if data is None:
        return None, may_store
    try:
        ready, executable = from_bytes(data, forms.name)
        execution = Execution(forms, ready, worker_of(ready.devices), engine, is_loaded=True)
        with execution.timed():
            execution.worker.load(executable)
    except (MalformedMessageError, ExecutionError):
        return None, False
    return execution, False


def store(execution: Execution) -> None:
    """Compiles an execution's module and stores it in the cache; raises ExecutionError."""
    forms, ready, worker = execution.forms, execution.ready, execution.worker
    check_devices(forms.module, ready.devices)
    with execution.timed():
        executable = worker.compile(program_of(forms.module, forms.name))
    execution.is_loaded = True
    data, host = to_bytes(ready, executable), current()
    if data is not None and host is not None:
        host.keep(data)


def to_bytes(ready: Ready, executable: Executable) -> bytes | None:
    """Returns an entry of the cache, or None for diagnostics about several texts."""
    sources = {id(source): source for source in _sources([*ready.errors, *ready.notes])}
    if len(sources) > 1:
        return None
    source = next(iter(sources.values()), Source("", ""))
    header = {
        "devices": ready.devices,
        "parameters": [_described(shape) for shape in ready.parameters],
        "results": [_described(shape) for shape in ready.results],
        "small": sorted(ready.small),
        "errors": diagnostics_to_json(ready.errors),
        "notes": diagnostics_to_json(ready.notes),
        "text": source.text,
        "first line": source.first_line,
        "interface": executable.interface,
    }
    return zlib.compress(json.dumps(header).encode() + _END_OF_HEADER + executable.data, _FASTEST)


def from_bytes(data: bytes, name: str) -> tuple[Ready, Executable]:
    """Returns the parts of an entry of `to_bytes`; diagnostics call the file `name`.

    Raises MalformedMessageError for other bytes.
    """
    inflating = zlib.decompressobj()
    try:
        header, _, code = inflating.decompress(data, _MOST_BYTES).partition(_END_OF_HEADER)
        found = json.loads(header)
        source = Source(name, found["text"], found["first line"])
        ready = Ready(
            found["devices"],
            [_shape(*each) for each in found["parameters"]],
            [_shape(*each) for each in found["results"]],
            frozenset(found["small"]),
            diagnostics_from_json(found["errors"], source),
            diagnostics_from_json(found["notes"], source),
        )
        return ready, Executable(code, found["interface"])
    except (zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedMessageError(f"an entry with {error!r}") from None


def _sources(diagnostics: Sequence[Diagnostic]) -> Iterator[Source]:
    for each in diagnostics:
        if each.location is not None:
            yield each.location.source
        yield from _sources(each.notes)


def _described(shape: ArrayShape) -> list[object]:
    return [shape.element_type.name, list(shape.dimensions)]


def _shape(kind: str, dimensions: list[int]) -> ArrayShape:
    return ArrayShape(ELEMENT_TYPES[kind], tuple(dimensions))
