"""Movement of whole arrays: broadcasts, reversals, concatenations and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, Reshape, Slice, Transpose
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.operation import is_static, plain_result, result_of
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.proof.trees import Tree

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation
    from dialect_utils.verdict.proof.terms import Terms

BROADCAST = Rule(
    "broadcast", "A broadcast repeats elements: of a broadcast it is one, and elementwise ops commute with it."
)
REVERSE = Rule("reverse", "A reversal moves elements: twice it is none, and elementwise operations commute with it.")
CONCATENATE = Rule("concatenate", "Concatenating concatenations along one dimension is one concatenation.")


def transposed(terms: Terms, term: Term, permutation: Sequence[int]) -> Term:
    """Returns a transposed array."""
    return terms.term(terms.chain(term).append(Transpose(tuple(permutation)), None))


def reshaped(terms: Terms, term: Term, dimensions: Sequence[int]) -> Term:
    """Returns a reshaped array."""
    return terms.term(terms.chain(term).append(Reshape(tuple(dimensions)), None))


def sliced(terms: Terms, term: Term, start: Sequence[int], sizes: Sequence[int]) -> Term:
    """Returns `sizes` elements from `start` on."""
    limit = tuple(a + b for a, b in zip(start, sizes, strict=True))
    return terms.term(terms.chain(term).append(Slice(tuple(start), limit), None))


def broadcast(terms: Terms, term: Term, dimensions: Sequence[int], sizes: Sequence[int]) -> Term:
    """Returns an array that repeats another, whose dimension i becomes `dimensions[i]`."""
    kept = sorted((to, i) for i, to in enumerate(dimensions) if term.array.dimensions[i] != 1)
    order = [i for _, i in kept] + [i for i in range(len(dimensions)) if term.array.dimensions[i] == 1]
    term = reshaped(terms, transposed(terms, term, order), [term.array.dimensions[i] for _, i in kept])
    return _broadcast(terms, term, tuple(to for to, _ in kept), tuple(sizes))


def _broadcast(terms: Terms, term: Term, targets: tuple[int, ...], sizes: tuple[int, ...]) -> Term:
    """Returns a broadcast of an array without dimensions of size 1 whose dimensions keep their order."""

    def made(part: Term) -> Term:
        if part.kind == "splat" or not part.array.dimensions:
            return terms.splat(part.operands[0] if part.kind == "splat" else part, sizes)
        if len(targets) == sum(size != 1 for size in sizes):
            return reshaped(terms, part, sizes)
        if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "broadcast":
            inner = part.label[1]
            return _broadcast(terms, part.operands[0], tuple(targets[i] for i in inner), sizes)
        # Dimensions of size 1 say nothing about which elements are repeated.
        large = [i for i, size in enumerate(sizes) if size != 1]
        label = ("broadcast", tuple(large.index(i) for i in targets))
        shape = ArrayShape(part.array.element_type, tuple(sizes[i] for i in large))
        return reshaped(terms, terms.make("op", label, shape, (part,)), sizes)

    if 0 in sizes:
        shape = ArrayShape(term.array.element_type, sizes)
        return terms.make("op", ("broadcast", targets), shape, (term,))
    terms.note(BROADCAST)
    return terms.mapped(term, made, ("broadcast", targets, sizes))


def broadcast_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Repeats elements."""
    dimensions = operation.ints("dimensions")
    if dimensions is None or not is_static(operation):
        return None
    operand = evaluation.term(operation.operands[0])
    return [broadcast(evaluation.terms, operand, dimensions, result_of(operation).dimensions)]


def reverse_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Reverses dimensions."""
    dimensions = operation.ints("dimensions")
    if dimensions is None or not is_static(operation):
        return None
    operand = evaluation.term(operation.operands[0])
    return [reversed_array(evaluation.terms, operand, frozenset(dimensions))]


def reversed_array(terms: Terms, term: Term, dimensions: frozenset[int]) -> Term:
    """Returns an array in which the elements along some dimensions are in the other order."""
    turned = frozenset(i for i in dimensions if term.array.dimensions[i] > 1)

    def made(part: Term) -> Term:
        if part.kind == "splat":
            return part
        inner: frozenset[int] = frozenset()
        if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "reverse":
            inner, part = part.label[1], part.operands[0]
        rest = turned ^ inner
        return terms.make("op", ("reverse", rest), part.shape, (part,)) if rest else part

    if not turned or 0 in term.array.dimensions:
        return term
    terms.note(REVERSE)
    return terms.mapped(term, made, ("reverse", turned))


def iota_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Counts along one dimension."""
    dimension = operation.ints("iota_dimension")
    if dimension is None or not is_static(operation):
        return None
    shape, terms = result_of(operation), evaluation.terms
    size = shape.dimensions[dimension[0]]
    if size <= 1 and shape.element_type.is_integral:
        return [terms.literal(shape.element_type, 0, shape.dimensions)]
    counted = terms.make("op", ("iota",), ArrayShape(shape.element_type, (size,)))
    return [broadcast(terms, counted, dimension[:1], shape.dimensions)]


def concatenate_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Puts arrays one after the other."""
    dimensions = operation.ints("dimensions")
    if dimensions is None or not is_static(operation):
        return None
    terms, (dimension,) = evaluation.terms, dimensions
    parts: list[Term] = []
    for operand in operation.operands:
        part = evaluation.term(operand)
        is_inner = part.kind == "op" and part.label == ("concatenate", dimension)
        parts += part.operands if is_inner else [part]
    terms.note(CONCATENATE)
    kept = [part for part in parts if part.array.dimensions[dimension]] or parts[:1]
    if len(kept) == 1:
        return kept
    return [terms.make("op", ("concatenate", dimension), plain_result(operation), kept)]


def dimension_size_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Counts the elements along a dimension, where their number is known."""
    dimension = operation.ints("dimensions")
    if dimension is None or not is_static(operation):
        return None
    shape = operation.operands[0].shape
    assert isinstance(shape, ArrayShape)  # checked by is_static
    return [evaluation.terms.literal(result_of(operation).element_type, shape.dimensions[dimension[0]], ())]
