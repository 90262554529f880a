"""Matches terms with equations, up to the order of operands and the form of constants, signs and conversions.

Each such change is a step of the proof: x + y is rewritten to y + x before it matches the pattern y + x.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra.joins import REGROUPED
from dialect_utils.verdict.proof.algebra.numbers import negative
from dialect_utils.verdict.rules import Equation, Pattern, Rule, index
from dialect_utils.verdict.rules.arrays import FOLDED, SPLAT
from dialect_utils.verdict.rules.conditions import LEFT, RIGHT
from dialect_utils.verdict.rules.conversions import LOSSLESS
from dialect_utils.verdict.rules.formats import is_lossless, is_nan, word_bits
from dialect_utils.verdict.rules.matching import Use
from dialect_utils.verdict.rules.pattern import element_type
from dialect_utils.verdict.terms.constants import folded

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# Operands of an equal form of a term, and the rule that makes both forms equal.
_View = tuple[Sequence["Term"], Rule | str | None]
_PAIR = 2
# The most operands of a left side.
_MOST = 3
# The most nested operations in which a conversion is looked for.
_DEEPEST = 40


@dataclass(slots=True, kw_only=True)
class Match(Use["Term"]):
    """An instance of an equation, and the steps that rewrite the terms to the instance."""

    terms: Terms
    depth: int = _DEEPEST
    steps: list[tuple[Rule | str, Term, Hashable, Sequence[Term]]] = field(default_factory=list)

    def matches_operation(self, pattern: Pattern, term: Term) -> bool:
        """Is true where a term, or an equal form of the term, is an operation that matches a pattern."""
        views = [*self._views(pattern, term)]
        saved = (dict(self.types), dict(self.values), dict(self.constants)) if len(views) > 1 else None
        count = len(self.steps)
        for operands, rule in views:
            if saved is not None:
                self.types, self.values, self.constants = dict(saved[0]), dict(saved[1]), dict(saved[2])
            if rule is not None:
                self.steps.append((rule, term, pattern.label(self.types), operands))
            pairs = [*zip(pattern.operands, operands, strict=True)]
            if len(pairs) > 1:
                pairs.sort(key=_rank)
            if all(self.matches(*pair) for pair in pairs):
                return True
            del self.steps[count:]
        return not views and self._is_polynomial(pattern, term)

    def certify(self, rule: Rule, before: Pattern, after: Pattern) -> None:
        """Certifies the steps, and the equality of the instances of both sides of the rule."""
        for known, term, label, operands in self.steps:
            written = self.terms.each_as_is(label, term.array.element_type, operands)
            if isinstance(known, Rule):
                self.terms.step(known, term, written)
            else:
                self.terms.certify(known, term, written)
        as_is = self.terms.each_as_is
        self.terms.step(rule, self.made(before, as_is), self.made(after, as_is))

    def made(self, pattern: Pattern, each: Callable[[Hashable, ElementType, Sequence[Term]], Term]) -> Term:
        """Returns the instance of a pattern; `each` makes the operations."""
        if pattern.kind == "variable":
            return self.values[pattern.name]
        kind = element_type(pattern.type, self.types)
        assert kind is not None  # the types of all names are known
        if pattern.kind == "each":
            return each(pattern.label(self.types), kind, [self.made(operand, each) for operand in pattern.operands])
        bits = self.constants[pattern.name] if pattern.kind == "constant" else word_bits(kind, pattern.name)
        assert bits is not None  # only types that have the number are looked up
        return self.terms.literal(kind, bits, next(iter(self.values.values())).array.dimensions)

    def is_given(self, equation: Equation) -> bool:
        """Is true where the strategy of the proof allows for the equation's conditions on data; records them."""
        if not equation.given:
            return True
        sides = {LEFT: equation.left, RIGHT: equation.right} if self.terms.strategy.excluded else {}
        named = {name: self.made(side, self.terms.each_as_is) for name, side in sides.items()}
        named |= self.values
        conditions = [(value, each.name) for each in equation.given for value in each.values]
        return bool(sides) and self.terms.may_assume([(value, named[name]) for value, name in conditions])

    def _views(self, pattern: Pattern, term: Term) -> Iterator[_View]:
        """Yields operands with which a term is the operation of a pattern, in each equal form."""
        label, count = pattern.label(self.types), len(pattern.operands)
        if term.kind == "each" and term.label == label:
            if len(term.operands) == count:
                yield from self._orders(pattern, term)
            elif count == _PAIR:
                yield from self._groups(pattern, term)
        elif term.kind == "splat" and (scalar := term.operands[0]).kind == "each" and scalar.label == label:
            yield [self.terms.splat(each, term.array.dimensions) for each in scalar.operands], SPLAT
        elif pattern.name == "negate":
            positive = negative(self.terms, term)
            if positive is not None:
                yield [positive], FOLDED
        if pattern.name == "convert":
            kind = element_type(pattern.operands[0].type, self.types)
            narrow = None if kind is None else unconverted(self.terms, kind, term, self.depth)
            if narrow is not None:
                yield [narrow], None

    def _orders(self, pattern: Pattern, term: Term) -> Iterator[_View]:
        yield term.operands, None
        if len(term.operands) == _PAIR:
            kinds = term.array.element_type.name, term.operands[0].array.element_type.name
            law = index.commutative_law(pattern.root, *kinds)
            if law is not None:
                yield term.operands[::-1], law

    def _groups(self, pattern: Pattern, term: Term) -> Iterator[_View]:
        """Yields two groups of an operation's operands: a bound operand and the rest, or both halves."""
        rule, kinds = REGROUPED.get(str(term.label)), [part.kind for part in pattern.operands]
        if rule is None or kinds not in (["variable"] * _PAIR, ["variable", "constant"]):
            return
        known = [self.values.get(part.name) for part in pattern.operands]
        first = [each for each in term.operands if each is known[0] or (known[1] is not None and each is not known[1])]
        if known == [None, None]:
            first = [*term.operands[: len(term.operands) // 2]]
        if kinds[1] == "constant":
            first = [each for each in term.operands if self.terms.constant_bits(each) is None]
        rest = [each for each in term.operands if each not in first]
        if first and rest:
            yield [self._joined(term, part) for part in (first, rest)], rule

    def _joined(self, term: Term, parts: Sequence[Term]) -> Term:
        """Returns the operation of a term on some of the term's operands."""
        return parts[0] if len(parts) == 1 else self.terms.each_as_is(term.label, term.array.element_type, parts)

    def _is_polynomial(self, pattern: Pattern, term: Term) -> bool:
        """Is true for the polynomial that equals the pattern's sum or product of known operands."""
        if term not in self.terms.polynomials:
            return False
        names = {part.name for part in pattern.parts() if part.kind == "variable"}
        is_known = names <= self.values.keys() and all(part.kind != "constant" for part in pattern.parts())
        return is_known and self.made(pattern, self.terms.each) is term


def _rank(pair: tuple[Pattern, Term]) -> int:
    """Returns the order in which operands are matched: variables first, equal forms (conversions, splats) last."""
    pattern, term = pair
    return 0 if pattern.kind != "each" else 1 if term.kind == "each" and term.label == pattern.root else 2


def rewritten(terms: Terms, term: Term) -> Term | None:
    """Returns the normal form of an operation after the first equation that matches it, None without a match."""
    operands = term.operands[:_MOST]
    kinds = tuple(operand.array.element_type.name for operand in operands)
    roots = tuple(map(index.root_of, operands))
    has_equal = len({*operands}) < len(operands)
    for rule, equation in index.rewrites(index.root_of(term), term.array.element_type.name, kinds, roots, has_equal):
        match = _instance(terms, equation, term)
        if match is not None and (equation.level != "order" or terms.may_choose()) and match.is_given(equation):
            match.certify(rule, equation.left, equation.right)
            return match.made(equation.right, terms.each)
    return None


def _instance(terms: Terms, equation: Equation, term: Term) -> Match | None:
    match = Match(terms=terms)
    if not match.matches(equation.left, term):
        return None
    types = index.completed(equation, match.types)
    if types is None or not equation.holds(types, match.constants):
        return None
    match.types = types
    return match


# Conversions


def converted(terms: Terms, element_type: ElementType, operand: Term) -> Term:
    """Returns a conversion that is not in normal form."""
    return terms.each_as_is("convert", element_type, [operand])


def source_type(term: Term) -> ElementType | None:
    """Returns the type of the first converted part of a term, None where the term has no conversion."""
    for _ in range(_DEEPEST):
        if term.kind == "each" and term.label == "convert":
            return term.operands[0].array.element_type
        if term.kind != "splat" and not (term.kind == "each" and index.has_conversion_law(term.label)):
            return None
        parts = term.operands[term.label == "select" :]
        # A constant has no type of its own, so other parts decide.
        term = next((part for part in parts if part.kind not in ("constant", "splat")), parts[0])
    return None


def unconverted(terms: Terms, element_type: ElementType, term: Term, depth: int = _DEEPEST) -> Term | None:
    """Returns the narrower term of `element_type` whose lossless conversion a term is; None without any."""
    wide = term.array.element_type
    if wide == element_type or not depth or not is_lossless(element_type, wide):
        return None
    key = term, element_type
    if key not in terms.unconverted:
        terms.unconverted[key] = None
        terms.unconverted[key] = _without_conversion(terms, element_type, term, depth - 1)
    return terms.unconverted[key]


def _without_conversion(terms: Terms, element_type: ElementType, term: Term, depth: int) -> Term | None:
    bits = terms.constant_bits(term)
    if bits is not None:
        return _constant(terms, element_type, term, bits)
    if term.kind == "splat":
        inner = unconverted(terms, element_type, term.operands[0], depth)
        return None if inner is None else _repeated(terms, term, inner)
    if term.kind != "each":
        return None
    if term.label == "convert":
        return _of_conversion(terms, element_type, term)
    return _of_operation(terms, element_type, term, depth)


def _repeated(terms: Terms, term: Term, inner: Term) -> Term:
    """Returns the splat of a narrower scalar, and certifies that the converted splat is the splat `term`."""
    wide, found = term.array.element_type, terms.splat(inner, term.array.dimensions)
    whole = terms.splat(converted(terms, wide, inner), term.array.dimensions)
    terms.certify(SPLAT, converted(terms, wide, found), whole)
    return found


def _constant(terms: Terms, element_type: ElementType, term: Term, bits: int) -> Term | None:
    """Returns a constant of a narrower type with the same value."""
    wide = term.array.element_type
    narrow = folded("convert", element_type, ((wide, bits),))
    back = None if narrow is None else folded("convert", wide, ((element_type, narrow),))
    if narrow is None or back is None:
        return None
    if back != bits and not (is_nan(wide, bits) and is_nan(wide, back)):
        return None
    found = terms.literal(element_type, narrow, term.array.dimensions)
    terms.step(FOLDED, converted(terms, wide, found), term)
    return found


def _of_conversion(terms: Terms, element_type: ElementType, term: Term) -> Term | None:
    """Returns x for convert[f32](x) and f16 x, or convert[f16](x) if x has a type narrower than f16."""
    (inner,) = term.operands
    source, wide = inner.array.element_type, term.array.element_type
    if source == element_type:
        return inner
    if not is_lossless(source, element_type) or "pred" in (source.name, element_type.name):
        return None
    terms.step(LOSSLESS, converted(terms, wide, converted(terms, element_type, inner)), term)
    return terms.each("convert", element_type, [inner])


def _of_operation(terms: Terms, element_type: ElementType, term: Term, depth: int) -> Term | None:
    """Returns g(x) for g(convert(x)) = convert(g(x)), by an equation that commutes g with the conversion."""
    wide = term.array.element_type
    for rule, equation in index.conversion_laws(term.label, element_type, wide):
        match = Match(types={"T": element_type, "U": wide}, terms=terms, depth=depth)
        if match.matches(equation.right, term):
            match.certify(rule, equation.right, equation.left)
            return match.made(equation.left.operands[0], terms.each)
    return None
