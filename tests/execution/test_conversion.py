from __future__ import annotations

import os
import signal

import pytest

from dialect_utils.execution import ExecutionError, hlo_proto_to_text, hlo_text_to_proto
from dialect_utils.execution.conversion import CONVERTER
from dialect_utils.text import DiagnosticError

TEXT = """HloModule tiled, entry_computation_layout={(f32[3,5]{1,0:T(2,2)})->f32[3,5]{1,0:T(2,2)}}

ENTRY e {
  x = f32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT n = f32[3,5]{1,0:T(2,2)} negate(x)
}
"""


def wrapped(message: bytes) -> bytes:
    """Returns a message whose field 1 is the given one, as HloProto holds HloModuleProto."""
    length, prefix = len(message), b""
    while length >= 0x80:
        prefix += bytes([length & 0x7F | 0x80])
        length >>= 7
    return b"\x0a" + prefix + bytes([length]) + message


def test_a_proto_in_any_message_becomes_text_with_its_layouts() -> None:
    proto = hlo_text_to_proto(TEXT)
    text = hlo_proto_to_text(proto)
    assert "f32[3,5]{1,0:T(2,2)} negate" in text
    assert hlo_proto_to_text(wrapped(proto)) == text
    assert hlo_proto_to_text(wrapped(wrapped(proto)) + b"\x1a\x00") == text


@pytest.mark.parametrize("data", [b"\x0a", b"\x0a\xff", b"\x0a\x05abc", b"\x0a" + b"\xff" * 12])
def test_a_cut_proto_is_rejected_by_name(data: bytes) -> None:
    with pytest.raises(DiagnosticError, match=r"x\.pb: "):
        hlo_proto_to_text(data, "x.pb")


def test_other_bytes_and_bad_text_are_rejected_by_jaxlib() -> None:
    with pytest.raises(ExecutionError):
        hlo_proto_to_text(b"\x0a\x03abc\x1a\x03\xff\xff\xff")
    with pytest.raises(ExecutionError):
        hlo_text_to_proto("HloModule")


def test_one_worker_converts_all_protos_and_is_replaced_after_a_crash() -> None:
    proto = hlo_text_to_proto(TEXT)
    pid = CONVERTER.worker.pid
    assert pid is not None
    hlo_proto_to_text(proto)
    assert CONVERTER.worker.pid == pid
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert "negate" in hlo_proto_to_text(proto)
    assert CONVERTER.worker.pid not in (None, pid)
