"""Bisects one module: compares XLA:CPU with the definition of the module, and disables passes until both agree.

The search looks for single passes without which XLA:CPU is right, and else for small sets of them. Its answer for a set
is None where the module does not compile without these passes: some passes make what others need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dialect_utils.execution import ExecutionError, Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.io.dump_names import parse_dump_name
from dialect_utils.ir import Module
from dialect_utils.ops import named
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options
from dialect_utils.verdict.cause import Cause
from dialect_utils.verdict.comparator import Finding
from dialect_utils.verdict.definition import ByDefinition
from dialect_utils.verdict.judge import compared_arrays
from passes.dumps.executable import checked_form
from relayout.bisection.gathering import Bisection
from relayout.findings import reduce_finding
from relayout.pipelines import first_breaking

Names = tuple[str, ...]
# Whether the compiler is right without these passes.
IsRight = Callable[[Names], bool | None]


def single_passes(names: Sequence[str], is_right: IsRight) -> list[str]:
    """Returns the passes of which each alone makes the compiler wrong."""
    return [name for name in names if is_right((name,))]


def smallest_set(names: Sequence[str], is_right: IsRight) -> Names:
    """Returns a minimal set of passes whose removal makes the compiler right, empty if no set does.

    If some passes are needed to compile, the largest set that can be disabled decides whether such a set exists.
    """
    found = _compilable(names, is_right)
    return _minimized(found, is_right) if is_right(found) else ()


def _compilable(names: Sequence[str], is_right: IsRight) -> Names:
    """Returns all passes, or those that can be disabled together with the ones before."""
    found = tuple(names)
    if is_right(found) is not None:
        return found
    kept: Names = ()
    for name in names:
        if is_right((*kept, name)) is not None:
            kept = (*kept, name)
    return kept


def _minimized(names: Names, is_right: IsRight) -> Names:
    """Returns a subset by delta debugging (Zeller): parts and complements, of ever smaller size."""
    count = 2
    while len(names) > 1:
        size = -(-len(names) // count)
        parts = [names[start : start + size] for start in range(0, len(names), size)]
        complements = [tuple(name for name in names if name not in part) for part in parts]
        smaller = next((each for each in (*parts, *complements) if len(each) < len(names) and is_right(each)), None)
        if smaller is not None:
            count = max(2, min(len(smaller), count - 1 if smaller in complements else 2))
            names = smaller
        elif count >= len(names):
            break
        else:
            count = min(len(names), 2 * count)
    return names


_DISABLED = "xla_disable_hlo_passes"
_OPEN = "the results differ, and the definition leaves that open"
_EVALUATED = "by definition the optimized module computes what the module does"
_NOT_EVALUATED = "the reference engine does not execute the optimized module"
# Sums that XLA:CPU may fuse with products.
_MAY_FUSE = named("add subtract dot convolution")
# Operations that forward a value of their operand.
_FORWARDS = ("get-tuple-element", "copy", "bitcast")


@dataclass(frozen=True, slots=True)
class Stage:
    """The module after a pass; the pass is empty where several may have changed it."""

    step: str
    text: str


@dataclass(slots=True)
class Bisector:
    """The bisection of one module. Raises DiagnosticError and ExecutionError for one that cannot be executed."""

    module: Module
    options: Options
    worker: Worker
    name: str
    most_sets: int | None = None
    # XLA:CPU with fused multiply-add, where that is asked about.
    fusing: Worker | None = None
    defined: ByDefinition = field(init=False)
    _found: dict[Names, Finding | None] = field(default_factory=dict, init=False)
    _failed: dict[Names, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.defined = ByDefinition.of(checked_form(self.module), self.options, self.worker, self.name, self.most_sets)

    def run(self, disabled: Names = ()) -> Bisection:
        """Returns the place of the difference; with `disabled`, only whether one remains without these passes."""
        finding = self._finding(disabled)
        if finding is None:
            return Bisection(self.name, "unknown", reason=self._failed[disabled], data=self.defined.data, tried=1)
        if finding.answer == "unknown":
            return self._of(finding, "unknown", reason=finding.reason)
        if finding.answer != "different":
            found = self._of(finding, "nowhere", reason=finding.reason)
            return found if disabled or self.fusing is None else replace(found, fused=self._fused_by(self.fusing))
        bisection = self._of(finding, "unknown", reason=_OPEN)
        if bisection.choices:
            return bisection
        if disabled:
            return self._of(finding, "somewhere", reason=f"it differs without {', '.join(disabled)}, too")
        return self._located(finding)

    def _fused_by(self, worker: Worker) -> str:
        """Returns the element that differs where XLA:CPU rounds a product and a sum once, as it does for `jax.jit`."""
        if _MAY_FUSE.isdisjoint(each.opcode for each in self.module.operations()):
            return ""
        try:
            found = self.defined.finding(worker, {})
        except ExecutionError:
            return ""
        return "" if found.answer != "different" else str(found.counterexample)

    def difference(self) -> Cause | None:
        """Returns the cause where XLA:CPU differs from the definition, else None."""
        finding = self._finding(())
        return finding.cause if finding is not None and finding.answer == "different" else None

    def _located(self, finding: Finding) -> Bisection:
        stages = self.stages()
        if stages and self._differs(stages[0]):
            return self._of(finding, "conversion", reason="the module that XLA gets computes something else")
        names = tuple(dict.fromkeys(each.step for each in stages if each.step))
        single = tuple(single_passes(names, self._is_right))
        passes = single or smallest_set(names, self._is_right)
        bisection = self._of(finding, "pass", passes, is_alone=bool(single))
        is_wrong = self._differs(stages[-1]) if stages else None
        if is_wrong:
            return replace(bisection, broken=self._first_wrong(stages))
        if is_wrong is None and passes:
            return replace(bisection, reason=_NOT_EVALUATED)
        return replace(bisection, place="code generation", reason=_NOT_EVALUATED if is_wrong is None else _EVALUATED)

    def _first_wrong(self, stages: Sequence[Stage]) -> str:
        """Returns the pass after which the module computes something else by definition, by bisection."""
        return stages[first_breaking(stages, lambda part: bool(self._differs(part[-1])))].step

    def _of(
        self, finding: Finding, place: str, passes: Names = (), *, is_alone: bool = True, reason: str = ""
    ) -> Bisection:
        cause, example = finding.cause, finding.counterexample
        output = 0 if cause is None or cause.output is None else cause.output
        choices = self.defined.open_choices(output) if finding.answer == "different" else []
        return Bisection(
            self.name,
            place,
            passes,
            is_alone,
            cause=None if cause is None else cause.as_json(),
            difference="" if cause is None else str(cause),
            example="" if example is None else str(example),
            reason=reason,
            choices=tuple(choices),
            data=self.defined.data,
            tried=len(self._found),
        )

    def stages(self) -> list[Stage]:
        """Returns the modules of a compilation with all passes, the input of XLA first."""
        printed = [(parse_dump_name(name), text) for name, text in self.worker.dump_passes(self.defined.program)]
        # A nested pipeline is listed as a pass, but only its own passes count: they are more precise.
        pipelines = {name.change[0] for name, _ in printed}
        places = ((name, text) for name, text in printed if name.place_in_compilation is not None)
        return [Stage("" if name.change[1] in pipelines else name.change[1], text) for name, text in places]

    def _finding(self, disabled: Names) -> Finding | None:
        """Compares the compiler without these passes with the definition; None where it does not execute the module."""
        if disabled not in self._found:
            options: Mapping[str, str] = {_DISABLED: ",".join(disabled)} if disabled else {}
            try:
                self._found[disabled] = self.defined.finding(self.worker, options)
            except ExecutionError as error:
                self._found[disabled] = None
                self._failed[disabled] = f"{error.failure}: {error.message}"
        return self._found[disabled]

    def _is_right(self, disabled: Names) -> bool | None:
        finding = self._finding(disabled)
        return None if finding is None else finding.answer == "agrees"

    def _differs(self, stage: Stage) -> bool | None:
        """Is true where the definition of a module gives other results, None where it cannot be evaluated."""
        try:
            form = checked_form(parse_module(stage.text, self.name))
            program = prepare(form, self.name, engine="reference")
            return self.defined.evaluated(self.worker, program).answer == "different"
        except (DiagnosticError, ExecutionError, ValueError):
            return None


def reduced(bisector: Bisector, found: Bisection, trials: int) -> tuple[Module, Bisection]:
    """Returns a smaller module with the same cause at the same place, or the module itself."""
    module, options, worker = bisector.module, bisector.options, bisector.worker
    cause = bisector.difference()
    if cause is None:
        return module, found

    def find(candidate: Sequence[Module]) -> Cause | None:
        try:
            return Bisector(candidate[0], options, worker, "<reduced>").difference()
        except (DiagnosticError, ExecutionError):
            return None

    [small] = reduce_finding([module], cause, find, trials)
    try:
        again = Bisector(small, options, worker, "<reduced>").run()
    except (DiagnosticError, ExecutionError):
        return module, found
    return (small, again) if (again.place, again.step) == (found.place, found.step) else (module, found)


def operation_of(module: Module, output: int | None) -> str:
    """Returns the opcode that computes an output, through operations that forward the value; empty for None."""
    if output is None:
        return ""
    value, _ = compared_arrays(checked_form(module))[output]
    while value.operation is not None:
        operation = value.operation
        if operation.opcode == "fusion" or (operation.opcode == "call" and len(operation.called) == 1):
            [value] = operation.called[0].results
        elif operation.opcode in _FORWARDS:
            value = operation.operands[0]
        else:
            return operation.opcode
    return "parameter"
