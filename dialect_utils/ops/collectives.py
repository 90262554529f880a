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
from dialect_utils.ops.inference import first_array, first_operand, one_or_tuple
from dialect_utils.ops.shapes import collectives as rules
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

_PAIRED = (*texts("source_target_pairs", needed=True), *texts("slice_sizes"))

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "all-gather",
        ANY,
        _MOVED,
        dims("dimensions", 0, "all_gather_dim"),
        *_GROUPS,
        *flags("constrain_layout use_global_device_ids"),
        typed=ALL_OPERANDS,
        result=rules.all_gather,
        on_start=rules.all_gather_start,
        on_done=rules.second_element,
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
        result=one_or_tuple,
        check=rules.check_all_reduce,
        on_start=one_or_tuple,
        on_done=first_operand,
        check_start=rules.check_all_reduce,
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
        result=rules.all_to_all,
        define=define_alone,
    ),
    op(
        "collective-broadcast",
        ANY,
        _MOVED,
        *_GROUPS,
        *flags("has_dynamic_root"),
        typed=(0,),
        result=first_array,
        check=rules.check_groups,
        define=define_alone,
    ),
    op(
        "collective-permute",
        ANY,
        _MOVED,
        *CHANNEL,
        *_PAIRED,
        typed=(0,),
        aligned=ALL,
        result=rules.collective_permute,
        check=rules.check_permute,
        on_start=rules.collective_permute_start,
        on_done=rules.second_element,
        check_start=rules.check_permute,
        define=define_permute,
    ),
    op(
        "ragged-all-to-all",
        ANY,
        _MOVED,
        dims("dimensions", 0),
        *_GROUPS,
        mlir="",
        typed=(0, 1),
        result=rules.second_operand,
        check=rules.check_ragged,
    ),
    op(
        "reduce-scatter",
        ANY,
        EXCHANGED | COMBINED,
        dims("dimensions", 0, "scatter_dimension"),
        *_REDUCE_GROUPS,
        *TO_APPLY,
        result=rules.reduce_scatter,
        check=rules.check_combiner,
        define=define_alone,
    ),
    op("partition-id", 0, Trait.AMONG_DEVICES | Trait.PURE, result=rules.number, define=define_device),
    op("replica-id", 0, Trait.AMONG_DEVICES | Trait.PURE, result=rules.number, define=define_device),
    op("infeed", 1, Trait.COMMUNICATES, *texts("infeed_config"), result=rules.infed, check=rules.check_first_token),
    op(
        "outfeed",
        2,
        Trait.COMMUNICATES,
        *texts("outfeed_config outfeed_shape"),
        result=rules.token,
        check=rules.check_outfeed,
    ),
    op(
        "recv",
        1,
        Trait.COMMUNICATES,
        *_HOST,
        result=rules.received,
        check=rules.check_first_token,
        on_done=rules.finished_receive,
    ),
    op("send", 2, Trait.COMMUNICATES, *_HOST, result=rules.sent, check=rules.check_last_token),
)
