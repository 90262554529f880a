"""Runs passes of jaxlib, of a program or of a Python function, one after another, in a process with limits."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from types import TracebackType

from dialect_utils import processes
from dialect_utils.execution.messages import Channel, MalformedMessageError, Message
from dialect_utils.execution.passing import reason_of
from dialect_utils.text import Diagnostic, DiagnosticError

SECONDS = 120.0
_LARGEST_TEXT = 1_000_000_000
# The process first ends those that the tool has left.
_END_SECONDS = 5.0


class PassRunner:
    """A process that runs passes; one that crashes or takes too long is replaced by another. A context manager.

    `tool` is `jaxlib`, a Python function `module:function`, which gets a module's text and a pass and returns a text,
    or the command of a program: `{in}` and `{out}` are files (without them its standard input and output), `{pass}` is
    the pass, and `{args}` are the arguments of a RUN line. No shell reads the command.
    """

    def __init__(self, tool: str, memory: int = processes.DEFAULT_MEMORY_BYTES, seconds: float = SECONDS) -> None:
        self.tool, self._memory, self._seconds = tool, memory, seconds
        self._process: processes.Process | None = None
        self._channel: Channel | None = None

    def __enter__(self) -> PassRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, text: str, name: str, flags: Sequence[str] = ()) -> str:
        """Returns the module after a pass; raises DiagnosticError with the tool's reason where it makes none."""
        if self._process is None:
            self._process = processes.start(processes.PASSES, self._memory, self.tool)
            self._channel = Channel(self._process.stdin, self._process.stdout, self._process.stderr)
        assert self._channel is not None  # as long as the process
        deadline = time.monotonic() + self._seconds
        header = {"pass": name, "flags": list(flags), "timeout": self._seconds}
        try:
            with processes.waiting(self._seconds):
                self._channel.send(Message(header, [text.encode()]), deadline)
                answer = self._channel.receive(deadline, _LARGEST_TEXT)
            if "error" not in answer.header:
                [made] = answer.blobs
                return made.decode()
            reason = str(answer.header["error"])
        except TimeoutError:
            self.close()
            reason = f"no result after {self._seconds:g} seconds"
        except (EOFError, OSError, MalformedMessageError, ValueError):
            code, said = self._process.wait(_END_SECONDS), self._channel.last_words()
            self.close()
            reason = f"its process {processes.describe_exit(code)}: {reason_of(said)}"
        except BaseException:
            self.close()
            raise
        raise DiagnosticError(Diagnostic(reason))

    def close(self) -> None:
        """Ends the process, and the processes that the tool has left."""
        if self._process is not None:
            os.close(self._process.stdin)
            with processes.waiting(_END_SECONDS):
                self._process.wait(_END_SECONDS)
            self._process.kill()
            os.close(self._process.stdout)
            os.close(self._process.stderr)
        self._process = self._channel = None
