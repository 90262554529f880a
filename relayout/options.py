"""Options as data: each is one field of a command or of a group of options, and says its name, its values and its help.

    top: int | None = option("N", "print the N most frequent rows", count)

The command line, the help and the page of commands are made of these fields; `rules` of a command are the options that
have no effect with others, or without others.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, overload

from dialect_utils.text import DiagnosticError, nearest
from relayout.console import UsageError

S = TypeVar("S")
T = TypeVar("T")
Name = TypeVar("Name", bound=str)

# The values that every command has.
SHARED = ("files", "color", "json", "traceback", "force")
# The options that name files to write, and directories.
FOLDERS = ("dump", "dump_dir", "reduced_dir")
WRITTEN = ("output", "outputs", "certificate", "trials", "results", "junit", "sarif", *FOLDERS)
_MOST_GIGABYTES = 1e6
_SEED_DIGITS = 32
_OPTIONS, _GROUP = "options", "group"
_KNOWN: dict[type[Any], list[Declared]] = {}


def parsed(parse: Callable[[S], T], value: S) -> T:
    """Returns the result of `parse` for an argument; raises UsageError where `parse` raises DiagnosticError."""
    try:
        return parse(value)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics) from error


def usage_error(message: str, hint: str | None = None) -> UsageError:
    """Returns an error about the command."""
    return UsageError(message, hint=hint)


def no_pair(files: str, others: str, paths: Sequence[str]) -> UsageError:
    """Returns the error that none of some modules belongs to any of the others, with the paths of the first."""
    hint = (
        f"FILEs are compared whatever they are called: name one of {', '.join(paths[:2])}{', ...' * (len(paths) > 2)}"
    )
    return usage_error(f"no module of {files} has the name and the stage of one of {others}", hint)


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
    """Returns a field that holds a group of options; `texts` replace the help of some of them."""
    return field(default=kind(), metadata={_GROUP: kind, "texts": texts})


def _field(default: T, *options: Option) -> T:
    return field(default=default, metadata={_OPTIONS: options})


@dataclass(frozen=True, slots=True)
class Declared:
    """One value that the command line sets: the name of its field, the group that has it, its default, its options."""

    name: str
    group: str | None
    default: object
    options: tuple[Option, ...]

    def name_for(self, value: Any) -> str:
        """Returns the name on the command line that sets a value: of several flags the one with this constant."""
        first, *flags = self.options
        if first.is_positional:
            return first.metavar
        values = value if first.is_repeated else [value]
        return next((each for each in flags if each.constant in values), first).names[0]


def declared(kind: type[Any]) -> list[Declared]:
    """Returns all values of a command that the command line sets, those of its groups, too."""
    if kind in _KNOWN:
        return _KNOWN[kind]
    found = _KNOWN[kind] = []
    for each in fields(kind):
        if _OPTIONS in each.metadata:
            found.append(_declared(each, None, None))
        elif _GROUP in each.metadata:
            texts = each.metadata["texts"]
            found += [_declared(inner, each.name, texts.get(inner.name)) for inner in fields(each.metadata[_GROUP])]
    if not any(each.name in WRITTEN and not each.options[0].is_positional for each in found):
        found[:] = [each for each in found if each.name != "force"]
    return found


def _declared(each: Field[Any], group: str | None, text: str | None) -> Declared:
    first, *others = each.metadata[_OPTIONS]
    names = () if first.is_positional else first.names or (f"--{each.name.replace('_', '-')}",)
    return Declared(each.name, group, each.default, (replace(first, help=text or first.help, names=names), *others))


def made(kind: type[T], values: Mapping[str, Any]) -> T:
    """Returns a command with the values that argparse found, by the names of the fields."""
    groups = {each.name: each.metadata[_GROUP] for each in fields(kind) if _GROUP in each.metadata}  # type: ignore[arg-type]
    found: dict[str | None, dict[str, Any]] = {name: {} for name in (None, *groups)}
    for each in declared(kind):
        is_tuple = each.options[0].is_repeated or each.options[0].number in ("*", "+", 1)
        found[each.group][each.name] = tuple(values[each.name]) if is_tuple else values[each.name]
    return kind(**found[None], **{name: group_kind(**found[name]) for name, group_kind in groups.items()})


def values_of(command: object) -> dict[str, Any]:
    """Returns all values of a command that the command line sets, by the names of the fields."""
    own = command.__dict__
    return {
        each.name: (own if each.group is None else own[each.group].__dict__)[each.name]
        for each in declared(type(command))
    }


def written(command: object) -> dict[str, Any]:
    """Returns the values of options that name files to write, and directories, by the names of the fields."""
    values = values_of(command)
    options = [each for each in declared(type(command)) if each.name in WRITTEN and not each.options[0].is_positional]
    # `--trials` of some commands is a number.
    return {each.name: values[each.name] for each in options if isinstance(values[each.name] or None, str | Path)}


def texts_in(values: Iterable[object]) -> Iterator[str]:
    """Yields the texts and paths among the values of options, and those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from texts_in(value)
        elif isinstance(value, str | Path):
            yield str(value)


def given(command: object) -> dict[str, str]:
    """Returns the names on the command line of options with another value than the default, by the names of fields."""
    values = values_of(command)
    return {
        each.name: each.name_for(values[each.name])
        for each in declared(type(command))
        if values[each.name] != each.default
    }


@dataclass(frozen=True, slots=True)
class Rule:
    """Options that have no effect for a `reason`, such as `without --target`: giving one of them is an error.

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
