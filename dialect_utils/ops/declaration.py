"""Declarations of operations: operand counts, traits, attributes, result, constraints and definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, Literal

from dialect_utils.layout import ElementType, Shape
from dialect_utils.ops.factors import FactorRule, of_elements, of_step


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
    # The first two operands, if they have one type, may not be exchanged.
    ORDERED = auto()
    # Combining a value with itself gives the value: the maximum of x and x is x.
    IDEMPOTENT = auto()
    # Arithmetic whose floating-point result is rounded.
    ROUNDS = auto()
    # The result depends on the operands and attributes alone, and the operation has no side effect.
    PURE = auto()
    # Combines many elements by an embedded computation, in an order that the engine chooses.
    COMBINES = auto()
    # Combines the elements of windows, or along dimensions, by an embedded computation.
    FOLDS = auto()
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
    # Builds a tuple or extracts an element.
    TUPLES = auto()
    # Waits for another program or the host, or sends to one.
    COMMUNICATES = auto()
    # Exchanges data between the devices that run the module.
    COLLECTIVE = auto()
    # The result depends on which devices run the module.
    AMONG_DEVICES = auto()
    # Counts as a transcendental function, not as flops (xla/service/hlo_cost_analysis.cc, HandleElementwiseOp).
    TRANSCENDENTAL = auto()
    # Computes nothing and accesses no memory in hlo_cost_analysis.cc, or has no known cost, as a custom call.
    FREE = auto()
    # Runs the functions that it calls in sequence with itself (xla/service/call_graph.cc, CallContext::kControlFlow).
    CONTROL_FLOW = auto()
    # Writes the result over the first operand where it may (hlo_dataflow_analysis.cc, IsInPlaceOperation).
    IN_PLACE = auto()
    # With a suitable layout of the result no byte moves (xla/shape_util.h, ReshapeIsBitcast and TransposeIsBitcast).
    MAY_BE_BITCAST = auto()
    # Only compilers write it, and only their own backend executes it.
    COMPILED = auto()
    # Fused into operations that read the result (xla/service/instruction_fusion.cc), beside elementwise operations.
    FUSIBLE = auto()
    # Sends to or receives from a channel, in two operations: itself and its -done.
    CHANNELED = auto()
    # Combines bits at each position of two integers, or of one, without a carry.
    BITWISE = auto()
    # Moves the bits of an integer by a number of positions.
    SHIFTS = auto()
    # A quotient or a remainder; engines differ on integers divided by 0.
    DIVIDES = auto()
    # The result of a real number is a whole number.
    WHOLE = auto()
    # The order of the elements decides their positions.
    SORTS = auto()
    # The result jumps where an operand changes by a rounding error.
    JUMPS = auto()
    # The result depends on the sign or payload of a NaN.
    READS_BITS = auto()
    # A function of complex numbers that jumps at a branch cut.
    CUT = auto()
    # f(-x) = -f(x); f(-x) = f(x).
    ODD = auto()
    EVEN = auto()
    # Normalizes a batch; BatchNormExpander writes it as other operations.
    NORMALIZES = auto()


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

# A word is one of an enumeration in any case, or its position in `values` from 1; a string is bytes. Devices are lists
# in any notation; a window is one text in HLO and several attributes in StableHLO; notes are frontend attributes.
_Number = Literal["integers", "dimensions", "sizes", "number", "position"]
_Word = Literal["flag", "computation", "computations", "text", "word", "string", "precision", "comparison"]
AttributeKind = Literal[_Number, _Word, "devices", "channel", "window", "notes"]
# Texts that mean the same as an absent attribute; the operation may decide which.
Default = tuple[str, ...] | Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operation, by HLO's name.

    `mlir` has StableHLO's names where others are used, between spaces; a dotted name is a field of a
    structured attribute. `numbers` is the operand whose dimensions a list of dimensions numbers (None: the
    result), or of which a list of sizes has one for each dimension; operands of a scatter are
    counted as if it had one array. `unused` says why the attribute cannot affect the result (empty: it
    can). `default` is what an absent attribute means, in the spelling of labels. `is_needed` is true where
    XLA's parser or verifier rejects HLO without it. `values` holds the texts it may have (empty: any).
    `is_single` is true for one dimension that is written as a list.
    """

    name: str
    kind: AttributeKind = "text"
    mlir: str = ""
    numbers: int | None = None
    unused: str = ""
    default: Default = ()
    is_needed: bool = False
    values: tuple[str, ...] = ()
    is_single: bool = False

    @property
    def mlir_name(self) -> str:
        """Returns StableHLO's name of the attribute."""
        return self.mlir or self.name

    @property
    def written_names(self) -> tuple[str, ...]:
        """Returns the names that it has in a text of either dialect."""
        return (self.name, *(each.partition(".")[0] for each in self.mlir.split()))

    def meanings(self, operation: Any) -> tuple[str, ...]:
        """Returns the values, in the spelling of labels, that mean the same as an absent attribute of an operation."""
        return (self.default(operation),) if callable(self.default) else self.default

    @property
    def is_integers(self) -> bool:
        """Is true for one integer or a list of integers."""
        return self.kind in ("integers", "dimensions", "sizes")

    @property
    def names_computations(self) -> bool:
        """Is true where its value names computations."""
        return self.kind in ("computation", "computations")


@dataclass(frozen=True, slots=True)
class ElementTypes:
    """Element types that an operand may have, and how a message names them."""

    name: str
    includes: Callable[[ElementType], bool]


FLOATS = ElementTypes("floats", lambda kind: kind.is_floating)
INTEGERS = ElementTypes("integers", lambda kind: kind.is_integral)
INEXACT = ElementTypes("floats or complex numbers", lambda kind: kind.is_inexact)
LOGICAL = ElementTypes("integers or truth values", lambda kind: kind.is_integral or kind.name == "pred")
NUMBERS = ElementTypes("numbers", lambda kind: kind.name != "pred")
REAL_NUMBERS = ElementTypes("real numbers", lambda kind: kind.is_floating or kind.is_integral)
SIGNED = ElementTypes("signed numbers", lambda kind: kind.is_signed or kind.is_inexact)
COMPLEX_PARTS = ElementTypes("f32 or f64", lambda kind: kind.name in ("f32", "f64"))
TRANSFORMED = ElementTypes("f32, f64, c64 or c128", lambda kind: kind.name in ("f32", "f64", "c64", "c128"))

# Returns the shape of the result of an `Instance` (dialect_utils/ops/inference.py); raises ShapeError.
Result = Callable[[Any], Shape]
# Raises ShapeError where a constraint of an `Instance` does not hold that the result does not imply.
Check = Callable[[Any], None]
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
    (None: the start has no tuple). `takes` are the element types of the first operand. `on_start` and
    `on_done` give the results of an own `-start` and `-done`, which wrap no computation; `check_start` has the
    constraints of the former. `factors` returns the factors of an instance; a text says why there are none.
    `only_mlir` are the attributes that HLO does not have, and `sized_by` is the operand with the sizes of the
    result, which a static type of the result has, too.
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
    takes: ElementTypes | None = None
    result: Result | None = None
    check: Check | None = None
    on_start: Result | None = None
    on_done: Result | None = None
    check_start: Check | None = None
    define: Define | None = None
    factors: FactorRule | str = ""
    only_mlir: tuple[Attribute, ...] = ()
    sized_by: int | None = None
    # The attributes that are needed or have known values, and those that number dimensions.
    constrained: tuple[Attribute, ...] = field(init=False, repr=False, compare=False)
    dimension_lists: tuple[Attribute, ...] = field(init=False, repr=False, compare=False)
    _by_name: dict[str, Attribute] = field(init=False, repr=False, compare=False)
    # The number of computations that it names; None where that differs.
    computation_count: int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        attributes = self.attributes
        constrained = [each for each in attributes if each.is_needed or each.values or each.is_single]
        object.__setattr__(self, "constrained", tuple(constrained))
        object.__setattr__(self, "dimension_lists", tuple(each for each in attributes if each.kind == "dimensions"))
        object.__setattr__(self, "_by_name", {attribute.name: attribute for attribute in attributes})
        named = [attribute for attribute in attributes if attribute.names_computations]
        is_fixed = all(attribute.kind == "computation" for attribute in named)
        object.__setattr__(self, "computation_count", len(named) if is_fixed else None)

    @property
    def operand_count(self) -> int | None:
        """Returns the number of operands where it is always the same, else None."""
        least, most = self.operands
        return least if least == most else None

    def attribute(self, name: str) -> Attribute | None:
        """Returns one of its own attributes by HLO's name, or None."""
        return self._by_name.get(name)

    def has(self, traits: Trait) -> bool:
        """Is true where it has all of the traits."""
        return traits in self.traits


# The factors of an operation that declares none of its own, by trait.
_FACTORS: dict[Trait, FactorRule | str] = {
    Trait.ELEMENTWISE: of_elements,
    Trait.IS_STEP: of_step,
    Trait.CALLS: "the operations of its computations have factors",
    Trait.TUPLES: "a tuple has no dimensions",
    Trait.ALIASES: "it passes values of any type",
    Trait.COMMUNICATES: "another program or the host has the other side",
}


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
    takes: ElementTypes | None = None,
    result: Result | None = None,
    check: Check | None = None,
    on_start: Result | None = None,
    on_done: Result | None = None,
    check_start: Check | None = None,
    define: Define | None = None,
    factors: FactorRule | str = "",
    only_mlir: tuple[Attribute, ...] = (),
    sized_by: int | None = None,
) -> Opcode:
    """Declares an operation; StableHLO's name is HLO's with `_` for `-`, unless `mlir` lists others.

    Without `factors` its traits give them, or the reason why it has none.
    """
    counts = operands if isinstance(operands, tuple) else (operands, operands)
    mnemonics = (name.replace("-", "_"),) if mlir is None else tuple(mlir.split())
    known = factors or next((each for trait, each in _FACTORS.items() if trait in traits), "")
    rules = takes, result, check, on_start, on_done, check_start, define, known, only_mlir, sized_by
    return Opcode(name, counts, traits, attributes, mnemonics, typed, aligned, indices, started, *rules)


def ops(names: str, operands: int, traits: Trait, *attributes: Attribute, **rules: Any) -> list[Opcode]:
    """Declares operations that differ in their names alone, which spaces separate; the rules are those of `op`."""
    return [op(name, operands, traits, *attributes, **rules) for name in names.split()]


def only_in(
    dialect: str,
    traits: Trait,
    names: str,
    define: Define | None = None,
    factors: FactorRule | str = "",
    attributes: tuple[Attribute, ...] = (),
    sized_by: int | None = None,
) -> list[Opcode]:
    """Declares operations of StableHLO or CHLO alone, by their full names."""
    return [
        op(f"{dialect}.{name}", ANY, traits, *attributes, mlir=name, define=define, factors=factors, sized_by=sized_by)
        for name in names.split()
    ]


def texts(names: str, kind: AttributeKind = "text", *, needed: bool = False) -> tuple[Attribute, ...]:
    """Returns attributes of any text, from names between spaces."""
    return tuple(Attribute(name, kind, is_needed=needed) for name in names.split())


def choice(name: str, values: str, mlir: str = "", *, needed: bool = False) -> Attribute:
    """Returns an attribute that has one of several words, given between spaces."""
    return Attribute(name, "word", mlir, is_needed=needed, values=tuple(values.split()))


def flags(names: str, mlir: str = "", default: str = "false") -> tuple[Attribute, ...]:
    """Returns attributes that are `true` or `false`, from names between spaces; absent ones are `default`."""
    values = ("false", "true")
    return tuple(Attribute(name, "flag", mlir, values=values, default=(default,)) for name in names.split())


def computations(names: str, kind: AttributeKind = "computation") -> tuple[Attribute, ...]:
    """Returns attributes that name computations, from names between spaces."""
    return tuple(Attribute(name, kind) for name in names.split())


def integers(name: str, mlir: str = "", *, needed: bool = False, numbers: int | None = None) -> Attribute:
    """Returns an attribute that is an integer or a list of integers, which may number dimensions of an operand."""
    return Attribute(name, "integers", mlir, numbers, is_needed=needed)


def size_list(name: str, numbers: int, mlir: str = "") -> Attribute:
    """Returns a needed attribute that has a size for each dimension of an operand."""
    return Attribute(name, "sizes", mlir, numbers, is_needed=True)


def dims(
    name: str, numbers: int | None = None, mlir: str = "", *, needed: bool = False, is_single: bool = False
) -> Attribute:
    """Returns an attribute that lists dimensions of an operand, or of the result for None."""
    return Attribute(name, "dimensions", mlir, numbers, is_needed=needed, is_single=is_single)


def note(name: str, why: str, kind: AttributeKind = "text", mlir: str = "") -> Attribute:
    """Returns an attribute that cannot affect the result, and says why."""
    return Attribute(name, kind, mlir, unused=why, values=("false", "true") if kind == "flag" else ())


TO_APPLY = computations("to_apply")
# XLA translates the number of StableHLO's handle only; the operation implies the type of the channel.
CHANNEL = (Attribute("channel_id", "channel", "channel_handle", default=("0",)),)
PRECISION = Attribute("operand_precision", "precision", "precision_config", default=("",))
GROUP_COUNTS = tuple(Attribute(f"{name}_group_count", "number", default=("1",)) for name in ("feature", "batch"))
_SPATIAL = "window_strides padding lhs_dilation rhs_dilation window_reversal"
DIM_LABELS = Attribute("dim_labels", "text", "dimension_numbers")
CONVOLUTION = (Attribute("window", "text", _SPATIAL), DIM_LABELS, *GROUP_COUNTS, PRECISION)
NOTES = Attribute("frontend_attributes", "notes", "mhlo.frontend_attributes")
ALIASING = Attribute("output_to_operand_aliasing", "text", "output_operand_aliases", default=("[]", "{}"))
