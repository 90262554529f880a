"""One more result of a module, which tells whether computations ran that may not run: in branches and loops."""

from __future__ import annotations

from collections.abc import Container, Mapping

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.module import callees_first
from dialect_utils.hlo.ops import Ops, add_computation
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError

_NUMBER = ArrayShape(ELEMENT_TYPES["s32"], ())


def return_executed(module: HloModule, numbers: Mapping[Computation, int]) -> None:
    """Adds a last result to the entry, s32[]: the largest number of the computations that ran, 0 if none did; in place.

    Each computation returns its number beside its result, and conditionals, loops and calls pass it on. Raises
    DiagnosticError for a computation that something else calls.
    """
    changed: set[Computation] = set()
    for computation in list(callees_first(module.computations)):
        calls = [item for item in computation.instructions if not changed.isdisjoint(item.called)]
        found = [_passed_on(call, changed) for call in calls]
        if not found and computation not in numbers:
            continue
        _return_also(computation, numbers.get(computation, 0), found)
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


def _return_also(computation: Computation, number: int, found: list[Instruction]) -> None:
    """Makes a computation return the largest of its own number and the numbers that it found."""
    root = computation.root
    emit = HloBuilder(computation, after=computation.order.last).emit
    most = emit("ran", _NUMBER, "constant", (), inner=str(number))
    for each in found:
        most = emit("ran", _NUMBER, "maximum", (most, each))
    parts = [root]
    if computation.is_entry and isinstance(root.shape, TupleShape):
        parts = [
            emit("result", shape, "get-tuple-element", (root,), attributes={"index": str(index)})
            for index, shape in enumerate(root.shape.elements)
        ]
    shape = TupleShape((*(part.shape for part in parts), _NUMBER))
    computation.set_root(emit("results", shape, "tuple", (*parts, most)))


def _passed_on(call: Instruction, changed: Container[Computation]) -> Instruction:
    """Replaces a call of changed computations by one that gives their number, too, and returns that number."""
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
        attributes |= _branches(call, names)
    elif call.opcode != "call":
        raise _refused(call)
    both = ops.emit(call.opcode, _with_number(call.shape), operands, attributes)
    result, number = ops.element(both, 0), ops.element(both, 1)
    ops.finish(result)
    return number


def _refused(call: Instruction) -> DiagnosticError:
    message = f"{call.opcode} {call.name} calls a function of the host's Python where no value can tell that it ran"
    return DiagnosticError(Diagnostic(message, call.location))


def _with_number(shape: Shape) -> TupleShape:
    return TupleShape((shape, _NUMBER))


def _branches(call: Instruction, names: list[str]) -> dict[str, str]:
    """Returns the attributes of a conditional with other branches."""
    if "branch_computations" in call.attributes:
        return {"branch_computations": "{" + ", ".join(f"%{name}" for name in names) + "}"}
    return {role: f"%{names[index]}" for index, role in enumerate(("true_computation", "false_computation"))}


def _quiet(branch: Computation) -> str:
    """Makes a computation that gives the result of a branch, and 0; returns its name."""
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
    """Makes the condition of a loop whose state has a number beside it; returns its name."""
    (state,) = condition.parameters
    return add_computation(
        condition.module,
        f"{condition.name}.ran",
        f"p = {_with_number(state.shape)} parameter(0)",
        f"s = {state.shape} get-tuple-element(p), index=0",
        f"ROOT r = {condition.root.shape} call(s), to_apply=%{condition.name}",
    )


def _body_of(body: Computation) -> str:
    """Makes the body of a loop that keeps the largest number that its changed body gives; returns its name."""
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
