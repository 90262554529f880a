"""A partitioned module beside the module before: why it has a collective, and the shardings that disagree.

XLA's partitioner visits the instructions one by one, and gives all that it makes for one of them its metadata
(xla/service/spmd/spmd_partitioner.cc, SpmdBuilder). The part of an instruction also has its opcode, and the sizes that
the sharding leaves on a device.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import prod
from typing import Literal

from dialect_utils.history.flat import FlatGraph, opcode_of
from dialect_utils.history.tracing import History, Introduced
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.ir import Value
from dialect_utils.ir.control_flow import reached
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has, named, opcode_of as declared, split_asynchronous
from dialect_utils.ops.device_counts import written_counts
from dialect_utils.ops.sharding import Sharding, by_axes, sharding_elements, try_sharding

Reason = Literal["sum", "reshard", "neighbours"]
# Every device makes these by itself.
_OF_NO_DEVICE = named("constant iota partition-id replica-id broadcast")
_REPLICATED = "{replicated}"
# All orders of the axes are compared with a sharding.
_MOST_AXES = 6


@dataclass(frozen=True, slots=True)
class Placed:
    """An array before the partitioner, with the text and the value of its sharding; the value is None if it is unknown.

    `result` is the number of a result of the entry, None for the array of an instruction.
    """

    node: Value
    array: ArrayShape | None
    text: str
    sharding: Sharding | None
    result: int | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The arrays that an operation is given, and the one that is wanted: that of the operation, or a result.

    The devices hold terms of a `sum`; an array is wanted in other parts (`reshard`); or the operation reads the
    elements of neighbouring parts (`neighbours`).
    """

    reason: Reason
    given: tuple[Placed, ...]
    wanted: Placed


@dataclass(slots=True)
class Partition:
    """The nodes after a partitioner, each with the whole node before that it is a part of."""

    before: FlatGraph
    after: FlatGraph
    _whole: dict[Value, Value] = field(default_factory=dict, init=False)
    _served: dict[str | None, list[Value]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Pairs nodes of equal sizes, then other ones that compute: the partitioner adds operations that move data."""
        # The TPU's partitioner tries several ways, and leaves those that it drops in the module.
        for node in self.before.nodes:
            if node.operation is not None and not _only_moves(node):
                self._served.setdefault(_attribute(node, "metadata"), []).append(node)
        ends = [self.after.source(each) for function in self.after.module.functions for each in function.results]
        live = set(reached(ends, self.after.operands, ()))
        for is_exact in (True, False):
            free: dict[Hashable, list[Value]] = {}
            known = set(self._whole.values())
            for node in self.before.nodes:
                if node not in known:
                    free.setdefault(self._key(node, self._local(node) if is_exact else None), []).append(node)
            for node in filter(live.__contains__, self.after.nodes):
                sizes = tuple(each.dimensions for each in node.shape.arrays()) if is_exact else None
                candidates = free.get(self._key(node, sizes), [])
                if candidates and node not in self._whole and (is_exact or not _only_moves(node)):
                    sources = set(self._wholes(self.after.operands(node), is_back=True))
                    same = (each for each in candidates if sources & {*filter(_has_data, self.before.operands(each))})
                    self._whole[node] = next(same, candidates[0])
                    candidates.remove(self._whole[node])

    def _key(self, node: Value, sizes: Hashable) -> Hashable:
        if node.operation is None and node.function.is_entry:
            return list(node.function.parameters).index(node)
        return opcode_of(node), _attribute(node, "metadata"), _attribute(node, "index"), sizes

    def _local(self, node: Value) -> Hashable:
        """Returns the sizes of the parts of a node's arrays."""
        shardings = [self.placed(node, i).sharding for i, _ in enumerate(node.shape.arrays())]
        arrays = zip(node.shape.arrays(), shardings, strict=True)
        return tuple(array.dimensions if each is None else each.local(array.dimensions) for array, each in arrays)

    def placed(self, node: Value, element: int = 0, result: int | None = None) -> Placed:
        """Returns an element of a node before, perhaps as a result of the entry, with its sharding.

        A node without a sharding is replicated.
        """
        holder, number = (node, element) if result is None else (self.before.module.entry.results[0], result)
        if result is None and opcode_of(node) == "get-tuple-element":
            holder, number = self.before.operands(node)[0], int(_attribute(node, "index") or 0)
        texts = sharding_elements(_attribute(holder, "sharding") or _attribute(node, "sharding") or _REPLICATED)
        text = texts[number if number < len(texts) else 0]
        arrays = [*node.shape.arrays()]
        _, devices = written_counts(self.before.module)
        array = arrays[element if len(arrays) > 1 else 0] if arrays else None
        return Placed(node, array, text, None if array is None else try_sharding(text, array.rank, devices), result)

    def _wholes(self, starts: Sequence[Value], *, is_back: bool) -> list[Value]:
        """Returns the nodes before of which the first ones on the ways from some nodes are parts."""
        found = reached(starts, self.after.operands if is_back else self.after.users, self._whole)
        return [self._whole[each] for each in found if each in self._whole]

    def disagreement(self, collective: Value) -> Disagreement | None:
        """Returns why the partitioner made a collective, None where the module before has no shardings or no reader."""
        if not any(node.operation is not None and _attribute(node, "sharding") for node in self.before.nodes):
            return None
        found = self._wholes(self.after.operands(collective), is_back=True)
        sources = [*filter(_has_data, found)] or found
        metadata = _attribute(collective, "metadata")
        served = [] if metadata is None else self._served.get(metadata, [])
        summed = [each for each in sources if each in served] or served
        if has(opcode_of(collective), Trait.COMBINES) and summed:
            operands = filter(_has_data, self.before.operands(summed[0]))
            return Disagreement("sum", tuple(map(self.placed, operands)), self.placed(summed[0]))
        readers = self._wholes([collective], is_back=False)
        readers.sort(key=lambda each: _attribute(each, "metadata") != metadata)
        way = reached([collective], self.after.users, self._whole)
        results = [number for number, each in enumerate(self.after.results) if each in way]
        if not sources or not (readers or served or results):
            return None
        given = self.placed(sources[0])
        if readers or not results:
            wanted = self._wanted((readers or served)[0], sources)
        else:
            wanted = self.placed(self.before.results[results[0]], result=results[0])
        is_permute = split_asynchronous(opcode_of(collective))[0] == "collective-permute"
        is_other = any(has(opcode_of(wanted.node), each) for each in (Trait.CONTRACTS, Trait.IS_STEP))
        is_same = given.sharding == wanted.sharding and wanted.result is None and (is_permute or not is_other)
        return Disagreement("neighbours" if is_same else "reshard", (given,), wanted)

    def _wanted(self, reader: Value, sources: Sequence[Value]) -> Placed:
        """Returns the array that a node before wants: its own, or the element of a tuple that is a source."""
        if opcode_of(reader) != "tuple":
            return self.placed(reader)
        number = next((i for i, each in enumerate(self.before.operands(reader)) if each in sources), 0)
        is_root = reader is self.before.source(self.before.module.entry.results[0])
        return self.placed(reader, number, number if is_root else None)


def origins(history: History, collective: Value, start: int | None = None) -> list[tuple[Introduced, ...]]:
    """Returns the stages of a collective: the earliest is the last one, before it those that replaced others.

    There are several lists for a collective that joins others. `start` is the number of the module with it.
    """
    found = history.trace({collective: None}, start)[collective]
    if found.before is None:
        return [(found,)]
    counterparts = history.counterparts(found.before, (found.number, found.graph))
    replaced = counterparts.replaced_collectives(found.node)
    return [(found, *each) for old in replaced for each in origins(history, old, found.before[0])] or [(found,)]


def _attribute(node: Value, name: str) -> str | None:
    """Returns an attribute, which a parameter of HLO has as well."""
    return node.attribute(name) if isinstance(node, Instruction) else None


def _has_data(node: Value) -> bool:
    return opcode_of(node) not in _OF_NO_DEVICE


def _only_moves(node: Value) -> bool:
    """Is true for an operation that moves elements to positions that the text fixes."""
    return has(opcode_of(node), Trait.MOVES_DATA) and declared(opcode_of(node)).indices is None


def try_axes(sharding: Sharding, mesh: Mapping[str, int]) -> tuple[tuple[str, ...], ...] | None:
    """Returns the axes of a mesh along which a sharding splits each dimension, None where it does not follow them."""
    if not mesh or len(mesh) > _MOST_AXES or prod(mesh.values()) != len(sharding.parts):
        return None
    choices: list[tuple[tuple[str, ...], ...]] = [()]
    for tiles in sharding.tiles:
        choices = [
            (*chosen, axes)
            for chosen in choices
            for count in range(len(mesh) + 1 if tiles > 1 else 1)
            for axes in permutations(mesh, count)
            if prod(mesh[each] for each in axes) == tiles and not any({*axes} & {*some} for some in chosen)
        ]
    return next((each for each in choices if by_axes(mesh, each) == sharding), None)
