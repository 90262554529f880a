"""The cause of a difference: the output, the kind of data, the form and the size with which two programs differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isclose
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.floats import most_ulps, wide
from dialect_utils.verdict.differences import Mask, MovedElement, ulp_distance
from dialect_utils.verdict.outcome import OutputProof

# Forms of a difference that no comparison of elements finds.
PADDING: Final = "values that depend on padding"
SELF_CHECK: Final = "a check of the module itself that fails"
MOVED: Final = "elements of an input from different positions"
# Forms whose size is the median difference: relative to the larger magnitude, or in units.
_FLOATS: Final = "numbers"
_INTEGERS: Final = "integers"
_ALL_DATA: Final = "all data"
# Decimal orders of magnitude by which sizes of one cause may differ: dimensions of 64 become dimensions of 2.
_LIKE_ORDERS = 1.0
# The classes of differences, by the form; numbers that are few units in the last place apart are `ulps`.
_CLASSES: Final = {
    PADDING: "padding",
    SELF_CHECK: "a self-check",
    MOVED: "positions",
    **dict.fromkeys(("NaN in the first", "NaN in the second"), "NaN"),
    **dict.fromkeys(("infinities in the first", "infinities in the second", "opposite infinities"), "infinities"),
    "zeros of opposite signs": "signs of zeros",
    "bits of NaN": "bits of NaN",
}
# The largest relative difference: a number and its negation.
_LARGEST = 2.0


@dataclass(frozen=True, slots=True)
class Cause:
    """The output that differs, the first kind of data that shows it, and the form and size of the difference there.

    `form` is the most frequent one among the differing elements, such as `numbers` or `NaN in the first`. `size` is
    the decimal logarithm of their median difference, relative for floats, absolute for integers, None for other forms.
    `is_rounding`: the output is proved equal over the real numbers. `output` is None where a self-check differs. `ulps`
    is the largest distance of differing numbers in units in the last place, None where one of them is far off.
    """

    output: int | None
    data: str
    form: str
    size: float | None = None
    is_rounding: bool = False
    ulps: int | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        """Returns the class of the difference: `value`, `NaN`, `signs of zeros`, or `ulps`, say."""
        return "value" if self.ulps is None and self.form not in _CLASSES else _CLASSES.get(self.form, "ulps")

    @property
    def how(self) -> str:
        """Returns the class with a preposition: `in NaN`, or `by 2 ulps`."""
        return f"in {self.kind}" if self.kind != "ulps" else f"by {self.ulps} ulp{'s' * (self.ulps != 1)}"

    def is_like(self, other: Cause) -> bool:
        """Is true where all fields are equal, and the sizes differ by one order of magnitude at most."""
        if replace(self, size=None) != replace(other, size=None):
            return False
        if self.size is None or other.size is None:
            return self.size is other.size
        return isclose(self.size, other.size, abs_tol=_LIKE_ORDERS)

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name; the size as a number, not as a logarithm."""
        size = None if self.size is None else float(f"{10**self.size:.2g}")
        is_rounding = self.is_rounding
        return {"output": self.output, "data": self.data, "form": self.form, "size": size, "is_rounding": is_rounding}

    def __str__(self) -> str:
        output = "the module" if self.output is None else f"output {self.output}"
        size = "" if self.size is None else f" that differ by about {10**self.size:.1g}"
        unit = " of their magnitude" if self.form == _FLOATS else ""
        rounding = ", equal over the real numbers" if self.is_rounding else ""
        return f"{output} on {self.data}: {self.form}{size}{unit}{rounding}"


def cause_in(output: int, data: object, pair: tuple[Array, Array], element_type: ElementType, differs: Mask) -> Cause:
    """Returns the cause of a difference in the elements that a mask selects; the mask selects at least one."""
    first, second = (wide(array[differs]) for array in pair)
    if not element_type.is_inexact:
        return Cause(output, str(data), *_of_integers(first, second, element_type))
    # Ties go to the form of the first element, because a counterexample shows this element.
    forms = {form: (int(mask.sum()), bool(mask[0])) for form, mask in _forms(first, second)}
    form = max(forms, key=forms.__getitem__)
    if form != _FLOATS:
        return Cause(output, str(data), form)
    is_pure = forms[form][0] == len(first)
    ulps = _ulps(pair[0][differs], pair[1][differs], element_type) if is_pure else None
    return Cause(output, str(data), form, _size(first, second), ulps=ulps)


def cause_of_move(moved: MovedElement) -> Cause:
    """Returns the cause of a difference that a proof found: elements of an input at other positions."""
    return Cause(moved.output, _ALL_DATA, MOVED)


def with_proofs(cause: Cause | None, proofs: Sequence[OutputProof]) -> Cause | None:
    """Returns the cause of a difference, with the answer of a proof over the reals for the output."""
    if cause is None:
        return None
    answers = (each.over_reals for each in proofs if each.output == cause.output)
    return replace(cause, is_rounding=any(answer is not None and answer.is_equal is True for answer in answers))


def _ulps(first: Array, second: Array, element_type: ElementType) -> int | None:
    """Returns the largest distance of numbers in units in the last place; None beyond the most that are close."""
    if element_type.is_complex:
        parts = [_ulps(*pair, element_type.part) for pair in ((first.real, second.real), (first.imag, second.imag))]
        return None if None in parts else max(each for each in parts if each is not None)
    farthest = int(ulp_distance(first, second, element_type).max())
    return farthest if farthest <= most_ulps(element_type) else None


def _of_integers(first: NDArray[Any], second: NDArray[Any], element_type: ElementType) -> tuple[str, float | None]:
    if element_type.name == "pred":
        return "booleans", None
    return _INTEGERS, float(np.log10(max(1.0, float(np.median(np.abs(first - second))))))


def _forms(first: NDArray[Any], second: NDArray[Any]) -> Iterator[tuple[str, Mask]]:
    """Yields each form of difference with a mask of the elements that differ in this form."""
    nan, inf = (np.isnan(first), np.isnan(second)), (np.isinf(first), np.isinf(second))
    rest = ~(nan[0] | nan[1])
    finite = rest & ~(inf[0] | inf[1])
    yield _FLOATS, finite & (first != second)
    yield "NaN in the first", nan[0] & ~nan[1]
    yield "NaN in the second", nan[1] & ~nan[0]
    yield "infinities in the first", rest & inf[0] & ~inf[1]
    yield "infinities in the second", rest & inf[1] & ~inf[0]
    yield "opposite infinities", inf[0] & inf[1] & rest
    yield "zeros of opposite signs", finite & (first == second)
    yield "bits of NaN", nan[0] & nan[1]


def _size(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Returns the decimal logarithm of the median relative difference of finite numbers that differ."""
    with np.errstate(all="ignore"):
        relative = np.abs(first - second) / np.maximum(np.abs(first), np.abs(second))
        is_finite = np.isfinite(first) & np.isfinite(second) & (first != second)
        return float(np.log10(np.median(np.minimum(relative, _LARGEST)[is_finite])))
