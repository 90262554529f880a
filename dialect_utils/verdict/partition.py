"""How the entry arrays of a program for one device are cut into parts for the devices of another program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations, product
from math import prod

from dialect_utils.execution import Array
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.sharding import Partition, Sharding, by_axes, replicated, sharding_elements, try_sharding
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.terms.devices import mesh_of
from dialect_utils.verdict.terms.labels import device_counts

# The most partitions to try where the texts leave several open.
_MOST_PARTITIONS = 16


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


def placements(
    module: Module, devices: int, wholes: Sequence[Sequence[int]], *, of_results: bool
) -> list[list[Sharding]]:
    """Returns the shardings that each parameter or result of a module for several devices may have.

    That is the one of the text, else all that make its parts of a whole array of these sizes.
    """
    parts, written = [*map(_arrays, module.entry_layout)][of_results], written_shardings(module, devices)[of_results]
    found = []
    for sizes, part, known in zip(wholes, parts, written, strict=False):
        whole = replace(part, dimensions=tuple(sizes))
        is_known = known is not None and _fits(known, whole, part)
        found.append([known] if known is not None and is_known else [*_fitting(whole, part, module, devices)])
    return found


def with_shared(arrays: Sequence[Array], module: Module, devices: int) -> list[Array]:
    """Returns inputs of all devices in which those that hold the same part, by the shardings of a text, have one."""
    if devices == 1:
        return [*arrays]
    written, _ = written_shardings(module, devices)
    pairs = zip(arrays, [*written, *[None] * (len(arrays) - len(written))], strict=True)
    return [array if each is None else array[each.holders] for array, each in pairs]


def device_count(module: Module) -> int:
    """Returns the number of devices that run a module."""
    return prod(device_counts(module) or (1, 1))


def partitions_of(first: Module, last: Module) -> Iterator[Partition]:
    """Yields the partitions by which `last`, for several devices, may compute `first`.

    The shardings are those of the texts; where these have none, all that fit the sizes of whole arrays and parts.
    Raises DiagnosticError where the entries have other numbers of arrays, or none fits.
    """
    devices = device_count(last)
    wholes, parts = ([[*_arrays(shapes)] for shapes in module.entry_layout] for module in (first, last))
    own, other = (written_shardings(module, devices) for module in (last, first))
    choices: list[list[list[Sharding]]] = []
    assumed = []
    for side, role in enumerate(("parameter", "result")):
        if len(wholes[side]) != len(parts[side]):
            counts = f"{len(wholes[side])} {role}s in one module, {len(parts[side])} in the other"
            raise DiagnosticError(Diagnostic(f"different signatures: {counts}"))
        found = []
        for i, (whole, part) in enumerate(zip(wholes[side], parts[side], strict=True)):
            known = [each for each in (own[side][i], other[side][i]) if each is not None and _fits(each, whole, part)]
            options = known[:1] or [*_fitting(whole, part, last, devices)]
            if not options:
                message = f"no sharding makes the {role} {i} of {whole} into parts of {part} on {devices} devices"
                raise DiagnosticError(Diagnostic(message))
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


def _fitting(whole: ArrayShape, part: ArrayShape, module: Module, devices: int) -> Iterator[Sharding]:
    """Yields the shardings along axes of a module's mesh that make parts of an array."""
    if whole.rank != part.rank or whole.element_type != part.element_type:
        return
    counts = [-(-a // b) if b else 1 for a, b in zip(whole.dimensions, part.dimensions, strict=True)]
    if counts == [1] * whole.rank:
        yield replicated(whole.rank, devices)
        return
    try:
        mesh = mesh_of(module)
    except UndefinedError:
        mesh = (devices,)
    axes = {str(i): size for i, size in enumerate(mesh)}
    for dimensions in _divided(counts, axes):
        found = by_axes(axes, dimensions)
        if _fits(found, whole, part):
            yield found


def _divided(counts: Sequence[int], axes: dict[str, int]) -> Iterator[list[tuple[str, ...]]]:
    """Yields axes for each dimension whose sizes have the given products, each axis at most once."""
    if not counts:
        yield []
        return
    for length in range(len(axes) + 1):
        for names in permutations(axes, length):
            if prod(axes[name] for name in names) == counts[0] and list(names) == sorted(names, key=int):
                rest = {name: size for name, size in axes.items() if name not in names}
                yield from ([names, *others] for others in _divided(counts[1:], rest))


def read_partition(text: str, name: str) -> Partition:
    """Reads the placement of all parameters and results on the axes of a mesh from JSON.

    For example `{"mesh": {"x": 2}, "parameters": [["x", null]], "results": [[null, "x"]]}`: for each dimension null, an
    axis, or a list of axes, the major one first. Raises DiagnosticError for any other text.
    """
    try:
        found = json.loads(text)
        axes = {str(axis): int(size) for axis, size in found["mesh"].items()}
        parameters, results = (
            tuple(by_axes(axes, [*map(_axes, dimensions)]) for dimensions in found[side])
            for side in ("parameters", "results")
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = str(error) if isinstance(error, ValueError) else f"{error} is missing or wrong"
        message = f"{name} is no placement: {reason}"
        hint = '{"mesh": {"x": 2}, "parameters": [["x", null]], "results": [[null, "x"]]}'
        raise DiagnosticError(Diagnostic(message, hint=hint)) from None
    return Partition(parameters, results)


def _axes(written: str | Sequence[str] | None) -> Sequence[str]:
    return [] if written is None else [written] if isinstance(written, str) else written


def compare_parts(partitions: Iterable[Partition], compare: Callable[[Partition], Verdict]) -> Verdict:
    """Returns the verdict by the first partition that makes no difference, else by the first one.

    The verdict names the shardings that no text gives.
    """
    first: Verdict | None = None
    for partition in partitions:
        found = compare(partition)
        remarks = tuple(f"assumed: {each}" for each in partition.assumed)
        found = replace(found, remarks=(*found.remarks, *remarks))
        if found.verdict in ("equal", "agrees", "close"):
            return found
        first = first or found
    assert first is not None  # there is a partition, or an error
    return first
