"""Regions of values that get another representation, and the conversions at their borders.

The representation of a value is one or several parts, and depends on one of its dimensions. An operation computes in
the new representation if all operands and results that have this dimension do. All other operations keep the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dialect_utils.ir import Builder, Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import erase_dead, is_plain, is_returned
from dialect_utils.ir.control_flow import in_program_order
from dialect_utils.ir.factors import positions_of, value_at
from dialect_utils.ir.passed_arrays import PassedArray
from dialect_utils.layout import ArrayShape, Reshape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.factors import Dimensions, Position
from passes.shapes.known_factors import KnownFactors
from passes.shapes.parts.remade import bypass

Parts = tuple[Value, ...]


class Representation(Protocol):
    """A representation of values: which operations compute in it, and how values get it."""

    @property
    def factors(self) -> KnownFactors:
        """Returns the factors of operations."""

    def match(self, operation: Operation, position: Position, dimension: int) -> Dimensions | None:
        """Returns the dimensions at all positions that get the representation if one position gets it.

        None if the operation cannot compute in the representation.
        """

    def passed(self, module: Module) -> Mapping[Value, Sequence[PassedArray]]:
        """Returns the arrays that calls, loops and branches can pass in the representation, by each of their values."""

    def shapes(self, shape: ArrayShape, dimension: int) -> Sequence[ArrayShape]:
        """Returns the shapes of the parts of an array."""

    def split(self, builder: Builder, value: Value, dimension: int) -> Parts:
        """Makes the parts of a value."""

    def join(self, builder: Builder, parts: Parts, value: Value, dimension: int) -> Value:
        """Makes a value of its parts; `value` gives name and shape."""

    def remake(
        self, builder: Builder, operation: Operation, positions: Dimensions, operands: Sequence[Parts]
    ) -> Sequence[Parts]:
        """Makes an operation on parts; returns the parts of each result."""


@dataclass(slots=True)
class Region:
    """The values that get another representation, with its dimension, and the operations that compute in it.

    `passed` are the arrays that calls, loops and branches pass in the representation.
    """

    members: dict[Value, int]
    operations: dict[Operation, Dimensions] = field(default_factory=dict)
    passed: list[PassedArray] = field(default_factory=list)

    @property
    def computed(self) -> set[Value]:
        """Returns the members that operations compute or receive in the representation."""
        made = {
            value_at(each, position)
            for each, positions in self.operations.items()
            for position in positions
            if position < 0
        }
        return made.union(*(array.received for array in self.passed))

    @property
    def entering(self) -> list[Value]:
        """Returns the members that are converted into the new representation."""
        computed = self.computed
        return [value for value in self.members if value not in computed]

    @property
    def leaving(self) -> list[Value]:
        """Returns the computed members that something reads in the old representation."""
        return [value for value in self.computed if self.others(value)]

    def others(self, value: Value) -> list[Operation | Function]:
        """Returns the operations that read a member in the old representation, and the function that returns it."""
        passing = {owner for array in self.passed if value in array.values for owner in array.passing}
        found: list[Operation | Function] = [value.function] if is_returned(value) else []
        found += [user for user in value.users if not {*positions_of(user, value)} <= {*self.operations.get(user, ())}]
        return [each for each in found if each not in passing]


def grow(
    seeds: Mapping[Value, int], representation: Representation, passed: Mapping[Value, Sequence[PassedArray]]
) -> Region:
    """Returns the largest region that contains some values, as far as operations compute in its representation.

    `passed` are the arrays that may be passed in the representation, by each of their values.
    """
    region = Region({value: dimension for value, dimension in seeds.items() if is_plain(value)})
    pending = list(region.members)
    while pending:
        value = pending.pop()
        for array in passed.get(value, ()):
            pending += _passed(region, array, region.members[value])
        for operation in _around(value):
            if operation not in region.operations:
                pending += _added(region, operation, value, representation)
    return region


def _passed(region: Region, array: PassedArray, dimension: int) -> list[Value]:
    """Adds an array that all calls, loops and branches can pass in the representation; returns the new members."""
    shapes = {array_shape(value).dimensions for value in array.values}
    agree = all(region.members.get(value, dimension) == dimension for value in array.values)
    if array in region.passed or len(shapes) != 1 or not agree:
        return []
    region.passed.append(array)
    new = [value for value in dict.fromkeys(array.values) if value not in region.members]
    region.members.update(dict.fromkeys(new, dimension))
    return new


def _around(value: Value) -> Iterator[Operation]:
    if value.operation is not None:
        yield value.operation
    yield from value.users


def _added(region: Region, operation: Operation, value: Value, representation: Representation) -> list[Value]:
    """Adds an operation that computes in the representation of a member; returns the new members."""
    for position in positions_of(operation, value):
        positions = representation.match(operation, position, region.members[value])
        if positions is None:
            continue
        found: dict[Value, int] = {}
        for other, dimension in positions.items():
            found.setdefault(value_at(operation, other), dimension)
        agreed = all(found[value_at(operation, other)] == dimension for other, dimension in positions.items())
        if agreed and all(region.members.get(each, dimension) == dimension for each, dimension in found.items()):
            region.operations[operation] = positions
            new = [each for each in found if each not in region.members]
            region.members.update(found)
            return new
    return []


def rewrite(module: Module, region: Region, representation: Representation) -> None:
    """Gives the members of a region their new representation, with conversions at its borders."""
    received: list[Value] = []
    if region.passed:
        members, received = _pass_parts(module, region, representation)
        representation.factors.known.clear()
        region = grow(members, representation, {})
    work = _Rewrite(module, region, representation)
    done = [operation for operation in in_program_order(module) if operation in region.operations]
    for operation in done:
        work.remake(operation)
    for operation in reversed(done):
        work.retire(operation)
    for value in received:
        if value.operation is not None:
            bypass(value, value.operation.operands[0])
        erase_dead([value])
    # Those of operations that read other values now.
    representation.factors.known.clear()


def _pass_parts(module: Module, region: Region, representation: Representation) -> tuple[dict[Value, int], list[Value]]:
    """Passes arrays in the new representation, between reshapes.

    Returns the members in the old representation, and those of them that are reshapes of what is received.
    """
    members, received = dict(region.members), []
    for array in region.passed:
        dimension, shape = region.members[array.received[0]], array_shape(array.received[0])
        (part,) = representation.shapes(shape, dimension)
        array.pack(module, Plan(shape.element_type, shape.dimensions, (Reshape(part.dimensions),)))
        for value in array.received:
            members.pop(value, None)
            old = [user.results[0] for user in value.users]
            members.update(dict.fromkeys(old, dimension))
            received += old
    return members, received


@dataclass(slots=True)
class _Rewrite:
    module: Module
    region: Region
    representation: Representation
    parts: dict[Value, Parts] = field(default_factory=dict)

    def remake(self, operation: Operation) -> None:
        """Makes an operation of the region on parts."""
        positions = self.region.operations[operation]
        operands = [
            self._of(value) if position in positions else (value,) for position, value in enumerate(operation.operands)
        ]
        made = self.representation.remake(self.module.before(operation), operation, positions, operands)
        self.parts.update(zip(operation.results, made, strict=True))

    def _of(self, value: Value) -> Parts:
        if value not in self.parts:
            builder = self.module.after(value)
            self.parts[value] = self.representation.split(builder, value, self.region.members[value])
        return self.parts[value]

    def retire(self, operation: Operation) -> None:
        """Removes an operation that was made again, and joins its results where something still reads them."""
        joined = []
        for result in operation.results:
            parts, name = self.parts[result], result.name
            if not result.users and not is_returned(result):
                continue
            whole = parts[0]
            if result in self.region.members:
                builder = self.module.after(parts[-1])
                whole = self.representation.join(builder, parts, result, self.region.members[result])
            result.replace_uses(whole)
            if erase_dead([whole]):
                continue
            joined.append((whole, name))
        operation.erase()
        for whole, name in joined:
            if whole.operation is not None and len(whole.operation.results) == 1:
                whole.rename(name)
