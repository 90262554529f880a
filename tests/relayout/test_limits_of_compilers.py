"""Compilers and other programs of a command have its limits, and leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialect_utils.io.temporary import temporary_directory
from relayout.cli import COMMANDS, FORMS, main
from relayout.commands.check import parse_pairs
from relayout.console import UsageError
from tests.paths import ROOT
from tests.profiling import Profile

_MODULE = (ROOT / "examples" / "negate.hlo").read_text()


def _sorts(count: int) -> str:
    """Returns a module whose comparators XLA:CPU compiles one after another, which takes long."""
    comparators = "".join(
        f"order{i} {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  q = f32[] constant({i}.5)\n"
        f"  m = f32[] multiply(x, q)\n  ROOT p = pred[] compare(m, y), direction=LT\n}}\n"
        for i in range(count)
    )
    sorts = "".join(
        f"  t{i} = f32[64] sort(a{i}), dimensions={{0}}, is_stable=true, to_apply=order{i}\n"
        f"  {'ROOT ' * (i == count - 1)}a{i + 1} = f32[64] cosine(t{i})\n"
        for i in range(count)
    )
    return f"HloModule sorts\n{comparators}ENTRY main {{\n  a0 = f32[64] parameter(0)\n{sorts}}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "t").mkdir()
    (tmp_path / "a.hlo").write_text(_MODULE)
    return tmp_path


def _left(folder: Path) -> list[str]:
    return os.listdir(folder / "t")


def test_a_compiler_has_the_time_of_the_command(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "sorts.hlo").write_text(_sorts(800))
    assert main(["report", "--why", "sorts.hlo", "--target", "cpu", "--timeout", "2"]) == 1
    assert "no result after 2 seconds" in capfd.readouterr().err
    assert _left(folder) == []


def test_a_compiler_writes_no_more_than_the_output_of_the_command(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "sorts.hlo").write_text(_sorts(300))
    assert main(["report", "--why", "sorts.hlo", "--target", "cpu", "--max-output", "0.00001"]) == 1
    assert "more than 1e-05 GB of output" in capfd.readouterr().err
    assert _left(folder) == []


_KILLED = """
import sys, time
from dialect_utils.io.temporary import temporary_directory
with temporary_directory() as made:
    print(made, flush=True)
    time.sleep(60)
"""


def test_the_directory_of_a_killed_process_is_removed_by_a_later_one(folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", _KILLED], env=environment, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        made = Path(held.stdout.readline().rstrip("\n"))
        (made / "file").write_text("")
        with temporary_directory() as own:
            assert made.is_dir()
        held.kill()
    users = folder / "t" / "relayout-mine"
    users.mkdir()
    with temporary_directory() as own:
        assert sorted(_left(folder)) == sorted([users.name, os.path.basename(own)])
    assert _left(folder) == [users.name]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show environments")
def test_a_run_of_the_oracle_leaves_no_process(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "o.sh").write_text("setsid sleep 77.25 > /dev/null &\ngrep -q negate $1\n")
    assert main(["reduce", "a.hlo", "--oracle", "sh o.sh {}", "--trials", "3"]) == 0, capfd.readouterr().err
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 77.25" not in running
    assert _left(folder) == []


def test_a_long_line_of_pairs_is_rejected_unread() -> None:
    """Counts calls: shlex makes one for each character, and copies the word each time."""
    profile = Profile()
    with profile.measuring(), pytest.raises(UsageError, match="list:2: has 50000 characters"):
        parse_pairs("a b\n" + "x" * 50_000, "list")
    assert profile.calls < 1000


def test_a_directory_that_is_gone_is_one_line(folder: Path) -> None:
    code = f"import os; os.mkdir('x'); os.chdir('x'); os.rmdir('../x'); import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    run = "from relayout.__main__ import run; sys.argv[1:] = ['opt', '../a.hlo']; run()"
    ended = subprocess.run([sys.executable, "-P", "-c", code + run], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (
        2,
        "error: the working directory does not exist any more",
    )


_COMMANDS = {
    "opt": "a.hlo -p expand-tiling",
    "check": "a.hlo a.hlo --engines proof",
    "validate": "a.hlo",
    "bisect": "missing.hlo",
    "replay": "a.hlo a.hlo c.json",
    "reduce": "a.hlo --oracle 'true {}' --trials 1",
    "inside": "a.hlo",
    "run": "a.hlo --inputs random",
    "report": "a.hlo -o r.html",
    "why": "a.hlo --target cpu",
    "tune": "a.hlo --target tpu-v5e",
    "extract": "a.hlo y",
    "convert": "a.hlo --to pb -o a.pb",
    "count": "a.hlo",
    "print": "a.hlo",
    "explain": "'f32[3,5]'",
    "index": "'f32[3,5]' 1,2",
    "bitcast": "'f32[3,5]' 'f32[15]'",
    "doctor": "",
}
_OTHERS = (
    "numpy",
    "jax",
    "jaxlib",
    "passes",
    "dialect_utils",
    "ml_dtypes",
    "pyarrow",
    "sitecustomize",
    "usercustomize",
)


def test_no_command_imports_from_the_working_directory(folder: Path) -> None:
    told = folder / "imported"
    for name in {*sys.stdlib_module_names, *_OTHERS, "relayout"}:
        (folder / f"{name}.py").write_text(f"open({str(told)!r}, 'a').write(__name__)\n")
    for name in ("relayout.toml", "pyproject.toml", "setup.cfg", ".env", "lit.cfg.py"):
        (folder / name).write_text("no = configuration [\n")
    assert _COMMANDS.keys() == {**COMMANDS, **FORMS}.keys()
    script = os.path.join(os.path.dirname(sys.executable), "relayout")
    for name, arguments in _COMMANDS.items():
        subprocess.run(f"{script} {name} {arguments}", shell=True, capture_output=True, check=False)
        assert not told.exists(), (name, told.read_text())
