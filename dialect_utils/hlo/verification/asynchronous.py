"""Whether the parts of asynchronous operations belong together: starts, updates and dones, sends and receives.

Sources: xla/service/hlo_verifier.cc (VerifyAsynchronousInstructionPairs, HandleAsyncStart, VerifyAsyncComputation),
xla/hlo/parser/hlo_parser.cc (CreateInstruction, kAsyncStart).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from dialect_utils.hlo.computation import MAIN_THREAD, Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.hlo.verification.attributes import Signatures
from dialect_utils.hlo.verification.transfers import find_transfer_problems, is_host_transfer, is_trivial
from dialect_utils.layout import BufferShape, Shape, TupleShape
from dialect_utils.ops import DONE, START, UPDATE, Trait, has, named, split_asynchronous, with_trait
from dialect_utils.ops.control import aliases_of, check_aliasing
from dialect_utils.ops.inference import Instance, ShapeError, is_compatible, is_equally_ordered
from dialect_utils.ops.table import STARTED
from dialect_utils.text import Diagnostic

_THREAD = "async_execution_thread"
_MAIN = f'"{MAIN_THREAD}"'
# A start with this frontend attribute wraps several collectives, sends and receives.
_GROUPED = re.compile(r"[{,]\s*_collectives_group\s*=")
# A loop may pass the state of a transfer from one iteration to the next.
_PIPELINED = with_trait(Trait.TUPLES) | {"parameter", "opt-barrier"}
# Users of an asynchronous value beside the updates and the done of its operation.
_CARRIERS = with_trait(Trait.TUPLES) | named("call conditional copy domain opt-barrier while")
# Custom calls that only say how a value is sharded, or what depends on it.
_NOTES = re.compile(r'"(?:Sharding|control_dep|(?:LocalToGlobal|GlobalToLocal)Shape|xla[.]sdy[.]\w+)"')
# Operations with aliases of their own.
_ALIASING = named("custom-call fusion")
# An alias of an update joins elements of the context.
_CONTEXT = 2
# Loops and tuples through which an asynchronous value may pass; deeper nesting is not followed.
_MAX_STEPS = 64


def find_asynchronous_problems(
    module: HloModule, found: Sequence[Instruction], *, is_lenient: bool, is_layout_sensitive: bool
) -> Iterator[Diagnostic]:
    """Yields the errors of asynchronous instructions, of sends and of receives.

    `is_lenient` skips aliases, which the TPU compiler writes of the wrapped instruction, and wrapped computations of
    several instructions.
    """
    dones = Counter(_start_of(each) for each in found if each.opcode.endswith(DONE))
    for instruction in found:
        try:
            _check(instruction, is_lenient=is_lenient)
            if split_asynchronous(instruction.opcode)[1] != DONE and not is_lenient:
                _check_aliases(instruction, is_layout_sensitive=is_layout_sensitive)
            if dones[instruction] > 1:
                raise ShapeError(f"{instruction.opcode} is matched by multiple asynchronous done instructions")
        except ShapeError as error:
            yield Diagnostic(f"{instruction.name}: {error}", instruction.locate(error.part))
    yield from find_transfer_problems(module, found)


def _start_of(done: Instruction) -> Instruction | None:
    """Returns the start that leads to a done through updates only."""
    value = done.operands[0] if done.operands else None
    while value is not None and value.opcode.endswith(UPDATE) and value.operands:
        value = value.operands[0]
    return value if value is not None and value.opcode.endswith(START) else None


def _check(instruction: Instruction, *, is_lenient: bool) -> None:
    base, phase = split_asynchronous(instruction.opcode)
    if base in ("send", "recv"):
        _check_transfer(instruction, base, phase)
    elif base in STARTED:
        _check_pair(instruction, base, phase)
    elif phase == START:
        _check_users(instruction)
        if base == "async" and len(instruction.called) != 1:
            raise ShapeError(f"{instruction.opcode} wraps 1 computation, found {len(instruction.called)}", "opcode")
        _check_start(instruction)
        if base == "async" and not is_lenient:
            _check_wrapper(instruction)
    else:
        _check_users(instruction)
        _check_later(instruction, phase)
    is_returned = instruction.is_root and not instruction.computation.is_entry
    if base not in STARTED and phase != DONE and not instruction.users and not is_returned:
        raise ShapeError(f"{instruction.opcode} has no matching async done: no done or update uses it", "opcode")


def _check_users(instruction: Instruction) -> None:
    """Raises ShapeError where an instruction computes with the state of an asynchronous operation."""
    if instruction.opcode.endswith(DONE):
        return
    for user in instruction.users:
        is_next = split_asynchronous(user.opcode)[1] in (UPDATE, DONE)
        is_carried = user.opcode in _CARRIERS or _is_note(user)
        if not (user.operands.index(instruction) == 0 if is_next else is_carried):
            message = f"{instruction.opcode} can only be used as the first operand of its update or done, by control "
            raise ShapeError(f"{message}flow and by tuples, but %{user.name} uses it", "opcode")


def _is_note(user: Instruction) -> bool:
    return user.opcode == "custom-call" and bool(_NOTES.fullmatch(user.attribute("custom_call_target") or ""))


def _check_wrapper(start: Instruction) -> None:
    """Raises ShapeError where an `async-start` wraps several instructions, which no attribute calls a group.

    Other threads, such as that of the SparseCore, run computations of any size.
    """
    (body,) = start.called
    if (start.attribute(_THREAD) or _MAIN) != _MAIN:
        return
    if not is_trivial(body) and not _GROUPED.search(start.attribute("frontend_attributes") or ""):
        message = f"the asynchronous computation %{body.name} is expected to contain only the root and parameters"
        raise ShapeError(message, "calls")


def _check_pair(instruction: Instruction, base: str, phase: str) -> None:
    """Raises ShapeError unless a start that wraps no computation has one done."""
    users = [each for each in instruction.users if not _is_note(each)]
    if phase == START:
        if len(users) != 1:
            raise ShapeError(f"the {instruction.opcode} instruction requires one consumer, found {len(users)}")
        if users[0].opcode not in (f"{base}{DONE}", "tuple"):
            raise ShapeError(f"the consumer of a {instruction.opcode} needs to be {base}-done, found {users[0].opcode}")
    # A loop may pass the state from one iteration to the next.
    found = instruction.operands[0].opcode
    if phase == DONE and found not in (f"{base}{START}", "get-tuple-element") and not _is_carried(instruction):
        raise ShapeError(f"the operand of a {instruction.opcode} instruction needs to be {base}-start, found {found}")


def _check_transfer(instruction: Instruction, base: str, phase: str) -> None:
    if phase == DONE:
        operand = instruction.operands[0].opcode if instruction.operands else ""
        if operand != base and (operand not in _PIPELINED or (operand == "parameter" and not _is_carried(instruction))):
            message = (
                f"the operand of a {instruction.opcode} needs to be {base} or an element of a tuple, found {operand}"
            )
            raise ShapeError(message, "operands")
        return
    is_wrapped = any(caller.opcode.startswith("async") for caller in instruction.computation.callers)
    if phase or (instruction.is_root and is_wrapped):
        return
    users = instruction.users
    if len(users) != 1:
        raise ShapeError(f"the {base} instruction requires one consumer, found {len(users)}")
    done = users[0]
    if done.opcode not in (f"{base}{DONE}", "tuple"):
        raise ShapeError(f"the consumer of a {base} needs to be {base}-done or tuple, found {done.opcode}")
    if done.opcode == "tuple":
        return
    if instruction.attribute("channel_id") != done.attribute("channel_id"):
        channels = [each.attribute("channel_id") for each in (instruction, done)]
        message = (
            f"expected {base} and {done.opcode} to have the same channel id, found {channels[0]} and {channels[1]}"
        )
        raise ShapeError(message, "channel_id")
    if is_host_transfer(instruction) != is_host_transfer(done):
        raise ShapeError(f"expected {base} and {done.opcode} to have the same is_host_transfer", "is_host_transfer")


def _is_carried(done: Instruction) -> bool:
    """Is true for the done of a parameter, to which a loop, a branch or a call passes the state."""
    state = done.operands[0]
    return state.opcode == "parameter" and not state.computation.is_entry


# Starts, updates and dones that wrap a computation


def _parts(instruction: Instruction) -> tuple[Sequence[Shape], Shape]:
    """Returns the shapes of the operands and of the outputs in the state of a start or update."""
    shape = instruction.shape
    if not isinstance(shape, TupleShape) or len(shape.elements) < len(("operands", "outputs")):
        raise ShapeError(_state_message(instruction), "shape")
    operands = shape.elements[0]
    if not isinstance(operands, TupleShape):
        raise ShapeError(_state_message(instruction), "shape")
    return operands.elements, shape.elements[1]


def _state_message(instruction: Instruction) -> str:
    form = "((operand0_shape, operand1_shape, ...), output_shape, ...)"
    return f"{instruction.opcode} expects the shape to be {form}, found {instruction.shape}"


def _check_start(instruction: Instruction) -> None:
    bound, _ = _parts(instruction)
    if len(bound) != len(instruction.operands):
        raise ShapeError(
            f"{instruction.opcode} expects {len(bound)} operands, found {len(instruction.operands)}", "shape"
        )
    _check_bound(instruction, instruction.operands, bound, 0)
    for index, (shape, parameter) in enumerate(zip(bound, _parameters(instruction) or bound, strict=False)):
        if not is_equally_ordered(shape, parameter):
            message = (
                f"{instruction.opcode} expects the async shape at index {{0}} to be a tuple with parameter shapes, "
            )
            raise ShapeError(f"{message}but operand {index} is {shape} and its parameter {parameter}", "shape")
    body = _body(instruction)
    if body is not None:
        _check_late_output(instruction, START, body.root.shape)


def _check_aliases(instruction: Instruction, *, is_layout_sensitive: bool) -> None:
    """Raises ShapeError where an alias of a start or update does not exist; operands that are bound later count."""
    base, phase = split_asynchronous(instruction.opcode)
    if base in STARTED or not phase:
        return
    operands, shape = [each.shape for each in instruction.operands], instruction.shape
    for path, number, inside in aliases_of(Instance(instruction, operands)) if phase == UPDATE else ():
        if number or path[:1] != (_CONTEXT,) or inside[:1] != (_CONTEXT,):
            message = f"an alias of {instruction.opcode} joins its context, element {_CONTEXT}, with that of operand 0"
            raise ShapeError(message, "output_to_operand_aliasing")
    if phase == START:
        operands += _parameters(instruction)[len(instruction.operands) :]
        is_wrapped = base in _ALIASING and not any(isinstance(each, BufferShape) for each in operands)
        # In the short form `fusion-start` the aliases are those of the fusion; others may name what is bound later.
        shape = _parts(instruction)[1] if is_wrapped else _bound_state(instruction)
    check_aliasing(Instance(instruction, operands, shape=shape, is_layout_sensitive=is_layout_sensitive))


def _bound_state(start: Instruction) -> Shape:
    """Returns the state of a start after all operands and outputs are bound."""
    body = _body(start)
    if body is None or not isinstance(start.shape, TupleShape):
        return start.shape
    return TupleShape((TupleShape(tuple(_parameters(start))), body.root.shape, *start.shape.elements[2:]))


def _parameters(start: Instruction) -> list[Shape]:
    body = _body(start)
    return [] if body is None else [each.shape for each in body.parameters]


def _body(instruction: Instruction) -> Computation | None:
    """Returns the computation that an instruction runs on its operands; that of a `reduce-scatter-start` reduces."""
    is_run = has(split_asynchronous(instruction.opcode)[0], Trait.PASSES_OPERANDS)
    return instruction.called[0] if is_run and len(instruction.called) == 1 else None


def _check_bound(instruction: Instruction, operands: Sequence[Instruction], bound: Sequence[Shape], first: int) -> None:
    for index, (operand, shape) in enumerate(zip(operands, bound[first:], strict=False)):
        if not is_equally_ordered(operand.shape, shape):
            message = f"{instruction.opcode} expects the shape of operand {first + index} to match the async shape at "
            raise ShapeError(f"{message}index {{0}}: {operand.shape} and {shape}", "operands")


def _check_later(instruction: Instruction, phase: str) -> None:
    """Raises ShapeError where an update or done does not continue its operation."""
    if not instruction.operands:
        raise ShapeError(f"no operand found for {instruction.opcode}: it needs its asynchronous operation", "operands")
    if phase == UPDATE:
        _parts(instruction)
    before = _resolved(instruction.operands[0], (), _MAX_STEPS)
    if before is None:
        return
    if split_asynchronous(before.opcode)[1] not in (START, UPDATE):
        what = f"cannot have {before.opcode} as operand" if before is instruction.operands[0] else "is"
        raise ShapeError(f"{instruction.opcode} {what}: it does not trace back to an async start", "operands")
    start = _origin(before)
    if start is not None:
        _check_wrapped(instruction, start)
    if phase == UPDATE:
        bound, (known, _) = _parts(instruction)[0], _parts(before)
        new = instruction.operands[1:]
        if len(bound) != len(known) + len(new):
            message = (
                f"{instruction.opcode} has {len(new)} new operands, but the shape lists {len(bound)} after {len(known)}"
            )
            raise ShapeError(message, "shape")
        _check_bound(instruction, new, bound, len(known))
    if start is not None:
        _check_output(instruction, phase, before, start)


def _resolved(value: Instruction, path: tuple[int, ...], steps: int) -> Instruction | None:
    """Returns the instruction that makes a value, through tuples, loops and calls; None if not known."""
    if not steps:
        return None
    if value.opcode == "get-tuple-element":
        return _resolved(value.operands[0], ((value.ints("index") or (0,))[0], *path), steps - 1)
    if value.opcode == "tuple" and path and path[0] < len(value.operands):
        return _resolved(value.operands[path[0]], path[1:], steps - 1)
    if value.opcode == "parameter":
        passed = [each for caller in value.computation.callers for each in _passed(caller, value)]
        if not passed:
            return value if value.computation.is_entry else None
        return _resolved(passed[0], path, steps - 1)
    if (value.opcode == "while" or has(value.opcode, Trait.FORWARDS)) and value.operands:
        return _resolved(value.operands[0], path, steps - 1)
    is_call = has(value.opcode, Trait.CALLS) and not split_asynchronous(value.opcode)[1]
    return None if path or is_call else value


def _passed(caller: Instruction, parameter: Instruction) -> Sequence[Instruction]:
    """Returns the operand that a loop, a branch or a call passes to a parameter, if it passes one."""
    number = int(parameter.contents)
    if caller.opcode == "conditional":
        number = 1 + caller.called.index(parameter.computation)
    return caller.operands[number : number + 1] if caller.opcode in ("call", "conditional", "while") else ()


def _origin(value: Instruction) -> Instruction | None:
    for _ in range(_MAX_STEPS):
        if value.opcode.endswith(START):
            return value
        before = _resolved(value.operands[0], (), _MAX_STEPS) if value.opcode.endswith(UPDATE) else None
        if before is None:
            return None
        value = before
    return None


def _check_wrapped(instruction: Instruction, start: Instruction) -> None:
    body, wanted_body = _body(instruction), _body(start)
    # Beyond loops the computations are equal, not one.
    has_other = body is not None and wanted_body is not None and body is not wanted_body
    if body and wanted_body and has_other and (_start_of(instruction) or _form(body) != _form(wanted_body)):
        message = f"{instruction.opcode} expects its wrapped async computation to be identical to that of its operand, "
        raise ShapeError(f"{message}%{wanted_body.name}, found %{body.name}", "calls")
    bases = [split_asynchronous(each.opcode)[0] for each in (start, instruction)]
    if "async" not in bases and bases[0] != bases[1]:
        raise ShapeError(f"expected the async wrapped opcode to be {bases[0]}, found {bases[1]}", "opcode")
    thread, wanted = instruction.attribute(_THREAD), start.attribute(_THREAD) or _MAIN
    if thread is not None and thread.strip('"') != wanted.strip('"'):
        raise ShapeError(f"expected {_THREAD} to be {wanted}, found {thread}", _THREAD)


def _form(computation: Computation) -> list[object]:
    """Returns the instructions of a computation without names: equal computations of one module have equal forms."""
    signatures, numbers = Signatures(), {each: number for number, each in enumerate(computation.instructions)}
    return [(signatures.of(each), [numbers[operand] for operand in each.operands]) for each in numbers]


def _check_output(instruction: Instruction, phase: str, before: Instruction, start: Instruction) -> None:
    """Raises ShapeError where the operands or outputs of a chain are not those of its computation."""
    bound, output = _parts(before)
    has_late_outputs = _parts(start)[1] == TupleShape(())
    body = _body(start)
    if body is not None:
        count = len(body.parameters)
        found = len(_parts(instruction)[0]) if phase == UPDATE else len(bound)
        if found > count or (phase == DONE and found < count):
            message = (
                f"{instruction.opcode} expects the async shape at index {{0}} to be a tuple with parameter shapes: "
            )
            raise ShapeError(f"{message}expects {count} operands, found {found}", "shape")
        if has_late_outputs:
            _check_late_output(instruction, phase, body.root.shape)
            return
    if phase == DONE and not has_late_outputs and not is_equally_ordered(instruction.shape, output):
        message = f"{instruction.opcode} expects its shape to match the async shape at index {{1}}"
        raise ShapeError(f"{message}: {instruction.shape} and {output}", "shape")


def _check_late_output(instruction: Instruction, phase: str, root: Shape) -> None:
    if phase == DONE:
        if not is_compatible(instruction.shape, root):
            message = f"{instruction.opcode} expects its shape to match the async computation root: "
            raise ShapeError(f"{message}{instruction.shape} and {root}", "shape")
        return
    output = _parts(instruction)[1]
    given = output.elements if isinstance(output, TupleShape) else None
    wanted = root.elements if isinstance(root, TupleShape) else ()
    is_prefix = given is not None and len(given) <= len(wanted) and all(map(is_compatible, given, wanted))
    if not is_prefix and not is_compatible(output, root):
        message = f"{instruction.opcode} expects the async shape at index {{1}} to be a tuple of the first outputs of "
        raise ShapeError(f"{message}{root}, or all of it, found {output}", "shape")
