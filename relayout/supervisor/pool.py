"""The children of a command: the first plans its units, and all work on them, each on one unit at a time.

A child that crashes or reaches a limit costs its own unit only: another one goes on with the next.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from dialect_utils import processes, sandbox
from dialect_utils.processes import NO_MEMORY, describe_exit
from dialect_utils.text import Diagnostic, render
from relayout.batch.unit import Unit
from relayout.command import Command, Job, Result
from relayout.console import colour
from relayout.options import values_of, written
from relayout.supervisor.child import Limits, format_unit, parse_plan, serve
from relayout.supervisor.host import DONE, ERRORS, OUTPUT, PLAN, MalformedFrameError, from_json
from relayout.supervisor.parent import Child, Lost, OutputLimitError, Writable
from relayout.supervisor.programs import Programs

if TYPE_CHECKING:
    from relayout.supervisor.cache import Cache, Entry

# The most results that are held in memory while an earlier result is missing.
_AHEAD = 256
# With more bytes of such results, no unit begins ahead of the missing one.
_MOST_KEPT = 256 << 20
# Planning reads directories, and in them the begin of each file.
_PLAN_SECONDS = 120.0
_MORE_TIME = "--timeout SECONDS gives it more"
_MORE_MEMORY = "--memory GB gives it more"
# A process that was ended with at least this share of its memory in use had too little of it.
_MOST_OF_MEMORY = 0.9
# A child that has read another file may store no entry in the cache; a larger file is worth the start of a new child.
_REPLACING_BYTES = 100_000
# The clocks are read at least this often.
_LOOK_SECONDS = 0.5
# The fields of a result, and the exit codes of a unit.
_RESULT = {name: type(value) for name, value in Result(0).header.items()}
_STATUSES = range(128)
# The options whose files this process makes, not a child or a compiler.
_OWN = ("results", "junit", "sarif", "dump", "reduced_dir")
# Added to a child's longest wait: it ends a run of --oracle itself.
_WAIT_MARGIN = 5.0
_MORE_OUTPUT = "--max-output GB allows more"


@dataclass(frozen=True, slots=True)
class _Event:
    """The end of a task: a frame of its child, or the reason why the child is lost."""

    child: Child
    task: _Task
    found: tuple[bytes, bytearray] | Lost


@dataclass(slots=True)
class _Task:
    """A unit in progress, None for the plan, and its output so far; it is printed at once while `is_direct`."""

    unit: Unit | None
    number: int
    is_direct: bool
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)

    def write(self, kind: bytes, data: bytes | bytearray) -> None:
        """Prints or keeps output (`OUTPUT`) and diagnostics (`ERRORS`)."""
        if self.is_direct:
            _print(kind, data)
        elif kind == OUTPUT:
            self.output += data
        else:
            self.errors += data

    def print_directly(self) -> None:
        """Prints the kept output, and from now on all output immediately."""
        if not self.is_direct:
            self.is_direct = True
            _print(ERRORS, self.errors)
            _print(OUTPUT, self.output)
            self.output.clear()
            self.errors.clear()


def _print(kind: bytes, data: bytes | bytearray) -> None:
    if data:
        stream = sys.stdout if kind == OUTPUT else sys.stderr
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()


class Pool:
    """The children of one command, and their job. A context manager, which ends them."""

    def __init__(self, job: Job, limits: Limits, *, is_direct: bool, cache: Cache | None = None) -> None:
        self._cache = cache
        self.job, self._limits = job, limits
        self._is_direct = is_direct
        self._writable = _writable(job.command)
        self._idle: list[Child] = []
        self._busy: dict[Child, _Task] = {}
        # Made here: a child that is killed at any moment leaves nothing.
        self._empty = sandbox.empty_directory()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        os.close(self._empty)

    def end(self) -> None:
        """Ends all children."""
        for child in [*self._busy, *self._idle]:
            child.end()
        self._busy.clear()
        self._idle.clear()

    def restart(self, job: Job, limits: Limits) -> None:
        """Ends all children; later ones get another job and other limits."""
        self.end()
        self.job, self._limits = job, limits

    def plan(self) -> Sequence[Unit] | int:
        """Returns the units of the command, or its exit code where there is nothing more to do."""
        child = self._forked(is_planner=True)
        # The modules of a directory are found by the content of its files.
        child.has_worked = any(map(os.path.isdir, self.job.command.files or ()))
        # A command that makes modules first reads a FILE for that.
        asked = self.job.command.limits.timeout if self.job.command.compiled is not None else None
        child.begin(asked or _PLAN_SECONDS, 0.0 if asked else _PLAN_SECONDS)
        self._busy[child] = _Task(None, 0, is_direct=True)
        while True:
            for event in self._events():
                if isinstance(event.found, Lost):
                    return self._lost(event.task, event.child, event.found).status
                try:
                    found = _planned(*event.found)
                except MalformedFrameError as error:
                    event.child.end()
                    return self._lost(event.task, event.child, Lost(f"the process that plans sent {error}")).status
                self._idle.append(event.child)
                self.job = self.job.planned(found if isinstance(found, Sequence) else ())
                return found

    def results(self, units: Sequence[Unit], count: int) -> Generator[Result]:
        """Yields the results of all units in their order, from `count` children."""
        waiting = deque(enumerate(units))
        finished: dict[int, Result] = {}
        for number in range(len(units)):
            while number not in finished:
                kept = sum(len(result.output) for result in finished.values())
                ahead = number + (_AHEAD if kept < _MOST_KEPT else 1)
                while waiting and waiting[0][0] < ahead and len(self._busy) < count:
                    self._begin(*waiting.popleft())
                for task in self._busy.values():
                    if self._is_direct and task.number == number:
                        task.print_directly()
                for event in self._events():
                    finished[event.task.number] = self._result(event)
            yield finished.pop(number)

    def _forked(self, *, is_planner: bool) -> Child:
        main = partial(serve, job=self.job, limits=self._limits, is_planner=is_planner, empty=self._empty)
        command = self.job.command
        return Child(
            main,
            self._writable,
            self._limits.output,
            programs=Programs(
                self._limits.memory,
                may_compile=command.may_compile,
                dumps=_dumps(command),
                oracle=command.oracle,
                tool=values_of(command).get("tool"),
            ),
            reads_input=self._limits.reads_input,
            longest_wait=_longest_wait(command, self._limits),
        )

    def _begin(self, number: int, unit: Unit) -> None:
        child = self._idle.pop() if self._idle else self._forked(is_planner=False)
        entry = self._entry(unit)
        if entry is not None and child.has_worked:
            if entry.exists or sum(each.size for each in unit.inputs) < _REPLACING_BYTES:
                entry.may_store = False
            else:
                child.end()
                child = self._forked(is_planner=False)
        self._busy[child] = _Task(unit, number, is_direct=False)
        # A limit of the command line is exact; a default limit supposes a machine that does nothing else.
        credit = 0.0 if self.job.command.limits.timeout else unit.seconds
        child.begin(unit.seconds, credit, format_unit(unit), has_items=not unit.inputs, entry=entry)

    def _entry(self, unit: Unit) -> Entry | None:
        """Returns the unit's entry in the cache, None for a command or a unit without one."""
        selected = None if self._cache is None else self.job.command.cached(unit)
        if self._cache is None or selected is None:
            return None
        from relayout.supervisor.cache import Entry

        return Entry.of(self._cache, selected)

    def _events(self) -> Iterator[_Event]:
        """Waits for children; yields those that have answered or are lost, which are busy no longer."""
        poll, owners = select.poll(), {}
        for child in self._busy:
            for descriptor, events in child.events().items():
                poll.register(descriptor, events)
                owners[descriptor] = child
        deadlines = [left for child in self._busy if (left := child.clock.left()) is not None]
        ready = poll.poll(min([_LOOK_SECONDS, *deadlines]) * 1000)
        for child in dict.fromkeys(owners[descriptor] for descriptor, _ in ready):
            yield from self._served(child, dict(ready))
        for child in list(self._busy):
            child.clock.look()
            if child.clock.left() == 0:
                lost = Lost(f"no result after {child.clock.seconds:g} seconds", _MORE_TIME)
                yield self._event(child, lost)
            elif child.has_filled_disk:
                yield self._event(child, self._too_much())

    def _too_much(self) -> Lost:
        return Lost(f"more than {_gigabytes(self._limits.output)} of output", _MORE_OUTPUT)

    def _served(self, child: Child, ready: Mapping[int, int]) -> Iterator[_Event]:
        if child.words in ready:
            child.listen()
        events = ready.get(child.connection.fileno(), 0)
        if events & select.POLLOUT:
            child.send()
        if not events & ~select.POLLOUT:
            return
        try:
            answer = child.receive(self._busy[child])
        except EOFError:
            yield self._event(child, _cause(child, self._limits))
        except OutputLimitError:
            yield self._event(child, self._too_much())
        except MalformedFrameError as error:
            yield self._event(child, Lost(f"the process that worked on it sent no answer, but {error}"))
        else:
            if answer is not None:
                yield self._event(child, answer)

    def _event(self, child: Child, found: tuple[bytes, bytearray] | Lost) -> _Event:
        if isinstance(found, Lost):
            child.end()
        return _Event(child, self._busy.pop(child), found)

    def _result(self, event: _Event) -> Result:
        task = event.task
        if isinstance(event.found, Lost):
            return self._lost(task, event.child, event.found)
        kind, data = event.found
        try:
            values = _fields(kind, data)
        except MalformedFrameError:
            event.child.end()
            return self._lost(task, event.child, Lost("the process that worked on it sent no result"))
        self._idle.append(event.child)
        return Result(output=bytes(task.output), diagnostics=bytes(task.errors), **values)

    def _lost(self, task: _Task, child: Child, lost: Lost) -> Result:
        """Reports a unit whose child is lost: one line, and the result that the command prints for it."""
        names = [name for name in (None if task.unit is None else task.unit.name, child.item) if name]
        diagnostic = Diagnostic(": ".join([*names, lost.reason]), hint=lost.hint)
        text = render(diagnostic) + "\n"
        task.write(ERRORS, (colour(text) if self.job.colour == "always" else text).encode(errors="backslashreplace"))
        command = self.job.command
        said = "" if task.unit is None else command.lost(task.unit, diagnostic.message)
        task.write(OUTPUT, said.encode(errors="backslashreplace"))
        return Result(command.lost_status, bytes(task.output), bytes(task.errors), child.clock.spent)


def _cause(child: Child, limits: Limits) -> Lost:
    """Returns the reason why a child ended without a request to end."""
    code, said = child.ended()
    if NO_MEMORY.search(said) or child.peak > _MOST_OF_MEMORY * limits.memory:
        return Lost(f"more than {_gigabytes(limits.memory)} of memory are needed", _MORE_MEMORY)
    if code == -signal.SIGXCPU:
        return Lost("no result after all the processor time that it may have", _MORE_TIME)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return Lost(f"the process that worked on it {describe_exit(code)}{f' ({lines[-1]})' if lines else ''}")


def _longest_wait(command: Command, limits: Limits) -> float:
    """Returns the seconds of a child's longest wait, which is for a compiler, a worker, a run of --oracle or a URL."""
    own = command.limits.timeout or processes.compiler_seconds
    transfer = processes.TRANSFER_SECONDS if limits.is_online else 0.0
    run = values_of(command)["run_timeout"] if command.oracle else 0.0
    return max(own, processes.START_SECONDS, transfer, run) + _WAIT_MARGIN


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:g} GB"


def _planned(kind: bytes, data: bytearray) -> Sequence[Unit] | int:
    """Returns the units of a plan, or the exit code of a command without units."""
    if kind == PLAN:
        return parse_plan(data)
    match from_json(data):
        case {"status": int(status)} if status in _STATUSES:
            return status
    raise MalformedFrameError("no plan")


def _fields(kind: bytes, data: bytearray) -> dict[str, Any]:
    """Returns the fields of a result; raises MalformedFrameError for others, or values of other types."""
    values = from_json(data)
    types = {name: type(value) for name, value in values.items()}
    if kind != DONE or types != _RESULT or values["status"] not in _STATUSES:
        raise MalformedFrameError("no result")
    return values


def _dumps(command: Command) -> tuple[str, ...]:
    """Returns the directories in which a compiler may write, one for each compilation."""
    folder = command.compiled
    return () if folder is None else tuple(os.path.join(folder, each) for each in command.compilations) or (folder,)


def _writable(command: Command) -> Writable:
    """Returns the names that the command line gives to files that are written."""
    given = [str(name) for option, name in written(command).items() if option not in _OWN]
    given += [] if command.compiled is None else [command.compiled]
    return Writable(tuple(name + ending for name in given for ending in command.endings), tuple(given))
