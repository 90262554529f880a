"""Replaces the custom calls of the TPU and GPU compilers by ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import ClassVar

from dialect_utils.hlo import HloModule, Instruction, parse_module
from dialect_utils.ir import Module
from dialect_utils.layout import (
    ELEMENT_TYPES,
    ArrayShape,
    ElementType,
    Layout,
    Plan,
    Shape,
    Slice,
    TupleShape,
    array_leaves,
    linear_index,
    linear_indices,
    logical_indices,
    map_arrays,
    physical_element_count,
    physical_plan,
)
from dialect_utils.text import Diagnostic, DiagnosticError, nearest
from passes import tpu_linalg
from passes.base import Pass, Report
from passes.gpu_calls import GPU_EXPANSIONS
from passes.hlo_ops import PRED, AttributeValue, Ops, array_shape, as_hlo, erase_unused, instructions, zero_of
from passes.inline_fusions import use_elements
from passes.inlining import inline_body, is_call_of
from passes.splicing import splice

Expansion = Callable[[Ops, Instruction], Instruction]

_U32, _F32 = ELEMENT_TYPES["u32"], ELEMENT_TYPES["f32"]
_HALF_BITS = "32"


@dataclass(frozen=True)
class ExpandCustomCalls(Pass):
    """Replaces the custom calls of the TPU and GPU compilers by ops.

    1. AllocateBuffer is an array of zeros; AssumeGatherIndicesInBound and
       GatherScatterIndicesBitpacked return their operand; ConcatBitcast concatenates.
    2. X64SplitLow, X64SplitHigh and X64Combine are the two 32-bit halves of an integer, the real
       and imaginary part of a complex number, and the rest and the rounded value of an f64.
    3. Cholesky, InvertDiagBlocksLowerTriangular, InvertDiagBlocksUpperTriangular,
       CompactWyHelper, LuRealDecompositionBlock, QrDecompositionBlock and EighTpu are loops of ops.
    4. TopK and PartialReduce sort by their comparator and keep the first elements;
       TopKBatchMajorSmallK sorts downwards.
    5. A call that names the computation it runs (on another core) is that computation.
    6. The products, convolutions, solvers, sorts and random bits of XLA:GPU (`__cublas$gemm`,
       `__cudnn$convForward`, ...) are dot, convolution, triangular-solve, cholesky and sort, with
       the scales, biases and activations that their backend_config says; workspaces are zeros.
    7. `custom-call=NAME=module.hlo` gives the computation for any other name.

    An unknown custom call is an error that names it and its operands.

    Before:
        HloModule m
        ENTRY e {
          p = s32[4]{0} parameter(0)
          ROOT c = s32[4]{0} custom-call(p), custom_call_target="AssumeGatherIndicesInBound"
        }

    After:
        HloModule m
        ENTRY e {
          ROOT p = s32[4]{0} parameter(0)
        }
    """

    name: ClassVar[str] = "expand-custom-calls"
    forms = ("hlo",)

    custom_call: tuple[str, ...] = ()

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        expand_custom_calls(as_hlo(module), read_computations(self.custom_call))


def read_computations(options: tuple[str, ...]) -> dict[str, HloModule]:
    """Reads the modules of `NAME=module.hlo` texts; raises DiagnosticError for what cannot be read."""
    found = {}
    for option in options:
        name, separator, path = option.partition("=")
        if not separator:
            raise DiagnosticError(Diagnostic(f"custom-call {option} is not of the form NAME=module.hlo"))
        found[name] = read_hlo(Path(path))
    return found


def read_hlo(path: Path) -> HloModule:
    """Reads an HLO module's file; raises DiagnosticError for what cannot be read."""
    try:
        return parse_module(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise DiagnosticError(Diagnostic(f"{path}: {error}")) from None


def expand_custom_calls(module: HloModule, computations: Mapping[str, HloModule] | None = None) -> None:
    """Replaces every custom call of a module, in place, as the pass does.

    `computations` holds, by target, modules whose entry computes what the call does. Raises
    DiagnosticError that names every custom call that is unknown or cannot be expanded.
    """
    given = computations or {}
    calls = instructions(module, "custom-call")
    called = [body for call in calls for body in call.called]
    errors: list[Diagnostic] = []
    for call in calls:
        try:
            _expand(call, given)
        except DiagnosticError as error:
            errors += error.diagnostics
    if errors:
        raise DiagnosticError(errors)
    erase_unused(module, dict.fromkeys(called))


def _expand(call: Instruction, given: Mapping[str, HloModule]) -> None:
    ops = Ops(call)
    target = call.callee or ""
    if target in given:
        result = _spliced(ops, given[target])
    elif target in EXPANSIONS:
        result = EXPANSIONS[target](ops, call)
    elif is_call_of(call, call.operands):
        result = inline_body(ops, call.called[0], call.operands)
    else:
        raise DiagnosticError(_unknown(call))
    use_elements(ops.finish(result))
    ops.drop_unused()


def _unknown(call: Instruction) -> Diagnostic:
    operands = ", ".join(f"{operand.name}: {operand.shape}" for operand in call.operands)
    message = f"custom call {call.name} calls {call.callee}, which is not known here; operands: ({operands})"
    close = nearest(call.callee or "", EXPANSIONS)
    hint = f"give its computation: --custom-call {call.callee}=module.hlo"
    return Diagnostic(message, call.location, hint=hint + (f" (known and alike: {close})" if close else ""))


def _spliced(ops: Ops, given: HloModule) -> Instruction:
    """Puts the entry of another module in the place of the call, and adds the computations it calls."""
    call, entry = ops.replaced, given.entry
    expected = [_plain(parameter.shape) for parameter in entry.parameters], _plain(entry.root.shape)
    found = [_plain(operand.shape) for operand in call.operands], _plain(call.shape)
    if expected != found:
        message = f"{given.name} takes {_signature(*expected)}, but custom call {call.name} is {_signature(*found)}"
        raise DiagnosticError(Diagnostic(message, call.location))
    operands = [ops.fitted(value, p.shape) for value, p in zip(call.operands, entry.parameters, strict=True)]
    return splice(ops, given, operands)


def _plain(shape: Shape) -> Shape:
    return map_arrays(shape, lambda leaf: leaf.with_layout(None))


def _signature(parameters: list[Shape], result: Shape) -> str:
    return f"({', '.join(map(str, parameters))}) -> {result}"


# What returns its operand. Indices that are said to be in bounds are taken as they are.
def _identity(ops: Ops, call: Instruction) -> Instruction:
    return call.operands[0]


def _allocate(ops: Ops, call: Instruction) -> Instruction:
    return _zeros(ops, call.shape)


def _zeros(ops: Ops, shape: Shape) -> Instruction:
    if isinstance(shape, ArrayShape):
        return ops.filled(shape.element_type, shape.dimensions, zero_of(shape.element_type))
    assert isinstance(shape, TupleShape)  # a buffer is an array or a tuple of them
    return ops.tuple([_zeros(ops, element) for element in shape.elements])


# An f64 is the sum of two f32; the first one ("low") is the rounded value.
def _split_low(ops: Ops, call: Instruction) -> Instruction:
    wide, half = call.operands[0], array_shape(call)
    kind = array_shape(wide).element_type
    if kind.is_complex:
        return ops.emit("real", half, (wide,))
    return ops.convert(wide, half.element_type)


def _split_high(ops: Ops, call: Instruction) -> Instruction:
    wide, half = call.operands[0], array_shape(call)
    kind = array_shape(wide).element_type
    if kind.is_complex:
        return ops.emit("imag", half, (wide,))
    if kind.is_floating:
        return _rest(ops, wide)
    count = ops.filled(kind, half.dimensions, _HALF_BITS)
    return ops.convert(ops.like("shift-right-logical", wide, count), half.element_type)


def _rest(ops: Ops, wide: Instruction) -> Instruction:
    """Makes what rounding an f64 to f32 leaves: 0 for infinities and NaN."""
    shape = array_shape(wide)
    high = ops.convert(wide, _F32)
    rest = ops.convert(ops.like("subtract", wide, ops.convert(high, shape.element_type)), _F32)
    is_finite = ops.emit("is-finite", ops.shape(PRED, shape.dimensions), (high,))
    return ops.emit("select", array_shape(rest), (is_finite, rest, ops.filled(_F32, shape.dimensions)))


def _combine(ops: Ops, call: Instruction) -> Instruction:
    low, high = call.operands
    shape = array_shape(call)
    kind = shape.element_type
    if kind.is_complex:
        return ops.emit("complex", shape, (low, high))
    if kind.is_floating:
        return ops.like("add", ops.convert(high, kind), ops.convert(low, kind))
    upper = ops.like("shift-left", ops.convert(high, kind), ops.filled(kind, shape.dimensions, _HALF_BITS))
    # A signed low half must not spread its sign.
    lower = ops.convert(ops.convert(low, _U32), kind)
    return ops.like("or", upper, lower)


def _concatenate(ops: Ops, call: Instruction) -> Instruction:
    """Joins the operands where they lie in memory: along the most major dimension if that is so, else byte by byte."""
    dim = _joined_dimension(call)
    if dim is not None:
        return ops.array("concatenate", array_shape(call).dimensions, call.operands, {"dimensions": (dim,)})
    problem = _concatenation_problem(call)
    if problem is not None:
        raise DiagnosticError(Diagnostic(f"ConcatBitcast {call.name} {problem}", call.location))
    parts = []
    for operand in call.operands:
        physical = ops.steps(physical_plan(array_shape(operand)), operand)
        parts.append(ops.reshape(physical, (array_shape(physical).element_count,)))
    back = physical_plan(array_shape(call)).inverse()
    count = prod(back.dimensions)
    joined = ops.array("concatenate", (count,), parts, {"dimensions": (0,)}, element_type=back.element_type)
    return ops.steps(back, ops.reshape(joined, back.dimensions))


def _concatenation_problem(call: Instruction) -> str | None:
    """Returns why the operands' bytes in a row are not the result, or None where they are."""
    import numpy as np

    result = array_shape(call)
    held = np.concatenate([logical_indices(array_shape(operand)).reshape(-1) for operand in call.operands])
    needed = physical_element_count(result)
    if held.size != needed:
        return f"joins {held.size} elements in memory, but its result has {needed}"
    if (held[linear_indices(result)] < 0).any():
        return "reads padding of its operands"
    return None


def _joined_dimension(call: Instruction) -> int | None:
    """Returns the dimension along which a concatenation puts every operand where memory has it, or None."""
    result, parts = array_shape(call), [array_shape(operand) for operand in call.operands]
    if any(part.rank != result.rank for part in parts):
        return None
    dims = [i for i in range(result.rank) if any(part.dimensions[i] != result.dimensions[i] for part in parts)]
    major = next((i for i in result.effective_layout.major_to_minor if result.dimensions[i] != 1), 0)
    if dims not in ([], [major]) or sum(part.dimensions[major] for part in parts) != result.dimensions[major]:
        return None
    start, slots = 0, 0
    for part in parts:
        is_alike = _anywhere(part) == _anywhere(result)
        index = [0] * result.rank
        index[major] = start
        if not is_alike or linear_index(result, index) != slots:
            return None
        start, slots = start + part.dimensions[major], slots + physical_element_count(part)
    return major


def _anywhere(shape: ArrayShape) -> Layout:
    return shape.effective_layout.replace(memory_space=0)


def _top(ops: Ops, call: Instruction) -> Instruction:
    """Sorts by the comparator and keeps the first elements of the one dimension that shrinks (rule 4)."""
    shapes = list(array_leaves(call.shape))
    operands = list(call.operands[: max(1, len(call.operands) // 2)] if len(call.operands) > 1 else call.operands)
    source = array_shape(operands[0])
    pairs = zip(source.dimensions, shapes[0].dimensions, strict=True)
    dim = next((i for i, (old, new) in enumerate(pairs) if old != new), source.rank - 1)
    if len(shapes) > len(operands):
        iota = ops.shape(shapes[-1].element_type, source.dimensions)
        operands.append(ops.emit("iota", iota, (), {"iota_dimension": str(dim)}))
    comparator = _comparator(ops, call, [array_shape(value).element_type for value in operands])
    attributes: dict[str, AttributeValue] = {"dimensions": (dim,), "is_stable": "true", "to_apply": f"%{comparator}"}
    whole = operands[0].shape if len(operands) == 1 else TupleShape(tuple(value.shape for value in operands))
    ordered = ops.emit("sort", whole, operands, attributes)
    kept = []
    for index, shape in enumerate(shapes):
        value = ordered if len(operands) == 1 else ops.element(ordered, index)
        keep = Slice((0,) * shape.rank, shape.dimensions)
        kept.append(ops.steps(Plan(shape.element_type, source.dimensions, (keep,)), value))
    return kept[0] if isinstance(call.shape, ArrayShape) else ops.tuple(kept)


def _comparator(ops: Ops, call: Instruction, types: list[ElementType]) -> str:
    """Returns the name of a comparator of all the sorted arrays: the call's own one, or one made from it."""
    given = call.called[0] if call.called else None
    if given is not None and len(given.parameters) == 2 * len(types):
        return given.name
    module = ops.computation.module
    lines = [f"p{i} = {types[i // 2]}[] parameter({i})" for i in range(2 * len(types))]
    order = f"call(p0, p1), to_apply=%{given.name}" if given is not None else "compare(p0, p1), direction=GT"
    text = "\n".join(f"  {line}" for line in [*lines, f"ROOT first = pred[] {order}"])
    return module.add_computation(f"%{module.fresh_name('first')} {{\n{text}\n}}").name


def _block(text: Callable[[ArrayShape], str]) -> Expansion:
    def expand(ops: Ops, call: Instruction) -> Instruction:
        return splice(ops, parse_module(text(array_shape(call.operands[0])), call.callee or ""), call.operands)

    return expand


EXPANSIONS: dict[str, Expansion] = {
    "AllocateBuffer": _allocate,
    "AssumeGatherIndicesInBound": _identity,
    "AssumeScatterIndicesInBound": _identity,
    "GatherScatterIndicesBitpacked": _identity,
    "LayoutConstraint": _identity,
    "Sharding": _identity,
    "X64SplitLow": _split_low,
    "X64SplitHigh": _split_high,
    "X64Combine": _combine,
    "ConcatBitcast": _concatenate,
    "TopK": _top,
    "TopKBatchMajorSmallK": _top,
    "PartialReduce": _top,
    "Cholesky": _block(tpu_linalg.cholesky),
    "EighTpu": _block(tpu_linalg.eigh),
    "CompactWyHelper": _block(tpu_linalg.compact_wy),
    "InvertDiagBlocksLowerTriangular": _block(partial(tpu_linalg.invert_triangular, lower=True)),
    "InvertDiagBlocksUpperTriangular": _block(partial(tpu_linalg.invert_triangular, lower=False)),
    "LuRealDecompositionBlock": _block(tpu_linalg.lu),
    "QrDecompositionBlock": _block(tpu_linalg.qr),
    **GPU_EXPANSIONS,
}
