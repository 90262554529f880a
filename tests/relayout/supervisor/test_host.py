"""A child's view of its parent: what it sends, what it is answered, and the streams that it prints to."""

from __future__ import annotations

import io
import os
import socket
import sys
from collections.abc import Iterator

import pytest

from relayout.supervisor import host as host_module
from relayout.supervisor.host import ANSWER, HEADER, PART, Host, from_json, receive_frame, to_json, use_streams


class Ends:
    """A host and the other end of its connection."""

    def __init__(self) -> None:
        self.other, self.ours = socket.socketpair()
        self.other.settimeout(10)
        self.host = Host(self.ours)

    def answer(self, value: dict[str, object], *descriptors: int) -> None:
        """Sends an answer before it is asked for, which a socket keeps."""
        data = to_json(value)
        socket.send_fds(self.other, [HEADER.pack(ANSWER, len(data)) + data], descriptors)

    def next(self) -> tuple[bytes, bytes]:
        kind, data, _ = receive_frame(self.other)
        return kind, data


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.other.close()
    made.ours.close()


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))


def test_large_output_goes_in_parts(ends: Ends) -> None:
    # Small parts: nothing reads the other end meanwhile.
    data = os.urandom(1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_module, "PART", 300)
        ends.host.print(b"O", data)
    parts = [ends.next() for _ in range(4)]
    assert [len(part) for _, part in parts] == [300, 300, 300, 100]
    assert b"".join(part for _, part in parts) == data
    assert PART == 1 << 20


@pytest.mark.usefixtures("streams")
def test_output_and_diagnostics_keep_their_order_before_a_result(ends: Ends) -> None:
    use_streams(ends.host, ())
    print("one")
    print("note", file=sys.stderr)
    print("two")
    ends.host.send_done({"status": 0})
    frames = [ends.next() for _ in range(3)]
    assert frames[0] == (b"E", b"note\n")
    assert frames[1] == (b"O", b"one\ntwo\n")
    assert frames[2][0] == b"D"


@pytest.mark.usefixtures("streams")
def test_a_file_comes_after_what_was_printed_before_it(ends: Ends) -> None:
    use_streams(ends.host, ())
    print("one")
    ends.answer({})
    ends.host.write_file("o", b"data")
    assert [ends.next() for _ in range(2)] == [(b"O", b"one\n"), (b"F", b"o\0data")]


def test_an_error_of_the_parent_names_the_file(ends: Ends) -> None:
    ends.answer({"error": [28, "No space left on device", "o"]})
    with pytest.raises(OSError, match="No space left on device") as raised:
        ends.host.write_file("o", b"")
    assert (raised.value.errno, raised.value.filename) == (28, "o")


def test_a_started_process_has_the_descriptors_that_came_with_the_answer(ends: Ends) -> None:
    reading, writing = os.pipe()
    ends.answer({"pid": 5}, reading, writing, writing)
    process = ends.host.start("worker", ["1", "1"])
    os.close(reading)
    os.close(writing)
    os.write(process.stdout, b"x")
    assert os.read(process.stdin, 1) == b"x"
    for descriptor in (process.stdin, process.stdout, process.stderr):
        os.close(descriptor)
    assert from_json(ends.next()[1]) == {"ask": "start", "program": "worker", "arguments": ["1", "1"]}


def test_too_few_descriptors_are_an_error_of_the_system(ends: Ends) -> None:
    """Linux drops descriptors that do not fit into the limit of open files."""
    ends.answer({"pid": 5})
    ends.answer({})
    with pytest.raises(OSError, match="open files"):
        ends.host.start("worker", ["1", "1"])


def test_a_wait_ends_with_the_process_or_after_its_time(ends: Ends) -> None:
    for code in (None, None, -9):
        ends.answer({"code": code})
    assert ends.host.wait_for(5, 10.0) == -9
    ends.answer({"code": None})
    assert ends.host.wait_for(5, 0.0) is None


@pytest.mark.parametrize("call", ["next_unit", "write_file"])
def test_a_parent_that_is_gone_is_the_end(call: str, ends: Ends) -> None:
    ends.other.close()
    with pytest.raises((EOFError, BrokenPipeError)):
        getattr(ends.host, call)(*(("o", b"") if call == "write_file" else ()))
