"""Executes two programs on the same data on each engine, and derives a verdict from their results."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dialect_utils.execution import Array, Engine, ExecutionError, Program, Worker
from dialect_utils.ir import Module
from dialect_utils.ops import Trait, has
from dialect_utils.verdict.comparator import NAN, Comparator, Finding
from dialect_utils.verdict.dataflow import Dependence
from dialect_utils.verdict.entry import EntryArray, entry_interface
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.judge import Judge, SelfCheck, also, compared_arrays
from dialect_utils.verdict.options import AUTO, Options
from dialect_utils.verdict.outcome import NAN_BITS, PROOF, Power
from dialect_utils.verdict.rounding.guarantees import (
    SIGN_OF_ZERO,
    Guarantee,
    RoundingAnalysis,
    computes_floats,
    expanded_opcodes,
    makes_nan,
    makes_steps,
    result_guarantees,
)
from dialect_utils.verdict.rules.arrays import REDUCTIONS
from dialect_utils.verdict.runs import Code, Runs
from dialect_utils.verdict.sampling import DataSet
from dialect_utils.verdict.sampling.inputs import chosen_data, possible_inputs
from dialect_utils.verdict.work import ELEMENTS_PER_SECOND, is_interpretable, work_of

# XLA:CPU implements negative padding and a few other operations only through its simplifier.
_SIMPLIFIED = "XLA cannot do without its simplifier here, which makes some different programs the same"
# Faults to inject: a few of them are proved harmless, and about twenty are left.
_PLANTED = 24
# Measuring power may take as long as the check has taken so far, or this long, in seconds for so many faults.
_LEAST_SECONDS = 1.0
_MOVED = "on tagged inputs, whose elements all differ (both modules only move data)"
_ONLY_INPUT = "on all the data there is (neither module has inputs)"
# The largest number of elements to compute on all possible inputs together.
_MOST_WORK = 1 << 26
# The largest number of elements to compute with code that XLA does not optimize.
_MOST_UNOPTIMIZED_WORK = 1 << 24
# Plain code takes up to a nanosecond more for an element, and saves a millisecond of compiling for each operation, and
# 15 for each module.
_WORK_OF_COMPILING, _OPERATIONS_OF_MODULE = 1_000_000, 15
# Without an explicit request, the interpreter runs only modules that take less time than this.
_INTERPRETED_SECONDS = 0.1
_STEPPED = "both are equal over the real numbers, and rounding may decide between two steps"


@dataclass(frozen=True, slots=True)
class Examination:
    """The part of the comparison of two modules that does not depend on the engine."""

    original: Module
    last: Module
    runs: Runs
    judge: Judge
    options: Options
    # Approximate number of elements that a run of both computes; None where the interpreter lacks an operation.
    work: int | None
    unreached: tuple[str, ...] = ()
    # The outputs that depend on operations which one of the modules expands.
    expanded: frozenset[int] = frozenset()
    # True where a proof over the reals says `equal` and bits may still differ.
    is_equal_over_reals: bool = False

    @classmethod
    def of(
        cls,
        stages: Sequence[Module],
        programs: tuple[Program, Program],
        checks: list[SelfCheck],
        options: Options,
        worker: Worker,
        excused: frozenset[int] = frozenset(),
        partitioned: Worker | None = None,
    ) -> Examination:
        """Prepares the comparison of the first and the last of several forms of a module, without excused outputs."""
        parameters, results = entry_interface(stages, options.partition)
        first, last = stages[0], stages[-1]
        # The operands of a self-check are compared, too; no layout packs them.
        results += [EntryArray(check.shape) for check in checks for _ in check.operands]
        types = tuple(each.shape.element_type for each in results)
        analysis, arrays, others = RoundingAnalysis(first), compared_arrays(first), compared_arrays(last)
        ours, theirs = Dependence(arrays), Dependence(others)
        opcodes = expanded_opcodes(first, last)
        expanded = ours.on(lambda each: each.opcode in opcodes) | theirs.on(lambda each: each.opcode in opcodes)
        guarantees = tuple(
            Guarantee.NEVER if number in expanded else guarantee
            for number, guarantee in enumerate(analysis.guarantees(arrays))
        )
        # A sum among devices adds the zeros of those that hold nothing.
        is_parted = options.partition is not None
        among = theirs.on(lambda each: is_parted and each.opcode in REDUCTIONS)
        comparator = Comparator(
            types,
            guarantees,
            options.compare,
            open_signs=ours.on(lambda each: each.opcode in SIGN_OF_ZERO) | among,
            computed=ours.on(computes_floats) | theirs.on(computes_floats),
            nan_made=Dependence(arrays, steered=False).on(makes_nan) | Dependence(others, steered=False).on(makes_nan),
            thresholds=ours.on(analysis.is_threshold),
            excused=excused,
        )
        sums = any(guarantee is not Guarantee.ALWAYS for guarantee in guarantees)
        shapes = [each.of_devices(worker.devices) for each in parameters]
        data, missing = chosen_data(shapes, [first, last], options, sums=sums)
        for stage in stages if options.inputs is None and worker.devices > 1 else ():
            from dialect_utils.verdict.partition import with_shared

            data = [replace(each, arrays=with_shared(each.arrays, stage, worker.devices)) for each in data]
        work = work_of(first) + work_of(last) if is_interpretable(first) and is_interpretable(last) else None
        runs = Runs(worker, programs, parameters, results, data, options.timeout, time.monotonic() + options.timeout)
        runs = replace(runs, partitioned=partitioned)
        judge = Judge(comparator, checks, is_interpreter_optional=options.engines is None)
        return cls(first, last, runs, judge, options, work, tuple(missing), expanded)

    def run(self, *, is_proved: bool = False) -> Verdict:
        """Runs the engines in order until one finds a difference; after a proof, only engines that were asked for."""
        decided: dict[Engine, tuple[Runs, Finding]] = {}
        reasons: list[str] = []
        remarks: dict[tuple[int, str], str] = {}
        for engine, is_asked in self._engines(is_proved):
            try:
                runs, found = self.on_engine(engine)
                found = self._weighed(runs, found)
                runs, found = self._confirmed(engine, runs, found)
            except ExecutionError as error:
                # A module that XLA rejects has no meaning that a proof could be about.
                if engine == "xla" and error.is_refusal:
                    raise
                reasons += [f"{engine}: {error.failure}: {error.message}"] if is_asked else []
                continue
            if found.answer == "different" or (found.answer == "unknown" and found.counterexample is not None):
                # Only rounding explains an undecided difference, and no other engine can decide that.
                return self._of_difference(engine, found)
            reasons += [f"{engine}: {found.reason}"] if found.reason or found.answer == "unknown" else []
            remarks |= found.remarks
            if found.answer == "unknown":
                continue
            decided[engine] = runs, found
            if is_proved and self.options.engines is None:
                # One engine is enough to contradict a proof.
                break
        if not decided:
            return Verdict("unknown", reason="; ".join(reasons), remarks=tuple(remarks.values()))
        findings = [found for _, found in decided.values()]
        differing = frozenset[int]().union(*(found.differing for found in findings))
        verdict = Verdict(
            "agrees",
            tuple(decided),
            self.judge.comparator.compared(),
            reason="; ".join(reasons),
            data=self._described(),
            outputs=self._outputs(differing),
            differing=differing,
            unreached=self.unreached,
            remarks=tuple(remarks.values()),
        )
        if is_proved:
            return verdict
        if any(found.answer == "close" for found in findings):
            return _close(verdict, findings)
        whole = None if reasons or differing else self._completed(verdict, decided)
        return whole or replace(verdict, power=self._measured(decided))

    def of_proved(self) -> Examination:
        """Returns the comparison of modules proved equal, with little optimization where runs are few."""
        modules = (self.original, self.last)
        work = len(self.runs.data) * sum(work_of(module, by_xla=True) for module in modules)
        count = sum(_OPERATIONS_OF_MODULE + sum(1 for _ in module.operations()) for module in modules)
        code: Code = "plain" if work <= _WORK_OF_COMPILING * count else "optimized"
        judge = replace(self.judge, comparator=replace(self.judge.comparator, are_proved=True))
        return replace(self, runs=replace(self.runs, code=code), judge=judge)

    def with_rounded_operands(self, program: Program, operands: int) -> Examination:
        """Returns the comparison with a form of the original that rounds operands of its dots."""
        runs = replace(self.runs, programs=(program, self.runs.programs[1]), rounded=operands)
        judge = replace(self.judge, comparator=self.judge.comparator.of_rounded())
        return replace(self, runs=runs, judge=judge, is_equal_over_reals=False)

    def _weighed(self, runs: Runs, found: Finding) -> Finding:
        """Returns `close` for a difference of a few units in the last place between equal functions of reals.

        `unknown` for one that rounding to whole numbers or an order of numbers may have made large.
        """
        if found.answer != "different" or not self.is_equal_over_reals or self.options.compare != AUTO:
            return found
        from dialect_utils.verdict.rounding.closeness import close_finding, narrows

        if narrows(self.original, self.last):
            return found
        return close_finding(runs, self.judge, found) or self._of_steps(found)

    def _of_steps(self, found: Finding) -> Finding:
        """Returns `unknown` for a difference in an output that depends on steps of floats, such as whole numbers."""
        stepped = Dependence(compared_arrays(self.original)).on(makes_steps)
        if found.counterexample is None or found.counterexample.output not in stepped:
            return found
        return replace(found, answer="unknown", reason=f"{found.reason}: {_STEPPED}", cause=None)

    def _completed(self, verdict: Verdict, decided: Mapping[Engine, tuple[Runs, Finding]]) -> Verdict | None:
        """Returns the verdict that exhaustive or tagged data decides; None without such data."""
        findings = [found for _, found in decided.values()]
        remarks = dict(each for found in findings for each in found.remarks.items())
        if not all(found.exact for found in findings) or any(choice != NAN for _, choice in remarks):
            return None
        if any(data.kind == "tagged" for data in self.runs.data):
            return _equal(verdict, _MOVED, remarks)
        if self.runs.devices > 1 or not self._has_one_order():
            return None
        if self.runs.data[0].kind == "own":
            return _equal(verdict, _ONLY_INPUT, remarks)
        inputs = self._every_input()
        return None if inputs is None else self._decided_by(verdict, inputs, decided)

    def _has_one_order(self) -> bool:
        """Is true where no result of either module depends on an order that the engine chooses."""
        guarantees = (*self.judge.comparator.guarantees, *result_guarantees(self.last))
        return all(each is Guarantee.ALWAYS for each in guarantees)

    def _every_input(self) -> list[Array] | None:
        """Returns all possible inputs; None where they are too many to run, or a loop may never end."""
        used = [operation for module in (self.original, self.last) for operation in module.operations()]
        if (
            self.judge.checks
            or self.options.inputs is not None
            or any(operation.opcode == "while" for operation in used)
        ):
            return None
        if any(each.layouts for each in (*self.runs.parameters, *self.runs.results)):
            return None
        inputs = possible_inputs([each.shape for each in self.runs.parameters])
        is_small = inputs is not None and len(inputs[0]) * (work_of(self.original) + work_of(self.last)) <= _MOST_WORK
        return inputs if is_small else None

    def _decided_by(self, verdict: Verdict, inputs: list[Array], engines: Collection[Engine]) -> Verdict | None:
        """Returns the verdict on all possible inputs, by all engines that decided; None where they cannot be run."""
        remarks: dict[tuple[int, str], str] = {}
        every = f"on every possible input ({len(inputs[0]):,} of them)"
        for engine in engines:
            try:
                first, last = replace(self.runs, engine=engine).repeated(inputs)
            except ExecutionError:
                return None
            if found := self.judge.comparator.differences(first, last):
                return self._at_one_input(engine, [array[found[0].index[0]] for array in inputs])
            remarks |= self.judge.comparator.find(DataSet("every", inputs), first, last, None).remarks
        return _equal(verdict, every, remarks)

    def _at_one_input(self, engine: Engine, arrays: list[Array]) -> Verdict | None:
        """Returns the verdict of one engine on one of all possible inputs; None where it is not `different`."""
        runs = replace(self.runs, data=[DataSet("every", arrays)])
        runs, found = self._confirmed(engine, *replace(self, runs=runs).on_engine(engine))
        return self._of_difference(engine, found) if found.answer == "different" else None

    def _of_difference(self, engine: Engine, found: Finding) -> Verdict:
        compared = self.judge.comparator.compared()
        return Verdict(found.answer, (engine,), compared, found.counterexample, found.reason, cause=found.cause)

    def _confirmed(self, engine: Engine, runs: Runs, found: Finding) -> tuple[Runs, Finding]:
        """Returns a weaker finding for a difference that no other engine shows, unless the engines were chosen."""
        if found.answer != "different" or self.options.engines is not None or self.runs.devices > 1:
            return runs, found
        from dialect_utils.verdict.second_opinion import SecondOpinion

        is_quick = work_of(self.original) + work_of(self.last) <= ELEMENTS_PER_SECOND
        own = replace(self.runs, engine=engine)
        return SecondOpinion(own, self.judge, self.expanded, is_quick, self._found).confirmed(runs, found)

    def _found(self, runs: Runs, judge: Judge) -> tuple[Runs, Finding]:
        return replace(self, runs=runs, judge=judge).on_engine(runs.engine)

    def _engines(self, is_proved: bool) -> Iterator[tuple[Engine, bool]]:
        """Yields the engines, each with true where a failure to execute the modules has to be reported."""
        if self.options.engines is not None:
            yield from ((engine, True) for engine in self.options.engines if engine != PROOF)
            return
        # The interpreter compiles nothing, and a module without inputs runs once: compiling would dominate.
        engines: list[Engine] = ["xla", "interpreter"] if self._is_small() else ["xla"]
        is_quicker = is_proved and not self.runs.parameters
        yield from ((engine, engine == "xla") for engine in (engines[::-1] if is_quicker else engines))

    def _is_small(self) -> bool:
        """Is true where the interpreter knows every operation and is quick on all sets of data."""
        limit = _INTERPRETED_SECONDS * ELEMENTS_PER_SECOND
        is_one = self.runs.partitioned is None
        return is_one and self.work is not None and self.work * len(self.runs.data) <= limit

    def _described(self) -> str:
        """Returns a text with the number of sets of data."""
        count = len(self.runs.data)
        data = f"on {count} set{'s' if count > 1 else ''} of inputs" if self.runs.parameters else "on its own data"
        return data if self.runs.devices == 1 else f"{data} on {self.runs.devices} devices"

    def _outputs(self, differing: Collection[int]) -> tuple[str, ...]:
        """Returns a line for every output, except operands of the module's own checks."""
        count = len(self.runs.results) - sum(len(check.operands) for check in self.judge.checks)
        return tuple(
            f"output {number} {each.shape.without_layout}: "
            + ("some bits differ" if number in differing else "all bits equal")
            for number, each in enumerate(self.runs.results[:count])
        )

    def on_engine(self, engine: Engine) -> tuple[Runs, Finding]:
        """Compares both programs as they are written, and after a difference in every order that the original allows.

        Also returns the runs that decided.
        """
        runs, found = self._in_every_order(replace(self.runs, engine=engine))
        if runs.code != "plain" or found.answer == "agrees":
            return runs, found
        # XLA's emitters of plain code convert some 8-bit types wrongly, so a difference on them does not refute a
        # proof.
        return self._in_every_order(replace(self.runs, engine=engine, code="optimized"))

    def _in_every_order(self, runs: Runs) -> tuple[Runs, Finding]:
        runs, found = self._as_written(runs)
        if not self._may_change(found):
            return runs, found
        from dialect_utils.verdict.sampling.orders import compared_in_open_orders

        agrees = found.answer == "agrees"
        again = compared_in_open_orders(runs, self.judge, where_more_is_open=agrees)
        return (runs, found) if again is None or (agrees and again[1].answer != "different") else again

    def _may_change(self, found: Finding) -> bool:
        """Is true where results in another order of equal keys, or of combined elements, may change a finding."""
        if found.answer == "agrees":
            # The rewrite may leave more orders open than the original.
            return any(operation.opcode == "sort" for operation in self.last.operations())
        return found.answer == "different" and any(
            operation.opcode == "sort" or has(operation.opcode, Trait.COMBINES)
            for operation in self.original.operations()
        )

    def _as_written(self, runs: Runs) -> tuple[Runs, Finding]:
        """Compares both programs as they are written; with XLA's simplifier where XLA:CPU needs it."""
        try:
            return runs, self._compared(runs)
        except ExecutionError:
            if runs.engine != "xla":
                raise
        if runs.code == "plain":
            # XLA's emitters of plain code may lack an operation.
            return self._as_written(replace(runs, code="optimized"))
        runs = replace(runs, simplifies=True)
        found = self._compared(runs)
        return runs, found if found.answer == "different" else also(found, _SIMPLIFIED)

    def _compared(self, runs: Runs) -> Finding:
        """Runs both programs on all sets of data and compares their results."""
        results = runs.compared()
        found = self.judge.joined(results, runs.widened())
        return replace(found, expected=[each.expected for each in results])

    def _measured(self, decided: Mapping[Engine, tuple[Runs, Finding]]) -> Power | None:
        """Measures the power of the data on the fastest engine that executed the module."""
        count = _PLANTED if self.options.power is None else self.options.power
        if not count:
            return None
        from dialect_utils.verdict.sampling.power import Trial

        runs, found = decided[self._engine_for(count, decided)]
        now = time.monotonic()
        share = max(_LEAST_SECONDS, now - runs.deadline + runs.timeout) * max(1.0, count / _PLANTED)
        is_quick = count * len(runs.data) * work_of(self.original) <= _MOST_UNOPTIMIZED_WORK
        code: Code = "unoptimized" if is_quick else "optimized"
        ends = now + share, time.process_time() + share
        trial = Trial(self.original, self.judge, replace(runs, code=code), found.expected, runs.widened(), *ends)
        return trial.measure(count)

    def _engine_for(self, count: int, decided: Mapping[Engine, tuple[Runs, Finding]]) -> Engine:
        """Returns the fastest of the engines: XLA, but for small programs the interpreter, which compiles nothing."""
        work = None if self.work is None else self.work * len(self.runs.data) * count
        if "interpreter" in decided and work is not None and work <= _INTERPRETED_SECONDS * ELEMENTS_PER_SECOND:
            return "interpreter"
        return "xla" if "xla" in decided else next(iter(decided))


def _equal(verdict: Verdict, data: str, remarks: Mapping[tuple[int, str], str]) -> Verdict:
    """Returns the verdict `equal` on data that leaves nothing open, but for bits of NaN that remarks name."""
    choices, lines = (NAN_BITS,) if remarks else (), tuple(remarks.values())
    return replace(verdict, verdict="equal", data=data, unreached=(), choices=choices, remarks=lines)


def _close(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """Returns the verdict of several engines with the largest distance that one of them found."""
    near = [(found.closeness, found.counterexample) for found in findings if found.closeness is not None]
    largest, example = max(near, key=lambda each: each[0])
    return replace(verdict, verdict="close", closeness=largest, counterexample=example)
