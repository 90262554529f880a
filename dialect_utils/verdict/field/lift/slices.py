"""Slices and gathers at places that are known in the field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from dialect_utils.verdict.field import integers
from dialect_utils.verdict.field.lift.known import KnownNumbers
from dialect_utils.verdict.field.values import Value, Whole, merged
from dialect_utils.verdict.proof.terms import Term


def dynamic_slice(known: KnownNumbers, term: Term, _: Any) -> Value | None:
    """Takes a part, where it is known which."""
    starts = _starts(known, term.operands[1:], term.operands[0], term)
    if starts is None:
        return None
    cut = tuple(slice(a, a + size) for a, size in zip(starts, term.array.dimensions, strict=True))
    return known.array(term.operands[0]).moved(lambda a: a[cut])


def dynamic_update_slice(known: KnownNumbers, term: Term, _: Any) -> Value | None:
    """Writes a part, where it is known which."""
    starts = _starts(known, term.operands[2:], term, term.operands[1])
    if starts is None:
        return None
    sizes = term.operands[1].array.dimensions
    cut = tuple(slice(a, a + size) for a, size in zip(starts, sizes, strict=True))

    def written(pair: list[NDArray[Any]]) -> NDArray[Any]:
        result = pair[0].copy()
        result[cut] = pair[1]
        return result

    return merged([known.array(operand) for operand in term.operands[:2]], written)


def _starts(known: KnownNumbers, indices: Sequence[Term], whole: Term, part: Term) -> list[int] | None:
    found = []
    sizes = zip(indices, whole.array.dimensions, part.array.dimensions, strict=True)
    for index, full, size in sizes:
        value = known.array(index)
        if not isinstance(value, Whole) or not value.is_known:
            return None
        found.append(max(0, min(int(integers.indices(value, index.array.element_type)), full - size)))
    return found


def gather(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Takes elements, where it is known which."""
    starts = known.array(term.operands[1])
    if not isinstance(starts, Whole) or not starts.is_known or not starts.words.size:
        return None
    values = integers.indices(starts, term.operands[1].array.element_type)
    indices = label[1].positions(term.operands[0].array.dimensions, values, term.array.dimensions)
    return known.array(term.operands[0]).moved(lambda a: a[indices])
