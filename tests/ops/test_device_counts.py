"""The number of devices of a module: from its header, else from what its operations, shardings and meshes name."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.ops.device_counts import devices_of, notes_of_report, with_devices
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.conversion import in_dialect_of
from dialect_utils.verdict.proof import try_prove
from relayout.cli import main

ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
SUM = "ROOT r = f32[2] all-reduce(x), %s, to_apply=add"
SHIFT = "ROOT r = f32[2] collective-permute(x), %ssource_target_pairs={{0,1},{1,2},{2,0}}"
GLOBAL = "channel_id=1, use_global_device_ids=true"
TILED = "ROOT r = f32[2] negate(x), sharding={devices=[2,3]%s last_tile_dim_replicate}"
MESH = """module @m {
  sdy.mesh @mesh = <["x"=2, "y"=3]%s>
  func.func @main(%%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %%0 = stablehlo.negate %%x : tensor<4xf32>
    return %%0 : tensor<4xf32>
  }
}
"""


def hlo(line: str, header: str = "") -> str:
    return f"HloModule m{header}\n\n{ADD}\nENTRY e {{\n  x = f32[2] parameter(0)\n  {line}\n}}\n"


def read(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


COUNTS = {
    "no device": (hlo("ROOT r = f32[2] negate(x)"), (1, 1)),
    "a header": (hlo("ROOT r = f32[2] negate(x)", ", replica_count=2, num_partitions=3"), (2, 3)),
    "a header beside groups": (hlo(SUM % "replica_groups={}", ", replica_count=2"), (2, 1)),
    "groups of replicas": (hlo(SUM % "replica_groups={{0,3},{1,2}}"), (4, 1)),
    "groups of replicas with their partitions": (hlo(SUM % "replica_groups={{0,1}}, channel_id=1"), (2, 1)),
    "groups of devices": (hlo(SUM % f"replica_groups={{{{0,1,2}}}}, {GLOBAL}"), (1, 3)),
    "an iota": (hlo(SUM % f"replica_groups=[2,4]<=[4,2]T(1,0), {GLOBAL}"), (1, 8)),
    "a mesh in groups": (hlo(SUM % f"replica_groups=mesh['x'=2,'y'=3] {{'x'}}, {GLOBAL}"), (1, 6)),
    "pairs of replicas": (hlo(SHIFT % ""), (3, 1)),
    "pairs of partitions": (hlo(SHIFT % "channel_id=1, "), (1, 3)),
    "tiles of a list": (hlo(TILED % "5,4,3,2,1,0"), (1, 6)),
    "tiles of an iota": (hlo(TILED % "<=[6]"), (1, 6)),
    "one device": (hlo("ROOT r = f32[2] negate(x), sharding={maximal device=2}"), (1, 3)),
    "one device of a mesh": (hlo("ROOT r = f32[2] negate(x), sharding={maximal_mesh[device_id=2]}"), (1, 3)),
    "a mesh in HLO": (hlo("ROOT r = f32[2] negate(x), sharding={mesh['x'=2,'y'=3], [{'x'}]}"), (1, 6)),
    "a mesh": (MESH % "", (1, 6)),
    "a mesh of listed devices": (MESH % ", device_ids=[5, 4, 3, 2, 1, 0]", (1, 6)),
}


@pytest.mark.parametrize(("text", "counts"), COUNTS.values(), ids=COUNTS)
def test_the_devices_of_a_module(text: str, counts: tuple[int, int]) -> None:
    module = read(text)
    found = devices_of(module)
    assert (found.replicas, found.partitions) == counts
    is_written = "_count=" in text or "num_" in text
    assert bool(found.named) == (found.count > 1 and not is_written)
    assert len(found.notes) == bool(found.named)
    written = devices_of(with_devices(module))
    assert ((written.replicas, written.partitions), written.named) == (counts, "")


@pytest.mark.parametrize("line", [SUM % f"replica_groups={{{{0,1}}}}, {GLOBAL}", SUM % "replica_groups={}"])
def test_a_number_is_given_where_no_header_has_one(line: str) -> None:
    module = read(hlo(line))
    assert devices_of(with_devices(module, 4)).count == 4
    counted = with_devices(module, 2)
    with pytest.raises(DiagnosticError, match="is for 2 devices, not 4"):
        with_devices(counted, 4)
    assert with_devices(counted, 2) is counted


@pytest.mark.parametrize("line", ["ROOT r = f32[2] negate(x)", SHIFT % "channel_id=1, "])
def test_a_number_that_does_not_fit_is_an_error(line: str) -> None:
    with pytest.raises(DiagnosticError, match=r"is for \d devices?, not 2"):
        with_devices(read(hlo(line)), 2)


def test_a_sum_over_named_devices_is_not_the_identity() -> None:
    among = read(hlo(SUM % f"replica_groups={{{{0,1}}}}, {GLOBAL}"))
    counted = with_devices(among)
    assert try_prove([among, read(hlo("ROOT r = f32[2] copy(x)"))]).answer == "unknown"
    assert try_prove([among, counted]).answer == "equal"
    assert try_prove([counted, with_devices(among, 4)]).answer == "unknown"


@pytest.mark.parametrize("header", [", num_partitions=3", ", replica_count=3", ""])
def test_a_conversion_keeps_the_number_of_devices(header: str) -> None:
    first = read(hlo(SHIFT % ("" if "replica" in header else "channel_id=1, "), header))
    other = in_dialect_of("stablehlo", first)
    back = in_dialect_of("hlo", other)
    counts = {(each.replicas, each.partitions, each.named) for each in map(devices_of, (other, back))}
    assert counts == {(devices_of(first).replicas, devices_of(first).partitions, "")}
    assert try_prove([first, other]).answer == try_prove([other, back]).answer == "equal"


def test_a_conversion_keeps_the_shardings_of_the_entry() -> None:
    sharded = "module @m attributes {mhlo.num_partitions = 2 : i32} {\n  func.func @main(%x: tensor<4xf32> "
    sharded += '{mhlo.sharding = "{devices=[2]1,0}"}) -> (tensor<4xf32> {mhlo.sharding = "{replicated}"}) {\n'
    sharded += "    %0 = stablehlo.negate %x : tensor<4xf32>\n    return %0 : tensor<4xf32>\n  }\n}\n"
    made = in_dialect_of("hlo", read(sharded))
    assert "sharding={devices=[2]1,0}" in made.text()
    back = in_dialect_of("stablehlo", made).text()
    assert 'mhlo.sharding = "{devices=[2]1,0}"' in back
    assert 'mhlo.sharding = "{replicated}"' in back


WHOLE, EACH = "its figures are the whole arrays", "its figures are those of each one"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MESH % "", WHOLE),
        (hlo(SHIFT % "channel_id=1, ", ", num_partitions=3"), EACH),
        (hlo("ROOT r = f32[2] negate(x)", ", is_scheduled=true, num_partitions=2"), EACH),
        (hlo("ROOT r = f32[2] negate(x), sharding={devices=[2]0,1}", ", num_partitions=2"), WHOLE),
    ],
)
def test_a_report_says_whose_figures_it_has(text: str, said: str) -> None:
    assert said in notes_of_report(read(text))[-1].message


MANUAL = """module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
      (%p: tensor<2xf32>) {
      %1 = stablehlo.negate %p : tensor<2xf32>
      sdy.return %1 : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
COMMANDS = {
    "run": (["run", "A"], 0, "taken for 2 devices"),
    "run on more devices": (["run", "A", "--devices", "4"], 1, "should contain 4 flattened ids"),
    "run on one device": (["run", "A", "--devices", "1"], 1, "is for 2 devices, not 1"),
    "check": (["check", "A", "B", "--power", "0"], 1, "taken for 2 devices"),
    "check on a number": (["check", "A", "A", "--devices", "2", "--engines", "proof"], 0, ""),
    "a certificate on a number": (
        ["check", "A", "A", "--devices", "2", "--certificate", "new.json"],
        2,
        "--devices has no effect with --certificate",
    ),
    "convert": (["convert", "A", "--to", "stablehlo"], 0, "taken for 2 devices"),
    "report": (["report", "A"], 0, EACH),
    "count": (["count", "A", "A"], 0, "is for 2 devices"),
    "the reference": (["run", "A", "--engine", "reference"], 1, "on one device only"),
    "an unpartitioned program": (["run", "C"], 0, "is for 6 devices, but no result depends on the device"),
    "a sharding of no mesh": (["run", "D"], 0, ""),
    "a compilation": (["why", "C", "--target", "cpu"], 0, "compiled for 6 devices; all figures are those of each one"),
    "a manual computation": (["run", "E"], 0, ""),
}


@pytest.mark.parametrize(("command", "status", "said"), COMMANDS.values(), ids=COMMANDS)
def test_the_commands_agree_on_the_number(
    command: list[str], status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown_mesh = 'ROOT r = f32[2] negate(x), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}]>"}'
    texts = {
        "A": hlo(SUM % f"replica_groups={{{{0,1}}}}, {GLOBAL}"),
        "B": hlo("ROOT r = f32[2] copy(x)"),
        "C": MESH % "",
        "E": MANUAL,
        "D": hlo(unknown_mesh, ", num_partitions=2"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert main([str(tmp_path / word) if word in texts else word for word in command]) == status
    assert said in " ".join(capsys.readouterr().err.split())


def test_absurd_numbers_of_devices_are_bounded() -> None:
    nines = ",".join(["999999999"] * 400)
    for text in (TILED.replace("2,3", nines) % "<=[6]", "ROOT r = f32[2] negate(x) // " + "mesh<[" * 20_000):
        assert devices_of(read(hlo(text))).count in (1, 1 << 20)
