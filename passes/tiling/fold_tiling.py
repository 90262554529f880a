"""Replaces pad, reshape and transpose ops by the tiled layouts that they implement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import Chain, chains_from, is_plain, is_returned, relayout_users
from dialect_utils.ir.control_flow import joins_of
from dialect_utils.layout import ArrayShape, Layout, Shape, TupleShape
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.packs import is_pack_of, try_tiled_layout
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from passes.framework.base import Report, module_pass
from passes.tiling.markers import LAYOUT, marked_shape, tuple_carrier
from passes.tiling.physical_reads import inverts, try_bitcast, try_reads

# The most ops that pack a value.
_LONGEST_PACK = 10


@module_pass
def fold_tiling(module: Module, report: Report) -> None:
    """Replaces ops by the tiled layouts that they implement: the inverse of expand-tiling.

    1. A value gets a tiled layout, and the ops go, if a chain of pad, reshape and transpose ops packs the value
       into the physical array of that layout and every use of the physical array unpacks the value again.
    2. An entry parameter that only ops marked `relayout.layout` unpack, and an entry result that such ops pack, get the
       marked shape: the signature is logical again.
    3. Ops marked `relayout.bitcast` become an HLO bitcast.
    4. A tuple gets the layouts of its elements.

    If several layouts have the same physical array, the marker attribute decides; without a marker, the layout with the
    fewest tiles and the greatest minor_to_major. A marker that the ops contradict is ignored.

    Before:
        HloModule m
        ENTRY e {
          p = f32[3,5]{1,0} parameter(0)
          zero = f32[] constant(0)
          a = f32[4,6]{1,0} pad(p, zero), padding=0_1x0_1
          b = f32[2,2,3,2]{3,2,1,0} reshape(a)
          c = f32[2,3,2,2]{3,2,1,0} transpose(b), dimensions={0,2,1,3}
          d = f32[2,2,3,2]{3,2,1,0} transpose(c), dimensions={0,2,1,3}
          f = f32[4,6]{1,0} reshape(d)
          g = f32[3,5]{1,0} slice(f), slice={[0:3], [0:5]}
          ROOT n = f32[3,5]{1,0} negate(g)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[3,5]{1,0:T(2,2)} parameter(0)
          ROOT n = f32[3,5]{1,0} negate(p)
        }
    """
    for function in module.functions:
        for parameter in function.parameters:
            _fold_value(module, parameter) or _fold_physical_parameter(module, parameter)
            _fold_physical_elements(module, parameter)
        gone: set[Operation] = set()
        for operation in function.operations:
            for value in operation.results if operation not in gone else ():
                gone |= _fold_value(module, value)
    restore_tuple_layouts(module)


def _fold_value(module: Module, value: Value) -> set[Operation]:
    """Sets the layout of a value to that of the physical array it is packed into (rule 1); returns the removed ops."""
    if not is_plain(value) or not relayout_users(value):
        return set()
    packs = _packs(value)
    for pack in packs:
        reads = try_reads(pack.chain)
        shape = _tiled_shape(pack) if reads is not None else None
        if reads is not None and shape is not None:
            return _give_layout(module, value, shape, packs, reads.restore(module, value))
    return _fold_untiled_bitcasts(module, value)


def _give_layout(
    module: Module, value: Value, shape: ArrayShape, packs: Sequence[_Pack], gone: set[Operation]
) -> set[Operation]:
    """Removes every chain that packs a value into the physical array of a tiled shape, and gives the value that shape.

    Returns `gone`, the ops removed before, with those removed now.
    """
    for chain, plan in packs:
        if gone.intersection(chain.operations) or not is_pack_of(shape, plan):
            continue
        reads = try_reads(chain)
        if reads is not None:
            gone |= reads.restore(module, value)
    value.set_shape(shape)
    return gone


class _Pack(NamedTuple):
    """A chain that may pack a value into a physical array, and its plan."""

    chain: Chain
    plan: Plan


def _packs(value: Value) -> list[_Pack]:
    """Returns the chains that may pack a value into a physical array, the one with the most steps first."""
    found = []
    for chain in chains_from(value, _LONGEST_PACK, _is_shared):
        # All pads have one padding value, so that their contents do not matter.
        plan = chain.plan(lambda pad: "padding")
        normal = normal_form(plan)
        if normal.steps and not normal.drops_elements and not _is_named_after_link(chain):
            found.append((len(normal.steps), _Pack(chain, plan)))
    return [pack for _, pack in sorted(found, key=lambda item: -item[0])]


def _is_shared(chain: Chain) -> bool:
    return len(chain.value.users) > 1 or is_returned(chain.value) or is_identity(chain.plan())


def _is_named_after_link(chain: Chain) -> bool:
    """Is true if the name that `expand-tiling` gave the end of a chain says that packing starts at a later op."""
    name = chain.value.name
    return any(name.startswith(f"{operation.results[0].name}.") for operation in chain.operations[:-1])


def _tiled_shape(pack: _Pack) -> ArrayShape | None:
    """Returns the source's shape with the layout whose physical array the chain computes, or None."""
    chain, plan = pack
    marked = marked_shape(chain.operations[-1])
    if isinstance(marked, ArrayShape) and marked.is_tiled and is_pack_of(marked, plan):
        return marked
    layout = try_tiled_layout(normal_form(plan))
    if layout is None:
        return None
    space = array_shape(chain.value).effective_layout.memory_space
    return array_shape(chain.source).with_layout(layout.replace(memory_space=space) if space else layout)


def _fold_physical_parameter(module: Module, value: Value) -> set[Operation]:
    """Restores the logical shape of an entry parameter that marked ops unpack (rule 2)."""
    if not value.function.is_entry or not is_plain(value):
        return set()
    for chain in chains_from(value, _LONGEST_PACK):
        shape = marked_shape(chain.operations[-1])
        if not isinstance(shape, ArrayShape) or not inverts(chain.plan(), physical_plan(shape)):
            continue
        reads = try_reads(Chain(value, ()), shape)
        if reads is None:
            return set()
        gone = reads.restore(module, value)
        value.set_shape(shape.with_layout(Layout.descending(shape.rank)))
        return _give_layout(module, value, shape, _packs(value), gone)
    return set()


def _fold_physical_elements(module: Module, value: Value) -> None:
    """Restores the logical shapes of the elements of a tuple parameter of the entry (rule 2)."""
    if not value.function.is_entry or not isinstance(value.shape, TupleShape):
        return
    elements = list(value.shape.elements)
    for user in value.users:
        index = user.ints("index") if user.opcode == "get-tuple-element" else None
        if index is not None:
            element = user.results[0]
            _fold_physical_parameter(module, element)
            _fold_physical_elements(module, element)
            elements[index[0]] = element.shape
    value.set_shape(TupleShape(tuple(elements)))


def _fold_untiled_bitcasts(module: Module, value: Value) -> set[Operation]:
    """Restores the bitcasts of an untiled value, whose physical array is the value itself (rule 3)."""
    gone: set[Operation] = set()
    for chain in list(chains_from(value, _LONGEST_PACK)):
        if any(operation in gone for operation in chain.operations):
            continue
        found = try_bitcast(chain)
        if found is not None and found.array == value and found.mark.operand == value.name:
            gone |= found.make(module, value)
    return gone


def restore_tuple_layouts(module: Module) -> None:
    """Sets the layouts of every tuple to the tiled ones of its operands and get-tuple-elements (rule 4).

    Marked ops get the marked shape. Layouts spread through calls, loops and branches to untiled leaves until nothing
    changes.
    """
    for value in module.values():
        carrier = tuple_carrier(value) if isinstance(value.shape, TupleShape) else None
        # A tuple op with a mark is a copy of another tuple.
        shape = None if carrier is None or carrier.opcode == "tuple" else marked_shape(carrier)
        if carrier is not None and shape is not None and value.shape.without_layout == shape.without_layout:
            value.set_shape(shape)
            carrier.set_frontend_attribute(LAYOUT, None)
    changed = True
    while changed:
        changed = False
        for operation in module.operations():
            changed |= any(_agree(join.values) for join in joins_of(operation))
            changed |= _restore_around(operation)
    for function in module.functions:
        for operation in function.operations if function.is_entry else ():
            # A marked tuple is a copy of the original tuple, whose elements are equal again.
            if operation.opcode == "tuple" and marked_shape(operation) is not None:
                _give_back_tuple(function, operation)


def _restore_around(operation: Operation) -> bool:
    if operation.opcode == "tuple":
        value = operation.results[0]
        operands = TupleShape(tuple(operand.shape for operand in operation.operands))
        # A loop or branch may have tiled a leaf whose operand is untiled: keeping that layout makes this terminate.
        return _set(value, _merged(operands, value.shape))
    if operation.opcode == "get-tuple-element":
        index = operation.ints("index")
        value = operation.operands[0]
        if index is None or not isinstance(value.shape, TupleShape):
            return False
        elements = list(value.shape.elements)
        elements[index[0]] = _merged(elements[index[0]], operation.results[0].shape)
        part = operation.results[0]
        is_nested = isinstance(part.shape, TupleShape)
        return _set(value, TupleShape(tuple(elements))) | (is_nested and _set(part, elements[index[0]]))
    return False


def _agree(values: Sequence[Value]) -> bool:
    shape = values[0].shape
    if not isinstance(shape, TupleShape):
        return False
    for value in values:
        shape = _merged(shape, value.shape)
    return any(_set(value, _merged(value.shape, shape)) for value in values)


def _merged(shape: Shape, other: Shape) -> Shape:
    """Returns a shape whose untiled leaves have the other shape's tiled layouts, if the types are equal."""
    if isinstance(shape, TupleShape) and isinstance(other, TupleShape) and len(shape.elements) == len(other.elements):
        return TupleShape(tuple(map(_merged, shape.elements, other.elements)))
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return shape
    same = shape.type_and_dimensions == other.type_and_dimensions
    return other if same and other.is_tiled and not shape.is_tiled else shape


def _set(value: Value, shape: Shape) -> bool:
    if value.shape == shape:
        return False
    value.set_shape(shape)
    return True


def _give_back_tuple(entry: Function, copy: Operation) -> None:
    earlier = _whole(copy) or next(
        (o.results[0] for o in entry.operations if o.opcode == "tuple" and o != copy and o.operands == copy.operands),
        None,
    )
    if earlier is None:
        copy.set_frontend_attribute(LAYOUT, None)
        return
    copy.results[0].replace_uses(earlier)
    operands = list(copy.operands)
    copy.erase()
    for operand in operands:
        if operand.operation is not None and operand.operation.opcode == "get-tuple-element" and not operand.users:
            operand.operation.erase()


def _whole(root: Operation) -> Value | None:
    """Returns the tuple whose elements, all and in order, are the operands of an op, or None."""
    parts = [operand.operation for operand in root.operands]
    if not parts or any(part is None or part.opcode != "get-tuple-element" for part in parts):
        return None
    taken = [(part.operands[0], part.ints("index")) for part in parts if part is not None]
    whole = taken[0][0]
    if taken != [(whole, (index,)) for index in range(len(taken))]:
        return None
    shape = whole.shape
    return whole if isinstance(shape, TupleShape) and len(shape.elements) == len(taken) else None
