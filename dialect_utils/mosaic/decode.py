"""Decodes the kernels of `tpu_custom_call`s into values."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dialect_utils.ir import Operation
from dialect_utils.mosaic.kernel import (
    Attribute,
    Block,
    Dense,
    Kernel,
    KernelFunction,
    KernelOp,
    KernelValue,
    Type,
    Window,
)
from dialect_utils.sandbox import is_sandboxed
from dialect_utils.text import Diagnostic, DiagnosticError, Source

TARGET = "tpu_custom_call"
_BODY = "custom_call_config"
_KEPT_READINGS = 64
# The reader's answer for each body: a module calls the same kernel in many layers.
_READINGS: dict[bytes, Any] = {}
_INTEGERS = re.compile(r"\[([^\]]*)\]")


def _config(call: Operation) -> Mapping[str, Any]:
    """Returns the backend_config of a kernel's call; raises DiagnosticError where it cannot be read."""
    try:
        config = json.loads(call.attribute("backend_config") or "")
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict) or not isinstance(config.get(_BODY), dict):
        message = f"custom call {call.results[0].name} calls {TARGET}, but its backend_config holds no kernel"
        raise DiagnosticError(message, call.location)
    return config


def kernel_of(call: Operation) -> Kernel:
    """Decodes the kernel of a `tpu_custom_call`; raises DiagnosticError for a damaged one."""
    return kernels_of([call])[0]


def kernels_of(calls: Sequence[Operation]) -> list[Kernel]:
    """Decodes the kernels of many calls in one process; raises DiagnosticError that names each damaged one."""
    bodies = [_body(call) for call in calls]
    _read_all(dict(zip(bodies, calls, strict=True)))
    return [_kernel(_READINGS[body], call.results[0].name) for body, call in zip(bodies, calls, strict=True)]


def _body(call: Operation) -> bytes:
    try:
        return base64.b64decode(str(_config(call)[_BODY].get("body", "")), validate=True)
    except ValueError:  # b64decode raises it for characters beyond ASCII, too
        message = f"custom call {call.results[0].name} calls {TARGET}, but its body is not base64"
        raise DiagnosticError(message, call.location) from None


def _read_all(bodies: Mapping[bytes, Operation]) -> None:
    """Decodes the bodies that are not cached, equal bodies once."""
    if len(_READINGS) > _KEPT_READINGS:
        _READINGS.clear()
    unknown = {body: call for body, call in bodies.items() if body not in _READINGS}
    try:
        _read(list(unknown))
    except DiagnosticError:
        # One damaged kernel makes the reader fail: read each one to find it.
        errors = []
        for body, call in unknown.items():
            try:
                _read([body], f"the kernel of {call.results[0].name}")
            except DiagnosticError as error:
                errors += [Diagnostic(each.message, call.location) for each in error.diagnostics]
        if errors:
            raise DiagnosticError(errors) from None


def _read(bodies: Sequence[bytes], name: str = "a kernel") -> None:
    """Decodes bodies with the reader, which may crash, and caches its answers."""
    if not bodies:
        return
    # Imported here: the reader loads MLIR. A process that must not crash asks a worker.
    if is_sandboxed():
        from dialect_utils.mosaic.kernel_reader import describe_kernels
    else:
        from dialect_utils.execution import kernels_to_json as describe_kernels
    _READINGS.update(zip(bodies, json.loads(describe_kernels(bodies, name)), strict=True))


def _kernel(described: Mapping[str, Any], name: str) -> Kernel:
    functions = {each.name: each for each in map(_function, described["functions"])}
    if not functions:
        raise DiagnosticError(f"the kernel of {name} holds no function")
    main = next(iter(functions.values()))
    attributes = main.attributes
    kernel = Kernel(
        main.name,
        main,
        functions,
        Source(f"<kernel {name}>", described["text"]),
        tuple(attributes.get("iteration_bounds", ())),
        tuple(_enumerator(each) for each in attributes.get("dimension_semantics", ())),
        tuple(map(_window, attributes.get("window_params", ()))),
        attributes.get("scalar_prefetch", 0),
        attributes.get("scratch_operands", 0),
    )
    _check(kernel, name)
    return kernel


def _check(kernel: Kernel, name: str) -> None:
    """Raises DiagnosticError where the attributes contradict the arguments."""
    arguments = len(kernel.main.body.arguments)
    fixed = len(kernel.grid) + kernel.scalar_prefetch + kernel.scratch
    if fixed > arguments or (kernel.windows and len(kernel.windows) != arguments - fixed):
        message = f"the kernel of {name} has {arguments} arguments, which its grid and windows do not explain"
        raise DiagnosticError(message)
    for window in kernel.windows:
        if window.transform is not None and window.transform not in kernel.functions:
            raise DiagnosticError(f"the kernel of {name} lacks the function @{window.transform}")


def _function(described: Mapping[str, Any]) -> KernelFunction:
    values: dict[int, KernelValue] = {}
    return KernelFunction(
        described["name"],
        _block(described["body"], values),
        {name: _attribute(value) for name, value in described["attributes"].items()},
    )


def _block(described: Mapping[str, Any], values: dict[int, KernelValue]) -> Block:
    return Block(_defined(described["arguments"], values), tuple(_op(op, values) for op in described["ops"]))


def _op(described: Mapping[str, Any], values: dict[int, KernelValue]) -> KernelOp:
    operands = tuple(values[number] for number in described["operands"])
    regions = tuple(_block(region, values) for region in described["regions"])
    results = _defined(described["results"], values)
    attributes = {name: _attribute(value) for name, value in described["attributes"].items()}
    return KernelOp(described["name"], operands, results, attributes, regions, *described["place"])


def _defined(described: Sequence[Any], values: dict[int, KernelValue]) -> tuple[KernelValue, ...]:
    made = [
        KernelValue(number, Type(kind, element, tuple(dimensions), space, text))
        for number, (kind, element, dimensions, space, text) in described
    ]
    values.update((value.number, value) for value in made)
    return tuple(made)


def _attribute(found: Any) -> Attribute:
    if isinstance(found, list):
        return tuple(map(_attribute, found))
    if isinstance(found, dict) and "dense" in found:
        return Dense(tuple(found["dense"]))
    if isinstance(found, dict):
        return {name: _attribute(value) for name, value in found["dictionary"].items()}
    return found


def _window(found: Mapping[str, Attribute]) -> Window:
    transform = found.get("transform_indices")
    kind = str(found.get("window_kind", ""))
    padding = [tuple(int(i) for i in part.split(",") if i.strip()) for part in _INTEGERS.findall(kind)]
    mode = found.get("pipeline_mode")
    return Window(
        tuple(found.get("window_bounds", ())),
        None if transform is None else str(transform).removeprefix("@"),
        "element_window" in kind,
        (padding[0], padding[1]) if len(padding) == 2 else ((), ()),
        None if mode is None else _enumerator(mode),
    )


def _enumerator(text: str) -> str:
    """Returns `parallel` of `#tpu.dimension_semantics<parallel>`."""
    return text.partition("<")[2].removesuffix(">") or text
