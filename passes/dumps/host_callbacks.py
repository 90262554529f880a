"""Calls of Python functions on the host: a program sends the operands and receives the results."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dialect_utils.hlo import Computation, HloModule, Instruction, parse_module
from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.module import callees_first
from dialect_utils.hlo.ops import Ops, add_computation, instructions, return_also, tuple_elements, zero_of
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.inline_fusions import splice, use_elements
from passes.framework.base import Report

_NUMBER = ArrayShape(ELEMENT_TYPES["s32"], ())


def return_executed(module: HloModule, numbers: Mapping[Computation, int]) -> None:
    """Adds a last result to the entry, s32[]: the largest number of the computations that ran, 0 if none did; in place.

    Each computation returns its number beside its result, and conditionals, loops and calls forward the number. Raises
    DiagnosticError for a computation that something else calls.
    """
    changed: set[Computation] = set()
    for computation in list(callees_first(module.computations)):
        calls = [item for item in computation.instructions if not changed.isdisjoint(item.called)]
        found = [_passed_on(call, changed) for call in calls]
        if not found and computation not in numbers:
            continue
        # It returns the largest of its own number and those of its calls.
        emit = HloBuilder(computation, after=computation.order.last).emit
        most = emit("ran", _NUMBER, "constant", (), inner=str(numbers.get(computation, 0)))
        for each in found:
            most = emit("ran", _NUMBER, "maximum", (most, each))
        return_also(computation, [most], is_flat=computation.is_entry)
        changed.add(computation)


def may_not_run(module: HloModule) -> set[Computation]:
    """Returns the computations that run only in a branch or in the body or condition of a loop."""
    certain, waiting = {module.entry}, [module.entry]
    while waiting:
        for item in waiting.pop().instructions:
            if item.opcode not in ("conditional", "while"):
                waiting += [callee for callee in item.called if callee not in certain]
                certain.update(item.called)
    return {*module.computations} - certain


def _passed_on(call: Instruction, changed: Container[Computation]) -> Instruction:
    """Replaces a call of changed computations by a call that also returns their number; returns that number."""
    ops = Ops(call)
    attributes, operands = dict(call.attributes), call.operands
    if call.opcode == "while":
        condition, body = call.called_as("condition"), call.called_as("body")
        if condition in changed:
            raise _refused(call)
        attributes |= {"condition": f"%{_condition_of(condition)}", "body": f"%{_body_of(body)}"}
        operands = (ops.tuple((operands[0], ops.constant(_NUMBER.element_type, "0"))),)
    elif call.opcode == "conditional":
        names = [callee.name if callee in changed else _quiet(callee) for callee in call.called]
        branches = [f"%{name}" for name in names]
        if "branch_computations" in attributes:
            attributes["branch_computations"] = "{" + ", ".join(branches) + "}"
        else:
            attributes |= zip(("true_computation", "false_computation"), branches, strict=True)
    elif call.opcode != "call":
        raise _refused(call)
    both = ops.emit(call.opcode, _with_number(call.shape), operands, attributes)
    result, number = ops.element(both, 0), ops.element(both, 1)
    ops.finish(result)
    return number


def _refused(call: Instruction) -> DiagnosticError:
    message = f"{call.opcode} {call.name} calls a function of the host's Python where no value can tell that it ran"
    return DiagnosticError(message, call.location)


def _with_number(shape: Shape) -> TupleShape:
    return TupleShape((shape, _NUMBER))


def _quiet(branch: Computation) -> str:
    """Adds a computation that returns (result of a branch, 0), for one without watched calls; returns its name."""
    (taken,) = branch.parameters
    result = branch.root.shape
    return add_computation(
        branch.module,
        f"{branch.name}.ran",
        f"p = {taken.shape} parameter(0)",
        f"r = {result} call(p), to_apply=%{branch.name}",
        "n = s32[] constant(0)",
        f"ROOT t = {_with_number(result)} tuple(r, n)",
    )


def _condition_of(condition: Computation) -> str:
    """Adds the condition of a loop over the tuple (state, number); returns its name."""
    (state,) = condition.parameters
    return add_computation(
        condition.module,
        f"{condition.name}.ran",
        f"p = {_with_number(state.shape)} parameter(0)",
        f"s = {state.shape} get-tuple-element(p), index=0",
        f"ROOT r = {condition.root.shape} call(s), to_apply=%{condition.name}",
    )


def _body_of(body: Computation) -> str:
    """Adds the body of a loop over the tuple (state, number), which keeps the largest number; returns its name."""
    (state,) = body.parameters
    both = _with_number(state.shape)
    return add_computation(
        body.module,
        f"{body.name}.ran",
        f"p = {both} parameter(0)",
        f"s = {state.shape} get-tuple-element(p), index=0",
        "n = s32[] get-tuple-element(p), index=1",
        f"r = {body.root.shape} call(s), to_apply=%{body.name}",
        "m = s32[] get-tuple-element(r), index=1",
        "o = s32[] maximum(n, m)",
        f"t = {state.shape} get-tuple-element(r), index=0",
        f"ROOT u = {both} tuple(t, o)",
    )


# JAX's kind of call: the op's type or, where a dump prints only the op's name, the last part of that.
_KINDS = (re.compile(r'op_type="(\w+)"'), re.compile(r'op_name="(?:[^"]*/)?(\w+)"'))
_SIDES = ("send", "recv")
# The values of an option that stand for undefined results in place of a function, and for any name.
UNDEFINED, ANY = "undefined", "*"


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
        metadata = self.first.metadata or ""
        kinds = [found[1] for kind in _KINDS if (found := kind.search(metadata))]
        transfers = [done.operands[0].name.removeprefix("%") for done in (*self.sends, *self.receives)]
        return (*transfers, *kinds[:1])

    @property
    def operands(self) -> list[Instruction]:
        """Returns the sent values."""
        return [done.operands[0].operands[0] for done in self.sends]

    @property
    def signature(self) -> str:
        """Returns the operands with their shapes and the shapes of the results, as messages show them."""
        operands = ", ".join(f"{value.name}: {value.shape}" for value in self.operands)
        results = ", ".join(str(leaf) for done in self.receives for leaf in done.shape.arrays())
        return f"({operands}) -> ({results})"

    @property
    def is_used(self) -> bool:
        """Is true if an operation reads a result of the host."""
        return any(_reads_value(user) for done in self.receives for user in done.users) or any(
            done.is_root for done in self.receives
        )


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The user's options about calls of functions on the host.

    `functions` gives `module:function`, or `undefined`, for a transfer's name, a kind of call (pure_callback) or `*`.
    """

    functions: Mapping[str, str]

    @classmethod
    def parse(cls, options: Iterable[str]) -> Callbacks:
        """Reads `NAME=module:function` and `NAME=undefined`; raises DiagnosticError for other texts."""
        found = {}
        for option in options:
            name, separator, function = option.partition("=")
            if not (separator and name and (":" in function or function == UNDEFINED)):
                raise DiagnosticError(f"callback {option} is not of the form NAME=module:function or NAME=undefined")
            found[name] = function
        return cls(found)

    def function_of(self, call: HostCallback) -> str | None:
        """Returns the function given for a call: for a transfer before its kind, and for its kind before `*`."""
        return next((self.functions[name] for name in (*call.names, ANY) if name in self.functions), None)

    def check_names(self, calls: Sequence[HostCallback]) -> None:
        """Raises DiagnosticError for names that no call has, with a list of the calls."""
        known = {name for call in calls for name in call.names} | {ANY}
        unknown = [name for name in self.functions if name not in known]
        if not unknown:
            return
        listed = "; ".join(f"{', '.join(call.names)}: {call.signature}" for call in calls)
        hint = f"its calls, by their names: {listed}" if calls else "it calls no function on the host"
        raise DiagnosticError(
            [Diagnostic(f"--callback {name}: the module has no such call", hint=hint) for name in unknown]
        )


def replace_host_callbacks(
    module: HloModule, report: Report, callbacks: tuple[str, ...] = (), *, watch: bool = False
) -> None:
    """Replaces calls of functions on the host, in place.

    A call whose results nothing reads (jax.debug.print) is removed, with a note. For any other one an option
    `NAME=module:function` gives a function to trace, `NAME=undefined` undefined values (NaN, or 0 for integers). With
    `watch`, calls that may not run are undefined without an option, and the module returns one more value, the number
    of such a call that ran, as `watched_callbacks` counts them, or 0. Raises DiagnosticError that names each call
    without an option, and each option without a call.
    """
    given, calls = Callbacks.parse(callbacks), host_callbacks(module)
    given.check_names(calls)
    watched = _watched(module, calls, given) if watch else []
    if watched:
        return_executed(module, {call.first.computation: number for number, call in enumerate(watched, 1)})
    errors: list[Diagnostic] = []
    for call in calls:
        function = given.function_of(call)
        if not call.is_used and function in (None, UNDEFINED):
            report.note(f"{_described(call)} is left out: nothing reads what the host returns", call.first.location)
            _replace(call, [])
        elif function == UNDEFINED or call in watched:
            told = "; if it runs, that is an error" if call in watched else ""
            report.note(f"{_described(call)} is not here: what it returns is undefined{told}", call.first.location)
            _replace(call, [])
        elif function is None:
            message = f"{_described(call)} is a function of the host's Python, which is not here"
            hint = f"{_hint(call)}, or --callback {call.names[-1]}={UNDEFINED}"
            errors.append(Diagnostic(message, call.first.location, hint=hint))
        else:
            try:
                _replace(call, _computed(call, function))
            except DiagnosticError as error:
                errors += [replace(each, location=each.location or call.first.location) for each in error.diagnostics]
    if errors:
        raise DiagnosticError(errors)


def watched_callbacks(module: HloModule, callbacks: tuple[str, ...] = ()) -> list[HostCallback]:
    """Returns the calls in branches and loops whose results are read and that no option gives a function for."""
    return _watched(module, host_callbacks(module), Callbacks.parse(callbacks))


def _watched(module: HloModule, calls: Sequence[HostCallback], given: Callbacks) -> list[HostCallback]:
    uncertain = may_not_run(module)
    return [
        call
        for call in calls
        if call.is_used and call.first.computation in uncertain and given.function_of(call) in (None, UNDEFINED)
    ]


def host_callbacks(module: HloModule) -> list[HostCallback]:
    """Returns the calls of functions on the host: a token joins the transfers of one call."""
    calls: dict[Instruction, HostCallback] = {}
    for start in instructions(module, *_SIDES):
        done = own_done(start)
        if done is None or start.attribute("is_host_transfer") != "true":
            continue
        # A token is that of the previous transfer's done, or its element.
        token = start.operands[-1]
        call = calls.get(token.operands[0] if token.opcode == "get-tuple-element" else token)
        if call is None or (start.opcode == "send" and call.receives):
            call = HostCallback()
        (call.sends if start.opcode == "send" else call.receives).append(done)
        calls[done] = call
    return list({id(call): call for call in calls.values()}.values())


def own_done(start: Instruction) -> Instruction | None:
    """Returns the done of a send or receive, or None if other instructions use the start."""
    users = start.users
    return users[0] if len(users) == 1 and users[0].opcode == f"{start.opcode}-done" else None


def _reads_value(user: Instruction) -> bool:
    is_token = user.opcode == "get-tuple-element" and user.attribute("index") == "1"
    return not is_token and (bool(user.users) or user.is_root or user.opcode != "get-tuple-element")


def _replace(call: HostCallback, results: list[Instruction]) -> None:
    """Replaces the received values by `results` (undefined ones if empty), and removes the transfers."""
    for index, done in enumerate(call.receives):
        ops = Ops(done)
        start, shape = done.operands[0], tuple_elements(done)[0]
        assert isinstance(shape, ArrayShape)  # JAX receives arrays
        kind = shape.element_type
        # NaN shows where the values go.
        undefined = "nan" if kind.is_floating else zero_of(kind)
        value = results[index] if results else ops.filled(kind, shape.dimensions, undefined)
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
    """Builds the ops of a Python function, before the first receive."""
    # A local import, because JAX is large.
    from dialect_utils.execution.python_functions import traced_function

    results = [leaf for done in call.receives for leaf in done.shape.arrays()]
    ops = Ops(call.receives[0])
    text = traced_function(function, [array_shape(value) for value in call.operands], results)
    given = parse_module(text, function)
    values = [ops.fitted(v, p.shape) for v, p in zip(call.operands, given.entry.parameters, strict=True)]
    found = splice(ops, given, values)
    return [found] if isinstance(found.shape, ArrayShape) else [ops.element(found, i) for i in range(len(results))]


def ran(call: HostCallback) -> Diagnostic:
    """Returns the error about a watched call that ran."""
    message = f"{call.names[-1]} {call.names[0]} ran, and what it returns is unknown: the outputs are undefined"
    return Diagnostic(message, call.first.location, hint=_hint(call))


def _hint(call: HostCallback) -> str:
    return f"say what it computes: --callback {call.names[-1]}=module:function, a function that JAX can trace"


def _described(call: HostCallback) -> str:
    return f"{call.names[-1]} {call.names[0]} {call.signature}"
