"""The source array of a term, below movement and elementwise operations: it determines a normal order of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, Reshape, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.verdict.proof.algebra.widening import lifted
from dialect_utils.verdict.proof.normal_forms import try_move_parts
from dialect_utils.verdict.proof.parts import atoms_of, only_permutes
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.primitives import bottom_up

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Moved, Term, Terms

CONCATENATE = Rule(
    "concatenate",
    "A concatenation of concatenations along one dimension is one concatenation, and a slice of it that reads one part "
    "is a slice of that part.",
)


def array_order(terms: Terms, arrays: Sequence[Term]) -> tuple[int, ...]:
    """Returns the dimensions sorted as in the source of the earliest array that is not a splat."""
    rank = arrays[0].array.rank
    deciding = [each for each in arrays if each.kind != "splat"] or arrays
    found = atoms_of(source_of(terms, min(deciding, key=lambda each: anchor(terms, each))).plan)
    if found is None:
        return tuple(range(rank))
    # Dimensions of size 1 come last, because no part determines their order.
    return tuple(sorted(range(rank), key=lambda i: (not found[i], *(atom.place for atom in found[i][:1]))))


def concatenated(terms: Terms, arrays: Sequence[Term], dimension: int) -> Term:
    """Returns a concatenation with the dimensions in the order of the earliest part's source array.

    If parts of size 1 are joined, their dimension comes last. Other dimensions of size 1 are dropped.
    """
    parts = _flat(terms, arrays, dimension)
    order = _order(terms, parts, dimension)
    rank = parts[0].array.rank
    if order == (*range(rank),) or any(0 in each.array.dimensions for each in parts):
        return _joined(terms, parts, dimension)
    units = [i for i in range(rank) if i not in order]
    turned = [_arranged(terms, each, order, units) for each in parts]
    plain = concatenation(terms, [*map(terms.as_written, turned)], order.index(dimension))
    whole = (*plain.array.dimensions, *(1 for _ in units))
    back = Reshape(whole), Transpose(inverse_permutation((*order, *units)))
    before = terms.moved_as_is(plain, Plan(*plain.array.type_and_dimensions, back))
    terms.certify(CONCATENATE.name, before, concatenation(terms, parts, dimension))
    made = _joined(terms, [*map(terms.term, turned)], order.index(dimension))
    return terms.term(terms.chain(made).then(Plan(*made.array.type_and_dimensions, back)))


def _order(terms: Terms, parts: Sequence[Term], dimension: int) -> tuple[int, ...]:
    """Returns the concatenated dimension and all dimensions above size 1, in the order of the source array."""
    sizes = parts[0].array.dimensions
    return tuple(i for i in array_order(terms, parts) if i == dimension or sizes[i] > 1)


def _arranged(terms: Terms, part: Term, order: Sequence[int], units: Sequence[int]) -> Moved:
    sizes = part.array.dimensions
    steps = Transpose((*order, *units)), Reshape(tuple(sizes[i] for i in order))
    return terms.chain(part).then(Plan(*part.array.type_and_dimensions, steps))


def _flat(terms: Terms, arrays: Sequence[Term], dimension: int) -> list[Term]:
    """Returns the parts with nested concatenations along the dimension flattened."""
    flat: list[Term] = []
    # The steps: the given parts, nested concatenations without movement, and the flat parts.
    nested, written = [*arrays], []
    for i, array in enumerate(arrays):
        inner = _inner(terms, array, dimension)
        if inner is None:
            flat.append(array)
            written.append(array)
            continue
        parts = [*map(terms.as_written, inner)]
        nested[i] = concatenation(terms, parts, dimension)
        terms.certify(CONCATENATE.name, array, nested[i])
        flat += map(terms.term, inner)
        written += parts
    terms.certify(CONCATENATE.name, concatenation(terms, nested, dimension), concatenation(terms, written, dimension))
    return flat


def _inner(terms: Terms, array: Term, dimension: int) -> list[Moved] | None:
    """Returns the parts of a concatenation along a dimension, None for other terms."""
    chain = terms.chain(array)
    base, label = chain.base, chain.base.label
    if base.kind != "op" or not isinstance(label, tuple) or label[0] != "concatenate" or not only_permutes(chain.plan):
        return None
    found = try_move_parts(chain.plan, label[1], [each.array.dimensions for each in base.operands])
    if found is None or found[0] != dimension:
        return None
    return [terms.chain(each).then(plan) for each, plan in zip(base.operands, found[1], strict=True)]


def concatenation(terms: Terms, parts: Sequence[Term], dimension: int) -> Term:
    """Returns a concatenation that is not in normal form."""
    sizes = list(parts[0].array.dimensions)
    sizes[dimension] = sum(part.array.dimensions[dimension] for part in parts)
    shape = ArrayShape(parts[0].array.element_type, tuple(sizes))
    return terms.make("op", ("concatenate", dimension), shape, parts)


def _joined(terms: Terms, parts: Sequence[Term], dimension: int) -> Term:
    """Returns a concatenation of arrays that are not empty."""
    kept = [part for part in parts if part.array.dimensions[dimension]] or parts[:1]
    made = kept[0] if len(kept) == 1 else concatenation(terms, kept, dimension)
    terms.certify(CONCATENATE.name, concatenation(terms, parts, dimension), made)
    return lifted(terms, made)


# An elementwise operation takes the order of its earliest operand.


def source_of(terms: Terms, term: Term) -> Moved:
    """Returns the movement from a term's source array; elementwise operations take that of the earliest operand."""
    while term.kind in ("each", "choice"):
        operands = [each for each in term.operands[term.kind == "choice" :] if each.kind != "splat"]
        if not operands:
            break
        term = min(operands, key=lambda each: anchor(terms, each))
    return terms.chain(term)


def anchor(terms: Terms, term: Term) -> int:
    """Returns the age of a term without its movement; expressions that differ only in movement share it."""
    for part in bottom_up(term, terms.anchors, _compared):
        terms.anchors[part] = _found(terms, part, [terms.anchors[each] for each in _compared(part)])
    return terms.anchors[term]


def _compared(term: Term) -> Sequence[Term]:
    if term.kind in ("moved", "splat"):
        return term.operands[:1]
    return term.operands if term.kind == "each" else ()


def _found(terms: Terms, term: Term, operands: Sequence[int]) -> int:
    if term.kind in ("moved", "splat"):
        return operands[0]
    if term.kind != "each":
        return term.number
    return terms.expressions.setdefault((term.label, term.array.element_type, *sorted(operands)), term.number)
