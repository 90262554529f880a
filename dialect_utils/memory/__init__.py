"""Memory that a program holds: its buffers, their lifetimes and the peak, from the text alone.

The reference is the TPU compiler's own account (`compiled.memory_analysis()`); docs/memory.md has the differences.
"""

from dialect_utils.memory.report import MemoryReport
from dialect_utils.memory.usage import MemoryUsage, measure_memory

__all__ = ["MemoryReport", "MemoryUsage", "measure_memory"]
