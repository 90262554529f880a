"""Every writer gets the same ugly names: JUnit, SARIF, JSON, Parquet, pages, index pages, and RUN lines."""

from __future__ import annotations

import io
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest

from relayout.cli import main
from tests.paths import ROOT

_MODULE = (ROOT / "examples" / "negate.hlo").read_bytes()
_STEMS = (
    b"\x1b[31mred", b"\xff\xfe", b"two\nlines", b'"quoted"', b"'single'", b"<b>&amp;", b"a b", b"=1+1", b"%20",
    b"\x01\x08", b"\x7f\xc2\x85", "\u202eturned".encode(), "\ufffe".encode(), "\U0001f600".encode(), b"a;b", b"$(x)`y`",
    b"back\\slash", b"#comment", b"a,b", b"\ttab\r", b"\xed\xa0\x80", b"{x}[y]*?", b"]]>", b"-n" + b"n" * 200,
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    for stem in _STEMS:
        Path(os.fsdecode(b"d/" + stem + b".hlo")).write_bytes(_MODULE)
    return tmp_path


def _names() -> set[bytes]:
    return {b"d/" + stem + b".hlo" for stem in _STEMS}


def test_files_for_machines_are_well_formed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # A check that fails has each name in its messages, too.
    Path("other.hlo").write_bytes(_MODULE.replace(b"negate(", b"abs("))
    files = sorted(str(each) for each in Path("d").iterdir())
    for number, file in enumerate(files):
        Path(file).write_bytes(_MODULE if number % 2 else b"HloModule broken\nENTRY e {\n")
    assert main(["opt", "d", "--junit", "j.xml", "--sarif", "s.json", "--results", "r.jsonl", "-o", "o/"]) == 1
    cases = [each.get("name") for each in ElementTree.parse("j.xml").iter("testcase")]
    assert len(set(cases)) == len(_STEMS)
    found = json.loads(Path("s.json").read_text())["runs"][0]["results"]
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in found}
    assert {unquote_to_bytes(each) for each in uris} < _names()
    assert all(each.isascii() and each.isprintable() and " " not in each for each in uris)
    rows = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert {os.fsencode(each["name"]) for each in rows} == _names()
    assert "internal error" not in capfd.readouterr().err


def test_a_table_holds_each_name(folder: Path) -> None:
    from pyarrow import parquet

    assert main(["opt", "d", "--results", "r.parquet"]) == 0
    names = parquet.read_table(io.BytesIO(Path("r.parquet").read_bytes())).column("name").to_pylist()
    assert len(set(names)) == len(_STEMS)
    assert main(["opt", "d", "--results", "r.parquet", "--resume"]) == 0


class _Links(HTMLParser):
    """The targets of links, and the names of elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.elements: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_the_index_links_to_the_page_of_each_module(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "d", "-o", "pages/"]) == 0, capfd.readouterr().err
    page = _Links((folder / "pages" / "index.html").read_bytes().decode("utf-8", "surrogateescape"))
    linked = {unquote_to_bytes(each) for each in page.links if not each.startswith(("#", "data:"))}
    assert linked == {stem + b".html" for stem in _STEMS}
    assert all((folder / "pages" / os.fsdecode(each)).is_file() for each in linked)
    assert not page.elements & {"b", "img"}


def test_json_and_run_lines_hold_each_name(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "d", "--json"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert {os.fsencode(json.loads(line)["file"]) for line in lines} == _names()
    assert main(["opt", "d", "-p", "strip-layouts", "--generate-checks", "-o", "t/"]) == 0
    made = [each.read_bytes() for each in Path("t").iterdir()]
    assert [len(re.findall(rb"^.*RUN:.*$", each, re.MULTILINE)) for each in made] == [1] * len(_STEMS)
