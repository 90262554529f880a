"""Inputs by the names of a function's arguments, and whole arrays in place of each device's part.

JAX names the arguments of a program by their paths: `x`, `params['w']`, `args[0]`. A file may write `params/w` or
`params.w`, too. A checkpoint that holds one argument is given as `params=DIRECTORY`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from dialect_utils.execution.archives import Path, in_order, numbered, read_archive, written_path
from dialect_utils.execution.arrays import Array, SavedArray, as_array
from dialect_utils.hlo import Instruction
from dialect_utils.hlo.text.attributes import op_name_in, unescape
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.text.input_file import located

_LOCATION = re.compile(r'loc\("((?:[^"\\]++|\\.)*+)"')
_KEY = re.compile(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[([^\]'\"]*)\]|([^\[\]./]+)")
# A whole name: keys in brackets, or after a dot, a slash or another key.
_KEYS = re.compile(r"(?:\['[^']*+'\]|\[\"[^\"]*+\"\]|\[[^\]'\"]*+\]|[./]?+[^\[\]./]++)++")
_PREFIXES, _ANY = ("in", "arr_"), ""
# The most names that a message lists.
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Argument:
    """One array among the inputs of a program: JAX's name for it, empty where none is written, and its shape."""

    name: str
    value: str
    shape: ArrayShape

    def __str__(self) -> str:
        return f"{self.name or self.value} {self.shape.without_layout}"


def arguments_of(module: Module) -> list[Argument]:
    """Returns the arrays among the parameters of the entry, tuples flattened."""
    found = []
    for parameter in module.entry.parameters:
        name = _name_of(parameter)
        for path, shape in parameter.shape.leaves_by_path():
            if isinstance(shape, ArrayShape):
                suffix = "".join(f"[{index}]" for index in path)
                found.append(Argument(name + suffix if name else "", parameter.name + suffix, shape))
    return found


def _name_of(parameter: Value) -> str:
    if isinstance(parameter, Instruction):
        return unescape(op_name_in(parameter.metadata))
    # Imported here: it loads MLIR.
    from dialect_utils.stablehlo.value import StableHloValue

    match = _LOCATION.match(str(parameter.mlir.location)) if isinstance(parameter, StableHloValue) else None
    return match[1] if match else ""


def path_of(name: str) -> Path:
    """Returns the keys of a name: `params['w'][0]`, `params/w/0` and `params.w.0` give (`params`, `w`, `0`).

    Any other text, such as `../w`, is one key.
    """
    if not _KEYS.fullmatch(name):
        return (name,) if name else ()
    return tuple(next(key for key in found if key) for found in _KEY.findall(name) if any(found))


def argument_and_file(text: str) -> tuple[str, str]:
    """Splits `NAME=FILE` into the name of an argument, empty without one, and the file."""
    name, separator, file = text.partition("=")
    return (name, file) if separator and not os.path.exists(located(text)) else ("", text)


def read_inputs(files: Sequence[str], arguments: Sequence[Argument]) -> tuple[list[SavedArray], list[Diagnostic]]:
    """Returns the arrays of files in the order of the arguments, and notes about arrays that none needs.

    A file is NPZ, msgpack or a checkpoint. `NAME=FILE` gives one argument, for which the file holds a tree. A single
    file may name its arrays in0, in1, ... or arr_0, arr_1, ... (as numpy does by itself); else they have the names of
    arguments.
    Raises DiagnosticError for arguments without an array, and for arrays that two files give.
    """
    given: dict[Path, _Given] = {}
    for text in files:
        argument, path = argument_and_file(text)
        names, archive = read_archive(path, [_ANY] if argument else [*_PREFIXES, _ANY])
        prefix = next((each for each in _PREFIXES if any(map(numbered(each).fullmatch, archive))), None)
        if prefix and len(files) == 1 and not argument:
            return in_order(path, prefix, names, archive), []
        for name, array in archive.items():
            key = path_of(argument) + path_of(name)
            if key in given and given[key].path != path:
                raise DiagnosticError(Diagnostic(f"{path}: {name} is also in {given[key].path}"))
            given[key] = _Given(path, name, array)
    chosen = [
        next((key for key in keys if key in given), None) for keys in map(_keys, arguments, range(len(arguments)))
    ]
    missing = [each for each, key in zip(arguments, chosen, strict=True) if key is None]
    if missing:
        raise _missing(files, missing, arguments, given)
    return [given[key].array for key in chosen if key is not None], _unused(given, {*chosen})


def inputs_of_tree(tree: Mapping[str, object], arguments: Sequence[Argument]) -> list[Array]:
    """Returns the arrays of a tree of dicts, lists and tuples in the order of the arguments.

    A key is the name of an argument, a part of its path, or several parts: `params`, `w`, `params/w`. A named tuple has
    its fields as keys. Raises DiagnosticError for arguments without a value, and for values that are not arrays.
    """
    found = [next(filter(_is_value, (_value_at(tree, path) for path in _names(each))), None) for each in arguments]
    missing = [each for each, value in zip(arguments, found, strict=True) if value is None]
    if missing:
        hint = f"the inputs: {_listed(arguments)}"
        raise DiagnosticError(Diagnostic(f"the inputs hold nothing for {_listed(missing)}", hint=hint))
    return [as_array(value, each.shape) for each, value in zip(arguments, found, strict=True)]


def _is_value(value: object) -> bool:
    return value is not None


def _names(argument: Argument) -> list[Path]:
    return [path for path in (path_of(argument.name), path_of(argument.value)) if path]


def _value_at(tree: Any, path: Path) -> Any:
    """Returns the value at a path of a tree, or None."""
    if not path:
        return tree
    first, *others = path
    if isinstance(tree, Mapping):
        if first in tree:
            return _value_at(tree[first], tuple(others))
        joined = ((path_of(str(key)), each) for key, each in tree.items())
        fitting = ((key, each) for key, each in joined if key and path[: len(key)] == key)
        return next((_value_at(each, path[len(key) :]) for key, each in fitting), None)
    fields = getattr(tree, "_fields", ())
    if first in fields:
        return _value_at(getattr(tree, first), tuple(others))
    if isinstance(tree, list | tuple) and first.isdecimal() and int(first) < len(tree):
        return _value_at(tree[int(first)], tuple(others))
    return None


@dataclass(frozen=True, slots=True)
class _Given:
    """An array of a file, and its name there."""

    path: str
    name: str
    array: SavedArray

    def __str__(self) -> str:
        return f"{self.name} {self.array.dtype.name}[{','.join(map(str, self.array.shape))}]"


def _unused(given: Mapping[Path, _Given], chosen: Set[Path | None]) -> list[Diagnostic]:
    """Returns a note for each file with arrays that no argument needs."""
    names: dict[str, list[str]] = {}
    for key, each in given.items():
        if key not in chosen and not numbered("out").fullmatch(each.name):
            names.setdefault(each.path, []).append(each.name)
    reason = "of the program (jit drops arguments that nothing uses)"
    return [
        Diagnostic(
            f"{path}: {_listed(held)} {'are no inputs' if len(held) > 1 else 'is no input'} {reason}", None, "note"
        )
        for path, held in names.items()
    ]


def _keys(argument: Argument, number: int) -> tuple[Path, Path, Path]:
    return path_of(argument.name), path_of(argument.value), (f"in{number}",)


def _missing(
    files: Sequence[str], missing: Sequence[Argument], arguments: Sequence[Argument], given: Mapping[Path, _Given]
) -> DiagnosticError:
    holds = "the file holds" if len(files) == 1 else "the files hold"
    hint = f"the inputs: {_listed(arguments)}; or in0, in1, ...; {holds}: {_listed([*given.values()])}"
    outer = next((found for each in missing if (found := _outer(each, given))), None)
    if outer:
        hint = f"if the file holds {outer}, give {outer}=FILE; {hint}"
    message = f"{', '.join(files)}: holds nothing for {_listed(missing)}"
    return DiagnosticError(Diagnostic(message, hint=hint))


def _outer(argument: Argument, given: Mapping[Path, _Given]) -> str | None:
    """Returns the part of an argument's path before a key of the file: `params` of `params['w']` for `w`."""
    path = path_of(argument.name)
    found = next((i for i in range(1, len(path)) if path[i:] in given), None)
    return None if found is None else written_path(path[:found])


def _listed(values: Sequence[object]) -> str:
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def have_shapes(arrays: Sequence[SavedArray], shapes: Sequence[ArrayShape]) -> bool:
    """Is true if each array has the dimensions of its shape."""
    return [array.shape for array in arrays] == [shape.dimensions for shape in shapes]


def split_all_among_devices(
    arrays: Sequence[Array | SavedArray], shapes: Sequence[ArrayShape], prefix: str
) -> list[Array | SavedArray]:
    """Returns `split_among_devices` of `<prefix>0`, ...; arrays beyond the last shape, an error of the run, stay."""
    pairs = enumerate(zip_longest(arrays, shapes[: len(arrays)]))
    return [split_among_devices(each, shape, f"{prefix}{i}") if shape else each for i, (each, shape) in pairs]


def split_among_devices(array: Array | SavedArray, shape: ArrayShape, name: str) -> Array | SavedArray:
    """Returns the parts of a whole array, stacked; the first dimension of `shape` counts the devices.

    An array that has the dimensions of `shape` is returned unchanged. A whole array of one part's dimensions is the
    same on every device; one that is split along one dimension into as many parts as devices goes to these in their
    order. Raises DiagnosticError for any other split, whose order the program does not say.
    """
    found, devices, part = np.shape(array), shape.dimensions[0], shape.dimensions[1:]
    if found == shape.dimensions or len(found) != len(part):
        return array
    if found == part:
        return np.broadcast_to(np.asarray(array), shape.dimensions)
    along = [i for i, (whole, own) in enumerate(zip(found, part, strict=True)) if whole != own]
    if len(along) == 1 and found[along[0]] == devices * part[along[0]]:
        return np.stack(np.split(np.asarray(array), devices, along[0]))
    whole = replace(shape, dimensions=found)
    message = f"{name} is {whole.without_layout}, and how its parts go to {devices} devices is not known"
    hint = f"give each device's part, in the order of the devices: {shape.without_layout}"
    raise DiagnosticError(Diagnostic(message, hint=hint))
