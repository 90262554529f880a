"""Tokens that a program takes and gives back, as one with ordered calls of the host does."""

from __future__ import annotations

from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import Ops, rebuild
from dialect_utils.layout import Shape, TokenShape, TupleShape


def drop_entry_tokens(module: HloModule) -> None:
    """Takes the tokens out of the entry's parameters and its tuple of results, in place: no array is one."""
    entry, layout = module.entry, module.entry_computation_layout
    tokens = [parameter for parameter in entry.parameters if isinstance(parameter.shape, TokenShape)]
    if not tokens or entry.root.opcode != "tuple":
        return
    kept = [operand for operand in entry.root.operands if not isinstance(operand.shape, TokenShape)]
    rebuild(entry.root, operands=kept, shape=TupleShape(tuple(operand.shape for operand in kept)))
    for token in tokens:
        token.replace_uses(Ops(token).emit("after-all", token.shape))
        entry.drop_parameter(token)
    if layout is not None:
        parameters, result = layout
        assert isinstance(result, TupleShape)  # the root is a tuple
        module.set_entry_computation_layout(_without_tokens(parameters), TupleShape(_without_tokens(result.elements)))


def _without_tokens(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    return tuple(shape for shape in shapes if not isinstance(shape, TokenShape))
