"""Executes modules through jaxlib, in a worker process with a time limit.

Only this package imports jaxlib's runtime, and only in the worker process. Each name is imported when it is first used:
the worker needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.lazy_names import import_name

if TYPE_CHECKING:
    from dialect_utils.engine_names import Engine as Engine
    from dialect_utils.execution.archives import arrays_to_npz as arrays_to_npz, read_arrays as read_arrays
    from dialect_utils.execution.arrays import (
        Array as Array,
        SavedArray as SavedArray,
        as_array as as_array,
        bits_type as bits_type,
        from_bits as from_bits,
        from_plain as from_plain,
        from_plain_all as from_plain_all,
        to_bits as to_bits,
    )
    from dialect_utils.execution.conversion import (
        hlo_proto_to_text as hlo_proto_to_text,
        hlo_text_to_proto as hlo_text_to_proto,
        hlo_to_stablehlo as hlo_to_stablehlo,
        kernels_to_json as kernels_to_json,
        mlir_to_text as mlir_to_text,
        stablehlo_to_hlo as stablehlo_to_hlo,
    )
    from dialect_utils.execution.custom_calls import (
        ForbiddenCallError as ForbiddenCallError,
        check_local_calls as check_local_calls,
    )
    from dialect_utils.execution.errors import ExecutionError as ExecutionError, RefusedError as RefusedError
    from dialect_utils.execution.messages import Executable as Executable, Program as Program, Rewriting as Rewriting
    from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS as DEFAULT_TIMEOUT_SECONDS, Worker as Worker
    from dialect_utils.execution.recorded import Recorded as Recorded, read_recorded as read_recorded
    from dialect_utils.execution.requirements import (
        check_devices as check_devices,
        check_shapes as check_shapes,
        check_work as check_work,
        common_device_count as common_device_count,
    )
    from dialect_utils.execution.run import (
        check_executable as check_executable,
        entry_arrays as entry_arrays,
        prepare as prepare,
        program_of as program_of,
        run_module as run_module,
    )
    from dialect_utils.processes import DEFAULT_MEMORY_BYTES as DEFAULT_MEMORY_BYTES
else:

    def __getattr__(name: str) -> object:
        return import_name(__name__, name)
