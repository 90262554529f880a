"""Executes modules through jaxlib, in a worker process with a time limit.

Only this package imports jaxlib's runtime, and only in the worker process.
"""

from dialect_utils.engine_names import Engine
from dialect_utils.execution.archives import read_arrays
from dialect_utils.execution.arrays import (
    Array,
    SavedArray,
    as_array,
    bits_type,
    from_bits,
    from_plain,
    from_plain_all,
    is_numpy_type,
    to_bits,
    to_plain,
)
from dialect_utils.execution.conversion import (
    hlo_proto_to_text,
    hlo_text_to_proto,
    hlo_to_stablehlo,
    kernels_to_json,
    mlir_to_text,
    stablehlo_to_hlo,
)
from dialect_utils.execution.custom_calls import ForbiddenCallError, check_local_calls
from dialect_utils.execution.errors import ExecutionError, Failure, RefusedError
from dialect_utils.execution.messages import Executable, Program, Rewriting
from dialect_utils.execution.npz import arrays_to_npz
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Worker
from dialect_utils.execution.recorded import Recorded, read_recorded
from dialect_utils.execution.requirements import (
    check_shapes,
    check_sizes,
    check_work,
    common_device_count,
    devices_of,
)
from dialect_utils.execution.run import (
    check_devices,
    check_executable,
    entry_arrays,
    prepare,
    program_of,
    run_module,
    without_layouts,
)
from dialect_utils.processes import DEFAULT_MEMORY_BYTES

__all__ = [
    "DEFAULT_MEMORY_BYTES",
    "DEFAULT_TIMEOUT_SECONDS",
    "Array",
    "Engine",
    "Executable",
    "ExecutionError",
    "Failure",
    "ForbiddenCallError",
    "Program",
    "Recorded",
    "RefusedError",
    "Rewriting",
    "SavedArray",
    "Worker",
    "arrays_to_npz",
    "as_array",
    "bits_type",
    "check_devices",
    "check_executable",
    "check_local_calls",
    "check_shapes",
    "check_sizes",
    "check_work",
    "common_device_count",
    "devices_of",
    "entry_arrays",
    "from_bits",
    "from_plain",
    "from_plain_all",
    "hlo_proto_to_text",
    "hlo_text_to_proto",
    "hlo_to_stablehlo",
    "is_numpy_type",
    "kernels_to_json",
    "mlir_to_text",
    "prepare",
    "program_of",
    "read_arrays",
    "read_recorded",
    "run_module",
    "stablehlo_to_hlo",
    "to_bits",
    "to_plain",
    "without_layouts",
]
