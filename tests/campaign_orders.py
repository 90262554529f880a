"""Sums of floats in many orders, read by operations that observe a rounding, and by operations that do not.

`python -m tests.campaign_orders [COUNT]` proves COUNT pairs (1000) and prints a table; the exit code is 1 where a pair
that is called equal without `order of sums` differs in XLA:CPU, where the brackets do not cover what two engines may
compute, or where a proof does not replay.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from dialect_utils.execution import Array, Worker, prepare
from dialect_utils.ir import Module
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.certified import choices_of, prove
from tests.verdict.proof.dialects import parse

_COUNT = 1000
_ORDER = "order of sums"
# The begin of a module that sums with `plus`.
HEAD = """HloModule m
plus {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
"""
_VALUES = """\
  x = f32[4,6,8] parameter(0)
  z = f32[] constant(0)
  one = f32[] constant(1)
  ones = f32[6,8] broadcast(one), dimensions={}
"""

# The sum of each f32[6,8] of x, as @ = f32[4]; other values have names that begin with @.
SUMS: Mapping[str, str] = {
    "two dimensions": "@ = f32[4] reduce(x, z), dimensions={1,2}, to_apply=plus",
    "one dimension": "@a = f32[4,48] reshape(x)\n @ = f32[4] reduce(@a, z), dimensions={1}, to_apply=plus",
    "columns": """@a = f32[6,8,4] transpose(x), dimensions={1,2,0}
      @ = f32[4] reduce(@a, z), dimensions={0,1}, to_apply=plus""",
    "one column": """@a = f32[4,48] reshape(x)
      @b = f32[48,4] transpose(@a), dimensions={1,0}
      @ = f32[4] reduce(@b, z), dimensions={0}, to_apply=plus""",
    "turned": """@a = f32[4,8,6] transpose(x), dimensions={0,2,1}
      @ = f32[4] reduce(@a, z), dimensions={1,2}, to_apply=plus""",
    "reversed": """@a = f32[4,6,8] reverse(x), dimensions={1,2}
      @ = f32[4] reduce(@a, z), dimensions={1,2}, to_apply=plus""",
    "rows first": """@a = f32[4,6] reduce(x, z), dimensions={2}, to_apply=plus
      @ = f32[4] reduce(@a, z), dimensions={1}, to_apply=plus""",
    "windows": """@a = f32[4,1,1] reduce-window(x, z), window={size=1x6x8}, to_apply=plus
      @ = f32[4] reshape(@a)""",
    "halves": """@a = f32[4,3,8] slice(x), slice={[0:4], [0:3], [0:8]}
      @b = f32[4,3,8] slice(x), slice={[0:4], [3:6], [0:8]}
      @c = f32[4] reduce(@a, z), dimensions={1,2}, to_apply=plus
      @d = f32[4] reduce(@b, z), dimensions={1,2}, to_apply=plus
      @ = f32[4] add(@c, @d)""",
    "two programs of rows": """@a = f32[2,6,8] slice(x), slice={[0:2], [0:6], [0:8]}
      @b = f32[2,6,8] slice(x), slice={[2:4], [0:6], [0:8]}
      @c = f32[2] reduce(@a, z), dimensions={1,2}, to_apply=plus
      @d = f32[2] reduce(@b, z), dimensions={1,2}, to_apply=plus
      @ = f32[4] concatenate(@c, @d), dimensions={0}""",
    "dot": "@ = f32[4] dot(x, ones), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}",
    "dot of listed pairs": "@ = f32[4] dot(x, ones), lhs_contracting_dims={2,1}, rhs_contracting_dims={1,0}",
    "dot of swapped operands": "@ = f32[4] dot(ones, x), lhs_contracting_dims={0,1}, rhs_contracting_dims={1,2}",
    "dot of one dimension": """@a = f32[4,48] reshape(x)
      @b = f32[48] reshape(ones)
      @ = f32[4] dot(@a, @b), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "convolution": """@a = f32[4,8,6] transpose(x), dimensions={0,2,1}
      @k = f32[8,6,1] broadcast(one), dimensions={}
      @c = f32[4,1,1] convolution(@a, @k), window={size=8}, dim_labels=b0f_0io->b0f
      @ = f32[4] reshape(@c)""",
}

Reader = Callable[[Array, Array], Array]


def _thrice(t: Array, u: Array) -> Array:
    return ((t * np.float32(3) - u) - u) - u


# Each reader of two sums @0 and @1: its text, and its value.
READERS: Mapping[str, tuple[str, Reader]] = {
    "negate": ("ROOT r = f32[4] negate(@0)", lambda t, _: -t),
    "difference": ("ROOT r = f32[4] subtract(@0, @1)", lambda t, u: t - u),
    "three differences": (
        """k = f32[4] broadcast(t3), dimensions={}
           a = f32[4] multiply(@0, k)
           b = f32[4] subtract(a, @1)
           c = f32[4] subtract(b, @1)
           ROOT r = f32[4] subtract(c, @1)""",
        _thrice,
    ),
    "product": ("ROOT r = f32[4] multiply(@0, @1)", lambda t, u: t * u),
    "floor": ("ROOT r = f32[4] floor(@0)", lambda t, _: np.floor(t)),
    "comparison": ("ROOT r = pred[4] compare(@0, @1), direction=LT", lambda t, u: t < u),
    "sign of a difference": (
        "d = f32[4] subtract(@0, @1)\n ROOT r = f32[4] sign(d)",
        lambda t, u: np.sign(t - u),
    ),
    "bits": (
        """a = s32[4] bitcast-convert(@0)
           b = s32[4] bitcast-convert(@1)
           ROOT r = s32[4] xor(a, b)""",
        lambda t, u: t.view(np.int32) ^ u.view(np.int32),
    ),
    "two results": ("ROOT r = (f32[4], f32[4]) tuple(@0, @1)", lambda t, u: np.concatenate([t, u])),
}


@dataclass(frozen=True)
class Program:
    """A reader of two sums, by their names."""

    reader: str
    sums: tuple[str, str]

    def module(self) -> Module:
        """Returns the program; equal sums are one value of it, since XLA finds equal instructions."""
        used = ["t", "t" if self.sums[0] == self.sums[1] else "u"]
        lines = [SUMS[each].replace("@", name) for each, name in dict(zip(self.sums, used, strict=True)).items()]
        read = READERS[self.reader][0].replace("@0", used[0]).replace("@1", used[1])
        return parse(HEAD + _VALUES + "  t3 = f32[] constant(3)\n" + "\n".join([*lines, read]) + "\n}\n")

    @property
    def values(self) -> tuple[str, ...]:
        """Returns the sums that the reader reads, each once."""
        read = READERS[self.reader][0]
        return tuple(dict.fromkeys(each for i, each in enumerate(self.sums) if f"@{i}" in read))

    def result(self, values: Mapping[str, Array]) -> Array:
        """Returns the result for values of the sums."""
        with np.errstate(all="ignore"):
            return READERS[self.reader][1](*(values[each] for each in self.sums))


def covers(first: Program, second: Program, rng: np.random.Generator) -> bool:
    """Is true where each choice of the values of one program's sums is one of the other's, one value for each."""
    if first.reader == second.reader == "two results":
        # Each output is compared by itself.
        alone = [[Program("negate", (each, each)) for each in program.sums] for program in (first, second)]
        return all(covers(one, other, rng) for one, other in zip(*alone, strict=True))
    ours, theirs = first.values, second.values
    if len(ours) != len(theirs):
        return False
    drawn = [rng.normal(0, 1, (len(ours), 4)).astype(np.float32) for _ in range(4)]

    def is_equal(order: Sequence[int]) -> bool:
        return all(
            np.array_equal(
                first.result({**dict.fromkeys(SUMS, values[0]), **dict(zip(ours, values, strict=True))}),
                second.result({**dict.fromkeys(SUMS, values[0]), **dict(zip(theirs, values[[*order]], strict=True))}),
            )
            for values in drawn
        )

    return any(map(is_equal, permutations(range(len(ours)))))


@dataclass
class Tally:
    """The counts of a campaign, and the pairs whose answer is wrong."""

    found: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def miss(self, kind: str, first: Program, second: Program) -> None:
        """Counts a wrong answer."""
        self.found[kind] += 1
        self.wrong.append(f"{kind}: {first} and {second}")


def pairs(rng: random.Random) -> Iterator[tuple[Program, Program]]:
    """Yields pairs of programs with one reader, whose sums differ at most in their orders."""
    while True:
        reader, some = rng.choice([*READERS]), rng.sample([*SUMS], 3)
        first, second = (Program(reader, (rng.choice(some[:2]), rng.choice(some[:2]))) for _ in range(2))
        yield first, Program(reader, (second.sums[0], rng.choice([second.sums[1], some[2]])))


def data() -> Iterator[Array]:
    """Yields arrays whose sums depend on the order."""
    rng = np.random.default_rng(11)
    for scale in (1.0, 1e4):
        yield rng.normal(0, scale, (4, 6, 8)).astype(np.float32)
    large = rng.normal(0, 1, (4, 6, 8)).astype(np.float32)
    large[:, rng.integers(0, 6), :] *= np.float32(2**24)
    yield large
    yield rng.permutation(np.tile(np.array([1e8, -1e8, 1], np.float32), 64)).reshape(4, 6, 8)


def differs(worker: Worker, first: Module, second: Module) -> bool:
    """Is true where XLA:CPU computes different bits."""
    inputs = [[each] for each in data()]
    found = [worker.run(prepare(module, "m"), inputs, engine="xla") for module in (first, second)]
    return any(
        not np.array_equal(as_bits(a), as_bits(b))
        for ours, theirs in zip(*found, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )


def judge(worker: Worker, pair: tuple[Program, Program], tally: Tally) -> None:
    """Proves one pair, and checks the answer."""
    first, second = (each.module() for each in pair)
    found = prove([first, second])
    if found.answer != "equal":
        tally.found["unknown"] += 1
        if "does not replay" in found.reason:
            tally.miss("does not replay", *pair)
        return
    is_ordered = _ORDER in choices_of(found.outputs)
    tally.found[f"equal{' up to the order of sums' if is_ordered else ''}"] += 1
    if is_ordered and not covers(*pair, np.random.default_rng(5)):
        tally.miss("brackets that do not cover", *pair)
    if not is_ordered and differs(worker, first, second):
        tally.miss("wrong equal", *pair)


def run(count: int, seed: int) -> Tally:
    """Returns the counts of random pairs."""
    tally, source = Tally(), pairs(random.Random(seed))
    with Worker() as worker:
        for _ in range(count):
            judge(worker, next(source), tally)
    return tally


def main(count: int) -> int:
    """Prints the counts; returns 1 where an answer is wrong."""
    tally = run(count, 3)
    print(*(f"{number:6} {kind}" for kind, number in sorted(tally.found.items())), sep="\n")
    print(*tally.wrong, sep="\n")
    return int(bool(tally.wrong))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT))
