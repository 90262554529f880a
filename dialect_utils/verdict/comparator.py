"""Compares the outputs of two programs on one set of data, each by the equality that is guaranteed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.floats import smallest_normal
from dialect_utils.verdict.cause import Cause, cause_in
from dialect_utils.verdict.differences import (
    Counterexample,
    Mask,
    Tolerance,
    different_bits,
    different_elements,
    first_of,
)
from dialect_utils.verdict.outcome import NOT_GUARANTEED, Answer, Closeness
from dialect_utils.verdict.rounding.guarantees import Guarantee
from dialect_utils.verdict.sampling import DataSet

if TYPE_CHECKING:
    from dialect_utils.verdict.rounding.scale import Scale

AUTO = "auto"
# The kind of data whose numbers are neither subnormal nor, in a product of a few, near that.
_WITHOUT_SUBNORMALS = "whole"
# The kind of data on which a sum may overflow in one order alone.
_SATURATED = "saturated"
_FLIPPED = "the first's own rounding decides between values that are far apart"
_NOT_FLOAT = "the first's own rounding decides, in an output that is not float"
FLUSHED = "subnormal numbers, which XLA counts as zeros"
NAN = "bits of NaN, which arithmetic leaves open"
_SIGNS = "signs of zeros, which maximum and minimum leave open"
# Kinds of data on which equal bits prove equality.
DECIDING = ("tagged", "own", "every")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result on one set of data, or on one engine, and the reason where it is not a plain agreement.

    `differing`: the outputs with a bit that differs, whether equal bits were guaranteed or not; `undecided`:
    the subset that only the scale of the original's error can decide.
    """

    answer: Answer = "agrees"
    reason: str = ""
    counterexample: Counterexample | None = None
    differing: frozenset[int] = frozenset()
    undecided: frozenset[int] = frozenset()
    # All bits are equal, on data where that decides: on tagged inputs, or on all possible data.
    exact: bool = field(default=True, compare=False)
    # Differences that a choice of the engine explains, by output and choice.
    remarks: Mapping[tuple[int, str], str] = field(default_factory=dict, compare=False)
    # The data that shows an answer `different`.
    data: DataSet | None = field(default=None, compare=False, repr=False)
    # The cause of an answer `different`.
    cause: Cause | None = field(default=None, compare=False)
    # The original's outputs on each set of data, on the engine.
    expected: Sequence[Sequence[Array]] = field(default=(), compare=False, repr=False)
    # Only of the answer `close`.
    closeness: Closeness | None = None


@dataclass(frozen=True, slots=True)
class Comparator:
    """The guarantee of each output of the original. `compare` is `auto`, `bits`, `ulp:N`, `rel:X` or `of-largest:X`.

    `auto`: equal bits wherever they are guaranteed. Elsewhere an element may be as far off as the
    original's own rounding error. In `open_signs` are the outputs in which zeros of both signs are equal: they depend
    on maximum(0, -0), say, where an engine's result depends on the order of the operands. In `computed` are the
    outputs that depend on arithmetic of floats, which may flush subnormal numbers, in `nan_made` those whose NaN may
    come from arithmetic, which chooses the bits. Elsewhere the bits of NaN count on data that decides.
    """

    element_types: tuple[ElementType, ...]
    guarantees: tuple[Guarantee, ...]
    compare: str = AUTO
    open_signs: frozenset[int] = frozenset()
    computed: frozenset[int] = frozenset()
    nan_made: frozenset[int] = frozenset()
    # Outputs that compare or round the result of a sum of floats, which rounding may flip.
    thresholds: frozenset[int] = frozenset()
    # Outputs that are not compared: one engine alone differs, or they are not executed.
    excused: frozenset[int] = frozenset()
    # The modules are proved equal.
    are_proved: bool = False

    def __post_init__(self) -> None:
        if self.compare != AUTO:
            Tolerance.parse(self.compare)

    def of_rounded(self) -> Comparator:
        """Returns the comparator of an original with rounded operands, whose sums are exact on no data."""
        weaker = {Guarantee.ON_INTEGERS: Guarantee.NEVER}
        return replace(self, guarantees=tuple(weaker.get(each, each) for each in self.guarantees))

    def is_guaranteed(self, output: int, data: DataSet) -> bool:
        """Is true where an output's bits are the same in every correct form, on this data."""
        guarantee = self.guarantees[output]
        return guarantee is Guarantee.ALWAYS or (guarantee is Guarantee.ON_INTEGERS and data.kind == "whole")

    def may_flip(self, output: int) -> bool:
        """Is true for an output in which rounding may decide between values that are far apart."""
        element_type = self.element_types[output]
        return output in self.thresholds or not element_type.is_inexact

    def differences(self, a: Sequence[Array], b: Sequence[Array]) -> list[Counterexample]:
        """Returns the first difference of bits in every output that has one; all NaNs of arithmetic are equal."""
        pairs = enumerate(zip(a, b, self.element_types, strict=True))
        found = (
            first_of(output, *pair, (different_elements if output in self.nan_made else different_bits)(*pair))
            for output, pair in pairs
        )
        return [difference for difference in found if difference is not None]

    def find(
        self,
        data: DataSet,
        expected: Sequence[Array],
        actual: Sequence[Array],
        scales: Callable[[int], Scale] | None,
        *,
        flushes: bool = False,
    ) -> Finding:
        """Compares the outputs of one set; the reason names only the first difference that is tolerated.

        `scales` returns the scale of the original's own error in an output. Without it, outputs that
        the scale decides are `undecided`. `flushes`: the engine replaces subnormal numbers by zeros.
        """
        differing: list[int] = []
        undecided: list[int] = []
        remarks: dict[tuple[int, str], str] = {}
        tolerated = ""
        doubt: Finding | None = None
        for output, (x, y) in enumerate(zip(expected, actual, strict=True)):
            element_type = self.element_types[output]
            if output in self.excused:
                continue
            differs, choices = self._differing(data, output, x, y, flushes=flushes)
            for choice, open_ in choices.items():
                if (example := first_of(output, x, y, element_type, open_)) is not None:
                    remarks[output, choice] = f"{example} on {data}, in {choice}"
            if not differs.any():
                continue
            differing.append(output)
            is_decided = self.compare != AUTO or self.is_guaranteed(output, data)
            said = f"on {data} {first_of(output, x, y, element_type, differs)}, {NOT_GUARANTEED}"
            if self.are_proved and not is_decided and data.kind == _SATURATED:
                tolerated = tolerated or said
                continue
            if not is_decided and scales is None:
                undecided.append(output)
                continue
            scale = None if is_decided or scales is None else scales(output)
            if scale is not None and data.repeats_values:
                scale = scale.of_repeated()
            wrong, why = self._wrong(data, output, x, y, differs, scale)
            if wrong.any():
                reason = f"the results differ on {data}" + (f": {why}" if why else "")
                cause = cause_in(output, data, (x, y), element_type, wrong)
                return Finding("different", reason, first_of(output, x, y, element_type, wrong), cause=cause, data=data)
            doubt = doubt or self._doubt(data, output, x, y, differs, scale)
            tolerated = tolerated or said
        found = Finding("agrees", tolerated, None, frozenset(differing), frozenset(undecided), remarks=remarks)
        return found if doubt is None else replace(doubt, differing=found.differing)

    def _doubt(
        self, data: DataSet, output: int, x: Array, y: Array, differs: Mask, scale: Scale | None
    ) -> Finding | None:
        """Returns `unknown` if rounding may have flipped the differing elements (`x < y` near x = y), else None."""
        element_type = self.element_types[output]
        if scale is None or not self.may_flip(output):
            return None
        if not element_type.is_inexact:
            flipped, why = differs, _NOT_FLOAT
        elif data.kind != _SATURATED:
            flipped, why = scale.flipped(x, y) & differs, _FLIPPED
        else:
            return None
        if not flipped.any():
            return None
        return Finding("unknown", f"the results differ on {data}: {why}", first_of(output, x, y, element_type, flipped))

    def _differing(
        self, data: DataSet, output: int, x: Array, y: Array, *, flushes: bool
    ) -> tuple[Mask, dict[str, Mask]]:
        """Returns the elements whose bits differ, and those that differ only by a choice of the engine, by choice."""
        element_type, decides = self.element_types[output], data.kind in DECIDING
        is_made = output in self.nan_made
        differs = (different_bits if decides and not is_made else different_elements)(x, y, element_type)
        choices = {NAN: different_bits(x, y, element_type) & ~differs} if decides and is_made else {}
        if output in self.open_signs and element_type.is_floating and differs.any():
            choices[_SIGNS] = differs & (x == 0) & (y == 0)
        if flushes and data.kind != _WITHOUT_SUBNORMALS and output in self.computed and differs.any():
            flushed = _are_flushed(x, y, element_type, signs_of_zero=output not in self.open_signs)
            choices[FLUSHED] = differs & flushed & ~choices.get(_SIGNS, np.zeros_like(differs))
        for mask in choices.values():
            differs = differs & ~mask
        return differs, choices

    def differing_outputs(
        self, data: DataSet, expected: Sequence[Array], actual: Sequence[Array], *, flushes: bool
    ) -> list[int]:
        """Returns the outputs with an element that differs, and not only by a choice of the engine."""
        pairs = enumerate(zip(expected, actual, strict=True))
        return [output for output, pair in pairs if self._differing(data, output, *pair, flushes=flushes)[0].any()]

    def _wrong(
        self, data: DataSet, output: int, x: Array, y: Array, differs: Mask, scale: Scale | None
    ) -> tuple[Mask, str]:
        """Returns the differing elements that rounding does not explain, and the reason where it is not obvious."""
        if self.compare != AUTO:
            return different_elements(x, y, self.element_types[output], Tolerance.parse(self.compare)), ""
        if scale is None:
            return differs, ""
        beyond = scale.beyond(x, y, is_saturated=data.kind == _SATURATED) & differs
        if beyond.any():
            return beyond, "more than the first's own rounding explains"
        lean = "" if data.repeats_values else scale.lean(x, y)
        return (differs, lean) if lean else (np.zeros_like(differs), "")

    def compared(self) -> str:
        """Describes how outputs are compared, and which outputs have a weaker guarantee."""
        if self.compare != AUTO:
            return str(Tolerance.parse(self.compare))
        parts = ["bits"] if Guarantee.ALWAYS in self.guarantees or not self.guarantees else []
        sums = self._outputs(Guarantee.ON_INTEGERS)
        if sums:
            parts.append(
                f"bits on small whole numbers, within the original's own error on other data (sums of floats: {sums})"
            )
        rest = self._outputs(Guarantee.NEVER)
        if rest:
            parts.append(f"within the original's own error (sums of floats that are exact on no data: {rest})")
        return "; ".join(parts)

    def _outputs(self, guarantee: Guarantee) -> str:
        numbers = [str(i) for i, found in enumerate(self.guarantees) if found is guarantee]
        return f"output{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" if numbers else ""


def _are_flushed(a: Array, b: Array, element_type: ElementType, *, signs_of_zero: bool) -> Mask:
    """Is true where both elements are subnormal or zero, of one sign if signs count."""
    if element_type.is_complex:
        part = element_type.part
        parts = ((a.real, b.real), (a.imag, b.imag))
        real, imaginary = (
            _are_flushed(x, y, part, signs_of_zero=signs_of_zero) | ~different_elements(x, y, part) for x, y in parts
        )
        return real & imaginary
    if not element_type.is_floating:
        return np.zeros(a.shape, np.bool_)
    smallest = smallest_normal(element_type)
    with np.errstate(invalid="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
    tiny: Mask = (np.abs(x) < smallest) & (np.abs(y) < smallest)
    return tiny & (np.signbit(x) == np.signbit(y)) if signs_of_zero else tiny
