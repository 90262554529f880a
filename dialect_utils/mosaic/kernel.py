"""What a decoded Mosaic kernel is: functions of plain ops, and how the kernel is called over a grid.

Attributes are plain: int, bool, float, str (enumerators and symbols are their text), tuples of
these, mappings, and `Dense` for arrays of constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span

Attribute = Any
Kind = Literal["scalar", "vector", "memref", "other"]

# ShapedType::kDynamic of MLIR: a grid bound that is an operand of the call.
DYNAMIC = -(2**63)


@dataclass(frozen=True, slots=True)
class Type:
    """The type of one value: a scalar, a vector, or a reference to memory of some space.

    `element` is MLIR's name (`f32`, `i1`, `index`, `!tpu.dma_semaphore`); `text` is what MLIR prints.
    """

    kind: Kind
    element: str
    dimensions: tuple[int, ...]
    memory_space: str
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_semaphore(self) -> bool:
        """Is true for a reference to semaphores."""
        return "semaphore" in self.element


@dataclass(frozen=True, slots=True)
class KernelValue:
    """One value of a kernel: a number that is its own within the kernel, and a type."""

    number: int
    type: Type


@dataclass(frozen=True, slots=True)
class Dense:
    """An array of constants: its elements in row-major order, or one for all of them."""

    elements: tuple[int | float | bool, ...]

    @property
    def is_splat(self) -> bool:
        """Is true where one element holds for all."""
        return len(self.elements) == 1


@dataclass(frozen=True, slots=True)
class KernelOp:
    """One op: MLIR's name, operands and results, plain attributes, regions, and its place in the kernel's text."""

    name: str
    operands: tuple[KernelValue, ...]
    results: tuple[KernelValue, ...]
    attributes: Mapping[str, Attribute]
    regions: tuple[Block, ...]
    line: int
    column: int

    def nested(self) -> Iterator[KernelOp]:
        """Yields the op and those of its regions, outside in."""
        yield self
        for region in self.regions:
            yield from region.nested()


@dataclass(frozen=True, slots=True)
class Block:
    """The one block of a region or function: arguments and ops, the terminator last."""

    arguments: tuple[KernelValue, ...]
    ops: tuple[KernelOp, ...]

    def nested(self) -> Iterator[KernelOp]:
        """Yields every op of the block and of the regions in it, outside in."""
        for op in self.ops:
            yield from op.nested()

    @property
    def yielded(self) -> tuple[KernelValue, ...]:
        """Returns what the terminator returns or yields."""
        return self.ops[-1].operands if self.ops else ()


@dataclass(frozen=True, slots=True)
class Window:
    """How a block of one operand is cut out at each step of the grid.

    `bounds` are the block's dimensions, `transform` names the function from grid indices to block
    indices. An element window counts in elements, not in blocks, and has padding below and above.
    A window without bounds is the whole operand.
    """

    bounds: tuple[int, ...] = ()
    transform: str | None = None
    is_element: bool = False
    padding: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    pipeline_mode: str | None = None


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """One function of a kernel's module."""

    name: str
    body: Block
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its main function over a grid, the functions it names, and its text as MLIR prints it (`source`).

    The main function's arguments are the grid indices, then references to scalar prefetch operands,
    inputs and outputs (which have a window each), and scratch memory.
    """

    name: str
    main: KernelFunction
    functions: Mapping[str, KernelFunction]
    source: Source
    grid: tuple[int, ...]
    dimension_semantics: tuple[str, ...]
    windows: tuple[Window, ...]
    scalar_prefetch: int
    scratch: int

    @property
    def references(self) -> tuple[KernelValue, ...]:
        """Returns the arguments of the main function after the grid indices."""
        return self.main.body.arguments[len(self.grid) :]

    @property
    def windowed(self) -> tuple[KernelValue, ...]:
        """Returns the references to inputs and outputs: neither scalar prefetch nor scratch."""
        return self.references[self.scalar_prefetch : len(self.references) - self.scratch]

    @property
    def op_count(self) -> int:
        """Returns the number of ops, those of regions and index maps included."""
        return sum(1 for function in self.functions.values() for _ in function.body.nested())

    def location(self, op: KernelOp) -> Location:
        """Returns where an op is in the kernel's text, for diagnostics."""
        begin = self.source.offset(op.line, op.column)
        found = self.source.text.find(op.name, begin, begin + len(self.source.line(op.line)))
        begin = max(begin, found)
        return Location(self.source, Span(begin, begin + len(op.name)))

    def refused(self, op: KernelOp, why: str) -> DiagnosticError:
        """Returns the error for an op that cannot be lowered: its name, the kernel's, and its place."""
        return DiagnosticError(Diagnostic(f"kernel {self.name}: {op.name} {why}", self.location(op)))
