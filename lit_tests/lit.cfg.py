# mypy: ignore-errors
# ruff: noqa: F821  # lit defines config and lit_config
import atexit
import os
import sys
from pathlib import Path

from relayout.lit_config import configure

configure(config, lit_config)
# Coverage measures programs that begin with Python.
if "COVERAGE_PROCESS_START" not in os.environ:
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from tests.lit_server import start

    atexit.register(start(config).communicate)
