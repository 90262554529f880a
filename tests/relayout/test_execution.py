"""`relayout check` and `relayout run`: verdicts, exit codes, files of arrays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relayout.cli import main

HLO = """HloModule m

ENTRY e {
  p = f32[3,5]{1,0} parameter(0)
  ROOT n = f32[3,5]{1,0} negate(p)
}
"""
MLIR = """func.func @main(%p: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %n = stablehlo.negate %p : tensor<3x5xf32>
  return %n : tensor<3x5xf32>
}
"""
TILED = HLO.replace("{1,0}", "{1,0:T(2,2)}")
KEYS = {"file", "verdict", "methods", "compared", "counterexample", "reason", "seconds"}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {
        "a.hlo": HLO,
        "a.mlir": MLIR,
        "tiled.hlo": TILED,
        "wrong.hlo": HLO.replace("negate", "abs"),
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, object]]]:
    status = main(["check", *arguments, "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(set(line) >= KEYS for line in lines)
    return status, lines


def test_two_forms_of_one_module_agree(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, (found,) = check(capsys, str(files / "a.hlo"), str(files / "a.mlir"), "--engines", "xla,interpreter")
    assert (status, found["verdict"], found["methods"], found["compared"]) == (
        0,
        "agrees",
        ["xla", "interpreter"],
        "bits",
    )


def test_a_difference_is_shown_with_its_first_element(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, (found,) = check(capsys, str(files / "a.hlo"), str(files / "wrong.hlo"))
    assert (status, found["verdict"]) == (1, "different")
    assert isinstance(found["counterexample"], dict)
    assert len(found["counterexample"]["index"]) == 2
    assert main(["check", str(files / "a.hlo"), str(files / "wrong.hlo")]) == 1
    text = capsys.readouterr().out
    assert ": different in value (xla)" in text
    assert "output 0 at [" in text


def test_a_comparison_over_the_reals_is_repeated_by_its_seed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["HloModule m", "ENTRY e {", *(f"{x} = f32[3] parameter({i})" for i, x in enumerate("xyz"))]
    for name, sums in {"l": ("add(x, y)", "add(s, z)"), "r": ("add(y, z)", "add(x, s)")}.items():
        made = [*lines, f"s = f32[3] {sums[0]}", f"ROOT r = f32[3] {sums[1]}", "}"]
        (files / f"{name}.hlo").write_text("\n".join(made))
    command = [str(files / "l.hlo"), str(files / "r.hlo"), "--engines", "proof"]
    seeds = []
    for seed in ((), (), ("--field-seed", "0xAb"), ("--field-seed", "ab")):
        _, (found,) = check(capsys, *command, *seed)
        assert isinstance(found["proved"], list)
        seeds.append(found["proved"][0]["over_reals"]["seed"])
    assert seeds[2:] == ["0xab", "0xab"]
    assert len({*seeds}) == 3


def test_pipelines_keep_every_file_and_those_that_cannot_be_read_are_unknown(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [str(files / name) for name in ("tiled.hlo", "absent", "a.mlir")]
    spec = "annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}"
    status, found = check(capsys, *names, "-p", spec)
    assert (status, [each["verdict"] for each in found]) == (2, ["equal", "unknown", "equal"])
    assert "no such file" in str(found[1]["reason"])


def test_exit_codes_say_how_it_is_known(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = [str(files / "a.hlo"), str(files / "a.mlir")]
    assert check(capsys, *pair, "--engines", "xla", "--require", "equal")[0] == 3
    assert check(capsys, *pair, "--require", "equal")[0] == 0
    (files / "other.hlo").write_text(HLO.replace("3,5", "3,4"))
    assert check(capsys, pair[0], str(files / "other.hlo"))[0] == 3
    assert check(capsys, pair[0], str(files / "absent.hlo"))[0] == 2


THIRD = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  three = f32[] constant(3)
  b = f32[64] broadcast(three), dimensions={}
  ROOT r = f32[64] divide(x, b)
}
"""


@pytest.mark.parametrize(("required", "status"), [(None, 0), ("close", 0), ("agrees", 3), ("equal", 3)])
def test_close_results_are_enough_unless_more_is_required(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], required: str | None, status: int
) -> None:
    (tmp_path / "a.hlo").write_text(THIRD)
    (tmp_path / "b.hlo").write_text(THIRD.replace("(3)", "(0.333333343)").replace("divide", "multiply"))
    pair = [str(tmp_path / "a.hlo"), str(tmp_path / "b.hlo")]
    code, (found,) = check(capsys, *pair, *(["--require", required] if required else []))
    assert (code, found["verdict"], found["closeness"]) == (status, "close", {"ulps": 1, "unit": "each"})


def test_many_pairs_are_answered_in_their_order(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, wrong = (str(files / name) for name in ("a.hlo", "a.mlir", "wrong.hlo"))
    (files / "pairs").write_text(f"{a} {b}\n# it's a comment\n\n{a} {wrong}\n{a} {a}\n")
    status, found = check(capsys, "--pairs", str(files / "pairs"))
    assert (status, [each["verdict"] for each in found]) == (1, ["equal", "different", "equal"])
    assert [each["against"] for each in found] == [b, wrong, a]
    (files / "pairs").write_text("# none yet\n")
    assert main(["check", "--pairs", str(files / "pairs")]) == 0
    assert capsys.readouterr().err == f"note: {files / 'pairs'} lists no pairs\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.hlo", "b.hlo", "--pairs", "c"], "--pairs names all files itself"),
        (["a.hlo"], "expected two FILEs"),
        (["a.hlo", "b.hlo", "--engines", "xal"], "did you mean xla?"),
        (["a.hlo", "b.hlo", "--compare", "ulps:3"], "cannot compare by"),
        (["a.hlo", "b.hlo", "--seeds", "0"], "0 is not a positive integer"),
        (["a.hlo", "b.hlo", "--field-seed", "-1"], "-1 is not a hexadecimal number of up to 32 digits"),
        (["a.hlo", "b.hlo", "--field-seed", "0x" + "1" * 33], "is not a hexadecimal number"),
    ],
)
def test_a_wrong_check_is_a_wrong_command(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_outputs_are_written_and_expected(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, inputs, outputs = str(files / "a.hlo"), files / "in.npz", files / "out.npz"
    array = np.arange(15, dtype=np.float32).reshape(3, 5)
    np.savez(inputs, in0=array)
    assert main(["run", module, "--inputs", str(inputs), "--outputs", str(outputs)]) == 0
    with np.load(outputs) as found:
        assert (found["out0"] == -array).all()
    capsys.readouterr()
    assert main(["run", module, "--inputs", str(inputs), "--expect", str(outputs)]) == 0
    assert "out0: equal bits" in capsys.readouterr().out
    wrong = -array
    wrong[2, 3] += 1
    np.savez(outputs, out0=wrong)
    assert main(["run", module, "--inputs", str(inputs), "--expect", str(outputs)]) == 1
    assert "1 of 15 elements differ, largest absolute difference 1 at [2,3]" in capsys.readouterr().out
    assert main(["run", module, "--inputs", str(inputs), "--expect", str(outputs), "--compare", "rel:0.5"]) == 0


def test_types_that_numpy_lacks_are_unsigned_integers(tmp_path: Path) -> None:
    module = tmp_path / "m.hlo"
    module.write_text(HLO.replace("f32", "bf16"))
    np.savez(tmp_path / "in.npz", in0=np.full((3, 5), 0x3F80, np.uint16))
    out = tmp_path / "out.npz"
    assert main(["run", str(module), "--inputs", str(tmp_path / "in.npz"), "--outputs", str(out)]) == 0
    with np.load(out) as found:
        assert found["out0"].dtype == np.uint16
        assert (found["out0"] == 0xBF80).all()


def test_wrong_arrays_are_the_inputs_fault(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(files / "short.npz", in1=np.zeros(3))
    (files / "broken.npz").write_bytes(b"PK\x03\x04broken")
    np.savez(files / "shape.npz", in0=np.zeros((5, 3), np.float32))
    np.savez(files / "unnamed.npz", other=np.zeros((5, 3), np.float32))
    np.save(files / "single.npy", np.zeros((3, 5), np.float32))
    for name, message in [
        ("unnamed.npz", "holds nothing for p f32[3,5]"),
        ("single.npy", "no NPZ file"),
        ("short.npz", "holds in1, but no in0"),
        ("broken.npz", "no NPZ file"),
        ("shape.npz", "in0 has the dimensions [5, 3]"),
        ("absent.npz", "no such file"),
    ]:
        assert main(["run", str(files / "a.hlo"), "--inputs", str(files / name)]) == (2 if "absent" in name else 1)
        assert message in capsys.readouterr().err


ROUNDED = """HloModule m, is_scheduled=true

ENTRY e {
  p = f32[64,64]{1,0:T(8,128)} parameter(0)
  b = bf16[64,64]{1,0:T(8,128)(2,1)} convert(p)
  ROOT c = f32[64,64]{1,0:T(8,128)} convolution(b, b), dim_labels=bf_io->bf
}
"""


def test_a_dump_is_compared_by_its_own_precision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(ROUNDED)
    p = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
    np.savez(tmp_path / "in.npz", in0=p)
    command = ["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz")]

    def compared(factor: float, *more: str) -> tuple[int, str]:
        np.savez(tmp_path / "out.npz", out0=(p @ p) * np.float32(factor))
        code = main([*command, "--expect", str(tmp_path / "out.npz"), *more])
        return code, capsys.readouterr().out

    assert compared(1)[0] == 0
    assert "as expected, within 0.016 of the largest element (operands of 16 bits)" in compared(1)[1]
    assert compared(1.1)[0] == 1
    assert compared(1, "--compare", "bits")[0] == 1
    assert compared(1, "--compare", "of-largest:0.1")[0] == 0
    assert compared(1, "--compare", "of-largest:0.0001")[0] == 1
    described = json.loads(compared(1, "--json")[1])["outputs"][0]
    assert (described["allowed"], described["reason"], described["equal"]) == (2**-6, "operands of 16 bits", True)
    assert 0 < described["of_largest"]["difference"] < 2**-6


def test_a_tolerance_without_expected_outputs_is_an_error(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(files / "a.hlo"), "--compare", "rel:0.5"]) == 2
    assert "--compare needs expected outputs" in capsys.readouterr().err
