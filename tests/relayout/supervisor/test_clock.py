"""The clock of a unit, with injected time."""

from __future__ import annotations

import os

import pytest

from relayout import process
from relayout.process import Clock


class Time:
    """The time of the system and the seconds that a process was in the queue, both set by a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.queued = 1000.0, 50.0
        monkeypatch.setattr("relayout.process.time.monotonic", lambda: self.now)
        monkeypatch.setattr(process, "_queued_seconds", lambda pid: self.queued)

    def pass_in_steps(self, watched: Clock, seconds: float) -> None:
        for _ in range(round(seconds * 4)):
            self.now += 0.25
            watched.look()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


def test_the_deadline_is_the_limit_and_a_grace_period(time: Time) -> None:
    watched = Clock(1, 3.0)
    assert watched.left() == 3.5
    time.pass_in_steps(watched, 3.25)
    assert watched.left() == 0.25
    time.pass_in_steps(watched, 1.0)
    assert watched.left() == 0.0


@pytest.mark.parametrize("jump", [2.0, 3600.0, 1e9])
def test_a_jump_forward_or_a_stopped_parent_costs_the_child_a_second(time: Time, jump: float) -> None:
    watched = Clock(1, 3.0)
    time.now += jump
    watched.look()
    assert watched.left() == 2.5


def test_a_clock_that_goes_back_ends_no_child_early_and_gives_it_no_time_for_ever(time: Time) -> None:
    watched = Clock(1, 3.0)
    time.now -= 1e6
    watched.look()
    assert watched.left() == 3.5
    time.pass_in_steps(watched, 4.0)
    assert watched.left() == 0.0


def test_time_in_the_queue_of_the_processor_does_not_count_up_to_the_credit(time: Time) -> None:
    watched = Clock(1, 3.0, credit=2.0)
    time.queued += 1.5
    time.pass_in_steps(watched, 3.5)
    assert watched.left() == 1.5
    time.queued += 1000.0
    assert watched.left() == 2.0
    time.pass_in_steps(watched, 2.0)
    assert watched.left() == 0.0


def test_without_credit_time_in_the_queue_counts(time: Time) -> None:
    watched = Clock(1, 3.0)
    time.queued += 1000.0
    time.pass_in_steps(watched, 3.5)
    assert watched.left() == 0.0


def test_a_wait_stops_the_clock_and_has_a_limit_of_its_own(time: Time) -> None:
    watched = Clock(1, 3.0)
    time.pass_in_steps(watched, 1.0)
    watched.wait(10.0)
    time.pass_in_steps(watched, 9.0)
    assert watched.left() == 1.5
    watched.go_on()
    assert watched.left() == 2.5
    watched.wait(10.0)
    time.pass_in_steps(watched, 10.5)
    assert watched.left() == 0.0


def test_a_wait_without_a_limit_has_no_deadline_until_it_ends(time: Time) -> None:
    watched = Clock(1, 3.0)
    watched.wait(None)
    time.pass_in_steps(watched, 1000.0)
    assert watched.left() is None
    watched.go_on()
    assert watched.left() == 3.5


def test_many_waits_do_not_give_time_back(time: Time) -> None:
    watched = Clock(1, 3.0)
    for _ in range(14):
        time.pass_in_steps(watched, 0.25)
        watched.wait(5.0)
        watched.go_on()
    assert watched.left() == 0.0


def test_an_item_has_the_whole_time(time: Time) -> None:
    watched = Clock(1, 3.0, credit=2.0)
    time.pass_in_steps(watched, 3.0)
    time.queued += 7.0
    watched.restart()
    assert watched.left() == 3.5
    time.pass_in_steps(watched, 3.5)
    assert watched.left() == 0.0


@pytest.mark.parametrize("is_alive", [True, False])
def test_the_queue_of_a_process_is_read_from_the_system_and_is_empty_for_one_that_is_gone(is_alive: bool) -> None:
    pid = os.getpid() if is_alive else 2**22 + 1
    assert Clock(pid, 0.0, credit=100.0).left() == 0.5
