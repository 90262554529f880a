"""Operations between devices, hosts and programs."""

from __future__ import annotations

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
    ),
    op("all-reduce", ANY, EXCHANGED | COMBINED, *_REDUCE_GROUPS, *TO_APPLY, aligned=ALL, started=None),
    op(
        "all-to-all",
        ANY,
        _MOVED,
        dims("dimensions", 0, "split_dimension"),
        *_GROUPS,
        *flags("constrain_layout"),
        typed=ALL_OPERANDS,
    ),
    op("collective-broadcast", ANY, _MOVED, *_GROUPS, *flags("has_dynamic_root"), typed=(0,)),
    op(
        "collective-permute",
        ANY,
        _MOVED,
        *CHANNEL,
        *texts("source_target_pairs slice_sizes"),
        typed=(0,),
        aligned=ALL,
    ),
    op("ragged-all-to-all", ANY, _MOVED, dims("dimensions", 0), *_GROUPS, mlir="", typed=(0, 1)),
    op(
        "reduce-scatter",
        ANY,
        EXCHANGED | COMBINED,
        dims("dimensions", 0, "scatter_dimension"),
        *_REDUCE_GROUPS,
        *TO_APPLY,
    ),
    op("partition-id", 0, Trait.AMONG_DEVICES | Trait.PURE),
    op("replica-id", 0, Trait.AMONG_DEVICES | Trait.PURE),
    op("infeed", 1, Trait.COMMUNICATES, *texts("infeed_config")),
    op("outfeed", 2, Trait.COMMUNICATES, *texts("outfeed_config outfeed_shape")),
    op("recv", 1, Trait.COMMUNICATES, *_HOST),
    op("send", 2, Trait.COMMUNICATES, *_HOST),
)
