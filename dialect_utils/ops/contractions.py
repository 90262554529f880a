"""Operations that sum products of two arrays: dot, ragged-dot and scaled-dot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Generic

from dialect_utils.layout import ElementType
from dialect_utils.ops.declaration import ANY, CONTRACTED, Opcode, dims, op, texts
from dialect_utils.ops.domain import Domain, UndefinedError, V, grouped, required_ints, reshaped, result_array, section
from dialect_utils.ops.shapes import contractions as rules

if TYPE_CHECKING:
    from dialect_utils.ir import Operation
    from dialect_utils.ops.positions import Positions

_SECTIONS = "dot_dimension_numbers."
_CONTRACTION = (
    dims("lhs_batch_dims", 0, f"{_SECTIONS}lhs_batching_dimensions"),
    dims("rhs_batch_dims", 1, f"{_SECTIONS}rhs_batching_dimensions"),
    dims("lhs_contracting_dims", 0, f"{_SECTIONS}lhs_contracting_dimensions"),
    dims("rhs_contracting_dims", 1, f"{_SECTIONS}rhs_contracting_dimensions"),
    *texts("operand_precision"),
)

_DIMENSIONS = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


def define_dot(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns sums of products, computed on [batch, rows, summed] and [batch, columns, summed].

    Source: StableHLO's specification of dot_general.
    """
    left, right = operands
    sizes, other_sizes = domain.dimensions(left), domain.dimensions(right)
    batch, other_batch, summed, other_summed = (operation.ints(name) or () for name in _DIMENSIONS)
    result = result_array(operation).dimensions
    if len(result) == len(sizes) + len(other_sizes) - 2 and not (*batch, *summed):
        # StableHLO's `dot` names no dimensions: the last and the first one are summed.
        summed, other_summed = (len(sizes) - 1,), (0,)
    pairs = sorted(zip(summed, other_summed, strict=True))
    summed, other_summed = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    rows, columns = _rest(sizes, batch, summed), _rest(other_sizes, other_batch, other_summed)
    joined = (*(sizes[i] for i in (*batch, *rows)), *(other_sizes[i] for i in columns))
    if joined != result:
        raise UndefinedError(f"a dot of dimensions {joined} has a result of dimensions {result}")
    found = domain.contract(
        operation,
        grouped(domain, left, batch, rows, summed),
        grouped(domain, right, other_batch, columns, other_summed),
    )
    return [reshaped(domain, found, joined)]


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
        """Returns the result where group sizes have leading dimensions, of which `number` are taken apart already."""
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
                found = [self.dot(a, b) for a, b in zip(lefts, rights, strict=True)]
                return domain.concatenate([self.with_leading(each) for each in found], 0)
            dimension = batch.index(self.ragged)
        else:
            (group,) = required_ints(self.operation, "rhs_group_dims")
            rights = [section(domain, right, group, 1, i) for i in range(len(sizes))]
            free = _rest(domain.dimensions(left), batch, summed)
            dimension = len(batch) + free.index(self.ragged)
        found = [self.dot(a, b) for a, b in zip(lefts, rights, strict=True)]
        missing = list(domain.dimensions(found[0]))
        missing[dimension] = total - limits[-1]
        zeros = domain.number(domain.element_type(found[0]), 0, tuple(missing))
        return domain.concatenate([*found, zeros], dimension)

    def with_leading(self, array: V) -> V:
        return reshaped(self.domain, array, (1, *self.domain.dimensions(array)))

    def dot(self, left: V, right: V) -> V:
        """Returns one group's dot; the group dimension of `right`, of size 1, is dropped."""
        batch, other_batch, summed, other_summed = self.numbers
        dropped = self.operation.ints("rhs_group_dims") or ()
        sizes, other_sizes = self.domain.dimensions(left), self.domain.dimensions(right)
        rows, columns = _rest(sizes, batch, summed), _rest(other_sizes, other_batch, other_summed, dropped)
        found = self.domain.contract(
            self.operation,
            grouped(self.domain, left, batch, rows, summed),
            grouped(self.domain, right, (*other_batch, *dropped), columns, other_summed),
        )
        joined = (*(sizes[i] for i in (*batch, *rows)), *(other_sizes[i] for i in columns))
        return reshaped(self.domain, found, joined)


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
    """Returns the dimensions that no group takes."""
    return [i for i in range(len(sizes)) if not any(i in group for group in taken)]


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dot",
        2,
        CONTRACTED,
        *_CONTRACTION,
        *texts("algorithm sparsity_config block_scaling_config"),
        mlir="dot dot_general",
        result=rules.dot,
        check=rules.check_dot,
        define=define_dot,
    ),
    op(
        "ragged-dot",
        3,
        CONTRACTED,
        *_CONTRACTION,
        dims("lhs_ragged_dims", 0),
        dims("rhs_group_dims", 1),
        mlir="",
        result=rules.ragged_dot,
        define=define_ragged_dot,
    ),
    op(
        "scaled-dot",
        ANY,
        CONTRACTED,
        *_CONTRACTION,
        *texts("algorithm"),
        mlir="",
        result=rules.dot,
        check=rules.check_scaled_dot,
        define=define_scaled_dot,
    ),
)
