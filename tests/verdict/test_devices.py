"""Modules of several replicas or partitions run on as many devices, and each device knows its number."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules

HLO = """HloModule m, %s=2
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4] parameter(0)
  r = u32[] %s-id()
  f = f32[] convert(r)
  g = f32[4] broadcast(f), dimensions={}
  y = f32[4] multiply(x, g)
  ROOT s = f32[4] all-reduce(y), %sreplica_groups={{0,1}}, to_apply=add
}
"""
MLIR = """module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%%x: tensor<3xi32>) -> tensor<3xi32> {
    %%p = stablehlo.partition_id : tensor<ui32>
    %%c = stablehlo.convert %%p : (tensor<ui32>) -> tensor<i32>
    %%b = stablehlo.broadcast_in_dim %%c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %%y = stablehlo.%s %%x, %%b : tensor<3xi32>
    return %%y : tensor<3xi32>
  }
}
"""
REPLICAS = HLO % ("replica_count", "replica", "")
PARTITIONS = HLO % ("num_partitions", "partition", "channel_id=1, use_global_device_ids=true, ")
XLA = Options(engines=("xla",), power=0)


@pytest.fixture(scope="module")
def two_devices() -> Iterator[Worker]:
    with Worker(devices=2) as worker:
        yield worker


def parse(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


@pytest.mark.parametrize("text", [REPLICAS, PARTITIONS, MLIR % "add"], ids=["replicas", "partitions", "StableHLO"])
def test_devices_are_counted_where_something_depends_on_them(text: str) -> None:
    assert devices_of(parse(text)).needed == 2


def test_what_depends_on_no_device_runs_on_one() -> None:
    module = parse("HloModule m, replica_count=2\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n")
    assert (devices_of(module).count, devices_of(module).needed) == (2, 1)


@pytest.mark.parametrize("text", [REPLICAS, PARTITIONS], ids=["replicas", "partitions"])
@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("multiply(x, g)", "multiply(g, x)", "agrees"),
        ("{{0,1}}", "{{0},{1}}", "different"),
        ("f32[] convert(r)", "f32[] constant(1)", "different"),
    ],
    ids=["the same", "other groups", "another number"],
)
def test_devices_know_which_they_are(two_devices: Worker, text: str, before: str, after: str, verdict: str) -> None:
    found = compare_modules(parse(text), parse(text.replace(before, after)), XLA, two_devices)
    assert found.verdict == verdict, found
    assert verdict == "different" or found.data.endswith("on 2 devices")


def test_stablehlo_of_partitions(two_devices: Worker) -> None:
    found = compare_modules(parse(MLIR % "add"), parse(MLIR % "subtract"), XLA, two_devices)
    assert found.verdict == "different"


def test_modules_for_other_numbers_of_devices_are_told_apart() -> None:
    with pytest.raises(DiagnosticError, match="different numbers of devices: 2 and 4"):
        compare_modules(parse(REPLICAS), parse(REPLICAS.replace("count=2", "count=4")), XLA)


def test_replicas_of_partitions_are_refused() -> None:
    both = parse(REPLICAS.replace("replica_count=2", "replica_count=2, num_partitions=2"))
    with pytest.raises(DiagnosticError, match="replicas and partitions"):
        compare_modules(both, both, XLA)
