"""What a verdict is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

Answer = Literal["equal", "agrees", "different", "unknown"]
# What a reason says of a difference that is tolerated, or that leaves the verdict open.
NOT_GUARANTEED: Final = "which is not guaranteed to be equal"
# The method that executes nothing.
PROOF: Final = "proof"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an element comes from: an array of the entry and the logical index there, None for padding."""

    source: str
    index: tuple[int, ...] | None

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name."""
        return {"source": self.source, "index": None if self.index is None else list(self.index)}

    def __str__(self) -> str:
        return self.source if self.index is None else f"{self.source}[{','.join(map(str, self.index))}]"


@dataclass(frozen=True, slots=True)
class MovedElement:
    """An element of an output that two modules take from different places."""

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
    """The first element in which an output differs.

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
class Planted:
    """A planted mistake: what was edited, and where (`file:line:column`, or the operation's name)."""

    edit: str
    place: str

    def __str__(self) -> str:
        return f"{self.edit} at {self.place}"


@dataclass(frozen=True, slots=True)
class Power:
    """How many of the planted mistakes the data of a check sees, and some that it does not."""

    seen: int
    planted: int
    not_seen: tuple[Planted, ...] = ()

    @property
    def share(self) -> float:
        """Returns the share that is seen, 0 to 1."""
        return self.seen / self.planted

    def __str__(self) -> str:
        return f"power {self.share:.0%} ({self.seen} of {self.planted} planted mistakes seen)"
