"""Replaces bitcasts by the logical data movement they are equal to."""

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
    """Replaces every bitcast by the logical data movement it is equal to.

    1. The operand's physical array is read as the result's: into the physical array, across,
       and back, in the fewest steps. What only relabels becomes reshape and transpose, a
       shrinking result slice; where tiles show, the movement is explicit.
    2. Another element type is read through bitcast-convert, a pred as the byte that holds it.
    3. Layouts of which one only changes the memory space are one layout: the bitcast goes. One of
       a whole tuple always goes: its elements have to have the same layouts.
    4. A bitcast that reads padding is an error, unless nothing reads those elements: then a note.

    Raises DiagnosticError for a bitcast between sizes that do not agree, and for one whose
    result holds padding that something reads.

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
        place = item.location
        if isinstance(item.shape, TupleShape):
            _drop_tuple_bitcast(item)
            continue
        bitcast = _decide(item)
        result = _replace(item, bitcast.plan)
        expanded.append(bitcast)
        if bitcast.verdict == "reads-padding":
            from_padding.append((bitcast, result, place))
    # What reads padding is asked when no bitcast is left in the way.
    errors = [error for found in from_padding if (error := _check_readers(*found, report)) is not None]
    if errors:
        raise DiagnosticError(errors)
    return tuple(expanded)


@dataclass(frozen=True, slots=True)
class ExpandedBitcast:
    """One bitcast: what it was, which plan replaced it, and how that plan was proved.

    `verdict` is `relabel`, `reorder` (tiles show: the movement is explicit), or `reads-padding`
    where elements come from padding that nothing reads.
    """

    name: str
    source: ArrayShape
    destination: ArrayShape
    plan: Plan
    verdict: Verdict
    decided_by: str

    def row(self) -> dict[str, str]:
        """Returns the line of a table: what the bitcast reads as what, its kind, the verdict and how it was decided."""
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
        """Returns what the plan is made of, e.g. `reshape`, `transpose+reshape`; `same` for nothing."""
        return "+".join(self.plan.opcodes) or "same"


def _drop_tuple_bitcast(item: Instruction) -> None:
    """Removes a bitcast of a tuple; raises DiagnosticError where an element has another layout (rule 3)."""
    error = bitcast_error(item)
    if error is not None:
        raise DiagnosticError(error)
    item.replace_uses(item.operands[0])
    item.erase()


def _decide(item: Instruction) -> ExpandedBitcast:
    source, destination = (array_shape(value).in_default_memory for value in (item.operands[0], item))
    try:
        plan, verdict, decided_by = _decided(source, destination)
    except ValueError as error:
        raise DiagnosticError(Diagnostic(f"bitcast {_name_in_text(item)}: {error}", item.location)) from None
    return ExpandedBitcast(_name_in_text(item), source, destination, plan, verdict, decided_by)


def _name_in_text(item: Instruction) -> str:
    """Returns the name the bitcast has in the text that was read: inlining renames."""
    place = item.location
    if place is None:
        return item.name
    return place.source.text[place.span.start : place.span.end].removeprefix("%")


@lru_cache(maxsize=4096)
def _decided(source: ArrayShape, destination: ArrayShape) -> tuple[Plan, Verdict, str]:
    """Returns the plan of a bitcast, its verdict and how they were proved; raises ValueError where there is none."""
    if source == destination:
        return Plan(source.element_type, source.dimensions), "relabel", "same layout"
    found = classify_bitcast(source, destination)
    if found.verdict == "size-mismatch":
        raise ValueError(f"it reads {source} as {destination}, which has another size in memory")
    if found.decomposition is None:
        plan = _plan_through_padding(*without_pred(source, destination))
        proof = prove_padded(source, destination, plan)
    else:
        # Imported here: the proofs load isl.
        from dialect_utils.layout.proof.bitcast_proof import prove_bitcast

        plan = found.decomposition
        shown = prove_bitcast(source, destination)
        proof = shown.method if shown.holds else None
    if proof is None:
        raise ValueError(f"the plan {plan} does not read {source} as {destination}")
    return plan, found.verdict, proof


def _plan_through_padding(source: ArrayShape, destination: ArrayShape) -> Plan:
    """Returns the fewest steps through the physical arrays; what comes from padding may be any element."""
    across = dense_bitcast_plan(physical_shape(source), physical_shape(destination))
    if across is None:
        raise ValueError(f"it reads bits of {source} that belong to no element")
    return normal_form(physical_plan(source).then(across).then(logical_plan(destination)))


def prove_padded(source: ArrayShape, destination: ArrayShape, plan: Plan) -> str | None:
    """Returns how it is known that a plan is right at every element not from padding, or None where it is not."""
    from dialect_utils.layout.arrays import bitcast_positions as positions

    atom = positions.atom_bits(source, destination, plan)
    defined = positions.defined_positions(source, destination, atom)
    return "enumeration" if positions.agrees(defined, positions.planned_positions(source, plan, atom)) else None


def _replace(item: Instruction, plan: Plan) -> Instruction:
    ops, value = Ops(item), item.operands[0]
    is_same = array_shape(value).in_default_memory == array_shape(item).in_default_memory
    if is_same and not item.is_root:
        item.replace_uses(value)
        item.erase()
        return value
    # Of a pred that another type meets, the plan moves the byte.
    made = ops.steps(plan, ops.convert(value, plan.element_type))
    return ops.finish(ops.convert(made, array_shape(item).element_type))


def _check_readers(
    bitcast: ExpandedBitcast, result: Instruction, place: Location | None, report: Report
) -> Diagnostic | None:
    """Returns the error where padding is read, else leaves a note (rule 4)."""
    import numpy as np

    from dialect_utils.layout.arrays import bitcast_positions as positions
    from passes.bitcasts.padding_reads import first_reader

    atom = positions.atom_bits(bitcast.source, bitcast.destination, bitcast.plan)
    mask = positions.padding_mask(positions.defined_positions(bitcast.source, bitcast.destination, atom))
    index = ",".join(str(i) for i in np.argwhere(mask)[0])
    what = f"bitcast {bitcast.name} reads padding: element ({index}) of {bitcast.destination}"
    what += f" is in the padding of {bitcast.source}"
    reader = first_reader(result, mask)
    if reader is not None:
        note = Diagnostic(f"{reader.opcode} {reader.name} reads it", reader.location, "note")
        return Diagnostic(what, place, notes=(note,))
    report.note(f"{what}; nothing reads it", place)
    return None
