"""The output of `explain` for the Mosaic kernels in a TPU dump."""

from __future__ import annotations

from collections.abc import Mapping

from dialect_utils.io.inputs import Input
from dialect_utils.ir import Operation
from dialect_utils.mosaic.decode import TARGET, kernels_of
from dialect_utils.mosaic.kernel import DEFAULT_TARGET, Kernel, describe_grid, describe_kernel, summarize_kernel
from dialect_utils.text import Diagnostic, DiagnosticError, nearest


def chosen_kernels(dump: Input, name: str | None) -> dict[str, Kernel]:
    """Returns the kernels of a dump by the names of their calls; `name` chooses some. Raises DiagnosticError."""
    calls = [op for op in dump.module().operations() if op.callee == TARGET]
    wanted = calls if name is None else _chosen(calls, name, dump.path)
    return dict(zip((call.results[0].name for call in wanted), kernels_of(wanted), strict=True))


def kernels_text(file: str, kernels: Mapping[str, Kernel], *, is_list: bool) -> str:
    """Returns a line for each kernel, or a description of each."""
    if not is_list:
        return "\n".join(describe_kernel(name, kernel, DEFAULT_TARGET) for name, kernel in kernels.items())
    return (
        "".join(f"{summarize_kernel(name, each)}\n" for name, each in kernels.items()) or f"{file} holds no kernels\n"
    )


def kernels_json(file: str, kernels: Mapping[str, Kernel]) -> dict[str, object]:
    """Returns the kernels of a file as JSON."""
    return {"file": file, "kernels": [_as_json(name, kernel) for name, kernel in kernels.items()]}


def _chosen(calls: list[Operation], name: str, file: str) -> list[Operation]:
    """Returns the calls with a name, or else the calls of kernels with that name; raises DiagnosticError."""
    found = [call for call in calls if call.results[0].name == name.removeprefix("%")]
    if not found:
        kernels = kernels_of(calls)
        found = [call for call, kernel in zip(calls, kernels, strict=True) if kernel.name == name.removeprefix("@")]
        if not found:
            known = [call.results[0].name for call in calls]
            close = nearest(name, [*known, *(kernel.name for kernel in kernels)])
            hint = f"did you mean {close}?" if close else "--list-kernels shows them"
            raise DiagnosticError(Diagnostic(f"{file} has no kernel {name}", hint=hint))
    return found


def _as_json(name: str, kernel: Kernel) -> dict[str, object]:
    return {"call": name, "kernel": kernel.name, "grid": describe_grid(kernel), "ops": kernel.op_count}
