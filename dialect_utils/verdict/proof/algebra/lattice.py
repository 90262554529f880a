"""Maximum, minimum, and, or, xor: operations that take their operands in any order and any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import by_opcode, named
from dialect_utils.verdict.proof.algebra.joins import REGROUPED, Join, distributed
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.extremes import ABSORBING, BITWISE, BOOLEAN, BOUNDS, CLAMP, EXTREMES, SIZE
from dialect_utils.verdict.rules.formats import Number, has, highest_bits, is_nan, lowest_bits, sort_key, value_of
from dialect_utils.verdict.rules.integers import RING
from dialect_utils.verdict.terms.constants import folded

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# The logic operation that equals an arithmetic operation on truth values.
MEANT = by_opcode({"add": "or", "maximum": "or", "multiply": "and", "minimum": "and"})
_EXTREMES = frozenset({"maximum", "minimum"})
# The dual operation: a | (a & b) = a, and not (a & b) = not a | not b.
_OPPOSITE = by_opcode({"maximum": "minimum", "minimum": "maximum", "and": "or", "or": "and"})
# The operations of lattices, and exclusive or.
OPCODES = named("maximum minimum and or xor")


def build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns the normal form of a maximum, minimum, and, or, xor; None for other operations."""
    is_logical = element_type.name == "pred" or element_type.is_integral
    if opcode not in OPCODES or not (is_logical or (element_type.is_floating and opcode in _EXTREMES)):
        return None
    if opcode == "xor":
        return _exclusive(terms, element_type, operands)
    return _joined(terms, opcode, element_type, operands)


def mean(terms: Terms, opcode: str, parts: Sequence[Term]) -> Term:
    """Returns nested arithmetic on truth values, and certifies that it is logic: a + b + c is a | b | c."""
    kind, meant = parts[0].array.element_type, MEANT[opcode]
    total = written = parts[0]
    for part in parts[1:]:
        total, other = (terms.each_as_is(each, kind, (total, part)) for each in (opcode, meant))
        terms.step(BOOLEAN, total, other)
        written = terms.each_as_is(meant, kind, (written, part))
    terms.step(REGROUPED[meant], written, terms.each_as_is(meant, kind, parts))
    return total


def _joined(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns the normal form of an idempotent operation: flat, sorted, without repeats, with one constant."""
    join = Join(terms, opcode, element_type, list(operands))
    constant = _flattened(join)
    neutral, absorbing = _bounds(opcode, element_type)
    if constant is not None and len(join.parts) == 1:
        return constant
    bits = None if constant is None else terms.constant_bits(constant)
    if constant is not None and bits in (neutral, absorbing):
        rest = join.of(join.without(constant))
        rule = ABSORBING if opcode in _EXTREMES and bits == absorbing else REGROUPED[opcode]
        join.grouped([rest, constant])
        terms.step(rule, join.pair(rest, constant), constant if bits == absorbing else rest)
        if bits == absorbing:
            return constant
        join.parts, constant = join.without(constant), None
    if constant is None and element_type.name == "pred" and _is_decided(join):
        return terms.literal(element_type, int(opcode == "or"), operands[0].array.dimensions)
    _drop_absorbed(join)
    _join_opposites(join)
    if element_type.name == "pred":
        _keep_nearest(join)
    clamped = None if constant is None else _clamped(join, constant)
    return _made(join) if clamped is None else clamped


def _flattened(join: Join) -> Term | None:
    """Flattens nested operations of a join and folds the constants into one, which it returns."""
    terms, kind = join.terms, join.element_type
    flat: dict[Term, None] = {}
    constants: dict[Term, None] = {}
    for operand in join.parts:
        for part in operand.operands if operand.kind == "each" and operand.label == join.opcode else (operand,):
            (flat if terms.constant_bits(part) is None else constants)[part] = None
    if not constants:
        join.grouped([*flat])
        join.parts = [*flat]
        return None
    written, *rest = constants
    total = written
    for part in rest:
        pair = (kind, terms.constant_bits(total) or 0), (kind, terms.constant_bits(part) or 0)
        bits = folded(join.opcode, kind, pair)
        assert bits is not None  # a lattice operation is exact
        found = terms.literal(kind, bits, part.array.dimensions)
        terms.step(FOLDED, join.pair(total, part), found)
        total, written = found, join.pair(written, part)
    join.grouped([*flat, written])
    join.parts = [*flat, total]
    return total


def _made(join: Join) -> Term:
    """Returns the normal form of a join: its parts sorted."""
    terms, items = join.terms, sorted(join.parts, key=lambda item: item.number)
    join.grouped(items)
    if len(items) == 1:
        return items[0]
    if items[0].array.dimensions and all(item.kind == "splat" for item in items):
        return terms.of_splats(join.opcode, join.element_type, items)
    return join.of(items)


def _bounds(opcode: str, element_type: ElementType) -> tuple[int | None, int | None]:
    """Returns the bits of the neutral and of the absorbing constant; floats have no absorbing one because of NaN."""
    ones = (1 << element_type.bits) - 1
    if opcode in ("and", "or"):
        return (ones, 0) if opcode == "and" else (0, ones)
    low, high = lowest_bits(element_type), highest_bits(element_type)
    neutral, absorbing = (low, high) if opcode == "maximum" else (high, low)
    return neutral, None if element_type.is_floating else absorbing


def _is_decided(join: Join) -> bool:
    """Is true where a truth value and its complement are both among the parts."""
    terms = join.terms
    for part in join.parts:
        if part.label != "not" or part.kind != "each" or part.operands[0] not in join.parts:
            continue
        (opposite,) = part.operands
        rest = join.without(part, opposite)
        pair = join.pair(opposite, part)
        found = terms.literal(join.element_type, int(join.opcode == "or"), part.array.dimensions)
        join.grouped([join.of(rest), pair] if rest else [pair])
        terms.step(BOOLEAN, pair, found)
        if rest:
            terms.step(BITWISE, join.pair(join.of(rest), found), found)
        return True
    return False


def _drop_absorbed(join: Join) -> None:
    """Drops a & b from a | (a & b). Floats need both operands as parts, because b may be NaN."""
    other = _OPPOSITE[join.opcode]
    # Visit later terms first, so that `a & b` is dropped before `a` and `b`.
    for part in sorted(join.parts, key=lambda part: -part.number):
        if part.kind != "each" or part.label != other:
            continue
        present = [operand for operand in part.operands if operand in join.parts]
        if join.element_type.is_floating:
            if len(present) == len(part.operands):
                _drop_middle(join, part, other)
        elif present:
            _drop_smaller(join, part, other, present[0])


def _drop_smaller(join: Join, part: Term, other: str, member: Term) -> None:
    """Drops a part such as a & b from a | (a & b), where `member` is a and `other` is `and`."""
    terms, inner = join.terms, Join(join.terms, other, join.element_type, list(part.operands))
    grouped = inner.pair(member, inner.of(inner.without(member)))
    terms.step(REGROUPED[other], part, grouped)
    pair, others = join.pair(member, part), join.without(member, part)
    join.grouped([pair, *others])
    terms.note(BOOLEAN)
    terms.step(REGROUPED[join.opcode], join.pair(member, grouped), member)
    join.parts = [member, *others]


def _drop_middle(join: Join, part: Term, other: str) -> None:
    """Drops min(a, b) from max(a, b, min(a, b)) of floats: a NaN of the minimum is a NaN of a or b."""
    terms, rest = join.terms, join.of(join.without(part))
    join.grouped([rest, part])
    terms.note(BOOLEAN)
    distributed(terms, EXTREMES, other, other, part.operands, lambda each: join.pair(rest, each))
    for operand in part.operands:
        terms.step(EXTREMES, join.pair(rest, operand), rest)
    terms.step(EXTREMES, terms.each_as_is(other, join.element_type, [rest] * len(part.operands)), rest)
    join.parts = join.without(part)


def _join_opposites(join: Join) -> None:
    """Replaces x and -x by abs(x) in a maximum, by -abs(x) in a minimum."""
    kind = join.element_type
    if join.opcode not in _EXTREMES or not (has(kind, "opposites") or has(kind, "signed")):
        return
    terms = join.terms
    for negative in join.parts:
        positive = _opposite(terms, negative)
        if positive is None or positive not in join.parts:
            continue
        negated = terms.each_as_is("negate", kind, [positive])
        terms.step(RING, negated, negative)
        size = terms.each("abs", kind, [positive])
        written = terms.each_as_is("abs", kind, [positive])
        if join.opcode == "minimum":
            written = terms.each_as_is("negate", kind, [written])
            size = terms.each("negate", kind, [size])
        terms.step(SIZE, join.pair(positive, negated), written)
        others = join.without(positive, negative)
        join.grouped([join.pair(positive, negative), *others])
        join.parts = [size, *others]
        join.unique()
        return


def _opposite(terms: Terms, part: Term) -> Term | None:
    """Returns x for -x, None for other terms."""
    if part.kind == "each" and part.label == "negate":
        return part.operands[0]
    negative = (1 << part.array.element_type.bits) - 1
    monomials = list(terms.polynomials.get(part, {}).items())
    if len(monomials) != 1 or monomials[0][1] != negative or [power for _, power in monomials[0][0]] != [1]:
        return None
    return monomials[0][0][0][0]


# The compared number x, the form of the comparison (x < c, c < x, not x < c), and whether c is an upper bound.
_Bounded = tuple["Term", str, bool]


def _keep_nearest(join: Join) -> None:
    """Drops one of x < a and x < b: the larger bound in an `and`, the smaller bound in an `or`."""
    best: dict[_Bounded, tuple[Term, Number]] = {}
    for part in list(join.parts):
        found = _bound_of(join.terms, part)
        if found is None:
            continue
        key, bound = found
        known = best.get(key)
        if known is None:
            best[key] = part, bound
            continue
        takes_lower = (join.opcode == "and") == key[2]
        lower, higher = sorted(((part, bound), known), key=lambda each: each[1])
        best[key] = kept = lower if takes_lower else higher
        join.replace(BOUNDS, lower[0], higher[0], kept[0])


def _bound_of(terms: Terms, part: Term) -> tuple[_Bounded, Number] | None:
    """Returns the compared number, the direction and the constant bound; None unless one side is constant."""
    is_negated = part.kind == "each" and part.label == "not"
    inner = part.operands[0] if is_negated else part
    if inner.kind != "each" or inner.label != ("compare", "LT", False):
        return None
    left, right = inner.operands
    element_type = left.array.element_type
    for side, other, is_above in ((left, right, True), (right, left, False)):
        bits = terms.constant_bits(other)
        value = None if bits is None else value_of(element_type, bits)
        if value is not None and value == value:
            return (side, f"{is_above} {is_negated}", is_above != is_negated), value
    return None


def _clamped(join: Join, constant: Term) -> Term | None:
    """Returns maximum(low, minimum(x, high)) as minimum(maximum(x, low), high); None for other terms."""
    terms, kind, bound = join.terms, join.element_type, join.terms.constant_bits(constant)
    parts = join.without(constant)
    if join.opcode != "maximum" or len(parts) != 1 or bound is None or is_nan(kind, bound):
        return None
    (inner,) = parts
    if inner.kind != "each" or inner.label != "minimum":
        return None
    others = [operand for operand in inner.operands if terms.constant_bits(operand) is None]
    constants = [operand for operand in inner.operands if terms.constant_bits(operand) is not None]
    high = terms.constant_bits(constants[0]) if constants else None
    if high is None or is_nan(kind, high) or sort_key(kind, bound) > sort_key(kind, high):
        return None
    lowered = Join(terms, "minimum", kind, list(inner.operands))
    rest = lowered.of(others)
    lowered.grouped([rest, constants[0]])
    join.grouped([inner, constant])
    before = join.pair(lowered.pair(rest, constants[0]), constant)
    terms.step(CLAMP, before, lowered.pair(join.pair(rest, constant), constants[0]))
    raised = terms.each("maximum", kind, (_made(Join(terms, "minimum", kind, others)), constant))
    return terms.each("minimum", kind, [raised, constants[0]])


def _exclusive(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns the exclusive or in normal form: flat, sorted, of the parts that occur an odd number of times."""
    before = terms.each_as_is("xor", element_type, operands)
    dimensions = operands[0].array.dimensions
    odd: dict[Term, None] = {}
    constant = 0
    for operand in operands:
        for part in operand.operands if operand.kind == "each" and operand.label == "xor" else (operand,):
            bits = terms.constant_bits(part)
            if bits is not None:
                constant ^= bits
                continue
            if element_type.name == "pred" and part.kind == "each" and part.label == "not":
                constant ^= 1
                part = part.operands[0]
            odd.pop(part) if part in odd else odd.setdefault(part)
    items = list(odd)
    is_flipped = bool(constant and items and element_type.name == "pred")
    if not items or (constant and not is_flipped):
        items.append(terms.literal(element_type, constant, dimensions))
    join = Join(terms, "xor", element_type, items)
    written = join.of(items)
    terms.step(BITWISE, before, terms.each_as_is("not", element_type, [written]) if is_flipped else written)
    made = _made(join)
    return terms.each("not", element_type, [made]) if is_flipped else made
