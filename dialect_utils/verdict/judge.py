"""What is asked of each output on each kind of data, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dialect_utils.execution import Array
from dialect_utils.layout import ElementType
from dialect_utils.verdict.data import Style
from dialect_utils.verdict.difference import BITS, Tolerance, first_difference
from dialect_utils.verdict.promises import Promise
from dialect_utils.verdict.result import Counterexample

AUTO = "auto"

Severity = Literal["rounding", "unclear", "wrong"]

# What sums in another order may differ by, of the largest magnitude, as powers of the coarsest
# epsilon. Up to the first it is rounding (f32: 6e-06, bf16: 3 %); beyond the second, half the
# digits, it is a difference (f32: 0.03 %, bf16: 9 %).
_ROUNDING_POWER = 0.75
_WRONG_POWER = 0.5
# Of integers that hang on such sums, so large a share may flip before that is a difference.
_FLIPPED_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Judge:
    """Knows what is promised of each output. `compare` is `auto`, `bits`, `ulp:N` or `rel:X`.

    `auto`: bits wherever they are promised. Elsewhere floats may differ within `rounding`, and
    beyond `limit` they are wrong; of other types one element may flip, and at most one of a hundred.
    """

    element_types: tuple[ElementType, ...]
    promises: tuple[Promise, ...]
    compare: str
    rounding: Tolerance
    limit: Tolerance

    @classmethod
    def of(
        cls, element_types: Sequence[ElementType], promises: Sequence[Promise], compare: str, epsilon: float
    ) -> Judge:
        """Returns the judge; raises DiagnosticError for another `compare`."""
        if compare != AUTO:
            Tolerance.parse(compare)
        rounding, limit = (Tolerance(of_largest=epsilon**power) for power in (_ROUNDING_POWER, _WRONG_POWER))
        return cls(tuple(element_types), tuple(promises), compare, rounding, limit)

    def differences(self, a: Sequence[Array], b: Sequence[Array], tolerance: Tolerance = BITS) -> list[Counterexample]:
        """Returns the first difference of every output that has one."""
        pairs = enumerate(zip(a, b, self.element_types, strict=True))
        found = (first_difference(i, x, y, kind, tolerance) for i, (x, y, kind) in pairs)
        return [difference for difference in found if difference is not None]

    def severity(self, difference: Counterexample, a: Array, b: Array, style: Style | None) -> Severity:
        """Says how bad a difference of two arrays is, by the promise of their output on this data."""
        kind, promise = self.element_types[difference.output], self.promises[difference.output]

        def differs(tolerance: Tolerance) -> bool:
            return first_difference(difference.output, a, b, kind, tolerance) is not None

        if self.compare != AUTO:
            return "wrong" if differs(Tolerance.parse(self.compare)) else "rounding"
        if promise is Promise.ALWAYS or (promise is Promise.ON_INTEGERS and style == "integers"):
            return "wrong"
        if not kind.is_floating and not kind.is_complex:
            return "wrong" if difference.differing > max(1, _FLIPPED_SHARE * difference.elements) else "unclear"
        if differs(self.limit):
            return "wrong"
        return "unclear" if differs(self.rounding) else "rounding"

    def compared(self) -> str:
        """Says what is compared, and where no more than that is promised."""
        if self.compare != AUTO:
            return str(Tolerance.parse(self.compare))
        parts = ["bits"] if Promise.ALWAYS in self.promises or not self.promises else []
        sums = self._outputs(Promise.ON_INTEGERS)
        if sums:
            parts.append(f"bits on integer-valued data, {self.rounding} on other data (sums of floats: {sums})")
        rest = self._outputs(Promise.NEVER)
        if rest:
            parts.append(f"{self.rounding} (sums of floats that are exact on no data: {rest})")
        return "; ".join(parts)

    def _outputs(self, promise: Promise) -> str:
        numbers = [str(i) for i, found in enumerate(self.promises) if found is promise]
        return f"output{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" if numbers else ""
