"""Puts tiled layouts back in place of the pad, reshape and transpose ops that spell them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape, Layout, Slice, TupleShape, physical_plan
from dialect_utils.layout.movement import Movement, is_identity, normal_form
from dialect_utils.layout.tiling_search import is_put_of, try_tiled_layout
from passes.base import Pass, Report
from passes.chains import Chain, array_shape, chains_from, is_plain, is_returned, movement_users
from passes.marks import marked_shape
from passes.physical_reads import try_bitcast, try_reads
from passes.tuple_layouts import restore_tuple_layouts

# No put takes more ops.
_LONGEST_PUT = 10


@dataclass(frozen=True)
class FoldTiling(Pass):
    """Puts tiled layouts back in place of the ops that spell them out: the inverse of expand-tiling.

    1. A value that is put into a physical array of some tiled layout, and that every use of the
       physical array reads back unchanged, gets that layout; the ops go. The put is any chain of
       pad, reshape and transpose ops that does what the layout's plan does.
    2. An entry parameter that is only read back by ops marked `relayout.layout`, and an entry
       result that is put by ops marked so, get the marked shape: the signature is logical again.
    3. Ops marked `relayout.bitcast` become the HLO bitcast they were.
    4. A tuple gets the layouts of its elements again.

    Where several layouts have the same physical array, the mark decides; without one, the fewest
    tiles and the greatest minor_to_major. A mark that the ops contradict counts for nothing.

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

    name: ClassVar[str] = "fold-tiling"

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        fold_tiling(module)


def fold_tiling(module: Module) -> None:
    """Puts the tiled layouts of a module back in place, as the pass does."""
    for function in module.functions:
        for parameter in function.parameters:
            _fold_value(parameter) or _fold_physical_parameter(parameter)
            _fold_physical_elements(parameter)
        gone: set[Operation] = set()
        for operation in function.operations:
            for value in operation.results if operation not in gone else ():
                gone |= _fold_value(value)
    restore_tuple_layouts(module)


def _fold_value(value: Value) -> set[Operation]:
    """Gives a value the layout of the physical array that it is put into (rule 1); returns the removed ops."""
    if not is_plain(value) or not movement_users(value):
        return set()
    for put in _puts(value):
        shape = _tiled_shape(put) if try_reads(put) is not None else None
        if shape is not None:
            return _give_layout(value, shape)
    return _fold_untiled_bitcasts(value)


def _give_layout(value: Value, shape: ArrayShape) -> set[Operation]:
    """Removes every put of a value into the physical array of a tiled shape, and gives it that shape."""
    gone: set[Operation] = set()
    for put in _puts(value):
        if gone.intersection(put.operations) or not is_put_of(shape, put.movement(lambda _: None)):
            continue
        reads = try_reads(put)
        if reads is not None:
            gone |= reads.give_back(value)
    value.set_shape(shape)
    return gone


def _puts(value: Value) -> list[Chain]:
    """Returns the chains that may put a value into a physical array, the one with the most steps first."""
    found = []
    for chain in chains_from(value, _LONGEST_PUT):
        steps = normal_form(chain.movement(lambda _: None)).plan.steps
        if steps and not any(isinstance(step, Slice) for step in steps) and _is_private(chain):
            found.append((len(steps), chain))
    return [chain for _, chain in sorted(found, key=lambda item: -item[0])]


def _is_private(chain: Chain) -> bool:
    """Is true where nothing else uses what lies between a chain's ends, nor is it the source again.

    Where a value in between is as good a source, the names that `expand-tiling` gives decide.
    """
    for end in range(1, len(chain.operations)):
        part = Chain(chain.source, chain.operations[:end])
        if len(part.value.users) > 1 or is_returned(part.value) or is_identity(part.movement()):
            return False
        if chain.value.name.startswith(f"{part.value.name}."):
            return False
    return True


def _tiled_shape(put: Chain) -> ArrayShape | None:
    """Returns the source's shape with the layout whose physical array the put makes, or None."""
    shape = array_shape(put.source)
    movement = put.movement(lambda _: None)
    marked = marked_shape(put.operations[-1])
    if isinstance(marked, ArrayShape) and marked.is_tiled and is_put_of(marked, movement):
        return marked
    layout = try_tiled_layout(normal_form(movement))
    if layout is None:
        return None
    space = array_shape(put.value).effective_layout.memory_space
    return shape.with_layout(layout.replace(memory_space=space))


def _fold_physical_parameter(value: Value) -> set[Operation]:
    """Makes an entry parameter logical again that marked ops read back (rule 2)."""
    if not value.function.is_entry or not is_plain(value):
        return set()
    for chain in chains_from(value, _LONGEST_PUT):
        shape = marked_shape(chain.operations[-1])
        if not isinstance(shape, ArrayShape) or not _is_read_back_of(chain, shape):
            continue
        reads = try_reads(Chain(value, ()), shape)
        if reads is None:
            return set()
        gone = reads.give_back(value)
        value.set_shape(shape.with_layout(Layout.descending(shape.rank)))
        return gone | _give_layout(value, shape)
    return set()


def _fold_physical_elements(value: Value) -> None:
    """Makes the elements of a tuple that the entry takes logical again (rule 2)."""
    if not value.function.is_entry or not isinstance(value.shape, TupleShape):
        return
    elements = list(value.shape.elements)
    for user in value.users:
        index = user.ints("index") if user.opcode == "get-tuple-element" else None
        if index is not None:
            element = user.results[0]
            _fold_physical_parameter(element)
            _fold_physical_elements(element)
            elements[index[0]] = element.shape
    value.set_shape(TupleShape(tuple(elements)))


def _is_read_back_of(chain: Chain, shape: ArrayShape) -> bool:
    """Is true where a chain leads from the physical array of a tiled shape to the logical one."""
    put = physical_plan(shape)
    back = chain.movement()
    if put.result != (back.plan.element_type, back.plan.dimensions):
        return False
    if back.plan.result != (shape.element_type, shape.dimensions):
        return False
    return is_identity(Movement(put).then(back)) and is_identity(back.then(Movement(put)))


def _fold_untiled_bitcasts(value: Value) -> set[Operation]:
    """Makes the bitcasts of an untiled value again, whose elements lie as they are numbered (rule 3)."""
    gone: set[Operation] = set()
    for chain in list(chains_from(value, _LONGEST_PUT)):
        if any(operation in gone for operation in chain.operations):
            continue
        found = try_bitcast(chain)
        if found is not None and found.array == value and found.mark.operand == value.name:
            gone |= found.make(value)
    return gone
