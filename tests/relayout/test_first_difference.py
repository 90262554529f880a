"""`relayout run --explain`: the first value at which a dump parts from its source program."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.execution import ExecutionError, Program, Rewriting, Worker
from relayout.cli import main
from relayout.running import first_difference
from tests.paths import OWN_CORPUS

SOURCE = """module @jit_f {
  func.func public @main(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
    %0 = stablehlo.dot %x, %w : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %1 = func.call @gelu(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %1, %2 : tensor<8x8xf32>, tensor<8xf32>
  }
  func.func private @gelu(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %half = stablehlo.constant dense<0.5> : tensor<8x8xf32>
    %0 = stablehlo.multiply %x, %half : tensor<8x8xf32>
    %1 = stablehlo.tanh %0 : tensor<8x8xf32>
    %2 = stablehlo.add %1, %x : tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
"""
DUMP = """HloModule jit_f, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

fused {
  y = f32[8,8]{0,1:T(8,128)} parameter(0)
  half = f32[] constant(0.5)
  halves = f32[8,8]{0,1:T(8,128)} broadcast(half), dimensions={}
  scaled = f32[8,8]{0,1:T(8,128)} multiply(y, halves), metadata={op_name="f/mul" source_file="m.py" source_line=12}
  bounded = f32[8,8]{0,1:T(8,128)} tanh(scaled)
  ROOT shifted = f32[8,8]{0,1:T(8,128)} add(bounded, y)
}

ENTRY main {
  x = f32[8,16]{1,0:T(8,128)} parameter(0)
  w = f32[16,8]{1,0:T(8,128)} parameter(1)
  xt = bf16[8,16]{1,0:T(8,128)(2,1)} convert(x)
  wt = bf16[16,8]{1,0:T(8,128)(2,1)} convert(w)
  d = f32[8,8]{0,1:T(8,128)} convolution(xt, wt), dim_labels=bf_io->fb
  f = f32[8,8]{0,1:T(8,128)} fusion(d), kind=kLoop, calls=fused
  o = f32[8,8]{1,0:T(8,128)} bitcast(f)
  zero = f32[] constant(0)
  r = f32[8]{0:T(128)} reduce(f, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[8,8]{1,0:T(8,128)}, f32[8]{0:T(128)}) tuple(o, r)
}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((8, 16)).astype(np.float32), rng.standard_normal((16, 8)).astype(np.float32)
    np.savez(tmp_path / "in.npz", in0=x, in1=w)
    (tmp_path / "source.mlir").write_text(SOURCE)
    return tmp_path


def explained(files: Path, dump: str, *more: str) -> int:
    (files / "dump.hlo").write_text(dump)
    command = ["run", str(files / "dump.hlo"), "--inputs", str(files / "in.npz")]
    return main([*command, "--explain", str(files / "source.mlir"), *more])


def place(text: str, instruction: str) -> str:
    """Returns `dump.hlo:line:column` of an instruction's name."""
    number, line = next((n, line) for n, line in enumerate(text.splitlines(), 1) if f" {instruction} = " in line)
    return f"dump.hlo:{number}:{line.index(instruction) + 1}:"


def test_a_right_dump_agrees_with_its_source(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(files, DUMP) == 0
    shown = capsys.readouterr().out
    assert shown.count("as expected, within 0.016 of the largest element (operands of 16 bits)") == 2
    assert "first" not in shown
    assert explained(files, DUMP, "--json") == 0
    assert json.loads(capsys.readouterr().out)["first_difference"] is None


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("multiply(y, halves)", "add(y, halves)", "scaled"),
        ("tanh(scaled)", "sine(scaled)", "bounded"),
        ("add(bounded, y)", "subtract(bounded, y)", "shifted"),
        ("constant(0.5)", "constant(0.75)", "scaled"),
        ("dimensions={1}", "dimensions={0}", "r"),
        ("reduce(f, zero)", "reduce(d, zero)", "r"),
    ],
)
def test_the_first_wrong_instruction_is_named(
    right: str, wrong: str, named: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = DUMP.replace(right, wrong)
    assert dump != DUMP
    assert explained(files, dump) == 1
    shown = capsys.readouterr().out
    assert f"{place(dump, named)} note: {named} is the first value that" in shown
    assert shown.count("is the first value") == 1


def test_the_message_has_the_line_of_the_program_and_the_distance(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = DUMP.replace("multiply(y, halves)", "add(y, halves)")
    assert explained(files, dump) == 1
    shown = capsys.readouterr().out
    assert "source.mlir does not compute (m.py:12 f/mul)\n    scaled = " in shown
    assert "note: 6 of 11 values of the dump are values of " in shown
    assert "in 64 bits without roundings, it differs from each of the 9 values of " in shown
    assert "the mistake is here, or between here and out0, out1 if" in shown
    assert explained(files, dump, "--json") == 1
    found = json.loads(capsys.readouterr().out)["first_difference"]
    assert (found["right"], found["compared"], found["known"], found["exact"]) == (6, 11, 9, True)
    (suspect,) = found["suspects"]
    assert (suspect["name"], suspect["line"], suspect["opcode"], suspect["outputs"]) == ("scaled", 13, "add", [0, 1])
    assert (suspect["op_name"], suspect["source_file"], suspect["source_line"]) == ("f/mul", "m.py", 12)
    assert 1e-5 < suspect["difference"] < 1
    assert (suspect["loop"], suspect["moved"]) == (None, [])


def test_a_wrong_rounding_is_told_from_a_wrong_value(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(files, DUMP, "--compare", "bits") == 1
    shown = capsys.readouterr().out
    assert "note: the outputs differ by rounding only: in 64 bits without roundings, each output agrees" in shown
    assert "is the first value" not in shown


def test_values_in_groups_give_the_same_answer(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = DUMP.replace("tanh(scaled)", "sine(scaled)")
    assert explained(files, dump, "--json") == 1
    whole = json.loads(capsys.readouterr().out)["first_difference"]
    # Seven arrays of 64 elements at a time, of 4 GB: two groups of each program.
    monkeypatch.setattr(first_difference, "_ELEMENTS_PER_BYTE", 1.2e-7)
    assert explained(files, dump, "--json") == 1
    assert json.loads(capsys.readouterr().out)["first_difference"] == whole


def test_a_program_without_a_form_in_64_bits_is_compared_with_its_roundings(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite = Worker.rewrite

    def rejecting(worker: Worker, rewriting: Rewriting, program: Program, **options: int) -> object:
        if rewriting == "unround":
            raise ExecutionError("rejected", "no such form")
        return rewrite(worker, rewriting, program, **options)

    monkeypatch.setattr(Worker, "rewrite", rejecting)
    assert explained(files, DUMP.replace("tanh(scaled)", "sine(scaled)"), "--json") == 1
    found = json.loads(capsys.readouterr().out)["first_difference"]
    assert (found["exact"], found["share"]) == (False, 2**-6)
    assert [each["name"] for each in found["suspects"]] == ["bounded"]
    assert explained(files, DUMP.replace("tanh(scaled)", "sine(scaled)")) == 1
    assert "note: with its roundings, it differs from each of the " in capsys.readouterr().out


def test_expected_outputs_may_come_from_a_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(files / "out.npz", out0=np.zeros((8, 8), np.float32), out1=np.zeros(8, np.float32))
    dump = DUMP.replace("tanh(scaled)", "sine(scaled)")
    assert explained(files, dump, "--expect", str(files / "out.npz")) == 1
    assert "bounded is the first value" in capsys.readouterr().out
    assert explained(files, DUMP, "--expect", str(files / "out.npz")) == 1
    assert "each output agrees with " in capsys.readouterr().out


def test_a_mistake_in_a_loop_is_named_in_its_first_iteration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = OWN_CORPUS / "tpu" / "stacked_layers_remat"
    text = (folder / "tpu.hlo").read_text()
    line = next(line for line in text.splitlines() if "%add_any.11 = " in line)
    (tmp_path / "dump.hlo").write_text(text.replace(line, line.replace(" add(", " subtract(")))
    command = ["run", str(tmp_path / "dump.hlo"), "--inputs", str(folder / "data.npz")]
    assert main([*command, "--explain", str(folder / "stablehlo.mlir")]) == 1
    shown = capsys.readouterr().out
    assert "note: %add_any.11 is the first value that" in shown
    assert "note: this is in one of the first iterations of %while" in shown


def test_a_source_in_hlo_is_read_too(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "source.mlir").write_text(DUMP)
    assert explained(files, DUMP.replace("tanh(scaled)", "sine(scaled)")) == 1
    assert "bounded is the first value" in capsys.readouterr().out


def test_an_output_that_is_another_value_of_the_source_is_told(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(files, DUMP.replace("bitcast(f)", "copy(f)")) == 1
    shown = capsys.readouterr().out
    assert "note: shifted is the first value that" in shown
    assert "in 64 bits without roundings, this is a value of " in shown
    assert "between here and out0 if" in shown


OTHER = """func.func public @main(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (OTHER, "its results are (f32[8,16]), but those of the dump (f32[8,8], f32[8])"),
        (
            OTHER.replace("8x16", "4x16"),
            "its parameters are (f32[4,16], f32[16,8]), but those of the dump (f32[8,16], ",
        ),
        (OTHER.replace("return", "retur"), "source.mlir:2:3: error: custom op 'retur' is unknown"),
    ],
)
def test_a_source_of_another_program_is_an_error(
    source: str, message: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "source.mlir").write_text(source)
    assert explained(files, DUMP) == 1
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert not shown.out


def test_an_option_without_effect_is_an_error(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(files / "source.mlir")
    assert main(["run", source, "--explain", source]) == 2
    assert "--explain is for an optimized dump, which is HLO, and this module is StableHLO" in capsys.readouterr().err
    (files / "dump.hlo").write_text(DUMP)
    dump = str(files / "dump.hlo")
    assert main(["run", dump, dump, "--explain", source]) == 2
    assert "--explain compares SOURCE with one FILE, not with 2" in capsys.readouterr().err
    assert main(["run", dump, "--explain", str(files / "missing.mlir")]) == 2
    assert "missing.mlir: no such file or directory" in capsys.readouterr().err
    sharded = str(OWN_CORPUS / "tpu" / "matmul_two_axes" / "tpu.hlo")
    assert main(["run", sharded, "--explain", source]) == 2
    assert "--explain compares programs for one device" in capsys.readouterr().err
