"""The opcodes: one table for HLO, StableHLO and CHLO, and the queries on it.

Code that needs a set of opcodes gets it by a trait (`with_trait`) or by name (`named`, `by_opcode`);
a name that no opcode has raises UnknownOpcodeError where it is written, when its module is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeVar

from dialect_utils.ops.declaration import (
    ALL_OPERANDS as ALL_OPERANDS,
    NO_TRAITS,
    Attribute as Attribute,
    Opcode as Opcode,
    Trait as Trait,
)
from dialect_utils.ops.table import (
    CALLING_MLIR_ATTRIBUTES as CALLING_MLIR_ATTRIBUTES,
    GENERAL_ATTRIBUTES as GENERAL_ATTRIBUTES,
    GENERAL_MLIR_ATTRIBUTES,
    HLO_OPCODES,
    OTHER_OPERATIONS,
    STARTED as STARTED,
    WRAPPED,
)

_T = TypeVar("_T")

OPCODES: Mapping[str, Opcode] = {each.name: each for each in (*HLO_OPCODES, *OTHER_OPERATIONS)}
# The names XLA itself has.
HLO_NAMES = frozenset(each.name for each in HLO_OPCODES)

# XLA's parser takes any opcode with one of these for the asynchronous form.
START, UPDATE, DONE = "-start", "-update", "-done"
# Targets of custom calls that return their operand, and say only where the parts of an array are.
SHARDINGS = frozenset({"Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"})
# The traits that an asynchronous form shares with its opcode; its operands and results are others.
_ASYNCHRONOUS_TRAITS = (
    Trait.PURE
    | Trait.BOUNDED
    | Trait.COMBINES
    | Trait.CALLS
    | Trait.APPLIES
    | Trait.COMMUNICATES
    | Trait.COLLECTIVE
    | Trait.AMONG_DEVICES
    | Trait.ENGINE_DEFINED
    | Trait.CONTRACTS
    | Trait.CHANNELED
    | Trait.MAY_BE_BITCAST
)


class UnknownOpcodeError(ValueError):
    """A name in a query that no opcode has."""


def opcode_of(name: str) -> Opcode:
    """Returns the table's entry for an opcode; a form such as `slice-start` follows from its opcode.

    An unknown name, such as that of another dialect's operation, gives an opcode without traits.
    """
    found = OPCODES.get(name)
    return found if found is not None else _derived(name)


@cache
def _derived(name: str) -> Opcode:
    base, phase = split_asynchronous(name)
    if base not in OPCODES or not phase:
        return Opcode(name, (0, None))
    known = OPCODES[base]
    # An asynchronous wrapper may get operands in its updates.
    fewest = known.operands[0] if base in STARTED else 0
    counts = (fewest, known.operands[1]) if phase == START else (1, 1 if phase == DONE else None)
    # The start of a call schedules the computation; updates and the done may repeat its name.
    traits = known.traits & (_ASYNCHRONOUS_TRAITS | (Trait.CONTROL_FLOW if phase == START else NO_TRAITS))
    result = {START: known.on_start, DONE: known.on_done}.get(phase)
    check = known.check_start if phase == START else None
    attributes = _attributes_of_phase(known, phase)
    return Opcode(name, counts, traits, attributes, started=known.started, result=result, check=check)


def _attributes_of_phase(known: Opcode, phase: str) -> tuple[Attribute, ...]:
    # The parts of a send and a receive name the channel each, those of a general wrapper its computation.
    if phase == START or known.name in ("async", "recv", "send"):
        return (*known.attributes, *STARTED.get(known.name, WRAPPED))
    return () if known.name in STARTED else WRAPPED


@cache
def attributes_of(name: str) -> Mapping[str, Attribute]:
    """Returns the attributes of an opcode by each name that a text of either dialect may give them.

    The asynchronous forms of an operation have its attributes, too.
    """
    if name not in OPCODES and not is_opcode(name):
        return {each.name: each for each in GENERAL_MLIR_ATTRIBUTES}
    known = [opcode_of(split_asynchronous(name)[0]), opcode_of(name)]
    declared = [each for opcode in known for each in (*opcode.attributes, *opcode.only_mlir)]
    listed = (*GENERAL_ATTRIBUTES, *GENERAL_MLIR_ATTRIBUTES, *declared)
    return {written: attribute for attribute in listed for written in attribute.written_names}


def split_asynchronous(name: str) -> tuple[str, str]:
    """Returns the opcode and the phase (-start, -update or -done) of an asynchronous form; else the name and ""."""
    for phase in (START, UPDATE, DONE):
        base = name.removesuffix(phase)
        if base != name and base in HLO_NAMES and (phase != UPDATE or base not in STARTED):
            return base, phase
    return name, ""


def is_opcode(name: str) -> bool:
    """Is true for a name that XLA parses as an opcode, `slice-start` included; `async` alone is not an opcode."""
    return split_asynchronous(name)[0] in HLO_NAMES and name != "async"


def has(name: str, traits: Trait) -> bool:
    """Is true where an opcode, by its name, has all of the traits."""
    # Comparing the Flag objects themselves takes a microsecond.
    wanted = traits._value_
    return opcode_of(name).traits._value_ & wanted == wanted


@cache
def with_trait(traits: Trait) -> frozenset[str]:
    """Returns the names of all opcodes that have all of the traits; asynchronous forms are asked with `has`."""
    return frozenset(name for name, each in OPCODES.items() if traits in each.traits)


# Classes of operations that several modules ask for. The low bits of a modular operation depend on the low bits of the
# operands alone; the solved operations are factorizations, solvers and Fourier transforms.
EXTREMES = with_trait(Trait.IDEMPOTENT | Trait.BOUNDED)
BITWISE = with_trait(Trait.BITWISE | Trait.COMMUTATIVE)
MODULAR = with_trait(Trait.COMMUTATIVE) - EXTREMES
FOLDS = with_trait(Trait.FOLDS)
SOLVED = with_trait(Trait.ENGINE_DEFINED | Trait.PURE) - with_trait(Trait.NORMALIZES)
IN_PLACE = with_trait(Trait.IN_PLACE)
# The groups of these list replicas, each with all of its partitions, unless the flag says that devices have one number.
FLAGGED = frozenset(each.name for each in HLO_OPCODES if each.attribute("use_global_device_ids") is not None)
_CALLING = [(each, attribute) for each in HLO_OPCODES for attribute in each.attributes if attribute.names_computations]
# The attributes of HLO that name computations, and the opcodes that may name some, asynchronous forms included.
CALLING_ATTRIBUTES = frozenset(attribute.name for _, attribute in _CALLING)
CALLING_OPCODES = frozenset(each.name + phase for each, _ in _CALLING for phase in ("", START, UPDATE, DONE))


def named(names: str) -> frozenset[str]:
    """Returns a set of opcodes from names between spaces; raises UnknownOpcodeError."""
    return frozenset(by_opcode(dict.fromkeys(names.split())))


def by_opcode(table: Mapping[str, _T]) -> Mapping[str, _T]:
    """Returns a table whose keys are opcodes; raises UnknownOpcodeError for any other key."""
    unknown = [name for name in table if name not in OPCODES and not is_opcode(name)]
    if unknown:
        raise UnknownOpcodeError(f"no opcode is called {', '.join(unknown)}")
    return table


def attribute_name(mlir_name: str, attribute: str) -> str:
    """Returns StableHLO's name of an attribute that an operation, by its MLIR name, has in HLO.

    A dotted name is a field of a structured attribute.
    """
    known = opcode_of(hlo_opcode(mlir_name)).attribute(attribute)
    return attribute if known is None else known.mlir_name


# MLIR's operation names -> HLO's opcodes.
_OF_MNEMONICS = {mnemonic: each.name for each in HLO_OPCODES for mnemonic in each.mlir}
_DIALECTS = ("stablehlo", "mhlo")


@cache
def hlo_opcode(mlir_name: str) -> str:
    """Returns HLO's opcode of an MLIR operation, or its full name where HLO has no such instruction."""
    if mlir_name == "func.call":
        return "call"
    dialect, _, mnemonic = mlir_name.partition(".")
    if dialect not in _DIALECTS:
        return mlir_name
    if mnemonic in _OF_MNEMONICS:
        return _OF_MNEMONICS[mnemonic]
    # MHLO has every instruction of HLO, StableHLO the asynchronous ones besides.
    spelled = mnemonic.removeprefix("xla.").replace("_", "-")
    is_instruction = is_opcode(spelled) and f"stablehlo.{mnemonic}" not in OPCODES
    return spelled if is_instruction else mlir_name
