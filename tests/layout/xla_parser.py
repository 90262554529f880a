"""XLA's own parser of shapes, called in a separate process: some texts abort it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

CRASHED = "<crashed>"

# One answer a line, printed at once: the first text without an answer is the one that aborted the process.
_WORKER = """
import json, re, sys
from jaxlib._hlo import hlo_module_from_text

for line in sys.stdin:
    text = "HloModule m\\nENTRY e {\\n  ROOT p = " + json.loads(line) + "\\n parameter(0)\\n}\\n"
    try:
        found = re.search("ROOT %p = (.*) parameter", hlo_module_from_text(text).to_string()).group(1)
    except Exception:
        found = None
    print(json.dumps(found), flush=True)
"""


def shapes_by_xla(texts: Sequence[str]) -> list[str | None]:
    """Returns every shape as XLA prints it, None where XLA rejects the text, CRASHED where it aborts."""
    answers: list[str | None] = []
    while len(answers) < len(texts):
        rest = "".join(json.dumps(text) + "\n" for text in texts[len(answers) :])
        done = subprocess.run([sys.executable, "-c", _WORKER], input=rest, capture_output=True, text=True, check=False)
        answers += map(json.loads, done.stdout.splitlines())
        if done.returncode:
            assert done.returncode < 0, done.stderr
            answers.append(CRASHED)
    return answers
