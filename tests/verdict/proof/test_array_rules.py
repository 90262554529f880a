"""Rules about whole arrays: a random instance of each is executed and proved; its negative example is refuted."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dialect_utils.execution import Array, Worker, prepare
from dialect_utils.layout import ArrayShape
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.proof.dynamic_indices import PICK
from dialect_utils.verdict.proof.elements import ELEMENTS
from dialect_utils.verdict.rules import Rule, all_definitions, all_rules
from dialect_utils.verdict.rules.arrays import ONE_SUM
from tests.styled_inputs import styled_inputs
from tests.verdict.proof import (
    converted_arrays,
    expressions as ex,
    test_batch_norm as norms,
    test_exchanges as exchanges,
    test_loop_state as loops,
    test_scans as scans,
)
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E

# The texts of two programs that are equal by a rule, and of one that is not.
Instance = tuple[str, str, str]


def texts(*roots: E) -> Instance:
    parameters = ex.parameters_of(*roots)
    first, second, wrong = (ex.module(root, parameters=parameters) for root in roots)
    return first, second, wrong


def sizes(rng: random.Random, rank: int = 2) -> tuple[int, ...]:
    return tuple(rng.sample(range(2, 6), rank))


def integers(rng: random.Random, rank: int = 2) -> E:
    return ex.parameter(0, "s32", sizes(rng, rank))


def zero() -> E:
    return ex.constant("s32", 0)


def elements(rng: random.Random) -> Instance:
    x = integers(rng)
    n = x.dims[0]
    rows = [ex.slice_(x, [(i, i + 1), (0, x.dims[1])]) for i in range(n)]
    return texts(ex.concatenate(rows[::-1], 0), ex.reverse(x, [0]), ex.concatenate(rows, 0))


def constant_arrays(rng: random.Random) -> Instance:
    """Returns even numbers, tested by their last bit and by a remainder."""
    number = ex.iota("s32", (rng.randint(5, 9), 3), rng.randint(0, 1))
    one, two, zeros = (ex.full("s32", value, number.dims) for value in (1, 2, 0))
    rest = ex.binary("remainder", number, two)
    return texts(
        ex.compare("EQ", ex.binary("and", number, one), zeros),
        ex.compare("EQ", rest, zeros),
        ex.compare("EQ", rest, one),
    )


def constant_function(rng: random.Random) -> Instance:
    opcode, value, result = rng.choice((("exponential", 0, 1), ("cosine", 0, 1), ("log", 1, 0), ("tanh", 0, 0)))
    numbers = [ex.full("f32", each, (3,)) for each in (value, result, result + 1e-6)]
    return texts(ex.unary(opcode, numbers[0]), *numbers[1:])


def one_sum(rng: random.Random) -> Instance:
    x, y = (ex.parameter(i, "f32", (4,)) for i in range(2))
    turned = ex.dot(ex.reverse(x, [0]), ex.reverse(y, [0]), ([0], [0]))
    return texts(turned, ex.dot(x, y, ([0], [0])), ex.dot(ex.reverse(x, [0]), y, ([0], [0])))


def pick(rng: random.Random) -> Instance:
    x, at = integers(rng, 1), ex.parameter(1, "s32")
    clamped = ex.clamp(zero(), at, ex.constant("s32", x.dims[0] - 1))
    return texts(*(ex.dynamic_slice(each, [start], (1,)) for each, start in ((x, at), (x, clamped), (-x, at))))


def broadcast(rng: random.Random) -> Instance:
    x = integers(rng)
    outer = (rng.randint(2, 4), *x.dims)
    square = ex.broadcast(ex.parameter(0, "s32", (3,)), (3, 3), (rng.randint(0, 1),))
    return (
        texts(
            ex.broadcast(x + x, outer, (1, 2)),
            ex.broadcast(x, outer, (1, 2)) + ex.broadcast(x, outer, (1, 2)),
            ex.broadcast(x, outer, (1, 2)),
        )
        if rng.random() < 0.5
        else texts(ex.broadcast(square, (2, 3, 3), (1, 2)), *_spread_again(square))
    )


def _spread_again(square: E) -> tuple[E, E]:
    (source,) = square.operands
    at = 1 + int(square.attributes[-2])
    return ex.broadcast(source, (2, 3, 3), (at,)), ex.broadcast(source, (2, 3, 3), (3 - at,))


def reverse(rng: random.Random) -> Instance:
    x = integers(rng)
    at = rng.randint(0, 1)
    return texts(ex.reverse(ex.reverse(x, [0]), [1]), ex.reverse(x, [1, 0]), ex.reverse(x, [at]))


def concatenate(rng: random.Random) -> Instance:
    x, y = integers(rng), ex.parameter(1, "s32", (2, 2))
    x = ex.parameter(0, "s32", (x.dims[0], 2))
    nested = ex.concatenate([x, ex.concatenate([y, x], 0)], 0)
    return texts(nested, ex.concatenate([x, y, x], 0), ex.concatenate([y, x, x], 0))


def dynamic_slice(rng: random.Random) -> Instance:
    x = integers(rng)
    beyond = ex.constant("s32", x.dims[0] + rng.randint(0, 9))
    n, m = x.dims
    return texts(
        ex.dynamic_slice(x, [beyond, zero()], (1, m)),
        ex.slice_(x, [(n - 1, n), (0, m)]),
        ex.slice_(x, [(n - 2, n - 1), (0, m)]),
    )


def indexed_dimensions(rng: random.Random) -> Instance:
    x, given = ex.parameter(0, "s32", (3, 4)), ex.parameter(1, "s32", (rng.randint(2, 5), 2))
    at = ex.binary("and", given, ex.full("s32", 1, given.dims))
    turned = ex.transpose(x, (1, 0))
    return texts(
        ex.gather_elements(x, at, (0, 1)),
        ex.gather_elements(turned, at, (1, 0)),
        ex.gather_elements(turned, at, (0, 1)),
    )


def gather_of_padding(rng: random.Random) -> Instance:
    x, at = ex.parameter(0, "s32", (4, rng.randint(2, 5))), ex.parameter(1, "s32", (rng.randint(2, 5),))
    low, high, value = rng.randint(0, 2), rng.randint(1, 3), ex.constant("s32", 7)
    sides = [(low, high, 0), (low + 1, high - 1, 0)]
    rows = ex.gather_rows(x, at)
    padded = [ex.pad(rows, value, [(0, 0, 0), side]) for side in sides]
    return texts(ex.gather_rows(ex.pad(x, value, [(0, 0, 0), sides[0]]), at), *padded)


def columns(rng: random.Random) -> Instance:
    x, at = ex.parameter(0, "s32", (4, 2)), ex.parameter(1, "s32", (rng.randint(2, 5),))
    first, second = (ex.gather_rows(ex.slice_(x, [(0, 4), (k, k + 1)]), at) for k in range(2))
    return texts(ex.gather_rows(x, at), ex.concatenate([first, second], 1), ex.concatenate([second, first], 1))


def dot(rng: random.Random) -> Instance:
    n, k, m = sizes(rng, 3)
    x, y = ex.parameter(0, "s32", (n, k)), ex.parameter(1, "s32", (k, m))
    turned = ex.transpose(ex.dot(y, x, ([0], [1])), (1, 0))
    return texts(ex.dot(x, y, ([1], [0])), turned, ex.dot(ex.reverse(x, [1]), y, ([1], [0])))


def widened_dot(rng: random.Random) -> Instance:
    n, k, m = sizes(rng, 3)
    x, y = ex.parameter(0, "s8", (n, k)), ex.parameter(1, "s16", (k, m))
    narrow, pair = replace(ex.dot(x, y, ([1], [0])), type="s32"), ([1], [0])
    left, right = (ex.convert(each, "s32") for each in (x, y))
    unsigned = ex.convert(ex.convert(x, "u8"), "s32")
    return texts(narrow, ex.dot(left, right, pair), ex.dot(unsigned, right, pair))


def vector_dot(rng: random.Random) -> Instance:
    n, k = sizes(rng)
    x, y = ex.parameter(0, "s32", (n, k)), ex.parameter(1, "s32", (k,))
    wide = ex.broadcast(y, (n, k), (1,))
    total = ex.reduce("add", x * wide, zero(), [1])
    return texts(ex.dot(x, y, ([1], [0])), total, ex.reduce("add", x * ex.reverse(wide, [1]), zero(), [1]))


def initial_zero(rng: random.Random) -> Instance:
    x = ex.parameter(0, "f32", (*sizes(rng, 1), 1))
    total = ex.reduce("add", x, ex.constant("f32", 0), [1])
    return texts(total, ex.reshape(x, x.dims[:1]), ex.reduce("add", x, ex.constant("f32", 1), [1]))


def reduce(rng: random.Random) -> Instance:
    x = integers(rng)
    at = rng.randint(0, 1)
    flat = ex.transpose(x, (1, 0))
    other = ex.reduce("add", x * x, zero(), [at])
    return texts(ex.reduce("add", x, zero(), [at]), ex.reduce("add", flat, zero(), [1 - at]), other)


def initial(rng: random.Random) -> Instance:
    x, start = integers(rng, 1), ex.parameter(1, "s32")
    bare = ex.reduce("add", x, zero(), [0])
    return texts(ex.reduce("add", x, start, [0]), bare + start, bare)


def window(rng: random.Random) -> Instance:
    n, f, s, o = 1, 2, rng.randint(4, 6), 3
    x, w = ex.parameter(0, "s32", (n, f, s)), ex.parameter(1, "s32", (o, f, 2))
    first = ex.convolution(x, w, (n, o, s - 1), "size=2", "bf0_oi0->bf0")
    turned = ex.convolution(
        ex.transpose(x, (0, 2, 1)), ex.transpose(w, (2, 1, 0)), (n, s - 1, o), "size=2", "b0f_0io->b0f"
    )
    reversed_ = ex.convolution(x, w, (n, o, s - 1), "size=2 rhs_reversal=1", "bf0_oi0->bf0")
    return texts(first, ex.transpose(turned, (0, 2, 1)), reversed_)


def parts(_: random.Random) -> Instance:
    x, y = ex.parameter(0, "f32", (3,)), ex.parameter(1, "f32", (3,))
    whole = E("complex", "c64", (3,), (x, y))
    found = [E(opcode, "f32", (3,), (whole,)) for opcode in ("real", "imag")]
    return texts(found[0], x, found[1])


def conditional(rng: random.Random, predicate: str) -> Instance:
    """Returns a conditional of a predicate's text, what it is if that is true or chooses, and one of other branches."""
    opcodes = rng.sample(["negate", "not", "abs"], 2)
    head = "HloModule m\n" + "".join(
        f"f{i} {{\n  x = s32[3] parameter(0)\n  ROOT r = s32[3] {opcode}(x)\n}}\n" for i, opcode in enumerate(opcodes)
    )
    entry = "ENTRY e {\n  x = s32[3] parameter(0)\n  q = pred[] parameter(1)\n"
    chosen = f"  p = pred[] {predicate}\n  ROOT r = s32[3] conditional(p, x, x), "
    branches = [f"true_computation=f{i}, false_computation=f{1 - i}\n}}\n" for i in (0, 1)]
    made = f"  a = s32[3] {opcodes[0]}(x)\n  b = s32[3] {opcodes[1]}(x)\n  s = pred[3] broadcast(q), dimensions={{}}\n"
    root = "a, a" if "constant" in predicate else "a, b"
    return (
        head + entry + chosen + branches[0],
        "HloModule m\n" + entry + made + f"  ROOT r = s32[3] select(s, {root})\n}}\n",
        head + entry + chosen + branches[1],
    )


def promoted(rng: random.Random) -> Instance:
    kind, wide = rng.choice([("s8", "s32"), ("u8", "u32"), ("bf16", "f32")])
    first, second = exchanges.narrow(kind, exchanges.ADD), exchanges.reduced(kind, wide, exchanges.ADD)
    return first, second, exchanges.reduced(kind, wide, exchanges.MULTIPLY)


def unrolled(rng: random.Random) -> Instance:
    rounds = rng.randint(2, 4)
    loop = loops.Loop(order="ixy", rounds=rounds, y=("subtract", "y", "x")).stablehlo()
    rows, x, y = [], "a", "b"
    for i in range(rounds):
        rows += [
            f"  %x{i} = stablehlo.subtract %{x}, %{y} : tensor<4xf32>",
            f"  %y{i} = stablehlo.subtract %{y}, %{x} : tensor<4xf32>",
        ]
        x, y = f"x{i}", f"y{i}"
    head = "func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    flat = [head + "\n".join(rows) + f"\n  return %{each} : tensor<4xf32>\n}}\n" for each in (x, y)]
    return loop, flat[0], flat[1]


def loop_state(rng: random.Random) -> Instance:
    order = rng.choice(["yxi", "xiy", "jyxi"])
    first = loops.Loop(rounds=20, x=("subtract", "y", "x"), y=("add", "x", "x"))
    second = replace(first, order=order)
    return first.stablehlo(), second.stablehlo(), replace(second, starts="zzzba").stablehlo()


def batch_norm(_: random.Random) -> Instance:
    return norms.decomposed(), norms.operations(), norms.operations(epsilon="5.000000e-01")


def mapped(rng: random.Random) -> Instance:
    opcode, other = rng.sample(["add", "subtract", "multiply"], 2)
    head = (
        "HloModule m\nf {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
        "  c = s32[] {0}(a, b)\n  ROOT d = s32[] {1}(c, b)\n}}\n"
    )
    entry = "ENTRY e {\n  x = s32[3] parameter(0)\n  y = s32[3] parameter(1)\n"
    call = "  ROOT r = s32[3] map(x, y), dimensions={0}, to_apply=f\n}\n"
    flat = f"  c = s32[3] {opcode}(x, y)\n  ROOT r = s32[3] {other}(c, y)\n}}\n"
    return (
        head.format(opcode, other) + entry + call,
        "HloModule m\n" + entry + flat,
        head.format(other, opcode) + entry + call,
    )


def chlo(rng: random.Random) -> Instance:
    size = rng.randint(2, 5)

    def made(lines: str) -> str:
        kind = f"tensor<{size}xf32>"
        return f"func.func @main(%a: {kind}) -> {kind} {{\n{lines.replace('KIND', kind)}\n  return %r : {kind}\n}}\n"

    other = "  %c = stablehlo.constant dense<{}> : KIND\n  %r = stablehlo.atan2 %a, %c : KIND"
    return made("  %r = chlo.atan %a : KIND -> KIND"), made(other.format("1.0")), made(other.format("2.0"))


def padded_convolution(rng: random.Random) -> Instance:
    size, low, high = rng.randint(2, 5), rng.randint(0, 1), rng.randint(1, 2)
    result = size + low + high - 2
    head = f"HloModule m\nENTRY e {{\n  x = f32[1,{size},1] parameter(0)\n  w = f32[3,1,1] parameter(1)\n"
    window = f"window={{size=3 pad={low}_{high}}}, dim_labels=b0f_0io->b0f"
    skipped = f"{head}  ROOT r = f32[1,{result},1] convolution(x, w), {window}\n}}\n"
    types = f"tensor<1x{size}x1xf32>, %w: tensor<3x1x1xf32>) -> tensor<1x{result}x1xf32>"
    numbers = "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[LOW, HIGH]]}"
    counts = "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    multiplied = f"func.func public @main(%x: {types} {{\n  %r = stablehlo.convolution(%x, %w) {numbers} {counts} : "
    multiplied += f"({types.replace(', %w: ', ', ')}\n  return %r : tensor<1x{result}x1xf32>\n}}\n"

    def with_padding(before: int, after: int) -> str:
        return multiplied.replace("LOW", str(before)).replace("HIGH", str(after))

    return skipped, with_padding(low, high), with_padding(low + 1, high - 1)


def regrouped(rng: random.Random) -> Instance:
    count, size = sizes(rng)
    x = ex.parameter(0, "s32", (2, count * size))
    rows = ex.reduce("add", ex.reshape(x, (2, count, size)), zero(), [2])
    part = ex.slice_(rows, [(0, 2), (1, count)])
    return texts(*(ex.reduce("add", each, zero(), [1]) for each in (x, rows, part)))


def scanned(rng: random.Random) -> Instance:
    scan = scans.Scan(count=rng.choice([3, 20]), dimension=rng.randint(0, 1), is_reverse=rng.random() < 0.5)
    return scan.scan(), scan.loop(), replace(scan, carry="add(c, s)").loop()


def in_any_order(rng: random.Random) -> Instance:
    scan = scans.Scan(rng.choice([3, 20]), output="copy(c)", carry="add(c, s)", attributes="is_associative=true")
    return scan.scan(), scan.loop(), replace(scan, output="copy(s)").loop()


def computed_in_parts(rng: random.Random) -> Instance:
    rows, summed, columns = sizes(rng, 3)
    x, y = ex.parameter(0, "s32", (rows, summed)), ex.parameter(1, "s32", (summed, columns))
    at = rng.randint(1, rows - 1)

    def made(part: E) -> E:
        total = ex.reduce("add", ex.dot(part, y, ([1], [0])), zero(), [1])
        return ex.broadcast(total, (*total.dims, 2), (0,))

    parts = [made(ex.slice_(x, [bounds, (0, summed)])) for bounds in ((0, at), (at, rows))]
    turned = made(ex.slice_(ex.reverse(x, [0]), [(0, at), (0, summed)]))
    return texts(made(x), ex.concatenate(parts, 0), ex.concatenate([turned, parts[1]], 0))


INSTANCES: dict[str, Callable[[random.Random], Instance]] = {
    "any-order": in_any_order,
    "batch-norm": batch_norm,
    "branches": lambda rng: conditional(rng, "copy(q)"),
    "broadcast": broadcast,
    "columns": columns,
    "complex-parts": parts,
    "converted": converted_arrays.movement,
    "converted-extreme": converted_arrays.extreme,
    "converted-function": converted_arrays.function,
    "concatenate": concatenate,
    "convolution-padding": padded_convolution,
    "dot": dot,
    "convolution-precision": converted_arrays.products,
    "constant-arrays": constant_arrays,
    "constant-function": constant_function,
    "dot-as-sum": vector_dot,
    "chlo": chlo,
    "dynamic-slice": dynamic_slice,
    "elements": elements,
    "excess-precision": converted_arrays.sums,
    "function-rounding": converted_arrays.functions,
    "gather-of-padding": gather_of_padding,
    "indexed-dimensions": indexed_dimensions,
    "initial-value": initial,
    "initial-zero": initial_zero,
    "known-branch": lambda rng: conditional(rng, "constant(true)"),
    "loop-state": loop_state,
    "map": mapped,
    "one-sum": one_sum,
    "part": computed_in_parts,
    "parts-of-bits": converted_arrays.bits,
    "pick": pick,
    "promoted-reduction": promoted,
    "reduce": reduce,
    "regrouped": regrouped,
    "reverse": reverse,
    "scan": scanned,
    "unrolled": unrolled,
    "wider-dot": widened_dot,
    "window": window,
}
# The interpreter has no batch normalization and no scan: test_batch_norm.py compares the decomposition with a wrong
# one, and test_scans.py executes both programs on the reference engine. It has one device: reductions among several are
# executed in test_exchanges.py.
NOT_EXECUTED = {"any-order", "batch-norm", "promoted-reduction", "scan"}
# Proofs about programs for several devices use these, which test_partitioned.py executes on such devices.
OF_DEVICES = {"batch-sum", "masked", "padded-dot"}
# Rules are declared where modules are imported; proofs import those about elements when they need them.
NAMED = (*all_rules(), *all_definitions())
ARRAY_RULES = [rule for rule in NAMED if rule.name in INSTANCES]
assert {ELEMENTS, ONE_SUM, PICK} <= {*ARRAY_RULES}


def proved(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return try_prove(modules)


def executed(worker: Worker, text: str, seed: int) -> Array:
    module = parse(text)
    shapes = [value.shape for value in module.entry.parameters if isinstance(value.shape, ArrayShape)]
    inputs = styled_inputs(shapes, seed, "integers")
    return worker.run(prepare(module, "m"), [inputs], engine="interpreter")[0][0]


def test_every_rule_has_equations_or_instances() -> None:
    others = {rule.name for rule in NAMED if rule.equations or rule.examples}
    assert {rule.name for rule in NAMED} == others | {*INSTANCES} | OF_DEVICES


@pytest.mark.parametrize("rule", ARRAY_RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("seed", range(2))
def test_a_rule_about_arrays_holds_and_its_wrong_twin_does_not(rule: Rule, seed: int, worker: Worker) -> None:
    first, second, wrong = INSTANCES[rule.name](random.Random(seed))
    found = proved(first, second)
    assert found.answer == "equal", found.reason
    assert rule.name in [use.name for use in found.rules]
    assert proved(first, wrong).answer != "equal"
    if rule.name in NOT_EXECUTED:
        return
    expected = executed(worker, first, seed)
    assert np.array_equal(expected, executed(worker, second, seed))
    assert any(
        not np.array_equal(executed(worker, first, each), executed(worker, wrong, each))
        for each in range(seed, seed + 3)
    )
