"""Calls of Python functions on the host: a program sends the operands and receives the results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dialect_utils.hlo import HloModule, Instruction, parse_module
from dialect_utils.hlo.ops import Ops, instructions, tuple_elements, zero_of
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.inline_fusions import use_elements
from passes.dumps.inlining import splice
from passes.framework.base import Report

_KIND = re.compile(r'op_type="(\w+)"')
_SIDES = ("send", "recv")


@dataclass(slots=True)
class HostCallback:
    """One call of a function on the host: the `-done`s that send operands and receive results, in order of tokens."""

    sends: list[Instruction] = field(default_factory=list)
    receives: list[Instruction] = field(default_factory=list)

    @property
    def first(self) -> Instruction:
        """Returns the start of the first transfer."""
        return (self.sends or self.receives)[0].operands[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names that an option may use: those of the transfers, and JAX's kind of call."""
        kind = _KIND.search(self.first.metadata or "")
        transfers = [done.operands[0].name.removeprefix("%") for done in (*self.sends, *self.receives)]
        return (*transfers, *([kind[1]] if kind else []))

    @property
    def operands(self) -> list[Instruction]:
        """Returns the sent values."""
        return [done.operands[0].operands[0] for done in self.sends]

    @property
    def is_used(self) -> bool:
        """Is true if an operation reads a result of the host."""
        return any(_reads_value(user) for done in self.receives for user in done.users) or any(
            done.is_root for done in self.receives
        )


def replace_host_callbacks(module: HloModule, report: Report, callbacks: tuple[str, ...] = ()) -> None:
    """Replaces calls of functions on the host, in place.

    A call whose results nothing reads (jax.debug.print) is removed, with a note. For any other one an option
    `NAME=module:function` gives a function to trace; NAME is a transfer's name or the kind of call (pure_callback).
    Raises DiagnosticError that names each call without an option.
    """
    given = _read_options(callbacks)
    errors: list[Diagnostic] = []
    for call in host_callbacks(module):
        function = next((given[name] for name in call.names if name in given), None)
        if function is None and call.is_used:
            errors.append(_refusal(call))
        elif function is None:
            report.note(f"{_described(call)} is left out: nothing reads what the host returns", call.first.location)
            _replace(call, [])
        else:
            try:
                _replace(call, _computed(call, function))
            except DiagnosticError as error:
                errors += [replace(each, location=each.location or call.first.location) for each in error.diagnostics]
    if errors:
        raise DiagnosticError(errors)


def host_callbacks(module: HloModule) -> list[HostCallback]:
    """Returns the calls of functions on the host: a token joins the transfers of one call."""
    calls: dict[Instruction, HostCallback] = {}
    for start in instructions(module, *_SIDES):
        done = _own_done(start)
        if done is None or start.attribute("is_host_transfer") != "true":
            continue
        call = calls.get(_transfer_before(start.operands[-1]))
        if call is None or (start.opcode == "send" and call.receives):
            call = HostCallback()
        (call.sends if start.opcode == "send" else call.receives).append(done)
        calls[done] = call
    return list({id(call): call for call in calls.values()}.values())


def _own_done(start: Instruction) -> Instruction | None:
    users = start.users
    return users[0] if len(users) == 1 and users[0].opcode == f"{start.opcode}-done" else None


def _transfer_before(token: Instruction) -> Instruction:
    """Returns the operation that makes a token, e.g. the done of the previous transfer."""
    return token.operands[0] if token.opcode == "get-tuple-element" else token


def _reads_value(user: Instruction) -> bool:
    is_token = user.opcode == "get-tuple-element" and user.attribute("index") == "1"
    return not is_token and (bool(user.users) or user.is_root or user.opcode != "get-tuple-element")


def _replace(call: HostCallback, results: list[Instruction]) -> None:
    """Replaces the received values by `results` (zeros if empty), and removes the transfers."""
    for index, done in enumerate(call.receives):
        ops = Ops(done)
        start, shape = done.operands[0], tuple_elements(done)[0]
        assert isinstance(shape, ArrayShape)  # JAX receives arrays
        zero = zero_of(shape.element_type)
        value = results[index] if results else ops.filled(shape.element_type, shape.dimensions, zero)
        made = ops.tuple([ops.fitted(value, shape), start.operands[-1]])
        use_elements(ops.finish(made))
        start.erase()
        ops.drop_unused()
    for done in call.sends:
        start = done.operands[0]
        done.replace_uses(start.operands[-1])
        done.erase()
        start.erase()


def _computed(call: HostCallback, function: str) -> list[Instruction]:
    """Makes the ops of a Python function, before the first receive."""
    # A local import, because JAX is large.
    from dialect_utils.execution.python_functions import traced_function

    results = [leaf for done in call.receives for leaf in done.shape.arrays()]
    ops = Ops(call.receives[0])
    text = traced_function(function, [array_shape(value) for value in call.operands], results)
    given = parse_module(text, function)
    values = [ops.fitted(v, p.shape) for v, p in zip(call.operands, given.entry.parameters, strict=True)]
    found = splice(ops, given, values)
    return [found] if isinstance(found.shape, ArrayShape) else [ops.element(found, i) for i in range(len(results))]


def _read_options(options: tuple[str, ...]) -> Mapping[str, str]:
    found = {}
    for option in options:
        name, separator, function = option.partition("=")
        if not separator:
            raise DiagnosticError(Diagnostic(f"callback {option} is not of the form NAME=module:function"))
        found[name] = function
    return found


def _refusal(call: HostCallback) -> Diagnostic:
    hint = f"say what it computes: --callback {call.names[-1]}=module:function, a function that JAX can trace"
    return Diagnostic(
        f"{_described(call)} is a function of the host's Python, which is not here", call.first.location, hint=hint
    )


def _described(call: HostCallback) -> str:
    operands = ", ".join(f"{value.name}: {value.shape}" for value in call.operands)
    results = ", ".join(str(leaf) for done in call.receives for leaf in done.shape.arrays())
    return f"{call.names[-1]} {call.names[0]} ({operands}) -> ({results})"
