"""The options of a pass: typed dataclass fields, read from and written to a pipeline's text.

A field is `bool`, `int`, `str`, `Path`, `Literal[...]`, one of these `| None`, a tuple of one of
them (`tuple[int, ...]`), or a frozen dataclass of such fields (a nested option). In the text a
field `memory_space` is the option `memory-space`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialect_utils.text import nearest
from passes.spec import OptionText, Text, parse_option_texts, quote, split, unquote, without_braces

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def parse_options(cls: type[Any], options: Sequence[OptionText], what: str) -> Any:
    """Builds a dataclass from options as written.

    `what` names it in errors, e.g. `pass expand-tiling`. Raises DiagnosticError at an option
    that does not exist (naming the nearest), stands twice, or has a value of another type.
    """
    hints = option_types(cls)
    values: dict[str, Any] = {}
    for option in options:
        name = str(option.name)
        field = name.replace("-", "_")
        if field not in hints:
            raise option.name.error(*_unknown(name, hints, what))
        if field in values:
            raise option.name.error(f"option {name} of {what} is given twice")
        values[field] = _parse_option(option, hints[field])
    return cls(**values)


def format_options(value: Any) -> str:
    """Writes the fields that differ from their defaults as `a=1 b=2`."""
    written = []
    for field in dataclasses.fields(value):
        current = getattr(value, field.name)
        if current != _default(field):
            written.append(f"{_option_name(field.name)}={_format_value(current)}")
    return " ".join(written)


def option_types(cls: type[Any]) -> dict[str, Any]:
    """Returns the type of every option, by field name."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def describe_options(cls: type[Any]) -> list[tuple[str, str, str]]:
    """Returns (name, kind, default) of every option, for lists of passes."""
    described = []
    for field in dataclasses.fields(cls):
        kind = _describe_type(option_types(cls)[field.name])
        default = _default(field)
        written = "" if default in (None, dataclasses.MISSING) else _format_value(default)
        described.append((_option_name(field.name), kind, written))
    return described


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _option_name(field: str) -> str:
    return field.replace("_", "-")


def _unknown(name: str, hints: dict[str, Any], what: str) -> tuple[str, str]:
    known = [_option_name(field) for field in hints]
    close = nearest(name.replace("_", "-"), known)
    if close is not None:
        return f"{what} has no option {name}", f"did you mean {close}?"
    return f"{what} has no option {name}", f"it has {', '.join(known)}" if known else "it has no options"


def _parse_option(option: OptionText, kind: Any) -> Any:
    kind = without_none(kind)
    if option.value is not None:
        return _parse_value(option.value, option, kind)
    if kind is bool:
        return True
    raise option.name.error(f"option {option.name} needs a value", f"{option.name}={_describe_type(kind)}")


def _parse_value(piece: Text, option: OptionText, kind: Any) -> Any:
    if typing.get_origin(kind) is tuple:
        return _parse_tuple(piece, option, kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return parse_options(kind, parse_option_texts(without_braces(piece)), f"option {option.name}")
    return _parse_scalar(piece, option, kind)


def _parse_tuple(piece: Text, option: OptionText, kind: Any) -> tuple[Any, ...]:
    inner = without_braces(piece)
    if not str(inner):
        return ()
    element = typing.get_args(kind)[0]
    return tuple(_parse_value(part.stripped(), option, element) for part in split(inner, ","))


def _parse_scalar(piece: Text, option: OptionText, kind: Any) -> Any:
    text = unquote(piece)
    if kind is str:
        return text
    if kind is Path:
        return Path(text)
    if kind is bool and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if kind is int and text.removeprefix("-").isdecimal():
        return int(text)
    if typing.get_origin(kind) is typing.Literal and text in typing.get_args(kind):
        return text
    raise piece.error(*_wrong_value(text, option, kind))


def _wrong_value(text: str, option: OptionText, kind: Any) -> tuple[str, str | None]:
    message = f"option {option.name} is {_describe_type(kind)}, not {text or 'empty'}"
    if typing.get_origin(kind) is not typing.Literal:
        return message, None
    close = nearest(text, typing.get_args(kind))
    return message, f"did you mean {close}?" if close else None


def without_none(kind: Any) -> Any:
    """Returns T of `T | None`: None is a default that no text writes."""
    if typing.get_origin(kind) not in (types.UnionType, typing.Union):
        return kind
    return next(argument for argument in typing.get_args(kind) if argument is not types.NoneType)


def _describe_type(kind: Any) -> str:
    kind = without_none(kind)
    if typing.get_origin(kind) is typing.Literal:
        return "|".join(typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        return f"{_describe_type(typing.get_args(kind)[0])},..."
    names = {bool: "true|false", int: "an integer", str: "a text", Path: "a file"}
    return names.get(kind, "{options}")


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return _format_tuple(value)
    if dataclasses.is_dataclass(value):
        return f"{{{format_options(value)}}}"
    return quote(str(value))


def _format_tuple(value: tuple[Any, ...]) -> str:
    return ",".join(map(_format_value, value)) if value else "{}"
