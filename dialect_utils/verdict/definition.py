"""Compares the results of XLA:CPU with the definition of a module, which the reference evaluator follows.

The reference evaluator and XLA share no code, so their rounding may differ where a definition leaves it open
(`ops/choices.py`). Such an output may be as far off as the module's own rounding error, as in a comparison of two
modules.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dialect_utils.execution import Array, Program, Worker, prepare
from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.verdict.comparator import Comparator, Finding
from dialect_utils.verdict.dataflow import Dependence, operations_behind
from dialect_utils.verdict.differences import Tolerance, different_elements
from dialect_utils.verdict.examination import Examination
from dialect_utils.verdict.judge import compared_arrays, self_checks
from dialect_utils.verdict.options import Options
from dialect_utils.verdict.rounding.floats import without_subnormals
from dialect_utils.verdict.rounding.guarantees import Guarantee
from dialect_utils.verdict.runs import HigherPrecision, Results
from dialect_utils.verdict.sampling import DataSet

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
        inputs = [each.arrays for each in self.examination.runs.data]
        return self._judged(worker.run(self.program, inputs, engine="xla", options=options, with_checks=True))

    def evaluated(self, worker: Worker, program: Program) -> Finding:
        """Compares another form of the module with the module, both by definition; raises ExecutionError."""
        inputs = [each.arrays for each in self.examination.runs.data]
        return self._judged(worker.run(program, inputs, engine="reference", with_checks=True))

    def _judged(self, outputs: Sequence[Sequence[Array]]) -> Finding:
        judge, data = self.examination.judge, self.examination.runs.data
        results = []
        for each, expected, actual in zip(data, self.expected, outputs, strict=True):
            pairs = enumerate(zip(expected, actual, strict=True))
            near = [self._without_rounding(each, number, *pair) for number, pair in pairs]
            results.append(Results("xla", each, expected, near, near))
        return judge.joined(results, self.higher)

    def _without_rounding(self, data: DataSet, output: int, expected: Array, actual: Array) -> Array:
        """Returns an output in which elements a few units in the last place off are replaced by the expected elements.

        XLA divides by multiplying with a reciprocal, for example. Tagged inputs may differ by as little, so tags are
        compared exactly.
        """
        element_type = self.examination.judge.comparator.element_types[output]
        if data.kind == "tagged" or not element_type.is_inexact:
            return actual
        return np.where(different_elements(expected, actual, element_type, _NEAR), actual, expected)

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
    return operation.opcode in USES[choice]
