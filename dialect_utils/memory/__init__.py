"""Memory that a program holds: its buffers, their lifetimes and the peak, from the text alone.

The reference is the TPU compiler's own account (`compiled.memory_analysis()`); docs/memory.md has the differences.
"""

from dialect_utils.memory.allocation import HOST_MEMORY_SPACE, Allocation, guess_target
from dialect_utils.memory.buffers import Buffer, assign_buffers
from dialect_utils.memory.report import MemoryReport
from dialect_utils.memory.schedule import Schedule, schedule_module
from dialect_utils.memory.usage import MemoryUsage, measure_memory

__all__ = [
    "HOST_MEMORY_SPACE",
    "Allocation",
    "Buffer",
    "MemoryReport",
    "MemoryUsage",
    "Schedule",
    "assign_buffers",
    "guess_target",
    "measure_memory",
    "schedule_module",
]
