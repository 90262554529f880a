"""Every opcode of HLO, once.

Sources: xla/hlo/ir/hlo_opcode.h for the names, xla/hlo/parser/hlo_parser.cc for operand counts and
attributes, each of which the parsers of jaxlib 0.10 and 0.12 confirm; xla/hlo/translate/mhlo_to_hlo
for StableHLO's names.
"""

from __future__ import annotations

from dialect_utils.opcodes.model import NO_TRAITS, Attribute, AttributeKind, Opcode, Trait

_ELEMENTWISE, _MOVES, _FORWARDS, _PURE = Trait.ELEMENTWISE, Trait.MOVES_DATA, Trait.FORWARDS, Trait.PURE
_ROUNDS, _BOUNDED, _COLLECTIVE, _APPLIES = Trait.ROUNDS, Trait.BOUNDED, Trait.COLLECTIVE, Trait.APPLIES
_ENGINE, _COMMUNICATES, _STEP = Trait.ENGINE_DEFINED, Trait.COMMUNICATES, Trait.IS_STEP

# Several traits that go together.
_EACH = _ELEMENTWISE | _PURE
_EACH_ROUNDED = _EACH | _ROUNDS
_EACH_BOUNDED = _EACH | _BOUNDED
_DATA = _MOVES | _BOUNDED | _PURE
_EXCHANGED = _COLLECTIVE | Trait.AMONG_DEVICES | _PURE
_COMBINED = Trait.COMBINES | _APPLIES | _PURE
_CONTRACTED = Trait.CONTRACTS | _PURE

_ALL = -1
_TO_ALL = (_ALL,)
_ANY = (0, None)


def _texts(names: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name) for name in names.split())


def _flags(names: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name, "flag") for name in names.split())


def _computations(names: str, kind: AttributeKind = "computation") -> tuple[Attribute, ...]:
    return tuple(Attribute(name, kind) for name in names.split())


def _integers(name: str, mlir: str = "") -> Attribute:
    return Attribute(name, "integers", mlir)


def _dims(name: str, numbers: int | None = None, mlir: str = "") -> Attribute:
    return Attribute(name, "dimensions", mlir, numbers)


def _note(name: str) -> Attribute:
    return Attribute(name, is_computed=False)


_ACCURACY = _texts("result_accuracy")
_TO_APPLY = _computations("to_apply")
_CHANNEL = _texts("channel_id")
_GROUPS = (*_CHANNEL, *_texts("replica_groups"))
_REDUCE_GROUPS = (*_GROUPS, *_flags("constrain_layout use_global_device_ids"), *_texts("mode"))
_NORM = _texts("epsilon feature_index")
_CONVOLUTION = _texts("window dim_labels feature_group_count batch_group_count operand_precision")
_SECTIONS = "dot_dimension_numbers."
_CONTRACTION = (
    _dims("lhs_batch_dims", 0, f"{_SECTIONS}lhs_batching_dimensions"),
    _dims("rhs_batch_dims", 1, f"{_SECTIONS}rhs_batching_dimensions"),
    _dims("lhs_contracting_dims", 0, f"{_SECTIONS}lhs_contracting_dimensions"),
    _dims("rhs_contracting_dims", 1, f"{_SECTIONS}rhs_contracting_dimensions"),
    *_texts("operand_precision"),
)
_GATHERED = "dimension_numbers."
_SCATTERED = "scatter_dimension_numbers."
_HOST = (*_CHANNEL, *_flags("is_host_transfer"))

# What the parser takes on any instruction; none of it says what is computed.
GENERAL_ATTRIBUTES = tuple(
    _note(name)
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

# What StableHLO keeps the like in: attributes of other dialects on any operation.
GENERAL_MLIR_ATTRIBUTES = tuple(
    _note(name) for name in ("mhlo.frontend_attributes", "mhlo.sharding", "result_layout", "sdy.sharding", "xla_shape")
)


def _op(
    name: str,
    operands: int | tuple[int, int | None],
    traits: Trait = NO_TRAITS,
    *attributes: Attribute,
    mlir: str | None = None,
    typed: tuple[int, ...] = (),
    aligned: int = 0,
    indices: tuple[int, int | None] | None = None,
    started: int | None = 1,
) -> Opcode:
    """Makes a row; StableHLO's name is HLO's with `_` for `-`, where `mlir` does not list others."""
    counts = operands if isinstance(operands, tuple) else (operands, operands)
    mnemonics = (name.replace("-", "_"),) if mlir is None else tuple(mlir.split())
    return Opcode(name, counts, traits, attributes, mnemonics, typed, aligned, indices, started)


def _each(names: str, operands: int, traits: Trait, *attributes: Attribute, mlir: str | None = None) -> list[Opcode]:
    """Makes the rows of elementwise ops whose operands and result are of one type."""
    return [_op(name, operands, traits, *attributes, mlir=mlir, typed=_TO_ALL) for name in names.split()]


# What the `-start` of an opcode has besides its attributes; of most, it wraps a computation.
WRAPPED = (_note("async_execution_thread"),)
STARTED: dict[str, tuple[Attribute, ...]] = {
    "all-gather": (),
    "all-reduce": (),
    "collective-permute": (),
    "copy": (_note("cross_program_prefetch_index"),),
    "recv": (),
    "send": (),
}

# fmt: off
HLO_OPCODES: tuple[Opcode, ...] = (
    # Elementwise
    *_each("ceil count-leading-zeros floor not popcnt round-nearest-afz round-nearest-even sign", 1, _EACH),
    *_each("negate", 1, _EACH_BOUNDED),
    *_each("cbrt cosine exponential exponential-minus-one log log-plus-one logistic rsqrt sine sqrt tan tanh",
           1, _EACH_ROUNDED, *_ACCURACY),
    *_each("acos acosh asin asinh atanh cosh erf sinh", 1, _EACH_ROUNDED, *_ACCURACY, mlir=""),
    *_each("add multiply", 2, _EACH_ROUNDED | Trait.COMMUTATIVE),
    *_each("atan2 divide power subtract", 2, _EACH_ROUNDED),
    *_each("and or xor", 2, _EACH | Trait.COMMUTATIVE),
    *_each("remainder shift-left shift-right-arithmetic shift-right-logical", 2, _EACH),
    *_each("mulhi", 2, _EACH, mlir=""),
    *_each("maximum minimum", 2, _EACH_BOUNDED | Trait.COMMUTATIVE),
    *_each("clamp", 3, _EACH_BOUNDED),
    _op("abs", 1, _EACH_BOUNDED),
    _op("bitcast-convert", 1, _PURE | _STEP),
    _op("compare", 2, _EACH, *_texts("direction type order")),
    _op("complex", 2, _EACH),
    _op("convert", 1, _EACH_BOUNDED),
    _op("copy", 1, _EACH | _DATA | _FORWARDS, mlir="", typed=(0,), started=0),
    _op("imag", 1, _EACH_BOUNDED),
    _op("is-finite", 1, _EACH),
    _op("real", 1, _EACH_BOUNDED),
    _op("reduce-precision", 1, _EACH, _integers("exponent_bits"), _integers("mantissa_bits"), typed=(0,)),
    _op("select", 3, _EACH_BOUNDED, typed=(1, 2)),
    _op("stochastic-convert", 2, _EACH, mlir=""),

    # Data movement
    _op("broadcast", 1, _DATA, _dims("dimensions", None, "broadcast_dimensions"),
        mlir="broadcast broadcast_in_dim", typed=(0,)),
    _op("concatenate", _ANY, _DATA, _dims("dimensions", None, "dimension"), typed=_TO_ALL, aligned=_ALL),
    _op("dynamic-reshape", _ANY, _DATA, typed=(0,)),
    _op("dynamic-slice", _ANY, _DATA, _integers("dynamic_slice_sizes", "slice_sizes"),
        typed=(0,), aligned=1, indices=(1, None)),
    _op("dynamic-update-slice", _ANY, _DATA, typed=(0, 1), aligned=2, indices=(2, None)),
    _op("gather", 2, _DATA, _dims("offset_dims", None, f"{_GATHERED}offset_dims"),
        _dims("collapsed_slice_dims", 0, f"{_GATHERED}collapsed_slice_dims"),
        _dims("operand_batching_dims", 0, f"{_GATHERED}operand_batching_dims"),
        _dims("start_indices_batching_dims", 1, f"{_GATHERED}start_indices_batching_dims"),
        _dims("start_index_map", 0, f"{_GATHERED}start_index_map"),
        _integers("index_vector_dim", f"{_GATHERED}index_vector_dim"), _integers("slice_sizes"),
        *_flags("indices_are_sorted"), typed=(0,), indices=(1, None)),
    _op("pad", 2, _DATA | _STEP, *_texts("padding"), typed=(0, 1), aligned=1),
    _op("reshape", 1, _DATA | _STEP, *_texts("inferred_dimension"), typed=(0,)),
    _op("reverse", 1, _DATA, _dims("dimensions", 0), typed=(0,), aligned=1),
    _op("slice", 1, _DATA | _STEP, *_texts("slice"), typed=(0,), aligned=1),
    _op("transpose", 1, _DATA | _STEP, _dims("dimensions", 0, "permutation"), typed=(0,)),
    _op("bitcast", 1, _PURE, mlir=""),

    # Sums and other combinations of many elements
    _op("convolution", 2, _CONTRACTED, *_CONVOLUTION,
        *_texts("convolution_kind sparsity_config algorithm block_scaling_config")),
    _op("dot", 2, _CONTRACTED, *_CONTRACTION, *_texts("algorithm sparsity_config block_scaling_config"),
        mlir="dot dot_general"),
    _op("ragged-dot", 3, _CONTRACTED, *_CONTRACTION, _dims("lhs_ragged_dims", 0), _dims("rhs_group_dims", 1), mlir=""),
    _op("scaled-dot", _ANY, _CONTRACTED, *_CONTRACTION, *_texts("algorithm"), mlir=""),
    _op("map", _ANY, _APPLIES | _PURE, _dims("dimensions", None), *_TO_APPLY),
    _op("reduce", _ANY, _COMBINED, _dims("dimensions", 0), *_TO_APPLY),
    _op("reduce-window", _ANY, _COMBINED, *_texts("window"), *_TO_APPLY),
    _op("scan", _ANY, _APPLIES | _PURE, _dims("dimensions", 0), *_texts("is_associative is_reverse"),
        _integers("num_carries"), *_TO_APPLY, mlir=""),
    _op("scatter", _ANY, _COMBINED, _integers("update_window_dims", f"{_SCATTERED}update_window_dims"),
        _dims("inserted_window_dims", 0, f"{_SCATTERED}inserted_window_dims"),
        _dims("input_batching_dims", 0, f"{_SCATTERED}input_batching_dims"),
        _integers("scatter_indices_batching_dims", f"{_SCATTERED}scatter_indices_batching_dims"),
        _dims("scatter_dims_to_operand_dims", 0, f"{_SCATTERED}scattered_dims_to_operand_dims"),
        _integers("index_vector_dim", f"{_SCATTERED}index_vector_dim"),
        *_flags("indices_are_sorted unique_indices"), *_TO_APPLY, indices=(1, 2)),
    _op("select-and-scatter", 3, _COMBINED, *_texts("window"), *_computations("select scatter")),
    _op("sort", _ANY, _APPLIES | _BOUNDED | _PURE, _dims("dimensions", 0, "dimension"), *_flags("is_stable"),
        *_TO_APPLY),
    _op("topk", 1, _PURE, _integers("k"), *_flags("largest is_stable"), mlir=""),

    # What the engine computes its own way
    _op("batch-norm-grad", 5, _ENGINE | _PURE, *_NORM),
    _op("batch-norm-inference", 5, _ENGINE | _PURE, *_NORM),
    _op("batch-norm-training", 3, _ENGINE | _PURE, *_NORM),
    _op("cholesky", 1, _ENGINE | _PURE, *_flags("lower")),
    _op("fft", 1, _ENGINE | _PURE, *_texts("fft_type"), _integers("fft_length")),
    _op("triangular-solve", 2, _ENGINE | _PURE, *_flags("left_side lower unit_diagonal"), *_texts("transpose_a")),
    _op("rng", _ANY, _ENGINE, *_texts("distribution")),
    _op("rng-bit-generator", 1, _PURE, *_texts("algorithm")),
    _op("rng-get-and-update-state", 0, NO_TRAITS, _integers("delta"), mlir=""),

    # Values without operands, sizes, tuples, order
    _op("constant", 0, _PURE),
    _op("iota", 0, _PURE, _dims("iota_dimension", None)),
    _op("parameter", 0, _PURE, mlir=""),
    _op("get-dimension-size", 1, _PURE, _dims("dimensions", 0, "dimension")),
    _op("set-dimension-size", 2, _PURE, _dims("dimensions", 0, "dimension")),
    _op("get-tuple-element", 1, Trait.TUPLES | _BOUNDED | _PURE, _integers("index")),
    _op("tuple", _ANY, Trait.TUPLES | _BOUNDED | _PURE),
    _op("add-dependency", 2, _FORWARDS | _BOUNDED | _PURE, mlir=""),
    _op("after-all", _ANY, mlir="after_all create_token"),
    _op("domain", 1, _FORWARDS | _BOUNDED, *_texts("domain"), mlir=""),
    _op("opt-barrier", 1, _FORWARDS | _BOUNDED, mlir="optimization_barrier"),

    # Calls
    _op(
        "async",
        _ANY,
        Trait.CALLS,
        *_computations("calls", "computations"),
        *_texts("output_to_operand_aliasing"),
        mlir="",
    ),
    _op("call", _ANY, Trait.CALLS, *_TO_APPLY, *_flags("is_composite"), mlir=""),
    _op("conditional", _ANY, Trait.CALLS, *_computations("true_computation false_computation"),
        *_computations("branch_computations", "computations"), mlir="case if"),
    _op("custom-call", _ANY, Trait.CALLS | _ENGINE, *_texts("custom_call_target"),
        *_computations("to_apply called_computations", "computations"), *_CONVOLUTION,
        *_texts("api_version literal operand_layout_constraints output_to_operand_aliasing padding_type schedule"),
        *_flags("custom_call_has_side_effect")),
    _op("fusion", _ANY, Trait.CALLS, *_computations("calls"), *_texts("kind output_to_operand_aliasing"), mlir=""),
    _op("while", 1, Trait.CALLS, *_computations("condition body")),

    # Devices, hosts and other programs
    _op("all-gather", _ANY, _EXCHANGED | _DATA, _dims("dimensions", 0, "all_gather_dim"), *_GROUPS,
        *_flags("constrain_layout use_global_device_ids"), typed=_TO_ALL),
    _op("all-reduce", _ANY, _EXCHANGED | _COMBINED, *_REDUCE_GROUPS, *_TO_APPLY, aligned=_ALL, started=None),
    _op("all-to-all", _ANY, _EXCHANGED | _DATA, _dims("dimensions", 0, "split_dimension"), *_GROUPS,
        *_flags("constrain_layout"), typed=_TO_ALL),
    _op("collective-broadcast", _ANY, _EXCHANGED | _DATA, *_GROUPS, *_flags("has_dynamic_root"), typed=(0,)),
    _op("collective-permute", _ANY, _EXCHANGED | _DATA, *_CHANNEL, *_texts("source_target_pairs slice_sizes"),
        typed=(0,), aligned=_ALL),
    _op("ragged-all-to-all", _ANY, _EXCHANGED | _DATA, _dims("dimensions", 0), *_GROUPS, mlir="", typed=(0, 1)),
    _op("reduce-scatter", _ANY, _EXCHANGED | _COMBINED, _dims("dimensions", 0, "scatter_dimension"),
        *_REDUCE_GROUPS, *_TO_APPLY),
    _op("partition-id", 0, Trait.AMONG_DEVICES | _PURE),
    _op("replica-id", 0, Trait.AMONG_DEVICES | _PURE),
    _op("infeed", 1, _COMMUNICATES, *_texts("infeed_config")),
    _op("outfeed", 2, _COMMUNICATES, *_texts("outfeed_config outfeed_shape")),
    _op("recv", 1, _COMMUNICATES, *_HOST),
    _op("send", 2, _COMMUNICATES, *_HOST),
)


def _only(dialect: str, traits: Trait, names: str) -> list[Opcode]:
    """Makes the rows of operations that HLO has no instruction for; they keep their full names."""
    return [_op(f"{dialect}.{name}", _ANY, traits, mlir=name) for name in names.split()]


# StableHLO's and CHLO's operations that are no HLO instruction, or one of another meaning.
OTHER_OPERATIONS: tuple[Opcode, ...] = (
    *_only("stablehlo", _PURE, "dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad"),
    *_only("stablehlo", _PURE, "real_dynamic_slice torch_index_select"),
    *_only("stablehlo", Trait.CALLS, "composite"),
    *_only("stablehlo", NO_TRAITS, "collective_reduce cross-replica-sum einsum unary_einsum return"),
    *_only("stablehlo", NO_TRAITS, "uniform_dequantize uniform_quantize"),
    *_only("chlo", _EACH, "conj is_inf is_neg_inf is_pos_inf next_after"),
    *_only("chlo", _EACH_ROUNDED, "acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma"),
    *_only("chlo", _EACH_ROUNDED, "polygamma sinh square tan zeta"),
    *_only("chlo", _PURE, "broadcast_add constant top_k"),
    *_only("chlo", NO_TRAITS, "_asin_acos_kernel constant_like mulhi ragged_dot scan"),
    *_only("chlo", NO_TRAITS, "broadcast_and broadcast_atan2 broadcast_compare broadcast_complex broadcast_divide"),
    *_only("chlo", NO_TRAITS, "broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after"),
    *_only("chlo", NO_TRAITS, "broadcast_or broadcast_polygamma broadcast_power broadcast_remainder broadcast_select"),
    *_only("chlo", NO_TRAITS, "broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical"),
    *_only("chlo", NO_TRAITS, "broadcast_subtract broadcast_xor broadcast_zeta"),
)
# fmt: on
