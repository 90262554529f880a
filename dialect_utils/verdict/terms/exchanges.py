"""Collective operations in a normal form: one exchange per array, and one spelling for each mode and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.ops import (
    DONE,
    START,
    UPDATE,
    Trait,
    has,
    is_opcode,
    named,
    opcode_of,
    split_asynchronous,
    with_trait,
)
from dialect_utils.ops.collectives import wraps_operands
from dialect_utils.ops.domain import Domain, UndefinedError, section
from dialect_utils.ops.sharding import try_groups
from dialect_utils.verdict.terms.labels import Devices, Key, Pair, key_of
from dialect_utils.verdict.terms.primitives import CLOSED, Store, TreeOf, V, tree_of

Groups = tuple[tuple[int, ...], ...]
Each = Callable[[str, ElementType, Sequence[V]], V]

# Operations that exchange several arrays independently of each other.
_EACH = named("all-gather all-reduce collective-broadcast collective-permute reduce-scatter")
# Operations that return their operand in a group of one device.
_ALONE = named("all-gather all-reduce all-to-all collective-broadcast reduce-scatter")
# Operations with the attribute `use_global_device_ids`, by which groups list replicas and partitions together.
_FLAGGED = named("all-gather all-reduce reduce-scatter")
_SUM = "stablehlo.cross-replica-sum"
# A channel only distinguishes messages, but its presence decides the mode.
_IGNORED = frozenset({"channel_id", "use_global_device_ids"})
_GROUPS, _PAIRS = "replica_groups", "source_target_pairs"
_IN_PLACE = "slice_sizes"
_SPLIT, _JOINED, _COUNT = "dimensions", "concat_dimension", "split_count"
# The most parts into which an all-to-all is split.
_MOST_PARTS = 256
_REPLICAS, _PARTITIONS, _BOTH, _GLOBAL = "replicas", "partitions", "replicas with their partitions", "global devices"
# A mode that XLA's readers interpret in different ways: it equals only itself.
_UNCLEAR = "unclear"


def is_exchange(operation: Operation) -> bool:
    """Is true for a collective operation, and for the start of an asynchronous one that wraps no computation."""
    base, phase = split_asynchronous(operation.opcode)
    is_wrapped = bool(operation.called) and not has(base, Trait.COMBINES)
    # The start of an in-place exchange returns buffers that do not depend on the operands alone.
    is_plain = phase == "" or (phase == START and operation.attribute(_IN_PLACE) is None)
    return has(base, Trait.COLLECTIVE) and is_plain and not is_wrapped


def is_sum(operation: Operation) -> bool:
    """Is true for an all-reduce that names no function because it adds."""
    return operation.opcode == _SUM


@dataclass(frozen=True, slots=True)
class Exchange:
    """A collective operation without its operands and function.

    `groups` is None for an unknown notation, which `texts` then holds. `shapes` are the shapes of the results, tuples
    flattened.
    """

    opcode: str
    dimensions: tuple[Any, ...]
    texts: tuple[Pair, ...]
    mode: str
    groups: Groups | None
    shapes: tuple[Shape, ...]

    @property
    def key(self) -> Key:
        """Returns the key, which is the same for operations that exchange the same data in the same way."""
        devices = f"{self.mode}: {self.groups}"
        return self.opcode, self.dimensions, tuple(sorted((*self.texts, ("devices", devices)))), None, None

    def results(
        self, domain: Domain[V], arrays: Sequence[V], make: Callable[[Exchange, Sequence[V]], Sequence[V]]
    ) -> Sequence[V]:
        """Returns the results; `make` makes the results of one exchange.

        Each array is exchanged by itself; an all-to-all with a split dimension exchanges the parts of each.
        """
        if self._is_alone() and [domain.dimensions(array) for array in arrays] == [*map(_sizes, self.shapes)]:
            return arrays
        if self.opcode == "all-to-all" and dict(self.dimensions)[_SPLIT]:
            count = self._part_count()
            return make(self, arrays) if count is None else [self._of_parts(domain, x, count, make) for x in arrays]
        is_in_place = _IN_PLACE in dict(self.texts)
        if self.opcode not in _EACH or is_in_place or len(arrays) != len(self.shapes):
            return make(self, arrays)
        pairs = zip(arrays, self.shapes, strict=True)
        return [each for array, shape in pairs for each in make(replace(self, shapes=(shape,)), [array])]

    def _is_alone(self) -> bool:
        """Is true where each device exchanges data with itself only."""
        is_known = self.opcode in _ALONE and self.mode in (_REPLICAS, _PARTITIONS, _GLOBAL)
        return is_known and bool(self.groups) and all(len(group) == 1 for group in self.groups or ())

    def _part_count(self) -> int | None:
        """Returns the number of parts of an all-to-all, one for each device of a group; None where it is not known."""
        sizes = {len(group) for group in self.groups or ()}
        is_static = isinstance(self.shapes[0], ArrayShape) and self.shapes[0].is_static
        # An explicit number of parts differs from the number of devices.
        is_known = len(sizes) == 1 and is_static and _COUNT not in dict(self.texts)
        return sizes.pop() if is_known and max(sizes) <= _MOST_PARTS else None

    def _of_parts(
        self, domain: Domain[V], array: V, count: int, make: Callable[[Exchange, Sequence[V]], Sequence[V]]
    ) -> V:
        """Returns an all-to-all of one array: sends part i to device i of the group, and joins the received parts."""
        (split,), found = dict(self.dimensions)[_SPLIT], dict(self.texts)
        size = domain.dimensions(array)[split] // count
        parts = [section(domain, array, split, size, i * size) for i in range(count)]
        shape = ArrayShape(domain.element_type(array), domain.dimensions(parts[0]))
        texts = tuple(pair for pair in self.texts if pair[0] != _JOINED)
        of_parts = replace(self, dimensions=((_SPLIT, ()),), texts=texts, shapes=(shape,) * count)
        return domain.concatenate(make(of_parts, parts), int(found.get(_JOINED, split)))


def _sizes(shape: Shape) -> tuple[int, ...] | None:
    return shape.dimensions if isinstance(shape, ArrayShape) else None


def exchange_of(operation: Operation, devices: Devices) -> Exchange:
    """Returns the exchange that an operation is or starts."""
    opcode, dimensions, pairs, _, _ = key_of(operation)
    found, base = dict(pairs), split_asynchronous(opcode)[0]
    mode, groups = _in_common(_mode(operation, base, found), try_groups(found.get(_GROUPS, "")), devices)
    ignored = _IGNORED if groups is None else {*_IGNORED, _GROUPS}
    kept = {name: text for name, text in found.items() if name not in ignored}
    sent = try_groups(kept.get(_PAIRS, ""))
    if sent:
        kept[_PAIRS] = str(sorted(sent))
    shapes = tuple(leaf for shape in _results(operation) for leaf in shape.without_layout.leaves())
    return Exchange("all-reduce" if base == _SUM else base, dimensions, tuple(kept.items()), mode, groups, shapes)


def device_groups(exchange: Exchange, replicas: int, partitions: int) -> list[list[int]]:
    """Returns the groups of an exchange as numbers of devices: device r * partitions + p is partition p of replica r.

    Raises UndefinedError where the text does not tell them.
    """
    groups, mode = exchange.groups, exchange.mode
    if groups is None or mode == _UNCLEAR:
        raise UndefinedError(f"the devices of {exchange.opcode} are not known")
    listed = [*map(list, groups)] or [[*range({_REPLICAS: replicas, _PARTITIONS: partitions}.get(mode, 1))]]
    if mode == _GLOBAL:
        return listed
    if mode == _BOTH:
        return [[r * partitions + p for r in group for p in range(partitions)] for group in listed]
    if mode == _PARTITIONS:
        return [[r * partitions + p for p in group] for r in range(replicas) for group in listed]
    return [[r * partitions + p for r in group] for p in range(partitions) for group in listed]


def device_pairs(
    pairs: Sequence[Sequence[int]] | None, mode: str, replicas: int, partitions: int
) -> list[tuple[int, int]]:
    """Returns the pairs of a permutation as numbers of devices; raises UndefinedError where they are not known."""
    count = partitions if mode == _PARTITIONS else replicas
    has_others = pairs is None or any(device >= count for pair in pairs for device in pair)
    if pairs is None or has_others or mode not in (_REPLICAS, _PARTITIONS) or len({b for _, b in pairs}) < len(pairs):
        raise UndefinedError("the devices of collective-permute are not known")
    if mode == _PARTITIONS:
        return [(r * partitions + a, r * partitions + b) for r in range(replicas) for a, b in pairs]
    return [(a * partitions + p, b * partitions + p) for p in range(partitions) for a, b in pairs]


def _results(operation: Operation) -> Sequence[Shape]:
    """Returns the shapes of the results, also of a start operation, whose tuple holds them."""
    shapes = [value.shape for value in operation.results]
    if not _is_wrapped(operation):
        return shapes
    if not isinstance(shapes[0], TupleShape) or len(shapes[0].elements) < len(("operands", "results")):
        raise UndefinedError(f"{operation.opcode} gives {shapes[0]}, which holds no results")
    return [shapes[0].elements[1]]


def _mode(operation: Operation, base: str, found: dict[str, str]) -> str:
    """Returns the mode of an exchange: what the device numbers in its groups mean."""
    if operation.attribute("channel_id") == "0":
        # XLA's parser reads channel 0 as a channel, its serialized form as none.
        return _UNCLEAR
    has_channel = int(found.get("channel_id", "0")) > 0
    is_global = found.get("use_global_device_ids") == "true"
    if base not in _FLAGGED:
        return _PARTITIONS if has_channel else _REPLICAS
    if is_global:
        return _GLOBAL if has_channel else _UNCLEAR
    return _BOTH if has_channel else _REPLICAS


def _in_common(mode: str, listed: list[list[int]] | None, devices: Devices) -> tuple[str, Groups | None]:
    """Returns the mode and the groups in normal form: sorted, with all devices in place of an empty list."""
    replicas, partitions = devices or (1, 1)
    counts = {_REPLICAS: replicas, _BOTH: replicas, _PARTITIONS: partitions}
    if listed is None:
        return mode, None
    if not listed and counts.get(mode, 1) > 1:
        listed = [[*range(counts[mode])]]
    if partitions == 1 < replicas and mode in (_BOTH, _GLOBAL):
        mode = _REPLICAS
    if replicas == 1 < partitions and mode == _GLOBAL:
        mode = _PARTITIONS
    if replicas == 1 < partitions and mode == _BOTH and listed in ([], [[0]]):
        mode, listed = _PARTITIONS, [[*range(partitions)]]
    return mode, tuple(sorted(map(tuple, listed)))


def function_of(store: Store[V], each: Each[V], opcode: str, kind: ElementType) -> V:
    """Returns the function (x, y) -> opcode(x, y) of two scalars; `each` makes the operation."""
    scalar = ArrayShape(kind, ())
    variables = [store.make("leaf", ("bound", CLOSED, i), scalar) for i in range(2)]
    label = ("function", CLOSED, (scalar, scalar), 1)
    return store.make("op", label, TupleShape(()), [each(opcode, kind, variables)])


def trees(operation: Operation, given: Sequence[TreeOf[V]], results: Sequence[V], nothing: V) -> list[TreeOf[V]]:
    """Returns the results of an exchange, or the tuple of its start: operands, results, and contexts without values."""
    rest, shape = iter(results), operation.results[0].shape
    if not _is_wrapped(operation):
        return [tree_of(value.shape, rest) for value in operation.results]
    assert isinstance(shape, TupleShape)  # checked by `_is_wrapped`
    first, second, *contexts = shape.elements
    operands = tuple(given) if isinstance(first, TupleShape) else given[0]
    return [(operands, tree_of(second, rest), *[nothing for _ in contexts])]


def _is_wrapped(operation: Operation) -> bool:
    """Is true for a start operation that returns a tuple of operands and results; not each `all-reduce-start` does."""
    base, phase = split_asynchronous(operation.opcode)
    return phase == START and (opcode_of(base).started is not None or wraps_operands(operation.results[0].shape))


def by_phase(exchange: V, done: V, update: V) -> Mapping[str, V]:
    """Returns a table from the opcodes of collective operations, and of their asynchronous phases, to handlers."""
    phases = {"": exchange, START: exchange, DONE: done, UPDATE: update}
    names = [(name, phase) for name in with_trait(Trait.COLLECTIVE) for phase in phases]
    return {name + phase: phases[phase] for name, phase in names if not phase or is_opcode(name + phase)}
