"""Operations on windows that slide over arrays: convolution, reduce-window and select-and-scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import (
    ANY,
    COMBINED,
    CONTRACTED,
    TO_APPLY,
    Opcode,
    computations,
    op,
    texts,
)
from dialect_utils.ops.domain import Domain, V, only_function, result_array, transposed
from dialect_utils.ops.inference import first_array
from dialect_utils.ops.shapes import windows as rules
from dialect_utils.ops.shapes.reductions import check_reducer
from dialect_utils.ops.structured import convolution_window, group_counts, labels, reduction_window

if TYPE_CHECKING:
    from dialect_utils.ir import Operation
    from dialect_utils.ops.window import WindowDimension


def define_convolution(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the sums of products of windows and kernels."""
    return convolved(domain, operation, operands, lambda _, dimension: dimension)


def convolved(
    domain: Domain[V],
    operation: Operation,
    operands: Sequence[V],
    changed: Callable[[int, WindowDimension], WindowDimension],
) -> list[V]:
    """Returns a convolution, computed on [batch, feature, ...] and [output, input, ...], in a changed window.

    StableHLO multiplies padding, as 0; HLO skips it. Sources: StableHLO's specification of convolution; HloEvaluator's
    HandleConvolution.
    """
    numbers, result = labels(operation), result_array(operation)
    lhs, rhs = operands
    lhs = transposed(domain, lhs, (numbers.lhs_batch, numbers.lhs_feature, *numbers.lhs_spatial))
    rhs = transposed(domain, rhs, (numbers.rhs_output, numbers.rhs_input, *numbers.rhs_spatial))
    written = convolution_window(operation, domain.dimensions(rhs)[2:])
    window = tuple(changed(i, dimension) for i, dimension in enumerate(written))
    order = (numbers.out_batch, numbers.out_feature, *numbers.out_spatial)
    sizes = tuple(result.dimensions[i] for i in order)
    is_stablehlo = operation.attribute("dim_labels") is None
    found = domain.convolve(operation, lhs, rhs, window, group_counts(operation), sizes, is_stablehlo)
    return [transposed(domain, found, sorted(range(len(order)), key=order.__getitem__))]


def define_reduce_window(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the combined elements of every window.

    In StableHLO padding is the initial value; HLO skips padding. Sources: StableHLO's specification of reduce_window;
    HloEvaluator's HandleReduceWindow.
    """
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    window = reduction_window(operation, len(domain.dimensions(arrays[0])))
    sizes = result_array(operation).dimensions
    is_stablehlo = operation.attribute("window_dimensions") is not None
    return domain.reduce_window(operation, only_function(operation), arrays, initial, window, sizes, is_stablehlo)


def define_select_and_scatter(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns each source element combined into the element that its window selects, from the first one on.

    Source: HloEvaluator's HandleSelectAndScatter.
    """
    array, source, initial = operands
    sizes = domain.dimensions(array)
    window = reduction_window(operation, len(sizes))
    chosen = domain.select_in_windows(operation.called_as("select"), array, window, domain.dimensions(source))
    return domain.scatter(operation.called_as("scatter"), [domain.broadcast(initial, (), sizes)], [source], chosen)


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "convolution",
        2,
        CONTRACTED,
        *texts("window"),
        *texts("dim_labels", needed=True),
        *texts("feature_group_count batch_group_count operand_precision"),
        *texts("convolution_kind sparsity_config algorithm block_scaling_config"),
        result=rules.convolution,
        define=define_convolution,
    ),
    op(
        "reduce-window",
        ANY,
        COMBINED,
        *texts("window", needed=True),
        *TO_APPLY,
        result=rules.reduce_window,
        check=check_reducer,
        define=define_reduce_window,
    ),
    op(
        "select-and-scatter",
        3,
        COMBINED,
        *texts("window"),
        *computations("select scatter"),
        result=first_array,
        check=rules.check_select_and_scatter,
        define=define_select_and_scatter,
    ),
)
