"""Conditions on data: the values that must lack NaN, say, so that a value of a proof lacks NaN."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import as_array
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import named
from dialect_utils.verdict.rules.conditions import INFINITE, NAN, NEGATIVE_ZERO, ZERO, is_value
from dialect_utils.verdict.rules.formats import has, is_lossless
from dialect_utils.verdict.terms.primitives import Term, bottom_up

T = TypeVar("T", bound=Term)

# Elementwise operations whose result is such a value only where an operand of its type is one.
_CHOOSING = named("select maximum minimum")
# By the value; whether an operation rounds or saturates decides it, which no trait says.
_FORWARDING: Mapping[str, frozenset[Hashable]] = {
    NAN: _CHOOSING | named("negate abs exponential tanh logistic"),
    INFINITE: _CHOOSING | named("negate abs"),
    ZERO: _CHOOSING | named("negate abs"),
    NEGATIVE_ZERO: _CHOOSING,
}
# Elementwise operations whose result is never such a value.
_WITHOUT: Mapping[str, frozenset[Hashable]] = {
    NAN: frozenset(),
    INFINITE: named("tanh logistic"),
    ZERO: frozenset(),
    NEGATIVE_ZERO: named("abs exponential logistic"),
}


class Sources(Generic[T]):
    """The terms that a condition on a term is about."""

    def __init__(self) -> None:
        # The levels of the variables of bodies on which a term depends.
        self._free: dict[T, frozenset[int]] = {}

    def of(self, term: T, value: str) -> list[T] | None:
        """Returns terms without a value that make a term one without it; None if there are none.

        A constant may have the value, and a condition cannot name a value in the body of a loop or function.
        """
        found: dict[T, None] = {}
        pending, seen = [term], {term}
        while pending:
            part = pending.pop()
            decisive = self._deciding(part, value)
            if decisive is None or (decisive == [part] and self._levels(part)):
                return None
            if decisive == [part]:
                found[part] = None
            pending += [each for each in decisive if each not in seen]
            seen.update(decisive)
        return [*found]

    def _deciding(self, term: T, value: str) -> list[T] | None:
        """Returns the operands that decide, none for a term that never has the value, or the term itself."""
        if not isinstance(term.shape, ArrayShape) or term.label == "unspecified":
            return None
        kind = term.shape.element_type
        if value != ZERO and (kind.is_integral or kind.name == "pred"):
            return []
        if term.kind == "constant":
            return None if _is_somewhere(term, kind, value) else []
        if term.kind in ("splat", "moved", "element", "array"):
            is_reread = any(getattr(each.shape, "element_type", None) != kind for each in term.operands)
            return [term] if is_reread else [*term.operands]
        if term.kind == "each" and term.label in _WITHOUT[value]:
            return []
        operands = term.operands[int(term.label == "select") :]
        types = [each.shape.element_type for each in operands if isinstance(each.shape, ArrayShape)]
        is_kept = term.label in _FORWARDING[value] and {*types} == {kind}
        is_kept |= term.label == "convert" and not kind.is_complex and is_lossless(types[0], kind)
        return [*operands] if term.kind == "each" and is_kept else [term]

    def _levels(self, term: T) -> frozenset[int]:
        """Returns the levels of the variables that a term needs from bodies around it."""
        for part in bottom_up(term, self._free):
            self._free[part] = self._free_in(part)
        return self._free[term]

    def _free_in(self, term: T) -> frozenset[int]:
        label: Any = term.label
        if term.kind == "leaf":
            return frozenset() if label[0] == "parameter" else frozenset([label[1] if label[0] == "bound" else -1])
        name = label[0] if term.kind == "op" and isinstance(label, tuple) else ""
        # The operands of a loop are its first state, and what its body makes of its variables.
        outside = label[2][0] if name == "while" else 0
        found = frozenset[int]()
        for number, operand in enumerate(term.operands):
            own = {label[1]} if name in ("while", "function") and number >= outside else set[int]()
            found |= self._free[operand] - own
        return found


def _is_somewhere(constant: Term, kind: Any, value: str) -> bool:
    """Is true for a constant that has the value in some element."""
    if isinstance(constant.label, int):
        return is_value(kind, constant.label, value)
    if not has(kind, "float") or not isinstance(constant.label, bytes):
        return True
    numbers = as_array(constant.label, kind, (len(constant.label) // kind.storage_bytes,)).astype(np.float64)
    return has_value(numbers, value)


def has_value(numbers: NDArray[Any], value: str) -> bool:
    """Is true where an element is a value of a condition."""
    if value in (NAN, INFINITE):
        return bool((np.isnan if value == NAN else np.isinf)(numbers).any())
    zeros = numbers == 0
    return bool((zeros if value == ZERO else zeros & np.signbit(numbers)).any())
