"""Bisection of modules by the command, with planted mistakes in XLA:CPU's worker, and on a mistake that XLA:CPU has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialect_utils.execution import Engine, Program, Worker
from dialect_utils.io.files import read_module
from dialect_utils.io.inputs import named_input
from relayout.batch.unit import Unit
from relayout.bisection.gathering import Bisection, Rows
from relayout.cli import main
from relayout.command import Result
from tests.relayout.test_reduce import HLO, MLIR, opcodes

UNKNOWN = Bisection("a.hlo", "unknown", reason="why")
SMALL = """HloModule m
ENTRY e {
  x = f32[6,8] parameter(0)
  a = f32[6,8] add(x, x)
  t = f32[6,8] tanh(a)
  ROOT n = f32[6,8] negate(t)
}
"""
SMALL_MLIR = """func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %a = stablehlo.add %x, %x : tensor<6x8xf32>
  %t = func.call @f(%a) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %n = stablehlo.negate %t : tensor<6x8xf32>
  return %n : tensor<6x8xf32>
}
func.func private @f(%a: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %t = stablehlo.tanh %a : tensor<6x8xf32>
  return %t : tensor<6x8xf32>
}
"""
POPCOUNT = """func.func @main(%a: tensor<8xi4>, %b: tensor<8xi4>) -> (tensor<8xi4>, tensor<8xi4>) {
  %s = stablehlo.add %a, %b : tensor<8xi4>
  %r = stablehlo.popcnt %s : tensor<8xi4>
  return %s, %r : tensor<8xi4>, tensor<8xi4>
}
"""
ROUNDED = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[40] parameter(0)
  y = bf16[40] parameter(1)
  z = f32[] constant(0)
  e = f32[40] exponential(x)
  t = f32[40] tanh(x)
  l = f32[40] logistic(x)
  s = f32[] reduce(t, z), dimensions={0}, to_apply=add
  n = bf16[40] multiply(y, y)
  m = bf16[40] add(n, y)
  c = s32[40] convert(x)
  ROOT r = (f32[40], f32[40], f32[], bf16[40], s32[40]) tuple(e, l, s, m, c)
}
"""
UPDATED = """HloModule m
f {{
  a = {type}[] parameter(0)
  b = {type}[] parameter(1)
  ROOT r = {type}[] {opcode}(a, b)
}}
ENTRY e {{
  x = {type}[9] parameter(0)
  i = s32[5,1] constant({{{{0}},{{3}},{{2}},{{7}},{{1}}}})
  u = {type}[5] parameter(1)
  ROOT s = {type}[9] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}},
      scatter_dims_to_operand_dims={{0}}, index_vector_dim=1{unique}, to_apply=f
}}
"""
PRODUCTS = """func.func @main(%a: tensor<f32>, %b: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.multiply %a, %x : tensor<f32>
  %1 = stablehlo.multiply %b, %x : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
"""
_RUN, _DUMP = Worker.run, Worker.dump_passes
_DISABLED = "xla_disable_hlo_passes"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "a.hlo"
    found.write_text(SMALL)
    return found


def plant(monkeypatch: pytest.MonkeyPatch, is_wrong: Callable[[str, Sequence[str]], bool]) -> None:
    """Makes XLA:CPU add 1 to the last output where a function of the text and of the disabled passes is true."""

    def run(self: Worker, program: Program, runs: Any, *, engine: Engine = "xla", **options: Any) -> Any:
        outputs = _RUN(self, program, runs, engine=engine, **options)
        given: Mapping[str, Any] = options.get("options") or {}
        disabled = [name for name in str(given.get(_DISABLED, "")).split(",") if name]
        if engine == "xla" and is_wrong(str(program.text), disabled):
            outputs = [[*found[:-1], (found[-1] + 1).astype(found[-1].dtype)] for found in outputs]
        return outputs

    monkeypatch.setattr(Worker, "run", run)


def row(capsys: pytest.CaptureFixture[str], *words: str, status: int = 1) -> dict[str, Any]:
    assert main(["validate", "--bisect", *words, "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_rounding_that_the_definition_leaves_open_is_no_difference(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(ROUNDED)
    assert row(capsys, "a.hlo", status=0)["place"] == "nowhere"
    assert main(["validate", "--bisect", "a.hlo"]) == 0
    assert capsys.readouterr().out.startswith("a.hlo: agrees: XLA:CPU computes what the module defines on ")


@pytest.mark.parametrize(("text", "suffix"), [(SMALL, "hlo"), (SMALL_MLIR, "mlir")])
def test_a_mistake_of_code_generation_is_reduced(
    text: str, suffix: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.with_suffix(f".{suffix}").write_text(text)
    plant(monkeypatch, lambda text, disabled: "tanh" in text)
    found = row(capsys, f"a.{suffix}", "--trials", "12", "-o", f"small.{suffix}")
    assert (found["place"], found["passes"], found["broken"]) == ("code generation", [], "")
    assert found["reason"] == "by definition the optimized module computes what the module does"
    assert "tanh" in opcodes(read_module(found["reduced"]))
    assert found["operations"] <= 2


def test_passes_that_hide_a_mistake_of_code_generation_are_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, lambda text, disabled: not {"fusion", "layout-assignment"} & {*disabled})
    found = row(capsys, "a.hlo", "--no-reduce")
    assert (found["place"], found["alone"]) == ("code generation", True)
    assert found["passes"] == ["layout-assignment", "fusion"]
    plant(monkeypatch, lambda text, disabled: not {"fusion", "layout-assignment"} <= {*disabled})
    found = row(capsys, "a.hlo", "--no-reduce")
    assert (found["place"], found["alone"], found["passes"]) == (
        "code generation",
        False,
        ["layout-assignment", "fusion"],
    )
    assert row(capsys, "a.hlo", "--disable", "fusion")["place"] == "somewhere"
    assert row(capsys, "a.hlo", "--disable", "fusion,layout-assignment", status=0)["place"] == "nowhere"


def test_a_disabled_pass_that_changes_nothing_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--bisect", "a.hlo", "--disable", "layout-assignment,layuot-assignment"]) == 0
    said = capsys.readouterr().err
    assert "note: no pass layuot-assignment of XLA:CPU changes a.hlo\nhint: layout-assignment changes it\n" in said
    assert "no pass layout-assignment" not in said


@pytest.mark.parametrize(("number", "place"), [(0, "conversion"), (5, "pass")])
def test_a_module_that_is_wrong_by_definition_after_a_pass_is_found(
    number: int, place: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The planted compiler computes a cosine as a sine, from one of its stages on."""
    stages: list[str] = []

    def dump(self: Worker, program: Program, options: Any = None) -> list[tuple[str, str]]:
        found = _DUMP(self, program, options)
        stages[:] = [name for name, _ in found]
        return [
            (name, text.replace("cosine(", "sine(") if at >= number else text) for at, (name, text) in enumerate(found)
        ]

    monkeypatch.setattr(Worker, "dump_passes", dump)
    monkeypatch.setattr("relayout.bisection.judging.single_passes", lambda names, is_right: [])
    file.write_text(HLO.replace("ROOT r = (f32[6,8], f32[6,8]) tuple(c, n)", "ROOT q = f32[6,8] negate(c)"))
    plant(monkeypatch, lambda text, disabled: True)
    found = row(capsys, "a.hlo", "--no-reduce")
    assert found["place"] == place
    if place == "pass":
        with Worker() as worker:
            named = [name for name, _ in _DUMP(worker, Program(file.read_text(), "hlo"))][number]
        assert f"after_{found['broken']}" in named


def test_a_mistake_that_xla_has_is_found_and_shown_by_its_command(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """XLA:CPU widens 4-bit integers before it counts their bits."""
    Path("popcount.mlir").write_text(POPCOUNT)
    found = row(capsys, "popcount.mlir", "-o", "small.mlir")
    assert (found["place"], found["broken"]) == ("pass", "float-normalization-s4")
    assert (found["operation"], found["cause"]["form"]) == ("popcnt", "integers")
    assert opcodes(read_module("small.mlir")) == ["popcnt"]
    assert main(["validate", "--bisect", "small.mlir"]) == 1
    command = capsys.readouterr().out.splitlines()[-1].strip()
    assert command == "relayout validate --bisect small.mlir --disable float-normalization-s4"
    assert main(command.split()[1:]) == 0


def test_failures_are_grouped_by_pass_and_operation(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("popcount.mlir").write_text(POPCOUNT)
    Path("larger.mlir").write_text(POPCOUNT.replace("%s = ", "%t = stablehlo.not %b : tensor<8xi4>\n  %s = "))
    file.write_text(SMALL)
    plant(monkeypatch, lambda text, disabled: "tanh" in text)
    files = ["larger.mlir", "popcount.mlir", "a.hlo"]
    assert main(["validate", "--bisect", *files, "--trials", "4", "-o", "small/"]) == 1
    *_, counts, _, first, second = capsys.readouterr().out.splitlines()
    assert counts == "2 differ after a pass, 1 differ in code generation"
    assert first.strip().split("  ") == ["2 pass float-normalization-s4", "popcnt", "integers", "small/larger.mlir (1)"]
    assert second.startswith("    1 code generation  ")
    assert main(["validate", "--bisect", *files, "--no-reduce", "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["group"]["count"] for row in rows[3:]] == [2, 1]
    assert rows[3]["group"]["files"] == files[:2]
    assert rows[3]["group"]["example"] == "popcount.mlir"


@pytest.mark.parametrize(
    "output",
    [
        b"not JSON",
        b"[1]",
        b'{"file": "a.hlo"}',
        json.dumps({**UNKNOWN.as_json(), "passes": [1]}).encode(),
        json.dumps({**UNKNOWN.as_json(), "passes": "dce"}).encode(),
        json.dumps({**UNKNOWN.as_json(), "cause": {"form": ["x"]}}).encode(),
        json.dumps({**UNKNOWN.as_json(), "operations": "1"}).encode(),
    ],
)
def test_other_rows_of_a_process_that_works_on_a_file_are_not_taken(output: bytes) -> None:
    unit = Unit((named_input("a.hlo"),))
    made = Rows(is_json=True, disable=None).add(unit, Result(1, output))
    assert json.loads(made.output) == json.loads(
        json.dumps(replace(UNKNOWN, reason="the process that judged it sent no result").as_json())
    )


@pytest.mark.parametrize(("is_stable", "place"), [("false", "unknown"), ("true", "code generation")])
def test_a_difference_that_the_definition_leaves_open_is_unknown(
    is_stable: str, place: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters = "a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)"
    less = f"less {{\n  {parameters}\n  ROOT r = pred[] compare(a, b), direction=LT\n}}\n"
    sort = f"sort(k, v), dimensions={{0}}, is_stable={is_stable}, to_apply=less"
    values = "k = s32[9] parameter(0)\n  v = s32[9] parameter(1)"
    file.write_text(f"HloModule m\n{less}ENTRY e {{\n  {values}\n  ROOT s = (s32[9], s32[9]) {sort}\n}}\n")
    plant(monkeypatch, lambda text, disabled: True)
    found = row(capsys, "a.hlo", "--no-reduce", status=3 if place == "unknown" else 1)
    assert (found["place"], found["choices"]) == (place, ["equal_keys"] if place == "unknown" else [])


@pytest.mark.parametrize(
    ("kind", "opcode", "unique", "place"),
    [
        ("s32", "add", "", "code generation"),
        ("pred", "xor", "", "code generation"),
        ("f32", "maximum", "", "code generation"),
        ("f32", "subtract", ", unique_indices=true", "code generation"),
        ("s32", "subtract", "", "unknown"),
        ("f32", "add", "", "unknown"),
    ],
)
def test_the_order_of_updates_is_open_where_it_may_change_the_result(
    kind: str,
    opcode: str,
    unique: str,
    place: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file.write_text(UPDATED.format(type=kind, opcode=opcode, unique=unique))
    plant(monkeypatch, lambda text, disabled: True)
    found = row(capsys, "a.hlo", "--no-reduce", status=3 if place == "unknown" else 1)
    assert (found["place"], found["choices"]) == (place, ["update_order"] if place == "unknown" else [])


def test_a_difference_that_fused_products_make_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "fma" not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip("this processor has no fused multiply-add")
    Path("products.mlir").write_text(PRODUCTS)
    np.savez("in.npz", in0=np.float32(1e20), in1=np.float32(-1e20), in2=np.float32(1e10))
    found = row(capsys, "products.mlir", "--inputs", "in.npz", status=0)
    assert (found["place"], found["fused"][:15]) == ("nowhere", "output 0 at []:")
    assert main(["validate", "--bisect", "products.mlir", "--inputs", "in.npz"]) == 0
    assert "XLA_FLAGS=--xla_cpu_max_isa=AVX" in capsys.readouterr().out
    np.savez("in.npz", in0=np.float32(2), in1=np.float32(-3), in2=np.float32(10))
    assert not row(capsys, "products.mlir", "--inputs", "in.npz", status=0)["fused"]


def test_products_that_are_counted_as_zeros_are_no_mistake(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """XLA:CPU adds 0 to the last sum in place of a subnormal product."""
    Path("products.mlir").write_text(PRODUCTS)
    np.savez("in.npz", in0=np.float32(4e-39) * 2**20, in1=np.float32(2e-38) * 2**20, in2=np.float32(2**-20))
    assert row(capsys, "products.mlir", "--inputs", "in.npz", status=0)["place"] == "nowhere"


def test_a_value_that_the_module_checks_itself_is_compared(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = "stablehlo.custom_call @check.expect_close(%a, %a) : (tensor<6x8xf32>, tensor<6x8xf32>) -> ()"
    Path("a.mlir").write_text(MLIR.replace("  return %c", f"  {check}\n  return %c"))
    plant(monkeypatch, lambda text, disabled: True)
    found = row(capsys, "a.mlir", "--no-reduce")
    assert (found["place"], found["cause"]["output"], found["operation"]) == ("code generation", 3, "add")


def test_inputs_of_the_user_decide(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("popcount.mlir").write_text(POPCOUNT)
    np.savez("zeros.npz", in0=np.zeros(8, np.int8), in1=np.zeros(8, np.int8))
    assert row(capsys, "popcount.mlir", "--inputs", "zeros.npz", status=0)["data"] == 1
    np.savez("ones.npz", in0=np.full(8, -1, np.int8), in1=np.zeros(8, np.int8))
    assert row(capsys, "popcount.mlir", "--inputs", "ones.npz")["place"] == "pass"


def test_a_module_that_one_engine_does_not_execute_is_unknown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] custom-call(x), "
        'custom_call_target="foo"\n}\n'
    )
    found = row(capsys, "a.hlo", status=3)
    assert found["place"] == "unknown"
    assert "foo" in found["reason"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--disable", "dce", "-o", "x"], "-o has no effect with --disable"),
        (["--disable", "dce", "--no-reduce"], "--no-reduce has no effect with --disable"),
        (["--no-reduce", "--trials", "3"], "--trials has no effect with --no-reduce"),
        (["--inputs", "a.npz", "--seeds", "3"], "--seeds has no effect with --inputs"),
        (["--inputs", "a.npz", "-o", "x"], "-o has no effect with --inputs"),
        (["--inputs", "a.npz", "b.hlo"], "--inputs are those of one FILE, not of 2"),
        (["--disable", ""], "--disable names no pass"),
    ],
)
def test_options_without_effect_are_errors(
    options: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("b.hlo").write_text(HLO)
    assert main(["validate", "--bisect", "a.hlo", *options]) == 2
    assert message in capsys.readouterr().err
