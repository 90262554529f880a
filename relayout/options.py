"""Options as data: each is one field of a command or of a group of options, and says its name, its values and its help.

    top: int | None = option("N", "print the N most frequent rows", count)

The command line, the help and the page of commands are made of these fields; `rules` of a command are the options that
have no effect with others, or without others.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any, TypeVar, overload

from dialect_utils.text import Diagnostic, DiagnosticError, nearest
from relayout.console import UsageError

S = TypeVar("S")
T = TypeVar("T")
Name = TypeVar("Name", bound=str)

# The values that every command has.
SHARED = ("files", "color", "json", "traceback")
_MOST_GIGABYTES = 1e6
_SEED_DIGITS = 32
_OPTIONS, _GROUP = "options", "group"


def parsed(parse: Callable[[S], T], value: S) -> T:
    """Returns the result of `parse` for an argument; raises UsageError where `parse` raises DiagnosticError."""
    try:
        return parse(value)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics) from error


def usage_error(message: str, hint: str | None = None) -> UsageError:
    """Returns an error about the command."""
    return UsageError(Diagnostic(message, hint=hint))


@dataclass(frozen=True, slots=True)
class Option:
    """One name of a value on the command line, or a positional argument, which has a `number` of values as in argparse.

    An option without `metavar` is a flag, which sets or adds the `constant`. The values of an option that `is_repeated`
    are a tuple. `names` are empty where the name of the field is the only one: `--dump-dir` of `dump_dir`.
    """

    help: str
    metavar: str = ""
    read: Callable[[str], object] = str
    names: tuple[str, ...] = ()
    constant: object = True
    is_repeated: bool = False
    number: str | int | None = None
    is_positional: bool = False


@overload
def option(metavar: str, text: str, read: Callable[[str], T], *names: str, default: T) -> T: ...


@overload
def option(metavar: str, text: str, read: Callable[[str], T], *names: str) -> T | None: ...


@overload
def option(metavar: str, text: str, *, default: str) -> str: ...


@overload
def option(metavar: str, text: str) -> str | None: ...


def option(metavar: str, text: str, read: Callable[[str], Any] = str, *names: str, default: Any = None) -> Any:
    """Returns a field of an option with a value, which `read` makes of its text; `text` is its help."""
    return _field(default, Option(text, metavar, read, names))


def flag(text: str, *names: str) -> bool:
    """Returns a field of an option without a value, which is True where the option is given."""
    return _field(False, Option(text, names=names))


def switch(on: str, off: str, name: str) -> bool:
    """Returns a field that is True unless `--no-NAME` is given; `--NAME` says the default."""
    return _field(True, Option(on, names=(f"--{name}",)), Option(off, names=(f"--no-{name}",), constant=False))


def repeated(
    metavar: str, text: str, *names: str, read: Callable[[str], Any] = str, more: Sequence[Option] = ()
) -> tuple[Any, ...]:
    """Returns a field of an option that may be given several times; flags in `more` add their constants."""
    return _field((), Option(text, metavar, read, names, is_repeated=True), *more)


def argument(metavar: str, text: str, number: str | int | None = None) -> Any:
    """Returns a field of a positional argument: one text, one or none (`?`), or a tuple of texts (`*`, `+`, 1)."""
    default = {"*": (), "?": None}.get(str(number), MISSING)
    return _field(default, Option(text, metavar, number=number, is_positional=True))


def group(kind: type[T], **texts: str) -> T:
    """Returns a field of a group of options, some of which have another help here."""
    return field(default=kind(), metadata={_GROUP: kind, "texts": texts})


def _field(default: T, *options: Option) -> T:
    return field(default=default, metadata={_OPTIONS: options})


def declared(kind: type[Any]) -> Iterator[tuple[Field[Any], tuple[Option, ...]]]:
    """Yields each field of a command or a group that options set, with these options; those of groups in it, too."""
    for each in fields(kind):
        texts = each.metadata.get("texts", {})
        for inner, options in declared(each.metadata[_GROUP]) if _GROUP in each.metadata else ():
            text = texts.get(inner.name)
            yield inner, options if text is None else (replace(options[0], help=text), *options[1:])
        if _OPTIONS in each.metadata:
            yield each, each.metadata[_OPTIONS]


def made(kind: type[T], values: Mapping[str, Any]) -> T:
    """Returns a command or a group with the values that argparse found, by the names of the fields."""
    found: dict[str, Any] = {}
    for each in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if _GROUP in each.metadata:
            found[each.name] = made(each.metadata[_GROUP], values)
        elif _OPTIONS in each.metadata:
            value = values[each.name]
            found[each.name] = tuple(value) if isinstance(value, list) else value
    return kind(**found)


def values_of(options: object) -> dict[str, Any]:
    """Returns the values of all options of a command or a group, by the names of the fields."""
    found: dict[str, Any] = {}
    for each in fields(options):  # type: ignore[arg-type]  # a dataclass
        value = getattr(options, each.name)
        if _GROUP in each.metadata:
            found |= values_of(value)
        elif _OPTIONS in each.metadata:
            found[each.name] = value
    return found


def given(command: object) -> dict[str, str]:
    """Returns the names on the command line of options with another value than the default, by the names of fields."""
    values, found = values_of(command), {}
    for each, options in declared(type(command)):
        value = values[each.name]
        if value != each.default:
            # Of several flags for one value, the one that sets it.
            named = (one for one in options if one.metavar or one.constant in (value if one.is_repeated else [value]))
            *_, last = named
            found[each.name] = last.metavar if last.is_positional else names_of(each, last)[0]
    return found


def names_of(declared_by: Field[Any], one: Option) -> tuple[str, ...]:
    """Returns the names of an option on the command line, none for a positional argument."""
    return () if one.is_positional else one.names or (f"--{declared_by.name.replace('_', '-')}",)


@dataclass(frozen=True, slots=True)
class Rule:
    """Options that have no effect for a `reason`, such as `without --target`: it is wrong to give one of them.

    They have no effect with one of `others`, or only with it if they `need` it. `value`: only this value of the option
    counts. With `names` of None all options but the `kept` ones, and those of every command, have no effect.
    """

    names: tuple[str, ...] | None
    others: tuple[str, ...]
    reason: str
    hint: str | None = None
    needs: bool = False
    value: object = None
    kept: tuple[str, ...] = ()

    def check(self, values: Mapping[str, Any], found: Mapping[str, str]) -> None:
        """Raises UsageError for an option without effect; `found` are the names of those that are given."""
        is_set = any(name in found and self.value in (None, values[name]) for name in self.others)
        if is_set == self.needs:
            return
        names = self.names
        if names is None:
            names = tuple(name for name in found if name not in (*self.kept, *self.others, *SHARED))
        reject(found, names, self.reason.format(**values), self.hint)


def needs(names: Sequence[str], *others: str, reason: str, hint: str | None = None) -> Rule:
    """Returns the rule for options that have an effect only with one of `others`."""
    return Rule(tuple(names), others, reason, hint, needs=True)


def excludes(other: str, names: Sequence[str], reason: str, value: object = None) -> Rule:
    """Returns the rule for options that have no effect with another option, or with this value of it."""
    return Rule(tuple(names), (other,), reason, value=value)


def reject(found: Mapping[str, str], names: Iterable[str], reason: str, hint: str | None = None) -> None:
    """Raises UsageError if one of the options is among those given, as it has no effect for a reason."""
    for name in names:
        if name in found:
            raise usage_error(f"{found[name]} has no effect {reason}", hint)


def choice(*known: Name) -> Callable[[str], Name]:
    """Returns a reader that accepts one of the names; an error names the nearest."""

    def parse(text: str) -> Name:
        if text in known:
            return known[known.index(text)]
        close = nearest(text, known)
        suggestion = f"; did you mean {close}?" if close else ""
        raise ArgumentTypeError(f"{text} is not one of {', '.join(known)}{suggestion}")

    return parse


def choices(*known: Name) -> Callable[[str], tuple[Name, ...]]:
    """Returns a reader that accepts a comma-separated list of the names."""
    one = choice(*known)
    return lambda text: tuple(one(part.strip()) for part in text.split(","))


def count(text: str) -> int:
    """Reads a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


def natural(text: str) -> int:
    """Reads an integer of 0 or more."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text} is not an integer of 0 or more")
    return int(text)


def hexadecimal(text: str) -> int:
    """Reads a seed: a hexadecimal number of up to 32 digits."""
    digits = text.lower().removeprefix("0x")
    if not digits or len(digits) > _SEED_DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise ArgumentTypeError(f"{text} is not a hexadecimal number of up to {_SEED_DIGITS} digits")
    return int(digits, 16)


def gigabytes(text: str) -> int:
    """Reads a size in gigabytes and returns bytes."""
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < _MOST_GIGABYTES:
        raise ArgumentTypeError(f"{text} is not a number of gigabytes")
    return int(size * 1e9)
