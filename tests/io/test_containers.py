"""Modules in logs."""

from __future__ import annotations

import pytest

from dialect_utils.io.containers import find_in_log
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError

HLO = (
    "HloModule m\n\nf {\n  a = f32[] parameter(0)\n}\n\n"
    "ENTRY e {\n  p = f32[3]{0} parameter(0)\n  ROOT n = f32[3]{0} negate(p)\n}\n"
)
PREFIX = "I0102 03:04:05.678901  12345 hlo_pass.cc:77] "


@pytest.mark.parametrize(
    "log",
    [
        f"[ScheduleSyncTensorsGraph]\n  mark_step (a.py:3)\n\n## BEGIN_GRAPH\n{HLO}\n\n## END_GRAPH\n",
        f"compiling ...\n{HLO}\n2024-01-02 done: func.func\n",
        "".join(f"{PREFIX}{line}\n" for line in ["Before:", *HLO.splitlines(), "After."]),
        f'nothing yet\n{HLO}FileNames\n1 "a.py"\n',
    ],
    ids=["torch_xla", "plain", "every line", "tables"],
)
def test_a_module_in_a_log(log: str) -> None:
    found = find_in_log(log, "a.log")
    assert found is not None
    assert found.text == HLO
    assert log.splitlines()[found.first_line - 1].endswith("HloModule m")
    assert parse_bytes(log.encode(), "a.log").text() == HLO


def test_errors_have_locations_in_the_log() -> None:
    log = f"one\ntwo\n{HLO.replace('negate(p)', 'negate(q)')}three\n"
    with pytest.raises(DiagnosticError) as caught:
        parse_bytes(log.encode(), "a.log")
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert location.source.line_and_column(location.span.start) == (11, 29)


def test_a_log_that_prints_several_or_half_a_module() -> None:
    with pytest.raises(DiagnosticError, match="prints 2 modules, at lines 2, 13"):
        parse_bytes(f"log\n{HLO}\n{HLO}".encode(), "a.log")
    with pytest.raises(DiagnosticError, match="expected an instruction or"):
        parse_bytes(f"log\n{HLO[:-3]}".encode(), "a.log")
