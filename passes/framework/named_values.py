"""Values of a module by their names."""

from __future__ import annotations

from dialect_utils.ir import Module, Value
from dialect_utils.text import nearest
from passes.framework.options import OptionError


def value_names(module: Module) -> dict[Value, str]:
    """Returns the names of the values of a module, without `%`; a value that shares all its names has none.

    A value whose name an earlier function has too is named with its function, `helper:3`; the entry comes first.
    """
    found: dict[str, Value] = {}
    for function in sorted(module.functions, key=lambda function: not function.is_entry):
        for value in function.values():
            name = _within(value, value.name) if value.name in found else value.name
            found.setdefault(name, value)
    return {value: name for name, value in found.items()}


def _within(value: Value, name: str) -> str:
    return f"{value.function.name}:{name}"


def named_value(module: Module, name: str, option: str) -> Value:
    """Returns the value that an option of a pass names, with or without `%` and its function.

    Raises OptionError with the nearest name where the module has no such value.
    """
    names = value_names(module)
    known = {_within(value, value.name): value for value in reversed(names)} | {names[value]: value for value in names}
    given = name.replace("%", "")
    if given not in known:
        close = nearest(given, names.values())
        raise OptionError(option, f"the module has no value {name}", f"did you mean %{close}?" if close else None)
    return known[given]
