"""Runs two programs on the same data and says what that shows.

One class, as each step needs most of what the others do: beyond 400 lines.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dialect_utils.execution import Array, Engine, ExecutionError, Program, Worker
from dialect_utils.ir import Module, Operation
from dialect_utils.opcodes import Trait, has
from dialect_utils.verdict.as_written import xla_options
from dialect_utils.verdict.comparator import Comparator, Finding
from dialect_utils.verdict.data import DataSet
from dialect_utils.verdict.exhaustive import possible_inputs
from dialect_utils.verdict.guarantees import Guarantee, result_guarantees
from dialect_utils.verdict.inputs import chosen_data
from dialect_utils.verdict.options import Options
from dialect_utils.verdict.ports import Port, entry_ports
from dialect_utils.verdict.power import Trial
from dialect_utils.verdict.result import PROOF, Answer, Power, Verdict
from dialect_utils.verdict.scale import Scale
from dialect_utils.verdict.self_checks import SelfCheck, failed_checks, self_checks
from dialect_utils.verdict.twin import Twin
from dialect_utils.verdict.work import ELEMENTS_PER_SECOND, is_interpretable, work_of

_LEFT_OPEN = "the results differ only in the order of NaN or of equal keys, which the original leaves to the engine"
# XLA:CPU has no code for negative padding and the like but by way of its simplifier.
_SIMPLIFIED = "XLA cannot do without its simplifier here, which makes some different programs the same"
# One set of data, and what the original and the rewrite make of it, its padding zeros and poison.
_Runs = tuple[DataSet, list[Array], list[Array], list[Array]]
_GRAVITY: tuple[Answer, ...] = ("equal", "agrees", "unknown", "different")
# How many mistakes are planted in about the time of the check: XLA compiles each, the interpreter none.
_PLANTED: dict[Engine, int] = {"interpreter": 8, "xla": 2}
# Data that decides, where all bits are equal on it.
_DECIDING = ("carriers", "own")
_MOVED = "on carriers that are all distinct (both modules only move data)"
_ONLY_INPUT = "on all the data there is (neither module has inputs)"
# So many elements may be computed on all possible inputs together.
_MOST_WORK = 1 << 26
# The interpreter is asked, without being told to, for modules that take it no longer than this.
_INTERPRETED_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything about two modules that does not depend on the engine."""

    original: Module
    last: Module
    programs: tuple[Program, Program]
    parameters: list[Port]
    results: list[Port]
    checks: list[SelfCheck]
    comparator: Comparator
    data: list[DataSet]
    options: Options
    # About how many elements a run of both computes; None where the interpreter lacks an op.
    work: int | None
    # Of `time.monotonic`.
    deadline: float
    # So many run each program; a leading dimension of all arrays counts them where they are several.
    devices: int = 1
    unreached: tuple[str, ...] = ()
    # XLA runs with its simplifier; sorts leave no order open.
    simplifies: bool = False
    # None: they are as they are written; else whether zeros have an order, too.
    orders_zeros: bool | None = None

    @classmethod
    def of(
        cls,
        stages: Sequence[Module],
        programs: tuple[Program, Program],
        checks: list[SelfCheck],
        options: Options,
        devices: int = 1,
    ) -> Examination:
        """Prepares the comparison of the first and the last of several forms of a module."""
        parameters, results = entry_ports(stages)
        first, last = stages[0], stages[-1]
        # A check's operands are compared, too; no layout packs them.
        results += [Port(check.shape) for check in checks for _ in check.operands]
        others = [value for check in self_checks(first) for value in check.operands]
        kinds = tuple(port.shape.element_type for port in results)
        guarantees = tuple(result_guarantees(first, others))
        comparator = Comparator(kinds, guarantees, options.compare, not _has_extrema(first))
        sums = any(guarantee is not Guarantee.ALWAYS for guarantee in guarantees)
        shapes = [port.of_devices(devices) for port in parameters]
        data, missing = chosen_data(shapes, [first, last], options, sums=sums)
        work = work_of(first) + work_of(last) if is_interpretable(first) and is_interpretable(last) else None
        deadline = time.monotonic() + options.timeout
        return cls(
            first,
            last,
            programs,
            parameters,
            results,
            checks,
            comparator,
            data,
            options,
            work,
            deadline,
            devices,
            tuple(missing),
        )

    def run(self, worker: Worker, *, is_proved: bool = False) -> Verdict:
        """Asks every engine until one finds a difference; where both are proved equal, only those asked for."""
        agreed: list[Engine] = []
        ways: dict[Engine, tuple[Examination, Finding]] = {}
        reasons: list[str] = []
        differing: set[int] = set()
        for engine, is_asked in self._engines(is_proved):
            try:
                way, found = self.on_engine(worker, engine)
            except ExecutionError as error:
                # What XLA holds to be wrong means nothing that could be proved.
                if engine == "xla" and error.is_refusal:
                    raise
                reasons += [f"{engine}: {error.failure}: {error.message}"] if is_asked else []
                continue
            if found.answer == "different":
                return Verdict("different", (engine,), self.comparator.compared(), found.counterexample, found.reason)
            if found.answer == "unknown":
                reasons.append(f"{engine}: {found.reason}")
                continue
            differing |= found.differing
            agreed.append(engine)
            ways[engine] = way, found
            reasons += [f"{engine}: {found.reason}"] if found.reason else []
            if is_proved and self.options.engines is None:
                # One engine is enough to contradict a proof.
                break
        if not agreed:
            return Verdict("unknown", reason="; ".join(reasons))
        verdict = Verdict(
            "agrees",
            tuple(agreed),
            self.comparator.compared(),
            reason="; ".join(reasons),
            data=self._described(),
            outputs=self._outputs(differing),
            unreached=self.unreached,
        )
        if is_proved:
            return verdict
        decided = (
            None if reasons or differing else self._completed(worker, verdict, [found for _, found in ways.values()])
        )
        return decided or replace(verdict, power=_power(worker, ways))

    def _completed(self, worker: Worker, verdict: Verdict, findings: Sequence[Finding]) -> Verdict | None:
        """Returns the verdict where data that leaves nothing open decides it; None where there is no such data."""
        if not all(found.exact for found in findings):
            return None
        if any(data.kind == "carriers" for data in self.data):
            return replace(verdict, verdict="equal", data=_MOVED, unreached=())
        if self.devices > 1 or not self._has_one_order():
            return None
        if self.data[0].kind == "own":
            return replace(verdict, verdict="equal", data=_ONLY_INPUT, unreached=())
        inputs = self._every_input()
        return None if inputs is None else self._decided_by(worker, verdict, inputs)

    def _has_one_order(self) -> bool:
        """Is true where no result of either module is computed in an order of the engine's choosing."""
        guarantees = (*self.comparator.guarantees, *result_guarantees(self.last))
        return all(each is Guarantee.ALWAYS for each in guarantees)

    def _every_input(self) -> list[Array] | None:
        """Returns all inputs that there are; None where they are too many to run, or a loop may never end."""
        used = [operation for module in (self.original, self.last) for operation in module.operations()]
        if self.checks or self.options.inputs is not None or any(operation.opcode == "while" for operation in used):
            return None
        if any(port.layouts for port in (*self.parameters, *self.results)):
            return None
        inputs = possible_inputs([port.shape for port in self.parameters])
        is_small = inputs is not None and len(inputs[0]) * (work_of(self.original) + work_of(self.last)) <= _MOST_WORK
        return inputs if is_small else None

    def _decided_by(self, worker: Worker, verdict: Verdict, inputs: list[Array]) -> Verdict | None:
        """Returns the verdict on all inputs that there are; None where these cannot be run."""
        try:
            first, last = (
                worker.run(
                    worker.rewrite("repeat", program, count=len(inputs[0]))[0],
                    [inputs],
                    options=self._xla_options(),
                    timeout=max(0.0, self.deadline - time.monotonic()),
                )[0]
                for program in self.programs
            )
        except ExecutionError:
            return None
        found = self.comparator.differences(first, last)
        if not found:
            methods = tuple(dict.fromkeys([*verdict.methods, "xla"]))
            data = f"on every possible input ({len(inputs[0]):,} of them)"
            return replace(verdict, verdict="equal", methods=methods, data=data, unreached=())
        number = found[0].index[0]
        only = replace(self, data=[DataSet("every", [array[number] for array in inputs])])
        _, finding = only.on_engine(worker, "xla")
        if finding.answer != "different":
            return None
        return Verdict("different", ("xla",), self.comparator.compared(), finding.counterexample, finding.reason)

    def measure(self, worker: Worker, engine: Engine, found: Finding) -> Power | None:
        """Measures the data's power, given what both programs computed of it on the engine."""
        count = self.options.power if self.options.power is not None else _PLANTED[engine]
        if not count:
            return None
        expected = found.expected
        twin = Twin(self.programs[0], worker, engine, self.options.timeout, self._xla_options())
        samples: dict[int, list[list[Array]]] = {}

        def scale(number: int, output: int) -> Scale:
            if number not in samples:
                samples[number] = twin.runs([self.data[number].arrays])[0]
            return self._scale(expected[number], samples[number], output)

        def execute(program: Program) -> list[list[Array]]:
            inputs = [data.arrays for data in self.data]
            return worker.run(
                self._as_compared(worker, program),
                inputs,
                engine=engine,
                options=self._xla_options(),
                timeout=self.options.timeout,
                with_checks=True,
            )

        trial = Trial(self.original, self.comparator, self.data, expected, execute, scale, engine == "xla")
        return trial.measure(count)

    def _as_compared(self, worker: Worker, program: Program) -> Program:
        if self.orders_zeros is None:
            return program
        return worker.rewrite("order", program, zeros=self.orders_zeros)[0]

    def _engines(self, is_proved: bool) -> Iterator[tuple[Engine, bool]]:
        """Yields the engines, and whether one that cannot execute the modules is told of."""
        if self.options.engines is not None:
            yield from ((engine, True) for engine in self.options.engines if engine != PROOF)
            return
        if is_proved and not self.parameters and self._is_small():
            # It compiles nothing, and a module that runs once is mostly compilation.
            yield "interpreter", False
        yield "xla", True
        if not is_proved and self._is_small():
            yield "interpreter", False

    def _is_small(self) -> bool:
        """Is true where the interpreter knows every op and is quick with all sets of data."""
        limit = _INTERPRETED_SECONDS * ELEMENTS_PER_SECOND
        return self.work is not None and self.work * len(self.data) <= limit

    def _described(self) -> str:
        """Says how much data there was."""
        count = len(self.data)
        data = f"on {count} set{'s' if count > 1 else ''} of inputs" if self.parameters else "on its own data"
        return data if self.devices == 1 else f"{data} on {self.devices} devices"

    def _outputs(self, differing: set[int]) -> tuple[str, ...]:
        """Returns a line for every output, those that checks of the module's own compare left out."""
        count = len(self.results) - sum(len(check.operands) for check in self.checks)
        return tuple(
            f"output {number} {port.shape.without_layout}: "
            + ("some bits differ" if number in differing else "all bits equal")
            for number, port in enumerate(self.results[:count])
        )

    def on_engine(self, worker: Worker, engine: Engine) -> tuple[Examination, Finding]:
        """Compares both programs as they are written; what differs, again in an order that the original allows.

        Also returns the examination of the programs that decided.
        """
        way, found = self._with_or_without_simplifier(worker, engine)
        if found.answer != "different" or not any(map(_chooses, self.original.operations())):
            return way, found
        # Sorts that are not stable may put zeros in any order, too.
        for zeros in (False, True):
            ordered = way.ordered(worker, zeros=zeros)
            if ordered is not None and (again := ordered.compared_on(worker, engine)).answer == "agrees":
                return ordered, _also(again, _LEFT_OPEN)
        return way, found

    def ordered(self, worker: Worker, *, zeros: bool) -> Examination | None:
        """Returns the examination with one order of NaN and equal keys; None where the original leaves none open.

        Sorts that only the rewrite leaves open are its mistake.
        """
        try:
            (first, (sorts, others)), (last, (sorts_left, _)) = (
                worker.rewrite("order", program, zeros=zeros) for program in self.programs
            )
        except ExecutionError:
            return None
        is_open = sorts + others and sorts_left <= sorts
        return replace(self, programs=(first, last), orders_zeros=zeros) if is_open else None

    def _with_or_without_simplifier(self, worker: Worker, engine: Engine) -> tuple[Examination, Finding]:
        """Compares both programs as they are written; with XLA's simplifier where XLA cannot do without it."""
        try:
            return self, self.compared_on(worker, engine)
        except ExecutionError:
            if engine != "xla":
                raise
        way = replace(self, simplifies=True)
        found = way.compared_on(worker, engine)
        return way, found if found.answer == "different" else _also(found, _SIMPLIFIED)

    def compared_on(self, worker: Worker, engine: Engine) -> Finding:
        """Runs both programs on all sets of data and compares their results."""
        inputs = [data.arrays for data in self.data]
        expected = self._execute(worker, engine, 0, inputs)
        with_zeros = self._execute_packed(worker, engine, inputs, poison=False)
        with_poison = with_zeros
        if any(port.layouts for port in self.parameters):
            with_poison = self._execute_packed(worker, engine, inputs, poison=True)
        runs = list(zip(self.data, expected, with_zeros, with_poison, strict=True))
        findings = [self._compared(engine, *each) for each in runs]
        twin = Twin(self.programs[0], worker, engine, self.options.timeout, self._xla_options())
        return replace(self._joined(self._decided(engine, runs, findings, twin)), expected=expected)

    def _joined(self, findings: Sequence[Finding]) -> Finding:
        """Returns what all sets of data show together: the gravest, and what is tolerated in any."""
        worst = max(findings, key=lambda finding: _GRAVITY.index(finding.answer))
        if worst.answer == "different":
            return worst
        differing = frozenset[int]().union(*(finding.differing for finding in findings))
        reasons = list(dict.fromkeys(each.reason for each in findings if each.reason))
        if len(reasons) > 1:
            reasons[1:] = [f"alike on {len(reasons) - 1} other sets"]
        exact = all(finding.exact for finding in findings)
        return replace(worst, reason="; ".join(reasons), differing=differing, exact=exact)

    def _decided(self, engine: Engine, runs: Sequence[_Runs], findings: list[Finding], twin: Twin) -> list[Finding]:
        """Decides what hangs on the scale of the original's error, which costs another compilation."""
        open_sets = [number for number, finding in enumerate(findings) if finding.undecided]
        if not open_sets or any(finding.answer == "different" for finding in findings):
            return findings
        if engine == "interpreter" and self.options.engines is None:
            # It adds up narrow floats one by one, and loses what XLA keeps; what it is exact in, it has judged.
            return findings
        try:
            samples = twin.runs([runs[number][0].arrays for number in open_sets])
        except ExecutionError as error:
            reason = f"the scale of the original's error cannot be found: {error.message}"
            return [Finding("unknown", reason, None, findings[open_sets[0]].differing)]
        for number, of_twin in zip(open_sets, samples, strict=True):
            data, expected, actual, _ = runs[number]
            scales = partial(self._scale, expected, of_twin)
            findings[number] = self.comparator.find(data, expected, actual, scales, flushes=engine == "xla")
        return findings

    def _scale(self, expected: Sequence[Array], of_twin: Sequence[Sequence[Array]], output: int) -> Scale:
        return Scale.of(self.comparator.element_types[output], expected[output], [run[output] for run in of_twin])

    def _execute(
        self, worker: Worker, engine: Engine, which: int, inputs: Sequence[Sequence[Array]]
    ) -> list[list[Array]]:
        timeout = self.deadline - time.monotonic()
        if timeout <= 0:
            raise ExecutionError("timeout", f"no time is left of {self.options.timeout:g} seconds")
        program, options = self.programs[which], self._xla_options()
        return worker.run(program, inputs, engine=engine, options=options, timeout=timeout, with_checks=True)

    def _xla_options(self) -> dict[str, bool | int | str]:
        return xla_options(has_inputs=bool(self.parameters), simplifies=self.simplifies)

    def _execute_packed(
        self, worker: Worker, engine: Engine, inputs: Sequence[Sequence[Array]], *, poison: bool
    ) -> list[list[Array]]:
        packed = [
            [port.pack(array, poison=poison) for port, array in zip(self.parameters, arrays, strict=True)]
            for arrays in inputs
        ]
        outputs = self._execute(worker, engine, 1, packed)
        return [[port.unpack(array) for port, array in zip(self.results, arrays, strict=True)] for arrays in outputs]

    def _compared(
        self, engine: Engine, data: DataSet, expected: list[Array], zeros: list[Array], poison: list[Array]
    ) -> Finding:
        found = self.comparator.find(data, expected, zeros, None, flushes=engine == "xla")
        if found.answer == "different":
            return found
        leaks = self.comparator.differences(zeros, poison)
        if leaks:
            return Finding("different", "padding reaches a result: it changes with what padding holds", leaks[0])
        checked = self._self_checks(expected, zeros)
        if checked.answer == "different":
            return checked
        exact = data.kind not in _DECIDING or not self.comparator.differences(expected, zeros)
        return replace(found, reason="; ".join(filter(None, [checked.reason, found.reason])), exact=exact)

    def _self_checks(self, expected: list[Array], actual: list[Array]) -> Finding:
        count = 2 * len(self.checks)
        if not count:
            return Finding()
        before, after = (failed_checks(self.checks, outputs[-count:]) for outputs in (expected, actual))
        broken = sorted(set(after) - set(before))
        if broken:
            return Finding("different", f"check {broken[0]} of the module holds before and fails after")
        if before:
            kinds = ", ".join(f"check {i} ({self.checks[i].kind})" for i in before)
            return Finding("agrees", f"the module's own {kinds} fails in both modules")
        return Finding()


def _power(worker: Worker, ways: Mapping[Engine, tuple[Examination, Finding]]) -> Power | None:
    """Measures the data's power on the engine that is quickest with so small a module."""
    engine: Engine = "interpreter" if "interpreter" in ways else "xla"
    way, found = ways[engine]
    return way.measure(worker, engine, found)


def _also(found: Finding, remark: str) -> Finding:
    return replace(found, reason="; ".join(filter(None, [remark, found.reason])))


def _chooses(operation: Operation) -> bool:
    """Is true for what may ask a comparator of which elements come first."""
    return operation.opcode == "sort" or has(operation.opcode, Trait.COMBINES)


def _has_extrema(module: Module) -> bool:
    return any(operation.opcode in ("maximum", "minimum", "clamp") for operation in module.operations())
