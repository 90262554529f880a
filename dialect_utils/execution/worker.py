"""The worker process: receives modules and arrays, runs them through jaxlib, sends results back.

Started as `python -m dialect_utils.execution.worker`. Requests come on standard input; answers go
to what was standard output, which libraries cannot reach any more. The process ends when its
standard input closes, whatever it is doing.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from typing import Any

from dialect_utils.execution.messages import Message, read_message, write_message

# Added to a request's own limit before the operating system ends a worker nobody waits for.
_ALARM_MARGIN_SECONDS = 10


def main() -> None:
    """Serves requests until standard input closes."""
    answers = os.dup(1)
    os.dup2(2, 1)
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    _prefer_as_victim()
    # The imports are slow; the other side does not count them against a request.
    from dialect_utils.execution import serve

    serve.warm_up()
    write_message(answers, Message({"status": "ready"}))
    while True:
        request = requests.get()
        signal.alarm(int(request.header["timeout"]) + _ALARM_MARGIN_SECONDS)
        answer = serve.answer(request)
        signal.alarm(0)
        write_message(answers, answer)


def _read_requests(requests: queue.SimpleQueue[Any]) -> None:
    """Reads requests and ends the process with its parent, even during a computation."""
    while True:
        try:
            requests.put(read_message(0))
        except (EOFError, OSError):
            os._exit(0)


def _prefer_as_victim() -> None:
    """Lets Linux end this process first where memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("1000")
    except OSError:
        return


if __name__ == "__main__":
    main()
