"""Frames: round trips, and bytes that are no frame."""

from __future__ import annotations

import socket

import pytest

from relayout.supervisor import host as frames
from relayout.supervisor.host import MalformedFrameError


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b"{'a': 1}",
        b'{"a": ' + b"[" * 200_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
    ],
)
def test_what_is_no_object_of_json_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedFrameError):
        frames.from_json(data)


def test_an_object_comes_back_also_with_lone_surrogates() -> None:
    value = {"name": "a\udcff\0", "pid": 1, "seconds": None}
    assert frames.from_json(frames.to_json(value)) == value


@pytest.mark.parametrize("path", ["o.hlo", "d/ä.hlo", "\udcff", " ", "-"])
def test_a_file_comes_back(path: str) -> None:
    found, data = frames.parse_named_file(bytearray(frames.named_file(path, b"\0x\0")))
    assert (found, bytes(data)) == (path, b"\0x\0")


@pytest.mark.parametrize("frame", [b"", b"o.hlo", b"\0data"])
def test_a_file_needs_a_name(frame: bytes) -> None:
    with pytest.raises(MalformedFrameError, match="without a name"):
        frames.parse_named_file(bytearray(frame))


def test_only_files_candidates_plans_and_entries_are_larger_than_a_megabyte() -> None:
    most = {kind: frames.most_bytes(kind) for kind in frames.KINDS}
    assert {kind for kind, size in most.items() if size > 1 << 20} == {
        frames.FILE,
        frames.CANDIDATE,
        frames.PLAN,
        frames.ENTRY,
    }
    assert most[frames.PLAN] == 1 << 26


@pytest.mark.parametrize("kept", [0, 1, 8, 9, 12])
def test_a_frame_that_breaks_off_is_the_end(kept: int) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall((frames.HEADER.pack(b"U", 4) + b"data")[:kept])
        with pytest.raises(EOFError):
            frames.receive_frame(ours)


def test_a_frame_comes_back_from_a_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        frames.send_frame(theirs, b"U", b"data")
        frames.send_frame(theirs, b"A", b"")
        assert frames.receive_frame(ours) == (b"U", b"data", [])
        assert frames.receive_frame(ours) == (b"A", b"", [])
