"""The output of `explain` for the Mosaic kernels in a TPU dump."""

from __future__ import annotations

from argparse import Namespace

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Operation
from dialect_utils.mosaic.decode import TARGET, kernels_of
from dialect_utils.mosaic.kernel import DEFAULT_TARGET, Kernel, describe_grid, describe_kernel, summarize_kernel
from dialect_utils.text import Diagnostic, DiagnosticError, nearest
from relayout.console import DONE, print_json
from relayout.output import write_output


def explain_kernels(dump: Input, arguments: Namespace) -> int:
    """Lists the kernels of a dump, or prints those that `--kernel` names; raises DiagnosticError."""
    module, file = dump.module(), dump.path
    calls = [op for op in module.operations() if op.callee == TARGET]
    wanted = calls if arguments.list_kernels else _chosen(calls, arguments.kernel, file)
    names = [call.results[0].name for call in wanted]
    kernels = dict(zip(names, kernels_of(wanted), strict=True))
    target = arguments.target or DEFAULT_TARGET
    if arguments.json:
        print_json({"file": file, "kernels": [_as_json(name, kernels[name]) for name in names]})
        return DONE
    if arguments.list_kernels:
        text = "".join(f"{summarize_kernel(name, kernels[name])}\n" for name in names) or f"{file} holds no kernels\n"
    else:
        text = "\n".join(describe_kernel(name, kernels[name], target) for name in names)
    write_output(arguments.output, encode(text))
    return DONE


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
