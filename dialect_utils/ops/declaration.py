"""Declarations of operations: operand counts, traits, attributes, result, constraints and definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, Literal, Protocol

from dialect_utils.layout import Shape


class Trait(Flag):
    """One property of an operation that other modules query; an operation has any number of traits."""

    # The result's element depends on the operands' elements at the same index only
    # (xla/hlo/ir/hlo_instruction.cc, HloInstruction::IsOpElementwise).
    ELEMENTWISE = auto()
    # Data movement: every element of the result is an element of an operand.
    MOVES_DATA = auto()
    # A step of data movement (dialect_utils.layout.Step): the attributes and the result's shape determine it.
    IS_STEP = auto()
    # The result equals the first operand, element by element (each operand in StableHLO's optimization_barrier).
    FORWARDS = auto()
    # The result's buffer is the first operand's, or holds the operands' buffers: no byte moves.
    ALIASES = auto()
    # No element of the result is larger than the largest element of the operands; only conversions round.
    BOUNDED = auto()
    # The operands may be in any order, also when many values are combined, rounding aside.
    COMMUTATIVE = auto()
    # Arithmetic whose floating-point result is rounded.
    ROUNDS = auto()
    # The result depends on the operands and attributes alone, and the operation has no side effect.
    PURE = auto()
    # Combines many elements by an embedded computation, in an order that the engine chooses.
    COMBINES = auto()
    # Sums products, in an order that the engine chooses.
    CONTRACTS = auto()
    # The engine chooses the algorithm or the random numbers.
    ENGINE_DEFINED = auto()
    # Runs the computations that it names as a whole: calls, loops, branches and asynchronous wrappers.
    CALLS = auto()
    # Passes operand i to parameter i of the one computation that it calls.
    PASSES_OPERANDS = auto()
    # Applies the computations that it names to elements (XLA's CallContext::kEmbedded).
    APPLIES = auto()
    # Makes a tuple or takes one apart.
    TUPLES = auto()
    # Waits for another program or the host, or sends to one.
    COMMUNICATES = auto()
    # Exchanges data between the devices that run the module.
    COLLECTIVE = auto()
    # The result depends on which devices run the module.
    AMONG_DEVICES = auto()


NO_TRAITS = Trait(0)

# Traits that many operations have together.
EACH = Trait.ELEMENTWISE | Trait.PURE
EACH_ROUNDED = EACH | Trait.ROUNDS
EACH_BOUNDED = EACH | Trait.BOUNDED
DATA = Trait.MOVES_DATA | Trait.BOUNDED | Trait.PURE
EXCHANGED = Trait.COLLECTIVE | Trait.AMONG_DEVICES | Trait.PURE
COMBINED = Trait.COMBINES | Trait.APPLIES | Trait.PURE
CONTRACTED = Trait.CONTRACTS | Trait.PURE

ALL = -1
# `Opcode.typed` where every operand has the result's element type.
ALL_OPERANDS = (ALL,)
# Any number of operands.
ANY = (0, None)

AttributeKind = Literal["integers", "dimensions", "flag", "computation", "computations", "text"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operation, by HLO's name.

    `mlir` is StableHLO's name where another one is used; a dotted name is a field of a structured
    attribute. `numbers` is the operand whose dimensions a list of dimensions numbers (None: the
    result). `is_computed` is false for an attribute that does not affect the result.
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
        """Is true for one integer or a list of integers."""
        return self.kind in ("integers", "dimensions")

    @property
    def names_computations(self) -> bool:
        """Is true where its value names computations."""
        return self.kind in ("computation", "computations")


class Written(Protocol):
    """The opcode and the attributes of an operation, also of one that is still being read."""

    @property
    def opcode(self) -> str:
        """Returns the opcode."""

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None where it is absent."""

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute as integers, or None where it is absent or not a list of integers."""


# (operation, operands' shapes, results of the called computations) -> the result's shape; raises ShapeError.
Result = Callable[[Written, Sequence[Shape], Sequence[Shape]], Shape]
# (domain, operation, operands' values) -> the result's value; see dialect_utils/ops/domain.py.
Define = Callable[[Any, Any, Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Opcode:
    """One operation: its operand counts in HLO, traits and attributes, its result, constraints and definition.

    `operands` holds the smallest and the largest number of operands (None: any). `mlir` names its
    operations in StableHLO, mnemonics without the dialect. `typed` lists the operands that have the
    element type of the result (-1: all), `aligned` is the number of leading operands that have the
    result's dimensions (-1: all), `indices` the range of operands that are indices (first, last;
    None: up to the end), and `started` the element of the tuple of its `-start` that is the result
    (None: the start has no tuple).
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
    result: Result | None = None
    define: Define | None = None
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
        """Returns the number of computations that it names, or None where that differs."""
        named = [attribute for attribute in self.attributes if attribute.names_computations]
        is_fixed = all(attribute.kind == "computation" for attribute in named)
        return len(named) if is_fixed else None

    def attribute(self, name: str) -> Attribute | None:
        """Returns one of its own attributes by HLO's name, or None."""
        return self._by_name.get(name)

    def has(self, traits: Trait) -> bool:
        """Is true where it has all of the traits."""
        return traits in self.traits


def op(
    name: str,
    operands: int | tuple[int, int | None],
    traits: Trait = NO_TRAITS,
    *attributes: Attribute,
    mlir: str | None = None,
    typed: tuple[int, ...] = (),
    aligned: int = 0,
    indices: tuple[int, int | None] | None = None,
    started: int | None = 1,
    result: Result | None = None,
    define: Define | None = None,
) -> Opcode:
    """Declares an operation; StableHLO's name is HLO's with `_` for `-`, unless `mlir` lists others."""
    counts = operands if isinstance(operands, tuple) else (operands, operands)
    mnemonics = (name.replace("-", "_"),) if mlir is None else tuple(mlir.split())
    return Opcode(name, counts, traits, attributes, mnemonics, typed, aligned, indices, started, result, define)


def texts(names: str) -> tuple[Attribute, ...]:
    """Returns attributes of any text, from names between spaces."""
    return tuple(Attribute(name) for name in names.split())


def flags(names: str) -> tuple[Attribute, ...]:
    """Returns attributes that are `true` or `false`, from names between spaces."""
    return tuple(Attribute(name, "flag") for name in names.split())


def computations(names: str, kind: AttributeKind = "computation") -> tuple[Attribute, ...]:
    """Returns attributes that name computations, from names between spaces."""
    return tuple(Attribute(name, kind) for name in names.split())


def integers(name: str, mlir: str = "") -> Attribute:
    """Returns an attribute that is an integer or a list of integers."""
    return Attribute(name, "integers", mlir)


def dims(name: str, numbers: int | None = None, mlir: str = "") -> Attribute:
    """Returns an attribute that lists dimensions of operand `numbers` (None: of the result)."""
    return Attribute(name, "dimensions", mlir, numbers)


def note(name: str) -> Attribute:
    """Returns an attribute that does not affect the result."""
    return Attribute(name, is_computed=False)


TO_APPLY = computations("to_apply")
CHANNEL = texts("channel_id")
CONVOLUTION = texts("window dim_labels feature_group_count batch_group_count operand_precision")
