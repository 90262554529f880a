"""Executes modules through jaxlib, in a worker process with a time limit.

The only room that imports jaxlib's runtime, and only inside the worker.
"""

from dialect_utils.execution.arrays import (
    Array,
    bits_type,
    from_bits,
    from_plain,
    from_plain_all,
    is_numpy_type,
    to_bits,
    to_plain,
)
from dialect_utils.execution.errors import ExecutionError, Failure
from dialect_utils.execution.guard import check_executable, prepare, without_layouts
from dialect_utils.execution.npz import arrays_to_npz, read_arrays
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Engine, Program, Worker
from dialect_utils.execution.protos import hlo_proto_to_text, hlo_text_to_proto
from dialect_utils.execution.run import entry_arrays, run_module

__all__ = [
    "DEFAULT_TIMEOUT_SECONDS",
    "Array",
    "Engine",
    "ExecutionError",
    "Failure",
    "Program",
    "Worker",
    "arrays_to_npz",
    "bits_type",
    "check_executable",
    "entry_arrays",
    "from_bits",
    "from_plain",
    "from_plain_all",
    "hlo_proto_to_text",
    "hlo_text_to_proto",
    "is_numpy_type",
    "prepare",
    "read_arrays",
    "run_module",
    "to_bits",
    "to_plain",
    "without_layouts",
]
