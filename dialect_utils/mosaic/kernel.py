"""A decoded Mosaic kernel: functions of plain operations, the grid over which it runs, and its description.

Attributes are plain: int, bool, float, str (enumerators and symbols are their text), tuples of
these, mappings, and `Dense` for arrays of constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Layout
from dialect_utils.layout.targets.known import tile_for
from dialect_utils.layout.type_names import element_type_name
from dialect_utils.text import DiagnosticError, Location, Source, Span

Attribute = Any
Kind = Literal["scalar", "vector", "memref", "other"]

# ShapedType::kDynamic of MLIR: a grid bound that is an operand of the call.
DYNAMIC = -(2**63)
DEFAULT_TARGET = "tpu-v5e"


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
    """One value of a kernel: a number, unique in the kernel, and a type."""

    number: int
    type: Type


@dataclass(frozen=True, slots=True)
class Dense:
    """An array of constants: its elements in row-major order, or one that all elements equal."""

    elements: tuple[int | float | bool, ...]

    @property
    def is_splat(self) -> bool:
        """Is true where one number stands for all elements."""
        return len(self.elements) == 1


@dataclass(frozen=True, slots=True)
class KernelOp:
    """One op: MLIR's name, operands, results, plain attributes, regions, and the position in the kernel's text."""

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
        """Returns the operands of the terminator."""
        return self.ops[-1].operands if self.ops else ()


@dataclass(frozen=True, slots=True)
class Window:
    """The block of one operand that each step of the grid uses.

    `bounds` are the block's dimensions, `transform` names the function from grid indices to block indices. The indices
    of an element window count elements, not blocks, and it has low and high padding. A window without bounds is the
    whole operand.
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
    """One kernel: a main function over a grid, the functions that it names, and MLIR's print of it (`source`).

    The main function's arguments are the grid indices, then references to scalar prefetch operands, inputs and outputs
    (each with a window), and scratch memory.
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
        """Returns an op's location in the kernel's text."""
        begin = self.source.offset(op.line, op.column)
        found = self.source.text.find(op.name, begin, begin + len(self.source.line(op.line)))
        begin = max(begin, found)
        return Location(self.source, Span(begin, begin + len(op.name)))

    def refused(self, op: KernelOp, why: str) -> DiagnosticError:
        """Returns the error for an op that cannot be lowered, with both names and the location."""
        return DiagnosticError(f"kernel {self.name}: {op.name} {why}", self.location(op))


def try_element_type(name: str) -> ElementType | None:
    """Returns XLA's element type of MLIR's name, or None; on a TPU semaphores count, and indices are, in 32 bits."""
    found = "s32" if name == "index" or "semaphore" in name else element_type_name(name)
    return None if found is None else ELEMENT_TYPES[found]


def block_shape(reference: Type, target: str = DEFAULT_TARGET) -> ArrayShape | None:
    """Returns a reference's shape in the layout of a target's vector memory, None for semaphores.

    The layout is row-major, with the target's tiles for arrays of these dimensions; scalar memory has no tiles.
    """
    kind = None if reference.is_semaphore else try_element_type(reference.element)
    if kind is None:
        return None
    order = Layout.descending(len(reference.dimensions)).minor_to_major
    is_tiled = reference.memory_space != "smem" and reference.dimensions
    tiles = tile_for(kind, reference.dimensions, order, target) if is_tiled else ()
    return ArrayShape(kind, reference.dimensions, Layout(order, tiles))


def describe_grid(kernel: Kernel) -> str:
    """Returns the grid in words: `2 parallel x 4 arbitrary`; `?` is a bound that is an operand."""
    if not kernel.grid:
        return "none: one step"
    named = [*kernel.dimension_semantics, *["arbitrary"] * len(kernel.grid)]
    bounds = ["?" if bound == DYNAMIC else str(bound) for bound in kernel.grid]
    return " x ".join(f"{bound} {semantics}" for bound, semantics in zip(bounds, named, strict=False))


def summarize_kernel(name: str, kernel: Kernel) -> str:
    """Returns one line: the call's name, the kernel's, its grid and its number of ops."""
    return f"{name}  @{kernel.name}  grid {describe_grid(kernel)}  {kernel.op_count} ops"


def describe_kernel(name: str, kernel: Kernel, target: str = DEFAULT_TARGET) -> str:
    """Returns the kernel of a call: grid, windows with the layouts of their blocks on `target`, and readable MLIR."""
    lines = [f"{name}: kernel @{kernel.name}, {kernel.op_count} ops", f"  grid             {describe_grid(kernel)}"]
    lines += [f"  {line}" for line in _references(kernel, target)]
    return "\n".join([*lines, "", kernel.source.text.rstrip(), ""])


def _references(kernel: Kernel, target: str) -> Iterator[str]:
    windows = list(kernel.windows) or [Window()] * len(kernel.windowed)
    last = len(kernel.references) - kernel.scratch
    for position, reference in enumerate(kernel.references):
        role = "prefetch" if position < kernel.scalar_prefetch else "operand" if position < last else "scratch"
        window = _describe_window(windows[position - kernel.scalar_prefetch]) if role == "operand" else ""
        shape, number = block_shape(reference.type, target) or reference.type, f"%arg{len(kernel.grid) + position}"
        yield f"{number:<7} {role:<9} {shape} in {reference.type.memory_space or 'memory'}{window}"


def _describe_window(window: Window) -> str:
    if window.transform is None:
        return ", whole"
    unit = "elements" if window.is_element else "blocks"
    bounds = "x".join(map(str, window.bounds))
    mode = f", {window.pipeline_mode}" if window.pipeline_mode else ""
    padding = f", padding {list(window.padding[0])} {list(window.padding[1])}" if any(map(any, window.padding)) else ""
    return f", window {bounds} at @{window.transform} in {unit}{padding}{mode}"
