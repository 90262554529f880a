"""Replaces fusions, and calls of other computations, by their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import Ops, erase_unused, instructions, rebuild
from dialect_utils.text import DiagnosticError
from passes.framework.base import Report, module_pass

Into = Literal["body", "call"]

# The largest body that is inlined into several fusions; inlining larger ones could grow exponentially.
_SHARED_BODY_LIMIT = 64


@module_pass
def inline_fusions(module: HloModule, report: Report, *, into: Into = "body") -> None:
    """Replaces every fusion by its body, or by a call of it.

    1. The instructions of the body replace the fusion, with its operands for the parameters; a `copy` converts an
       operand of another layout. Innermost fusions come first.
    2. A get-tuple-element of a fusion becomes the element.
    3. With `into=call`, or if several fusions share a large body, the fusion becomes a `call`.

    Before:
        HloModule m
        body {
          p = f32[4] parameter(0)
          ROOT n = f32[4] negate(p)
        }
        ENTRY e {
          a = f32[4] parameter(0)
          ROOT f = f32[4] fusion(a), kind=kLoop, calls=body
        }

    After:
        HloModule m
        ENTRY e {
          a = f32[4] parameter(0)
          ROOT f = f32[4] negate(a)
        }
    """
    fusions = instructions(module, "fusion")
    bodies = dict.fromkeys(body_of(fusion) for fusion in fusions)
    for fusion in fusions:
        body = body_of(fusion)
        is_shared = len(body.callers) > 1 and len(body.operations) > _SHARED_BODY_LIMIT
        if into == "call" or is_shared:
            _make_call(fusion)
        else:
            ops = Ops(fusion)
            use_elements(ops.finish(inline_body(ops, body, fusion.operands)))
    erase_unused(module, bodies)


def body_of(fusion: Instruction) -> Computation:
    """Returns the computation of a fusion or call; raises DiagnosticError unless it calls exactly one."""
    if len(fusion.called) != 1:
        message = f"{fusion.opcode} {fusion.name} calls {len(fusion.called)} computations, not one"
        raise DiagnosticError(message, fusion.location)
    return fusion.called[0]


def _make_call(fusion: Instruction) -> None:
    def change(attributes: dict[str, str]) -> None:
        attributes["to_apply"] = attributes.pop("calls")
        for name in ("kind", "output_to_operand_aliasing"):
            attributes.pop(name, None)

    rebuild(fusion, opcode="call", change=change)


def use_elements(value: Instruction) -> None:
    """Replaces each get-tuple-element of a `tuple` by the element, and erases the tuple if it has no other user."""
    if value.opcode != "tuple":
        return
    for user in value.users:
        if user.opcode == "get-tuple-element":
            element = value.operands[int(user.attribute("index") or 0)]
            user.replace_uses(element)
            user.erase()
            use_elements(element)
    if not value.users and not value.is_root:
        value.erase()


def inline_body(ops: Ops, body: Computation, operands: Sequence[Instruction]) -> Instruction:
    """Builds the instructions of `body` on `operands`; returns the copy of the ROOT.

    A `copy` converts an operand to the parameter's layout, on which bitcasts of the body depend. A get-tuple-element of
    a `tuple` becomes the element. Raises DiagnosticError if `body` takes another number of operands.
    """
    if len(body.parameters) != len(operands):
        message = f"%{body.name} takes {len(body.parameters)} operands, but {ops.replaced.name} has {len(operands)}"
        raise DiagnosticError(message, ops.replaced.location)
    values = {
        # Memory spaces may differ.
        parameter: operand
        if operand.shape.in_default_memory == parameter.shape.in_default_memory
        else ops.fitted(operand, parameter.shape)
        for parameter, operand in zip(body.parameters, operands, strict=True)
    }
    ops.copies(body.operations, values)
    return values[body.root]


def is_call_of(item: Instruction, operands: Sequence[Instruction]) -> bool:
    """Is true for a custom call of one computation that takes exactly these operands (a comparator takes scalars)."""
    if item.opcode not in ("custom-call", "custom-call-start") or len(item.called) != 1:
        return False
    taken = [parameter.shape.without_layout for parameter in item.called[0].parameters]
    return taken == [operand.shape.without_layout for operand in operands]


def splice(ops: Ops, given: HloModule, operands: Sequence[Instruction]) -> Instruction:
    """Builds the instructions of another module's entry on `operands`, and adds the computations that they call."""
    module, copy = ops.computation.module, given.clone()
    for body in copy.functions:
        if body is copy.entry:
            continue
        body.rename(_fresh_in_both(module, copy, body.name))
        module.add_computation(body.text().strip())
    return inline_body(ops, copy.entry, operands)


def _fresh_in_both(module: HloModule, other: HloModule, name: str) -> str:
    fresh = module.fresh_name(name)
    while other.find(fresh) is not None and fresh != name:
        fresh = module.fresh_name(name)
    return fresh
