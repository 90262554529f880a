"""Frames, in which ops are lowered: the current computation, the HLO values of kernel values, and memory contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TypeAlias

from dialect_utils.layout import ElementType
from dialect_utils.mosaic.kernel import Block, Dense, Kernel, KernelOp, KernelValue, try_element_type
from dialect_utils.text import DiagnosticError
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import PRED, S32, Code, Val, constant
from passes.dumps.emitter.expressions import Expr
from passes.dumps.mosaic.memory import Buffer, Ref, Unwritten

Meaning: TypeAlias = "Val | Ref"


@dataclass(frozen=True, slots=True)
class Lowering:
    """The lowering of one op or several (`names`): a description of operands and HLO, and the function that makes it.

    `writes` returns the numbers of the operands that the op stores to, `effect` marks another side effect, `waits` an
    op that may wait forever.
    """

    names: str
    operands: str
    becomes: str
    lower: Callable[[Frame, KernelOp], Sequence[Meaning]]
    writes: Callable[[KernelOp], Sequence[int]] = lambda op: ()
    effect: bool = False
    waits: bool = False


@dataclass(slots=True)
class Context:
    """The state of a whole kernel: options, special buffers, and the ids of the needed ops."""

    kernel: Kernel
    table: Mapping[str, Lowering]
    unwritten: Unwritten
    devices: int = 1
    # Records whether the kernel waits forever.
    stuck: Buffer = field(default_factory=lambda: Buffer(PRED, ()))
    # The semaphore of the barrier at the start of kernels on several devices.
    barrier: Buffer = field(default_factory=lambda: Buffer(S32, ()))
    needed: set[int] = field(default_factory=set)
    grid_bounds: list[Val] = field(default_factory=list)

    def lowering(self, op: KernelOp) -> Lowering:
        """Returns the lowering of an op; raises DiagnosticError for an unknown op."""
        found = self.table.get(op.name)
        if found is None:
            raise self.kernel.refused(op, "is not known here")
        return found


@dataclass(slots=True)
class Frame:
    """One computation that is being made: values and references by number, and the contents of memory.

    `is_branch` marks code that some devices or steps may skip.
    """

    context: Context
    code: Code
    values: dict[int, Meaning]
    memory: dict[Buffer, Val]
    is_branch: bool = False

    def on(self, code: Code, *, is_branch: bool = False) -> Frame:
        """Returns a frame for a nested computation, with the same values."""
        return Frame(self.context, code, dict(self.values), dict(self.memory), is_branch or self.is_branch)

    def val(self, value: KernelValue, op: KernelOp) -> Val:
        """Returns the HLO value of a kernel value; raises DiagnosticError for a reference."""
        found = self.values[value.number]
        if not isinstance(found, Val):
            raise self.refused(op, "takes a reference where a value is expected")
        return found

    def vals(self, values: Sequence[KernelValue], op: KernelOp) -> list[Val]:
        """Returns the HLO values of several kernel values."""
        return [self.val(value, op) for value in values]

    def exprs(self, values: Sequence[KernelValue], op: KernelOp) -> list[Expr]:
        """Returns the HLO values of several kernel values, on which Python's operators work."""
        return [Expr(self.code, self.val(value, op)) for value in values]

    def ref(self, value: KernelValue, op: KernelOp) -> Ref:
        """Returns the view of memory of a kernel's reference; raises DiagnosticError for a value."""
        found = self.values[value.number]
        if isinstance(found, Val):
            raise self.refused(op, "takes a value where a reference is expected")
        return found

    def kind(self, value: KernelValue, op: KernelOp) -> ElementType:
        """Returns the element type of a value; raises DiagnosticError for a type that XLA lacks."""
        found = try_element_type(value.type.element)
        if found is None:
            raise self.refused(op, f"has the type {value.type}, which XLA lacks")
        return found

    def refused(self, op: KernelOp, why: str) -> DiagnosticError:
        """Returns the error for an op that cannot be lowered."""
        return self.context.kernel.refused(op, why)

    def run(self, block: Block, arguments: Sequence[Meaning] = ()) -> list[Meaning]:
        """Lowers the ops of a block; returns the yielded values."""
        for argument, meaning in zip(block.arguments, arguments, strict=True):
            self.values[argument.number] = meaning
        for op in block.ops[:-1]:
            if id(op) in self.context.needed:
                self._lower(op)
        return [self.values[value.number] for value in block.yielded]

    def _lower(self, op: KernelOp) -> None:
        results = self.context.lowering(op).lower(self, op)
        if len(results) != len(op.results):
            raise self.refused(op, f"has {len(op.results)} results, where {len(results)} are expected")
        for value, meaning in zip(op.results, results, strict=True):
            if isinstance(meaning, Val) and (meaning.dims, value.type.kind) == ((), "vector"):
                meaning = arrays.reshape(self.code, meaning, value.type.dimensions)
            if meaning.dims != value.type.dimensions:
                raise self.refused(op, f"gives {list(meaning.dims)} here, where its type is {value.type}")
            self.values[value.number] = meaning

    def written(self, block: Block) -> list[Buffer]:
        """Returns the outer buffers that a block writes, each once, in order."""
        found: dict[Buffer, None] = {}
        roots = {number: meaning.buffer for number, meaning in self.values.items() if not isinstance(meaning, Val)}
        for op in block.nested():
            row = self.context.table.get(op.name)
            writes = row.writes(op) if row is not None else ()
            if row is not None and row.waits:
                found[self.context.stuck] = None
            for position in writes:
                buffer = roots.get(op.operands[position].number)
                if buffer is not None:
                    found[buffer] = None
            for result in op.results:
                if op.name == "tpu.sem_barrier":
                    roots[result.number] = self.context.barrier
                elif result.type.kind == "memref" and op.operands and op.operands[0].number in roots:
                    roots[result.number] = roots[op.operands[0].number]
        return list(found)


def needed_ops(block: Block, table: Mapping[str, Lowering]) -> set[int]:
    """Returns the ids of the ops with side effects and of those that they or the yielded values depend on.

    Pallas loads before each store; such unused loads are omitted.
    """
    needed: set[int] = set()
    used: set[int] = set()
    _mark(block, table, needed, used)
    return needed


def _mark(block: Block, table: Mapping[str, Lowering], needed: set[int], used: set[int]) -> None:
    used.update(value.number for value in block.yielded)
    if block.ops:
        needed.add(id(block.ops[-1]))
    for op in reversed(block.ops[:-1]):
        if _has_effect(op, table) or any(result.number in used for result in op.results):
            needed.add(id(op))
            used.update(value.number for value in op.operands)
            for region in op.regions:
                _mark(region, table, needed, used)


def _has_effect(op: KernelOp, table: Mapping[str, Lowering]) -> bool:
    for each in op.nested():
        row = table.get(each.name)
        # An unknown op is needed, so that lowering it raises an error.
        if row is None or row.effect or row.writes(each):
            return True
    return False


def dense(kind: ElementType, found: Dense, dims: Sequence[int], code: Code) -> Val:
    """Returns an array of constants."""
    if found.is_splat:
        return constant(kind, found.elements[0], dims)
    return code.literal_array(kind, dims, found.elements)


def starts(frame: Frame, values: Sequence[KernelValue], op: KernelOp) -> list[Val]:
    """Returns indices as scalars of 32 bits."""
    return [arrays.convert(frame.code, value, S32) for value in frame.vals(values, op)]


def integers(op: KernelOp, *names: str) -> tuple[int, ...] | None:
    """Returns the first attribute of these names as integers, or None."""
    for name in names:
        found = op.attributes.get(name)
        if isinstance(found, int):
            return (found,)
        if isinstance(found, tuple) and all(isinstance(item, int) for item in found):
            return found
        if isinstance(found, Dense):
            return tuple(int(item) for item in found.elements)
    return None


def segments(op: KernelOp) -> list[tuple[KernelValue, ...]]:
    """Returns the groups of operands that `operandSegmentSizes` describes, if any."""
    ends = accumulate(integers(op, "operandSegmentSizes") or (), initial=0)
    return [op.operands[start:end] for start, end in pairwise(ends)]
