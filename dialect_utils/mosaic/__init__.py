"""Mosaic kernels: the programs inside a TPU dump's `tpu_custom_call`s, decoded to plain values.

`decode.kernel_of(call)` decodes a kernel; `kernel.grid`, `kernel.windows` and `kernel.main.body.ops` describe it.
"""
