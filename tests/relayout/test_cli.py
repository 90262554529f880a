"""The contract of every command."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from dialect_utils.io.files import write_file
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout import __version__
from relayout.cli import COMMANDS, FORMS, main, parser_of
from relayout.console import Console, UsageError, colour, is_coloured
from tests.pages import Reader
from tests.paths import ROOT
from tests.signals import default_signals

MODULE = "HloModule m\r\n\r\nENTRY e {\r\n  ROOT p = f32[3,5]{1,0} parameter(0) // \xe9\r\n}"


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "expected a command", "one of report, tune, check"),
        (["opr"], "unknown command opr", "did you mean opt?"),
        (["--versoin"], "unknown option --versoin", "did you mean --version?"),
        (["opt", "x.hlo", "--verfy-each"], "unknown option --verfy-each", "did you mean --verify-each?"),
        (["opt", "x.hlo", "--emit", "txt"], "txt is not one of text, bytecode, pb; did you mean text?", "--help"),
        (
            ["opt", "x.hlo", "--expand-tiling"],
            "unknown option --expand-tiling",
            "passes are given with -p: relayout opt",
        ),
        (
            ["run", "x.hlo", "--fold-tiling"],
            "unknown option --fold-tiling",
            "relayout run --help shows all options",
        ),
        (["opt", "x.hlo", "-p", "expand-tiling", "--print-after", "expand-tilin"], "does not run", "did you mean"),
        (["explain", "f32[3]", "--target", "tpu-v5"], "unknown target 'tpu-v5'", "known targets: tpu-v2"),
        (["help", "expand-tilin"], "no command, pass or pipeline is called", "did you mean expand-tiling?"),
        (["--print-completion", "fish"], "fish is not one of bash, zsh, tcsh", ""),
        (["opt", "x.hlo", "-p"], "expected one argument", "--help"),
        (["opt", "x.hlo", "-p", "expand-tilng"], "unknown pass expand-tilng", "did you mean expand-tiling?"),
        (["opt", "x.hlo", "--pipelines", "absent.toml", "-p", "a"], "absent.toml", ""),
        (["opt", "x.hlo", "--split-input-file", "--emit", "pb"], "--emit pb writes one module", ""),
        (["opt", "a.hlo", "b.hlo", "-o", "absent.hlo"], "2 modules need a directory", "-o NAME/ makes one"),
        (["opt", "a.hlo", "-o", "a.pb"], "text has another ending", "--emit pb"),
        (["opt", "a.hlo", "-o", "a.txt.gz"], "is not compressed", "leave the ending out"),
        (["explain", "--index", "f32[3]"], "expected an index", "relayout explain --index"),
    ],
)
def test_a_wrong_command_exits_with_2(
    arguments: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert hint in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"relayout {__version__}\n"
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


@pytest.mark.parametrize("name", [*COMMANDS, *FORMS])
def test_help_ends_with_two_examples_that_run(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([name, "--help"]) == 0
    examples = parser_of(name).kind.examples
    assert capsys.readouterr().out.rstrip().endswith("\n".join(f"  {example}" for example in examples))
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # outputs must not be written into the tree
    monkeypatch.chdir(tmp_path)
    for example in examples:
        status, printed = Reader(tmp_path).try_run(example)
        if name == "tune" and find_spec("libtpu") is None:
            assert "pip install 'relayout[tpu]'" in printed
            continue
        assert status == 0, printed


def test_a_missing_file_is_a_wrong_command_and_the_others_go_on(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "m.hlo"
    file.write_bytes(MODULE.encode("latin-1"))
    assert main(["opt", str(tmp_path / "absent"), str(file)]) == 2
    captured = capfdbinary.readouterr()
    assert captured.out == MODULE.encode("latin-1")
    assert b"absent: no such file or directory" in captured.err


def test_bytes_come_back_as_they_were(tmp_path: Path) -> None:
    file, out = tmp_path / "m.hlo", tmp_path / "out.hlo"
    file.write_bytes(MODULE.encode("latin-1"))
    assert main(["opt", str(file), "-o", str(out)]) == 0
    assert out.read_bytes() == MODULE.encode("latin-1")


def test_json_prints_one_object_per_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(MODULE)
    assert main(["opt", str(file), "absent", "--json"]) == 2
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["file"], first["modified"], first["module"]) == (str(file), False, file.read_bytes().decode())
    assert second == {"file": "absent", "error": "absent: no such file or directory"}


def test_a_broken_input_shows_its_place_and_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("HloModule m\n\nENTRY e {\n  ROOT p = f32[3,5]{1,1} parameter(0)\n}\n")
    assert main(["opt", str(file)]) == 1
    text = capsys.readouterr().err
    assert f"{file}:4:23: error: minor_to_major {{1,1}} repeats dimension 1" in text
    assert "Traceback" not in text
    assert main(["opt", str(file), "--traceback"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_split_input_shows_the_places_of_the_whole_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "HloModule m\nENTRY e {\n  ROOT p = f32[3]{0} parameter(0)\n}\n"
    bad = good.replace("{0}", "{7}")
    file = tmp_path / "m.hlo"
    file.write_text(f"{good}// -----\n{bad}// -----\n{good}")
    assert main(["opt", str(file), "--split-input-file"]) == 1
    captured = capsys.readouterr()
    assert f"{file}:8:19: error" in captured.err
    assert captured.out.count("ROOT p") == 2
    file.write_text(f"{good}// -----\n{good}")
    assert main(["opt", str(file), "--split-input-file"]) == 0
    assert capsys.readouterr().out == file.read_text()


def test_a_report_is_of_a_module_that_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The alias of this module names a parameter that does not exist."""
    file = tmp_path / "m.hlo"
    body = "ENTRY main {\n  x = f32[8]{0} parameter(0)\n  ROOT n = f32[8]{0} negate(x)\n}\n"
    file.write_text("HloModule m, is_scheduled=true, input_output_alias={ {}: (3, {}) }\n\n" + body)
    assert main(["report", str(file)]) == 1
    assert "parameter 3, which do not exist" in capsys.readouterr().err


def test_a_mistake_of_ours_is_no_traceback_either(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise KeyError("x")

    assert Console().attempt(work) == 1
    assert "error: internal error: KeyError: 'x'" in capsys.readouterr().err

    def dig() -> int:
        return dig()

    assert Console().attempt(dig) == 1
    assert "error: calls or regions nest too deep here" in capsys.readouterr().err

    def hoard() -> int:
        raise MemoryError("Unable to allocate 7 TiB")

    assert Console().attempt(hoard) == 1
    assert capsys.readouterr().err == "error: not enough memory: unable to allocate 7 TiB\n"
    with pytest.raises(UsageError):
        Console().attempt(lambda: (_ for _ in ()).throw(UsageError(Diagnostic("x"))))


def test_output_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o640)
    write_file(target, b"new")
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o640)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(target, b"newer")
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert target.read_bytes() == b"new"


def test_an_output_that_cannot_be_written_has_the_name_that_the_user_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, target = tmp_path / "m.hlo", tmp_path / "absent" / "out.hlo"
    file.write_text(MODULE)
    assert main(["opt", str(file), "-o", str(target)]) == 2
    folder = target.parent
    assert capsys.readouterr().err == f"error: {target}: there is no directory {folder}\nhint: mkdir -p {folder}\n"


@pytest.mark.parametrize("option", ["-o", "--dump-dir"])
def test_files_of_one_name_do_not_overwrite_each_other(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()
    passes = ["-p", "strip-layouts"]
    assert main(["opt", "a/m.hlo", "b/m.hlo", *passes, option, str(tmp_path / "out")]) == 2
    assert f"several FILEs would be written to {tmp_path / 'out' / 'm.hlo'}" in capsys.readouterr().err
    if option == "-o":
        assert main(["opt", "-", option, str(tmp_path / "out")]) == 2


def test_a_link_is_followed_and_a_device_is_written_directly(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    write_file(link, b"x")
    assert link.is_symlink()
    assert target.read_bytes() == b"x"
    write_file(Path(os.devnull), b"x")


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("f32[3,5] 1,1\n" * 50_000)
    shell = f"{sys.executable} -m relayout explain --index - < {lines} | head -n 1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (141, "6\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["opt", "--list-passes"], ["explain", "--index", "f32[3]", "1"]])
def test_a_full_disk_is_said_without_a_traceback(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "relayout", *arguments], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (result.returncode, result.stderr) == (1, "error: standard output: no space left on device\n")


def test_streams_that_are_closed_are_empty() -> None:
    shell = f"{sys.executable} -m relayout opt - <&- >&-"
    result = subprocess.run(["bash", "-c", shell], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (1, "error: <stdin>: holds no module: it is empty\n")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_quietly(ending: signal.Signals) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "relayout", "explain", "--index", "-", "--json"]
    with default_signals():
        process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"f32[3,5] 1,1\n" * 1000)
        process.stdin.flush()
        process.stdout.readline()  # the process has started, and waits for more lines
        process.send_signal(ending)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + ending, b"")


LOST = """
import signal, sys, time
from relayout.process import ended_by_signals, exit_code

class Destroyed:
    def __del__(self):
        signal.raise_signal(int(sys.argv[1]))

try:
    with ended_by_signals():
        Destroyed()
        time.sleep(20)
except KeyboardInterrupt as interrupt:
    sys.exit(exit_code(interrupt))
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_a_destructor_swallows_comes_again(ending: signal.Signals) -> None:
    with default_signals():
        result = subprocess.run(
            [sys.executable, "-c", LOST, str(int(ending))], cwd=ROOT, capture_output=True, timeout=60
        )
    assert (result.returncode, result.stderr) == (128 + ending, b"")


def test_a_signal_waits_until_a_library_is_loaded() -> None:
    """An exception during the start of a library of C++ may crash the process with SIGSEGV."""
    code = LOST.replace(
        "        Destroyed()\n", "        loader = ExtensionFileLoader('m', 'm')\n        load(loader)\n"
    )
    code = (
        """from importlib.machinery import ExtensionFileLoader
def load(self):
    signal.raise_signal(int(sys.argv[1]))
    print("loaded", flush=True)
"""
        + code
    )
    command = [sys.executable, "-c", code, str(int(signal.SIGTERM))]
    with default_signals():
        result = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (143, b"loaded\n", b"")


def test_ctrl_c_while_the_program_is_loaded_ends_quietly() -> None:
    code = "import signal, sys, relayout.__main__ as program\nsys.meta_path.insert(0, Interrupts)\n"
    code += "sys.exit(program.run())"
    code = "class Interrupts:\n    find_spec = lambda *_: signal.raise_signal(2)\n" + code
    with default_signals():
        result = subprocess.run([sys.executable, "-c", code, "--version"], cwd=ROOT, capture_output=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"")


def test_colour_marks_severities_and_carets_only() -> None:
    text = colour("a:1:2: error: x note: y\n  code\n  ^~~\nhint: z")
    assert text.splitlines()[0] == "a:1:2: \033[1;31merror:\033[0m x note: y"
    assert text.splitlines()[1] == "  code"
    assert "\033[1;32m  ^~~\033[0m" in text


def test_colour_only_on_a_terminal_and_not_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    terminal, file = Terminal(), io.StringIO()
    assert [is_coloured("auto", stream) for stream in (terminal, file)] == [True, False]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert is_coloured("auto", file)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not is_coloured("auto", terminal)
    assert is_coloured("always", file)
    assert not is_coloured("never", terminal)


@pytest.mark.parametrize("given", [["--color=always"], ["--color", "always"]])
def test_color_colours_errors_in_the_command_too(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", *given, "absent.hlo"]) == 2
    assert main(["opt", *given, "--absent"]) == 2
    assert capsys.readouterr().err.count("\033[1;31merror:\033[0m") == 2


def test_a_name_that_is_not_utf_8_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise DiagnosticError(Diagnostic("bad\udce9name"))

    assert Console().attempt(work) == 1
    assert "bad\\udce9name" in capsys.readouterr().err
