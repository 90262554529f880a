"""Families of small programs that differ in one attribute, index or operand: every pair of a family is an attack."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dialect_utils.execution import Array, ExecutionError, Worker, prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.proof import try_prove
from passes.framework.pipeline import verify
from tests.styled_inputs import styled_inputs

_ADD = "add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n"
_SET = "add {\n  a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1)\n}\n"
_TRIES = 12


def program(parameters: str, body: str, root: str, head: str = "") -> str:
    lines = [f"  p{i} = {kind} parameter({i})\n" for i, kind in enumerate(parameters.split())]
    return f"HloModule m\n{head}ENTRY e {{\n{''.join(lines)}{body}  ROOT r = {root}\n}}\n"


def convolution(rng: random.Random) -> str:
    window = (
        f"size=2 stride={rng.randint(1, 2)} pad={rng.randint(-1, 2)}_{rng.randint(-1, 2)} "
        f"lhs_dilate={rng.randint(1, 2)} rhs_dilate={rng.randint(1, 3)} rhs_reversal={rng.randint(0, 1)}"
    )
    root = f"s32[1,3,5] convolution(p0, p1), window={{{window}}}, dim_labels=bf0_oi0->bf0"
    return program("s32[1,2,5] s32[3,2,2]", "", root)


def reduce_window(rng: random.Random) -> str:
    window = (
        f"size={rng.randint(1, 3)} stride={rng.randint(1, 2)} pad={rng.randint(0, 2)}_{rng.randint(0, 2)} "
        f"lhs_dilate={rng.randint(1, 2)} rhs_dilate={rng.randint(1, 3)}"
    )
    return program("s32[6] s32[]", "", f"s32[5] reduce-window(p0, p1), window={{{window}}}, to_apply=add", _ADD)


def pad(rng: random.Random) -> str:
    amounts = f"{rng.randint(-2, 3)}_{rng.randint(-2, 3)}_{rng.randint(0, 2)}"
    return program("s32[4] s32[]", "", f"s32[5] pad(p0, p1), padding={amounts}")


def gather(rng: random.Random) -> str:
    taken = rng.randint(0, 1)
    numbers = (
        f"offset_dims={{{rng.randint(0, 1)}}}, collapsed_slice_dims={{{taken}}}, "
        f"start_index_map={{{rng.randint(0, 1)}}}, slice_sizes={{{'1,3' if taken == 0 else '3,1'}}}, index_vector_dim=1"
    )
    rows = ", ".join(f"{{{rng.randint(-1, 4)}}}" for _ in range(3))
    return program("s32[3,3]", f"  i = s32[3,1] constant({{{rows}}})\n", f"s32[3,3] gather(p0, i), {numbers}")


def scatter(rng: random.Random) -> str:
    numbers = (
        f"update_window_dims={{{rng.randint(0, 1)}}}, inserted_window_dims={{{rng.randint(0, 1)}}}, "
        f"scatter_dims_to_operand_dims={{{rng.randint(0, 1)}}}, index_vector_dim=1"
    )
    rows = ", ".join(f"{{{rng.randint(0, 2)}}}" for _ in range(3))
    indices = f"  i = s32[3,1] constant({{{rows}}})\n"
    root = f"s32[3,3] scatter(p0, i, p1), {numbers}, to_apply=add"
    return program("s32[3,3] s32[3,3]", indices, root, rng.choice([_ADD, _SET]))


def dot(rng: random.Random) -> str:
    a, b = rng.randint(0, 2), rng.randint(0, 2)
    summed = (a + 1) % 3, (b + rng.randint(1, 2)) % 3
    numbers = (
        f"lhs_batch_dims={{{a}}}, rhs_batch_dims={{{b}}}, "
        f"lhs_contracting_dims={{{summed[0]}}}, rhs_contracting_dims={{{summed[1]}}}"
    )
    return program("s32[2,2,2] s32[2,2,2]", "", f"s32[2,2,2] dot({rng.choice(['p0, p1', 'p1, p0'])}), {numbers}")


def dynamic_update_slice(rng: random.Random) -> str:
    kind = rng.choice(["s32", "u32", "s8"])
    low = 0 if kind == "u32" else -3
    lines = [f"  {name} = {kind}[] constant({rng.randint(low, 5)})\n" for name in "ij"]
    root = f"s32[4,4] dynamic-update-slice(p0, p1, {rng.choice(['i, j', 'j, i'])})"
    return program("s32[4,4] s32[2,2]", "".join(lines), root)


def sort(rng: random.Random) -> str:
    order = f"compare({rng.choice(['a, b', 'b, a'])}), direction={rng.choice(['LT', 'GT', 'LE', 'GE'])}"
    head = f"c {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = pred[] {order}\n}}\n"
    flags = f"dimensions={{{rng.randint(0, 1)}}}, is_stable={rng.choice(['true', 'false'])}, to_apply=c"
    return program("s32[3,3]", "", f"s32[3,3] sort(p0), {flags}", head)


def conditional(rng: random.Random) -> str:
    head = "".join(
        f"f{i} {{\n  x = s32[3] parameter(0)\n  ROOT r = s32[3] {rng.choice(['negate', 'abs', 'not', 'copy'])}(x)\n}}\n"
        for i in range(2)
    )
    directions = ["LT", "LE", "GT", "GE", "EQ", "NE"]
    question = f"compare({rng.choice(['p1, p2', 'p2, p1', 'p1, p1'])}), direction={rng.choice(directions)}"
    root = "s32[3] conditional(q, p0, p0), true_computation=f0, false_computation=f1"
    return program("s32[3] s32[] s32[]", f"  q = pred[] {question}\n", root, head)


def loop(rng: random.Random) -> str:
    names = rng.sample(["i", "x", "y"], 3)
    step, x = rng.choice([1, 2]), rng.choice(["add(x, i)", "add(x, y)", "subtract(x, y)", "subtract(y, x)"])
    y, direction = rng.choice(["add(y, i)", "copy(y)", "subtract(y, x)", "add(x, x)"]), rng.choice(["LT", "LE"])
    state = "(s32[], s32[], s32[])"
    taken = f"  s = {state} parameter(0)\n" + "".join(
        f"  {name} = s32[] get-tuple-element(s), index={k}\n" for k, name in enumerate(names)
    )
    head = (
        f"c {{\n{taken}  n = s32[] constant({rng.randint(9, 12)})\n"
        f"  ROOT c = pred[] compare(i, n), direction={direction}\n}}\n"
        f"b {{\n{taken}  one = s32[] constant({step})\n  i1 = s32[] add(i, one)\n  x1 = s32[] {x}\n  y1 = s32[] {y}\n"
        f"  ROOT t = {state} tuple({', '.join(name + '1' for name in names)})\n}}\n"
    )
    starts = {"i": "z", "x": "p0", "y": "p1"}
    body = (
        f"  z = s32[] constant({rng.choice([0, 1])})\n"
        f"  t0 = {state} tuple({', '.join(starts[name] for name in names)})\n"
        f"  w = {state} while(t0), condition=c, body=b\n"
    )
    return program("s32[] s32[]", body, f"s32[] get-tuple-element(w), index={names.index('x')}", head)


FAMILIES: dict[str, Callable[[random.Random], str]] = {
    each.__name__: each
    for each in (
        *(convolution, reduce_window, pad, gather, scatter, dot),
        *(dynamic_update_slice, sort, conditional, loop),
    )
}


@dataclass
class Tally:
    """The counts of the pairs of a family."""

    pairs: int = 0
    differing: int = 0
    told_equal: int = 0
    wrong: tuple[str, ...] = ()


def _members(worker: Worker, name: str, count: int) -> Iterator[tuple[str, Module, list[Array]]]:
    rng, made = random.Random(name), 0
    for _ in range(count * _TRIES):
        text = FAMILIES[name](rng)
        try:
            module = parse_bytes(text.encode(), "m")
            verify(module)
            outputs = _outputs(worker, module)
        except (DiagnosticError, ExecutionError, ValueError):
            continue
        yield text, module, outputs
        made += 1
        if made == count:
            return


def _outputs(worker: Worker, module: Module) -> list[Array]:
    shapes = [value.shape for value in module.entry.parameters if isinstance(value.shape, ArrayShape)]
    inputs = [styled_inputs(shapes, seed, "random" if seed else "integers") for seed in range(3)]
    return [found[0] for found in worker.run(prepare(module, "m"), inputs, engine="interpreter")]


def attacks(worker: Worker, name: str, count: int) -> Tally:
    """Compares up to so many programs of a family with each other."""
    tally = Tally()
    for (text, module, outputs), (other_text, other, other_outputs) in combinations(_members(worker, name, count), 2):
        try:
            found = try_prove([module, other], over_reals=True)
        except DiagnosticError:
            continue
        is_same = all(np.array_equal(a, b) for a, b in zip(outputs, other_outputs, strict=True))
        is_told = found.answer == "equal" or found.is_equal_over_reals
        tally.pairs += 1
        tally.differing += not is_same
        tally.told_equal += is_told
        if (is_told and not is_same) or (found.answer == "different" and is_same):
            tally.wrong += (f"{name}\n{text}{other_text}",)
    return tally
