"""Runs passes of jaxlib, of a program of the user's, or of a Python function of the user's, in a process with limits.

That process is `python -m dialect_utils.execution.passing PARENT MEMORY_BYTES TOOL`. Its child serves the requests,
each a module and a pass. Once standard input closes, the process ends all processes that the tool has left, and
removes its files. The passes of jaxlib have the limits of a worker; another tool may use files, programs and the
network.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from dialect_utils import processes, sandbox
from dialect_utils.execution.messages import Channel, MalformedMessageError, Message, read_message, write_message
from dialect_utils.text import DiagnosticError

SECONDS = 120.0
_END_SECONDS = 5.0
_LOOK_MILLISECONDS = 50
_LONGEST_REASON = 500
# In bytes.
_LARGEST_FILE, _LARGEST_TEXT = 2_000_000_000, 1_000_000_000
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_PLACE = re.compile(r"\{(in|out|pass|passes|args)\}")
# The best line of a tool's messages first.
_REASONS = (r"(?<!\w)error: (.+)", r"(?i)(.*(?:error|assert|exception|fail).*)", r"(.*\S)\s*\Z")


def check_tool(tool: str) -> None:
    """Raises DiagnosticError for a command whose program is not found, or whose quotes do not end."""
    if tool == processes.JAXLIB:
        return
    if _FUNCTION.fullmatch(tool):
        package = re.split(r"[.:]", tool)[0]
        if PathFinder.find_spec(package, ["", *sys.path]) is None:
            hint = f"{package}.py is in this directory, or its package is installed"
            raise DiagnosticError(f"there is no module {package} with the function of --with {tool}", hint=hint)
        return
    try:
        words = shlex.split(tool)
    except ValueError as error:
        raise DiagnosticError(f"the command {tool} has {str(error)[0].lower()}{str(error)[1:]}") from None
    if not words or shutil.which(words[0]) is None:
        hint = "jaxlib, module:function, or the command of a program"
        raise DiagnosticError(f"there is no program {words[0] if words else tool!r}", hint=hint)


class PassRunner:
    """A process that runs passes; one that crashes or takes too long is replaced by another. A context manager.

    `tool` is `jaxlib`, a Python function `module:function`, which gets a module's text and a pass and returns a text,
    or the command of a program: `{in}` and `{out}` are files (without them its standard input and output), `{pass}` is
    the pass, and `{args}` are the arguments of a RUN line. No shell reads the command.
    """

    def __init__(self, tool: str, memory: int = processes.DEFAULT_MEMORY_BYTES, seconds: float = SECONDS) -> None:
        self.tool, self._memory, self._seconds = tool, memory, seconds
        self._process: processes.Process | None = None

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
        deadline, is_done = time.monotonic() + self._seconds, False
        try:
            with processes.waiting(self._seconds):
                header = {"pass": name, "flags": list(flags), "timeout": self._seconds}
                self._channel.send(Message(header, [text.encode()]), deadline)
                answer = self._channel.receive(deadline, _LARGEST_TEXT)
            is_done = True
            if "error" not in answer.header:
                return answer.blobs[0].decode()
            reason = str(answer.header["error"])
        except TimeoutError:
            reason = f"no result after {self._seconds:g} seconds"
        except (EOFError, OSError, MalformedMessageError, ValueError):
            code, said = self._process.wait(_END_SECONDS), self._channel.last_words()
            reason = f"its process {processes.describe_exit(code)}: {_reason(said)}"
        finally:
            if not is_done:
                self.close()
        raise DiagnosticError(reason)

    def close(self) -> None:
        """Ends the process, which first ends those that the tool has left."""
        if self._process is not None:
            os.close(self._process.stdin)
            with processes.waiting(_END_SECONDS):
                self._process.wait(_END_SECONDS)
            self._process.kill()
            os.close(self._process.stdout)
            os.close(self._process.stderr)
        self._process = None


def _reason(said: str) -> str:
    found = next(filter(None, (re.search(each, said) for each in _REASONS)), None)
    return "it says no reason" if found is None else found[1].strip()


def _by_program(command: str, folder: str, text: str, name: str, flags: Sequence[str]) -> str:
    given, made, said = (Path(folder, each) for each in ("in.mlir", "out.mlir", "said.txt"))
    values = {"in": str(given), "out": str(made), "pass": name, "passes": name, "args": shlex.join(flags)}
    words: list[str] = []
    for word in shlex.split(command):
        words += flags if word == "{args}" else [_PLACE.sub(lambda place: values[place[1]], word)]
    given.write_text(text, "utf-8")
    for each in (made, said):
        each.unlink(missing_ok=True)
    source, target = os.devnull if "{in}" in command else given, said if "{out}" in command else made
    with open(source, "rb") as stdin, open(target, "ab") as stdout, open(said, "ab") as stderr:
        code = subprocess.run(words, stdin=stdin, stdout=stdout, stderr=stderr, check=False).returncode
    found = made.read_text("utf-8", "backslashreplace") if made.exists() else ""
    if code:
        reason = _reason(said.read_text("utf-8", "backslashreplace"))
        raise DiagnosticError(f"{words[0]} {processes.describe_exit(code)}: {reason}")
    if not found.strip():
        raise DiagnosticError(f"{words[0]} wrote no module")
    return found


def _serve(memory: int, tool: str, folder: str) -> None:
    answers = os.dup(1)
    os.dup2(2, 1)
    if tool == processes.JAXLIB:
        sandbox.hide_other_processes()
        # A sandboxed process could not load it.
        from dialect_utils.stablehlo.bindings import run_passes_on_text as function

        sandbox.confine(memory)
    else:
        os.environ["TMPDIR"] = folder
        sandbox.limit_resources(memory, _LARGEST_FILE)
        if _FUNCTION.fullmatch(tool):
            from dialect_utils.execution.python_functions import imported_function

            function = imported_function(tool)
    while True:
        request = read_message(0)
        sandbox.limit_cpu_seconds(request.header["timeout"], os.getpid())
        text, name, flags = request.blobs[0].decode(), request.header["pass"], request.header["flags"]
        try:
            is_called = tool == processes.JAXLIB or _FUNCTION.fullmatch(tool)
            made = function(text, name) if is_called else _by_program(tool, folder, text, name, flags)
            if not isinstance(made, str):
                raise DiagnosticError(f"{tool} returns {type(made).__name__}, not the text of a module")
            write_message(answers, Message({}, [made.encode()]))
        except Exception as error:  # the user's function may raise anything
            said = f"{type(error).__name__}: {error}"
            reason = _reason(said) if re.search(_REASONS[0], said) else " ".join(said.split())[:_LONGEST_REASON]
            write_message(answers, Message({"error": reason}))


def _main(memory: int, tool: str) -> int:
    """Returns the exit code of the child that serves, which is killed once standard input closes."""
    sandbox.adopt_orphans()
    own = os.getpid()
    with TemporaryDirectory(prefix="relayout-passes-", ignore_cleanup_errors=True) as folder:
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                sandbox.die_with_parent(own)
                _serve(memory, tool, folder)
            except BaseException as error:
                os.write(2, str(error).encode())
            os._exit(1)
        poll = select.poll()
        poll.register(0, 0)
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if poll.poll(_LOOK_MILLISECONDS):
                os.killpg(child, signal.SIGKILL)
                ended = os.waitpid(child, 0)
                break
        sandbox.end_children()
    return os.waitstatus_to_exitcode(ended[1])


if __name__ == "__main__":
    if (status := _main(int(sys.argv[2]), sys.argv[3])) < 0:
        # It ends as its child did.
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
