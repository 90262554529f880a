"""Every operation of HLO, and those of StableHLO and CHLO that HLO has no instruction for, each once.

Sources: xla/hlo/ir/hlo_opcode.h for the names, xla/hlo/parser/hlo_parser.cc for operand counts and
attributes, each of which the parsers of jaxlib 0.10 and 0.12 confirm; xla/hlo/translate/mhlo_to_hlo
for StableHLO's names.
"""

from __future__ import annotations

from dialect_utils.ops import (
    collectives,
    contractions,
    control,
    elementwise,
    indexing,
    movement,
    others,
    random,
    reductions,
    solvers,
    windows,
)
from dialect_utils.ops.declaration import Attribute, Opcode, note

# Attributes that the parser accepts on any instruction; none of them affects the result.
GENERAL_ATTRIBUTES = tuple(
    note(name)
    for name in (
        "backend_config",
        "control-predecessors",
        "frontend_attributes",
        "metadata",
        "origin",
        "parameter_replication",
        "sharding",
        "statistics",
    )
)


# Attributes of MLIR that name the functions an operation calls.
CALLING_MLIR_ATTRIBUTES = ("callee", "decomposition", "called_computation", "called_computations")

# StableHLO's counterparts of GENERAL_ATTRIBUTES: attributes of other dialects on any operation.
GENERAL_MLIR_ATTRIBUTES = tuple(
    note(name) for name in ("mhlo.frontend_attributes", "mhlo.sharding", "result_layout", "sdy.sharding", "xla_shape")
)

# Attributes that the `-start` of an opcode has besides its own; that of most opcodes wraps a computation.
WRAPPED = (note("async_execution_thread"),)
STARTED: dict[str, tuple[Attribute, ...]] = {
    "all-gather": (),
    "all-reduce": (),
    "collective-permute": (),
    "copy": (note("cross_program_prefetch_index"),),
    "recv": (),
    "send": (),
}

_FAMILIES = (
    elementwise,
    movement,
    indexing,
    windows,
    contractions,
    reductions,
    solvers,
    random,
    control,
    collectives,
)
HLO_OPCODES: tuple[Opcode, ...] = tuple(each for family in _FAMILIES for each in family.OPERATIONS)
# Operations that HLO has no instruction for.
OTHER_OPERATIONS: tuple[Opcode, ...] = others.OPERATIONS
