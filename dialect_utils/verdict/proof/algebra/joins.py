"""Operations on any number of operands, such as max(a, b, c), as nested binary operations, for binary rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import by_opcode
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.extremes import BITWISE, EXTREMES

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# The rule that an operation is commutative and associative.
REGROUPED = by_opcode({"maximum": EXTREMES, "minimum": EXTREMES, "and": BITWISE, "or": BITWISE, "xor": BITWISE})


def distributed(
    terms: Terms, rule: Rule, opcode: str, other: str, parts: Sequence[Term], wrap: Callable[[Term], Term]
) -> None:
    """Certifies f(max(a, b, c)) = min(f(a), f(b), f(c)) by a rule for two parts; `wrap` is f, `other` is min."""
    total, wrapped = parts[0], wrap(parts[0])
    kind, result = parts[0].array.element_type, wrapped.array.element_type
    for part in parts[1:]:
        joined = terms.each_as_is(opcode, kind, (total, part))
        terms.step(rule, wrap(joined), terms.each_as_is(other, result, (wrap(total), wrap(part))))
        wrapped = terms.each_as_is(other, result, (wrapped, wrap(part)))
        total = joined
    terms.step(REGROUPED[opcode], total, terms.each_as_is(opcode, kind, parts))
    terms.step(REGROUPED[other], wrapped, terms.each_as_is(other, result, [wrap(part) for part in parts]))


@dataclass(slots=True)
class Join:
    """The operands of one commutative and associative operation; each change of them is a step of the proof."""

    terms: Terms
    opcode: str
    element_type: ElementType
    parts: list[Term]

    def of(self, parts: Sequence[Term]) -> Term:
        """Returns the operation on some parts, not in normal form."""
        return parts[0] if len(parts) == 1 else self.terms.each_as_is(self.opcode, self.element_type, parts)

    def pair(self, left: Term, right: Term) -> Term:
        """Returns the operation on two parts, not in normal form."""
        return self.terms.each_as_is(self.opcode, self.element_type, (left, right))

    def grouped(self, groups: Sequence[Term]) -> None:
        """Certifies that the join equals the operation on groups; a group is a part or the join of some parts."""
        self.terms.step(REGROUPED[self.opcode], self.of(self.parts), self.of(groups))

    def without(self, *parts: Term) -> list[Term]:
        """Returns all parts but the given ones."""
        return [part for part in self.parts if part not in parts]
