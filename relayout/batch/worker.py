"""A process that works on units, one after another: `python -m relayout.batch.worker DESCRIPTOR`.

The descriptor is a socket to the process that started it. A pickled job comes first, then pickled units; for each
unit a header in JSON goes back, then its output and its diagnostics. It ends when the other end closes.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection

from dialect_utils.text import DiagnosticError
from relayout.__main__ import prepare_process
from relayout.arguments import Command
from relayout.batch.unit import Job, Result, Unit, Work, captured, kept
from relayout.console import WRONG_COMMAND, Console
from relayout.process import ended_by_signals

# The work may take this long for its cleanup.
_CLEANUP_SECONDS = 5.0
_HEADER = ("status", "seconds", "ends_batch", "content", "is_known")


def main() -> None:
    """Serves units until the other end closes."""
    prepare_process()
    connection = Connection(int(sys.argv[1]))
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    with ended_by_signals(), suppress(KeyboardInterrupt):
        job: Job = pickle.loads(requests.get())
        console = Console(job.arguments.traceback, job.colour)
        run = kept if job.keeps_results else captured
        with opened(job, console) as work:
            while True:
                unit: Unit = pickle.loads(requests.get())
                send_result(connection, run(work, unit, console))


@contextmanager
def opened(job: Job, console: Console) -> Iterator[Work]:
    """Yields the function that works on a unit; if the command cannot start, every unit reports the error."""
    command: Command = importlib.import_module(f"relayout.commands.{job.command}").COMMAND
    assert command.open is not None  # only commands for several inputs make a batch
    with ExitStack() as stack:
        try:
            work = stack.enter_context(command.open(job.arguments, console))
        except DiagnosticError as error:
            work = partial(_report, error, console)
        yield work


def _report(error: DiagnosticError, console: Console, unit: Unit) -> int:
    console.diagnose(error.diagnostics)
    return WRONG_COMMAND


def _receive(connection: Connection, requests: queue.SimpleQueue[bytes]) -> None:
    """Queues requests; ends this process when the other end closes, even during a computation."""
    try:
        while True:
            requests.put(connection.recv_bytes())
    except (EOFError, OSError):
        threading.Timer(_CLEANUP_SECONDS, os._exit, (1,)).start()
        os.kill(os.getpid(), signal.SIGTERM)


def send_result(connection: Connection, result: Result) -> None:
    """Sends a result."""
    header = {key: getattr(result, key) for key in _HEADER}
    for part in (json.dumps(header).encode(), result.output, result.diagnostics):
        connection.send_bytes(part)


def receive_result(connection: Connection) -> Result:
    """Receives a result of `send_result`, without unpickling bytes that were read from a file."""
    header = json.loads(connection.recv_bytes())
    return Result(output=connection.recv_bytes(), diagnostics=connection.recv_bytes(), **header)


if __name__ == "__main__":
    main()
