"""A convolution in its plain form: spatial dimensions that only pair indices become dimensions of a dot.

The TPU compiler writes every dot as a convolution; one without proper windows is a dot again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from dialect_utils.ops.domain import Domain, V, grouped, reshaped, transposed
from dialect_utils.ops.window import Role, WindowDimension, classify

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
        return self.domain.convolve(self.operation, lhs, rhs, window, groups, sizes, self.has_padding)

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
