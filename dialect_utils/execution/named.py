"""Inputs by the names of a function's arguments, and whole arrays in place of each device's part.

JAX names the arguments of a program by their paths: `x`, `params['w']`, `args[0]`. A file may write `params/w` or
`params.w`, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dialect_utils.execution.arrays import Array, SavedArray, in_order, numbered, read_archive
from dialect_utils.hlo import Instruction
from dialect_utils.hlo.text.attributes import op_name_in, unescape
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError

_LOCATION = re.compile(r'loc\("((?:[^"\\]++|\\.)*+)"')
_KEY = re.compile(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[([^\]'\"]*)\]|([^\[\]./]+)")
_PREFIXES, _ANY = ("in", "arr_"), ""
# The most names that a message lists.
_SHOWN = 12

Path = tuple[str, ...]


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
        found += [
            Argument(name + suffix if name else "", parameter.name + suffix, shape)
            for suffix, shape in _leaves(parameter.shape)
        ]
    return found


def _name_of(parameter: Value) -> str:
    if isinstance(parameter, Instruction):
        return unescape(op_name_in(parameter.metadata))
    # Imported here: it loads MLIR.
    from dialect_utils.stablehlo.value import StableHloValue

    match = _LOCATION.match(str(parameter.mlir.location)) if isinstance(parameter, StableHloValue) else None
    return match[1] if match else ""


def _leaves(shape: Shape, suffix: str = "") -> list[tuple[str, ArrayShape]]:
    if isinstance(shape, TupleShape):
        return [leaf for i, each in enumerate(shape.elements) for leaf in _leaves(each, f"{suffix}[{i}]")]
    return [(suffix, shape)] if isinstance(shape, ArrayShape) else []


def path_of(name: str) -> Path:
    """Returns the keys of a name: `params['w'][0]`, `params/w/0` and `params.w.0` give (`params`, `w`, `0`)."""
    return tuple(next(key for key in found if key) for found in _KEY.findall(name) if any(found))


def read_inputs(path: str, arguments: Sequence[Argument]) -> tuple[list[SavedArray], list[Diagnostic]]:
    """Returns the arrays of an NPZ file in the order of the arguments, and notes about arrays that none needs.

    The file names them in0, in1, ..., arr_0, arr_1, ... (as numpy does by itself) or by the arguments' names. Raises
    DiagnosticError for arguments without an array.
    """
    names, archive = read_archive(path, [*_PREFIXES, _ANY])
    for prefix in _PREFIXES:
        if any(numbered(prefix).fullmatch(name) for name in archive):
            return in_order(path, prefix, names, archive), []
    given = {path_of(name): name for name in archive}
    chosen = [next((given[key] for key in _keys(each) if key in given), None) for each in arguments]
    missing = [each for each, name in zip(arguments, chosen, strict=True) if name is None]
    if missing:
        raise _missing(path, missing, arguments, archive)
    notes = [
        Diagnostic(f"{path}: {name} is no input of the program (jit drops arguments that nothing uses)", None, "note")
        for name in archive
        if name not in chosen and not numbered("out").fullmatch(name)
    ]
    return [archive[name] for name in chosen if name is not None], notes


def _keys(argument: Argument) -> tuple[Path, Path]:
    return path_of(argument.name), path_of(argument.value)


def _missing(
    path: str, missing: Sequence[Argument], arguments: Sequence[Argument], archive: Mapping[str, SavedArray]
) -> DiagnosticError:
    needed = _listed(arguments)
    held = _listed([f"{name} {array.dtype.name}[{','.join(map(str, array.shape))}]" for name, array in archive.items()])
    message = f"{path}: holds nothing for {_listed(missing)}"
    return DiagnosticError(Diagnostic(message, hint=f"the inputs: {needed}; or in0, in1, ...; the file holds: {held}"))


def _listed(values: Sequence[object]) -> str:
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def split_among_devices(array: Array | SavedArray, shape: ArrayShape, name: str) -> Array | SavedArray:
    """Returns the parts of a whole array, stacked; the first dimension of `shape` counts the devices.

    An array that has the dimensions of `shape` is returned as it is. A whole array of one part's dimensions is the same
    on every device; one that is split along one dimension into as many parts as devices goes to these in their order.
    Raises DiagnosticError for any other split, whose order the program does not say.
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
