"""The parent's side of a child, for children that send anything, and negative examples."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from relayout.supervisor.host import DONE, ERRORS, FILE, HEADER, OUTPUT, MalformedFrameError
from relayout.supervisor.parent import Child, OutputLimitError, Writable
from tests.relayout.supervisor import hostile
from tests.relayout.supervisor.hostile import Deed

_MOST_OUTPUT = 3 << 20
_SECONDS = 10.0


class Printed:
    """The parts that a child printed."""

    def __init__(self) -> None:
        self.parts: list[tuple[bytes, bytes]] = []

    def write(self, kind: bytes, data: bytearray) -> None:
        self.parts.append((kind, bytes(data)))


@pytest.fixture
def children() -> Iterator[list[Child]]:
    made: list[Child] = []
    yield made
    for child in made:
        child.end()
        assert not os.path.exists(f"/proc/{child.pid}")


def served(child: Child, printer: Printed, seconds: float = _SECONDS) -> tuple[bytes, bytearray] | None:
    """Serves a child until it answers; returns None if it has not after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([child.connection], [], [], 0.1)[0]:
            answer = child.receive(printer)
            if answer is not None:
                return answer
    return None


def forked(children: list[Child], deed: Deed, *names: str, reads_input: bool = False) -> Child:
    child = Child(hostile.part(deed), Writable(names), _MOST_OUTPUT, reads_input=reads_input)
    children.append(child)
    child.begin(1.0, 0.0)
    return child


_OF_POOL = [name for name in hostile.MALFORMED if name.startswith("result-")]


@pytest.mark.parametrize("name", [name for name in hostile.MALFORMED if name not in _OF_POOL])
def test_a_malformed_frame_or_an_impossible_request_is_noticed(
    name: str, children: list[Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    child = forked(children, hostile.MALFORMED[name], "out")
    with pytest.raises(MalformedFrameError):
        served(child, Printed())


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (b'{"tell": "goes on"}', 1.5),
        (b'{"tell": "waits", "seconds": 5}', 5.5),
        # A child that a file has taken over promises to be long.
        (b'{"tell": "waits", "seconds": 1e9}', 120.5),
    ],
)
def test_a_notice_sets_the_clock(data: bytes, seconds: float, children: list[Child]) -> None:
    child = forked(children, hostile.sends(b"N", data, then=hostile.result()))
    served(child, Printed())
    left = child.clock.left()
    assert left is not None
    assert seconds - 1 < left <= seconds


def test_a_wait_for_standard_input_and_items_are_for_commands_that_have_them(children: list[Child]) -> None:
    notices = b'{"tell": "item", "name": "second"}', b'{"tell": "waits", "seconds": null}'
    deed = hostile.sends(b"N", notices[0], then=hostile.sends(b"N", notices[1], then=hostile.result()))
    child = forked(children, deed, reads_input=True)
    child.begin(1.0, 0.0, has_items=True)
    served(child, Printed())
    assert (child.item, child.clock.left()) == ("second", None)


def test_many_parts_come_in_their_order(children: list[Child]) -> None:
    frames = b"".join(HEADER.pack((OUTPUT, ERRORS)[n % 2], 1) + bytes([n]) for n in range(200))
    done = HEADER.pack(DONE, 2) + b"{}"
    printer = Printed()
    child = forked(children, hostile.sends_bytes(frames + done))
    assert served(child, printer) == (DONE, bytearray(b"{}"))
    assert printer.parts == [((OUTPUT, ERRORS)[n % 2], bytes([n])) for n in range(200)]


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 10, (1 << 18) - 9, (1 << 18) - 8, 1 << 18, (2 << 20) + 3])
def test_a_file_of_any_size_comes_whole_between_other_frames(
    size: int, children: list[Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = os.urandom(size)
    child = forked(children, hostile.sends(OUTPUT, b"before", then=hostile.writes_file("o", data)), "o")
    printer = Printed()
    answer = served(child, printer)
    assert answer is not None
    assert printer.parts == [(OUTPUT, b"before")]
    assert (tmp_path / "o").read_bytes() == data


@pytest.mark.parametrize("kind", [OUTPUT, ERRORS])
def test_more_output_than_the_limit_ends_the_child(kind: bytes, children: list[Child]) -> None:
    with pytest.raises(OutputLimitError):
        served(forked(children, hostile.repeats(kind, b"x" * 1000)), Printed())


@pytest.mark.parametrize("kind", [OUTPUT, ERRORS, FILE])
@pytest.mark.parametrize("size", [_MOST_OUTPUT + 1, 2**64 - 1])
def test_a_frame_larger_than_the_limit_ends_the_child_before_it_comes(
    kind: bytes, size: int, children: list[Child]
) -> None:
    with pytest.raises(OutputLimitError):
        served(forked(children, hostile.sends_bytes(HEADER.pack(kind, size)), "o"), Printed())


@pytest.mark.parametrize("name", list(hostile.ENDS))
def test_the_end_of_a_child_is_reported_and_it_does_not_live_on(name: str, children: list[Child]) -> None:
    deed, _ = hostile.ENDS[name]
    child = forked(children, deed)
    with pytest.raises(EOFError):
        served(child, Printed())
    start = time.monotonic()
    code, said = child.ended()
    assert time.monotonic() - start < 8
    assert not os.path.exists(f"/proc/{child.pid}")
    assert len(said) <= 8 << 10
    if name.startswith("SIG"):
        assert code == -getattr(signal, name)


def test_a_unit_that_the_child_does_not_read_does_not_stop_the_parent(children: list[Child]) -> None:
    child = forked(children, hostile.sleeps)
    start = time.monotonic()
    child.begin(1.0, 0.0, bytes(10 << 20))
    assert time.monotonic() - start < 8
    assert child.events()[child.connection.fileno()] == select.POLLIN | select.POLLOUT


def test_what_libraries_write_is_read_in_parts_and_its_end_is_kept(children: list[Child]) -> None:
    child = forked(children, hostile.writes_for_ever)
    for _ in range(5):
        select.select([child.words], [], [], _SECONDS)
        child.listen()
    os.kill(child.pid, signal.SIGKILL)
    assert child.ended()[1].strip("x") == ""


def test_a_child_has_no_descriptor_of_another(children: list[Child]) -> None:
    """The first child's connection ends with the first child, although a later one lives."""
    first = forked(children, hostile.sleeps)
    forked(children, hostile.sleeps)
    os.kill(first.pid, signal.SIGKILL)
    with pytest.raises(EOFError):
        served(first, Printed())


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("o.hlo", "o.hlo"),
        ("./o.hlo", "o.hlo"),
        ("o.hlo", "./o.hlo"),
        ("d", "d/m.hlo"),
        ("d/", "d/m.hlo"),
        ("d//", "d/a/b/m.hlo"),
        ("/d/", "/d/m"),
        (".", "m.hlo"),
        ("..", "../m.hlo"),
        ("../d", "../d/m.hlo"),
    ],
)
def test_files_that_the_command_line_names_may_be_written(name: str, path: str) -> None:
    assert Writable((name,)).allows(path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("o.hlo", "o.hlo2"),
        ("o.hlo", "o.hlo.bak"),
        ("o", "other"),
        ("o", "o/../x"),
        ("o", "../o"),
        ("o", "/o"),
        ("/o", "o"),
        ("d/", "d/../../etc/passwd"),
        ("d/", "d2/m"),
        ("d/", ""),
        (".", "../x"),
        (".", "./../x"),
        (".", "/etc/passwd"),
        ("..", "../../x"),
        ("a/b", "a"),
        ("a/b", "a/c"),
    ],
)
def test_other_files_may_not_be_written(name: str, path: str) -> None:
    assert not Writable((name,)).allows(path)
    assert not Writable(()).allows(path)
