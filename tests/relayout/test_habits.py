"""Options and habits of users of mlir-opt, lit and ripgrep."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from relayout import __version__
from relayout.cli import COMMANDS, FORMS, main
from tests.paths import ROOT

TEXT = "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
STRIPPED = TEXT.replace("{1,0:T(2,2)}", "").replace("{1,0}", "")


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "m.hlo"
    file.write_text(TEXT)
    return str(file)


class Input(io.TextIOWrapper):
    """Standard input with given bytes."""

    def __init__(self, data: bytes, *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data))
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize("option", ["-p", "--passes", "--pass-pipeline", "-pass-pipeline"])
@pytest.mark.parametrize("spec", ["strip-layouts", "builtin.module(strip-layouts)"])
def test_a_pipeline_is_given_as_mlir_does(
    program: str, option: str, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in ([option, spec], [f"{option}={spec}"] if len(option) > 2 else [f"{option}{spec}"]):
        assert main(["opt", program, *given]) == 0
        assert capsys.readouterr().out == STRIPPED


def test_standard_input_is_read_without_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Input(TEXT.encode()))
    assert main(["opt", "-p", "strip-layouts"]) == 0
    assert capsys.readouterr().out == STRIPPED
    monkeypatch.setattr(sys, "stdin", Input(TEXT.encode()))
    assert main(["check", "-p", "strip-layouts", "--engines", "proof"]) == 0
    assert capsys.readouterr().out.startswith("-: equal (proof)")
    monkeypatch.setattr(sys, "stdin", Input(b"", terminal=True))
    assert main(["opt"]) == 2
    assert "expected a FILE" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*COMMANDS, *FORMS])
def test_every_command_has_its_help_its_exit_codes_and_the_version(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "exit codes:\n  0  " in text
    for arguments in (["help", name], ["--help", name], ["-h", name]):
        assert main(arguments) == 0
        assert capsys.readouterr().out == text
    assert main([name, "--version"]) == 0
    assert capsys.readouterr().out == f"relayout {__version__}\n"


def test_a_pass_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    pages = []
    for arguments in (["opt", "--help", "expand-tiling"], ["check", "-h", "expand-tiling"], ["help", "expand-tiling"]):
        assert main(arguments) == 0
        pages.append(capsys.readouterr().out)
    assert len(set(pages)) == 1
    assert pages[0].startswith("expand-tiling: Rewrites every tiled layout as explicit")
    assert "interface=logical|physical (default logical)" in pages[0]
    assert "Before:" in pages[0]
    assert main(["help", "expand-for-tpu"]) == 0
    assert "annotate-layouts{target=tpu-v5e},expand-tiling" in capsys.readouterr().out


def test_passes_are_printed_before_after_and_where_they_changed(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = ["-p", "verify-layouts,strip-layouts"]
    assert main(["opt", program, *spec, "--print-before", "strip-layouts"]) == 0
    assert capsys.readouterr().err == f"// -----// IR dump before strip-layouts //----- //\n{TEXT}\n"
    assert main(["opt", program, *spec, "--print-after=strip-layouts"]) == 0
    assert capsys.readouterr().err == f"// -----// IR dump after strip-layouts //----- //\n{STRIPPED}\n"
    assert main(["opt", program, *spec, "--print-changed"]) == 0
    shown = capsys.readouterr().err
    assert "after verify-layouts omitted: no change" in shown
    assert shown.count(TEXT) == 0
    assert shown.count(STRIPPED) == 1
    assert main(["opt", program, *spec, "--print-before-all", "--print-after-all"]) == 0
    assert capsys.readouterr().err.count("IR dump") == 4


def test_a_directory_that_ends_in_a_slash_is_made(program: str, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert main(["opt", program, "-p", "strip-layouts", "-o", f"{out}/"]) == 0
    assert (out / "m.hlo").read_text() == STRIPPED


def test_tables_have_headers(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "--list-passes"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("pass                   what it does, and its options\n")
    assert "\nnamed pipeline         what it does, and its passes\n" in out
    assert main(["opt", program, "-p", "strip-layouts", "--timing"]) == 0
    assert capsys.readouterr().err.splitlines()[0].split() == ["time", "share", "pass"]
    dump = str(ROOT / "examples/attention_tpu.hlo")
    inputs = ["--inputs", dump.replace(".hlo", ".npz"), "--verify-bitcasts"]
    assert main(["run", dump, *inputs]) == 0
    assert capsys.readouterr().out.split()[:6] == ["bitcast", "source", "destination", "kind", "verdict", "decided"]


def test_expanded_stablehlo_prints_its_names_as_locations(capsys: pytest.CaptureFixture[str]) -> None:
    program = str(ROOT / "examples/attention.mlir")
    spec = ["-p", "annotate-layouts{target=tpu-v5e},expand-tiling"]
    assert main(["opt", program, *spec]) == 0
    assert "loc(" not in capsys.readouterr().out
    assert main(["opt", program, *spec, "--locations"]) == 0
    text = capsys.readouterr().out
    assert '.physical"(' in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_commands_options_and_passes(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in (*COMMANDS, *FORMS, "print-changed", "expand-tiling"))


def test_bash_reads_its_completion() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "relayout", "--print-completion", "bash"], capture_output=True, text=True, cwd=ROOT
    )
    lines = "\nCOMP_WORDS=(relayout ch); COMP_CWORD=1; _shtab_relayout 2>/dev/null; echo ${COMPREPLY[@]}"
    read = subprocess.run(["bash", "-c", made.stdout + lines], capture_output=True, text=True)
    assert "check" in read.stdout.split(), read.stderr
