"""Slices at computed places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.ops.indexing import gather_numbers
from dialect_utils.verdict.proof.algebra.numbers import value_of
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.movement import sliced
from dialect_utils.verdict.proof.array_ops.operation import is_static, plain_result, result_of
from dialect_utils.verdict.proof.attributes.keys import key_of
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.proof.trees import Tree

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation
    from dialect_utils.verdict.proof.terms import Terms

DYNAMIC_SLICE = Rule(
    "dynamic-slice", "Start indices are clamped into range; constant ones make a slice, whole ones nothing."
)


def _starts(terms: Terms, indices: Sequence[Term], sizes: Sequence[int], whole: Sequence[int]) -> list[Term]:
    """Returns start indices: constant ones clamped, and 0 where there is nothing to choose."""
    found = []
    for index, size, full in zip(indices, sizes, whole, strict=True):
        bits = terms.constant_bits(index)
        if size == full:
            index = terms.literal(index.array.element_type, 0, ())
        elif bits is not None:
            value = value_of(index.array.element_type, bits)
            assert isinstance(value, int)  # an index is an integer
            index = terms.literal(index.array.element_type, max(0, min(value, full - size)), ())
        found.append(index)
    return found


def _index_operands(evaluation: Evaluation, operation: Operation, first: int, rank: int) -> list[Term] | None:
    """Returns one scalar for each dimension; HLO may pass them as one array."""
    operands = operation.operands[first:]
    if len(operands) != rank or any(getattr(operand.shape, "rank", 1) for operand in operands):
        return None
    return [evaluation.term(operand) for operand in operands]


def dynamic_slice_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Takes a part of an array."""
    if not is_static(operation):
        return None
    terms, sizes = evaluation.terms, result_of(operation).dimensions
    operand = evaluation.term(operation.operands[0])
    indices = _index_operands(evaluation, operation, 1, len(sizes))
    if indices is None:
        return None
    indices = _starts(terms, indices, sizes, operand.array.dimensions)
    terms.note(DYNAMIC_SLICE)
    constants = [terms.constant_bits(index) for index in indices]
    if None not in constants:
        return [sliced(terms, operand, [bits or 0 for bits in constants], sizes)]
    if operand.kind == "splat":
        return [terms.splat(operand.operands[0], sizes)]
    return [terms.make("op", ("dynamic-slice",), plain_result(operation), (operand, *indices))]


def dynamic_update_slice_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Writes a part of an array."""
    if not is_static(operation):
        return None
    terms, sizes = evaluation.terms, result_of(operation).dimensions
    operand, update = (evaluation.term(value) for value in operation.operands[:2])
    indices = _index_operands(evaluation, operation, 2, len(sizes))
    if indices is None:
        return None
    terms.note(DYNAMIC_SLICE)
    if update.array.dimensions == sizes:
        return [update]
    indices = _starts(terms, indices, update.array.dimensions, sizes)
    return [terms.make("op", ("dynamic-update-slice",), plain_result(operation), (operand, update, *indices))]


def gather_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Takes slices of an array at computed positions."""
    if not is_static(operation):
        return None
    operands = [evaluation.term(operand) for operand in operation.operands]
    label = ("gather", gather_numbers(operation), key_of(operation)[2])
    return [evaluation.terms.make("op", label, plain_result(operation), operands)]
