"""The verdict on two modules, and the sentences that state its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from dialect_utils.engine_names import ENGINE_TITLES
from dialect_utils.text.html import html_table, html_text
from dialect_utils.verdict.cause import Cause
from dialect_utils.verdict.certificate import Certificate
from dialect_utils.verdict.differences import Counterexample, MovedElement
from dialect_utils.verdict.outcome import (
    CONDITIONAL,
    NOT_GUARANTEED,
    PROOF,
    Answer,
    Closeness,
    OutputProof,
    Power,
    Rounding,
    RuleUse,
    answer_text,
)

_TOLERATED = "some bits differ, by no more than floating-point sums in another order may"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to whether two modules compute the same, and its evidence.

    `equal`: proved, or executed on data that leaves nothing open. `equal-if`: proved under conditions on data.
    `agrees`: executed, no difference found. `close`:
    some bits differ by a few units in the last place, as `closeness` states, and both are equal over the reals.
    `methods` are the methods that decided (`proof`, `xla`, `interpreter`), `compared` says how outputs were compared,
    `reason` adds remarks, `proof` names what a proof used or why there is none. `data` describes the data, `power` the
    injected faults that it detects. `outputs` says for each executed output whether all of its bits were equal,
    `differing` has the numbers of the others, `unreached` lists values that the data lacks. `proved` has the result of
    the proof for each output, `rules` the rules that it applied, with locations. `choices` lists what a proof leaves to
    the engine: the verdict is `equal up to` these. `certificate` holds the steps of the proof. `cause` is the cause of
    the difference that an engine or a proof found, which a reduction keeps. `rounding` names the operands that the
    original rounded to bf16, as its dump does; `elided` counts the constants that both texts elide and that were
    assumed to be equal. `matched` says how
    parameters that the modules do not share were matched. `remarks` name differences that an engine computes by a
    choice of its own, or as the only one of several engines. `conditions` are those on data of the verdict `equal-if`,
    as clauses.

    >>> verdict = relayout.check("examples/negate.hlo", passes="expand-tiling")
    >>> verdict.verdict, verdict.methods
    ('equal', ('proof', 'xla'))
    """

    verdict: Answer
    methods: tuple[str, ...] = ()
    compared: str = ""
    counterexample: Counterexample | MovedElement | None = None
    reason: str = ""
    data: str = field(default="", compare=False)
    power: Power | None = field(default=None, compare=False)
    proof: str = field(default="", compare=False)
    outputs: tuple[str, ...] = field(default=(), compare=False)
    differing: frozenset[int] = field(default=frozenset(), compare=False)
    unreached: tuple[str, ...] = field(default=(), compare=False)
    proved: tuple[OutputProof, ...] = field(default=(), compare=False)
    rules: tuple[RuleUse, ...] = field(default=(), compare=False)
    choices: tuple[str, ...] = ()
    certificate: Certificate | None = field(default=None, compare=False)
    seconds: float = field(default=0.0, compare=False)
    cause: Cause | None = field(default=None, compare=False)
    closeness: Closeness | None = None
    rounding: Rounding | None = None
    elided: int = 0
    matched: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Returns the freedoms of the compiler of the second module, and assumptions about both modules."""
        rounded = f"DEFAULT precision: {self.rounding}" if self.rounding else ""
        elided = f"elided constants assumed equal: {self.elided}" if self.elided else ""
        return tuple(filter(None, (rounded, elided, *self.matched)))

    @property
    def answer(self) -> str:
        """Returns the answer with the engine's choices and the assumptions in brackets."""
        answer = answer_text(self.verdict, self.choices, self.conditions, self.cause.how if self.cause else "")
        return answer + "".join(f" [{each}]" for each in self.assumptions)

    @property
    def found_no_difference(self) -> bool:
        """Is true for `equal` and `agrees`, and for `equal if` where no data differs."""
        return self.verdict in ("equal", "agrees") or (self.verdict == CONDITIONAL and not self.reason)

    @property
    def gave_up(self) -> str:
        """Returns the reason why no proof was found; empty where one was found, or not asked for."""
        return f"no proof: {self.proof}" if self.proof and PROOF not in self.methods else ""

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON keys of `relayout check`, except `file`."""
        used = self.proof if PROOF in self.methods else ""
        return {
            "verdict": self.verdict,
            "up_to": list(self.choices),
            "conditions": list(self.conditions),
            "assumptions": list(self.assumptions),
            "rounded": self.rounding.as_json() if self.rounding else None,
            "elided": self.elided,
            "methods": list(self.methods),
            "compared": "; ".join(filter(None, [self.compared, used])),
            "counterexample": self.counterexample.as_json() if self.counterexample else None,
            "class": self.cause.kind if self.cause and self.verdict == "different" else None,
            "ulps": self.cause.ulps if self.cause and self.verdict == "different" else None,
            "closeness": self.closeness.as_json() if self.closeness else None,
            "reason": "; ".join(filter(None, [self.reason, *self.remarks, self.gave_up])),
            "power": None if self.power is None else round(self.power.share, 4),
            "power_interval": [round(end, 4) for end in self.power.interval] if self.power else None,
            "not_seen": [str(planted) for planted in self.power.not_seen] if self.power else [],
            "proved": [each.as_json() for each in self.proved],
            "rules": [rule.as_json() for rule in self.rules],
            "seconds": round(self.seconds, 3),
        }

    @property
    def details(self) -> str:
        """Returns the complete result as lines: the comparison, the counterexample, the reason."""
        parts = [self.answer + (f" ({', '.join(self.methods)})" if self.methods else "")]
        if self.compared:
            parts.append(f"compared {self.compared}")
        elif not self.gave_up and self.proof:
            parts.append(f"compared {self.proof}")
        parts += filter(None, [self.data, str(self.power or "")])
        lines = [", ".join(parts)]
        lines += [f"  not seen: {planted}" for planted in (self.power.not_seen if self.power else ())]
        if self.counterexample is not None:
            lines.append(f"  {self.counterexample}")
        lines += [f"  {remark}" for remark in (self.reason, *self.remarks, self.gave_up) if remark]
        lines += [
            f"  output {each.output}: {each.over_reals}, seed {each.over_reals.seed:#x}"
            for each in self.proved
            if each.over_reals is not None and each.over_reals.is_equal
        ]
        return "\n".join(lines)

    def lines(self, sides: tuple[str, str] = ("in the first", "in the second")) -> list[str]:
        """Returns the answer, the methods and the evidence; `sides` says which module a value belongs to."""
        methods = f" ({', '.join(self.methods)})" if self.methods else ""
        return [self.answer + methods, *evidence(self, sides)]

    def __str__(self) -> str:
        """Returns the lines of `relayout check`: the answer and its evidence."""
        return "\n  ".join(self.lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the answer, its evidence, the element that differs, and each proof."""
        answer, *said = self.lines()
        listed = "".join(f"<li>{html_text(line)}</li>" for line in said)
        parts = [f"<p><b>{html_text(answer)}</b></p>", f"<ul>{listed}</ul>" if said else ""]
        if self.counterexample is not None:
            parts.append(_html_of_example(self.counterexample))
        if self.proved:
            parts.append(html_table(("proof",), [(str(each),) for each in self.proved]))
        return "".join(parts)


def evidence(verdict: Verdict, sides: tuple[str, str]) -> list[str]:
    """Returns the evidence of a verdict as lines; `sides` says which module a value belongs to.

    `verdict.details` has everything else.
    """
    if verdict.verdict == "equal":
        return [_of_equal(verdict), *verdict.remarks]
    if verdict.verdict == CONDITIONAL:
        engines = _engines(verdict)
        checked = f", and {engines} {verdict.data} contradicts nothing" if engines else ""
        proved = f"every output is proved the same for all inputs that meet the condition{checked}"
        return [proved, *filter(None, [verdict.reason]), *verdict.remarks]
    if verdict.verdict == "agrees":
        missed = verdict.power.not_seen if verdict.power else ()
        return [_of_agreement(verdict), *verdict.remarks, *(f"not noticed: {each}" for each in missed)]
    if verdict.verdict == "close":
        return _of_closeness(verdict, sides)
    if verdict.verdict == "different":
        return _of_difference(verdict, sides)
    shown = [] if verdict.counterexample is None else _of_difference(replace(verdict, reason=""), sides)
    return [*shown, *(part for part in (verdict.reason, *verdict.remarks, verdict.gave_up) if part)]


def _of_equal(verdict: Verdict) -> str:
    engines = _engines(verdict)
    if PROOF not in verdict.methods:
        return f"executed by {engines} {verdict.data}, which leaves nothing open: no output differs"
    if engines:
        doubt = f"; {_TOLERATED}" if NOT_GUARANTEED in verdict.reason else ""
        return (
            f"every output is proved the same for all inputs, and {engines} {verdict.data} contradicts nothing{doubt}"
        )
    reason = f"; {verdict.reason}" if verdict.reason else ""
    return f"every output is proved the same for all inputs{reason}"


def _of_agreement(verdict: Verdict) -> str:
    found = _TOLERATED if NOT_GUARANTEED in verdict.reason else "no output differs"
    found += ", but as the next lines say" if verdict.remarks else ""
    power = f"; {verdict.power}" if verdict.power else ""
    return f"{_of_reals(verdict)}; executed by {_engines(verdict)} {verdict.data}: {found}{power}"


def _of_reals(verdict: Verdict) -> str:
    """Returns a phrase: all outputs without a proof of their bits are equal over the reals, or which are not."""
    open_ = [each for each in verdict.proved if not each.is_equal]
    reals = [each.over_reals for each in open_ if each.over_reals is not None]
    if not open_ or len(reals) < len(open_):
        return "not proved"
    unknown = [str(each.output) for each in open_ if each.over_reals is not None and not each.over_reals.is_equal]
    if unknown:
        return f"not proved, nor known to be equal over the real numbers (output {', '.join(unknown)})"
    weakest = max(reals, key=lambda each: (each.has_fractions, each.log_error))
    conventions = dict.fromkeys(name for each in reals for name in each.conventions)
    return f"not proved in bits, but {replace(weakest, conventions=tuple(conventions))}"


def _of_closeness(verdict: Verdict, sides: tuple[str, str]) -> list[str]:
    executed = f"executed by {_engines(verdict)} {verdict.data}: both are {verdict.closeness}"
    lines = [f"{_of_reals(verdict)}; {executed}"]
    if isinstance(verdict.counterexample, Counterexample):
        lines.append(f"for example, {_values(verdict.counterexample, sides)}")
    return [*lines, *filter(None, [verdict.reason])]


def _of_difference(verdict: Verdict, sides: tuple[str, str]) -> list[str]:
    example, lines = verdict.counterexample, [verdict.reason] if verdict.reason else []
    if isinstance(example, MovedElement):
        lines = [_moved(example, sides)]
    elif example is not None:
        where = verdict.reason.removeprefix("the results differ ")
        on_data = f" {where}" if where != verdict.reason else f"; {where}" if where else ""
        lines = [f"{_values(example, sides)}; {example.differing} of {example.elements} elements differ{on_data}"]
        if example.moved and example.moved.index == example.index:
            lines.append(_moved(example.moved, sides))
    reals = [each.over_reals for each in verdict.proved if example is not None and each.output == example.output]
    for found in reals:
        if found is not None and found.is_equal:
            named = f" ({found.assumption})" if found.assumption else ""
            lines.append(f"over the real numbers both are equal{named}: rounding, overflow or NaN makes the difference")
    return lines


def _html_of_example(example: Counterexample | MovedElement) -> str:
    """Returns a table with the element that differs, a row for each module."""
    element = f"output {example.output}{_at(example.index)}"
    if isinstance(example, MovedElement):
        return html_table((element, "comes from"), zip(("first", "second"), map(str, example.places), strict=True))
    sides = zip(("first", "second"), example.values, example.bits, strict=True)
    return html_table((element, "value", "bits"), sides)


def _values(example: Counterexample, sides: tuple[str, str]) -> str:
    said = [f"{value} ({bits}) {side}" for value, bits, side in zip(example.values, example.bits, sides, strict=True)]
    return f"output {example.output}{_at(example.index)} is {' and '.join(said)}"


def _moved(moved: MovedElement, sides: tuple[str, str]) -> str:
    said = [f"{place} {side}" for place, side in zip(moved.places, sides, strict=True)]
    return f"output {moved.output}{_at(moved.index)} comes from {' and from '.join(said)}"


def _at(index: tuple[int, ...]) -> str:
    return f" at [{','.join(map(str, index))}]" if index else ""


def _engines(verdict: Verdict) -> str:
    return " and ".join(ENGINE_TITLES[method] for method in verdict.methods if method != PROOF)
