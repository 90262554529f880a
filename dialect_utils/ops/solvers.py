"""Operations for which each engine has an algorithm of its own: normalizations, decompositions and transforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Generic

from dialect_utils.layout import ElementType
from dialect_utils.ops.declaration import Opcode, Trait, flags, integers, op, texts
from dialect_utils.ops.domain import Domain, UndefinedError, V, grouped
from dialect_utils.ops.structured import single

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_ENGINE = Trait.ENGINE_DEFINED | Trait.PURE
_NORM = texts("epsilon feature_index")


@dataclass(frozen=True, slots=True)
class _Norm(Generic[V]):
    """Arithmetic of a batch normalization: on arrays of dimensions `sizes`, and on vectors of their features."""

    domain: Domain[V]
    element_type: ElementType
    sizes: tuple[int, ...]
    feature: int
    epsilon: float

    def each(self, opcode: str, *operands: V) -> V:
        return self.domain.each(opcode, self.element_type, operands)

    def constant(self, value: float, like: V) -> V:
        return self.domain.number(self.element_type, value, self.domain.dimensions(like))

    def spread(self, features: V) -> V:
        return self.domain.broadcast(features, (self.feature,), self.sizes)

    @property
    def per_feature(self) -> int:
        return prod(self.sizes) // self.sizes[self.feature]

    def sum(self, array: V) -> V:
        rest = [i for i in range(len(self.sizes)) if i != self.feature]
        rows = grouped(self.domain, array, [self.feature], rest)
        return self.domain.combine("add", rows, self.domain.number(self.element_type, 0, ()))

    def mean(self, array: V) -> V:
        total = self.sum(array)
        return self.each("divide", total, self.constant(self.per_feature, total))

    def widened(self, variance: V) -> V:
        spread = self.spread(variance)
        return self.each("add", spread, self.constant(self.epsilon, spread))

    def inferred(self, operand: V, scale: V, offset: V, mean: V, variance: V) -> V:
        centered = self.each("subtract", operand, self.spread(mean))
        normalized = self.each("divide", centered, self.each("sqrt", self.widened(variance)))
        return self.each("add", self.each("multiply", self.spread(scale), normalized), self.spread(offset))


def _norm(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> _Norm[V]:
    """Returns an operation's arithmetic; raises UndefinedError where the operands have several element types."""
    epsilon, feature = operation.attribute("epsilon"), operation.attribute("feature_index")
    types = {domain.element_type(operand) for operand in operands}
    if epsilon is None or feature is None or len(types) > 1:
        raise UndefinedError(f"{operation.opcode} has no epsilon or feature_index, or several element types")
    sizes = domain.dimensions(operands[0])
    return _Norm(domain, types.pop(), sizes, int(feature.split(" : ")[0]), single(epsilon))


def define_batch_norm_inference(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operand normalized by the given mean and variance; source: StableHLO's specification."""
    return [_norm(domain, operation, operands).inferred(*operands)]


def define_batch_norm_training(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operand normalized by its own mean and variance, and these; source: StableHLO's specification."""
    norm = _norm(domain, operation, operands)
    operand, scale, offset = operands
    mean = norm.mean(operand)
    centered = norm.each("subtract", operand, norm.spread(mean))
    variance = norm.mean(norm.each("multiply", centered, centered))
    return [norm.inferred(operand, scale, offset, mean, variance), mean, variance]


def define_batch_norm_grad(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the gradients of operand, scale and offset; source: StableHLO's specification."""
    norm = _norm(domain, operation, operands)
    operand, scale, mean, variance, output = operands
    each = norm.each
    centered = each("subtract", operand, norm.spread(mean))
    widened = norm.widened(variance)
    deviation = each("sqrt", widened)
    count = norm.constant(norm.per_feature, operand)
    of_offset = norm.sum(output)
    spread = each("subtract", each("multiply", output, count), norm.spread(of_offset))
    slope = norm.spread(norm.sum(each("multiply", output, centered)))
    inner = each("subtract", spread, each("divide", each("multiply", slope, centered), widened))
    factor = each("divide", each("divide", norm.spread(scale), deviation), count)
    of_scale = norm.sum(each("multiply", output, each("divide", centered, deviation)))
    return [each("multiply", factor, inner), of_scale, of_offset]


OPERATIONS: tuple[Opcode, ...] = (
    op("batch-norm-grad", 5, _ENGINE, *_NORM, define=define_batch_norm_grad),
    op("batch-norm-inference", 5, _ENGINE, *_NORM, define=define_batch_norm_inference),
    op("batch-norm-training", 3, _ENGINE, *_NORM, define=define_batch_norm_training),
    op("cholesky", 1, _ENGINE, *flags("lower")),
    op("fft", 1, _ENGINE, *texts("fft_type"), integers("fft_length")),
    op("triangular-solve", 2, _ENGINE, *flags("left_side lower unit_diagonal"), *texts("transpose_a")),
)
