"""Decides by proof and by execution whether two modules compute the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from dialect_utils.execution import (
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
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.combine import combined
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.examination import Examination
from dialect_utils.verdict.options import Options
from dialect_utils.verdict.ports import entry_ports
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.self_checks import checks_of_both
from dialect_utils.verdict.unseen import unseen_differences

# What gives other results each time it is run.
_STATEFUL = frozenset({"rng"})


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
    for module in (stages[0], stages[-1]):
        check_local_calls(module)
        check_work(module)
        check_shapes(module)
    proved = _try_prove(stages) if options.proves else None
    verdict = _executed(stages, options, worker, proved, executable or _as_it_is)
    return replace(verdict, seconds=time.perf_counter() - start)


def _as_it_is(module: Module) -> Module:
    return module


def _try_prove(stages: Sequence[Module]) -> ProofResult:
    return try_prove(stages, *entry_ports(stages), over_reals=True)


def _executed(
    stages: Sequence[Module],
    options: Options,
    worker: Worker | None,
    proved: ProofResult | None,
    executable: Callable[[Module], Module],
) -> Verdict:
    """Returns what proof and engines find together; a proof needs no module that can be executed."""
    if not options.executes:
        return combined(proved, None)
    # Layouts may go where a module becomes executable; those of the stages say how arrays are packed.
    try:
        forms = executable(stages[0]), executable(stages[-1])
        _refuse_state(forms)
        programs = _programs(*forms, options.memory)
        checks = checks_of_both(*forms)
        devices = common_device_count(forms)
    except RefusedError:
        raise
    except DiagnosticError as error:
        if proved is None or proved.answer == "unknown":
            raise
        return combined(proved, Verdict("unknown", reason=f"not executed: {error.diagnostics[0].message}"))
    unseen = unseen_differences(*forms)
    examination = Examination.of([forms[0], *stages, forms[1]], programs, checks, options, devices)
    is_proved = proved is not None and proved.answer == "equal"
    if worker is not None and worker.devices == devices:
        return combined(proved, _remarked(examination.run(worker, is_proved=is_proved), unseen))
    with Worker(devices=devices, memory=options.memory) as own:
        return combined(proved, _remarked(examination.run(own, is_proved=is_proved), unseen))


def _remarked(verdict: Verdict, unseen: str) -> Verdict:
    if not verdict.found_no_difference or not unseen:
        return verdict
    # What no engine heeds no execution can show to be equal.
    return replace(verdict, verdict="agrees", reason="; ".join(filter(None, [unseen, verdict.reason])))


def _refuse_state(modules: Sequence[Module]) -> None:
    """Raises DiagnosticError for an op that two runs of one module do not agree on."""
    for module in modules:
        for operation in module.operations():
            if operation.opcode in _STATEFUL:
                message = f"{operation.opcode} gives other numbers in each run, so no engine can compare it"
                raise DiagnosticError(Diagnostic(message, operation.location))


def _programs(first: Module, last: Module, memory: int) -> tuple[Program, Program]:
    names = _file_name(first), _file_name(last)
    last_name = names[1] + (" (rewritten)" if names[0] == names[1] else "")
    return prepare(first, names[0], memory), prepare(last, last_name, memory)


def _file_name(module: Module) -> str:
    """Returns the name of the text a module was read from."""
    places = (operation.location for operation in module.entry.operations)
    return next((place.source.name for place in places if place is not None), "<module>")
