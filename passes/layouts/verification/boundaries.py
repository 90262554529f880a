"""Whether both sides of a boundary agree: calls, loops, branches, the entry and its aliases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.ir import Module
from dialect_utils.ir.control_flow import BODY, CONDITION
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import Trait, named, opcode_of, with_trait
from dialect_utils.text import Diagnostic
from passes.layouts.verification.shapes import is_same_type

_APPLIED_TO_ALL = with_trait(Trait.APPLIES) - with_trait(Trait.COLLECTIVE) - named("scan scatter select-and-scatter")


def find_call_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where an instruction and the computations it calls disagree."""
    opcode, called = instruction.opcode, instruction.called
    count = opcode_of(opcode).computation_count
    needed = [attribute.name for attribute in opcode_of(opcode).attributes if attribute.names_computations]
    if count and len(called) != count:
        counted = "1 computation" if count == 1 else f"{count} computations"
        yield f"{opcode} applies {counted}, found {len(called)}"
    elif count and {*instruction.roles} != {*needed}:
        yield f"{opcode} names {' and '.join(needed)}, found {', '.join(instruction.roles)}"
    elif opcode == "while":
        yield from _while_problems(instruction)
    elif opcode == "conditional":
        yield from _conditional_problems(instruction, called)
    elif opcode in ("call", "fusion"):
        yield from _interface_problems(opcode, instruction, called[0], list(instruction.operands))
    elif opcode in _APPLIED_TO_ALL:
        # A comparator takes two elements of each operand at a time.
        count = len(instruction.operands) * (2 if opcode == "sort" else 1)
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
    condition, body = instruction.called_as(CONDITION), instruction.called_as(BODY)
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


def _conditional_problems(instruction: Instruction, branches: Sequence[Computation]) -> Iterator[str]:
    operands = instruction.operands[1:]
    if len(operands) != len(branches) or not branches:
        yield f"conditional has {len(branches)} branches, but operands for {len(operands)}"
        return
    chooser = instruction.operands[0].shape
    wanted = "s32[]" if "branch_computations" in instruction.attributes else "pred[]"
    if str(chooser.without_layout) != wanted:
        yield f"conditional of such branches chooses by {wanted}, found {chooser}"
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
    pairs = zip(first.arrays(), second.arrays(), strict=True)
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
    returned = results[0] if module.dialect == "hlo" and results else TupleShape(tuple(results))
    for result_path, number, parameter_path in module.aliases:
        source = parameters[number] if 0 <= number < len(parameters) else None
        parameter, result = _element(source, parameter_path), _element(returned, result_path)
        if parameter is None or result is None:
            yield Diagnostic(f"an alias joins result {list(result_path)} and parameter {number}, which do not exist")
        elif not (is_same_type(parameter, result) or _has_same_size(parameter, result)):
            yield Diagnostic(f"an alias joins result {result} and parameter {number}, which is {parameter}")


def _has_same_size(first: Shape, second: Shape) -> bool:
    """Is true where one buffer can be both: XLA compares sizes (xla/hlo/ir/hlo_input_output_alias_config.cc)."""
    sizes = [
        shape.element_count * shape.element_type.bits if isinstance(shape, ArrayShape) and shape.is_static else None
        for shape in (first, second)
    ]
    return None not in sizes and sizes[0] == sizes[1]


def _element(shape: Shape | None, path: Sequence[int]) -> Shape | None:
    for index in path:
        if not isinstance(shape, TupleShape) or not 0 <= index < len(shape.elements):
            return None
        shape = shape.elements[index]
    return shape
