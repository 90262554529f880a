"""Operations that read the bytes of tiled arrays, and the expansion of `ConcatBitcast`.

Tiles of the operands of all other such operations cannot be expanded. The bytes of a `ConcatBitcast` are those of the
operands, concatenated.
"""

from __future__ import annotations

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import Module, Operation, array_shape
from dialect_utils.layout import TupleShape
from dialect_utils.layout.index.index_map import linear_index, linear_indices, logical_indices, physical_element_count
from dialect_utils.layout.moves.physical import dense_bitcast_plan, logical_plan, physical_plan, physical_shape
from dialect_utils.ops.control import CALLS_OF_BYTES
from dialect_utils.text import Diagnostic, DiagnosticError

# Custom calls that return their operand in any layout.
_IDENTITY_CALLS = ("AssumeGatherIndicesInBound", "AssumeScatterIndicesInBound", "GatherScatterIndicesBitpacked")


def find_byte_readers(module: Module) -> list[Diagnostic]:
    """Returns an error for every operation whose result depends on the tiles of its operands."""
    return [error for operation in module.operations() if (error := _error(operation)) is not None]


def _error(operation: Operation) -> Diagnostic | None:
    if operation.opcode == "bitcast":
        return bitcast_error(operation)
    callee = operation.callee
    if callee is None or callee in _IDENTITY_CALLS:
        return None
    arrays = (array for value in (*operation.operands, *operation.results) for array in value.shape.arrays())
    if callee in CALLS_OF_BYTES and any(array.is_tiled for array in arrays):
        message = f"custom call {callee} joins the bytes of its operands, which are tiled"
    # A colon follows minor_to_major if a layout has tiles or another property.
    elif ":" in (operation.attribute("operand_layout_constraints") or ""):
        message = f"custom call {callee} prescribes tiled layouts for its operands"
    else:
        return None
    return Diagnostic(message, operation.location, hint="run expand-custom-calls first")


def bitcast_error(operation: Operation) -> Diagnostic | None:
    """Returns an error for a bitcast of a tuple that reads an element under another layout, else None."""
    source, result = operation.operands[0].shape, operation.results[0].shape
    is_tuple = isinstance(source, TupleShape) or isinstance(result, TupleShape)
    if not is_tuple or source.in_default_memory == result.in_default_memory:
        return None
    message = f"bitcast {operation.results[0].name} reads elements of a tuple under other layouts"
    return Diagnostic(message, operation.location, hint="bitcast the elements, not the tuple")


_BYTE = 8


def expand_concatenation(ops: Ops, call: Instruction) -> Instruction:
    """Builds a concatenate along the most major dimension if that is equal, else one of the physical arrays.

    Operands may have another element type than the result. Raises DiagnosticError if the operands have another size
    than the result, or if the result's elements contain padding.
    """
    dim = _joined_dimension(call)
    if dim is not None:
        return ops.array("concatenate", array_shape(call).dimensions, call.operands, {"dimensions": (dim,)})
    problem = _problem(call)
    if problem is not None:
        raise DiagnosticError(f"ConcatBitcast {call.name} {problem}", call.location)
    parts = []
    for operand in call.operands:
        physical = ops.steps(physical_plan(array_shape(operand)), operand)
        parts.append(ops.reshape(physical, (array_shape(physical).element_count,)))
    kind = array_shape(parts[0]).element_type
    count = sum(array_shape(part).element_count for part in parts)
    joined = ops.array("concatenate", (count,), parts, {"dimensions": (0,)}, element_type=kind)
    result = array_shape(call)
    across = dense_bitcast_plan(array_shape(joined), physical_shape(result))
    assert across is not None  # checked by _problem
    return ops.steps(across.then(logical_plan(result)), joined)


def expand_concatenations(module: HloModule) -> None:
    """Expands every ConcatBitcast with a tiled operand or result, in place."""
    for call in instructions(module, "custom-call"):
        shapes = [value.shape for value in (*call.operands, call)]
        if call.callee == "ConcatBitcast" and any(leaf.is_tiled for shape in shapes for leaf in shape.arrays()):
            ops = Ops(call)
            ops.finish(expand_concatenation(ops, call))


def _problem(call: Instruction) -> str | None:
    """Returns why the concatenated bytes of the operands are not the result, or None."""
    result, parts = array_shape(call), [array_shape(operand) for operand in call.operands]
    kinds = {part.element_type for part in parts}
    if len(kinds) != 1:
        return f"joins {' and '.join(sorted(map(str, kinds)))}"
    [kind] = kinds
    atom = min(kind.bits, result.element_type.bits)
    is_packed = any(s.effective_layout.element_size_in_bits not in (0, s.element_type.bits) for s in (result, *parts))
    if kind != result.element_type and (atom < _BYTE or is_packed):
        return f"reads {kind} as {result.element_type}: their bytes are not known here"
    width, sizes = result.element_type.bits // atom, [physical_element_count(part) for part in parts]
    needed = physical_element_count(result) * width
    if sum(sizes) * (kind.bits // atom) != needed:
        return f"joins {sum(sizes)} elements in memory, but its result has {needed // width}"
    if sizes == [part.element_count for part in parts]:
        return None
    import numpy as np

    held = np.concatenate([logical_indices(part).reshape(-1) for part in parts]).repeat(kind.bits // atom)
    read = linear_indices(result).reshape(-1, 1) * width + np.arange(width)
    return "reads padding of its operands" if (held[read] < 0).any() else None


def _joined_dimension(call: Instruction) -> int | None:
    """Returns the dimension along which concatenating the operands keeps their order in memory, or None."""
    result, parts = array_shape(call), [array_shape(operand) for operand in call.operands]
    if any((part.rank, part.element_type) != (result.rank, result.element_type) for part in parts):
        return None
    dims = [i for i in range(result.rank) if any(part.dimensions[i] != result.dimensions[i] for part in parts)]
    major = next((i for i in result.effective_layout.major_to_minor if result.dimensions[i] != 1), 0)
    if dims not in ([], [major]) or sum(part.dimensions[major] for part in parts) != result.dimensions[major]:
        return None
    start, slots = 0, 0
    for part in parts:
        index = [0] * result.rank
        index[major] = start
        is_alike = part.in_default_memory.layout == result.in_default_memory.layout
        if not is_alike or linear_index(result, index) != slots:
            return None
        start, slots = start + part.dimensions[major], slots + physical_element_count(part)
    return major
