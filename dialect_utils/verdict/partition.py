"""How the entry arrays of a program for one device are cut into parts for the devices of another program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice, product
from math import prod

from dialect_utils.execution import Array
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops import Trait, has
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.manual import is_boundary
from dialect_utils.ops.sharding import (
    MOST_DEVICES,
    Partition,
    Sharding,
    by_axes,
    makes_parts_of_arrays,
    replicated,
    sharding_elements,
    try_sharding,
)
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.proof.decide import is_soon_equal
from dialect_utils.verdict.terms.devices import mesh_of

# The most partitions to try where the texts leave several open.
_MOST_PARTITIONS, _MOST_TRIED = 16, 6


def written_shardings(module: Module, devices: int) -> tuple[list[Sharding | None], list[Sharding | None]]:
    """Returns the shardings that a text gives for the entry's parameters and results, tuples flattened."""
    texts = module.entry_shardings
    parameters, results = (
        [
            each
            for shape, text in zip(shapes, side if len(side) == len(shapes) else [None] * len(shapes), strict=True)
            for each in _of_leaves(module, shape, text, devices)
        ]
        for shapes, side in zip(module.entry_layout, texts, strict=True)
    )
    return parameters, results


def result_shardings(module: Module, devices: int) -> list[Sharding | None]:
    """Returns the shardings of the entry's results as `run` gives them: a program with boundaries gathers the parts."""
    if not _has_boundary(module):
        return written_shardings(module, devices)[1]
    return [replicated(each.rank, devices) for each in _arrays(module.entry_layout[1])]


def _of_leaves(module: Module, shape: Shape, text: str | None, devices: int) -> list[Sharding | None]:
    arrays = [*shape.arrays()]
    listed = [None] * len(arrays) if text is None else [*sharding_elements(text)]
    if len(listed) == 1:
        listed *= len(arrays)
    if len(listed) != len(arrays):
        return [None] * len(arrays)
    return [
        None if each is None else try_sharding(each, array.rank, devices, module.mesh)
        for array, each in zip(arrays, listed, strict=True)
    ]


def makes_parts(first: Module, last: Module) -> bool:
    """Is true where a pass makes a program on the parts of devices of one on whole arrays, or treats such parts."""
    if not 1 < devices_of(first).count == devices_of(last).count:
        return False
    if _has_boundary(first) or _has_boundary(last):
        return True
    wholes, parts = (
        [array for shape in module.entry_layout[0] for array in _arrays([shape])] for module in (first, last)
    )
    is_cut = len(wholes) == len(parts) and wholes != parts
    before, after = (
        any(has(each.opcode, Trait.AMONG_DEVICES) for each in module.operations()) for module in (first, last)
    )
    return not before and (is_cut or after)


def placements(
    module: Module, devices: int, wholes: Sequence[Sequence[int]], *, of_results: bool
) -> list[list[Sharding]]:
    """Returns the shardings that each parameter or result of a module for several devices may have.

    That is the one of the text, else all that make its parts of a whole array of these sizes.
    """
    parts, all_written = [*map(_arrays, module.entry_layout)][of_results], written_shardings(module, devices)
    meshes = _meshes(module, [each for side in all_written for each in side if each is not None], devices)
    found = []
    for sizes, part, known in zip(wholes, parts, all_written[of_results], strict=False):
        whole = replace(part, dimensions=tuple(sizes))
        is_known = known is not None and _fits(known, whole, part)
        found.append([known] if known is not None and is_known else [*_fitting(whole, part, meshes)])
    return found


def with_shared(arrays: Sequence[Array], module: Module, devices: int) -> list[Array]:
    """Returns inputs of all devices in which those that hold the same part, by the shardings of a text, have one."""
    if devices == 1:
        return [*arrays]
    written, _ = written_shardings(module, devices)
    pairs = zip(arrays, [*written, *[None] * (len(arrays) - len(written))], strict=True)
    return [array if each is None else array[each.holders] for array, each in pairs]


def _has_boundary(module: Module) -> bool:
    return any(map(is_boundary, module.operations()))


def _check_devices(first: Module, last: Module, devices: int) -> None:
    """Raises DiagnosticError unless the first module is the program for one device, and the last one for several."""
    if devices == 1:
        hint = "without --sharded, check compares two programs for the same devices"
        raise DiagnosticError("the second module is for one device", hint=hint)
    if any(has(each.opcode, Trait.AMONG_DEVICES) for each in first.operations()) and not _has_boundary(first):
        raise DiagnosticError("the first module is for the parts of several devices, and has to be the program for one")
    for text in (each for module in (first, last) for side in module.entry_shardings for each in side):
        if text is not None and not makes_parts_of_arrays(text):
            raise DiagnosticError(f"the sharding {text} makes no parts of an array")


def partitions_of(first: Module, last: Module) -> Iterator[Partition]:
    """Yields the partitions by which `last`, for several devices, may compute `first`.

    The shardings are those of the texts; where these have none, all that fit the sizes of whole arrays and parts.
    Raises DiagnosticError where the entries have other numbers of arrays, or none fits.
    """
    devices = devices_of(last).count
    _check_devices(first, last, devices)
    wholes, parts = ([[*_arrays(shapes)] for shapes in module.entry_layout] for module in (first, last))
    own, other = (written_shardings(module, devices) for module in (last, first))
    known_ = [each for side in own for each in side if each is not None]
    meshes = _meshes(last, known_, devices)
    choices: list[list[list[Sharding]]] = []
    assumed = []
    for side, role in enumerate(("parameter", "result")):
        if len(wholes[side]) != len(parts[side]):
            counts = f"{len(wholes[side])} {role}s in one module, {len(parts[side])} in the other"
            raise DiagnosticError(f"different signatures: {counts}")
        found = []
        for i, (whole, part) in enumerate(zip(wholes[side], parts[side], strict=True)):
            known = [each for each in (own[side][i], other[side][i]) if each is not None and _fits(each, whole, part)]
            options = known[:1] or [*_fitting(whole, part, meshes)]
            if not options:
                message = f"no sharding makes the {role} {i} of {whole} into parts of {part} on {devices} devices"
                raise DiagnosticError(message)
            if not known and len(options) + (not options[0].is_replicated) > 1:
                assumed.append((side, i))
            found.append(options)
        choices.append(found)
    count = len(choices[0])
    for chosen in islice(product(*choices[0], *choices[1]), _MOST_PARTITIONS):
        named = tuple(f"{('parameter', 'result')[side]} {i} {chosen[i + side * count]}" for side, i in assumed)
        yield Partition(chosen[:count], chosen[count:], named)


def _arrays(shapes: Sequence[Shape]) -> Iterator[ArrayShape]:
    for shape in shapes:
        yield from (each.without_layout for each in shape.arrays())


def _fits(sharding: Sharding, whole: ArrayShape, part: ArrayShape) -> bool:
    return whole.rank == part.rank and sharding.local(whole.dimensions) == part.dimensions


def _fitting(whole: ArrayShape, part: ArrayShape, meshes: Sequence[tuple[int, ...]]) -> Iterator[Sharding]:
    """Yields the shardings along axes of meshes that make parts of an array, those of the first mesh first."""
    if whole.rank != part.rank or whole.element_type != part.element_type:
        return
    found: dict[Sharding, None] = {}
    if whole.dimensions == part.dimensions:
        found[replicated(whole.rank, prod(meshes[0]))] = None
        # A dimension of one element may be cut, too: the parts after the first are padding.
        meshes = meshes[:1] if 1 in whole.dimensions else ()
    for mesh in meshes:
        axes = {str(i): size for i, size in enumerate(mesh)}
        for dimensions in _divided(whole.dimensions, part.dimensions, axes):
            found[by_axes(axes, dimensions)] = None
    yield from found


def _divided(wholes: Sequence[int], parts: Sequence[int], axes: dict[str, int]) -> Iterator[list[tuple[str, ...]]]:
    """Yields axes for each dimension that cut it into parts of its size, each axis at most once."""
    if not wholes:
        yield []
        return
    for names in (names for length in range(len(axes) + 1) for names in combinations(axes, length)):
        count = prod(axes[name] for name in names)
        if -(-wholes[0] // count) == parts[0] and (count == 1 or wholes[0] == 1 or wholes[0] != parts[0]):
            rest = {name: size for name, size in axes.items() if name not in names}
            yield from ([names, *others] for others in _divided(wholes[1:], parts[1:], rest))


def _meshes(module: Module, shardings: Sequence[Sharding], devices: int) -> list[tuple[int, ...]]:
    """Returns the mesh of a module's groups and shardings, and all others of as many devices."""
    found = [*_factorized(devices)]
    try:
        return [mesh_of(module, shardings), *found]
    except UndefinedError:
        return found


def _factorized(count: int) -> Iterator[tuple[int, ...]]:
    """Yields the factors of a number in every order, few factors first."""
    sizes = [size for size in range(2, count) if count % size == 0]
    yield (count,)
    yield from ((size, count // size) for size in sizes)
    yield from ((a, b, count // a // b) for a in sizes for b in sizes if count % (a * b) == 0 and a * b < count)


def read_partition(text: str, name: str) -> Partition:
    """Reads the placement of all parameters and results on the axes of a mesh from JSON.

    For example `{"mesh": {"x": 2}, "parameters": [["x", null]], "results": [[null, "x"]]}`: for each dimension null, an
    axis, or a list of axes, the major one first. Raises DiagnosticError for any other text.
    """
    try:
        found = json.loads(text)
        axes = {axis: size for axis, size in found["mesh"].items() if type(size) is int and size > 0}
        if len(axes) < len(found["mesh"]) or prod(axes.values()) > MOST_DEVICES:
            raise ValueError(f"its mesh has not 1 to {MOST_DEVICES} devices")
        parameters, results = (
            tuple(_placed(axes, [*map(_axes, dimensions)]) for dimensions in found[side])
            for side in ("parameters", "results")
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else "it has another form"
        message = f"{name} is no placement: {error if isinstance(error, ValueError) else reason}"
        hint = '{"mesh": {"x": 2}, "parameters": [["x", null]], "results": [[null, "x"]]}'
        raise DiagnosticError(message, hint=hint) from None
    return Partition(parameters, results)


def _placed(axes: Mapping[str, int], dimensions: Sequence[Sequence[str]]) -> Sharding:
    twice = next((axis for axis, count in Counter(chain(*dimensions)).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"an array has the axis {twice} twice")
    return by_axes(axes, dimensions)


def _axes(written: str | Sequence[str] | None) -> Sequence[str]:
    return [] if written is None else [written] if isinstance(written, str) else written


def compare_parts(first: Module, last: Module, compare: Callable[[Partition], Verdict]) -> Verdict:
    """Returns the verdict by the partition that a proof finds, or the first one that makes no difference.

    If there is none, it is the verdict by the first partition. The verdict names the shardings that no text gives.
    """
    partitions = [*partitions_of(first, last)]
    tried = partitions[:_MOST_TRIED] if partitions[1:] else []
    soon = next((each for each in tried if is_soon_equal([first, last], each)), None)
    found = [_assumed(each, compare(each)) for each in ([soon] if soon is not None else partitions[:1])]
    for partition in partitions[1:]:
        if found[-1].verdict in ("equal", "agrees", "close") or soon is not None:
            break
        found.append(_assumed(partition, compare(partition)))
    is_better = found[-1].verdict in ("equal", "agrees", "close")
    return found[-1] if is_better else found[0]


def _assumed(partition: Partition, verdict: Verdict) -> Verdict:
    remarks = tuple(f"assumed: {each}" for each in partition.assumed)
    return replace(verdict, remarks=(*verdict.remarks, *remarks))
