"""Runs of data-movement steps over a term, and their proved normal forms."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from dialect_utils.layout import (
    ELEMENT_TYPES,
    BitcastConvert,
    ElementType,
    Pad,
    Plan,
    Reshape,
    Slice,
    Step,
    Transpose,
    step_result,
)
from dialect_utils.layout.movement import Movement, normal_form, split_at_padding
from dialect_utils.layout.proof import Method
from dialect_utils.layout.reads import try_prove_same_reads

# What a pad writes: a term. None for steps that are no pads.
Fill = Hashable | None
_Stage = tuple[ElementType, tuple[int, ...]]

# Movements that regroup no bits are the same for every element type.
_ANY_TYPE = ELEMENT_TYPES["u8"]


@dataclass(frozen=True, slots=True)
class Motion:
    """Is a run of steps; `stages` are element type and dimensions in front of each and behind the last."""

    stages: tuple[_Stage, ...]
    steps: tuple[Step, ...] = ()
    fills: tuple[Fill, ...] = ()

    @classmethod
    def none(cls, element_type: ElementType, dimensions: tuple[int, ...]) -> Motion:
        """Returns the motion of no steps."""
        return cls(((element_type, dimensions),))

    @classmethod
    def of(cls, plan: Plan, fill: Fill) -> Motion:
        """Returns the motion of a plan all of whose pads write `fill`."""
        motion = cls.none(plan.element_type, plan.dimensions)
        for step in plan.steps:
            motion = motion.append(step, fill if isinstance(step, Pad) else None)
        return motion

    @property
    def result(self) -> _Stage:
        """Returns element type and dimensions behind the last step."""
        return self.stages[-1]

    @property
    def regroups_bits(self) -> bool:
        """Is true where elements are taken apart or put together."""
        return any(isinstance(step, BitcastConvert) for step in self.steps)

    @property
    def pads(self) -> bool:
        """Is true where elements are added."""
        return any(isinstance(step, Pad) for step in self.steps)

    def append(self, step: Step, fill: Fill) -> Motion:
        """Returns the motion with one more step, without pairs that undo each other."""
        after = step_result(step, *self.result)
        if _is_identity(step, after == self.result):
            return self
        if self.steps:
            if after == self.stages[-2] and _undoes(step, self.steps[-1]):
                return self._shorter()
            merged = _merged(self.steps[-1], step)
            if merged is not None:
                return self._shorter().append(merged, None)
        return Motion((*self.stages, after), (*self.steps, step), (*self.fills, fill))

    def _shorter(self) -> Motion:
        return Motion(self.stages[:-1], self.steps[:-1], self.fills[:-1])

    def then(self, other: Motion) -> Motion:
        """Returns this motion followed by another, which may be of another element type."""
        motion = self
        for step, fill in zip(other.steps, other.fills, strict=True):
            motion = motion.append(step, fill)
        return motion

    def retyped(self, element_type: ElementType) -> Motion:
        """Returns the same motion for arrays of another element type; it must regroup no bits."""
        return Motion(tuple((element_type, dims) for _, dims in self.stages), self.steps, self.fills)

    def movement(self, numbers: dict[Fill, int]) -> Movement:
        """Returns the movement whose fills are numbers, new ones for fills that `numbers` lacks."""
        fills = tuple(None if fill is None else numbers.setdefault(fill, len(numbers)) for fill in self.fills)
        element_type, dims = self.stages[0]
        return Movement(Plan(element_type if self.regroups_bits else _ANY_TYPE, dims, self.steps), fills)

    def normalized(self) -> tuple[Motion, Method]:
        """Returns the normal form, and how it is known to read the same elements."""
        if not self.steps:
            return self, "structure"
        numbers: dict[Fill, int] = {}
        form, method = _proved_form(self.movement(numbers))
        return self._with(form, numbers, self.stages[0]), method

    def split(self) -> tuple[Motion, Motion]:
        """Returns two motions that one after the other read the same; the first pads nothing and does all it can."""
        numbers: dict[Fill, int] = {}
        before, after = _proved_split(self.movement(numbers))
        first = self._with(before, numbers, self.stages[0])
        return first, self._with(after, numbers, first.result)

    def _with(self, movement: Movement, numbers: dict[Fill, int], start: _Stage) -> Motion:
        """Returns the motion of a movement that was made of this one's."""
        fills = {number: fill for fill, number in numbers.items()}
        motion = Motion.none(*start)
        for step, number in zip(movement.plan.steps, movement.fills, strict=True):
            motion = motion.append(step, fills[number] if isinstance(number, int) else None)
        return motion


def _is_identity(step: Step, is_same_array: bool) -> bool:
    if isinstance(step, Transpose):
        return step.permutation == tuple(range(len(step.permutation)))
    if isinstance(step, Pad):
        return not any((*step.low, *step.high, *step.interior))
    return is_same_array


def _undoes(step: Step, before: Step) -> bool:
    """Is true for a step that leads back to the array in front of `before`, given that the sizes do."""
    if isinstance(step, BitcastConvert):
        return isinstance(before, BitcastConvert)
    if not isinstance(before, Pad) or not isinstance(step, Slice) or before.interior or step.stride:
        return False
    return before.low == step.start and min((*before.low, *before.high), default=0) >= 0


def _merged(first: Step, second: Step) -> Step | None:
    if isinstance(first, Transpose) and isinstance(second, Transpose):
        return Transpose(tuple(first.permutation[i] for i in second.permutation))
    return second if isinstance(first, Reshape) and isinstance(second, Reshape) else None


@lru_cache(maxsize=8192)
def _proved_form(movement: Movement) -> tuple[Movement, Method]:
    """Returns the normal form of a movement where it is proved to read the same, else the movement itself."""
    form = normal_form(movement)
    proof = try_prove_same_reads(movement, form)
    return (form, proof.method) if proof is not None and proof.holds else (movement, "structure")


@lru_cache(maxsize=8192)
def _proved_split(movement: Movement) -> tuple[Movement, Movement]:
    """Returns both parts of a movement where they are proved to read the same, else nothing and the movement."""
    parts = split_at_padding(movement)
    proof = try_prove_same_reads(movement, parts[0].then(parts[1]))
    if proof is not None and proof.holds:
        return parts
    return Movement(Plan(movement.plan.element_type, movement.plan.dimensions)), movement
