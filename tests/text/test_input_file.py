"""Files of a directory: links are followed inside of it only, even where they appear while a file is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dialect_utils.text import DiagnosticError, leaves_directory, read_input
from dialect_utils.text.input_file import LARGEST_TEXT, open_input


def test_a_part_of_the_path_that_becomes_a_link_while_it_is_opened_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, outside = tmp_path / "dump" / "inner", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "a").write_text(folder.name)
    dump, file = str(tmp_path / "dump"), str(inside / "a")
    assert read_input(file, within=dump) == b"inner"
    resolve = os.path.realpath

    def replaced_after_it_was_resolved(path: str) -> str:
        found = resolve(path)
        if path == file and not inside.is_symlink():
            inside.rename(tmp_path / "moved")
            inside.symlink_to(outside)
        return found

    monkeypatch.setattr("os.path.realpath", replaced_after_it_was_resolved)
    with pytest.raises(DiagnosticError, match="not a directory"):
        open_input(file, LARGEST_TEXT, dump)


def test_names_with_dots_and_folders_of_a_similar_name(tmp_path: Path) -> None:
    for name in ("dump/..a", "dump2/b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    dump = str(tmp_path / "dump")
    assert read_input(f"{dump}/..a", within=dump) == b"dump/..a"
    (tmp_path / "dump/b").symlink_to("../dump2/b")
    assert leaves_directory(f"{dump}/b", dump)
    with pytest.raises(DiagnosticError, match="leaves the directory"):
        read_input(f"{dump}/b", within=dump)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("b")
    read_input(str(tmp_path / "a" / "b"), within=str(tmp_path))
    before = os.listdir("/proc/self/fd")
    for name in ("a/b", "a/c", "a/b/c", "a"):
        try:
            read_input(str(tmp_path / name), within=str(tmp_path))
        except DiagnosticError:
            continue
    assert os.listdir("/proc/self/fd") == before
