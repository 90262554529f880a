"""Moves an array from one layout to another through arrays with less padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import takewhile
from pathlib import Path

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import array_shape
from dialect_utils.ir.chains import is_pinned
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.targets.known import TpuName, parse_target
from dialect_utils.layout.targets.routes import Route, cheapest_route
from dialect_utils.ops import START, named
from passes.framework.base import COMPILER_FACTS, Report, keeping, module_pass
from passes.framework.options import OptionError
from passes.fusions.joining import instruction_at, is_stored, texts

# The most operations with other users before a chain, whose source the chain may read.
_MOST_SHARED = 4
# Operations whose results have the buffers of their operands, also where others read them.
_SHARING = named("while call conditional tuple")
# Movement without padding: a layout pads, and a slice or a pad changes which elements there are.
_MOVES = named("bitcast copy reshape transpose")


@keeping(*COMPILER_FACTS)
@module_pass
def reroute_relayout(module: HloModule, report: Report, *, value: str = "", target: TpuName | Path = "tpu-v5e") -> None:
    """Moves an array from one layout to another through arrays with less padding.

    1. The copies, reshapes, transposes and bitcasts that lead to the value, and that nothing else reads, become copies
       with bitcasts between them: of such chains one that writes the fewest bytes, with padding, on `target`. Without
       a value all chains do so that get fewer bytes.
    2. Where they change the type of the elements once, the first or last copy does, and the arrays between are narrow.
    3. Operations with control dependencies or shardings stay, and arrays in other memory spaces.
    4. The chain may begin before operations that stay or that others read, too, if no operation overwrites its source.

    A reshape that divides the last dimension of `f32[4,256,256]` stores 128 elements for the 8 of `[4,256,32,8]`. After
    a copy in which another dimension is the last one, a bitcast divides it.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4,256,256]{2,1,0:T(8,128)} parameter(0)
          r = f32[4,256,32,8]{3,2,1,0:T(8,128)} reshape(p)
          ROOT c = f32[4,256,32,8]{1,2,3,0:T(8,128)} copy(r)
        }

    After reroute-relayout{value=c}:
        HloModule m
        ENTRY e {
          p = f32[4,256,256]{2,1,0:T(8,128)} parameter(0)
          c.copy = f32[4,256,256]{1,0,2:T(4,128)} copy(p)
          c.bitcast = f32[32,8,4,256]{3,2,1,0:T(4,128)} bitcast(c.copy)
          c.copy.1 = f32[32,8,4,256]{3,0,1,2:T(8,128)} copy(c.bitcast)
          ROOT c = f32[4,256,32,8]{1,2,3,0:T(8,128)} bitcast(c.copy.1)
        }
    """
    if value:
        if not _reroute(instruction_at(module, value), str(target)):
            raise OptionError("value", f"no other copies lead to {value} with fewer bytes")
        return
    while any(_reroute(each, str(target)) for each in reversed(_stored(module))):
        pass  # the last operation of each chain is the first one that is found


def _stored(module: HloModule) -> list[Instruction]:
    return [each for each in instructions(module, *_MOVES) if is_stored(each.computation)]


def _reroute(item: Instruction, target: str) -> bool:
    """Replaces the chain that leads to a value by a route with fewer bytes; is false without one."""
    found = _routed(item, target)
    if found is None:
        return False
    operations, made, route = found
    ops = Ops(item)
    for opcode, shape in route:
        made = ops.emit(opcode, shape, (made,))
    ops.finish(made)
    for each in operations[1:]:
        each.erase()
    return True


def _routed(item: Instruction, target: str) -> tuple[Sequence[Instruction], Instruction, Route] | None:
    """Returns the operations that lead to a value, the last one first, and the source and the route in place of them.

    The source is the first one from which a route writes fewer bytes.
    """
    chip, moves = parse_target(target), [*_moves(item)]
    own = [*takewhile(partial(_is_own, item), (each for each, _ in moves))]
    written = sum(chip.allocation_bytes(array_shape(each)) for each in own if each.opcode != "bitcast")
    if not written or item.opcode == "bitcast":
        return None
    for count in range(min(len(moves), len(own) + _MOST_SHARED), len(own) - 1, -1):
        source = moves[count - 1][0].operands[0]
        if count > len(own) and _is_overwritten(source):
            continue
        shape = array_shape(source)
        plan = reduce(
            Plan.followed_by, (moved for _, moved in reversed(moves[:count])), Plan(*shape.type_and_dimensions)
        )
        route = cheapest_route(shape, plan, array_shape(item), chip, written)
        if route is not None:
            return own, source, route
    return None


def _moves(item: Instruction) -> Iterator[tuple[Instruction, Plan]]:
    """Yields the operations that lead to a value, the last one first, and change the type at most once."""
    conversions = 0
    while (moved := _movement(item)) is not None:
        conversions += array_shape(item).element_type != array_shape(item.operands[0]).element_type
        if conversions > 1:
            return
        yield item, moved
        item = item.operands[0]


def _is_own(last: Instruction, item: Instruction) -> bool:
    """Is true for an operation that a chain may lose."""
    if is_pinned(item) or item.computation.controlled_by(item):
        return False
    return item is last or not (len(item.users) > 1 or item.is_root)


def _is_overwritten(value: Instruction) -> bool:
    """Is true if an operation may write into the buffer of a value, which a longer live range would not keep."""
    if value.opcode == "get-tuple-element":
        return True
    if value.opcode == "parameter" and not (value.computation.is_entry and not value.computation.module.aliases):
        return True
    return any(_overwrites(user) or (user.opcode == "bitcast" and _is_overwritten(user)) for user in value.users)


def _overwrites(user: Instruction) -> bool:
    is_sharing = user.opcode in _SHARING and not (user.is_root and user.computation.is_entry)
    return is_sharing or user.opcode.endswith(START) or user.attribute("output_to_operand_aliasing") is not None


def _movement(item: Instruction) -> Plan | None:
    """Returns the movement by an operation, whatever type it converts to; None for one that does more."""
    if item.opcode not in _MOVES:
        return None
    if not all(_is_movable(each.shape) for each in (item, *item.operands)):
        return None
    source, result = array_shape(item.operands[0]), array_shape(item)
    if item.opcode == "bitcast":
        moved = classify_bitcast(source, result).decomposition
        return None if moved is None or moved.regroups_bits or moved.drops_elements else moved
    plan = Plan(*source.type_and_dimensions)
    return plan if item.step is None else plan.append(item.step)


def _is_movable(shape: Shape) -> bool:
    if not isinstance(shape, ArrayShape) or not shape.is_static or 0 in shape.dimensions:
        return False
    return shape.in_default_memory == shape


def candidates(module: HloModule, target: str) -> Iterator[str]:
    """Yields passes in a pipeline's syntax, those at the largest arrays first."""
    step = reroute_relayout.with_options(target=Path(target))
    return texts(module, step, lambda item: _routed(item, target) is not None, target)
