"""Merges and removes chains of data-movement ops."""

from __future__ import annotations

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import (
    Chain,
    chain_to,
    emit_chain,
    erase_dead,
    is_dead,
    is_returned,
    padding_of,
    padding_unless_unread,
    relayouts_of,
    step_of,
)
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from passes.framework.base import COMPILER_FACTS, Report, keeping, module_pass

# A chain is shortened within windows of this many ops, which overlap.
_LONGEST_CHAIN = 16


@keeping(*COMPILER_FACTS)
@module_pass
def cancel_relayouts(module: Module, report: Report) -> None:
    """Merges and removes chains of data-movement ops until none gets shorter.

    1. A chain of transpose, reshape, pad, slice and bitcast-convert ops becomes the shortest chain that moves every
       element to the same index, if the module then has fewer ops. Ops of the chain with other users stay.
    2. The padding of a pad may have any value if no use reads it or the pad is marked `relayout.padding="unspecified"`.
       Such a pad can undo a slice: `slice f32[4] -> f32[3]`, then `pad f32[3] -> f32[4]` is the original array.
    3. Of two equal data-movement ops on one value, the first serves the users of both.
    4. Data-movement ops without users are removed, and so are constants that only they used.

    Ops between tiled or permuted layouts, with a sharding, or with control dependencies stay.

    Terminates: every change leaves fewer ops.

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
    changed = True
    while changed:
        changed = False
        for function in module.functions:
            changed |= _cancel_in(module, function)


def _cancel_in(module: Module, function: Function) -> bool:
    gone: set[Operation] = set()
    first: dict[object, Value] = {}
    for operation in relayouts_of(function):
        if operation in gone:
            continue
        value = operation.results[0]
        if not is_dead(value) and not _share(operation, value, first, gone):
            _shorten(module, value)
        gone |= erase_dead([value])
    return bool(gone)


def _share(operation: Operation, value: Value, first: dict[object, Value], gone: set[Operation]) -> bool:
    """Replaces a movement by an earlier equal one of the same value that still exists (rule 3)."""
    step = step_of(operation)
    padding = padding_of(operation) if step.adds_elements else None
    key = (operation.operands[0], step, padding, array_shape(value))
    other = first.get(key)
    if other is None or other.operation in gone:
        first[key] = value
        return False
    value.replace_uses(other)
    return True


def _shorten(module: Module, value: Value) -> None:
    """Replaces the chain that saves the most ops among those that end in a value (rules 1 and 2)."""
    whole = chain_to(value, _LONGEST_CHAIN)
    best: tuple[int, Chain, Plan] | None = None
    for start in range(len(whole.operations) - 1, -1, -1):
        chain = Chain(whole.operations[start].operands[0], whole.operations[start:])
        # A slice may drop padding, which then has any value.
        has_slice = any(step_of(operation).drops_elements for operation in chain.operations[:-1])
        form = normal_form(chain.plan(padding_unless_unread if has_slice else padding_of))
        gain = _dying(chain) - len(form.steps)
        if gain > (best[0] if best else 0) and _keeps_memory_space(chain, form):
            best = gain, chain, form
    if best is not None:
        _replace(module, best[1], best[2])


def _dying(chain: Chain) -> int:
    """Returns how many ops at the end of a chain have no other user than the chain."""
    count = 1
    for operation in reversed(chain.operations[:-1]):
        value = operation.results[0]
        if len(value.users) > 1 or is_returned(value):
            break
        count += 1
    return count


def _keeps_memory_space(chain: Chain, form: Plan) -> bool:
    """Is true unless the source itself would replace a value in another memory space."""
    spaces = [array_shape(value).effective_layout.memory_space for value in (chain.source, chain.value)]
    return bool(form.steps) or spaces[0] == spaces[1]


def _replace(module: Module, chain: Chain, form: Plan) -> None:
    value = chain.value
    operation = chain.operations[-1]
    pads = [each for each in chain.operations if step_of(each).adds_elements]
    scalars = {padding_of(pad): pad.operands[1] for pad in pads}
    new = emit_chain(module.before(operation), form, chain.source, base=value.name, like=value, scalars=scalars)
    if form.steps and new.shape != value.shape:
        new.set_shape(value.shape)
    value.replace_uses(new)
