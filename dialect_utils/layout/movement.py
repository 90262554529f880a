"""Movements: plans together with what their pads write, and the normal form of their steps.

Two movements that move the same elements to the same places get the same steps where those
steps are transposes, reshapes, pads and slices without strides (and bitcast-converts that undo
each other); no movement gets more steps than it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.linear_map import Fill, LinearMap, Permute, Resize, common_sizes, normalize, try_commute
from dialect_utils.layout.plan import Plan
from dialect_utils.layout.steps import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, step_result

# Chains with more maps than this between two barriers keep the steps they have: the search for
# the fewest reshapes tries every subset of the places between maps.
_MOST_MAPS = 8


@dataclass(frozen=True, slots=True)
class Movement:
    """Is a plan and, for each of its steps, what a pad writes (None: contents nobody may read).

    A fill is any hashable value that tells paddings apart. Raises ValueError where the number
    of fills is not the number of steps.
    """

    plan: Plan
    fills: tuple[Fill, ...] = ()

    def __post_init__(self) -> None:
        if not self.fills:
            object.__setattr__(self, "fills", (None,) * len(self.plan.steps))
        if len(self.fills) != len(self.plan.steps):
            raise ValueError(f"{len(self.fills)} fills for {len(self.plan.steps)} steps")

    def then(self, other: Movement) -> Movement:
        """Returns the movement that does this one and then `other`; raises ValueError where they do not meet."""
        return Movement(self.plan.then(other.plan), self.fills + other.fills)

    def __str__(self) -> str:
        return str(self.plan)


@dataclass(frozen=True, slots=True)
class _Barrier:
    """Is a step that no map of linear indices says: strided slices, interior pads, bitcast-converts."""

    step: Step
    fill: Fill
    before: tuple[ElementType, tuple[int, ...]]

    @property
    def after(self) -> tuple[ElementType, tuple[int, ...]]:
        return step_result(self.step, *self.before)


@dataclass(frozen=True, slots=True)
class _Part:
    """Is a run of maps and the barrier that ends it (None for the last run)."""

    maps: tuple[LinearMap, ...]
    barrier: _Barrier | None


@lru_cache(maxsize=4096)
def normal_form(movement: Movement) -> Movement:
    """Returns the fewest steps found for what a movement does; the same for equal movements of its kind.

    Elements of a padding with fill None may become any elements. Idempotent; never more steps.
    """
    forms = [movement]
    while True:
        form = _rewritten(forms[-1])
        if form in forms:
            # A unit dimension may be read in two ways; of forms that lead to each other the least counts.
            return min(forms[forms.index(form) :], key=lambda m: (len(m.plan.steps), str(m)))
        forms.append(form)


def _rewritten(movement: Movement) -> Movement:
    """Returns the steps of a movement's maps, if they are not more."""
    plan = movement.plan
    if any(0 in dimensions for _, dimensions in plan.stages()):
        return _empty(movement)
    parts = _joined(_parts(movement))
    if any(len(part.maps) > _MOST_MAPS for part in parts):
        return movement
    found = _emit(parts, plan)
    return movement if len(found.plan.steps) > len(plan.steps) else found


@lru_cache(maxsize=4096)
def split_at_padding(movement: Movement) -> tuple[Movement, Movement]:
    """Returns two movements that one after the other do what a movement does; the first pads nothing.

    As much as possible is in the first; equal movements of the kind that `normal_form` decides are split alike.
    """
    parts = _joined(_parts(movement))
    plan = movement.plan
    if len(parts) > 1 or len(parts[0].maps) > _MOST_MAPS or any(0 in dims for _, dims in plan.stages()):
        pads = [i for i, step in enumerate(plan.steps) if isinstance(step, Pad)]
        return _split(movement, pads[0] if pads else len(plan.steps))
    maps = _resizes_last(parts[0].maps)
    count = next((i for i, m in enumerate(maps) if isinstance(m, Resize) and m.grows), len(maps))
    middle = maps[count].sizes if count < len(maps) else plan.result[1]
    steps = _steps_between(maps[:count], plan.dimensions, middle)
    others = _steps_between(maps[count:], middle, plan.result[1])
    made = Plan(plan.element_type, plan.dimensions, tuple(step for step, _ in [*steps, *others]))
    return _split(Movement(made, tuple(fill for _, fill in [*steps, *others])), len(steps))


def _split(movement: Movement, count: int) -> tuple[Movement, Movement]:
    plan, fills = movement.plan, movement.fills
    first = Plan(plan.element_type, plan.dimensions, plan.steps[:count])
    return Movement(first, fills[:count]), Movement(Plan(*first.result, plan.steps[count:]), fills[count:])


def is_identity(movement: Movement) -> bool:
    """Is true where every element stays where it is, unspecified ones aside."""
    return not normal_form(movement).plan.steps


def _empty(movement: Movement) -> Movement:
    """Returns the movement of an array without elements: at most one reshape where none are made."""
    plan = movement.plan
    before, after = (plan.element_type, plan.dimensions), plan.result
    if 0 not in before[1] or 0 not in after[1] or before[0] != after[0] or not plan.steps:
        return movement
    steps = (Reshape(after[1]),) if before != after else ()
    return Movement(Plan(*before, steps))


def _parts(movement: Movement) -> list[_Part]:
    parts: list[_Part] = []
    maps: list[LinearMap] = []
    steps = zip(movement.plan.steps, movement.fills, movement.plan.stages(), strict=False)
    for step, fill, before in steps:
        if isinstance(step, Reshape):
            continue
        found = _linear(step, fill, before[1])
        if found is not None:
            maps.append(found)
            continue
        parts.append(_Part(tuple(maps), _Barrier(step, fill, before)))
        maps = []
    return [*parts, _Part(tuple(maps), None)]


def _linear(step: Step, fill: Fill, dimensions: tuple[int, ...]) -> LinearMap | None:
    """Returns the map of a step, or None for a barrier."""
    if isinstance(step, Transpose):
        return Permute(dimensions, step.permutation)
    found = None
    if isinstance(step, Pad) and not step.interior:
        found = Resize(dimensions, step.low, step.high, fill)
    elif isinstance(step, Slice) and not step.stride:
        high = tuple(limit - size for limit, size in zip(step.limit, dimensions, strict=True))
        found = Resize(dimensions, tuple(-start for start in step.start), high)
    return found if found is not None and found.is_valid else None


def _joined(parts: list[_Part]) -> list[_Part]:
    """Normalizes every run and drops barriers that undo each other."""
    done: list[_Part] = []
    pending: tuple[LinearMap, ...] = ()
    for part in parts:
        maps = tuple(normalize(pending + part.maps))
        pending = ()
        previous = done[-1].barrier if done else None
        if not maps and previous is not None and part.barrier is not None:
            met = _met(previous, part.barrier)
            if met is not None:
                before = done.pop()
                if met.step == BitcastConvert(met.before[0]):
                    pending = before.maps
                    continue
                part, maps = _Part((), met), before.maps
        done.append(_Part(maps, part.barrier))
    return done


def _met(first: _Barrier, second: _Barrier) -> _Barrier | None:
    """Returns two bitcast-converts with nothing but reshapes between them as one, or None."""
    if not isinstance(first.step, BitcastConvert) or not isinstance(second.step, BitcastConvert):
        return None
    old, middle, new = first.before[0], second.before[0], second.step.element_type
    if old == new or new.bits in (old.bits, middle.bits):
        return _Barrier(second.step, None, first.before)
    if old.bits == middle.bits:
        return _Barrier(second.step, None, (old, second.before[1]))
    return None


def _emit(parts: list[_Part], plan: Plan) -> Movement:
    steps: list[tuple[Step, Fill]] = []
    dimensions = plan.dimensions
    for part in parts:
        target = part.barrier.before[1] if part.barrier is not None else plan.result[1]
        steps += _steps_between(part.maps, dimensions, target)
        if part.barrier is not None:
            steps.append((part.barrier.step, part.barrier.fill))
            dimensions = part.barrier.after[1]
    merged = Plan(plan.element_type, plan.dimensions, tuple(step for step, _ in steps))
    return Movement(merged, tuple(fill for _, fill in steps))


def _steps_between(maps: Sequence[LinearMap], start: tuple[int, ...], end: tuple[int, ...]) -> list[tuple[Step, Fill]]:
    """Returns the fewest steps that do the maps, from one array's dimensions to another's."""
    orders = [list(maps), _resizes_last(maps)]
    for count in range(len(maps) + 2):
        for order in orders:
            for gaps in combinations(range(len(order) + 1), count):
                steps = _steps_with_gaps(order, start, end, frozenset(gaps))
                if steps is not None:
                    return steps
    raise AssertionError("a reshape at every place always works")


def _resizes_last(maps: Sequence[LinearMap]) -> list[LinearMap]:
    """Returns the maps with every resize as late as it can stand, if that keeps them all."""
    current = list(maps)
    position = 0
    while position + 1 < len(current):
        first, second = current[position], current[position + 1]
        swapped = try_commute(first, second) if isinstance(first, Resize) else None
        if swapped is None or not len(swapped[0]) == len(swapped[1]) == 1:
            position += 1
            continue
        current[position : position + 2] = swapped[0] + swapped[1]
        position = max(0, position - 1)
    return current


def _steps_with_gaps(
    maps: Sequence[LinearMap], start: tuple[int, ...], end: tuple[int, ...], gaps: frozenset[int]
) -> list[tuple[Step, Fill]] | None:
    """Returns the steps with reshapes in front of the maps at `gaps` only, or None where that does not do."""
    cuts = [0, *sorted(gaps - {0, len(maps)}), len(maps)]
    steps: list[tuple[Step, Fill]] = []
    at: tuple[int, ...] = start
    for first, last in pairwise(cuts):
        run = _fitted(
            maps[first:last],
            start if first == 0 and 0 not in gaps else None,
            end if last == len(maps) and len(maps) not in gaps else None,
        )
        if run is None:
            return None
        if run and run[0].sizes != at:
            steps.append((Reshape(run[0].sizes), None))
        steps += map(_step, run)
        at = run[-1].result if run else at
    if at != end:
        if len(maps) not in gaps and not (not maps and 0 in gaps):
            return None
        steps.append((Reshape(end), None))
    return steps


def _fitted(
    maps: Sequence[LinearMap], start: tuple[int, ...] | None, end: tuple[int, ...] | None
) -> list[LinearMap] | None:
    """Returns the maps with digits such that no reshape stands between them, from `start` to `end` where given."""
    if not maps:
        return []
    if start is None:
        return _backward(maps, end) if end is not None else _free(maps)
    found = _forward(maps, start)
    if end is None or (found is not None and found[-1].result == end):
        return found
    if found is not None and isinstance(found[-1], Permute):
        last = found[-1].with_result(end)
        if last is not None:
            return [*found[:-1], last]
    found = _backward(maps, end)
    if found is not None and found[0].sizes != start and isinstance(found[0], Permute):
        first = found[0].inverse().with_result(start)
        if first is not None:
            return [first.inverse(), *found[1:]]
    return found if found is not None and found[0].sizes == start else None


def _forward(maps: Sequence[LinearMap], start: tuple[int, ...]) -> list[LinearMap] | None:
    found: list[LinearMap] = []
    for m in maps:
        refined = m.refine_in(start)
        if refined is None:
            return None
        found.append(refined)
        start = refined.result
    return found


def _backward(maps: Sequence[LinearMap], end: tuple[int, ...]) -> list[LinearMap] | None:
    found: list[LinearMap] = []
    for m in reversed(maps):
        refined = m.refine_out(end)
        if refined is None:
            return None
        found.insert(0, refined)
        end = refined.sizes
    return found


def _free(maps: Sequence[LinearMap]) -> list[LinearMap] | None:
    """Returns the maps in their coarsest common digits."""
    sizes = maps[0].sizes
    for count, m in enumerate(maps[1:], 1):
        before = _forward(maps[:count], sizes)
        shared = common_sizes(before[-1].result, m.sizes) if before is not None else None
        found = _backward(maps[:count], shared) if shared is not None else None
        if found is None:
            return None
        sizes = found[0].sizes
    return _forward(maps, sizes)


def _step(m: LinearMap) -> tuple[Step, Fill]:
    if isinstance(m, Permute):
        return Transpose(m.permutation), None
    if m.grows:
        return Pad(m.low, m.high), m.fill
    limit = tuple(size + high for size, high in zip(m.sizes, m.high, strict=True))
    return Slice(tuple(-low for low in m.low), limit), None
