"""Operations between devices, hosts and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import (
    ALL,
    ALL_OPERANDS,
    ANY,
    CHANNEL,
    COMBINED,
    DATA,
    EXCHANGED,
    TO_APPLY,
    Opcode,
    Trait,
    dims,
    flags,
    op,
    texts,
)
from dialect_utils.ops.domain import Domain, UndefinedError, V, result_array
from dialect_utils.ops.structured import integers

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


def define_alone(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands: on one device an exchange gives what it takes."""
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


_GROUPS = (*CHANNEL, *texts("replica_groups"))
_REDUCE_GROUPS = (*_GROUPS, *flags("constrain_layout use_global_device_ids"), *texts("mode"))
_HOST = (*CHANNEL, *flags("is_host_transfer"))
_MOVED = EXCHANGED | DATA

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "all-gather",
        ANY,
        _MOVED,
        dims("dimensions", 0, "all_gather_dim"),
        *_GROUPS,
        *flags("constrain_layout use_global_device_ids"),
        typed=ALL_OPERANDS,
        define=define_alone,
    ),
    op(
        "all-reduce",
        ANY,
        EXCHANGED | COMBINED,
        *_REDUCE_GROUPS,
        *TO_APPLY,
        aligned=ALL,
        started=None,
        define=define_alone,
    ),
    op(
        "all-to-all",
        ANY,
        _MOVED,
        dims("dimensions", 0, "split_dimension"),
        *_GROUPS,
        *flags("constrain_layout"),
        typed=ALL_OPERANDS,
        define=define_alone,
    ),
    op("collective-broadcast", ANY, _MOVED, *_GROUPS, *flags("has_dynamic_root"), typed=(0,), define=define_alone),
    op(
        "collective-permute",
        ANY,
        _MOVED,
        *CHANNEL,
        *texts("source_target_pairs slice_sizes"),
        typed=(0,),
        aligned=ALL,
        define=define_permute,
    ),
    op("ragged-all-to-all", ANY, _MOVED, dims("dimensions", 0), *_GROUPS, mlir="", typed=(0, 1)),
    op(
        "reduce-scatter",
        ANY,
        EXCHANGED | COMBINED,
        dims("dimensions", 0, "scatter_dimension"),
        *_REDUCE_GROUPS,
        *TO_APPLY,
        define=define_alone,
    ),
    op("partition-id", 0, Trait.AMONG_DEVICES | Trait.PURE, define=define_device),
    op("replica-id", 0, Trait.AMONG_DEVICES | Trait.PURE, define=define_device),
    op("infeed", 1, Trait.COMMUNICATES, *texts("infeed_config")),
    op("outfeed", 2, Trait.COMMUNICATES, *texts("outfeed_config outfeed_shape")),
    op("recv", 1, Trait.COMMUNICATES, *_HOST),
    op("send", 2, Trait.COMMUNICATES, *_HOST),
)
