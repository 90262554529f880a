"""The normal form of a plan.

Two plans that move the same elements to the same positions get the same steps if those
steps are transposes, reshapes, pads and slices without strides (and bitcast-converts that undo
each other). No plan gets more steps than it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from dialect_utils.layout.moves.linear_map import LinearMap, Permute, Resize, common_sizes, normalize, try_commute
from dialect_utils.layout.moves.pad_slice import Pad, Slice
from dialect_utils.layout.moves.plan import PaddingValue, Plan
from dialect_utils.layout.moves.steps import Reshape, Stage, Step, Transpose

# Chains with more maps than this between two barriers keep their steps: the search for the fewest
# reshapes tries every subset of the gaps between maps.
_MOST_MAPS = 8

_PaddedStep = tuple[Step, PaddingValue]


@dataclass(frozen=True, slots=True)
class _Barrier:
    """A step that is no map of linear indices: a strided slice, an interior pad, a bitcast-convert."""

    step: Step
    padding: PaddingValue
    before: Stage

    @property
    def after(self) -> Stage:
        return self.step.result(*self.before)


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of maps and the barrier that ends it (None for the last run)."""

    maps: tuple[LinearMap, ...]
    barrier: _Barrier | None


@lru_cache(maxsize=4096)
def normal_form(plan: Plan) -> Plan:
    """Returns the fewest steps found for the effect of a plan; equal plans of the kind above get the same.

    Elements of a padding of None may become any elements. Idempotent; never more steps.
    """
    forms = [plan]
    while True:
        form = _rewritten(forms[-1])
        if form in forms:
            # A unit dimension can belong to either neighbour; of forms that lead to each other the least one is taken.
            return min(forms[forms.index(form) :], key=lambda each: (len(each.steps), str(each)))
        forms.append(form)


def _rewritten(plan: Plan) -> Plan:
    """Returns the steps of a plan's maps, or the plan where those are more."""
    if any(0 in dimensions for _, dimensions in plan.stages):
        # Without elements: at most one reshape, unless a pad adds elements.
        before, after = plan.start, plan.result
        if 0 not in before[1] or 0 not in after[1] or before[0] != after[0] or not plan.steps:
            return plan
        return Plan(*before, (Reshape(after[1]),) if before != after else ())
    parts = _joined(_parts(plan))
    if any(len(part.maps) > _MOST_MAPS for part in parts):
        return plan
    found = _emit(parts, plan)
    return plan if len(found.steps) > len(plan.steps) else found


@lru_cache(maxsize=4096)
def split_at_padding(plan: Plan) -> tuple[Plan, Plan]:
    """Returns two plans whose sequence has the effect of a plan; the first pads nothing.

    The first does as much as possible; equal plans of the kind that `normal_form` decides are split identically.
    """
    parts = _joined(_parts(plan))
    count = len(plan.steps)
    if len(parts) > 1 or len(parts[0].maps) > _MOST_MAPS or any(0 in dims for _, dims in plan.stages):
        first_pad = next((i for i, step in enumerate(plan.steps) if step.adds_elements), count)
        return plan.part(0, first_pad), plan.part(first_pad, count)
    maps = _resizes_last(parts[0].maps)
    kept = next((i for i, m in enumerate(maps) if isinstance(m, Resize) and m.grows), len(maps))
    middle = maps[kept].sizes if kept < len(maps) else plan.result[1]
    steps = _steps_between(maps[:kept], plan.dimensions, middle)
    made = _plan(plan.start, [*steps, *_steps_between(maps[kept:], middle, plan.result[1])])
    return made.part(0, len(steps)), made.part(len(steps), len(made.steps))


def is_identity(plan: Plan) -> bool:
    """Is true where every element keeps its position; unspecified elements may not."""
    return not normal_form(plan).steps


def _plan(start: Stage, steps: Sequence[_PaddedStep]) -> Plan:
    return Plan(*start, tuple(step for step, _ in steps), tuple(padding for _, padding in steps))


def _parts(plan: Plan) -> list[_Part]:
    parts: list[_Part] = []
    maps: list[LinearMap] = []
    for step, padding, before in zip(plan.steps, plan.paddings, plan.stages, strict=False):
        found = _linear(step, padding, before[1])
        if found is None:
            parts.append(_Part(tuple(maps), _Barrier(step, padding, before)))
            maps = []
        else:
            maps += found
    return [*parts, _Part(tuple(maps), None)]


def _linear(step: Step, padding: PaddingValue, dimensions: tuple[int, ...]) -> list[LinearMap] | None:
    """Returns the maps of a step (none for a reshape, which moves no linear index), or None for a barrier."""
    match step:
        case Reshape():
            return []
        case Transpose():
            return [Permute(dimensions, step.permutation)]
        case Pad() if not step.interior:
            found = Resize(dimensions, step.low, step.high, padding)
        case Slice() if not step.stride:
            high = tuple(limit - size for limit, size in zip(step.limit, dimensions, strict=True))
            found = Resize(dimensions, tuple(-start for start in step.start), high)
        case _:
            return None
    return [found] if found.is_valid else None


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
                if met.step.is_identity(*met.before):
                    pending = before.maps
                    continue
                part, maps = _Part((), met), before.maps
        done.append(_Part(maps, part.barrier))
    return done


def _met(first: _Barrier, second: _Barrier) -> _Barrier | None:
    """Merges two bitcast-converts with only reshapes between them; returns None where that is impossible."""
    if not first.step.regroups_bits or not second.step.regroups_bits:
        return None
    merged = first.step.then(second.step, *first.before)
    if merged is None:
        return None
    # Between types of equal width the reshapes may move before the remaining bitcast-convert.
    old, middle, new = first.before[0], second.before[0], second.after[0]
    keeps_first = old == new or new.bits in (old.bits, middle.bits)
    return _Barrier(merged, None, first.before if keeps_first else (old, second.before[1]))


def _emit(parts: list[_Part], plan: Plan) -> Plan:
    steps: list[_PaddedStep] = []
    dimensions = plan.dimensions
    for part in parts:
        target = part.barrier.before[1] if part.barrier is not None else plan.result[1]
        steps += _steps_between(part.maps, dimensions, target)
        if part.barrier is not None:
            steps.append((part.barrier.step, part.barrier.padding))
            dimensions = part.barrier.after[1]
    return _plan(plan.start, steps)


def _steps_between(maps: Sequence[LinearMap], start: tuple[int, ...], end: tuple[int, ...]) -> list[_PaddedStep]:
    """Returns the fewest steps for the maps, from one array's dimensions to another's."""
    orders = [list(maps), _resizes_last(maps)]
    for count in range(len(maps) + 2):
        for order in orders:
            for gaps in combinations(range(len(order) + 1), count):
                steps = _steps_with_gaps(order, start, end, frozenset(gaps))
                if steps is not None:
                    return steps
    raise AssertionError("a reshape at every gap always works")


def _resizes_last(maps: Sequence[LinearMap]) -> list[LinearMap]:
    """Returns the maps with every resize as late as possible, if that keeps the number of maps."""
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
) -> list[_PaddedStep] | None:
    """Returns the steps with reshapes before the maps at `gaps` only, or None where more are needed."""
    cuts = [0, *sorted(gaps - {0, len(maps)}), len(maps)]
    steps: list[_PaddedStep] = []
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
    """Returns the maps with digits that need no reshape in between, from `start` to `end` where given, or None."""
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
    """Returns the maps in their coarsest common digits, or None."""
    sizes = maps[0].sizes
    for count, m in enumerate(maps[1:], 1):
        before = _forward(maps[:count], sizes)
        shared = common_sizes(before[-1].result, m.sizes) if before is not None else None
        found = _backward(maps[:count], shared) if shared is not None else None
        if found is None:
            return None
        sizes = found[0].sizes
    return _forward(maps, sizes)


def _step(m: LinearMap) -> _PaddedStep:
    if isinstance(m, Permute):
        return Transpose(m.permutation), None
    if m.grows:
        return Pad(m.low, m.high), m.padding
    limit = tuple(size + high for size, high in zip(m.sizes, m.high, strict=True))
    return Slice(tuple(-low for low in m.low), limit), None
