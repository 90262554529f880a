"""What a check found, in one sentence that needs no manual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.verdict.result import NOT_GUARANTEED, PROOF, Counterexample, MovedElement

if TYPE_CHECKING:
    from dialect_utils.verdict.result import Planted, Verdict

_ENGINES = {"xla": "XLA", "interpreter": "StableHLO's interpreter"}
_TOLERATED = "some bits differ, by no more than floating-point sums in another order may"


def plain_lines(verdict: Verdict, sides: tuple[str, str]) -> list[str]:
    """Returns the verdict, by which methods, and what it rests on."""
    methods = f" ({', '.join(verdict.methods)})" if verdict.methods else ""
    return [verdict.verdict + methods, *evidence(verdict, sides)]


def evidence(verdict: Verdict, sides: tuple[str, str] = ("in the first", "in the second")) -> list[str]:
    """Returns what a verdict rests on as lines; `sides` say of which module a value is.

    Everything else that is known is `verdict.details`.
    """
    if verdict.verdict == "equal":
        return [_of_equal(verdict)]
    if verdict.verdict == "agrees":
        return [_of_agreement(verdict), *(f"not noticed: {each}" for each in _not_seen(verdict))]
    if verdict.verdict == "different":
        return _of_difference(verdict, sides)
    return [part for part in (verdict.reason, verdict.gave_up) if part]


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
    parts = [f"{_of_reals(verdict)}; executed by {_engines(verdict)} {verdict.data}: {found}"]
    if verdict.power:
        noticed = f"this data noticed {verdict.power.seen} of {verdict.power.planted} mistakes planted as a test of it"
        parts.append(f"power {verdict.power.share:.0%}: {noticed}")
    return "; ".join(parts)


def _not_seen(verdict: Verdict) -> tuple[Planted, ...]:
    return verdict.power.not_seen if verdict.power else ()


def _of_reals(verdict: Verdict) -> str:
    """Returns what is proved where not all bits are: of all outputs over the reals, or of which that is not known."""
    open_ = [each for each in verdict.proved if not each.is_equal]
    reals = [each.over_reals for each in open_ if each.over_reals is not None]
    if not open_ or len(reals) < len(open_):
        return "not proved"
    unknown = [str(each.output) for each in open_ if each.over_reals is not None and not each.over_reals.is_equal]
    if unknown:
        return f"not proved, nor known to be equal over the real numbers (output {', '.join(unknown)})"
    weakest = max(reals, key=lambda each: (each.has_fractions, each.log_error))
    return f"not proved in bits, but {weakest}"


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
    if example is not None and any(
        each.output == example.output and each.over_reals is not None and each.over_reals.is_equal
        for each in verdict.proved
    ):
        lines.append("over the real numbers both are equal: rounding, overflow or NaN makes the difference")
    return lines


def _values(example: Counterexample, sides: tuple[str, str]) -> str:
    said = [f"{value} ({bits}) {side}" for value, bits, side in zip(example.values, example.bits, sides, strict=True)]
    return f"output {example.output}{_at(example.index)} is {' and '.join(said)}"


def _moved(moved: MovedElement, sides: tuple[str, str]) -> str:
    said = [f"{place} {side}" for place, side in zip(moved.places, sides, strict=True)]
    return f"output {moved.output}{_at(moved.index)} comes from {' and from '.join(said)}"


def _at(index: tuple[int, ...]) -> str:
    return f" at [{','.join(map(str, index))}]" if index else ""


def _engines(verdict: Verdict) -> str:
    return " and ".join(_ENGINES[method] for method in verdict.methods if method != PROOF)
