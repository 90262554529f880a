"""Terms: what a value is, as a graph in which equal terms are one object.

Data movement stands over its base term in normal form, elementwise ops stand over the movement of their
operands as long as it pads nothing, and arrays of one repeated scalar are splats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from dialect_utils.layout import ArrayShape, BitcastConvert, ElementType, Shape, Step
from dialect_utils.verdict.proof.motion import Motion

# each: an elementwise op. choice: one of several terms by a scalar. moved: the first operand after a motion;
# the others are what its pads write. op: any other operation. out: one of its results.
Kind = Literal["leaf", "constant", "splat", "each", "choice", "moved", "op", "out"]

# A proof gives up at so many terms: some seconds.
_MOST_TERMS = 200_000
# Chains are normalized when they get this long: normal forms of longer ones take long.
_LONGEST_CHAIN = 7


class GaveUpError(Exception):
    """Says why there is no proof."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Is one node; equal terms of one graph are the same object.

    `label` says all that the operands do not. A term is specified unless it reads the padding of
    a physical array, or other contents that nobody promises.
    """

    kind: Kind
    label: Hashable
    shape: Shape
    operands: tuple[Term, ...]
    is_specified: bool

    @property
    def array(self) -> ArrayShape:
        """Returns the shape of a term that is an array."""
        assert isinstance(self.shape, ArrayShape)  # only arrays move and have elements
        return self.shape


@dataclass(frozen=True, slots=True)
class Moved:
    """Is a base term behind a motion that is not yet in normal form: what chains of movement ops build."""

    base: Term
    motion: Motion

    def append(self, step: Step, fill: Term | None) -> Moved:
        """Returns the value behind one more step."""
        motion = self.motion.append(step, fill)
        return Moved(self.base, motion.normalized()[0] if len(motion.steps) > _LONGEST_CHAIN else motion)

    def then(self, motion: Motion) -> Moved:
        """Returns the value behind one more motion."""
        return Moved(self.base, self.motion.then(motion))


Array = Term | Moved


class Terms:
    """Makes the terms of a proof and counts how the normal forms of their motions were proved."""

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], Term] = {}
        self._pushed: dict[tuple[Term, Motion], Term] = {}
        self.methods: Counter[str] = Counter()
        self.unspecified = Term("leaf", "unspecified", ArrayShape(_NO_TYPE, ()), (), False)

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[Term] = ()) -> Term:
        """Returns the term; raises GaveUpError where there are too many."""
        key = (kind, label, shape, *operands)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_TERMS:
                raise GaveUpError(f"the modules have more than {_MOST_TERMS} different terms")
            specified = all(operand.is_specified for operand in operands)
            found = self._known[key] = Term(kind, label, shape, tuple(operands), specified)
        return found

    def splat(self, scalar: Term, dimensions: tuple[int, ...]) -> Term:
        """Returns an array all of whose elements are one scalar."""
        shape = ArrayShape(scalar.array.element_type, dimensions)
        return self.make("splat", None, shape, (scalar,)) if dimensions else scalar

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
        """Returns an elementwise op on arrays of the same dimensions."""
        dimensions = operands[0].array.dimensions
        if dimensions and all(operand.kind == "splat" for operand in operands):
            scalars = [operand.operands[0] for operand in operands]
            return self.splat(self.each(label, element_type, scalars), dimensions)
        return self.make("each", label, ArrayShape(element_type, dimensions), operands)

    def reread(self, operand: Term, element_type: ElementType) -> Term:
        """Returns an array whose bits are read as another element type of the same width."""
        label = BitcastConvert(element_type)
        if operand.kind == "each" and isinstance(operand.label, BitcastConvert):
            operand = operand.operands[0]
        return operand if operand.array.element_type == element_type else self.each(label, element_type, [operand])

    def choice(self, label: Hashable, selector: Term, branches: Sequence[Term]) -> Term:
        """Returns one of several terms of one shape, by a scalar."""
        if all(branch is branches[0] for branch in branches):
            return branches[0]
        return self.make("choice", label, branches[0].shape, (selector, *branches))

    # Movement

    def chain(self, value: Array) -> Moved:
        """Returns a value as a base term behind a motion."""
        if isinstance(value, Moved):
            return value
        if value.kind == "moved":
            assert isinstance(value.label, Motion)  # so they are made
            fills = iter(value.operands[1:])
            steps = value.label.steps
            terms = tuple(next(fills) if fill is not None else None for fill in value.label.fills)
            return Moved(value.operands[0], Motion(value.label.stages, steps, terms))
        return Moved(value, Motion.none(value.array.element_type, value.array.dimensions))

    def term(self, value: Array) -> Term:
        """Returns the term of a value, its movement in normal form and through elementwise ops."""
        if isinstance(value, Term):
            return value
        start = self._normal(value)
        pending = [start]
        while pending:
            key = pending[-1]
            if key in self._pushed:
                pending.pop()
                continue
            needed = [each for each in self._needed(*key) if each not in self._pushed]
            if needed:
                pending += needed
            else:
                self._pushed[key] = self._push(*key)
        return self._pushed[start]

    def _normal(self, value: Moved) -> tuple[Term, Motion]:
        motion, method = value.motion.normalized()
        self.methods[method] += bool(value.motion.steps)
        return value.base, motion

    def _parts(self, base: Term, motion: Motion) -> tuple[Motion, Motion]:
        """Returns what of a motion may stand in front of what computes its base, and the rest."""
        nothing = Motion.none(*motion.stages[0])
        if base.kind not in ("each", "choice"):
            return nothing, motion
        before, after = motion.split() if motion.pads else (motion, Motion.none(*motion.result))
        return (nothing, motion) if before.regroups_bits else (before, after)

    def _arrays(self, base: Term, motion: Motion) -> list[tuple[Term, Motion]]:
        """Returns the operands of an elementwise base, or the branches of a choice, behind its motion."""
        operands = base.operands[1:] if base.kind == "choice" else base.operands
        chains = map(self.chain, operands)
        return [self._normal(chain.then(motion.retyped(chain.motion.result[0]))) for chain in chains]

    def _needed(self, base: Term, motion: Motion) -> list[tuple[Term, Motion]]:
        before, _ = self._parts(base, motion)
        return self._arrays(base, before) if before.steps else []

    def _push(self, base: Term, motion: Motion) -> Term:
        before, after = self._parts(base, motion)
        if before.steps:
            arrays = [self._pushed[key] for key in self._arrays(base, before)]
            if base.kind == "choice":
                base = self.choice(base.label, base.operands[0], arrays)
            else:
                base = self.each(base.label, before.result[0], arrays)
        return self._moved(*self._normal(Moved(base, after)))

    def _moved(self, base: Term, motion: Motion) -> Term:
        if not motion.steps:
            return base
        element_type, dimensions = motion.result
        if base.kind == "splat" and not motion.regroups_bits and {*motion.fills} <= {None, base.operands[0]}:
            return self.splat(base.operands[0], dimensions)
        fills = [fill for fill in motion.fills if isinstance(fill, Term)]
        label = Motion(motion.stages, motion.steps, tuple(None if fill is None else True for fill in motion.fills))
        return self.make("moved", label, ArrayShape(element_type, dimensions), (base, *fills))


_NO_TYPE = ElementType("unspecified", 0)
