"""The modules that each command imports, in its own process and in its child, and the processes that they start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.paths import ROOT
from tests.profiling import PACKAGES

# Audit events of a process and its forked children, in memory that they share: the child may write no file.
PROBE = """
import json, mmap, os, sys
memory, parent, forks = mmap.mmap(-1, 3 << 19), os.getpid(), 0
STARTS = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system")

def note(event, arguments):
    global forks
    # The process of the command, its first child and its worker have a third each, which begins with the length of its
    # text.
    if event == "os.fork":
        forks += 1
    if event == "import" or event in STARTS:
        start = 0 if os.getpid() == parent else forks << 19
        length = int.from_bytes(memory[start : start + 4], "little")
        text = f"{arguments[0] if event == 'import' else event}\\n".encode()
        memory[start + 4 + length : start + 4 + length + len(text)] = text
        memory[start : start + 4] = (length + len(text)).to_bytes(4, "little")

sys.addaudithook(note)
from relayout.cli import main
status = main(sys.argv[1:])
parts = []
for start in range(0, len(memory), 1 << 19):
    length = int.from_bytes(memory[start : start + 4], "little")
    parts.append(memory[start + 4 : start + 4 + length].decode().split())
print(json.dumps([status, parts]), file=sys.stderr)
"""
SHAPE = "f32[3,5]{1,0:T(2,2)}"
HLO = f"HloModule two\n\nENTRY main {{\n  x = {SHAPE} parameter(0)\n  ROOT y = {SHAPE} negate(x)\n}}\n"
BITCAST = "HloModule b\n\nENTRY main {\n  x = f32[4,2]{1,0} parameter(0)\n  ROOT y = f32[2,4]{0,1} bitcast(x)\n}\n"
MLIR = "func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {\n  return %x : tensor<3x5xf32>\n}\n"
HEAVY = ("numpy", "ml_dtypes", "islpy", "jaxlib", "jax", "scipy", "PIL", "tqdm", "pyarrow", "dask", "fsspec")
EXECUTING = ("dialect_utils.execution", "dialect_utils.verdict")


class Imports(NamedTuple):
    """A command, the number of modules of this project that it may import, and the packages that it does without."""

    arguments: str
    most: int
    without: tuple[str, ...]


COMMANDS = [
    Imports("--version", 11, (*HEAVY, "dialect_utils.hlo", "relayout.supervisor")),
    Imports("opt two.hlo", 104, (*HEAVY, *EXECUTING, "dialect_utils.memory", "dialect_utils.stablehlo")),
    Imports("opt two.hlo -p expand-tiling", 114, (*HEAVY, *EXECUTING, "passes.dumps", "passes.bitcasts")),
    # A proof by isl takes no numpy.
    Imports(
        "opt bitcast.hlo -p make-portable", 168, ("numpy", "jaxlib", "jax", *EXECUTING, "passes.tiling.expand_tiling")
    ),
    Imports("opt two.mlir", 117, ("jax", "islpy", *EXECUTING)),
    Imports("count two.hlo", 113, (*HEAVY, *EXECUTING, "passes.tiling")),
    Imports("print two.hlo", 89, (*HEAVY, *EXECUTING, "passes.tiling")),
    Imports("report two.hlo", 129, (*HEAVY, *EXECUTING, "relayout.causes", "dialect_utils.layout.picture")),
    # A page is files of this package, and its drawings are text.
    Imports("report two.hlo -o page.html", 137, (*HEAVY, *EXECUTING, "relayout.causes", "zipfile", "ssl")),
    Imports(f"explain {SHAPE}", 65, (*HEAVY, *EXECUTING, "dialect_utils.hlo")),
    Imports(
        "check two.hlo -p expand-tiling", 236, ("jaxlib", "jax", "islpy", "zipfile", "dialect_utils.verdict.field")
    ),
    Imports("run two.hlo --inputs random", 137, ("jaxlib", "jax", "islpy", "dialect_utils.verdict.proof")),
]


def imports(arguments: str, folder: Path) -> tuple[list[str], list[str]]:
    """Returns the names that a command and its child import, with the events by which they start another program.

    Also returns those that its worker imports besides what the command has imported before it forks the worker.
    """
    (folder / "two.hlo").write_text(HLO)
    (folder / "bitcast.hlo").write_text(BITCAST)
    (folder / "two.mlir").write_text(MLIR)
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments.split()],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "RELAYOUT_CACHE": "off"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    status, (command, child, worker) = json.loads(done.stderr.splitlines()[-1])
    assert status == 0, done.stderr
    return list(dict.fromkeys(command + child)), list(dict.fromkeys(worker))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.arguments)
def test_a_command_imports_only_what_it_uses(command: Imports, tmp_path: Path) -> None:
    names, _ = imports(command.arguments, tmp_path)
    assert "relayout.cli" in names
    unused = [name for name in names if any(f"{name}.".startswith(f"{each}.") for each in command.without)]
    assert not unused
    own = [name for name in names if name.split(".")[0] in PACKAGES]
    assert len(own) <= command.most, "\n".join(own)


def test_only_execution_starts_a_worker(tmp_path: Path) -> None:
    check = "check two.hlo -p expand-tiling"
    found = [imports(f"{check}{option}", tmp_path) for option in ("", " --engines proof")]
    assert ["jaxlib" in worker for _, worker in found] == [True, False]
    assert not [name for names, _ in found for name in names if name in ("os.posix_spawn", "subprocess.Popen")]


def test_a_worker_of_a_command_has_what_the_command_has_imported(tmp_path: Path) -> None:
    for command in ("check two.hlo -p expand-tiling", "run two.hlo --inputs random"):
        _, worker = imports(command, tmp_path)
        assert "jaxlib" in worker
        assert not {"jax", "numpy", "ml_dtypes", "dialect_utils.layout", "dialect_utils.execution.messages"} & {*worker}


def test_a_worker_imports_what_every_program_needs() -> None:
    code = "from dialect_utils.execution import serve; import sys; print('jaxlib.mlir' in sys.modules, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    has_mlir, *names = done.stdout.split()
    assert has_mlir == "True"
    apart = (
        "dialect_utils.ops",
        "dialect_utils.hlo",
        "dialect_utils.mosaic",
        "dialect_utils.verdict",
        "zipfile",
        "jax",
    )
    assert not [name for name in names if any(f"{name}.".startswith(f"{each}.") for each in apart)]
