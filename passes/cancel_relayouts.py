"""Merges and removes chains of data-movement ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import Pad, Slice
from dialect_utils.layout.linear_map import Fill
from dialect_utils.layout.movement import Movement, normal_form
from passes.base import Pass, Report
from passes.chains import (
    Chain,
    array_shape,
    chain_to,
    emit_movement,
    erase_dead,
    fill_unless_unread,
    is_dead,
    is_returned,
    movements_of,
    padding_fill,
    step_of,
)

# Chains are cut into windows of this many ops; what is left of one window meets the next.
_LONGEST_CHAIN = 16


@dataclass(frozen=True)
class CancelRelayouts(Pass):
    """Merges and removes chains of data-movement ops until none gets shorter.

    1. A chain of transpose, reshape, pad, slice and bitcast-convert ops becomes the fewest ops
       that put the same elements in the same places, where this leaves fewer ops in the module:
       ops of the chain that others use stay.
    2. A pad whose padding no use reads, or that is marked `relayout.padding="unspecified"`, may
       put any elements there: padding what a slice cut off gives back the array.
    3. Two equal movements of one value are one.
    4. A movement op that nothing uses goes, and so does a constant that this leaves unused.

    Ops between tiled or permuted layouts, with a sharding, or with an order of execution stay.

    Before:
        HloModule m
        ENTRY e {
          p = f32[2,3]{1,0} parameter(0)
          t = f32[3,2]{1,0} transpose(p), dimensions={1,0}
          r = f32[3,2,1]{2,1,0} reshape(t)
          ROOT u = f32[2,1,3]{2,1,0} transpose(r), dimensions={1,2,0}
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[2,3]{1,0} parameter(0)
          ROOT u.reshape = f32[2,1,3]{2,1,0} reshape(p)
        }
    """

    name: ClassVar[str] = "cancel-relayouts"

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        cancel_relayouts(module)


def cancel_relayouts(module: Module) -> None:
    """Merges and removes the data-movement chains of a module in place, as the pass does.

    Ends: every change leaves fewer ops.
    """
    changed = True
    while changed:
        changed = False
        for function in module.functions:
            changed |= _cancel_in(module, function)


def _cancel_in(module: Module, function: Function) -> bool:
    gone: set[Operation] = set()
    first: dict[object, Value] = {}
    for operation in movements_of(function):
        if operation in gone:
            continue
        value = operation.results[0]
        if not is_dead(value) and not _share(operation, value, first):
            _shorten(module, value)
        removed = erase_dead([value])
        gone |= removed
        first = {key: other for key, other in first.items() if other.operation not in removed} if removed else first
    return bool(gone)


def _share(operation: Operation, value: Value, first: dict[object, Value]) -> bool:
    """Lets an earlier equal movement of the same value take the place of this one (rule 3)."""
    step = step_of(operation)
    fill = padding_fill(operation) if isinstance(step, Pad) else None
    key = (operation.operands[0], step, fill, array_shape(value))
    other = first.setdefault(key, value)
    if other == value:
        return False
    value.replace_uses(other)
    return True


def _shorten(module: Module, value: Value) -> None:
    """Makes a value by fewer ops from one further up, where that leaves fewer in all (rules 1 and 2)."""
    whole = chain_to(value, _LONGEST_CHAIN)
    best: tuple[int, Chain, Movement] | None = None
    for start in range(len(whole.operations) - 1, -1, -1):
        chain = Chain(whole.operations[start].operands[0], whole.operations[start:])
        form = normal_form(chain.movement(_fill_in(chain)))
        gain = _dying(chain) - len(form.plan.steps)
        if gain > (best[0] if best else 0) and _is_same_place(chain, form):
            best = gain, chain, form
    if best is not None:
        _replace(module, best[1], best[2])


def _fill_in(chain: Chain) -> Callable[[Operation], Fill]:
    """Returns how to tell paddings apart; whether one is read matters only behind a slice."""
    if not any(isinstance(operation.step, Slice) for operation in chain.operations[:-1]):
        return padding_fill
    return fill_unless_unread


def _dying(chain: Chain) -> int:
    """Counts the ops at the end of a chain that nothing uses once the last value is made in another way."""
    count = 1
    for operation in reversed(chain.operations[:-1]):
        value = operation.results[0]
        if len(value.users) > 1 or is_returned(value):
            break
        count += 1
    return count


def _is_same_place(chain: Chain, form: Movement) -> bool:
    """Is true unless the source itself would take the place of a value in another memory space."""
    spaces = [array_shape(value).effective_layout.memory_space for value in (chain.source, chain.value)]
    return bool(form.plan.steps) or spaces[0] == spaces[1]


def _replace(module: Module, chain: Chain, form: Movement) -> None:
    value = chain.value
    operation = chain.operations[-1]
    paddings: dict[Fill, Value] = {}
    for pad in chain.operations:
        if isinstance(pad.step, Pad):
            paddings[padding_fill(pad)] = pad.operands[1]
    builder = module.before(operation)
    new = emit_movement(builder, form, chain.source, base=value.name, like=value, paddings=paddings)
    if form.plan.steps and new.shape != value.shape:
        new.set_shape(value.shape)
    value.replace_uses(new)
