"""What executes in place of an optimized dump: no engine here runs tiles, fusions and TPU's own calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dialect_utils.hlo import HloModule
from dialect_utils.ir import Module, Operation
from dialect_utils.opcodes import Trait, with_trait
from dialect_utils.text import Diagnostic
from passes.framework.base import Pass
from passes.framework.registry import load_pass

_PORTABLE = "make-portable"
# What only a compiler writes, and only its own backend runs.
_COMPILED = frozenset({"bitcast", "fusion", "async-update"})
_BETWEEN_PARTITIONS = frozenset({*with_trait(Trait.COLLECTIVE), "partition-id"})
_ASYNCHRONOUS = ("-start", "-done")


def is_optimized_dump(module: Module) -> bool:
    """Is true for HLO as a compiler leaves it: scheduled, partitioned, or with fusions, bitcasts or kernels."""
    if module.dialect != "hlo":
        return False
    if module.attributes.get("is_scheduled") == "true":
        return True
    operations = list(module.operations())
    opcodes = {operation.opcode for operation in operations}
    # Partitions that talk to each other; before that, XLA runs the program of all of them on one device.
    if module.attributes.get("num_partitions", "1") != "1" and opcodes & _BETWEEN_PARTITIONS:
        return True
    if opcodes & _COMPILED or any(opcode.endswith(_ASYNCHRONOUS) for opcode in opcodes):
        return True
    return "custom-call" in opcodes and any(map(_is_kernel, operations))


def _is_kernel(operation: Operation) -> bool:
    # Imported here: most modules have no kernel, and reading one takes a room of its own.
    from dialect_utils.mosaic import TARGET

    return operation.callee == TARGET


def executable_form(
    module: Module, step: Pass | None = None, told: Callable[[Sequence[Diagnostic]], None] | None = None
) -> Module:
    """Returns the module, an optimized dump as the pass make-portable (`step`: with options) rewrites it.

    `told` is called with the pass's notes. Raises DiagnosticError for a dump that the pass refuses.
    """
    found = module
    if is_optimized_dump(module):
        result = (step or load_pass(_PORTABLE)).run(module)
        found = result.module
        if told is not None:
            told(result.notes)
    if isinstance(found, HloModule) and found.hides_instructions:
        # jaxlib before 0.12 reads no `%t#0`.
        found = found.clone()
        found.give_lines()
    return found


def checked_form(module: Module) -> Module:
    """Returns what `executable_form` does, with poison where a kernel does not write: no result may depend on it."""
    from passes.dumps.make_portable import make_portable

    return executable_form(module, make_portable.with_options(unwritten="poison"))
