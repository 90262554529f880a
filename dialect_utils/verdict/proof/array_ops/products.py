"""Sums of products: dots and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops.structured import (
    convolution_window,
    group_counts,
    labels,
)
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.movement import reshaped, transposed
from dialect_utils.verdict.proof.array_ops.operation import is_static, result_of
from dialect_utils.verdict.proof.attributes.keys import key_of
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.proof.trees import Tree

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation
    from dialect_utils.verdict.proof.terms import Terms

DOT = Rule("dot", "A dot sums products of pairs: the order of its dimensions, and of its operands, is movement.")
WINDOW = Rule("window", "A convolution's dimensions may be in any order; both dialects say the same of its window.")

_DOT_DIMENSIONS = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


def dot_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Multiplies arrays as [batch, rows, summed] and [batch, columns, summed]."""
    if not is_static(operation) or len(operation.operands) != len(("lhs", "rhs")):
        return None
    lhs_batch, rhs_batch, lhs_sum, rhs_sum = (operation.ints(name) or () for name in _DOT_DIMENSIONS)
    terms = evaluation.terms
    lhs, rhs = (evaluation.term(operand) for operand in operation.operands)
    ranks = len(lhs.array.dimensions), len(rhs.array.dimensions)
    if result_of(operation).rank == sum(ranks) - 2 and not (*lhs_batch, *lhs_sum):
        # StableHLO's `dot` names no dimensions: the last and the first one are summed.
        lhs_sum, rhs_sum = (ranks[0] - 1,), (0,)
    pairs = sorted(zip(lhs_sum, rhs_sum, strict=True))
    left, rows = _grouped(terms, lhs, lhs_batch, [a for a, _ in pairs])
    right, columns = _grouped(terms, rhs, rhs_batch, [b for _, b in pairs])
    texts = key_of(operation)[2]
    terms.note(DOT)
    batch = tuple(lhs.array.dimensions[i] for i in lhs_batch)
    if (*batch, *rows, *columns) != result_of(operation).dimensions:
        return None
    made = product(terms, left, right, result_of(operation).element_type, texts)
    return [reshaped(terms, made, (*batch, *rows, *columns))]


def _grouped(terms: Terms, term: Term, batch: Sequence[int], summed: Sequence[int]) -> tuple[Term, tuple[int, ...]]:
    """Returns an operand of a dot with its dimensions joined to three, and the sizes of those that are its own."""
    sizes = term.array.dimensions
    own = [i for i in range(len(sizes)) if i not in batch and i not in summed]
    groups = [prod(sizes[i] for i in group) for group in (batch, own, summed)]
    moved = transposed(terms, term, (*batch, *own, *summed))
    return reshaped(terms, moved, groups), tuple(sizes[i] for i in own)


def product(
    terms: Terms, left: Term, right: Term, element_type: ElementType, texts: tuple[tuple[str, str], ...]
) -> Term:
    """Returns the [batch, rows, columns] of a dot, its operands in the order of their terms."""
    batch, rows, _ = left.array.dimensions
    columns = right.array.dimensions[1]
    is_symmetric = not texts or (len(texts) == 1 and texts[0][0] == "precision" and len({*texts[0][1].split()}) == 1)
    if is_symmetric and right.number < left.number:
        swapped = product(terms, right, left, element_type, texts)
        return transposed(terms, swapped, (0, 2, 1))
    return terms.make("op", ("dot", texts), ArrayShape(element_type, (batch, rows, columns)), (left, right))


def convolution_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Convolves [batch, feature, ...] with [output, input, ...]."""
    if not is_static(operation):
        return None
    terms, numbers = evaluation.terms, labels(operation)
    lhs, rhs = (evaluation.term(operand) for operand in operation.operands)
    lhs = transposed(terms, lhs, (numbers.lhs_batch, numbers.lhs_feature, *numbers.lhs_spatial))
    rhs = transposed(terms, rhs, (numbers.rhs_output, numbers.rhs_input, *numbers.rhs_spatial))
    window = convolution_window(operation, rhs.array.dimensions[2:])
    order = (numbers.out_batch, numbers.out_feature, *numbers.out_spatial)
    sizes = result_of(operation).dimensions
    shape = ArrayShape(result_of(operation).element_type, tuple(sizes[i] for i in order))
    skipped = {"feature_group_count", "batch_group_count", "window", "dim_labels", "dimension_numbers"}
    skipped |= {"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"}
    texts = tuple(text for text in key_of(operation)[2] if text[0] not in skipped)
    terms.note(WINDOW)
    made = terms.make("op", ("convolution", window, group_counts(operation), texts), shape, (lhs, rhs))
    return [transposed(terms, made, sorted(range(len(order)), key=order.__getitem__))]
