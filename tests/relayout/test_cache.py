"""`relayout run` with the cache: a second run compiles nothing and says the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.execution import Worker
from passes.framework.base import Pass
from relayout.cli import main
from relayout.supervisor import cache as on_disk, pool
from relayout.supervisor.cache import DIRECTORY_VARIABLE, SWITCH_VARIABLE
from tests.passes.dumps.test_host_callbacks import IN_BRANCH
from tests.paths import ROOT

EXAMPLE, ARRAYS = ROOT / "examples" / "attention_tpu.hlo", ROOT / "examples" / "attention_tpu.npz"
SMALL = "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
CALLS = """HloModule m, is_scheduled=true

ENTRY e {
  p = f32[3]{0} parameter(0)
  ROOT c = f32[3]{0} custom-call(p), custom_call_target="mine"
}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the directory of the entries, which the first run makes."""
    monkeypatch.delenv(SWITCH_VARIABLE)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "runs"


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Returns a function that runs the command and returns its exit code and what it prints."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["run", *map(str, arguments)])
        return code, *capfd.readouterr()

    return run


def entries(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()} if folder.exists() else {}


def forbid_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes reading, rewriting and compiling impossible, also in children, which are forked from this process."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a second run compiles")

    monkeypatch.setattr(Worker, "compile", forbidden)
    monkeypatch.setattr(Worker, "run", forbidden)
    monkeypatch.setattr(Pass, "run", forbidden)
    monkeypatch.setattr("relayout.running.ready.parse_bytes", forbidden)


def test_a_second_run_compiles_nothing_and_prints_the_same(
    folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    wanted = run(tmp_path / "m.hlo", "--no-cache")
    assert entries(folder) == {}
    assert run(tmp_path / "m.hlo") == wanted
    kept = entries(folder)
    assert [re.fullmatch("[0-9a-f]{64}", name) is not None for name in kept] == [True]
    forbid_compilation(monkeypatch)
    assert run(tmp_path / "m.hlo") == wanted
    assert entries(folder) == kept


def test_the_outputs_of_a_dump_have_the_same_bits(folder: Path, run: Run, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.npz" for name in ("without", "first", "second")]
    for file, options in zip(files, (["--no-cache"], [], []), strict=True):
        assert run(EXAMPLE, "--inputs", "random", "--outputs", file, *options)[0] == 0
    without, *others = (dict(np.load(file)) for file in files)
    assert all({name: array.tobytes() for name, array in each.items()} for each in (without, *others))
    for other in others:
        assert {name: array.tobytes() for name, array in other.items()} == {
            name: array.tobytes() for name, array in without.items()
        }
    assert len(entries(folder)) == 1


def test_other_inputs_run_on_the_same_entry(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(EXAMPLE, "--seed", 1)[0] == 0
    monkeypatch.setattr(Worker, "compile", None)
    code, out, _ = run(EXAMPLE, "--inputs", ARRAYS, "--expect", ARRAYS)
    assert (code, out) == (0, f"{EXAMPLE}: out0: equal bits\n")


def test_notes_and_errors_with_places_come_back(
    folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = tmp_path / "m.hlo", tmp_path / "other.hlo"
    for path in (file, other):
        path.write_text(IN_BRANCH)
    np.savez(tmp_path / "calm.npz", in0=np.array(False), in1=np.arange(4, dtype=np.float32))
    np.savez(tmp_path / "runs.npz", in0=np.array(True), in1=np.arange(4, dtype=np.float32))
    arguments = [["--inputs", tmp_path / name] for name in ("calm.npz", "runs.npz")]
    wanted = [run(file, *each, "--no-cache") for each in arguments]
    assert [code for code, _, _ in wanted] == [0, 1]
    assert f"{file}:" in wanted[1][2]
    assert run(file, *arguments[0]) == wanted[0]
    monkeypatch.setattr(Worker, "compile", None)
    for name in (file, other):
        found = [run(name, *each) for each in arguments]
        assert found == [(code, out, err.replace(str(file), str(name))) for code, out, err in wanted]


def test_a_damaged_entry_is_replaced(folder: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    wanted = run(tmp_path / "m.hlo")
    [(name, good)] = entries(folder).items()
    for bad in (b"", good[:100], good[:-1] + bytes([good[-1] ^ 1])):
        (folder / name).write_bytes(bad)
        assert run(tmp_path / "m.hlo") == wanted
        assert [*entries(folder)] == [name]
        with os.fdopen(opened(folder, name), "rb") as entry:
            assert len(entry.read()) > 1000


def opened(folder: Path, name: str) -> int:
    found = on_disk.Cache(os.open(folder, os.O_RDONLY)).open(name)
    assert found is not None
    return found


def test_an_entry_that_no_worker_can_load_counts_as_none(
    folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    monkeypatch.setattr("relayout.running.ready.to_bytes", lambda *_: b"no entry")
    wanted = run(tmp_path / "m.hlo")
    monkeypatch.undo()
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(folder.parent))
    monkeypatch.delenv(SWITCH_VARIABLE)
    assert run(tmp_path / "m.hlo") == wanted


def test_other_versions_processors_and_options_have_other_entries(
    folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    for number, options in enumerate([[], ["--memory", "3"], []], 1):
        run(tmp_path / "m.hlo", *options)
        assert len(entries(folder)) == min(number, 2)
    for name in ("_program", "_processor"):
        with monkeypatch.context() as changed:
            changed.setattr(on_disk, name, lambda: ["another"])
            run(tmp_path / "m.hlo")
    assert len(entries(folder)) == 4
    (tmp_path / "m.hlo").write_text(SMALL.replace("negate", "abs"))
    run(tmp_path / "m.hlo")
    assert len(entries(folder)) == 5


def test_a_given_computation_is_part_of_the_key(folder: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(CALLS)
    found = []
    for opcode in ("negate", "abs", "negate"):
        (tmp_path / "mine.hlo").write_text(
            f"HloModule g\n\nENTRY e {{\n  p = f32[3]{{0}} parameter(0)\n  ROOT n = f32[3]{{0}} {opcode}(p)\n}}\n"
        )
        code, out, _ = run(tmp_path / "m.hlo", "--custom-call", f"mine={tmp_path / 'mine.hlo'}")
        assert code == 0
        found.append(out)
    assert found[0] == found[2] != found[1]
    assert len(entries(folder)) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["--callback", "f=undefined"],
        ["--engine", "reference"],
        ["--engine", "interpreter"],
        ["--cluster", "tcp://127.0.0.1:1"],
    ],
)
def test_no_cache_without_effect_is_an_error(arguments: list[str], folder: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    code, _, err = run(tmp_path / "m.hlo", "--no-cache", *arguments)
    assert code == 2
    assert err.startswith("error: --no-cache ")
    if "--cluster" not in arguments:
        run(tmp_path / "m.hlo", *arguments)
        assert entries(folder) == {}


@pytest.mark.parametrize("off", ["off", "0"])
def test_a_variable_switches_the_cache_off(
    off: str, folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    monkeypatch.setenv(SWITCH_VARIABLE, off)
    assert run(tmp_path / "m.hlo")[0] == 0
    assert not folder.exists()


def test_a_home_that_cannot_be_written_is_no_error(
    folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    wanted = run(tmp_path / "m.hlo", "--no-cache")
    # A directory below a file cannot be made, also by root.
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "m.hlo" / "cache"))
    assert run(tmp_path / "m.hlo") == wanted
    monkeypatch.delenv(DIRECTORY_VARIABLE)
    for home in (str(tmp_path / "m.hlo"), "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        monkeypatch.setenv("HOME", home)
        assert run(tmp_path / "m.hlo") == wanted


def test_a_directory_that_others_can_open_is_not_used(folder: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    folder.mkdir(parents=True, mode=0o755)
    folder.chmod(0o755)
    code, _, err = run(tmp_path / "m.hlo")
    assert (code, entries(folder)) == (0, {})
    assert f"warning: nothing is cached: {folder} is open to other users" in err
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert run(tmp_path / "m.hlo")[0] == 0
    assert entries(folder) == {}


def test_the_directory_and_its_files_are_closed_to_others(folder: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(SMALL)
    run(tmp_path / "m.hlo")
    modes = [each.stat().st_mode & 0o777 for each in (folder.parent, folder, *folder.iterdir())]
    assert modes == [0o700, 0o700, 0o600]


def test_a_child_that_has_read_a_file_stores_nothing_for_another(
    folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / name for name in ("a.hlo", "b.hlo", "c.hlo")]
    for file, opcode in zip(files, ("negate", "abs", "cosine"), strict=True):
        file.write_text(SMALL.replace("negate", opcode))
    assert run(*files, "--jobs", 1)[0] == 0
    assert len(entries(folder)) == 1
    # A larger file gets a child of its own.
    monkeypatch.setattr(pool, "_REPLACING_BYTES", 10)
    wanted = run(*files, "--jobs", 1)
    kept = entries(folder)
    assert len(kept) == 3
    forbid_compilation(monkeypatch)
    assert run(*files, "--jobs", 1) == wanted
    assert run(files[2], "--json")[0] == 0
    assert entries(folder) == kept


def test_the_child_that_searches_a_directory_stores_nothing(folder: Path, run: Run, tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    (dumps / "m.hlo").write_text(SMALL)
    assert run(dumps)[0] == 0
    assert entries(folder) == {}


def test_standard_input_is_not_cached(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "-").write_text(SMALL)
    command = [sys.executable, "-P", "-m", "relayout", "run", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, input=SMALL, cwd=tmp_path, env=environment, text=True, check=True, capture_output=True
    )
    assert done.stdout.startswith("out0 f32[3,5]")
    assert entries(folder) == {}
