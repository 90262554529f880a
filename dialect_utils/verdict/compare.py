"""Decides by proof and by execution whether two modules compute the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dialect_utils.engine_names import ENGINES
from dialect_utils.execution import (
    ExecutionError,
    Program,
    RefusedError,
    Worker,
    check_local_calls,
    check_shapes,
    check_work,
    common_device_count,
    prepare,
)
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.cause import cause_of_move, with_proofs
from dialect_utils.verdict.certified import choices_of, has_narrow_operands, prove, prove_conditionally
from dialect_utils.verdict.differences import Counterexample
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.examination import Examination
from dialect_utils.verdict.executable_part import computed_outputs, output_count, with_outputs
from dialect_utils.verdict.judge import SelfCheck, checks_of_both
from dialect_utils.verdict.options import Options
from dialect_utils.verdict.outcome import CONDITIONAL, NAN_BITS, NOT_GUARANTEED, PROOF, Answer
from dialect_utils.verdict.parameters import with_common_parameters
from dialect_utils.verdict.proof import ProofResult
from dialect_utils.verdict.terms.primitives import OPERANDS, ORDER_OF_SUMS, TWICE

if TYPE_CHECKING:
    from dialect_utils.verdict.conditional import ConditionalProof

# Operations whose results differ from run to run.
_STATEFUL = frozenset({"rng"})


def compare_modules(a: Module, b: Module, options: Options | None = None, worker: Worker | None = None) -> Verdict:
    """Looks for a proof that two modules compute the same, then executes both and compares their results.

    Layouts affect only how the arrays of the entry are packed, never the values. Where an array of
    b's entry has the type and dimensions of the physical array of a's (`f32[3,5]{1,0:T(2,2)}` in a,
    `f32[2,3,2,2]` in b), b works on physical arrays: inputs are packed by the index formula, once
    with zeros and once with poison as padding, and results are unpacked.

    Raises DiagnosticError where the signatures do not fit, or where a module cannot be executed and
    no proof is found.
    """
    return compare_stages([a, b], options, worker)


def compare_stages(
    stages: Sequence[Module],
    options: Options | None = None,
    worker: Worker | None = None,
    *,
    executable: Callable[[Module], Module] | None = None,
    defined: Callable[[Module], Module] | None = None,
) -> Verdict:
    """Compares the first and the last of several forms of a module, as `compare_modules` does.

    The forms in between, such as the module after each pass of a pipeline, supply the entry layouts by which the
    last form's physical arrays are packed. `executable` returns the module to execute instead of a given one,
    `defined` the module with definitions in place of calls of libraries, or itself: a proof may be about these.
    """
    start = time.perf_counter()
    options = options or Options()
    stages, matched = (stages, ()) if options.partition else with_common_parameters(stages)
    for module in (stages[0], stages[-1]):
        check_local_calls(module)
        check_work(module)
        check_shapes(module)
    proved = run = None
    forms = stages
    if options.proves:
        forms, proved = _proved(stages, [stage if defined is None else defined(stage) for stage in stages], options)
    given = _conditional(forms, proved, options) if forms is stages else None
    is_run = options.executes and not (proved is not None and OPERANDS in choices_of(proved.outputs))
    if is_run:
        run = _Execution(options, worker, proved, executable or (lambda module: module), given).verdict(stages)
    found = combined(proved, run)
    found = given.verdict(found) if given is not None and run is None else found
    found = replace(found, seconds=time.perf_counter() - start, matched=matched)
    # A certificate is about the modules as they are.
    found = replace(found, certificate=None) if matched else found
    if forms is stages or PROOF not in found.methods:
        return found
    return replace(found, remarks=(*found.remarks, _BY_DEFINITION), certificate=None)


def _proved(
    stages: Sequence[Module], defined: Sequence[Module], options: Options
) -> tuple[Sequence[Module], ProofResult]:
    """Returns the forms for which a proof was found, and the proof: the definitions of calls count without one."""
    has_calls = any(form is not stage for form, stage in zip(defined, stages, strict=True))
    may_round = options.precision == "default" and options.partition is None
    proved = partial(
        prove,
        field_seed=options.field_seed,
        seconds=options.proof_seconds,
        partition=options.partition,
        rounds_operands=may_round and has_narrow_operands((stages[0], stages[-1])),
    )
    if not has_calls or _callees(stages[0]) == _callees(stages[-1]):
        found = proved(stages, over_reals=options.over_reals and not has_calls)
        if not has_calls or found.answer != "unknown":
            return stages, found
    return defined, proved(defined, over_reals=options.over_reals)


def _conditional(stages: Sequence[Module], proved: ProofResult | None, options: Options) -> ConditionalProof | None:
    """Returns a proof under conditions on data, where no proof holds for all data; None for none."""
    if proved is None or proved.answer != "unknown" or options.partition is not None:
        return None
    found = prove_conditionally(stages, options.proof_seconds)
    if found is None:
        return None
    from dialect_utils.verdict.conditional import ConditionalProof

    return ConditionalProof((stages[0], stages[-1]), *found)


def _callees(module: Module) -> Counter[str | None]:
    return Counter(each.callee for each in module.operations() if each.opcode == "custom-call")


_BY_DEFINITION = "calls of libraries have the definitions of the pass expand-custom-calls"


# Ones may make a loop endless that ends with the data of another program.
_PART_SECONDS = 20.0
_ONES = " with ones for the data of other programs"


class _Prepared(NamedTuple):
    """The forms of the first and the last module that engines execute, and what execution needs."""

    forms: tuple[Module, Module]
    programs: tuple[Program, Program]
    checks: list[SelfCheck]
    devices: int


@dataclass(frozen=True, slots=True)
class _Execution:
    """The execution of two modules, after a proof or, if `proved` is None, without one.

    `executable` returns the module to execute instead of a given one.
    """

    options: Options
    worker: Worker | None
    proved: ProofResult | None
    executable: Callable[[Module], Module]
    given: ConditionalProof | None = None

    def verdict(self, stages: Sequence[Module]) -> Verdict:
        """Executes the first and the last module; raises DiagnosticError where no engine does and nothing is proved."""
        try:
            prepared = self._prepare(stages)
        except RefusedError:
            raise
        except DiagnosticError as error:
            if self.given is not None:
                return self.given.verdict(Verdict("unknown", reason=f"not executed: {error.diagnostics[0].message}"))
            if self.proved is None or self.proved.answer == "unknown":
                raise
            reason = f"not executed: {error.diagnostics[0].message}"
            return self._of_part(stages, reason) if self.is_proved else Verdict("unknown", reason=reason)
        try:
            return self.run(stages, prepared)
        except MemoryError:
            if not self.is_proved:
                raise
            return Verdict("unknown", reason="not executed: it takes more memory than --memory GB allows")

    @property
    def is_proved(self) -> bool:
        """Is true where the modules are proved equal."""
        return self.proved is not None and self.proved.answer == "equal"

    def _prepare(self, stages: Sequence[Module]) -> _Prepared:
        """Returns the executable forms; raises DiagnosticError where no engine executes one of them."""
        # An executable form may lack layouts; the stages still have the layouts by which arrays are packed.
        return self._of_forms(self.executable(stages[0]), self.executable(stages[-1]))

    def _of_forms(self, first: Module, last: Module) -> _Prepared:
        for operation in (*first.operations(), *last.operations()):
            if operation.opcode in _STATEFUL:
                message = f"{operation.opcode} gives other numbers in each run, so no engine can compare it"
                raise DiagnosticError(message, operation.location)
        names, memory = (_file_name(first), _file_name(last)), self.options.memory
        last_name = names[1] + (" (rewritten)" if names[0] == names[1] else "")
        programs = prepare(first, names[0], memory), prepare(last, last_name, memory)
        is_shared = self.options.partition is None
        devices = common_device_count((first, last) if is_shared else (first,))
        return _Prepared((first, last), programs, checks_of_both(first, last), devices)

    def run(self, stages: Sequence[Module], prepared: _Prepared) -> Verdict:
        """Executes the prepared forms; raises DiagnosticError where the entries of the modules do not fit."""
        kept, excused = computed_outputs(*prepared.forms), frozenset[int]()
        if kept is not None:
            excused = frozenset(range(output_count(stages[0]))) - {*kept}
            stages = [with_outputs(stage, kept) for stage in stages]
            prepared = self._of_forms(*(with_outputs(form, kept) for form in prepared.forms))
        (first, last), programs, checks, devices = prepared
        unseen = "" if self.options.partition else unseen_differences(stages[0], stages[-1])
        with ExitStack() as stack:
            worker = self.worker or stack.enter_context(Worker(memory=self.options.memory))
            partition = self.options.partition
            partitioned = None if partition is None else worker.of_devices(partition.devices)
            worker = worker.of_devices(devices)
            forms = [first, *stages, last]
            examination = Examination.of(forms, programs, checks, self.options, worker, excused, partitioned)
            if self.is_proved and self.proved is not None:
                examination = replace(examination.of_proved(), is_equal_over_reals=_is_by_choice(self.proved))
            elif self.proved is not None:
                is_equal = self.proved.is_equal_over_reals and not _ignores_nan(self.proved)
                examination = replace(examination, is_equal_over_reals=is_equal)
            verdict = examination.run(is_proved=self.is_proved)
            may_round = not self.is_proved and self.options.precision == "default"
            if may_round and isinstance(verdict.counterexample, Counterexample):
                verdict = _with_rounded_operands(examination, verdict, stages[-1])
            if self.given is not None and verdict.verdict != "equal":
                verdict = self.given.verdict(verdict, examination)
        if not unseen or not (verdict.found_no_difference or verdict.verdict == "close"):
            return verdict
        # Every engine ignores these attributes, so no execution can show that they are equal.
        answer: Answer = "agrees" if verdict.found_no_difference else verdict.verdict
        return replace(verdict, verdict=answer, reason="; ".join(filter(None, [unseen, verdict.reason])))

    def _of_part(self, stages: Sequence[Module], reason: str) -> Verdict:
        """Executes some outputs of modules that no engine executes as a whole; `reason` says why.

        The first run covers the outputs that do not depend on the unsupported operation. The second run covers the
        outputs that do, with ones in place of the data that other programs send. The verdict is `different` where a
        part differs, else `unknown`.
        """
        from dialect_utils.verdict.executable_part import executable_part, with_ones_received

        limited = replace(self, options=replace(self.options, timeout=min(self.options.timeout, _PART_SECONDS)))
        verdict = Verdict("unknown", reason=reason)
        for forms, data in ((stages, ""), (with_ones_received(stages), _ONES)):
            part = executable_part(forms, self._is_executable) if forms else None
            if part is None:
                continue
            try:
                found = limited.run(part.stages, self._prepare(part.stages))
            except DiagnosticError:
                continue
            verdict = part.of_whole(found, f"{verdict.reason}; {part}{data}")
            if verdict.verdict == "different" or part.is_whole:
                break
        return verdict

    def _is_executable(self, stages: Sequence[Module]) -> bool:
        try:
            self._prepare(stages)
        except DiagnosticError:
            return False
        return True


def _file_name(module: Module) -> str:
    """Returns the name of the file that a module was read from."""
    locations = (operation.location for operation in module.entry.operations)
    return next((location.source.name for location in locations if location is not None), "<module>")


def _with_rounded_operands(examination: Examination, verdict: Verdict, dump: Module) -> Verdict:
    """Returns the verdict, or that on an original with operands of dots rounded to bf16, as its dump rounds them."""
    from dialect_utils.verdict.rounding.operands import RoundedOperands, is_continuous, narrow_operands

    most = narrow_operands(dump)
    engine = next(engine for engine in ENGINES if engine in verdict.methods)
    data = [data for data in examination.runs.data if is_continuous(data)]
    if not most or not data:
        return verdict
    try:
        search = RoundedOperands(replace(examination.runs, engine=engine, data=data), most).found()
        if search is None:
            return verdict
        rounding, program = search
        found = examination.with_rounded_operands(program, rounding.operands).run()
    except ExecutionError:
        # The verdict without roundings is the answer.
        return verdict
    if found.found_no_difference:
        # The original alone, without roundings, is not equal to the dump, even if all possible data was run.
        return replace(found, verdict="agrees", rounding=rounding)
    if found.counterexample is None:
        return verdict
    return replace(found, reason="; ".join(filter(None, [found.reason, f"with {rounding}"])))


def _ignores_nan(proved: ProofResult) -> bool:
    """Is true where outputs are equal over the reals only by a convention on NaN, which execution may contradict."""
    from dialect_utils.verdict.field.conventions import WITHOUT_NAN

    reals = [each.over_reals for each in proved.outputs if each.over_reals is not None]
    return any(not WITHOUT_NAN.isdisjoint(each.conventions) for each in reals)


_ONLY_ORDER = "proved equal, so these bits differ only by the engine's choice of order"
_CONTRADICTED = "proved equal, yet an engine computes something else"


def combined(proved: ProofResult | None, run: Verdict | None) -> Verdict:
    """Returns the verdict of a proof (None: not asked for) and of the engines (None: none ran).

    A proof that two modules are equal decides what engines leave open. A proof that an engine contradicts decides
    nothing.
    """
    if proved is None:
        return run or Verdict("unknown", reason="neither a proof nor an engine was asked for")
    if run is not None and run.verdict == CONDITIONAL:
        return run
    found = _combined(proved, run)
    choices = choices_of(proved.outputs) if found.verdict == "equal" and PROOF in found.methods else found.choices
    if found.verdict == "equal" and found.reason.endswith(_ONLY_ORDER):
        # The engine chose two orders for one sum, as it may where the operations around it differ.
        choices = tuple(dict.fromkeys((ORDER_OF_SUMS, *choices)))
    cause = with_proofs(found.cause, proved.outputs)
    return replace(
        found, proved=proved.outputs, rules=proved.rules, cause=cause, choices=choices, certificate=proved.certificate
    )


def _combined(proved: ProofResult, run: Verdict | None) -> Verdict:
    if proved.answer == "unknown":
        found = replace(run or Verdict("unknown"), proof=proved.reason)
        twice = {each.output for each in proved.outputs if each.reason == TWICE}
        is_unexplained = not twice.isdisjoint(found.differing) and found.found_no_difference
        return replace(found, verdict="unknown") if is_unexplained else found
    if proved.answer == "different":
        return _different(proved, run)
    used = "; ".join(filter(None, ["terms of all results", proved.reason]))
    if run is None:
        return Verdict("equal", (PROOF,), proof=used)
    if run.counterexample is not None:
        reason = f"{_CONTRADICTED}: {run.reason}"
        return replace(run, verdict="unknown", methods=(PROOF, *run.methods), reason=reason, proof=used)
    methods = (PROOF, *run.methods) if run.found_no_difference else (PROOF,)
    reason = f"{run.reason}; {_ONLY_ORDER}" if NOT_GUARANTEED in run.reason else run.reason
    return replace(run, verdict="equal", methods=methods, reason=reason, proof=used)


def _is_by_choice(proved: ProofResult) -> bool:
    """Is true where the engine's choices may round each output in another way: only its function of reals is proved."""
    return all({*each.choices} - {NAN_BITS} for each in proved.outputs)


def _different(proved: ProofResult, run: Verdict | None) -> Verdict:
    """Returns the verdict `different`, with an engine's bits where it found a difference, and the moved element."""
    found = run.counterexample if run is not None else None
    if run is None or run.verdict != "different" or not isinstance(found, Counterexample):
        cause = cause_of_move(proved.moved) if proved.moved is not None else None
        return Verdict("different", (PROOF,), "", proved.moved, proved.reason, cause=cause)
    return replace(run, methods=(PROOF, *run.methods), counterexample=replace(found, moved=proved.moved))


_PRECISION = ("operand_precision", "precision_config", "algorithm", "result_accuracy")


def unseen_differences(first: Module, last: Module) -> str:
    """Returns a text that names the precision attributes in which two modules of one dialect differ; empty for none."""
    if first.dialect != last.dialect:
        return ""
    differing = [name for name in _PRECISION if _values(first, name) != _values(last, name)]
    return f"the modules differ in {', '.join(differing)}, which no engine here heeds" if differing else ""


def _values(module: Module, name: str) -> Counter[str]:
    """Returns the values of an attribute, without values that equal the default of an absent attribute."""
    texts = (operation.attribute(name) for operation in module.operations())
    return Counter(text for text in texts if text is not None and not _is_default(text))


def _is_default(text: str) -> bool:
    words = text.replace("#stablehlo<precision", " ").replace("<", " ").replace(">", " ")
    names = {word.strip("{}[],").lower() for word in words.replace(",", " ").split()} - {""}
    return names <= {"default"}
