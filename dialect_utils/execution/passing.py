"""The process that runs passes: those of jaxlib, a program of the user's, or a Python function of the user's.

Run as `python -m dialect_utils.execution.passing PARENT MEMORY_BYTES TOOL`. A child of this process serves the
requests, each a module and a pass. This process ends the child and all processes that it has left, wherever they are,
as soon as standard input closes, and removes their temporary files. A process of jaxlib's passes has the limits of a
worker; programs and functions of the user have a limit of memory, but may use files, programs and the network.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory

from dialect_utils import sandbox
from dialect_utils.execution.messages import Message, read_message, write_message
from dialect_utils.processes import JAXLIB, describe_exit

# A Python function of the user.
FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_LARGEST_FILE = 2_000_000_000
_LOOK_MILLISECONDS = 50
_PLACE = re.compile(r"\{(in|out|pass|passes|args)\}")
# The lines of a tool's output that say the reason, the best ones first.
_REASONS = (
    re.compile(r"(?<!\w)error: (?P<reason>.+)", re.IGNORECASE),
    re.compile("error|assert|exception|fail", re.IGNORECASE),
)
# A pass, as the flags of a program and in MLIR's syntax, and a module: returns the module after the pass.
Run = Callable[[str, str, Sequence[str]], str]


class PassError(Exception):
    """A pass that made no module, with the reason."""


def reason_of(said: str) -> str:
    """Returns the line of a tool's messages that says the reason, or the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    found = (match for reason in _REASONS for match in map(reason.search, lines) if match is not None)
    first = next(found, None)
    if first is None:
        return lines[-1] if lines else "it says no reason"
    return first["reason"] if "reason" in first.groupdict() else first.string


def _jaxlib(memory: int) -> Run:
    # A sandboxed process could not load it.
    from dialect_utils.stablehlo.bindings import context, ir, run_passes

    sandbox.confine(memory)

    def run(text: str, name: str, flags: Sequence[str]) -> str:
        try:
            module = ir.Module.parse(text, context())
            run_passes(module, name)
        except (ValueError, ir.MLIRError) as error:
            raise PassError(reason_of(str(error))) from None
        return str(module)

    return run


def _function(tool: str) -> Run:
    from dialect_utils.execution.python_functions import imported_function

    function = imported_function(tool)

    def run(text: str, name: str, flags: Sequence[str]) -> str:
        made = function(text, name)
        if not isinstance(made, str):
            raise PassError(f"{tool} returns {type(made).__name__}, not the text of a module")
        return made

    return run


def _program(command: str, folder: str) -> Run:
    given, made, words = (os.path.join(folder, name) for name in ("in.mlir", "out.mlir", "messages.txt"))
    asked = set(_PLACE.findall(command))

    def run(text: str, name: str, flags: Sequence[str]) -> str:
        values = {"in": given, "out": made, "pass": name, "passes": name, "args": shlex.join(flags)}
        arguments: list[str] = []
        for word in shlex.split(command):
            arguments += flags if word == "{args}" else [_PLACE.sub(lambda place: values[place[1]], word)]
        with open(given, "w", encoding="utf-8") as file:
            file.write(text)
        with suppress(FileNotFoundError):
            os.unlink(made)
        source, target = (os.devnull if "in" in asked else given), (words if "out" in asked else made)
        with open(source, "rb") as stdin, open(target, "wb") as stdout, open(words, "ab") as stderr:
            try:
                code = subprocess.run(arguments, stdin=stdin, stdout=stdout, stderr=stderr, check=False).returncode
            except OSError as error:
                raise PassError(f"{arguments[0]}: {error.strerror}") from None
        said = _read(words)
        os.unlink(words)
        if code:
            raise PassError(f"{arguments[0]} {describe_exit(code)}: {reason_of(said)}")
        found = _read(made) if os.path.exists(made) else ""
        if not found.strip():
            raise PassError(f"{arguments[0]} wrote no module")
        return found

    return run


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return file.read()


def _serve(memory: int, tool: str, folder: str) -> None:
    answers = os.dup(1)
    os.dup2(2, 1)
    if tool == JAXLIB:
        run = _jaxlib(memory)
    else:
        os.environ["TMPDIR"] = folder
        sandbox.limit_resources(memory, _LARGEST_FILE)
        run = _function(tool) if FUNCTION.fullmatch(tool) else _program(tool, folder)
    while True:
        try:
            request = read_message(0)
        except EOFError:
            return
        header, (text,) = request.header, request.blobs
        sandbox.limit_cpu_seconds(header["timeout"])
        try:
            made = run(text.decode(), header["pass"], header["flags"])
            write_message(answers, Message({}, [made.encode()]))
        except Exception as error:  # the user's function may raise anything, and MLIR raises errors of several kinds
            is_told = isinstance(error, PassError)
            reason = str(error) if is_told else reason_of(f"{type(error).__name__}: {error}")
            write_message(answers, Message({"error": reason}))


def _supervise(child: int) -> int:
    """Returns the exit code of the child, which is killed once standard input closes."""
    poll = select.poll()
    poll.register(0, 0)
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        if poll.poll(_LOOK_MILLISECONDS):
            os.killpg(child, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _main(parent: int, memory: int, tool: str) -> int:
    sandbox.adopt_orphans()
    with TemporaryDirectory(prefix="relayout-passes-", ignore_cleanup_errors=True) as folder:
        own = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                sandbox.die_with_parent(own)
                _serve(memory, tool, folder)
            except BaseException as error:
                os.write(2, str(error).encode())
                os._exit(1)
            os._exit(0)
        code = _supervise(child)
        sandbox.end_children()
    return code


if __name__ == "__main__":
    ended = _main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    if ended < 0:
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    sys.exit(ended)
