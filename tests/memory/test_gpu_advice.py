"""Advice and words of a report about a GPU program."""

from __future__ import annotations

import re

import pytest

import relayout
from dialect_utils.memory.advice import Advice
from dialect_utils.memory.report import MemoryReport
from relayout.reporting.html import html_page
from relayout.reporting.terminal import terminal_page
from tests.paths import ROOT

IMAGES = ROOT / "tests" / "corpus" / "why" / "filtered_images"
HEAD = 'HloModule m, is_scheduled=true, frontend_attributes={fingerprint_before_lhs="0f"}\n\n'
MOVED = "t = f32[32,64,16]{2,1,0} transpose(x), dimensions={2,0,1}"
READ = 'ROOT r = f32[64]{0} custom-call(t), custom_call_target="f"'
# Words of TPUs.
TPU = re.compile(r"\b(?:lanes?|VMEM|tiles?|TPUs?|Google)\b", re.IGNORECASE)


def report_of(*lines: str, head: str = HEAD, before: str = "") -> MemoryReport:
    first = "x = f32[64,16,32]{2,1,0} parameter(0)"
    return relayout.memory_report(
        relayout.parse(head + before + "ENTRY e {\n  " + "\n  ".join((first, *lines)) + "\n}\n")
    )


def advised(report: MemoryReport, kind: str) -> list[Advice]:
    return [each for each in report.advice if each.kind == kind]


def test_a_transpose_of_an_argument_is_a_relayout_with_advice() -> None:
    report = report_of(MOVED, READ)
    [moved] = report.relayouts
    assert (moved.name, moved.kind, moved.bytes_read) == ("t", "transpose", 4 * 64 * 16 * 32)
    [found] = advised(report, "entry copy")
    assert (found.subject, found.bytes_saved) == ("argument 0", 4 * 64 * 16 * 32)
    assert found.text == "hand it over as Format(Layout(major_to_minor=(2, 0, 1)), sharding): t would not move it"


WHOLE = "ROOT t = f32[32,64,16]{2,1,0} transpose(p), dimensions={2,0,1}"
FLAT = """b = f32[1024,32]{1,0} bitcast(p)
  t = f32[32,1024]{1,0} transpose(b), dimensions={1,0}
  ROOT c = f32[32,64,16]{2,1,0} bitcast(t)"""


@pytest.mark.parametrize(("lines", "count"), [(WHOLE, 1), (FLAT, 0)], ids=["whole", "flat"])
def test_a_transpose_in_a_fusion_has_advice_where_it_reads_the_argument_itself(lines: str, count: int) -> None:
    body = f"moved {{\n  p = f32[64,16,32]{{2,1,0}} parameter(0)\n  {lines}\n}}\n\n"
    report = report_of("t = f32[32,64,16]{2,1,0} fusion(x), kind=kInput, calls=moved", READ, before=body)
    assert [each.kind for each in report.relayouts] == ["transpose"]
    assert len(advised(report, "entry copy")) == count


OVER = "output_to_operand_aliasing={{}: (0, {})}"


@pytest.mark.parametrize(
    "lines",
    [
        (MOVED, f'ROOT r = f32[32,64,16]{{2,1,0}} custom-call(t), custom_call_target="f", {OVER}'),
        (MOVED, "b = f32[32768]{0} bitcast(t)", "ROOT r = (f32[32768]{0}) tuple(b)"),
        (MOVED, "n = f32[64,16,32]{2,1,0} negate(x)", READ.replace("(t)", "(t, n)")),
        ("t = f32[64,16,32]{2,1,0} transpose(x), dimensions={0,1,2}", READ),
    ],
    ids=["written over", "returned", "read otherwise", "identity"],
)
def test_other_transposes_of_arguments_have_no_advice(lines: tuple[str, ...]) -> None:
    assert advised(report_of(*lines), "entry copy") == []


def test_a_program_of_another_compiler_has_no_advice_for_transposes() -> None:
    assert advised(report_of(MOVED, READ, head="HloModule m, is_scheduled=true\n\n"), "entry copy") == []


@pytest.mark.parametrize(
    ("target", "count"), [("__cublas$lt$matmul", 1), ("__cublas$gemm", 1), ("__cublas$triangularSolve", 0)]
)
def test_scratch_memory_of_products_is_named(target: str, count: int) -> None:
    call = f'k = (f32[64,64]{{1,0}}, s8[4194304]{{0}}) custom-call(x), custom_call_target="{target}"'
    report = report_of(call, "g = f32[64,64]{1,0} get-tuple-element(k), index=0", "ROOT n = f32[64,64]{1,0} negate(g)")
    found = advised(report, "library workspace")
    assert [(each.subject, each.bytes_saved) for each in found] == [("k", 4194304)] * count
    assert all(target in each.text for each in found)


def test_a_report_of_a_gpu_has_no_words_of_tpus() -> None:
    [path] = IMAGES.glob("*after_optimizations.txt")
    report = relayout.memory_report(path)
    page = html_page(report)
    # Scripts and styles name parts of drawings.
    words = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert [*TPU.findall(words), *TPU.findall(terminal_page(report))] == []
    assert "cuBLAS" in words
    [padded] = (ROOT / "tests" / "corpus" / "why" / "gathered_rows").glob("*.after_optimizations.txt")
    assert len(TPU.findall(html_page(relayout.memory_report(padded)))) > 1


def test_memory_of_collectives_is_named() -> None:
    report = report_of("c = f32[64,16,32]{2,1,0:S(1)} negate(x)", "ROOT n = f32[64,16,32]{2,1,0} negate(c)")
    assert "memory of collectives, S(1)" in terminal_page(report)
