"""Says what a kernel is: its grid, its windows, the layout of each block, and its text."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.mosaic.kernel import DYNAMIC, Kernel, KernelValue, Window
from dialect_utils.mosaic.types import DEFAULT_TARGET, block_shape


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
        number = f"%arg{len(kernel.grid) + position}"
        if position < kernel.scalar_prefetch:
            yield f"{number:<7} prefetch  {_block(reference, target)}"
        elif position < last:
            window = windows[position - kernel.scalar_prefetch]
            yield f"{number:<7} operand   {_block(reference, target)}{_describe_window(window)}"
        else:
            yield f"{number:<7} scratch   {_block(reference, target)}"


def _block(reference: KernelValue, target: str) -> str:
    shape = block_shape(reference.type, target)
    return f"{reference.type if shape is None else shape} in {reference.type.memory_space or 'memory'}"


def _describe_window(window: Window) -> str:
    if window.transform is None:
        return ", whole"
    unit = "elements" if window.is_element else "blocks"
    bounds = "x".join(map(str, window.bounds))
    mode = f", {window.pipeline_mode}" if window.pipeline_mode else ""
    padding = f", padding {list(window.padding[0])} {list(window.padding[1])}" if any(map(any, window.padding)) else ""
    return f", window {bounds} at @{window.transform} in {unit}{padding}{mode}"
