"""The lit configuration of this project's tests, for yours too.

A `lit.cfg.py` beside your tests needs two lines; lit itself defines `config` and `lit_config`:

    from relayout.lit_config import configure
    configure(config, lit_config)

Then every `.hlo`, `.mlir` and `.test` file below with a `RUN:` line is a test:

    // RUN: relayout opt %s -p expand-tiling --strip-comments | FileCheck %s

`--strip-comments` keeps FileCheck from finding its own directives in what is printed: HLO comes
back with its comments. A test of HLO without it fails, saying so. Files that tests only read are in
directories called `Inputs`.
`relayout` runs under the Python that runs lit. `FileCheck` is PyPI's `filecheck`;
`lit --param filecheck=FileCheck` takes LLVM's in its place.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

SUFFIXES = (".hlo", ".mlir", ".test")

# lit starts tests with an empty environment; these are what Python and pip installations need.
_PASSED_ON = ("HOME", "PYTHONPATH", "PYTHONWARNINGS")


def configure(config: Any, lit_config: Any) -> None:
    """Sets up a suite whose files are beside the `lit.cfg.py` that calls this."""
    # Imported here: lit is a tool of developers, not a dependency.
    from relayout.lit_format import RunLines

    config.name = "relayout" if config.name == "<unnamed>" else config.name
    config.suffixes = list(SUFFIXES)
    config.test_format = RunLines(execute_external=False)
    config.excludes = ["Inputs", "Output", "lit.cfg.py"]
    for name in _PASSED_ON:
        if name in os.environ:
            config.environment[name] = os.environ[name]
    config.environment["JAX_PLATFORMS"] = "cpu"
    config.environment["NO_COLOR"] = "1"
    tools = Path(sys.executable).parent
    config.environment["PATH"] = os.pathsep.join([str(tools), os.environ.get("PATH", os.defpath)])
    filecheck = lit_config.params.get("filecheck", "filecheck")
    if shutil.which(filecheck.split()[0], path=config.environment["PATH"]) is None:
        lit_config.fatal(f"{filecheck} is not installed: pip install 'relayout[lit]'")
    config.substitutions += [
        (_word("[Ff]ile[Cc]heck"), filecheck),
        (_word("%?relayout"), f"{sys.executable} -m relayout"),
    ]


def _word(name: str) -> str:
    """Returns a pattern for a command's name that no path matches."""
    return rf"(?<![\w/.=-]){name}(?![\w/.=-])"
