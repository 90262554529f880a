"""The parts of a verdict: the answer, the power of the data, how close results are, and the results of a proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any, Final, Literal

Answer = Literal["equal", "equal-if", "agrees", "close", "different", "unknown"]
# Proved equal for data without some values, such as NaN.
CONDITIONAL: Final = "equal-if"
# Marker in the reason of a difference that is tolerated, or that leaves the verdict open.
NOT_GUARANTEED: Final = "which is not guaranteed to be equal"
# The quantile of the normal distribution for an interval of 95 %.
_QUANTILE = 1.959964
# The choice of the engine that leaves open the sign and the payload of a NaN made by arithmetic.
NAN_BITS: Final = "NaN bits"
# The method that executes no program.
PROOF: Final = "proof"
# The type to which a TPU rounds operands of dots of f32 at DEFAULT precision.
ROUNDED: Final = "bf16"


@dataclass(frozen=True, slots=True)
class Planted:
    """An injected fault: the edit, and its location (`file:line:column`, or the operation's name)."""

    edit: str
    place: str

    def __str__(self) -> str:
        return f"{self.edit} at {self.place}"


@dataclass(frozen=True, slots=True)
class Power:
    """The number of injected faults that the data of a check detects, and a few that it misses."""

    seen: int
    planted: int
    not_seen: tuple[Planted, ...] = ()

    @property
    def share(self) -> float:
        """Returns the share of faults that are detected, 0 to 1."""
        return self.seen / self.planted

    @property
    def interval(self) -> tuple[float, float]:
        """Returns the ends of the 95 % interval (Wilson's score interval) of the share of all such faults."""
        n, p, z = self.planted, self.share, _QUANTILE
        center, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = ((center + end) / (1 + z * z / n) for end in (-half, half))
        return max(0.0, low), min(1.0, high)

    def __str__(self) -> str:
        low, high = (round(100 * end) for end in self.interval)
        share = round(100 * self.share)
        return f"power {share} %, {self.seen} of {self.planted}, 95 % interval {low} to {high} %"


@dataclass(frozen=True, slots=True, order=True)
class Closeness:
    """The largest distance of the results of both programs from a run in higher precision.

    `is_of_largest`: the unit is one unit in the last place of an output's largest number, else of each number.
    """

    is_of_largest: bool
    ulps: int

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {"ulps": self.ulps, "unit": "largest" if self.is_of_largest else "each"}

    def __str__(self) -> str:
        unit = " of the largest number" if self.is_of_largest else ""
        return f"at most {self.ulps} ulp{unit} from a run in higher precision"


@dataclass(frozen=True, slots=True)
class Rounding:
    """Operands of a program's dots that are rounded to bf16: a bit for each, and the numbers of dots that have them."""

    operands: int
    dots: int
    convolutions: int

    def as_json(self) -> dict[str, Any]:
        """Returns the numbers of dots and of convolutions."""
        return {"dots": self.dots, "convolutions": self.convolutions}

    def __str__(self) -> str:
        named = ((self.dots, "dot"), (self.convolutions, "convolution"))
        counted = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in named if count]
        return f"operands of {' and '.join(counted)} rounded to {ROUNDED}"


@dataclass(frozen=True, slots=True)
class RealEquality:
    """The answer to whether two terms are equal over the reals.

    `is_equal` is None where that was not decided; `reason` says why. `log_error` is the decimal logarithm of the
    probability that different functions are called equal. Different formulas may still compute equal numbers, because
    only a few laws of functions such as `log` are known. `has_fractions`: the terms are equal only if each constant
    stands for the simplest fraction that rounds to it (0.33333334 for 1/3). `conventions` are the used equations that
    do not hold for all real numbers (x/x = 1). The same `seed` gives the same answer again.
    """

    is_equal: bool | None
    log_error: float = 0.0
    reason: str = ""
    has_fractions: bool = False
    conventions: tuple[str, ...] = ()
    seed: int = field(default=0, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name; the seed is a hexadecimal number, as `--field-seed` takes it."""
        return {
            "equal": self.is_equal,
            "log10_error": round(self.log_error, 1),
            "reason": self.reason,
            "constants": "fractions" if self.has_fractions else "exact",
            "conventions": list(self.conventions),
            "seed": f"{self.seed:#x}",
        }

    @property
    def assumption(self) -> str:
        """Returns the conventions that were used; empty for none."""
        return f"conventions: {', '.join(self.conventions)}" if self.conventions else ""

    def __str__(self) -> str:
        if self.is_equal:
            constants = ", with constants as the fractions that they round" if self.has_fractions else ""
            named = f"; {self.assumption}" if self.conventions else ""
            return f"equal over the reals (error below 1e{ceil(self.log_error)}{named}){constants}"
        if self.is_equal is None:
            return f"not decided over the reals: {self.reason}"
        return "not known to be equal over the reals"


@dataclass(frozen=True, slots=True)
class RuleUse:
    """A rule of algebra that a proof applied, and the operations where it was applied, in the order of the proof."""

    name: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(self.places)}" if self.places else self.name

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {"rule": self.name, "places": list(self.places)}


def up_to(choices: Sequence[str]) -> str:
    """Returns the choices of the engine that an equality leaves open as text; empty for none."""
    return f" up to [{', '.join(choices)}]" if choices else ""


def answer_text(verdict: str, choices: Sequence[str], conditions: Sequence[str], how: str = "") -> str:
    """Returns a verdict with the choices that it leaves open, its conditions on data, and the class of a difference."""
    given = f" if {' and '.join(conditions)}" if conditions else ""
    found = f" {how}" if how and verdict == "different" else ""
    return f"{'equal' if verdict == CONDITIONAL else verdict}{up_to(choices)}{given}{found}"


@dataclass(frozen=True, slots=True)
class OutputProof:
    """The result for one output: equal bits, or the operations that differ and whether they are equal over the reals.

    `over_reals` is None where the bits are equal, or where equality over the reals was not asked for. `choices` lists
    what the proof leaves to the engine; without any choice all bits are equal, also the bits of a NaN.
    """

    output: int
    is_equal: bool
    reason: str = ""
    over_reals: RealEquality | None = None
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.is_equal:
            return f"output {self.output}: equal{up_to(self.choices)}"
        return f"output {self.output}: " + "; ".join(filter(None, [str(self.over_reals or ""), self.reason]))

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {
            "output": self.output,
            "equal": self.is_equal,
            "reason": self.reason,
            "over_reals": None if self.over_reals is None else self.over_reals.as_json(),
            "up_to": list(self.choices),
        }
