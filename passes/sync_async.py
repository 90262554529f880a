"""Replaces asynchronous operations by what they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.base import Pass, Report
from passes.hlo_ops import Ops, as_hlo, erase_unused, instructions, tuple_elements
from passes.inline_fusions import body_of, use_elements
from passes.inlining import inline_body, is_call_of

_REFUSED = ("send", "send-done", "recv", "recv-done")
# Where the value stands in the tuple of a start; the value itself is what all-reduce-start returns.
_RESULT_INDEX = {"copy-start": 0, "all-gather-start": 1, "collective-permute-start": 1, "all-reduce-start": None}
_ASYNC_RESULT_INDEX = 1
_OF_THE_SCHEDULE = ("control-predecessors", "async_execution_thread", "cross_program_prefetch_index")


@dataclass(frozen=True)
class SyncAsync(Pass):
    """Replaces asynchronous operations by what they do.

    1. `<op>-start` with its `<op>-done` becomes `<op>` in the place of the done; this holds for
       copy, slice and any other op, and for collectives.
    2. `async-start`, `async-update`, `async-done` become the body of the wrapped computation; so
       does a custom call to another core that names the computation it runs there.
    3. A start that something else than its update and done uses (a loop that carries it) becomes
       the tuple it promises, with zeros for contexts, and the done takes the element out.
    4. send and recv have no other side here: they are refused.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4]{0} parameter(0)
          s = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(p)
          ROOT d = f32[4]{0} copy-done(s)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[4]{0} parameter(0)
          ROOT d = f32[4]{0} copy(p)
        }
    """

    name: ClassVar[str] = "sync-async"
    forms = ("hlo",)

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        sync_async(as_hlo(module))


def sync_async(module: HloModule) -> None:
    """Replaces every asynchronous operation of a module, in place, as the pass does.

    Raises DiagnosticError that names each send and recv.
    """
    refused = [_refusal(item) for item in instructions(module, *_REFUSED)]
    if refused:
        raise DiagnosticError(refused)
    wrapped = [callee for item in instructions(module) if is_async(item) for callee in item.called]
    for start in [item for item in instructions(module) if item.opcode.endswith("-start")]:
        dones = _own_dones(start)
        if dones is None:
            _start_as_tuple(start)
        else:
            _finish_dones(start, dones)
    for item in instructions(module):
        if item.opcode.endswith("-update"):
            Ops(item).finish(item.operands[0])
        elif item.opcode.endswith("-done"):
            _done_as_element(item)
    erase_unused(module, dict.fromkeys(wrapped))


def is_async(item: Instruction) -> bool:
    """Is true for every part of an asynchronous operation."""
    return item.opcode.endswith(("-start", "-update", "-done"))


def _refusal(item: Instruction) -> Diagnostic:
    return Diagnostic(f"{item.opcode} {item.name} talks to another program, which is not here", item.location)


def _own_dones(start: Instruction) -> list[Instruction] | None:
    """Returns the dones of a start, or None where something else uses it or an update of it."""
    dones: list[Instruction] = []
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if item.is_root:
            return None
        for user in item.users:
            if user.opcode.endswith("-update"):
                waiting.append(user)
            elif user.opcode.endswith("-done"):
                dones.append(user)
            else:
                return None
    return dones


def _finish_dones(start: Instruction, dones: list[Instruction]) -> None:
    late = [operand for update in _updates(start) for operand in update.operands[1:]]
    for done in dones:
        ops = Ops(done)
        use_elements(ops.finish(_perform(ops, start, done.shape, late)))
    for item in reversed([start, *_updates(start)]):
        item.erase()


def _updates(start: Instruction) -> Iterator[Instruction]:
    for user in start.users:
        if user.opcode.endswith("-update"):
            yield user
            yield from _updates(user)


def _perform(ops: Ops, start: Instruction, shape: Shape, late: Sequence[Instruction] = ()) -> Instruction:
    """Makes the plain op of a start, with the done's shape (rules 1 and 2); updates may bring `late` operands."""
    opcode = start.opcode.removesuffix("-start")
    operands = [*start.operands, *late]
    if opcode == "async" or is_call_of(start, operands):
        return inline_body(ops, body_of(start), operands)
    attributes = {name: text for name, text in start.attributes.items() if name not in _OF_THE_SCHEDULE}
    return ops.emit(opcode, shape, operands, attributes)


def _start_as_tuple(start: Instruction) -> None:
    """Makes the tuple that a start promises (rule 3)."""
    ops = Ops(start)
    index = _RESULT_INDEX.get(start.opcode, _ASYNC_RESULT_INDEX)
    if index is None:
        ops.finish(_perform(ops, start, start.shape))
        return
    shapes = tuple_elements(start)
    value = _perform(ops, start, shapes[index])
    operands = start.operands if index == 0 or not isinstance(shapes[0], TupleShape) else (ops.tuple(start.operands),)
    parts = (value, *operands) if index == 0 else (*operands, value)
    contexts = [_context(ops, start, shape) for shape in shapes[len(parts) :]]
    ops.finish(ops.tuple([*parts, *contexts]))


def _context(ops: Ops, start: Instruction, shape: Shape) -> Instruction:
    if not isinstance(shape, ArrayShape):
        message = f"the context {shape} of {start.opcode} {start.name} has no value"
        raise DiagnosticError(Diagnostic(message, start.location))
    return ops.filled(shape.element_type, shape.dimensions)


def _done_as_element(done: Instruction) -> None:
    start = done.opcode.removesuffix("-done") + "-start"
    index = _RESULT_INDEX.get(start, _ASYNC_RESULT_INDEX)
    ops = Ops(done)
    ops.finish(done.operands[0] if index is None else ops.element(done.operands[0], index))
