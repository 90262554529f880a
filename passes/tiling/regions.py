"""Regions of elementwise ops that can compute on physical arrays, so that the ops which pack their result vanish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import (
    Chain,
    chain_to,
    chains_from,
    emit_chain,
    erase_dead,
    is_dead,
    is_pinned,
    is_plain,
    is_relayout,
    is_returned,
    padding_unless_unread,
)
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, Pad
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.plan import Plan

# The most ops of a chain that is tried as one packing or unpacking.
LONGEST_CHAIN = 12
# The most elementwise ops that are followed upwards to estimate a cost.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Region:
    """The values that have to be physical arrays so that a packing chain becomes superfluous.

    `sources` maps unpacked values to their physical arrays, `splats` are arrays with equal elements, `entering` are
    values that have to be packed, and `inner` are the elementwise ops in order.
    """

    chain: Chain
    plan: Plan
    sources: dict[Value, Value] = field(default_factory=dict)
    splats: list[Value] = field(default_factory=list)
    entering: list[Value] = field(default_factory=list)
    inner: list[Operation] = field(default_factory=list)

    @property
    def gain(self) -> int:
        """Returns how many data-movement ops the move saves."""
        steps_back = len(normal_form(self.plan.inverse()).steps)
        made = steps_back * sum(map(self.is_read_elsewhere, self.inner))
        return self._dying_relayouts() - made - len(self.plan.steps) * len(self.entering)

    def is_read_elsewhere(self, operation: Operation) -> bool:
        """Is true if the op's result is used outside the region and its chain."""
        value = operation.results[0]
        inside = self._inside()
        return is_returned(value) or any(user not in inside for user in value.users)

    def _inside(self) -> list[Operation]:
        """Returns the ops that stop reading logical values: the region's, and the chain's first if it is removed."""
        links = [operation.results[0] for operation in self.chain.operations[:-1]]
        is_shared = any(is_returned(value) or len(value.users) > 1 for value in links)
        return self.inner if is_shared else [*self.inner, self.chain.operations[0]]

    def _dying_relayouts(self) -> int:
        dying: set[Operation] = {*self.inner, self.chain.operations[-1]}
        pending = [operand for operation in dying for operand in operation.operands]
        while pending:
            value = pending.pop()
            operation = value.operation
            if operation is None or operation in dying or not is_relayout(operation) or is_returned(value):
                continue
            if all(user in dying for user in value.users):
                dying.add(operation)
                pending += operation.operands
        return sum(is_relayout(operation) for operation in dying - set(self.inner))

    def move(self, module: Module) -> set[Operation]:
        """Builds the physical arrays and removes ops without users; returns the removed ops."""
        made = self.sources | {value: self._make_splat(module, value) for value in self.splats}
        for value in self.entering:
            plan = self.plan.retyped(array_shape(value).element_type)
            made[value] = emit_chain(module.after(value), plan, value, base=value.name, like=value)
        for operation in self.inner:
            made[operation.results[0]] = self._make_inner(module, operation, made)
        end = self.chain.value
        root = made[self.chain.source]
        if root.shape != end.shape:
            root.set_shape(end.shape)
        for operation in self.inner:
            if self.is_read_elsewhere(operation):
                self._unpack_elsewhere(module, operation, made[operation.results[0]])
        end.replace_uses(root)
        return self._erase(end)

    def _physical_shape(self, value: Value) -> ArrayShape:
        end, shape = array_shape(self.chain.value), array_shape(value)
        layout = end.layout.replace(memory_space=0) if end.layout is not None else None
        return ArrayShape(shape.element_type, end.dimensions, layout)

    def _make_splat(self, module: Module, value: Value) -> Value:
        operation = value.operation
        assert operation is not None  # a splat is an op's result
        builder = module.after(value)
        name = f"{value.name}.physical"
        if operation.opcode == "broadcast":
            scalar = operation.operands[0]
        else:
            assert operation.splat_bits is not None  # a splat is a broadcast or a constant
            element_type = array_shape(value).element_type
            scalar = builder.constant(element_type, operation.splat_bits, name=f"{value.name}.scalar", like=value)
        return builder.broadcast(scalar, self._physical_shape(value).dimensions, name=name, like=value)

    def _make_inner(self, module: Module, operation: Operation, made: dict[Value, Value]) -> Value:
        value = operation.results[0]
        scalars = scalar_operands(operation)
        operands = [operand if index in scalars else made[operand] for index, operand in enumerate(operation.operands)]
        name = f"{value.name}.physical"
        return module.before(operation).clone(operation, operands, [self._physical_shape(value)], name=name)[0]

    def _unpack_elsewhere(self, module: Module, operation: Operation, physical: Value) -> None:
        value = operation.results[0]
        back = normal_form(self.plan.retyped(array_shape(value).element_type).inverse())
        logical = emit_chain(module.before(operation), back, physical, base=value.name, like=value)
        if logical.shape != value.shape:
            logical.set_shape(value.shape)
        value.replace_uses(logical, keep=self._inside())

    def _erase(self, end: Value) -> set[Operation]:
        gone = erase_dead([end])
        for operation in reversed(self.inner):
            if operation in gone:
                continue
            operands = list(operation.operands)
            operation.erase()
            gone.add(operation)
            gone |= erase_dead([operand for operand in operands if operand.operation not in gone])
        for value in self.splats:
            if value.operation is not None and value.operation not in gone and is_dead(value):
                gone.add(value.operation)
                value.operation.erase()
        return gone


def best_region(value: Value) -> Region | None:
    """Returns the region of the longest plan that packs a value and saves ops, or None."""
    found = [(chain, normal_form(chain.plan(padding_unless_unread))) for chain in chains_from(value, LONGEST_CHAIN)]
    for chain, plan in sorted(found, key=lambda pair: -len(pair[1].steps)):
        if not is_pack(plan):
            continue
        region = _region(Region(chain, plan))
        if region is not None and region.gain > 0:
            return region
    return None


def is_pack(plan: Plan) -> bool:
    """Is true for a plan that pads or splits dimensions and adds undefined padding only.

    The inverse of a pack is never a pack, so ops move towards physical arrays and not back.
    """
    if any(padding is not None for padding in plan.paddings) or plan.drops_elements:
        return False
    if not all(step.only_adds for step in plan.steps if isinstance(step, Pad)):
        return False
    return plan.adds_elements or len(plan.result[1]) > len(plan.dimensions)


def _region(region: Region) -> Region | None:
    """Fills in the values that the chain's source depends on, or returns None if the source itself has to be packed."""
    costs: dict[Value, int] = {}
    function = region.chain.source.function
    pending = [region.chain.source]
    seen: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        physical = _physical_of(value, region.plan)
        if physical is not None:
            region.sources[value] = physical
        elif is_splat(value):
            region.splats.append(value)
        elif _cost_of_moving(value, region, costs, _DEEPEST) < len(region.plan.steps):
            assert value.operation is not None  # only an op can move
            region.inner.append(value.operation)
            pending += _arrays(value.operation)
        elif value == region.chain.source:
            return None
        else:
            region.entering.append(value)
    order = {operation: index for index, operation in enumerate(function.operations)}
    region.inner.sort(key=order.__getitem__)
    return region


def _cost_of_moving(value: Value, region: Region, costs: dict[Value, int], depth: int) -> int:
    """Returns the number of data-movement ops that pack the operands of an elementwise op."""
    too_many = len(region.plan.steps)
    if value in costs:
        return costs[value]
    if depth == 0 or not _can_move(value, region.chain.source.function, region.plan):
        return too_many
    assert value.operation is not None  # checked by _can_move
    total = 0
    for operand in _arrays(value.operation):
        if _physical_of(operand, region.plan) is None and not is_splat(operand):
            total += min(too_many, _cost_of_moving(operand, region, costs, depth - 1))
    costs[value] = total
    return total


def _arrays(operation: Operation) -> Sequence[Value]:
    scalars = scalar_operands(operation)
    return [operand for index, operand in enumerate(operation.operands) if index not in scalars]


def _can_move(value: Value, function: Function, plan: Plan) -> bool:
    """Is true for an elementwise op of the function that may compute on undefined padding."""
    operation = value.operation
    if operation is None or operation.function != function or not is_plain(value) or not is_elementwise(operation):
        return False
    if plan.regroups_bits:
        # A packed byte holds several elements.
        return False
    return not is_pinned(operation) and not _may_divide_by_zero(operation)


def _may_divide_by_zero(operation: Operation) -> bool:
    """Is true for an integer division whose divisor could be zero in the padding.

    XLA defines division by zero; other backends and interpreters do not.
    """
    if (
        operation.opcode not in ("divide", "remainder")
        or not array_shape(operation.results[0]).element_type.is_integral
    ):
        return False
    divisor = operation.operands[1].operation
    if divisor is not None and divisor.opcode == "broadcast":
        divisor = divisor.operands[0].operation
    return divisor is None or not divisor.splat_bits


def is_splat(value: Value) -> bool:
    """Is true for a broadcast scalar or a constant with equal elements."""
    operation = value.operation
    if operation is None or not is_plain(value):
        return False
    if operation.opcode == "broadcast":
        return is_plain(operation.operands[0]) and array_shape(operation.operands[0]).rank == 0
    return operation.splat_bits is not None


def _physical_of(value: Value, plan: Plan) -> Value | None:
    """Returns an array that equals the result of the plan on a value, undefined padding aside, or None."""
    if not is_plain(value):
        return None
    whole = chain_to(value, LONGEST_CHAIN)
    plan = plan.retyped(array_shape(value).element_type)
    for start in range(len(whole.operations)):
        back = Chain(whole.operations[start].operands[0], whole.operations[start:])
        if array_shape(back.source).type_and_dimensions == plan.result and is_identity(back.plan().then(plan)):
            return back.source
    return None
