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
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from lit import Test
from lit.formats import ShTest

SUFFIXES = (".hlo", ".mlir", ".test")

# lit starts tests with an empty environment; these are what Python and pip installations need.
_PASSED_ON = ("HOME", "PYTHONPATH", "PYTHONWARNINGS")
# `relayout opt %s ... | FileCheck %s`, unless what is printed has no comments, or is the diagnostics.
_PRINTS_COMMENTS = re.compile(
    r"%?relayout opt (?!.*(?:--strip-comments|--json|--list-passes|-o |2>&1))[^|]*%s[^|]*\| *[Ff]ile[Cc]heck %s"
)


def configure(config: Any, lit_config: Any) -> None:
    """Sets up a suite whose files are beside the `lit.cfg.py` that calls this."""
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


class RunLines(ShTest):  # type: ignore[misc]  # lit has no types
    """Tests of RUN lines, none of which may have FileCheck read its own directives."""

    def execute(self, test: Any, lit_config: Any) -> Any:
        """Runs a test as lit does, or fails it without."""
        line = finds_itself(Path(test.getSourcePath()))
        if line is None:
            return super().execute(test, lit_config)
        reason = f"FileCheck would find its own directives in the comments printed; add --strip-comments: {line}"
        return Test.Result(Test.FAIL, reason)


def finds_itself(file: Path) -> str | None:
    """Returns a RUN line that prints HLO with its comments to FileCheck, or None."""
    if file.suffix != ".hlo":
        return None
    lines = (line.partition("RUN:")[2].strip() for line in file.read_text("utf-8", "replace").splitlines())
    return next((line for line in lines if _PRINTS_COMMENTS.match(line)), None)
