"""Plans: immutable runs of data-movement steps, with the padding values of pads.

A plan knows nothing of any IR: `dialect_utils.ir.chains` turns plans into ops and back.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from dialect_utils.layout.element_type import CachedText, ElementType
from dialect_utils.layout.moves.steps import Stage, Step

# The value that a pad writes; equal values are equal paddings. None: undefined.
PaddingValue = Hashable | None


@dataclass(frozen=True, slots=True)
class Plan(CachedText):
    """A run of steps that starts from an array of `element_type` and `dimensions`.

    `paddings` has one entry for every step: the padding value of a pad, else None; an empty tuple makes every padding
    undefined. `stages` are element type and dimensions before the first step and after each.
    The constructor raises ValueError where a step does not fit its array.
    """

    element_type: ElementType
    dimensions: tuple[int, ...]
    steps: tuple[Step, ...] = ()
    paddings: tuple[PaddingValue, ...] = ()
    stages: tuple[Stage, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.paddings:
            object.__setattr__(self, "paddings", (None,) * len(self.steps))
        if len(self.paddings) != len(self.steps):
            raise ValueError(f"{len(self.paddings)} paddings for {len(self.steps)} steps")
        stages = [(self.element_type, self.dimensions)]
        for step in self.steps:
            stages.append(step.result(*stages[-1]))
        object.__setattr__(self, "stages", tuple(stages))

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.element_type, self.dimensions, self.steps, self.paddings)))
            return self._hash

    @classmethod
    def _of(
        cls, stages: tuple[Stage, ...], steps: tuple[Step, ...] = (), paddings: tuple[PaddingValue, ...] = ()
    ) -> Plan:
        """Returns the plan of steps that are known to fit their stages."""
        plan = object.__new__(cls)
        values = {"element_type": stages[0][0], "dimensions": stages[0][1], "steps": steps, "paddings": paddings}
        for name, value in (values | {"stages": stages}).items():
            object.__setattr__(plan, name, value)
        return plan

    @property
    def start(self) -> Stage:
        """Returns element type and dimensions before the first step."""
        return self.stages[0]

    @property
    def result(self) -> Stage:
        """Returns element type and dimensions after the last step."""
        return self.stages[-1]

    @property
    def opcodes(self) -> tuple[str, ...]:
        """Returns the opcodes of the steps."""
        return tuple(step.opcode for step in self.steps)

    @property
    def adds_elements(self) -> bool:
        """Is true where a step pads."""
        return any(step.adds_elements for step in self.steps)

    @property
    def drops_elements(self) -> bool:
        """Is true where a step slices."""
        return any(step.drops_elements for step in self.steps)

    @property
    def regroups_bits(self) -> bool:
        """Is true where a step is a bitcast-convert."""
        return any(step.regroups_bits for step in self.steps)

    def append(self, step: Step, padding: PaddingValue = None) -> Plan:
        """Returns the plan with one more step, merged with the last where possible; raises ValueError if misfit."""
        if step.is_identity(*self.result):
            return self
        if self.steps and not (step.adds_elements and padding != self.paddings[-1]):
            merged = self.steps[-1].then(step, *self.stages[-2])
            if merged is not None:
                return self.part(0, len(self.steps) - 1).append(merged, padding)
        after = step.result(*self.result)
        return Plan._of((*self.stages, after), (*self.steps, step), (*self.paddings, padding))

    def followed_by(self, other: Plan) -> Plan:
        """Returns the plan with the steps of another appended; the other may be of another element type."""
        plan = self
        for step, padding in zip(other.steps, other.paddings, strict=True):
            plan = plan.append(step, padding)
        return plan

    def simplified(self) -> Plan:
        """Returns the plan without identities, its neighbouring steps merged where `append` merges them."""
        return Plan._of(self.stages[:1]).followed_by(self)

    def then(self, other: Plan) -> Plan:
        """Returns all steps of this plan and then all of `other`; raises ValueError where `other` starts elsewhere."""
        if self.result != other.start:
            raise ValueError(f"a plan for {other.element_type}{list(other.dimensions)} cannot follow {self}")
        return Plan._of(self.stages + other.stages[1:], self.steps + other.steps, self.paddings + other.paddings)

    def part(self, start: int, stop: int) -> Plan:
        """Returns the plan of the steps from number `start` to before `stop`."""
        return Plan._of(self.stages[start : stop + 1], self.steps[start:stop], self.paddings[start:stop])

    def with_steps(self, steps: Sequence[Step]) -> Plan:
        """Returns a plan with other steps from the same start; raises ValueError where one does not fit."""
        return Plan(self.element_type, self.dimensions, tuple(steps))

    def with_padding(self, padding: PaddingValue) -> Plan:
        """Returns the plan with one padding value in all pads."""
        return Plan._of(self.stages, self.steps, tuple(padding if step.adds_elements else None for step in self.steps))

    def retyped(self, element_type: ElementType) -> Plan:
        """Returns the same plan for another element type; a plan that regroups bits is returned as it is."""
        if self.regroups_bits:
            return self
        return Plan._of(tuple((element_type, dims) for _, dims in self.stages), self.steps, self.paddings)

    def inverse(self) -> Plan:
        """Returns the inverse plan: pads become slices, slices become pads of undefined contents.

        The inverse of a slice restores dimensions, not the elements that were dropped.
        """
        pairs = zip(reversed(self.steps), reversed(self.stages[:-1]), strict=True)
        return Plan(*self.result, tuple(step.inverse(*before) for step, before in pairs))

    def with_minor_dimensions(self, sizes: Sequence[int]) -> Plan:
        """Returns the plan of arrays with more, most minor dimensions, which it keeps; ValueError if bits regroup."""
        steps = self.steps
        for size in sizes:
            steps = tuple(step.with_minor_dimension(size) for step in steps)
        return Plan(self.element_type, (*self.dimensions, *sizes), steps, self.paddings)

    def _format(self) -> str:
        start = f"{self.element_type}[{','.join(map(str, self.dimensions))}]"
        return " -> ".join([start, *map(str, self.steps)])


def try_with_leading(plan: Plan, count: int, sizes: tuple[int, ...]) -> Plan | None:
    """Returns the plan that does the same under other leading dimensions, None where it moves or resizes the first.

    For example `pad[0_0x0_3]` of f32[4,5] becomes `pad[0_0x0_0x0_3]` where [2,7] replaces the first dimension, 4.
    """
    own = plan.dimensions[:count]
    steps = [step.try_with_leading(own, sizes) for step in plan.steps]
    known = tuple(step for step in steps if step is not None)
    if len(known) < len(steps) or 0 in (*own, *sizes):
        return None
    return Plan(plan.element_type, (*sizes, *plan.dimensions[count:]), known, plan.paddings)
