"""Which custom calls of a module may run: a target is code of jaxlib's process, which a file must not choose freely.

`xla_ffi_python_cpu_callback`, for one, reads whatever address the module's backend_config names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from dialect_utils.execution.call_shapes import CallError, check_call, has_signature, is_lapack
from dialect_utils.execution.errors import RefusedError
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import named
from dialect_utils.text import Diagnostic, nearest

# What names a target: the call, and its asynchronous form.
_CALLS = named("custom-call custom-call-start")
# They return their operand; what they say to a compiler of several devices means nothing on one.
_IDENTITIES = frozenset(
    (
        *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint"),
        *("annotate_device_placement", "MoveToHost", "MoveToDevice"),
    )
)
# How the names begin that a bare jaxlib has code for: no other compiler writes them.
_LOCAL = ("lapack_", "blas_", "xla_ffi_", "xla_python_", "tridiagonal_solve_", "dce_sink")
# The worker takes them out before anything is compiled; they have no results. Others of their kind read files.
_CHECKS = frozenset({"check.expect_eq", "check.expect_close", "check.expect_almost_eq"})
# XLA replaces it by a sort before it looks for a target, and verifies it then.
_REPLACED = frozenset({"ApproxTopK"})
_HINT = "--custom-call NAME=HLO gives a computation in its place"
# The interpreter's own dialect writes files of names that the module gives.
_INTERPRETER = "interpreter."

_CONFIGURATIONS = ("backend_config", "mhlo.backend_config")
_ENTRY = re.compile(r"(\w+) = (-?\d{1,9}|true|false)(?: : u?i\d+)?")
_BOOLEANS = {"true": 1, "false": 0}


class ForbiddenCallError(RefusedError):
    """A module that calls what must not run."""


def check_calls(module: Module) -> None:
    """Raises ForbiddenCallError, with all places, for custom calls that must not run."""
    forbidden = list(find_forbidden_calls(module))
    if forbidden:
        raise ForbiddenCallError(forbidden)


def check_local_calls(module: Module) -> None:
    """Raises ForbiddenCallError for those that would run code of this process; other compilers' calls may stay."""
    forbidden = [problem for operation in _calls(module) if (problem := _problem(operation)) is not None]
    if forbidden:
        raise ForbiddenCallError(forbidden)


def find_forbidden_calls(module: Module) -> Iterator[Diagnostic]:
    """Yields every custom call that must not run, with its place and why."""
    for operation in module.operations():
        problem = _problem(operation)
        if problem is not None:
            yield problem


def _calls(module: Module) -> Iterator[Operation]:
    return (operation for operation in module.operations() if (operation.callee or "").startswith(_LOCAL))


def is_column_major_call(operation: Operation) -> bool:
    """Is true for a call whose results have the layout it says: LAPACK's are column-major."""
    return is_lapack(operation.callee or "")


def _problem(operation: Operation) -> Diagnostic | None:
    if operation.opcode.startswith(_INTERPRETER):
        return Diagnostic(f"{operation.opcode} is for StableHLO's own tests: it writes files", operation.location)
    if operation.opcode not in _CALLS:
        return None
    target = operation.callee or ""
    if target in _CHECKS and not operation.results:
        return None
    if target in _REPLACED:
        return None
    if target not in _IDENTITIES and not has_signature(target):
        return Diagnostic(f"the custom call {target} must not run here", operation.location, hint=_hint(target))
    if operation.opcode != "custom-call":
        # Its shapes are those of a wait; what is executed in its place is looked at again.
        return None
    try:
        _check_shapes(operation, target)
    except CallError as error:
        return Diagnostic(f"the custom call {target}: {error}", operation.location)
    return None


def _hint(target: str) -> str:
    close = nearest(target, _IDENTITIES)
    return f"did you mean {close}?" if close else _HINT


def _check_shapes(operation: Operation, target: str) -> None:
    operands, results = _arrays(operation.operands), _arrays(operation.results)
    if target not in _IDENTITIES:
        check_call(target, operands, results, _configuration(operation) if is_lapack(target) else {})
        return
    bare = [shape.without_layout for shape in (*operands, *results)]
    if len(operands) != 1 or len(results) != 1 or bare[0] != bare[1]:
        raise CallError("it returns its operand, so both must be one array of the same shape")


def _arrays(values: Sequence[Value]) -> list[ArrayShape]:
    leaves = [leaf for value in values for leaf in value.shape.arrays()]
    if not all(leaf.is_static and not leaf.is_tiled for leaf in leaves):
        raise CallError("it works on arrays of known sizes without tiles")
    return leaves


def _configuration(operation: Operation) -> Mapping[str, int]:
    """Returns the attributes of a call's configuration, which both dialects write as `{name = value : type}`."""
    texts = [operation.attribute(name) for name in _CONFIGURATIONS]
    given = [text.strip('"') for text in texts if text is not None and text.strip('"')]
    if len(given) != 1:
        raise CallError(f"it has {len(given)} configurations, but takes 1")
    found: dict[str, int] = {}
    inside = given[0].removeprefix("{").removesuffix("}")
    for part in inside.split(", ") if inside else ():
        entry = _ENTRY.fullmatch(part)
        if entry is None or entry[1] in found:
            raise CallError(f"its configuration is {given[0]}, which is no list of numbers")
        found[entry[1]] = _BOOLEANS[entry[2]] if entry[2] in _BOOLEANS else int(entry[2])
    return found
