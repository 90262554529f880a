"""Causes of collectives: passes, operations and shardings, and changes that are compiled again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module
from dialect_utils.memory.rows import CollectiveRow
from relayout.causes import collectives
from relayout.causes.collectives import try_changes
from relayout.causes.run import explain_directory, explain_modules
from relayout.cli import main
from relayout.reporting.causes import Why, causes_section
from relayout.reporting.pass_names import pass_between
from tests.paths import ROOT

PRODUCTS = ROOT / "tests" / "corpus" / "why" / "column_products"

# Two products of matrices whose columns are on different devices, with a constraint between them.
PROGRAM = """module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
      %arg1: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
      %arg2: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"model"}]> : tensor<8x64xf32>
    %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
"""


def _why(value: str | None = None) -> Why:
    [found] = explain_directory(str(PRODUCTS), value)
    return found


def test_each_collective_has_its_pass_its_operation_and_both_shardings() -> None:
    found = _why()
    assert [(each.row.name, each.reason, str(each.introduced_by)) for each in found.collectives] == [
        ("all-gather", "reshard", "spmd-partitioning of spmd-partitioner"),
        ("all-gather.1", "reshard", "spmd-partitioning of spmd-partitioner"),
    ]
    first, second = found.collectives
    assert [each.shape for each in first.given] == ["f32[64,256] P(None, 'model')"]
    assert first.wanted is not None
    assert first.wanted.text == "dot_general.0 (dot)"
    assert second.wanted is not None
    assert second.wanted.text == "result 0 (dot_general.0)"
    # The rows of the second matrix on different devices in place of its columns.
    assert str(first.changes[0]) == "pass argument 2 with P('model', None): in_shardings of jax.jit"
    assert second.advice.startswith("return result 0 with P(None, 'model'): out_shardings of jax.jit (untried")


def test_a_name_chooses_collectives() -> None:
    found = _why("all-gather.1")
    assert [each.row.name for each in found.collectives] == ["all-gather.1"]
    assert found.causes == ()
    assert [each.row.name for each in _why("gather").collectives] == ["all-gather", "all-gather.1"]
    assert [each.row.name for each in _why("all-gather").collectives] == ["all-gather"]
    assert _why("copy").collectives == ()


def test_text_json_and_page() -> None:
    found = _why()
    assert "all-gather: all-gather of f32[64,64], 1 group of 4, axis axis_1, 48 KiB sent by a device\n" in str(found)
    assert "  wanted      result 0 (dot_general.0): f32[64,128] P(None, None)\n" in str(found)
    values = json.loads(json.dumps(found.as_json()))["collectives"][0]
    assert (values["name"], values["bytes_sent"], values["given"][0]["name"]) == ("all-gather", 49152, "max.1")
    assert "the array is wanted in other parts" in causes_section(found)


def _rows(*sent: tuple[str, int]) -> Sequence[CollectiveRow]:
    return [CollectiveRow("c", kind, kind, ("f32[64,64]",), "1 group of 4", size, 1, "", "", 0) for kind, size in sent]


@pytest.mark.parametrize(
    ("after", "is_gone"),
    [
        ((("all-reduce", 10),), True),
        ((("all-reduce", 80),), False),
        ((("all-gather", 48), ("all-reduce", 1)), False),
    ],
)
def test_a_change_is_advice_where_the_collective_is_gone_and_fewer_bytes_are_sent(
    monkeypatch: pytest.MonkeyPatch, after: tuple[tuple[str, int], ...], is_gone: bool
) -> None:
    texts = []

    def compiled(program: Module, _: str) -> Sequence[CollectiveRow]:
        texts.append(program.text())
        return _rows(("all-gather", 48), ("all-gather.1", 24)) if len(texts) == 1 else _rows(*after)

    monkeypatch.setattr(collectives, "_compiled", compiled)
    found = try_changes(_why(), parse_bytes(encode(PROGRAM), "f.mlir"), "cpu")
    assert bool(found.collectives[0].advice) == is_gone
    assert ("compiled so, a device sends 10 B in place of 72 B" in found.collectives[0].advice) == is_gone
    assert len(texts) == len(set(texts)) > 2


def test_the_program_is_compiled_with_each_change(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(PROGRAM)
    assert main(["report", "--why", str(tmp_path / "f.mlir"), "--target", "cpu", "--try", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["collectives"]
    assert {each["operands"][0]: each["advice"] for each in found} == {
        "f32[8,16]": "pass argument 2 with P('model', None): in_shardings of jax.jit; "
        "compiled so, a device sends 384 B in place of 1.69 KiB",
        "f32[8,2]": "return result 0 with P(None, 'model'): out_shardings of jax.jit; "
        "compiled so, a device sends 1.5 KiB in place of 1.69 KiB",
    }


def test_a_pipeline_that_starts_inside_a_pass_is_a_part_of_it() -> None:
    stages = (
        "0001.outer.after_first.before_second",
        "0002.inner.after_pipeline-start.before_cleanup",
        "0003.outer.after_third.before_fourth",
    )
    modules = [Input(name, name) for name in (f"module_0000.jit_f.{stage}.txt" for stage in stages)]
    assert str(pass_between(modules, 0, 1)) == "third of outer"
    assert "second of outer, or a later pass" in str(pass_between(modules[:2], 0, 1))


def test_the_pass_that_wrote_a_resharding_is_named() -> None:
    sharded = "sharding={devices=[%s]<=[2]}"
    before = f"""HloModule jit_f, num_partitions=2
ENTRY e {{
  x = f32[8,16] parameter(0), {sharded % "2,1"}
  n = f32[8,16] negate(x), {sharded % "2,1"}, metadata={{op_name="neg"}}
  ROOT c = f32[8,16] custom-call(n), custom_call_target="Sharding", {sharded % "1,2"}
}}"""
    copied = before.replace('custom-call(n), custom_call_target="Sharding"', "copy(n)")
    after = """HloModule jit_f, num_partitions=2
ENTRY e {
  p = f32[4,16] parameter(0)
  n = f32[4,16] negate(p), metadata={op_name="neg"}
  r = f32[4,2,8] reshape(n)
  a = f32[4,2,8] all-to-all(r), channel_id=1, replica_groups={{0,1}}, dimensions={1}
  t = f32[2,4,8] transpose(a), dimensions={1,0,2}
  u = f32[8,8] reshape(t)
  ROOT c = f32[8,8] copy(u)
}"""
    stages = (
        "before_optimizations",
        "0001.outer.after_propagation.before_partitioning",
        "0002.outer.after_partitioning.before_cleanup",
        "after_optimizations",
    )
    names = [f"module_0000.jit_f.{stage}.txt" for stage in stages]
    texts = (before, copied, after, after)
    modules = [Input(name, name, content=text.encode()) for name, text in zip(names, texts, strict=True)]
    [found] = explain_modules("jit_f", modules).collectives
    assert (found.reason, str(found.introduced_by), str(found.resharded_by)) == (
        "reshard",
        "partitioning of outer",
        "propagation of outer",
    )
    assert found.row.operand_text == "f32[4,2,8]"
