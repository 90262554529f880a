"""Replaces a call by the body of a computation of this or another module."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import Ops
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError


def inline_body(ops: Ops, body: Computation, operands: Sequence[Instruction]) -> Instruction:
    """Makes the instructions of `body` on `operands`; returns the copy of the ROOT.

    A `copy` converts an operand to the parameter's layout, on which bitcasts of the body depend. A get-tuple-element of
    a `tuple` becomes the element. Raises DiagnosticError if `body` takes another number of operands.
    """
    if len(body.parameters) != len(operands):
        message = f"%{body.name} takes {len(body.parameters)} operands, but {ops.replaced.name} has {len(operands)}"
        raise DiagnosticError(Diagnostic(message, ops.replaced.location))
    values: dict[Instruction, Instruction] = {}
    for parameter, operand in zip(body.parameters, operands, strict=True):
        values[parameter] = (
            operand if _same_layout(operand.shape, parameter.shape) else ops.fitted(operand, parameter.shape)
        )
    ops.copies(body.operations, values)
    return values[body.root]


def is_call_of(item: Instruction, operands: Sequence[Instruction]) -> bool:
    """Is true for a custom call of one computation that takes exactly these operands (a comparator takes scalars)."""
    if item.opcode not in ("custom-call", "custom-call-start") or len(item.called) != 1:
        return False
    taken = [parameter.shape.without_layout for parameter in item.called[0].parameters]
    return taken == [operand.shape.without_layout for operand in operands]


def _same_layout(shape: Shape, other: Shape) -> bool:
    """Is true for shapes that differ at most in the memory space."""
    if isinstance(shape, TupleShape) and isinstance(other, TupleShape):
        return all(map(_same_layout, shape.elements, other.elements))
    if isinstance(shape, ArrayShape) and isinstance(other, ArrayShape):
        return shape.in_default_memory == other.in_default_memory
    return shape == other


def splice(ops: Ops, given: HloModule, operands: Sequence[Instruction]) -> Instruction:
    """Makes the instructions of another module's entry on `operands`, and adds the computations that they call."""
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
