"""Constants that are printed without their values, as `constant({...})`."""

from __future__ import annotations

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import array_shape
from dialect_utils.text import Diagnostic, DiagnosticError


def elided_constants(module: HloModule) -> list[Instruction]:
    """Returns the constants printed as `constant({...})`."""
    return [item for item in instructions(module, "constant") if is_elided(item)]


def is_elided(item: Instruction) -> bool:
    """Is true for a constant whose values are elided."""
    return item.literal is not None and "..." in item.literal


def take_constants(module: HloModule, other: HloModule) -> None:
    """Replaces every elided constant of a module by the constant in another dump of the module, in place.

    Constants correspond by name, computation, type and dimensions. Raises DiagnosticError that names each elided
    constant that the other dump lacks, elides, or has with another shape.
    """
    errors = []
    elided = list(elided_constants(module))
    if not elided:
        raise DiagnosticError("no constant of the module is elided, so another dump has nothing to give")
    for item in elided:
        found = _same_constant(item, other)
        if isinstance(found, str):
            errors.append(Diagnostic(f"constant {item.name} {found}", item.location))
            continue
        ops = Ops(item)
        ops.finish(ops.emit("constant", item.shape, inner=found.literal or ""))
    if errors:
        raise DiagnosticError(errors)


def _same_constant(item: Instruction, other: HloModule) -> Instruction | str:
    """Returns the corresponding constant of the other dump, or the reason why it has none."""
    computation = other.find(item.computation.name)
    found = None if computation is None else computation.find(item.name)
    if found is None or found.opcode != "constant":
        return f"is not in {item.computation.name} of module {other.name}"
    if is_elided(found):
        return f"is elided in module {other.name}, too"
    if array_shape(found).without_layout != array_shape(item).without_layout:
        return f"is {item.shape}, but {found.shape} in module {other.name}"
    return found
