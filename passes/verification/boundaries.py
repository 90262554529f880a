"""Whether both sides of a boundary agree: calls, loops, branches, the entry and its aliases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape, TupleShape, array_leaves
from dialect_utils.text import Diagnostic
from passes.verification.shapes import is_same_type

# opcode -> how many values of one operand list the applied computation takes at a time.
_APPLIED_ARITY = {"reduce": 1, "reduce-window": 1, "sort": 2, "map": 1}


# opcode -> how many computations it names.
_CALLED = {
    **dict.fromkeys(("all-reduce", "call", "fusion", "map", "reduce", "reduce-scatter", "reduce-window"), 1),
    **dict.fromkeys(("scatter", "sort"), 1),
    **dict.fromkeys(("select-and-scatter", "while"), 2),
}


def find_call_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where an instruction and the computations it calls disagree."""
    opcode, called = instruction.opcode, instruction.called
    if len(called) != _CALLED.get(opcode, len(called)):
        counted = "1 computation" if _CALLED[opcode] == 1 else f"{_CALLED[opcode]} computations"
        yield f"{opcode} applies {counted}, found {len(called)}"
    elif opcode == "while":
        yield from _while_problems(instruction)
    elif opcode == "conditional":
        yield from _conditional_problems(instruction, called)
    elif opcode in ("call", "fusion"):
        yield from _interface_problems(opcode, instruction, called[0], list(instruction.operands))
    elif opcode in _APPLIED_ARITY:
        count = len(instruction.operands) * _APPLIED_ARITY[opcode]
        have = len(called[0].parameters)
        if have != count:
            yield f"{opcode} applies %{called[0].name} to {count} values, but it has {have} parameters"


def _interface_problems(
    opcode: str, instruction: Instruction, called: Computation, operands: Sequence[Instruction]
) -> Iterator[str]:
    have = len(called.parameters)
    if have != len(operands):
        yield f"{opcode} hands {len(operands)} operands to %{called.name}, which has {have} parameters"
        return
    for number, (parameter, operand) in enumerate(zip(called.parameters, operands, strict=True)):
        yield from _disagreement(
            f"operand {number} of {opcode}", operand.shape, f"parameter {number} of %{called.name}", parameter.shape
        )
    yield from _disagreement(f"{opcode}", instruction.shape, f"the ROOT of %{called.name}", called.root.shape)


def _while_problems(instruction: Instruction) -> Iterator[str]:
    for called in instruction.called:
        if len(called.parameters) != 1:
            yield f"%{called.name} of a while takes one parameter, found {len(called.parameters)}"
            return
    condition, body = _condition_and_body(instruction)
    state = instruction.operands[0].shape
    sides = [
        ("the while", instruction.shape),
        (f"the parameter of %{condition.name}", condition.parameters[0].shape),
        (f"the parameter of %{body.name}", body.parameters[0].shape),
        (f"the ROOT of %{body.name}", body.root.shape),
    ]
    for name, shape in sides:
        yield from _disagreement("the operand of while", state, name, shape)
    decision = condition.root.shape
    if not (isinstance(decision, ArrayShape) and decision.element_type.name == "pred" and decision.rank == 0):
        yield f"the condition %{condition.name} must give pred[], found {decision}"


def _condition_and_body(instruction: Instruction) -> tuple[Computation, Computation]:
    names = {called.name: called for called in instruction.called}
    condition = (instruction.attribute("condition") or "").lstrip("%")
    body = (instruction.attribute("body") or "").lstrip("%")
    first, second = instruction.called
    return names.get(condition, first), names.get(body, second)


def _conditional_problems(instruction: Instruction, branches: Sequence[Computation]) -> Iterator[str]:
    operands = instruction.operands[1:]
    if len(operands) != len(branches) or not branches:
        yield f"conditional has {len(branches)} branches, but operands for {len(operands)}"
        return
    for branch, operand in zip(branches, operands, strict=True):
        yield from _interface_problems("conditional", instruction, branch, [operand])


def _disagreement(first_name: str, first: Shape, second_name: str, second: Shape) -> Iterator[str]:
    if not is_same_type(first, second):
        yield f"{first_name} is {first}, but {second_name} is {second}"
    elif not _agree_in_layout(first, second):
        yield f"{first_name} is laid out as {first}, but {second_name} as {second}"


def _agree_in_layout(first: Shape, second: Shape) -> bool:
    """Is true unless both sides write a tiled layout and these place elements differently.

    Memory spaces are not compared: a fusion's parameter may be read from another one.
    """
    pairs = zip(array_leaves(first), array_leaves(second), strict=True)
    return all(not (a.is_tiled and b.is_tiled) or _places(a) == _places(b) for a, b in pairs)


def _places(shape: ArrayShape) -> object:
    layout = shape.effective_layout
    return layout.minor_to_major, layout.tiles, layout.element_size_in_bits


def find_entry_problems(module: Module) -> Iterator[Diagnostic]:
    """Yields where the entry's layout and the entry itself disagree, and aliases that lead nowhere."""
    if isinstance(module, HloModule) and module.try_entry() is None:
        return
    entry = module.entry
    parameters, results = module.entry_layout
    if len(parameters) != len(entry.parameters):
        message = f"the entry layout has {len(parameters)} parameters, but the entry has {len(entry.parameters)}"
        yield Diagnostic(message, entry.parameters[0].location if entry.parameters else None)
        return
    for number, (value, shape) in enumerate(zip(entry.parameters, parameters, strict=True)):
        for message in _disagreement(f"parameter {number}", value.shape, "the entry layout", shape):
            yield Diagnostic(message, value.location)
    for value, shape in zip(entry.results, results, strict=True):
        for message in _disagreement(f"the result {value.name}", value.shape, "the entry layout", shape):
            yield Diagnostic(message, value.location)
    yield from _alias_problems(module, parameters, results)


def _alias_problems(module: Module, parameters: Sequence[Shape], results: Sequence[Shape]) -> Iterator[Diagnostic]:
    returned = results[0] if module.form == "hlo" and results else TupleShape(tuple(results))
    for result_path, number, parameter_path in module.aliases:
        source = parameters[number] if 0 <= number < len(parameters) else None
        parameter, result = _element(source, parameter_path), _element(returned, result_path)
        if parameter is None or result is None:
            yield Diagnostic(f"an alias joins result {list(result_path)} and parameter {number}, which do not exist")
        elif not is_same_type(parameter, result):
            yield Diagnostic(f"an alias joins result {result} and parameter {number}, which is {parameter}")


def _element(shape: Shape | None, path: Sequence[int]) -> Shape | None:
    for index in path:
        if not isinstance(shape, TupleShape) or not 0 <= index < len(shape.elements):
            return None
        shape = shape.elements[index]
    return shape


def find_recursion(module: Module) -> Iterator[Diagnostic]:
    """Yields the first computation that reaches itself: XLA's call graph overflows the stack on it."""
    finished: set[str] = set()
    for function in module.functions:
        # An explicit stack: how deep calls nest is up to the file.
        stack = [(function, iter([c for op in function.operations for c in op.called]))]
        if function.name in finished:
            continue
        entered = [function.name]
        while stack:
            inner = next(stack[-1][1], None)
            if inner is None:
                finished.add(stack.pop()[0].name)
                entered.pop()
            elif inner.name in entered:
                yield Diagnostic(f"%{inner.name} calls itself", stack[-1][0].operations[0].location)
                return
            elif inner.name not in finished:
                entered.append(inner.name)
                stack.append((inner, iter([c for op in inner.operations for c in op.called])))
