"""The orders of dimensions that backends of XLA ask for, by operation, as rules of a layout assignment.

Those of GPUs are in xla/service/gpu/transforms/layout_assignment.cc, those of TPUs are read off dumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.targets.gpu import Gpu
from dialect_utils.layout.targets.known import default_layout, laid_out
from dialect_utils.layout.targets.target import Target
from dialect_utils.ops import by_opcode, named
from dialect_utils.ops.structured import labels
from dialect_utils.text import DiagnosticError
from passes.layouts.assignment import RESULT, Assignment, Order, Rules, Use, Wish, descending, order_of

Dimensions = Sequence[int]


def _rank(value: Value) -> int:
    return value.shape.rank if isinstance(value.shape, ArrayShape) else 0


def _shapes(operation: Operation) -> list[ArrayShape]:
    return [array_shape(each) for each in (*operation.operands, operation.results[0])]


def _dot_groups(operation: Operation) -> list[list[tuple[int, ...]]]:
    """Returns batch, contracting and free dimensions of both operands, then batch and free ones of the result."""
    sides = []
    for side, value in zip(("lhs", "rhs"), operation.operands, strict=True):
        batch, contracting = (operation.ints(f"{side}_{kind}_dims") or () for kind in ("batch", "contracting"))
        free = tuple(each for each in range(_rank(value)) if each not in (*batch, *contracting))
        sides.append([batch, contracting, free])
    counts = [len(sides[0][0]), len(sides[0][2]), len(sides[1][2])]
    ends = [sum(counts[:number]) for number in range(len(counts) + 1)]
    return [*sides, [tuple(range(*each)) for each in pairwise(ends)]]


def _is_matrix(order: Order, groups: Sequence[tuple[int, ...]]) -> bool:
    """Is true for contiguous descending groups, of which the first is not most minor: MatrixLayout::For."""
    starts = [(order.index(group[-1]), group) for group in groups if group]
    return order[0] not in groups[0] and all(order[i : i + len(group)] == group[::-1] for i, group in starts)


def _gpu_dot(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields orders of matrices: a batch, rows and columns, each of contiguous dimensions."""
    *sides, result = _dot_groups(operation)
    for number, side in enumerate(sides):
        if side[0] or len(side[1]) > 1 or len(side[2]) > 1:
            shape = array_shape(operation.operands[number])
            known = (shape.effective_layout.minor_to_major, descending(shape.rank))
            grouped = tuple(reversed([each for group in side for each in group]))
            yield number, next((each for each in known if _is_matrix(each, side)), grouped)
    if result[0] or len(result[1]) > 1 or len(result[2]) > 1:
        value = operation.results[0]
        read = (Use(user, i) for user in value.users for i, each in enumerate(user.operands) if each == value)
        asked = (order for order in map(assignment.asked, read) if order and _is_matrix(order, result))
        yield RESULT, next(asked, descending(_rank(value)))


def _gpu_transpose(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields the order of a product that its only transpose reads without moving an element."""
    (value,) = operation.operands
    order = tuple(reversed(operation.ints("dimensions") or ()))
    made = value.operation
    is_only = made is not None and made.opcode == "dot" and len(value.users) == 1
    if made is not None and is_only and _is_matrix(order, _dot_groups(made)[-1]):
        yield 0, order


def _gpu_custom_call(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields the orders of cuDNN, with the features most minor or next to the batch, and the rows of TopK."""
    target, rules = operation.callee or "", assignment.rules
    if target == "TopK":
        yield RESULT, descending(_rank(operation.operands[0]))
    if not target.startswith("__cudnn$conv") or not isinstance(rules, GpuRules):
        return
    known = labels(operation)
    image = (known.lhs_batch, known.lhs_feature, *known.lhs_spatial)
    kernel = (known.rhs_output, known.rhs_input, *known.rhs_spatial)
    result = (known.out_batch, known.out_feature, *known.out_spatial)
    places = {
        "__cudnn$convBackwardInput": (result, kernel, image),
        "__cudnn$convBackwardFilter": (image, result, kernel),
    }.get(target, (image, kernel, result))
    is_last = rules.has_features_last(array_shape(operation.operands[0]))
    for place, (outer, feature, *spatial) in zip((0, 1, RESULT), places, strict=True):
        major_to_minor = (outer, *spatial, feature) if is_last else (outer, feature, *spatial)
        yield place, major_to_minor[::-1]
    extra = (number for number, value in enumerate(operation.operands) if number > 1 and _rank(value) > 1)
    yield from ((number, major_to_minor[::-1]) for number in extra)


def _rows(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    ranks = [_rank(each) for each in operation.operands]
    yield from ((number, descending(rank)) for number, rank in enumerate(ranks))
    yield RESULT, descending(ranks[0])


def _columns(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    for place, order in _rows(operation, assignment):
        yield place, (order[1], order[0], *order[2:])


def _along_major(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields the order in which a collective concatenates the most major dimension, on TPUs of those wider than 1."""
    shape = operation.results[0].shape
    for dimension in (operation.ints("dimensions") or ()) if isinstance(shape, ArrayShape) else ():
        rest = [each for each in order_of(shape) or () if each != dimension]
        unit = [each for each in rest if assignment.rules.waiting and next(shape.arrays()).dimensions[each] == 1]
        yield RESULT, (*(each for each in rest if each not in unit), dimension, *unit)


def _cheapest(shape: ArrayShape, pairs: Iterable[Dimensions], target: Target, major: Dimensions) -> Order:
    """Returns the order with one of the pairs most minor that pads least; `major` ones are last."""
    rest = [each for each in descending(shape.rank) if each not in major]
    orders = [(*pair, *(each for each in rest if each not in pair), *reversed(major)) for pair in pairs]
    return min(orders, key=lambda order: target.allocation_bytes(laid_out(shape, order, target)))


def _tpu_dot(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields orders with the widest row and column below the batch, for the matrix unit; matrices have any order."""
    shapes, (left, right, result) = _shapes(operation), _dot_groups(operation)
    is_row_minor = False
    for place, shape, (batch, rows, columns) in zip((0, 1, RESULT), shapes, (left, right, result), strict=True):
        if rows and columns and shape.rank > _MATRIX:
            row, column = (max(each, key=lambda dim: (shape.dimensions[dim], dim)) for each in (rows, columns))
            pairs = sorted([(row, column), (column, row)], reverse=not is_row_minor or place != RESULT)
            order = _cheapest(shape, pairs, assignment.rules.target, batch)
            is_row_minor = is_row_minor or (place == 0 and order[0] in columns)
            yield place, order


def _tpu_convolution(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields orders with spatial dimensions most major, and features most minor unless the batch pads less there."""
    known = labels(operation)
    sides = (
        (known.lhs_feature, known.lhs_batch, known.lhs_spatial),
        (known.rhs_output, known.rhs_input, known.rhs_spatial),
        (known.out_feature, known.out_batch, known.out_spatial),
    )
    for place, shape, (one, two, spatial) in zip((0, 1, RESULT), _shapes(operation), sides, strict=True):
        yield place, _cheapest(shape, ((one, two), (two, one)), assignment.rules.target, spatial)


def _tpu_sort(operation: Operation, assignment: Assignment) -> Iterator[Wish]:
    """Yields an order that sorts a dimension across rows if it is shorter than a row of a register."""
    shape = next(operation.results[0].shape.arrays())
    order = assignment.rules.default(shape)
    if shape.rank > 1 and order[:1] == operation.ints("dimensions") and shape.dimensions[order[0]] < _LANES:
        across = (order[1], order[0], *order[2:])
        yield from ((place, across) for place in (*range(len(operation.operands)), RESULT))


_Rule = Callable[[Operation, Assignment], Iterable[Wish]]
# The operations for which each compiler asks for orders of its own; all others follow from what is around them.
_GPU_RULES: Mapping[str, _Rule] = by_opcode(
    {
        **dict.fromkeys(("all-gather", "all-to-all", "reduce-scatter"), _along_major),
        **dict.fromkeys(("fft", "sort"), _rows),
        "custom-call": _gpu_custom_call,
        "dot": _gpu_dot,
        "transpose": _gpu_transpose,
        "triangular-solve": _columns,
    }
)
# As above.
_TPU_RULES: Mapping[str, _Rule] = by_opcode(
    {"all-gather": _along_major, "convolution": _tpu_convolution, "dot": _tpu_dot, "fusion": _rows, "sort": _tpu_sort}
)
# The dimensions of a matrix.
_MATRIX = 2
_LANES = 128
# The least size of a reduction that is faster along the most minor dimension, the compute capability from which cuDNN
# has the features last for each type but f64, and the rank of images (gpu/transforms/layout_assignment.cc).
_LEAST_ROW, _HOPPER, _IMAGE_RANK = 32, 9, 4


class GpuRules(Rules):
    """The rules of XLA:GPU."""

    __slots__ = ()

    def aligned(self, source: ArrayShape, order: Order, target: ArrayShape) -> Order | None:
        """Returns the order with each dimension of size 1 next to the one that follows it."""
        found = super().aligned(source, order, target)
        if found is None:
            return None
        major_to_minor = [each for each in reversed(found) if target.dimensions[each] != 1]
        for dimension in descending(target.rank):
            if target.dimensions[dimension] == 1:
                is_last = dimension + 1 == target.rank
                position = len(major_to_minor) if is_last else major_to_minor.index(dimension + 1)
                major_to_minor.insert(position, dimension)
        return tuple(reversed(major_to_minor))

    def reduces_rows(self, operation: Operation) -> bool:
        sizes = array_shape(operation.operands[0]).dimensions
        return prod(sizes[each] for each in operation.ints("dimensions") or ()) >= _LEAST_ROW

    def has_features_last(self, image: ArrayShape) -> bool:
        """Is true where cuDNN computes a convolution fastest with the features most minor."""
        name, is_new = image.element_type.name, isinstance(self.target, Gpu) and self.target.capability >= _HOPPER
        is_half = name in ("f16", "bf16") and image.rank == _IMAGE_RANK
        is_small = not image.element_type.is_inexact or name.startswith("f8")
        return is_half or is_small or (is_new and name != "f64")


class TpuRules(Rules):
    """The rules of the TPU compiler."""

    __slots__ = ()

    def default(self, shape: ArrayShape) -> Order:
        return default_layout(shape.element_type, shape.dimensions, self.target).minor_to_major


def rules_of(target: Target) -> Rules:
    """Returns the rules of the compiler for a target."""
    if isinstance(target, Gpu):
        return GpuRules(target, _GPU_RULES)
    if target.platform == "described":
        raise DiagnosticError(f"{target.name} is described by a file, which says nothing of inner layouts")
    return TpuRules(target, _TPU_RULES, waiting=named("convolution dot"))
