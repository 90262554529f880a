"""A process in place of the TPU compiler, which answers from the text of each program.

`wait FILE` answers once FILE exists, `make FILE` makes it, `crash` ends the process, `refuse FILE` makes it and is an
error; the rest of a text is the peak.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from dialect_utils.execution.compilers import Figures
from dialect_utils.execution.messages import Message, read_message, write_message


def _answered(text: str) -> Figures:
    deed, file, peak = text.split()
    if deed == "crash":
        print("a fault of the compiler", file=sys.stderr, flush=True)
        os._exit(3)
    if deed == "refuse":
        Path(file).touch()
        return Figures(error=f"INTERNAL: No supported config found\n - {peak}")
    if deed == "make":
        Path(file).touch()
    while not Path(file).exists():
        time.sleep(0.01)
    return Figures(peak=int(peak), argument=os.getpid())


if __name__ == "__main__":
    while True:
        try:
            request = read_message(0)
        except EOFError:
            break
        write_message(1, Message(asdict(_answered(request.blobs[0].decode())), [b""]))
