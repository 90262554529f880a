"""Dots and convolutions in the forms that XLA's passes give them: what is proved, and negative examples."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo.parse import parse_module
from dialect_utils.verdict import compare_modules
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.options import Options


@dataclass(frozen=True, slots=True)
class Pair:
    """Two programs of the same parameters, and changes of the second, `old -> new`, that make another program of it."""

    parameters: str
    first: str
    second: str
    changes: tuple[str, ...]
    up_to: tuple[str, ...] = ("NaN bits",)


def module(parameters: str, body: str, kind: str = "f32") -> str:
    lines = [f"p{i} = {each} parameter({i})" for i, each in enumerate(parameters.split())]
    text = "\n  ".join([*lines, *(line.strip() for line in body.strip().splitlines())])
    if kind != "f32":
        text = text.replace("f32[", f"{kind}[").replace("high", "default")
    add = f"add {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n  ROOT s = {kind}[] add(a, b)\n}}\n"
    return f"HloModule m\n{add}ENTRY e {{\n  {text}\n}}\n"


def verdict(first: str, second: str, worker: Worker | None = None) -> Verdict:
    """Returns what a proof finds, or with a worker what the reference engine does."""
    options = Options(engines=("reference" if worker else "proof",))
    return compare_modules(parse_module(first), parse_module(second), options, worker)


PAIRS = {
    "a dot as a convolution without spatial dimensions": Pair(
        "f32[3,5] f32[5,4]",
        "ROOT r = f32[3,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "ROOT r = f32[3,4] convolution(p0, p1), dim_labels=bf_io->bf",
        (),
        ("order of sums", "NaN bits"),
    ),
    "a dot of a batch as a convolution with dilation": Pair(
        "f32[3,2,5] f32[3,5,4]",
        """ROOT r = f32[3,2,4] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},
           rhs_contracting_dims={1}""",
        "ROOT r = f32[3,2,4] convolution(p0, p1), window={size=3 stride=2 lhs_dilate=3}, dim_labels=0bf_0io->0bf",
        ("lhs_dilate=3 -> lhs_dilate=3 rhs_reversal=1", "stride=2 lhs_dilate=3 -> pad=0_0"),
        ("order of sums", "NaN bits"),
    ),
    "a sum over a window": Pair(
        "f32[2,3,5] f32[5,3,4]",
        "ROOT r = f32[2,4] dot(p0, p1), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}",
        """c = f32[2,1,4] convolution(p0, p1), window={size=3}, dim_labels=b0f_i0o->b0f
           ROOT r = f32[2,4] reshape(c)""",
        ("size=3 -> size=3 rhs_reversal=1",),
        ("order of sums", "NaN bits"),
    ),
    "groups of batches as a spatial dimension": Pair(
        "f32[6,4,3] f32[3,2,9]",
        "ROOT r = f32[2,3,9] convolution(p0, p1), window={size=2}, dim_labels=b0f_i0o->b0f, batch_group_count=3",
        """x = f32[3,2,4,3] reshape(p0)
           k = f32[3,2,3,3] reshape(p1)
           c = f32[2,3,3,3] convolution(x, k), window={size=2x3 stride=1x2 lhs_dilate=1x3}, dim_labels=1b0f_i01o->b01f
           ROOT r = f32[2,3,9] reshape(c)""",
        ("lhs_dilate=1x3 -> lhs_dilate=1x3 rhs_reversal=0x1", "1b0f_i01o -> 1b0f_i0o1"),
        ("order of sums", "NaN bits"),
    ),
    "a reversed kernel": Pair(
        "f32[2,6,4] f32[3,5,4]",
        """k = f32[3,5,4] reverse(p1), dimensions={0}
           ROOT r = f32[2,8,5] convolution(p0, k), window={size=3 pad=2_2}, dim_labels=b0f_0oi->b0f""",
        "ROOT r = f32[2,8,5] convolution(p0, p1), window={size=3 pad=2_2 rhs_reversal=1}, dim_labels=b0f_0oi->b0f",
        ("pad=2_2 -> pad=3_1", " rhs_reversal=1 -> "),
        ("order of sums", "NaN bits"),
    ),
    "batches in another order": Pair(
        "f32[3,2,5,4] f32[3,2,6,5]",
        """x = f32[2,3,4,5] transpose(p0), dimensions={1,0,3,2}
           y = f32[2,3,5,6] transpose(p1), dimensions={1,0,3,2}
           ROOT r = f32[2,3,4,6] dot(x, y), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1},
           rhs_contracting_dims={2}, operand_precision={high,default}""",
        """d = f32[3,2,6,4] dot(p1, p0), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1},
           rhs_contracting_dims={2}, operand_precision={default,high}
           ROOT r = f32[2,3,4,6] transpose(d), dimensions={1,0,3,2}""",
        ("{default,high} -> {high,default}",),
        ("order of sums", "NaN bits"),
    ),
    "a sum in another order": Pair(
        "f32[4,3,2,5] f32[2,3,6]",
        "ROOT r = f32[4,5,6] dot(p0, p1), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}",
        """x = f32[4,5,2,3] transpose(p0), dimensions={0,3,2,1}
           a = f32[20,6] reshape(x)
           b = f32[6,6] reshape(p1)
           d = f32[20,6] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
           ROOT r = f32[4,5,6] reshape(d)""",
        ("f32[4,5,2,3] transpose(p0), dimensions={0,3,2,1} -> f32[4,5,3,2] transpose(p0), dimensions={0,3,1,2}",),
        ("order of sums", "NaN bits"),
    ),
    "a dot of an expression": Pair(
        "f32[4,3,2] f32[4,3,2] f32[3,5,4]",
        """s = f32[4,3,2] add(p0, p1)
           ROOT r = f32[2,5] dot(s, p2), lhs_contracting_dims={0,1}, rhs_contracting_dims={2,0}""",
        """x = f32[2,3,4] transpose(p0), dimensions={2,1,0}
           y = f32[2,3,4] transpose(p1), dimensions={2,1,0}
           s = f32[2,3,4] add(x, y)
           a = f32[2,12] reshape(s)
           z = f32[5,3,4] transpose(p2), dimensions={1,0,2}
           b = f32[5,12] reshape(z)
           d = f32[5,2] dot(b, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}
           ROOT r = f32[2,5] transpose(d), dimensions={1,0}""",
        ("f32[2,12] reshape(s) -> f32[2,12] reshape(x)",),
        ("order of sums", "NaN bits"),
    ),
    "a reduction of an array in another order": Pair(
        "f32[4,3,2,5]",
        """zero = f32[] constant(0)
           ROOT r = f32[4,2] reduce(p0, zero), dimensions={1,3}, to_apply=add""",
        """x = f32[2,5,3,4] transpose(p0), dimensions={2,3,1,0}
           y = f32[2,15,4] reshape(x)
           zero = f32[] constant(0)
           s = f32[2,4] reduce(y, zero), dimensions={1}, to_apply=add
           ROOT r = f32[4,2] transpose(s), dimensions={1,0}""",
        ("f32[2,5,3,4] transpose(p0), dimensions={2,3,1,0} -> f32[2,5,3,4] reshape(p0)",),
        ("order of sums", "NaN bits"),
    ),
    "a dot of a vector as a sum of products": Pair(
        "f32[4,3,5] f32[5,3]",
        """ROOT r = f32[4] dot(p0, p1), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}""",
        """y = f32[3,5] transpose(p1), dimensions={1,0}
           wide = f32[4,3,5] broadcast(y), dimensions={1,2}
           products = f32[4,3,5] multiply(wide, p0)
           zero = f32[] constant(0)
           ROOT r = f32[4] reduce(products, zero), dimensions={1,2}, to_apply=add""",
        ("f32[3,5] transpose(p1), dimensions={1,0} -> f32[3,5] reshape(p1)", "constant(0) -> constant(1)"),
        ("dot precision", "order of sums", "NaN bits"),
    ),
    "a batch of dots of vectors as a sum of products": Pair(
        "f32[4,3,5] f32[5,4,3]",
        """ROOT r = f32[4,3] dot(p0, p1), lhs_batch_dims={0,1}, lhs_contracting_dims={2}, rhs_batch_dims={1,2},
           rhs_contracting_dims={0}""",
        """y = f32[4,3,5] transpose(p1), dimensions={1,2,0}
           products = f32[4,3,5] multiply(y, p0)
           zero = f32[] constant(0)
           ROOT r = f32[4,3] reduce(products, zero), dimensions={2}, to_apply=add""",
        ("multiply(y, p0) -> add(y, p0)",),
        ("dot precision", "order of sums", "NaN bits"),
    ),
    "a convolution of depth as products": Pair(
        "f32[2,3,4] f32[1,1,8]",
        "ROOT r = f32[2,3,8] convolution(p0, p1), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=4",
        """k = f32[4,2] reshape(p1)
           wide = f32[2,3,4,2] broadcast(k), dimensions={2,3}
           x = f32[2,3,4,2] broadcast(p0), dimensions={0,1,2}
           products = f32[2,3,4,2] multiply(wide, x)
           ROOT r = f32[2,3,8] reshape(products)""",
        ("multiply(wide, x) -> multiply(wide, wide)",),
        ("dot precision", "initial zero", "NaN bits"),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_form_of_a_dot_is_proved(name: str) -> None:
    pair = PAIRS[name]
    found = verdict(module(pair.parameters, pair.first), module(pair.parameters, pair.second))
    assert found.verdict == "equal", found
    assert found.choices == pair.up_to


@pytest.mark.parametrize("name", PAIRS)
def test_the_reference_evaluator_computes_the_same_of_integers(name: str, worker: Worker) -> None:
    pair = PAIRS[name]
    first, second = (module(pair.parameters, body, "s32") for body in (pair.first, pair.second))
    assert verdict(first, second, worker).verdict in ("equal", "agrees")
    assert verdict(first, second).verdict == "equal"


@pytest.mark.parametrize(("name", "change"), [(name, each) for name, pair in PAIRS.items() for each in pair.changes])
def test_another_program_is_not_proved(name: str, change: str, worker: Worker) -> None:
    pair = PAIRS[name]
    old, _, new = change.partition(" -> ")
    assert pair.second.count(old) == 1
    changed = pair.second.replace(old, new)
    assert verdict(module(pair.parameters, pair.first), module(pair.parameters, changed)).verdict != "equal"
    if "high" not in change:
        first, second = (module(pair.parameters, body, "s32") for body in (pair.first, changed))
        assert verdict(first, second, worker).verdict == "different"
