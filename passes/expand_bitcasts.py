"""Replaces bitcasts by the logical data movement they are equal to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Plan, physical_plan, physical_shape
from dialect_utils.layout.movement import Movement, normal_form
from dialect_utils.text import Diagnostic, DiagnosticError, Location
from passes.base import Pass, Report
from passes.emit import STEP_NAMES, reinterpret
from passes.hlo_ops import Ops, array_shape, as_hlo, instructions

if TYPE_CHECKING:
    from passes.padding_reads import Mask


@dataclass(frozen=True)
class ExpandBitcasts(Pass):
    """Replaces every bitcast by the logical data movement it is equal to.

    1. The operand's physical array is read as the result's: into the physical array, across,
       and back, in the fewest steps. What only relabels becomes reshape and transpose, a
       shrinking view slice; where tiles show, the movement is explicit.
    2. Another element type is read through bitcast-convert.
    3. Layouts of which one only changes the memory space are one layout: the bitcast goes.
    4. A bitcast that reads padding is an error, unless nothing reads those elements: then a note.

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

    name: ClassVar[str] = "expand-bitcasts"
    forms = ("hlo",)

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        expand_bitcasts(as_hlo(module), report)


Verdict = Literal["relabel", "padding-unread"]


@dataclass(frozen=True, slots=True)
class ExpandedBitcast:
    """Says what a bitcast was, which plan replaced it, and how that plan was decided to be right.

    `verdict` is `relabel`, or `padding-unread` where elements come from padding that nothing reads.
    """

    name: str
    source: ArrayShape
    destination: ArrayShape
    plan: Plan
    verdict: Verdict
    decided_by: str

    @property
    def kind(self) -> str:
        """Returns what the plan is made of, e.g. `reshape`, `transpose+reshape`; `same` for nothing."""
        return "+".join(STEP_NAMES[type(step)] for step in self.plan.steps) or "same"


def expand_bitcasts(module: HloModule, report: Report | None = None) -> tuple[ExpandedBitcast, ...]:
    """Replaces every bitcast of a module, in place, as the pass does; returns what each became, proved.

    Raises DiagnosticError for a bitcast between sizes that do not agree, and for one whose
    result holds padding that something reads.
    """
    expanded: list[ExpandedBitcast] = []
    from_padding: list[tuple[int, Instruction, Mask, Location | None]] = []
    for item in instructions(module, "bitcast"):
        source, destination, place = array_shape(item.operands[0]), array_shape(item), item.location
        plan = bitcast_plan(source, destination, item)
        decided_by, mask = _prove(source, destination, plan, item)
        expanded.append(ExpandedBitcast(item.name, source, destination, plan, "relabel", decided_by))
        result = _replace(item, plan)
        if mask is not None:
            from_padding.append((len(expanded) - 1, result, mask, place))
    # What reads padding is asked when no bitcast is left in the way.
    errors = []
    for index, result, mask, place in from_padding:
        bitcast = expanded[index]
        expanded[index] = replace(bitcast, verdict="padding-unread")
        error = _check_readers(bitcast, result, mask, place, report)
        errors += [] if error is None else [error]
    if errors:
        raise DiagnosticError(errors)
    return tuple(expanded)


def bitcast_plan(source: ArrayShape, destination: ArrayShape, item: Instruction) -> Plan:
    """Returns the fewest steps from the logical source to the logical destination (rules 1 and 2).

    Elements that come from padding may be any. Raises DiagnosticError, for the bitcast `item`,
    where the sizes in bits differ or a layout has no physical array.
    """
    try:
        put, back = physical_plan(source), physical_plan(destination).inverse()
        view = reinterpret(physical_shape(source), physical_shape(destination))
    except ValueError as error:
        raise DiagnosticError(Diagnostic(f"bitcast {item.name}: {error}", item.location)) from None
    if view is None:
        message = f"bitcast {item.name} reads {source} as {destination}, which has another size in memory"
        raise DiagnosticError(Diagnostic(message, item.location))
    return normal_form(Movement(put.then(view).then(back))).plan


def _prove(source: ArrayShape, destination: ArrayShape, plan: Plan, item: Instruction) -> tuple[str, Mask | None]:
    """Returns how the plan was proved, and which elements come from padding (None: none does)."""
    source, destination = _anywhere(source), _anywhere(destination)
    if source == destination:
        return "the same layout", None
    is_right, mask, count = _compare(source, destination, plan)
    if not is_right:
        message = f"bitcast {item.name}: the plan {plan} does not read {source} as {destination}"
        raise DiagnosticError(Diagnostic(message, item.location))
    return f"all {count} elements compared", mask


@lru_cache(maxsize=1024)
def _compare(source: ArrayShape, destination: ArrayShape, plan: Plan) -> tuple[bool, Mask | None, int]:
    """Returns whether a plan is right at every element, which ones come from padding, and how many there are."""
    from passes import bitcast_positions as positions

    atom = positions.atom_bits(source, destination, plan)
    defined = positions.defined_positions(source, destination, atom)
    is_right = positions.agrees(defined, positions.planned_positions(source, plan, atom))
    mask = positions.padding_mask(defined)
    return is_right, mask if mask.any() else None, mask.size


def _replace(item: Instruction, plan: Plan) -> Instruction:
    ops, value = Ops(item), item.operands[0]
    is_same = _anywhere(array_shape(value)) == _anywhere(array_shape(item))
    if is_same and not item.is_root:
        item.replace_uses(value)
        item.erase()
        return value
    return ops.finish(ops.steps(plan, value))


def _anywhere(shape: ArrayShape) -> ArrayShape:
    return shape.with_layout(shape.effective_layout.replace(memory_space=0))


def _check_readers(
    bitcast: ExpandedBitcast, result: Instruction, mask: Mask, place: Location | None, report: Report | None
) -> Diagnostic | None:
    """Returns the error where padding is read, else leaves a note (rule 4)."""
    import numpy as np

    from passes.padding_reads import first_reader

    index = ",".join(str(i) for i in np.argwhere(mask)[0])
    what = f"bitcast {bitcast.name} reads padding: element ({index}) of {bitcast.destination}"
    what += f" lies in the padding of {bitcast.source}"
    reader = first_reader(result, mask)
    if reader is not None:
        note = Diagnostic(f"{reader.opcode} {reader.name} reads it", reader.location, "note")
        return Diagnostic(what, place, notes=(note,))
    if report is not None:
        report.note(f"{what}; nothing reads it", place)
    return None
