"""Scans: equal to the loops that compute the same slice by slice, and to no other loops."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from dialect_utils.execution.reference import evaluate
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import ProofResult
from tests.verdict.proof.dialects import parse


@dataclass(frozen=True)
class Scan:
    """A scan over rows or columns of x, with a carry c, and the loop that it is.

    The outputs are `y`, an expression of the slice and the carry, and the carry is `next`.
    """

    count: int = 12
    dimension: int = 0
    kind: str = "f32"
    output: str = "multiply(s, c)"
    carry: str = "subtract(c, s)"
    attributes: str = "is_associative=false"
    is_reverse: bool = False
    # Attributes of the loop alone.
    index: str = ""
    stored: str = "i"
    limit: int | None = None
    zeros: str = "0"

    @property
    def whole(self) -> str:
        return f"{self.kind}[{self.count},3]" if self.dimension == 0 else f"{self.kind}[3,{self.count}]"

    def lines(self) -> str:
        row = f"{self.kind}[3]"
        return f"  y = {row} {self.output}\n  n = {row} {self.carry}\n"

    def scan(self) -> str:
        row = f"{self.kind}[3]"
        reverse = ", is_reverse=true" if self.is_reverse else ""
        return (
            f"HloModule m\nf {{\n  s = {row} parameter(0)\n  c = {row} parameter(1)\n{self.lines()}"
            f"  ROOT r = ({row}, {row}) tuple(y, n)\n}}\n"
            f"ENTRY e {{\n  x = {self.whole} parameter(0)\n  a = {row} parameter(1)\n"
            f"  ROOT r = ({self.whole}, {row}) scan(x, a), dimensions={{{self.dimension}}}, num_carries=1, "
            f"{self.attributes}{reverse}, to_apply=f\n}}\n"
        )

    def loop(self) -> str:
        row, whole = f"{self.kind}[3]", self.whole
        cut = f"{self.kind}[1,3]" if self.dimension == 0 else f"{self.kind}[3,1]"
        state = f"(s64[], {row}, {whole}, {whole})"
        where = self.index or ("subtract(l, i)" if self.is_reverse else "copy(i)")
        at, to = ("at, o", "to, o") if self.dimension == 0 else ("o, at", "o, to")
        sizes = "1,3" if self.dimension == 0 else "3,1"
        return (
            f"HloModule m\nbody {{\n  t = {state} parameter(0)\n  i = s64[] get-tuple-element(t), index=0\n"
            f"  c = {row} get-tuple-element(t), index=1\n  x = {whole} get-tuple-element(t), index=2\n"
            f"  z = {whole} get-tuple-element(t), index=3\n  o = s64[] constant(0)\n  u = s64[] constant(1)\n"
            f"  l = s64[] constant({self.count - 1})\n  at = s64[] {where}\n"
            f"  to = s64[] copy({'at' if self.stored == 'i' else self.stored})\n"
            f"  d = {cut} dynamic-slice(x, {at}), dynamic_slice_sizes={{{sizes}}}\n"
            f"  s = {row} reshape(d)\n{self.lines()}"
            f"  p = {cut} reshape(y)\n  w = {whole} dynamic-update-slice(z, p, {to})\n  j = s64[] add(i, u)\n"
            f"  ROOT r = {state} tuple(j, n, x, w)\n}}\n"
            f"condition {{\n  t = {state} parameter(0)\n  i = s64[] get-tuple-element(t), index=0\n"
            f"  l = s64[] constant({self.limit or self.count})\n  ROOT r = pred[] compare(i, l), direction=LT\n}}\n"
            f"ENTRY e {{\n  x = {whole} parameter(0)\n  a = {row} parameter(1)\n  i = s64[] constant(0)\n"
            f"  k = {self.kind}[] constant({self.zeros})\n  z = {whole} broadcast(k), dimensions={{}}\n"
            f"  t = {state} tuple(i, a, x, z)\n  v = {state} while(t), condition=condition, body=body\n"
            f"  y = {whole} get-tuple-element(v), index=3\n  n = {row} get-tuple-element(v), index=1\n"
            f"  ROOT r = ({whole}, {row}) tuple(y, n)\n}}\n"
        )


def proved(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return prove(modules)


def results(text: str, scan: Scan) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    dtype = {"f32": np.float32, "s32": np.int32}[scan.kind]
    sizes = (scan.count, 3) if scan.dimension == 0 else (3, scan.count)
    arrays = [rng.integers(-9, 9, size).astype(dtype) for size in (sizes, (3,))]
    return list(evaluate(parse(text), arrays))


SCANS = {
    "rows": Scan(),
    "columns": Scan(dimension=1),
    "few": Scan(count=3),
    "one": Scan(count=1),
    "reverse": Scan(is_reverse=True),
    "reverse columns, few": Scan(count=4, dimension=1, is_reverse=True),
    "integers": Scan(kind="s32", count=300),
    "long": Scan(count=40_000),
}


@pytest.mark.parametrize("name", SCANS)
def test_a_scan_is_the_loop_over_its_slices(name: str) -> None:
    scan = SCANS[name]
    found = proved(scan.scan(), scan.loop())
    assert found.answer == "equal", found.reason
    assert [output.choices for output in found.outputs] == [(), ()]
    if scan.count < 1000:
        for first, second in zip(results(scan.scan(), scan), results(scan.loop(), scan), strict=True):
            assert first.tobytes() == second.tobytes()


OTHERS = {
    "another carry": replace(Scan(), carry="subtract(s, c)"),
    "another output": replace(Scan(), output="multiply(s, s)"),
    "the other end": replace(Scan(), is_reverse=True),
    "one iteration fewer": replace(Scan(), limit=11),
    "another slice": replace(Scan(), index="copy(o)"),
    "stored in another slice": replace(Scan(), stored="o"),
    "read from the other end": replace(Scan(), index="subtract(l, i)", stored="i "),
}


@pytest.mark.parametrize("count", [4, 12])
@pytest.mark.parametrize("name", OTHERS)
def test_another_loop_is_not_the_scan(name: str, count: int) -> None:
    scan = replace(Scan(), count=count)
    other = replace(OTHERS[name], count=count, limit=OTHERS[name].limit and count - 1)
    assert proved(scan.scan(), other.loop()).answer != "equal"
    pairs = zip(results(scan.scan(), scan), results(other.loop(), other), strict=True)
    assert any(first.tobytes() != second.tobytes() for first, second in pairs)


@pytest.mark.parametrize(
    ("kind", "function", "choices"),
    [("f32", "add(s, c)", ("order of sums", "NaN bits")), ("f32", "maximum(s, c)", ()), ("s32", "add(s, c)", ())],
)
def test_the_engine_orders_a_scan_that_is_promised_to_be_associative(
    kind: str, function: str, choices: tuple[str, ...]
) -> None:
    scan = Scan(kind=kind, output=function, carry=function, attributes="is_associative=true")
    found = proved(scan.scan(), scan.loop())
    assert found.answer == "equal", found.reason
    assert {output.choices for output in found.outputs} == {choices}
    assert proved(scan.scan(), scan.scan()).outputs[0].choices == ()


def test_a_comparison_observes_the_order_of_a_scan() -> None:
    scan = Scan(output="add(s, c)", carry="add(s, c)", attributes="is_associative=true")

    def compared(text: str) -> str:
        head, _, root = text.rpartition("  ROOT r = ")
        got = "get-tuple-element(r), index=1\n  f = f32[3] floor(g)\n  ROOT q = f32[3] copy(f)\n}\n"
        return f"{head}  r = {root.rstrip().removesuffix('}')}  g = f32[3] {got}"

    assert proved(compared(scan.scan()), compared(scan.scan())).answer == "equal"
    assert proved(compared(scan.scan()), compared(scan.loop())).answer != "equal"
