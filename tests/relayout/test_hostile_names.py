"""Hostile names in every field of a report: its page, its other formats, and drawings."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from dialect_utils.hlo import parse_module as parse_hlo
from dialect_utils.io.files import decode, encode
from dialect_utils.ir import Module
from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.picture import draw_shape, format_svg
from dialect_utils.memory import MemoryReport
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from relayout.batch.results import to_parquet
from relayout.reporting.export import FORMATS
from relayout.reporting.html import html_page

NAMES = (
    "{{data}}",
    "{{style}} {{script}} {{title}} {{policy}} {{}} {{x}}",
    "</title><script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!-- <script>",
    "]]> & &lt; '\\\" \u2028 \u2029 \u202e",
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@SUM(1)",
    "constructor __proto__",
    "a; b -> c [label=d] } digraph {",
    "bytes \udcff that are not UTF-8",
)
FORMULA = "=1+1"


def hlo(name: str) -> Module:
    """Returns a module of HLO with the name in its metadata: op name, file, and a relayout."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"') if '\\"' not in name else name
    metadata = f'metadata={{op_name="{quoted}" source_file="{quoted}" source_line=3}}'
    return parse_hlo(
        "HloModule m, is_scheduled=true\n\nENTRY e {\n  p = f32[8,3]{1,0:T(8,128)} parameter(0), "
        f"{metadata}\n  c = f32[8,3]{{0,1:T(8,128)}} copy(p), {metadata}\n"
        f"  ROOT n = f32[8,3]{{0,1:T(8,128)}} negate(c), {metadata}\n}}\n",
        "m.hlo",
    )


def stablehlo(name: str) -> Module:
    """Returns a module of StableHLO with the name, as far as it is UTF-8, as symbol, location and source file."""
    name = name.replace("\udcff", "\N{REPLACEMENT CHARACTER}")
    quoted = name if '\\"' in name else name.replace("\\", "\\\\").replace('"', '\\"')
    quoted = "".join(f"\\{byte:02X}" if byte > 127 else chr(byte) for byte in encode(quoted))
    location = f'loc("{quoted}"("{quoted}":1:2))'
    return parse_stablehlo(
        f'module @"{quoted}" {{\nfunc.func public @main(%a: tensor<8x3xf32>) -> tensor<3x8xf32> {{\n'
        f"  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32> {location}\n"
        "  return %0 : tensor<3x8xf32>\n}}\n",
        "m.mlir",
    )


def reports(name: str) -> Iterator[MemoryReport]:
    yield MemoryReport(hlo(name))
    yield MemoryReport(stablehlo(name))


class Page(HTMLParser):
    """The elements of a page in order, and the text in each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.text: dict[str, str] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self._open = f"{tag} {dict(attrs).get('id', '')}".strip()

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.text[self._open] = self.text.get(self._open, "") + data


PLAIN = [Page(html_page(report)) for report in reports("plain")]


@pytest.mark.parametrize("name", NAMES)
def test_names_change_neither_the_elements_nor_the_script_of_a_page(name: str) -> None:
    for report, plain in zip(reports(name), PLAIN, strict=True):
        page = Page(html_page(report))
        assert page.elements == plain.elements
        assert page.text["script"] == plain.text["script"]
        assert page.text["style"] == plain.text["style"]
        data = json.loads(page.text["script data"])
        assert data["module"] == report.module.name
        for row in report.buffers:
            assert {row.op_name, row.source_file, row.shape} <= {*data["strings"]}
    title = Page(html_page(MemoryReport(stablehlo(name)))).text["title"]
    assert title.startswith("memory of ")
    assert "{{" not in name or title == f"memory of {name}"


def converted(name: str) -> MemoryReport:
    """Returns the report of a module whose largest array has a source line with the name."""
    text = hlo(name).text().replace("p = f32[8,3]{1,0:T(8,128)}", "p = bf16[8,3]{1,0:T(8,128)(2,1)}")
    return MemoryReport(parse_hlo(text.replace(" copy(", " convert("), "m.hlo"))


@pytest.mark.parametrize("name", NAMES)
def test_a_source_file_in_the_sentence_stays_a_text(name: str) -> None:
    report = converted(name)
    assert report.headline.endswith(":3")
    page, plain = Page(html_page(report)), Page(html_page(converted("plain")))
    assert page.elements == plain.elements
    assert page.text["script"] == plain.text["script"]


def test_a_browser_runs_the_script_of_the_page_only() -> None:
    text = html_page(MemoryReport(hlo("x")))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert re.search(r"script-src &#x27;sha256-[\w+/]{43}=&#x27;;", policy[1])


def graphviz_strings(text: str) -> tuple[list[str], str]:
    """Returns the quoted strings of a graph, read as Graphviz does, and the text without them."""
    quoted = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
    return [found[1].replace('\\"', '"').replace("\\\\", "\\") for found in quoted.finditer(text)], quoted.sub(
        '""', text
    )


@pytest.mark.parametrize("name", [*NAMES, "a\\", 'a\\"', 'x"]; evil [URL="x'])
def test_names_stay_in_the_strings_of_graphviz(name: str) -> None:
    _, skeleton = graphviz_strings(decode(FORMATS[".dot"](MemoryReport(stablehlo("plain")))))
    module = stablehlo(name.replace("\\", "\\\\").replace('"', '\\"') if name not in NAMES else name)
    strings, around = graphviz_strings(decode(FORMATS[".dot"](MemoryReport(module))))
    assert around == skeleton
    assert strings[0] == module.name


@pytest.mark.parametrize("name", NAMES)
def test_json_and_parquet_hold_names_as_they_are(name: str) -> None:
    pyarrow = pytest.importorskip("pyarrow.parquet")
    report = MemoryReport(hlo(name))
    kept = [row.op_name for row in report.buffers]
    assert [row["op_name"] for row in json.loads(FORMATS[".json"](report))["buffers"]] == kept
    assert json.loads(FORMATS[".nodes"](report))[0]["name"] == "bytes held"
    rows = pyarrow.read_table(io.BytesIO(FORMATS[".parquet"](report))).to_pylist()
    assert [row["op_name"] for row in rows] == [each.replace("\udcff", "\\udcff") for each in kept]


def test_results_in_parquet_hold_names_that_are_not_utf_8() -> None:
    pyarrow = pytest.importorskip("pyarrow.parquet")
    texts = dict.fromkeys(("sha256", "command", "options", "version", "output", "diagnostics"), FORMULA)
    row = {**texts, "name": "a\udcff.hlo", "exit_code": 0, "seconds": 0.0, "figures": {"a": 1}}
    [read] = pyarrow.read_table(io.BytesIO(to_parquet([row]))).to_pylist()
    assert (read["name"], read["figures"], read["diagnostics"]) == ("a\\udcff.hlo", '{"a": 1}', FORMULA)


def test_no_format_of_reports_is_opened_by_spreadsheets_as_formulas() -> None:
    assert not {".csv", ".tsv", ".xls", ".xlsx", ".ods"} & {*FORMATS}


@pytest.mark.parametrize("name", NAMES[:-1])
def test_labels_of_a_drawing_stay_text(name: str) -> None:
    picture = draw_shape(parse_array_shape("f32[2,3]{1,0:T(2,128)}"))
    plain, hostile = (format_svg(replace(picture, notes=(note,))) for note in ("note", name))
    elements, plain_elements = ([each.tag for each in ElementTree.fromstring(text).iter()] for text in (hostile, plain))
    assert elements == plain_elements
    assert name in {each.text for each in ElementTree.fromstring(hostile).iter()}
