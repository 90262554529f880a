"""HLO's names for StableHLO's operations and attributes.

Source: xla/hlo/ir/hlo_opcode.h and xla/hlo/translate/mhlo_to_hlo.
"""

from __future__ import annotations

_DIALECTS = ("stablehlo", "mhlo")

_RENAMED = {
    "broadcast_in_dim": "broadcast",
    "case": "conditional",
    "create_token": "after-all",
    "dot_general": "dot",
    "if": "conditional",
    "optimization_barrier": "opt-barrier",
}

# Not one HLO instruction, or one of another meaning: these keep their full names.
_UNMATCHED = frozenset(
    {
        "composite",
        "compute_reshape_shape",
        "cstr_reshapable",
        "dynamic_broadcast_in_dim",
        "dynamic_conv",
        "dynamic_gather",
        "dynamic_iota",
        "dynamic_pad",
        "einsum",
        "minimum_broadcast_shapes",
        "real_dynamic_slice",
        "return",
        "sparse_dot",
        "torch_index_select",
        "trace",
        "unary_einsum",
        "uniform_dequantize",
        "uniform_quantize",
    }
)

# Operations whose regions run as a whole; every other region is applied per element, or unknown.
CONTROL_FLOW = frozenset({"while", "conditional", "call"})

# Attributes that name functions an operation calls.
CALL_ATTRIBUTES = ("callee", "decomposition", "called_computation", "called_computations")


def hlo_opcode(name: str) -> str:
    """Returns HLO's spelling of an operation's name, or the full name where HLO has no such instruction."""
    if name == "func.call":
        return "call"
    dialect, _, mnemonic = name.partition(".")
    if dialect not in _DIALECTS or mnemonic in _UNMATCHED:
        return name
    return _RENAMED.get(mnemonic) or mnemonic.replace("_", "-")


# (opcode, HLO's attribute) -> StableHLO's attribute, where the names differ. A dotted name is a
# field of a structured attribute.
_ATTRIBUTES = {
    ("all-gather", "dimensions"): "all_gather_dim",
    ("all-to-all", "dimensions"): "split_dimension",
    ("concatenate", "dimensions"): "dimension",
    ("dynamic-slice", "dynamic_slice_sizes"): "slice_sizes",
    ("get-dimension-size", "dimensions"): "dimension",
    ("reduce-scatter", "dimensions"): "scatter_dimension",
    ("set-dimension-size", "dimensions"): "dimension",
    ("sort", "dimensions"): "dimension",
    ("transpose", "dimensions"): "permutation",
    ("dot", "lhs_batch_dims"): "dot_dimension_numbers.lhs_batching_dimensions",
    ("dot", "rhs_batch_dims"): "dot_dimension_numbers.rhs_batching_dimensions",
    ("dot", "lhs_contracting_dims"): "dot_dimension_numbers.lhs_contracting_dimensions",
    ("dot", "rhs_contracting_dims"): "dot_dimension_numbers.rhs_contracting_dimensions",
    **{
        ("gather", name): f"dimension_numbers.{name}"
        for name in (
            "offset_dims",
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
            "index_vector_dim",
        )
    },
    **{
        ("scatter", name): f"scatter_dimension_numbers.{name}"
        for name in (
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "index_vector_dim",
        )
    },
    ("scatter", "scatter_dims_to_operand_dims"): "scatter_dimension_numbers.scattered_dims_to_operand_dims",
}
_BROADCAST = {"stablehlo.broadcast_in_dim", "mhlo.broadcast_in_dim"}


def attribute_name(name: str, attribute: str) -> str:
    """Returns StableHLO's name of an attribute that an operation (by its MLIR name) has in HLO."""
    if name in _BROADCAST and attribute == "dimensions":
        return "broadcast_dimensions"
    return _ATTRIBUTES.get((hlo_opcode(name), attribute), attribute)
