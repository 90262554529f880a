"""Compares the results of XLA:CPU with the definition of a module, which the reference evaluator follows.

The reference evaluator and XLA share no code, so their rounding may differ where a definition leaves it open
(`ops/choices.py`). Such an output may be as far off as the module's own rounding error, as in a comparison of two
modules.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from dialect_utils.execution import Array, ExecutionError, Program, Worker, prepare
from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.arrays.floats import without_subnormals
from dialect_utils.ops import Trait, has
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.verdict.comparator import Comparator, Finding
from dialect_utils.verdict.dataflow import Dependence, operations_behind
from dialect_utils.verdict.differences import BITS, Tolerance, different_elements
from dialect_utils.verdict.examination import Examination
from dialect_utils.verdict.judge import compared_arrays, self_checks
from dialect_utils.verdict.options import Options
from dialect_utils.verdict.rounding.guarantees import Guarantee
from dialect_utils.verdict.runs import HigherPrecision, Results
from dialect_utils.verdict.sampling import DataSet
from dialect_utils.verdict.terms.orders import combines_in_any_order

# Choices that move a float by its rounding only. The order of sums is the subject of `guarantees`.
_ROUNDINGS = (Choice.FUNCTION_ROUNDING, Choice.DOT_PRECISION)
# Floats below this width may be kept in a wider type between two operations.
_NARROW_BITS = 32
# Other choices, which may change a result by any amount.
_OPEN = (Choice.EQUAL_KEYS, Choice.UPDATE_ORDER, Choice.RANDOM_NUMBERS, Choice.UNDEFINED_ELEMENTS)
# Data without special values comes first: the choices about NaN and zeros do not affect it.
_CALM = ("given", "own", "whole", "random", "tagged")
# Rounding explains differences up to this, without an estimate of the module's own error.
_NEAR = Tolerance(ulp=4)
# The reference evaluator is slow: later sets of data are left out once it has taken so long, in seconds.
_REFERENCE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ByDefinition:
    """A module, and its results by definition on sets of data."""

    program: Program
    examination: Examination
    expected: Sequence[Sequence[Array]]
    higher: HigherPrecision
    # The results with zeros for subnormal numbers in arithmetic, from the first difference on.
    flushed: list[list[Array]] = field(default_factory=list)

    @classmethod
    def of(
        cls, module: Module, options: Options, worker: Worker, name: str, most_sets: int | None = None
    ) -> ByDefinition:
        """Evaluates a module by the reference evaluator on as many sets of data as its time limit allows.

        Raises DiagnosticError and ExecutionError.
        """
        program = prepare(module, name, options.memory)
        checks = self_checks(module)
        examination = Examination.of([module, module], (program, program), checks, options, worker)
        comparator = _rounded(examination.judge.comparator, module)
        examination = replace(examination, judge=replace(examination.judge, comparator=comparator))
        data = _sorted(examination.runs.data)[:most_sets]
        end, expected = time.monotonic() + _REFERENCE_SECONDS, []
        for each in data:
            [found] = worker.run(program, [each.arrays], engine="reference", with_checks=True, timeout=options.timeout)
            expected.append(found)
            if time.monotonic() > end:
                break
        runs = replace(examination.runs, data=data[: len(expected)])
        # A later compilation must not repeat a mistake of the compiler.
        higher = _remembered(replace(runs, engine="reference").widened())
        return cls(program, replace(examination, runs=runs), expected, higher)

    def finding(self, worker: Worker, options: Mapping[str, bool | int | str]) -> Finding:
        """Compares the results of XLA, compiled with its own options, with the results by definition.

        Raises ExecutionError where XLA does not execute the module.
        """
        outputs = worker.run(self.program, self._inputs, engine="xla", options=options, with_checks=True)
        found = self._judged(outputs)
        if found.answer != "different":
            return found
        if not self.flushed:
            flushes = {"flushes": True}
            with suppress(ExecutionError):
                self.flushed.extend(
                    worker.run(self.program, self._inputs, engine="reference", options=flushes, with_checks=True)
                )
        return self._judged(outputs) if self.flushed else found

    def evaluated(self, worker: Worker, program: Program) -> Finding:
        """Compares another form of the module with the module, both by definition; raises ExecutionError."""
        return self._judged(worker.run(program, self._inputs, engine="reference", with_checks=True))

    @property
    def _inputs(self) -> list[Sequence[Array]]:
        return [each.arrays for each in self.examination.runs.data]

    def _judged(self, outputs: Sequence[Sequence[Array]]) -> Finding:
        judge, data = self.examination.judge, self.examination.runs.data
        allowed = zip(*filter(None, (self.expected, self.flushed)), strict=True)
        results = []
        for each, by_definition, actual in zip(data, allowed, outputs, strict=True):
            near = [
                self._without_rounding(each, number, *arrays)
                for number, arrays in enumerate(zip(actual, *by_definition, strict=True))
            ]
            results.append(Results("xla", each, by_definition[0], near, near))
        return judge.joined(results, self.higher)

    def _without_rounding(self, data: DataSet, output: int, actual: Array, expected: Array, *others: Array) -> Array:
        """Returns an output with the expected elements where it is a few units in the last place off, or off another.

        XLA divides by multiplying with a reciprocal, for example. Tagged inputs may differ by as little, so tags are
        compared exactly.
        """
        if data.kind == "tagged":
            return actual
        element_type = self.examination.judge.comparator.element_types[output]
        tolerance = _NEAR if element_type.is_inexact else BITS
        for allowed in (expected, *others):
            actual = np.where(different_elements(allowed, actual, element_type, tolerance), actual, expected)
        return actual

    @property
    def data(self) -> int:
        """Returns the number of sets of data."""
        return len(self.expected)

    def open_choices(self, output: int) -> list[str]:
        """Returns the names of the choices, beyond rounding, that the definition leaves to the engine in an output."""
        value, _ = compared_arrays(self.examination.original)[output]
        makers = operations_behind([value])
        return [choice.name.lower() for choice in _OPEN if any(_is_open(each, choice) for each in makers)]


def _remembered(widened: HigherPrecision) -> HigherPrecision:
    """Returns runs in higher precision, each made once: all forms of a module are compared with the same ones."""
    made: dict[int, list[list[Array]]] = {}

    def run(data: Sequence[DataSet]) -> list[list[list[Array]]]:
        missing = [each for each in data if id(each) not in made]
        if missing:
            made.update(zip(map(id, missing), widened(missing), strict=True))
        return [made[id(each)] for each in data]

    return run


def _sorted(data: Sequence[DataSet]) -> list[DataSet]:
    """Returns sets of data without subnormal numbers; sets without special values come first."""
    # XLA counts subnormal numbers as zeros, so a quotient or a logarithm of one may be anything.
    flushed = [replace(each, arrays=[*map(without_subnormals, each.arrays)]) for each in data]
    return sorted(flushed, key=lambda each: each.kind not in _CALM)


def _rounded(comparator: Comparator, module: Module) -> Comparator:
    """Returns a comparator that allows for the rounding of functions, which two engines round in their own ways."""
    rounded = Dependence(compared_arrays(module)).on(_rounds)
    guarantees = [
        Guarantee.NEVER if number in rounded else guarantee for number, guarantee in enumerate(comparator.guarantees)
    ]
    return replace(comparator, guarantees=tuple(guarantees))


def _rounds(operation: Operation) -> bool:
    """Is true for an operation whose result two engines may round in different ways."""
    shapes = [value.shape for value in operation.results]
    kinds = [shape.element_type for shape in shapes if isinstance(shape, ArrayShape)]
    is_float = any(kind.is_inexact for kind in kinds)
    if not is_float:
        return False
    if any(operation.opcode in USES[choice] for choice in _ROUNDINGS):
        return True
    is_complex = any(kind.is_complex for kind in kinds)
    is_narrow = any(kind.is_floating and kind.bits < _NARROW_BITS for kind in kinds)
    return (is_complex and has(operation.opcode, Trait.ROUNDS)) or (
        is_narrow and operation.opcode in USES[Choice.EXCESS_PRECISION]
    )


def _is_open(operation: Operation, choice: Choice) -> bool:
    if choice is Choice.EQUAL_KEYS and operation.attribute("is_stable") == "true":
        return False
    if choice is Choice.UPDATE_ORDER and operation.opcode == "scatter":
        # Each element has one update, or its updates give one result in all orders.
        is_unique = operation.attribute("unique_indices") in ("true", "unit")
        return not (is_unique or all(map(combines_in_any_order, operation.called)))
    return operation.opcode in USES[choice]
