"""Fixtures of every test."""

from __future__ import annotations

import codecs
import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from dialect_utils.execution import Worker
from tests.paths import ROOT

# Tests start thousands of processes; each would compile this program again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A test would find what an earlier one has compiled, also with other code.
os.environ["RELAYOUT_CACHE"] = "off"
# Nothing of what collecting fourteen thousand tests makes is garbage.
gc.disable()
# No test depends on a clock: a loaded machine is slower than hypothesis expects.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# Archives have names in it. Python 3.13.0 started with `-c`, as pytest-xdist does, raises a SystemError where it looks
# a codec up in a child whose working directory is deleted.
codecs.lookup("cp437")


def pytest_collection_finish() -> None:
    """Lets the collector look for garbage in what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that reads a path beside the repository where that path is absent."""
    for mark in item.iter_markers("shared"):
        if not mark.args[0].exists():
            pytest.skip(f"{mark.args[0].relative_to(ROOT.parent)} is not beside the repository")


class Workers(dict[int, Worker]):
    """The worker processes by their number of devices, each started on its first use."""

    def __missing__(self, devices: int) -> Worker:
        self[devices] = Worker(devices=devices)
        return self[devices]


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Yields worker processes by their number of devices; starting one costs two seconds."""
    found = Workers()
    yield found
    for worker in found.values():
        worker.close()


@pytest.fixture(scope="session")
def worker(workers: Workers) -> Worker:
    """Returns the worker process with one device."""
    return workers[1]
