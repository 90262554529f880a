"""`relayout validate`: each pass of a compilation, judged by the modules before and after it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import relayout
from dialect_utils.execution import hlo_text_to_proto
from dialect_utils.io.files import read_module
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.text import DiagnosticError
from relayout.batch.unit import Unit
from relayout.cli import main
from relayout.command import Result
from relayout.validation.gathering import Results
from relayout.validation.page import html_page
from relayout.validation.steps import Reduced, Step, StepResult, Validation, find_steps
from tests.markup import problems
from tests.paths import ROOT, SHARED_DATA

PASSES = ROOT / "tests" / "corpus" / "passes"
CLIPPED, DECAYED = PASSES / "clipped_rows", PASSES / "decayed_states"
TPU = SHARED_DATA / "corpus" / "compiler_dumps"

# Edits as of a wrong pass: a text, and the one that stands in its place in all modules from one on.
FALSIFIED = {
    "operands": (r"subtract\(([^,()]+), ([^()]+)\)", r"subtract(\2, \1)"),
    "constant": (r"constant\(0\.375\)", "constant(0.5)"),
    "direction": ("direction=GT", "direction=LT"),
    "dimension": (r"dimensions=\{1\}, to_apply", "dimensions={0}, to_apply"),
    "start": (r"(dynamic-update-slice\([^,]+, [^,]+), ([^,()]+), ([^,()]+)\)", r"\1, \3, \2)"),
    "opcode": (r"maximum\(", "minimum("),
}
NEGATE = """HloModule f

ENTRY e {
  p = f32[3] parameter(0)
  ROOT n = f32[3] negate(p), metadata={op_name="f/neg"}
}
"""


def steps_of(folder: Path) -> list[Step]:
    return find_steps(find_inputs([str(folder)]).modules, str(folder))


def falsified(source: Path, edit: str, number: int, folder: Path) -> str:
    """Writes a directory whose modules have an edit from the second module of a step on; returns that one's name."""
    wanted = next(each.after for each in steps_of(source) if each.number == number)
    place = wanted.dump.place_in_compilation
    folder.mkdir()
    for each in find_inputs([str(source)]).modules:
        text = each.data().decode()
        own = each.dump.place_in_compilation
        if own is not None and place is not None and own >= place:
            changed = re.sub(*FALSIFIED[edit], text)
            assert changed != text
            text = changed
        (folder / Path(each.path).name).write_text(text)
    return Path(wanted.path).name


def rows(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int) -> list[dict[str, Any]]:
    assert main(["validate", *arguments, "--json"]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def dump(folder: Path, **stages: str) -> str:
    """Writes the modules of a program `f`: `s0001_p_after_a` is that after the pass a of the pipeline p."""
    folder.mkdir()
    for stage, text in stages.items():
        name = re.sub(r"^s(\d{4})_(\w+?)_", r"\1.\2.", stage)
        (folder / f"module_0000.f.{name}.txt").write_text(text)
    return str(folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_step_of_a_sound_compilation_is_different(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(CLIPPED), str(DECAYED)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "clipped_rows/module_0000.jit_clipped_rows:"
    assert "    4  equal (proof, xla) " in lines[4]
    assert lines[4].endswith("reshape-decomposer of hlo_normalization")
    assert lines[-4:-2] == ["no step is different", "32 steps: 32 equal (13 of them by their text)"]


@pytest.mark.parametrize(
    ("source", "edit", "number"),
    [
        *((CLIPPED, edit, number) for edit, number in zip(FALSIFIED, (2, 3, 4, 6, 8, 9), strict=True)),
        (DECAYED, "operands", 19),
    ],
    ids=lambda each: each.name if isinstance(each, Path) else str(each),
)
def test_a_falsified_step_is_the_only_one_that_is_different(
    source: Path, edit: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = falsified(source, edit, number, tmp_path / "dump")
    found = rows([str(tmp_path / "dump"), "--no-reduce"], capsys, 1)
    different = [Path(each["after"]).name for each in found if each["verdict"] == "different" and each["number"]]
    assert different == [wanted]
    assert [each["verdict"] for each in found if not each["number"]] == ["different"]
    assert {each["verdict"] for each in found} == {"equal", "different"}


def test_nothing_is_written_that_nobody_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    falsified(CLIPPED, "operands", 4, folder / "dump")
    assert main(["validate", "dump", "--only", "reshape-decomposer"]) == 1
    assert (
        "\n  reduced: --reduced-dir DIR writes the two modules that still differ\n  kept: " in capsys.readouterr().out
    )
    assert [path.name for path in Path().iterdir()] == ["dump"]


def test_the_first_difference_is_reduced_to_a_pair_that_shows_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    falsified(CLIPPED, "operands", 4, folder / "dump")
    assert main(["validate", "dump", "--only", "reshape-decomposer", "--reduced-dir", "small"]) == 1
    said = capsys.readouterr().out
    assert "the first difference: step 4 of module_0000.jit_clipped_rows (reshape-decomposer of hlo_norm" in said
    files = sorted(Path("small").iterdir())
    names = [f"module_0000.jit_clipped_rows.0004.reshape-decomposer.{letter}.hlo" for letter in "ab"]
    assert [file.name for file in files] == names
    command = f"relayout check small/{names[0]} small/{names[1]}"
    assert f"  reduced: {command}\n" in said
    modules = [read_module(str(file)) for file in files]
    opcodes = [[operation.opcode for operation in module.operations()] for module in modules]
    assert opcodes[0] == opcodes[1]
    assert "subtract" in opcodes[0]
    assert not {"dynamic-update-slice", "reduce", "maximum", "sine", "fusion"} & {*opcodes[0]}
    assert main(command.split()[1:]) == 1


def test_a_step_that_cannot_be_judged_is_a_row_and_ends_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = NEGATE.replace("f32[3]", "f32[4]")
    dump(
        folder / "dump",
        before_optimizations=NEGATE,
        s0000_p_after_a="HloModule broken\n\nENTRY e {\n  oops\n}\n",
        s0001_p_after_b=NEGATE,
        s0002_p_after_c=other,
        after_optimizations=other,
    )
    found = rows(["dump"], capsys, 3)
    assert [(each["change"], each["verdict"]) for each in found] == [
        ("a", "unknown"),
        ("b", "unknown"),
        ("c", "unknown"),
        ("after_optimizations", "equal"),
        ("before_optimizations to after_optimizations", "unknown"),
    ]
    assert "after_a.txt:5:1:" in found[0]["said"][0]
    assert "different signatures" in found[2]["said"][0]
    assert main(["validate", "dump"]) == 3
    said = capsys.readouterr().out
    assert "no step is different\n4 steps: 1 equal (1 of them by their text), 3 unknown\n" in said
    assert "step 3 of module_0000.f (c of p) is unknown: different signatures" in said


def test_texts_decide_only_where_they_hold_the_whole_module(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed = NEGATE.replace("n = ", "long_name_of_a_negation = ").replace("f/neg", "g")
    left_out = "HloModule f\n\nENTRY e {\n  p = f32[12] parameter(0)\n  c = f32[12] constant({...})\n"
    left_out += "  ROOT n = f32[12] add(p, c)\n}\n"
    dump(
        folder / "dump",
        before_optimizations=NEGATE,
        s0000_p_after_a=renamed,
        s0001_p_after_b=left_out,
        s0002_p_after_c=left_out,
        s0003_p_after_d=NEGATE.replace("negate", "abs"),
    )
    first, second, third, fourth = rows(["dump", "--no-reduce"], capsys, 3)
    assert (first["verdict"], first["methods"], first["said"]) == (
        "equal",
        ["text"],
        ["the texts differ in names and metadata only"],
    )
    assert second["methods"] == third["methods"] == fourth["methods"] == []
    assert third["said"] != ["the same text"]


def test_protos_decide_where_texts_leave_out_constants(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [
        f"HloModule f\n\nENTRY e {{\n  p = f32[3] parameter(0)\n  c = f32[3] constant({{{values}}})\n"
        f"  ROOT {name} = f32[3] add(p, c)\n}}\n"
        for name, values in (("n", "1, 2, 3"), ("m", "1, 2, 3"), ("m", "1, 2, 4"))
    ]
    stages = "before_optimizations", "0000.p.after_a", "after_optimizations"
    (folder / "dump").mkdir()
    for stage, text in zip(stages, texts, strict=True):
        file = folder / "dump" / f"module_0000.f.{stage}"
        Path(f"{file}.txt").write_text(re.sub(r"\{\d.*\}", "{...}", text))
        Path(f"{file}.hlo.pb").write_bytes(hlo_text_to_proto(text))
    first, second, whole = rows(["dump", "--no-reduce"], capsys, 1)
    assert (first["verdict"], first["methods"]) == ("equal", ["text"])
    assert second["verdict"] == whole["verdict"] == "different"


def test_the_page_has_a_row_a_step_and_the_difference_of_its_texts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = NEGATE.replace("f/neg", "<script>alert(1)</script>")
    changed = hostile.replace("negate", "abs").replace("HloModule f", "HloModule f")
    dump(folder / "dump", before_optimizations=hostile, s0000_p_after_a=hostile, s0001_p_after_b=changed)
    assert main(["validate", "dump", "-o", "page.html"]) == 1
    page = Path("page.html").read_text()
    assert page.count('<tr id="step.module_0000.f.') == 2
    assert '<span class="removed">-  ROOT n = f32[3] negate(p)' in page
    assert '<span class="added">+  ROOT n = f32[3] abs(p)' in page
    assert "<script" not in page
    assert "script-src" not in page
    body = page.partition("<main>")[2].partition("</main>")[0]
    assert [
        each
        for each in problems(body)
        if not re.match("element (section|h2|t(head|body)|span|a)$|attribute href", each)
    ] == []
    assert 'href="#step.module_0000.f.0002.b"' in page
    assert [path.name for path in sorted(Path().glob("module_*"))] == [
        "module_0000.f.0002.b.a.hlo",
        "module_0000.f.0002.b.b.hlo",
    ]
    capsys.readouterr()


def test_results_are_resumed_with_a_whole_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump(
        folder / "dump",
        before_optimizations=NEGATE,
        s0000_p_after_a=NEGATE,
        s0001_p_after_b=NEGATE.replace("f/neg", "g"),
    )
    command = ["validate", "dump", "--results", "r.jsonl", "-o", "page.html"]
    assert main(command) == 0
    first = Path("page.html").read_text()
    assert "metadata only" in first
    Path("page.html").unlink()
    assert main([*command, "--resume"]) == 0
    assert Path("page.html").read_text() == first
    figures = [json.loads(line)["figures"] for line in Path("r.jsonl").read_text().splitlines()]
    assert [each["change"] for each in figures] == ["a", "b"]
    capsys.readouterr()


def test_a_lost_process_costs_its_own_step_or_only_the_smaller_pair() -> None:
    inputs = tuple(Input(f"module_0000.f.000{n}.p.after_a.txt", f"module_0000.f.000{n}.p.after_a.txt") for n in (0, 1))
    unit = Unit(inputs, label="1 module_0000.f")
    found = StepResult.of(Step.of(unit.label, inputs), "different", said=("output 0 differs",))
    printed = json.dumps(found.as_json()).encode() + b"\n"
    lost = b'{"lost": "no result after 9 seconds"}\n'
    results = Results(is_json=True)
    shown = [results.add(unit, Result(3, each)) for each in (printed + lost, lost, b"[]\n", b"\n" + lost)]
    assert [each.status for each in shown] == [1, 3, 3, 3]
    described = [json.loads(each.output) for each in shown]
    assert [each["verdict"] for each in described] == ["different", "unknown", "unknown", "unknown"]
    assert described[0]["said"] == ["output 0 differs", "not reduced: no result after 9 seconds"]
    assert described[1]["said"] == ["no result after 9 seconds"]


def test_a_result_is_read_as_it_was_written() -> None:
    pair = Reduced("a\n", "b\n", ".hlo", "output 0", ("x y.a.hlo", "z.b.hlo"))
    found = StepResult(
        "f", 2, "p", "a", "b.txt", "c.txt", "different", ("xla",), said=("s",), seconds=1.5, reduced=pair
    )
    assert StepResult.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert found.as_json()["reduced"]["command"] == "relayout check 'x y.a.hlo' z.b.hlo"
    for wrong in ({}, {**found.as_json(), "verdict": "fine"}, {**found.as_json(), "number": "x"}):
        with pytest.raises(ValueError, match=r"no (result|verdict)|invalid"):
            StepResult.from_json(wrong)


def test_modules_are_in_the_order_of_compilation(tmp_path: Path) -> None:
    finals = ("after_codegen", "after_optimizations_after_buffer_assignment", "after_optimizations")
    names = (*finals, "after_optimizations_before_buffer_assignment", "s0010_p_after_a", "s0002_p_after_b")
    folder = Path(dump(tmp_path / "dump", **dict.fromkeys((*names, "before_optimizations"), NEGATE)))
    for other in ("module_0000.f.after_optimizations-buffer-assignment.txt", "oom_intermediate_module.txt"):
        (folder / other).write_text(NEGATE)
    shutil.copy(folder / "module_0000.f.before_optimizations.txt", folder / "module_0001.g.before_optimizations.txt")
    shutil.copy(folder / "module_0000.f.before_optimizations.txt", folder / "module_0001.g.after_optimizations.txt")
    steps = steps_of(folder)
    assert [(each.number, each.change) for each in steps if each.program == "module_0000.f"] == [
        (1, "b"),
        (2, "a"),
        (3, "after_optimizations_before_buffer_assignment"),
        (4, "after_optimizations"),
        (5, "after_optimizations_after_buffer_assignment"),
        (6, "after_codegen"),
        (0, "before_optimizations to after_optimizations"),
    ]
    # Of two modules the only step is the whole compilation.
    assert [(each.number, each.change) for each in steps if each.program == "module_0001.g"] == [
        (1, "after_optimizations")
    ]
    again = [Step.of(each.label, (each.before, each.after)) for each in steps]
    assert again == steps


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["none"], 2, "none: no such file or directory"),
        (["m.hlo"], 2, "m.hlo is one module, and steps are between the modules of a directory"),
        (["alone"], 1, "alone: no two modules of one compilation"),
        (["dump", "--only", "fusion"], 2, "no pass matches fusion\nhint: there are a"),
        (["dump", "--only", "("], 2, "( is no regular expression"),
        (["dump", "--target", "cpu"], 2, "--target compiles one FILE"),
        (["dump", "--dump", "kept"], 2, "--dump has no effect without --target"),
        (["dump", "--no-reduce", "--reduced-dir", "small"], 2, "--reduced-dir has no effect with --no-reduce"),
        (["dump", "-o", "page.txt"], 2, "-o page.txt is no page"),
        (["dump", "--engines", "proof", "--seeds", "2"], 2, "--seeds has no effect with --engines proof"),
        (["m.hlo", "--target", "gpu"], 2, "or cpu"),
        (["m.hlo", "--target", "cpu", "--dump", "dump"], 2, "--dump dump is there already"),
        (["m.hlo", "--target", "cpu", "--results", "r.jsonl", "--resume"], 2, "--resume has no effect with --target"),
    ],
)
def test_a_wrong_command_says_what_to_do(
    arguments: list[str], code: int, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump(folder / "dump", before_optimizations=NEGATE, s0000_p_after_a=NEGATE)
    dump(folder / "alone", before_optimizations=NEGATE)
    Path("m.hlo").write_text(NEGATE)
    assert main(["validate", *arguments]) == code
    assert said in capsys.readouterr().err


def test_a_module_is_compiled_and_the_compilers_modules_are_kept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.hlo").write_text(NEGATE)
    found = rows(["m.hlo", "--target", "cpu", "--dump", "kept", "--engines", "proof"], capsys, 0)
    assert {each["verdict"] for each in found} == {"equal"}
    assert "fusion-wrapper" in {each["change"] for each in found}
    assert all(Path(each["after"]).parent == folder / "kept" for each in found)
    assert len(list(Path("kept").glob("*after_optimizations.txt"))) == 1


def test_python_judges_directories_and_functions_of_jax(tmp_path: Path) -> None:
    import jax
    import jax.numpy as jnp

    falsified(CLIPPED, "direction", 2, tmp_path / "dump")
    found = relayout.validate(tmp_path / "dump", only="call-inliner|fusion", reduces=False)
    assert found.verdict == "different"
    assert [(each.change, each.verdict) for each in found.steps] == [("call-inliner", "different"), ("fusion", "equal")]
    assert found.first_difference == found.steps[0]
    assert "-  " in found.steps[0].difference
    assert problems(found._repr_html_()) == []
    lowered = jax.jit(lambda x: jnp.sin(x) * 2).lower(jnp.ones(3))
    compiled = relayout.validate(lowered, target="cpu", only="fusion", engines=("proof",))
    assert {each.verdict for each in compiled.steps} == {"equal"}
    with pytest.raises(DiagnosticError, match="no pass matches nothing"):
        relayout.validate(tmp_path / "dump", only="nothing")
    with pytest.raises(DiagnosticError, match="is no regular expression"):
        relayout.validate(tmp_path / "dump", only="(")


def test_a_page_of_several_programs_and_no_difference() -> None:
    one = StepResult("f", 1, "p", "a", "b", "c", "unknown", said=("for a reason",))
    page = html_page(Validation((one, StepResult("g", 1, "p", "a", "b", "c", "agrees", ("xla",), up_to=("order",)))))
    assert "<title>validation of 2 programs</title>" in page
    assert "no step is different" in page
    assert "is unknown: for a reason" in page
    assert "up to [order] (xla)" in page


@pytest.mark.shared(TPU)
def test_a_falsified_pass_of_the_tpu_compiler_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import tarfile

    with tarfile.open(TPU / "forces.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / "forces"
    FALSIFIED_TPU = re.compile(r"direction=(LT|GT)")  # noqa: N806 (of this test)
    steps = [each for each in steps_of(source) if FALSIFIED_TPU.search(each.after.data().decode()) and each.number]
    wanted = next(each for each in steps if each.change == "tpu_fusion")
    place = wanted.after.dump.place_in_compilation
    for each in find_inputs([str(source)]).modules:
        own = each.dump.place_in_compilation
        if own is not None and place is not None and own >= place:
            text = each.data().decode()
            Path(each.path).write_text(text.replace("direction=LT", "direction=GE"))
    found = rows([str(source), "--no-reduce", "--only", "Main_fusion|final_scheduler|cse"], capsys, 1)
    assert [each["number"] for each in found if each["verdict"] == "different"] == [wanted.number]
