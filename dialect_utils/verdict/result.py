"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

Answer = Literal["equal", "different", "unknown"]
# What a reason says of a difference that is tolerated, or that leaves the verdict open.
NOT_PROMISED: Final = "which is not promised to be equal"
# The method that executes nothing.
PROOF: Final = "proof"


@dataclass(frozen=True, slots=True)
class Place:
    """Is where an element comes from: an array of the entry and the logical index there, None for padding."""

    source: str
    index: tuple[int, ...] | None

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name."""
        return {"source": self.source, "index": None if self.index is None else list(self.index)}

    def __str__(self) -> str:
        return self.source if self.index is None else f"{self.source}[{','.join(map(str, self.index))}]"


@dataclass(frozen=True, slots=True)
class MovedElement:
    """Is an element of an output that two modules take from different places."""

    output: int
    index: tuple[int, ...]
    places: tuple[Place, Place]

    def as_json(self) -> dict[str, Any]:
        """Returns the keys of a counterexample; bits are for executions to tell."""
        places = [place.as_json() for place in self.places]
        return {"output": self.output, "index": list(self.index), "bits": None, "values": None, "moved": places}

    def __str__(self) -> str:
        index = ",".join(map(str, self.index))
        return f"output {self.output} at [{index}]: {self.where}"

    @property
    def where(self) -> str:
        """Says where either module takes the element from."""
        return f"{self.places[0]} in one module, {self.places[1]} in the other"


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
    moved: MovedElement | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name, tuples as lists."""
        return {
            "output": self.output,
            "index": list(self.index),
            "bits": list(self.bits),
            "values": list(self.values),
            "differing": self.differing,
            "elements": self.elements,
            **({"moved": self.moved.as_json()["moved"]} if self.moved else {}),
        }

    def __str__(self) -> str:
        index = ",".join(map(str, self.index))
        count = f"{self.differing} of {self.elements} elements differ"
        pair = " and ".join(f"{bits} ({value})" for bits, value in zip(self.bits, self.values, strict=True))
        moved = f"; {self.moved.where}" if self.moved and self.moved.index == self.index else ""
        return f"output {self.output} at [{index}]: {pair}; {count}{moved}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Says whether two modules compute the same, and how that is known.

    `methods` are those that decided (`proof`, `xla`, `interpreter`), `compared` says what was
    compared, `reason` why the verdict is no plain yes, `proof` what a proof used or why there is none.
    `outputs` says of each output that was executed whether all of its bits were equal.
    """

    verdict: Answer
    methods: tuple[str, ...] = ()
    compared: str = ""
    counterexample: Counterexample | MovedElement | None = None
    reason: str = ""
    proof: str = field(default="", compare=False)
    outputs: tuple[str, ...] = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def gave_up(self) -> str:
        """Returns why there is no proof; empty where there is one, or none was asked for."""
        return f"no proof: {self.proof}" if self.proof and PROOF not in self.methods else ""

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON keys of `relayout check`, but for `file`."""
        used = self.proof if PROOF in self.methods else ""
        return {
            "verdict": self.verdict,
            "methods": list(self.methods),
            "compared": "; ".join(filter(None, [self.compared, used])),
            "counterexample": self.counterexample.as_json() if self.counterexample else None,
            "reason": "; ".join(filter(None, [self.reason, self.gave_up])),
            "seconds": round(self.seconds, 3),
        }
