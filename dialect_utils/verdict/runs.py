"""Executes the original and the rewrite on the same sets of data."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np

from dialect_utils.execution import Array, Engine, ExecutionError, Program, Worker
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import element_type_of
from dialect_utils.layout.arrays.floats import ulps_of
from dialect_utils.ops.sharding import replicated
from dialect_utils.verdict.entry import EntryArray
from dialect_utils.verdict.sampling import DataSet

# The code that XLA makes. Compiling `unoptimized` code takes half the time, and running it may take several times as
# long; its bits are those of optimized code. `plain` code takes a tenth to a fifth of the time, and has other last bits
# for some functions.
Code = Literal["optimized", "unoptimized", "plain"]
# The input that says in which order programs sort: two numbers (stablehlo/rewrites/ordering.py).
_RANKS = EntryArray(ArrayShape(ElementType("s32", 32), (2,)))


@dataclass(frozen=True, slots=True)
class Results:
    """The results of both programs on one set of data, on one engine.

    `expected` are the original's outputs. `zeros` and `poison` are the rewrite's outputs in the original's shapes, with
    zeros and with poison as padding of the inputs.
    """

    engine: Engine
    data: DataSet
    expected: Sequence[Array]
    zeros: Sequence[Array]
    poison: Sequence[Array]


@dataclass(frozen=True, slots=True)
class Runs:
    """Two programs, the arrays of their entries, and the data, the worker and the engine that they run on.

    Where the worker has several devices, arrays have a leading dimension for these. `partitioned` runs the rewrite
    where it computes on the parts of several devices.
    """

    worker: Worker
    programs: tuple[Program, Program]
    parameters: Sequence[EntryArray]
    results: Sequence[EntryArray]
    data: Sequence[DataSet]
    # Seconds for each execution; all executions end at `deadline`, a value of `time.monotonic`.
    timeout: float
    deadline: float
    engine: Engine = "xla"
    # XLA runs with its simplifier.
    simplifies: bool = False
    code: Code = "optimized"
    # Sorts leave no order open, with NaN first (true) or last (false); None: the programs are as they are written.
    nan_first: bool | None = None
    # The operands of the original's products that are rounded to bf16, a bit for each.
    rounded: int = 0
    partitioned: Worker | None = None

    @property
    def devices(self) -> int:
        """Returns the number of devices of the program that has most."""
        return self.worker.devices if self.partitioned is None else self.partitioned.devices

    def compared(self) -> list[Results]:
        """Runs both programs on each set of data."""
        sets = zip(self.data, self.original(), self.rewrite(), strict=True)
        return [self.put_together(*each) for each in sets]

    def put_together(
        self, data: DataSet, expected: Sequence[Array], rewritten: tuple[Sequence[Array], Sequence[Array]]
    ) -> Results:
        """Returns the results on one set of data; the rewrite's parts on several devices become whole arrays."""
        zeros, poison = (
            [array.put_together(*pair) for array, *pair in zip(self.results, found, expected, strict=True)]
            for found in rewritten
        )
        return Results(self.engine, data, expected, zeros, poison)

    def original(self) -> list[list[Array]]:
        """Returns the original's outputs on each set of data."""
        return self._execute(self.programs[0], [data.arrays for data in self.data])

    def rewrite(self) -> list[tuple[list[Array], list[Array]]]:
        """Returns the rewrite's outputs on each set of data, with zeros and with poison as padding of the inputs.

        Where it computes on the parts of several devices, these are not joined.
        """
        with_zeros = self._execute_packed(poison=False)
        is_padded = any(parameter.is_padded for parameter in self.parameters)
        return list(zip(with_zeros, self._execute_packed(poison=True) if is_padded else with_zeros, strict=True))

    def of_others(self, programs: Sequence[Program]) -> list[list[list[Array]] | None]:
        """Returns the outputs of other forms of the original, with the same orders of sorts.

        None for a form that the engine rejects. XLA compiles many forms together; if it rejects them, it compiles
        smaller groups. Raises ExecutionError where no time is left.
        """
        try:
            if self.engine == "xla" and self.worker.devices == 1 and len(programs) > 1:
                return self._joined(programs)
            inputs = [data.arrays for data in self.data]
            return [self._execute(self._in_this_form(program), inputs) for program in programs]
        except ExecutionError as error:
            if error.failure == "timeout":
                raise
        if len(programs) == 1:
            return [None]
        half = len(programs) // 2
        return [outputs for part in (programs[:half], programs[half:]) for outputs in self.of_others(part)]

    def _joined(self, programs: Sequence[Program]) -> list[list[list[Array]] | None]:
        """Returns the outputs of programs that XLA compiles and runs as one, the original first among them."""
        program, kept = self.worker.join([self.programs[0], *map(self._in_this_form, programs)])
        found = self._execute(program, [data.arrays for data in self.data], with_checks=False)
        count = len(self.results)
        begins = {number: position * count for position, number in enumerate(kept)}
        return [
            [outputs[begins[n] : begins[n] + count] for outputs in found] if n in begins else None
            for n in range(1, len(programs) + 1)
        ]

    def _in_this_form(self, program: Program) -> Program:
        """Returns a program that rounds operands as the original of these runs does, and sorts in its order."""
        if self.rounded:
            program, _ = self.worker.rewrite("round", program, operands=self.rounded)
        if self.nan_first is None:
            return program
        return self.worker.rewrite("order", program, nan_first=self.nan_first)[0]

    def repeated(self, inputs: Sequence[Array]) -> list[list[Array]]:
        """Returns the outputs of both programs on many inputs, stacked along a leading dimension.

        XLA runs all inputs in one loop. The interpreter copies all results in each iteration, so its loops are short.
        """
        count = len(inputs[0])
        size = min(count, _REPEATED) if self.engine == "interpreter" else count
        chunks = [[array[start : start + size] for array in inputs] for start in range(0, count, size)]
        programs = [self.worker.rewrite("repeat", program, count=size)[0] for program in self.programs]
        found = [self._execute(program, chunks, with_checks=False) for program in programs]
        return [[np.concatenate(arrays) for arrays in zip(*outputs, strict=True)] for outputs in found]

    def widened(self) -> HigherPrecision:
        """Returns a function that runs the original in higher precision, which is rewritten at the first run."""
        rewritten = cache(partial(self.worker.rewrite, "widen", self.programs[0]))

        def run(data: Sequence[DataSet]) -> list[list[list[Array]]]:
            program, (length,) = rewritten()
            elements = sum(array.size for each in data for array in each.arrays)
            count = _RUNS if elements <= _MANY_ELEMENTS else _FEWER_RUNS
            rng = np.random.default_rng(_SEED)
            size = (length,) if self.worker.devices == 1 else (self.worker.devices, length)
            inputs = [
                [*_nudged(each, rng, number), rng.uniform(-1, 1, size)] for each in data for number in range(count)
            ]
            found = self.worker.run(
                program, inputs, engine=self.engine, options=self.xla_options, timeout=self.timeout, with_checks=True
            )
            return [found[start : start + count] for start in range(0, len(found), count)]

        return run

    def unrounded(self) -> list[Unrounded]:
        """Returns the original's outputs in 64 bits without roundings on each set of data; raises ExecutionError."""
        program, _ = self.worker.rewrite("unround", self.programs[0])
        rng = np.random.default_rng(_SEED)
        inputs = [_variants(data.arrays, rng) for data in self.data]
        found = iter(self._execute(program, [each for variants in inputs for each in variants]))
        of_sets = [[next(found) for _ in variants] for variants in inputs]
        return [Unrounded(exact, numbers, finite, near) for exact, numbers, finite, *near in of_sets]

    def ordered(self, *, nan_first: bool) -> tuple[Runs, tuple[int, ...], tuple[int, ...]]:
        """Returns the runs of programs that take their sort order as last input.

        Also returns for each program the number of operations that left an order open, and the number of sorts
        that are not stable. Raises ExecutionError.
        """
        (first, of_first), (last, of_last) = (
            self.worker.rewrite("order", program, nan_first=nan_first) for program in self.programs
        )
        count = self.devices
        ranks = replace(_RANKS, sharding=replicated(1, count)) if self.partitioned is not None else _RANKS
        parameters = [*self.parameters, ranks]
        return replace(self, programs=(first, last), parameters=parameters, nan_first=nan_first), of_first, of_last

    def ranked(self, *orders: tuple[int, int]) -> Runs:
        """Returns the runs on all sets of data, once for each order; the order is the last input."""
        data = []
        for order in orders:
            ranks, devices = np.array(order, np.int32), self.worker.devices
            last = ranks if devices == 1 else np.stack([ranks] * devices)
            data += [replace(each, arrays=[*each.arrays, last]) for each in self.data]
        return replace(self, data=data)

    @property
    def xla_options(self) -> dict[str, bool | int | str]:
        """Returns XLA's options for both programs."""
        options = xla_options(has_inputs=bool(self.parameters), simplifies=self.simplifies)
        return options | _CODE[self.code]

    def _execute_packed(self, *, poison: bool) -> list[list[Array]]:
        packed = [
            [each.pack(array, poison=poison) for each, array in zip(self.parameters, data.arrays, strict=True)]
            for data in self.data
        ]
        worker = self.worker if self.partitioned is None else self.partitioned
        outputs = self._execute(self.programs[1], packed, worker=worker)
        return [[each.unpack(array) for each, array in zip(self.results, row, strict=True)] for row in outputs]

    def _execute(
        self,
        program: Program,
        inputs: Sequence[Sequence[Array]],
        *,
        with_checks: bool = True,
        worker: Worker | None = None,
    ) -> list[list[Array]]:
        timeout = self.deadline - time.monotonic()
        if timeout <= 0:
            raise ExecutionError("timeout", f"no time is left of {self.timeout:g} seconds")
        return (worker or self.worker).run(
            program, inputs, engine=self.engine, options=self.xla_options, timeout=timeout, with_checks=with_checks
        )


# All possible inputs are a power of two, and so is this number of iterations.
_REPEATED = 64
# Runs whose spread is the scale: with eight, one element in 100,000 has less than a third of it by chance.
_RUNS = 8
_FEWER_RUNS = 4
_MANY_ELEMENTS = 1 << 20
_SEED = 20
# Kinds of data without chosen values. A correct form of a function, such as another formula for a variance, may
# have an error as large as that of inputs one unit in the last place off: half of the runs take such inputs.
_CONTINUOUS = ("random", "shifted", "magnitudes", "scaled")


# Returns, for each set of data, the results of several runs in higher precision; raises ExecutionError.
HigherPrecision = Callable[[Sequence[DataSet]], list[list[list[Array]]]]


def _nudged(data: DataSet, rng: np.random.Generator, number: int) -> list[Array]:
    """Returns the inputs of a run; in every second run, f32 and f64 inputs are one unit in the last place off."""
    if number % 2 == 0 or data.kind not in _CONTINUOUS:
        return list(data.arrays)
    return [_beside(array, rng) if array.dtype in (np.float32, np.float64) else array for array in data.arrays]


def _beside(array: Array, rng: np.random.Generator) -> Array:
    ends = rng.choice(np.array([-np.inf, 0, np.inf], array.dtype), array.shape)
    with np.errstate(all="ignore"):
        moved = np.nextafter(array, ends)
    return np.where((ends == 0) | ~np.isfinite(moved), array, moved)


@dataclass(frozen=True, slots=True)
class Unrounded:
    """The original's outputs in 64 bits without roundings, on one set of inputs and on sets like it.

    `exact`: on the inputs; `numbers`: on inputs with 1 for NaN; `finite`: with 1 for NaN and infinities; `near`: on
    inputs that moved by up to about one unit in the last place of the largest number of their array.
    """

    exact: Sequence[Array]
    numbers: Sequence[Array]
    finite: Sequence[Array]
    near: Sequence[Sequence[Array]]


# Runs on moved inputs, and the units by which an input may move: any number up to one and a half rounds to 0 or 1.
_MOVES = 8
_FARTHEST = 1.5


def _variants(arrays: Sequence[Array], rng: np.random.Generator) -> list[list[Array]]:
    """Returns the inputs of all runs of an unrounded program on one set of data."""
    are_replaced = (np.isnan, lambda values: ~np.isfinite(values))
    numbers, finite = ([_replaced(array, replaces) for array in arrays] for replaces in are_replaced)
    return [list(arrays), numbers, finite, *([_moved(array, rng) for array in arrays] for _ in range(_MOVES))]


def _replaced(array: Array, replaces: Callable[[Array], Array]) -> Array:
    if not element_type_of(array.dtype).is_floating:
        return array
    with np.errstate(invalid="ignore"):
        return np.where(replaces(array.astype(np.float64)), np.ones_like(array), array)


def _moved(array: Array, rng: np.random.Generator) -> Array:
    if not element_type_of(array.dtype).is_floating:
        return array
    with np.errstate(all="ignore"):
        values = array.astype(np.float64)
        is_finite = np.isfinite(values)
        largest = np.abs(values[is_finite]).max(initial=0.0)
        unit = ulps_of(largest, element_type_of(array.dtype))
        moved = (values + unit * rng.uniform(-_FARTHEST, _FARTHEST, values.shape)).astype(array.dtype)
        return np.where(is_finite & np.isfinite(moved.astype(np.float64)), moved, array)


# The simplifier would make different programs the same. Without it, XLA's mover of reshapes does not end by itself: it
# adds thousands of transposes.
_DISABLED = "xla_disable_hlo_passes"
_SIMPLIFIER = "algsimp,reshape-mover"
_AS_WRITTEN: dict[str, bool | int | str] = {
    _DISABLED: _SIMPLIFIER,
    "xla_allow_excess_precision": False,
    # The library's fusions drop a rounding to bf16 between two operations of f32.
    "xla_cpu_experimental_ynn_fusion_type": "",
}
_FOLDING = "constant_folding"
# Constant folding would replace a module without inputs by its results, so that nothing is executed. The code
# runs once, so optimizing it would cost more than it saves.
_NOT_OPTIMIZED: dict[str, bool | int | str] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_parallel_codegen_split_count": 1,
}
_WITHOUT_INPUTS: dict[str, bool | int | str] = {**_AS_WRITTEN, **_NOT_OPTIMIZED, _DISABLED: f"{_SIMPLIFIER},{_FOLDING}"}
_CODE: dict[Code, dict[str, bool | int | str]] = {
    "optimized": {},
    "unoptimized": _NOT_OPTIMIZED,
    "plain": {**_NOT_OPTIMIZED, "xla_cpu_use_fusion_emitters": False},
}


def xla_options(*, has_inputs: bool, simplifies: bool) -> dict[str, bool | int | str]:
    """Returns XLA's options to run a program as written; `simplifies`: with the simplifier, where XLA:CPU needs it."""
    options = _AS_WRITTEN if has_inputs else _WITHOUT_INPUTS
    return {**options, _DISABLED: "" if has_inputs else _FOLDING} if simplifies else options
