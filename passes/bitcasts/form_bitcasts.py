"""Makes bitcasts of data movement that moves no byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import rebuild
from dialect_utils.ir import array_shape
from dialect_utils.ir.chains import padding_of
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from passes.framework.base import Report, module_pass

# What a bitcast expands to takes no more ops: into the physical array, across, and back.
_LONGEST = 10
# What said how the op moved elements; its layouts say that of a bitcast.
_MOVING_ATTRIBUTES = ("dimensions", "padding", "slice")


@module_pass
def form_bitcasts(module: HloModule, report: Report) -> tuple[Instruction, ...]:
    """Makes bitcasts of copies, reshapes, transposes and slices that move no byte under their layouts.

    1. A copy, reshape, transpose, slice or bitcast-convert whose result is in memory as its operand
       does becomes a bitcast: tiles, their padding and packing count.
    2. So does a chain of such ops and pads in which each is the only user of the one before, where
       the chain as a whole moves no byte: `expand-bitcasts` writes these.
    3. Chains are cut so that the fewest ops that move bytes are left, and otherwise as finely as can be.

    A copy into another memory space moves bytes between memories and stays. Inside a fusion no value
    has a memory of its own, and memory spaces are not compared.

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
        if not computation.is_embedded:
            made += _form_in(computation)
    return tuple(made)


def _form_in(computation: Computation) -> Iterator[Instruction]:
    for run in _runs(computation):
        for part in _cut(run):
            if _is_bitcast(part):
                yield _replace(part)


def _runs(computation: Computation) -> Iterator[list[Instruction]]:
    """Yields the longest chains of data movement in which each op is the only user of the one before."""
    running: dict[Instruction, list[Instruction]] = {}
    for item in computation.operations:
        if not _is_relayout(item):
            continue
        run = running.pop(item.operands[0], [])
        run.append(item)
        # Another user reads what is between, and an order of execution would be lost with an op.
        if len(item.users) == 1 and item.users[0].operands[0] is item and not _is_fixed(item):
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
        # The TPU compiler lets a copy convert.
        return arrays[0].element_type == arrays[1].element_type
    return item.step is not None and _fits(item, arrays[1], arrays[0])


def _fits(item: Instruction, source: ArrayShape, result: ArrayShape) -> bool:
    """Is true where a step gives the result's type and dimensions: some that the TPU compiler writes convert."""
    assert item.step is not None
    try:
        wanted = item.step.result(*source.type_and_dimensions)
    except ValueError:
        return False
    return wanted == result.type_and_dimensions


def _is_fixed(item: Instruction) -> bool:
    return item.is_root or any(item.attribute(name) for name in ("sharding", "control-predecessors"))


def _cut(run: Sequence[Instruction]) -> list[Sequence[Instruction]]:
    """Cuts a chain so that the fewest ops that move bytes are left, then into the most parts."""
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
    if _memory_space(source) != _memory_space(destination) and not _is_fused(part[0].computation):
        return False
    return is_bitcast(source, _plan(source, part), destination)


def _memory_space(shape: ArrayShape) -> int:
    return shape.effective_layout.memory_space


def _is_fused(computation: Computation) -> bool:
    return any(caller.opcode == "fusion" for caller in computation.callers)


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
