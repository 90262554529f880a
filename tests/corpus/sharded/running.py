"""Placements of arrays on a mesh, and runs of programs for several devices on as many host devices."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import entry_arrays, from_plain, prepare
from dialect_utils.execution.compiling import compile_module
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from passes.dumps.executable import executable_form
from tests.conftest import Workers
from tests.passes.dump_files import UNOPTIMIZED, difference

Array = NDArray[Any]
# For each dimension the mesh axes that split it, the most major one first.
Spec = tuple[tuple[str, ...], ...]
_SECONDS = 60
# A program of whole arrays has one of these.
_WHOLE = ("sdy.manual_computation", "SPMDFullToShardShape")
# The padding of uneven parts may be anything.
_FILLS = (0, 77)


@dataclass(frozen=True, slots=True)
class Placements:
    """A mesh, and for each parameter and result the axes that split its dimensions."""

    mesh: tuple[tuple[str, int], ...]
    parameters: tuple[Spec, ...]
    results: tuple[Spec, ...]

    @classmethod
    def of(cls, mesh: Any, parameters: Iterable[tuple[Any, Any]], results: Iterable[tuple[Any, Any]]) -> Placements:
        """Returns the placements of JAX's specs, each with its array."""
        return cls(
            tuple(mesh),
            tuple(_spec(each, array.ndim) for each, array in parameters),
            tuple(_spec(each, array.ndim) for each, array in results),
        )

    @classmethod
    def read(cls, path: Path) -> Placements:
        """Reads a file of placements."""
        read = json.loads(path.read_text("utf-8"))
        specs = (tuple(_spec(each, len(each)) for each in read[kind]) for kind in ("parameters", "results"))
        return cls(tuple(read["mesh"].items()), *specs)

    def as_json(self) -> dict[str, Any]:
        """Returns the contents of a file of placements: for each dimension null, an axis, or a list of axes."""

        def written(specs: tuple[Spec, ...]) -> list[Any]:
            return [
                [None if not axes else axes[0] if len(axes) == 1 else list(axes) for axes in spec] for spec in specs
            ]

        return {
            "mesh": dict(self.mesh), "parameters": written(self.parameters), "results": written(self.results)
        }  # fmt: skip

    @property
    def devices(self) -> int:
        """Returns the number of devices."""
        return prod(size for _, size in self.mesh)

    def annotate(self, text: str) -> str:
        """Returns the text of a program for one device with the placements as attributes of @main."""
        found = re.search(r"func\.func public @main\(.*?\{\n", text)
        if found is None:
            raise ValueError("the text has no @main")
        parameters, results = found[0].split("->")
        parameters = re.sub(
            r"(%arg(\d+): tensor<[^>]*>)",
            lambda each: f'{each[1]} {{mhlo.sharding = "{self.notation(self.parameters[int(each[2])])}"}}',
            parameters,
        )
        specs = iter(self.results)
        results = re.sub(
            r"(tensor<[^>]*> \{)", lambda each: f'{each[1]}mhlo.sharding = "{self.notation(next(specs))}", ', results
        )
        text = text.replace(found[0], f"{parameters}->{results}")
        return text.replace("mhlo.num_partitions = 1 ", f"mhlo.num_partitions = {self.devices} ")

    def notation(self, spec: Spec) -> str:
        """Returns a placement as HLO writes a sharding with a list of devices."""
        sizes, names = dict(self.mesh), [name for name, _ in self.mesh]
        used = [axis for axes in spec for axis in axes]
        rest = [name for name in names if name not in used]
        devices = np.arange(self.devices).reshape([size for _, size in self.mesh])
        order = devices.transpose([names.index(name) for name in (*used, *rest)]).ravel()
        tiles, copies = [prod(sizes[axis] for axis in axes) for axes in spec], prod(sizes[axis] for axis in rest)
        if not used:
            return "{replicated}"
        tail = " last_tile_dim_replicate" if copies > 1 else ""
        written = ",".join(map(str, [*tiles, copies] if copies > 1 else tiles))
        return f"{{devices=[{written}]{','.join(map(str, order))}{tail}}}"

    def coordinates(self) -> list[dict[str, int]]:
        """Returns the position of each device on the mesh; the last axis changes fastest."""
        names, sizes = zip(*self.mesh, strict=True)
        return [dict(zip(names, at, strict=True)) for at in product(*map(range, sizes))]

    def parts(self, spec: Spec, shape: Sequence[int]) -> list[tuple[slice, ...]]:
        """Returns each device's part of an array; of an uneven dimension the last parts are shorter, or empty."""
        sizes = dict(self.mesh)

        def part(at: dict[str, int], axes: tuple[str, ...], extent: int) -> slice:
            index = 0
            for axis in axes:
                index = index * sizes[axis] + at[axis]
            size = -(-extent // prod(sizes[axis] for axis in axes))
            return slice(min(index * size, extent), min((index + 1) * size, extent))

        return [tuple(part(at, *pair) for pair in zip(spec, shape, strict=True)) for at in self.coordinates()]

    def split(self, spec: Spec, array: Array, local: Sequence[int], fill: int) -> Array:
        """Returns each device's part, one after another; the elements that an uneven part lacks are `fill`."""
        out = np.full((self.devices, *local), fill).astype(array.dtype)
        for device, part in enumerate(self.parts(spec, array.shape)):
            piece = array[part]
            out[device, ...][tuple(map(slice, piece.shape))] = piece
        return out

    def mismatches(self, spec: Spec, whole: Array, parts: Array, shape: ArrayShape) -> list[str]:
        """Returns what differs between the devices' parts and a whole array."""
        found = []
        for device, part in enumerate(self.parts(spec, whole.shape)):
            piece = whole[part]
            said = difference(parts[device, ...][tuple(map(slice, piece.shape))], piece, shape) if piece.size else None
            if said is not None:
                found.append(f"device {device}: {said}")
        return found


def _spec(spec: Any, rank: int) -> Spec:
    axes = [() if each is None else (each,) if isinstance(each, str) else tuple(each) for each in spec]
    return (*axes, *((),) * (rank - len(axes)))


def program_file(folder: Path) -> Path:
    """Returns the file of the program for several devices."""
    return next(path for path in (folder / "b.hlo", folder / "b.mlir") if path.exists())


class Runs:
    """Runs of programs on host devices, in worker processes."""

    def __init__(self) -> None:
        self.workers = Workers()

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.workers.values():
            worker.close()

    def differences(self, folder: Path, text: str | None = None) -> list[str]:
        """Returns what differs between a pair's outputs, the second program being `text` where it is given.

        StableHLO of whole arrays is compiled by the partitioner first; the process needs as many host devices.
        """
        placements, path = Placements.read(folder / "placements.json"), program_file(folder)
        text = path.read_text("utf-8") if text is None else text
        with np.load(folder / "data.npz") as data:
            arrays = dict(data)
        return self.outcome(text, path.suffix == ".mlir", placements, arrays)

    def outcome(self, text: str, is_stablehlo: bool, placements: Placements, arrays: dict[str, Array]) -> list[str]:
        """Returns what differs between the outputs of a program for several devices and `out0`, `out1`, ..."""
        if is_stablehlo and any(each in text for each in _WHOLE):
            text, is_stablehlo = compile_module(text, None).hlo_modules()[0].to_string(), False
        read: Callable[[str, str], Module] = parse_stablehlo if is_stablehlo else parse_module
        module = executable_form(read(text, "b"))
        parameters, results = entry_arrays(module)
        split = [
            (spec, from_plain(arrays[f"in{i}"], _whole(shape, arrays[f"in{i}"]), f"in{i}"), shape.dimensions)
            for i, (spec, shape) in enumerate(zip(placements.parameters, parameters, strict=True))
        ]
        inputs = [[placements.split(*each, fill) for each in split] for fill in _FILLS]
        if all(map(np.array_equal, *inputs)):
            inputs.pop()
        worker = self.workers[placements.devices]
        runs = worker.run(prepare(module, "b"), inputs, options=UNOPTIMIZED, timeout=_SECONDS)
        return [each for outputs in runs for each in _mismatches(placements, results, outputs, arrays)]


def _mismatches(
    placements: Placements, results: Sequence[ArrayShape], outputs: Sequence[Array], arrays: dict[str, Array]
) -> list[str]:
    found = []
    for i, (spec, shape, parts) in enumerate(zip(placements.results, results, outputs, strict=True)):
        whole = from_plain(arrays[f"out{i}"], _whole(shape, arrays[f"out{i}"]), f"out{i}")
        found += [f"out{i}: {each}" for each in placements.mismatches(spec, whole, parts, shape)]
    return found


def _whole(shape: ArrayShape, array: Array) -> ArrayShape:
    return ArrayShape(shape.element_type, array.shape)
