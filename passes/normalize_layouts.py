"""Makes every layout descending, with transposes where the order of dimensions was said by the layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from dialect_utils.hlo import Instruction
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, Pad, Plan, Reshape, Slice, Transpose
from dialect_utils.layout.movement import Movement, normal_form
from passes.base import Pass, Report
from passes.chains import array_shape
from passes.emit import STEP_NAMES, emit_plan
from passes.marks import unmarked_attributes
from passes.normal_shapes import (
    gives_back,
    gives_normalized,
    inverse_order,
    is_descending,
    is_same_array,
    normal_shape,
    order_of,
    permuted_shape,
    type_of,
)
from passes.permuted_ops import NamedInts, permute_op, permute_step

# What speaks of an op's dimensions by their place, or would be lost with the op.
_ATTACHED = ("sharding", "mhlo.sharding", "sdy.sharding", "control-predecessors")


@dataclass(frozen=True)
class NormalizeLayouts(Pass):
    """Makes layouts descending: the order of dimensions moves from minor_to_major into the shapes.

    This is XLA's layout normalization (xla/service/layout_normalization.cc) with transposes in place of its
    bitcasts; `form-bitcasts` makes bitcasts of those that move nothing.

    1. A value whose minor_to_major is not descending is used as its *normalized* value: the
       transpose to physical order, which moves no byte. Tiles, packing and memory space act on physical order
       and stay as they are.
    2. Elementwise ops, copies, broadcasts, slices, pads, reverses, concatenates, iotas, reshapes, transposes and
       dynamic (update) slices work on normalized values; operands in another order than the
       result's, and a copy into another order, are transposes that move bytes. A bitcast reads the same bytes.
    3. All other ops, parameters and results, tuples, loops, branches and fusions keep their layouts, as in XLA:
       a normalized value is transposed back for them.

    Unlike XLA, reduce and reduce-window count among those others: over permuted dimensions they
    may add up in another order. Arrays with dynamic dimensions, and ops with shardings, stay too.

    Before:
        HloModule m
        ENTRY e {
          p = f32[5,4]{0,1:T(8,128)} parameter(0)
          ROOT a = f32[5,4]{0,1:T(8,128)} abs(p)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[5,4]{0,1:T(8,128)} parameter(0)
          p.normalized = f32[4,5]{1,0:T(8,128)} transpose(p), dimensions={1,0}
          a.normalized = f32[4,5]{1,0:T(8,128)} abs(p.normalized)
          ROOT a.logical = f32[5,4]{0,1:T(8,128)} transpose(a.normalized), dimensions={1,0}
        }
    """

    name: ClassVar[str] = "normalize-layouts"

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        normalize_layouts(module)


def normalize_layouts(module: Module) -> None:
    """Makes the layouts of a module descending, in place, as the pass does."""
    work = _Normalization(module)
    for operation in _in_program_order(module):
        work.normalize(operation)
    work.finish()


def _in_program_order(module: Module) -> Iterator[Operation]:
    """Yields operations, each before those of what it calls or holds; a region uses values in front of its op."""
    seen: set[Function] = set()
    for function in reversed(module.functions):
        waiting = [iter(_begun(function, seen))]
        while waiting:
            operation = next(waiting[-1], None)
            if operation is None:
                waiting.pop()
                continue
            yield operation
            waiting += [iter(_begun(callee, seen)) for callee in reversed(operation.called)]


def _begun(function: Function, seen: set[Function]) -> Sequence[Operation]:
    """Returns a function's operations, the first time it is met; none of one that is applied per element."""
    if function in seen or function.is_applied:
        return ()
    seen.add(function)
    return function.operations


@dataclass(slots=True)
class _Normalization:
    """Holds the normalized value of every value that has one, and the ops that gave way."""

    module: Module
    normalized: dict[Value, Value] = field(default_factory=dict)
    # By value and order: transposes of its normalized value.
    views: dict[tuple[Value, tuple[int, ...]], Value] = field(default_factory=dict)
    # What was made anew, and what gives normalized values back as it did before, in order.
    replaced: list[Operation] = field(default_factory=list)
    giving_back: set[Operation] = field(default_factory=set)

    def normalize(self, operation: Operation) -> None:
        """Makes the normalized value of an op's result from normalized operands (rules 1 and 2)."""
        if not _has_static_arrays(operation) or any(operation.attribute(name) for name in _ATTACHED):
            return
        result = operation.results[0]
        if all(map(is_descending, [result, *operation.operands])) or self._is_view(operation):
            return
        made = self._made_normalized(operation)
        if made is None:
            return
        self.normalized[result] = made
        if made != result:
            self.replaced.append(operation)

    def _is_view(self, operation: Operation) -> bool:
        """Is true for an op that already gives the normalized value of its operand, or gives one back."""
        if operation.opcode not in ("transpose", "bitcast"):
            return False
        source, result = operation.operands[0], operation.results[0]
        if gives_normalized(operation) and source not in self.normalized and source.function == result.function:
            self.normalized[source] = result
            return True
        if not gives_back(operation):
            return False
        self.normalized[result] = self.of(source)
        if result.users or result in result.function.results:
            self.replaced.append(operation)
            self.giving_back.add(operation)
        return True

    def _made_normalized(self, operation: Operation) -> Value | None:
        if operation.opcode == "bitcast":
            return self._bitcast(operation)
        if not _is_moving(operation):
            return self._permuted(operation)
        step = operation.step
        return self._resize(operation, step) if isinstance(step, Pad | Slice) else self._move(operation)

    def _bitcast(self, operation: Operation) -> Value:
        operand = self.of(operation.operands[0])
        return operand if operand.shape == normal_shape(operation.results[0]) else self._remade(operation, [operand])

    def _permuted(self, operation: Operation) -> Value | None:
        """Makes an op again, on operands whose dimensions are in the physical order of its result."""
        permuted = permute_op(operation, order_of(operation.results[0]))
        if permuted is None:
            return None
        needed = [
            operand if order is None else self.in_order(operand, order)
            for operand, order in zip(operation.operands, permuted.orders, strict=True)
        ]
        return self._remade(operation, [needed[i] for i in permuted.operands], permuted.ints)

    def _remade(self, operation: Operation, operands: Sequence[Value], ints: Sequence[NamedInts] = ()) -> Value:
        """Gives the normalized result of an op on other operands; one in descending order stays where it is."""
        result, made = operation.results[0], operation
        if is_descending(result):
            for index, operand in enumerate(operands):
                operation.set_operand(index, operand)
        else:
            builder, name = self.module.before(operation), f"{result.name}.normalized"
            cloned = builder.clone(operation, operands, [normal_shape(result)], name=name)[0].operation
            assert cloned is not None  # a clone is an op
            made = cloned
        for name, values in ints:
            made.set_ints(name, values)
        return made.results[0]

    def _move(self, operation: Operation) -> Value:
        """Makes a copy, reshape or transpose between normalized values, in the fewest steps."""
        source, result = operation.operands[0], operation.results[0]
        back = Plan(*type_of(self.of(source)), (Transpose(inverse_order(order_of(source))),))
        there = Plan(*type_of(result), (Transpose(order_of(result)),))
        step = operation.step
        moved = Plan(*type_of(source), () if step is None else (step,))
        plan = normal_form(Movement(back.then(moved).then(there))).plan
        if not plan.steps:
            return self._in_place_of(operation, self.of(source))
        if is_descending(result) and [STEP_NAMES[type(step)] for step in plan.steps] == [operation.opcode]:
            found = plan.steps[0]
            ints = (("dimensions", found.permutation),) if isinstance(found, Transpose) else ()
            return self._remade(operation, [self.of(source)], ints)
        builder = self.module.before(operation)
        made = emit_plan(builder, plan, self.of(source), base=result.name, last="normalized", like=result)[-1]
        made.set_shape(normal_shape(result))
        _set_frontend_attributes(made, unmarked_attributes(operation))
        return made

    def _in_place_of(self, operation: Operation, operand: Value) -> Value:
        """Returns what takes the place of an op that moves nothing: its operand, or a copy into other tiles."""
        result = operation.results[0]
        shape = normal_shape(result)
        # StableHLO has no copy: there the operand's layout stands.
        if self.module.form == "stablehlo" or is_same_array(operand.shape, shape):
            return operand
        return self.module.before(operation).copy(operand, shape, name=f"{result.name}.normalized", like=result)

    def _resize(self, operation: Operation, step: Pad | Slice) -> Value:
        """Makes a pad or slice of the dimensions in the physical order of the result."""
        result = operation.results[0]
        value = self.in_order(operation.operands[0], order_of(result))
        if is_descending(result):
            return self._remade(operation, [value])
        padding = operation.operands[1] if isinstance(step, Pad) else None
        builder, name = self.module.before(operation), f"{result.name}.normalized"
        made = builder.apply(permute_step(step, order_of(result)), value, name=name, like=result, padding=padding)
        made.set_shape(normal_shape(result))
        _set_frontend_attributes(made, operation.frontend_attributes)
        return made

    def of(self, value: Value) -> Value:
        """Returns the normalized value; a value in descending order is its own."""
        if value not in self.normalized:
            self.normalized[value] = value if is_descending(value) else self._view(value, value, order_of(value))
        return self.normalized[value]

    def in_order(self, value: Value, order: tuple[int, ...]) -> Value:
        """Returns a value with dimension `order[i]` as dimension i."""
        base, own = self.of(value), order_of(value)
        if own == order:
            return base
        key = (value, order)
        if key not in self.views:
            self.views[key] = self._view(value, base, tuple(own.index(dim) for dim in order))
        return self.views[key]

    def _view(self, value: Value, base: Value, permutation: tuple[int, ...]) -> Value:
        name = f"{value.name}.normalized"
        made = self.module.after(base).apply(Transpose(permutation), base, name=name, like=value)
        made.set_shape(permuted_shape(array_shape(base), permutation))
        return made

    def finish(self) -> None:
        """Gives values back to what keeps their layouts, and removes the ops that gave way (rule 3)."""
        returned = {value for function in self.module.functions for value in function.results}
        for operation in reversed(self.replaced):
            value, name = operation.results[0], operation.results[0].name
            if value.users or value in returned:
                if operation in self.giving_back:
                    continue
                value.replace_uses(self._logical(value))
            made = self.normalized[value]
            operation.erase()
            if isinstance(made, Instruction) and made.name == f"{name}.normalized" and is_descending(value):
                made.rename(name)

    def _logical(self, value: Value) -> Value:
        made = self.normalized[value]
        if is_descending(value):
            return made
        back = Transpose(inverse_order(order_of(value)))
        logical = self.module.after(made).apply(back, made, name=f"{value.name}.logical", like=value)
        logical.set_shape(value.shape)
        return logical


def _is_relayout(operation: Operation) -> bool:
    """Is true for a copy into another order that does not convert."""
    source, result = operation.operands[0], operation.results[0]
    return order_of(source) != order_of(result) and type_of(source) == type_of(result)


def _is_moving(operation: Operation) -> bool:
    """Is true for data movement that does not convert, as some does that the TPU compiler writes."""
    if operation.opcode == "copy":
        return _is_relayout(operation)
    is_step = isinstance(operation.step, Transpose | Reshape | Pad | Slice)
    return is_step and type_of(operation.operands[0])[0] == type_of(operation.results[0])[0]


def _set_frontend_attributes(value: Value, attributes: Mapping[str, str]) -> None:
    assert value.operation is not None  # an op made it
    for name, text in attributes.items():
        value.operation.set_frontend_attribute(name, text)


def _has_static_arrays(operation: Operation) -> bool:
    values = [*operation.results, *operation.operands]
    shapes = [value.shape for value in values]
    return len(operation.results) == 1 and all(isinstance(shape, ArrayShape) and shape.is_static for shape in shapes)
