"""Rules about whole arrays, instantiated at every small shape: two programs that are equal, and one that is not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, permutations, product

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.execution.arrays import to_bits
from dialect_utils.execution.reference import evaluate
from dialect_utils.execution.reference.conversions import kind_of, widened
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from tests.styled_inputs import styled_inputs
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E
from tests.verdict.proof.test_array_rules import INSTANCES as ALL_INSTANCES, Instance, texts

# The reference engine has one device: test_exchanges.py executes reductions among several.
INSTANCES = {name: made for name, made in ALL_INSTANCES.items() if name != "promoted-reduction"}
_SEEDS, _RUNS = 4, 4
_SHAPES = ((2,), (3,), (2, 3), (1, 2), (2, 1, 3))


def instances(name: str) -> Iterator[Instance]:
    """Yields the instances of a rule: all of its family, and random ones."""
    yield from _FAMILIES.get(name, tuple)()
    for seed in range(_SEEDS):
        yield INSTANCES[name](random.Random(seed))


def _subsets(rank: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(rank), count) for count in range(rank + 1))


def _x(dims: Sequence[int], kind: str = "s32") -> E:
    return ex.parameter(0, kind, dims)


def _integer(value: int) -> E:
    return ex.constant("s32", value)


def _broadcasts() -> Iterator[Instance]:
    for sizes, inner, outer in product(((), (2,), (2, 2)), (1, 2, 3), (2, 3)):
        if not len(sizes) <= inner <= outer:
            continue
        for first, second in product(combinations(range(inner), len(sizes)), combinations(range(outer), inner)):
            x = _x(sizes)
            middle, whole = _placed(sizes, first, inner), _placed(_placed(sizes, first, inner), second, outer)
            at = tuple(second[i] for i in first)
            wrong = ex.broadcast(-x, whole, at)
            yield texts(ex.broadcast(ex.broadcast(x, middle, first), whole, second), ex.broadcast(x, whole, at), wrong)
            yield texts(-ex.broadcast(x, whole, at), wrong, ex.broadcast(x, whole, at))


def _placed(sizes: Sequence[int], at: Sequence[int], rank: int) -> tuple[int, ...]:
    """Returns the sizes at their dimensions, 3 at the others."""
    return tuple(sizes[at.index(i)] if i in at else 3 for i in range(rank))


def _reversals() -> Iterator[Instance]:
    for dims in _SHAPES:
        for first, second in product(_subsets(len(dims)), repeat=2):
            x, both = _x(dims), sorted({*first} ^ {*second})
            twice = ex.reverse(ex.reverse(x, first), second)
            yield texts(twice, ex.reverse(x, both), ex.reverse(x, sorted({*first} | {*second})))
            yield texts(-ex.reverse(x, first), ex.reverse(-x, first), -x)


def _concatenations() -> Iterator[Instance]:
    for counts in product((1, 2), repeat=3):
        for dimension in (0, 1):
            x, y, z = (
                ex.parameter(i, "s32", (count, 2) if dimension == 0 else (2, count)) for i, count in enumerate(counts)
            )
            flat = ex.concatenate([x, y, z], dimension)
            wrong = ex.concatenate([z, y, x], dimension)
            yield texts(ex.concatenate([ex.concatenate([x, y], dimension), z], dimension), flat, wrong)
            yield texts(ex.concatenate([x, ex.concatenate([y, z], dimension)], dimension), flat, wrong)


def _dynamic_slices() -> Iterator[Instance]:
    """Yields slices at constant positions, before, in and beyond the array."""
    for size in (1, 2, 3, 4):
        for count, start in product(range(1, size + 1), range(-2, size + 3)):
            x, inside = _x((size, 2)), min(max(start, 0), size - count)
            found = ex.dynamic_slice(x, [_integer(start), _integer(0)], (count, 2))
            sliced = ex.slice_(x, [(inside, inside + count), (0, 2)])
            yield texts(found, sliced, ex.reverse(sliced, [1]))


def _picks() -> Iterator[Instance]:
    """Yields slices at a computed position: a choice between all that there are."""
    for size in (2, 3, 4):
        for count in range(1, size):
            x, at = _x((size,)), ex.parameter(1, "s32")
            last = size - count
            chosen = ex.slice_(x, [(last, last + count)])
            for start in reversed(range(last)):
                below = ex.broadcast(ex.compare("LE", at, _integer(start)), (count,))
                chosen = ex.select(below, ex.slice_(x, [(start, start + count)]), chosen)
            found = ex.dynamic_slice(x, [at], (count,))
            yield texts(found, chosen, ex.slice_(x, [(0, count)]))


def _dots() -> Iterator[Instance]:
    """Yields dots of any order of dimensions, with and without a batch."""
    sizes = {"b": 2, "m": 2, "n": 1, "k": 3}
    for left, right in product(permutations("mk"), permutations("kn")):
        yield _dot(sizes, "".join(left), "".join(right), "")
    for left, right in product(permutations("bmk"), permutations("bkn")):
        yield _dot(sizes, "".join(left), "".join(right), "b")


def _dot(sizes: dict[str, int], left: str, right: str, batch: str) -> Instance:
    x = ex.parameter(0, "s32", [sizes[name] for name in left])
    y = ex.parameter(1, "s32", [sizes[name] for name in right])
    rows, columns = f"{batch}mk", f"{batch}kn"
    plain_x = ex.transpose(x, [left.index(name) for name in rows])
    plain_y = ex.transpose(y, [right.index(name) for name in columns])
    batches = ([left.index(name) for name in batch], [right.index(name) for name in batch])
    found = ex.dot(x, y, ([left.index("k")], [right.index("k")]), batches)
    at = len(batch)
    plain_batch = (list(range(at)), list(range(at)))
    swapped = ex.dot(plain_y, plain_x, ([at], [at + 1]), plain_batch)
    wrong = ex.dot(ex.reverse(plain_x, [at + 1]), plain_y, ([at + 1], [at]), plain_batch)
    return texts(found, ex.transpose(swapped, [*range(at), at + 1, at]), wrong)


def _reductions() -> Iterator[Instance]:
    for dims in ((2, 3), (2, 1, 3)):
        for order, reduced in product(permutations(range(len(dims))), _subsets(len(dims))):
            x, zero = _x(dims), _integer(0)
            turned = ex.transpose(x, order)
            kept = [i for i in order if i not in reduced]
            found = ex.reduce("add", turned, zero, [order.index(i) for i in reduced])
            plain = ex.transpose(ex.reduce("add", x, zero, reduced), [sorted(kept).index(i) for i in kept])
            yield texts(found, plain, -plain)


def _initial_values() -> Iterator[Instance]:
    neutral = {"add": 0, "multiply": 1, "maximum": -(1 << 31), "minimum": (1 << 31) - 1, "and": -1, "or": 0, "xor": 0}
    for opcode, size in product(neutral, (1, 2, 3)):
        x, start = _x((size,)), ex.parameter(1, "s32")
        bare = ex.reduce(opcode, x, _integer(neutral[opcode]), [0])
        found = ex.reduce(opcode, x, start, [0])
        yield texts(found, ex.binary(opcode, bare, start), bare)
        front = ex.concatenate([ex.reshape(start, (1,)), x], 0)
        yield texts(found, ex.reduce(opcode, front, _integer(neutral[opcode]), [0]), bare)


def _windows() -> Iterator[Instance]:
    """Yields convolutions whose dimensions have any order."""
    sizes = {"b": 1, "f": 2, "0": 4}
    kernel = {"o": 2, "i": 2, "0": 2}
    for lhs, rhs, out in product(permutations("bf0"), permutations("oi0"), permutations("bf0")):
        x = ex.parameter(0, "s32", [sizes[name] for name in lhs])
        w = ex.parameter(1, "s32", [kernel[name] for name in rhs])
        result = {"b": 1, "f": 2, "0": 3}
        names = f"{''.join(lhs)}_{''.join(rhs)}->{''.join(out)}"
        found = ex.convolution(x, w, [result[name] for name in out], "size=2", names)
        plain_x = ex.transpose(x, [lhs.index(name) for name in "bf0"])
        plain_w = ex.transpose(w, [rhs.index(name) for name in "oi0"])
        plain = ex.convolution(plain_x, plain_w, (1, 2, 3), "size=2", "bf0_oi0->bf0")
        turned = ex.transpose(plain, ["bf0".index(name) for name in out])
        yield texts(found, turned, -turned)


_FAMILIES: dict[str, Callable[[], Iterator[Instance]]] = {
    "broadcast": _broadcasts,
    "concatenate": _concatenations,
    "dot": _dots,
    "dynamic-slice": _dynamic_slices,
    "initial-value": _initial_values,
    "pick": _picks,
    "reduce": _reductions,
    "reverse": _reversals,
    "window": _windows,
}


# Comparison with the definitions


def executed(module: Module, seed: int) -> list[Array]:
    """Returns the results of a module by the definitions, on small integers: their sums are exact in every order."""
    shapes = [value.shape for value in module.entry.parameters if isinstance(value.shape, ArrayShape)]
    return evaluate(module, styled_inputs(shapes, seed, "integers"))


def is_same(first: Array, second: Array) -> bool:
    """Is true for equal bits; any NaN is like any other."""
    kind = kind_of(first)
    if kind != kind_of(second) or first.shape != second.shape:
        return False
    with np.errstate(invalid="ignore"):
        wide = widened(first), widened(second)
        both_nan = (wide[0] != wide[0]) & (wide[1] != wide[1])
    return bool(np.all((to_bits(first, kind) == to_bits(second, kind)) | both_nan))


def differing_inputs(first: Module, second: Module) -> int | None:
    """Returns the seed of the data on which two modules differ, None where there is none."""
    return next((seed for seed in range(_RUNS) if not _is_same_run(first, second, seed)), None)


def _is_same_run(first: Module, second: Module, seed: int) -> bool:
    return all(is_same(*pair) for pair in zip(executed(first, seed), executed(second, seed), strict=True))


def check(name: str) -> tuple[int, list[str], int]:
    """Returns how many instances of a rule there are, those that differ, and how many wrong ones were refuted."""
    count, failed, refuted = 0, [], 0
    for first, second, wrong in instances(name):
        left, right, other = parse(first), parse(second), parse(wrong)
        count += 1
        if differing_inputs(left, right) is not None:
            failed.append(f"{first}\n{second}")
        refuted += differing_inputs(left, other) is not None
    return count, failed, refuted
