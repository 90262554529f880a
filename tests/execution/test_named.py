"""Inputs by the names of arguments, and whole arrays for several devices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution.named import arguments_of, path_of, read_inputs, split_among_devices
from dialect_utils.hlo import parse_module
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, parse_array_shape
from dialect_utils.ops.sharding import Sharding, by_axes, replicated
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from dialect_utils.text import DiagnosticError
from relayout.cli import main

HLO = """HloModule m

ENTRY e {
  w = f32[2,3] parameter(0), metadata={op_name="params['layer'][0]['w']"}
  x = f32[3] parameter(1), metadata={op_name="x"}
  p = (f32[2], (s32[1])) parameter(2)
  a = f32[2] get-tuple-element(p), index=0
  d = f32[2] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[2] add(a, d)
}
"""
STABLEHLO = """module {
  func.func public @main(%arg0: tensor<2xf32> loc("params['b']"), %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<2xf32> loc(#loc)
    return %0 : tensor<2xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
"""
VALUES = {
    "params/layer/0/w": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
    "x": np.array([1, 0, 0], np.float32),
    "p[0]": np.array([10, 20], np.float32),
    "p.1.0": np.array([7], np.int32),
}


def save(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    np.savez(path, **arrays)  # type: ignore[arg-type]  # numpy declares its keyword options only


@pytest.mark.parametrize("name", ["params['w'][0].b", "params/w/0/b", "params.w.0.b", '["params"]["w"][0]["b"]'])
def test_names_are_paths(name: str) -> None:
    assert path_of(name) == ("params", "w", "0", "b")


def test_a_key_may_hold_any_character_between_quotes() -> None:
    assert path_of("params['Dense_0/kernel.x']") == ("params", "Dense_0/kernel.x")


def test_arguments_have_the_names_of_jax_and_of_the_text() -> None:
    found = [(each.name, each.value, str(each.shape)) for each in arguments_of(parse_module(HLO))]
    assert found == [
        ("params['layer'][0]['w']", "w", "f32[2,3]"),
        ("x", "x", "f32[3]"),
        ("", "p[0]", "f32[2]"),
        ("", "p[1][0]", "s32[1]"),
    ]
    found = [(each.name, each.value, str(each.shape)) for each in arguments_of(parse_stablehlo(STABLEHLO))]
    assert found == [("params['b']", "arg0", "f32[2]"), ("", "arg1", "f32[2]")]


def test_inputs_are_found_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(HLO)
    save(tmp_path / "in.npz", {"unused": np.zeros(1), "out0": np.zeros(1), **dict(reversed(VALUES.items()))})
    assert main(["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz")]) == 0
    out, err = capsys.readouterr()
    assert "[11. 24.]" in out
    assert "in.npz: unused is no input of the program (jit drops arguments that nothing uses)" in err
    assert "out0" not in err


def test_missing_names_are_listed_with_what_there_is(tmp_path: Path) -> None:
    save(tmp_path / "in.npz", {"x": VALUES["x"], "p[0]": VALUES["p[0]"], "other": np.zeros((2, 2))})
    with pytest.raises(DiagnosticError) as error:
        read_inputs([str(tmp_path / "in.npz")], arguments_of(parse_module(HLO)))
    [found] = error.value.diagnostics
    assert found.message.endswith("holds nothing for params['layer'][0]['w'] f32[2,3], p[1][0] s32[1]")
    assert found.hint is not None
    assert "params['layer'][0]['w'] f32[2,3], x f32[3], p[0] f32[2], p[1][0] s32[1]; or in0" in found.hint
    assert found.hint.endswith("the file holds: x float32[3], p[0] float32[2], other float64[2,2]")


@pytest.mark.parametrize("prefix", ["in", "arr_"])
def test_numbered_inputs_stay_in_their_order(prefix: str, tmp_path: Path) -> None:
    save(tmp_path / "in.npz", {f"{prefix}1": VALUES["x"], f"{prefix}0": VALUES["p[0]"]})
    arrays, notes = read_inputs([str(tmp_path / "in.npz")], arguments_of(parse_module(HLO)))
    assert [array.shape for array in arrays] == [(2,), (3,)]
    assert notes == []


GRID = {"x": 2, "y": 2}
EACH, SAME = by_axes({"x": 4}, [["x"], []]), replicated(2, 4)
COLUMNS, TURNED = by_axes(GRID, [[], ["x", "y"]]), by_axes(GRID, [["y", "x"], []])
TILES, TURNED_TILES = by_axes(GRID, [["x"], ["y"]]), by_axes(GRID, [["y"], ["x"]])


@pytest.mark.parametrize(
    ("sharding", "sizes"),
    [
        *[(EACH, (8, 3)), (EACH, (7, 3)), (EACH, (5, 2)), (SAME, (3, 2)), (COLUMNS, (2, 8)), (TURNED, (4, 1))],
        *[(TILES, (4, 6)), (TURNED_TILES, (4, 6)), (TILES, (3, 5))],
    ],
)
def test_each_device_gets_its_part_of_a_whole_array(sharding: Sharding, sizes: tuple[int, int]) -> None:
    whole = np.arange(1, 1 + sizes[0] * sizes[1], dtype=np.float32).reshape(sizes)
    part = sharding.local(sizes)
    shape = ArrayShape(ELEMENT_TYPES["f32"], (4, *part))
    found, note = split_among_devices(whole, shape, "in0", [sharding])
    assert note is None
    for device, (row, column) in enumerate(sharding.parts):
        own = whole[row * part[0] : (row + 1) * part[0], column * part[1] : (column + 1) * part[1]]
        padding = [(0, size - there) for size, there in zip(part, own.shape, strict=True)]
        assert (np.asarray(found)[device] == np.pad(own, padding)).all()
    # Parts are unchanged, and expected ones have the padding that was computed.
    assert split_among_devices(np.asarray(found), shape, "in0", [sharding])[0] is not None
    computed = np.where(np.asarray(found) == 0, np.float32(9), np.asarray(found))
    assert (np.asarray(split_among_devices(whole, shape, "out0", [sharding], computed)[0]) == computed).all()


def test_of_several_shardings_the_first_or_the_closest_is_named() -> None:
    whole, shape = np.arange(16, dtype=np.float32).reshape(4, 4), parse_array_shape("f32[4,2,2]")
    options = [TILES, TURNED_TILES]
    (first, _), (other, _) = (split_among_devices(whole, shape, "in0", [each]) for each in options)
    found, note = split_among_devices(whole, shape, "in0", options)
    assert (np.asarray(found) == np.asarray(first)).all()
    assert note is not None
    assert "{devices=[2,2]0,1,2,3}, one of 2 shardings that fit" in note.message
    closest, _ = split_among_devices(whole, shape, "out0", options, np.asarray(other) * np.float32(1.01))
    assert (np.asarray(closest) == np.asarray(other)).all()


def test_an_array_without_a_known_sharding_is_an_error() -> None:
    shape = parse_array_shape("f32[2,3,4]")
    with pytest.raises(DiagnosticError, match=r"in0 is f32\[6,8\], and how its parts go to 2 devices is not known"):
        split_among_devices(np.zeros((6, 8), np.float32), shape, "in0", [])
    # Other ranks are errors of the input itself.
    assert np.shape(split_among_devices(np.zeros(3), shape, "in0", [])[0]) == (3,)


SHARDED = """HloModule m, is_scheduled=true, num_partitions=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  p = f32[2]{0} parameter(0), metadata={op_name="x"}
  ROOT r = f32[2]{0} all-reduce(p), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
}
"""


def test_a_sharded_program_takes_whole_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(SHARDED)
    np.savez(tmp_path / "in.npz", x=np.array([1, 2, 30, 40], np.float32))
    command = ["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz")]
    assert main([*command, "--sharded", "auto"]) == 0
    assert "[[31. 42.]\n [31. 42.]]" in capsys.readouterr().out
    save(tmp_path / "out.npz", {"out0": np.array([31, 42], np.float32)})
    assert main([*command, "--sharded", "auto", "--expect", str(tmp_path / "out.npz")]) == 0
    assert "out0: equal bits" in capsys.readouterr().out
    assert main(command) == 1
    assert "f32[2,2] is needed" in capsys.readouterr().err


ROWS = """func.func @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  BODY
  return %y : tensor<4x2xf32>
}
sdy.mesh @mesh = <["x"=2]>
"""
MANUAL = """%y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
    manual_axes={"x"} (%p: tensor<2x2xf32>) {
    %n = stablehlo.negate %p : tensor<2x2xf32>
    sdy.return %n : tensor<2x2xf32>
  } : (tensor<4x2xf32>) -> tensor<4x2xf32>"""
PARTS = """HloModule m, is_scheduled=true, num_partitions=2

ENTRY e {
  p = f32[2,2]{1,0} parameter(0), sharding={devices=[2,1]0,1}
  ROOT y = f32[2,2]{1,0} negate(p)SHARDING
}
"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("whole.mlir", ROWS.replace("BODY", "%y = stablehlo.negate %x : tensor<4x2xf32>"), "it runs on one"),
        ("manual.mlir", ROWS.replace("BODY", MANUAL), ""),
        ("parts.hlo", PARTS.replace("SHARDING", ", sharding={devices=[2,1]0,1}"), ""),
        ("turned.hlo", PARTS.replace("SHARDING", ", sharding={devices=[2,1]1,0}"), ""),
        ("open.hlo", PARTS.replace("SHARDING", ""), "out0: the parts of each device, because no sharding joins them"),
        ("other.hlo", PARTS.replace("SHARDING", ", sharding={replicated}"), "out0: the parts of each device"),
    ],
)
def test_results_of_parts_are_joined_by_their_shardings(
    name: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, out = -np.arange(8, dtype=np.float32).reshape(4, 2), str(tmp_path / "out.npz")
    (tmp_path / name).write_text(text)
    np.savez(tmp_path / "in.npz", in0=-whole)
    command = ["run", str(tmp_path / name), "--inputs", str(tmp_path / "in.npz"), "--sharded", "auto"]
    assert main([*command, "--outputs", out]) == 0
    printed = "".join(capsys.readouterr())
    assert said in printed
    assert ("of each device" in printed) == (said.startswith("out0"))
    expected = {"turned.hlo": whole[[2, 3, 0, 1]]}.get(name, whole)
    assert np.load(out)["out0"].tolist() == (expected.reshape(2, 2, 2) if "of each" in said else expected).tolist()
    assert ("it runs on one" in printed) == (name == "whole.mlir")


def test_devices_that_do_not_communicate_run_if_the_arrays_are_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(SHARDED.partition("  ROOT r =")[0] + "  ROOT r = f32[2]{0} negate(p)\n}\n")
    for array, options, printed in (
        ([[1, 2], [3, 4]], [], "out0 f32[2,2]"),
        ([1, 2, 3, 4], ["--sharded", "auto"], "out0 f32[2,2]"),
        ([1, 2], [], "out0 f32[2]"),
        ([[1, 2]], ["--devices", "1"], "f32[2] is needed"),
    ):
        np.savez(tmp_path / "in.npz", x=np.array(array, np.float32))
        main(["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz"), *options])
        assert printed in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sharded", "auto"], "which is not given"),
        (["--inputs", "random", "--sharded", "auto"], "which is not given"),
        (["--inputs", "IN", "--sharded", "auto"], "this program runs on one"),
        (["--inputs", "IN", "--seed", "3"], "--seed is for random inputs"),
    ],
)
def test_options_about_inputs_that_have_no_effect_are_errors(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(HLO)
    save(tmp_path / "in.npz", VALUES)
    given = [option.replace("IN", str(tmp_path / "in.npz")) for option in options]
    assert main(["run", str(tmp_path / "m.hlo"), *given]) == 2
    assert message in capsys.readouterr().err


def test_a_run_on_random_inputs_says_so_unless_they_are_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(HLO)
    for options, says in (([], True), (["--inputs", "random"], False), (["--seed", "1"], True)):
        assert main(["run", str(tmp_path / "m.hlo"), *options]) == 0
        assert ("the inputs are random numbers" in capsys.readouterr().err) == says


GRIDDED = """HloModule m, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  p = f32[1,2]{1,0} parameter(0)%s
  ROOT r = f32[1,2]{1,0} all-reduce(p), channel_id=1, use_global_device_ids=true, to_apply=add, %s
}
"""
GROUPS = "replica_groups={{0,1},{2,3}}"
OTHER_ORDER = ", sharding={devices=[2,2]<=[2,2]T(1,0)}"


@pytest.mark.parametrize(
    ("sharding", "options", "said"),
    [
        (OTHER_ORDER, [], ""),
        (", sharding={devices=[2,2]<=[4]}", [], "not as expected"),
        ("", [], "in0 is taken as split by {devices=[2,2]0,2,1,3}"),
        ("", ["--sharded", "FILE"], ""),
    ],
)
def test_an_array_is_split_over_two_axes(
    sharding: str, options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Device 2 x + y has row y and the columns of x; the sum over y adds the rows."""
    (tmp_path / "m.hlo").write_text(GRIDDED % (sharding, GROUPS))
    (tmp_path / "p.json").write_text('{"mesh": {"x": 2, "y": 2}, "parameters": [["y", "x"]], "results": [[null, "x"]]}')
    np.savez(tmp_path / "in.npz", in0=np.array([[1, 2, 3, 4], [10, 20, 30, 40]], np.float32))
    save(tmp_path / "out.npz", {"out0": np.array([[11, 22, 33, 44]], np.float32)})
    command = ["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz"), "--sharded", "auto"]
    command += ["--expect", str(tmp_path / "out.npz"), *options]
    status = main([str(tmp_path / "p.json") if word == "FILE" else word for word in command])
    printed = "".join(capsys.readouterr())
    assert status == (said == "not as expected")
    assert said.replace("in0 is", "inputs are") in printed


def test_devices_with_the_same_part_get_the_same_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sum over devices with the same data is a product, and that of parts is not."""
    whole = GRIDDED % (", sharding={%s}", "replica_groups={{0,1,2,3}}")
    product = whole.rpartition("  ROOT")[0] + "  c = f32[] constant(4)\n"
    product += "  d = f32[1,2]{1,0} broadcast(c), dimensions={}\n  ROOT r = f32[1,2]{1,0} multiply(p, d)\n}\n"
    for text, name in ((whole, "a.hlo"), (product, "b.hlo")):
        for tiles in ("replicated", "devices=[4,1]<=[4]"):
            (tmp_path / f"{tiles[0]}{name}").write_text(text % tiles)
    for letter, status in (("r", 0), ("d", 1)):
        command = ["check", *(str(tmp_path / f"{letter}{name}") for name in ("a.hlo", "b.hlo"))]
        assert main([*command, "--engines", "xla", "--power", "0", "--compare", "of-largest:1e-6"]) == status
    assert main(["run", str(tmp_path / "ra.hlo"), "--inputs", "random", "--json"]) == 0
    capsys.readouterr()
    assert main(["run", str(tmp_path / "ra.hlo"), "--inputs", "random"]) == 0
    rows = capsys.readouterr().out.split("[[[")[1]
    assert rows.count("]]") == 4
