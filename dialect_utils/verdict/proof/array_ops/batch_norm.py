"""Batch normalization as what StableHLO's specification decomposes it into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import named
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.movement import broadcast, reshaped, transposed
from dialect_utils.verdict.proof.array_ops.reductions import reduction
from dialect_utils.verdict.proof.attributes.keys import key_of
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.proof.trees import Tree

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation
    from dialect_utils.verdict.proof.terms import Terms

NORMS = named("batch-norm-grad batch-norm-inference batch-norm-training")
BATCH_NORM = Rule(
    "batch-norm", "Batch normalization is its decomposition into other operations in StableHLO's specification."
)


@dataclass(frozen=True, slots=True)
class _Norm:
    """Arithmetic on arrays of one shape and on their features."""

    terms: Terms
    shape: ArrayShape
    feature: int
    epsilon: str

    def each(self, opcode: str, *operands: Term) -> Term:
        return self.terms.each(opcode, self.shape.element_type, operands)

    def constant(self, text: str, like: Term) -> Term:
        kind = self.shape.element_type
        return self.terms.literal(kind, parse_scalar(kind, text), like.array.dimensions)

    def spread(self, features: Term) -> Term:
        return broadcast(self.terms, features, (self.feature,), self.shape.dimensions)

    @property
    def per_feature(self) -> str:
        sizes = self.shape.dimensions
        return str(prod(sizes) // sizes[self.feature])

    def sum(self, array: Term) -> Term:
        sizes = self.shape.dimensions
        rest = [i for i in range(len(sizes)) if i != self.feature]
        rows = (sizes[self.feature], prod(sizes[i] for i in rest))
        flat = reshaped(self.terms, transposed(self.terms, array, (self.feature, *rest)), rows)
        return reduction(self.terms, "add", flat, self.terms.literal(self.shape.element_type, 0, ()))

    def mean(self, array: Term) -> Term:
        total = self.sum(array)
        return self.each("divide", total, self.constant(self.per_feature, total))

    def widened(self, variance: Term) -> Term:
        spread = self.spread(variance)
        return self.each("add", spread, self.constant(self.epsilon, spread))

    def inferred(self, operand: Term, scale: Term, offset: Term, mean: Term, variance: Term) -> Term:
        centered = self.each("subtract", operand, self.spread(mean))
        normalized = self.each("divide", centered, self.each("sqrt", self.widened(variance)))
        return self.each("add", self.each("multiply", self.spread(scale), normalized), self.spread(offset))

    def trained(self, operand: Term, scale: Term, offset: Term) -> list[Term]:
        mean = self.mean(operand)
        centered = self.each("subtract", operand, self.spread(mean))
        variance = self.mean(self.each("multiply", centered, centered))
        return [self.inferred(operand, scale, offset, mean, variance), mean, variance]

    def gradients(self, operand: Term, scale: Term, mean: Term, variance: Term, output: Term) -> list[Term]:
        centered = self.each("subtract", operand, self.spread(mean))
        widened = self.widened(variance)
        deviation = self.each("sqrt", widened)
        count = self.constant(self.per_feature, operand)
        of_offset = self.sum(output)
        spread = self.each("subtract", self.each("multiply", output, count), self.spread(of_offset))
        slope = self.spread(self.sum(self.each("multiply", output, centered)))
        inner = self.each("subtract", spread, self.each("divide", self.each("multiply", slope, centered), widened))
        factor = self.each("divide", self.each("divide", self.spread(scale), deviation), count)
        of_scale = self.sum(self.each("multiply", output, self.each("divide", centered, deviation)))
        return [self.each("multiply", factor, inner), of_scale, of_offset]


def _norm(evaluation: Evaluation, operation: Operation) -> tuple[_Norm, list[Term]] | None:
    """Returns an operation's arithmetic and its operands; None where their types are not one, or sizes unknown."""
    shapes = [operand.shape for operand in operation.operands if isinstance(operand.shape, ArrayShape)]
    if len(shapes) != len(operation.operands) or not all(shape.is_static for shape in shapes):
        return None
    texts = dict(key_of(operation)[2])
    if len({shape.element_type for shape in shapes}) != 1 or not {"epsilon", "feature_index"} <= texts.keys():
        return None
    evaluation.terms.note(BATCH_NORM)
    operands = [evaluation.term(operand) for operand in operation.operands]
    norm = _Norm(evaluation.terms, shapes[0].without_layout, int(texts["feature_index"]), texts["epsilon"])
    return norm, operands


def batch_norm_inference_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Normalizes with mean and variance that are given."""
    found = _norm(evaluation, operation)
    return None if found is None else [found[0].inferred(*found[1])]


def batch_norm_training_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Normalizes with mean and variance of the operand; yields these, too."""
    found = _norm(evaluation, operation)
    return None if found is None else evaluation.trees(operation, found[0].trained(*found[1]))


def batch_norm_grad_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Yields the gradients of operand, scale and offset."""
    found = _norm(evaluation, operation)
    return None if found is None else evaluation.trees(operation, found[0].gradients(*found[1]))
