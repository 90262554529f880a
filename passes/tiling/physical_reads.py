"""The readers of a physical array: ops that unpack the logical value, bitcasts, and the entry's results."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialect_utils.ir import Module, Operation, Value, array_shape
from dialect_utils.ir.chains import Chain, chains_from, erase_dead, is_returned, moves
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.packs import is_pack_of
from dialect_utils.layout.moves.physical import dense_bitcast_plan, logical_plan, physical_plan, physical_shape
from dialect_utils.layout.moves.plan import Plan
from passes.tiling.markers import BitcastMarker, marked_bitcast, marked_shape, own_attributes, unmarked_attributes

# The most ops that pack and unpack a value, or that replace a row of bitcasts.
_LONGEST_ROUND_TRIP = 24


@dataclass(frozen=True, slots=True)
class FoundBitcast:
    """The ops that replaced a bitcast: from `array` through the result's `physical` array to `end`."""

    mark: BitcastMarker
    shape: ArrayShape
    array: Value
    physical: Value
    operations: tuple[Operation, ...]

    @property
    def end(self) -> Value:
        """Returns the value that the users of the bitcast read."""
        return self.operations[-1].results[0]

    def make(self, module: Module, source: Value) -> set[Operation]:
        """Replaces the ops by the bitcast of `source`; returns the removed ops."""
        self.end.replace_uses(self.insert(module, source))
        return erase_dead([self.end], keep=source)

    def insert(self, module: Module, source: Value) -> Value:
        """Inserts the bitcast of `source` before the ops."""
        first, last = self.operations[0], self.operations[-1]
        made = module.before(first).bitcast(source, self.shape, name=self.mark.name, like=first.results[0])
        operation = made.operation
        assert operation is not None  # the bitcast
        for name, text in unmarked_attributes(last).items():
            operation.set_frontend_attribute(name, text)
        for name, text in own_attributes(last).items():
            operation.set_attribute(name, text)
        return made


@dataclass(slots=True)
class Reads:
    """All readers of one physical array.

    `returned` maps every physical array that the entry returns to its bitcast (None: that of the packed value).
    """

    physical: Value
    found: list[FoundBitcast]
    logical: list[Value] = field(default_factory=list)
    bitcasts: list[FoundBitcast] = field(default_factory=list)
    returned: dict[Value, FoundBitcast | None] = field(default_factory=dict)

    def restore(self, module: Module, value: Value) -> set[Operation]:
        """Makes all readers read `value` instead; returns the removed ops."""
        names = {end.name: value for end in self.logical}
        made: dict[Value, Value] = {}
        for bitcast in self.bitcasts:
            names[bitcast.end.name] = made[bitcast.end] = bitcast.insert(module, names[bitcast.mark.operand])
        for array, owner in self.returned.items():
            _return_instead(array, value if owner is None else made[owner.end])
        for end in self.logical:
            end.replace_uses(value)
        for end, new in made.items():
            end.replace_uses(new)
        return erase_dead([*self.logical, *made, self.physical], keep=value)

    def note_returned(self, chain: Chain, value: Value) -> bool:
        """Records the owner of an array that the entry returns; returns false if the owner is unknown."""
        if not value.function.is_entry:
            return False
        shape = marked_shape(value.operation) if value.operation is not None else None
        is_own = value == chain.value and (not chain.operations or _is_marked_with_source(chain))
        owner = next((found for found in self.found if found.physical == value and found.shape == shape), None)
        if not is_own and owner is None:
            return False
        self.returned[value] = None if is_own else owner
        return True


def _is_marked_with_source(chain: Chain) -> bool:
    shape = marked_shape(chain.operations[-1])
    return isinstance(shape, ArrayShape) and is_pack_of(shape, chain.plan(lambda _: None))


def _return_instead(array: Value, value: Value) -> None:
    """Makes the entry return a value instead of its physical array, directly or in tuples."""
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


def try_reads(chain: Chain, shape: ArrayShape | None = None) -> Reads | None:
    """Returns the readers of the physical array at the end of a chain, or None if there is another kind of reader.

    Without `shape` the chain starts at the logical value, else at the physical array of `shape`. The entry may return a
    physical array if its op is marked or if it is a parameter.
    """
    bitcasts = map(try_bitcast, chains_from(chain.value, _LONGEST_ROUND_TRIP))
    reads = Reads(chain.value, [bitcast for bitcast in bitcasts if bitcast is not None])
    claimed = {operation for found in reads.found for operation in found.operations}
    ends = {found.operations[-1]: found for found in reads.found}
    pending = [chain]
    while pending:
        part = pending.pop()
        value = part.value
        users = [user for user in value.users if not _is_returned_tuple(user)]
        is_in_result = is_returned(value) or len(users) < len(value.users)
        if is_in_result and not reads.note_returned(chain, value):
            return None
        for user in users:
            if not moves(user, value) or len(part.operations) >= _LONGEST_ROUND_TRIP:
                return None
            longer = part.longer(user)
            plan = longer.plan()
            ends_in_value = is_identity(plan) if shape is None else inverts(plan, physical_plan(shape))
            if user not in claimed and ends_in_value:
                reads.logical.append(longer.value)
            elif user in ends:
                reads.bitcasts.append(ends[user])
            else:
                pending.append(longer)
    is_read = bool(reads.logical or reads.bitcasts or reads.returned)
    return reads if is_read and _order_bitcasts(reads) else None


def inverts(plan: Plan, other: Plan) -> bool:
    """Is true if each of two plans undoes the other, undefined padding aside."""
    if (plan.start, plan.result) != (other.result, other.start):
        return False
    return is_identity(other.then(plan)) and is_identity(plan.then(other))


def try_bitcast(chain: Chain) -> FoundBitcast | None:
    """Returns the bitcast that the last ops of a chain replaced, if the ops agree with the mark, else None."""
    mark = marked_bitcast(chain.operations[-1])
    if mark is None or not isinstance(mark.shape, ArrayShape) or mark.count > len(chain.operations):
        return None
    operations = chain.operations[len(chain.operations) - mark.count :]
    array = operations[0].operands[0]
    across = dense_bitcast_plan(array_shape(array), physical_shape(mark.shape))
    if across is None:
        return None
    if normal_form(Chain(array, operations).plan()) != normal_form(across.then(logical_plan(mark.shape))):
        return None
    physical = operations[len(across.steps) - 1].results[0] if across.steps else array
    return FoundBitcast(mark, mark.shape, array, physical, operations)


def _order_bitcasts(reads: Reads) -> bool:
    """Orders bitcasts after their operands; returns false if an operand is missing."""
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
