"""The path of `relayout opt two.hlo`: the files whose functions run, and the calls once everything is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

# Files of the product in which a function runs.
MOST_FILES = 45
# Calls of Python and C functions (events `call` and `c_call` of sys.setprofile) of a second run in one process, by
# Python 3.11; newer ones count fewer, since they inline comprehensions.
MOST_CALLS = 4_054
TWO = "HloModule two\n\nENTRY main {\n  x = f32[3,5] parameter(0)\n  ROOT y = f32[3,5] negate(x)\n}\n"
PROBE = """
import json, sys
from inspect import CO_OPTIMIZED

events, files = [], set()

def note(frame, event, argument):
    if event in ("call", "c_call"):
        events.append(event)
    code = frame.f_code
    # The body of a module or a class is no function, and neither is a comprehension in it.
    is_function = code.co_flags & CO_OPTIMIZED and (code.co_name[0] != "<" or code.co_name == "<lambda>")
    if event == "call" and is_function:
        files.add(code.co_filename)

def measured(work):
    events.clear()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(events)

def imports_and_runs():
    WORK

measured(imports_and_runs)
second = measured(imports_and_runs)
print(json.dumps([sorted(files), second]), file=sys.stderr)
"""
OPT = "from relayout.cli import main; assert main(['opt', 'two.hlo']) == 0"
PACKAGES = ("dialect_utils", "passes", "relayout")


def measure(work: str, folder: Path) -> tuple[list[str], int]:
    """Returns the files of the product whose functions a piece of work runs, and the calls of its second run."""
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
    files, calls = json.loads(done.stderr.splitlines()[-1])
    own = tuple(f"{ROOT / package}/" for package in PACKAGES)
    return [Path(file).relative_to(ROOT).as_posix() for file in files if file.startswith(own)], calls


def test_a_command_on_one_text_file_runs_functions_of_few_files(tmp_path: Path) -> None:
    files, calls = measure(OPT, tmp_path)
    assert {"relayout/cli.py", "relayout/commands/opt.py"} <= {*files}
    assert len(files) <= MOST_FILES, "\n".join(files)
    assert calls <= MOST_CALLS


def test_a_file_counts_where_a_function_of_it_runs(tmp_path: Path) -> None:
    before, calls = measure(OPT, tmp_path)
    imported, _ = measure(f"{OPT}; import dialect_utils.layout.text.explain", tmp_path)
    ran, more_calls = measure(f"{OPT}; import relayout; relayout.explain('f32[3]')", tmp_path)
    explain = "dialect_utils/layout/text/explain.py"
    assert explain not in {*before} | {*imported}
    assert explain in ran
    assert more_calls > calls
