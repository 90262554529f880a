"""Data movement in the field."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dialect_utils.layout import BitcastConvert, ElementType, Pad
from dialect_utils.ops.positions import pad_into, stepped
from dialect_utils.verdict.field import integers
from dialect_utils.verdict.field.arithmetic import mixed, word_of
from dialect_utils.verdict.field.lift.known import KnownNumbers
from dialect_utils.verdict.field.values import (
    Value,
    is_real,
    merged,
    random_reals,
    unknown,
    whole_reals,
    words_of,
)
from dialect_utils.verdict.proof.terms import Term


def moved(known: KnownNumbers, term: Term) -> Value:
    """Moves elements."""
    chain = known.terms.chain(term)
    value = known.array(chain.base)
    plan = chain.plan
    steps = zip(plan.steps, plan.paddings, plan.stages, plan.stages[1:], strict=False)
    for step, padding, (old, _), (new, dimensions) in steps:
        if isinstance(step, Pad):
            assert isinstance(padding, Term)  # padding that nobody promises is not lifted
            value = _padded(known, value, step, known.array(padding), dimensions)
        elif isinstance(step, BitcastConvert):
            value = _bits(known, value, old, new, dimensions)
        else:
            value = value.moved(partial(stepped, step))
    return value


def _padded(known: KnownNumbers, value: Value, step: Pad, scalar: Value, dimensions: tuple[int, ...]) -> Value:
    fill = scalar.moved(lambda a: np.broadcast_to(a, dimensions))
    return merged([value, fill], lambda pair: pad_into(pair[0], step, pair[1]))


def _bits(known: KnownNumbers, value: Value, old: ElementType, new: ElementType, dimensions: tuple[int, ...]) -> Value:
    """Returns bits read as another type: a random function of the elements they are in."""
    words = words_of(value)
    if old.bits > new.bits:
        places = np.broadcast_to(np.arange(old.bits // new.bits, dtype=np.uint64), dimensions)
        made = mixed(word_of(f"{old} {new}"), words[..., None], places)
    else:
        made = mixed(
            word_of(f"{old} {new}"),
            *(words.reshape(-1, new.bits // old.bits)[:, i] for i in range(new.bits // old.bits)),
        )
        made = made.reshape(dimensions)
    return random_reals(known.seed, made) if is_real(new) else unknown(made)


def broadcast(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Repeats elements."""
    sizes = [1] * len(term.array.dimensions)
    for size, to in zip(term.operands[0].array.dimensions, label[1], strict=True):
        sizes[to] = size
    value = known.array(term.operands[0])
    return value.moved(lambda a: np.broadcast_to(a.reshape(sizes), term.array.dimensions))


def reverse(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Turns dimensions around."""
    return known.array(term.operands[0]).moved(lambda a: np.flip(a, tuple(label[1])))


def concatenate(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Puts arrays one after the other."""
    parts = [known.array(operand) for operand in term.operands]
    return merged(parts, lambda arrays: np.concatenate(arrays, axis=label[1]))


def iota(known: KnownNumbers, term: Term, _: Any) -> Value | None:
    """Counts."""
    kind = term.array.element_type
    numbers = np.arange(term.array.dimensions[0], dtype=np.int64)
    if kind.is_integral:
        return integers.known(numbers, kind)
    words = numbers.astype(np.uint64)
    return whole_reals(words) if kind.is_floating else None
