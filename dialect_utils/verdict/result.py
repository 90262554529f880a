"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Answer = Literal["equal", "different", "unknown"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Is the first element in which an output differs.

    `index` is its logical index, `bits` are both bit patterns as hexadecimal numbers, `values`
    both as numbers, `differing` how many of the output's `elements` differ.
    """

    output: int
    index: tuple[int, ...]
    bits: tuple[str, str]
    values: tuple[str, str]
    differing: int
    elements: int

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name, tuples as lists."""
        return {
            "output": self.output,
            "index": list(self.index),
            "bits": list(self.bits),
            "values": list(self.values),
            "differing": self.differing,
            "elements": self.elements,
        }

    def __str__(self) -> str:
        index = ",".join(map(str, self.index))
        count = f"{self.differing} of {self.elements} elements differ"
        pair = " and ".join(f"{bits} ({value})" for bits, value in zip(self.bits, self.values, strict=True))
        return f"output {self.output} at [{index}]: {pair}; {count}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Says whether two modules compute the same, and how that is known.

    `methods` are those that decided (`proof`, `xla`, `interpreter`), `compared` says what was
    compared, `reason` why the verdict is no plain yes.
    """

    verdict: Answer
    methods: tuple[str, ...] = ()
    compared: str = ""
    counterexample: Counterexample | None = None
    reason: str = ""
    seconds: float = field(default=0.0, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON keys of `relayout check`, but for `file`."""
        return {
            "verdict": self.verdict,
            "methods": list(self.methods),
            "compared": self.compared,
            "counterexample": self.counterexample.as_json() if self.counterexample else None,
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
        }
