"""The path of `relayout opt two.hlo`: the files whose functions run, and the calls once everything is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT
from tests.profiling import PACKAGES

# Files of the product in which a function runs, in the process of the command or in its child.
MOST_FILES = 49
# Calls of Python and C functions (events `call` and `c_call` of sys.setprofile) of a second run in one process, by
# Python 3.11; newer ones count fewer, since they inline comprehensions.
MOST_CALLS = 4_300
# Those of the child, whose caches are empty, once the modules that it needs are imported before it is forked. There are
# 11,102 by Python 3.11.7, and some 400 more by 3.11.2.
MOST_CALLS_OF_CHILD = 11_600
TWO = "HloModule two\n\nENTRY main {\n  x = f32[3,5] parameter(0)\n  ROOT y = f32[3,5] negate(x)\n}\n"
PROBE = """
import importlib, json, sys
from tests.profiling import Profile

def imports_and_runs():
    WORK

profile = Profile()
with profile.measuring():
    imports_and_runs()
files = sorted(profile.files)
for module in profile.modules:
    importlib.import_module(module)
counts = []
for _ in range(40):
    with profile.measuring():
        imports_and_runs()
    counts.append([profile.calls, profile.calls_of_child])
# This process looks at its child more often on a busy machine.
print(json.dumps([files, *min(counts)]), file=sys.stderr)
"""
OPT = "from relayout.cli import main; assert main(['opt', 'two.hlo']) == 0"


def measure(work: str, folder: Path) -> tuple[list[str], int, int]:
    """Returns the files of the product whose functions a piece of work runs, and the calls of a later run.

    The calls are those of the process, and those of its child.
    """
    (folder / "two.hlo").write_text(TWO)
    # Without coverage of child processes: a tracer counts as calls.
    done = subprocess.run(
        [sys.executable, "-c", PROBE.replace("WORK", work)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    files, calls, calls_of_child = json.loads(done.stderr.splitlines()[-1])
    own = tuple(f"{ROOT / package}/" for package in PACKAGES)
    return [Path(file).relative_to(ROOT).as_posix() for file in files if file.startswith(own)], calls, calls_of_child


def test_a_command_on_one_text_file_runs_functions_of_few_files(tmp_path: Path) -> None:
    files, calls, calls_of_child = measure(OPT, tmp_path)
    assert {"relayout/cli.py", "relayout/commands/opt.py", "dialect_utils/hlo/parse.py"} <= {*files}
    assert len(files) <= MOST_FILES, "\n".join(files)
    assert calls <= MOST_CALLS
    assert calls_of_child <= MOST_CALLS_OF_CHILD


def test_a_file_counts_where_a_function_of_it_runs(tmp_path: Path) -> None:
    before, calls, _ = measure(OPT, tmp_path)
    imported, *_ = measure(f"{OPT}; import dialect_utils.layout.text.explain", tmp_path)
    ran, more_calls, _ = measure(f"{OPT}; import relayout; relayout.explain('f32[3]')", tmp_path)
    explain = "dialect_utils/layout/text/explain.py"
    assert explain not in {*before} | {*imported}
    assert explain in ran
    assert more_calls > calls
