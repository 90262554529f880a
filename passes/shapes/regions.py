"""Regions of values that get another form, with the operations that compute in it.

`rewrite` rebuilds these operations on arrays in their new forms, with conversions at the border.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from dialect_utils.ir import Function, Module, Operand, Operation, Value, array_shape
from dialect_utils.ir.chains import erase_dead, is_pinned, is_plain, is_returned
from dialect_utils.ir.control_flow import in_program_order
from dialect_utils.ir.factors import positions_of, value_at
from dialect_utils.ir.passed_arrays import PassedArray, passed_arrays
from dialect_utils.ops.factors import Position
from passes.shapes.changes import Change, F, Parts, bypass

Passing = Mapping[Value, Sequence[PassedArray]]


def passing(module: Module, change: Change[F]) -> Passing:
    """Returns the arrays that calls, loops and branches can pass in another form, by each of their values."""
    found: dict[Value, list[PassedArray]] = {}
    for array in passed_arrays(module, change.crossed):
        owners = [source.slot.operation for source in array.sources if isinstance(source.slot, Operand)]
        if array.received and not any(map(is_pinned, owners)):
            for value in array.values:
                found.setdefault(value, []).append(array)
    return found


@dataclass(slots=True)
class Region(Generic[F]):
    """The values that get another form, and the operations that compute in it, with the form of each of their arrays.

    `passed` are the arrays of the region that calls, loops and branches pass.
    """

    change: Change[F]
    passing: Passing
    forms: dict[Value, F] = field(default_factory=dict)
    operations: dict[Operation, Mapping[Position, F]] = field(default_factory=dict)
    passed: list[PassedArray] = field(default_factory=list)
    _waiting: deque[Value] = field(default_factory=deque)

    def spread(self, value: Value, form: F) -> None:
        """Assigns a form to a value and to each value that then needs no conversion; the first form stays."""
        if is_plain(value):
            self._give(value, form)
        while self._waiting:
            self._visit(self._waiting.popleft())
        for operation in dict.fromkeys(operation for value in self.forms for operation in _around(value)):
            found = self._forms_at(operation)
            if found:
                self.operations[operation] = found

    @property
    def is_idle(self) -> bool:
        """Is true where nothing computes or passes arrays in another form."""
        return not self.passed and all(each.opcode in self.change.idle for each in self.operations)

    @property
    def computed(self) -> dict[Value, F]:
        """Returns the values that operations compute or receive in another form.

        Without conversions of other arrays, the first value counts, too, as if the program received it in its form.
        """
        if not self.change.converts_all:
            return self.forms
        made = {
            value_at(operation, position): form
            for operation, forms in self.operations.items()
            for position, form in forms.items()
            if position < 0
        }
        return made | {value: self.forms[value] for array in self.passed for value in array.received}

    @property
    def entering(self) -> dict[tuple[Value, F], None]:
        """Returns the values that are converted into another form."""
        computed = self.computed
        needed = (
            (value_at(operation, position), form)
            for operation, forms in self.operations.items()
            for position, form in forms.items()
            if position >= 0
        )
        passed = ((source.value, self.forms[array.received[0]]) for array in self.passed for source in array.sources)
        return dict.fromkeys((value, form) for value, form in (*needed, *passed) if computed.get(value) != form)

    def others(self, value: Value) -> list[Operation | Function]:
        """Returns the operations that read a value in its own form, and the function that returns it."""
        owners = {owner for array in self.passed if value in array.values for owner in array.passing}
        found: list[Operation | Function] = [value.function] if is_returned(value) else []
        found += [user for user in value.users if not {*positions_of(user, value)} <= {*self.operations.get(user, ())}]
        return [each for each in found if each not in owners]

    def _forms_at(
        self, operation: Operation, value: Value | None = None, form: F | None = None
    ) -> Mapping[Position, F]:
        """Returns how an operation computes, given all known forms, and the form that a value would have."""
        positions = (*range(len(operation.operands)), *(~i for i, _ in enumerate(operation.results)))
        known = {i: self.forms[each] for i in positions if (each := value_at(operation, i)) in self.forms}
        if value is not None and form is not None:
            known |= dict.fromkeys(positions_of(operation, value), form)
        return self.change.forms(operation, known) if known else {}

    def _give(self, value: Value, form: F) -> None:
        if value not in self.forms:
            self.forms[value] = form
            self._waiting.append(value)

    def _visit(self, value: Value) -> None:
        form = self.forms[value]
        for array in self.passing.get(value, ()):
            self._pass(array, form)
        for operation in _around(value):
            for position, own in self._forms_at(operation).items():
                self._offer(value_at(operation, position), own)

    def _pass(self, array: PassedArray, form: F) -> None:
        """Adds an array that all calls, loops and branches can pass in a form."""
        shapes = {array_shape(value).dimensions for value in array.values}
        agree = all(self.forms.get(value, form) == form for value in array.received)
        if array in self.passed or len(shapes) != 1 or not agree:
            return
        self.passed.append(array)
        for value in array.received:
            self._give(value, form)
        for source in array.sources:
            self._offer(source.value, form)

    def _offer(self, value: Value, form: F) -> None:
        """Assigns a form to a value without a form whose definition can compute in this form."""
        if value in self.forms:
            return
        is_received = any(value in array.received for array in self.passing.get(value, ()))
        if is_received or self.change.converts_all or self._computes(value, form):
            self._give(value, form)

    def _computes(self, value: Value, form: F) -> bool:
        if value.operation is None:
            return False
        found = self._forms_at(value.operation, value, form)
        return all(found.get(position) == form for position in positions_of(value.operation, value))


def _around(value: Value) -> Iterator[Operation]:
    if value.operation is not None:
        yield value.operation
    yield from value.users


def grow(value: Value, form: F, change: Change[F], passing: Passing) -> Region[F]:
    """Returns the largest region around a value in another form."""
    region = Region(change, passing)
    region.spread(value, form)
    return region


# Operations that a change may replace by an existing value.
_MOVING = ("reshape", "transpose")


def rewrite(module: Module, region: Region[F]) -> None:
    """Rewrites the operations of a region so that its values have their forms, with conversions at the border."""
    work = _Rewrite(module, region)
    received = [value for array in region.passed for value in work.passed(array)]
    done = [operation for operation in in_program_order(module) if operation in region.operations]
    for operation in done:
        work.remake(operation)
    for operation in reversed(done):
        work.retire(operation)
    for value in received:
        if value.operation is not None:
            form, (part,) = work.made[value]
            assert form is not None  # it was passed in one
            bypass(value, part, region.change.plan(array_shape(value), form).steps[0])
        erase_dead([value])
    region.change.forget()


@dataclass(slots=True)
class _Rewrite(Generic[F]):
    """The parts of values, with their form (None: the value itself), and conversions into other forms."""

    module: Module
    region: Region[F]
    made: dict[Value, tuple[F | None, Parts]] = field(default_factory=dict)
    converted: dict[tuple[Value, F], Parts] = field(default_factory=dict)

    def passed(self, array: PassedArray) -> list[Value]:
        """Passes an array in its form; returns the received values, converted back into their own form."""
        form, found = self.region.forms[array.received[0]], list[Value]()
        array.pack(self.module, self.region.change.plan(array_shape(array.received[0]), form))
        for value in array.received:
            for user in value.users:
                found += user.results
                self.made[user.results[0]] = form, (value,)
        return found

    def remake(self, operation: Operation) -> None:
        """Builds an operation of the region on parts."""
        forms = self.region.operations[operation]
        operands = [
            self._in_form(value, forms[position]) if position in forms else (value,)
            for position, value in enumerate(operation.operands)
        ]
        made = self.region.change.remake(self.module.before(operation), operation, forms, operands)
        for index, (result, parts) in enumerate(zip(operation.results, made, strict=True)):
            self.made[result] = forms.get(~index), parts

    def _in_form(self, value: Value, form: F) -> Parts:
        own, parts = self.made.get(value, (None, (value,)))
        if own == form:
            return parts
        key = value, form
        if key not in self.converted:
            self.converted[key] = self.region.change.convert(self.module.after(parts[-1]), value, parts, own, form)
        return self.converted[key]

    def retire(self, operation: Operation) -> None:
        """Removes an operation that was made again, and joins its results where something still reads them."""
        joined = []
        for result in operation.results:
            (form, parts), name = self.made[result], result.name
            if not result.users and not is_returned(result):
                continue
            whole = parts[0]
            if form is not None:
                whole = self.region.change.join(self.module.before(operation), parts, result, form)
            result.replace_uses(whole)
            if not erase_dead([whole]) and (form is not None or operation.opcode not in _MOVING):
                joined.append((whole, name))
        operation.erase()
        for whole, name in joined:
            if whole.operation is not None and len(whole.operation.results) == 1:
                whole.rename(name)
