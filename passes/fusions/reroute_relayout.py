"""Moves an array from one layout to another through arrays with less padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
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
from dialect_utils.ops import named
from passes.framework.base import COMPILER_FACTS, Report, keeping, module_pass
from passes.framework.options import OptionError
from passes.fusions.joining import instruction_at, is_stored, texts

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
    operations, route = found
    ops, made = Ops(item), operations[-1].operands[0]
    for opcode, shape in route:
        made = ops.emit(opcode, shape, (made,))
    ops.finish(made)
    for each in operations[1:]:
        each.erase()
    return True


def _routed(item: Instruction, target: str) -> tuple[Sequence[Instruction], Route] | None:
    """Returns the operations that lead to a value, the last one first, and those in place of them.

    They are the longest chain that changes the type at most once.
    """
    operations, moves, written, conversions = list[Instruction](), list[Plan](), 0, 0
    value, chip = item, parse_target(target)
    while (moved := _movement(value)) is not None:
        conversions += array_shape(value).element_type != array_shape(value.operands[0]).element_type
        if conversions > 1 or (value is not item and (len(value.users) > 1 or value.is_root)):
            break
        operations.append(value)
        moves.insert(0, moved)
        written += chip.allocation_bytes(array_shape(value)) if value.opcode != "bitcast" else 0
        value = value.operands[0]
    source = array_shape(value) if written and item.opcode != "bitcast" else None
    if source is None:
        return None
    plan = reduce(Plan.followed_by, moves, Plan(*source.type_and_dimensions))
    route = cheapest_route(source, plan, array_shape(item), chip, written)
    return None if route is None else (operations, route)


def _movement(item: Instruction) -> Plan | None:
    """Returns the movement by an operation, whatever type it converts to; None for one that does more, or stays."""
    if item.opcode not in _MOVES or is_pinned(item) or item.computation.controlled_by(item):
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
