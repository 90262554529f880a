"""The terms of a proof, evaluated in the field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape, BitcastConvert, ElementType, Pad
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.field import arithmetic as field
from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.arithmetic import P, Q, Words, digest, mixed, word_of
from dialect_utils.verdict.field.fractions import simplest_fraction
from dialect_utils.verdict.field.values import (
    ROUNDS,
    Extreme,
    Real,
    UnliftedError,
    Value,
    Whole,
    in_rounds,
    merged,
    random_reals,
    unknown,
    where,
    whole_reals,
    words_of,
)
from dialect_utils.verdict.proof.contents import as_array
from dialect_utils.verdict.proof.gathers import gathered_indices
from dialect_utils.verdict.proof.steps import pad_into, stepped
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.proof.windows import window_indices

# Elements in all arrays of one evaluation, and products in all sums: some seconds.
_MOST_ELEMENTS = 1 << 26
_MOST_PRODUCTS = 1 << 32
# Different numbers in one constant whose fractions are looked for.
_MOST_FRACTIONS = 4096


_EXTREMES: dict[str, Extreme] = {"maximum": "maximum", "minimum": "minimum"}


def _is_real(element_type: ElementType) -> bool:
    return element_type.is_floating or element_type.name == "pred"


class Lift:
    """One evaluation: random numbers for the inputs, by a seed.

    With `has_fractions` constants are the simplest numbers that round to them, else what their bits are.
    """

    def __init__(self, terms: Terms, seed: int, *, has_fractions: bool = False) -> None:
        self.terms = terms
        self.seed = seed
        self.has_fractions = has_fractions
        self._values: dict[Term, Value | int] = {}
        self._elements = 0
        self._products = 0

    def value(self, term: Term) -> Value | int:
        """Returns the numbers of a term (a hash for what is no array); raises UnliftedError."""
        found: set[Term] = set()
        pending = [term]
        while pending:
            part = pending.pop()
            if part not in found and part not in self._values:
                found.add(part)
                pending += part.operands
        for part in sorted(found, key=lambda part: part.number):
            self._values[part] = self._value(part)
        return self._values[term]

    def different(self, term: Term) -> int:
        """Returns how many different elements a term has that was evaluated."""
        found = self._values[term]
        return 1 if isinstance(found, int) else int(np.unique(words_of(found)).size)

    def _value(self, term: Term) -> Value | int:
        if not term.is_specified:
            raise UnliftedError("padding of a physical array is read")
        if not isinstance(term.shape, ArrayShape):
            return self._hash(term)
        self._check(term.shape)
        rule = _KINDS.get(term.kind)
        return self._operation(term) if rule is None else rule(self, term)

    def _check(self, shape: ArrayShape) -> None:
        if shape.element_type.is_complex:
            raise UnliftedError("complex numbers are not lifted")
        if not shape.is_static:
            raise UnliftedError("sizes that depend on data are not lifted")
        self._elements += prod(shape.dimensions)
        if self._elements > _MOST_ELEMENTS:
            raise UnliftedError("the arrays are too large")

    def leaf(self, term: Term) -> Value:
        """Returns random numbers for an input."""
        return self._random(term.array, word_of(repr(term.label)))

    def splat(self, term: Term) -> Value:
        """Repeats one number."""
        return self._array(term.operands[0]).moved(lambda a: np.broadcast_to(a, term.array.dimensions))

    def out(self, term: Term) -> Value:
        """Returns random numbers for a result of an operation."""
        return self._random(term.array, self._hash(term))

    def _array(self, term: Term) -> Value:
        found = self._values[term]
        assert not isinstance(found, int)  # arrays have numbers
        return found

    def _real(self, term: Term) -> Real:
        found = self._array(term)
        if not isinstance(found, Real):
            raise UnliftedError("integers are mixed with floats")
        return found

    def _random(self, shape: ArrayShape, word: int) -> Value:
        """Returns an array of random numbers of a shape's type."""
        places = np.arange(prod(shape.dimensions), dtype=np.uint64).reshape(shape.dimensions)
        if _is_real(shape.element_type):
            return random_reals(self.seed, word, places)
        return unknown(mixed(self.seed, word, places))

    def _hash(self, term: Term) -> int:
        """Returns what stands for an operation of which only that equal ones are equal is known."""
        words: list[int] = [word_of(repr((term.kind, term.label)))]
        for operand in term.operands:
            value = self._values[operand]
            words.append(value if isinstance(value, int) else digest(words_of(value)))
        return int(mixed(*words))

    def _opaque(self, term: Term) -> Value:
        return self._random(term.array, self._hash(term))

    # Constants

    def constant(self, term: Term) -> Value:
        """Returns the exact values of a constant."""
        kind = term.array.element_type
        if isinstance(term.label, int):
            raw: NDArray[Any] = np.frombuffer(term.label.to_bytes(kind.storage_bytes, "little"), np.uint8)
            array = as_array(raw.tobytes(), kind, ())
        else:
            assert isinstance(term.label, bytes)  # so constants are made
            array = as_array(term.label, kind, term.array.dimensions)
        if kind.name == "pred":
            return whole_reals(array.astype(np.uint64))
        if not kind.is_floating:
            return integers.known(array.astype(np.int64), kind)
        numbers = array.astype(np.float64)
        if np.isnan(numbers).any():
            return self._opaque(term)
        finite = np.where(np.isinf(numbers), 0.0, numbers)
        found = self._fractions(kind, array) if self.has_fractions else None
        if found is None:
            first, second = (field.dyadic(finite, prime)[..., None].repeat(ROUNDS, axis=-1) for prime in (P, Q))
            found = Real(first, second)
        for is_positive in (True, False):
            there = np.isinf(numbers) & ((numbers > 0) == is_positive)
            found = where(there, functions.infinity(is_positive), found)
        return found

    def _fractions(self, kind: ElementType, array: NDArray[Any]) -> Real | None:
        """Returns what numbers of a constant round; None where there are too many to look at."""
        values, places = np.unique(as_bits(array), return_inverse=True)
        if values.size > _MOST_FRACTIONS:
            return None
        fractions = [simplest_fraction(kind, int(bits)) or Fraction(0) for bits in values]
        try:
            residues = [np.array([field.rational(each, prime) for each in fractions], np.uint64) for prime in (P, Q)]
        except ValueError:
            # A denominator is a multiple of a prime.
            return None
        first, second = (each[places.reshape(array.shape)][..., None].repeat(ROUNDS, axis=-1) for each in residues)
        return Real(first, second)

    # Elementwise operations

    def each(self, term: Term) -> Value:
        """Returns an elementwise operation."""
        operands = [self._array(operand) for operand in term.operands]
        label, kind = term.label, term.array.element_type
        if isinstance(label, tuple) and label[0] == "compare":
            return self._compare(term, label, operands)
        if label == "select":
            return self._select(operands)
        if isinstance(label, tuple) and label[0] == "pick" and _is_real(kind):
            return self._picked(operands[0], [value for value in operands[1:] if isinstance(value, Real)])
        if label == "convert":
            return self._convert(term, operands[0])
        if _is_real(kind) and all(isinstance(value, Real) for value in operands):
            reals = [value for value in operands if isinstance(value, Real)]
            found = self._logic(label, reals) if kind.name == "pred" else self._arithmetic(label, reals)
            return found if found is not None else self._random_each(term, operands)
        if (isinstance(label, tuple) and label[0] == "ring") or isinstance(label, str):
            wholes = [value for value in operands if isinstance(value, Whole)]
            if len(wholes) == len(operands) and not _is_real(kind):
                return integers.apply(label, kind, wholes)
        return self._random_each(term, operands)

    def _random_each(self, term: Term, operands: Sequence[Value]) -> Value:
        """Returns a random function of the operands' elements."""
        words: list[Words | int] = [word_of(repr(term.label)), *map(words_of, operands)]
        if _is_real(term.array.element_type):
            return random_reals(self.seed, *words)
        return unknown(mixed(self.seed, *words))

    def _arithmetic(self, label: Any, values: list[Real]) -> Real | None:
        match label:
            case "add":
                return functions.add(*values)
            case "subtract":
                return functions.add(values[0], functions.negate(values[1]))
            case "negate":
                return functions.negate(values[0])
            case "multiply":
                return functions.multiply(*values)
            case "divide":
                self._check_divisor(values[1])
                return functions.divide(*values)
            case "maximum" | "minimum":
                return functions.extreme(self.seed, label, values)
        if isinstance(label, tuple) and label[0] in ("sum", "sum-of-products"):
            is_product = label == ("sum", "multiply")
            return reduce(functions.multiply if is_product else functions.add, values)
        if label == "product":
            return reduce(functions.multiply, values)
        if isinstance(label, str) and len(values) == 1:
            return functions.apply(self.seed, label, values[0])
        return None

    def _check_divisor(self, value: Real) -> None:
        if value.is_zero.any():
            raise UnliftedError("something is divided by 0 everywhere")

    def _logic(self, label: Any, values: list[Real]) -> Real | None:
        if label == "not":
            return functions.add(functions.constant(1, values[0]), functions.negate(values[0]))
        if label == "and":
            return reduce(functions.multiply, values)
        if label == "or":
            opposite = [self._logic("not", [value]) for value in values]
            return self._logic("not", [reduce(functions.multiply, [each for each in opposite if each is not None])])
        if label == "xor":
            return reduce(_exclusive, values)
        if label == "is-finite":
            return functions.constant(1, values[0])
        return None

    def _picked(self, index: Value, values: Sequence[Real]) -> Real:
        """Returns a sum of the numbers that an index picks from, with weights whose sum is 1."""
        total = values[-1]
        for number, value in enumerate(values[:-1]):
            weight = random_reals(self.seed, word_of("pick"), words_of(index), len(values), number)
            difference = functions.add(value, functions.negate(values[-1]))
            total = functions.add(total, functions.multiply(weight, difference))
        return total

    def _compare(self, term: Term, label: Any, operands: list[Value]) -> Value:
        first, second = operands
        if isinstance(first, Whole) and isinstance(second, Whole):
            return integers.compare(self.seed, label[1], term.operands[0].array.element_type, first, second)
        if not isinstance(first, Real) or not isinstance(second, Real):
            raise UnliftedError("integers are mixed with floats")
        if label[1] == "EQ":
            return functions.equal(self.seed, first, second)
        if label[1] == "LE":
            return self._opposite(functions.below(self.seed, second, first))
        return functions.below(self.seed, first, second)

    def _opposite(self, value: Real) -> Real:
        return functions.add(functions.constant(1, value), functions.negate(value))

    def _select(self, operands: list[Value]) -> Value:
        predicate, first, second = operands
        assert isinstance(predicate, Real)  # truth values are
        if isinstance(first, Real) and isinstance(second, Real):
            chosen = functions.multiply(predicate, first)
            return functions.add(chosen, functions.multiply(self._opposite(predicate), second))
        if isinstance(first, Whole) and isinstance(second, Whole):
            return integers.select(predicate, first, second)
        raise UnliftedError("integers are mixed with floats")

    def _convert(self, term: Term, value: Value) -> Value:
        source, kind = term.operands[0].array.element_type, term.array.element_type
        if isinstance(value, Real) and kind.is_floating:
            return value
        if isinstance(value, Whole) and kind.is_floating:
            return integers.as_real(self.seed, source, value)
        if isinstance(value, Real) and source.name == "pred" and kind.is_integral:
            is_known = np.asarray((value.first <= 1).all(axis=-1))
            return Whole(np.where(is_known, value.first[..., 0], mixed(4, value.words)), is_known)
        if isinstance(value, Whole) and kind.is_integral:
            return integers.convert(source, kind, value)
        return self._random_each(term, [value])

    def choice(self, term: Term) -> Value:
        """Returns one of several arrays, weighted by what stands for the choice."""
        selector, *branches = (self._array(operand) for operand in term.operands)
        words = mixed(word_of(repr(term.label)), words_of(selector))
        if all(isinstance(branch, Real) for branch in branches) and len(branches) > 1:
            reals = [branch for branch in branches if isinstance(branch, Real)]
            total = reals[-1]
            for number, branch in enumerate(reals[:-1]):
                weight = random_reals(self.seed, words, number).moved(partial(np.broadcast_to, shape=branch.dimensions))
                difference = functions.add(branch, functions.negate(reals[-1]))
                total = functions.add(total, functions.multiply(weight, difference))
            return total
        return unknown(mixed(words, *map(words_of, branches)))

    # Movement

    def moved(self, term: Term) -> Value:
        """Moves elements."""
        chain = self.terms.chain(term)
        value = self._array(chain.base)
        plan = chain.plan
        steps = zip(plan.steps, plan.paddings, plan.stages, plan.stages[1:], strict=False)
        for step, padding, (old, _), (new, dimensions) in steps:
            if isinstance(step, Pad):
                assert isinstance(padding, Term)  # padding that nobody promises is not lifted
                value = self._padded(value, step, self._array(padding), dimensions)
            elif isinstance(step, BitcastConvert):
                value = self._bits(value, old, new, dimensions)
            else:
                value = value.moved(partial(stepped, step))
        return value

    def _padded(self, value: Value, step: Pad, scalar: Value, dimensions: tuple[int, ...]) -> Value:
        fill = scalar.moved(lambda a: np.broadcast_to(a, dimensions))
        return merged([value, fill], lambda pair: pad_into(pair[0], step, pair[1]))

    def _bits(self, value: Value, old: ElementType, new: ElementType, dimensions: tuple[int, ...]) -> Value:
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
        return random_reals(self.seed, made) if _is_real(new) else unknown(made)

    # Operations on whole arrays

    def _operation(self, term: Term) -> Value:
        label = term.label
        name = label[0] if isinstance(label, tuple) else None
        rule = _RULES.get(name) if isinstance(name, str) else None
        found = rule(self, term, label) if rule is not None else None
        return found if found is not None else self._opaque(term)

    def broadcast(self, term: Term, label: Any) -> Value | None:
        """Repeats elements."""
        sizes = [1] * len(term.array.dimensions)
        for size, to in zip(term.operands[0].array.dimensions, label[1], strict=True):
            sizes[to] = size
        value = self._array(term.operands[0])
        return value.moved(lambda a: np.broadcast_to(a.reshape(sizes), term.array.dimensions))

    def reverse(self, term: Term, label: Any) -> Value | None:
        """Turns dimensions around."""
        return self._array(term.operands[0]).moved(lambda a: np.flip(a, tuple(label[1])))

    def concatenate(self, term: Term, label: Any) -> Value | None:
        """Puts arrays one after the other."""
        parts = [self._array(operand) for operand in term.operands]
        return merged(parts, lambda arrays: np.concatenate(arrays, axis=label[1]))

    def iota(self, term: Term, _: Any) -> Value | None:
        """Counts."""
        kind = term.array.element_type
        numbers = np.arange(term.array.dimensions[0], dtype=np.int64)
        if kind.is_integral:
            return integers.known(numbers, kind)
        words = numbers.astype(np.uint64)
        return whole_reals(words) if kind.is_floating else None

    def dot(self, term: Term, _: Any) -> Value | None:
        """Sums products."""
        left, right = (self._array(operand) for operand in term.operands)
        if not isinstance(left, Real) or not isinstance(right, Real):
            return None
        self._spend(prod(term.array.dimensions) * left.dimensions[2])
        return Real(
            in_rounds(partial(field.matmul, prime=P), left.first, right.first),
            in_rounds(partial(field.matmul, prime=Q), left.second, right.second),
        )

    def _spend(self, count: int) -> None:
        self._products += count
        if self._products > _MOST_PRODUCTS:
            raise UnliftedError("the sums are too long")

    def convolution(self, term: Term, label: Any) -> Value | None:
        """Sums products of windows with kernels."""
        window, (groups, batches), _ = label[1:]
        lhs, rhs = (self._array(operand) for operand in term.operands)
        if not isinstance(lhs, Real) or not isinstance(rhs, Real) or batches != 1:
            return None
        batch, outputs, *sizes = term.array.dimensions
        places, kernel = prod(sizes), prod(rhs.dimensions[2:])
        per_group, columns = rhs.dimensions[1], outputs // groups
        self._spend(batch * outputs * places * kernel * per_group)
        turned = [i + 2 for i, dimension in enumerate(window) if dimension.is_reversed]
        if turned:
            rhs = rhs.moved(lambda a: np.flip(a, tuple(turned)))
        index = window_indices(window, lhs.dimensions[2:], sizes)

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

    def reduce(self, term: Term, label: Any) -> Value | None:
        """Reduces rows."""
        value, initial = (self._array(operand) for operand in term.operands)
        if not isinstance(value, Real) or not isinstance(initial, Real):
            return self._reduced_integers(term, label[1], value)
        return self._reduced(label[1], value, initial, term.array.element_type)

    def _reduced(self, opcode: str, value: Real, initial: Real, kind: ElementType) -> Real | None:
        """Returns [rows, summed] reduced along the second dimension."""
        rows = value.dimensions[0]
        start = initial.moved(lambda a: np.broadcast_to(a, (rows,)))
        if kind.name == "pred":
            if opcode not in ("and", "or"):
                return None
            parts = [value.moved(partial(np.take, indices=i, axis=1)) for i in range(value.dimensions[1])]
            return self._logic(opcode, [start, *parts])
        if opcode == "add":
            made = Real(field.total(value.first, 1, P), field.total(value.second, 1, Q))
            return functions.add(made, start)
        if opcode == "multiply":
            made = Real(field.product(value.first, 1, P), field.product(value.second, 1, Q))
            return functions.multiply(made, start)
        if opcode in _EXTREMES:
            inner = functions.reduced_extreme(self.seed, _EXTREMES[opcode], value, 1)
            return functions.extreme(self.seed, _EXTREMES[opcode], [inner, start])
        return None

    def _reduced_integers(self, term: Term, opcode: str | None, value: Value) -> Value | None:
        """Returns a sum of integers: of hashes, so that their order does not count."""
        initial = self._array(term.operands[1])
        if opcode is None or not isinstance(value, Whole) or not isinstance(initial, Whole) or value.is_known:
            return None
        with np.errstate(over="ignore"):
            hashed = mixed(word_of(opcode), words_of(value)).sum(axis=1, dtype=np.uint64)
        return unknown(mixed(hashed, words_of(initial)))

    def reduce_window(self, term: Term, label: Any) -> Value | None:
        """Reduces windows."""
        _, opcode, window = label
        if opcode is None or len(term.operands) != len(("array", "initial")):
            return None
        value, initial = (self._array(operand) for operand in term.operands)
        kind = term.array.element_type
        if not isinstance(value, Real) or not isinstance(initial, Real):
            return None
        self._spend(prod(term.array.dimensions) * prod(dimension.size for dimension in window))
        index = window_indices(window, value.dimensions, term.array.dimensions)

        # Padding holds the initial value, which counts once for each place and once more.
        def covered(a: Words, start: Words) -> Words:
            return np.append(a, start)[index]

        rows = Real(in_rounds(covered, value.first, initial.first), in_rounds(covered, value.second, initial.second))
        found = self._reduced(opcode, rows, initial, kind)
        return None if found is None else found.moved(lambda a: a.reshape(term.array.dimensions))

    def dynamic_slice(self, term: Term, _: Any) -> Value | None:
        """Takes a part, where it is known which."""
        starts = self._starts(term.operands[1:], term.operands[0], term)
        if starts is None:
            return None
        cut = tuple(slice(a, a + size) for a, size in zip(starts, term.array.dimensions, strict=True))
        return self._array(term.operands[0]).moved(lambda a: a[cut])

    def dynamic_update_slice(self, term: Term, _: Any) -> Value | None:
        """Writes a part, where it is known which."""
        starts = self._starts(term.operands[2:], term, term.operands[1])
        if starts is None:
            return None
        sizes = term.operands[1].array.dimensions
        cut = tuple(slice(a, a + size) for a, size in zip(starts, sizes, strict=True))

        def written(pair: list[NDArray[Any]]) -> NDArray[Any]:
            result = pair[0].copy()
            result[cut] = pair[1]
            return result

        return merged([self._array(operand) for operand in term.operands[:2]], written)

    def _starts(self, indices: Sequence[Term], whole: Term, part: Term) -> list[int] | None:
        found = []
        sizes = zip(indices, whole.array.dimensions, part.array.dimensions, strict=True)
        for index, full, size in sizes:
            value = self._array(index)
            if not isinstance(value, Whole) or not value.is_known:
                return None
            found.append(max(0, min(int(integers.numbers(value, index.array.element_type)), full - size)))
        return found

    def gather(self, term: Term, label: Any) -> Value | None:
        """Takes elements, where it is known which."""
        starts = self._array(term.operands[1])
        if not isinstance(starts, Whole) or not starts.is_known or not starts.words.size:
            return None
        values = integers.numbers(starts, term.operands[1].array.element_type)
        indices = gathered_indices(dict(label[1][1]), term.operands[0].array.dimensions, values, term.array.dimensions)
        return None if indices is None else self._array(term.operands[0]).moved(lambda a: a[indices])


def _exclusive(a: Real, b: Real) -> Real:
    both = functions.multiply(a, b)
    return functions.add(functions.add(a, b), functions.negate(functions.add(both, both)))


_RULES: dict[str, Callable[[Lift, Term, Any], Value | None]] = {
    "broadcast": Lift.broadcast,
    "concatenate": Lift.concatenate,
    "convolution": Lift.convolution,
    "dot": Lift.dot,
    "dynamic-slice": Lift.dynamic_slice,
    "dynamic-update-slice": Lift.dynamic_update_slice,
    "gather": Lift.gather,
    "iota": Lift.iota,
    "reduce": Lift.reduce,
    "reduce-window": Lift.reduce_window,
    "reverse": Lift.reverse,
}

_KINDS: dict[str, Callable[[Lift, Term], Value]] = {
    "leaf": Lift.leaf,
    "constant": Lift.constant,
    "splat": Lift.splat,
    "each": Lift.each,
    "choice": Lift.choice,
    "moved": Lift.moved,
    "out": Lift.out,
}
