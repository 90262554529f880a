"""What executes in place of an optimized dump: no engine here runs tiles, fusions and TPU's own calls."""

from __future__ import annotations

from dialect_utils.ir import Module
from passes.base import Pass
from passes.registry import load_pass

_PORTABLE = "make-portable"
# What only a compiler writes, and only its own backend runs.
_COMPILED = frozenset({"bitcast", "fusion", "async-update"})
_ASYNCHRONOUS = ("-start", "-done")


def is_optimized_dump(module: Module) -> bool:
    """Is true for HLO as a compiler leaves it: scheduled, or with fusions, bitcasts or asynchronous ops."""
    if module.form != "hlo":
        return False
    if module.attributes.get("is_scheduled") == "true":
        return True
    opcodes = {operation.opcode for function in module.functions for operation in function.operations}
    return bool(opcodes & _COMPILED) or any(opcode.endswith(_ASYNCHRONOUS) for opcode in opcodes)


def executable_form(module: Module, step: Pass | None = None) -> Module:
    """Returns the module, an optimized dump as the pass make-portable (`step`: with options) rewrites it.

    Raises DiagnosticError for a dump that the pass refuses.
    """
    return (step or load_pass(_PORTABLE)()).run(module).module if is_optimized_dump(module) else module
