"""Inputs by the names of a function's arguments, and whole arrays in place of each device's part.

JAX names the arguments of a program by their paths: `x`, `params['w']`, `args[0]`. A file may write `params/w` or
`params.w`, too. A checkpoint that holds one argument is given as `params=DIRECTORY`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dialect_utils.execution.archives import Path, in_order, numbered, read_archive, written_path
from dialect_utils.execution.arrays import Array, SavedArray, as_array, from_plain
from dialect_utils.hlo import Instruction
from dialect_utils.hlo.text.attributes import op_name_in, unescape
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.ops.sharding import Sharding
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.text.input_file import located

# A name, not a place such as `loc("f.py":3:4)`.
_LOCATION = re.compile(r'loc\("((?:[^"\\]++|\\.)*+)"(?!:)')
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
        name = name_of(parameter)
        for path, shape in parameter.shape.leaves_by_path():
            if isinstance(shape, ArrayShape):
                suffix = "".join(f"[{index}]" for index in path)
                found.append(Argument(name + suffix if name else "", parameter.name + suffix, shape))
    return found


def name_of(parameter: Value) -> str:
    """Returns JAX's name for a parameter, empty where none is written."""
    if isinstance(parameter, Instruction):
        return unescape(op_name_in(parameter.metadata))
    # Imported here: it loads MLIR.
    from dialect_utils.stablehlo.function import StableHloValue

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
                raise DiagnosticError(f"{path}: {name} is also in {given[key].path}")
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
        raise DiagnosticError(f"the inputs hold nothing for {_listed(missing)}", hint=hint)
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
    hint = f"the inputs: {_listed(arguments)}; or in0, in1, ...; {holds}: {_listed([*given.values()]) or 'nothing'}"
    outer = next((found for each in missing if (found := _outer(each, given))), None)
    if outer:
        hint = f"if the file holds {outer}, give {outer}=FILE; {hint}"
    message = f"{', '.join(files)}: holds nothing for {_listed(missing)}"
    return DiagnosticError(message, hint=hint)


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
    arrays: Sequence[Array | SavedArray],
    shapes: Sequence[ArrayShape],
    prefix: str,
    options: Sequence[Sequence[Sharding]],
    computed: Sequence[Array] | None = None,
) -> tuple[list[Array | SavedArray], list[Diagnostic]]:
    """Returns `split_among_devices` of `<prefix>0`, ..., and notes about shardings that are not known.

    Arrays beyond the last shape, an error of the run, stay.
    """
    found: list[Array | SavedArray] = []
    notes = []
    for i, (array, shape, shardings) in enumerate(zip(arrays, shapes, options, strict=False)):
        parts, note = split_among_devices(array, shape, f"{prefix}{i}", shardings, computed[i] if computed else None)
        found.append(parts)
        notes += [note] if note else []
    return [*found, *arrays[len(found) :]], notes


def split_among_devices(
    array: Array | SavedArray,
    shape: ArrayShape,
    name: str,
    shardings: Sequence[Sharding],
    computed: Array | None = None,
) -> tuple[Array | SavedArray, Diagnostic | None]:
    """Returns the parts of a whole array, stacked along the first dimension of `shape`, and a note about the sharding.

    An array that has the dimensions of `shape` is returned unchanged. Of several `shardings` the first is taken, or
    with the parts that a program `computed` the one whose parts are closest. Uneven parts are padded with zeros, or
    with what was computed. Raises DiagnosticError where no sharding is known.
    """
    found, devices, part = np.shape(array), shape.dimensions[0], shape.dimensions[1:]
    if found == shape.dimensions or len(found) != len(part):
        return array, None
    if not shardings:
        whole = replace(shape, dimensions=found)
        message = f"{name} is {whole.without_layout}, and how its parts go to {devices} devices is not known"
        hint = f"give each device's part, in the order of the devices: {shape.without_layout}; or --sharded FILE"
        raise DiagnosticError(message, hint=hint)
    whole_array = from_plain(array, replace(shape, dimensions=found), name)
    padding = np.zeros(shape.dimensions, whole_array.dtype) if computed is None else computed
    best = shardings[0]
    if computed is not None and len(shardings) > 1:
        best = min(shardings, key=lambda each: distance(_parts(whole_array, each, padding), padding))
    parts = _parts(whole_array, best, padding)
    if len(shardings) == 1:
        return parts, None
    message = f"{name} is taken as split by {best}, one of {len(shardings)} shardings that fit"
    return parts, Diagnostic(message, None, "note", "a sharding in the program, or --sharded FILE, says it")


def join_parts(parts: Array, sharding: Sharding) -> Array | None:
    """Returns the whole array of parts that are stacked along the first dimension, in the order of the devices.

    The padding of uneven parts stays. Returns None for another number of devices or dimensions, and where devices that
    hold the same part have different data.
    """
    if (len(parts), parts.ndim - 1) != (len(sharding.parts), len(sharding.tiles)):
        return None
    if any(parts[each].tobytes() != parts[first].tobytes() for each, first in enumerate(sharding.holders)):
        return None
    sizes = [size * count for size, count in zip(parts.shape[1:], sharding.tiles, strict=True)]
    whole = np.empty(sizes, parts.dtype)
    for device, part in enumerate(parts):
        whole[sharding.region(device, sizes)] = part
    return whole


def distance(first: Array, second: Array) -> float:
    """Returns the sum of the absolute differences of two arrays, without NaN."""
    with np.errstate(all="ignore"):
        return float(np.nansum(np.abs(first.astype(np.complex128) - second.astype(np.complex128))))


def _parts(whole: Array, sharding: Sharding, padding: Array) -> Array:
    parts = padding.copy()
    for device in range(len(parts)):
        found = whole[sharding.region(device, whole.shape)]
        # The ellipsis makes a view of one number, too.
        own: Array = parts[device, ...]
        own[tuple(map(slice, found.shape))] = found
    return parts
