"""Regions of values that get another form, with the operations that compute in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from dialect_utils.ir import Function, Module, Operand, Operation, Value, array_shape
from dialect_utils.ir.chains import is_pinned, is_plain, is_returned
from dialect_utils.ir.factors import positions_of, value_at
from dialect_utils.ir.passed_arrays import PassedArray, passed_arrays
from dialect_utils.ops.factors import Position
from passes.shapes.changes import Change, F

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
    """Yields the operations that define and use a value."""
    if value.operation is not None:
        yield value.operation
    yield from value.users


def grow(value: Value, form: F, change: Change[F], passing: Passing) -> Region[F]:
    """Returns the largest region around a value in another form."""
    region = Region(change, passing)
    region.spread(value, form)
    return region
