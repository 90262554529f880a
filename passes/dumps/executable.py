"""What executes in place of an optimized dump: no engine here runs tiles, fusions and TPU's own calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import instructions
from dialect_utils.ir import Module, Operation, array_shape
from dialect_utils.ops import Trait, with_trait
from dialect_utils.text import Diagnostic
from passes.framework.base import Pass, load_pass

_PORTABLE = "make-portable"
# What only a compiler writes, and only its own backend runs.
_COMPILED = frozenset({"bitcast", "fusion", "async-update"})
_BETWEEN_PARTITIONS = frozenset({*with_trait(Trait.COLLECTIVE), "partition-id"})
# Which buffers may be one says nothing of what is computed, and XLA ends the process over those in tuples.
_BUFFERS = ("input_output_alias", "buffer_donor")
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
    # Imported here: most modules have no kernel, and reading one takes a package of its own.
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
    return _readable(found) if isinstance(found, HloModule) else found


def _readable(module: HloModule) -> HloModule:
    """Returns an HLO module in the form that every jaxlib reads and none dies of; the same one where it has it."""
    buffers = [name for name in _BUFFERS if name in module.attributes]
    ordered = [item for item in instructions(module, "compare") if item.attribute("order") is not None]
    if not (buffers or ordered or module.hides_instructions) and module.has_callees_first:
        return module
    module = module.clone()
    _say_orders_as_types(module)
    for name in buffers:
        module.set_attribute(name, None)
    # jaxlib before 0.12 reads no `%t#0`.
    module.give_lines()
    module.put_callees_first()
    return module


def _say_orders_as_types(module: HloModule) -> None:
    """Writes `order=TOTAL` of floats, which jaxlib writes since 0.12, as `type=TOTALORDER`, which all read."""
    for item in instructions(module, "compare"):
        order = item.attribute("order")
        item.set_attribute("order", None)
        if order == "TOTAL" and array_shape(item.operands[0]).element_type.is_floating:
            item.set_attribute("type", "TOTALORDER")


def checked_form(module: Module) -> Module:
    """Returns what `executable_form` does, with poison where a kernel does not write: no result may depend on it."""
    from passes.dumps.make_portable import make_portable

    return executable_form(module, make_portable.with_options(unwritten="poison"))
