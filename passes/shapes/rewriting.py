"""Rebuilds the operations of a region on arrays in their new forms, with conversions at the border."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic

from dialect_utils.ir import Module, Operation, Value, array_shape
from dialect_utils.ir.chains import erase_dead, is_returned
from dialect_utils.ir.control_flow import in_program_order
from dialect_utils.ir.passed_arrays import PassedArray
from passes.shapes.changes import F, Parts, bypass
from passes.shapes.regions import Region

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
            builder = self.module.after(parts[-1])
            self.converted[key] = self.region.change.convert(builder, value, parts, own, form)
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
