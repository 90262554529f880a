"""XLA:GPU without a GPU, where JAX's plug-in is installed: programs, devices, commands and JAX's functions."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import relayout
from dialect_utils import processes
from dialect_utils.execution.compilers import FigureCompiler, Figures, compile_for
from dialect_utils.layout.targets.gpu import GPUS
from dialect_utils.text import DiagnosticError
from relayout.cli import main

pytestmark = pytest.mark.skipif(
    not (find_spec("jax_plugins") and any(find_spec(f"jax_plugins.xla_cuda{version}") for version in (12, 13))),
    reason="JAX's plug-in for CUDA, the extra relayout[gpu], is not installed",
)

PRODUCT = """module @product {
  func.func public @main(%x: tensor<24x40xf32>, %y: tensor<40x16xf32>) -> tensor<24x16xf32> {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
      : (tensor<24x40xf32>, tensor<40x16xf32>) -> tensor<24x16xf32>
    %1 = stablehlo.tanh %0 : tensor<24x16xf32>
    return %1 : tensor<24x16xf32>
  }
}
"""
SHARDED = """module @sharded attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=4]>
  func.func public @main(%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> tensor<32xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
    return %0 : tensor<32xf32>
  }
}
"""


def test_every_listed_gpu_compiles_and_the_dump_runs_here() -> None:
    x, y = (np.random.default_rng(3).standard_normal(size, np.float32) for size in ((24, 40), (40, 16)))
    for gpu in GPUS:
        found = compile_for(PRODUCT, gpu)
        assert (found.figures.argument, found.figures.output) == ((24 + 16) * 40 * 4, 24 * 16 * 4)
        assert found.figures.parameters == ("{1,0}", "{1,0}")
        [output] = relayout.run(relayout.parse(found.dump), x, y)
        np.testing.assert_allclose(output, np.tanh(x @ y), rtol=1e-5, atol=1e-5)


def test_a_program_for_four_devices_is_compiled_for_four() -> None:
    found = compile_for(SHARDED, "gpu-h100")
    assert "num_partitions=4" in found.dump
    assert "all-reduce" in found.dump
    # The figures are those of one device.
    assert found.figures.argument == 64 * 32 * 4 // 4


def test_one_process_compiles_several_programs_and_bytes_are_counted() -> None:
    counted: list[str] = []

    def count(figures: Figures, dump: str) -> Figures:
        counted.append(dump)
        return replace(figures, accessed=77)

    with FigureCompiler("gpu-a100", count=count) as compiler:
        assert "jaxlib" in compiler.version
        first, wrong, second = compiler.compile_all([PRODUCT, "module", SHARDED.replace("= 4 :", "= 2 :")])
    assert (first.accessed, first.error, first.seconds) == (77, "", 0)
    assert wrong.error
    # The mesh has four devices, and the program says two.
    assert second.error
    assert len(counted) == 1


def test_commands_take_a_gpu_as_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "product.mlir"
    file.write_text(PRODUCT)
    gpu = tmp_path / "my.txtpb"
    gpu.write_text(GPUS[0].description)
    assert main(["validate", str(file), "--target", str(gpu), "--only", "layout-assignment|priority-fusion"]) == 0
    assert "no step is different" in capsys.readouterr().out
    assert main(["report", "--why", str(file), "--target", "gpu-b200"]) == 0
    capsys.readouterr()
    assert main(["report", str(file), "--target", "gpu-h100"]) == 0
    told = capsys.readouterr()
    assert "not compiled" not in told.out + told.err
    assert "temporaries" in told.out
    assert main(["report", str(file), "--try", "--target", "gpu-rtx6000"]) == 0
    assert "compiled for gpu-rtx6000" in capsys.readouterr().out
    assert main(["tune", str(file), "--target", "gpu-h200", "--budget", "2", "--no-cache"]) == 0
    assert "the compiler estimates no time" in capsys.readouterr().out
    assert main(["tune", str(file), "--target", "gpu-h200", "--objective", "time"]) == 1
    assert "the compiler for gpu-h200 estimates no time" in capsys.readouterr().err


def test_the_compiler_has_the_limits_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for compilers")
    started: list[processes.Process] = []
    start = processes.start

    def noted(*given: object) -> processes.Process:
        started.append(start(*map(str, given)))
        return started[-1]

    monkeypatch.setattr(processes, "start", noted)
    with FigureCompiler("gpu-h100") as compiler:
        [found] = compiler.compile_all([PRODUCT])
        folder = Path(f"/proc/{started[0].pid}")
        assert not found.error
        assert b"SECRET_KEY" not in (folder / "environ").read_bytes()
        assert "\nSeccomp:\t2\n" in (folder / "status").read_text()
        limits = {line[:25].strip(): line[25:].split()[0] for line in (folder / "limits").read_text().splitlines()}
        assert limits["Max file size"] == "0"
        assert "unlimited" not in (limits["Max data size"], limits["Max cpu time"])
        assert (folder / "cwd").readlink().name.startswith("relayout-")


def test_a_function_of_jax_is_compiled_for_a_gpu() -> None:
    import jax
    import jax.numpy as jnp

    dump = relayout.jax.dump(jax.jit(lambda x: jnp.sort(x)[::-1], donate_argnums=0), jnp.arange(6.0), target="gpu-h100")
    assert (dump.target, dump.figures.argument, dump.figures.alias) == ("gpu-h100", 24, 24)
    [output] = relayout.run(dump.module, np.arange(6, dtype=np.float32))
    assert output.tolist() == [5, 4, 3, 2, 1, 0]


def test_a_refusal_has_the_compilers_words() -> None:
    with pytest.raises(DiagnosticError, match=r"the compiler for gpu-h100 refused the module: .*not_an_op"):
        compile_for("module { func.func public @main() { stablehlo.not_an_op } }", "gpu-h100")
