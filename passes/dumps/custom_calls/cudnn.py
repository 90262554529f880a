"""XLA:GPU's convolutions, `__cudnn$conv...`, as ops.

Every call has the window, dim_labels and feature_group_count of the *forward* convolution, which computes the output
from input and filter. A backward call computes the gradient of input or filter: the expansion is the inverse of
xla/service/gpu/transforms/conv_rewriter.cc. The fused forward call computes
act(conv_result_scale conv + side_input_scale side_input + bias).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import AttributeValue, Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from dialect_utils.ops.window import (
    DimensionLabels,
    WindowDimension,
    format_window,
    parse_labels,
    parse_window,
    positions,
)
from passes.dumps.custom_calls import arithmetic
from passes.dumps.custom_calls.call_config import CallConfig, check_operands, refused

_F32, _F64 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["f64"]
_BIAS, _SIDE_INPUT = 2, 3


@dataclass(frozen=True, slots=True)
class Convolution:
    """The operands and attributes of the convolution that replaces a call."""

    call: Instruction
    lhs: Instruction
    rhs: Instruction
    dim_labels: str
    window: tuple[WindowDimension, ...]
    feature_groups: int = 1
    batch_groups: int = 1

    @property
    def labels(self) -> DimensionLabels:
        """Returns the role of each dimension."""
        return parse_labels(self.dim_labels)


def expand_fused(ops: Ops, call: Instruction) -> Instruction:
    """Builds a forward convolution with scales, bias, side input and activation."""
    check_operands(call, 3, 4)
    config = CallConfig.of(call, "cudnn_conv_backend_config")
    found = _read(call)
    shape = arithmetic.result_shapes(call, 1)[0]
    value = _emit(ops, found, shape.dimensions, arithmetic.summing_type(shape, found.lhs, found.rhs))
    value = _scaled(ops, value, config.number("conv_result_scale"), shape)
    if len(call.operands) > _SIDE_INPUT:
        value = arithmetic.plus(ops, value, call.operands[_SIDE_INPUT], config.number("side_input_scale"))
    value = arithmetic.plus_along(ops, value, call.operands[_BIAS], (found.labels.out_feature,))
    mode = config.word("activation_mode", arithmetic.ACTIVATIONS)
    slope = config.number("leakyrelu_alpha") if mode == "kLeakyRelu" else 0.0
    value = arithmetic.activated(ops, call, value, mode, slope)
    return arithmetic.outputs(ops, call, [arithmetic.rounded(ops, value, shape.element_type)])


# One operation of a graph: `8589934598:[f32]scale(8589934606);` names itself, the type and its operands in the graph.
_NODE = re.compile(r"(\d+):\[\w+\](\w+)\(([\d,]*)\);", re.ASCII)
# The operations on two values. An operand that is outside of the graph is the next operand of the call.
_BINARY = {"add": "add", "scale": "multiply", "invscale": "divide", "min": "minimum", "max": "maximum"}


def expand_graph(ops: Ops, call: Instruction) -> Instruction:
    """Builds a convolution of 8-bit floats with the operations of its serialized graph, in f32.

    The results are that of the last operation, and the largest magnitudes (`amax`) in their order. Source: GraphString
    in xla/backends/gpu/transforms/cudnn_fused_conv_rewriter.cc.
    """
    text, found = CallConfig.of(call, "cudnn_conv_backend_config").text("serialized_graph"), _read(call)
    dimensions = arithmetic.result_shapes(call, 1)[0].dimensions
    values: dict[str, Instruction] = {}
    largest, rest, last = list[Instruction](), list(call.operands[2:]), ""
    for number, name, given in _NODE.findall(text):
        operands = [values[each] for each in given.split(",") if each]
        if name == "amax":
            largest.append(arithmetic.largest_magnitude(ops, operands[0]))
            continue
        value = _emit(ops, found, dimensions, _F32) if name == "conv" else _node(ops, call, name, operands, rest)
        values[number], last = value, number
    if not last or rest:
        raise refused(call, f"its graph {text} does not explain its operands")
    main = arithmetic.rounded(ops, values[last], arithmetic.result_shapes(call, 1)[0].element_type)
    shapes = arithmetic.result_shapes(call, 1 + len(largest))[1:]
    extra = [ops.convert(each, part.element_type) for each, part in zip(largest, shapes, strict=True)]
    return arithmetic.outputs(ops, call, [main, *extra])


def _node(ops: Ops, call: Instruction, name: str, operands: list[Instruction], rest: list[Instruction]) -> Instruction:
    """Builds one operation of a graph, whose missing operand is taken from `rest`."""
    if name in ("relu", "elu"):
        return arithmetic.activated(ops, call, operands[0], {"relu": "kRelu", "elu": "kElu"}[name])
    if name not in _BINARY:
        raise refused(call, f"its graph has the operation {name}")
    value = operands[0]
    if len(operands) == 1:
        other = arithmetic.plain(ops, rest.pop(0), _F32)
        operands.append(other if array_shape(other).rank else ops.broadcast(other, array_shape(value).dimensions))
    return ops.like(_BINARY[name], value, operands[1])


def expand_product(
    ops: Ops, call: Instruction, from_forward: Callable[[Ops, Convolution, ArrayShape], Convolution]
) -> Instruction:
    """Builds the convolution that `from_forward` makes of the forward one, which the call describes."""
    check_operands(call, 2)
    shape = arithmetic.result_shapes(call, 1)[0]
    found = from_forward(ops, _read(call), shape)
    value = _emit(ops, found, shape.dimensions, arithmetic.summing_type(shape, found.lhs, found.rhs))
    if call.attribute("backend_config") is not None:
        scale = CallConfig.of(call, "cudnn_conv_backend_config").number("conv_result_scale")
        value = value if scale == 1 else _scaled(ops, value, scale, shape)
    return arithmetic.outputs(ops, call, [arithmetic.rounded(ops, value, shape.element_type)])


def _scaled(ops: Ops, value: Instruction, scale: float, shape: ArrayShape) -> Instruction:
    return arithmetic.times(ops, ops.convert(value, _F64 if shape.element_type == _F64 else _F32), scale)


def _read(call: Instruction) -> Convolution:
    text = (call.attribute("dim_labels") or "").strip()
    if "?" in text:
        raise refused(call, f"its dim_labels {text} have features in vectors")
    try:
        window = parse_window(call.attribute("window"), len(parse_labels(text).lhs_spatial))
    except ValueError as error:
        raise refused(call, f"its {error}") from None
    lhs, rhs = call.operands[:2]
    return Convolution(call, lhs, rhs, text, window, int(call.attribute("feature_group_count") or 1))


# The letters of labels with batches and features exchanged, and with those of the filter in place of those of arrays.
_EXCHANGED, _OF_FILTER = str.maketrans("bfio", "fboi"), str.maketrans("bfio", "iobf")


def backward_input(ops: Ops, found: Convolution, shape: ArrayShape) -> Convolution:
    """Returns the convolution of the output's dilated gradient with the reversed filter, features exchanged."""
    old, (lhs, rhs, out) = found.labels, re.split("_|->", found.dim_labels)
    labels = f"{out}_{rhs.translate(_EXCHANGED)}->{lhs}"
    gradient = array_shape(found.lhs).dimensions
    window = []
    for dim, there, here in zip(_simple(found), old.out_spatial, old.lhs_spatial, strict=True):
        reach = (dim.size - 1) * dim.rhs_dilation
        low = reach - dim.low
        high = shape.dimensions[here] - 1 + reach - (gradient[there] - 1) * dim.stride - low
        window.append(WindowDimension(dim.size, 1, low, high, lhs_dilation=dim.stride, rhs_dilation=dim.rhs_dilation))
    filters = ops.reverse(_groups_exchanged(ops, found), old.rhs_spatial)
    return Convolution(found.call, found.lhs, filters, labels, tuple(window), found.feature_groups)


def _groups_exchanged(ops: Ops, found: Convolution) -> Instruction:
    """Builds the filter with its groups moved from the output features to the input features."""
    groups, labels = found.feature_groups, found.labels
    if groups == 1:
        return found.rhs
    sizes, output = list(array_shape(found.rhs).dimensions), labels.rhs_output
    split = [*sizes[:output], groups, sizes[output] // groups, *sizes[output + 1 :]]
    order = [i + (i >= output) for i in range(len(sizes))]
    order.insert(labels.rhs_input, output)
    sizes[labels.rhs_input] *= groups
    sizes[output] //= groups
    return ops.reshape(ops.transpose(ops.reshape(found.rhs, split), order), sizes)


def backward_filter(ops: Ops, found: Convolution, shape: ArrayShape) -> Convolution:
    """Returns the convolution of the input with the output's gradient, batch and features exchanged."""
    old, (lhs, rhs, out) = found.labels, re.split("_|->", found.dim_labels)
    labels = f"{lhs.translate(_EXCHANGED)}_{out.translate(_OF_FILTER)}->{rhs.translate(_OF_FILTER)}"
    source, gradient = array_shape(found.lhs).dimensions, array_shape(found.rhs).dimensions
    window = []
    for i, dim in enumerate(_simple(found)):
        size = gradient[old.out_spatial[i]]
        reach = (shape.dimensions[old.rhs_spatial[i]] - 1) * dim.rhs_dilation + (size - 1) * dim.stride
        high = reach + 1 - source[old.lhs_spatial[i]] - dim.low
        window.append(WindowDimension(size, dim.rhs_dilation, dim.low, high, rhs_dilation=dim.stride))
    return Convolution(found.call, found.lhs, found.rhs, labels, tuple(window), batch_groups=found.feature_groups)


def _simple(found: Convolution) -> tuple[WindowDimension, ...]:
    if any(dim.lhs_dilation != 1 or dim.is_reversed for dim in found.window):
        raise refused(found.call, f"its window is {format_window(found.window)}")
    return found.window


def _check(found: Convolution, dimensions: tuple[int, ...]) -> None:
    """Raises DiagnosticError if labels, window and groups do not imply the dimensions."""
    labels, (lhs, rhs) = found.labels, (array_shape(found.lhs).dimensions, array_shape(found.rhs).dimensions)
    rank = 2 + len(labels.lhs_spatial)
    if {len(lhs), len(rhs), len(dimensions)} != {rank} or len(found.window) != len(labels.lhs_spatial):
        raise refused(found.call, f"its labels are for rank {rank}, its arrays have other dimensions")
    if lhs[labels.lhs_feature] != rhs[labels.rhs_input] * found.feature_groups:
        raise refused(found.call, f"it has {lhs[labels.lhs_feature]} features for a kernel of {rhs[labels.rhs_input]}")
    wanted = {labels.out_batch: lhs[labels.lhs_batch] // found.batch_groups, labels.out_feature: rhs[labels.rhs_output]}
    for i, dim in enumerate(found.window):
        wanted[labels.out_spatial[i]] = positions(lhs[labels.lhs_spatial[i]], dim)
    expected = tuple(wanted[number] for number in range(rank))
    if expected != dimensions:
        raise refused(found.call, f"its window gives dimensions {list(expected)}, not {list(dimensions)}")


def _emit(ops: Ops, found: Convolution, dimensions: tuple[int, ...], kind: ElementType) -> Instruction:
    attributes: dict[str, AttributeValue] = {"dim_labels": found.dim_labels}
    if found.window:
        attributes = {"window": format_window(found.window), **attributes}
    for name, count in (("feature_group_count", found.feature_groups), ("batch_group_count", found.batch_groups)):
        if count > 1:
            attributes[name] = str(count)
    _check(found, dimensions)
    operands = ops.convert(found.lhs, kind), ops.convert(found.rhs, kind)
    return ops.array("convolution", dimensions, operands, attributes, element_type=kind)
