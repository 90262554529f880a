"""The options of a pass: typed keyword parameters, read from and written to a pipeline's text.

The type of an option is `bool`, `int`, `float`, `str`, `Path`, `Literal[...]`, one of these `| None`, a tuple of one
of them (`tuple[int, ...]`), or a frozen dataclass of such fields (a nested option). A parameter without a type has that
of its default. A pipeline's text calls the parameter `memory_space` `memory-space`.
An option that names a value of the module is text, which the pass looks up.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dialect_utils.ir import Module, Value
from dialect_utils.text import Diagnostic, DiagnosticError, meant, nearest
from passes.framework.spec import (
    Option,
    OptionText,
    Text,
    parse_option_texts,
    quote,
    split,
    unknown_annotation,
    unquote,
    without_braces,
)

T = TypeVar("T")


class OptionError(DiagnosticError):
    """The error of an option that does not fit a module; in a pipeline it points at the text of the option."""

    def __init__(self, option: str, message: str, hint: str | None = None) -> None:
        super().__init__(Diagnostic(message, hint=hint))
        self.option = option

    def at(self, text: Text) -> DiagnosticError:
        """Returns the error at the text of the option."""
        (found,) = self.diagnostics
        return text.error(found.message, found.hint)


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
# The types of values in Python that an option of each type takes.
_PLAIN = {bool: (bool,), int: (int,), float: (float, int), str: (str,)}
_UNIONS = (types.UnionType, typing.Union)
# The first word of an error about a name that a type does not know.
_UNKNOWN = "unknown "
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def declared_options(owner: Callable[..., Any]) -> tuple[Option, ...]:
    """Returns the options of a pass's function (its parameters with defaults) or of a nested option (its fields)."""
    try:
        hints = typing.get_type_hints(owner)
    except NameError as error:
        raise unknown_annotation(owner, error) from None
    if dataclasses.is_dataclass(owner):
        return tuple(Option(field.name, hints[field.name], _default(field)) for field in dataclasses.fields(owner))
    parameters = [each for each in inspect.signature(owner).parameters.values() if each.default is not each.empty]
    return tuple(
        Option(each.name, hints.get(each.name, _type_of_default(each.default)), each.default) for each in parameters
    )


def _type_of_default(default: Any) -> Any:
    """Returns the type of a parameter that has no annotation; None stands for any text."""
    if isinstance(default, Path):
        return Path
    if isinstance(default, tuple):
        return types.GenericAlias(tuple, (_type_of_default(default[0] if default else None), ...))
    return str if default is None else type(default)


def parse_options(options: Sequence[Option], texts: Sequence[OptionText], what: str) -> dict[str, Any]:
    """Returns the values of the written options, by the name in Python.

    `what` names their owner in errors, e.g. `pass expand-tiling`. Raises DiagnosticError at an option
    that does not exist (naming the nearest one), occurs twice, or has a value of another type.
    """
    kinds = {option.name: option.kind for option in options}
    values: dict[str, Any] = {}
    for text in texts:
        name = str(text.name)
        key = name.replace("-", "_")
        if key not in kinds:
            raise text.name.error(*_unknown(name, options, what))
        if key in values:
            raise text.name.error(f"option {name} of {what} is given twice")
        _check_blank(text, kinds)
        values[key] = _parse_option(text, kinds[key])
    return values


def _check_blank(option: OptionText, kinds: Mapping[str, Any]) -> None:
    """Raises DiagnosticError for options that a comma separates: `a=1,b=2`."""
    found = re.search(r",\s*([A-Za-z_][\w-]*)=", str(option.value or ""))
    if option.value is not None and found is not None and found[1].replace("-", "_") in kinds:
        comma = option.value.part(found.start(), found.start() + 1)
        hint = f"{{{option.name}={str(option.value)[: found.start()]} {found[1]}=...}}"
        raise comma.error("a blank, not a comma, is between options", hint)


def option_value(option: Option, value: Any) -> Any:
    """Returns a value given in Python, converted to the option's type.

    Text becomes a Path, a list a tuple, and a target its name, if the option has that type. Raises DiagnosticError
    for text that is not one of the choices, and for a number, text or truth value where the type is another of these.
    """
    kind = without_none(option.kind)
    if _is_open(kind) and value is not None:
        # An object with a name, such as a Target, may stand for its name.
        text = str(value if isinstance(value, str | Path) else getattr(value, "name", value))
        return text if text in _choices(kind) else _read_other(kind, text)
    if typing.get_origin(kind) is typing.Literal:
        return _choice(option, value, kind)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if typing.get_origin(kind) is tuple and isinstance(value, list):
        return tuple(value)
    if kind in _PLAIN and value is not None and type(value) not in _PLAIN[kind]:
        raise DiagnosticError(_wrong_value(repr(value), option.written_name, kind)[0])
    return value


def _choice(option: Option, value: Any, kind: Any) -> Any:
    if value is None or value in typing.get_args(kind):
        return value
    message, hint = _wrong_value(str(value), option.written_name, kind)
    raise DiagnosticError(message, hint=hint)


def format_options(options: Sequence[Option], values: Mapping[str, Any]) -> str:
    """Returns the values that differ from the defaults as text: `a=1 b=2`."""
    changed = [option for option in options if values[option.name] != option.default]
    return " ".join(f"{option.written_name}={_format_value(values[option.name])}" for option in changed)


def describe_options(options: Sequence[Option]) -> list[tuple[str, str, str]]:
    """Returns (name, kind, default) of every option, for lists of passes."""
    described = []
    for option in options:
        written = "" if option.default in (None, dataclasses.MISSING) else _format_value(option.default)
        described.append((option.written_name, _describe_type(option.kind), written))
    return described


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _unknown(name: str, options: Sequence[Option], what: str) -> tuple[str, str | None]:
    known = [option.written_name for option in options]
    otherwise = f"its options are: {', '.join(known)}" if known else "it has no options"
    return f"{what} has no option {name}", meant(name.replace("_", "-"), known, otherwise)


def _parse_option(option: OptionText, kind: Any) -> Any:
    kind = without_none(kind)
    if option.value is not None:
        return _parse_value(option.value, option, kind)
    if kind is bool:
        return True
    raise option.name.error(f"option {option.name} needs a value", f"{option.name}={_describe_type(kind)}")


def _parse_value(piece: Text, option: OptionText, kind: Any) -> Any:
    if typing.get_origin(kind) is tuple:
        inner = without_braces(piece)
        if not str(inner):
            return ()
        element = typing.get_args(kind)[0]
        return tuple(_parse_value(part.stripped(), option, element) for part in split(inner, ","))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        texts = parse_option_texts(without_braces(piece))
        return kind(**parse_options(declared_options(kind), texts, f"option {option.name}"))
    text = unquote(piece)
    if text in _choices(kind):
        return text
    if _is_open(kind):
        return _at(piece, partial(_read_other, kind, text))
    if kind in (str, Path):
        return kind(text)
    if kind is bool and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if kind is int and text.removeprefix("-").isdecimal():
        return int(text)
    if kind is float and _NUMBER.fullmatch(text):
        return float(text)
    raise piece.error(*_wrong_value(text, str(option.name), kind))


def _at(piece: Text, read: Callable[[], T]) -> T:
    """Reads a value; an error without a location is one at the text of the value."""
    try:
        return read()
    except DiagnosticError as error:
        (found,) = error.diagnostics
        raise (error if found.location is not None else piece.error(found.message, found.hint)) from None


def _wrong_value(text: str, name: str, kind: Any) -> tuple[str, str | None]:
    message = f"option {name} is {_describe_type(kind)}, not {text or 'empty'}"
    close = nearest(text.lower(), _choices(kind))
    return message, f"did you mean {close}?" if close else None


def without_none(kind: Any) -> Any:
    """Returns T of `T | None`: no text can write None, which is only a default."""
    if typing.get_origin(kind) not in _UNIONS:
        return kind
    rest = [argument for argument in typing.get_args(kind) if argument is not types.NoneType]
    return rest[0] if len(rest) == 1 else typing.Union[tuple(rest)]  # noqa: UP007 (of a computed list)


def _is_open(kind: Any) -> bool:
    """Is true for `Literal[...] | T`: T reads a text that is none of the names, as `OtherTarget` does."""
    return typing.get_origin(kind) in _UNIONS and bool(_choices(kind))


def _choices(kind: Any) -> tuple[Any, ...]:
    """Returns the names of `Literal[...]` and of `Literal[...] | T`; none for other types."""
    names = kind if typing.get_origin(kind) is typing.Literal else next(iter(typing.get_args(kind)), None)
    return typing.get_args(names) if typing.get_origin(names) is typing.Literal else ()


def _read_other(kind: Any, text: str) -> Any:
    """Returns a value of `Literal[...] | T` that is none of the names; raises the DiagnosticError of T."""
    try:
        return typing.get_args(kind)[1](text)
    except DiagnosticError as error:
        (found,) = error.diagnostics
        close = nearest(text.lower(), _choices(kind)) if found.message.startswith(_UNKNOWN) else None
        raise DiagnosticError(replace(found, hint=f"did you mean {close}?") if close else found) from None


def _describe_type(kind: Any) -> str:
    kind = without_none(kind)
    if _choices(kind) and typing.get_origin(kind) is not tuple:
        return "|".join([*_choices(kind), *(["a file"] if _is_open(kind) else [])])
    if typing.get_origin(kind) is tuple:
        return f"{_describe_type(typing.get_args(kind)[0])},..."
    names = {bool: "true|false", int: "an integer", float: "a number", str: "a text", Path: "a file"}
    return names.get(kind, "{options}")


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(_format_value, value)) if value else "{}"
    if dataclasses.is_dataclass(value):
        options = declared_options(type(value))
        return f"{{{format_options(options, {option.name: getattr(value, option.name) for option in options})}}}"
    return quote(str(value))


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
