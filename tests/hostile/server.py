"""Runs command lines of `relayout`, one process each, forked from one that has imported everything already.

A line of JSON on standard input names arguments and directories; a line on standard output says what
came of it. Nothing here starts a thread, so that forking is safe.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from relayout.cli import COMMANDS, main

# Modules whose import takes most of a command's time.
_PRELOADED = ("numpy", "dialect_utils.stablehlo", "dialect_utils.execution", "dialect_utils.verdict", "islpy")
_POLL_SECONDS = 0.005
_KEPT = 4000


def _serve() -> None:
    for name in (*_PRELOADED, *(f"relayout.commands.{command}" for command in COMMANDS)):
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), flush=True)


def _run(arguments: list[str], directory: str, temporary: str, seconds: float) -> dict[str, Any]:
    streams = [Path(directory, name) for name in ("stdout", "stderr")]
    child = os.fork()
    if child == 0:
        _become(arguments, directory, temporary, streams)
    status, usage = _wait(child, seconds)
    texts = [stream.read_bytes().decode("utf-8", "surrogateescape") for stream in streams]
    for stream in streams:
        stream.unlink()
    return {
        "code": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
        "stdout": texts[0],
        "stderr": texts[1][-_KEPT:],
    }


def _become(arguments: list[str], directory: str, temporary: str, streams: list[Path]) -> None:
    code = 99
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, stream in enumerate(streams, 1):
            os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.environ["TMPDIR"] = temporary
        os.chdir(directory)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = main(arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, seconds: float) -> tuple[int, Any]:
    end = time.monotonic() + seconds
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return status, usage
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    _serve()
