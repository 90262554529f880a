"""The search for the first value at which a dump parts from its source program: `relayout run --explain`.

Both programs run in 64 bits without their roundings and return the arrays that they compute. An array is right if the
source computes it, too. The programs part at a wrong array that is computed from right ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isinf, prod
from typing import Any

from dialect_utils.engine_names import Engine
from dialect_utils.execution import (
    Array,
    ExecutionError,
    Program,
    SavedArray,
    Worker,
    entry_arrays,
    from_plain_all,
    prepare,
    run_module,
)
from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.io.files import display_name, read_module
from dialect_utils.ir import Module, array_shape
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.relayouts import Origin, find_origins
from dialect_utils.memory.rows import origin_text
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.expectation import KnownArrays, is_close, is_informative, precision_of
from passes.dumps.executable import executable_form
from passes.dumps.observed import Observed, Suspect, observe
from passes.framework.pipeline import verify

# Constants that a compiler computed in 32 bits differ by more than this share of their size in few cases only.
_SHARE = 1e-5
# The elements that one run returns, for each byte of the worker's memory: both processes copy their 8 bytes or more.
_ELEMENTS_PER_BYTE = 1 / 128
# Whether programs run without their roundings, and how many iterations of the source's loops are compared: a compiler
# may have unrolled loops. Not every program has the first forms: a loop within an iteration that it never runs, for
# example, may not end.
_ATTEMPTS = ((True, 4), (True, 1), (False, 1))
# The most values that a message names.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The values at which a program departs from its source, the most likely first; none where no output differs.

    `origin` gives the location of a value in the user's program. `right` of the program's `compared` values match one
    of the `known` values of the source. `distances` are lower bounds of the distance to the nearest value of the
    source. `is_exact`: both programs ran in 64 bits without roundings.
    """

    source: str
    suspects: Sequence[Suspect]
    observed: Observed
    origin: Callable[[Instruction], Origin]
    right: int
    compared: int
    known: int
    share: float
    is_exact: bool
    distances: dict[Instruction, float]
    uniform: set[Instruction]

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        counts = {"right": self.right, "compared": self.compared, "known": self.known}
        described = [self._described(each) for each in self.suspects]
        return {"source": self.source, **counts, "share": self.share, "exact": self.is_exact, "suspects": described}

    def _described(self, suspect: Suspect) -> dict[str, Any]:
        value, origin, loop = suspect.value, self.origin(suspect.value), self.observed.loops.get(suspect.value)
        distance = self.distances.get(value, 0.0)
        return {
            **_place(value),
            **origin._asdict(),
            "difference": str(distance) if isinf(distance) else distance,
            "outputs": list(suspect.outputs),
            "loop": None if loop is None else _name(loop),
            "moved": [_place(each) for each in suspect.moved],
        }

    def diagnostic(self) -> Diagnostic:
        """Returns the message to the user."""
        how = "in 64 bits without roundings" if self.is_exact else "with its roundings"
        if not self.suspects:
            message = f"{how}, each output agrees with {self.source} within {self.share:g} of its largest element"
            return _note(f"the outputs differ by rounding only: {message}")
        first, *others = self.suspects
        known = origin_text(self.origin(first.value))
        message = f"{_name(first.value)} is the first value that {self.source} does not compute"
        notes = [
            _note(f"{self.right} of {self.compared} values of the dump are values of {self.source}"),
            _note(f"{how}, {self._nearest(first)}"),
            *self._context(first),
            *(_note(f"{_name(each.value)} may be the first, too", each.value) for each in others[:_SHOWN]),
        ]
        return replace(_note(f"{message} ({known})" if known else message, first.value), notes=tuple(notes))

    def _nearest(self, suspect: Suspect) -> str:
        distance = self.distances.get(suspect.value, 0.0)
        if not distance:
            return f"this is a value of {self.source}, but of another output"
        if isinf(distance):
            return f"none of the {self.known} values of {self.source} has its elements"
        return (
            f"it differs from each of the {self.known} values of {self.source} by {distance:.2g} of the largest element"
        )

    def _context(self, suspect: Suspect) -> Iterator[Diagnostic]:
        outputs = ", ".join(f"out{number}" for number in suspect.outputs)
        yield _note(f"the mistake is here, or between here and {outputs} if the compiler added this value")
        loop = self.observed.loops.get(suspect.value)
        if loop is not None:
            yield _note(f"this is in one of the first iterations of {_name(loop)}", loop)
        for each in suspect.moved[:_SHOWN]:
            yield _note(f"{_name(each)} moves elements of right values, but they may be the wrong ones", each)
        uniform = [each for each in self.observed.inputs_of(suspect.value) if each in self.uniform]
        for each in uniform[:_SHOWN]:
            yield _note(f"the elements of {_name(each)} are all equal, so its agreement says little", each)


def _note(message: str, value: Instruction | None = None) -> Diagnostic:
    return Diagnostic(message, None if value is None else value.location, "note")


def _name(value: Instruction) -> str:
    """Returns the name that a value has in the text, which passes may have changed."""
    location = value.location
    return value.name if location is None else location.source.text[location.span.start : location.span.end]


def _place(value: Instruction) -> dict[str, Any]:
    location = value.location
    line = None if location is None else location.source.line_and_column(location.span.start)[0]
    return {"name": _name(value).removeprefix("%"), "opcode": value.opcode, "line": line}


@dataclass(slots=True)
class _Comparison:
    """The runs of a program and of its source on the same inputs."""

    observed: Observed
    source: Program
    inputs: Sequence[Array]
    worker: Worker
    engine: Engine
    share: float
    iterations: int
    is_exact: bool
    known: int = 0
    # The values of the source, where one run returns all.
    _all: KnownArrays | None = None
    outputs: tuple[list[Array], list[Array]] = field(default_factory=lambda: ([], []))

    def run(self) -> tuple[dict[Instruction, float], set[Instruction]]:
        """Returns the distance of each array to the nearest of the source, and the arrays with one value only."""
        distances: dict[Instruction, float] = {}
        uniform: set[Instruction] = set()
        for batch in self._batches():
            arrays = self._run(self._form(prepare(self.observed.returning(batch), "<observed>", self.worker.memory)))
            count = len(arrays) - len(batch)
            self.outputs[0][:] = arrays[:count]
            values = dict(zip(batch, arrays[count:], strict=True))
            uniform.update(each for each, array in values.items() if not is_informative(array))
            for known in self._known_arrays():
                for each, array in values.items():
                    if distances.get(each, 1.0):
                        distances[each] = min(distances.get(each, float("inf")), known.distance(array))
        return distances, uniform

    def wrong_outputs(self) -> list[int]:
        """Returns the numbers of the outputs that differ."""
        pairs = enumerate(zip(*self.outputs, strict=False))
        return [number for number, (output, wanted) in pairs if not is_close(output, wanted, self.share)]

    def _batches(self) -> Iterator[list[Instruction]]:
        """Yields the arrays of the program in groups that fit into memory; the first group may be empty."""
        batch: list[Instruction] = []
        size = 0
        for each in self.observed.arrays:
            own = prod(array_shape(each).dimensions)
            if batch and size + own > self._most_elements:
                yield batch
                batch, size = [], 0
            batch.append(each)
            size += own
        yield batch

    def _known_arrays(self) -> Iterator[KnownArrays]:
        """Yields the values of the source in groups that fit into memory."""
        if self._all is not None:
            yield self._all
            return
        first, self.known = 0, 1
        while first < self.known:
            options = {"first": first, "most_elements": self._most_elements, "iterations": self.iterations}
            program, (count, total) = self.worker.rewrite("observe", self._form(self.source), **options)
            arrays = self._run(program)
            found = KnownArrays(self.share)
            found.add([*self.inputs, *arrays])
            self.outputs[1][:] = arrays[: len(arrays) - count]
            if count == total:
                self._all = found
            yield found
            first, self.known = first + max(count, 1), total

    @property
    def _most_elements(self) -> int:
        return int(self.worker.memory * _ELEMENTS_PER_BYTE)

    def _form(self, program: Program) -> Program:
        return self.worker.rewrite("unround", program)[0] if self.is_exact else program

    def _run(self, program: Program) -> list[Array]:
        return self.worker.run(program, [self.inputs], engine=self.engine)[0]


@dataclass(frozen=True, slots=True)
class SourceProgram:
    """The program before optimization, in the form that the engines execute; `name` is that of its file."""

    module: Module
    name: str

    def outputs(self, inputs: Sequence[Array | SavedArray], worker: Worker, engine: Engine) -> list[Array]:
        """Returns the outputs for these inputs; raises errors as `run_module`."""
        return run_module(self.module, inputs, engine=engine, name=self.name, memory=worker.memory, worker=worker)


def read_source(path: str, parameters: Sequence[ArrayShape], results: Sequence[ArrayShape]) -> SourceProgram:
    """Reads a source program; raises DiagnosticError where its parameters and results are not those of its dump."""
    module = read_module(path)
    verify(module)
    module = executable_form(module)
    taken, returned = entry_arrays(module)
    for kind, own, others in (("parameters", taken, parameters), ("results", returned, results)):
        mine, wanted = ([str(each.without_layout) for each in shapes] for shapes in (own, others))
        if mine != wanted:
            message = f"{path}: its {kind} are ({', '.join(mine)}), but those of the dump ({', '.join(wanted)})"
            raise DiagnosticError(message, hint="--explain needs the program that was compiled")
    return SourceProgram(module, display_name(path))


def first_difference(
    dump: HloModule,
    executable: HloModule,
    source: SourceProgram,
    inputs: Sequence[Array | SavedArray],
    worker: Worker,
    engine: Engine,
) -> FirstDifference:
    """Returns the first values that differ between the executable form of a dump and its source program.

    Where a program has no form in 64 bits, both are compared with the precision of the dump. Raises ExecutionError.
    """
    arrays = from_plain_all(inputs, entry_arrays(executable)[0])
    observed, program = observe(executable), prepare(source.module, source.name, worker.memory, engine)
    share = precision_of(dump).share
    for is_exact, iterations in _ATTEMPTS:
        found = _Comparison(
            observed, program, arrays, worker, engine, _SHARE if is_exact else share, iterations, is_exact
        )
        try:
            distances, uniform = found.run()
            break
        except ExecutionError:
            if (is_exact, iterations) == _ATTEMPTS[-1]:
                raise
    wrong = [each for each, distance in distances.items() if distance]
    return FirstDifference(
        source=source.name,
        suspects=observed.suspects(wrong, uniform, found.wrong_outputs()),
        observed=observed,
        origin=find_origins(dump),
        right=len(distances) - len(wrong),
        compared=len(distances),
        known=found.known,
        share=found.share,
        is_exact=found.is_exact,
        distances=distances,
        uniform=uniform,
    )
