"""The factors of the operations of a module that may compute on arrays of other dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Operation
from dialect_utils.ir.chains import is_pinned, is_plain
from dialect_utils.ir.factors import factors_of
from dialect_utils.ops.factors import Factor, Kind, Position, sizes_at


@dataclass(frozen=True, slots=True)
class KnownFactors:
    """The factors of operations, each found once."""

    known: dict[Operation, Sequence[Factor] | None] = field(default_factory=dict)

    def of(self, operation: Operation) -> Sequence[Factor] | None:
        """Returns the factors of an operation; None for one that keeps its dimensions, as one with a sharding does."""
        if operation not in self.known:
            self.known[operation] = factors_of(operation) if _may_change(operation) else None
        return self.known[operation]

    def at(self, operation: Operation, position: Position, dimension: int) -> Factor | None:
        """Returns the factor that a whole dimension of an array is, if it is kept, combined or cut."""
        # The padding of a marked pad is undefined, which only its own operation says.
        if operation.opcode == "pad" and operation.frontend_attributes:
            return None
        for factor in self.of(operation) or ():
            if factor.dimensions.get(position) == dimension:
                return factor if _is_of_ranges(operation, factor) else None
        return None


def _may_change(operation: Operation) -> bool:
    if is_pinned(operation) or operation.attribute("sdy.sharding"):
        return False
    return all(map(is_plain, (*operation.operands, *operation.results)))


def _is_of_ranges(operation: Operation, factor: Factor) -> bool:
    """Is true where a range of indices of the factor is a range of each of its dimensions."""
    if factor.kind in (Kind.KEPT, Kind.COMBINED):
        return all(sizes_at(operation, each)[dim] == factor.size for each, dim in factor.dimensions.items())
    return factor.kind is Kind.CUT
