"""The process that the commands of lit tests are forks of, so that each does not import the product again.

`lit_tests/lit.cfg.py` starts it: `python -P -m tests.lit_server SOCKET`. It loads the programs, prints a line, and ends
with its standard input. A program gets the caller's streams, directory and environment from `tests/lit_client.py`.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.lit_client import KIND, STREAMS
from tests.paths import ROOT

Programs = dict[str, Callable[[], object]]
_PRELOADED = ("passes", "dialect_utils/hlo", "dialect_utils/stablehlo", "relayout/supervisor", "relayout/commands")
_LARGEST_REQUEST = 1 << 17
_WAITING = 64


def start(config: Any) -> subprocess.Popen[bytes]:
    """Starts the server of a lit suite, replaces the programs that it runs, and returns its process."""
    address = Path(tempfile.mkdtemp(prefix="lit-"), "socket")
    # A process with threads cannot fork safely.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **config.environment}
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.lit_server", str(address)],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdout.readline(), "the server of lit tests has ended"
    client = shlex.join([sys.executable, "-I", "-S", str(ROOT / "tests" / "lit_client.py"), str(address)])
    forked = {"filecheck": f"{client} filecheck", f"{sys.executable} -P -m relayout": f"{client} relayout"}
    config.substitutions = [(pattern, forked.get(text, text)) for pattern, text in config.substitutions]
    return server


def serve(address: Path, programs: Programs) -> None:
    """Runs each requested program in a process of its own, until standard input ends."""
    # Forks share the pages of objects that the collector does not touch.
    gc.freeze()
    with socket.socket(socket.AF_UNIX, KIND) as listener:
        listener.bind(str(address))
        listener.listen(_WAITING)
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                _answer(connection, programs)
            connection.close()
            _forget_ended()
    shutil.rmtree(address.parent)


def _forget_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _answer(connection: socket.socket, programs: Programs) -> None:
    """Runs a program in a child, and sends the exit status."""
    data, streams, _, _ = socket.recv_fds(connection, _LARGEST_REQUEST, len(STREAMS))
    child = os.fork()
    if child == 0:
        connection.close()
        for number, stream in zip(STREAMS, streams, strict=True):
            os.dup2(stream, number)
            os.close(stream)
        _become(programs, *json.loads(data))
    _, status = os.waitpid(child, 0)
    connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(programs: Programs, directory: str, environment: dict[str, str], words: list[str]) -> None:
    # Files of this process know where the server's streams are.
    sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, STREAMS, "rww")
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = words
    status: object = 0
    try:
        programs[words[0]]()
    except SystemExit as end:
        status = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def _loaded() -> Programs:
    """Returns the programs, with the packages loaded that most of their runs need."""
    from filecheck.main import main as filecheck

    from relayout.__main__ import run

    for package in _PRELOADED:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            import_module(name.removesuffix(".__init__"))
    return {"relayout": run, "filecheck": filecheck}


if __name__ == "__main__":
    serve(Path(sys.argv[1]), _loaded())
