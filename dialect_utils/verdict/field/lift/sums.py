"""Sums, products and extremes of many numbers: dots, convolutions and reductions."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from dialect_utils.layout import ElementType
from dialect_utils.ops.positions import window_positions
from dialect_utils.verdict.field import arithmetic as field
from dialect_utils.verdict.field import functions
from dialect_utils.verdict.field.arithmetic import P, Q, Words, mixed, word_of
from dialect_utils.verdict.field.lift.elementwise import logic
from dialect_utils.verdict.field.lift.known import KnownNumbers
from dialect_utils.verdict.field.values import Extreme, Real, Value, Whole, in_rounds, unknown, words_of
from dialect_utils.verdict.proof.terms import Term

_EXTREMES: dict[str, Extreme] = {"maximum": "maximum", "minimum": "minimum"}


def dot(known: KnownNumbers, term: Term, _: Any) -> Value | None:
    """Sums products; of truth values there are none: theirs is an or."""
    left, right = (known.array(operand) for operand in term.operands)
    if not isinstance(left, Real) or not isinstance(right, Real) or not term.array.element_type.is_floating:
        return None
    known.spend(prod(term.array.dimensions) * left.dimensions[2])
    return Real(
        in_rounds(partial(field.matmul, prime=P), left.first, right.first),
        in_rounds(partial(field.matmul, prime=Q), left.second, right.second),
    )


def convolution(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Sums products of windows with kernels."""
    window, (groups, batches), _ = label[1:]
    lhs, rhs = (known.array(operand) for operand in term.operands)
    if not isinstance(lhs, Real) or not isinstance(rhs, Real):
        return None
    if batches != 1 or not term.array.element_type.is_floating:
        return None
    batch, outputs, *sizes = term.array.dimensions
    places, kernel = prod(sizes), prod(rhs.dimensions[2:])
    per_group, columns = rhs.dimensions[1], outputs // groups
    known.spend(batch * outputs * places * kernel * per_group)
    turned = [i + 2 for i, dimension in enumerate(window) if dimension.is_reversed]
    if turned:
        rhs = rhs.moved(lambda a: np.flip(a, tuple(turned)))
    index = window_positions(window, lhs.dimensions[2:], sizes)

    def summed(a: Words, b: Words, prime: int) -> Words:
        padding = np.zeros((batch, groups, per_group, 1), np.uint64)
        patches = np.concatenate([a.reshape(batch, groups, per_group, -1), padding], axis=-1)[..., index]
        rows = patches.transpose(1, 0, 3, 2, 4).reshape(groups, -1, per_group * kernel)
        made = field.matmul(rows, b.reshape(groups, columns, per_group * kernel), prime)
        return made.reshape(groups, batch, places, columns).transpose(1, 0, 3, 2).reshape(term.array.dimensions)

    return Real(
        in_rounds(partial(summed, prime=P), lhs.first, rhs.first),
        in_rounds(partial(summed, prime=Q), lhs.second, rhs.second),
    )


def reduce(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Reduces rows."""
    value, initial = (known.array(operand) for operand in term.operands)
    if not isinstance(value, Real) or not isinstance(initial, Real):
        return _reduced_integers(known, term, label[1], value)
    return _reduced(known, label[1], value, initial, term.array.element_type)


def _reduced(known: KnownNumbers, opcode: str, value: Real, initial: Real, kind: ElementType) -> Real | None:
    """Returns [rows, summed] reduced along the second dimension."""
    rows = value.dimensions[0]
    start = initial.moved(lambda a: np.broadcast_to(a, (rows,)))
    if kind.name == "pred":
        if opcode not in ("and", "or"):
            return None
        parts = [value.moved(partial(np.take, indices=i, axis=1)) for i in range(value.dimensions[1])]
        return logic(opcode, [start, *parts])
    if opcode == "add":
        return functions.add(functions.total(value, 1), start)
    if opcode == "multiply":
        made = Real(field.product(value.first, 1, P), field.product(value.second, 1, Q))
        return functions.multiply(made, start)
    if opcode in _EXTREMES:
        inner = functions.reduced_extreme(known.seed, _EXTREMES[opcode], value, 1)
        return functions.extreme(known.seed, _EXTREMES[opcode], [inner, start])
    return None


def _reduced_integers(known: KnownNumbers, term: Term, opcode: str | None, value: Value) -> Value | None:
    """Returns a sum of integers: of hashes, so that their order does not count."""
    initial = known.array(term.operands[1])
    if opcode is None or not isinstance(value, Whole) or not isinstance(initial, Whole) or value.is_known:
        return None
    with np.errstate(over="ignore"):
        hashed = mixed(word_of(f"{opcode} {term.array.element_type}"), words_of(value)).sum(axis=1, dtype=np.uint64)
    return unknown(mixed(hashed, words_of(initial)))


def reduce_window(known: KnownNumbers, term: Term, label: Any) -> Value | None:
    """Reduces windows."""
    _, opcode, window = label
    if opcode is None or len(term.operands) != len(("array", "initial")):
        return None
    value, initial = (known.array(operand) for operand in term.operands)
    kind = term.array.element_type
    if not isinstance(value, Real) or not isinstance(initial, Real):
        return None
    known.spend(prod(term.array.dimensions) * prod(dimension.size for dimension in window))
    index = window_positions(window, value.dimensions, term.array.dimensions)

    # Padding holds the initial value, which counts once for each place and once more.
    def covered(a: Words, start: Words) -> Words:
        return np.append(a, start)[index]

    rows = Real(in_rounds(covered, value.first, initial.first), in_rounds(covered, value.second, initial.second))
    found = _reduced(known, opcode, rows, initial, kind)
    return None if found is None else found.moved(lambda a: a.reshape(term.array.dimensions))
