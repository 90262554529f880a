"""A pytest plugin for `coverage run`: the context of coverage is the test, and each test's seconds are kept.

A child process takes its context from RELAYOUT_TEST, which the configuration of coverage reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage

from tests.mutants.coverage_map import VARIABLE


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    measuring = Coverage.current()
    assert measuring is not None
    os.environ[VARIABLE] = item.nodeid
    measuring.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        measuring.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Appends a line for each passed test: its seconds and its name."""
    if report.when == "call" and report.passed:
        with Path(os.environ["RELAYOUT_SECONDS"]).open("a", encoding="utf-8") as file:
            file.write(f"{report.duration:.3f} {report.nodeid}\n")
