"""The rule of every operation on whole arrays that has one."""

from __future__ import annotations

from collections.abc import Mapping

from dialect_utils.ops import by_opcode
from dialect_utils.verdict.proof.array_ops import batch_norm, maps, movement, products, reductions, slices
from dialect_utils.verdict.proof.array_ops.operation import ArrayRule

# The others are computed element by element, or are leaves.
ARRAY_RULES: Mapping[str, ArrayRule] = by_opcode(
    {
        "batch-norm-grad": batch_norm.batch_norm_grad_rule,
        "batch-norm-inference": batch_norm.batch_norm_inference_rule,
        "batch-norm-training": batch_norm.batch_norm_training_rule,
        "broadcast": movement.broadcast_rule,
        "concatenate": movement.concatenate_rule,
        "convolution": products.convolution_rule,
        "dot": products.dot_rule,
        "dynamic-slice": slices.dynamic_slice_rule,
        "dynamic-update-slice": slices.dynamic_update_slice_rule,
        "gather": slices.gather_rule,
        "get-dimension-size": movement.dimension_size_rule,
        "iota": movement.iota_rule,
        "map": maps.map_rule,
        "reduce": reductions.reduce_rule,
        "reduce-window": reductions.reduce_window_rule,
        "reverse": movement.reverse_rule,
    }
)
