"""The outputs of a run beside the expected ones: a dump's own precision decides where the user gives no tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.execution import Array, ExecutionError, SavedArray, Worker, entry_arrays, from_plain_all, prepare
from dialect_utils.layout import ArrayShape
from dialect_utils.verdict import Tolerance
from dialect_utils.verdict.differences import BITS
from dialect_utils.verdict.expectation import Allowance, Distance, allow_own_error, allowances, measure, precision_of
from passes.dumps.executable import is_optimized_dump
from relayout.running.ready import Forms


@dataclass(frozen=True, slots=True)
class Compared:
    """The outputs of one run beside the expected ones."""

    forms: Forms
    # Its limits are those of another worker.
    worker: Worker
    devices: int
    outputs: Sequence[Array]
    expected: Sequence[Array]
    results: Sequence[ArrayShape]
    inputs: Sequence[Array | SavedArray]

    def by_tolerance(self, tolerance: Tolerance | None) -> list[Distance]:
        """Measures the outputs by a tolerance, None: by their bits."""
        return self._distances([Allowance(tolerance or BITS)] * len(self.results))

    def by_precision(self) -> list[Distance]:
        """Measures the outputs of a dump by its precision and its rounding error, those of other modules by bits."""
        if not is_optimized_dump(self.forms.dump):
            return self.by_tolerance(None)
        allowed = allowances(precision_of(self.forms.dump), self.results, self.expected)
        found = self._distances(allowed)
        exact = None if all(each.equal for each in found) else self._unrounded()
        if exact is None:
            return found
        # The program may return one more value than it is compared by.
        pairs = zip(allowed, self.outputs, exact[: len(self.results)], self.results, strict=True)
        return self._distances(
            [allow_own_error(each, output, other, shape.element_type) for each, output, other, shape in pairs]
        )

    def _distances(self, allowed: Sequence[Allowance]) -> list[Distance]:
        outputs = zip(self.outputs, self.expected, self.results, allowed, strict=True)
        return [measure(actual, wanted, shape.element_type, each) for actual, wanted, shape, each in outputs]

    def _unrounded(self) -> Sequence[Array] | None:
        """Returns the outputs in 64 bits without the program's roundings, or None where an engine cannot do that."""
        module = self.forms.module
        parameters, _ = entry_arrays(module, self.devices)
        arrays = from_plain_all(self.inputs, parameters)
        try:
            with Worker(self.worker.timeout, self.devices, self.worker.memory) as worker:
                program, _ = worker.rewrite("unround", prepare(module, "<unrounded>", worker.memory))
                return worker.run(program, [arrays])[0]
        except ExecutionError:
            return None
