"""The index map of a shape as a formula, by the same walk over the tiles that computes single indices."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from dialect_utils.layout.index.index_map import final_dimensions, physical_index, require_bounded
from dialect_utils.layout.shape import ArrayShape

_SUM, _PRODUCT, _ATOM = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Expression:
    """The text of a number from 0 to below `limit`, and how tightly its last operator binds."""

    text: str
    limit: int
    binding: int = _ATOM

    def __mul__(self, factor: int) -> _Expression | int:
        if factor == 0:
            return 0
        if factor == 1:
            return self
        return _Expression(f"{self._within(_PRODUCT)}*{factor}", (self.limit - 1) * factor + 1, _PRODUCT)

    def __add__(self, other: _Expression | int) -> _Expression:
        if isinstance(other, int):
            return self if other == 0 else NotImplemented
        return _Expression(f"{self.text} + {other.text}", self.limit + other.limit - 1, _SUM)

    __radd__ = __add__

    def __floordiv__(self, divisor: int) -> _Expression | int:
        if divisor == 1:
            return self
        if self.limit <= divisor:
            return 0
        return _Expression(f"{self._within(_PRODUCT)}//{divisor}", -(-self.limit // divisor), _PRODUCT)

    def __mod__(self, divisor: int) -> _Expression | int:
        if divisor == 1:
            return 0
        if self.limit <= divisor:
            return self
        return _Expression(f"{self._within(_PRODUCT)}%{divisor}", divisor, _PRODUCT)

    def _within(self, binding: int) -> str:
        """Returns the text as the left operand of an operator that binds so tightly."""
        return f"({self.text})" if self.binding < binding else self.text


def index_formula(shape: ArrayShape) -> str:
    """Returns the linear index (in elements) of element `[i0, i1, ...]`, in Python's operators.

    Parts that are always 0 are left out. Raises ValueError for an unbounded dimension.
    """
    require_bounded(shape)
    names = [_Expression(f"i{dim}", size) if size > 1 else 0 for dim, size in enumerate(shape.dimensions)]
    position = physical_index(shape, names)
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    found = sum(coordinate * stride for coordinate, stride in zip(position, strides, strict=True))
    return found.text if isinstance(found, _Expression) else str(found)
