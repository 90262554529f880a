"""What rules of whole arrays ask of an operation: its sizes, and the shape of its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.verdict.proof.trees import Tree

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

ArrayRule = Callable[["Evaluation", Operation], Sequence[Tree] | None]


def is_static(*operations: Operation) -> bool:
    """Is true where all operands and results are arrays of known sizes."""
    values = [value for operation in operations for value in (*operation.operands, *operation.results)]
    return all(isinstance(value.shape, ArrayShape) and value.shape.is_static for value in values)


def result_of(operation: Operation) -> ArrayShape:
    """Returns the shape of the one result, of an operation that is static."""
    shape = operation.results[0].shape
    assert isinstance(shape, ArrayShape)  # checked by is_static
    return shape


def plain_result(operation: Operation) -> ArrayShape:
    """Returns the shape of the one result without its layout."""
    return result_of(operation).without_layout
