"""The lit configuration of this project's tests, for yours too.

A `lit.cfg.py` beside your tests needs two lines; lit itself defines `config` and `lit_config`:

    from relayout.lit_config import configure
    configure(config, lit_config)

Then every `.hlo`, `.mlir` and `.test` file below with a `RUN:` line is a test:

    // RUN: relayout opt %s -p expand-tiling --strip-comments | FileCheck %s

HLO is printed with its comments; `--strip-comments` keeps FileCheck from matching its own directives there. A test of
HLO without it fails with that explanation. Directories called `Inputs` hold files that tests only read.
`relayout` runs under the Python that runs lit. `FileCheck` is PyPI's `filecheck`;
`lit --param filecheck=FileCheck` selects LLVM's.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from lit import Test
from lit.formats import ShTest

SUFFIXES = (".hlo", ".mlir", ".test")

# Variables that Python and pip installations need; lit starts tests with an empty environment.
_PASSED_ON = ("HOME", "PYTHONPATH", "PYTHONWARNINGS")
# `relayout opt %s ... | FileCheck %s`, unless the output has no comments, or holds the diagnostics.
_PRINTS_COMMENTS = re.compile(
    r"%?relayout opt (?!.*(?:--strip-comments|--json|--list-passes|-o |2>&1))[^|]*%s[^|]*\| *[Ff]ile[Cc]heck %s"
)


def configure(config: Any, lit_config: Any) -> None:
    """Sets up the suite of the files beside the `lit.cfg.py` that calls this."""
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
        (_word("%?relayout"), f"{sys.executable} -P -m relayout"),
    ]


def _word(name: str) -> str:
    """Returns a pattern that matches a command's name as a word of its own, but not in a path."""
    return rf"(?<![\w/.=-]){name}(?![\w/.=-])"


class RunLines(ShTest):  # type: ignore[misc]  # lit has no types
    """The format of tests with RUN lines; a line whose FileCheck input holds the CHECK comments fails."""

    def execute(self, test: Any, lit_config: Any) -> Any:
        """Runs a test as lit does, unless a RUN line matches itself."""
        line = self_matching_run_line(Path(test.getSourcePath()))
        if line is None:
            return super().execute(test, lit_config)
        reason = f"FileCheck would find its own directives in the comments printed; add --strip-comments: {line}"
        return Test.Result(Test.FAIL, reason)


def self_matching_run_line(file: Path) -> str | None:
    """Returns a RUN line whose FileCheck input still holds the CHECK comments of HLO, or None."""
    if file.suffix != ".hlo":
        return None
    lines = (line.partition("RUN:")[2].strip() for line in file.read_text("utf-8", "replace").splitlines())
    return next((line for line in lines if _PRINTS_COMMENTS.match(line)), None)
