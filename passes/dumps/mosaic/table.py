"""The ops of Mosaic kernels that are known here: name, operands, and the HLO each becomes."""

from __future__ import annotations

from passes.dumps.mosaic import control_ops, dma_ops, elementwise_ops, memory_ops, vector_ops
from passes.dumps.mosaic.frame import Lowering

FAMILIES: dict[str, tuple[Lowering, ...]] = {
    "element by element": elementwise_ops.ROWS,
    "vectors": vector_ops.ROWS,
    "memory": memory_ops.ROWS,
    "control": control_ops.ROWS,
    "copies and semaphores": dma_ops.ROWS,
}
OPS: dict[str, Lowering] = {row.name: row for rows in FAMILIES.values() for row in rows}
