"""Operations that draw random numbers: ThreeFry and Philox on 32-bit words.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); xla/hlo/builder/lib/prng.cc for the
order of the words; xla/service/rng_bit_generator_expander.cc for the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Generic

from dialect_utils.layout import ELEMENT_TYPES, ElementType, TupleShape, parse_shape
from dialect_utils.ops.declaration import (
    ANY,
    FLOATS,
    NO_TRAITS,
    REAL_NUMBERS,
    ElementTypes,
    Opcode,
    Trait,
    choice,
    integers,
    op,
)
from dialect_utils.ops.domain import Domain, UndefinedError, V, reshaped, result_array, section
from dialect_utils.ops.inference import Instance, ShapeError, is_compatible, is_same_kind
from dialect_utils.ops.structured import last_word

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_STATE = parse_shape("u64[2]")
_UNIFORM = ElementTypes("real numbers or truth values", lambda kind: not kind.is_complex)


def check_distribution(instance: Instance) -> None:
    """Raises ShapeError where the bounds of a rng are not two scalars of one type that has the distribution."""
    shapes = instance.operands
    if len(shapes) != len(("from", "to")) or any(instance.array(index).rank for index in range(len(shapes))):
        raise ShapeError("rng takes two scalars", "operands")
    if instance.is_lenient:
        return
    kind, given = instance.array(0).element_type, instance.result_array().element_type
    other = instance.array(1).element_type
    if kind != other or not (is_same_kind(kind, given) if instance.is_mixed else kind == given):
        raise ShapeError(f"rng of {kind} and {other} cannot give {given}", "operands")
    name = instance.attribute("distribution")
    if not (FLOATS if name == "rng_normal" else _UNIFORM).includes(kind):
        raise ShapeError(f"rng of {kind} has no distribution {name}", "distribution")


def check_bits(instance: Instance) -> None:
    """Raises ShapeError where a generator does not return its state and numbers."""
    state, shape = instance.operands[0], instance.shape
    if shape is None or not isinstance(shape, TupleShape):
        return
    if len(shape.elements) != len(("state", "bits")) or not is_compatible(shape.elements[0], state):
        message = f"rng-bit-generator of the state {state} gives it and numbers, but the shape is {shape}"
        raise ShapeError(message, "shape")
    if not instance.is_lenient and not all(REAL_NUMBERS.includes(leaf.element_type) for leaf in shape.arrays()):
        raise ShapeError(f"rng-bit-generator gives real numbers, but the shape is {shape}", "shape")


_U32, _U64 = ELEMENT_TYPES["u32"], ELEMENT_TYPES["u64"]
_WORD, _LONG = 32, 64
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_MULTIPLIERS, _INCREMENTS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_PHILOX_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class _Words(Generic[V]):
    """Arithmetic on vectors of unsigned integers, and on numbers as vectors of the same length."""

    domain: Domain[V]

    def each(self, opcode: str, left: V, right: V | int) -> V:
        kind = self.domain.element_type(left)
        other = self.number(left, right, kind) if isinstance(right, int) else right
        return self.domain.each(opcode, kind, [left, other])

    def number(self, like: V, value: int, kind: ElementType) -> V:
        return self.domain.number(kind, value, self.domain.dimensions(like))

    def add(self, left: V, right: V | int) -> V:
        return self.each("add", left, right)

    def xor(self, left: V, right: V) -> V:
        return self.each("xor", left, right)

    def convert(self, array: V, kind: ElementType) -> V:
        return self.domain.each("convert", kind, [array])

    def halves(self, array: V) -> tuple[V, V]:
        """Returns the low and the high 32 bits of 64-bit integers."""
        return self.convert(array, _U32), self.convert(self.each("shift-right-logical", array, _WORD), _U32)

    def joined(self, low: V, high: V) -> V:
        """Returns 64-bit integers of their low and high 32 bits."""
        return self.each("or", self.convert(low, _U64), self.each("shift-left", self.convert(high, _U64), _WORD))

    def spread(self, vector: V, number: int, count: int) -> V:
        """Returns one element of a vector, repeated."""
        return self.domain.broadcast(section(self.domain, vector, 0, 1, number), (0,), (count,))

    def rotated(self, array: V, distance: int) -> V:
        left = self.each("shift-left", array, distance)
        return self.each("or", left, self.each("shift-right-logical", array, _WORD - distance))

    def threefry(self, words: tuple[V, V], key: tuple[V, V]) -> tuple[V, V]:
        """Returns the words after 20 rounds of Threefry2x32."""
        keys = (*key, self.xor(self.xor(key[0], key[1]), self.number(key[0], _PARITY, _U32)))
        first, second = self.add(words[0], keys[0]), self.add(words[1], keys[1])
        for i in range(5):
            for rotation in _ROTATIONS[i % 2]:
                first = self.add(first, second)
                second = self.xor(first, self.rotated(second, rotation))
            first = self.add(first, keys[(i + 1) % 3])
            second = self.add(self.add(second, keys[(i + 2) % 3]), i + 1)
        return first, second

    def philox(self, words: tuple[V, V, V, V], key: tuple[V, V]) -> tuple[V, V, V, V]:
        """Returns the words after 10 rounds of Philox4x32."""
        a, b, c, d = words
        for _ in range(_PHILOX_ROUNDS):
            wide = [self.convert(each, _U64) for each in (a, c)]
            (low, high), (low_of_c, high_of_c) = (
                self.halves(self.each("multiply", each, factor))
                for each, factor in zip(wide, _MULTIPLIERS, strict=True)
            )
            a, b = self.xor(self.xor(high_of_c, b), key[0]), low_of_c
            c, d = self.xor(self.xor(high, d), key[1]), low
            key = self.add(key[0], _INCREMENTS[0]), self.add(key[1], _INCREMENTS[1])
        return a, b, c, d


def define_rng_bit_generator(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the state after drawing, and random bits."""
    (state,), shape = operands, result_array(operation, 1)
    algorithm = last_word(operation.attribute("algorithm") or operation.attribute("rng_algorithm")).lower()
    if algorithm not in ("rng_three_fry", "three_fry", "rng_philox", "philox"):
        raise UndefinedError(f"rng-bit-generator: the engine chooses the algorithm {algorithm}")
    words = _Words(domain)
    if domain.element_type(state) != _U64:
        raise UndefinedError(f"rng-bit-generator of a state of {domain.element_type(state)}")
    draw = _threefry if "three" in algorithm else _philox
    counted, bits = draw(words, state, shape.dimensions, shape.element_type.bits == _LONG)
    return [counted, domain.each("convert", shape.element_type, [reshaped(domain, bits, shape.dimensions)])]


def _threefry(words: _Words[V], state: V, sizes: tuple[int, ...], is_long: bool) -> tuple[V, V]:
    """Returns the state (key, counter) and the bits; a step of the counter gives one 64-bit or two 32-bit elements."""
    domain, whole = words.domain, list(sizes) or [1]
    # The two 32-bit elements of a counter step are adjacent along the first dimension of even size, else the largest.
    even = next((i for i, size in enumerate(whole) if size % 2 == 0), None)
    split = whole.index(max(whole)) if even is None else even
    steps = [size if is_long or i != split else -(-size // 2) for i, size in enumerate(whole)]
    count = prod(steps)
    counters = words.add(words.spread(state, 1, count), domain.iota(_U64, count))
    low, high = words.threefry(words.halves(counters), words.halves(words.spread(state, 0, count)))
    after = words.add(section(domain, state, 0, 1, 1), count)
    counted = domain.concatenate([section(domain, state, 0, 1), after], 0)
    if is_long:
        return counted, words.joined(low, high)
    apart = (*steps[: split + 1], 1, *steps[split + 1 :])
    pair = domain.concatenate([reshaped(domain, each, apart) for each in (low, high)], split + 1)
    joined = reshaped(domain, pair, [2 * size if i == split else size for i, size in enumerate(steps)])
    return counted, section(domain, joined, split, whole[split])


def _philox(words: _Words[V], state: V, sizes: tuple[int, ...], is_long: bool) -> tuple[V, V]:
    """Returns the state (key, counter of 128 bits) and the bits as a vector; a step of the counter gives four words."""
    domain, count = words.domain, prod(sizes) * (2 if is_long else 1)
    steps = -(-count // 4)
    low, high = _counted(words, state, steps, domain.iota(_U64, steps))
    key = words.halves(words.spread(state, 0, steps))
    found = words.philox((*words.halves(low), *words.halves(high)), key)
    drawn = [words.joined(*found[:2]), words.joined(*found[2:])] if is_long else list(found)
    columns = [reshaped(domain, each, (steps, 1)) for each in drawn]
    flat = reshaped(domain, domain.concatenate(columns, 1), (steps * len(columns),))
    after = _counted(words, state, 1, domain.number(_U64, steps, (1,)))
    counted = domain.concatenate([section(domain, state, 0, 1), *after], 0)
    return section(domain, counted, 0, domain.dimensions(state)[0]), section(domain, flat, 0, prod(sizes))


def _counted(words: _Words[V], state: V, count: int, added: V) -> tuple[V, V]:
    """Returns the low and high 64 bits of the counter plus numbers."""
    domain, low = words.domain, words.spread(state, 1, count)
    # The key is also the high half of the counter where the state has no third element.
    high = words.spread(state, 2 if domain.dimensions(state)[0] > 2 else 0, count)
    total = words.add(low, added)
    carry = words.convert(domain.compare("LT", total, low, is_total=False), _U64)
    return total, words.add(high, carry)


def define_chosen(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Raises UndefinedError: the engine chooses the numbers."""
    raise UndefinedError(f"{operation.opcode}: the engine chooses the random numbers")


_NUMBERED = "the random number at an index depends on the number of indices before it"

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "rng",
        ANY,
        Trait.ENGINE_DEFINED,
        choice("distribution", "rng_normal rng_uniform", needed=True, mlir="rng_distribution"),
        check=check_distribution,
        sized_by=2,
        define=define_chosen,
        factors=_NUMBERED,
    ),
    op(
        "rng-bit-generator",
        1,
        Trait.PURE,
        choice("algorithm", "rng_default rng_philox rng_three_fry", needed=True, mlir="rng_algorithm"),
        check=check_bits,
        define=define_rng_bit_generator,
        factors=_NUMBERED,
    ),
    op(
        "rng-get-and-update-state",
        0,
        NO_TRAITS,
        integers("delta", needed=True),
        mlir="",
        result=lambda instance: _STATE,
        define=define_chosen,
        factors=_NUMBERED,
    ),
)
