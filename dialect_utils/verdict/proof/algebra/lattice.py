"""Maximum, minimum, and, or, xor: operations that take their operands in any order and any number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import permutations, product
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import by_opcode, named
from dialect_utils.verdict.proof.algebra.joins import REGROUPED, Join, distributed
from dialect_utils.verdict.proof.algebra.matching import rewritten
from dialect_utils.verdict.rules import index
from dialect_utils.verdict.rules.extremes import BITWISE, BOOLEAN, EXTREMES

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# The logic operation that equals an arithmetic operation on truth values.
MEANT = by_opcode({"add": "or", "maximum": "or", "multiply": "and", "minimum": "and"})
_EXTREMES = frozenset({"maximum", "minimum"})
# The dual operation: a | (a & b) = a, and not (a & b) = not a | not b.
_OPPOSITE = by_opcode({"maximum": "minimum", "minimum": "maximum", "and": "or", "or": "and"})
# The most parts of one operation that are compared in pairs.
_MOST_COMPARED = 100
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
    if constant is not None and len(join.parts) == 1:
        return constant
    found = _by_equations(join, constant)
    if found is not None:
        return found
    if element_type.is_floating:
        _drop_middle(join, _OPPOSITE[opcode])
    return _made(join)


def _by_equations(join: Join, constant: Term | None) -> Term | None:
    """Returns the operation after an equation about two parts, or about the constant and the rest; else None."""
    terms, kind, variables = join.terms, join.element_type, [part for part in join.parts if part is not constant]
    whole = [] if constant is None else [(join.of(variables), constant)]
    roots = {part: index.root_of(part) for part in (*variables, *(part for pair in whole for part in pair))}
    names = kind.name, (kind.name,) * 2
    known = {pair for pair in product({*roots.values()}, repeat=2) if index.rewrites(join.opcode, *names, pair, False)}
    for first, second in (*whole, *(permutations(variables[:_MOST_COMPARED], 2) if known else ())):
        if (roots[first], roots[second]) not in known:
            continue
        pair = join.pair(first, second)
        found = rewritten(terms, pair)
        if found is None:
            continue
        others = [] if second is constant else join.without(first, second)
        parts = [*variables] if found is first and second is constant else [found, *others]
        join.grouped([pair, *others])
        return parts[0] if len(parts) == 1 else terms.each(join.opcode, kind, parts)
    return None


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
        total, written = terms.each(join.opcode, kind, (total, part)), join.pair(written, part)
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


def _drop_middle(join: Join, other: str) -> None:
    """Drops min(a, b) from max(a, b, min(a, b)) of floats: a NaN of the minimum is a NaN of a or b."""
    terms = join.terms
    # Visit later terms first, so that the minimum is dropped before a and b.
    for part in sorted(join.parts, key=lambda part: -part.number):
        if part.kind != "each" or part.label != other or not {*part.operands} <= {*join.parts}:
            continue
        rest = join.of(join.without(part))
        join.grouped([rest, part])
        terms.note(BOOLEAN)
        distributed(terms, EXTREMES, other, other, part.operands, partial(join.pair, rest))
        for operand in part.operands:
            terms.step(EXTREMES, join.pair(rest, operand), rest)
        terms.step(EXTREMES, terms.each_as_is(other, join.element_type, [rest] * len(part.operands)), rest)
        join.parts = join.without(part)


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
