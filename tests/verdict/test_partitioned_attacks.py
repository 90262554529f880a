"""Programs on several devices that differ from others, or mean nothing: none is equal, by proof or by a forged one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from dialect_utils.execution import to_bits
from dialect_utils.hlo.parse import parse_module
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Pad, Reshape, Slice, Transpose, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.sharding import Partition, Sharding, replicated
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, ReadTerm, Step
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.entry import EntryArray
from dialect_utils.verdict.partition import partitions_of
from dialect_utils.verdict.replay import replay
from tests.verdict.replay.forging import TRUE, array, constant, each, moved, parameter, step, term, told

ADD = """add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
"""
TO_ALL = "channel_id=1, use_global_device_ids=true, to_apply=add, replica_groups={{0,1,2,3}}"
IN_PARTS, WHOLE = "devices=[4]<=[4]", "replicated"
ROUND = "collective-permute({}), channel_id=1, source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}"


def whole(body: str, size: int = 8) -> str:
    return f"HloModule whole\n{ADD}ENTRY e {{\n  x = s32[{size}] parameter(0)\n  {body}\n}}\n"


def parts(body: str, size: int = 2, sharding: str = IN_PARTS, counts: str = "num_partitions=4", head: str = ADD) -> str:
    entry = f"  x = s32[{size}] parameter(0), sharding={{{sharding}}}\n  {body}\n"
    return f"HloModule parts, {counts}\n{head}ENTRY e {{\n{entry}}}\n"


SUM = whole("z = s32[] constant(0)\n  ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=add")
LOCAL_SUM = "z = s32[] constant(0)\n  l = s32[] reduce(x, z), dimensions={0}, to_apply=add\n  "
ALL_REDUCED = LOCAL_SUM + "ROOT r = s32[] all-reduce(l), "
SUM_OF_ALL = ALL_REDUCED + "to_apply=add, "
FOUR_TIMES = whole("f = s32[] constant(4)\n  g = s32[8] broadcast(f), dimensions={}\n  ROOT r = s32[8] multiply(x, g)")
SAME = whole("ROOT r = s32[8] copy(x)")
TURNED = whole(
    "a = s32[6] slice(x), slice={[0:6]}\n  b = s32[2] slice(x), slice={[6:8]}\n"
    "  ROOT r = s32[8] concatenate(b, a), dimensions={0}"
)
NUMBERED = "id = u32[] partition-id()\n  "
BRANCHES = f"""{ADD}branch {{
  x = s32[] parameter(0)
  ROOT r = s32[] all-reduce(x), {TO_ALL}
}}
started {{
  x = s32[] parameter(0)
  s = s32[] all-reduce-start(x), {TO_ALL}
  ROOT r = s32[] all-reduce-done(s)
}}
called {{
  x = s32[] parameter(0)
  ROOT r = s32[] call(x), to_apply=started
}}
"""
LOOP = """condition {
  p = (u32[], u32[], s32[8]) parameter(0)
  i = u32[] get-tuple-element(p), index=0
  n = u32[] get-tuple-element(p), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  p = (u32[], u32[], s32[8]) parameter(0)
  i = u32[] get-tuple-element(p), index=0
  n = u32[] get-tuple-element(p), index=1
  x = s32[8] get-tuple-element(p), index=2
  one = u32[] constant(1)
  j = u32[] add(i, one)
  y = s32[8] add(x, x)
  ROOT r = (u32[], u32[], s32[8]) tuple(j, n, y)
}
"""
TWICE = (
    "zero = u32[] constant(0)\n  t = (u32[], u32[], s32[8]) tuple(zero, n, x)\n"
    "  w = (u32[], u32[], s32[8]) while(t), condition=condition, body=body\n"
    "  ROOT r = s32[8] get-tuple-element(w), index=2"
)
BOTH = "replica_count=2, num_partitions=2"


def at(start: str) -> str:
    """Returns a program whose devices each read two elements of the whole array."""
    body = f"{NUMBERED}{start}\n  ROOT r = s32[2] dynamic-slice(x, st), dynamic_slice_sizes={{2}}"
    return parts(body, 8, WHOLE)


def chosen(name: str) -> str:
    body = (
        f"{LOCAL_SUM}{NUMBERED}k = u32[] constant(2)\n  p = pred[] compare(id, k), direction=LT\n"
        f"  ROOT r = s32[] conditional(p, l, l), true_computation={name}, false_computation={name}"
    )
    return parts(body, head=BRANCHES)


EQUAL = {
    "a sum of all partitions": (SUM, parts(SUM_OF_ALL + "channel_id=1, replica_groups={{0}}")),
    "a sum of all replicas": (SUM, parts(SUM_OF_ALL + "replica_groups={{0,1,2,3}}", counts="replica_count=4")),
    "a sum of both": (SUM, parts(SUM_OF_ALL + "channel_id=1, replica_groups={{0,1}}", counts=BOTH)),
    "turned": (TURNED, parts("ROOT r = s32[2] " + ROUND.format("x"))),
    "starts": (SAME, at("two = u32[] constant(2)\n  st = u32[] multiply(id, two)")),
    "starts that wrap": (
        SAME,
        at(
            "c = u8[] convert(id)\n  k = u8[] constant(2)\n  o = u8[] constant(254)\n  t = u8[] multiply(c, k)\n"
            "  u = u8[] add(t, o)\n  st = u8[] subtract(u, o)"
        ),
    ),
    "a loop": (FOUR_TIMES, parts("n = u32[] constant(2)\n  " + TWICE, 8, WHOLE, head=ADD + LOOP)),
    "the sum of a whole array": (FOUR_TIMES, parts(f"ROOT r = s32[8] all-reduce(x), {TO_ALL}", 8, WHOLE)),
    "gathered without padding": (
        whole("ROOT r = s32[7] copy(x)", 7),
        parts(
            "g = s32[8] all-gather(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, "
            "dimensions={0}\n  ROOT r = s32[7] slice(g), slice={[0:7]}"
        ),
    ),
}
NOT_EQUAL = {
    "no channel, so each is alone": (SUM, parts(SUM_OF_ALL + "replica_groups={{0}}")),
    "replicas alone": (SUM, parts(SUM_OF_ALL + "channel_id=1, replica_groups={{0},{1}}", counts=BOTH)),
    "replicas without partitions": (SUM, parts(SUM_OF_ALL + "replica_groups={{0,1}}", counts=BOTH)),
    "a group of three": (SUM, parts(ALL_REDUCED + TO_ALL.replace("{0,1,2,3}", "{0,1,2},{3}"))),
    "a device left out": (SUM, parts(ALL_REDUCED + TO_ALL.replace("{0,1,2,3}", "{0,1,2}"))),
    "a group twice": (SUM, parts(ALL_REDUCED + TO_ALL.replace("{0,1,2,3}", "{0,1,2,3},{0,1,2,3}"))),
    "some take a branch that exchanges": (SUM, chosen("branch")),
    "a branch that starts an exchange": (SUM, chosen("started")),
    "a branch that calls one": (SUM, chosen("called")),
    "a source that is no device": (TURNED, parts("ROOT r = s32[2] " + ROUND.format("x").replace("{3,0}", "{7,0}"))),
    "a target that is no device": (TURNED, parts("ROOT r = s32[2] " + ROUND.format("x").replace("{3,0}", "{3,4}"))),
    "a target twice": (TURNED, parts("ROOT r = s32[2] " + ROUND.format("x").replace("{3,0}}", "{2,0},{3,0}}"))),
    "a pair is missing": (TURNED, parts("ROOT r = s32[2] " + ROUND.format("x").replace(",{3,0}", ""))),
    "padding in a sum": (SUM.replace("s32[8]", "s32[7]"), parts(ALL_REDUCED + TO_ALL)),
    "padding moves to other devices": (
        TURNED.replace("s32[8]", "s32[7]").replace("s32[6]", "s32[5]").replace("0:6", "0:5").replace("6:8", "5:7"),
        parts("ROOT r = s32[2] " + ROUND.format("x")),
    ),
    "starts of replicas": (SAME, at("n = u32[] replica-id()\n  k = u32[] constant(2)\n  st = u32[] multiply(n, k)")),
    "starts that are clamped": (SAME, at("k = u32[] constant(2147483650)\n  st = u32[] multiply(id, k)")),
    "starts that wrap to others": (
        SAME,
        at(
            "k = u32[] constant(1073741826)\n  f = u32[] constant(4)\n  a = u32[] multiply(id, k)\n"
            "  st = u32[] multiply(a, f)"
        ),
    ),
    "starts below 0": (
        SAME,
        at(
            "c = s32[] convert(id)\n  k = s32[] constant(2)\n  t = s32[] multiply(c, k)\n"
            "  o = s32[] constant(-2)\n  st = s32[] add(t, o)"
        ),
    ),
    "a device-dependent number of iterations": (
        FOUR_TIMES,
        parts("n = u32[] partition-id()\n  " + TWICE, 8, WHOLE, head=ADD + LOOP),
    ),
    "one device has another result": (
        SAME,
        parts(
            f"{NUMBERED}k = u32[] constant(3)\n  p = pred[] compare(id, k), direction=EQ\n  y = s32[8] add(x, x)\n"
            "  q = pred[8] broadcast(p), dimensions={}\n  ROOT r = s32[8] select(q, y, x), sharding={replicated}",
            8,
            WHOLE,
        ),
    ),
    "parts on other devices": (SAME, parts("ROOT r = s32[2] copy(x), sharding={devices=[4]0,2,1,3}")),
    "uninitialized memory": (
        whole("z = s32[] constant(0)\n  ROOT r = s32[2] broadcast(z), dimensions={}"),
        parts(
            'm = s32[2] custom-call(), custom_call_target="AllocateBuffer"\n'
            f"  o = s32[2] {ROUND.format('m')}\n  ROOT r = s32[2] subtract(m, o), sharding={{replicated}}"
        ),
    ),
}


def answers(first: str, last: str) -> set[str]:
    modules = parse_module(first, "whole.hlo"), parse_module(last, "parts.hlo")
    return {prove(modules, partition=partition).answer for partition in partitions_of(*modules)}


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name: str) -> None:
    assert "equal" in answers(*EQUAL[name])


@pytest.mark.parametrize("name", NOT_EQUAL)
def test_not_equal(name: str) -> None:
    assert "equal" not in answers(*NOT_EQUAL[name])


@pytest.mark.parametrize("text", ["maximal device=0", "devices=[1,4]<=[4] last_tile_dims={unreduced}"])
def test_a_sharding_that_makes_no_parts_is_an_error(text: str) -> None:
    first, last = EQUAL["the sum of a whole array"]
    modules = parse_module(first, "a.hlo"), parse_module(last.replace(f"{{{WHOLE}}}", f"{{{text}}}"), "b.hlo")
    with pytest.raises(DiagnosticError, match="makes no parts of an array"):
        next(partitions_of(*modules))


@pytest.mark.parametrize("wrong", [8.0, np.inf, np.nan])
@pytest.mark.parametrize("kind", ["f32", "f64", "c64", "c128"])
def test_the_worst_device_is_shown(kind: str, wrong: float) -> None:
    element_type = parse_element_type(kind)
    port = EntryArray(array(kind, 2), sharding=replicated(1, 3))
    dtype = {"f": "float", "c": "complex"}[kind[0]] + kind[1:]
    expected, near = (np.array(each_, dtype) for each_ in ([1, 2], [1.0078125, 2]))
    far = np.array([wrong, 2], expected.dtype)
    for order in permutations([expected, near, far]):
        found = port.put_together(np.stack(order), expected)
        assert to_bits(found, element_type).tolist() == to_bits(far, element_type).tolist()


# Certificates


def on(*places: int) -> Sharding:
    return Sharding((4,), tuple((place,) for place in places))


def test_a_certificate_is_about_its_placement() -> None:
    modules = [
        parse_module(
            f"HloModule m, num_partitions=4\nENTRY e {{\n x = s32[{n}] parameter(0)\n"
            f" ROOT r = s32[{n}] add(x, x)\n}}\n",
            "m.hlo",
        )
        for n in (8, 2)
    ]
    same, other = (Partition((on(0, 1, 2, 3),), (each_,)) for each_ in (on(0, 1, 2, 3), on(1, 0, 2, 3)))
    of_same, of_other = (Certificate((), ({}, {}), partition=each_) for each_ in (same, other))
    assert prove(modules, partition=same).answer == "equal"
    assert not replay(modules, of_other).is_equal
    for each_ in (of_same, of_other):
        assert not replay(modules, replace(each_, is_on_each=True)).is_equal
    for text in ("num_partitions=2", "replica_count=1"):
        fewer = parse_module(
            f"HloModule m, {text}\nENTRY e {{\n x = s32[2] parameter(0)\n ROOT r = s32[2] add(x, x)\n}}\n", "m.hlo"
        )
        with pytest.raises(DiagnosticError):
            assert not replay([modules[0], fewer], replace(of_same, partition=None)).is_equal
        assert not replay([modules[1], fewer], Certificate((), ({}, {}), is_on_each=True)).is_equal
    whole_ = Partition((replicated(1, 2),), (replicated(1, 2),))
    assert not replay([modules[1], modules[1]], Certificate((), ({}, {}), partition=whole_)).is_equal


# Steps

FIRST, SECOND = parameter(0, "f32", 6), parameter(1, "f32", 6)
ZERO, ONE = constant(0, "f32"), constant(0x3F800000, "f32")


def masked(
    bits: bytes, first: ReadTerm = FIRST, last: ReadTerm | None = None, low: int = 1, scalar: ReadTerm = ZERO
) -> Step:
    mask, shape = term("constant", bits, array("pred", 6)), array("f32", 6)
    splat = term("splat", None, shape, ZERO)
    before = each("select", shape, mask, first, splat if last is None else last)
    plan = Plan(shape.element_type, (4,), (Pad((low,), (2 - low,), (0,)),), (True,))
    return step("masked", before, term("moved", plan, shape, moved(FIRST, Slice((1,), (5,))), scalar))


def is_refused(forged: Step) -> bool:
    return bool(told((TRUE, TRUE), forged).refused)


KEPT = bytes([0, 1, 1, 1, 1, 0])
WRONG_MASKS = {
    "an element more": masked(bytes([1, 1, 1, 1, 1, 0])),
    "an element less": masked(bytes([0, 1, 1, 0, 1, 0])),
    "the other branch": masked(bytes(1 - each_ for each_ in KEPT)),
    "another array": masked(KEPT, SECOND),
    "an array as the other branch": masked(KEPT, FIRST, SECOND),
    "another place": masked(KEPT, low=0),
    "another scalar": masked(KEPT, scalar=ONE),
}


def test_a_right_mask() -> None:
    assert not is_refused(masked(KEPT))


@pytest.mark.parametrize("name", WRONG_MASKS)
def test_a_wrong_mask_is_refused(name: str) -> None:
    assert is_refused(WRONG_MASKS[name])


LEFT, RIGHT = parameter(0, "f32", 6, 4, 5), parameter(1, "f32", 6, 7, 5)
OUTER, SIZE, INNER = 1, 3, 2


def joined(operand: ReadTerm, size: int = SIZE, order: tuple[int, ...] = (0, 2, 3, 1, 4)) -> ReadTerm:
    assert isinstance(operand.shape, ArrayShape)
    batch, lines, summed = operand.shape.dimensions
    split = Reshape((OUTER, size, batch // size, lines, summed))
    return moved(operand, split, Transpose(order), Reshape((INNER, lines, SIZE * summed)))


def batch_sum(
    left: ReadTerm | None = None,
    right: ReadTerm | None = None,
    opcode: str = "add",
    initial: ReadTerm = ZERO,
    order: tuple[int, ...] = (0, 2, 3, 4, 1),
    label: Hashable = ("dot", ()),
    size: int = SIZE,
    inner: int = INNER,
) -> Step:
    dot = term("op", ("dot", ()), array("f32", 6, 4, 7), LEFT, RIGHT)
    flat = OUTER * INNER * 4 * 7
    rows = moved(dot, Reshape((OUTER, size, inner, 4, 7)), Transpose(order), Reshape((flat, 3)))
    before = term("op", ("reduce", opcode), array("f32", flat), rows, initial)
    operands = [joined(LEFT) if left is None else left, joined(RIGHT) if right is None else right]
    after = moved(term("op", label, array("f32", INNER, 4, 7), *operands), Reshape((flat,)))
    return step("batch-sum", before, after)


WRONG_SUMS = {
    "another operand": batch_sum(right=joined(parameter(2, "f32", 6, 7, 5))),
    "the operands are the same": batch_sum(left=joined(parameter(1, "f32", 6, 4, 5))),
    "other products are summed": batch_sum(order=(0, 1, 3, 4, 2), size=2, inner=3),
    "another factor": batch_sum(left=joined(LEFT, 2, (0, 1, 3, 2, 4)), right=joined(RIGHT, 2, (0, 1, 3, 2, 4))),
    "another operation": batch_sum(opcode="maximum"),
    "another initial value": batch_sum(initial=ONE),
    "another dot": batch_sum(label=("dot", ("other",))),
}


def test_a_right_sum_of_products() -> None:
    assert not is_refused(batch_sum())


@pytest.mark.parametrize("name", WRONG_SUMS)
def test_a_wrong_sum_of_products_is_refused(name: str) -> None:
    assert is_refused(WRONG_SUMS[name])


# A loop of StableHLO whose regions use values from outside
CAPTURING = """module {attributes} {{
  func.func public @main(%x: tensor<{size}xi32> {sharding}) -> (tensor<{size}xi32> {sharding}) {{
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<{count}> : tensor<i32>
    {before}
    %r:2 = stablehlo.while(%i = %c0, %y = %x) : tensor<i32>, tensor<{size}xi32>
     cond {{
      %p = stablehlo.compare LT, %i, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
     }} do {{
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %z = stablehlo.add %y, %v : tensor<{size}xi32>
      stablehlo.return %j, %z : tensor<i32>, tensor<{size}xi32>
     }}
    return %r#1 : tensor<{size}xi32>
  }}
}}
"""
OWN_NUMBER = """%id = stablehlo.partition_id : tensor<ui32>
    %m = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %v = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<i32>) -> tensor<2xi32>"""


def capturing(count: int, last: int = 3, limit: str = "%n") -> tuple[Module, Module]:
    """Returns programs that add the number of a device in a loop, for one device and for four."""
    numbers = f"%v = stablehlo.constant dense<[0, 0, 1, 1, 2, 2, 3, {last}]> : tensor<8xi32>"
    counts = "attributes {mhlo.num_partitions = 4 : i32}"
    sharding = f'{{mhlo.sharding = "{{{IN_PARTS}}}"}}'
    one = CAPTURING.format(attributes="", size=8, sharding="", count=count, before=numbers, limit="%n")
    four = CAPTURING.format(attributes=counts, size=2, sharding=sharding, count=count, before=OWN_NUMBER, limit=limit)
    return parse_bytes(one.encode(), "whole.mlir"), parse_bytes(four.encode(), "parts.mlir")


@pytest.mark.parametrize("count", [3, 20])
def test_a_loop_may_use_values_from_outside(count: int) -> None:
    for modules, is_equal in (
        (capturing(count), True),
        (capturing(count, last=4), False),
        (capturing(count, limit="%m"), False),
    ):
        (partition,) = partitions_of(*modules)
        assert (prove(modules, partition=partition).answer == "equal") == is_equal
