"""What reads a physical array: ops that give the logical value back, bitcasts, and the entry's results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import ArrayShape, physical_plan, physical_shape
from dialect_utils.layout.movement import Movement, is_identity, normal_form
from dialect_utils.layout.tiling_search import is_put_of
from passes.chains import Chain, array_shape, chains_from, erase_dead, is_returned, movement_users
from passes.emit import reinterpret
from passes.marks import BitcastMark, marked_bitcast, marked_shape, own_attributes, unmarked_attributes

# A put with its read-back, or with a row of bitcasts behind it, takes no more ops.
_LONGEST_ROUND = 24


@dataclass(frozen=True, slots=True)
class FoundBitcast:
    """Is a run of ops that a bitcast became: from `array` through the result's `physical` array to `end`."""

    mark: BitcastMark
    shape: ArrayShape
    array: Value
    physical: Value
    operations: tuple[Operation, ...]

    @property
    def end(self) -> Value:
        """Returns the value that the bitcast's users read now."""
        return self.operations[-1].results[0]

    def make(self, source: Value) -> set[Operation]:
        """Makes the bitcast of `source` again in place of the ops; returns the removed ones."""
        made = self.insert(source)
        self.end.replace_uses(made)
        return erase_dead([self.end], keep=source)

    def insert(self, source: Value) -> Value:
        """Makes the bitcast of `source` in front of the ops."""
        from dialect_utils.hlo import Computation, Instruction

        function, first = self.end.function, self.operations[0]
        assert isinstance(function, Computation)  # StableHLO has no bitcast to mark
        assert isinstance(first, Instruction)
        assert isinstance(source, Instruction)
        place = function.instructions[function.instructions.index(first) - 1]
        made = function.insert(place, self.mark.name, self.shape, "bitcast", [source])
        for name, text in unmarked_attributes(self.operations[-1]).items():
            made.set_frontend_attribute(name, text)
        made.set_attribute("metadata", first.metadata)
        for name, text in own_attributes(self.operations[-1]).items():
            made.set_attribute(name, text)
        return made


@dataclass(slots=True)
class Reads:
    """Holds everything that reads one physical array.

    `returned` says for every array that the entry returns which bitcast's it is (None: the value's).
    """

    physical: Value
    found: list[FoundBitcast]
    logical: list[Value] = field(default_factory=list)
    bitcasts: list[FoundBitcast] = field(default_factory=list)
    returned: dict[Value, FoundBitcast | None] = field(default_factory=dict)

    def give_back(self, value: Value) -> set[Operation]:
        """Lets all readers read `value` instead; returns the ops that were removed."""
        names = {end.name: value for end in self.logical}
        made: dict[Value, Value] = {}
        for bitcast in self.bitcasts:
            names[bitcast.end.name] = made[bitcast.end] = bitcast.insert(names[bitcast.mark.operand])
        for array, owner in self.returned.items():
            _return_instead(array, value if owner is None else made[owner.end])
        for end in self.logical:
            end.replace_uses(value)
        for end, new in made.items():
            end.replace_uses(new)
        return erase_dead([*self.logical, *made, self.physical], keep=value)

    def note_returned(self, put: Chain, value: Value) -> bool:
        """Notes whose array the entry returns; is false where that is not known."""
        if not value.function.is_entry:
            return False
        shape = marked_shape(value.operation) if value.operation is not None else None
        is_own = value == put.value and (not put.operations or _is_marked_with_source(put))
        owner = next((found for found in self.found if found.physical == value and found.shape == shape), None)
        if not is_own and owner is None:
            return False
        self.returned[value] = None if is_own else owner
        return True


def _is_marked_with_source(put: Chain) -> bool:
    shape = marked_shape(put.operations[-1])
    return isinstance(shape, ArrayShape) and is_put_of(shape, put.movement(lambda _: None))


def _return_instead(array: Value, value: Value) -> None:
    """Lets the entry return a value instead of its physical array, directly or in tuples."""
    for user in array.users:
        if _is_returned_tuple(user):
            for index, operand in enumerate(user.operands):
                if operand == array:
                    user.set_operand(index, value)
    function = array.function
    if array in function.results and array != value:
        function.set_results([value if result == array else result for result in function.results])


def _is_returned_tuple(operation: Operation) -> bool:
    if operation.opcode != "tuple":
        return False
    value = operation.results[0]
    return is_returned(value) or (bool(value.users) and all(map(_is_returned_tuple, value.users)))


def try_reads(put: Chain, shape: ArrayShape | None = None) -> Reads | None:
    """Returns what reads the physical array at the end of a put, or None where something reads it in another way.

    Without `shape` the put starts at the logical value, else at the physical array of `shape`.
    A physical array may be returned from the entry where its op is marked, or where it is a
    parameter.
    """
    reads = Reads(put.value, _bitcasts_of(put.value))
    claimed = {operation for found in reads.found for operation in found.operations}
    ends = {found.operations[-1]: found for found in reads.found}
    pending = [put]
    while pending:
        chain = pending.pop()
        value = chain.value
        users = [user for user in value.users if not _is_returned_tuple(user)]
        is_in_result = is_returned(value) or len(users) < len(value.users)
        if is_in_result and not reads.note_returned(put, value):
            return None
        for user in users:
            longer = replace(chain, operations=(*chain.operations, user))
            if user not in movement_users(value) or len(longer.operations) > _LONGEST_ROUND:
                return None
            if user not in claimed and _gives_back(longer, shape):
                reads.logical.append(longer.value)
            elif user in ends:
                reads.bitcasts.append(ends[user])
            else:
                pending.append(longer)
    is_read = bool(reads.logical or reads.bitcasts or reads.returned)
    return reads if is_read and _order_bitcasts(reads) else None


def _bitcasts_of(physical: Value) -> list[FoundBitcast]:
    """Returns the bitcasts of a physical array; the ops they became may pass the logical value."""
    found = map(try_bitcast, chains_from(physical, _LONGEST_ROUND))
    return [bitcast for bitcast in found if bitcast is not None]


def _gives_back(chain: Chain, shape: ArrayShape | None) -> bool:
    """Is true where a chain ends in the logical value again."""
    if shape is None:
        return is_identity(chain.movement())
    put = Movement(physical_plan(shape))
    back = chain.movement()
    if back.plan.result != (shape.element_type, shape.dimensions):
        return False
    return is_identity(put.then(back)) and is_identity(back.then(put))


def try_bitcast(chain: Chain) -> FoundBitcast | None:
    """Returns the bitcast that the last ops of a chain are, by their mark and by what they do, or None."""
    mark = marked_bitcast(chain.operations[-1])
    if mark is None or not isinstance(mark.shape, ArrayShape) or mark.count > len(chain.operations):
        return None
    operations = chain.operations[len(chain.operations) - mark.count :]
    array = operations[0].operands[0]
    view = reinterpret(array_shape(array), physical_shape(mark.shape))
    if view is None:
        return None
    back = physical_plan(mark.shape).inverse()
    if normal_form(Chain(array, operations).movement()) != normal_form(Movement(view.then(back))):
        return None
    physical = operations[len(view.steps) - 1].results[0] if view.steps else array
    return FoundBitcast(mark, mark.shape, array, physical, operations)


def _order_bitcasts(reads: Reads) -> bool:
    """Orders bitcasts behind what they read; is false where one reads what is not there."""
    known = {end.name: reads.physical for end in reads.logical}
    ordered: list[FoundBitcast] = []
    waiting = list(reads.bitcasts)
    while waiting:
        ready = [found for found in waiting if known.get(found.mark.operand) == found.array]
        if not ready:
            return False
        for found in ready:
            known[found.end.name] = found.physical
        ordered += ready
        waiting = [found for found in waiting if found not in ready]
    reads.bitcasts[:] = ordered
    return True
