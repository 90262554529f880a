"""Results and constraints of normalizations, decompositions and transforms."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops.declaration import (
    Trait,
    texts,
)
from dialect_utils.ops.inference import Instance, ShapeError, made
from dialect_utils.ops.shapes.elementwise import part, whole

_ENGINE = Trait.ENGINE_DEFINED | Trait.PURE
_NORM = texts("epsilon feature_index", needed=True)
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
        last = operand.dimensions[-1]
        if last != half:
            message = f"fft back to {lengths[-1]} real numbers needs {half} complex ones, found {operand}"
            raise ShapeError(message, "fft_length")
        _check_lengths(instance, _with_last(operand, lengths[-1]), lengths)
        return _with_last(part(instance), lengths[-1])
    # A length of 0 transforms nothing.
    if all(lengths) and operand.element_count:
        _check_lengths(instance, operand, lengths)
    return operand


def _check_lengths(instance: Instance, array: ArrayShape, lengths: tuple[int, ...]) -> None:
    if array.dimensions[-len(lengths) :] != lengths:
        raise ShapeError(f"fft of length {list(lengths)} needs these as the last dimensions of {array}", "fft_length")


def _with_last(shape: ArrayShape, size: int) -> ArrayShape:
    return ArrayShape(shape.element_type, (*shape.dimensions[:-1], size), shape.layout)


def solved(instance: Instance) -> Shape:
    """Returns the right side."""
    return instance.array(1)


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
