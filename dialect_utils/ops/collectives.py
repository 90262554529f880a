"""Operations between devices, hosts and programs.

Longer than others: each operation is declared, checked and defined in one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, Shape, TokenShape, TupleShape, parse_element_type, parse_shape
from dialect_utils.ops.declaration import (
    ALL,
    ALL_OPERANDS,
    ANY,
    CHANNEL,
    COMBINED,
    DATA,
    EXCHANGED,
    NOTES,
    TO_APPLY,
    Attribute,
    Opcode,
    Trait,
    dims,
    flags,
    note,
    op,
    ops,
    texts,
)
from dialect_utils.ops.devices import check_pairs, subgroup_size
from dialect_utils.ops.domain import Domain, UndefinedError, V, result_array
from dialect_utils.ops.factors import Factor, Kind, aligned, of_each_array, result_positions
from dialect_utils.ops.inference import (
    Instance,
    ShapeError,
    check_applied,
    check_second_token,
    check_tokens,
    first_array,
    is_compatible,
    is_equally_ordered,
    made,
    one_or_tuple,
    second_array,
    written_only,
)
from dialect_utils.ops.sharding import device_lists
from dialect_utils.ops.structured import integers

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_U32 = parse_element_type("u32")
_NUMBER = ArrayShape(_U32, ())
# The parts of the value that a start gives.
_STATE = ("operands", "results")
# The operands of a ragged-all-to-all: input, output, and four arrays of offsets and sizes.
_RAGGED_OPERANDS, _RAGGED_ARRAYS, _OFFSET_RANKS = 6, 2, (1, 2)
# The operands of a collective-permute in place: input, output, and the offsets in both.
_IN_PLACE = 4

# Results (ShapeInference::InferAllGatherShape, InferReduceScatterShape, InferAllToAllShape)


def all_gather_start(instance: Instance) -> Shape:
    """Returns the operands and the gathered arrays."""
    shape = instance.shape
    parts = shape.elements if isinstance(shape, TupleShape) else ()
    if len(parts) < len(_STATE) or (len(parts) > len(_STATE) and not instance.is_lenient):
        raise ShapeError(f"all-gather-start gives its operands and results, but the shape is {shape}", "shape")
    made = _resharded(instance, parts[1].parts, is_gather=True)
    return TupleShape((_started(instance, one_or_tuple(instance)), made, *parts[2:]))


def _results(instance: Instance) -> Sequence[Shape]:
    shape = instance.shape
    if shape is None:
        instance.result_array()
    if isinstance(shape, TupleShape) and len(instance.operands) > 1:
        return shape.elements
    return () if shape is None else (shape,)


def _resharded(instance: Instance, results: Sequence[Shape] | None = None, *, is_gather: bool) -> Shape:
    """Returns the operands with as many shards along a dimension as the written shape has, or one shard of them."""
    results = _results(instance) if results is None else results
    arrays = instance.arrays()
    (dim,) = instance.ints("dimensions")[:1] or (None,)
    if not arrays or dim is None:
        raise ShapeError(f"{instance.opcode} needs an array and a dimension", "opcode")
    for operand in arrays:
        instance.dims("dimensions", operand.rank)
    result = results[0] if results else None
    if not isinstance(result, ArrayShape) or len(results) != len(arrays) or dim >= result.rank:
        listed = ", ".join(map(str, instance.operands))
        raise ShapeError(f"{instance.opcode} of {listed} cannot give {instance.shape}", "shape")
    given, found = arrays[0].dimensions[dim], result.dimensions[dim]
    small, large = (given, found) if is_gather else (found, given)
    size = subgroup_size(instance)
    shards = max(-(-large // small), 1) if small else size
    if size not in (1, shards):
        message = f"{instance.opcode} of {arrays[0]} to {result} has a shard count of {shards}, but groups of {size}"
        raise ShapeError(message, "replica_groups")
    shapes = [_with_size(instance, operand, dim, shards, is_gather=is_gather) for operand in arrays]
    return shapes[0] if len(shapes) == 1 else TupleShape(tuple(shapes))


def _with_size(instance: Instance, operand: ArrayShape, dim: int, shards: int, *, is_gather: bool) -> ArrayShape:
    size = operand.dimensions[dim]
    if not is_gather and size % shards:
        message = f"{instance.opcode} of dimension {dim} of {operand} in {shards} shards leaves a remainder"
        raise ShapeError(message, "dimensions")
    sizes = list(operand.dimensions)
    sizes[dim] = size * shards if is_gather else size // shards
    return made(operand.element_type, sizes)


def all_to_all(instance: Instance) -> Shape:
    """Returns the operand, split and joined along one dimension, or the tuple of operands of one shape."""
    arrays, size = instance.arrays(), subgroup_size(instance)
    along = instance.ints("dimensions")
    if along:
        (dim,) = instance.dims("dimensions", instance.array(0).rank)
        if len(arrays) != 1 or not arrays[0].is_static or arrays[0].dimensions[dim] % size:
            message = f"all-to-all splits dimension {dim} of {', '.join(map(str, arrays))} into {size} parts"
            raise ShapeError(message, "dimensions")
        return arrays[0]
    if isinstance(instance.shape, ArrayShape):
        raise ShapeError("all-to-all of one array needs a dimension to split", "opcode")
    for operand in arrays[1:]:
        if not is_equally_ordered(arrays[0], operand):
            raise ShapeError(f"all-to-all has operands of different shapes: {arrays[0]} and {operand}", "operands")
    if size != len(arrays):
        raise ShapeError(f"all-to-all among {size} devices has {len(arrays)} operands", "operands")
    return TupleShape(tuple(arrays))


def collective_reduce(instance: Instance) -> Shape:
    """Returns the operands; the last one may name the device that gets the sum of each of the others."""
    if instance.attribute("has_dynamic_root") != "true":
        return one_or_tuple(instance)
    arrays = instance.arrays()
    roots = arrays.pop() if arrays else None
    if not arrays or roots is None or roots.element_type.name != "s32" or roots.dimensions != (len(arrays),):
        message = f"collective-reduce of {len(arrays)} arrays takes s32[{len(arrays)}] as its last operand, the roots"
        raise ShapeError(message, "operands")
    return one_or_tuple(replace(instance, operands=arrays))


def collective_permute(instance: Instance) -> Shape:
    """Returns the operands, or the buffer that is written in place."""
    if instance.attribute("slice_sizes") is None:
        return one_or_tuple(instance)
    _check_in_place(instance)
    return instance.operands[1]


def _check_in_place(instance: Instance) -> None:
    """Raises ShapeError where a collective-permute in place has no buffers and offsets that fit."""
    if len(instance.operands) != _IN_PLACE:
        raise ShapeError(f"{instance.opcode} in place takes {_IN_PLACE} operands", "operands")
    source, target, *offsets = instance.operands
    buffers = [shape.parts for shape in (source, target)]
    if isinstance(source, TupleShape) != isinstance(target, TupleShape) or len(buffers[0]) != len(buffers[1]):
        message = f"{instance.opcode} in place has unmatching input buffers {source} and output buffers {target}"
        raise ShapeError(message, "operands")
    for index, (parts, offset) in enumerate(zip(buffers, offsets, strict=True)):
        wanted = (offset,) if not isinstance((source, target)[index], TupleShape) else _elements(offset)
        if len(wanted) != len(parts):
            raise ShapeError(
                f"{instance.opcode} in place has {len(wanted)} offsets for {len(parts)} buffers", "operands"
            )
        for buffer, each in zip(parts, wanted, strict=True):
            _check_offset(instance, buffer, each)


def _elements(shape: Shape) -> Sequence[Shape]:
    return shape.elements if isinstance(shape, TupleShape) else ()


def _check_offset(instance: Instance, buffer: Shape, offset: Shape) -> None:
    parts = _elements(offset)
    lists = [_elements(part) for part in parts] if parts and isinstance(parts[0], TupleShape) else [parts]
    rank = buffer.rank if isinstance(buffer, ArrayShape) else None
    if any(len(each) != rank for each in lists):
        raise ShapeError(f"{instance.opcode} in place has the offset {offset} for {buffer}", "operands")


def collective_permute_start(instance: Instance) -> Shape:
    """Returns the operands, the results, and the contexts that are written."""
    contexts = _elements(instance.shape)[2:] if instance.shape is not None else (_NUMBER, _NUMBER)
    is_moved = instance.attribute("slice_sizes") is None and len(instance.operands) > 1
    result = TupleShape(tuple(instance.operands)) if is_moved else collective_permute(instance)
    given = instance.operands[0] if instance.attribute("slice_sizes") is not None else result
    return TupleShape((_started(instance, given), result, *contexts))


def wraps_operands(shape: Shape | None) -> bool:
    """Is true for the shape of a start that holds a tuple of operands and the results.

    XLA:GPU gives all collectives this shape since jaxlib 0.12: their starts are `async-start` in short form. Earlier
    versions give all-reduce-start the shape of the results, and other starts a single operand without a tuple.
    """
    return isinstance(shape, TupleShape) and bool(shape.elements) and isinstance(shape.elements[0], TupleShape)


def _started(instance: Instance, given: Shape) -> Shape:
    """Returns the operands in the shape of a start, `given` or as a tuple where the written shape has one."""
    return TupleShape(tuple(instance.operands)) if wraps_operands(instance.shape) else given


def all_reduce_start(instance: Instance) -> Shape:
    """Returns the results, with the tuple of operands before them where the written shape has one."""
    found = one_or_tuple(instance)
    return TupleShape((_started(instance, found), found)) if wraps_operands(instance.shape) else found


def all_reduce_done(instance: Instance) -> Shape:
    """Returns the results of the started operation."""
    return second_element(instance) if wraps_operands(instance.operands[0]) else instance.operands[0]


def second_element(instance: Instance) -> Shape:
    """Returns element 1 of the started operation."""
    parts = _elements(instance.operands[0])
    if len(parts) < len(_STATE):
        raise ShapeError(f"{instance.opcode} of {instance.operands[0]}, which no start gives", "operand 0")
    return parts[1]


def received(instance: Instance) -> Shape:
    """Returns the written shape, of which XLA's parser reads the data alone."""
    if not _elements(written_only(instance)):
        raise ShapeError(f"recv gives data, a context and a token, but the shape is {instance.shape}", "shape")
    return written_only(instance)


def finished_receive(instance: Instance) -> Shape:
    """Returns the written shape, which XLA's parser skips."""
    if not _elements(instance.operands[0]):
        raise ShapeError(f"{instance.opcode} of {instance.operands[0]}, which no recv gives", "operand 0")
    return written_only(instance)


def infed(instance: Instance) -> Shape:
    """Returns the written data and a token."""
    parts = _elements(instance.shape) if instance.shape is not None else ()
    if len(parts) != len(("data", "token")):
        raise ShapeError(f"infeed gives data and a token, but the shape is {instance.shape}", "shape")
    return TupleShape((parts[0], TokenShape()))


# Constraints


def check_combiner(instance: Instance) -> None:
    """Raises ShapeError unless the computation combines two values of one type."""
    if instance.called:
        first = instance.called[0].parameters[:1]
        kind = first[0].element_type if first and isinstance(first[0], ArrayShape) else None
        check_applied(instance, 0, [kind] * 2 if kind else [], [kind] if kind else [])


def check_all_reduce(instance: Instance) -> None:
    """Raises ShapeError where groups, the channel or the computation of an all-reduce are not valid."""
    if instance.opcode == "all-reduce" and instance.number("channel_id", 1) < 1:
        raise ShapeError("the channel_id of all-reduce must be greater than 0", "channel_id")
    subgroup_size(instance, is_uniform=False)
    check_combiner(instance)


def check_permute(instance: Instance) -> None:
    """Raises ShapeError where a device sends or receives too often."""
    offsets = instance.operands[2] if len(instance.operands) == _IN_PLACE else None
    most = 1
    if instance.attribute("slice_sizes") is not None and isinstance(offsets, TupleShape):
        first = offsets.elements[0] if isinstance(instance.operands[0], TupleShape) and offsets.elements else offsets
        most = max(len(_elements(first)), 1)
    check_pairs(instance, most)


def check_ragged(instance: Instance) -> None:
    """Raises ShapeError where groups, offsets or sizes of a ragged-all-to-all do not fit."""
    subgroup_size(instance)
    if len(instance.operands) != _RAGGED_OPERANDS:
        message = f"ragged-all-to-all takes {_RAGGED_OPERANDS} operands, found {len(instance.operands)}"
        raise ShapeError(message, "operands")
    rest = instance.arrays(_RAGGED_ARRAYS)
    for number, shape in enumerate(rest, _RAGGED_ARRAYS):
        if shape.rank not in _OFFSET_RANKS:
            message = f"operand {number} of ragged-all-to-all must be of rank 1 or 2, found {shape}"
            raise ShapeError(message, f"operand {number}")
        if not is_compatible(shape, rest[0]):
            raise ShapeError(f"ragged-all-to-all has operands of different shapes: {rest[0]} and {shape}", "operands")


def check_groups(instance: Instance) -> None:
    """Raises ShapeError where the replica groups are not valid."""
    subgroup_size(instance, is_uniform=False)


def check_outfeed(instance: Instance) -> None:
    """Raises ShapeError where an outfeed has no token or another outfeed_shape."""
    check_second_token(instance)
    text = instance.attribute("outfeed_shape")
    if text is not None and not is_compatible(parse_shape(text), instance.operands[0]):
        raise ShapeError(f"outfeed of {instance.operands[0]} has the outfeed_shape {text}", "outfeed_shape")


def define_alone(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands: on one device an exchange is the identity."""
    shapes = [leaf for value in operation.results for leaf in value.shape.arrays()]
    if [shape.dimensions for shape in shapes] != [domain.dimensions(each) for each in operands]:
        raise UndefinedError(f"{operation.opcode} among several devices")
    return list(operands)


def define_permute(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands where the one device sends to itself, else zeros."""
    if len(operands) > 1 or operation.attribute("slice_sizes"):
        raise UndefinedError("collective-permute of slices")
    (array,), pairs = operands, integers(operation, "source_target_pairs") or ()
    if 0 in pairs[1::2]:
        return define_alone(domain, operation, [array])
    return [domain.number(domain.element_type(array), 0, domain.dimensions(array))]


def define_device(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns 0, the number of the one device."""
    return [domain.number(result_array(operation).element_type, 0, ())]


def all_to_all_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions; the exchange needs the split dimension and the joined dimension as a whole."""
    joined = operation.attribute("concat_dimension")
    whole = (*(operation.ints("dimensions") or ()), *([] if joined is None else [int(joined.split(" : ")[0])]))
    positions = (*range(len(operation.operands)), *result_positions(operation))
    return aligned(operation, positions, dict.fromkeys(whole, Kind.WHOLE))


def permuted_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions of each array; no factor for an exchange of slices, whose offsets are operands."""
    return iter(()) if operation.attribute("slice_sizes") is not None else of_each_array(operation)


GROUPS = (Attribute("replica_groups", "devices", default=("",)),)
_GROUPS = (*CHANNEL, *GROUPS)
_CONSTRAINED = note("constrain_layout", "the layout of a dense array", "flag")
_REDUCE_GROUPS = (*_GROUPS, _CONSTRAINED, *flags("use_global_device_ids"), *texts("mode"))
_CHANNELED = Trait.COMMUNICATES | Trait.CHANNELED
_INFEED, _OUTFEED = (Attribute(f"{each}_config", "string", default=("",)) for each in ("infeed", "outfeed"))
_LAYOUT = (note("layout", "the layout of dense arrays"),)
# Frontend attributes name the ends of a transfer.
_HOST = (*CHANNEL, *flags("is_host_transfer"), NOTES)
_ENDS = texts("source_target_pairs", "devices")
_MOVED = EXCHANGED | DATA

_PAIRED = (*texts("source_target_pairs", "devices", needed=True), *texts("slice_sizes"))
# An exchange needs the dimensions in `dimensions` as a whole.
_RESHARDED = partial(of_each_array, name="dimensions")


# An all-to-all that names neither joins the dimension that it splits, and makes a part for each device of a group.
_DEFAULTS: tuple[tuple[str, Callable[[Operation], str]], ...] = (
    ("concat_dimension", lambda operation: ",".join(map(str, operation.ints("dimensions") or ()))),
    ("split_count", lambda operation: str(len((device_lists(operation, "replica_groups") or [[]])[0]))),
)
_PARTS = tuple(Attribute(name, "number", default=default) for name, default in _DEFAULTS)

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "all-gather",
        ANY,
        _MOVED,
        dims("dimensions", 0, "all_gather_dim", needed=True),
        *_GROUPS,
        _CONSTRAINED,
        *flags("use_global_device_ids"),
        typed=ALL_OPERANDS,
        result=partial(_resharded, is_gather=True),
        on_start=all_gather_start,
        on_done=second_element,
        define=define_alone,
        factors=_RESHARDED,
    ),
    op(
        "all-reduce",
        ANY,
        EXCHANGED | COMBINED,
        *_REDUCE_GROUPS,
        *TO_APPLY,
        aligned=ALL,
        started=None,
        result=one_or_tuple,
        check=check_all_reduce,
        on_start=all_reduce_start,
        on_done=all_reduce_done,
        check_start=check_all_reduce,
        define=define_alone,
        factors=of_each_array,
    ),
    op(
        "all-to-all",
        ANY,
        _MOVED,
        dims("dimensions", 0, "split_dimension"),
        *_GROUPS,
        _CONSTRAINED,
        typed=ALL_OPERANDS,
        only_mlir=_PARTS,
        result=all_to_all,
        define=define_alone,
        factors=all_to_all_factors,
    ),
    op(
        "collective-broadcast",
        ANY,
        _MOVED,
        *_GROUPS,
        *flags("has_dynamic_root"),
        typed=(0,),
        result=first_array,
        check=check_groups,
        define=define_alone,
        factors=of_each_array,
    ),
    op(
        "collective-reduce",
        ANY,
        EXCHANGED | COMBINED,
        *_GROUPS,
        _CONSTRAINED,
        *flags("use_global_device_ids has_dynamic_root"),
        *TO_APPLY,
        mlir="",
        typed=(0,),
        result=collective_reduce,
        check=check_all_reduce,
        define=define_alone,
        factors=of_each_array,
    ),
    op(
        "collective-permute",
        ANY,
        _MOVED,
        *CHANNEL,
        *_PAIRED,
        typed=(0,),
        aligned=ALL,
        result=collective_permute,
        check=check_permute,
        on_start=collective_permute_start,
        on_done=second_element,
        check_start=check_permute,
        define=define_permute,
        factors=permuted_factors,
    ),
    op(
        "ragged-all-to-all",
        ANY,
        _MOVED,
        dims("dimensions", 0),
        *_GROUPS,
        mlir="",
        typed=(0, 1),
        result=second_array,
        check=check_ragged,
        factors="offsets, which are operands, cut its dimensions",
    ),
    op(
        "reduce-scatter",
        ANY,
        EXCHANGED | COMBINED,
        dims("dimensions", 0, "scatter_dimension", needed=True),
        *_REDUCE_GROUPS,
        *TO_APPLY,
        result=partial(_resharded, is_gather=False),
        check=check_combiner,
        define=define_alone,
        factors=_RESHARDED,
    ),
    *ops(
        "partition-id replica-id",
        0,
        Trait.AMONG_DEVICES | Trait.PURE,
        result=lambda instance: _NUMBER,
        define=define_device,
        factors="the result is a scalar",
    ),
    op("infeed", 1, Trait.COMMUNICATES, _INFEED, only_mlir=_LAYOUT, result=infed, check=check_tokens),
    op("outfeed", 2, Trait.COMMUNICATES, _OUTFEED, *texts("outfeed_shape"), result=written_only, check=check_outfeed),
    op("recv", 1, _CHANNELED, *_HOST, only_mlir=_ENDS, result=received, check=check_tokens, on_done=finished_receive),
    op("send", 2, _CHANNELED, *_HOST, only_mlir=_ENDS, result=written_only),
)
