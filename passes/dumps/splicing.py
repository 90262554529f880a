"""Puts what another module's entry computes into a module."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops
from passes.dumps.inlining import inline_body


def splice(ops: Ops, given: HloModule, operands: Sequence[Instruction]) -> Instruction:
    """Makes what the entry of another module does, on `operands`, and adds the computations it calls."""
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
