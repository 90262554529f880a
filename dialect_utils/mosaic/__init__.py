"""Mosaic kernels: the programs inside a TPU dump's `tpu_custom_call`s, decoded to plain values.

`kernel_of(call)` decodes a call's kernel; `kernel.grid`, `kernel.windows` and `kernel.main.body.ops` describe it.
"""

from dialect_utils.mosaic.decode import TARGET, kernel_of, kernels_of
from dialect_utils.mosaic.kernel import (
    DYNAMIC,
    Block,
    Dense,
    Kernel,
    KernelFunction,
    KernelOp,
    KernelValue,
    Type,
    Window,
)

__all__ = [
    "DYNAMIC",
    "TARGET",
    "Block",
    "Dense",
    "Kernel",
    "KernelFunction",
    "KernelOp",
    "KernelValue",
    "Type",
    "Window",
    "kernel_of",
    "kernels_of",
]
