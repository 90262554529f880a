"""Chooses operations of one function around an operation, and the values that enter and leave them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ops import DONE, UPDATE, split_asynchronous
from dialect_utils.text import Diagnostic, DiagnosticError, all_nearest

# So many locations of one name, and names like an unknown one, are listed.
_LISTED = 3


@dataclass(frozen=True, slots=True)
class Part:
    """Operations of one function in their order, the values that they need from outside, and the values they give."""

    function: Function
    operations: tuple[Operation, ...]
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]


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
        raise DiagnosticError(Diagnostic(message, value.location, hint="name one of the operations that use it"))
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
    return DiagnosticError(Diagnostic(f"{what} in module {module.name or 'without a name'}", hint=hint))


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
    """Adds operations that are at most so many steps away; None stands for any number."""
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
    waiting = list(chosen)
    while waiting:
        operation = waiting.pop()
        found = [user for result in operation.results for user in result.users if _is_later_phase(user)]
        if _is_later_phase(operation):
            found += _definers(operation.operands[:1], function)
        new = [each for each in found if each not in chosen]
        chosen.update(new)
        waiting += new


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
