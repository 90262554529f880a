"""What a proof says of each output, and what it used."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any


@dataclass(frozen=True, slots=True)
class RealEquality:
    """Whether two terms are equal over the reals.

    `is_equal` is None where that was not decided; `reason` says why. `log_error` is the decimal logarithm of the
    probability that different functions are told equal. A difference is one of formulas, not always of numbers:
    functions such as `log` are known by few of their laws. `has_fractions`: only with constants as the simplest
    fractions that round to them (0.33333334 as 1/3).
    """

    is_equal: bool | None
    log_error: float = 0.0
    reason: str = ""
    has_fractions: bool = False

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name."""
        return {
            "equal": self.is_equal,
            "log10_error": round(self.log_error, 1),
            "reason": self.reason,
            "constants": "fractions" if self.has_fractions else "exact",
        }

    def __str__(self) -> str:
        if self.is_equal:
            constants = ", with constants as the fractions that they round" if self.has_fractions else ""
            return f"equal over the reals (error below 1e{ceil(self.log_error)}){constants}"
        if self.is_equal is None:
            return f"not decided over the reals: {self.reason}"
        return "not known to be equal over the reals"


@dataclass(frozen=True, slots=True)
class RuleUse:
    """A rule of algebra that a proof applied, and the operations where it did, in the order of the argument."""

    name: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(self.places)}" if self.places else self.name

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name."""
        return {"rule": self.name, "places": list(self.places)}


@dataclass(frozen=True, slots=True)
class OutputProof:
    """What is known of one output: equal in bits, or where the programs part and whether they are equal as reals.

    `over_reals` is None where bits are equal, or where it was not asked.
    """

    output: int
    is_equal: bool
    reason: str = ""
    over_reals: RealEquality | None = None

    def __str__(self) -> str:
        if self.is_equal:
            return f"output {self.output}: equal"
        return f"output {self.output}: " + "; ".join(filter(None, [str(self.over_reals or ""), self.reason]))

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name."""
        return {
            "output": self.output,
            "equal": self.is_equal,
            "reason": self.reason,
            "over_reals": None if self.over_reals is None else self.over_reals.as_json(),
        }
