"""Takes inputs that nothing uses out of a module's entry."""

from __future__ import annotations

import re

from dialect_utils.hlo import HloModule
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module

# Where main's arguments begin, as MLIR prints it.
_MAIN = re.compile(r"func\.func (public )?@main\(")
# What is between quotes, and what nests.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|.', re.DOTALL)
_OPENING, _CLOSING = "([{<", ")]}>"


def without_input(module: Module, number: int) -> Module:
    """Returns a module without one parameter of its entry.

    Raises ValueError where it is used, or aliases a result; DiagnosticError where what is left cannot be read.
    """
    parameter = module.entry.parameters[number]
    if parameter.users or parameter in module.entry.results or module.aliases:
        raise ValueError(f"parameter {number} is needed")
    if isinstance(module, HloModule):
        return _without_instruction(module, number)
    text = module.text()
    main = _MAIN.search(text)
    if main is None:
        raise ValueError("the module has no main")
    arguments, end = _split(text, main.end())
    kept = ",".join(each for i, each in enumerate(arguments) if i != number)
    return parse_bytes(f"{text[: main.end()]}{kept}{text[end:]}".encode(), module.name)


def _without_instruction(module: HloModule, number: int) -> HloModule:
    copy = module.clone()
    layout = copy.entry_computation_layout
    copy.entry.drop_parameter(copy.entry.parameters[number])
    if layout is not None:
        parameters, result = layout
        copy.set_entry_computation_layout((*parameters[:number], *parameters[number + 1 :]), result)
    return copy


def _split(text: str, start: int) -> tuple[list[str], int]:
    """Returns what commas part from a place on, and where the bracket ends in which that is."""
    parts, depth = [""], 0
    for token in _TOKEN.finditer(text, start):
        word = token[0]
        depth += (word in _OPENING) - (word in _CLOSING)
        if depth < 0:
            return parts, token.start()
        if word == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += word
    raise ValueError("main's arguments do not end")
