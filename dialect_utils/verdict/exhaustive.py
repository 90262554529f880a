"""All inputs that a module can have, where they are few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialect_utils.execution import Array, from_bits
from dialect_utils.layout import ArrayShape, ElementType

# Of all inputs together: two bytes, one bf16, sixteen predicates.
_MOST_BITS = 16


def possible_inputs(shapes: Sequence[ArrayShape]) -> list[Array] | None:
    """Returns all inputs of these shapes, a leading dimension counting them; None where they are too many.

    `shapes` are of no packed layouts; an input of no elements has one value.
    """
    bits = sum(shape.element_count * shape.element_type.bits for shape in shapes)
    if bits > _MOST_BITS:
        return None
    numbers = np.arange(1 << bits, dtype=np.uint64)
    arrays = []
    for shape in shapes:
        count, width = shape.element_count, shape.element_type.bits
        elements = [_field(numbers, shape.element_type, i * width) for i in range(count)]
        numbers = numbers >> np.uint64(count * width)
        whole = np.stack(elements, axis=1) if elements else np.zeros((len(numbers), 0), np.uint64)
        arrays.append(from_bits(whole, shape.element_type).reshape(len(numbers), *shape.dimensions))
    return arrays


def _field(numbers: Array, kind: ElementType, start: int) -> Array:
    """Returns as many bits of each number as the type has."""
    return numbers >> np.uint64(start) & np.uint64((1 << kind.bits) - 1)
