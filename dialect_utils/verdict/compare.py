"""Decides by proof and by execution whether two modules compute the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dialect_utils.execution import (
    DEFAULT_TIMEOUT_SECONDS,
    Array,
    Engine,
    ExecutionError,
    Program,
    Worker,
    from_plain_all,
    prepare,
)
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.combine import combined
from dialect_utils.verdict.data import Style, random_inputs, small_integer_positions
from dialect_utils.verdict.judge import AUTO, Judge
from dialect_utils.verdict.ports import Port, entry_ports
from dialect_utils.verdict.promises import Promise, coarsest_epsilon, result_promises
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.result import NOT_PROMISED, PROOF, Answer, Counterexample, Verdict
from dialect_utils.verdict.self_checks import SelfCheck, failed_checks, self_checks

# An engine that folds a module without inputs into its results would execute nothing.
_WITHOUT_INPUTS = {"xla_disable_hlo_passes": "constant_folding"}
_GRAVITY: tuple[Answer, ...] = ("equal", "unknown", "different")


Method = Literal["proof"] | Engine


@dataclass(frozen=True, slots=True)
class Options:
    """Says how to compare.

    `engines`: `proof` looks for a proof first; engines run in this order, and all that can execute the
    modules must agree. `seeds` is how
    many sets of inputs of each style there are; `compare` is `auto`, `bits`, `ulp:N` or `rel:X`;
    `inputs` replace the random ones; `timeout` holds for each module and engine, in seconds.
    """

    engines: tuple[Method, ...] = (PROOF, "xla")
    seeds: int = 1
    compare: str = AUTO
    inputs: tuple[Array, ...] | None = None
    timeout: float = DEFAULT_TIMEOUT_SECONDS


def compare_modules(a: Module, b: Module, options: Options | None = None, worker: Worker | None = None) -> Verdict:
    """Looks for a proof that two modules compute the same, then executes both and compares their results.

    Both mean their logical programs: layouts say nothing but how the entry's arrays are packed.
    Where an array of b's entry has the type and dimensions of the physical array of a's, b works
    on physical arrays: inputs are packed by the index formula, once with zeros and once with
    poison as padding, and results are unpacked.

    Raises DiagnosticError where the signatures do not fit, or a module must not be executed and
    nothing is proved.
    """
    return compare_stages([a, b], options, worker)


def compare_stages(
    stages: Sequence[Module],
    options: Options | None = None,
    worker: Worker | None = None,
    *,
    executable: Callable[[Module], Module] | None = None,
) -> Verdict:
    """Compares the first and the last of several forms of a module, as `compare_modules` does.

    Those in between, such as the module after each pass of a pipeline, give the entry layouts by
    which the last one's physical arrays are packed. `executable` returns what is executed in a module's place.
    """
    start = time.perf_counter()
    options = options or Options()
    proved = _try_prove(stages) if PROOF in options.engines else None
    verdict = _executed(stages, options, worker, proved, executable or _as_it_is)
    return replace(verdict, seconds=time.perf_counter() - start)


def _as_it_is(module: Module) -> Module:
    return module


def _try_prove(stages: Sequence[Module]) -> ProofResult:
    return try_prove(stages, *entry_ports(stages))


def _executed(
    stages: Sequence[Module],
    options: Options,
    worker: Worker | None,
    proved: ProofResult | None,
    executable: Callable[[Module], Module],
) -> Verdict:
    """Returns what proof and engines find together; a proof needs no module that can be executed."""
    engines = [engine for engine in options.engines if engine != PROOF]
    if not engines:
        return combined(proved, None)
    # Layouts may go where a module becomes executable; those of the stages say how arrays are packed.
    try:
        forms = executable(stages[0]), executable(stages[-1])
        programs = _programs(*forms)
        checks = _checks_of_both(*forms)
    except DiagnosticError as error:
        if proved is None or proved.answer == "unknown":
            raise
        return combined(proved, Verdict("unknown", reason=error.diagnostics[0].message))
    comparison = _Comparison.of([forms[0], *stages, forms[1]], programs, checks, options)
    if worker is not None:
        return combined(proved, comparison.run(worker, engines))
    with Worker() as own:
        return combined(proved, comparison.run(own, engines))


def _programs(first: Module, last: Module) -> tuple[Program, Program]:
    names = _file_name(first), _file_name(last)
    return prepare(first, names[0]), prepare(last, names[1] + (" (rewritten)" if names[0] == names[1] else ""))


@dataclass(frozen=True, slots=True)
class _Data:
    """Is one set of inputs; style None for inputs of unknown style."""

    style: Style | None
    arrays: list[Array]


@dataclass(frozen=True, slots=True)
class _Finding:
    """Is what one engine found, or one set of data on it, and why that is no plain `equal`."""

    answer: Answer = "equal"
    reason: str = ""
    counterexample: Counterexample | None = None
    # Outputs of which some bit differs, whether that was promised or not.
    differing: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Is everything about two modules that does not depend on the engine."""

    programs: tuple[Program, Program]
    parameters: list[Port]
    results: list[Port]
    checks: list[SelfCheck]
    judge: Judge
    data: list[_Data]
    options: Options

    @classmethod
    def of(
        cls,
        stages: Sequence[Module],
        programs: tuple[Program, Program],
        checks: list[SelfCheck],
        options: Options,
    ) -> _Comparison:
        parameters, results = entry_ports(stages)
        first, last = stages[0], stages[-1]
        promises = list(map(max, _promises(first), _promises(last)))
        # A check's operands are compared, too; no layout packs them.
        results += [Port(check.shape) for check in checks for _ in check.operands]
        kinds = [port.shape.element_type for port in results]
        epsilon = max(coarsest_epsilon(first), coarsest_epsilon(last))
        judge = Judge.of(kinds, promises, options.compare, epsilon)
        data = _data_sets(first, parameters, promises, options)
        return cls(programs, parameters, results, checks, judge, data, options)

    def run(self, worker: Worker, engines: Sequence[Engine]) -> Verdict:
        """Asks every engine until one finds a difference; one that is sure settles what is unclear on another."""
        sure: list[str] = []
        unclear: list[str] = []
        reasons: list[str] = []
        differing: set[int] = set()
        for engine in engines:
            try:
                found = self._run_engine(worker, engine)
            except ExecutionError as error:
                reasons.append(f"{engine}: {error.failure}: {error.message}")
                continue
            if found.answer == "different":
                return Verdict("different", (engine,), self.judge.compared(), found.counterexample, found.reason)
            differing |= found.differing
            (sure if found.answer == "equal" else unclear).append(engine)
            reasons += [f"{engine}: {found.reason}"] if found.reason else []
        methods = tuple(sure or unclear)
        compared = self.judge.compared() if methods else ""
        outputs = self._outputs(differing) if methods else ()
        return Verdict("equal" if sure else "unknown", methods, compared, None, "; ".join(reasons), outputs=outputs)

    def _outputs(self, differing: set[int]) -> tuple[str, ...]:
        """Returns a line for every output, those that checks of the module's own compare left out."""
        count = len(self.results) - sum(len(check.operands) for check in self.checks)
        return tuple(
            f"output {number} {port.shape.with_layout(None)}: "
            + ("some bits differ" if number in differing else "all bits equal")
            for number, port in enumerate(self.results[:count])
        )

    def _run_engine(self, worker: Worker, engine: Engine) -> _Finding:
        inputs = [data.arrays for data in self.data]
        expected = self._execute(worker, engine, 0, inputs)
        with_zeros = self._execute_packed(worker, engine, inputs, poison=False)
        with_poison = with_zeros
        if any(port.layouts for port in self.parameters):
            with_poison = self._execute_packed(worker, engine, inputs, poison=True)
        findings = [self._judge(*runs) for runs in zip(self.data, expected, with_zeros, with_poison, strict=True)]
        worst = max(findings, key=lambda finding: _GRAVITY.index(finding.answer))
        if worst.answer == "different":
            return worst
        differing = frozenset[int]().union(*(finding.differing for finding in findings))
        reason = "; ".join(dict.fromkeys(each.reason for each in findings if each.reason))
        return replace(worst, reason=reason, differing=differing)

    def _execute(
        self, worker: Worker, engine: Engine, which: int, inputs: Sequence[Sequence[Array]]
    ) -> list[list[Array]]:
        options = {} if self.parameters else _WITHOUT_INPUTS
        program = self.programs[which]
        timeout = self.options.timeout
        return worker.run(program, inputs, engine=engine, options=options, timeout=timeout, with_checks=True)

    def _execute_packed(
        self, worker: Worker, engine: Engine, inputs: Sequence[Sequence[Array]], *, poison: bool
    ) -> list[list[Array]]:
        packed = [
            [port.pack(array, poison=poison) for port, array in zip(self.parameters, arrays, strict=True)]
            for arrays in inputs
        ]
        outputs = self._execute(worker, engine, 1, packed)
        return [[port.unpack(array) for port, array in zip(self.results, arrays, strict=True)] for arrays in outputs]

    def _judge(self, data: _Data, expected: list[Array], zeros: list[Array], poison: list[Array]) -> _Finding:
        found = self._differences(data, expected, zeros)
        if found.answer == "different":
            return found
        leaks = self.judge.differences(zeros, poison)
        if leaks:
            return _Finding("different", "padding reaches a result: it changes with what padding holds", leaks[0])
        checked = self._self_checks(expected, zeros)
        if checked.answer == "different":
            return checked
        return replace(found, reason="; ".join(filter(None, [checked.reason, found.reason])))

    def _differences(self, data: _Data, expected: list[Array], actual: list[Array]) -> _Finding:
        """Judges the outputs; only the first one that is no more than unclear is told of."""
        answer: Answer = "equal"
        reason = ""
        differences = self.judge.differences(expected, actual)
        for difference in differences:
            output = difference.output
            severity = self.judge.severity(difference, expected[output], actual[output], data.style)
            if severity == "wrong":
                return _Finding("different", f"the results differ on {_described(data)}", difference)
            if severity == "unclear":
                answer = "unknown"
            reason = reason or f"on {_described(data)} {difference}, {NOT_PROMISED}"
        return _Finding(answer, reason, None, frozenset(difference.output for difference in differences))

    def _self_checks(self, expected: list[Array], actual: list[Array]) -> _Finding:
        count = 2 * len(self.checks)
        if not count:
            return _Finding()
        before, after = (failed_checks(self.checks, outputs[-count:]) for outputs in (expected, actual))
        broken = sorted(set(after) - set(before))
        if broken:
            return _Finding("different", f"check {broken[0]} of the module holds before and fails after")
        if before:
            kinds = ", ".join(f"check {i} ({self.checks[i].kind})" for i in before)
            return _Finding("equal", f"the module's own {kinds} fails in both forms")
        return _Finding()


def _checks_of_both(first: Module, last: Module) -> list[SelfCheck]:
    ours, theirs = self_checks(first), self_checks(last)
    if [check.kind for check in ours] != [check.kind for check in theirs]:
        message = f"one module makes {len(ours)} checks of its own, the other {len(theirs)}, or others"
        raise DiagnosticError(Diagnostic(message))
    return ours


def _file_name(module: Module) -> str:
    """Returns the name of the text a module was read from."""
    places = (operation.location for operation in module.entry.operations)
    return next((place.source.name for place in places if place is not None), "<module>")


def _promises(module: Module) -> list[Promise]:
    return result_promises(module, [value for check in self_checks(module) for value in check.operands])


def _described(data: _Data) -> str:
    names = {"integers": "integer-valued data", "random": "random data", "special": "random data with special values"}
    if data.style is None:
        return "the given inputs" if data.arrays else "its own data"
    return names[data.style]


def _data_sets(
    module: Module, parameters: Sequence[Port], promises: Sequence[Promise], options: Options
) -> list[_Data]:
    shapes = [port.shape for port in parameters]
    if options.inputs is not None:
        return [_Data(None, from_plain_all(options.inputs, shapes))]
    if not shapes:
        return [_Data(None, [])]
    small = small_integer_positions(module)
    is_exact = all(promise is Promise.ALWAYS for promise in promises)
    # Special values would turn sums into NaNs, which hide everything else.
    styles: tuple[Style, ...] = ("random", "special") if is_exact else ("integers", "random")
    return [
        _Data(style, random_inputs(shapes, seed, style, small)) for seed in range(options.seeds) for style in styles
    ]
