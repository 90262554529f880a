"""No option is ignored: what cannot take effect is an error, and words of other programs have an answer."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relayout.cli import COMMANDS, FORMS, main
from relayout.habits import OPTIONS

TEXT = "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
WRONG = TEXT.replace("{1,0} negate", "{1,0} tanh").replace("f32[3,5]{1,0} tanh", "f32[3,6]{1,0} tanh")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.hlo").write_text(TEXT)
    Path("wrong.hlo").write_text(WRONG)


def test_several_pipelines_run_in_their_order(capsys: Captured) -> None:
    steps = ["-p", "strip-layouts", "-p", "annotate-layouts{target=tpu-v5e}"]
    assert main(["opt", "m.hlo", *steps, "--dump-pass-pipeline"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "builtin.module(strip-layouts,annotate-layouts{target=tpu-v5e})\n"
    assert "p = f32[3,5]{1,0:T(4,128)}" in shown.out
    assert main(["opt", "m.hlo", "-p", "annotate-layouts{target=tpu-v5e}", "-p", "strip-layouts"]) == 0
    assert "p = f32[3,5] parameter" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["opt", "m.hlo", "--print-after-all"], "--print-after-all"),
        (["opt", "m.hlo", "--print-changed"], "--print-changed"),
        (["opt", "m.hlo", "--timing"], "--timing"),
        (["opt", "m.hlo", "--no-verify-each"], "--no-verify-each"),
        (["opt", "m.hlo", "--dump-dir", "d"], "--dump-dir"),
        (["opt", "m.hlo", "--no-sandbox"], "--no-sandbox"),
        (["opt", "m.hlo", "--emit", "pb", "--strip-comments"], "--strip-comments"),
        (["opt", "m.hlo", "--verify-diagnostics", "-o", "x.hlo"], "-o"),
        (["opt", "m.hlo", "--verify-diagnostics", "--allow-unverified"], "--allow-unverified"),
        (["opt", "--list-passes", "-p", "strip-layouts"], "-p"),
        (["check", "m.hlo", "m.hlo", "--bisect"], "--bisect"),
        (["check", "m.hlo", "m.hlo", "--pipelines", "p.toml"], "--pipelines"),
        (["check", "m.hlo", "m.hlo", "--engines", "proof", "--seeds", "2"], "--seeds"),
        (["check", "--pairs", "p.txt", "--stage", "x"], "--stage"),
        (["check", "m.hlo", "m.hlo", "--certificate", "c", "--devices", "2"], "--devices"),
        (["check", "m.hlo", "m.hlo", "--certificate", "c", "--assume-elided-equal"], "--assume-elided-equal"),
        (["reduce", "m.hlo", "m.hlo", "--no-verify-each"], "--no-verify-each"),
        (["report", "m.hlo", "--json", "--width", "80"], "--width"),
        (["report", "m.hlo", "-o", "r.html", "--width", "80"], "--width"),
        (["explain", "f32[3]", "--json", "--window", "0:1"], "--window"),
        (["explain", "f32[3]", "--module", "x"], "--module"),
        (["explain", "m.hlo", "--list-kernels", "--target", "tpu-v4"], "--target"),
    ],
)
def test_an_option_without_effect_is_an_error(arguments: list[str], named: str, capsys: Captured) -> None:
    assert main(arguments) == 2
    assert f"error: {named} has no effect" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["m.hlo", "wrong.hlo"]


@pytest.mark.parametrize("command", ["opt", "run", "report"])
def test_what_a_file_does_not_have_cannot_be_chosen(command: str, capsys: Captured) -> None:
    assert main([command, "m.hlo", "--stage", "x"]) == 2
    assert "a stage is chosen from a dump directory, and no FILE is one" in capsys.readouterr().err
    assert main([command, "m.hlo", "--module", "x"]) == 1
    assert "m.hlo: " in (error := capsys.readouterr().err)
    assert "module called x" in error or "module that is called x" in error


def test_lines_of_standard_input_have_no_arguments_beside_them(capsys: Captured) -> None:
    assert main(["explain", "--index", "-", "1,2"]) == 2
    assert "so no index follows it" in capsys.readouterr().err
    assert main(["explain", "--bitcast", "-", "f32[3]"]) == 2
    assert "so no shape follows it" in capsys.readouterr().err
    assert main(["opt", "--list-passes", "m.hlo"]) == 2
    assert "reads no FILE" in capsys.readouterr().err


def test_long_options_may_have_one_dash_and_flags_a_value(capsys: Captured) -> None:
    stripped = []
    for given in (["-passes", "strip-layouts"], ["-passes=strip-layouts"], ["-pass-pipeline=strip-layouts"]):
        assert main(["opt", "m.hlo", *given, "--verify-each=false"]) == 0
        stripped.append(capsys.readouterr().out)
    assert set(stripped) == {TEXT.replace("{1,0:T(2,2)}", "").replace("{1,0}", "")}
    # The module that a pass leaves is wrong, and nothing verifies it.
    Path("p.toml").write_text('[p]\nsummary = "s"\npasses = "strip-layouts"\n')
    assert main(["opt", "wrong.hlo", "-p", "strip-layouts", "--allow-unverified=true"]) == 0
    assert main(["opt", "wrong.hlo", "-p", "strip-layouts", "--allow-unverified=false"]) == 1


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("--mlir-pass-statistics", "--timing prints their time"),
        ("-debug-only=x", "--print-changed"),
        ("--show-dialects", "relayout help PASS"),
        ("--mlir-pass-pipeline-crash-reproducer=x", "the error names the command"),
        ("-print-ir-after-all", "write --print-after-all"),
        ("--mlir-print-ir-after-change", "write --print-changed"),
        ("-out=x", "write -o OUT"),
    ],
)
def test_words_of_other_programs_have_an_answer(option: str, answer: str, capsys: Captured) -> None:
    assert main(["opt", "m.hlo", option, "-p", "strip-layouts"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"error: unknown option {option.partition('=')[0]}\nhint: ")
    assert answer in shown


def test_each_answer_names_an_option_that_some_command_has() -> None:
    from relayout.cli import parser_of

    known = {name for command in (*COMMANDS, *FORMS) for name in parser_of(command).option_names}
    assert {meant.replace(";", " ").replace(",", " ").split()[0] for meant in OPTIONS.values()} <= known


def test_a_nested_pipeline_names_the_passes_to_write(capsys: Captured) -> None:
    for spec in ("func.func(strip-layouts)", "builtin.module(func.func(strip-layouts))"):
        assert main(["opt", "m.hlo", "-p", spec]) == 2
        shown = capsys.readouterr().err
        assert "pipelines nested on func.func do not exist here" in shown
        assert "write strip-layouts\n" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["opt", "absent.hlo"],
        ["check", "m.hlo", "absent.hlo"],
        ["check", "m.hlo", "m.hlo", "--inputs", "absent.hlo"],
        ["check", "--pairs", "absent.hlo"],
        ["run", "absent.hlo"],
        ["run", "m.hlo", "--inputs", "absent.hlo"],
        ["report", "absent.hlo"],
        ["report", "m.hlo", "--against", "absent.hlo"],
        ["reduce", "m.hlo", "absent.hlo"],
        ["check", "--replay", "m.hlo", "m.hlo", "absent.hlo"],
        ["explain", "--list-kernels", "absent.hlo"],
        ["opt", "m.hlo", "--pipelines", "absent.hlo", "-p", "strip-layouts"],
        ["opt", "m.hlo", "-p", "annotate-layouts{like=absent.hlo}"],
    ],
)
def test_a_missing_file_is_a_wrong_command_everywhere(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 2
    assert "absent.hlo: no such file or directory" in capsys.readouterr().err


def test_a_missing_file_has_a_similar_name(capsys: Captured) -> None:
    assert main(["opt", "wrongg.hlo"]) == 2
    assert "hint: did you mean wrong.hlo?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["opt", "m.hlo", "-o", "no/x.hlo"],
        ["opt", "m.hlo", "--results", "no/x.jsonl"],
        ["check", "m.hlo", "m.hlo", "--certificate", "no/x.json"],
        ["run", "m.hlo", "--outputs", "no/x.npz"],
        ["report", "m.hlo", "-o", "no/x.html"],
        ["explain", "f32[3]", "-o", "no/x.svg"],
    ],
)
def test_a_directory_that_is_missing_is_found_before_the_work(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert "there is no directory no\nhint: mkdir -p no\n" in shown.err
    assert shown.out == ""


def test_a_batch_with_results_still_prints_its_diagnostics(capsys: Captured) -> None:
    assert main(["opt", "m.hlo", "wrong.hlo", "--results", "r.jsonl"]) == 1
    shown = capsys.readouterr().err
    assert "wrong.hlo:5:" in shown
    assert "r.jsonl: 2 rows, 1 with exit code 1" in shown
    rows = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert [row["exit_code"] for row in rows] == [0, 1]
    assert rows[1]["diagnostics"] in shown


def test_an_unknown_target_lists_all(capsys: Captured) -> None:
    assert main(["explain", "f32[3]", "--target", "tpu"]) == 2
    assert "known targets: tpu-v2, tpu-v3, tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, tpu7x" in capsys.readouterr().err
    assert main(["explain", "f32[3]", "--target", "tpu-7x"]) == 2
    assert "did you mean tpu7x? known targets: " in capsys.readouterr().err


def test_a_damaged_file_of_pipelines_is_shown_at_its_place(capsys: Captured) -> None:
    Path("p.toml").write_text("[p]\npasses = strip\n")
    assert main(["opt", "m.hlo", "--pipelines", "p.toml", "-p", "p"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("p.toml:2:10: error: no TOML: invalid value\n  passes = strip\n           ^\n")
    Path("p.toml").write_text("x = [\n")
    assert main(["opt", "m.hlo", "--pipelines", "p.toml", "-p", "p"]) == 2
    assert capsys.readouterr().err.startswith("p.toml:1:6: error: no TOML")


def test_a_misspelt_operation_has_suggestions(capsys: Captured) -> None:
    program = "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {{\n  %0 = {} : tensor<3xf32>\n"
    program += "  return %0 : tensor<3xf32>\n}}\n"
    Path("m.mlir").write_text(program.format("stablehlo.multply %a, %a"))
    assert main(["opt", "m.mlir"]) == 1
    assert "did you mean stablehlo.multiply?" in capsys.readouterr().err
    Path("m.mlir").write_text(program.format("stablehlo.ad %a, %a"))
    assert main(["opt", "m.mlir"]) == 1
    assert "did you mean stablehlo.add or stablehlo.and or stablehlo.pad?" in capsys.readouterr().err


def test_a_name_that_is_not_ascii_says_what_names_are(capsys: Captured) -> None:
    Path("u.hlo").write_text(TEXT.replace("p =", "größe ="))
    assert main(["opt", "u.hlo"]) == 1
    assert "names in HLO consist of ASCII letters" in capsys.readouterr().err


EXPECTING = TEXT.replace("  ROOT", "  // {}\n  ROOT").replace("f32[3,5]{1,0} negate", "f32[3,6]{1,0} negate")


@pytest.mark.parametrize(
    "directive",
    [
        "expected-error@+1 {{shape}}",
        "expected-error @+1 {{shape}}",
        "expected-error @below {{shape}}",
        "expected-error-re @below {{sh{{.}}pe}}",
        "expected-error @below 1 {{shape}}",
    ],
)
def test_directives_are_read_as_mlir_reads_them(directive: str, capsys: Captured) -> None:
    Path("e.hlo").write_text(EXPECTING.replace("{}", directive))
    assert main(["opt", "e.hlo", "--verify-diagnostics"]) == 0
    assert capsys.readouterr().err == "note: e.hlo: 1 expected diagnostic came up\n"
    assert main(["opt", "e.hlo", "--verify-diagnostics", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": "e.hlo", "expected": 1, "wrong": []}


@pytest.mark.parametrize(
    "directive",
    [
        "expected-eror@+1 {{shape}}",
        "expcted-error@+1 {{shape}}",
        "expected-error @ +1 {{shape}}",
        "expected-error@+1 shape",
        "expected-error@+1 {{shape}",
        "expected-remark@+1 {{shape}}",
    ],
)
def test_a_directive_that_cannot_be_read_fails(directive: str, capsys: Captured) -> None:
    for text in (EXPECTING, TEXT.replace("  ROOT", "  // {}\n  ROOT")):
        Path("e.hlo").write_text(text.replace("{}", directive))
        assert main(["opt", "e.hlo", "--verify-diagnostics"]) == 1
        assert "e.hlo:5:6: error: this comment is no directive" in capsys.readouterr().err


def test_an_expectation_without_an_error_fails_and_other_comments_do_not(capsys: Captured) -> None:
    Path("e.hlo").write_text(TEXT.replace("  ROOT", "  // expected-error@below {{shape}}\n  ROOT"))
    assert main(["opt", "e.hlo", "--verify-diagnostics"]) == 1
    assert "the expected error shape was not produced" in capsys.readouterr().err
    comments = "  // CHECK-NEXT: {{.*}}\n  // an un-expected value: {{x}}\n  // see expected-error above\n  ROOT"
    Path("e.hlo").write_text(TEXT.replace("  ROOT", comments))
    assert main(["opt", "e.hlo", "--verify-diagnostics"]) == 0
    assert capsys.readouterr().err == "note: e.hlo: expects no diagnostic, and none came up\n"


ELIDED = TEXT.replace("negate(p)", "add(p, c)").replace("  ROOT", "  c = f32[3,5]{1,0} constant({...})\n  ROOT")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "m.hlo", "--custom-call", "f=m.hlo"], 1, "--custom-call f: the module has no such call"),
        (["run", "m.hlo", "--constants", "like=m.hlo"], 1, "no constant of the module is elided"),
        (["run", "m.hlo", "--seed", "-1"], 2, "-1 is not an integer of 0 or more"),
        (["run", "elided.hlo", "--inputs", "random"], 1, "relayout run DUMP --constants like=FILE"),
        (["check", "m.hlo", "m.hlo", "--certificate", "."], 2, "--certificate . is a directory, not a file"),
        (["check", "m.hlo"], 2, "expected two FILEs to compare, and there is only m.hlo"),
        (["opt", "m.hlo", "-p", "strip-layouts", "--dump-dir", "m.hlo"], 2, "--dump-dir m.hlo is a file"),
        (["opt", "m.hlo", "-p", "annotate-layouts[target=tpu-v4]"], 2, "write annotate-layouts{target=tpu-v4}"),
        (["opt", "*.pb"], 2, "*.pb: no file has such a name"),
        (["explain", "f32", "[3,5]"], 2, "quote it: 'f32 [3,5]'"),
        (["explain", "f32[3]", "--picture", "png", "-o", "x.svg"], 2, "are different formats"),
        (["report", "m.hlo", "-o", "r.html", "--json"], 2, "-o writes a file, and --json prints"),
        (["report", "m.hlo", "-o", "r.dot", "--against", "m.hlo"], 2, "--against has no effect with -o r.dot"),
        (["reduce", "m.hlo", "other.hlo"], 1, "different signatures: parameter 0"),
        (["check", "--replay", "m.hlo", "m.hlo", "j.json"], 1, "relayout check A B --certificate FILE writes one"),
        (["--jsn"], 2, "did you mean --json? a command comes first"),
        (["opt", "m.hlo", "-p", "own/mine.py"], 2, "an entry point of its package: docs/tutorials/own-pass.md"),
        (["opt", "m.hlo", "-p", "annotate-layouts{layouts=none.toml}"], 0, "rule 0 of none.toml gives no array its"),
        (["report", "--why", "compiled.hlo"], 2, "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_pass_re=.*'"),
        (["report", "m.hlo", "--against", "unlike.hlo"], 1, "no two forms of one program"),
        (["opt", "compild.hlo"], 2, "did you mean compiled.hlo?"),
        (["report", "dump.tar.xz"], 1, "it seems to be a tar archive\nhint: tar xf FILE unpacks it"),
        (["report", "gpu.txtpb"], 1, "it seems to be the description of a GPU\nhint: --target FILE.txtpb"),
        (["check", "m.hlo", "d"], 2, "hint: FILEs are compared whatever they are called: name one of d/a.hlo, d/b.hlo"),
        (["report", "m.hlo", "--against", "d"], 2, "are called: name one of d/a.hlo, d/b.hlo"),
        (["report", "f.py"], 1, "it seems to be Python"),
        (["report", "cut.hlo"], 1, "cut.hlo:4:5: error: "),
        (["report", "cut.hlo"], 1, "hint: the text ends here: the file seems to be cut off"),
        (["report", "cut.mlir"], 1, "hint: the text ends here: the file seems to be cut off"),
        (["report", "comment.hlo"], 1, "comment.hlo: holds no module: it holds comments only"),
        (["run", "m.hlo", "--inputs", "x.npy"], 1, "numpy.savez('inputs.npz', in0=numpy.load('x.npy'))"),
        (
            ["check", "m.hlo", "tuple.hlo"],
            3,
            "(p: f32[3,5]) -> f32[3,5] in one, (p: f32[3,5]) -> (f32[3,5], f32[3,5]) in the other",
        ),
    ],
)
def test_a_mistake_has_its_reason(arguments: list[str], code: int, message: str, capsys: Captured) -> None:
    Path("elided.hlo").write_text(ELIDED)
    Path("other.hlo").write_text(TEXT.replace("3,5", "3,6"))
    Path("j.json").write_text("{}")
    Path("none.toml").write_text('[[rule]]\nname = "none*"\nlayout = "{0,1}"\n')
    Path("compiled.hlo").write_text(TEXT.replace("\n", ", is_scheduled=true\n", 1))
    Path("compiled.npz").write_bytes(b"")
    Path("unlike.hlo").write_text(TEXT.replace("HloModule m", "HloModule u").replace("3,5", "7,9"))
    with tarfile.open("dump.tar.xz", "w:xz") as file:
        file.add("m.hlo")
    Path("gpu.txtpb").write_text("gpu_device_info {\n  threads_per_warp: 32\n}\n")
    Path("f.py").write_text("@jax.jit\ndef f(x):\n    return x\n")
    Path("cut.hlo").write_text(TEXT[: TEXT.index("p = ") + 2])
    Path("cut.mlir").write_text("func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n  %0 = stablehlo.neg")
    Path("comment.hlo").write_text("// nothing yet\n")
    np.save("x.npy", np.zeros(3))
    Path("d").mkdir()
    Path("d/a.hlo").write_text(TEXT)
    Path("d/b.hlo").write_text(TEXT)
    Path("tuple.hlo").write_text(TEXT.replace("ROOT ", "")[:-2] + "  ROOT t = (f32[3,5], f32[3,5]) tuple(n, n)\n}\n")
    assert main(arguments) == code
    assert message in capsys.readouterr().err


def test_a_directory_that_cannot_be_written_is_found_before_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    # Root may write everywhere but on a read-only file system.
    monkeypatch.setattr("os.access", lambda path, mode: path != "kept" or mode != os.W_OK)
    Path("kept").mkdir()
    assert main(["report", "m.hlo", "-o", "kept/r.html"]) == 2
    assert "kept/r.html: nothing can be written in kept\nhint: name another one\n" in capsys.readouterr().err
    assert main(["report", "m.hlo", "-o", "r.html"]) == 0


def test_a_module_without_bitcasts_says_so(capsys: Captured) -> None:
    assert main(["run", "m.hlo", "--verify-bitcasts", "--inputs", "random"]) == 0
    assert capsys.readouterr().err == "note: m.hlo has no bitcast\n"


@pytest.mark.parametrize("command", [["run", "m.hlo"], ["check", "m.hlo", "m.hlo"]])
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"in0": np.zeros((3, 4), np.float32)}, "a.npz: in0 has the dimensions [3, 4], but f32[3,5] is needed"),
        ({"in0": np.zeros((3, 5))}, "a.npz: in0 has the type float64"),
        ({"q": np.zeros((3, 5), np.float32)}, "hint: the inputs: p f32[3,5]; or in0, in1, ...; the file holds: q"),
        (
            {"in0": np.zeros((3, 5), np.float32), "in1": np.zeros(2)},
            "a.npz: 2 inputs were given, but the entry has 1 parameters\nhint: the inputs: in0 f32[3,5]",
        ),
    ],
)
def test_wrong_arrays_name_the_file_and_what_is_needed(
    command: list[str], arrays: dict[str, Any], message: str, capsys: Captured
) -> None:
    np.savez("a.npz", **arrays)
    assert main([*command, "--inputs", "a.npz"]) in (1, 3)
    assert message in capsys.readouterr().err


def test_check_takes_inputs_by_the_names_of_arguments(capsys: Captured) -> None:
    np.savez("a.npz", p=np.ones((3, 5), np.float32), unused=np.zeros(2))
    Path("abs.hlo").write_text(TEXT.replace("negate(", "abs("))
    assert main(["check", "m.hlo", "abs.hlo", "--inputs", "a.npz", "--engines", "xla"]) == 1
    shown = capsys.readouterr()
    assert "output 0 at [0,0] is -1.0 (0xbf800000) in the first and 1.0 (0x3f800000) in the second" in shown.out
    assert "note: a.npz: unused is no input of the program" in shown.err
