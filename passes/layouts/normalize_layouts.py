"""Makes every layout descending, with transposes that express the former order of dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from dialect_utils.ir import Module, Operation, Value, array_shape
from dialect_utils.ir.chains import emit_plan
from dialect_utils.ir.control_flow import in_program_order
from dialect_utils.ir.factors import (
    NamedInts,
    groups_of,
    numbers_dimensions,
    orders_for_result,
    permuted_shape,
    regrouped_ints,
    regrouped_operands,
)
from dialect_utils.layout import ArrayShape, Shape, Step, Transpose
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Stage, inverse_permutation
from passes.framework.base import COMPILER_FACTS, Report, keeping, module_pass
from passes.tiling.markers import unmarked_attributes


def normal_shape(value: Value) -> ArrayShape:
    """Returns the shape of the normalized value: dimensions in physical order, with the same tiles."""
    return permuted_shape(array_shape(value), order_of(value))


def order_of(value: Value) -> tuple[int, ...]:
    """Returns a value's dimensions in physical order, most major first."""
    return array_shape(value).effective_layout.major_to_minor


def is_descending(value: Value) -> bool:
    """Is true if a value's minor_to_major is descending, whatever its tiles."""
    return array_shape(value).effective_layout.is_descending


def is_same_array(shape: Shape, other: Shape) -> bool:
    """Is true for equal array shapes, where an unwritten layout equals the descending one."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return False
    return shape.with_effective_layout == other.with_effective_layout


def normalizes(operation: Operation, value: Value, normalized: Value, permutation: tuple[int, ...]) -> bool:
    """Is true for a bitcast, or a transpose by a permutation, between a value and its normalized value."""
    if is_descending(value) or not is_same_array(normal_shape(value), normalized.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == permutation


# Attributes that number the dimensions of an op or that replacing the op would lose.
_ATTACHED = ("sharding", "mhlo.sharding", "sdy.sharding", "control-predecessors")


@keeping(*COMPILER_FACTS)
@module_pass
def normalize_layouts(module: Module, report: Report) -> None:
    """Makes layouts descending: the order of dimensions moves from minor_to_major into the shapes.

    This is XLA's layout normalization (xla/service/layout_normalization.cc) with transposes instead of bitcasts;
    `form-bitcasts` turns the transposes that move no byte into bitcasts.

    1. A value whose minor_to_major is not descending is replaced by its *normalized* value: the transpose to physical
       order, which moves no byte. Tiles, packing and memory space refer to the physical order and do not change.
    2. Elementwise ops, copies, broadcasts, slices, pads, reverses, concatenates, iotas, reshapes, transposes and
       dynamic (update) slices compute normalized values. An operand in another order than the result, and a copy into
       another order, become transposes that move bytes. A bitcast reads the same bytes.
    3. All other ops, parameters, results, tuples, loops, branches and fusions keep their layouts, as in XLA: they read
       the normalized value transposed back.

    Unlike in XLA, rule 3 covers reduce and reduce-window, which may sum permuted dimensions in another order, arrays
    with dynamic dimensions, and ops with shardings.

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
    work = _Normalization(module)
    for operation in in_program_order(module):
        work.normalize(operation)
    work.finish()


@dataclass(slots=True)
class _Normalization:
    """The normalized values of a module, and the ops that they replace."""

    module: Module
    normalized: dict[Value, Value] = field(default_factory=dict)
    # Transposes of the normalized value, by value and order.
    transposed: dict[tuple[Value, tuple[int, ...]], Value] = field(default_factory=dict)
    # The replaced ops in order, and those of them that transpose a normalized value back.
    replaced: list[Operation] = field(default_factory=list)
    giving_back: set[Operation] = field(default_factory=set)

    def normalize(self, operation: Operation) -> None:
        """Builds the normalized value of an op's result from normalized operands (rules 1 and 2)."""
        if not _has_another_order(operation) or any(operation.attribute(name) for name in _ATTACHED):
            return
        result = operation.results[0]
        if self._is_transposed_already(operation):
            return
        made = self._made_normalized(operation)
        if made is None:
            return
        self.normalized[result] = made
        if made != result:
            self.replaced.append(operation)

    def _is_transposed_already(self, operation: Operation) -> bool:
        """Is true for an op that already computes the normalized value of its operand, or transposes one back."""
        if operation.opcode not in ("transpose", "bitcast"):
            return False
        source, result = operation.operands[0], operation.results[0]
        is_first = source not in self.normalized and source.function == result.function
        if is_first and normalizes(operation, source, result, order_of(source)):
            self.normalized[source] = result
            return True
        if not normalizes(operation, result, source, inverse_permutation(order_of(result))):
            return False
        self.normalized[result] = self.of(source)
        if result.users or result in result.function.results:
            self.replaced.append(operation)
            self.giving_back.add(operation)
        return True

    def _made_normalized(self, operation: Operation) -> Value | None:
        if operation.opcode == "bitcast":
            operand, result = self.of(operation.operands[0]), operation.results[0]
            return operand if operand.shape == normal_shape(result) else self._remade(operation, [operand])
        if not _is_moving(operation):
            return self._permuted(operation)
        permuted = None if operation.step is None else operation.step.permuted(order_of(operation.results[0]))
        return self._move(operation) if permuted is None else self._resize(operation, permuted)

    def _permuted(self, operation: Operation) -> Value | None:
        """Rebuilds an op on operands whose dimensions are in the physical order of its result."""
        orders = orders_for_result(operation, order_of(operation.results[0]))
        if orders is None:
            return None
        needed = [
            self.in_order(operand, orders[i]) if i in orders else operand
            for i, operand in enumerate(operation.operands)
        ]
        if not numbers_dimensions(operation.opcode):
            return self._remade(operation, needed)
        groups = groups_of(operation, orders)
        return self._remade(
            operation, regrouped_operands(operation, needed, groups), [*regrouped_ints(operation, groups)]
        )

    def _remade(self, operation: Operation, operands: Sequence[Value], ints: Sequence[NamedInts] = ()) -> Value:
        """Returns the result of an op on other operands: of the op itself if the order is descending, else a clone."""
        result, made = operation.results[0], operation
        if is_descending(result):
            for index, operand in enumerate(operands):
                operation.set_operand(index, operand)
        else:
            builder, name = self.module.before(operation), f"{result.name}.normalized"
            cloned = builder.clone(operation, operands, [normal_shape(result)], name=name)[0].operation
            assert cloned is not None  # the clone
            made = cloned
        for name, values in ints:
            made.set_ints(name, values)
        return made.results[0]

    def _move(self, operation: Operation) -> Value:
        """Builds a copy, reshape or transpose between normalized values, in the fewest steps."""
        source, result = operation.operands[0], operation.results[0]
        sides = ((array_shape(value).type_and_dimensions, order_of(value)) for value in (source, result))
        plan = _normalized_plan(array_shape(self.of(source)).type_and_dimensions, operation.step, *sides)
        if not plan.steps:
            return self._instead_of(operation, self.of(source))
        if is_descending(result) and plan.opcodes == (operation.opcode,):
            found = plan.steps[0]
            ints = (("dimensions", found.permutation),) if isinstance(found, Transpose) else ()
            return self._remade(operation, [self.of(source)], ints)
        builder = self.module.before(operation)
        made = emit_plan(builder, plan, self.of(source), base=result.name, last="normalized", like=result)[-1]
        made.set_shape(normal_shape(result))
        _set_frontend_attributes(made, unmarked_attributes(operation))
        return made

    def _instead_of(self, operation: Operation, operand: Value) -> Value:
        """Returns the replacement of an op that moves nothing: the operand, or a copy of it into other tiles."""
        result = operation.results[0]
        shape = normal_shape(result)
        # StableHLO has no copy, so the operand's layout stays.
        if self.module.dialect == "stablehlo" or is_same_array(operand.shape, shape):
            return operand
        return self.module.before(operation).copy(operand, shape, name=f"{result.name}.normalized", like=result)

    def _resize(self, operation: Operation, step: Step) -> Value:
        """Builds a pad or slice, `step`, whose dimensions are in the physical order of the result."""
        result = operation.results[0]
        value = self.in_order(operation.operands[0], order_of(result))
        if is_descending(result):
            return self._remade(operation, [value])
        padding = operation.operands[1] if step.adds_elements else None
        builder, name = self.module.before(operation), f"{result.name}.normalized"
        made = builder.apply(step, value, name=name, like=result, padding=padding)
        made.set_shape(normal_shape(result))
        _set_frontend_attributes(made, operation.frontend_attributes)
        return made

    def of(self, value: Value) -> Value:
        """Returns the normalized value; that of a value in descending order is the value itself."""
        if value not in self.normalized:
            self.normalized[value] = value if is_descending(value) else self._transpose(value, value, order_of(value))
        return self.normalized[value]

    def in_order(self, value: Value, order: tuple[int, ...]) -> Value:
        """Returns a value with dimension `order[i]` as dimension i."""
        base, own = self.of(value), order_of(value)
        if own == order:
            return base
        key = (value, order)
        if key not in self.transposed:
            self.transposed[key] = self._transpose(value, base, tuple(own.index(dim) for dim in order))
        return self.transposed[key]

    def _transpose(self, value: Value, base: Value, permutation: tuple[int, ...]) -> Value:
        made = self.module.after(base).apply(Transpose(permutation), base, name=f"{value.name}.normalized", like=value)
        made.set_shape(permuted_shape(array_shape(base), permutation))
        return made

    def finish(self) -> None:
        """Transposes normalized values back for ops that keep their layouts, and removes replaced ops (rule 3)."""
        returned = {value for function in self.module.functions for value in function.results}
        for operation in reversed(self.replaced):
            value, name = operation.results[0], operation.results[0].name
            if value.users or value in returned:
                if operation in self.giving_back:
                    continue
                value.replace_uses(self._logical(value))
            made, takes_over = self.normalized[value], is_descending(value)
            operation.erase()
            if takes_over and made.operation is not None and made.name == f"{name}.normalized":
                made.rename(name)

    def _logical(self, value: Value) -> Value:
        made = self.normalized[value]
        if is_descending(value):
            return made
        back = Transpose(inverse_permutation(order_of(value)))
        logical = self.module.after(made).apply(back, made, name=f"{value.name}.logical", like=value)
        logical.set_shape(value.shape)
        return logical


# The type and the physical order of an array.
_Side = tuple[Stage, tuple[int, ...]]


@lru_cache(maxsize=1 << 10)
def _normalized_plan(base: Stage, step: Step | None, source: _Side, result: _Side) -> Plan:
    """Returns the shortest plan of a copy (no step) or a step, from the operand's normalized value, of type `base`."""
    back = Plan(*base, (Transpose(inverse_permutation(source[1])),))
    moved = Plan(*source[0], () if step is None else (step,))
    there = Plan(*result[0], (Transpose(result[1]),))
    return normal_form(back.then(moved).then(there))


def _is_moving(operation: Operation) -> bool:
    """Is true for data movement within one element type; some ops of the TPU compiler also convert."""
    if operation.opcode != "copy" and (operation.step is None or operation.step.regroups_bits):
        return False
    source, result = operation.operands[0], operation.results[0]
    types = [array_shape(value).type_and_dimensions for value in (source, result)]
    if operation.opcode == "copy":
        # A copy that converts, too, is more than movement.
        return types[0] == types[1] and order_of(source) != order_of(result)
    return types[0][0] == types[1][0]


def _set_frontend_attributes(value: Value, attributes: Mapping[str, str]) -> None:
    assert value.operation is not None  # made by the caller
    for name, text in attributes.items():
        value.operation.set_frontend_attribute(name, text)


def _has_another_order(operation: Operation) -> bool:
    """Is true for an op with one result and static arrays of which at least one is not in descending order."""
    found = False
    for value in (*operation.results, *operation.operands):
        shape = value.shape
        if not isinstance(shape, ArrayShape) or shape.dynamic:
            return False
        found = found or not (shape.layout is None or shape.layout.is_descending)
    return found and len(operation.results) == 1
