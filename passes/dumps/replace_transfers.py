"""Turns the data that a program exchanges with other programs into its parameters and results."""

from __future__ import annotations

from collections.abc import Iterable

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.ops import Ops, instructions, tuple_elements
from dialect_utils.layout import Shape, TokenShape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.host_callbacks import own_done
from passes.dumps.inline_fusions import use_elements
from passes.framework.base import Report, module_pass

_RECEIVING, _SENDING = ("infeed", "recv"), ("outfeed", "send")
# The frontend attribute of a transfer among the devices of one program (xla/service/collective_ops_utils.h).
_AMONG_DEVICES = "_xla_send_recv_source_target_pairs"
# Attributes of the header with one flag for each parameter or result of the entry.
_HEADER = ("allow_spmd_sharding_propagation_to_parameters", "allow_spmd_sharding_propagation_to_output")


@module_pass
def replace_transfers(module: HloModule, report: Report) -> None:
    """Makes parameters of the data that a program receives from other programs, and results of the data that it sends.

    1. The data of an infeed, or of a recv and its done, is one more parameter of the entry, under the name of the op.
    2. The data of an outfeed, or of a send and its done, is one more result of the entry. In another computation, such
       as the body of a loop, it is left out.
    3. The entry no longer returns tokens.

    A note names each transfer. Calls of functions on the host stay as they are. Raises DiagnosticError for data that
    another computation receives, for transfers among the devices of the program, and for those without an own done.

    Before:
        HloModule m
        ENTRY e {
          t = token[] after-all()
          i = (f32[4], token[]) infeed(t)
          x = f32[4] get-tuple-element(i), index=0
          u = token[] get-tuple-element(i), index=1
          n = f32[4] negate(x)
          o = token[] outfeed(n, u), outfeed_shape=f32[4]
          ROOT r = f32[4] add(x, n)
        }

    After:
        HloModule m
        ENTRY e {
          i = f32[4] parameter(0)
          t = token[] after-all()
          n = f32[4] negate(i)
          r = f32[4] add(i, n)
          ROOT results = (f32[4], f32[4]) tuple(r, n)
        }
    """
    found = transfers(module)
    errors = [each for item in found for each in _problems(item)]
    if errors:
        raise DiagnosticError(errors)
    if not found:
        return
    for name in _HEADER:
        module.set_attribute(name, None)
    layout, count, root = module.entry_computation_layout, len(module.entry.parameters), module.entry.root
    sent = [
        (item.opcode, item.name, item.operands[0])
        for item in found
        if item.opcode in _SENDING and item.computation.is_entry
    ]
    results = _returned(module, [value for _, _, value in sent])
    for (opcode, name, value), number in zip(sent, results, strict=True):
        report.note(f"{opcode} {name} gives the output out{number} {value.shape.without_layout}")
    for item in found:
        if item.opcode in _RECEIVING:
            _receive(module, item, report)
        else:
            if not item.computation.is_entry:
                report.note(f"{item.opcode} {item.name} in {item.computation.name} is left out", item.location)
            _forget(item)
    if layout is not None:
        parameters, result = layout
        if module.entry.root is not root:
            result = TupleShape((*_without_tokens(result), *(value.shape for _, _, value in sent)))
        added = module.entry.parameters[count:]
        module.set_entry_layout((*parameters, *(each.shape for each in added)), [result])


def transfers(module: HloModule) -> list[Instruction]:
    """Returns the ops that receive data from other programs or send it, without the calls of functions on the host."""
    found = instructions(module, *_RECEIVING, *_SENDING)
    return [item for item in found if item.attribute("is_host_transfer") != "true"]


def _problems(item: Instruction) -> Iterable[Diagnostic]:
    described = f"{item.opcode} {item.name}"
    if _AMONG_DEVICES in (item.attribute("frontend_attributes") or ""):
        yield Diagnostic(f"{described} exchanges data among the devices of this program", item.location)
    elif item.opcode in ("send", "recv") and own_done(item) is None:
        yield Diagnostic(f"{described} ends where its data cannot be followed", item.location)
    elif item.opcode in _RECEIVING and not item.computation.is_entry:
        message = f"{described} receives data in {item.computation.name}, which may run any number of times"
        yield Diagnostic(message, item.location, hint="data can be given only for the entry, which runs once")


def _returned(module: HloModule, values: list[Instruction]) -> list[int]:
    """Makes the entry return these values after its own ones, without tokens; returns the number of each."""
    root = module.entry.root
    if not values and _without_tokens(root.shape) == root.shape.parts:
        return []
    emit = HloBuilder(module.entry, after=module.entry.order.last).emit
    kept = [root]
    if isinstance(root.shape, TupleShape):
        kept = [
            root.operands[index]
            if root.opcode == "tuple"
            else emit(root.name, shape, "get-tuple-element", (root,), attributes={"index": str(index)})
            for index, shape in enumerate(root.shape.elements)
            if not isinstance(shape, TokenShape)
        ]
    results = [value for value in (*kept, *values) if not isinstance(value.shape, TokenShape)]
    shape = TupleShape(tuple(value.shape for value in results))
    module.entry.set_root(emit("results", shape, "tuple", results))
    if root.opcode == "tuple" and not root.users:
        root.erase()
    before = len(results) - len(values)
    sizes = [sum(1 for _ in value.shape.arrays()) for value in results]
    return [sum(sizes[: before + index]) for index in range(len(values))]


def _without_tokens(shape: Shape) -> tuple[Shape, ...]:
    return tuple(each for each in shape.parts if not isinstance(each, TokenShape))


def _receive(module: HloModule, item: Instruction, report: Report) -> None:
    """Replaces an infeed, or the done of a recv, by a parameter and the token that the operation waits for."""
    done = item if item.opcode == "infeed" else own_done(item)
    assert done is not None  # checked before
    name, shape, token = item.name, tuple_elements(done)[0], item.operands[-1]
    report.note(f"{item.opcode} {name} is an input: {name} {shape.without_layout}", item.location)
    ops, parameter = Ops(done), module.entry.add_parameter(name, shape)
    use_elements(ops.finish(ops.tuple([parameter, token])))
    if done is not item:
        item.erase()
    parameter.rename(name)
    ops.drop_unused()


def _forget(item: Instruction) -> None:
    """Removes an outfeed, or a send and its done."""
    done = item if item.opcode == "outfeed" else own_done(item)
    assert done is not None  # checked before
    done.replace_uses(item.operands[-1])
    done.erase()
    if done is not item:
        item.erase()
