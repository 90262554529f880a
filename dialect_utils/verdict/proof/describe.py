"""The first difference of two terms: both locations, and the operand or attribute that differs."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from dialect_utils.verdict.certificate import place_of
from dialect_utils.verdict.proof.terms import Term, Terms

_MOST_TEXT = 60
# An attribute is a pair of a name and a value.
_PAIR = 2


def where_apart(terms: Terms, a: Term, b: Term, is_same: Callable[[Term, Term], bool]) -> str:
    """Returns a sentence about the innermost operands in which two terms first differ."""
    parents: tuple[Term, Term, int] | None = None
    while True:
        is_alike = (a.kind, a.label, len(a.operands)) == (b.kind, b.label, len(b.operands))
        pairs = [(i, *pair) for i, pair in enumerate(zip(a.operands, b.operands, strict=False)) if not is_same(*pair)]
        if not is_alike or not pairs:
            break
        # A result or a movement is named after its source.
        if a.kind not in ("out", "moved", "splat"):
            parents = a, b, pairs[0][0]
        _, a, b = pairs[0]
    if a.is_specified and not b.is_specified:
        return f"{_named(terms, b, 1)} reads what a physical array has as padding"
    difference = _difference(a, b)
    operand = ""
    if parents is not None and (a.kind == "leaf" or b.kind == "leaf" or terms.constant_bits(a) is not None):
        first, second, number = parents
        operand = f"operand {number} of {_named(terms, first, 0)} and of {_named(terms, second, 1)}: "
    return f"{operand}{_named(terms, a, 0)} and {_named(terms, b, 1)} are not known to be equal{difference}"


def _named(terms: Terms, term: Term, side: int) -> str:
    """Returns a term's opcode and location, such as `add (a.hlo:3:5)`."""
    source = term
    while source.kind in ("out", "moved", "splat"):
        source = source.operands[0]
    operation = terms.origins[side].get(term) or terms.origins[side].get(source)
    place = f" ({place_of(operation)})" if operation is not None and source.kind != "leaf" else ""
    return described(term) + place


def described(term: Term) -> str:
    """Returns a short name of a term: its opcode, or `parameter 0`."""
    if term.kind == "leaf" and isinstance(term.label, tuple):
        return f"{term.label[0]} {term.label[-1]}"
    if term.kind in ("out", "splat"):
        return described(term.operands[0])
    if term.kind == "moved":
        return f"movement of {described(term.operands[0])}"
    label: object = term.label
    if isinstance(label, tuple) and label[:1] == ("ring",):
        return "add" if len(label) > len(("ring", "product")) else "multiply"
    while isinstance(label, tuple) and label:
        label = label[0]
    return str(label) if isinstance(label, str) else term.kind


def _difference(a: Term, b: Term) -> str:
    """Returns a clause about the attribute in which two operations of one opcode differ, or an empty text."""
    if described(a) != described(b):
        return ""
    if a.shape != b.shape:
        return f": their shapes are {a.shape} and {b.shape}"
    if len(a.operands) != len(b.operands):
        return f": they have {len(a.operands)} and {len(b.operands)} operands"
    first, second = _attributes(a.label), _attributes(b.label)
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    if not names:
        return ""
    name = names[0]
    return f": {name} is {_short(first.get(name))} and {_short(second.get(name))}"


def _attributes(label: Hashable) -> dict[str, object]:
    """Returns the parts of a label by their names, or their numbers."""
    found: dict[str, object] = {}
    if not isinstance(label, tuple):
        return {"value": label}
    for number, part in enumerate(label):
        if (
            isinstance(part, tuple) and part and all(isinstance(each, tuple) and len(each) == 2 for each in part)
        ):  # a name and a value
            found |= {str(name): value for name, value in part}
        elif isinstance(part, tuple) and part and isinstance(part[0], str):
            found |= _attributes(part)
        else:
            found[f"attribute {number}"] = part
    return found


def _short(value: object) -> str:
    text = "absent" if value is None else ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "..."
