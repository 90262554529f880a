"""Replaces asynchronous operations by synchronous ones."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, erase_unused, instructions, tuple_elements
from dialect_utils.hlo.verify import problem_among
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import Trait, has, opcode_of
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.inline_fusions import body_of, inline_body, is_call_of, use_elements
from passes.framework.base import Report, module_pass

_OF_THE_SCHEDULE = ("control-predecessors", "async_execution_thread", "cross_program_prefetch_index")


@module_pass
def convert_async_to_sync(module: HloModule, report: Report) -> None:
    """Replaces asynchronous operations by synchronous ones.

    1. `<op>-start` with its `<op>-done` becomes `<op>` in the position of the done, for copies, slices, collectives and
       any other op.
    2. `async-start`, `async-update` and `async-done` become the body of the wrapped computation. So does a custom call
       to another core that names the computation. All computations then run on the main execution thread.
    3. A start with other users than updates and dones (a loop that carries it) becomes the tuple of its type, with
       zeros for contexts, and the done becomes a get-tuple-element.
    4. send and recv are errors: this program is only one side of the transfer.

    Raises DiagnosticError that names each send and recv.

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
    found = instructions(module)
    refused = [_refusal(item) for item in found if _is_refused(item)]
    if refused:
        raise DiagnosticError(refused)
    parts = [item for item in found if is_async(item)]
    if not parts:
        return
    wrapped = [callee for item in parts for callee in item.called]
    for start in [item for item in parts if item.opcode.endswith("-start")]:
        own = _own_parts(start)
        if own is None:
            _start_as_tuple(start)
        else:
            _finish_dones(start, *own)
    for item in instructions(module):
        if item.opcode.endswith("-update"):
            Ops(item).finish(item.operands[0])
        elif item.opcode.endswith("-done"):
            _done_as_element(item)
    erase_unused(module, dict.fromkeys(wrapped))
    if wrapped:
        for computation in module.functions:
            computation.drop_execution_thread()


def is_async(item: Instruction) -> bool:
    """Is true for a start, update or done of an asynchronous operation."""
    return item.opcode.endswith(("-start", "-update", "-done"))


def _is_refused(item: Instruction) -> bool:
    """Is true for the parts of a send and a receive (infeed and outfeed are not asynchronous)."""
    return has(item.opcode, Trait.COMMUNICATES) and item.opcode not in ("infeed", "outfeed")


def _refusal(item: Instruction) -> Diagnostic:
    hint = "the pass replace-transfers, which `relayout run` applies, makes inputs and outputs of it"
    return Diagnostic(
        f"{item.opcode} {item.name} talks to another program, which is not here", item.location, hint=hint
    )


def _own_parts(start: Instruction) -> tuple[list[Instruction], list[Instruction]] | None:
    """Returns the updates and dones of a start, or None if it or an update of it has other users."""
    states, dones = [start], list[Instruction]()
    for item in states:
        if item.is_root:
            return None
        for user in item.users:
            if user.opcode.endswith("-update"):
                states.append(user)
            elif user.opcode.endswith("-done"):
                dones.append(user)
            else:
                return None
    return states[1:], dones


def _finish_dones(start: Instruction, updates: list[Instruction], dones: list[Instruction]) -> None:
    late = [operand for update in updates for operand in update.operands[1:]]
    for done in dones:
        ops = Ops(done)
        value = _perform(ops, start, done.shape, late)
        _check_made(ops, start)
        use_elements(ops.finish(value))
    for item in reversed([start, *updates]):
        item.erase()


def _check_made(ops: Ops, start: Instruction) -> None:
    """Raises DiagnosticError if the state of a start is not one that its operation gives."""
    # Collectives may exchange tuples, of which make-portable makes one collective each.
    problem = problem_among(item for item in ops.made if not has(item.opcode, Trait.COLLECTIVE))
    if problem is not None:
        raise DiagnosticError(f"{start.opcode} {start.name} has no synchronous form: {problem}", start.location)


def _perform(ops: Ops, start: Instruction, shape: Shape, late: Sequence[Instruction] = ()) -> Instruction:
    """Builds the synchronous op of a start, with the done's shape (rules 1 and 2), and `late` operands of updates."""
    opcode = start.opcode.removesuffix("-start")
    operands = [*start.operands, *late]
    if has(opcode, Trait.PASSES_OPERANDS):
        _check_operands(start, operands)
    if opcode in ("async", "call") or is_call_of(start, operands):
        return inline_body(ops, body_of(start), operands)
    attributes = {name: text for name, text in start.attributes.items() if name not in _OF_THE_SCHEDULE}
    return ops.emit(opcode, shape, operands, attributes)


def _check_operands(start: Instruction, operands: Sequence[Instruction]) -> None:
    """Raises DiagnosticError if the wrapped computation takes other arrays than the start passes."""
    given = [operand.shape.without_layout for operand in operands]
    taken = [parameter.shape.without_layout for parameter in body_of(start).parameters]
    if given != taken:
        listed = [", ".join(map(str, shapes)) for shapes in (given, taken)]
        message = f"{start.opcode} {start.name} passes ({listed[0]}) to a computation that takes ({listed[1]})"
        raise DiagnosticError(message, start.location)


def _start_as_tuple(start: Instruction) -> None:
    """Replaces a start by a tuple of its type (rule 3)."""
    ops = Ops(start)
    index = opcode_of(start.opcode).started
    if index is None:
        ops.finish(_perform(ops, start, start.shape))
        return
    shapes = tuple_elements(start)
    if index >= len(shapes):
        raise DiagnosticError(f"{start.opcode} {start.name} gives no result in {start.shape}", start.location)
    value = _perform(ops, start, shapes[index])
    _check_made(ops, start)
    operands = start.operands if index == 0 or not isinstance(shapes[0], TupleShape) else (ops.tuple(start.operands),)
    parts = (value, *operands) if index == 0 else (*operands, value)
    contexts = [_context(ops, start, shape) for shape in shapes[len(parts) :]]
    ops.finish(ops.tuple([*parts, *contexts]))


def _context(ops: Ops, start: Instruction, shape: Shape) -> Instruction:
    if not isinstance(shape, ArrayShape):
        raise DiagnosticError(f"the context {shape} of {start.opcode} {start.name} has no value", start.location)
    return ops.filled(shape.element_type, shape.dimensions)


def _done_as_element(done: Instruction) -> None:
    index = opcode_of(done.opcode).started
    ops = Ops(done)
    value = done.operands[0] if index is None else ops.element(done.operands[0], index)
    if value.shape.without_layout != done.shape.without_layout:
        message = f"{done.opcode} {done.name} gives {done.shape}, but waits for {value.shape}"
        raise DiagnosticError(message, done.location)
    ops.finish(value)
