"""Operations that move whole arrays at positions that the text fixes, and values without operands.

Longer than others: each operation is declared, checked and defined in one file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    Pad,
    Reshape,
    Shape,
    Slice,
    Step,
    Transpose,
    parse_element_type,
)
from dialect_utils.ops.declaration import ALL, ALL_OPERANDS, ANY, DATA, Attribute, Opcode, Trait, dims, note, op, texts
from dialect_utils.ops.domain import Domain, UndefinedError, V, required_ints, reshaped, result_array
from dialect_utils.ops.elementwise import HOST_MEMORY
from dialect_utils.ops.factors import Kind, of_broadcast, of_constant, of_equal_arrays
from dialect_utils.ops.inference import Instance, ShapeError, Written, is_same_kind, made, of_type, wider, written_only
from dialect_utils.text import without_comments

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_S32 = parse_element_type("s32")
# As many digits as an int64 has.
_SLICE = re.compile(r"\[\s*(\d{1,19})\s*:\s*(\d{1,19})\s*(?::\s*(\d{1,19})\s*)?\]", re.ASCII)
_PADDING = re.compile(r"(?<!\d)(-?\d{1,19})_(-?\d{1,19})(?:_(\d{1,19}))?(?![\d_])", re.ASCII)


def transpose_step(written: Written) -> Transpose | None:
    """Returns the step of a transpose, or None where the permutation is absent."""
    permutation = written.ints("dimensions")
    return None if permutation is None else Transpose(permutation)


def slice_step(written: Written) -> Slice | None:
    """Returns the step of `slice={[0:2], [1:5:2]}`, or None where the attribute is absent."""
    text = written.attribute("slice")
    return None if text is None else Slice(*_columns(_SLICE, without_comments(text), 1))


def pad_step(written: Written) -> Pad | None:
    """Returns the step of `padding=0_1x2_0_1`, or None where the attribute is absent."""
    text = written.attribute("padding")
    return None if text is None else Pad(*_columns(_PADDING, text, 0))


def _columns(pattern: re.Pattern[str], text: str, default: int) -> list[tuple[int, ...]]:
    """Returns the three numbers of every dimension by their position; the last one may be absent."""
    found = pattern.findall(text)
    return [tuple(int(numbers[i] or default) for numbers in found) for i in range(3)]


# Results (ShapeInference::InferTransposeShape, InferSliceShape, InferPadShape, InferConcatOpShape)


def _moved(instance: Instance, step: Step | None, part: str) -> ArrayShape:
    operand = instance.array(0)
    if step is None:
        raise ShapeError(f"{instance.opcode} of {operand} needs its attributes", "opcode")
    try:
        element_type, dimensions = step.result(*operand.type_and_dimensions)
    except ValueError as error:
        raise ShapeError(str(error), part) from None
    return made(element_type, dimensions)


def transposed(instance: Instance) -> Shape:
    """Returns the permuted operand, whose bytes stay in place (ShapeUtil::PermuteDimensions)."""
    step = transpose_step(instance.written)
    result = _moved(instance, step, "dimensions")
    assert step is not None  # _moved raises without one
    order = instance.array(0).effective_layout
    layout = tuple(step.permutation.index(dim) for dim in order.minor_to_major)
    return ArrayShape(result.element_type, result.dimensions, replace(order, minor_to_major=layout))


def sliced(instance: Instance) -> Shape:
    """Returns the elements that `slice` keeps."""
    return _moved(instance, slice_step(instance.written), "slice")


def padded(instance: Instance) -> Shape:
    """Returns the padded operand."""
    result, value = _moved(instance, pad_step(instance.written), "padding"), instance.operands[1]
    if not isinstance(value, ArrayShape) or value.rank:
        raise ShapeError(f"pad needs a scalar to pad with, found {value}", "operand 1")
    if not instance.is_lenient and not is_same_kind(result.element_type, value.element_type):
        raise ShapeError(f"operand 1 of pad is {value.element_type}, but the result {result.element_type}", "operand 1")
    return of_type(result, wider(result.element_type, value.element_type))


def as_written(instance: Instance) -> Shape:
    """Returns the written shape, which has as many elements as the operand."""
    return _moved(instance, Reshape(instance.result_array().dimensions), "shape")


def reinterpreted(instance: Instance) -> Shape:
    """Returns the operand in the written element type; a change of width adds or removes a dimension."""
    operand, wanted = instance.array(0).element_type, instance.result_array().element_type
    if operand.is_complex != wanted.is_complex:
        raise ShapeError(f"bitcast-convert of {operand} to {wanted} is between complex and real numbers", "shape")
    return _moved(instance, BitcastConvert(wanted), "shape")


def broadcasted(instance: Instance) -> Shape:
    """Returns the written shape, or the one that XLA infers: the sizes in `dimensions`, then the operand's own."""
    operand, mapping = instance.array(0), instance.ints("dimensions")
    if instance.shape is None:
        return made(operand.element_type, (*mapping, *operand.dimensions))
    result = instance.result_array()
    if len(mapping) != operand.rank:
        raise ShapeError(
            f"broadcast of {operand} needs one entry of dimensions for each operand dimension", "dimensions"
        )
    if len(set(mapping)) < len(mapping):
        raise ShapeError(f"broadcast maps two dimensions to one: {list(mapping)}", "dimensions")
    for number, dim in enumerate(mapping):
        before, after = operand.dimensions[number], result.dimensions[dim]
        if before != after:
            raise ShapeError(f"broadcast maps a dimension of size {before} to one of size {after}", "dimensions")
    return of_type(result, operand.element_type)


def concatenated(instance: Instance) -> Shape:
    """Returns the operands' dimensions with the sizes along one of them added up."""
    found, along = instance.arrays(), instance.ints("dimensions")
    if not along or not found or not 0 <= along[0] < found[0].rank:
        raise ShapeError("concatenate needs a dimension that its operands have", "dimensions")
    dim, first = along[0], found[0].dimensions
    kind = found[0].element_type
    for operand in found:
        others = operand.dimensions
        if others[:dim] + others[dim + 1 :] != first[:dim] + first[dim + 1 :] or len(others) != len(first):
            message = f"concatenate of {found[0]} and {operand}: the dimensions other than {dim} differ"
            raise ShapeError(message, "operands")
        if not instance.is_lenient and not is_same_kind(kind, operand.element_type):
            raise ShapeError(f"concatenate of {found[0]} and {operand}: the element types differ", "operands")
        kind = wider(kind, operand.element_type)
    return made(kind, (*first[:dim], sum(operand.dimensions[dim] for operand in found), *first[dim + 1 :]))


def flipped(instance: Instance) -> Shape:
    """Returns the shape of the operand."""
    operand = instance.array(0)
    instance.dims("dimensions", operand.rank)
    return operand


def counted(instance: Instance) -> Shape:
    """Returns the written shape of an iota."""
    result = instance.result_array()
    if not result.rank:
        raise ShapeError("iota gives numbers along a dimension, but the shape is a scalar", "shape")
    if result.element_type.name == "pred":
        raise ShapeError("iota gives numbers, but the result is pred", "shape")
    return result


def dimension_size(instance: Instance) -> Shape:
    """Returns an s32 scalar."""
    _counted_dimension(instance)
    return made(_S32, ())


def _counted_dimension(instance: Instance) -> int:
    """Returns the dimension whose size is read or set; raises ShapeError for a size that s32 cannot hold."""
    operand = instance.array(0)
    (dim,) = instance.dims("dimensions", operand.rank) or (0,)
    if operand.rank and operand.dimensions[dim] >= 1 << 31:
        raise ShapeError(f"dimension {dim} of {operand} is beyond s32, the type of its size", "operand 0")
    return dim


def resized(instance: Instance) -> Shape:
    """Returns the operand with one size that is only a bound."""
    operand, dim = instance.array(0), _counted_dimension(instance)
    instance.require_type(1, "s32")
    dynamic = [operand.is_dynamic_dimension(each) or each == dim for each in range(operand.rank)]
    return ArrayShape(operand.element_type, operand.dimensions, operand.layout, tuple(dynamic))


# Constraints


def check_resized(instance: Instance) -> None:
    """Raises ShapeError where set-dimension-size has a static result."""
    if instance.shape is not None and instance.result_array().is_static:
        message = f"set-dimension-size gives a dynamic dimension, but the shape is {instance.shape}"
        raise ShapeError(message, "shape")


def check_dynamic_reshape(instance: Instance) -> None:
    """Raises ShapeError where sizes or elements of a dynamic-reshape do not fit."""
    operand, result = instance.array(0), instance.result_array()
    if operand.element_count != result.element_count:
        message = f"dynamic-reshape of {operand} cannot give {result}: the number of elements differs"
        raise ShapeError(message, "shape")
    sizes = len(instance.operands) - 1
    if sizes != result.rank:
        message = f"dynamic-reshape takes one size for each dimension of the result, {result.rank}, found {sizes}"
        raise ShapeError(message, "operands")
    for index in range(1, len(instance.operands)):
        instance.require_type(index, "s32")


def check_bitcast(instance: Instance) -> None:
    """Raises ShapeError where a bitcast changes the size in bytes."""
    # Sizes of layouts are needed here only.
    from dialect_utils.layout.index.index_map import byte_size

    source, shape = instance.operands[0], instance.shape
    if not isinstance(source, ArrayShape) or not isinstance(shape, ArrayShape):
        if shape is not None and source.without_layout != shape.without_layout:
            raise ShapeError(f"bitcast of {source} to {shape} is not between arrays", "shape")
        return
    have, want = byte_size(source), byte_size(shape)
    if have != want:
        raise ShapeError(f"bitcast reads {have} bytes of {source} as {want} bytes of {shape}", "shape")
    spaces = {each.layout.memory_space for each in (source, shape) if each.layout is not None}
    if instance.is_layout_sensitive and len(spaces) > 1 and HOST_MEMORY in spaces:
        raise ShapeError(f"bitcast of {source} to {shape} is between the memories of host and device", "shape")


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
    """Returns the operand in the static sizes of the result's type; operands that give sizes repeat them."""
    return [reshaped(domain, operands[0], result_array(operation).dimensions)]


_STEP = DATA | Trait.IS_STEP | Trait.FUSIBLE
_BITCAST = Trait.ALIASES | Trait.PURE | Trait.FREE | Trait.COMPILED | Trait.MAY_BE_BITCAST

_CONSTANT = Trait.PURE | Trait.FREE | Trait.FUSIBLE
_AMOUNTS = Attribute("padding", "text", "edge_padding_low edge_padding_high interior_padding")
_RANGES = Attribute("slice", "text", "start_indices limit_indices strides")
OPERATIONS: tuple[Opcode, ...] = (
    op("bitcast", 1, _BITCAST, mlir="", check=check_bitcast),
    op("bitcast-convert", 1, Trait.PURE | Trait.IS_STEP | Trait.READS_BITS, result=reinterpreted, define=define_step),
    op(
        "broadcast",
        1,
        DATA | Trait.FUSIBLE,
        dims("dimensions", None, "broadcast_dimensions"),
        only_mlir=(note("broadcast_sizes", "the type of the result has them"),),
        mlir="broadcast broadcast_in_dim",
        typed=(0,),
        result=broadcasted,
        define=define_broadcast,
        factors=of_broadcast,
    ),
    op(
        "concatenate",
        ANY,
        DATA | Trait.FUSIBLE,
        dims("dimensions", None, "dimension", is_single=True),
        typed=ALL_OPERANDS,
        aligned=ALL,
        result=concatenated,
        define=define_concatenate,
        factors=partial(of_equal_arrays, name="dimensions", kind=Kind.CUT),
    ),
    op(
        "dynamic-reshape",
        ANY,
        DATA,
        typed=(0,),
        check=check_dynamic_reshape,
        define=define_known_reshape,
        factors="the sizes are not static",
    ),
    op("pad", 2, _STEP, _AMOUNTS, typed=(0, 1), aligned=1, result=padded, define=define_step),
    op(
        "reshape",
        1,
        _STEP | Trait.MAY_BE_BITCAST,
        note("inferred_dimension", "the type of the result has its size"),
        typed=(0,),
        result=as_written,
        define=define_step,
    ),
    op(
        "reverse",
        1,
        DATA | Trait.FUSIBLE,
        dims("dimensions", 0, needed=True),
        typed=(0,),
        aligned=1,
        result=flipped,
        define=define_reverse,
        factors=partial(of_equal_arrays, name="dimensions"),
    ),
    op("slice", 1, _STEP, _RANGES, typed=(0,), aligned=1, result=sliced, define=define_step),
    op(
        "transpose",
        1,
        _STEP | Trait.MAY_BE_BITCAST,
        dims("dimensions", 0, "permutation"),
        typed=(0,),
        result=transposed,
        define=define_step,
    ),
    op("constant", 0, _CONSTANT, result=written_only, factors=of_constant, only_mlir=texts("value")),
    op(
        "iota",
        0,
        Trait.PURE | Trait.FUSIBLE,
        dims("iota_dimension", None, needed=True),
        result=counted,
        define=define_iota,
        factors=partial(of_equal_arrays, name="iota_dimension"),
    ),
    op("parameter", 0, Trait.PURE | Trait.FREE, mlir="", result=written_only, factors="the caller gives the value"),
    op(
        "get-dimension-size",
        1,
        Trait.PURE,
        dims("dimensions", 0, "dimension", needed=True, is_single=True),
        result=dimension_size,
        define=define_dimension_size,
        factors="the result is a scalar",
    ),
    op(
        "set-dimension-size",
        2,
        Trait.PURE,
        dims("dimensions", 0, "dimension", needed=True, is_single=True),
        result=resized,
        check=check_resized,
        define=define_known_reshape,
        factors="the sizes are not static",
    ),
)
