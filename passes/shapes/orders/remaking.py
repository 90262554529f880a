"""Makes the operations of a region again, with their dimensions in the orders of the region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Module, Operation, Value, array_shape
from dialect_utils.ir.chains import emit_plan, is_dead, is_pinned
from dialect_utils.ir.control_flow import in_program_order
from dialect_utils.ir.factors import (
    Order,
    groups_of,
    identity,
    permuted_shape,
    regrouped_ints,
    regrouped_operands,
)
from dialect_utils.layout import Reshape, Transpose
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops.factors import RESULT
from passes.shapes.orders.region import Fit, Region, is_trivial

# The end of the name of a value in another order.
_PERMUTED = ".permuted"


@dataclass(slots=True)
class Remaking:
    """The values of a region in other orders.

    A remade value is followed by a transpose that gives it back in its own order, so the module is correct after
    every step. A later operation of the region reads the value before that transpose.
    """

    module: Module
    region: Region
    # A value in another order, by the value that it replaces.
    bases: dict[Value, tuple[Value, Order]] = field(default_factory=dict)
    transposed: dict[tuple[Value, Order], Value] = field(default_factory=dict)
    # The transposes that were made, of which some stay without users.
    made: dict[Operation, None] = field(default_factory=dict)

    def run(self) -> None:
        """Makes joins, then operations, and removes the transposes that nothing reads."""
        self._join()
        for operation in list(in_program_order(self.module)):
            if operation.opcode == "transpose" and self._is_touched(operation):
                self._transpose(operation)
            elif operation.opcode != "transpose" and not self._is_kept(operation):
                self._remake(operation, self.region.fits[operation])
        for operation in reversed(list(self.made)):
            if all(map(is_dead, operation.results)):
                operation.erase()

    def _is_kept(self, operation: Operation) -> bool:
        found = self.region.fits.get(operation)
        return found is None or is_trivial(found)

    def _join(self) -> None:
        """Gives parameters and results of loops, branches and calls another order."""
        for join in list(self.region.joined()):
            order = self.region.orders[join.targets[0]]
            for source in join.sources:
                source.replace(self._in_order(source.value, order))
            for target in join.targets:
                target.set_shape(permuted_shape(array_shape(target), order))
                self._give_back(target, target, order)
        # The transposes that are remembered read values that were given back since.
        self.transposed.clear()

    def _is_touched(self, transpose: Operation) -> bool:
        if is_pinned(transpose):
            return False
        is_made = transpose in self.made or transpose.results[0] in self.region.orders
        return is_made or transpose.operands[0] in self.bases

    def _transpose(self, operation: Operation) -> None:
        """Makes a transpose read the value that its operand was made from, or removes it."""
        [source], [result] = operation.operands, operation.results
        base, own = self.bases.get(source, (source, identity(array_shape(source).rank)))
        inverse = inverse_permutation(operation.ints("dimensions") or ())
        order = tuple(inverse[dim] for dim in own)
        if order == identity(len(order)):
            result.replace_uses(base)
            self._erase(operation)
        elif base is source:
            self.bases[result] = (base, order)
        else:
            step, name = Transpose(inverse_permutation(order)), result.name
            made = self.module.before(operation).apply(step, base, name=name, like=result)
            result.replace_uses(made)
            self._erase(operation)
            made.rename(name)
            self.bases[made] = (base, order)
            self._note(made)

    def _remake(self, operation: Operation, fit: Fit) -> None:
        """Makes an operation again."""
        made, names = self._made(operation, fit), [each.name for each in operation.results]
        given = [
            self._give_back(result, value, fit[~i])
            for i, (result, value) in enumerate(zip(operation.results, made, strict=True))
        ]
        # A reshape may be no operation any more, but the value that it read.
        is_named = _is_moved(fit[RESULT]) or (operation.opcode != "reshape" and len(made) == 1)
        operation.erase()
        for value, name in zip(given, names, strict=True):
            if is_named:
                value.rename(name)

    def _made(self, operation: Operation, fit: Fit) -> Sequence[Value]:
        """Returns the results of an operation in their orders."""
        result, builder = operation.results[0], self.module.before(operation)
        is_moved = any(_is_moved(order) for position, order in fit.items() if position < 0)
        name = f"{result.name.partition('#')[0]}{_PERMUTED if is_moved else ''}"
        shapes = [permuted_shape(array_shape(each), fit[~i]) for i, each in enumerate(operation.results)]
        if operation.opcode == "constant":
            assert operation.splat_bits is not None  # it has a fit
            scalar = builder.constant(shapes[0].element_type, operation.splat_bits, name=f"{name}.scalar", like=result)
            return [builder.broadcast(scalar, shapes[0].dimensions, name=name, like=result)]
        needed = [self._in_order(value, fit[i]) if i in fit else value for i, value in enumerate(operation.operands)]
        if operation.opcode == "reshape":
            return [self._reshape(operation, needed[0], fit)]
        if operation.step is not None and (step := operation.step.permuted(fit[RESULT])) is not None:
            padding = needed[1] if step.adds_elements else None
            return [builder.apply(step, needed[0], name=name, like=result, padding=padding)]
        groups = groups_of(fit)
        made = builder.clone(operation, regrouped_operands(operation, needed, groups), shapes, name=name)
        clone = made[0].operation
        assert clone is not None  # of an operation
        for key, values in regrouped_ints(operation, groups):
            clone.set_ints(key, values)
        return made

    def _reshape(self, operation: Operation, source: Value, fit: Fit) -> Value:
        """Returns the reshape of a value that has another order, in the fewest steps."""
        order, [result] = fit[0], operation.results
        dimensions = array_shape(result).dimensions
        steps = (Transpose(inverse_permutation(order)), Reshape(dimensions), Transpose(fit[RESULT]))
        plan = normal_form(Plan(*array_shape(source).type_and_dimensions, steps))
        made = emit_plan(self.module.before(operation), plan, source, base=result.name, like=result)
        return made[-1] if made else source

    def _give_back(self, old: Value, new: Value, order: Order) -> Value:
        """Replaces a value by a transpose of the value in another order, and returns that."""
        if not _is_moved(order):
            old.replace_uses(new)
            return new
        step = Transpose(inverse_permutation(order))
        logical = self.module.after(new).apply(step, new, name=f"{old.name}.logical", like=old)
        old.replace_uses(logical, keep=[self._note(logical)])
        self.bases[logical] = (new, order)
        return logical

    def _in_order(self, value: Value, order: Order) -> Value:
        """Returns a value with dimension `order[i]` as dimension i."""
        if not _is_moved(order):
            return value
        base, own = self.bases.get(value, (value, identity(len(order))))
        permutation = tuple(own.index(dim) for dim in order)
        if permutation == identity(len(order)):
            return base
        key = (base, permutation)
        if key not in self.transposed:
            name = f"{value.name}{_PERMUTED}"
            made = self.module.after(base).apply(Transpose(permutation), base, name=name, like=value)
            self.transposed[key] = made
            self._note(made)
        return self.transposed[key]

    def _note(self, transpose: Value) -> Operation:
        """Remembers the operation of a transpose that was made, and returns it."""
        assert transpose.operation is not None  # it was made
        self.made[transpose.operation] = None
        return transpose.operation

    def _erase(self, transpose: Operation) -> None:
        self.made.pop(transpose, None)
        transpose.erase()


def _is_moved(order: Order) -> bool:
    return order != identity(len(order))
