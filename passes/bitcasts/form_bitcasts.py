"""Replaces data-movement ops that move no byte by bitcasts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import rebuild
from dialect_utils.ir import array_shape
from dialect_utils.ir.chains import is_pinned, padding_of
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from passes.framework.base import COMPILER_FACTS, Report, keeping, module_pass

# The most ops that a bitcast expands to: packing, reading as the other physical array, unpacking.
_LONGEST = 10
# The attributes of data movement, which a bitcast does not have.
_MOVING_ATTRIBUTES = ("dimensions", "padding", "slice")


@keeping(*COMPILER_FACTS)
@module_pass
def form_bitcasts(module: HloModule, report: Report) -> tuple[Instruction, ...]:
    """Replaces copies, reshapes, transposes and slices that move no byte under their layouts by bitcasts.

    1. A copy, reshape, transpose, slice or bitcast-convert becomes a bitcast if its result has the same bytes as its
       operand, with the tiles, padding and packing of their layouts.
    2. A chain of such ops and pads, each the only user of the one before, becomes a bitcast if the whole chain moves no
       byte. `expand-bitcasts` makes such chains.
    3. A chain is cut so that the fewest ops that move bytes remain; of such cuts, the one with the most parts is taken.

    A copy into another memory space stays. Memory spaces are not compared inside a fusion, whose values are not in
    memory.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4,6]{1,0:T(4,128)} parameter(0)
          t = f32[6,4]{0,1:T(4,128)} transpose(p), dimensions={1,0}
          ROOT c = f32[6,4]{1,0:T(8,128)} copy(t)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[4,6]{1,0:T(4,128)} parameter(0)
          t = f32[6,4]{0,1:T(4,128)} bitcast(p)
          ROOT c = f32[6,4]{1,0:T(8,128)} copy(t)
        }
    """
    made: list[Instruction] = []
    for computation in module.functions:
        for run in () if computation.is_embedded else _runs(computation):
            made += [_replace(part) for part in _cut(run) if _is_bitcast(part)]
    return tuple(made)


def _runs(computation: Computation) -> Iterator[list[Instruction]]:
    """Yields the longest chains of data movement in which each op is the only user of the one before."""
    running: dict[Instruction, list[Instruction]] = {}
    for item in computation.operations:
        if not _is_relayout(item):
            continue
        run = running.pop(item.operands[0], [])
        run.append(item)
        # A run ends at a value with other users, and at an op with attributes that would be lost.
        if len(item.users) == 1 and item.users[0].operands[0] is item and not (item.is_root or is_pinned(item)):
            running[item] = run
        else:
            yield run
    yield from running.values()


def _is_relayout(item: Instruction) -> bool:
    shapes = [item.shape, *(operand.shape for operand in item.operands[:1])]
    arrays = [shape for shape in shapes if isinstance(shape, ArrayShape) and shape.is_static]
    if len(arrays) != len(shapes) or len(shapes) == 1:
        return False
    if item.opcode == "copy":
        # A copy of the TPU compiler may also convert.
        return arrays[0].element_type == arrays[1].element_type
    return item.step is not None and _fits(item, arrays[1], arrays[0])


def _fits(item: Instruction, source: ArrayShape, result: ArrayShape) -> bool:
    """Is true if a step has the result's type and dimensions; some ops of the TPU compiler also convert."""
    assert item.step is not None
    try:
        wanted = item.step.result(*source.type_and_dimensions)
    except ValueError:
        return False
    return wanted == result.type_and_dimensions


def _cut(run: Sequence[Instruction]) -> list[Sequence[Instruction]]:
    """Returns the parts of a chain, cut so that the fewest ops move bytes, then into the most parts (rule 3)."""
    best: list[tuple[int, int, list[Sequence[Instruction]]]] = [(0, 0, [])]
    for end in range(1, len(run) + 1):
        choices = []
        for start in range(max(0, end - _LONGEST), end):
            part = run[start:end]
            is_still = _is_bitcast(part)
            if is_still or len(part) == 1:
                moving, parts, cuts = best[start]
                choices.append((moving + (not is_still), parts - 1, [*cuts, part]))
        best.append(min(choices, key=lambda choice: choice[:2]))
    return best[-1][2]


def _is_bitcast(part: Sequence[Instruction]) -> bool:
    source, destination = array_shape(part[0].operands[0]), array_shape(part[-1])
    is_fused = any(caller.opcode == "fusion" for caller in part[0].computation.callers)
    spaces = {shape.effective_layout.memory_space for shape in (source, destination)}
    if len(spaces) > 1 and not is_fused:
        return False
    return is_bitcast(source, _plan(source, part), destination)


def _plan(source: ArrayShape, part: Sequence[Instruction]) -> Plan:
    plan = Plan(*source.type_and_dimensions)
    for item in part:
        if item.step is not None:
            plan = plan.append(item.step, padding_of(item) if item.step.adds_elements else None)
    return plan


def _replace(part: Sequence[Instruction]) -> Instruction:
    def without_steps(attributes: dict[str, str]) -> None:
        for name in _MOVING_ATTRIBUTES:
            attributes.pop(name, None)

    made = rebuild(part[-1], opcode="bitcast", operands=part[0].operands[:1], change=without_steps)
    for item in reversed(part[:-1]):
        paddings = item.operands[1:]
        item.erase()
        for padding in paddings:
            if padding.opcode == "constant" and not padding.users and not padding.is_root:
                padding.erase()
    return made
