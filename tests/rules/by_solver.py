"""Equations as questions to solvers: for which variables and constants under the guard do both sides differ?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ElementType
from dialect_utils.verdict.rules import conditions
from dialect_utils.verdict.rules.formats import highest_bits, word_bits
from dialect_utils.verdict.rules.pattern import Pattern
from tests.rules import translation
from tests.rules.cases import Case, names_constant, required_type
from tests.rules.script import IEEE, Script, Value, literal
from tests.rules.solvers import Answer, decide, solver_for
from tests.rules.translation import PRED, UntranslatedError, is_true

Values = Mapping[str, Value]


def answer(case: Case, limit_s: float) -> Answer:
    """Returns what a solver says of an equation: one query for each choice of its truth values.

    Raises UntranslatedError for operations and formats that the theories of solvers lack.
    """
    seconds = 0.0
    truths = [name for name, kind in case.leaves.items() if kind == PRED]
    for chosen in product((0, 1), repeat=len(truths)):
        fixed = dict(zip(truths, chosen, strict=True))
        script = query(case, fixed)
        found = decide(script, solver_for(script), limit_s)
        seconds += found.seconds
        if found.outcome != "holds":
            return Answer(found.outcome, tuple(sorted((fixed | dict(found.bits)).items())), seconds)
    return Answer("holds", (), seconds)


def query(case: Case, truths: Mapping[str, int]) -> Script:
    """Returns the script that has an assignment where the equation does not hold for given truth values."""
    script = Script()
    for kind in case.types.values():
        if kind.is_floating and kind.name not in IEEE:
            raise UntranslatedError(f"{kind} is no format of IEEE 754")
    values = {
        name: script.of_term(PRED, literal(truths[name], 1)) if name in truths else script.variable(name, kind)
        for name, kind in case.leaves.items()
    }
    for condition in case.equation.guard:
        if names_constant(condition):
            script.require(translated(condition, script, values, case.types["T"]))
    left, right = (_value(side, case, script, values) for side in (case.equation.left, case.equation.right))
    sides = {conditions.LEFT: left, conditions.RIGHT: right}
    for given in case.equation.given:
        for value in given.values:
            script.require(f"(not {_is_value(sides.get(given.name) or values[given.name], value)})")
    script.require(f"(not {translation.is_same(script, left, right, case.level)})")
    return script


def _is_value(value: Value, name: str) -> str:
    """Returns a condition on data as a term: that a value is NaN, say."""
    if not value.element_type.is_floating:
        return f"(= {value.bits()} {literal(0, value.element_type.bits)})" if name == conditions.ZERO else "false"
    number = value.number()
    return {
        conditions.NAN: f"(fp.isNaN {number})",
        conditions.INFINITE: f"(fp.isInfinite {number})",
        conditions.ZERO: f"(fp.isZero {number})",
        conditions.NEGATIVE_ZERO: f"(and (fp.isZero {number}) (fp.isNegative {number}))",
    }[name]


def _value(pattern: Pattern, case: Case, script: Script, values: Values) -> Value:
    kind = required_type(pattern, case.types)
    if pattern.kind == "number":
        bits = word_bits(kind, pattern.name)
        assert bits is not None  # a case has numbers of its types only
        return script.of_term(kind, literal(bits, kind.bits))
    if pattern.kind != "each":
        return values[pattern.name]
    operands = [_value(operand, case, script, values) for operand in pattern.operands]
    if pattern.name == "compare":
        return translation.compare(script, pattern.direction, *operands, is_total=pattern.is_total)
    if pattern.name == "convert":
        return translation.convert(script, kind, operands[0])
    if pattern.name == "bitcast-convert":
        return script.of_bits(kind, operands[0].bits)
    return translation.each(script, pattern.name, operands)


# Conditions on constants; a test compares each with what it stands for.


def translated(condition: object, script: Script, values: Values, kind: ElementType) -> str:
    """Returns a condition on constants as a term; raises UntranslatedError for an unknown one."""
    if type(condition) not in _CONDITIONS:
        raise UntranslatedError(f"the condition {condition}")
    return _CONDITIONS[type(condition)](condition, script, values, kind)


def _power_of_two(condition: conditions.PowerOfTwo, script: Script, values: Values, kind: ElementType) -> str:
    bits, zero = values[condition.constant].bits(), literal(0, kind.bits)
    return f"(and (not (= {bits} {zero})) (= (bvand {bits} (bvsub {bits} {literal(1, kind.bits)})) {zero}))"


def _exponent(bits: str, kind: ElementType) -> tuple[str, str]:
    """Returns the exponent of a float, and the condition that the float is positive with a significand of 1."""
    form = FLOAT_FORMATS[kind.name]
    exponent = f"((_ extract {kind.bits - 2} {form.mantissa_bits}) {bits})"
    rest = f"((_ extract {form.mantissa_bits - 1} 0) {bits})"
    sign = f"((_ extract {kind.bits - 1} {kind.bits - 1}) {bits})"
    return exponent, f"(and (= {sign} #b0) (= {rest} {literal(0, form.mantissa_bits)}))"


def _scale(condition: conditions.Scale, script: Script, values: Values, kind: ElementType) -> str:
    form = FLOAT_FORMATS[kind.name]
    exponent, is_power = _exponent(values[condition.constant].bits(), kind)
    ends = [literal(end, form.exponent_bits) for end in (1, 2 * form.bias - 1)]
    return f"(and {is_power} (bvuge {exponent} {ends[0]}) (bvule {exponent} {ends[1]}))"


def _doublings(condition: conditions.Doublings, script: Script, values: Values, kind: ElementType) -> str:
    form = FLOAT_FORMATS[kind.name]
    width = form.exponent_bits + 1
    parts, total = [], []
    for name in (condition.first, condition.second):
        exponent, is_power = _exponent(values[name].bits(), kind)
        parts += [is_power, f"(bvugt {exponent} {literal(form.bias, form.exponent_bits)})"]
        total.append(f"((_ zero_extend 1) {exponent})")
    highest = literal(3 * form.bias - 1, width)
    return f"(and {' '.join(parts)} (bvule (bvadd {' '.join(total)}) {highest}))"


def _below_width(condition: conditions.BelowWidth, script: Script, values: Values, kind: ElementType) -> str:
    terms = [f"((_ zero_extend 8) {values[name].bits()})" for name in condition.constants]
    total = terms[0] if len(terms) == 1 else f"(bvadd {' '.join(terms)})"
    return f"(bvult {total} {literal(kind.bits, kind.bits + 8)})"


def _at_most(condition: conditions.AtMost, script: Script, values: Values, kind: ElementType) -> str:
    return is_true(translation.compare(script, "LE", values[condition.low], values[condition.high]))


def _ordered(condition: conditions.Ordered, script: Script, values: Values, kind: ElementType) -> str:
    low, high = values[condition.low], values[condition.high]
    order = is_true(translation.compare(script, "LE", low, high, is_total=True))
    if not kind.is_floating:
        return order
    return f"(and (not (fp.isNaN {low.number()})) (not (fp.isNaN {high.number()})) {order})"


def _not_highest(condition: conditions.NotHighest, script: Script, values: Values, kind: ElementType) -> str:
    highest = highest_bits(kind)
    assert highest is not None  # the guard admits integers only
    return f"(not (= {values[condition.constant].bits()} {literal(highest, kind.bits)}))"


_CONDITIONS: Mapping[type, Callable[..., str]] = {
    conditions.AtMost: _at_most,
    conditions.BelowWidth: _below_width,
    conditions.Doublings: _doublings,
    conditions.NotHighest: _not_highest,
    conditions.Ordered: _ordered,
    conditions.PowerOfTwo: _power_of_two,
    conditions.Scale: _scale,
}
