"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from dialect_utils.verdict.proved import OutputProof, RuleUse

Answer = Literal["equal", "agrees", "different", "unknown"]
# What a reason says of a difference that is tolerated, or that leaves the verdict open.
NOT_GUARANTEED: Final = "which is not guaranteed to be equal"
# Of which module a value is.
_SIDES = "in the first", "in the second"
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two modules compute the same, and how that is known.

    `equal`: proved, or executed on data that leaves nothing open. `agrees`: executed, no difference found.
    `methods` are those that decided (`proof`, `xla`, `interpreter`), `compared` says what was compared,
    `reason` what else is to be known, `proof` what a proof used or why there is none. `data` says on how much
    data, `power` what that data would have seen. `outputs` says of each output that was executed whether all of
    its bits were equal, `unreached` what the data did not reach. `proved` says of each output what a proof
    knows, `rules` which rules it used, and where.
    """

    verdict: Answer
    methods: tuple[str, ...] = ()
    compared: str = ""
    counterexample: Counterexample | MovedElement | None = None
    reason: str = ""
    data: str = field(default="", compare=False)
    power: Power | None = field(default=None, compare=False)
    proof: str = field(default="", compare=False)
    outputs: tuple[str, ...] = field(default=(), compare=False)
    unreached: tuple[str, ...] = field(default=(), compare=False)
    proved: tuple[OutputProof, ...] = field(default=(), compare=False)
    rules: tuple[RuleUse, ...] = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def found_no_difference(self) -> bool:
        """Is true for `equal` and `agrees`."""
        return self.verdict in ("equal", "agrees")

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
            "power": None if self.power is None else round(self.power.share, 4),
            "not_seen": [str(planted) for planted in self.power.not_seen] if self.power else [],
            "proved": [each.as_json() for each in self.proved],
            "rules": [rule.as_json() for rule in self.rules],
            "seconds": round(self.seconds, 3),
        }

    @property
    def details(self) -> str:
        """Returns all that is known as lines: what was compared and how, the counterexample, the reason."""
        parts = [self.verdict + (f" ({', '.join(self.methods)})" if self.methods else "")]
        if self.compared:
            parts.append(f"compared {self.compared}")
        elif not self.gave_up and self.proof:
            parts.append(f"compared {self.proof}")
        parts += filter(None, [self.data, str(self.power or "")])
        lines = [", ".join(parts)]
        lines += [f"  not seen: {planted}" for planted in (self.power.not_seen if self.power else ())]
        if self.counterexample is not None:
            lines.append(f"  {self.counterexample}")
        lines += [f"  {remark}" for remark in (self.reason, self.gave_up) if remark]
        lines += [
            f"  output {each.output}: {each.over_reals}"
            for each in self.proved
            if each.over_reals is not None and each.over_reals.is_equal
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Returns the lines of `relayout check`: what was found, and what that rests on."""
        # Imported here: it tells of what this module defines.
        from dialect_utils.verdict.evidence import plain_lines

        return "\n  ".join(plain_lines(self, _SIDES))

    def __repr__(self) -> str:
        return str(self)
