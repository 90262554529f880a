"""Every operation of HLO, and those of StableHLO and CHLO that HLO has no instruction for, each once.

Sources: xla/hlo/ir/hlo_opcode.h for the names, xla/hlo/parser/hlo_parser.cc for operand counts and
attributes, each of which the parsers of jaxlib 0.10 and 0.12 confirm; xla/hlo/translate/mhlo_to_hlo
for StableHLO's names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dialect_utils.layout import Pad, Slice
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
from dialect_utils.ops.declaration import (
    CONTRACTED,
    CONVOLUTION,
    EACH,
    EACH_ROUNDED,
    EXCHANGED,
    NO_TRAITS,
    PRECISION,
    Attribute,
    Opcode,
    Trait,
    computations,
    flags,
    integers,
    note,
    only_in,
    texts,
)
from dialect_utils.ops.domain import Domain, UndefinedError, V, required_ints, reshaped, result_array, section
from dialect_utils.ops.elementwise import COMPARISON, define_compare, define_each
from dialect_utils.ops.factors import of_constant, of_elements
from dialect_utils.ops.gathering import gathered
from dialect_utils.ops.movement import define_iota
from dialect_utils.ops.reductions import TOPK_FACTORS, define_topk
from dialect_utils.ops.windows import convolved

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


# Attributes that the parser accepts on any instruction; an operation whose result they affect declares them again.
GENERAL_ATTRIBUTES = (
    note("backend_config", "it tells one backend how to execute; what it reverses is read"),
    note("control-predecessors", "scheduling"),
    note("frontend_attributes", "notes to passes"),
    note("metadata", "names and lines of the source"),
    note("origin", "names of the program before passes"),
    note("parameter_replication", "it says which devices hold equal parameters"),
    note("sharding", "it says which devices store which elements"),
    note("statistics", "numbers of a profile"),
)


# Attributes of MLIR that name the functions an operation calls.
CALLING_MLIR_ATTRIBUTES = ("callee", "decomposition", "called_computation", "called_computations")

# StableHLO's counterparts of GENERAL_ATTRIBUTES: attributes of other dialects on any operation.
GENERAL_MLIR_ATTRIBUTES = (
    note("mhlo.frontend_attributes", "notes to passes"),
    note("mhlo.sharding", "it says which devices store which elements"),
    note("result_layout", "the layout of a dense array"),
    note("sdy.sharding", "it says which devices store which elements"),
    note("xla_shape", "the layout of a dense array"),
    *computations(" ".join(CALLING_MLIR_ATTRIBUTES)),
)

# Additional attributes of an opcode's own `-start`; the `-start` of an opcode not listed wraps a computation.
WRAPPED = (note("async_execution_thread", "scheduling"),)
STARTED: dict[str, tuple[Attribute, ...]] = {
    "all-gather": (),
    "all-reduce": (),
    "collective-permute": (),
    "copy": (note("cross_program_prefetch_index", "scheduling"),),
    "recv": (),
    "send": (),
}

_FAMILIES = (elementwise, movement, indexing, windows, contractions, reductions, solvers, random, control, collectives)
HLO_OPCODES: tuple[Opcode, ...] = tuple(each for family in _FAMILIES for each in family.OPERATIONS)


_BROADCASTING = "chlo.broadcast_"
_COMPARISON = f"{_BROADCASTING}compare"


def _known(domain: Domain[V], array: V) -> tuple[int, ...]:
    return tuple(int(value) for value in domain.integers(array).reshape(-1))


def define_broadcast_to(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operand repeated to the sizes that the result's type has."""
    dimensions = required_ints(operation, "broadcast_dimensions")
    return [domain.broadcast(operands[0], dimensions, result_array(operation).dimensions)]


def define_dynamic_pad(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operand with as many padding elements as operands 2 to 4 say."""
    array, padding, *amounts = operands
    return [domain.move(array, Pad(*(_known(domain, amount) for amount in amounts)), padding)]


def define_dynamic_slice(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the elements from starts to limits by strides, the operands 1 to 3.

    Limits that are computed as starts plus the sizes of the result make a dynamic slice, to which XLA translates it.
    The result is not defined where elements are outside of the array; there that slice is clamped.
    """
    array, *bounds = operands
    sizes = result_array(operation).dimensions
    strides = _known(domain, bounds[2])
    try:
        starts, limits = (_known(domain, bound) for bound in bounds[:2])
    except UndefinedError:
        if not _are_sums(operation, sizes) or {*strides} != {1}:
            raise
        scalars = [reshaped(domain, section(domain, bounds[0], 0, 1, i), ()) for i in range(len(sizes))]
        return [domain.slice_at(array, scalars, sizes)]
    return [domain.move(array, Slice(starts, limits, strides))]


def _are_sums(operation: Operation, sizes: tuple[int, ...]) -> bool:
    """Is true where the limits of a slice are computed as its starts plus a constant, the size in each dimension."""
    _, starts, limits, _ = operation.operands
    total = limits.operation
    if total is None or total.opcode != "add" or starts not in total.operands:
        return False
    first, second = total.operands
    added = (second if first == starts else first).operation
    bits = None if added is None else added.splat_bits
    return bits is not None and {*sizes} == {bits}


def define_dynamic_gather(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the slices, of sizes in operand 2, at the start indices."""
    array, starts, sizes = operands
    return [gathered(domain, operation, array, starts, _known(domain, sizes))]


def define_dynamic_convolution(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns a convolution whose padding is operand 2, [dimension, low and high]."""
    *arrays, padding = operands
    amounts = _known(domain, padding)

    return convolved(
        domain, operation, arrays, lambda i, each: replace(each, low=amounts[2 * i], high=amounts[2 * i + 1])
    )


def define_broadcasting(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns an elementwise operation on operands that are repeated to the result's dimensions, as numpy does."""
    result = result_array(operation)
    written = operation.ints("broadcast_dimensions")
    spread = []
    for operand in operands:
        sizes = domain.dimensions(operand)
        last = range(len(result.dimensions) - len(sizes), len(result.dimensions))
        is_named = written is not None and len(written) == len(sizes) < len(result.dimensions)
        spread.append(domain.broadcast(operand, written if is_named and written else tuple(last), result.dimensions))
    if operation.opcode == _COMPARISON:
        return define_compare(domain, operation, spread)
    name = operation.opcode.removeprefix(_BROADCASTING)
    opcode = f"chlo.{name}" if name in ("next_after", "polygamma", "zeta") else name.replace("_", "-")
    return [domain.each(opcode, result.element_type, spread)]


_SIZED = "its sizes are operands"
_LEGACY = "programs have other operations in its place"
_REPEATED = "the ranks of its operands say how it repeats them"


# The attributes that the operations of dynamic sizes share with the static ones.
_KNOWN = tuple(note(f"known_{each}_dimensions", "a promise about sizes") for each in ("expanding", "nonexpanding"))
_CONVOLVED = tuple(each for each in CONVOLUTION if each.name != "window")
_CONVOLVED += texts("window_strides lhs_dilation rhs_dilation window_reversal")
_COMPOSITE = "the decomposition defines the result"
_COMPOSED = tuple(note(each, _COMPOSITE) for each in ("name", "version", "composite_attributes"))
_DYNAMIC_GATHER = (*indexing.GATHERED, *flags("indices_are_sorted"))
_ORDERS = Trait.PURE | Trait.SORTS | Trait.JUMPS | Trait.READS_BITS
_EINSUM = texts("einsum_config", "string")
_REPEATING = (integers("broadcast_dimensions"),)
_SPREAD = (*_REPEATING, *_KNOWN)
_SCANNED = texts("dimension is_associative is_reverse scan_dim_size operandSegmentSizes resultSegmentSizes", "number")

# StableHLO's and CHLO's operations without an HLO instruction of the same meaning.
OTHER_OPERATIONS: tuple[Opcode, ...] = (
    *only_in("stablehlo", Trait.PURE, "dynamic_broadcast_in_dim", define_broadcast_to, _SIZED, _SPREAD, 1),
    *only_in("stablehlo", CONTRACTED, "dynamic_conv", define_dynamic_convolution, _SIZED, _CONVOLVED),
    *only_in("stablehlo", Trait.PURE, "dynamic_gather", define_dynamic_gather, _SIZED, _DYNAMIC_GATHER),
    *only_in("stablehlo", Trait.PURE, "dynamic_iota", define_iota, _SIZED, (integers("iota_dimension"),)),
    *only_in("stablehlo", Trait.PURE, "dynamic_pad", define_dynamic_pad, _SIZED),
    *only_in("stablehlo", Trait.PURE, "real_dynamic_slice", define_dynamic_slice, _SIZED),
    *only_in("stablehlo", Trait.PURE, "torch_index_select", None, _LEGACY, texts("dim batch_dims", "number")),
    *only_in("stablehlo", Trait.CALLS | Trait.PASSES_OPERANDS, "composite", attributes=_COMPOSED),
    *only_in("stablehlo", NO_TRAITS, "collective_reduce", factors=_LEGACY),
    *only_in("stablehlo", NO_TRAITS, "einsum unary_einsum", None, _LEGACY, _EINSUM),
    *only_in("stablehlo", NO_TRAITS, "return", factors="it ends a function"),
    *only_in("stablehlo", EXCHANGED, "cross-replica-sum", None, _LEGACY, collectives.GROUPS),
    *only_in(
        "stablehlo", NO_TRAITS, "uniform_dequantize uniform_quantize", factors="quantized types are not supported"
    ),
    *only_in("chlo", EACH, elementwise.CHLO_EACH, define_each),
    *only_in("chlo", EACH | Trait.JUMPS, elementwise.CHLO_JUMPS, define_each),
    *only_in("chlo", EACH_ROUNDED, elementwise.CHLO_ROUNDED, define_each),
    *only_in("chlo", EACH_ROUNDED | Trait.CUT, elementwise.CHLO_CUT, define_each),
    *only_in("chlo", EACH_ROUNDED | Trait.JUMPS, elementwise.CHLO_PARTIAL, define_each),
    *only_in("chlo", Trait.PURE, "broadcast_add", define_broadcasting, _REPEATED, _REPEATING),
    *only_in("chlo", Trait.PURE, "constant", None, of_constant, texts("value")),
    *only_in("chlo", Trait.PURE | Trait.SORTS | Trait.JUMPS, "top_k", define_topk, TOPK_FACTORS, (integers("k"),)),
    *only_in("chlo", NO_TRAITS, "_asin_acos_kernel", factors=_LEGACY),
    *only_in("chlo", NO_TRAITS, "constant_like", None, _LEGACY, texts("value")),
    *only_in("chlo", NO_TRAITS, "ragged_dot", None, _LEGACY, (PRECISION, *texts("ragged_dot_dimension_numbers"))),
    *only_in("chlo", NO_TRAITS, "scan", None, _LEGACY, _SCANNED),
    *only_in("chlo", NO_TRAITS, "mulhi", define_each, of_elements),
    *only_in("chlo", NO_TRAITS, "broadcast_compare", define_broadcasting, _REPEATED, (*_REPEATING, *COMPARISON)),
    *only_in(
        "chlo",
        NO_TRAITS,
        "broadcast_and broadcast_atan2 broadcast_complex broadcast_divide broadcast_maximum "
        "broadcast_minimum broadcast_multiply broadcast_next_after broadcast_or broadcast_polygamma broadcast_power "
        "broadcast_remainder broadcast_select broadcast_shift_left broadcast_shift_right_arithmetic "
        "broadcast_shift_right_logical broadcast_subtract broadcast_xor broadcast_zeta",
        define_broadcasting,
        _REPEATED,
        _REPEATING,
    ),
)
