"""What the table says of an opcode: operand counts, traits and attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Literal


class Trait(Flag):
    """One property of an opcode that others ask for; an opcode has any number of them."""

    # The result's element depends on the operands' elements at the same index only
    # (xla/hlo/ir/hlo_instruction.cc, HloInstruction::IsOpElementwise).
    ELEMENTWISE = auto()
    # Data movement: every element of the result is an element of an operand.
    MOVES_DATA = auto()
    # A step of data movement (dialect_utils.layout.Step): the attributes and the result's shape say all of it.
    IS_STEP = auto()
    # The result is the first operand, element by element (each operand in StableHLO's optimization_barrier).
    FORWARDS = auto()
    # No element of the result is larger than the largest of the operands; nothing is rounded but by conversion.
    BOUNDED = auto()
    # Any order of the operands gives the same, of many that are combined, too; rounding aside.
    COMMUTATIVE = auto()
    # Arithmetic whose floating-point result is rounded.
    ROUNDS = auto()
    # The result depends on the operands and attributes alone, and nothing else happens.
    PURE = auto()
    # Combines many elements by an embedded computation, in an order of the engine's choosing.
    COMBINES = auto()
    # Sums products, in an order of the engine's choosing.
    CONTRACTS = auto()
    # The algorithm, or the numbers drawn, are the engine's own.
    ENGINE_DEFINED = auto()
    # Runs the computations it names as a whole: calls, loops, branches and asynchronous wrappers.
    CALLS = auto()
    # Applies the computations it names to elements (XLA's CallContext::kEmbedded).
    APPLIES = auto()
    # Makes a tuple or takes one apart.
    TUPLES = auto()
    # Waits for, or is met by, another program or the host.
    COMMUNICATES = auto()
    # Exchanges data between the devices that run the module.
    COLLECTIVE = auto()
    # The result depends on which devices run the module.
    AMONG_DEVICES = auto()


NO_TRAITS = Trait(0)

AttributeKind = Literal["integers", "dimensions", "flag", "computation", "computations", "text"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an opcode, by HLO's name.

    `mlir` is StableHLO's name where another one is used; a dotted name is a field of a structured
    attribute. `numbers` says of which operand a list of dimensions numbers them (None: of the
    result). Where `is_computed` is false, it says nothing of what is computed.
    """

    name: str
    kind: AttributeKind = "text"
    mlir: str = ""
    numbers: int | None = None
    is_computed: bool = True

    @property
    def mlir_name(self) -> str:
        """Returns StableHLO's name of the attribute."""
        return self.mlir or self.name

    @property
    def is_integers(self) -> bool:
        """Is true for one integer or a list of them."""
        return self.kind in ("integers", "dimensions")

    @property
    def names_computations(self) -> bool:
        """Is true where its value names computations."""
        return self.kind in ("computation", "computations")


@dataclass(frozen=True, slots=True)
class Opcode:
    """One opcode: how many operands HLO gives it, what it does, and its attributes.

    `operands` holds the smallest and the largest number of operands (None: any). `mlir` names its
    operations in StableHLO, mnemonics without the dialect. `typed` says which operands have the
    element type of the result (-1: all), `aligned` how many leading ones have its dimensions (-1:
    all), `indices` which ones are indices (first, last; None: up to the end), and `started` which
    element of the tuple of its `-start` is the result (None: the start has no tuple).
    """

    name: str
    operands: tuple[int, int | None]
    traits: Trait = NO_TRAITS
    attributes: tuple[Attribute, ...] = ()
    mlir: tuple[str, ...] = ()
    typed: tuple[int, ...] = ()
    aligned: int = 0
    indices: tuple[int, int | None] | None = None
    started: int | None = 1
    _by_name: dict[str, Attribute] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {attribute.name: attribute for attribute in self.attributes})

    @property
    def operand_count(self) -> int | None:
        """Returns the number of operands where it is always the same, else None."""
        least, most = self.operands
        return least if least == most else None

    @property
    def computation_count(self) -> int | None:
        """Returns how many computations it names, or None where that differs."""
        named = [attribute for attribute in self.attributes if attribute.names_computations]
        is_fixed = all(attribute.kind == "computation" for attribute in named)
        return len(named) if is_fixed else None

    def attribute(self, name: str) -> Attribute | None:
        """Returns one of its own attributes by HLO's name, or None."""
        return self._by_name.get(name)

    def has(self, traits: Trait) -> bool:
        """Is true where it has all of the traits."""
        return traits in self.traits
