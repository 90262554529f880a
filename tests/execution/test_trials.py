"""Trials of changed modules, with a process that answers in place of a compiler."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dialect_utils.execution import trials
from dialect_utils.execution.compilers import Figures
from dialect_utils.execution.messages import Message
from dialect_utils.execution.trials import Submitted, Trials
from dialect_utils.text import DiagnosticError

CHANGED = b"changed"


class Answering:
    """A process with an error, and whether the compiler came to the stage, for the changed and the own module."""

    changed: tuple[str, bool] = "", True
    own: tuple[str, bool] = "", True
    closed = 0

    def __init__(self, platform: str) -> None:
        self.handed: list[bytes] = []
        self.sent: list[bytes] = []

    def send(self, request: Message, seconds: float) -> None:
        assert request.header == {"platform": "tpu", "stage": "after-scheduling", "devices": [3]}
        assert 0 <= seconds <= 10
        self.sent.append(request.blobs[-1])

    def finish(self) -> tuple[Figures, str]:
        error, is_handed = self.changed if self.sent[-1] else self.own
        self.handed = [b""] * is_handed
        return Figures(error=error), ""

    def close(self) -> None:
        type(self).closed += 1


def checked(monkeypatch: pytest.MonkeyPatch, changed: tuple[str, bool], own: tuple[str, bool] = ("", True)) -> str:
    """Returns why a changed module is not given back, after checks that a process which failed has been closed."""
    process = type("Process", (Answering,), {"changed": changed, "own": own, "closed": 0})
    monkeypatch.setattr(trials, "CompilerProcess", process)
    submitted = SimpleNamespace(devices=[SimpleNamespace(id=3)], blobs=lambda: [b"code", b"options", b"topology"])
    found = Trials("after-scheduling")
    try:
        found.check("tpu", cast(Submitted, submitted), CHANGED, 10.0)
    except DiagnosticError as error:
        assert cast(Any, process).closed == 1
        return error.diagnostics[0].message
    assert cast(Any, process).closed == 0
    found.close()
    assert cast(Any, process).closed == 1
    return ""


def test_a_module_that_compiles_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(monkeypatch, ("", True)) == ""


def test_an_error_of_the_changed_module_alone_is_quoted_without_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = "the compiler for tpu cannot compile the passes' module: INTERNAL: no window"
    assert checked(monkeypatch, ("W0000 00:00:1 7 f.cc:1] a log\nINTERNAL: no window", True)) == expected
    assert checked(monkeypatch, ("INTERNAL: no window", True), ("INTERNAL: another", True)) == expected


def test_an_error_that_the_own_module_has_too_says_nothing_about_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = "NOT_FOUND: no custom call f is registered"
    assert checked(monkeypatch, (lacking, True), (lacking, True)) == ""
    # Before the stage the change was in no module.
    assert checked(monkeypatch, (lacking, False), (lacking, False)).endswith(lacking)


def test_a_crash_counts_even_where_the_own_module_crashes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = "the compiler's process ended: Check failed: rank == 2"
    assert checked(monkeypatch, (crash, False), (crash, False)).endswith("Check failed: rank == 2")


def test_a_program_that_no_frame_has_cannot_be_tried() -> None:
    assert Submitted.by_this_thread() is None
    with pytest.raises(DiagnosticError, match=r"cannot be tried: .*\nhint: trial=False gives it to the compiler"):
        Trials("before-scheduling").check("tpu", None, CHANGED, 10.0)


def test_the_program_is_that_of_the_innermost_frame_with_all_three_objects() -> None:
    def made(name: str) -> Any:
        return type(name, (), {})()

    def compiled(module: object, options: object, devices: object) -> Submitted | None:
        # The frame of the lambda has a module without the others.
        return (lambda module: Submitted.by_this_thread())(made("Module"))

    inner = tuple(made(name) for name in ("Module", "CompileOptions", "DeviceList"))
    outer = tuple(made(name) for name in ("Module", "CompileOptions", "DeviceList"))
    found = (lambda module, options, devices: compiled(*inner))(*outer)
    assert found is not None
    assert (found.module, found.options, found.devices) == inner
