"""Extracts a part of a module as a module of its own, as XLA's `hlo_extractor` and `isolate_hlo` do.

A part is chosen around an operation of one function, with the values that enter and leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from dialect_utils.hlo import Computation, HloModule, Instruction, parse_module
from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.module import callees_first
from dialect_utils.hlo.text.attributes import names_in
from dialect_utils.hlo.text.printing import format_operands, with_sigil
from dialect_utils.ir import Function, Module, Operation, Part, Value
from dialect_utils.ir.control_flow import reached
from dialect_utils.layout import TupleShape
from dialect_utils.ops import DONE, UPDATE, split_asynchronous
from dialect_utils.text import Diagnostic, DiagnosticError, all_nearest

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule


# The most locations of a name, and the most names similar to an unknown name, that an error lists.
_LISTED = 3


def find_function(module: Module, name: str) -> Function:
    """Returns the computation, function or region of a name; raises DiagnosticError that has the nearest name."""
    name = name.removeprefix("%").removeprefix("@")
    functions = {function.name: function for function in module.functions}
    if name not in functions:
        raise _not_found(module, f"no computation is called {name}", name, functions)
    return functions[name]


def find_operation(module: Module, name: str, functions: Sequence[Function]) -> Operation | None:
    """Returns the operation in the functions that defines the value of a name, or None.

    Of several, the one of the entry is returned. Raises DiagnosticError for a parameter, and for several operations
    outside the entry.
    """
    name = name.removeprefix("%")
    values = [value for function in functions for value in function.values() if _is_called(value, name)]
    if not values:
        return None
    found = list(dict.fromkeys(value.operation for value in values if value.operation is not None))
    if not found:
        value = next((each for each in values if each.function.is_entry), values[0])
        message = f"{name} is a parameter of {value.function.name}: nothing computes it"
        raise DiagnosticError(message, value.location, hint="name one of the operations that use it")
    in_entry = [operation for operation in found if operation.function.is_entry]
    if len(found) == 1 or len(in_entry) == 1:
        return (in_entry or found)[0]
    places = [Diagnostic(f"one is in {each.function.name}", each.location, "note") for each in found[:_LISTED]]
    message = f"{len(found)} operations are called {name}"
    raise DiagnosticError(Diagnostic(message, hint="--computation NAME chooses one", notes=tuple(places)))


def _is_called(value: Value, name: str) -> bool:
    """Is true for the name of a value; `a` also names the operation of the results `a#0` and `a#1`."""
    return value.name == name or ("#" in value.name and value.name.partition("#")[0] == name)


def value_not_found(module: Module, name: str, function: Function | None) -> DiagnosticError:
    """Returns the error for a name that no operation (of a function) and no computation has."""
    name = name.removeprefix("%")
    functions = list(module.functions) if function is None else [function]
    known = [value.name for each in functions for value in each.values() if value.operation is not None]
    if function is not None:
        return _not_found(module, f"no operation of {function.name} is called {name}", name, known)
    what = f"no operation or computation is called {name}"
    return _not_found(module, what, name, [*known, *(each.name for each in functions)])


def _not_found(module: Module, what: str, name: str, known: Iterable[str]) -> DiagnosticError:
    close = all_nearest(name.removeprefix("%"), set(known))[:_LISTED]
    hint = f"did you mean {' or '.join(close)}?" if close else "relayout print FILE shows the names"
    return DiagnosticError(f"{what} in module {module.name or 'without a name'}", hint=hint)


def whole(function: Function) -> Part:
    """Returns all operations of a function; all its parameters are inputs, also those without uses."""
    operations = tuple(function.operations)
    inputs = dict.fromkeys((*function.parameters, *_inputs(operations)))
    return Part(function, operations, tuple(inputs), tuple(function.results))


def around(center: Operation, before: int | None, after: int) -> Part:
    """Returns the operations at most `before` steps before an operation and `after` steps after it.

    None stands for any number of steps. Asynchronous operations come with their other phases, without which they are
    not valid. With `after`, every value that leaves is a result, otherwise that of the operation only.
    """
    function = center.function
    operations = list(function.operations)
    chosen = {center}
    _grow(chosen, before, lambda each: _definers(_used_by(each), function))
    if after:
        later = {center}
        users = _users(operations)
        _grow(later, after, lambda each: users.get(each, ()))
        chosen |= later
    _complete_asynchronous(chosen, function)
    kept = tuple(each for each in operations if each in chosen)
    inputs = sorted(_inputs(kept), key=_order(function))
    own = tuple(result for each in _last_phases(center) for result in each.results)
    return Part(function, kept, tuple(inputs), _leaving(kept, function) if after else own)


def _used_by(operation: Operation) -> tuple[Value, ...]:
    return (*operation.operands, *operation.captured)


def _grow(chosen: set[Operation], steps: int | None, neighbours: Callable[[Operation], Iterable[Operation]]) -> None:
    """Adds operations that are at most `steps` steps away; None stands for any number of steps."""
    border: Collection[Operation] = set(chosen)
    taken = 0
    while border and (steps is None or taken < steps):
        border = {each for operation in border for each in neighbours(operation)} - chosen
        chosen |= border
        taken += 1


def _definers(values: Iterable[Value], function: Function) -> Iterator[Operation]:
    for value in values:
        operation = value.operation
        if operation is not None and operation.function == function:
            yield operation


def _users(operations: Sequence[Operation]) -> dict[Operation, list[Operation]]:
    """Returns the operations of a function that use each of them, in their regions too."""
    users: dict[Operation, list[Operation]] = {}
    for operation in operations:
        for value in _used_by(operation):
            if value.operation is not None:
                users.setdefault(value.operation, []).append(operation)
    return users


def _complete_asynchronous(chosen: set[Operation], function: Function) -> None:
    """Adds the other phases of asynchronous operations: a start needs its done, and a done its start."""

    def others(operation: Operation) -> Iterator[Operation]:
        yield from (user for result in operation.results for user in result.users if _is_later_phase(user))
        if _is_later_phase(operation):
            yield from _definers(operation.operands[:1], function)

    chosen.update(reached(chosen, others))


def _is_later_phase(operation: Operation) -> bool:
    return split_asynchronous(operation.opcode)[1] in (UPDATE, DONE)


def _inputs(operations: Sequence[Operation]) -> list[Value]:
    """Returns the values that operations use and do not define, in the order of their first uses."""
    made = {result for operation in operations for result in operation.results}
    used = (value for operation in operations for value in _used_by(operation))
    return [value for value in dict.fromkeys(used) if value not in made]


def _order(function: Function) -> Callable[[Value], int]:
    """Returns the position of a value: the parameters of the function first, values of outer functions last."""
    numbers = {value: number for number, value in enumerate(function.values())}
    return lambda value: numbers.get(value, len(numbers))


def _last_phases(operation: Operation) -> list[Operation]:
    """Returns the done operations of an asynchronous operation, or the operation itself."""
    later = [user for result in operation.results for user in result.users if _is_later_phase(user)]
    return [last for each in later for last in _last_phases(each)] if later else [operation]


def _leaving(kept: Sequence[Operation], function: Function) -> tuple[Value, ...]:
    """Returns the values of operations that none of these uses, or that another operation of the function uses."""
    inside = set(kept)
    used = {value for each in kept for value in _used_by(each)}
    outside = {value for each in function.operations if each not in inside for value in _used_by(each)}
    outside.update(function.results)
    values = (result for each in kept for result in each.results)
    return tuple(value for value in values if value not in used or value in outside)


# Attributes of a header that describe the parameters and the result of the entry.
_OF_ENTRY = (
    "entry_computation_layout",
    "input_output_alias",
    "buffer_donor",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
)
_ENTRY_NAME = "main"


def extract(
    module: Module, value: str | None = None, *, computation: str | None = None, before: int | None = 0, after: int = 0
) -> Module:
    """Returns a part of a module as a module of its own; the values that it needs are its parameters.

    `value` names an operation (by its value) or a computation. `computation` names the computation that has the value,
    or without a value the one to extract. With an operation, the operations at most `before` steps before it (None: all
    that it needs) and `after` steps after it are extracted, with the computations that they call. Several values that
    leave the part are a tuple. Raises DiagnosticError for a name that the module does not have, and ValueError for
    steps around a whole computation.

    >>> module = relayout.read("examples/attention.mlir")
    >>> part = extract(module, "10", before=1)
    >>> [str(value.shape) for value in part.entry.parameters]
    ['bf16[2,50,4,24]', 'bf16[2,50,4,24]', 'f32[]']
    """
    return part_as_module(module, find_part(module, value, computation=computation, before=before, after=after))


def find_part(
    module: Module, value: str | None, *, computation: str | None = None, before: int | None = 0, after: int = 0
) -> Part:
    """Returns the operations that `extract` extracts."""
    function = None if computation is None else find_function(module, computation)
    if value is not None:
        functions = list(module.functions) if function is None else [function]
        center = find_operation(module, value, functions)
        if center is not None:
            return around(center, before, after)
        known = {each.name for each in module.functions}
        if computation is not None or value.lstrip("%@") not in known:
            raise value_not_found(module, value, function)
        function = find_function(module, value)
    if before != 0 or after:
        raise ValueError("a whole computation has no operations before it or after it")
    return whole(module.entry if function is None else function)


def part_as_module(module: Module, part: Part) -> Module:
    """Returns a part of a module as a module whose entry has the inputs as parameters."""
    if module.dialect == "stablehlo":
        from dialect_utils.stablehlo.extraction import extract_operations

        return extract_operations(cast("StableHloModule", module), part)
    return _extract_instructions(cast(HloModule, module), part)


def _extract_instructions(module: HloModule, part: Part) -> HloModule:
    """Returns the module of instructions: the lines of a computation stay as they are but for new parameters."""
    copy = module.clone()
    # The instructions of a fragment are in a computation without a name.
    computation = copy.find(cast(Computation, part.function).name) or copy.computations[0]
    items = [_named(computation, each.results[0].name) for each in part.operations]
    inputs = [_named(computation, each.name) for each in part.inputs]
    results = [_named(computation, each.name) for each in part.results]
    _cut_control(items, {item.name for item in (*items, *inputs)})
    # The text of a computation that is written in an attribute must not stay there.
    for item in items:
        computation.mark_edited(item)
    called = [each for each in callees_first(copy.computations) if each in _reached(items) and not each.is_inline]
    for name in _OF_ENTRY:
        copy.set_attribute(name, None) if name in copy.attributes else None
    head = (copy.header.text or f"HloModule {_ENTRY_NAME}") + copy.tables.rstrip()
    texts = [head, *(each.text().strip() for each in called), _entry_text(computation, items, inputs, results)]
    made = parse_module("\n\n".join(texts), "<extracted>")
    if module.entry_computation_layout is not None:
        made.set_entry_layout([each.shape for each in made.entry.parameters], [made.entry.root.shape])
    return made


def _named(computation: Computation, name: str) -> Instruction:
    found = computation.find(name)
    assert found is not None  # the copy has the names of the original
    return found


def _cut_control(items: Sequence[Instruction], kept: set[str]) -> None:
    """Drops the control predecessors that are not in the part."""
    for item in items:
        text = item.attribute(CONTROL)
        if text is None:
            continue
        names = [name for name in names_in(text) if name in kept]
        listed = ", ".join(with_sigil(item.sigil, name) for name in names)
        item.set_attribute(CONTROL, f"{{{listed}}}" if names else None)


def _reached(items: Sequence[Instruction]) -> set[Computation]:
    """Returns the computations that instructions call, directly or through others."""
    called = (callee for item in items for callee in item.called)
    return set(reached(called, lambda each: (callee for item in each.instructions for callee in item.called)))


def _entry_text(
    computation: Computation,
    items: Sequence[Instruction],
    inputs: Sequence[Instruction],
    results: Sequence[Instruction],
) -> str:
    root = results[0] if len(results) == 1 else None
    lines = [f"{'ROOT ' if item is root else ''}{line}" for item, line in _lines(items, inputs)]
    if root is None:
        name = computation.module.fresh_name("results")
        shape = TupleShape(tuple(each.shape for each in results))
        operands = format_operands(results, computation.sigil, is_typed=False) if results else ""
        lines.append(f"ROOT {with_sigil(computation.sigil, name)} = {shape} tuple({operands})")
    body = "\n".join(f"  {line}" for line in lines)
    return f"ENTRY {with_sigil(computation.sigil, computation.name or _ENTRY_NAME)} {{\n{body}\n}}\n"


def _lines(items: Sequence[Instruction], inputs: Sequence[Instruction]) -> Iterator[tuple[Instruction, str]]:
    """Yields a parameter for each value that comes from outside, then the instructions.

    A value that was a parameter keeps its attributes.
    """
    for number, item in enumerate(inputs):
        attributes = item.attribute_text if item.opcode == "parameter" else ""
        yield item, f"{with_sigil(item.sigil, item.name)} = {item.shape} parameter({number}){attributes}"
    for item in items:
        yield item, item.text().removeprefix("ROOT ")
