"""`relayout validate --with`: each pass of a pipeline of another tool, judged by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.execution.passing import PassRunner
from dialect_utils.io.inputs import named_input
from dialect_utils.text import DiagnosticError, Source
from passes.framework.spec import parse_innermost, single_passes
from relayout.cli import main
from relayout.validation.running import cases_of
from tests.relayout import planted_passes
from tests.relayout.planted_passes import RIGHT, WRONG, program

PLANTED = "tests.relayout.planted_passes:run"
ACOS = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.acos %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
PROOF = ("--engines", "proof")
COPY = f"{sys.executable} -c 'import sys; sys.stdout.write(open(sys.argv[1]).read())' {{in}}"


def rows(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int) -> list[dict[str, Any]]:
    assert main(["validate", *arguments, "--json"]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def written(folder: Path, text: str = ACOS, name: str = "case.mlir") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


def running(command: str) -> list[bytes]:
    """Returns the command lines of all processes that contain a text."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(file.read_bytes())
    return [each for each in found if command.encode() in each]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an empty working directory, from which the functions of this tree can be imported."""
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("names", [WRONG, RIGHT], ids=["wrong", "right"])
def test_each_wrong_pass_is_named_and_no_right_one(
    names: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in names:
        written(folder, program(name), f"{name}.mlir")
    engines = "proof,reference" if names is WRONG else "proof"
    found = rows([str(folder), "--with", PLANTED, "--no-reduce", "--engines", engines], capsys, int(names is WRONG))
    assert len(found) == 3 * len(names)
    wrong = {each["change"]: each["verdict"] for each in found if each["verdict"] in ("different", "close")}
    # 0 - x and -x are equal over the reals: they differ in the sign of zero only.
    # 0 - x and -x differ in the sign of zero only: equal if no element of x is 0.
    assert wrong == ({name: "different" for name in WRONG if name != "zero"} if names is WRONG else {})
    assert {each["number"] for each in found if each["verdict"] != "equal"} <= {2}


def test_the_passes_of_jaxlib_run_one_by_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trips = "stablehlo-legalize-to-vhlo,vhlo-legalize-to-stablehlo,stablehlo-legalize-to-hlo,hlo-legalize-to-stablehlo"
    passes = f"builtin.module(func.func(chlo-legalize-to-stablehlo),{trips})"
    found = rows([written(folder), "--with", "jaxlib", "--passes", passes, *PROOF], capsys, 0)
    # A module in VHLO or MHLO is judged once it is StableHLO again.
    assert [each["change"] for each in found] == [
        "chlo-legalize-to-stablehlo",
        "stablehlo-legalize-to-vhlo+vhlo-legalize-to-stablehlo",
        "stablehlo-legalize-to-hlo+hlo-legalize-to-stablehlo",
    ]
    assert {each["pipeline"] for each in found} == {"jaxlib"}
    assert {each["verdict"] for each in found} == {"equal"}


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("jaxlib", "'nope' does not refer to a registered pass or pass pipeline"),
        ("false {in}", "false ended with exit code 1: it says no reason"),
        ("sh -c 'echo \"x.mlir:1:2: error: no such op\" >&2; exit 3'", "sh ended with exit code 3: no such op"),
        ("sh -c 'kill -SEGV $$'", "sh was ended by SIGSEGV: it says no reason"),
        ("true {in} {out}", "true wrote no module"),
        ("no-such-program {in}", "No such file or directory: 'no-such-program'"),
        ("tests.relayout.planted_passes:run", "KeyError: 'nope'"),
        ("os:abort", "abort() takes no arguments (2 given)"),
        ("os:no_such_function", "has no attribute 'no_such_function'"),
        ("shlex:split", "shlex:split returns list, not the text of a module"),
    ],
)
def test_a_pass_that_fails_has_the_reason_of_the_tool(tool: str, reason: str, folder: Path) -> None:
    with PassRunner(tool) as runner, pytest.raises(DiagnosticError, match=re.escape(reason)):
        runner.run(ACOS, "nope")


def test_a_pass_that_fails_is_a_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passes = ["--passes", "chlo-legalize-to-stablehlo,nope,later"]
    found = rows([written(folder), "--with", "jaxlib", *PROOF, *passes], capsys, 1)
    assert [(each["verdict"], each["methods"]) for each in found] == [("equal", ["proof"]), ("unknown", ["failed"])]
    reason = "'nope' does not refer to a registered pass or pass pipeline"
    assert found[1]["said"] == [f"nope failed: {reason}; the passes after it did not run"]


@pytest.mark.parametrize("tool", [COPY, f"{COPY} > /dev/null", "cp {in} {out}", "cat", "cat -"])
def test_a_program_reads_and_writes_a_module(tool: str) -> None:
    # No shell reads the command: `>` is an argument.
    with PassRunner(tool) as runner:
        assert runner.run(ACOS, "any") == ACOS


def test_a_program_gets_the_pass_and_the_arguments_of_the_run_line() -> None:
    with PassRunner("echo {pass} {args} all={args}") as runner:
        assert runner.run(ACOS, "a{x=1 y}", ("--b", "c d")) == "a{x=1 y} --b c d all=--b 'c d'\n"


@pytest.mark.parametrize("ends", ["cat", "sleep 60", "kill -KILL $$"])
def test_no_process_and_no_file_is_left(ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    marker = f"6{os.getpid()}"
    tool = f"sh -c 'setsid sleep {marker} & setsid nohup sleep {marker} & {ends}'"
    with PassRunner(tool, seconds=1.0) as runner:
        if ends == "cat":
            assert runner.run(ACOS, "any") == ACOS
        else:
            with pytest.raises(DiagnosticError):
                runner.run(ACOS, "any")
    assert not running(f"sleep\0{marker}")
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_crashes_or_hangs_ends_its_own_step(folder: Path) -> None:
    (folder / "own.py").write_text(
        "import os, time\n\ndef run(text, name):\n"
        "    if name == 'crash':\n        os.abort()\n"
        "    if name == 'hang':\n        time.sleep(60)\n"
        "    if name == 'grow':\n        return 'x' * 10**11\n"
        "    return text + '// ' + name\n"
    )
    start = time.monotonic()
    with PassRunner("own:run", seconds=2.0) as runner:
        for name, reason in (("crash", "SIGABRT"), ("hang", "no result after 2 seconds"), ("grow", "MemoryError")):
            with pytest.raises(DiagnosticError, match=reason):
                runner.run(ACOS, name)
        assert runner.run(ACOS, "last") == f"{ACOS}// last"
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        ("my-opt %s --a --b | FileCheck %s", [["a", "b"]]),
        ("env X=1 /usr/bin/my-opt -a='x=1 y=2' -split-input-file < %s 2>&1 | FileCheck %s", [["a{x=1 y=2}"]]),
        (
            "my-opt --pass-pipeline='builtin.module(func.func(a{x=1},b))' %s",
            [["builtin.module(func.func(a{x=1}))", "builtin.module(func.func(b))"]],
        ),
        ('my-opt "--pass-pipeline=builtin.module(a)" %s -verify-diagnostics', [["builtin.module(a)"]]),
        ("my-opt --pass-pipeline 'a,b' %s | my-opt --c | FileCheck %s", [["a", "b", "c"]]),
        ("my-opt --a={x=1} %s -o %t && FileCheck %s < %t", [["a{x=1}"]]),
        ("my-opt %s \\\n// RUN:   --a | FileCheck %s", [["a"]]),
        ("my-opt %s --a | FileCheck %s\n// RUN: my-opt %s --b | FileCheck %s", [["a"], ["b"]]),
        ("my-opt %s --a | FileCheck %s\n// RUN: my-opt --a %s | FileCheck %s --check-prefix=B", [["a"]]),
        ("not my-opt %s --a 2>&1 | FileCheck %s", []),
        ("my-opt %s -allow-unregistered-dialect --mlir-print-op-generic | FileCheck %s", []),
        ("my-translate --interpret %s", []),
        ("my-opt 'unbalanced", []),
    ],
)
def test_the_passes_of_a_run_line(line: str, passes: list[list[str]], tmp_path: Path) -> None:
    file = written(tmp_path, f"// RUN: {line}\n{ACOS}")
    assert [[each.text for each in case.passes] for case in cases_of(named_input(file), None)] == passes


def test_the_arguments_of_a_run_line_ask_for_one_pass_at_a_time(tmp_path: Path) -> None:
    line = (
        "// RUN: my-opt --a %s -allow-unregistered-dialect --b=x=1 --pass-pipeline='c,func.func(d)' -split-input-file"
    )
    [case] = cases_of(named_input(written(tmp_path, f"{line}\n{ACOS}")), None)
    assert [each.flags for each in case.passes] == [
        ("-allow-unregistered-dialect", "--a"),
        ("-allow-unregistered-dialect", "--b=x=1"),
        ("-allow-unregistered-dialect", "--pass-pipeline=builtin.module(c)"),
        ("-allow-unregistered-dialect", "--pass-pipeline=builtin.module(func.func(d))"),
    ]


def test_a_file_with_separators_is_several_cases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(folder, f"// RUN: my-opt --chlo-legalize-to-stablehlo %s\n{ACOS}\n// -----\n\n{ACOS}")
    found = rows([file, "--with", "jaxlib", *PROOF], capsys, 0)
    assert [each["program"] for each in found] == ["module_0000.case-1@main", "module_0001.case-2@main"]


def test_each_public_function_is_a_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (program(name).partition("\n")[2].replace("@main", f"@{name}") for name in ("minimum", "reverse"))
    helper = "func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
    file = written(folder, f"// RUN: my-opt %s --minimum\n{first}{helper}{second}")
    (folder / "own.py").write_text("def run(text, name):\n    return text.replace('maximum', 'minimum')\n")
    found = rows([file, "--with", "own:run", "--no-reduce", "--engines", "reference"], capsys, 1)
    assert [(each["program"], each["verdict"]) for each in found] == [
        ("module_0000.case@minimum", "different"),
        ("module_0001.case@reverse", "equal"),
    ]


def test_a_function_that_a_pass_removes_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "own.py").write_text("def run(text, name):\n    return text.replace('@main', '@other')\n")
    [found] = rows([written(folder), "--with", "own:run", "--passes", "a", *PROOF], capsys, 1)
    assert found["said"] == ["the function @main is not in the module"]


def test_a_file_without_passes_is_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(folder, f"// RUN: my-opt --chlo-legalize-to-stablehlo %s\n{ACOS}")
    other = written(folder, ACOS, "other.mlir")
    assert main(["validate", str(folder), "--with", "jaxlib", *PROOF]) == 0
    assert "note: " in (said := capsys.readouterr().err)
    assert "other.mlir has no RUN line with passes" in said
    assert main(["validate", other, "--with", "jaxlib"]) == 1
    assert "error: " in capsys.readouterr().err


def test_a_pipeline_that_cannot_be_read_is_a_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(folder, f"// RUN: my-opt --pass-pipeline='a(b' %s\n{ACOS}", "bad.mlir")
    written(folder, f"// RUN: my-opt --chlo-legalize-to-stablehlo %s\n{ACOS}", "good.mlir")
    found = rows([str(folder), "--with", "jaxlib", *PROOF], capsys, 1)
    assert [(each["verdict"], each["said"][0]) for each in found if each["verdict"] != "equal"] == [
        ("unknown", "this ( is never closed")
    ]


def test_dump_keeps_the_modules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        written(folder),
        "--with",
        "jaxlib",
        "--passes",
        "chlo-legalize-to-stablehlo,nope",
        *PROOF,
        "--dump",
        "kept",
    ]
    first = rows(arguments, capsys, 1)
    again = rows(["kept", *PROOF], capsys, 1)
    assert [each["said"] for each in first] == [each["said"] for each in again]
    assert [each["change"] for each in again] == ["chlo-legalize-to-stablehlo", "nope"]


LISTED = """import re

def run(text, name):
    if name.startswith("listed") and {wrong!r} in re.split("[;,=}}]", name):
        return text.replace("subtract %a, %b", "subtract %b, %a")
    return text
"""


@pytest.mark.parametrize(
    ("option", "wrong", "position"),
    [("patterns=a;b;c;swap;d", "swap", "4 of 5"), ("on={a,b} patterns={swap;b(1,2);c}", "swap", "1 of 3")],
)
def test_the_wrong_element_of_a_list_is_named(
    option: str, wrong: str, position: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "own.py").write_text(LISTED.format(wrong=wrong).replace("[;,=}]", "[;,={}]"))
    file = written(folder, program("subtract"))
    passes = f"first,listed{{{option}}},last"
    found = rows(
        [file, "--with", "own:run", "--passes", passes, "--reduced-dir", "small", "--engines", "reference"], capsys, 1
    )
    [different] = [each for each in found if each["verdict"] == "different"]
    assert different["said"][-1] == f"the first element of patterns that makes a difference: {wrong} ({position})"
    assert different["reduced"]["files"]


def test_single_passes_keep_their_anchors() -> None:
    text = "builtin.module(a,func.func(b{x=1 y={p;q,r}},c),d)"
    single = single_passes(Source("<test>", text))
    assert single == [
        "builtin.module(a)",
        "builtin.module(func.func(b{x=1 y={p;q,r}}))",
        "builtin.module(func.func(c))",
        "builtin.module(d)",
    ]
    assert [str(parse_innermost(each).name) for each in single] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("arguments", [["--passes", "a"], ["--dump", "d"], ["--with", "jaxlib", "--target", "cpu"]])
def test_options_without_effect_are_named(arguments: list[str], folder: Path) -> None:
    assert main(["validate", written(folder), *arguments]) == 2


def test_junit_has_a_case_a_step(folder: Path) -> None:
    pytest.importorskip("junitparser", reason="needs the extra ci")
    file = written(folder, program("minimum"))
    assert main(["validate", file, "--with", PLANTED, "--no-reduce", "--junit", "out.xml", "--sarif", "out.sarif"]) == 1
    assert (folder / "out.xml").read_text().count("<testcase") == 3
    assert "minimum" in (folder / "out.sarif").read_text()


def test_the_supervisor_of_a_tool_ends_with_its_parent(tmp_path: Path) -> None:
    marker = f"7{os.getpid()}"
    code = (
        "from dialect_utils.execution.passing import PassRunner\n"
        f"PassRunner('sh -c \"setsid sleep {marker} & sleep {marker}\"').run('', 'any')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(planted_passes.__file__).parents[2])

    def left() -> list[bytes]:
        return running(f"sleep\0{marker}")

    end = time.monotonic() + 20
    while len(left()) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    assert len(left()) == 2
    process.kill()
    process.wait()
    while left() and time.monotonic() < end + 10:
        time.sleep(0.05)
    assert left() == []
