"""Collectives: their kinds, groups, bytes counted by hand, and how often each runs."""

from __future__ import annotations

import json

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.collectives import find_collectives
from dialect_utils.memory.relayouts import find_origins
from dialect_utils.memory.rows import CollectiveRow
from relayout.reporting.against import compare_reports, comparison_html, comparison_page
from relayout.reporting.gate import parse_condition
from relayout.reporting.html import html_page
from relayout.reporting.terminal import terminal_page

_SUM = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"


def _rows(body: str, entry: str = "p = f32[8,16] parameter(0)", head: str = "num_partitions=4") -> list[CollectiveRow]:
    text = (
        f"HloModule m, {head}\n{_SUM}{body}"
        if "ENTRY" in body
        else (f"HloModule m, {head}\n{_SUM}ENTRY e {{ {entry}\n{body} }}")
    )
    return list(MemoryReport(parse_module(text, "m")).collectives)


# f32[8,16] are 512 bytes.
@pytest.mark.parametrize(
    ("text", "kind", "sent", "devices"),
    [
        # Each device sends three quarters of the array to reduce parts, and three quarters to hand out the sums.
        (
            "f32[8,16] all-reduce(p), replica_groups={{0,1,2,3}}, to_apply=add, channel_id=1, "
            "use_global_device_ids=true",
            "all-reduce",
            768,
            "1 group of 4",
        ),
        (
            "f32[8,16] all-reduce(p), replica_groups=[2,2]<=[4], to_apply=add, channel_id=1, "
            "use_global_device_ids=true",
            "all-reduce",
            512,
            "2 groups of 2",
        ),
        # A part of 512 bytes passes each device but the one that has it.
        (
            "f32[32,16] all-gather(p), replica_groups=mesh['a'=2,'b'=4] {'b'}, dimensions={0}, channel_id=1, "
            "use_global_device_ids=true",
            "all-gather",
            1536,
            "2 groups of 4, axis b",
        ),
        (
            "f32[2,16] reduce-scatter(p), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add, channel_id=1, "
            "use_global_device_ids=true",
            "reduce-scatter",
            384,
            "1 group of 4",
        ),
        (
            "f32[8,16] all-to-all(p), replica_groups={{0,1,2,3}}, dimensions={0}, channel_id=1",
            "all-to-all",
            384,
            "1 group of 4",
        ),
        # A device that sends to itself sends nothing.
        (
            "f32[8,16] collective-permute(p), source_target_pairs={{0,1},{1,0},{2,2}}, channel_id=1",
            "collective-permute",
            512,
            "2 pairs",
        ),
        (
            "f32[8,16] collective-permute(p), source_target_pairs={{0,0},{1,1}}, channel_id=1",
            "collective-permute",
            0,
            "0 pairs",
        ),
        (
            "f32[8,16] collective-broadcast(p), replica_groups={{0,1},{2,3}}, channel_id=1",
            "collective-broadcast",
            512,
            "2 groups of 2",
        ),
        ("f32[8,16] all-reduce(p), replica_groups={}, to_apply=add", "all-reduce", 0, "all 1 devices"),
        # Groups of replicas with all partitions of each.
        (
            "f32[8,16] all-reduce(p), replica_groups={{0}}, to_apply=add, channel_id=1",
            "all-reduce",
            768,
            "1 group of 4",
        ),
    ],
)
def test_bytes_of_each_kind(text: str, kind: str, sent: int, devices: str) -> None:
    (row,) = _rows(f"ROOT c = {text}")
    assert (row.kind, row.bytes_sent, row.groups, row.operands) == (kind, sent, devices, ("f32[8,16]",))


def test_padding_of_tiles_is_not_sent() -> None:
    (row,) = _rows(
        "ROOT c = f32[8,16]{1,0:T(8,128)} all-reduce(p), replica_groups={{0,1}}, to_apply=add, channel_id=1, "
        "use_global_device_ids=true",
        "p = f32[8,16]{1,0:T(8,128)} parameter(0)",
        "num_partitions=2",
    )
    assert row.bytes_sent == 512


_STARTED = {
    "all-gather": """
  s = (f32[8,16], f32[32,16]) all-gather-start(p), replica_groups={{0,1,2,3}}, dimensions={0}, channel_id=1,
    use_global_device_ids=true
  ROOT d = f32[32,16] all-gather-done(s)""",
    "all-reduce": """
  s = f32[8,16] all-reduce-start(p), replica_groups={{0,1,2,3}}, to_apply=add, channel_id=1, use_global_device_ids=true
  ROOT d = f32[8,16] all-reduce-done(s)""",
    "collective-permute": """
  s = (f32[8,16], f32[8,16]) collective-permute-start(p), source_target_pairs={{0,1},{1,0}}, channel_id=1
  ROOT d = f32[8,16] collective-permute-done(s)""",
    "reduce-scatter": """
  s = ((f32[8,16]), f32[2,16]) async-start(p), calls=wrapped
  u = ((f32[8,16]), f32[2,16]) async-update(s)
  ROOT d = f32[2,16] async-done(u)""",
}
_WRAPPED = """wrapped { q = f32[8,16] parameter(0)
  ROOT r = f32[2,16] reduce-scatter(q), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add, channel_id=1,
    use_global_device_ids=true }
"""


@pytest.mark.parametrize(("kind", "sent"), [*zip(sorted(_STARTED), (1536, 768, 512, 384), strict=True)])
def test_an_asynchronous_form_counts_once_as_its_kind(kind: str, sent: int) -> None:
    (row,) = _rows(f"{_WRAPPED}ENTRY e {{ p = f32[8,16] parameter(0){_STARTED[kind]} }}")
    assert (row.kind, row.bytes_sent, row.trips) == (kind, sent, 1)


def test_a_sum_in_a_fusion_of_which_a_device_keeps_a_slice_is_a_reduce_scatter() -> None:
    body = """f { q = f32[8,16] parameter(0)
  r = f32[8,16] all-reduce(q), replica_groups={{0,1,2,3}}, to_apply=add, channel_id=1, use_global_device_ids=true
  i = u32[] partition-id()
  z = u32[] constant(0)
  ROOT d = f32[2,16] dynamic-slice(r, i, z), dynamic_slice_sizes={2,16} }
ENTRY e { p = f32[8,16] parameter(0)
  ROOT g = f32[2,16] fusion(p), kind=kCustom, calls=f }"""
    (row,) = _rows(body)
    assert (row.kind, row.bytes_sent) == ("reduce-scatter", 384)
    (row,) = _rows(
        body.replace("dynamic-slice(r", "dynamic-slice(w").replace("  i =", "  w = f32[8,16] negate(r)\n  i =")
    )
    assert (row.kind, row.bytes_sent) == ("all-reduce", 768)


def test_the_parts_of_a_chain_of_fusions_are_one_collective() -> None:
    gather = (
        "all-gather(q), replica_groups={{0,1,2,3}}, dimensions={0}, channel_id=%d, use_global_device_ids=true, "
        'frontend_attributes={chain_id="0"}'
    )
    parts = "".join(
        f"f{i} {{ q = f32[8,16] parameter(0)\n ROOT a = f32[32,16] {gather % channel} }}\n"
        for i, channel in enumerate((4, 4, 5))
    )
    calls = "\n".join(f"c{i} = f32[32,16] fusion(p), kind=kCustom, calls=f{i}" for i in range(3))
    rows = _rows(f"{parts}ENTRY e {{ p = f32[8,16] parameter(0)\n{calls}\nROOT t = (f32[32,16]) tuple(c2) }}")
    assert [row.bytes_sent for row in rows] == [1536, 1536]


def test_a_transfer_made_of_a_permute_is_one() -> None:
    body = """p = f32[8,16] parameter(0)
  k = token[] after-all()
  s = (f32[8,16], u32[], token[]) send(p, k), channel_id=1%s
  ROOT d = token[] send-done(s), channel_id=1 }"""
    pairs = ', frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2}}"}'
    (row,) = _rows("ENTRY e { " + body % pairs)
    assert (row.kind, row.bytes_sent, row.groups) == ("collective-permute", 512, "2 pairs")
    assert _rows("ENTRY e { " + body % ", is_host_transfer=true") == []


_LOOP = """body { t = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[8,16] get-tuple-element(t), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  c = f32[8,16] collective-permute(x), source_target_pairs={{0,1},{1,0}}, channel_id=1,
    metadata={op_name="ring" source_file="a.py" source_line=7}
  ROOT u = (s32[], f32[8,16]) tuple(j, c) }
cond { t = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[8,16] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[8,16]) tuple(z, p)
  ROOT w = (s32[], f32[8,16]) while(t), condition=cond, body=body }"""
_RING = f"HloModule m, num_partitions=2\n{_LOOP}"


def test_loops_multiply() -> None:
    (row,) = _rows(_LOOP)
    assert (row.trips, row.total_bytes, row.source_file, row.source_line) == (5, 2560, "a.py", 7)
    (row,) = _rows(_LOOP.replace("direction=LT", "direction=NE"))
    assert (row.trips, row.total_bytes) == (None, 512)


def test_a_function_counts_once_for_each_call_and_not_where_nothing_calls_it() -> None:
    called = """f { q = f32[8,16] parameter(0)
  ROOT c = f32[8,16] collective-permute(q), source_target_pairs={{0,1},{1,0}}, channel_id=1 }
ENTRY e { p = f32[8,16] parameter(0)
  a = f32[8,16] call(p), to_apply=f
  ROOT b = f32[8,16] call(a), to_apply=f }"""
    assert [row.trips for row in _rows(called)] == [2]
    unused = called.replace("call(p), to_apply=f", "negate(p)").replace("call(a), to_apply=f", "negate(a)")
    assert _rows(unused) == []


_STABLEHLO = """module @m attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<8x16xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      stablehlo.return %j, %s : tensor<i32>, tensor<8x16xf32>
    }
    return %0#1 : tensor<8x16xf32>
  }
}
"""


def test_stablehlo() -> None:
    (row,) = MemoryReport(parse_bytes(encode(_STABLEHLO), "a.mlir")).collectives
    assert (row.kind, row.bytes_sent, row.trips, row.groups) == ("all-reduce", 512, 3, "2 groups of 2")
    assert (row.source_file, row.source_line) == ("a.mlir", 12)


def test_a_function_that_calls_itself_runs_an_unknown_number_of_times() -> None:
    text = """module @m {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<8xf32>) -> tensor<8xf32>
    %1 = func.call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
"""
    module = parse_bytes(encode(text), "a.mlir")
    [(_, row)] = find_collectives(module, Allocation(None), find_origins(module))
    assert row.trips is None


def _report(text: str) -> MemoryReport:
    return MemoryReport(parse_module(text, "m"))


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("collectives > 0", True),
        ("collectives > old", True),
        ("collective bytes >= 2560", True),
        ("collective-permute bytes > 2560", False),
        ("collective-permute bytes > 2 KiB", True),
        ("collective-permute count > 1", False),
        ("all-gather bytes > 0", False),
        ("all-reduce count > old", False),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    old = _RING.replace("collective-permute(x), source_target_pairs={{0,1},{1,0}}, channel_id=1,", "negate(x),")
    assert (parse_condition(condition).failure(_report(_RING), _report(old)) is not None) == holds


def test_the_pages_and_json_have_the_collectives() -> None:
    report = _report(_RING)
    page = terminal_page(report, 200)
    assert "collectives: 1, 2.5 KiB sent by a device: 1 collective-permute 2.5 KiB\n" in page
    assert "2.5 KiB  a.py:7  5x     collective-permute  c   f32[8,16]  2 pairs  ring" in page
    assert "source_target" not in html_page(report)
    assert '"collective-permute"' in html_page(report)
    found = json.loads(json.dumps(report.as_json()))
    assert found["collective_kinds"] == {"collective-permute": {"count": 1, "bytes_sent": 2560}}
    assert found["collectives"][0]["operands"] == ["f32[8,16]"]


def test_a_comparison_has_the_kinds() -> None:
    gather = _RING.replace("constant(5)", "constant(2)")
    comparison = compare_reports(_report(gather), _report(_RING))
    assert "collective-permute  1 with 1 KiB  1 with 2.5 KiB  +1.5 KiB" in comparison_page(comparison, 200)
    assert "1 with 2.5 KiB" in comparison_html(comparison, "old", "new")
    assert comparison.as_json()["collective_kinds"] == {
        "collective-permute": {"count": [1, 1], "bytes_sent": [1024, 2560]}
    }


def test_a_start_that_gives_its_operands_accesses_and_sends_no_more() -> None:
    legacy = _STARTED["all-reduce"]
    wrapped = legacy.replace("s = f32[8,16]", "s = ((f32[8,16]), f32[8,16])")
    texts = (
        f"HloModule m, num_partitions=4\n{_SUM}ENTRY e {{ p = f32[8,16] parameter(0){each} }}"
        for each in (legacy, wrapped)
    )
    first, second = (MemoryReport(parse_module(text, "m")) for text in texts)
    assert [each.bytes_sent for each in first.collectives] == [each.bytes_sent for each in second.collectives] == [768]
    assert first.cost.flops == second.cost.flops == 128
    # The done reads the result, or a table of two addresses.
    assert (first.cost.bytes_accessed, second.cost.bytes_accessed) == (1024 + 1024, 1024 + 512 + 16)
