"""Replaces bitcasts by logical data movement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.layout.moves.bitcast import Verdict, classify_bitcast, without_pred
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.physical import dense_bitcast_plan, logical_plan, physical_plan, physical_shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.text import Diagnostic, DiagnosticError, Location
from passes.framework.base import Report, module_pass
from passes.tiling.byte_readers import bitcast_error


@module_pass
def expand_bitcasts(module: HloModule, report: Report) -> tuple[ExpandedBitcast, ...]:
    """Replaces every bitcast by the logical data movement that it is equal to.

    1. The ops pack the operand into its physical array, read that as the result's physical array, and unpack it, in the
       fewest steps: often a reshape, a transpose or, for a smaller result, a slice.
    2. Another element type is read through bitcast-convert, a pred as the byte that holds it.
    3. A bitcast that changes at most the memory space is removed. So is one of a whole tuple, if the layouts of the
       elements are equal.
    4. A bitcast that reads padding is an error if an op reads those elements, else a note.

    Raises DiagnosticError for a bitcast between different sizes in memory, and for one whose result holds padding that
    an op reads.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4,6]{1,0:T(4,128)} parameter(0)
          ROOT b = f32[4,1,6]{2,0,1:T(4,128)} bitcast(p)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[4,6]{1,0:T(4,128)} parameter(0)
          ROOT b = f32[4,1,6]{2,0,1:T(4,128)} reshape(p)
        }
    """
    expanded: list[ExpandedBitcast] = []
    from_padding: list[tuple[ExpandedBitcast, Instruction, Location | None]] = []
    for item in instructions(module, "bitcast"):
        location = item.location
        if isinstance(item.shape, TupleShape):
            _drop_tuple_bitcast(item)
            continue
        bitcast = _decide(item, location)
        result = _replace(item, bitcast)
        expanded.append(bitcast)
        if bitcast.verdict == "reads-padding":
            from_padding.append((bitcast, result, location))
    # After all bitcasts are replaced, since a bitcast would stop the search for readers.
    errors = [error for found in from_padding if (error := _check_readers(*found, report)) is not None]
    if errors:
        raise DiagnosticError(errors)
    return tuple(expanded)


@dataclass(frozen=True, slots=True)
class ExpandedBitcast:
    """One bitcast with the plan that replaced it and the method that proved the plan.

    `verdict` is `relabel`, `reorder` (the tiles differ, so elements move), or `reads-padding` (elements come from
    padding, but no op reads them).
    """

    name: str
    source: ArrayShape
    destination: ArrayShape
    plan: Plan
    verdict: Verdict
    decided_by: str

    def row(self) -> dict[str, str]:
        """Returns a table row: source, destination, kind, verdict and the method of the decision."""
        return {
            "bitcast": self.name,
            "source": str(self.source),
            "destination": str(self.destination),
            "kind": self.kind,
            "verdict": self.verdict,
            "decided_by": self.decided_by,
        }

    @property
    def kind(self) -> str:
        """Returns the opcodes of the plan, e.g. `transpose+reshape`, or `same` for an empty plan."""
        return "+".join(self.plan.opcodes) or "same"


def _drop_tuple_bitcast(item: Instruction) -> None:
    """Removes a bitcast of a tuple; raises DiagnosticError if an element has another layout (rule 3)."""
    error = bitcast_error(item)
    if error is not None:
        raise DiagnosticError(error)
    item.replace_uses(item.operands[0])
    item.erase()


def _decide(item: Instruction, location: Location | None) -> ExpandedBitcast:
    # Inlining may have changed the name that the input text has.
    name = (
        item.name
        if location is None
        else location.source.text[location.span.start : location.span.end].removeprefix("%")
    )
    source, destination = (array_shape(value).in_default_memory for value in (item.operands[0], item))
    try:
        plan, verdict, decided_by = _decided(source, destination)
    except ValueError as error:
        raise DiagnosticError(f"bitcast {name}: {error}", location) from None
    return ExpandedBitcast(name, source, destination, plan, verdict, decided_by)


@lru_cache(maxsize=4096)
def _decided(source: ArrayShape, destination: ArrayShape) -> tuple[Plan, Verdict, str]:
    """Returns the plan of a bitcast, its verdict and the method of proof; raises ValueError if it has no plan."""
    if source == destination:
        return Plan(source.element_type, source.dimensions), "relabel", "same layout"
    found = classify_bitcast(source, destination)
    if found.verdict == "size-mismatch":
        raise ValueError(f"it reads {source} as {destination}, which has another size in memory")
    if found.decomposition is None:
        plan = _plan_through_padding(*without_pred(source, destination))
        proof = prove_padded(source, destination, plan)
    else:
        from dialect_utils.layout.proof.bitcast_proof import prove_bitcast

        plan = found.decomposition
        shown = prove_bitcast(source, destination)
        proof = shown.method if shown.holds else None
    if proof is None:
        raise ValueError(f"the plan {plan} does not read {source} as {destination}")
    return plan, found.verdict, proof


def _plan_through_padding(source: ArrayShape, destination: ArrayShape) -> Plan:
    """Returns the shortest plan through the physical arrays; elements from padding may have any value."""
    across = dense_bitcast_plan(physical_shape(source), physical_shape(destination))
    if across is None:
        raise ValueError(f"it reads bits of {source} that belong to no element")
    return normal_form(physical_plan(source).then(across).then(logical_plan(destination)))


def prove_padded(source: ArrayShape, destination: ArrayShape, plan: Plan) -> str | None:
    """Returns the method that proves a plan right at every element not from padding, or None if it is wrong."""
    from dialect_utils.layout.proof import bitcast_positions as positions

    atom = positions.atom_bits(source, destination, plan)
    defined = positions.defined_positions(source, destination, atom)
    return "enumeration" if positions.agrees(defined, positions.planned_positions(source, plan, atom)) else None


def _replace(item: Instruction, bitcast: ExpandedBitcast) -> Instruction:
    value, plan = item.operands[0], bitcast.plan
    if bitcast.source == bitcast.destination and not item.is_root:
        item.replace_uses(value)
        item.erase()
        return value
    ops = Ops(item)
    # If only one side is pred, the plan moves bytes.
    made = ops.steps(plan, ops.convert(value, plan.element_type))
    return ops.finish(ops.convert(made, array_shape(item).element_type))


def _check_readers(
    bitcast: ExpandedBitcast, result: Instruction, location: Location | None, report: Report
) -> Diagnostic | None:
    """Returns an error if an op reads the padding, else reports a note (rule 4)."""
    import numpy as np

    from dialect_utils.layout.proof import bitcast_positions as positions
    from passes.bitcasts.padding_reads import first_reader

    atom = positions.atom_bits(bitcast.source, bitcast.destination, bitcast.plan)
    mask = positions.padding_mask(positions.defined_positions(bitcast.source, bitcast.destination, atom))
    index = ",".join(str(i) for i in np.argwhere(mask)[0])
    what = f"bitcast {bitcast.name} reads padding: element ({index}) of {bitcast.destination}"
    what += f" is in the padding of {bitcast.source}"
    reader = first_reader(result, mask)
    if reader is not None:
        note = Diagnostic(f"{reader.opcode} {reader.name} reads it", reader.location, "note")
        return Diagnostic(what, location, notes=(note,))
    report.note(f"{what}; nothing reads it", location)
    return None
