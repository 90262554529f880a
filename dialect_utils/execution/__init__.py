"""Executes modules through jaxlib, in a worker process with a time limit.

Only this package imports jaxlib's runtime, and only in the worker process. Each name is imported when it is first used:
the worker needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.lazy_names import import_name

if TYPE_CHECKING:
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

# The module that defines each name.
_HOME = {
    "Array": "dialect_utils.execution.arrays",
    "DEFAULT_MEMORY_BYTES": "dialect_utils.processes",
    "DEFAULT_TIMEOUT_SECONDS": "dialect_utils.execution.process",
    "Engine": "dialect_utils.engine_names",
    "Executable": "dialect_utils.execution.messages",
    "ExecutionError": "dialect_utils.execution.errors",
    "Failure": "dialect_utils.execution.errors",
    "ForbiddenCallError": "dialect_utils.execution.custom_calls",
    "Program": "dialect_utils.execution.messages",
    "Recorded": "dialect_utils.execution.recorded",
    "RefusedError": "dialect_utils.execution.errors",
    "Rewriting": "dialect_utils.execution.messages",
    "SavedArray": "dialect_utils.execution.arrays",
    "Worker": "dialect_utils.execution.process",
    "arrays_to_npz": "dialect_utils.execution.npz",
    "as_array": "dialect_utils.execution.arrays",
    "bits_type": "dialect_utils.execution.arrays",
    "check_devices": "dialect_utils.execution.run",
    "check_executable": "dialect_utils.execution.run",
    "check_local_calls": "dialect_utils.execution.custom_calls",
    "check_shapes": "dialect_utils.execution.requirements",
    "check_sizes": "dialect_utils.execution.requirements",
    "check_work": "dialect_utils.execution.requirements",
    "common_device_count": "dialect_utils.execution.requirements",
    "devices_of": "dialect_utils.execution.requirements",
    "entry_arrays": "dialect_utils.execution.run",
    "from_bits": "dialect_utils.execution.arrays",
    "from_plain": "dialect_utils.execution.arrays",
    "from_plain_all": "dialect_utils.execution.arrays",
    "hlo_proto_to_text": "dialect_utils.execution.conversion",
    "hlo_text_to_proto": "dialect_utils.execution.conversion",
    "hlo_to_stablehlo": "dialect_utils.execution.conversion",
    "is_numpy_type": "dialect_utils.execution.arrays",
    "kernels_to_json": "dialect_utils.execution.conversion",
    "mlir_to_text": "dialect_utils.execution.conversion",
    "prepare": "dialect_utils.execution.run",
    "program_of": "dialect_utils.execution.run",
    "read_arrays": "dialect_utils.execution.archives",
    "read_recorded": "dialect_utils.execution.recorded",
    "run_module": "dialect_utils.execution.run",
    "stablehlo_to_hlo": "dialect_utils.execution.conversion",
    "to_bits": "dialect_utils.execution.arrays",
    "to_plain": "dialect_utils.execution.arrays",
    "without_layouts": "dialect_utils.execution.run",
}
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


def _import_name(name: str) -> object:
    return import_name(name, _HOME, globals())


if not TYPE_CHECKING:  # type checkers would accept any name of a module with this function
    __getattr__ = _import_name
