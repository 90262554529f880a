"""The representations of each object: text as one types it, and tables and pictures with escaped names."""

from __future__ import annotations

from typing import Any

import pytest

import relayout
from dialect_utils.execution.compilers import Figures
from dialect_utils.memory.report import memory_levels, timeline_svg
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import format_bytes
from dialect_utils.verdict.differences import MovedElement, Place
from relayout.tuning.changes import change_of
from relayout.tuning.search import Tuning
from relayout.tuning.trials import Trial
from tests.markup import problems
from tests.paths import ROOT

NEGATE = (ROOT / "examples/negate.hlo").read_text("utf-8")
HOSTILE = "<script src='//a'>alert(\"&\")</script>\x1b"
MLIR = """module @"NAME" {
  func.func @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = stablehlo.negate %arg0 : tensor<3x5xf32> loc("NAME")
    return %0 : tensor<3x5xf32>
  }
}
"""


def html(value: Any) -> str:
    shown: str = value._repr_html_()
    return shown


def dump(op_name: str) -> str:
    metadata = f', metadata={{op_name="{op_name}"}}'
    return NEGATE.replace("negate(x)", f"negate(x){metadata}")


def tuning() -> Tuning:
    """Returns a search whose second trial is the best, and whose third one failed."""
    module = relayout.read(ROOT / "examples/attention.mlir")
    assert isinstance(module, StableHloModule)
    start = change_of(module)
    figures = (Figures(argument=2048, temp=4096), Figures(argument=2048, temp=1024), Figures(error="<b>no"))
    trials = tuple(Trial(start, each) for each in figures)
    return Tuning("tpu-v5e", "libtpu 0", "peak", trials, trials[1], "equal: <proof>", module, (), None)


def representations() -> dict[str, Any]:
    """Returns an object of each kind."""
    shapes = [
        "f32[3,5]{1,0:T(2,2)}",
        "(f32[3]{0}, (s32[], token[]), f32[<=3])",
        "f32[?,3]",
        "token[]",
        "b(f32[4]{0})",
        "()",
    ]
    module = relayout.parse(NEGATE)
    other = relayout.parse(NEGATE.replace("negate(x)", "abs(x)"))
    moved = MovedElement(1, (1,), (Place("parameter 0", (2,)), Place("<padding>", None)))
    return {
        **{shape: relayout.parse_shape(shape) for shape in shapes},
        "layout": relayout.parse_shape("f32[3,5]{0,1:T(2,2)S(1)}").layout,
        "hlo": module,
        "stablehlo": relayout.parse(MLIR),
        "hostile names": relayout.parse(MLIR.replace("NAME", "<script src='//a'>&")),
        "equal": relayout.check(module, passes="expand-tiling", engines=("proof",)),
        "different": relayout.check(module, other),
        "moved": relayout.Verdict("different", ("proof",), counterexample=moved),
        "explanation": relayout.explain("f32[3,5]{1,0:T(2,2)}"),
        "result of a pipeline": relayout.Pipeline.parse("expand-tiling").run(relayout.parse(dump("<img src='//a'>&"))),
        "search": tuning(),
        "report": relayout.memory_report(ROOT / "examples/forces_tpu.hlo"),
        "report of a hostile name": relayout.memory_report(relayout.parse(dump("<img src='//a'>&"))),
    }


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    return representations()


def test_all_are_well_formed_and_load_nothing(shown: dict[str, Any]) -> None:
    found = {name: problems(html(value)) for name, value in shown.items()}
    assert {name: each for name, each in found.items() if each} == {}


def test_names_are_escaped(shown: dict[str, Any]) -> None:
    assert "&lt;script src=&#x27;//a&#x27;&gt;&amp;" in html(shown["hostile names"])
    assert "&lt;img src=&#x27;//a&#x27;&gt;&amp;" in html(shown["report of a hostile name"])


def test_an_explanation_has_the_drawing_and_the_numbers(shown: dict[str, Any]) -> None:
    text = html(shown["explanation"])
    assert "<svg" in text
    for expected in ("padding fraction", "0.375", "[2, 3, 2, 2]"):
        assert expected in text


def test_a_pipeline_and_a_search_are_tables(shown: dict[str, Any]) -> None:
    assert '>expand-tiling</td><td style="text-align: left">changed</td>' in html(shown["result of a pipeline"])
    assert "x.reshape = f32[2,2,3,2]" in html(shown["result of a pipeline"])
    text = html(shown["search"])
    assert text.count("<tr>") == 4
    for expected in (">best</td>", ">1 KiB</td>", "&lt;b&gt;no", "equal: &lt;proof&gt;"):
        assert expected in text


def test_the_problems_of_markup_are_found() -> None:
    assert problems("<b>x</i>") == ["not well formed: mismatched tag: line 1, column 11"]
    for wrong in ("<script/>", "<b onclick='f()'/>", "<p style='background: url(a)'/>", "<p title='http://a'/>"):
        assert len(problems(wrong)) == 1
    assert problems("<p>http://a</p>") == []


def test_a_layout_lists_the_fields_that_are_written(shown: dict[str, Any]) -> None:
    text = html(shown["layout"])
    for expected in ("<code>{0,1:T(2,2)S(1)}</code>", "dim 1 &gt; dim 0", "(2,2)", "memory space"):
        assert expected in text
    assert "split configs" not in text


def test_a_module_shows_its_entry_and_its_text(shown: dict[str, Any]) -> None:
    assert "module negate: hlo, functions: 1, operations: 1" in html(shown["hlo"])
    assert "f32[3,5]{1,0:T(2,2)}</td>" in html(shown["hlo"])
    assert f"<pre>{NEGATE.strip()}</pre>" in html(shown["hlo"])
    assert "module &lt;script" in html(shown["hostile names"])
    assert "<table>" not in html(relayout.parse("func.func private @f()"))
    wide = ", ".join(f"p{i}: f32[3]" for i in range(30))
    lines = "".join(f"p{i} = f32[3] parameter({i})\n" for i in range(30))
    many = relayout.parse(f"HloModule m\nENTRY e ({wide}) -> f32[3] {{\n{lines}ROOT r = f32[3] negate(p0)\n}}\n")
    assert "... 11 more" in html(many)


def test_a_verdict_shows_the_element_that_differs(shown: dict[str, Any]) -> None:
    assert html(shown["equal"]).startswith("<p><b>equal (proof)</b></p><ul><li>every output is proved")
    assert "output 0: equal" in html(shown["equal"])
    example = shown["different"].counterexample
    for expected in ("output 0 at [0,0]", *example.values, *example.bits):
        assert f">{expected}<" in html(shown["different"])
    for expected in ("output 1 at [1]", "comes from", "parameter 0[2]", "&lt;padding&gt;"):
        assert f">{expected}<" in html(shown["moved"])


def test_a_report_shows_sizes_for_people_and_memory_over_time(shown: dict[str, Any]) -> None:
    report = shown["report"]
    assert repr(report) == "<MemoryReport jit_forces: peak 1.01 GiB>"
    assert ">1000 MiB<" in html(report)
    assert html(report).startswith("<p><b>1000 of 1034 MiB at the peak are padding of one array: gather_fusion")
    assert "1073872896" not in html(report)
    levels = memory_levels(report.usage)
    assert max(levels) == levels[report.usage.peak_time] == report.usage.main_memory_peak_bytes
    assert len(levels) == report.usage.schedule.length
    assert f"at most {format_bytes(max(levels))}" in timeline_svg(report.usage)


def test_the_text_of_each_is_what_one_types(shown: dict[str, Any]) -> None:
    step = relayout.Pipeline.parse("expand-tiling{interface=physical}")
    assert repr(step) == "Pipeline.parse('expand-tiling{interface=physical}')"
    assert repr(step.passes[0]) == "expand_tiling(interface='physical')"
    assert repr(shown["layout"]) == "{0,1:T(2,2)S(1)}"
    assert repr(shown["hlo"]) == NEGATE.strip()
