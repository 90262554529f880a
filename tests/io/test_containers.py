"""Modules in logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialect_utils.io.containers import find_in_log
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from relayout.cli import main

HLO = (
    "HloModule m\n\nf {\n  a = f32[] parameter(0)\n}\n\n"
    "ENTRY e {\n  p = f32[3]{0} parameter(0)\n  ROOT n = f32[3]{0} negate(p)\n}\n"
)
PREFIX = "I0102 03:04:05.678901  12345 hlo_pass.cc:77] "


@pytest.mark.parametrize(
    "log",
    [
        f"[ScheduleSyncTensorsGraph]\n  mark_step (a.py:3)\n\n## BEGIN_GRAPH\n{HLO}\n\n## END_GRAPH\n",
        f"compiling ...\n{HLO}\n2024-01-02 done: func.func\n",
        "".join(f"{PREFIX}{line}\n" for line in ["Before:", *HLO.splitlines(), "After."]),
        f'nothing yet\n{HLO}FileNames\n1 "a.py"\n',
    ],
    ids=["torch_xla", "plain", "every line", "tables"],
)
def test_a_module_in_a_log(log: str) -> None:
    found = find_in_log(log, "a.log")
    assert found is not None
    assert found.text == HLO
    assert log.splitlines()[found.first_line - 1].endswith("HloModule m")
    assert parse_bytes(log.encode(), "a.log").text() == HLO


def test_errors_have_locations_in_the_log() -> None:
    log = f"one\ntwo\n{HLO.replace('negate(p)', 'negate(q)')}three\n"
    with pytest.raises(DiagnosticError) as caught:
        parse_bytes(log.encode(), "a.log")
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert location.source.line_and_column(location.span.start) == (11, 29)


SEVERAL = "log\n" + "".join(
    f"{HLO.replace('HloModule m', f'HloModule {name}')}\n" for name in ("f", "jit_g", "f", "h.1")
)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("jit_g", "jit_g"), ("jit_*", "jit_g"), ("module_0002", "f"), ("module_0000.f", "f"), ("h.1", "h.1")],
)
def test_a_name_chooses_a_module_of_a_log(wanted: str, name: str) -> None:
    text = parse_bytes(SEVERAL.encode(), "a.log", [wanted]).text()
    assert text == HLO.replace("HloModule m", f"HloModule {name}")
    found = find_in_log(SEVERAL, "a.log", [wanted])
    assert found is not None
    assert SEVERAL.splitlines()[found.first_line - 1] == f"HloModule {name}"
    # Texts of modules one after the other, too.
    assert parse_bytes(SEVERAL.removeprefix("log\n").encode(), "a.hlo", [wanted]).text() == text


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ([], "a.log: prints 4 modules, at lines 2, 13, 24, 35"),
        (["f"], "a.log: prints 2 modules that are called f, at lines 2, 24"),
        (["x", "y"], "a.log: prints no module that is called x, y"),
    ],
)
def test_an_error_names_the_modules_of_a_log(wanted: list[str], message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_bytes(SEVERAL.encode(), "a.log", wanted)
    [found] = caught.value.diagnostics
    assert found.message == message
    assert found.hint == "--module NAME chooses one of module_0000.f, module_0001.jit_g, module_0002.f, module_0003.h.1"


def test_a_single_module_must_have_the_name() -> None:
    for data in (b"module @m {}", HLO.encode()):
        assert parse_bytes(data, "a.x", ["m*"]).name == "m"
        with pytest.raises(DiagnosticError, match=r"a.x: (holds m, and no module called x|prints no module)"):
            parse_bytes(data, "a.x", ["x"])


COMMANDS = [["opt"], ["check", "-p", "strip-layouts"], ["run", "--inputs", "random"], ["report"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_reads_the_module_that_is_chosen(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a.log"
    log.write_text(SEVERAL.replace("negate", "unknown", 1))
    assert main([*command, str(log), "--module", "jit_g"]) == 0
    assert "log" not in capsys.readouterr().out.replace(str(log), "")
    assert main([*command, str(log), "--module", "module_0000"]) != 0
    assert f"{log}:10:22: error: unknown opcode" in capsys.readouterr().err
    assert main([*command, str(log)]) != 0
    assert "--module NAME chooses one of module_0000.f" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--split-input-file", "--verify-diagnostics"])
def test_options_that_read_a_whole_file_choose_no_module(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text(SEVERAL)
    assert main(["opt", str(tmp_path / "a.log"), "--module", "f", option]) == 2
    assert f"and {option} reads all of it" in capsys.readouterr().err


def test_a_log_that_prints_several_or_half_a_module() -> None:
    with pytest.raises(DiagnosticError, match="prints 2 modules, at lines 2, 13"):
        parse_bytes(f"log\n{HLO}\n{HLO}".encode(), "a.log")
    with pytest.raises(DiagnosticError, match="expected an instruction or"):
        parse_bytes(f"log\n{HLO[:-3]}".encode(), "a.log")
