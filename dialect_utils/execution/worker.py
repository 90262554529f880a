"""The worker process: receives modules and arrays, runs them through jaxlib, sends results back.

Started as `python -m dialect_utils.execution.worker PARENT MEMORY_BYTES DEVICES FUSES`; PARENT is a process id to die
with, or 0, and FUSES decided about the environment. Requests come on standard input; answers go to a copy of standard
output, because libraries print to the original one. The process ends as soon as its standard input closes, even during
a computation.
"""

from __future__ import annotations

import fcntl
import gc
import os
import queue
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from dialect_utils import sandbox
from dialect_utils.execution.messages import MalformedMessageError, Message, read_message, write_message

# Added to a request's own limit before the operating system ends a worker without a parent.
_ALARM_MARGIN_SECONDS = 10


def serve(parent: int, memory: int, devices: int) -> None:
    """Serves requests until standard input closes; `parent` is a process id to die with, or 0."""
    if parent:
        sandbox.die_with_parent(parent)
    sandbox.hide_other_processes()
    answers = os.dup(1)
    os.dup2(2, 1)
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    sandbox.prefer_as_victim()
    # The objects of jaxlib's import are permanent: collecting garbage among them only takes time.
    gc.disable()
    # The parent does not count these slow imports against a request.
    from dialect_utils.execution.serve import answer, warm_up

    warm_up(devices)
    gc.enable()
    write_message(answers, Message({"status": "ready", "unprotected": sandbox.confine(memory)}))
    while True:
        request = requests.get()
        seconds = request.header["timeout"]
        signal.alarm(int(seconds) + _ALARM_MARGIN_SECONDS)
        with _ended_with_input():
            found = answer(request, lambda status: write_message(answers, Message({"status": status})))
        signal.alarm(0)
        write_message(answers, found)


@contextmanager
def _ended_with_input() -> Iterator[None]:
    """Makes the system end this process when standard input closes, even while C++ holds the interpreter's lock.

    Then `_read_requests` cannot run. The signal (SIGIO) also follows new data, but no request comes before an answer.
    """
    flags = fcntl.fcntl(0, fcntl.F_GETFL)
    poll = select.poll()
    poll.register(0, 0)
    with suppress(OSError):  # a system without such signals
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC)
    if poll.poll(0):
        # Standard input closed before.
        os._exit(0)
    try:
        yield
    finally:
        fcntl.fcntl(0, fcntl.F_SETFL, flags)


def _read_requests(requests: queue.SimpleQueue[Any]) -> None:
    """Reads requests and ends the process with its parent, even during a computation."""
    while True:
        try:
            requests.put(read_message(0))
        except (EOFError, OSError, MalformedMessageError):
            os._exit(0)


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:4]))
