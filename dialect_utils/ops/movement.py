"""Operations that move whole arrays at positions that the text fixes, and values without operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import ALL, ALL_OPERANDS, ANY, DATA, Opcode, Trait, dims, op, texts
from dialect_utils.ops.domain import Domain, UndefinedError, V, required_ints, reshaped, result_array
from dialect_utils.ops.shapes import movement as rules

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


def define_step(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the array after the operation's step of data movement."""
    step = operation.step
    if step is None:
        raise UndefinedError(f"{operation.opcode} is not a step of data movement")
    return [domain.move(operands[0], step, operands[1] if step.adds_elements else None)]


def define_broadcast(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the repeated elements; StableHLO's broadcast names no dimensions: the operand's are the last ones."""
    (array,) = operands
    sizes = result_array(operation).dimensions
    last = range(len(sizes) - len(domain.dimensions(array)), len(sizes))
    dimensions = operation.ints("dimensions")
    return [domain.broadcast(array, tuple(last) if dimensions is None else dimensions, sizes)]


def define_concatenate(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands joined along one dimension."""
    (dimension,) = required_ints(operation, "dimensions")
    return [domain.concatenate(operands, dimension)]


def define_reverse(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the elements in reverse order along some dimensions."""
    (array,) = operands
    return [domain.reverse(array, required_ints(operation, "dimensions"))]


def define_iota(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns 0, 1, 2 ... along one dimension, repeated along the others."""
    result, (dimension,) = result_array(operation), required_ints(operation, "iota_dimension")
    counted = domain.iota(result.element_type, result.dimensions[dimension])
    return [domain.broadcast(counted, (dimension,), result.dimensions)]


def define_dimension_size(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the size of one dimension of the operand."""
    (array,), (dimension,) = operands, required_ints(operation, "dimensions")
    return [domain.number(result_array(operation).element_type, domain.dimensions(array)[dimension], ())]


def define_known_reshape(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operand in the sizes of the result's type, which are known; other operands say the same."""
    return [reshaped(domain, operands[0], result_array(operation).dimensions)]


_STEP = DATA | Trait.IS_STEP

OPERATIONS: tuple[Opcode, ...] = (
    op("bitcast", 1, Trait.ALIASES | Trait.PURE, mlir="", check=rules.check_bitcast),
    op("bitcast-convert", 1, Trait.PURE | Trait.IS_STEP, result=rules.reinterpreted, define=define_step),
    op(
        "broadcast",
        1,
        DATA,
        dims("dimensions", None, "broadcast_dimensions"),
        mlir="broadcast broadcast_in_dim",
        typed=(0,),
        result=rules.broadcasted,
        define=define_broadcast,
    ),
    op(
        "concatenate",
        ANY,
        DATA,
        dims("dimensions", None, "dimension", is_single=True),
        typed=ALL_OPERANDS,
        aligned=ALL,
        result=rules.concatenated,
        define=define_concatenate,
    ),
    op("dynamic-reshape", ANY, DATA, typed=(0,), check=rules.check_dynamic_reshape, define=define_known_reshape),
    op("pad", 2, _STEP, *texts("padding"), typed=(0, 1), aligned=1, result=rules.padded, define=define_step),
    op("reshape", 1, _STEP, *texts("inferred_dimension"), typed=(0,), result=rules.reshaped, define=define_step),
    op(
        "reverse",
        1,
        DATA,
        dims("dimensions", 0, needed=True),
        typed=(0,),
        aligned=1,
        result=rules.flipped,
        define=define_reverse,
    ),
    op("slice", 1, _STEP, *texts("slice"), typed=(0,), aligned=1, result=rules.sliced, define=define_step),
    op(
        "transpose",
        1,
        _STEP,
        dims("dimensions", 0, "permutation"),
        typed=(0,),
        result=rules.transposed,
        define=define_step,
    ),
    op("constant", 0, Trait.PURE, result=rules.written_only),
    op("iota", 0, Trait.PURE, dims("iota_dimension", None, needed=True), result=rules.counted, define=define_iota),
    op("parameter", 0, Trait.PURE, mlir="", result=rules.written_only),
    op(
        "get-dimension-size",
        1,
        Trait.PURE,
        dims("dimensions", 0, "dimension", needed=True, is_single=True),
        result=rules.dimension_size,
        define=define_dimension_size,
    ),
    op(
        "set-dimension-size",
        2,
        Trait.PURE,
        dims("dimensions", 0, "dimension", needed=True, is_single=True),
        result=rules.resized,
        check=rules.check_resized,
        define=define_known_reshape,
    ),
)
