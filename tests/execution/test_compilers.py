"""Processes that compile several programs at once, with one that answers in place of the compiler."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dialect_utils import processes
from dialect_utils.execution import compilers
from dialect_utils.execution.compilers import FigureCompiler, _told, compile_for, dump_passes
from dialect_utils.text import DiagnosticError


@pytest.fixture(autouse=True)
def _answering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(processes.PROGRAMS, processes.COMPILER, "tests.execution.answering")
    monkeypatch.setattr(compilers, "check_installed", lambda target: None)
    monkeypatch.setattr(compilers, "_version", lambda target: "compiler 1")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_several_programs_are_compiled_at_once_and_their_figures_come_in_order(tmp_path: Path) -> None:
    file = tmp_path / "made"
    # The first answers only while another process works on the second.
    texts = [f"wait {file} 1", f"make {file} 2", f"wait {file} 3", f"wait {file} 4"]
    with FigureCompiler("tpu-v5e", jobs=2) as compiler:
        figures = [*compiler.compile_all(texts)]
    assert [each.peak for each in figures] == [1, 2, 3, 4]
    workers = {each.argument for each in figures}
    assert len(workers) == 2
    assert not any(map(is_running, workers))


def test_a_crash_is_an_error_of_its_program_and_the_next_one_is_compiled(tmp_path: Path) -> None:
    file = tmp_path / "made"
    with FigureCompiler("tpu-v5e") as compiler:
        first, second, third = compiler.compile_all([f"make {file} 1", f"crash {file} 2", f"make {file} 3"])
    assert "the compiler's process ended: a fault of the compiler" in second.error
    assert (first.peak, third.peak) == (1, 3)
    assert first.argument != third.argument


def test_figures_that_nobody_waits_for_are_no_answers_of_later_programs(tmp_path: Path) -> None:
    made, never = tmp_path / "made", tmp_path / "never"
    with FigureCompiler("tpu-v5e", jobs=2) as compiler:
        figures = compiler.compile_all([f"make {made} 1", f"wait {never} 2", f"wait {never} 3"])
        assert next(figures).peak == 1
        figures.close()  # type: ignore[attr-defined]  # a generator
        assert [each.peak for each in compiler.compile_all([f"make {made} 4", f"make {made} 5"])] == [4, 5]


def test_a_compiler_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, never = tmp_path / "made", tmp_path / "never"
    with FigureCompiler("tpu-v5e") as compiler:
        [ready] = compiler.compile_all([f"make {made} 1"])
        monkeypatch.setattr(processes, "compiler_seconds", 0.1)
        [late] = compiler.compile_all([f"wait {never} 2"])
    assert late.error == "no result after 0.1 seconds"
    assert not is_running(ready.argument)


def test_a_long_compilation_is_announced_and_ends_at_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(processes, "announce", said.append)
    made, never = tmp_path / "made", tmp_path / "never"
    assert compile_for(f"make {made} 1", "tpu-v5e").figures.peak == 1
    assert said == []
    monkeypatch.setattr(compilers, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(processes, "compiler_seconds", 0.5)
    late = "^error: the compiler for tpu-v5e: no result after 0.5 seconds\nhint: --timeout SECONDS gives it more$"
    with pytest.raises(DiagnosticError, match=late):
        compile_for(f"wait {never} 2", "tpu-v5e")
    with pytest.raises(DiagnosticError, match=late):
        dump_passes(f"wait {never} 2", "tpu-v5e", str(tmp_path))
    assert said == ["compiling for tpu-v5e, 0.5 s at most"] * 2


def test_only_commands_announce(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    processes.announce("compiling")
    monkeypatch.setattr(processes, "_parent", object())
    processes.announce("ranking")
    assert capsys.readouterr().err == "... ranking\n"


def test_a_product_that_the_compiler_cannot_try_has_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match=r"refused the module: .*7\nhint: XLA_FLAGS=--xla_gpu_enable_triton_gemm"):
        compile_for(f"refuse {tmp_path / 'made'} 7", "gpu-h100")


def test_a_gpu_program_without_its_last_module_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    first, last = (folder / f"m.{name}_optimizations.txt" for name in ("before", "after"))
    with pytest.raises(DiagnosticError, match="the compiler for gpu-h100 refused the module"):
        dump_passes(f"refuse {first} 7", "gpu-h100", str(folder))
    # For other targets the modules up to the error count.
    dump_passes(f"refuse {first} 7", "tpu-v5e", str(folder))
    dump_passes(f"refuse {last} 7", "gpu-h100", str(folder))


def test_an_error_has_the_last_line_of_a_traceback_and_no_carets() -> None:
    traceback = (
        'Traceback (most recent call last):\n  File "f.py", line 3, in <module>\n    compile(text)\n    ^^^^^^^^^^^^^\n'
        "ValueError: no\nI0000 00:00:1.5 7 stub.cc:31] a log\n"
    )
    # Of a long message only the end is there.
    assert _told(traceback[70:]) == ["ValueError: no"]
    assert _told(traceback)[-1] == "ValueError: no"
    assert _told("    only this\n\n") == ["only this"]
