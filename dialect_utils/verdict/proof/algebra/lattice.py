"""Maximum, minimum, and, or, xor: operations that take their operands in any order and any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import by_opcode, named
from dialect_utils.verdict.proof.algebra.numbers import Number, highest_bits, is_nan, lowest_bits, value_of
from dialect_utils.verdict.proof.algebra.rule import INTEGERS, NUMBERS, PREDICATE, Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

EXTREMES = Rule(
    "max-min",
    "Maximum and minimum order -0 below +0 and give NaN for a NaN (IEEE 754-2019), so they are a lattice's operations.",
    (
        "maximum(x, y) = maximum(y, x)",
        "maximum(maximum(x, y), z) = maximum(x, maximum(y, z))",
        "minimum(x, minimum(y, x)) = minimum(y, x)",
        "maximum(x, lowest) = x",
        "minimum(x, highest) = x",
        "minimum(minimum(x, 3), 2) = minimum(x, 2)",
        "maximum(maximum(x, y), minimum(x, y)) = maximum(x, y)",
    ),
    ("maximum(x, minimum(y, x)) = minimum(x, y)", "maximum(x, 0) = maximum(x, 1)"),
    NUMBERS,
)
ABSORBING = Rule(
    "max-min-absorbing",
    "An integer is never above the largest one (a float may be NaN).",
    ("maximum(x, highest) = highest", "minimum(x, lowest) = lowest"),
    ("maximum(x, 0) = 0",),
    INTEGERS,
)
CLAMP = Rule(
    "clamp",
    "clamp is minimum(maximum(x, low), high); constant bounds in order may be taken in either order (NaN stays NaN).",
    (
        "clamp(y, x, z) = minimum(maximum(x, y), z)",
        "maximum(1, minimum(x, 5)) = clamp(1, x, 5)",
        "minimum(5, maximum(x, 1)) = clamp(1, x, 5)",
        "clamp(1, clamp(1, x, 5), 5) = clamp(1, x, 5)",
    ),
    ("maximum(y, minimum(x, z)) = clamp(y, x, z)", "maximum(5, minimum(x, 1)) = clamp(5, x, 1)"),
    NUMBERS,
)
BITWISE = Rule(
    "bitwise",
    "And, or and xor work bit by bit: commutative, associative, with identities; and, or are idempotent, xor cancels.",
    (
        "and(x, y) = and(y, x)",
        "or(or(x, y), z) = or(x, or(y, z))",
        "and(x, x) = x",
        "xor(xor(x, y), y) = x",
        "or(x, zeros) = x",
        "and(x, ones) = x",
        "and(x, zeros) = zeros",
        "or(x, ones) = ones",
    ),
    ("or(x, ones) = x", "xor(x, x) = x"),
    (*PREDICATE, *INTEGERS),
)
BOOLEAN = Rule(
    "boolean",
    "On truth values multiply and minimum are and, add and maximum are or; complements and De Morgan's laws hold.",
    (
        "not(not(p)) = p",
        "not(and(p, q)) = or(not(p), not(q))",
        "and(p, not(p)) = false",
        "or(p, not(p)) = true",
        "multiply(p, q) = and(p, q)",
        "add(p, q) = or(p, q)",
        "and(p, or(p, q)) = p",
        "xor(not(p), q) = not(xor(p, q))",
        "compare[NE](p, q) = xor(p, q)",
    ),
    ("not(and(p, q)) = and(not(p), not(q))", "and(p, or(p, q)) = q"),
    PREDICATE,
)

BOUNDS = Rule(
    "nearest-bound",
    "Of two constant bounds on one side of a number an and keeps the nearer one, an or the other.",
    (
        "and(compare[LT](x, 3), compare[LT](x, 5)) = compare[LT](x, 3)",
        "or(compare[LT](x, 3), compare[LT](x, 5)) = compare[LT](x, 5)",
        "and(compare[LT](1, x), compare[LT](2, x)) = compare[LT](2, x)",
    ),
    ("and(compare[LT](x, 3), compare[LT](x, 5)) = compare[LT](x, 5)",),
    NUMBERS,
)

SIZE = Rule(
    "abs-as-extreme",
    "Of a number and its opposite the maximum is the absolute value: 0.0 of both zeros, NaN of NaN; of integers, too.",
    ("maximum(x, negate(x)) = abs(x)", "minimum(negate(x), x) = negate(abs(x))"),
    ("maximum(x, negate(y)) = abs(x)", "minimum(x, negate(x)) = abs(x)"),
    ("s8", "s32", "f32", "f16", "bf16", "f64"),
)

# Arithmetic of truth values is logic.
_MEANT = by_opcode({"add": "or", "maximum": "or", "multiply": "and", "minimum": "and"})
_EXTREMES = frozenset({"maximum", "minimum"})
# The other operation of a lattice: it absorbs, and a complement turns one into the other.
_OPPOSITE = by_opcode({"maximum": "minimum", "minimum": "maximum", "and": "or", "or": "and"})
# The operations of lattices; exclusive or is of truth values and bits, too.
OPCODES = named("maximum minimum and or xor")


def build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns an operation of this kind in normal form, or None for other operations."""
    is_predicate = element_type.name == "pred"
    if is_predicate and opcode in _MEANT:
        terms.note(BOOLEAN)
        opcode = _MEANT[opcode]
    if is_predicate and opcode == "not":
        return complement(terms, operands[0])
    if element_type.is_complex:
        return None
    if opcode == "clamp":
        terms.note(CLAMP)
        raised = terms.each("maximum", element_type, [operands[1], operands[0]])
        return terms.each("minimum", element_type, [raised, operands[2]])
    if opcode not in OPCODES or not (is_predicate or element_type.is_integral or element_type.is_floating):
        return None
    if opcode == "xor":
        return _exclusive(terms, element_type, operands)
    return _joined(terms, opcode, element_type, operands)


def complement(terms: Terms, term: Term) -> Term:
    """Returns the opposite of a truth value."""
    bits = terms.constant_bits(term)
    if bits is not None:
        return terms.literal(term.array.element_type, 1 - bits, term.array.dimensions)
    if term.kind == "splat":
        return terms.splat(complement(terms, term.operands[0]), term.array.dimensions)
    if term.kind == "each" and term.label == "not":
        terms.note(BOOLEAN)
        return term.operands[0]
    if term.kind == "each" and term.label in ("and", "or"):
        terms.note(BOOLEAN)
        parts = [complement(terms, operand) for operand in term.operands]
        return terms.each(_OPPOSITE[str(term.label)], term.array.element_type, parts)
    return terms.each_as_is("not", term.array.element_type, [term])


def _joined(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns an idempotent operation on a set: flat, sorted, its constants as one."""
    rule = EXTREMES if opcode in ("maximum", "minimum") else BITWISE
    array = operands[0].array
    flat: dict[Term, None] = {}
    constant: int | None = None
    for operand in operands:
        for part in operand.operands if operand.kind == "each" and operand.label == opcode else (operand,):
            bits = terms.constant_bits(part)
            if bits is None:
                flat[part] = None
            else:
                constant = bits if constant is None else _folded(opcode, element_type, constant, bits)
    terms.note(rule)
    neutral, absorbing = _bounds(opcode, element_type)
    if constant is not None and constant == absorbing:
        terms.note(ABSORBING if opcode in ("maximum", "minimum") else BITWISE)
        return terms.literal(element_type, constant, array.dimensions)
    if constant is not None and constant == neutral and flat:
        constant = None
    if constant is None and element_type.name == "pred" and _is_decided(terms, flat):
        return terms.literal(element_type, int(opcode == "or"), array.dimensions)
    kept = _without_absorbed(terms, opcode, element_type, list(flat))
    kept = _with_sizes(terms, opcode, element_type, kept)
    if element_type.name == "pred":
        kept = _nearest_bounds(terms, opcode, kept)
    if constant is not None:
        clamped = _clamped(terms, opcode, element_type, kept, constant)
        if clamped is not None:
            return clamped
        kept.append(terms.literal(element_type, constant, array.dimensions))
    return _made(terms, opcode, element_type, kept)


def _made(terms: Terms, opcode: str, element_type: ElementType, items: Sequence[Term]) -> Term:
    if len(items) == 1:
        return items[0]
    items = sorted(items, key=lambda item: item.number)
    dimensions = items[0].array.dimensions
    if dimensions and all(item.kind == "splat" for item in items):
        return terms.splat(_made(terms, opcode, element_type, [item.operands[0] for item in items]), dimensions)
    return terms.each_as_is(opcode, element_type, items)


def _bounds(opcode: str, element_type: ElementType) -> tuple[int | None, int | None]:
    """Returns the bits of the neutral and (None for floats, which may be NaN) of the absorbing constant."""
    ones = (1 << element_type.bits) - 1
    if opcode in ("and", "or"):
        return (ones, 0) if opcode == "and" else (0, ones)
    low, high = lowest_bits(element_type), highest_bits(element_type)
    neutral, absorbing = (low, high) if opcode == "maximum" else (high, low)
    return neutral, None if element_type.is_floating else absorbing


def _folded(opcode: str, element_type: ElementType, first: int, second: int) -> int:
    if opcode in ("and", "or"):
        return first & second if opcode == "and" else first | second
    if is_nan(element_type, first) or is_nan(element_type, second):
        return first if is_nan(element_type, first) else second
    if first == second:
        return first
    ordered = sorted((first, second), key=lambda bits: sort_key(element_type, bits))
    return ordered[1] if opcode == "maximum" else ordered[0]


def sort_key(element_type: ElementType, bits: int) -> tuple[object, int]:
    """Returns a key that orders numbers as maximum does: -0 below +0."""
    value = value_of(element_type, bits)
    assert value is not None  # complex numbers are not ordered
    return value, 0 if str(value) == "-0.0" else 1


def _is_decided(terms: Terms, parts: dict[Term, None]) -> bool:
    """Is true where a truth value and its complement are both among the parts."""
    found = any(complement(terms, part) in parts for part in parts if part.label == "not")
    if found:
        terms.note(BOOLEAN)
    return found


def _without_absorbed(terms: Terms, opcode: str, element_type: ElementType, parts: list[Term]) -> list[Term]:
    """Drops a & b from a | a & b: parts with another part as operand, of floats with all operands (NaN)."""
    other, are_enough = _OPPOSITE[opcode], all if element_type.is_floating else any
    kept = [
        part
        for part in parts
        if not (part.kind == "each" and part.label == other and are_enough(each in parts for each in part.operands))
    ]
    if len(kept) < len(parts):
        terms.note(BOOLEAN)
    return kept


def _with_sizes(terms: Terms, opcode: str, element_type: ElementType, parts: list[Term]) -> list[Term]:
    """Replaces x and -x by abs(x) in a maximum, by -abs(x) in a minimum."""
    if opcode not in _EXTREMES or not (element_type.is_floating or element_type.is_signed):
        return parts
    for negative in parts:
        positive = _opposite(terms, negative)
        if positive is not None and positive in parts:
            terms.note(SIZE)
            size = terms.each("abs", element_type, [positive])
            made = size if opcode == "maximum" else terms.each("negate", element_type, [size])
            return list(dict.fromkeys([*(part for part in parts if part not in (positive, negative)), made]))
    return parts


def _opposite(terms: Terms, part: Term) -> Term | None:
    """Returns x for -x, None for other terms."""
    if part.kind == "each" and part.label == "negate":
        return part.operands[0]
    negative = (1 << part.array.element_type.bits) - 1
    monomials = list(terms.polynomials.get(part, {}).items())
    if len(monomials) != 1 or monomials[0][1] != negative or [power for _, power in monomials[0][0]] != [1]:
        return None
    return monomials[0][0][0][0]


# A number, the comparison (x < c, c < x, or not x < c) of a constant with it, and whether the constant is above it.
_Bounded = tuple["Term", str, bool]


def _nearest_bounds(terms: Terms, opcode: str, parts: list[Term]) -> list[Term]:
    """Drops one of x < a and x < b: the larger bound of an and, the smaller bound of an or."""
    best: dict[_Bounded, tuple[Term, Number]] = {}
    bounds = {part: _bound_of(terms, part) for part in parts}
    for part, found in bounds.items():
        if found is None:
            continue
        key, bound = found
        known = best.get(key)
        if known is None or (bound < known[1]) == ((opcode == "and") == key[2]):
            best[key] = part, bound
    kept = [part for part, found in bounds.items() if found is None or best[found[0]][0] is part]
    if len(kept) < len(parts):
        terms.note(BOUNDS)
    return kept


def _bound_of(terms: Terms, part: Term) -> tuple[_Bounded, Number] | None:
    """Returns the number that a comparison bounds, the direction, and the bound; None for others."""
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


def _clamped(terms: Terms, opcode: str, element_type: ElementType, parts: list[Term], bound: int) -> Term | None:
    """Returns maximum(low, minimum(x, high)) as minimum(maximum(x, low), high), or None where it is none."""
    if opcode != "maximum" or len(parts) != 1 or is_nan(element_type, bound):
        return None
    (inner,) = parts
    if inner.kind != "each" or inner.label != "minimum":
        return None
    others = [operand for operand in inner.operands if terms.constant_bits(operand) is None]
    constants = [operand for operand in inner.operands if terms.constant_bits(operand) is not None]
    high = terms.constant_bits(constants[0]) if constants else None
    if high is None or is_nan(element_type, high):
        return None
    if sort_key(element_type, bound)[0] > sort_key(element_type, high)[0]:  # type: ignore[operator]  # both numbers
        return None
    if sort_key(element_type, bound) > sort_key(element_type, high):  # -0 and +0
        return None
    terms.note(CLAMP)
    low = terms.literal(element_type, bound, inner.array.dimensions)
    raised = terms.each("maximum", element_type, [_made(terms, "minimum", element_type, others), low])
    return terms.each("minimum", element_type, [raised, constants[0]])


def _exclusive(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
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
    terms.note(BITWISE)
    items = list(odd)
    if constant and element_type.name != "pred":
        items.append(terms.literal(element_type, constant, dimensions))
    if not items:
        return terms.literal(element_type, constant, dimensions)
    made = _made(terms, "xor", element_type, items)
    return complement(terms, made) if constant and element_type.name == "pred" else made
