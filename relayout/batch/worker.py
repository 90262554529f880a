"""A process that works on units for a worker of a cluster: `python -m relayout.batch.worker DESCRIPTOR`.

It supervises sandboxed children, as the process of a command does. The descriptor is a socket to the process that
started it. A pickled job comes first, then pickled units; for each unit a header in JSON goes back, then its output and
its diagnostics. It ends when the other end closes.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

from relayout.batch.unit import Unit
from relayout.command import Job, Result
from relayout.process import ended_by_signals, prepare_process
from relayout.supervisor.child import Limits
from relayout.supervisor.pool import Pool
from relayout.supervisor.programs import import_shared


def main() -> None:
    """Serves units until the other end closes."""
    prepare_process()
    connection = Connection(int(sys.argv[1]))
    threading.Thread(target=_end_with, args=(connection.fileno(),), daemon=True).start()
    with ended_by_signals(), suppress(KeyboardInterrupt, EOFError, ConnectionError):
        job: Job = pickle.loads(connection.recv_bytes())
        limits = Limits.of(job.command)
        import_shared(job.command.shared)
        with Pool(job, limits, is_direct=False) as pool:
            while True:
                unit: Unit = pickle.loads(connection.recv_bytes())
                needed = limits.enough_for([unit], may_be_online=True)
                if needed != limits:
                    limits = needed
                    pool.restart(job, limits)
                [result] = pool.results([unit], 1)
                send_result(connection, result)


def _end_with(descriptor: int) -> None:
    """Ends this process, and with it its children, when the other end of a socket closes."""
    closed = select.poll()
    closed.register(descriptor, select.POLLRDHUP if hasattr(select, "POLLRDHUP") else select.POLLHUP)
    closed.poll()
    os._exit(1)


def send_result(connection: Connection, result: Result) -> None:
    """Sends a result."""
    for part in (json.dumps(result.header).encode(), result.output, result.diagnostics):
        connection.send_bytes(part)


def receive_result(connection: Connection) -> Result:
    """Receives a result of `send_result`, without unpickling bytes that were read from a file."""
    header = json.loads(connection.recv_bytes())
    return Result(output=connection.recv_bytes(), diagnostics=connection.recv_bytes(), **header)


if __name__ == "__main__":
    main()
