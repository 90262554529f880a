"""Rewrites that XLA's algebraic simplifier makes, each as two equal expressions and a negative example."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.verdict.proof import expressions as ex
from tests.verdict.proof.expressions import E

INTEGERS = ("s32", "u8", "s64")
FLOATS = ("f32", "bf16", "f64")
NUMBERS = (*INTEGERS, *FLOATS)
PREDICATES = ("pred",)
ANY = (*NUMBERS, "pred", "c64")
# left, right, wrong
Triple = tuple[E, E, E]


@dataclass
class Case:
    """One instantiation: an element type, a rank, and a source of sizes."""

    type: str
    rank: int
    rng: random.Random
    count: int = 0
    dims: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.dims = self.sizes(self.rank)

    def sizes(self, rank: int) -> tuple[int, ...]:
        return tuple(self.rng.randint(2, 4) for _ in range(rank))

    def x(self, dims: Sequence[int] | None = None, kind: str | None = None) -> E:
        self.count += 1
        return ex.parameter(self.count - 1, kind or self.type, self.dims if dims is None else dims)

    def number(self, value: object, dims: Sequence[int] | None = None) -> E:
        return ex.full(self.type, self.literal(value), self.dims if dims is None else dims)

    def literal(self, value: object) -> object:
        if self.type == "pred":
            return "true" if value else "false"
        return f"({value}, 0)" if self.type == "c64" else value

    def scalar(self, value: object) -> E:
        return ex.constant(self.type, self.literal(value))

    def axis(self) -> int:
        return self.rng.randrange(self.rank)

    def permutation(self) -> tuple[int, ...]:
        return tuple(self.rng.sample(range(self.rank), self.rank))

    def index(self) -> E:
        return self.x((), "s32")


@dataclass(frozen=True)
class Rewrite:
    """A rewrite; `exact` are the types in which it holds for every value, `reals` those of real numbers."""

    section: str
    text: str
    make: Callable[[Case], Triple]
    exact: tuple[str, ...]
    reals: tuple[str, ...] = ()
    least_rank: int = 1


REWRITES: list[Rewrite] = []


def rewrite(
    section: str, text: str, exact: tuple[str, ...], reals: tuple[str, ...] = (), least_rank: int = 1
) -> Callable[[Callable[[Case], Triple]], Callable[[Case], Triple]]:
    def declare(make: Callable[[Case], Triple]) -> Callable[[Case], Triple]:
        REWRITES.append(Rewrite(section, text, make, exact, reals, least_rank))
        return make

    return declare


# add


@rewrite("add", "Add(Add(A, c1), c2) ⇒ Add(A, Add(c1, c2))", INTEGERS, FLOATS)
def add_constants(c: Case) -> Triple:
    a, one, two = c.x(), c.number(3), c.number(5)
    return (a + one) + two, a + (one + two), a + (one + one)


@rewrite("add", "Add(A, 0) ⇒ A", INTEGERS, FLOATS)
def add_zero(c: Case) -> Triple:
    a = c.x()
    return a + c.number(0), a, a + c.number(1)


@rewrite("add", "Add(0, A) ⇒ A", INTEGERS, FLOATS)
def zero_add(c: Case) -> Triple:
    a = c.x()
    return c.number(0) + a, a, c.number(0) - a


@rewrite("add", "Add(Const, A) ⇒ Add(A, Const)", NUMBERS)
def constant_add(c: Case) -> Triple:
    a, k = c.x(), c.number(7)
    return k + a, a + k, a - k


# broadcast


def _broadcast(c: Case, *, second: bool = True) -> tuple[E, E, tuple[int, ...], tuple[int, ...]]:
    dims = tuple(sorted(c.rng.sample(range(c.rank), c.rng.randint(1, c.rank))))
    small = tuple(c.dims[i] for i in dims)
    return c.x(small), c.x(small) if second else c.x(()), dims, c.dims


@rewrite("broadcast", "Add(Broadcast(A), Broadcast(B)) ⇒ Broadcast(Add(A, B))", NUMBERS)
def add_broadcasts(c: Case) -> Triple:
    a, b, dims, sizes = _broadcast(c)
    return (
        ex.broadcast(a, sizes, dims) + ex.broadcast(b, sizes, dims),
        ex.broadcast(a + b, sizes, dims),
        ex.broadcast(a - b, sizes, dims),
    )


@rewrite("broadcast", "Mul(Broadcast(A), Broadcast(B)) ⇒ Broadcast(Mul(A, B))", NUMBERS)
def multiply_broadcasts(c: Case) -> Triple:
    a, b, dims, sizes = _broadcast(c)
    return (
        ex.broadcast(a, sizes, dims) * ex.broadcast(b, sizes, dims),
        ex.broadcast(a * b, sizes, dims),
        ex.broadcast(a * a, sizes, dims),
    )


@rewrite("broadcast", "Transpose(Broadcast(Scalar)) ⇒ Broadcast(Scalar)", ANY)
def transpose_broadcast(c: Case) -> Triple:
    s, other, order = c.x(()), c.x(()), c.permutation()
    moved = ex.transpose(ex.broadcast(s, c.dims), order)
    return moved, ex.broadcast(s, moved.dims), ex.broadcast(other, moved.dims)


@rewrite("broadcast", "Reverse(Broadcast(Scalar)) ⇒ Broadcast(Scalar)", ANY)
def reverse_broadcast(c: Case) -> Triple:
    s, other = c.x(()), c.x(())
    return ex.reverse(ex.broadcast(s, c.dims), [c.axis()]), ex.broadcast(s, c.dims), ex.broadcast(other, c.dims)


@rewrite("broadcast", "Slice(Broadcast(Scalar)) ⇒ Broadcast(Scalar)", ANY)
def slice_broadcast(c: Case) -> Triple:
    s, other = c.x(()), c.x(())
    cut = ex.slice_(ex.broadcast(s, c.dims), [(1, d) for d in c.dims])
    return cut, ex.broadcast(s, cut.dims), ex.broadcast(other, cut.dims)


@rewrite("broadcast", "DynamicSlice(Broadcast(Scalar)) ⇒ Broadcast(Scalar)", ANY)
def dynamic_slice_broadcast(c: Case) -> Triple:
    s, other = c.x(()), c.x(())
    sizes = [max(1, d - 1) for d in c.dims]
    cut = ex.dynamic_slice(ex.broadcast(s, c.dims), [c.index() for _ in c.dims], sizes)
    return cut, ex.broadcast(s, cut.dims), ex.broadcast(other, cut.dims)


@rewrite("broadcast", "Broadcast(Iota) ⇒ Iota", ("s32", "u8", "f32"))
def broadcast_iota(c: Case) -> Triple:
    i = c.axis()
    whole = ex.iota(c.type, c.dims, i)
    wrong = whole + c.number(1)
    return ex.broadcast(ex.iota(c.type, (c.dims[i],), 0), c.dims, (i,)), whole, wrong


@rewrite("broadcast", "Broadcast(Broadcast(A, shape, dims), shape2, dims2) ⇒ Broadcast(A, shape3, dims3)", ANY)
def broadcast_twice(c: Case) -> Triple:
    sizes = (c.rng.randint(2, 3), *c.dims)
    i = c.axis()
    a, b = c.x((c.dims[i],)), c.x((c.dims[i],))
    outer = tuple(range(1, c.rank + 1))
    left = ex.broadcast(ex.broadcast(a, c.dims, (i,)), sizes, outer)
    return left, ex.broadcast(a, sizes, (i + 1,)), ex.broadcast(b, sizes, (i + 1,))


# clamp


@rewrite("clamp", "Clamp(c1, Clamp(c1, A, c2), c2) ⇒ Clamp(c1, A, c2)", NUMBERS)
def clamp_twice(c: Case) -> Triple:
    a, low, high, other = c.x(), c.number(2), c.number(6), c.number(5)
    return ex.clamp(low, ex.clamp(low, a, high), high), ex.clamp(low, a, high), ex.clamp(low, a, other)


@rewrite("clamp", "Max(Broadcast(c1), Min(A, Broadcast(c2))) ⇒ Clamp(c1, A, c2)", NUMBERS)
def max_min(c: Case) -> Triple:
    a, low, high = c.x(), c.number(2), c.number(6)
    left = ex.binary("maximum", low, ex.binary("minimum", a, high))
    return left, ex.clamp(low, a, high), ex.clamp(high, a, low)


@rewrite("clamp", "Min(Broadcast(c1), Max(A, Broadcast(c2))) ⇒ Clamp(c1, A, c2)", NUMBERS)
def min_max(c: Case) -> Triple:
    a, low, high = c.x(), c.number(2), c.number(6)
    left = ex.binary("minimum", high, ex.binary("maximum", a, low))
    return left, ex.clamp(low, a, high), ex.clamp(low, a, c.number(7))


# compare


def _compare_itself(direction: str, answer: bool, exact: tuple[str, ...]) -> None:
    @rewrite(
        "compare", f"Compare(A, A, {direction}) ⇒ {str(answer).lower()}", exact, () if exact is NUMBERS else FLOATS
    )
    def make(c: Case) -> Triple:
        a = c.x()
        words = ("true", "false") if answer else ("false", "true")
        return ex.compare(direction, a, a), ex.full("pred", words[0], c.dims), ex.full("pred", words[1], c.dims)


for _direction, _answer, _exact in (
    ("EQ", True, INTEGERS),
    ("NE", False, INTEGERS),
    ("LE", True, INTEGERS),
    ("GE", True, INTEGERS),
    ("LT", False, NUMBERS),
    ("GT", False, NUMBERS),
):
    _compare_itself(_direction, _answer, _exact)


# concatenate


def _three(c: Case) -> tuple[int, E, E, E]:
    i = c.axis()
    sizes = [tuple(n if j != i else c.rng.randint(1, 3) for j, n in enumerate(c.dims)) for _ in range(3)]
    a, b, d = (c.x(each) for each in sizes)
    return i, a, b, d


@rewrite("concat", "ConcatList(A, B) ⇒ Concat(A, B)", ANY)
def concat_two(c: Case) -> Triple:
    i = c.axis()
    a, b = c.x(), c.x()
    return ex.concatenate([a, b], i), ex.concatenate([ex.concatenate([a], i), b], i), ex.concatenate([b, a], i)


@rewrite("concat", "Concat(A, Concat(B, C)) ⇒ Concat(Concat(A, B), C)", ANY)
def concat_associative(c: Case) -> Triple:
    i, a, b, d = _three(c)
    left = ex.concatenate([a, ex.concatenate([b, d], i)], i)
    return left, ex.concatenate([ex.concatenate([a, b], i), d], i), ex.concatenate([ex.concatenate([b, a], i), d], i)


@rewrite("concat", "ConcatList(A, B, C) ⇒ Concat(A, Concat(B, C))", ANY)
def concat_list(c: Case) -> Triple:
    i, a, b, d = _three(c)
    right = ex.concatenate([a, ex.concatenate([b, d], i)], i)
    return ex.concatenate([a, b, d], i), right, ex.concatenate([a, ex.concatenate([d, b], i)], i)


@rewrite("concat", "Concat(A, Concat(B, C)) ⇒ ConcatList(A, B, C)", ANY)
def concat_flat(c: Case) -> Triple:
    i, a, b, d = _three(c)
    left = ex.concatenate([a, ex.concatenate([b, d], i)], i)
    return left, ex.concatenate([a, b, d], i), ex.concatenate([d, a, b], i)


@rewrite("concat", "Concat(Slice(A), Slice(A)) ⇒ Slice(A)", ANY)
def concat_slices(c: Case) -> Triple:
    i = c.axis()
    a = c.x(tuple(n + 2 if j == i else n for j, n in enumerate(c.dims)))
    whole = [(0, n) for n in a.dims]

    def cut(low: int, high: int) -> E:
        return ex.slice_(a, [*whole[:i], (low, high), *whole[i + 1 :]])

    n = a.dims[i]
    return ex.concatenate([cut(1, 2), cut(2, n)], i), cut(1, n), cut(0, n - 1)


@rewrite("concat", "Concat(Broadcast(Scalar), B) ⇒ Pad(B, scalar, low)", ANY)
def concat_broadcast(c: Case) -> Triple:
    i, s, b = c.axis(), c.x(()), c.x()
    front = ex.broadcast(s, tuple(2 if j == i else n for j, n in enumerate(c.dims)))
    right = ex.pad(b, s, [(2 if j == i else 0, 0, 0) for j in range(c.rank)])
    wrong = ex.pad(b, s, [(1 if j == i else 0, 1 if j == i else 0, 0) for j in range(c.rank)])
    return ex.concatenate([front, b], i), right, wrong


@rewrite("concat", "Concat(A, Broadcast(Scalar)) ⇒ Pad(A, scalar, high)", ANY)
def concat_high(c: Case) -> Triple:
    i, s, b = c.axis(), c.x(()), c.x()
    back = ex.broadcast(s, tuple(2 if j == i else n for j, n in enumerate(c.dims)))
    right = ex.pad(b, s, [(0, 2 if j == i else 0, 0) for j in range(c.rank)])
    wrong = ex.pad(b, s, [(2 if j == i else 0, 0, 0) for j in range(c.rank)])
    return ex.concatenate([b, back], i), right, wrong


# convolution: [batch, feature, ...] by [output, input, ...]


def _conv_numbers(spatial: int) -> str:
    letters = "".join(map(str, range(spatial)))
    return f"bf{letters}_oi{letters}->bf{letters}"


def _window(spatial: int, size: int, pads: tuple[int, int] = (0, 0), dilation: int = 1, reverse: int = 0) -> str:

    def join(text: str) -> str:
        return "x".join([text] * spatial)

    return (
        f"size={join(str(size))} pad={join(f'{pads[0]}_{pads[1]}')} "
        f"rhs_dilate={join(str(dilation))} rhs_reversal={join(str(reverse))}"
    )


@rewrite(
    "conv",
    "Conv(Pad(input), weights) ⇒ Conv(input, weights) with the padding in the window",
    INTEGERS,
    FLOATS,
    least_rank=3,
)
def conv_pad(c: Case) -> Triple:
    n = c.rank - 2
    x, w = c.x((2, 2, *[4] * n)), c.x((3, 2, *[2] * n))
    padded = ex.pad(x, c.scalar(0), [(0, 0, 0)] * 2 + [(1, 2, 0)] * n)
    numbers = _conv_numbers(n)
    dims = (2, 3, *[4 + 3 - 1] * n)
    left = ex.convolution(padded, w, dims, _window(n, 2), numbers)
    wrong = ex.convolution(x, w, dims, _window(n, 2, (2, 1)), numbers)
    return left, ex.convolution(x, w, dims, _window(n, 2, (1, 2)), numbers), wrong


@rewrite("conv", "Conv(input, Pad(weights) interior only) ⇒ Conv with window dilation", INTEGERS, FLOATS, least_rank=3)
def conv_dilated(c: Case) -> Triple:
    n = c.rank - 2
    x, w = c.x((2, 2, *[5] * n)), c.x((2, 2, *[2] * n))
    spread = ex.pad(w, c.scalar(0), [(0, 0, 0)] * 2 + [(0, 0, 1)] * n)
    numbers = _conv_numbers(n)
    dims = (2, 2, *[3] * n)
    left = ex.convolution(x, spread, dims, _window(n, 3), numbers)
    wrong = ex.convolution(x, w, dims, _window(n, 2, (0, -1)), numbers)
    return left, ex.convolution(x, w, dims, _window(n, 2, dilation=2), numbers), wrong


@rewrite("conv", "Conv(input, weights) ⇒ Conv(weights, input) with swapped windows", INTEGERS, FLOATS, least_rank=3)
def conv_swapped(c: Case) -> Triple:
    n = c.rank - 2
    x, w = c.x((2, 2, *[3] * n)), c.x((3, 2, *[2] * n))
    letters = "".join(map(str, range(n)))
    dims = (2, 3, *[4] * n)
    left = ex.convolution(x, w, dims, _window(n, 2, (1, 1)), _conv_numbers(n))
    swapped = f"bf{letters}_oi{letters}->fb{letters}"
    right = ex.convolution(w, x, dims, _window(n, 3, (2, 2), reverse=1), swapped)
    # As left pairs x[o + k - 1] with w[k], right has to run through x backwards, and through its results, too.
    turned = ex.reverse(ex.convolution(w, x, dims, _window(n, 3, (2, 2)), swapped), range(2, c.rank))
    return left, turned, right


@rewrite("conv", "Conv(A,B) ⇒ Dot(A, B)", NUMBERS, least_rank=3)
def conv_dot(c: Case) -> Triple:
    n = c.rank - 2
    x, w = c.x((2, 3, *[1] * n)), c.x((4, 3, *[1] * n))
    left = ex.convolution(x, w, (2, 4, *[1] * n), _window(n, 1), _conv_numbers(n))
    flat = ex.reshape(x, (2, 3)), ex.reshape(w, (4, 3))
    right = ex.reshape(ex.dot(*flat, ([1], [1])), left.dims)
    wrong = ex.reshape(ex.dot(ex.reverse(flat[0], [1]), flat[1], ([1], [1])), left.dims)
    return left, right, wrong


# divide, remainder


@rewrite("divide, remainder", "Div(A, 1) ⇒ A", NUMBERS)
def divide_one(c: Case) -> Triple:
    a = c.x()
    return a / c.number(1), a, a / c.number(2)


@rewrite("divide, remainder", "Div(A, Const) ⇒ Mul(A, 1/Const)", (), FLOATS)
def divide_constant(c: Case) -> Triple:
    a = c.x()
    return a / c.number(3), a * (c.number(1) / c.number(3)), a * c.number(3)


@rewrite("divide, remainder", "Div(A, Const) ⇒ Mul(A, 1/Const), a power of two", FLOATS)
def divide_power(c: Case) -> Triple:
    a = c.x()
    return a / c.number(4), a * c.number(0.25), a * c.number(0.5)


@rewrite("divide, remainder", "Divide(Divide(A, B), Divide(C, D)) ⇒ Divide(Mul(A, D), Mul(B, C))", (), FLOATS)
def divide_divides(c: Case) -> Triple:
    a, b, d, e = c.x(), c.x(), c.x(), c.x()
    return (a / b) / (d / e), (a * e) / (b * d), (a * d) / (b * e)


@rewrite("divide, remainder", "Divide(A, Divide(B, C)) ⇒ Divide(Mul(A, C), B)", (), FLOATS)
def divide_divide(c: Case) -> Triple:
    a, b, d = c.x(), c.x(), c.x()
    return a / (b / d), (a * d) / b, (a * b) / d


@rewrite("divide, remainder", "Rem(Rem(A, B), B) ⇒ Rem(A, B)", ("s32", "u8", "s64", "f32"))
def remainder_twice(c: Case) -> Triple:
    a, b, d = c.x(), c.x(), c.x()

    def rem(x: E, y: E) -> E:
        return ex.binary("remainder", x, y)

    return rem(rem(a, b), b), rem(a, b), rem(rem(a, d), b)


@rewrite("divide, remainder", "Rem(Iota, Const) ⇒ Iota", INTEGERS)
def remainder_iota(c: Case) -> Triple:
    i = c.axis()
    counted = ex.iota(c.type, c.dims, i)
    rem = ex.binary("remainder", counted, c.number(c.dims[i]))
    return rem, counted, ex.binary("remainder", counted, c.number(c.dims[i] - 1))


@rewrite("divide, remainder", "Rem(Add(Iota, Const), Const) ⇒ Rem(Iota, Const)", INTEGERS)
def remainder_iota_add(c: Case) -> Triple:
    counted, k = ex.iota(c.type, c.dims, c.axis()), c.number(3)

    def rem(x: E) -> E:
        return ex.binary("remainder", x, k)

    return rem(counted + k), rem(counted), rem(counted + c.number(1))


@rewrite("divide, remainder", "Rem(Add(X, Const), Const) ⇒ Rem(X, Const)", ())
def remainder_add(c: Case) -> Triple:
    # Holds for numbers without an end; machine integers wrap around, and -1 + 3 has another sign than -1.
    x, k = c.x(), c.number(3)

    def rem(a: E) -> E:
        return ex.binary("remainder", a, k)

    return rem(x + k), rem(x), rem(x + c.number(1))


# dot


@rewrite("dot", "Dot(Reverse(A), Reverse(B)) ⇒ Dot(A, B)", NUMBERS, least_rank=2)
def dot_reversed(c: Case) -> Triple:
    k = c.dims[-1]
    a, b = c.x(), c.x((3, k))
    last = c.rank - 1
    pair = ([last], [1])
    return (
        ex.dot(ex.reverse(a, [last]), ex.reverse(b, [1]), pair),
        ex.dot(a, b, pair),
        ex.dot(ex.reverse(a, [last]), b, pair),
    )


@rewrite("dot", "Dot(Transpose(A), B) ⇒ Dot(A, B)", NUMBERS, least_rank=2)
def dot_transposed(c: Case) -> Triple:
    k = c.dims[-1]
    a, b = c.x(), c.x((k, 3))
    order = (c.rank - 1, *range(c.rank - 1))
    wrong = ex.dot(a, ex.reverse(b, [1]), ([c.rank - 1], [0]))
    return ex.dot(ex.transpose(a, order), b, ([0], [0])), ex.dot(a, b, ([c.rank - 1], [0])), wrong


@rewrite("dot", "Dot(Pad(A), Pad(B)) ⇒ Dot(A, B), zeros in the summed dimension", INTEGERS, FLOATS, least_rank=2)
def dot_padded(c: Case) -> Triple:
    k = c.dims[-1]
    a, b = c.x(), c.x((3, k))
    pads = [(0, 0, 0)] * (c.rank - 1) + [(1, 2, 0)]
    pair = ([c.rank - 1], [1])
    padded = ex.pad(a, c.scalar(0), pads), ex.pad(b, c.scalar(0), [(0, 0, 0), (1, 2, 0)])
    shifted = ex.pad(b, c.scalar(0), [(0, 0, 0), (2, 1, 0)])
    return ex.dot(*padded, pair), ex.dot(a, b, pair), ex.dot(padded[0], shifted, pair)


@rewrite("dot", "Dot(Pad(A), B) ⇒ Dot(A, Slice(B)), zeros in the summed dimension", INTEGERS, FLOATS, least_rank=2)
def dot_pad_slice(c: Case) -> Triple:
    k = c.dims[-1]
    a, b = c.x(), c.x((3, k + 1))
    padded = ex.pad(a, c.scalar(0), [(0, 0, 0)] * (c.rank - 1) + [(1, 0, 0)])
    pair = ([c.rank - 1], [1])

    def cut(low: int) -> E:
        return ex.slice_(b, [(0, 3), (low, low + k)])

    return ex.dot(padded, b, pair), ex.dot(a, cut(1), pair), ex.dot(a, cut(0), pair)


@rewrite("dot", "Dot(Broadcast(A), B) ⇒ Broadcast(Dot(A, B))", NUMBERS, least_rank=2)
def dot_broadcast(c: Case) -> Triple:
    k = c.dims[-1]
    a, b = c.x((k,)), c.x((3, k))
    wide = ex.broadcast(a, c.dims, (c.rank - 1,))
    left = ex.dot(wide, b, ([c.rank - 1], [1]))
    small = ex.dot(a, b, ([0], [1]))
    right = ex.broadcast(small, left.dims, (left.rank - 1,))
    return left, right, ex.broadcast(ex.reverse(small, [0]), left.dims, (left.rank - 1,))


@rewrite("dot", "Dot(A, B) ⇒ Dot(B, A)", NUMBERS, least_rank=2)
def dot_swapped(c: Case) -> Triple:
    a, b = c.x(), c.x((3, c.dims[-1]))
    last = c.rank - 1
    right = ex.transpose(ex.dot(b, a, ([1], [last])), (*range(1, c.rank), 0))
    wrong = ex.reverse(right, [last])
    return ex.dot(a, b, ([last], [1])), right, wrong


@rewrite("dot", "Dot(A, B) ⇒ Dot(B, A), with a batch", NUMBERS, least_rank=3)
def dot_batched(c: Case) -> Triple:
    a, b = c.x(), c.x((c.dims[0], 3, c.dims[-1]))
    last = c.rank - 1
    batch = ([0], [0])
    right = ex.transpose(ex.dot(b, a, ([2], [last]), batch), (0, *range(2, c.rank), 1))
    return ex.dot(a, b, ([last], [2]), batch), right, ex.reverse(right, [0])


@rewrite("dot", "Dot(A,Dot(B,C)) ⇒ Dot(Dot(A,B),C)", INTEGERS, FLOATS, least_rank=2)
def dot_associative(c: Case) -> Triple:
    k = c.dims[-1]
    a, b, d = c.x(), c.x((k, 3)), c.x((3, 2))
    pair = ([c.rank - 1], [0])
    other = ex.dot(ex.reverse(b, [0]), d, ([1], [0]))
    return ex.dot(a, ex.dot(b, d, ([1], [0])), pair), ex.dot(ex.dot(a, b, pair), d, pair), ex.dot(a, other, pair)


@rewrite("dot", "Dot(A,B) ⇒ Mul(Broadcast(A), Broadcast(B)) when no contraction", NUMBERS)
def dot_outer(c: Case) -> Triple:
    a, b = c.x(), c.x((3,))
    left = ex.dot(a, b, ([], []))
    wide = ex.broadcast(a, left.dims, range(c.rank)), ex.broadcast(b, left.dims, (c.rank,))
    return left, wide[0] * wide[1], wide[0] * ex.reverse(wide[1], [c.rank])


@rewrite("dot", "Dot(A,B) ⇒ 0 when one of the dimensions is 0", NUMBERS, least_rank=2)
def dot_empty(c: Case) -> Triple:
    a, b = c.x((*c.dims[:-1], 0)), c.x((0, 3))
    left = ex.dot(a, b, ([c.rank - 1], [0]))
    return left, c.number(0, left.dims), c.number(1, left.dims)


@rewrite(
    "dot", "Dot(A,B) ⇒ Reduce(Mul(Broadcast(Transpose(A)), Broadcast(Transpose(B))))", INTEGERS, FLOATS, least_rank=2
)
def dot_reduce(c: Case) -> Triple:
    k = c.dims[-1]
    a, b = c.x(), c.x((k, 3))
    sizes = (*c.dims, 3)
    wide = ex.broadcast(a, sizes, range(c.rank)), ex.broadcast(b, sizes, (c.rank - 1, c.rank))
    right = ex.reduce("add", wide[0] * wide[1], c.scalar(0), [c.rank - 1])
    wrong = ex.reduce("add", wide[0] + wide[1], c.scalar(0), [c.rank - 1])
    return ex.dot(a, b, ([c.rank - 1], [0])), right, wrong


@rewrite("dot", "Dot(A,B) ⇒ Reduce(Mul(Broadcast(A), Broadcast(B))), one product summed", NUMBERS, least_rank=2)
def dot_reduce_one(c: Case) -> Triple:
    a, b = c.x((*c.dims[:-1], 1)), c.x((1, 3))
    sizes = (*c.dims[:-1], 1, 3)
    wide = ex.broadcast(a, sizes, range(c.rank)), ex.broadcast(b, sizes, (c.rank - 1, c.rank))
    right = ex.reduce("add", wide[0] * wide[1], c.scalar(0), [c.rank - 1])
    return ex.dot(a, b, ([c.rank - 1], [0])), right, ex.reduce("add", wide[0] - wide[1], c.scalar(0), [c.rank - 1])


# dynamic-slice


def _s32(value: int) -> E:
    return ex.constant("s32", value)


@rewrite("dynamic-slice", "DynamicSlice(A) ⇒ Slice(A)", ANY)
def dynamic_slice_constant(c: Case) -> Triple:
    a = c.x()
    cut = ex.slice_(a, [(1, n) for n in c.dims])
    left = ex.dynamic_slice(a, [_s32(1) for _ in c.dims], cut.dims)
    return left, cut, ex.slice_(a, [(0, n - 1) for n in c.dims])


@rewrite("dynamic-slice", "DynamicSlice(A,...) ⇒ A // output shape is the same as input shape", ANY)
def dynamic_slice_whole(c: Case) -> Triple:
    a = c.x()
    return ex.dynamic_slice(a, [c.index() for _ in c.dims], c.dims), a, ex.reverse(a, [c.axis()])


@rewrite("dynamic-slice", "DynamicSlice(Broadcast(A), ...) ⇒ Broadcast(DynamicSlice(A, ...))", ANY)
def dynamic_slice_of_broadcast(c: Case) -> Triple:
    a, i, j = c.x(), c.index(), c.index()
    sizes = [max(1, n - 1) for n in c.dims]
    wide = ex.broadcast(a, (4, *c.dims), range(1, c.rank + 1))
    starts = [i if k == 0 else _s32(0) for k in range(c.rank)]
    other = [j if k == 0 else _s32(0) for k in range(c.rank)]
    left = ex.dynamic_slice(wide, [j, *starts], [2, *sizes])

    def back(at: Sequence[E]) -> E:
        return ex.broadcast(ex.dynamic_slice(a, at, sizes), left.dims, range(1, c.rank + 1))

    return left, back(starts), back(other)


@rewrite("dynamic-slice", "DynamicSlice(Transpose(A), ...) ⇒ Transpose(DynamicSlice(A, ...))", ANY)
def dynamic_slice_transposed(c: Case) -> Triple:
    a, order = c.x(), tuple(reversed(range(c.rank)))
    starts = [c.index() if k < 2 else _s32(0) for k in range(c.rank)]
    sizes = [max(1, n - 1) for n in c.dims]
    left = ex.dynamic_slice(ex.transpose(a, order), [starts[k] for k in order], [sizes[k] for k in order])
    right = ex.transpose(ex.dynamic_slice(a, starts, sizes), order)
    shifted = [starts[0] + _s32(1), *starts[1:]]
    return left, right, ex.transpose(ex.dynamic_slice(a, shifted, sizes), order)


@rewrite("dynamic-slice", "DynamicSlice(DynamicSlice(A,...),...) ⇒ DynamicSlice(A,...)", ANY)
def dynamic_slice_twice(c: Case) -> Triple:
    a, i = c.x(tuple(n + 2 for n in c.dims)), c.index()
    middle = [n + 1 for n in c.dims]
    zeros = [_s32(0)] * (c.rank - 1)
    last = _s32(1)
    inner = ex.dynamic_slice(a, [i, *zeros], [a.dims[0] - 1, *middle[1:]])
    left = ex.dynamic_slice(inner, [last, *zeros], c.dims)
    at = ex.clamp(_s32(0), i, _s32(1)) + last
    return left, ex.dynamic_slice(a, [at, *zeros], c.dims), ex.dynamic_slice(a, [i, *zeros], c.dims)


@rewrite("dynamic-slice", "DynamicSlice(Iota) ⇒ index", ("s32",))
def dynamic_slice_iota(c: Case) -> Triple:
    i = c.index()
    counted = ex.iota(c.type, (5,), 0)
    ones = [1] * c.rank
    left = ex.broadcast(ex.reshape(ex.dynamic_slice(counted, [i], [1]), ()), ones)
    at = ex.clamp(_s32(0), i, _s32(4))
    return left, ex.broadcast(at, ones), ex.broadcast(at + _s32(1), ones)


# dynamic-update-slice


@rewrite(
    "dynamic-update-slice", "Add(A, DynamicUpdateSlice(Broadcast(0), B)) ⇒ DynamicUpdateSlice(A, ...)", INTEGERS, FLOATS
)
def add_update(c: Case) -> Triple:
    a, i = c.x(), c.index()
    sizes = tuple(max(1, n - 1) for n in c.dims)
    b = c.x(sizes)
    starts = [i, *[_s32(0)] * (c.rank - 1)]
    left = a + ex.dynamic_update_slice(c.number(0), b, starts)
    part = ex.dynamic_slice(a, starts, sizes)
    return left, ex.dynamic_update_slice(a, part + b, starts), ex.dynamic_update_slice(a, b, starts)


@rewrite("dynamic-update-slice", "DynamicUpdateSlice(Broadcast(Const),A,...) ⇒ Pad(A)", ANY)
def update_pad(c: Case) -> Triple:
    sizes = tuple(n + 2 for n in c.dims)
    a, s = c.x(), c.x(())
    left = ex.dynamic_update_slice(ex.broadcast(s, sizes), a, [_s32(1)] * c.rank)
    return left, ex.pad(a, s, [(1, 1, 0)] * c.rank), ex.pad(a, s, [(2, 0, 0)] * c.rank)


@rewrite("dynamic-update-slice", "DynamicUpdateSlice(A, B, 0) ⇒ B", ANY)
def update_whole(c: Case) -> Triple:
    a, b = c.x(), c.x()
    return ex.dynamic_update_slice(a, b, [_s32(0)] * c.rank), b, a


@rewrite(
    "dynamic-update-slice",
    "DynamicUpdateSlice(A, DynamicUpdateSlice(DynamicSlice(A, ...), B, ...), ...) ⇒ DynamicUpdateSlice(A, B, ...)",
    ANY,
)
def update_update(c: Case) -> Triple:
    a, i = c.x(tuple(n + 2 for n in c.dims)), c.index()
    middle = tuple(n + 1 for n in c.dims)
    b = c.x()
    zeros = [_s32(0)] * (c.rank - 1)
    starts = [i, *zeros]
    inner = ex.dynamic_update_slice(ex.dynamic_slice(a, starts, middle), b, [_s32(1), *zeros])
    left = ex.dynamic_update_slice(a, inner, starts)
    at = ex.clamp(_s32(0), i, _s32(1)) + _s32(1)
    wrong = ex.dynamic_update_slice(a, b, starts)
    return left, ex.dynamic_update_slice(a, b, [at, *zeros]), wrong


# iota, logical


@rewrite("iota", "Iota ⇒ Zero", ("s32", "u8", "f32"))
def iota_zero(c: Case) -> Triple:
    i = c.axis()
    dims = tuple(1 if j == i else n for j, n in enumerate(c.dims))
    return ex.iota(c.type, dims, i), c.number(0, dims), c.number(1, dims)


def _logical(
    text: str, left: Callable[[E, E, E], E], right: Callable[[E, E, E], E], wrong: Callable[[E, E, E], E]
) -> None:
    @rewrite("logical", text, PREDICATES)
    def make(c: Case) -> Triple:
        a, true, false = c.x(), c.number(1), c.number(0)
        return left(a, true, false), right(a, true, false), wrong(a, true, false)


def _or(a: E, b: E) -> E:
    return ex.binary("or", a, b)


def _and(a: E, b: E) -> E:
    return ex.binary("and", a, b)


_logical("Or(A, True) ⇒ True", lambda a, t, f: _or(a, t), lambda a, t, f: t, lambda a, t, f: a)
_logical("Or(True, A) ⇒ True", lambda a, t, f: _or(t, a), lambda a, t, f: t, lambda a, t, f: f)
_logical("Or(A, False) ⇒ A", lambda a, t, f: _or(a, f), lambda a, t, f: a, lambda a, t, f: f)
_logical("Or(False, A) ⇒ A", lambda a, t, f: _or(f, a), lambda a, t, f: a, lambda a, t, f: ex.unary("not", a))
_logical("And(A, 1) ⇒ A", lambda a, t, f: _and(a, t), lambda a, t, f: a, lambda a, t, f: t)
_logical("And(1, A) ⇒ A", lambda a, t, f: _and(t, a), lambda a, t, f: a, lambda a, t, f: f)
_logical("And(A, 0) ⇒ 0", lambda a, t, f: _and(a, f), lambda a, t, f: f, lambda a, t, f: a)
_logical("And(0, A) ⇒ 0", lambda a, t, f: _and(f, a), lambda a, t, f: f, lambda a, t, f: t)


@rewrite("logical", "And(A < Const, Const1 > A) ⇒ Lt(A, min(Const, Const1))", NUMBERS)
def and_compare(c: Case) -> Triple:
    a, k, m = c.x(), c.number(5), c.number(3)
    left = _and(ex.compare("LT", a, k), ex.compare("GT", m, a))
    return left, ex.compare("LT", a, ex.binary("minimum", k, m)), ex.compare("LT", a, ex.binary("maximum", k, m))


@rewrite("logical", "Gt(Max(A, B), B) ⇒ Gt(A, B)", NUMBERS)
def compare_max(c: Case) -> Triple:
    a, b = c.x(), c.x()
    return ex.compare("GT", ex.binary("maximum", a, b), b), ex.compare("GT", a, b), ex.compare("GE", a, b)


@rewrite("logical", "Gt(Max(A, B), A) ⇒ Gt(B, A)", NUMBERS)
def compare_max_first(c: Case) -> Triple:
    a, b = c.x(), c.x()
    return ex.compare("GT", ex.binary("maximum", a, b), a), ex.compare("GT", b, a), ex.compare("GT", a, b)


# max, min


@rewrite("max, min", "Max(A, -inf) ⇒ A", NUMBERS)
def max_lowest(c: Case) -> Triple:
    low = {"s32": -(1 << 31), "s64": -(1 << 63), "u8": 0}.get(c.type, "-inf")
    a = c.x()
    return ex.binary("maximum", a, c.number(low)), a, ex.binary("maximum", a, c.number(1))


@rewrite("max, min", "Min(A, inf) ⇒ A", NUMBERS)
def min_highest(c: Case) -> Triple:
    high = {"s32": (1 << 31) - 1, "s64": (1 << 63) - 1, "u8": 255}.get(c.type, "inf")
    a = c.x()
    return ex.binary("minimum", a, c.number(high)), a, ex.binary("minimum", a, c.number(1))


# mul


@rewrite("mul", "Mul(A, 1) ⇒ A", NUMBERS)
def multiply_one(c: Case) -> Triple:
    a = c.x()
    return a * c.number(1), a, a * c.number(2)


@rewrite("mul", "Mul(1, A) ⇒ A", NUMBERS)
def one_multiply(c: Case) -> Triple:
    a = c.x()
    return c.number(1) * a, a, a * a


@rewrite("mul", "Mul(A, 0) ⇒ 0", INTEGERS, FLOATS)
def multiply_zero(c: Case) -> Triple:
    a = c.x()
    return a * c.number(0), c.number(0), a


@rewrite("mul", "Mul(0, A) ⇒ 0", INTEGERS, FLOATS)
def zero_multiply(c: Case) -> Triple:
    a = c.x()
    return c.number(0) * a, c.number(0), c.number(1)


@rewrite("mul", "Mul(Mul(A, Const1), Mul(B, Const2)) ⇒ Mul(Mul(A, B), Mul(Const1, Const2))", INTEGERS, FLOATS)
def multiply_products(c: Case) -> Triple:
    a, b, k, m = c.x(), c.x(), c.number(3), c.number(5)
    return (a * k) * (b * m), (a * b) * (k * m), (a * b) * (k * k)


@rewrite("mul", "Mul(Mul(A, Const1), Const2) ⇒ Mul(A, Mul(Const1, Const2))", INTEGERS, FLOATS)
def multiply_constants(c: Case) -> Triple:
    a, k, m = c.x(), c.number(3), c.number(5)
    return (a * k) * m, a * (k * m), a * (k + m)


@rewrite("mul", "Mul(Mul(A, Const1), Broadcast(B)) ⇒ Mul(Broadcast(Mul(B, Const1), A))", INTEGERS, FLOATS)
def multiply_broadcast(c: Case) -> Triple:
    i = c.axis()
    a, b = c.x(), c.x((c.dims[i],))
    left = (a * c.number(3)) * ex.broadcast(b, c.dims, (i,))
    right = ex.broadcast(b * c.number(3, b.dims), c.dims, (i,)) * a
    return left, right, ex.broadcast(b + c.number(3, b.dims), c.dims, (i,)) * a


@rewrite("mul", "Add(Mul(A, C), Mul(B, C)) ⇒ Mul(Add(A, B), C)", INTEGERS, FLOATS)
def distribute(c: Case) -> Triple:
    a, b, d = c.x(), c.x(), c.x()
    return a * d + b * d, (a + b) * d, (a + b) * b


@rewrite("mul", "Mul(Abs(A), Abs(A)) ⇒ Mul(A, A)", ("s32", "s64", *FLOATS))
def square_abs(c: Case) -> Triple:
    a = c.x()
    size = ex.unary("abs", a)
    return size * size, a * a, size * a


@rewrite("mul", "Mul(Exp(A), Exp(B)) ⇒ Exp(Add(A, B))", (), FLOATS)
def multiply_exp(c: Case) -> Triple:
    a, b = c.x(), c.x()

    def exp(x: E) -> E:
        return ex.unary("exponential", x)

    return exp(a) * exp(b), exp(a + b), exp(a * b)


# not, negate


@rewrite("not", "Not(Not(A)) ⇒ A", ("pred", "s32", "u8"))
def not_not(c: Case) -> Triple:
    a = c.x()

    def flip(x: E) -> E:
        return ex.unary("not", x)

    return flip(flip(a)), a, flip(a)


@rewrite("not", "Negate(Negate(A)) ⇒ A", NUMBERS)
def negate_negate(c: Case) -> Triple:
    a = c.x()
    return ex.unary("negate", -a), a, -a


# pad


@rewrite("pad", "Pad(A, val, 0_0_0) ⇒ A", ANY)
def pad_nothing(c: Case) -> Triple:
    a, s = c.x(), c.x(())
    moved = ex.pad(a, s, [(1, -1, 0)] + [(0, 0, 0)] * (c.rank - 1))
    return ex.pad(a, s, [(0, 0, 0)] * c.rank), a, moved


@rewrite("pad", "Pad(A, val, low_int_high) ⇒ Pad(A, val, low_0_high), a dimension of size 1", ANY)
def pad_interior(c: Case) -> Triple:
    i = c.axis()
    a, s = c.x(tuple(1 if j == i else n for j, n in enumerate(c.dims))), c.x(())

    def amounts(low: int, high: int, gap: int) -> list[tuple[int, int, int]]:
        return [(low, high, gap if j == i else 0) for j in range(c.rank)]

    return ex.pad(a, s, amounts(1, 2, 3)), ex.pad(a, s, amounts(1, 2, 0)), ex.pad(a, s, amounts(2, 1, 0))


@rewrite("pad", "Pad(Broadcast(A), v, low_0_0) ⇒ Broadcast(Pad(Broadcast(A), v))", ANY)
def pad_broadcast(c: Case) -> Triple:
    i = c.axis()
    a, s = c.x((c.dims[i],)), c.x(())
    sizes = (3, *c.dims)
    left = ex.pad(ex.broadcast(a, sizes, (i + 1,)), s, [(1 if j == i + 1 else 0, 0, 0) for j in range(c.rank + 1)])
    right = ex.broadcast(ex.pad(a, s, [(1, 0, 0)]), left.dims, (i + 1,))
    return left, right, ex.broadcast(ex.pad(a, s, [(0, 1, 0)]), left.dims, (i + 1,))


@rewrite("pad", "Pad(A, val, negative_negative) ⇒ Slice(Pad(A, val, 0_0), abs(negative), negative+size)", ANY)
def pad_negative(c: Case) -> Triple:
    a, s = c.x(tuple(n + 2 for n in c.dims)), c.x(())
    left = ex.pad(a, s, [(-1, -1, 0)] * c.rank)
    right = ex.slice_(ex.pad(a, s, [(0, 0, 0)] * c.rank), [(1, n - 1) for n in a.dims])
    return left, right, ex.slice_(a, [(0, n - 2) for n in a.dims])


# reduce


@rewrite("reduce", "Mul(Reduce(X), Reduce(Y)) ⇒ Reduce(Mul(Broadcast(X), Broadcast(Y)))", INTEGERS, FLOATS)
def reduce_product(c: Case) -> Triple:
    x, y, zero = c.x((3,)), c.x((2,)), c.scalar(0)
    left = ex.reduce("add", x, zero, [0]) * ex.reduce("add", y, zero, [0])
    wide = ex.broadcast(x, (3, 2), (0,)) * ex.broadcast(y, (3, 2), (1,))
    wrong = ex.broadcast(x, (3, 2), (0,)) + ex.broadcast(y, (3, 2), (1,))

    def grow(e: E) -> E:
        return ex.broadcast(e, c.dims)

    return grow(left), grow(ex.reduce("add", wide, zero, [0, 1])), grow(ex.reduce("add", wrong, zero, [0, 1]))


@rewrite("reduce", "Reduce(Concat(Reduce(X), Reduce(Y))) ⇒ Reduce(Concat(X,Y))", NUMBERS)
def reduce_concat(c: Case) -> Triple:
    x, y, zero = c.x(), c.x(), c.scalar(0)

    def total(e: E) -> E:
        return ex.reduce("add", e, zero, range(e.rank))

    def one(e: E) -> E:
        return ex.reshape(e, (1,))

    left = total(ex.concatenate([one(total(x)), one(total(y))], 0))
    return left, total(ex.concatenate([x, y], 0)), total(ex.concatenate([x, x], 0))


@rewrite("reduce", "Const * Reduce(X) ⇒ Reduce(Const * X)", INTEGERS, FLOATS)
def reduce_scaled(c: Case) -> Triple:
    x, zero = c.x(), c.scalar(0)

    def total(e: E) -> E:
        return ex.reduce("add", e, zero, range(e.rank))

    return c.number(3, ()) * total(x), total(c.number(3) * x), total(c.number(3) + x)


@rewrite("reduce", "Reduce(Relabel(X)) ⇒ Relabel(Reduce(X))", NUMBERS, least_rank=2)
def reduce_relabelled(c: Case) -> Triple:
    x, zero, order = c.x(), c.scalar(0), tuple(reversed(range(c.rank)))
    left = ex.reduce("add", ex.transpose(x, order), zero, [0])
    inner = ex.reduce("add", x, zero, [c.rank - 1])
    right = ex.transpose(inner, tuple(reversed(range(c.rank - 1))))
    return left, right, ex.reverse(right, [0])


@rewrite("reduce", "Reduce(Reduce(X)) ⇒ Reduce(X)", NUMBERS, least_rank=2)
def reduce_twice(c: Case) -> Triple:
    x, zero = c.x(), c.scalar(0)
    left = ex.reduce("add", ex.reduce("add", x, zero, [0]), zero, [0])
    wrong = ex.reduce("add", ex.reduce("maximum", x, zero, [0]), zero, [0])
    return left, ex.reduce("add", x, zero, [0, 1]), wrong


@rewrite("reduce", "Reduce(Reduce(X)) ⇒ Reduce(X), of maxima", NUMBERS, least_rank=2)
def reduce_maximum_twice(c: Case) -> Triple:
    x, zero = c.x(), c.scalar(0)
    left = ex.reduce("maximum", ex.reduce("maximum", x, zero, [0]), zero, [0])
    return left, ex.reduce("maximum", x, zero, [0, 1]), ex.reduce("maximum", x, c.scalar(1), [0, 1])


@rewrite("reduce", "Reduce(Dot(X,Y)) ⇒ Dot(X,Y)", INTEGERS, FLOATS, least_rank=3)
def reduce_dot(c: Case) -> Triple:
    x, y, zero = c.x(), c.x((c.dims[0], c.dims[-1], 3)), c.scalar(0)
    last = c.rank - 1
    left = ex.reduce("add", ex.dot(x, y, ([last], [1]), ([0], [0])), zero, [0])
    other = ex.reverse(y, [1])
    return left, ex.dot(x, y, ([0, last], [0, 1])), ex.dot(x, other, ([0, last], [0, 1]))


@rewrite("reduce", "Reduce(X) ⇒ ReshapeDegenerate(X), of an add", NUMBERS)
def reduce_degenerate(c: Case) -> Triple:
    x = c.x((1, *c.dims))
    return ex.reduce("add", x, c.scalar(0), [0]), ex.reshape(x, c.dims), ex.reduce("add", x, c.scalar(1), [0])


@rewrite("reduce", "Reduce(X) ⇒ ReshapeDegenerate(X), of a maximum", NUMBERS)
def reduce_degenerate_maximum(c: Case) -> Triple:
    low = {"s32": -(1 << 31), "s64": -(1 << 63), "u8": 0}.get(c.type, "-inf")
    x = c.x((*c.dims, 1))
    right = ex.reshape(x, c.dims)
    return ex.reduce("maximum", x, c.scalar(low), [c.rank]), right, ex.reduce("maximum", x, c.scalar(1), [c.rank])


# transpose, reverse


@rewrite("transpose", "Transpose(Transpose(A)) ⇒ Transpose(A)", ANY)
def transpose_twice(c: Case) -> Triple:
    a, first, second = c.x(), c.permutation(), c.permutation()
    left = ex.transpose(ex.transpose(a, first), second)
    right = ex.transpose(a, [first[i] for i in second])
    return left, right, ex.reverse(right, [0])


@rewrite("transpose", "Transpose(A) ⇒ A", ANY)
def transpose_nothing(c: Case) -> Triple:
    a = c.x()
    return ex.transpose(a, range(c.rank)), a, ex.reverse(a, [c.axis()])


@rewrite("reverse", "Reverse(A, dims) ⇒ A", ANY)
def reverse_nothing(c: Case) -> Triple:
    i = c.axis()
    a = c.x(tuple(1 if j == i else n for j, n in enumerate((*c.dims, 2))))
    return ex.reverse(a, [i]), a, ex.reverse(a, [c.rank])


@rewrite("reverse", "Reverse(Reverse(A, dims1), dims2) ⇒ A", ANY)
def reverse_twice(c: Case) -> Triple:
    a, dims = c.x(), sorted(c.rng.sample(range(c.rank), c.rng.randint(1, c.rank)))
    return ex.reverse(ex.reverse(a, dims), dims), a, ex.reverse(a, dims)


@rewrite(
    "reverse", "Reverse(Reverse(A, dims1), dims2) ⇒ Reverse(A, disjoint union of dims1 and dims2)", ANY, least_rank=2
)
def reverse_both(c: Case) -> Triple:
    a, (i, j) = c.x(), c.rng.sample(range(c.rank), 2)
    return ex.reverse(ex.reverse(a, [i]), [j]), ex.reverse(a, sorted((i, j))), ex.reverse(a, [i])


@rewrite("reverse", "Reverse(Binary(A, Const)) ⇒ Binary(Reverse(A), Const)", NUMBERS)
def reverse_binary(c: Case) -> Triple:
    a, k, i = c.x(), c.number(3), c.axis()
    return ex.reverse(a / k, [i]), ex.reverse(a, [i]) / k, a / k


# select


@rewrite("select", "Select(P, A, A) ⇒ A", ANY)
def select_same(c: Case) -> Triple:
    p, a, b = c.x(kind="pred"), c.x(), c.x()
    return ex.select(p, a, a), a, ex.select(p, a, b)


@rewrite("select", "Select(True, A, B) ⇒ A", ANY)
def select_true(c: Case) -> Triple:
    a, b = c.x(), c.x()
    return ex.select(ex.full("pred", "true", c.dims), a, b), a, b


@rewrite("select", "Select(False, A, B) ⇒ B", ANY)
def select_false(c: Case) -> Triple:
    a, b = c.x(), c.x()
    return ex.select(ex.full("pred", "false", c.dims), a, b), b, a


@rewrite("select", "Select(Not(P), A, B) ⇒ Select(P, B, A)", ANY)
def select_not(c: Case) -> Triple:
    p, a, b = c.x(kind="pred"), c.x(), c.x()
    return ex.select(ex.unary("not", p), a, b), ex.select(p, b, a), ex.select(p, a, b)


# slice


@rewrite("slice", "Slice(A) ⇒ A", ANY)
def slice_whole(c: Case) -> Triple:
    a = c.x()
    return ex.slice_(a, [(0, n) for n in c.dims]), a, ex.reverse(a, [c.axis()])


@rewrite("slice", "Slice(Const) ⇒ Const", ("s32", "f32", "u8"))
def slice_constant(c: Case) -> Triple:
    count = 1
    for n in c.dims:
        count *= n
    whole = ex.array(c.type, c.dims, range(count))
    left = ex.slice_(whole, [(0, 1)] * (c.rank - 1) + [(1, c.dims[-1])])
    values = list(range(1, c.dims[-1]))
    right = ex.array(c.type, left.dims, values)
    return left, right, ex.array(c.type, left.dims, [v + 1 for v in values])


@rewrite("slice", "Slice(Broadcast(A)) ⇒ Broadcast(Slice(A))", ANY)
def slice_of_broadcast(c: Case) -> Triple:
    i = c.axis()
    a = c.x((c.dims[i] + 1,))
    sizes = tuple(n + 1 for n in c.dims)
    left = ex.slice_(ex.broadcast(a, sizes, (i,)), [(1, n) for n in sizes])
    return (
        left,
        ex.broadcast(ex.slice_(a, [(1, a.dims[0])]), left.dims, (i,)),
        ex.broadcast(ex.slice_(a, [(0, a.dims[0] - 1)]), left.dims, (i,)),
    )


@rewrite("slice", "Slice(Pad(A)) ⇒ A", ANY)
def slice_pad(c: Case) -> Triple:
    a, s = c.x(), c.x(())
    padded = ex.pad(a, s, [(1, 2, 0)] * c.rank)
    return ex.slice_(padded, [(1, 1 + n) for n in c.dims]), a, ex.slice_(padded, [(2, 2 + n) for n in c.dims])


@rewrite("slice", "Slice(Pad(A, v)) ⇒ Broadcast(v)", ANY)
def slice_padding(c: Case) -> Triple:
    a, s = c.x(), c.x(())
    i = c.axis()
    padded = ex.pad(a, s, [(2 if j == i else 0, 0, 0) for j in range(c.rank)])
    left = ex.slice_(padded, [(0, 2 if j == i else n) for j, n in enumerate(padded.dims)])
    wrong = ex.slice_(padded, [(1, 3) if j == i else (0, n) for j, n in enumerate(padded.dims)])
    return left, ex.broadcast(s, left.dims), wrong


@rewrite("slice", "Slice(Pad(A, v)) ⇒ Slice(A)", ANY)
def slice_pad_slice(c: Case) -> Triple:
    a, s = c.x(), c.x(())
    padded = ex.pad(a, s, [(1, 1, 0)] * c.rank)
    left = ex.slice_(padded, [(2, 1 + n) for n in c.dims])
    return left, ex.slice_(a, [(1, n) for n in c.dims]), ex.slice_(a, [(0, n - 1) for n in c.dims])


@rewrite("slice", "Slice(Slice(A)) ⇒ Slice(A)", ANY)
def slice_slice(c: Case) -> Triple:
    a = c.x(tuple(n + 4 for n in c.dims))
    left = ex.slice_(ex.slice_(a, [(1, n) for n in a.dims]), [(1, n - 1, 2) for n in a.dims])
    return left, ex.slice_(a, [(2, n, 2) for n in a.dims]), ex.slice_(a, [(1, n - 1, 2) for n in a.dims])


@rewrite("slice", "Slice(Concat(A, B), A.size, A.size + B.size) ⇒ B", ANY)
def slice_concat(c: Case) -> Triple:
    i, a, b = c.axis(), c.x(), c.x()
    n = c.dims[i]
    both = ex.concatenate([a, b], i)

    def cut(low: int, high: int) -> E:
        return ex.slice_(both, [(low, high) if j == i else (0, m) for j, m in enumerate(both.dims)])

    return cut(n, 2 * n), b, cut(n - 1, 2 * n - 1)


@rewrite("slice", "Slice(Broadcast(A)) ⇒ Broadcast(A)", ANY)
def slice_broadcast_smaller(c: Case) -> Triple:
    a = c.x()
    wide = ex.broadcast(a, (5, *c.dims), range(1, c.rank + 1))
    left = ex.slice_(wide, [(1, 3), *((0, n) for n in c.dims)])
    right = ex.broadcast(a, (2, *c.dims), range(1, c.rank + 1))
    return left, right, ex.reverse(right, [1])


def _slice_of_two(text: str, first: bool) -> None:
    @rewrite("slice", text, ANY)
    def make(c: Case) -> Triple:
        i = c.axis()
        dims = tuple(n + 2 if j == i else n for j, n in enumerate(c.dims))
        a, b = c.x(dims), c.x(dims)
        n = dims[i]
        both = ex.concatenate([a, b], i)

        def cut(e: E, low: int, high: int) -> E:
            return ex.slice_(e, [(low, high) if j == i else (0, m) for j, m in enumerate(e.dims)])

        start = 1 if first else n + 1
        return cut(both, start, start + 2), cut(a if first else b, 1, 3), cut(b if first else a, 1, 3)


_slice_of_two("Slice(Concat(A, B)) ⇒ Slice(A)", first=True)
_slice_of_two("Slice(Concat(A, B)) ⇒ Slice(B)", first=False)


@rewrite("slice", "Slice(Concat(A, B, C)) ⇒ Slice(Concat(B, C))", ANY)
def slice_three(c: Case) -> Triple:
    i = c.axis()
    a, b, d = c.x(), c.x(), c.x()
    n = c.dims[i]

    def cut(e: E, low: int, high: int) -> E:
        return ex.slice_(e, [(low, high) if j == i else (0, m) for j, m in enumerate(e.dims)])

    two = ex.concatenate([b, d], i)
    return cut(ex.concatenate([a, b, d], i), n + 1, 3 * n - 1), cut(two, 1, 2 * n - 1), cut(two, 0, 2 * n - 2)


@rewrite("slice", "Slice(Reverse(A, dims), start, stride, end) ⇒ Reverse(Slice(A, ...), dims)", ANY)
def slice_reverse(c: Case) -> Triple:
    i = c.axis()
    a = c.x(tuple(n + 2 for n in c.dims))
    n = a.dims[i]

    def cut(e: E, low: int, high: int) -> E:
        return ex.slice_(e, [(low, high) if j == i else (0, m) for j, m in enumerate(e.dims)])

    return cut(ex.reverse(a, [i]), 1, n), ex.reverse(cut(a, 0, n - 1), [i]), ex.reverse(cut(a, 1, n), [i])


# subtract


@rewrite("sub", "Sub(A, 0) ⇒ A", NUMBERS)
def subtract_zero(c: Case) -> Triple:
    a = c.x()
    return a - c.number(0), a, c.number(0) - a


@rewrite("sub", "Sub(A, Const) ⇒ Add(A, Neg(Const))", NUMBERS)
def subtract_constant(c: Case) -> Triple:
    a, k = c.x(), c.number(3)
    return a - k, a + -k, a + k


@rewrite("sub", "Sub(A, A) ⇒ 0", INTEGERS, FLOATS)
def subtract_itself(c: Case) -> Triple:
    a = c.x()
    return a - a, c.number(0), a + a
