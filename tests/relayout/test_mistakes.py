"""Mistakes of users, and the edits that hints propose."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relayout
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from tests.paths import ROOT

# For arguments of wrong types.
untyped: Any = relayout

NEGATE = str(ROOT / "examples/negate.hlo")
TPU = str(ROOT / "examples/attention_tpu.hlo")


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("expand-tiling FILE", 2, "passes are given with -p: relayout opt FILE -p expand-tiling"),
        ("FILE", 2, f"a command comes first: relayout opt {NEGATE}"),
        ("opt FILE -p expand-tiling(interface=physical)", 2, "write expand-tiling{interface=physical}"),
        ("opt FILE -p 'expand-tiling strip-layouts'", 2, "passes are separated by commas"),
        ("check FILE FILE --tolerance 1e-3", 2, "write --compare rel:X"),
        ("check FILE FILE --atol=1e-3", 2, "write --compare rel:X"),
        ("opt FILE --tolerance 1", 2, "relayout opt --help shows all options"),
        ("explain f32[3, 5]", 2, "quote it: 'f32[3, 5]'"),
        ("explain float[3,5]", 1, "write f32"),
        ("explain [3,5]", 1, "a shape begins with its element type: f32[3,5]"),
        ("explain '(0, 1)'", 1, "a shape begins with its element type: f32[3,5]"),
        ("explain 'tensor<3x5xf32'", 1, "write tensor<3x5xf32>"),
        ("explain 'Layout(major_to_minor=(0, 1), tiling=((8, 128),))'", 1, "a layout alone is not a shape"),
        ("index f32[3,5] 2 3", 2, "write 2,3"),
        ("index f32[3,5] -1,0", 2, "an index is not negative"),
        ("bitcast f32[3,5] '->' f32[5,3]", 2, "write the two shapes without it"),
        ("opt FILE --expand-tilings", 2, "did you mean -p expand-tiling?"),
        ("opt FILE -p 'annotate-layouts target=tpu-v5e'", 2, "write annotate-layouts{target=tpu-v5e}"),
        ("opt FILE -p annotate-layouts{target:tpu-v5e}", 2, "write target=tpu-v5e"),
        ("opt FILE -p annotate-layouts{target=TPU-v5e}", 2, "did you mean tpu-v5e?"),
        ("opt FILE --emit bytecode", 1, "write it as pb or text"),
        ("--list-passes", 2, "a command comes first: relayout opt --list-passes"),
        ("diff FILE FILE", 2, "there is relayout check A B"),
        ("run FILE -p expand-tiling", 2, "relayout opt FILE -p SPEC -o NEW"),
        ("run FILE -o out.npz", 2, "write --outputs NPZ"),
        ("report FILE --html", 2, "write -o report.html"),
        ("explain FILE", 2, f"relayout report {NEGATE} says what its module holds"),
        ("explain f32[3,5] -o a.jpg", 2, "write .svg or .png"),
        ("explain f32", 1, "f32[3,5] is an array, f32[] a scalar"),
        ("explain f32[3x5]", 1, "dimensions are separated by commas"),
        ("explain f32[3,5]{1,0,T(8,128)}", 1, "a colon comes before parts such as T(8,128)"),
        ("explain f32[3,5]:T(8,128)", 1, "tiles are part of a layout: f32[3,5]{1,0:T(8,128)}"),
        ("explain f32[3,5]{1,0:T[8,128]}", 1, "write T(8,128)"),
        ("explain f8[3]", 1, "one of f8e5m2, "),
        ("report TPU --target cpu", 1, "leave --target out, or name a chip"),
        ("report --why TPU --target cpu", 1, "jit_attention is compiled already"),
        ("validate TPU --target cpu", 1, "relayout report FILE reads what a compiler wrote"),
        ("opt TPU --inside cpu -p strip-layouts", 1, "jit_attention is compiled already"),
        ("tune TPU --target tpu-v5e", 1, "jit_attention is compiled already"),
        ("report EXAMPLES --stage after_optimisations", 2, "has the stage after_optimisations"),
        ("check FILE FILE --sharded --placements FILE", 2, "is no placement"),
        ("check --replay FILE FILE FILE", 1, "negate.hlo is no certificate that can be read"),
        ("help repot", 2, "did you mean report?"),
        ("opt FILE --inside tpu-v5x -p strip-layouts", 2, "unknown target 'tpu-v5x'"),
        ("report FILE --results r.csv", 2, "r.csv has no known ending"),
        ("report FILE --results r.jsonl --all", 2, "--all has no effect with --results"),
        ("report FILE --fail-if 'peek > 1 GiB'", 2, "did you mean peak?"),
        ("report --why FILE --target cpu --resume --results r.jsonl", 2, "which compiles on this machine"),
        ("explain f32[3,5] --as cutee", 2, "did you mean cute?"),
        ("extract TPU fusion.177", 1, "did you mean fusion.17?"),
        ("print TPU --computation main4", 1, "did you mean main.4?"),
        ("print --count FILE --by shap", 2, "did you mean shape?"),
        ("run FILE --devices 3", 1, "run it on its own number: --devices 1"),
        ("tune FILE --target tpu-v5e --model-only --jobs 3", 2, "--jobs has no effect with --model-only"),
        ("reduce FILE --oracle false", 2, "has no {}, so it would not see the module"),
        ("validate FILE --target cpu --only '('", 2, "is no regular expression"),
        ("validate FILE --with 'no-such-program {in}' -p a", 2, "there is no program 'no-such-program'"),
        ('validate FILE --with "true \'a" -p a', 2, "has no closing quotation"),
        ("doctor --jsn", 2, "did you mean --json?"),
        ("check - -", 2, "- is named twice, and standard input is read once"),
        ("report - --against -", 2, "- is named twice"),
        ("explain f32[3,5] -o there/", 2, "-o there/ is a directory, and a shape names no file in it"),
        ("explain --kernel attention TPU", 1, "has no kernel attention"),
        ("check FILE -p strip-layouts --target CHIP", 2, "a pass gives arrays the layouts of a target"),
        ("run FILE --target CHIP", 2, "--target is an option of report, tune, validate, explain"),
        ("opt FILE FILE --list-passes --fail-if x", 2, "--fail-if is an option of report"),
        ("explain --index f32[3,5] 1,2 --target v5e", 2, "did you mean tpu-v5e?"),
        ("validate FILE --with absent_tool:run -p a", 2, "there is no module absent_tool"),
        ("explain f32[3,5]{0}", 1, "use each of 0 to 1 once"),
        ("explain f32[3,5]{1,0:8,128}", 1, "write T(8,128)"),
        ("explain f32[3,5]{1,0:T(8,128)S1}", 1, "write S(1)"),
        ("explain f32[3,5]{1,0:T(8,128),(2,1)}", 1, "parts follow each other without commas"),
        ("explain 'f32[3,5]{major_to_minor=(0,1)}'", 1, "a layout begins with minor_to_major"),
        ("explain f32[3,5],f32[2]", 1, "several shapes are several arguments"),
        ("explain f32[3,5] f32[3 f32[2]", 1, "expected ',' or ']' in the dimensions"),
        ("explain --index f32[3,5] 17", 1, "--linear 17 reads it as a linear index"),
        ("explain --index f32[3,5] 3,0", 1, "outside dimension 0 of f32[3,5]: 0 to 2"),
        ("opt STABLEHLO -p make-portable", 1, "relayout convert FILE --to hlo converts it"),
        ("opt FILE -p annotate-layouts{target=rowmajor}", 2, "did you mean row-major?"),
        ("opt FILE -p annotate-layouts{target=no.toml}", 2, "no.toml: no such file"),
        ("opt FILE -p ''", 2, "-p names no pass: its text is empty"),
        ("opt FILE -p split-minor{value=x}", 2, "its options are: most"),
        ("tune STABLEHLO --target CHIP", 2, "known by its description only, so nothing is compiled for it"),
        ("opt FILE --inside CHIP -p strip-layouts", 2, "explain, tune --model-only, and reports of dumps"),
        ("report STABLEHLO --target CHIP --fail-if 'peak > 1 GiB'", 0, "is not compiled (acme-1 is known by its"),
        ("explain np.float32[3]", 1, "a shape begins with its element type: f32[3,5]"),
        ("report TPU --target gpu-h100", 1, "leave --target out, or name a chip that is a TPU"),
        ("run FILE --target tpu-v5e", 2, "--target is an option of report, tune, "),
        ("check FILE FILE --devices 4", 3, "run it on its own number: --devices 1"),
        ("check EXAMPLES", 2, "examples judges its passes"),
        ("report FILE --fail-if 'peak > 2 GB'", 2, "in B, KiB, MiB, GiB or TiB"),
        ("report --why EXAMPLES no_such_value --top 3", 2, "--top has no effect with a VALUE"),
        ("report --why EXAMPLES absent.hlo", 2, "absent.hlo: no such file or directory"),
        ("report --why FILE FILE --target cpu --try", 2, "--try compiles one FILE again"),
    ],
)
def test_an_answer_proposes_the_edit(command: str, status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        {
            "FILE": NEGATE,
            "TPU": TPU,
            "EXAMPLES": str(ROOT / "examples"),
            "STABLEHLO": str(ROOT / "examples/attention.mlir"),
            "CHIP": str(ROOT / "examples/chip.toml"),
        }.get(word, word)
        for word in shlex.split(command)
    ]
    assert main(words) == status
    assert said in capsys.readouterr().err


def test_a_jax_object_where_a_shape_is_expected_is_explained() -> None:
    import jax
    from jax.experimental.layout import Layout

    with pytest.raises(DiagnosticError, match=r"relayout\.jax\.from_struct"):
        relayout.explain(jax.ShapeDtypeStruct((3, 5), "float32"))  # type: ignore[arg-type]  # must fail
    with pytest.raises(DiagnosticError, match="a layout alone is not a shape"):
        relayout.explain(Layout((0, 1)))  # type: ignore[arg-type]
    with pytest.raises(DiagnosticError, match=r"relayout\.report\(\.\.\.\) takes a program"):
        relayout.explain(jax.jit(abs).lower(1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: untyped.parse(3), TypeError, r"not an int; relayout\.read\(\.\.\.\) takes a path"),
        (lambda: untyped.parse(NEGATE), DiagnosticError, r"relayout\.read\(\.\.\.\) takes it"),
        (lambda: untyped.read(b"HloModule"), TypeError, r"relayout\.parse\(\.\.\.\) takes a module's bytes"),
        (lambda: untyped.read("HloModule m\n"), DiagnosticError, r"relayout\.parse\(\.\.\.\) takes it"),
        (lambda: untyped.write("a.hlo", untyped.read(NEGATE)), TypeError, "the module comes first"),
        (lambda: untyped.write(NEGATE, "a.hlo", emit="mlir"), DiagnosticError, "one of text, bytecode, pb"),
        (lambda: untyped.parse_shape(3), TypeError, r"such as 'f32\[3,5\]', not an int"),
        (lambda: untyped.parse_shape([3]), TypeError, "not a list"),
        (lambda: untyped.explain((3, 5)), DiagnosticError, r"write it as text: 'f32\[3,5\]'"),
        (lambda: untyped.explain("f32[3]", 5), TypeError, "a target such as 'tpu-v5e', not an int"),
        (lambda: untyped.linear_index("f32[3,5]", 3), TypeError, r"such as \(2, 3\), not 3"),
        (lambda: untyped.linear_index("f32[3,5]", (1.5, 2)), TypeError, r"an index of integers"),
        (lambda: untyped.linear_index("f32[3,5]", "2,3"), TypeError, "not '2,3'"),
        (lambda: untyped.optimize(NEGATE, None), TypeError, "expected passes, such as .* not None"),
        (lambda: untyped.optimize(NEGATE, {"expand-tiling": {}}), TypeError, "not a dict"),
        (lambda: untyped.optimize(NEGATE, relayout.read), TypeError, "@relayout.module_pass makes a pass"),
        (lambda: untyped.optimize(relayout.read, "strip-layouts"), TypeError, "makes one of a function"),
        (lambda: untyped.check(NEGATE, NEGATE, engines="xla"), DiagnosticError, 'engines=\\("proof", "xla"\\)'),
        (lambda: untyped.check(NEGATE, NEGATE, engines=("tpu",)), DiagnosticError, "not \\('tpu',\\)"),
        (lambda: untyped.check(NEGATE, NEGATE, seeds=0), DiagnosticError, "at least once, not 0"),
        (
            lambda: untyped.check(NEGATE, NEGATE, compare=1e-3),
            DiagnosticError,
            "write auto, bits, ulp:N, rel:X or of-largest:X",
        ),
        (lambda: untyped.validate(NEGATE), TypeError, r"relayout\.validate\(program, target='cpu'\)"),
        (lambda: untyped.why(NEGATE), TypeError, r"relayout\.why\(program, target='cpu'\)"),
        (lambda: untyped.why(str(ROOT), target="cpu"), TypeError, "the target cpu has no effect: leave it out"),
        (lambda: untyped.report(TPU, "cpu"), DiagnosticError, "jit_attention is compiled already"),
        (lambda: untyped.run(NEGATE, [1.0, 2.0]), DiagnosticError, r"in0 has the dimensions \[2\]"),
        (lambda: untyped.check(NEGATE, NEGATE, inputs={}), TypeError, "a list of arrays in the order"),
        (lambda: untyped.run(NEGATE, engine="tpu"), DiagnosticError, "it is xla or interpreter"),
        (lambda: untyped.run(NEGATE, seed=-1), TypeError, "an integer of 0 or more, not -1"),
        (lambda: untyped.run(NEGATE, "in.npz"), DiagnosticError, r"numbers for f32\[3,5\], found a str"),
        (lambda: untyped.run(NEGATE, None), DiagnosticError, "found None"),
        (lambda: untyped.run(NEGATE, [[1.0], [1.0, 2.0]]), DiagnosticError, "found a list"),
        (lambda: untyped.Pipeline(()).run(NEGATE), TypeError, r"expected a module, which relayout\.read"),
        (lambda: untyped.optimise, AttributeError, "module relayout has no attribute optimise"),
        (lambda: untyped.Pipeline("expand-tiling"), TypeError, r"Pipeline\.parse\(\.\.\.\) reads its text"),
        (lambda: untyped.optimize("strip-layouts", NEGATE), TypeError, "the module comes first: optimize"),
        (lambda: untyped.report(TPU, "gpu-h100"), DiagnosticError, "compiled already, and not for gpu-h100"),
        (lambda: untyped.read(str(ROOT)), DiagnosticError, "name a file in it"),
        (lambda: untyped.parse(""), DiagnosticError, "holds no module: it is empty"),
        (lambda: untyped.Layout([1, 0]), TypeError, r"such as \(1, 0\), not a list"),
        (lambda: untyped.Layout((1, 0), ((8, 128),)), TypeError, r"tiles=\(Tile\(\(8, 128\)\),\)"),
    ],
)
def test_a_wrong_argument_is_named_with_a_correction(
    call: Callable[[], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call()


def test_the_ending_of_a_file_decides_the_format_of_a_drawing(tmp_path: Path) -> None:
    assert main(["explain", "f32[3,5]", "-o", str(tmp_path / "a.svg")]) == 0
    assert main(["explain", "f32[3,5]", "-o", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_lists_and_tuples_of_inputs_and_engines_are_the_same() -> None:
    x = np.ones((3, 5), np.float32)
    sizes = [relayout.run(NEGATE, *each)[0].shape for each in ([x], [[x]], [(x,)], [x.tolist()])]
    assert sizes == [(3, 5)] * 4
    for inputs in ([x], (x,)):
        assert relayout.check(NEGATE, NEGATE, inputs=inputs, engines=["xla"]).methods == ("xla",)


def test_a_program_that_is_hlo_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    program = ROOT / "examples/attention.hlo"
    assert main(["report", str(program), "--target", "cpu"]) == 0
    assert "fusion" in capsys.readouterr().out
    assert relayout.report(program, "cpu").usage.peak_bytes < relayout.report(program).usage.peak_bytes


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["extract", NEGATE, "y"], "negate.hlo"),
        (["validate", NEGATE, "--target", "cpu", "--only", "simplif"], "index.html"),
        (["tune", str(ROOT / "examples/attention.mlir"), "--target", "tpu-v5e", "--model-only"], "attention.mlir"),
    ],
)
def test_a_directory_is_written_by_every_command(command: list[str], name: str, tmp_path: Path) -> None:
    assert main([*command, "-o", f"{tmp_path}/new/"]) == 0
    assert main([*command, "-o", str(tmp_path)]) == 0
    assert [(tmp_path / each).is_file() for each in (f"new/{name}", name)] == [True, True]


def test_a_file_of_pipelines_holds_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty := tmp_path / "empty.toml").write_text("# nothing yet\n")
    assert main(["opt", NEGATE, "-p", "strip-layouts", "--pipelines", str(empty)]) == 2
    assert "empty.toml holds no pipeline" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mine]\npases = "strip-layouts"', "2:1: error: mine has the unknown key 'pases'"),
        ('[mine]\nsummary = "x"', "1:1: error: mine has no passes"),
        ("[mine]\npasses = 3", "2:1: error: passes of mine must be a string, found 3"),
        ('mine = "strip-layouts"', "1:1: error: mine is a table, not 'strip-layouts'"),
        ('[mine]\npasses = ""\n[strip-layouts]\npasses = ""', "3:2: error: strip-layouts is the name of a pass"),
        ('[mine]\npasses = ""\n[mine]\npasses = ""', "hint: rename one, or write [[mine]]"),
    ],
)
def test_a_mistake_in_a_file_of_pipelines_is_at_its_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "p.toml").write_text(text)
    assert main(["opt", NEGATE, "-p", "mine", "--pipelines", str(file)]) == 2
    assert said in capsys.readouterr().err


def test_a_separator_that_is_misspelt_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
    (file := tmp_path / "two.mlir").write_text(f"{function}// ----\n{function}")
    assert main(["opt", str(file), "--split-input-file", "-p", "strip-layouts"]) == 1
    assert "hint: opt --split-input-file reads modules that // ----- separates" in capsys.readouterr().err


def test_an_ending_of_another_dialect_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in (("out.mlir", ["out.mlir holds hlo, unlike its ending"]), ("out.hlo", [])):
        assert main(["opt", NEGATE, "-p", "strip-layouts", "-o", str(tmp_path / name)]) == 0
        found = capsys.readouterr().err.splitlines()
        assert [line.rpartition("/")[2] for line in found if line.startswith("warning")] == lines


def test_an_index_takes_the_layout_of_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    chip = str(ROOT / "examples/chip.toml")
    assert main(["explain", "--index", "f32[64,33]", "1,2", "40,32", "--target", chip]) == 0
    assert capsys.readouterr().out == "34\n3328\n"


def test_hlo_is_converted_for_passes_of_mlir(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", NEGATE, "--with", "jaxlib", "-p", "canonicalize"]) == 0
    assert "1 step: 1 equal" in capsys.readouterr().out


def test_a_pair_may_be_one_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--bitcast", "f32[3,5] -> f32[15]"]) == 0
    assert capsys.readouterr().out == "relabel: f32[3,5] -> reshape[15]\n"


def test_any_number_of_linear_indices_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--index", "f32[3,5]{1,0:T(2,2)}", "--linear", "17", "9"]) == 0
    assert main(["explain", "--index", "f32[15]", "3", "4"]) == 0
    assert capsys.readouterr().out.splitlines() == ["2,3", "padding", "3", "4"]
