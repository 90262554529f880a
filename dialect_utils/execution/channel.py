"""The parent's ends of a worker's pipes: every wait has a deadline, and what the worker says is kept in part."""

from __future__ import annotations

import os
import select
import time
from dataclasses import dataclass, field

from dialect_utils.execution.messages import CHUNK, Message, decode_message, encode_message

# Of what the worker writes to standard error, the last bytes are kept: XLA's reason is there.
_LAST_WORDS = 64 << 10


@dataclass(slots=True)
class Channel:
    """Three pipes of a worker: requests to it, answers from it, and its standard error.

    Deadlines are times of `time.monotonic`. Every method raises TimeoutError where one passes, and
    OSError or EOFError where the other end is gone.
    """

    requests: int
    answers: int
    errors: int
    _said: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        for descriptor in (self.requests, self.answers, self.errors):
            os.set_blocking(descriptor, False)

    def send(self, message: Message, deadline: float) -> None:
        """Writes a message."""
        for part in encode_message(message):
            view = memoryview(part)
            while view:
                self._wait(self.requests, select.POLLOUT, deadline)
                # A pipe that is not empty takes less than is asked.
                view = view[os.write(self.requests, view[:CHUNK]) :]

    def receive(self, deadline: float, largest: int) -> Message:
        """Reads a message whose blobs have at most `largest` bytes; raises MalformedMessageError."""
        return decode_message(lambda count: self._read(count, deadline), largest)

    def last_words(self) -> str:
        """Returns the end of what the worker has written to standard error up to now."""
        while self._listen():
            continue
        return self._said.decode(errors="replace")

    def _read(self, count: int, deadline: float) -> bytes:
        parts = []
        while count:
            self._wait(self.answers, select.POLLIN, deadline)
            part = os.read(self.answers, min(count, CHUNK))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        """Waits for one pipe; meanwhile the worker can always write to standard error."""
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self.errors, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            ready = dict(poll.poll(max(0.0, left) * 1000))
            if descriptor in ready:
                return
            if left <= 0:
                raise TimeoutError
            if self.errors in ready and not self._listen():
                poll.unregister(self.errors)

    def _listen(self) -> bool:
        """Keeps what can be read of standard error; is false where there is nothing, or no more will come."""
        try:
            part = os.read(self.errors, CHUNK)
        except BlockingIOError:
            return False
        self._said += part
        del self._said[:-_LAST_WORDS]
        return bool(part)
