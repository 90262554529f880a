"""URLs instead of files, by fsspec's file systems that need no server."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialect_utils.io import remote
from dialect_utils.io.files import is_url, read_bytes
from dialect_utils.io.inputs import find_inputs, named_input
from dialect_utils.io.remote import existing_urls, matching_urls, read_url, remove_url, write_url
from dialect_utils.text import DiagnosticError
from relayout.cli import main

_MODULE = "HloModule m\n\nENTRY e {\n  ROOT p = f32[3]{0} parameter(0)\n}\n"


@pytest.fixture
def bucket() -> Iterator[str]:
    yield "memory://bucket"
    for url in existing_urls("memory://bucket/**"):
        remove_url(url)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://b/k", True),
        ("zip://m.hlo::s3://b/a.zip", True),
        ("simplecache::https://h/m", True),
        ("m.hlo", False),
        ("C:\\m.hlo", False),
        ("a:b", False),
        ("-", False),
    ],
)
def test_urls_are_distinguished_from_paths(name: str, expected: bool) -> None:
    assert is_url(name) == expected


def test_a_written_file_is_read_found_and_removed(bucket: str) -> None:
    for name in ("b.hlo", "a.hlo", "a.txt"):
        write_url(f"{bucket}/d/{name}", name.encode())
    assert read_url(f"{bucket}/d/b.hlo") == b"b.hlo"
    assert [url.rpartition("/")[2] for url in matching_urls(f"{bucket}/d/*.hlo")] == ["a.hlo", "b.hlo"]
    remove_url(f"{bucket}/d/a.hlo")
    assert len(existing_urls(f"{bucket}/d/*.hlo")) == 1
    assert existing_urls(f"{bucket}/d/a.hlo") == []
    with pytest.raises(DiagnosticError, match=r"a\.hlo"):
        read_url(f"{bucket}/d/a.hlo")
    with pytest.raises(DiagnosticError, match="no file has such a name"):
        matching_urls(f"{bucket}/d/*.mlir")


@pytest.mark.parametrize("url", ["file://{}", "local://{}", "zip://a.hlo::{}", "zip://*.hlo::file://{}"])
def test_pipes_and_devices_are_no_files_of_urls(url: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a pipe"), ("/dev/zero", "a device")):
        with pytest.raises(DiagnosticError, match=f"is {kind}"):
            [read_url(each) for each in matching_urls(url.format(path))]


def test_members_of_an_archive_are_inputs(tmp_path: Path) -> None:
    archive = tmp_path / "dumps.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for number in (10, 9):
            file.writestr(f"d/module_{number:04}.m.before_optimizations.txt", _MODULE.replace("m\n", f"m{number}\n", 1))
    found = find_inputs([f"zip://d/*.txt::file://{archive}"]).modules
    assert [each.module().name for each in found] == ["m9", "m10"]
    assert found[0].relative == "module_0009.m.before_optimizations.txt"


def test_a_command_reads_and_writes_urls(bucket: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_url(f"{bucket}/m.hlo", _MODULE.encode())
    write_url(f"{bucket}/n.hlo", _MODULE.encode())
    assert main(["opt", f"{bucket}/m.hlo"]) == 0
    assert capsys.readouterr().out == _MODULE
    assert main(["opt", f"{bucket}/*.hlo", "-o", f"{bucket}/out/"]) == 0
    assert read_url(f"{bucket}/out/n.hlo") == _MODULE.encode()


def test_too_much_and_unknown_kinds_are_rejected(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_url(f"{bucket}/large", b"12345")
    monkeypatch.setattr(remote, "LARGEST_TEXT", 4)
    with pytest.raises(DiagnosticError, match="more than the 4 bytes"):
        read_bytes(f"{bucket}/large")
    with pytest.raises(DiagnosticError, match="nonsense"):
        named_input("nonsense://x").data()
