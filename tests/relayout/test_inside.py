"""Passes inside of compilers for TPUs and GPUs, by a Python with jax 0.12: RELAYOUT_INSIDE_PYTHON, or this one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import relayout
from dialect_utils.engine_names import STAGES
from dialect_utils.execution import hlo_text_to_proto
from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import Ops
from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.processes import COMPILER, TPU_ENVIRONMENT
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import Pipeline
from relayout.inside import Handed, rewrite
from relayout.supervisor.host import MalformedFrameError
from relayout.supervisor.programs import Programs
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "inside.md").read_text()
_SECONDS = 600
_PAIRS = "source_target_pairs"
_HAS_COMPILER = "import libtpu; from jaxlib import _jax; _jax.get_pjrt_plugin"

_HAS_GPU_COMPILER = "import jax_plugins.xla_cuda13; from jaxlib import _jax; _jax.get_pjrt_plugin"


@cache
def interpreter() -> str:
    """Returns an interpreter with a jax that calls passes for TPUs, and with libtpu; skips the test without one."""
    python = os.environ.get("RELAYOUT_INSIDE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", _HAS_COMPILER], capture_output=True).returncode:
        pytest.skip("RELAYOUT_INSIDE_PYTHON names no interpreter with jax 0.12 and libtpu")
    return python


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return run_by(interpreter(), folder, *command)


def run_by(python: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    paths = f"{ROOT}{os.pathsep}{folder}"
    # Tests beside this one load libtpu, too, which refuses a second process that does not allow it.
    environment = {**os.environ, **TPU_ENVIRONMENT, "PYTHONPATH": paths, "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [python, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=_SECONDS
    )


def write_page(folder: Path) -> None:
    for name, code in re.findall(r'```py title="(.*?)"\n(.*?)```', PAGE, re.DOTALL):
        (folder / name).write_text(code)


def test_the_page_shows_what_happens(tmp_path: Path) -> None:
    interpreter()
    write_page(tmp_path)
    done = run(tmp_path, "compile_it.py")
    assert done.returncode == 0, done.stderr[-3000:]
    # Other versions of libtpu have other figures, but the pass removes one copy, and the mistake none.
    found = [int(count) for count in re.findall(r": (\d+) copies", done.stdout)]
    assert found == [found[0], found[0] - 1, found[0]]
    [shown] = re.findall(r"```text\n(as it is.*?)```", PAGE, re.DOTALL)
    assert done.stdout.splitlines()[3:] == shown.splitlines()[3:]


_MORE = """
import jax, jax.numpy as jnp, sys
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
import relayout, relayout.jax
from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import instructions, rebuild

@relayout.module_pass
def subtract(module: HloModule):
    for each in instructions(module, "add"):
        rebuild(each, opcode="subtract")

@relayout.module_pass
def swap(module: HloModule):
    for each in instructions(module, "multiply"):
        rebuild(each, operands=each.operands[::-1])

@relayout.module_pass
def compile_another(module: HloModule):
    jax.jit(lambda x: x - 7)(jnp.ones(3))

devices = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices
single = SingleDeviceSharding(devices[0])
several = NamedSharding(Mesh(devices, "i"), PartitionSpec("i"))

def compiled(sharding, function=lambda x: jnp.tanh(x * x.sum() + x)):
    jax.clear_caches()
    return jax.jit(function).lower(jax.ShapeDtypeStruct((64, 128), jnp.float32, sharding=sharding)).compile()

for stage in ("before-scheduling", "after-scheduling"):
    for sharding in (single, several):
        with relayout.jax.apply_passes([swap], ("tpu",), stage) as good:
            compiled(sharding)
        with relayout.jax.apply_passes([subtract], ("tpu",), stage) as bad:
            kept = compiled(sharding).as_text()
        print(stage, len(good.modules), len(good.errors), len(bad.modules), len(bad.errors), " subtract(" in kept)

with relayout.jax.apply_passes([compile_another], timeout=60) as nested:
    compiled(single)
print("nested", len(nested.errors))
"""


def test_right_passes_are_applied_and_wrong_ones_refused(tmp_path: Path) -> None:
    interpreter()
    (tmp_path / "more.py").write_text(_MORE)
    done = run(tmp_path, "more.py")
    assert done.returncode == 0, done.stderr[-3000:]
    expected = [f"{stage} 1 0 0 1 False" for stage in STAGES for _ in range(2)]
    assert done.stdout.splitlines() == [*expected, "nested 0"]


# Facts that no proof about values covers

_SCHEDULED = """HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY %e (p: f32[8,128]) -> f32[8,128] {
  %p = f32[8,128]{1,0:T(8,128)} parameter(0)
  %a = f32[8,128]{1,0:T(8,128)S(1)} negate(%p)
  %b = f32[8,128]{1,0:T(8,128)} tanh(%p), control-predecessors={%a}
  ROOT %c = f32[8,128]{1,0:T(8,128)} multiply(%a, %b)
}
"""


def _edited(edit: Callable[[HloModule], None]) -> str:
    """Returns why a module that a pass has edited is not given back; its answer would suffice."""

    @relayout.module_pass
    def planted(module: HloModule) -> None:
        edit(module)

    handed = Handed.read("tpu", hlo_text_to_proto(_SCHEDULED))
    try:
        found = rewrite(handed, Pipeline((planted,)), None, 60.0)
    except DiagnosticError as error:
        return str(error)
    assert found.data is not None
    return ""


def _find(module: HloModule, name: str) -> Operation:
    return next(each for each in module.operations() if each.results[0].name.lstrip("%") == name)


def _move(module: HloModule) -> None:
    value = _find(module, "a").results[0]
    assert isinstance(value.shape, ArrayShape)
    value.set_shape(value.shape.with_layout(value.shape.effective_layout.replace(memory_space=0)))


def _exchange(module: HloModule) -> None:
    ops = Ops(module.entry.root)
    ops.finish(ops.emit("collective-permute", ops.replaced.shape, ops.replaced.operands[1:], {_PAIRS: "{{0,3},{3,0}}"}))


def test_passes_name_no_device_that_the_program_is_not_for() -> None:
    assert f"<compilation>:7:8: error: the {_PAIRS} name device 3, but the program is compiled for 1" in _edited(
        _exchange
    )


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda module: _find(module, "c").set_operands(_find(module, "c").operands[::-1]), ""),
        (lambda module: module.set_attribute("is_scheduled", None), "is_scheduled of the module is nothing"),
        (lambda module: module.set_attribute("input_output_alias", None), "input_output_alias of the module is"),
        (lambda module: _find(module, "b").set_attribute("control-predecessors", None), "the control predecessor of "),
        (_move, "the memory space of "),
    ],
    ids=["operands", "schedule", "alias", "control dependency", "memory space"],
)
def test_passes_keep_what_compilers_rely_on(edit: Callable[[HloModule], None], said: str) -> None:
    found = _edited(edit)
    assert bool(found) == bool(said)
    assert said in found
    assert not said or "before the passes" in found
    assert not said or "no proof about values covers it" in found


# Modules for which a compiler makes no code

_ABORTED = """
import os, sys
import jax, jax.numpy as jnp
import relayout, relayout.jax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

devices = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices
single = SingleDeviceSharding(devices[1])
several = NamedSharding(Mesh(devices, "i"), PartitionSpec(None, "i"))
_, number, stage, is_tried = sys.argv

x = jax.ShapeDtypeStruct((2048, 1024), jnp.float32, sharding=(single, several)[int(number)])
# The TPU compiler ends its process on the first fusion, and compiles the second.
for value in ("%copy.5", "%copy.2"):
    jax.clear_caches()
    passes = "fuse-into-users{value=" + value + "}"
    with relayout.jax.apply_passes(passes, ("tpu",), stage, trial=is_tried == "tried") as applied:
        jax.jit(lambda x: (jnp.cumsum(x, 0), x.T)).lower(x).compile()
    print(len(applied.modules), *(each.diagnostics[0].message[:120] for each in applied.errors))
"""


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("number", [0, 1])
def test_a_module_on_which_the_compiler_ends_its_process_does_not_end_the_callers(
    number: int, stage: str, tmp_path: Path
) -> None:
    interpreter()
    (tmp_path / "aborted.py").write_text(_ABORTED)
    done = run(tmp_path, "aborted.py", str(number), stage, "tried")
    assert done.returncode == 0, done.stderr[-3000:]
    refused = "the compiler for tpu cannot compile the passes' module: the compiler's process ended: Check failed: "
    first, second = done.stdout.splitlines()
    assert first.startswith(f"0 {refused}")
    assert second == "1"


def test_without_a_trial_the_process_ends(tmp_path: Path) -> None:
    interpreter()
    (tmp_path / "aborted.py").write_text(_ABORTED)
    done = run(tmp_path, "aborted.py", "0", STAGES[0], "untried")
    assert (done.returncode, done.stdout) == (-signal.SIGABRT, ""), done.stderr[-3000:]


# relayout opt --inside

_PROGRAM = """
func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
  %y = stablehlo.tanh %t : tensor<128x64xf32>
  %r = stablehlo.transpose %y, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
  %z = stablehlo.add %r, %x : tensor<64x128xf32>
  return %z : tensor<64x128xf32>
}
"""
_EXPAND = "annotate-layouts{target=tpu-v5e},expand-tiling"


def opt(folder: Path, python: str, *options: str, command: str = "opt") -> subprocess.CompletedProcess[str]:
    (folder / "program.mlir").write_text(_PROGRAM)
    return run_by(python, folder, "-m", "relayout", command, "program.mlir", *options)


def test_opt_prints_a_program_compiled_with_passes_inside(tmp_path: Path) -> None:
    done = opt(tmp_path, sys.executable, "--inside", "cpu", "-p", _EXPAND, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["handed_over"], found["changed"]) == (0, 1, 1)
    assert found["without"]["temporaries"] < found["with"]["temporaries"]
    assert "is_scheduled=true" in found["module"]
    done = opt(tmp_path, sys.executable, "--inside", "cpu", "-p", _EXPAND, "-o", "compiled.hlo")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "compiled.hlo").read_text() == found["module"]
    assert done.stderr.startswith("modules handed over: 1, changed by the passes and proved equal: 1\n")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--inside", "cpu", "-p", "strip-layouts", "--timing"], 2, "unknown option --timing"),
        (["--inside", "cpu"], 2, "--inside has no effect without -p"),
        (["--at", "after-scheduling", "-p", "strip-layouts"], 2, "unknown option --at"),
        (["--inside", "cpv", "-p", "strip-layouts"], 2, "unknown target 'cpv'"),
        (["--inside", "cpu", "-p", "annotate-layouts{target=tpu-v5e}"], 1, "the entry has other parameters or results"),
    ],
)
def test_opt_says_why_it_compiles_nothing(tmp_path: Path, options: list[str], code: int, message: str) -> None:
    done = opt(tmp_path, sys.executable, *options)
    assert message in done.stderr
    assert (done.returncode, done.stdout) == (code, "")


def test_opt_compiles_with_passes_inside_of_the_tpu_compiler(tmp_path: Path) -> None:
    python = interpreter()
    done = opt(tmp_path, python, "--inside", "tpu-v5e", "-p", "form-bitcasts,cancel-relayouts", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["handed_over"] == 1
    assert "T(8,128)" in found["module"]
    done = opt(tmp_path, python, "--inside", "tpu-v5e", "-p", "normalize-layouts,strip-layouts", "--json")
    assert done.returncode == 1


# The modules of all passes of both compilations, and their verdicts

_PLANTED = """
import sys
from pathlib import Path
import relayout
from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import instructions, rebuild
from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Options
from passes.framework.pipeline import Pipeline
from relayout.insertion import insert
from relayout.validation.judging import Judged, validate_directory

@relayout.module_pass
def subtract(module: HloModule):
    for each in instructions(module, "add"):
        rebuild(each, opcode="subtract")

@relayout.module_pass
def swap(module: HloModule):
    for each in instructions(module, "add"):
        rebuild(each, operands=each.operands[::-1])

def main(target):
    program = parse_bytes(Path("program.mlir").read_bytes(), "program.mlir")
    for name, planted in (("wrong", subtract), ("right", swap)):
        folder = Path.cwd() / name
        folder.mkdir()
        insert(program, target, "before-scheduling", Pipeline((planted,)), None, 0.0, ("", str(folder)))
        if name == "right":
            # The compiler exchanges an operation after the passes.
            last = max(folder.glob("*.after_*.before_*.txt"))
            text = last.read_text()
            assert " tanh(" in text
            last.write_text(text.replace(" tanh(", " negate("))
        found = validate_directory(str(folder), Judged(Options(), reduces=False))
        print(name, found.first_difference.change, Path(found.first_difference.after).name)
    print(last.name)

if __name__ == "__main__":
    main(sys.argv[1])
"""


@pytest.mark.parametrize("target", ["cpu", "tpu-v5e"])
def test_a_wrong_pass_inside_and_a_wrong_pass_of_the_compiler_after_it_are_named(target: str, tmp_path: Path) -> None:
    (tmp_path / "program.mlir").write_text(_PROGRAM)
    (tmp_path / "planted.py").write_text(_PLANTED)
    python = sys.executable if target == "cpu" else interpreter()
    done = run_by(python, tmp_path, "planted.py", target)
    assert done.returncode == 0, done.stderr[-3000:]
    wrong, right, planted = (line.split(" ") for line in done.stdout.splitlines())
    assert wrong[1].startswith("apply-xla-transforms")
    assert not right[1].startswith("apply-xla-transforms")
    assert right[-1:] == planted


def test_opt_keeps_the_modules_of_both_compilations(tmp_path: Path) -> None:
    options = ("--inside", "cpu", "-p", _EXPAND, "-o", "compiled.hlo")
    done = opt(tmp_path, sys.executable, *options, "--dump", "kept")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    without, changed = (
        {each.name for each in (tmp_path / "kept" / side).glob("*.txt")} for side in ("without", "with")
    )
    assert any(name.endswith("cpu_after_optimizations.txt") for name in without & changed)
    inserted = "after_apply-xla-transforms"
    assert any(inserted in name for name in changed)
    assert not any(inserted in name for name in without)
    again = opt(tmp_path, sys.executable, *options, "--dump", "kept")
    assert (again.returncode, again.stdout) == (2, "")
    assert "--dump kept is there already" in again.stderr
    both = opt(tmp_path, sys.executable, "program.mlir", *options[:4], "--dump", "other")
    assert (both.returncode, both.stdout) == (2, "")


def validate(folder: Path, python: str, *options: str) -> subprocess.CompletedProcess[str]:
    return opt(folder, python, *options, command="validate")


def test_validate_judges_the_inserted_passes_and_all_later_ones(tmp_path: Path) -> None:
    done = validate(tmp_path, sys.executable, "--inside", "cpu", "-p", _EXPAND, "--dump", "kept", "--json")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    first, *later = found
    assert first["change"].startswith("apply-xla-transforms")
    assert later[-1]["number"] == 0
    assert later[-2]["after"].endswith("after_optimizations.txt")
    assert Path(first["before"]).parent == tmp_path / "kept"
    assert all(each["verdict"] in ("equal", "agrees") for each in found)


def test_passes_that_change_nothing_have_no_step(tmp_path: Path) -> None:
    done = validate(tmp_path, sys.executable, "--inside", "cpu", "-p", "cancel-relayout")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean cancel-relayouts?" in done.stderr
    done = validate(tmp_path, sys.executable, "--inside", "cpu", "-p", "cancel-relayouts")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the passes change no module that the compiler hands over" in done.stderr


def test_a_compiler_writes_into_the_named_directories_only(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []

    def start(program: str, arguments: Sequence[str]) -> SimpleNamespace:
        started.append((program, *arguments))
        return SimpleNamespace(pid=len(started), stdin=0, stdout=1, stderr=2)

    monkeypatch.setattr("relayout.supervisor.programs._started", start)
    programs = Programs(memory=8, may_compile=True, dumps=("/kept/without", "/kept/with"))
    for folder in ("", *programs.dumps):
        programs.start(COMPILER, ["9", "cpu", folder])
        assert started[-1] == (COMPILER, "8", "cpu", folder)
    for folder in ("/kept", "/kept/with/..", "/kept/with/inner", "/kept/other"):
        with pytest.raises(MalformedFrameError, match="may not start"):
            programs.start(COMPILER, ["9", "cpu", folder])
    assert len(started) == 3


# relayout tune --inside

_PRODUCTS = """
func.func @main(%m: tensor<20000x3x3xf32>, %p: tensor<20000x8x3xf32>) -> tensor<20000x3x8xf32> {
  %r = stablehlo.dot_general %m, %p, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<20000x3x3xf32>, tensor<20000x8x3xf32>) -> tensor<20000x3x8xf32>
  return %r : tensor<20000x3x8xf32>
}
"""


def test_tune_finds_passes_inside_of_the_tpu_compiler_that_opt_repeats(tmp_path: Path) -> None:
    interpreter()
    (tmp_path / "m.mlir").write_text(_PRODUCTS)
    options = ("--target", "tpu-v5e", "--objective", "bytes", "--budget", "2", "--inside", "5", "--no-cache", "--json")
    done = run(tmp_path, "-m", "relayout", "tune", "m.mlir", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    start, best = found["trials"][0], found["trials"][found["best"]]
    assert best["accessed"] < 0.9 * start["accessed"]
    passes = best["change"]["inside"]
    assert passes.startswith("fuse-into-users{value=%")
    done = run(tmp_path, "-m", "relayout", "opt", "m.mlir", "--inside", "tpu-v5e", "-p", passes, "--json")
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert [again[side]["accessed"] for side in ("without", "with")] == [start["accessed"], best["accessed"]]


# Several GPUs

_SUMS = """
module @sums attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main(
    %x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>},
    %y: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}
  ) -> (
    tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
    tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
  ) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %two = stablehlo.constant dense<2.0> : tensor<64x128xf32>
    %one = stablehlo.constant dense<1.0> : tensor<64x256xf32>
    %v = stablehlo.multiply %x, %two : tensor<64x128xf32>
    %w = stablehlo.add %y, %one : tensor<64x256xf32>
    %r = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>
    %s = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<64x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %r, %s : tensor<128xf32>, tensor<256xf32>
  }
}
"""
_GPUS = """
from planted import Path, Pipeline, insert, parse_bytes, subtract, swap
from dialect_utils.execution.compilers import compile_inside
from dialect_utils.text import DiagnosticError
from relayout.inside import Handed

_, [data] = compile_inside(Path("sums.mlir").read_text(), "gpu-h100", "after-scheduling")
module = Handed.read("cuda", data).module
print(*(str(each.shape).count("(") for each in module.operations() if each.opcode == "all-reduce-start"))
program = parse_bytes(Path("sums.mlir").read_bytes(), "sums.mlir")
for planted in (swap, subtract):
    try:
        found = insert(program, "gpu-h100", "after-scheduling", Pipeline((planted,)), "equal-up-to", 120.0)
        print(planted.name, found.changed, found.handed)
    except DiagnosticError as error:
        print(planted.name, error.diagnostics[0].message.split(":")[0])
"""


def test_passes_work_inside_of_the_compiler_for_four_gpus(tmp_path: Path) -> None:
    python = os.environ.get("RELAYOUT_INSIDE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", _HAS_GPU_COMPILER], capture_output=True).returncode:
        pytest.skip("RELAYOUT_INSIDE_PYTHON names no interpreter with jax 0.12 and its plug-in for CUDA")
    for name, text in (("planted.py", _PLANTED), ("gpus.py", _GPUS), ("sums.mlir", _SUMS)):
        (tmp_path / name).write_text(text)
    done = run_by(python, tmp_path, "gpus.py")
    assert done.returncode == 0, done.stderr[-3000:]
    started, right, wrong = done.stdout.splitlines()
    # The shape of the start has the operands and the results.
    assert started == "2"
    assert right == "swap 1 1"
    assert wrong == "subtract the passes' result is not known to be equal-up-to"
