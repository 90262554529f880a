"""Reduction of differences and crashes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.execution import ExecutionError, Program, Worker
from dialect_utils.hlo import HloModule
from dialect_utils.io.files import parse_bytes, read_module
from dialect_utils.ir import Module
from dialect_utils.layout import parse_shape
from passes.framework.base import BUILTIN_PASSES, Report, module_pass
from relayout.cli import main
from relayout.reduction import reduce_modules, remove_dead
from tests.jaxlib import DIES_OF_DIVISION_BY_ZERO

HLO = """HloModule m
ENTRY e {
  x = f32[6,8] parameter(0)
  y = f32[6,8] parameter(1)
  a = f32[6,8] add(x, y)
  t = f32[6,8] tanh(a)
  m = f32[6,8] maximum(t, y)
  n = f32[6,8] negate(m)
  c = f32[6,8] cosine(x)
  ROOT r = (f32[6,8], f32[6,8]) tuple(c, n)
}
"""
MLIR = """func.func @main(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %a = stablehlo.add %x, %y : tensor<6x8xf32>
  %t = stablehlo.tanh %a : tensor<6x8xf32>
  %m = func.call @f(%t, %y) : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %n = stablehlo.negate %m : tensor<6x8xf32>
  %c = stablehlo.cosine %x : tensor<6x8xf32>
  return %c, %n : tensor<6x8xf32>, tensor<6x8xf32>
}
func.func private @f(%t: tensor<6x8xf32>, %y: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %m = stablehlo.maximum %t, %y : tensor<6x8xf32>
  return %m : tensor<6x8xf32>
}
"""


def opcodes(module: Module) -> list[str]:
    return [operation.opcode for function in module.functions for operation in function.operations]


@pytest.mark.parametrize(("text", "suffix"), [(HLO, "hlo"), (MLIR, "mlir")])
def test_a_pair_is_reduced_to_its_difference(
    text: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    first.write_text(text)
    second.write_text(text.replace("maximum", "minimum"))
    prefix = str(tmp_path / "out" / "small")
    assert main(["reduce", str(first), str(second), "-o", prefix, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == f"relayout check {prefix}.a.{suffix} {prefix}.b.{suffix}"
    small = [read_module(file) for file in found["reduced"]]
    assert "maximum" in opcodes(small[0])
    assert "minimum" in opcodes(small[1])
    assert not {"tanh", "negate", "cosine", "add"} & {*opcodes(small[0]), *opcodes(small[1])}
    assert "8" not in str(small[0].entry.parameters[0].shape)
    assert [len(module.entry.parameters) for module in small] == [2, 2]
    assert main(found["command"].split()[1:]) == 1


@pytest.mark.parametrize(("output", "begin"), [("red/", "red/reduced"), ("red2.hlo", "red2"), ("made", "made/reduced")])
def test_an_output_is_a_file_or_a_directory(
    output: str, begin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("made").mkdir()
    text = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n"
    Path("a.hlo").write_text(text)
    Path("b.hlo").write_text(text.replace("negate", "abs"))
    assert main(["reduce", "a.hlo", "b.hlo", "-o", output, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reduced"] == [f"{begin}.a.hlo", f"{begin}.b.hlo"]
    assert main(["reduce", "a.hlo", "--oracle", "grep -q negate {}", "-o", output, "--json"]) == 0
    assert Path(f"{begin}.hlo").exists()


def test_equal_modules_show_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.hlo"
    file.write_text(HLO)
    assert main(["reduce", str(file), str(file)]) == 1
    assert "show no difference to reduce" in capsys.readouterr().err
    assert main(["reduce", str(file), "-p", "expand-tiling"]) == 1
    assert "no pass of the pipeline makes a difference" in capsys.readouterr().err
    assert main(["reduce", str(file)]) == 2


CRASHING = HLO.replace("  n = ", "  k = f32[2,2] constant({{1,0},{0,1}})\n  n = ")


@pytest.fixture
def falls_over_tanh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the engine crash with a different message for each of two opcodes."""
    run = Worker.run

    def fall(self: Worker, program: Program, *arguments: Any, **options: Any) -> Any:
        for opcode, ending in (("tanh(", "SIGSEGV"), ("cosine(", "SIGABRT")):
            if opcode in str(program.text):
                raise ExecutionError("crash", f"the worker process was ended by {ending} while the module was compiled")
        return run(self, program, *arguments, **options)

    monkeypatch.setattr(Worker, "run", fall)


@pytest.mark.usefixtures("falls_over_tanh")
def test_a_crash_of_the_engine_stays_the_crash_that_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, prefix = tmp_path / "a.hlo", str(tmp_path / "small")
    file.write_text(CRASHING)
    assert main(["reduce", str(file), "--keep", "crash", "-o", prefix]) == 0
    kept = "crash of an engine: the worker process was ended by SIGSEGV while the module was compiled"
    assert capsys.readouterr().out == f"relayout run {prefix}.hlo\n  kept: {kept}\n"
    assert opcodes(read_module(f"{prefix}.hlo")) == ["tanh"]


def test_a_real_crash_is_reduced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """jaxlib 0.10 crashes when it folds a division by 0; 0.12 does not."""
    if not DIES_OF_DIVISION_BY_ZERO:
        pytest.skip("this jaxlib does not die of a constant division by 0")
    divided = "c = s32[] constant(7)\n  z = s32[] constant(0)\n  d = s32[] divide(c, z)\n  n = s32[] negate(d)\n"
    text = (
        f"HloModule m\nENTRY e {{\n  x = s32[4] parameter(0)\n  {divided}  b = s32[4] broadcast(n), dimensions={{}}\n"
    )
    file, prefix = tmp_path / "a.hlo", str(tmp_path / "small")
    file.write_text(text + "  ROOT m = s32[4] multiply(x, b)\n}\n")
    assert main(["reduce", str(file), "--keep", "crash", "-o", prefix]) == 0
    assert capsys.readouterr().out.startswith(f"relayout run {prefix}.hlo\n  kept: crash of an engine: ")
    assert opcodes(read_module(f"{prefix}.hlo")) == ["constant", "constant", "divide"]


@module_pass
def break_shape(module: HloModule, report: Report) -> None:
    """Gives each tanh an element type that differs from its operand's."""
    for operation in module.operations():
        if operation.opcode == "tanh":
            operation.set_shape(parse_shape("s32[6,8]"))


def test_a_pass_that_breaks_the_module_is_a_crash_unless_passes_are_not_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILTIN_PASSES, "break-shape", __name__)
    file, prefix = tmp_path / "a.hlo", str(tmp_path / "small")
    file.write_text(HLO)
    command = ["reduce", str(file), "-p", "break-shape", "--keep", "crash", "-o", prefix]
    assert main(command) == 0
    kept = "crash of the pass: DiagnosticError"
    assert capsys.readouterr().out == f"relayout opt {prefix}.hlo -p break-shape\n  kept: {kept}\n"
    assert "tanh" in opcodes(read_module(f"{prefix}.hlo"))
    assert main([*command, "--no-verify-each"]) == 1
    assert "no pass of the pipeline makes a crash to reduce" in capsys.readouterr().err


def test_a_function_reduces_for_any_reason() -> None:
    module = parse_bytes(HLO.encode(), "m")

    def shows(candidate: Sequence[Module]) -> bool:
        return "tanh" in opcodes(candidate[0])

    [small] = reduce_modules([module], shows)
    assert opcodes(small) == ["tanh"]
    assert module.text() == HLO
    [limited] = reduce_modules([module], shows, trials=1)
    assert len(opcodes(limited)) > 1


def test_unused_operations_are_removed() -> None:
    module = parse_bytes(HLO.replace("tuple(c, n)", "tuple(c, c)").encode(), "m")
    remove_dead(module)
    assert opcodes(module) == ["cosine", "tuple"]


UNCALLED = """HloModule m
inner {
  ROOT p = f32[2] parameter(0)
}
outer {
  q = f32[2] parameter(0)
  ROOT c = f32[2] call(q), to_apply=inner
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT is = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[2] parameter(0)
  s = f32[2] sort(x), dimensions={0}, to_apply=less
  d = f32[2] call(x), to_apply=outer
  ROOT n = f32[2] negate(s)
}
"""
UNCALLED_MLIR = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %d = func.call @outer(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %n = stablehlo.negate %x : tensor<2xf32>
  return %n : tensor<2xf32>
}
func.func private @outer(%q: tensor<2xf32>) -> tensor<2xf32> {
  %c = func.call @inner(%q) : (tensor<2xf32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}
func.func private @inner(%p: tensor<2xf32>) -> tensor<2xf32> {
  %s = "stablehlo.sort"(%p) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %is = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %is : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}
func.func @other(%p: tensor<2xf32>) -> tensor<2xf32> {
  return %p : tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "left"), [(UNCALLED, {"less", "e"}), (UNCALLED_MLIR, {"main"})], ids=["hlo", "stablehlo"]
)
def test_functions_that_nothing_calls_are_removed(text: str, left: set[str]) -> None:
    """Removes them from both modules, even where no other edit is possible."""
    module = parse_bytes(text.encode(), "m")
    remove_dead(module)
    assert {function.name for function in module.functions} == left
    assert parse_bytes(module.text().encode(), "m").text() == module.text()
    pair = [parse_bytes(each.encode(), "m") for each in (text, text.replace("negate", "abs"))]
    used = opcodes(module)
    small = reduce_modules(pair, lambda modules: opcodes(modules[0]) == used)
    assert [{function.name for function in each.functions} for each in small] == [left, left]


NEGATED = """HloModule m, entry_computation_layout={(f32[2]{0}, f32[6,8]{1,0:T(2,128)}, pred[]{:T(512)})->f32[6,8]{0,1}}
ENTRY e { u = f32[2] parameter(0), sharding={replicated}
  x = f32[6,8] parameter(1)
  v = pred[] parameter(2)
  ROOT n = f32[6,8] negate(x) }
"""
NEGATED_MLIR = """func.func @main(%u: tensor<2xf32> {mhlo.sharding = "{a,(\\22b}"}, %x: tensor<6x8xf32>, %v: tensor<i1>,
    %w: tuple<tensor<3xf32>, tensor<f32>>) -> tensor<6x8xf32> {
  %n = stablehlo.negate %x : tensor<6x8xf32>
  return %n : tensor<6x8xf32>
}
"""


@pytest.mark.parametrize("text", [NEGATED, NEGATED_MLIR], ids=["hlo", "stablehlo"])
def test_unused_inputs_are_removed(text: str) -> None:
    """Removes unused inputs from both modules of a pair; layouts of the other inputs stay."""
    pair = [parse_bytes(each.encode(), "m") for each in (text, text.replace("negate", "abs"))]
    small = reduce_modules(pair, lambda modules: [opcodes(each)[-1:] for each in modules] == [["negate"], ["abs"]])
    assert all(
        [str(value.shape).partition("{")[0] for value in module.entry.parameters] == ["f32[1,1]"] for module in small
    )
    layouts = [module.entry_layout for module in small]
    assert layouts[0] == layouts[1]
    assert ("T(2,128)" in str(layouts[0][0][0])) == ("T(2,128)" in text)


def test_an_input_that_one_module_uses_stays() -> None:
    used = (
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n  ROOT n = f32[2] add(x, y)\n}\n"
    )
    pair = [parse_bytes(each.encode(), "m") for each in (used, used.replace("add(x, y)", "negate(x)"))]
    small = reduce_modules(pair, lambda modules: opcodes(modules[0])[-1:] == ["add"])
    assert [len(module.entry.parameters) for module in small] == [2, 2]
