"""Operations for which each engine has an algorithm of its own: normalizations, decompositions and transforms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Generic

from dialect_utils.layout import ArrayShape, ElementType, Reshape, Shape, TupleShape
from dialect_utils.ops.declaration import (
    FLOATS,
    INEXACT,
    TRANSFORMED,
    Opcode,
    Trait,
    choice,
    flags,
    integers,
    op,
    texts,
)
from dialect_utils.ops.domain import Domain, UndefinedError, V, grouped, required_ints, transposed
from dialect_utils.ops.elementwise import part, whole
from dialect_utils.ops.factors import RESULT, Factor, Kind, of_matrices, result_positions, shared, sizes_at
from dialect_utils.ops.inference import Instance, ShapeError, first_array, made, second_array
from dialect_utils.ops.structured import last_word, single

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_MAX_FOURIER_RANK = 3

# Results (ShapeInference::InferBatchNormTrainingShape, InferFftShape, InferTriangularSolveShape)


def normalization(instance: Instance) -> Shape:
    """Returns the operand, and two arrays with one element for each feature."""
    operand, scale = instance.arrays(0, 2)
    return TupleShape(
        (operand, made(operand.element_type, scale.dimensions), made(operand.element_type, scale.dimensions))
    )


def fft(instance: Instance) -> Shape:
    """Returns the operand's shape; transforms of real numbers keep half of the last dimension, and give it back."""
    operand, kind = instance.array(0), instance.attribute("fft_type")
    lengths = instance.ints("fft_length")
    if not 0 < len(lengths) <= min(operand.rank, _MAX_FOURIER_RANK):
        raise ShapeError(f"fft of length {list(lengths)} does not fit {operand}", "fft_length")
    _check_transform(instance, operand)
    half = lengths[-1] // 2 + 1 if lengths[-1] else 0
    if kind == "RFFT":
        _check_lengths(instance, operand, lengths)
        return _with_last(whole(instance), half)
    if kind == "IRFFT":
        if operand.dimensions[-1] != half:
            message = f"fft back to {lengths[-1]} real numbers needs {half} complex ones, found {operand}"
            raise ShapeError(message, "fft_length")
        _check_lengths(instance, _with_last(operand, lengths[-1]), lengths)
        return _with_last(part(instance), lengths[-1])
    return operand


def _check_lengths(instance: Instance, array: ArrayShape, lengths: tuple[int, ...]) -> None:
    if array.dimensions[-len(lengths) :] != lengths:
        raise ShapeError(f"fft of length {list(lengths)} needs these as the last dimensions of {array}", "fft_length")


def _with_last(shape: ArrayShape, size: int) -> ArrayShape:
    return ArrayShape(shape.element_type, (*shape.dimensions[:-1], size), shape.layout)


# Constraints


def check_features(instance: Instance) -> None:
    """Raises ShapeError where the vectors of a batch normalization do not have one element for each feature."""
    operand, feature = instance.array(0), instance.number("feature_index", -1)
    if not 0 <= feature < operand.rank:
        raise ShapeError(f"{instance.opcode} of {operand} has no dimension {feature} of features", "feature_index")
    wanted = operand.dimensions[feature : feature + 1]
    # The gradient has one more array: that of the output's own gradient.
    is_gradient = instance.opcode == "batch-norm-grad"
    others = instance.arrays(1)
    vectors, arrays = (others[:-1], others[-1:]) if is_gradient else (others, [])
    found = [each.dimensions for each in (*vectors, *arrays)]
    if found != [wanted] * len(vectors) + [operand.dimensions] * len(arrays):
        message = f"{instance.opcode} of {operand} needs {list(wanted)} elements for each feature's numbers"
        raise ShapeError(message, "operands")
    if not instance.is_lenient and not all(each.element_type.is_floating for each in others):
        raise ShapeError(f"{instance.opcode} takes floats, found {', '.join(map(str, others))}", "operands")


def check_square(instance: Instance) -> None:
    """Raises ShapeError where the first operand does not hold square matrices."""
    matrix = instance.array(0)
    if matrix.rank < 2 or matrix.dimensions[-1] != matrix.dimensions[-2]:  # rows and columns
        raise ShapeError(f"{instance.opcode} needs square matrices, found {matrix}", "operand 0")


def _check_transform(instance: Instance, operand: ArrayShape) -> None:
    name, kind = instance.attribute("fft_type"), operand.element_type
    wanted = "real" if name == "RFFT" else "complex"
    if not instance.is_lenient and kind.is_complex != (wanted == "complex"):
        raise ShapeError(f"fft of type {name} takes {wanted} numbers, found {kind}", "operand 0")


def check_triangular(instance: Instance) -> None:
    """Raises ShapeError where the right side of a triangular-solve does not fit its matrices."""
    check_square(instance)
    matrix, right = instance.arrays()
    if not instance.is_lenient and matrix.element_type != right.element_type:
        raise ShapeError(f"triangular-solve of {matrix} and {right}: the element types differ", "operands")
    shared = -2 if instance.attribute("left_side") == "true" else -1
    is_fit = matrix.rank == right.rank and matrix.dimensions[:-2] == right.dimensions[:-2]
    if not is_fit or matrix.dimensions[-1] != right.dimensions[shared]:
        raise ShapeError(f"triangular-solve of {matrix} and {right}: the dimensions differ", "operands")


_ENGINE = Trait.ENGINE_DEFINED | Trait.PURE
_NORM = texts("epsilon feature_index", "number", needed=True)


@dataclass(frozen=True, slots=True)
class _Norm(Generic[V]):
    """Arithmetic of a batch normalization: on arrays of dimensions `sizes`, and on vectors of their features."""

    domain: Domain[V]
    operation: Operation
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
        rows = grouped(self.domain, array, [self.feature], [i for i in range(len(self.sizes)) if i != self.feature])
        return self.domain.sum_of(self.operation, rows)

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
    epsilon = operation.attribute("epsilon")
    types = {domain.element_type(operand) for operand in operands}
    if epsilon is None or len(types) > 1:
        raise UndefinedError(f"{operation.opcode} has no epsilon, or several element types")
    return _Norm(domain, operation, types.pop(), domain.dimensions(operands[0]), _feature(operation), single(epsilon))


def _feature(operation: Operation) -> int:
    text = operation.attribute("feature_index")
    if text is None:
        raise UndefinedError(f"{operation.opcode} has no feature_index")
    return int(text.split(" : ")[0])


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


def define_fft(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns a Fourier transform of the last dimensions; source: StableHLO's specification of fft."""
    kind, lengths = last_word(operation.attribute("fft_type")), required_ints(operation, "fft_length")
    if all(lengths) and kind in ("FFT", "IFFT") and domain.dimensions(operands[0])[-len(lengths) :] != tuple(lengths):
        raise UndefinedError(f"a transform of other lengths than {list(lengths)}")
    return [domain.fourier(operation, operands[0], kind, lengths)]


def define_cholesky(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the factor of symmetric matrices; the other triangle, which may hold anything, is zero."""
    (array,), is_lower = operands, operation.attribute("lower") == "true"
    sizes = domain.dimensions(array)
    # The lower triangle of the adjoint is the conjugated upper triangle.
    found = domain.cholesky(_matrices(domain, array if is_lower else _adjoint(domain, array)))
    whole = domain.move(found, Reshape(sizes))
    return [whole if is_lower else _adjoint(domain, whole)]


def define_triangular_solve(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns x of a * x = b or x * a = b; source: StableHLO's specification of triangular_solve."""
    matrix, right = operands
    sizes = domain.dimensions(right)
    kind = last_word(operation.attribute("transpose_a") or "NO_TRANSPOSE")
    is_lower, is_left = (operation.attribute(name) == "true" for name in ("lower", "left_side"))
    if kind == "ADJOINT":
        matrix = _adjoint(domain, matrix)
    # x * a = b is a^T * x^T = b^T.
    if (kind == "TRANSPOSE") == is_left:
        matrix = _swapped(domain, matrix)
    is_lower ^= (kind != "NO_TRANSPOSE") ^ (not is_left)
    right = _matrices(domain, right if is_left else _swapped(domain, right))
    matrix = _matrices(domain, matrix)
    if not is_lower:
        # In the reverse order of rows and columns an upper triangle is a lower one.
        matrix, right = domain.reverse(matrix, (1, 2)), domain.reverse(right, (1,))
    found = domain.solve_lower(matrix, right, has_unit_diagonal=operation.attribute("unit_diagonal") == "true")
    found = found if is_lower else domain.reverse(found, (1,))
    whole = domain.move(found, Reshape(sizes if is_left else (*sizes[:-2], sizes[-1], sizes[-2])))
    return [whole if is_left else _swapped(domain, whole)]


def _matrices(domain: Domain[V], array: V) -> V:
    """Returns an array of matrices as [batch, rows, columns]."""
    *batch, rows, columns = domain.dimensions(array)
    return domain.move(array, Reshape((prod(batch), rows, columns)))


def _swapped(domain: Domain[V], array: V) -> V:
    rank = len(domain.dimensions(array))
    return transposed(domain, array, (*range(rank - 2), rank - 1, rank - 2))


def _adjoint(domain: Domain[V], array: V) -> V:
    element_type, swapped = domain.element_type(array), _swapped(domain, array)
    return domain.each("chlo.conj", element_type, [swapped]) if element_type.is_complex else swapped


# Factors


def normalization_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the features, which all arrays have, and the other dimensions, whose mean and variance it may compute."""
    kind = Kind.KEPT if operation.opcode == "batch-norm-inference" else Kind.WHOLE
    positions = (*range(len(operation.operands)), *result_positions(operation))
    rank, feature = len(sizes_at(operation, 0)), _feature(operation)
    ranks = {position: len(sizes_at(operation, position)) for position in positions}
    for dimension in range(rank):
        if dimension == feature:
            yield shared(operation, {position: 0 if own < rank else feature for position, own in ranks.items()})
        else:
            yield shared(operation, {position: dimension for position, own in ranks.items() if own == rank}, kind)


def triangular_solve_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the batch, the rows or columns of the right side, which are solved one by one, and the matrix's own."""
    batch = len(sizes_at(operation, 0)) - 2
    for dimension in range(batch):
        yield shared(operation, dict.fromkeys((0, 1, RESULT), dimension))
    is_left = operation.attribute("left_side") == "true"
    solved, summed = (batch + 1, batch) if is_left else (batch, batch + 1)
    yield shared(operation, {1: solved, RESULT: solved})
    yield shared(operation, {0: batch, 1: summed, RESULT: summed}, Kind.WHOLE)
    yield shared(operation, {0: batch + 1}, Kind.WHOLE)


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "batch-norm-grad",
        5,
        _ENGINE | Trait.NORMALIZES,
        *_NORM,
        takes=FLOATS,
        result=normalization,
        check=check_features,
        define=define_batch_norm_grad,
        factors=normalization_factors,
    ),
    op(
        "batch-norm-inference",
        5,
        _ENGINE | Trait.NORMALIZES,
        *_NORM,
        takes=FLOATS,
        result=first_array,
        check=check_features,
        define=lambda domain, operation, operands: [_norm(domain, operation, operands).inferred(*operands)],
        factors=normalization_factors,
    ),
    op(
        "batch-norm-training",
        3,
        _ENGINE | Trait.NORMALIZES,
        *_NORM,
        takes=FLOATS,
        result=normalization,
        check=check_features,
        define=define_batch_norm_training,
        factors=normalization_factors,
    ),
    op(
        "cholesky",
        1,
        _ENGINE,
        *flags("lower"),
        takes=INEXACT,
        result=first_array,
        check=check_square,
        define=define_cholesky,
        factors=partial(of_matrices, count=2),
    ),
    op(
        "fft",
        1,
        _ENGINE,
        choice("fft_type", "FFT IFFT IRFFT RFFT", needed=True),
        integers("fft_length", needed=True),
        takes=TRANSFORMED,
        result=fft,
        define=define_fft,
        factors=lambda operation: of_matrices(operation, len(operation.ints("fft_length") or ())),
    ),
    op(
        "triangular-solve",
        2,
        _ENGINE,
        *flags("left_side lower unit_diagonal"),
        choice("transpose_a", "ADJOINT NO_TRANSPOSE TRANSPOSE", needed=True),
        takes=INEXACT,
        result=second_array,
        check=check_triangular,
        define=define_triangular_solve,
        factors=triangular_solve_factors,
    ),
)
