"""Recorded executions: the inputs, and often the results, that a snapshot holds beside its module.

`--xla_dump_hlo_snapshots` writes HloSnapshot, `--xla_dump_hlo_unoptimized_snapshots` HloUnoptimizedSnapshot
(xla/service/hlo.proto), which has the inputs of every partition and no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialect_utils.execution.arrays import Array
from dialect_utils.execution.literals import read_literal
from dialect_utils.io.protos import Field, MalformedProtoError, find_proto, read_fields
from dialect_utils.text import Diagnostic, DiagnosticError

_ARGUMENTS, _RESULT = 2, 3
_PARTITIONS, _PARTITION_ARGUMENTS, _PARTITION_DESCRIPTORS = 2, 1, 2


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one execution was given, and what came out where that was recorded; tuples are flattened.

    Of several partitions every input has a leading dimension that counts them.
    """

    inputs: tuple[Array, ...]
    results: tuple[Array, ...] | None = None


def read_recorded(data: bytes, name: str) -> Recorded | None:
    """Returns the execution that a snapshot records, or None for bytes that record none.

    Raises DiagnosticError for literals that are damaged or no arrays; `name` is what it calls the file.
    """
    try:
        found = find_proto(data)
    except MalformedProtoError:
        return None
    try:
        if found.message == "HloSnapshot":
            return _of_snapshot(found.around)
        return _of_partitions(found.around) if found.message == "HloUnoptimizedSnapshot" else None
    except ValueError as error:  # numpy's, too, of ranks and sizes beyond its limits
        raise DiagnosticError(Diagnostic(f"{name}: the recorded execution is damaged: {error}")) from None


def _of_snapshot(fields: Sequence[Field]) -> Recorded:
    results = [field.bytes for field in fields if field.number == _RESULT]
    return Recorded(
        _literals([field.bytes for field in fields if field.number == _ARGUMENTS]),
        _literals(results) if results else None,
    )


def _of_partitions(fields: Sequence[Field]) -> Recorded:
    partitions = [list(read_fields(field.bytes)) for field in fields if field.number == _PARTITIONS]
    if any(field.number == _PARTITION_DESCRIPTORS for partition in partitions for field in partition):
        raise MalformedProtoError("the inputs are described, but not there")
    inputs = [
        _literals([field.bytes for field in partition if field.number == _PARTITION_ARGUMENTS])
        for partition in partitions
    ]
    if len(inputs) == 1:
        return Recorded(inputs[0])
    shapes = [[(array.shape, array.dtype) for array in arrays] for arrays in inputs]
    if any(each != shapes[0] for each in shapes):
        raise MalformedProtoError("the partitions have inputs of different shapes")
    return Recorded(tuple(np.stack(parts) for parts in zip(*inputs, strict=True)))


def _literals(messages: Sequence[memoryview]) -> tuple[Array, ...]:
    return tuple(array for message in messages for array in read_literal(message))
