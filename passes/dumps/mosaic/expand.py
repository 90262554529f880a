"""Expansion of a `tpu_custom_call` to a call of the computation that its kernel lowers to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.mosaic.decode import TARGET, kernel_of, kernels_of
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.mosaic import control_ops, dma_ops, elementwise_ops, memory_ops, vector_ops
from passes.dumps.mosaic.frame import Lowering
from passes.dumps.mosaic.grid import KernelCall, lower_kernel
from passes.dumps.mosaic.memory import Unwritten

_ALIAS = re.compile(r"\{\s*(\d*)\s*\}\s*:\s*\(\s*(\d+)\s*,\s*\{\s*\}")
_NOT_IN_NAMES = re.compile(r"[^\w.]+")


def expand_kernel(ops: Ops, call: Instruction, *, unwritten: Unwritten = "zero") -> Instruction:
    """Builds a call of a kernel's computation, which calls of one kernel with equal shapes share.

    `unwritten` is the content of memory that the kernel does not write. Raises DiagnosticError for a kernel that is
    damaged or cannot be lowered.
    """
    module = ops.computation.module
    kernel = kernel_of(call)
    operands = tuple(array_shape(operand).without_layout for operand in call.operands)
    results = tuple(leaf.without_layout for leaf in call.shape.arrays())
    aliasing = _ALIAS.findall(call.attribute("output_to_operand_aliasing") or "")
    aliases = tuple((int(result or 0), int(operand)) for result, operand in aliasing)
    found = KernelCall(kernel, operands, results, aliases, devices_of(module).count, unwritten)
    name = _name(found)
    if module.find(name) is None:
        try:
            program = lower_kernel(found, name, OPS)
        except DiagnosticError as error:
            raise _at_call(call, error) from None
        for text in program.texts.values():
            module.add_computation(text)
    shapes: list[Shape] = [ops.shape(result.element_type, result.dimensions) for result in results]
    made = ops.emit("call", TupleShape(tuple(shapes)), call.operands, {"to_apply": f"%{name}"})
    return made if isinstance(call.shape, TupleShape) else ops.element(made, 0)


def decode_kernels(calls: Sequence[Instruction]) -> None:
    """Decodes the kernels of many calls at once and caches them for `expand_kernel`."""
    try:
        kernels_of([call for call in calls if call.callee == TARGET])
    except DiagnosticError:
        # expand_kernel reports each damaged kernel.
        return


def _name(call: KernelCall) -> str:
    """Returns the computation's name: the kernel's, and a digest of everything that affects the lowering."""
    described = repr((call.kernel.source.text, call.operands, call.results, call.aliases, call.devices, call.unwritten))
    digest = hashlib.sha256(described.encode()).hexdigest()[:8]
    return f"kernel.{_NOT_IN_NAMES.sub('_', call.kernel.name)}.{digest}"


def _at_call(call: Instruction, error: DiagnosticError) -> DiagnosticError:
    """Returns an error in a kernel's text with a note that names the custom call."""
    note = Diagnostic(f"custom call {call.name} runs this kernel", call.location, severity="note")
    return DiagnosticError(
        [
            Diagnostic(each.message, each.location or call.location, each.severity, each.hint, (*each.notes, note))
            for each in error.diagnostics
        ]
    )


FAMILIES: dict[str, tuple[Lowering, ...]] = {
    "element by element": elementwise_ops.ROWS,
    "vectors": vector_ops.ROWS,
    "memory": memory_ops.ROWS,
    "control": control_ops.ROWS,
    "copies and semaphores": dma_ops.ROWS,
}
OPS: dict[str, Lowering] = {name: row for rows in FAMILIES.values() for row in rows for name in row.names.split()}
