"""The entries of the cache: what a child may do with one, and which are removed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from relayout.supervisor import cache as on_disk
from relayout.supervisor.cache import Cache, Entry, Selected, key_of
from relayout.supervisor.host import DONE, ENTRY, REQUEST, receive_frame, send_frame
from relayout.supervisor.parent import Child, Writable
from tests.relayout.supervisor import hostile
from tests.relayout.supervisor.test_parent import Printed, served

_HALF, _WHOLE = b"x" * 500, b"y" * 1000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "m.hlo").write_text("HloModule m")
    return tmp_path / "m.hlo"


def cache_in(folder: Path) -> Cache:
    return Cache(os.open(folder, os.O_RDONLY))


def entry_of(folder: Path, file: Path, *, may_store: bool = True, grows: bool = False) -> Entry:
    found = Entry.of(cache_in(folder), Selected([], [str(file)], grows))
    assert found is not None
    found.may_store = may_store
    return found


def content(entry: Entry) -> bytes | None:
    found = entry.cache.open(entry.key)
    if found is None:
        return None
    with os.fdopen(found, "rb") as opened:
        return opened.read()


def test_an_entry_is_stored_once_after_it_was_not_found(folder: Path, file: Path) -> None:
    entry = entry_of(folder, file)
    entry.store(_HALF)
    assert content(entry) is None, "it was not asked for"
    entry = entry_of(folder, file)
    assert entry.open() is None
    entry.store(_HALF)
    entry.store(_WHOLE)
    assert content(entry) == _HALF


def test_an_entry_that_was_found_is_not_replaced(folder: Path, file: Path) -> None:
    first = entry_of(folder, file)
    first.open()
    first.store(_HALF)
    second = entry_of(folder, file)
    found = second.open()
    assert found is not None
    os.close(found)
    assert second.open() is None, "the second question has no answer"
    second.store(_WHOLE)
    assert content(second) == _HALF


def test_an_entry_that_grows_is_stored_again_by_a_child_that_may_store_it(folder: Path, file: Path) -> None:
    first = entry_of(folder, file, grows=True)
    first.store(_HALF)
    assert content(first) is None, "it was not asked for"
    first.open()
    first.store(_HALF)
    first.store(_WHOLE)
    assert content(first) == _WHOLE
    second = entry_of(folder, file, grows=True)
    found = second.open()
    assert found is not None
    os.close(found)
    second.store(_HALF)
    assert content(second) == _HALF
    other = entry_of(folder, file, grows=True, may_store=False)
    other.open()
    other.store(_WHOLE)
    assert content(other) == _HALF, "the child has read another file before"


def test_a_changed_file_and_another_file_before_prevent_an_entry(folder: Path, file: Path) -> None:
    entry = entry_of(folder, file, may_store=False)
    entry.open()
    entry.store(_HALF)
    assert content(entry) is None
    entry = entry_of(folder, file)
    entry.open()
    file.write_text("HloModule other")
    entry.store(_HALF)
    assert content(entry) is None
    assert os.listdir(folder) == []


@pytest.mark.parametrize(("deed", "stored"), [("asks", True), ("asks not", False)])
def test_a_child_stores_only_its_own_entry(deed: str, stored: bool, folder: Path, file: Path) -> None:
    def keep(connection: socket.socket) -> None:
        if deed == "asks":
            send_frame(connection, REQUEST, b'{"ask": "cached"}')
            receive_frame(connection)
        send_frame(connection, ENTRY, _HALF)
        receive_frame(connection)
        send_frame(connection, DONE, b"{}")

    child, entry = Child(hostile.part(keep), Writable(()), 1 << 20), entry_of(folder, file)
    child.begin(5.0, 0.0, entry=entry)
    try:
        assert served(child, Printed()) is not None
    finally:
        child.end()
    assert os.listdir(folder) == ([entry.key] if stored else [])
    assert content(entry) == (_HALF if stored else None)


def test_pipes_and_missing_files_have_no_key(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "missing", "https://example.com/m.hlo", "a\0b"):
        assert key_of(Selected([], [str(tmp_path / name)])) is None
    assert key_of(Selected([], [str(tmp_path)])) is None


def test_the_least_recently_used_entries_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk, "MOST_BYTES", 2000)
    cache, keys = cache_in(folder), [f"{number:064x}" for number in range(4)]
    for number, key in enumerate(keys[:3]):
        cache.store(key, _HALF)
        os.utime(folder / key, (number, number))
    used = cache.open(keys[0])
    assert used is not None
    os.close(used)
    (folder / "notes.txt").write_text("not an entry")
    cache.store(keys[3], _WHOLE)
    assert {*os.listdir(folder)} == {keys[0], keys[3], "notes.txt"}


def test_unfinished_files_of_ended_processes_are_removed(folder: Path) -> None:
    for name, age in (("old", 0), ("young", None)):
        (folder / f"{name}.new").write_bytes(_HALF)
        if age is not None:
            os.utime(folder / f"{name}.new", (age, age))
    cache_in(folder).store("a" * 64, _HALF)
    assert {*os.listdir(folder)} == {"young.new", "a" * 64}


def test_a_link_is_no_entry(folder: Path, tmp_path: Path) -> None:
    cache, key = cache_in(folder), "a" * 64
    cache.store(key, _HALF)
    (folder / key).rename(tmp_path / "moved")
    (folder / key).symlink_to(tmp_path / "moved")
    assert cache.open(key) is None
