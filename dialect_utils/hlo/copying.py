"""Copies a module, so that a pass can edit the copy."""

from __future__ import annotations

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.hlo.order import OrderedItems
from dialect_utils.hlo.pause import collector_paused


@collector_paused
def copy_module(module: HloModule) -> HloModule:
    """Returns an independent copy; places in the text that was read stay known."""
    copy = HloModule(module.source, module.name, module._header_span)
    copy._header = module._header
    copy._edited = module._edited
    copy._read_end = module._read_end
    copy._read_begin = module._read_begin
    copy._writes_layouts = module._writes_layouts
    items: dict[Instruction, Instruction] = {}
    computations = {old: _copy_computation(copy, old, items) for old in module._computations}
    copy._computations = list(computations.values())
    copy._by_name = {computation.name: computation for computation in copy._computations}
    copy._entry = None if module._entry is None else computations[module._entry]
    for old, new in items.items():
        new._operands = [items[operand] for operand in old._operands]
        new._users = [items[user] for user in old._users]
        if old._called:
            new._called = tuple(computations[callee] for callee in old._called)
    for computation, twin in computations.items():
        twin._owner = None if computation._owner is None else items.get(computation._owner)
        twin._callers = {items[caller]: None for caller in computation._callers}
    return copy


def _copy_computation(module: HloModule, old: Computation, items: dict[Instruction, Instruction]) -> Computation:
    new = Computation(module, old.source, old._name, old._sigil, old._frame, old._is_entry)
    for item in [*old.instructions, *old._outside]:
        items[item] = _copy_instruction(new, item)
    new._read = [items[item] for item in old._read]
    new._by_name = {name: items[item] for name, item in old._by_name.items()}
    new._parameters = [items[item] for item in old._parameters]
    new._root = items[old.root]
    new._marks_root = old._marks_root
    old._control.copy_to(new._control, items)
    if old._ordered is not None:
        new._ordered = OrderedItems(items[item] for item in old._ordered)
    new._leads = {None if item is None else items[item]: lead for item, lead in old._leads.items()}
    new._line_start = old._line_start
    new._outside = [items[item] for item in old._outside]
    new._edited = old._edited
    new._header_edited = old._header_edited
    return new


def _copy_instruction(computation: Computation, old: Instruction) -> Instruction:
    new = Instruction(
        computation,
        (old._begin, old._head, old._end),
        old._sigil,
        old._name,
        old._shape,
        old._shape_text,
        old._opcode,
        old._operands,
        old._inner,
        old._tail,
    )
    new._attributes = old._attributes
    new._typed = old._typed
    new._edited = old._edited
    new._location = old._location
    return new
