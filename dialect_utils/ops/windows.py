"""Operations on windows that slide over arrays: convolution, reduce-window and select-and-scatter.

The TPU compiler writes every dot as a convolution; one without proper windows is a dot again: the spatial dimensions of
a convolution that only pair indices become dimensions of a dot.

Longer than others: each operation is declared, checked and defined in one file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic

from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops.contractions import ALGORITHM, widened
from dialect_utils.ops.declaration import (
    ANY,
    COMBINED,
    CONTRACTED,
    CONVOLUTION,
    DIM_LABELS,
    TO_APPLY,
    Attribute,
    Opcode,
    Trait,
    computations,
    op,
    texts,
)
from dialect_utils.ops.domain import (
    Domain,
    UndefinedError,
    V,
    grouped,
    only_function,
    reshaped,
    result_array,
    transposed,
)
from dialect_utils.ops.factors import RESULT, Factor, Kind, Position, aligned, result_positions, shared, sizes_at
from dialect_utils.ops.inference import (
    Instance,
    ShapeError,
    check_applied,
    check_reducer,
    first_array,
    made,
    scalar_type,
    wider,
)
from dialect_utils.ops.reductions import PRED, check_reduction, reduced_arrays, reduced_result
from dialect_utils.ops.structured import convolution_window, group_counts, labels, reduction_window
from dialect_utils.ops.window import (
    DimensionLabels,
    Role,
    WindowDimension,
    Windows,
    classify,
    parse_labels,
    parse_window,
    positions,
)

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


@dataclass(frozen=True, slots=True)
class Convolution(Generic[V]):
    """A convolution of [batch, feature, *spatial] and [output, input, *spatial].

    `groups` are the numbers of feature groups and of batch groups, `sizes` the dimensions [batch, output, *spatial] of
    the result. The window is not reversed. With `has_padding` padding is multiplied, as 0; else it takes no part.
    """

    domain: Domain[V]
    operation: Operation
    window: tuple[WindowDimension, ...]
    groups: tuple[int, int]
    sizes: tuple[int, ...]
    has_padding: bool

    def of(self, lhs: V, rhs: V) -> V:
        """Returns the result: of a dot, or of a convolution over the proper windows alone.

        Batch groups, and spatial dimensions with the role of a batch, become feature groups. A dimension whose padding
        is multiplied keeps its window.
        """
        spatial = self.domain.dimensions(lhs)[2:]
        found = [
            classify(each, size, out) if not (self.has_padding and each.has_padding) else ("window", False)
            for each, size, out in zip(self.window, spatial, self.sizes[2:], strict=True)
        ]
        roles: list[Role] = [role for role, _ in found]
        backwards = [i + 2 for i, (_, is_reversed) in enumerate(found) if is_reversed]
        kernel = self.domain.reverse(rhs, backwards) if backwards else rhs
        if self.groups[1] == 1 and {*roles} == {"window"}:
            return self._convolved(lhs, kernel, self.window, self.groups[0], self.sizes)
        return self._paired(lhs, kernel, roles)

    def _convolved(self, lhs: V, rhs: V, window: tuple[WindowDimension, ...], groups: int, sizes: tuple[int, ...]) -> V:
        return self.domain.convolve(Windows(self.operation, window, sizes, self.has_padding), lhs, rhs, groups)

    def _paired(self, lhs: V, rhs: V, roles: Sequence[Role]) -> V:
        """Returns the result, computed on [groups, rows, summed, *windows] and [groups, columns, summed, *windows]."""
        domain, (features, batches) = self.domain, self.groups
        outputs, inputs, *kernel = domain.dimensions(rhs)
        spatial, count = domain.dimensions(lhs)[2:], features * batches

        def of(role: Role, first: int) -> list[int]:
            return [first + i for i, each in enumerate(roles) if each == role]

        split = reshaped(domain, lhs, (batches, self.sizes[0], features, inputs, *spatial))
        rows, summed = (1, *of("lhs", 4), *of("rhs", 4)), (3, *of("contracting", 4))
        left = grouped(domain, split, (0, 2, *of("batch", 4)), rows, summed, *([i] for i in of("window", 4)))
        split = reshaped(domain, rhs, (count, outputs // count, inputs, *kernel))
        columns, summed = (1, *of("rhs", 3), *of("lhs", 3)), (2, *of("contracting", 3))
        right = grouped(domain, split, (0, *of("batch", 3)), columns, summed, *([i] for i in of("window", 3)))
        made = self._multiplied(left, right, of("window", 0))
        names: dict[int | str, int] = {
            "rows": self.sizes[0],
            "columns": outputs // count,
            **dict(enumerate(self.sizes[2:])),
        }
        order: list[int | str] = [*of("batch", 0), "rows", *of("lhs", 0), "columns", *of("rhs", 0), *of("window", 0)]
        found = reshaped(domain, made, (batches, features, *(names[each] for each in order)))
        at: dict[int | str, int] = {each: i for i, each in enumerate(order, 2)}
        # A contracting dimension has size 1 in the result.
        kept = (at[i] for i in range(len(roles)) if i in at)
        return reshaped(domain, transposed(domain, found, (at["rows"], 0, 1, at["columns"], *kept)), self.sizes)

    def _multiplied(self, left: V, right: V, windows: Sequence[int]) -> V:
        """Returns [groups, rows, columns, *windows]."""
        domain = self.domain
        if not windows:
            return domain.contract(self.operation, left, right)
        (groups, rows, summed, *spatial), (_, columns, _, *kernel) = map(domain.dimensions, (left, right))
        results = [self.sizes[2 + i] for i in windows]
        rest = range(3, 3 + len(windows))
        lhs = reshaped(domain, transposed(domain, left, (1, 0, 2, *rest)), (rows, groups * summed, *spatial))
        rhs = reshaped(domain, right, (groups * columns, summed, *kernel))
        window = tuple(self.window[i] for i in windows)
        made = self._convolved(lhs, rhs, window, groups, (rows, groups * columns, *results))
        return transposed(domain, reshaped(domain, made, (rows, groups, columns, *results)), (1, 0, 2, *rest))


# Results (ShapeInference::InferConvolveShape, InferReduceWindowShape, InferSelectAndScatterShape)


def written_window(instance: Instance, rank: int) -> tuple[WindowDimension, ...]:
    """Returns the window of an operation, one entry for each of `rank` dimensions; raises ShapeError."""
    text = instance.attribute("window")
    if text is None and rank and instance.opcode != "convolution":
        raise ShapeError(f"{instance.opcode} needs a window of rank {rank}", "opcode")
    try:
        window = parse_window(text, rank)
    except ValueError as error:
        message = str(error)
        is_named = message.startswith("the window")
        raise ShapeError(message if is_named else f"the window {text} is not valid for rank {rank}", "window") from None
    positive = (value for each in window for value in (each.size, each.stride, each.lhs_dilation, each.rhs_dilation))
    if any(value < 1 for value in positive):
        raise ShapeError(f"the window {text} has a size, stride or dilation below 1", "window")
    return window


def convolution(instance: Instance) -> Shape:
    """Returns batch, features and the windows that fit, where `dim_labels` says."""
    lhs, rhs, *others = instance.arrays()
    for side, index in _SPARSE.findall(instance.attribute("sparsity_config") or ""):
        if not 0 <= int(index) - 2 < len(others):  # after the two operands that are multiplied
            raise ShapeError(f"the sparsity of {side} names operand {index}, which is none", "sparsity_config")
    numbers = _written_labels(instance, lhs, rhs)
    window = written_window(instance, lhs.rank - 2)
    batches = _batch_groups(instance, lhs, rhs, numbers)
    dimensions = [0] * lhs.rank
    dimensions[numbers.out_batch] = lhs.dimensions[numbers.lhs_batch] // batches
    dimensions[numbers.out_feature] = rhs.dimensions[numbers.rhs_output]
    for spatial, dim in enumerate(window):
        size = rhs.dimensions[numbers.rhs_spatial[spatial]]
        if dim.size != size:
            message = f"the window has {dim.size} elements in dimension {spatial}, but the kernel {size}"
            raise ShapeError(message, "window")
        dimensions[numbers.out_spatial[spatial]] = positions(lhs.dimensions[numbers.lhs_spatial[spatial]], dim)
    return made(widened(instance, wider(lhs.element_type, rhs.element_type)), dimensions)


def _written_labels(instance: Instance, lhs: ArrayShape, rhs: ArrayShape) -> DimensionLabels:
    text = instance.attribute("dim_labels") or ""
    parts = text.replace("->", "_").split("_")
    result = instance.shape if isinstance(instance.shape, ArrayShape) else lhs
    ranks = [lhs.rank, rhs.rank, result.rank]
    if [len(each) for each in parts] != ranks or len(set(ranks)) != 1:
        message = f"the labels {text} do not fit arrays of rank {', '.join(map(str, ranks))}"
        raise ShapeError(message, "dim_labels")
    digits = "".join(map(str, range(lhs.rank - 2)))
    if lhs.rank < len("bf") or [sorted(each) for each in parts] != [sorted(f"{ends}{digits}") for ends in _LABEL_ENDS]:
        raise ShapeError(f"the labels {text} do not name each dimension once", "dim_labels")
    return parse_labels(text)


def _batch_groups(instance: Instance, lhs: ArrayShape, rhs: ArrayShape, numbers: DimensionLabels) -> int:
    """Returns batch_group_count; raises ShapeError where groups do not divide features, outputs and batches."""
    features, batches = instance.number("feature_group_count", 1), instance.number("batch_group_count", 1)
    if features < 1 or batches < 1 or (features > 1 and batches > 1):
        message = f"convolution in {features} groups of features and {batches} of batches"
        raise ShapeError(message, "feature_group_count" if features < 1 or batches >= 1 else "batch_group_count")
    given, kernel = lhs.dimensions[numbers.lhs_feature], rhs.dimensions[numbers.rhs_input]
    block = _BLOCKS.search(instance.attribute("sparsity_config") or "")
    if given != kernel * features * (int(block[1]) if block else 1):
        message = f"convolution of {given} features in {features} groups by a kernel of {kernel}"
        raise ShapeError(message, "operands")
    outputs, batch = rhs.dimensions[numbers.rhs_output], lhs.dimensions[numbers.lhs_batch]
    if outputs % features or outputs % batches or batch % batches:
        message = f"convolution whose {outputs} outputs and {batch} batches are not divided by its groups"
        raise ShapeError(message, "operands")
    return batches


def reduce_window(instance: Instance) -> Shape:
    """Returns how many windows fit into each dimension."""
    found = reduced_arrays(instance)
    window = written_window(instance, found[0].rank)
    sizes = [positions(size, dim) for size, dim in zip(found[0].dimensions, window, strict=True)]
    return reduced_result(instance, found, sizes)


def check_select_and_scatter(instance: Instance) -> None:
    """Raises ShapeError where source, window or computations of a select-and-scatter do not fit."""
    array, source = instance.arrays(0, 2)
    window = written_window(instance, array.rank)
    wanted = tuple(positions(size, each) for size, each in zip(array.dimensions, window, strict=True))
    if source.dimensions != wanted:
        message = f"select-and-scatter needs a source of dimensions {list(wanted)}, found {source}"
        raise ShapeError(message, "operand 1")
    kind, begun = array.element_type, scalar_type(instance, 2)
    if not instance.is_lenient:
        check_applied(instance, 0, [kind, kind], [PRED])
        check_reducer(instance, 1, [begun], [source.element_type])


_LABEL_ENDS = ("bf", "io", "bf")
# Fields of `sparsity_config={rhs={sparsity=1x4 dimension=0 stride=1 idx=2}}`: a kernel holds one number of each block.
_SPARSE = re.compile(r"\b(lhs|rhs)=\{[^{}]*\bidx=(-?\d{1,9})")
_BLOCKS = re.compile(r"\brhs=\{[^{}]*\bsparsity=1x(\d{1,9})")


def define_convolution(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the sums of products of windows and kernels; a gradient's operands have other roles."""
    if operation.attribute("convolution_kind") in ("dgrad", "wgrad") or operation.attribute("sparsity_config"):
        raise UndefinedError("a convolution that is the gradient of another, or of sparse arrays")
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
    kernel = domain.dimensions(rhs)
    written = convolution_window(operation, [kernel[i] for i in numbers.rhs_spatial])
    # A window that is reversed is one of a reversed kernel.
    backwards = [i for i, dimension in zip(numbers.rhs_spatial, written, strict=True) if dimension.is_reversed]
    rhs = domain.reverse(rhs, backwards) if backwards else rhs
    rhs = transposed(domain, rhs, (numbers.rhs_output, numbers.rhs_input, *numbers.rhs_spatial))
    window = tuple(replace(changed(i, dimension), is_reversed=False) for i, dimension in enumerate(written))
    order = (numbers.out_batch, numbers.out_feature, *numbers.out_spatial)
    sizes = tuple(result.dimensions[i] for i in order)
    is_stablehlo = operation.attribute("dim_labels") is None
    convolution = Convolution(domain, operation, window, group_counts(operation), sizes, is_stablehlo)
    return [transposed(domain, convolution.of(lhs, rhs), inverse_permutation(order))]


def define_reduce_window(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the combined elements of every window.

    In StableHLO padding is the initial value; HLO skips padding. Dimensions of one element in windows of one element
    change nothing. Sources: StableHLO's specification of reduce_window; HloEvaluator's HandleReduceWindow.
    """
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    given = domain.dimensions(arrays[0])
    window = reduction_window(operation, len(given))
    sizes = result_array(operation).dimensions
    is_stablehlo = operation.attribute("window_dimensions") is not None
    kept = [i for i, each in enumerate(window) if (given[i], each.size, each.low, each.high) != (1, 1, 0, 0)]
    if len(kept) == len(window):
        written = Windows(operation, window, sizes, is_stablehlo)
        return domain.reduce_window(written, only_function(operation), arrays, initial)
    flat = [reshaped(domain, array, [given[i] for i in kept]) for array in arrays]
    windows = Windows(operation, tuple(window[i] for i in kept), tuple(sizes[i] for i in kept), is_stablehlo)
    found = domain.reduce_window(windows, only_function(operation), flat, initial)
    return [reshaped(domain, each, sizes) for each in found]


def define_select_and_scatter(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns each source element combined into the element that its window selects, from the first one on.

    Source: HloEvaluator's HandleSelectAndScatter.
    """
    array, source, initial = operands
    sizes = domain.dimensions(array)
    window = reduction_window(operation, len(sizes))
    chosen = domain.select_in_windows(operation.called_as("select"), array, window, domain.dimensions(source))
    return domain.scatter(operation.called_as("scatter"), [domain.broadcast(initial, (), sizes)], [source], chosen)


# Factors

# The sides of a convolution that have a spatial dimension of a role.
_SIDES: dict[Role, tuple[Position, ...]] = {
    "batch": (0, 1, RESULT),
    "contracting": (0, 1),
    "lhs": (0, RESULT),
    "rhs": (1, RESULT),
    "window": (0, 1, RESULT),
}


def convolution_factors(operation: Operation) -> Iterator[Factor]:
    """Yields groups, batch, features and spatial dimensions; the latter are windows unless they only pair indices."""
    numbers, (features, batches) = labels(operation), group_counts(operation)
    lhs, rhs, result = (sizes_at(operation, position) for position in (0, 1, RESULT))
    output = {1: numbers.rhs_output, RESULT: numbers.out_feature}
    if features > 1 or batches > 1:
        split = numbers.lhs_feature if features > 1 else numbers.lhs_batch
        yield Factor({0: split, **output}, features * batches)
    yield Factor({0: numbers.lhs_batch, RESULT: numbers.out_batch}, result[numbers.out_batch])
    yield Factor({0: numbers.lhs_feature, 1: numbers.rhs_input}, rhs[numbers.rhs_input], Kind.COMBINED)
    yield Factor(output, result[numbers.out_feature] // (features * batches))
    window = convolution_window(operation, [rhs[i] for i in numbers.rhs_spatial])
    spatial = zip(numbers.lhs_spatial, numbers.rhs_spatial, numbers.out_spatial, strict=True)
    for dimension, (left, right, out) in zip(window, spatial, strict=True):
        role, is_reversed = classify(dimension, lhs[left], result[out])
        is_pairing = not (is_reversed or dimension.has_padding) and role != "window"
        where = {0: left, 1: right, RESULT: out}
        sides = {position: where[position] for position in _SIDES[role if is_pairing else "window"]}
        kind = Kind.WINDOWED if not is_pairing else Kind.COMBINED if role == "contracting" else Kind.KEPT
        yield shared(operation, sides, kind)


def reduce_window_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions; a dimension in which each element is a window of its own is kept."""
    return _in_windows(operation, [*range(len(operation.operands) // 2), *result_positions(operation)])


def _in_windows(operation: Operation, arrays: Sequence[Position]) -> Iterator[Factor]:
    window = reduction_window(operation, len(sizes_at(operation, 0)))
    return aligned(operation, arrays, {i: Kind.WINDOWED for i, each in enumerate(window) if not each.is_trivial})


_FIELDS = "window_dimensions window_strides base_dilations window_dilations padding"
_WINDOW = Attribute("window", "window", _FIELDS)

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "convolution",
        (2, None),
        CONTRACTED,
        *(replace(each, is_needed=each is DIM_LABELS) for each in CONVOLUTION),
        Attribute("convolution_kind", values=("fprop", "wgrad", "dgrad", "unset")),
        ALGORITHM,
        *texts("sparsity_config block_scaling_config"),
        result=convolution,
        define=define_convolution,
        factors=convolution_factors,
    ),
    op(
        "reduce-window",
        ANY,
        COMBINED | Trait.FOLDS,
        _WINDOW,
        *TO_APPLY,
        result=reduce_window,
        check=check_reduction,
        define=define_reduce_window,
        factors=reduce_window_factors,
    ),
    op(
        "select-and-scatter",
        3,
        COMBINED,
        _WINDOW,
        *computations("select scatter"),
        result=first_array,
        check=check_select_and_scatter,
        define=define_select_and_scatter,
        factors=lambda operation: _in_windows(operation, [0, 1, RESULT]),
    ),
)
