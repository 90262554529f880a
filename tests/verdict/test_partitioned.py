"""Programs on several devices against the program for one device: proofs, certificates, and planted mistakes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dialect_utils.hlo.parse import parse_module
from dialect_utils.ir import Module
from dialect_utils.ops.sharding import Partition, by_axes
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options
from dialect_utils.verdict.certificate import certificate_text, read_certificate
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.compare import compare_stages
from dialect_utils.verdict.partition import compare_parts, partitions_of, read_partition
from dialect_utils.verdict.replay import replay

WHOLE = """
HloModule whole
ENTRY e {
  x = f32[8,16] parameter(0)
  w = f32[16,12] parameter(1)
  ROOT r = f32[8,12] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
ADD = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
"""
SUMMED = f"""
HloModule parts, num_partitions=4
{ADD}
ENTRY e {{
  x = f32[8,4] parameter(0), sharding={{devices=[1,4]<=[4]}}
  w = f32[4,12] parameter(1), sharding={{devices=[4,1]<=[4]}}
  p = f32[8,12] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT r = f32[8,12] all-reduce(p), channel_id=1, replica_groups={{{{0,1,2,3}}}}, \
use_global_device_ids=true, to_apply=add
}}
"""
GATHERED = """
HloModule parts, num_partitions=4
ENTRY e {
  x = f32[2,16] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[16,3] parameter(1), sharding={devices=[1,4]<=[4]}
  all = f32[16,12] all-gather(w), channel_id=1, replica_groups=[1,4]<=[4], dimensions={1}, use_global_device_ids=true
  ROOT r = f32[2,12] dot(x, all), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
SCATTERED = SUMMED.replace(
    "ROOT r = f32[8,12] all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}",
    "ROOT r = f32[2,12] reduce-scatter(p), dimensions={0}, channel_id=1, replica_groups={{0,1,2,3}}",
)
EXCHANGED = """
HloModule parts, num_partitions=4
ENTRY e {
  x = f32[2,16] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[4,12] parameter(1), sharding={devices=[4,1]<=[4]}
  all = f32[16,12] all-gather(w), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true
  p = f32[2,12] dot(x, all), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[2,4,3] reshape(p)
  t = f32[4,2,3] transpose(s), dimensions={1,0,2}
  y = f32[4,2,3] all-to-all(t), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}
  ROOT r = f32[8,3] reshape(y)
}
"""
BY_NUMBER = """
HloModule parts, num_partitions=4
ENTRY e {
  x = f32[8,16] parameter(0), sharding={replicated}
  w = f32[16,12] parameter(1), sharding={replicated}
  id = u32[] partition-id()
  table = s32[4] constant({0,2,4,6})
  t = s32[1] dynamic-slice(table, id), dynamic_slice_sizes={1}
  start = s32[] reshape(t)
  zero = s32[] constant(0)
  part = f32[2,16] dynamic-slice(x, start, zero), dynamic_slice_sizes={2,16}
  ROOT r = f32[2,12] dot(part, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
ROTATED = """
HloModule parts, num_partitions=4
ENTRY e {
  x = f32[2,16] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[16,12] parameter(1), sharding={replicated}
  y = f32[2,16] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  p = f32[2,12] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[2,12] collective-permute(p), channel_id=2, source_target_pairs={{1,0},{2,1},{3,2},{0,3}}
}
"""
UNEVEN = """
HloModule parts, num_partitions=4
ENTRY e {
  x = f32[8,5] parameter(0), sharding={devices=[1,4]<=[4]}
  w = f32[5,12] parameter(1), sharding={devices=[4,1]<=[4]}
  id = u32[] partition-id()
  n = s32[] convert(id)
  five = s32[] constant(5)
  first = s32[] multiply(n, five)
  limit = s32[] constant(17)
  zero = f32[] constant(0)
  lx = s32[8,5] iota(), iota_dimension=1
  fx = s32[8,5] broadcast(first), dimensions={}
  ix = s32[8,5] add(lx, fx)
  bx = s32[8,5] broadcast(limit), dimensions={}
  mx = pred[8,5] compare(ix, bx), direction=LT
  zx = f32[8,5] broadcast(zero), dimensions={}
  x0 = f32[8,5] select(mx, x, zx)
  lw = s32[5,12] iota(), iota_dimension=0
  fw = s32[5,12] broadcast(first), dimensions={}
  iw = s32[5,12] add(lw, fw)
  bw = s32[5,12] broadcast(limit), dimensions={}
  mw = pred[5,12] compare(iw, bw), direction=LT
  zw = f32[5,12] broadcast(zero), dimensions={}
  w0 = f32[5,12] select(mw, w, zw)
  p = f32[8,12] dot(x0, w0), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[8,12] all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
}
""".replace("ENTRY", ADD + "ENTRY")
WHOLE_UNEVEN = WHOLE.replace("f32[8,16]", "f32[8,17]").replace("f32[16,12]", "f32[17,12]")
GATHER = """
  ROOT q = f32[8,12] all-gather(r), dimensions={0}, channel_id=2, replica_groups={{0,1,2,3}}, use_global_device_ids=true
}
"""
RIGHT = {
    "summed": SUMMED,
    "gathered": GATHERED,
    "scattered": SCATTERED,
    "exchanged": EXCHANGED,
    "by number": BY_NUMBER,
    "rotated": ROTATED,
}
WRONG = {
    "no sum": SUMMED.replace("all-reduce(p)", "copy(p)").split(", channel_id")[0].rstrip() + "\n}\n",
    "sum of pairs": SUMMED.replace("{{0,1,2,3}}", "{{0,1},{2,3}}"),
    "maximum": SUMMED.replace("s = f32[] add(a, b)", "s = f32[] maximum(a, b)"),
    "parts in another order": GATHERED.replace("[1,4]<=[4]", "[1,4]<=[2,2]T(1,0)", 2).replace(
        "devices=[1,4]<=[2,2]T(1,0)", "devices=[1,4]<=[4]"
    ),
    "scattered to other devices": SCATTERED.replace("{{0,1,2,3}}", "{{1,0,2,3}}"),
    "exchanged among pairs": EXCHANGED.replace(
        "replica_groups={{0,1,2,3}}, dimensions={0}\n", "replica_groups={{0,2,1,3}}, dimensions={0}\n"
    ),
    "off by one": BY_NUMBER.replace("{0,2,4,6}", "{0,2,4,5}"),
    "another device": BY_NUMBER.replace("{0,2,4,6}", "{2,0,4,6}"),
    "not rotated back": ROTATED.replace("{{1,0},{2,1},{3,2},{0,3}}", "{{0,1},{1,2},{2,3},{3,0}}"),
    "a pair is lost": ROTATED.replace("{{1,0},{2,1},{3,2},{0,3}}", "{{1,0},{2,1},{3,2}}"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_equal_by_proof_and_certificate(name: str) -> None:
    first, last = parse_module(WHOLE, "whole.hlo"), parse_module(RIGHT[name], "parts.hlo")
    found = [prove([first, last], partition=each) for each in partitions_of(first, last)]
    proved = next(each for each in found if each.answer == "equal")
    assert proved.certificate is not None
    again = read_certificate(certificate_text(proved.certificate))
    assert again.partition is not None
    assert replay([first, last], again).is_equal
    # The same steps prove nothing about other placements.
    turned = replace(again.partition.parameters[0], parts=again.partition.parameters[0].parts[::-1])
    if not turned.is_replicated:
        other = replace(again, partition=Partition((turned, *again.partition.parameters[1:]), again.partition.results))
        assert not replay([first, last], other).is_equal


@pytest.mark.parametrize("name", WRONG)
def test_planted_mistakes_are_different(name: str) -> None:
    first, last = parse_module(WHOLE, "whole.hlo"), parse_module(WRONG[name], "parts.hlo")
    verdict = compare_parts(first, last, lambda each: compare_stages([first, last], Options(power=0, partition=each)))
    assert verdict.verdict == "different"


def test_a_result_that_devices_do_not_agree_on_is_different() -> None:
    text = GATHERED.replace("ROOT r = f32[2,12]", "r = f32[2,12]").replace(
        "\n}\n", "\n  ROOT q = f32[16,12] copy(all)\n}\n"
    )
    first = parse_module(WHOLE.replace("ROOT r", "r").replace("\n}\n", "\n  ROOT q = f32[16,12] copy(w)\n}\n"), "a.hlo")
    last = parse_module(text, "b.hlo")
    (partition,) = partitions_of(first, last)
    assert prove([first, last], partition=partition).answer == "equal"
    other = parse_module(text.replace("copy(all)", "multiply(all, all)"), "b.hlo")
    assert compare_stages([first, other], Options(power=0, partition=partition)).verdict == "different"


def different(first: Module, last: Module) -> bool:
    """Is true where execution on several devices shows a difference."""
    found = compare_parts(first, last, lambda each: compare_stages([first, last], Options(power=0, partition=each)))
    return found.verdict == "different"


def test_masks_of_padding() -> None:
    first, last = parse_module(WHOLE_UNEVEN, "whole.hlo"), parse_module(UNEVEN, "parts.hlo")
    proved = prove([first, last], partition=next(partitions_of(first, last)))
    assert proved.answer == "equal"
    assert {"masked", "padded-dot", "batch-sum"} <= {each.name for each in proved.rules}
    for old, new in (
        ("constant(17)", "constant(18)"),
        ("select(mw, w, zw)", "copy(w)"),
        ("constant(5)", "constant(4)"),
    ):
        assert different(first, parse_module(UNEVEN.replace(old, new), "parts.hlo"))


def test_two_programs_for_the_same_devices() -> None:
    text = SCATTERED.replace("ROOT r = f32[2,12]", "r = f32[2,12]").rstrip().removesuffix("}").rstrip() + GATHER
    first, last = parse_module(SUMMED, "a.hlo"), parse_module(text, "b.hlo")
    proved = prove([first, last])
    assert proved.answer == "equal"
    assert proved.certificate is not None
    assert proved.certificate.is_on_each
    again = read_certificate(certificate_text(proved.certificate))
    assert replay([first, last], again).is_equal
    assert not replay([first, last], replace(again, is_on_each=False)).is_equal
    wrong = text.replace("channel_id=2, replica_groups={{0,1,2,3}}", "channel_id=2, replica_groups={{1,0,2,3}}")
    assert prove([first, parse_module(wrong, "c.hlo")]).answer != "equal"


def test_the_placement_may_be_given() -> None:
    text = json.dumps({"mesh": {"x": 4}, "parameters": [[None, "x"], ["x", None]], "results": [[None, None]]})
    found = read_partition(text, "placement.json")
    assert found.parameters[0] == by_axes({"x": 4}, [[], ["x"]])
    first, last = parse_module(WHOLE, "whole.hlo"), parse_module(SUMMED, "parts.hlo")
    assert prove([first, last], partition=found).answer == "equal"
    meshes = ('{"x": 1e400}', '{"x": 0}', '{"x": -1}', '{"x": 1.5}', '{"x": true}', '{"x": 1000000000}')
    placed = ('[["y"]]', '[["x", "x"]]', '[[["x", "x"]]]', "[null]", "5", "[[7]]")
    wrong_meshes = [f'{{"mesh": {mesh}, "parameters": [["x"]], "results": []}}' for mesh in meshes]
    wrong_places = [f'{{"mesh": {{"x": 4}}, "parameters": {each}, "results": []}}' for each in placed]
    for wrong in ("{}", "[]", "{", "[" * 100_000, *wrong_meshes, *wrong_places):
        with pytest.raises(DiagnosticError, match="is no placement"):
            read_partition(wrong, "placement.json")
