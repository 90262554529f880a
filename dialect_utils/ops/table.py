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
    random,
    reductions,
    solvers,
    windows,
)
from dialect_utils.ops.declaration import ANY, EACH, EACH_ROUNDED, NO_TRAITS, Attribute, Opcode, Trait, note, op

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


def _only(dialect: str, traits: Trait, names: str) -> list[Opcode]:
    """Declares operations that HLO has no instruction for, by their full names."""
    return [op(f"{dialect}.{name}", ANY, traits, mlir=name) for name in names.split()]


# StableHLO's and CHLO's operations without an HLO instruction of the same meaning.
OTHER_OPERATIONS: tuple[Opcode, ...] = (
    *_only("stablehlo", Trait.PURE, "dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad"),
    *_only("stablehlo", Trait.PURE, "real_dynamic_slice torch_index_select"),
    *_only("stablehlo", Trait.CALLS | Trait.PASSES_OPERANDS, "composite"),
    *_only("stablehlo", NO_TRAITS, "collective_reduce cross-replica-sum einsum unary_einsum return"),
    *_only("stablehlo", NO_TRAITS, "uniform_dequantize uniform_quantize"),
    *_only("chlo", EACH, "conj is_inf is_neg_inf is_pos_inf next_after"),
    *_only("chlo", EACH_ROUNDED, "acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma"),
    *_only("chlo", EACH_ROUNDED, "polygamma sinh square tan zeta"),
    *_only("chlo", Trait.PURE, "broadcast_add constant top_k"),
    *_only("chlo", NO_TRAITS, "_asin_acos_kernel constant_like mulhi ragged_dot scan"),
    *_only("chlo", NO_TRAITS, "broadcast_and broadcast_atan2 broadcast_compare broadcast_complex broadcast_divide"),
    *_only("chlo", NO_TRAITS, "broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after"),
    *_only("chlo", NO_TRAITS, "broadcast_or broadcast_polygamma broadcast_power broadcast_remainder broadcast_select"),
    *_only("chlo", NO_TRAITS, "broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical"),
    *_only("chlo", NO_TRAITS, "broadcast_subtract broadcast_xor broadcast_zeta"),
)
