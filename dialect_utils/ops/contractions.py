"""Operations that sum products of two arrays: dot, ragged-dot and scaled-dot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Generic

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape
from dialect_utils.ops.declaration import ANY, CONTRACTED, PRECISION, Attribute, Opcode, dims, op, texts
from dialect_utils.ops.domain import Domain, UndefinedError, V, grouped, required_ints, reshaped, result_array, section
from dialect_utils.ops.factors import RESULT, Factor, Kind, shared, sizes_at
from dialect_utils.ops.inference import Instance, ShapeError, made, wider

if TYPE_CHECKING:
    from dialect_utils.ir import Operation
    from dialect_utils.ops.positions import Positions

# Results (ShapeInference::InferDotOpShape, InferRaggedDotOpShape)


def widened(instance: Instance, kind: ElementType) -> ElementType:
    """Returns the element type of a sum of products: the written one where XLA lets it differ."""
    if not isinstance(instance.shape, ArrayShape):
        return kind
    given = instance.shape.element_type
    return kind if given.is_complex != kind.is_complex else given


def summed_in(result: ElementType, *operands: ElementType) -> ElementType | None:
    """Returns a type that holds each product of a dot as the definition has it: f32, f64, or the integer result's.

    Returns None for types that the definition converts in another way.
    """
    kinds = (result, *operands)
    if all(kind.is_floating for kind in kinds):
        return ELEMENT_TYPES["f64" if max(kind.bits for kind in kinds) > ELEMENT_TYPES["f32"].bits else "f32"]
    is_whole = all(kind.is_integral for kind in kinds) and result.bits == max(kind.bits for kind in kinds)
    return result if is_whole else None


def dot(instance: Instance) -> Shape:
    """Returns the batch dimensions, then the free dimensions of the left side, then those of the right side."""
    lhs, rhs = instance.array(0), instance.array(1)
    batch, lhs_summed, rhs_summed = _joined(instance, lhs, rhs)
    (lhs_batch, rhs_batch), kind = batch, wider(lhs.element_type, rhs.element_type)
    dimensions = [
        *(lhs.dimensions[dim] for dim in lhs_batch),
        *(size for dim, size in enumerate(lhs.dimensions) if dim not in (*lhs_batch, *lhs_summed)),
        *(size for dim, size in enumerate(rhs.dimensions) if dim not in (*rhs_batch, *rhs_summed)),
    ]
    return made(widened(instance, kind), dimensions)


def _joined(
    instance: Instance, lhs: ArrayShape, rhs: ArrayShape
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...], tuple[int, ...]]:
    """Returns the batch dimensions of both sides and the contracting ones; raises ShapeError where they do not fit."""
    sides = [("lhs", lhs), ("rhs", rhs)]
    batch = [instance.dims(f"{side}_batch_dims", array.rank) for side, array in sides]
    summed = [instance.dims(f"{side}_contracting_dims", array.rank) for side, array in sides]
    for what, (first, second) in (("batch", batch), ("contracting", summed)):
        name = f"lhs_{what}_dims"
        if len(first) != len(second):
            message = f"dot has {len(first)} {what} dimensions on the left and {len(second)} on the right"
            raise ShapeError(message, name)
        if [lhs.dimensions[dim] for dim in first] != [rhs.dimensions[dim] for dim in second]:
            raise ShapeError(f"dot of {lhs} and {rhs}: the sizes of the {what} dimensions differ", name)
    for side, first, second in (("lhs", batch[0], summed[0]), ("rhs", batch[1], summed[1])):
        if {*first} & {*second}:
            message = f"dot names a dimension twice: {[*first, *second]}"
            raise ShapeError(message, f"{side}_contracting_dims")
    return (batch[0], batch[1]), summed[0], summed[1]


def ragged_dot(instance: Instance) -> Shape:
    """Returns the result of a dot with a ragged dimension, which group sizes cut into groups.

    The ragged dimension is one of the left side: a free one, whose groups the right side has as `rhs_group_dims`; a
    contracting one, which gives one result for each group; or a batch dimension.
    """
    lhs, rhs, sizes = instance.arrays()
    (lhs_batch, rhs_batch), lhs_summed, rhs_summed = _joined(instance, lhs, rhs)
    ragged, groups = instance.dims("lhs_ragged_dims", lhs.rank), instance.dims("rhs_group_dims", rhs.rank)
    if len(ragged) != 1:
        raise ShapeError(f"ragged-dot has one ragged dimension, found {list(ragged)}", "lhs_ragged_dims")
    is_free = ragged[0] not in (*lhs_batch, *lhs_summed)
    if len(groups) != is_free:
        message = f"ragged-dot along dimension {ragged[0]} has {int(is_free)} rhs_group_dims, found {len(groups)}"
        raise ShapeError(message, "rhs_group_dims")
    if {*groups} & {*rhs_batch, *rhs_summed}:
        raise ShapeError("ragged-dot has a group dimension that is a batch or contracting one", "rhs_group_dims")
    if not sizes.rank or not sizes.element_type.is_integral:
        raise ShapeError(f"ragged-dot takes integers as the sizes of its groups, found {sizes}", "operand 2")
    kind = next((dims for dims in (lhs_batch, lhs_summed) if ragged[0] in dims), None)
    free = [dim for dim in range(lhs.rank) if dim not in (*lhs_batch, *lhs_summed)]
    outer = [*lhs_batch, *(free if kind is None else () if kind is lhs_batch else lhs_summed)]
    prefix = tuple(lhs.dimensions[dim] for dim in outer[: outer.index(ragged[0])])
    if sizes.rank > 1 and sizes.dimensions[:-1] != prefix:
        message = f"ragged-dot takes group sizes for each index of the outer dimensions {list(prefix)}, found {sizes}"
        raise ShapeError(message, "operand 2")
    if is_free and sizes.dimensions[-1] != rhs.dimensions[groups[0]]:
        message = f"ragged-dot has {sizes.dimensions[-1]} groups, but {rhs.dimensions[groups[0]]} on the right"
        raise ShapeError(message, "operand 2")
    counts = sizes.dimensions[-1:] if ragged[0] in lhs_summed else ()
    dimensions = [
        *counts,
        *(lhs.dimensions[dim] for dim in lhs_batch),
        *(size for dim, size in enumerate(lhs.dimensions) if dim not in (*lhs_batch, *lhs_summed)),
        *(size for dim, size in enumerate(rhs.dimensions) if dim not in (*rhs_batch, *rhs_summed, *groups)),
    ]
    return made(widened(instance, wider(lhs.element_type, rhs.element_type)), dimensions)


# Constraints


def check_dot(instance: Instance) -> None:
    """Raises ShapeError where only one side of a dot holds packed nibbles."""
    nibbles = (instance.attribute("operand_precision") or "").lower().count("packed_nibble")
    if nibbles == 1:
        raise ShapeError("dot has packed nibbles on one side only", "operand_precision")


def check_scaled_dot(instance: Instance) -> None:
    """Raises ShapeError where the scales of a scaled-dot do not divide its operands."""
    operands, scales = instance.arrays(0, 2), instance.arrays(2)
    if len(scales) != len(operands):
        raise ShapeError(
            f"scaled-dot takes two arrays and their two scales, found {len(instance.operands)}", "operands"
        )
    if all(scale.rank == 0 for scale in scales):
        raise ShapeError("at least one of the scales of scaled-dot has to be an array", "operands")
    for index, (operand, scale) in enumerate(zip(operands, scales, strict=True)):
        if _scales_nothing(operand, scale):
            continue
        if scale.rank != operand.rank:
            raise ShapeError(f"scaled-dot scales {operand} by {scale} of another rank", f"operand {index + 2}")
        name = ("lhs_contracting_dims", "rhs_contracting_dims")[index]
        if len(instance.ints(name)) != 1:
            raise ShapeError(f"scaled-dot sums over one dimension, found {list(instance.ints(name))}", name)
        for dim, (size, count) in enumerate(zip(operand.dimensions, scale.dimensions, strict=True)):
            if not count or size % count:
                message = (
                    f"dimension {dim} of operand {operand} should be a multiple of dimension {dim} of scale {scale}"
                )
                raise ShapeError(message, f"operand {index + 2}")


def _scales_nothing(operand: ArrayShape, scale: ArrayShape) -> bool:
    """Is true for one bf16 number beside a bf16 array, which stands for an absent scale (IsNoOpScale)."""
    kinds = {operand.element_type.name, scale.element_type.name}
    return kinds == {"bf16"} and {*scale.dimensions} <= {1} and not {*operand.dimensions} <= {1}


_SECTIONS = "dot_dimension_numbers."
# PrecisionConfig.Algorithm in xla/xla_data.proto.
_ALGORITHMS = (
    "unset dot_any_f8_any_f8_f32 dot_any_f8_any_f8_f32_fast_accum dot_f16_f16_f16 dot_f16_f16_f32 dot_bf16_bf16_bf16 "
    "dot_bf16_bf16_f32 dot_bf16_bf16_f32_x3 dot_bf16_bf16_f32_x6 dot_bf16_bf16_f32_x9 dot_tf32_tf32_f32 "
    "dot_tf32_tf32_f32_x3 dot_f32_f32_f32 dot_f64_f64_f64"
)
ALGORITHM = Attribute("algorithm", values=tuple(_ALGORITHMS.split()))
_CONTRACTION = (
    dims("lhs_batch_dims", 0, f"{_SECTIONS}lhs_batching_dimensions"),
    dims("rhs_batch_dims", 1, f"{_SECTIONS}rhs_batching_dimensions"),
    dims("lhs_contracting_dims", 0, f"{_SECTIONS}lhs_contracting_dimensions"),
    dims("rhs_contracting_dims", 1, f"{_SECTIONS}rhs_contracting_dimensions"),
    PRECISION,
)

_DIMENSIONS = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


def _dot_numbers(operation: Operation, left: Sequence[int], right: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Returns the dimensions of `_DIMENSIONS` of a dot of arrays of these sizes."""
    batch, other_batch, summed, other_summed = (operation.ints(name) or () for name in _DIMENSIONS)
    if len(result_array(operation).dimensions) == len(left) + len(right) - 2 and not (*batch, *summed):
        # StableHLO's `dot` names no dimensions: the last and the first one are summed.
        summed, other_summed = (len(left) - 1,), (0,)
    return batch, other_batch, summed, other_summed


def define_dot(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns sums of products, computed on [batch, rows, summed] and [batch, columns, summed].

    Source: StableHLO's specification of dot_general.
    """
    *batches, summed, other_summed = _dot_numbers(operation, *map(domain.dimensions, operands))
    pairs = sorted(zip(summed, other_summed, strict=True))
    numbers = (*batches, tuple(a for a, _ in pairs), tuple(b for _, b in pairs))
    found, result = _dot(domain, operation, numbers, *operands), result_array(operation).dimensions
    if domain.dimensions(found) != result:
        raise UndefinedError(f"a dot of dimensions {domain.dimensions(found)} has a result of dimensions {result}")
    return [found]


def _dot(domain: Domain[V], operation: Operation, numbers: tuple[tuple[int, ...], ...], left: V, right: V) -> V:
    """Returns a dot by the dimensions of `_DIMENSIONS`; the group dimension of `right`, of size 1, is dropped."""
    batch, other_batch, summed, other_summed = numbers
    dropped = operation.ints("rhs_group_dims") or ()
    sizes, other_sizes = domain.dimensions(left), domain.dimensions(right)
    rows, columns = _rest(sizes, batch, summed), _rest(other_sizes, other_batch, other_summed, dropped)
    found = domain.contract(
        operation,
        grouped(domain, left, batch, rows, summed),
        grouped(domain, right, (*other_batch, *dropped), columns, other_summed),
    )
    return reshaped(domain, found, (*(sizes[i] for i in (*batch, *rows)), *(other_sizes[i] for i in columns)))


def define_ragged_dot(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns a dot for each group of the ragged dimension; rows after the last group are zero.

    Group sizes of a leading dimension are those of one batch each. Source: chlo.ragged_dot in StableHLO's ChloOps.td.
    """
    left, right, groups = operands
    batch, other_batch, summed, other_summed = (operation.ints(name) or () for name in _DIMENSIONS)
    (ragged,) = required_ints(operation, "lhs_ragged_dims")
    prefix = domain.dimensions(groups)[:-1]
    if ragged not in batch and len(prefix) > len(batch):
        raise UndefinedError("ragged-dot: the group sizes depend on other dimensions than those of the batch")
    dot = _RaggedDot(domain, operation, (batch, other_batch, summed, other_summed), ragged)
    return [dot.of_batches(left, right, domain.integers(groups), 0)]


@dataclass(frozen=True, slots=True)
class _RaggedDot(Generic[V]):
    """A ragged-dot; `numbers` are the dimensions of `_DIMENSIONS`."""

    domain: Domain[V]
    operation: Operation
    numbers: tuple[tuple[int, ...], ...]
    ragged: int

    def of_batches(self, left: V, right: V, sizes: Positions, number: int) -> V:
        """Returns the result for group sizes with leading dimensions, the first `number` of which are unrolled."""
        if sizes.ndim == 1:
            return self.of_groups(left, right, [int(size) for size in sizes])
        batch, other_batch, *_ = self.numbers
        parts = [
            self.of_batches(
                section(self.domain, left, batch[number], 1, i),
                section(self.domain, right, other_batch[number], 1, i),
                sizes[i],
                number + 1,
            )
            for i in range(len(sizes))
        ]
        return self.domain.concatenate(parts, number + (self.ragged in self.numbers[2]))

    def of_groups(self, left: V, right: V, sizes: Sequence[int]) -> V:
        domain, (batch, other_batch, summed, other_summed) = self.domain, self.numbers
        total, limits = domain.dimensions(left)[self.ragged], [0]
        for size in sizes:
            limits.append(min(limits[-1] + size, total))
        lefts = [section(domain, left, self.ragged, b - a, a) for a, b in pairwise(limits)]
        if self.ragged in summed or self.ragged in batch:
            pairs = (summed, other_summed) if self.ragged in summed else (batch, other_batch)
            to = pairs[1][pairs[0].index(self.ragged)]
            rights = [section(domain, right, to, b - a, a) for a, b in pairwise(limits)]
            if self.ragged in summed:
                found = self.dots(lefts, rights)
                return domain.concatenate([reshaped(domain, a, (1, *domain.dimensions(a))) for a in found], 0)
            dimension = batch.index(self.ragged)
        else:
            (group,) = required_ints(self.operation, "rhs_group_dims")
            rights = [section(domain, right, group, 1, i) for i in range(len(sizes))]
            dimension = len(batch) + _rest(domain.dimensions(left), batch, summed).index(self.ragged)
        found = self.dots(lefts, rights)
        missing = list(domain.dimensions(found[0]))
        missing[dimension] = total - limits[-1]
        return domain.concatenate([*found, domain.number(domain.element_type(found[0]), 0, tuple(missing))], dimension)

    def dots(self, lefts: Sequence[V], rights: Sequence[V]) -> list[V]:
        pairs = zip(lefts, rights, strict=True)
        return [_dot(self.domain, self.operation, self.numbers, left, right) for left, right in pairs]


def define_scaled_dot(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the dot of operands that are multiplied by their scales, each of a block, in the result's type."""
    left, right, *scales = operands
    kind = result_array(operation).element_type
    scaled = [_scaled(domain, kind, *pair) for pair in zip((left, right), scales, strict=True)]
    return define_dot(domain, operation, scaled)


def _scaled(domain: Domain[V], kind: ElementType, array: V, scale: V) -> V:
    sizes, blocks = domain.dimensions(array), domain.dimensions(scale)
    converted = [domain.each("convert", kind, [each]) for each in (array, scale)]
    if not blocks:
        repeated = domain.broadcast(converted[1], (), sizes)
    else:
        split = [part for size, count in zip(sizes, blocks, strict=True) for part in (count, size // count)]
        wide = domain.broadcast(converted[1], range(0, 2 * len(sizes), 2), split)
        repeated = reshaped(domain, wide, sizes)
    return domain.each("multiply", kind, [converted[0], repeated])


def _rest(sizes: Sequence[int], *taken: Sequence[int]) -> list[int]:
    """Returns the dimensions in none of the groups: the free dimensions of a dot."""
    return [i for i in range(len(sizes)) if not any(i in group for group in taken)]


def dot_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the batch, which both operands and the result have, then summed dimensions, rows and columns."""
    batch, other_batch, summed, other_summed = _dot_numbers(operation, *(sizes_at(operation, i) for i in (0, 1)))
    for index, (left, right) in enumerate(zip(batch, other_batch, strict=True)):
        yield shared(operation, {0: left, 1: right, RESULT: index})
    for left, right in zip(summed, other_summed, strict=True):
        yield shared(operation, {0: left, 1: right}, Kind.COMBINED)
    index = len(batch)
    for position, taken in ((0, (batch, summed)), (1, (other_batch, other_summed))):
        for dimension in _rest(sizes_at(operation, position), *taken):
            yield shared(operation, {position: dimension, RESULT: index})
            index += 1


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dot",
        2,
        CONTRACTED,
        *_CONTRACTION,
        ALGORITHM,
        *texts("sparsity_config block_scaling_config"),
        mlir="dot dot_general",
        result=dot,
        check=check_dot,
        define=define_dot,
        factors=dot_factors,
    ),
    op(
        "ragged-dot",
        3,
        CONTRACTED,
        *_CONTRACTION,
        dims("lhs_ragged_dims", 0),
        dims("rhs_group_dims", 1),
        mlir="",
        result=ragged_dot,
        define=define_ragged_dot,
        factors="group sizes, which are an operand, cut its dimensions",
    ),
    op(
        "scaled-dot",
        ANY,
        CONTRACTED,
        *_CONTRACTION,
        ALGORITHM,
        mlir="",
        result=dot,
        check=check_scaled_dot,
        define=define_scaled_dot,
        factors="each scale is for a block of the operands",
    ),
)
