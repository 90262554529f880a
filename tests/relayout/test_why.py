"""`relayout report --why`: the pass that introduced each copy of a compiled program, and what removes it."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import relayout
from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import find_moved
from dialect_utils.io.dump_names import parse_dump_name
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.memory import measure_memory
from dialect_utils.memory.relayouts import notes_of_lines
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from relayout.reporting.causes import Cause, Why
from relayout.reporting.pass_names import pass_between
from relayout.validation.steps import find_programs
from tests.paths import ROOT, SHARED_DATA

DUMPS = ROOT / "tests" / "corpus" / "why"
GATHERED, WRITTEN, FILTERED = (DUMPS / name for name in ("gathered_rows", "written_rows", "filtered_images"))
TPU = SHARED_DATA / "corpus" / "compiler_dumps"
GPU = SHARED_DATA / "corpus" / "gpu"
PART = "tpu-tiling-rewriter: tiling_rewriter"

# A loop that keeps an argument as a part of its state, before and after the pass that copies it.
LOOP = """HloModule f, entry_computation_layout={{(f32[4,8]{{1,0}})->f32[4,8]{{1,0}}}}

condition {{
  s = (s32[], f32[4,8]{{1,0}}, f32[4,8]{{1,0}}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}}

body {{
  s = (s32[], f32[4,8]{{1,0}}, f32[4,8]{{1,0}}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  a = f32[4,8]{{1,0}} get-tuple-element(s), index=1
  b = f32[4,8]{{1,0}} get-tuple-element(s), index=2
  sum = f32[4,8]{{1,0}} add(a, b)
{copies}  ROOT out = (s32[], f32[4,8]{{1,0}}, f32[4,8]{{1,0}}) tuple(next, {first}, sum)
}}

ENTRY e {{
  x = f32[4,8]{{1,0}} parameter(0)
  zero = s32[] constant(0)
  state = (s32[], f32[4,8]{{1,0}}, f32[4,8]{{1,0}}) tuple(zero, x, x)
  loop = (s32[], f32[4,8]{{1,0}}, f32[4,8]{{1,0}}) while(state), condition=condition, body=body
  ROOT r = f32[4,8]{{1,0}} get-tuple-element(loop), index=2
}}
"""


def why(folder: Path, value: str | None = None) -> Why:
    [found] = relayout.why(str(folder), value, top=1000)
    return found


def cause(folder: Path, value: str) -> Cause:
    [found] = why(folder, value).causes
    return found


def moves(found: Why) -> list[Cause]:
    return [each for each in found.causes if each.kind != "padded array"]


def modules(folder: Path) -> list[Input]:
    [members] = find_programs(find_inputs([str(folder)]).modules, str(folder)).values()
    return members


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["report", "--why", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def written(folder: Path, *texts: str) -> Path:
    """Writes a dump directory with the modules before and after `relayouts`, and perhaps the last one."""
    names = ("before_optimizations", "0001.fixing.after_relayouts.before_dce", "after_optimizations")
    folder.mkdir()
    for name, text in zip(names, texts, strict=False):
        (folder / f"module_0000.jit_f.{name}.txt").write_text(text)
    return folder


def scrambled(source: Path, folder: Path) -> Path:
    """Writes a dump directory whose instructions and computations have random names, others in each module."""
    folder.mkdir()
    for each in modules(source):
        draw = random.Random(each.inner)
        names: dict[str, str] = {}

        def renamed(found: re.Match[str], names: dict[str, str] = names, draw: random.Random = draw) -> str:
            return f"%{names.setdefault(found[1], f'n{draw.randrange(10**9)}')}"

        (folder / each.inner).write_text(re.sub(r"%([A-Za-z_][\w.-]*)", renamed, each.data().decode()))
    return folder


def rows(found: Why) -> Counter[tuple[Any, ...]]:
    """Returns what is said of each move, without the names of instructions."""
    return Counter(
        (
            *(each.kind, each.source, each.result, each.bytes_moved, each.trips, each.introduced_by.name),
            *(each.introduced_by.part, each.op_name, each.source_line, each.change),
            *(side and (side.role, side.opcode, side.shape) for side in (each.adapted, each.kept)),
        )
        for each in moves(found)
    )


def test_a_relayout_has_its_pass_its_sides_its_line_and_its_bytes() -> None:
    found = cause(GATHERED, "copy.2")
    assert (found.kind, found.opcode, found.trips) == ("relayout", "copy", 1)
    assert (found.introduced_by.name, found.introduced_by.pipeline) == ("layout-assignment", "Layout_assignment")
    assert found.introduced_by.part == PART
    assert not found.introduced_by.is_or_later
    assert found.adapted is not None
    assert found.kept is not None
    assert (found.adapted.role, found.adapted.number) == ("argument", 0)
    assert (found.kept.opcode, found.kept.shape) == ("gather", "f32[512,3]{1,0:T(8,128)}")
    # 512 rows of 4 sublanes of 128 lanes, and 512 rows of 128 lanes.
    assert found.bytes_moved == 4 * (512 * 4) + 4 * (512 * 128)
    line = (ROOT / found.source_file).read_text("utf-8").splitlines()[found.source_line - 1]
    assert "x[i]" in line


@pytest.mark.parametrize("name", ["copy.2", "copy.3", "copy-start"])
def test_the_module_of_an_instruction_that_keeps_its_name_is_the_first_with_that_name(name: str) -> None:
    texts = {each.name: each.data().decode() for each in modules(GATHERED)}
    defined = re.compile(rf"^ *(?:ROOT )?%{re.escape(name)} = ", re.MULTILINE)
    first = next(file for file, text in texts.items() if defined.search(text))
    found = next(each for each in why(GATHERED).causes if each.name == name)
    assert found.introduced_by.after == first


def test_a_copy_that_gets_another_name_is_followed() -> None:
    found = cause(WRITTEN, "copy.2")
    assert found.introduced_as == "copy"
    assert (found.introduced_by.name, found.changes_layout) == ("copy-insertion", False)
    named = [each.inner for each in modules(WRITTEN) if b"%copy.2 = " in each.data()]
    assert named[0] not in found.introduced_by.after


@pytest.mark.parametrize("folder", [GATHERED, WRITTEN, FILTERED], ids=lambda each: each.name)
def test_names_do_not_decide(folder: Path, tmp_path: Path) -> None:
    assert rows(why(scrambled(folder, tmp_path / "scrambled"))) == rows(why(folder))


@pytest.mark.shared(TPU)
@pytest.mark.parametrize("name", ["attention", "forces", "mlp_step", "sort_topk"])
def test_every_move_of_other_programs_has_a_pass_whatever_the_names(name: str, tmp_path: Path) -> None:
    shutil.unpack_archive(TPU / f"{name}.tar.xz", tmp_path, filter="data")
    found = why(tmp_path / name)
    assert all(each.introduced_by.name for each in found.causes)
    assert rows(why(scrambled(tmp_path / name, tmp_path / "scrambled"))) == rows(found)


# Of each program: the pass, what makes the array, what asks for its layout, and the order of the advice.
_OF_GPU: dict[str, list[tuple[str, str, str, tuple[int, ...] | None]]] = {
    "conv": [("layout-assignment", "argument 1", "__cudnn$convBiasActivationForward", (3, 0, 1, 2))],
    "conv_grad": [
        ("layout-assignment", "argument 1", "__cudnn$convForward", (3, 0, 1, 2)),
        ("layout-assignment", "__cudnn$convBackwardFilter", "result 0", (3, 0, 1, 2)),
    ],
    "softmax_transposed": [("", "argument 0", "dot", (0, 2, 1))],
    "qr": [
        # The factorization writes over its operand.
        ("layout-assignment", "argument 0", "cusolver_geqrf_ffi", None),
        ("layout-assignment", "cusolver_orgqr_ffi", "result 0", (1, 0)),
        ("layout-assignment", "select", "result 1", (1, 0)),
    ],
    "matmul_tanh": [],
}


@pytest.mark.shared(GPU)
@pytest.mark.parametrize("name", _OF_GPU)
def test_a_transpose_on_a_gpu_has_the_pass_that_asked_for_it(name: str, tmp_path: Path) -> None:
    shutil.unpack_archive(GPU / name / "passes.tar.xz", tmp_path / name, filter="data")
    found = why(tmp_path / name)
    for each, (pass_name, made, asking, order) in zip(moves(found), _OF_GPU[name], strict=True):
        assert each.introduced_by.name == pass_name
        assert each.made_by is not None
        assert (made in each.made_by.text, asking in each.read_by[0].text) == (True, True)
        assert (each.change and each.change.major_to_minor) == order
    assert rows(why(scrambled(tmp_path / name, tmp_path / "scrambled"))) == rows(found)


def test_a_library_of_a_gpu_asks_for_another_layout() -> None:
    found = {each.fusion: each for each in why(FILTERED).causes}
    line = (ROOT / "tests/corpus/make_gpu_why_dumps.py").read_text("utf-8").splitlines()
    assert {name: (str(each.made_by and each.made_by.text), each.read_by[0].text) for name, each in found.items()} == {
        "wrapped_transpose": ("argument 0 (x.1)", "cudnn-conv (custom-call to __cudnn$convForward)"),
        "wrapped_transpose.1": ("argument 1 (w.1)", "cudnn-conv (custom-call to __cudnn$convForward)"),
        "wrapped_transpose.2": ("cudnn-conv (custom-call to __cudnn$convForward)", "result 0"),
    }
    for each in found.values():
        assert (each.introduced_by.name, each.introduced_as.partition(".")[0]) == ("layout-assignment", "copy")
        assert "dimension_numbers" in line[each.source_line - 1]
        assert each.change is not None
        assert each.change.major_to_minor == (0, 2, 3, 1)


def moved_in(file: Path) -> Counter[str]:
    graph = FlatGraph(relayout.read(file))
    return Counter(each.kind for each in find_moved(graph, measure_memory(graph.module)))


def test_the_advice_removes_the_copies_from_the_programs_that_follow_it() -> None:
    changes = {each.change.action: each.change for each in why(GATHERED).causes if each.change is not None}
    assert {name: (each.number, each.major_to_minor) for name, each in changes.items()} == {
        "argument layout": (0, (0, 1)),
        "result layout": (0, (0, 1)),
    }
    donated = cause(WRITTEN, "copy.2").change
    assert donated is not None
    assert (donated.action, donated.number) == ("donation", 0)
    for folder, kind, count in ((GATHERED, "relayout", 2), (WRITTEN, "copy", 1), (FILTERED, "transpose", 3)):
        [before] = folder.glob("*after_optimizations.txt")
        [after] = (DUMPS / f"{folder.name}_followed").glob("*after_optimizations.txt")
        assert (moved_in(before)[kind], moved_in(after)[kind]) == (count, 0)


def test_advice_says_what_the_layout_costs() -> None:
    change = cause(GATHERED, "copy.2").change
    assert change is not None
    [after] = (DUMPS / "gathered_rows_followed").glob("*.after_optimizations.txt")
    argument = relayout.memory_report(after).usage.buffers[0]
    assert (change.bytes_now, change.bytes_then) == (4 * 512 * 4, argument.bytes_held)


def test_a_padded_array_has_the_pass_of_its_layout_and_another_way_to_write_it() -> None:
    found = next(each for each in why(GATHERED).causes if each.kind == "padded array")
    assert found.introduced_by.name == "layout-assignment"
    assert found.padding_bytes == 4 * 1024 * (128 - 3)
    assert found.advice.startswith("gather each of the 3 elements of dimension 1 by itself")


def test_a_copy_of_a_loop_counts_its_iterations(tmp_path: Path) -> None:
    before = LOOP.format(copies="", first="b")
    after = LOOP.format(copies="  c = f32[4,8]{1,0} copy(b)\n", first="c")
    found = cause(written(tmp_path / "d", before, after), "c")
    assert (found.kind, found.trips, found.bytes_moved) == ("copy", 5, 2 * 4 * 8 * 4)
    assert (found.introduced_by.name, found.introduced_by.pipeline) == ("relayouts", "fixing")
    assert found.made_by is not None
    assert (found.made_by.role, found.made_by.number) == ("loop state", 2)
    assert [(each.role, each.number) for each in found.read_by] == [("loop state", 1)]
    assert (found.change, found.advice) == (None, "")


def test_a_layout_is_followed_through_transposes_and_elementwise_operations(tmp_path: Path) -> None:
    module = """HloModule f

ENTRY e {{
  x = f32[8,16,128]{{2,1,0:T(8,128)}} parameter(0)
  y = f32[8,16,128]{{2,1,0:T(8,128)}} exponential(x)
  {lines}
  ROOT r = f32[128,8,16]{{2,1,0:T(8,128)}} negate(t)
}}
"""
    moved = "t = f32[128,8,16]{2,1,0:T(8,128)} transpose(y), dimensions={2,0,1}"
    copied = """c = f32[8,16,128]{1,0,2:T(8,128)} copy(y)
  t = f32[128,8,16]{2,1,0:T(8,128)} transpose(c), dimensions={2,0,1}"""
    change = cause(written(tmp_path / "d", module.format(lines=moved), module.format(lines=copied)), "c").change
    assert change is not None
    assert (change.action, change.number) == ("result layout", 0)
    order = ",".join(map(str, reversed(change.major_to_minor)))
    for index in ((3, 5, 7), (7, 0, 100), (0, 15, 1)):
        i, j, k = index
        there = relayout.linear_index(f"f32[128,8,16]{{{order}:T(8,128)}}", (k, i, j))
        assert there == relayout.linear_index("f32[8,16,128]{2,1,0:T(8,128)}", index)


def test_copies_that_exchange_their_names_are_not_exchanged(tmp_path: Path) -> None:
    module = """HloModule f

ENTRY e {{
  x = f32[4,8]{{1,0}} parameter(0)
  y = f32[4,8]{{1,0}} parameter(1)
  {lines}
  ROOT t = (f32[4,8]{{0,1}}, f32[4,8]{{1,0}}) tuple({results})
}}
"""
    one, two = "copy = f32[4,8]{0,1} copy(x)", "copy = f32[4,8]{1,0} copy(y)\n  copy.1 = f32[4,8]{0,1} copy(x)"
    first, second = module.format(lines=one, results="copy, y"), module.format(lines=two, results="copy.1, copy")
    folder = written(tmp_path / "d", first, second)
    assert cause(folder, "copy.1").introduced_by.name == ""
    assert cause(folder, "copy").introduced_by.name == "relayouts"


def test_a_module_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    shutil.copytree(GATHERED, folder)
    wrong = Path(cause(GATHERED, "copy.2").introduced_by.before).name
    (folder / wrong).write_text("HloModule f\n\nENTRY e {\n  ROOT x = f32[2 parameter(0)\n}\n")
    found = why(folder, "copy.2")
    assert [Path(each).name for each in found.unread] == [wrong]
    assert f"not read: {found.unread[0]}" in str(found)
    assert Path(found.causes[0].introduced_by.before).name != wrong


@pytest.mark.parametrize(
    ("stages", "name"),
    [
        (["0001.p.after_a.before_b", "0002.p.after_b.before_pipeline-end"], "b of p"),
        (["0001.p.after_pipeline-start.before_a", "0002.q.before_r", "0003.p.after_a.before_b"], "a of p (q: r)"),
        (["0001.p.after_a.before_b", "0002.c.after_half", "0003.p.after_c.before_d"], "c of p (c: half)"),
        (
            ["0001.p.after_a.before_b", "0002.q.after_half", "0003.p.after_c.before_d"],
            "b of p, or a later pass (q: half)",
        ),
        (["0002.q.after_half", "0003.q.after_whole"], "q (whole)"),
        (
            ["after_optimizations_before_buffer_assignment", "after_optimizations"],
            "buffer_assignment (between after_optimizations_before_buffer_assignment and after_optimizations)",
        ),
        (
            ["0001.p.after_pipeline-start.before_a", "0002.q.after_pipeline-start.before_b"],
            "a of p, or a later pass (between p.after_pipeline-start.before_a and q.after_pipeline-start.before_b)",
        ),
        (
            ["0001.p.after_a.before_pipeline-end", "after_optimizations"],
            "a of p, or a later pass (between p.after_a.before_pipeline-end and after_optimizations)",
        ),
    ],
)
def test_the_pass_between_two_modules(stages: list[str], name: str) -> None:
    found = [Input(each, f"module_0000.jit_f.{each}.txt") for each in stages]
    assert [each.dump for each in found] == [parse_dump_name(each.inner) for each in found]
    assert str(pass_between(found, 0, 1)) == name


def test_an_instruction_of_the_input_has_no_pass(tmp_path: Path) -> None:
    text = "HloModule f\n\nENTRY e {\n  x = f32[4,8]{1,0} parameter(0)\n  ROOT c = f32[4,8]{0,1} copy(x)\n}\n"
    found = cause(written(tmp_path / "d", text, text), "c")
    assert str(found.introduced_by) == "the compiler's input"
    assert "  introduced  in the program" in list(found.lines)


def test_a_value_is_named_by_a_name_a_part_of_one_or_a_fusion() -> None:
    assert [each.name for each in why(GATHERED, "copy.").causes] == ["copy.3", "copy.2"]
    assert [each.name for each in why(GATHERED, "%copy-done").causes] == ["copy-start"]
    assert [each.kind for each in why(GATHERED, "gather_fusion").causes] == ["padded array"]
    assert [each.kind for each in why(WRITTEN, "dynamic_update_slice.0").causes] == ["instruction"]
    with pytest.raises(DiagnosticError, match=r"no instruction of the final program is called copy\.29") as error:
        why(GATHERED, "copy.29")
    assert error.value.diagnostics[0].hint == "did you mean copy.2?"


def test_the_most_expensive_arrays_come_first() -> None:
    [found] = relayout.why(str(GATHERED), top=3)
    costs = [each.bytes_moved or each.padding_bytes for each in found.causes]
    assert (len(costs), found.arrays) == (3, 6)
    assert costs == sorted(costs, reverse=True)
    assert ": 6 arrays are moved or padded, 3 of them here" in str(found)


def test_the_command_prints_json_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, str(GATHERED), "copy.2", "--json")
    said = json.loads(out)
    assert (code, said["arrays"]) == (0, 6)
    [found] = said["causes"]
    assert found["introduced_by"]["name"] == "layout-assignment"
    assert (found["adapted"]["name"], found["kept"]["opcode"]) == ("x.1", "gather")
    assert found["change"]["major_to_minor"] == [0, 1]
    code, out, _ = run(capsys, str(GATHERED), "--top", "1")
    assert code == 0
    assert str(relayout.why(str(GATHERED), top=1)[0]) == out.rstrip("\n")


def test_several_directories_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--why", str(GATHERED), str(WRITTEN), "copy", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["program"].partition(": ")[0] for each in found] == [str(GATHERED), str(WRITTEN)]
    for each, folder in zip(found, (GATHERED, WRITTEN), strict=True):
        [alone] = relayout.why(str(folder), "copy")
        assert each["causes"] == json.loads(json.dumps(alone.as_json()))["causes"]


def test_several_files_are_compiled(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [tmp_path / "a.hlo", tmp_path / "b.hlo"]
    for each in files:
        each.write_text((ROOT / "examples/attention.hlo").read_text())
    assert main(["report", "--why", *map(str, files), "--target", "cpu", "--json"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["program"] == f"{files[0]}: module_0000.jit_attention"
    assert [each["name"] for each in first["causes"]] == [each["name"] for each in second["causes"]] != []


@pytest.mark.parametrize("folder", [GATHERED, WRITTEN, FILTERED])
def test_the_report_of_a_directory_names_the_pass_of_each_waste(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    causes = {each.fusion or each.name: str(each.introduced_by) for each in relayout.why(str(folder))[0].causes}
    [final] = folder.glob("*after_optimizations.txt")
    assert main(["report", str(folder), "--json"]) == 0
    waste = json.loads(capsys.readouterr().out.splitlines()[-1])["waste"]
    assert waste
    for each in waste:
        assert each["introduced"] == causes.get(each["name"], "")
    assert any(each["introduced"] for each in waste)
    assert main(["report", str(folder), "--width", "200"]) == 0
    assert f"    pass    {waste[0]['introduced']}\n" in capsys.readouterr().out
    # One module alone does not say it.
    assert main(["report", str(final), "--json"]) == 0
    assert not any(each["introduced"] for each in json.loads(capsys.readouterr().out)["waste"])


def test_the_page_of_a_report_says_why(tmp_path: Path) -> None:
    """The directory has the modules of all passes; beside a final module alone nothing is said."""
    page, alone = tmp_path / "page.html", tmp_path / "alone.html"
    assert main(["report", str(GATHERED), "-o", str(page)]) == 0
    section = page.read_text("utf-8").partition('<section id="why">')[2].partition("</section>")[0]
    assert section.count("<details>") == 6
    assert "<summary>copy.2: relayout, 264 KiB read and written, by layout-assignment of Layout_assignment" in section
    assert "remove      pass argument 0 in the layout of the copy" in section
    assert '<a href="#copy.2">' in section
    [final] = GATHERED.glob("*.after_optimizations.txt")
    assert main(["report", str(final), "-o", str(alone)]) == 0
    assert '<section id="why">' not in alone.read_text("utf-8")


def test_the_pages_of_a_directory_say_why(tmp_path: Path) -> None:
    assert main(["report", str(GATHERED), "-o", f"{tmp_path}/pages/"]) == 0
    index, page = sorted((tmp_path / "pages").iterdir())
    assert index.name == "index.html"
    assert '<section id="why">' in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([str(GATHERED), "copy.29"], 1, "no instruction of the final program is called copy.29"),
        ([str(GATHERED), "copy.2", "--top", "3"], 2, "--top has no effect with a VALUE"),
        ([str(GATHERED), "--dump", "d"], 2, "--dump has no effect without --target"),
        ([str(GATHERED), "--target", "cpu"], 2, "--target compiles one FILE"),
        ([str(GATHERED), "--module", "jit_g"], 2, "no module is called jit_g"),
        (["examples/negate.hlo"], 2, "passes are between the modules of a directory"),
        (["examples/absent.hlo"], 2, "absent.hlo"),
        (["examples"], 1, "no two modules of one compilation"),
    ],
)
def test_a_wrong_command_is_an_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    assert message in err


def test_a_file_is_compiled_for_a_target(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    code, out, _ = run(capsys, "examples/attention.mlir", "--target", "cpu", "--dump", str(folder), "--json")
    said = json.loads(out)
    assert code == 0
    assert {each["introduced_by"]["name"] for each in said["causes"]} <= {"layout-assignment", "copy-insertion"}
    assert said["causes"]
    # XLA:CPU copies an argument of another layout once more.
    assert all(each["change"] is None or each["change"]["action"] != "argument layout" for each in said["causes"])
    assert why(folder).arrays == said["arrays"]


@pytest.mark.parametrize(("place", "noted"), [("", True), (' loc("model.py":7:0)', False)])
def test_a_program_without_lines_says_how_it_keeps_them(
    place: str, noted: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.mlir"
    file.write_text(
        "func.func @main(%a: tensor<64x32xf32>) -> tensor<32x64xf32> {\n"
        f"  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>{place}\n"
        f"  return %0 : tensor<32x64xf32>{place}\n}}\n"
    )
    code, _, notes = run(capsys, str(file), "--target", "cpu")
    assert code == 0
    assert ("as_text(debug_info=True) writes them" in notes) == noted
    assert main(["report", str(file), "--target", "cpu"]) == 0
    shown = capsys.readouterr()
    assert "peak 16 KiB in main memory" in shown.out
    assert ("as_text(debug_info=True) writes them" in shown.err) == noted


def test_a_program_with_lines_for_some_operations_has_lines() -> None:
    without, within = ('metadata={source_file="-" source_line=3}\n', 'metadata={source_file="model.py" source_line=7}')
    assert [len(notes_of_lines(text)) for text in (without, within, without + within, "")] == [1, 0, 0, 0]
