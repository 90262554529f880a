"""Files that crash, occupy or fill MLIR end the worker, not the process that reads them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialect_utils import execution, processes, sandbox
from dialect_utils.execution import ExecutionError, Worker, conversion, kernels_to_json, mlir_to_text
from dialect_utils.execution.conversion import CONVERTER
from dialect_utils.execution.messages import MalformedMessageError, diagnostics_from_json, diagnostics_to_json
from dialect_utils.io.files import parse_bytes
from dialect_utils.stablehlo import parse_module
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span
from tests.execution.test_worker import wait_until_dead
from tests.paths import ROOT
from tests.signals import default_signals

DOUBLED = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# The verifier looks at each of the replica ids.
ENDLESS = """func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %most = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) {replica_groups = dense<-1> : tensor<3000000000x2000000000xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  return %most : tensor<2xi32>
}
"""
REJECTED = {
    "an unknown value": DOUBLED.replace("%a, %a", "%a, %b"),
    "a type that the verifier rejects": DOUBLED.replace("-> tensor<4xf32> {", "-> tensor<5xf32> {"),
    "a note": DOUBLED.replace("%0 = ", "%a = "),
    "characters of several bytes": f"// é 漢字\n{DOUBLED}".replace("%a, %a", "/*é*/ %a, %b"),
    "bytes that are no UTF-8": DOUBLED.replace("@main", "@main\udcff"),
    "a hint": 'module {\n  other.op "x"\n}',
    "locations": DOUBLED.replace(": tensor<4xf32>\n  return", ': tensor<5xf32> loc("f.py":3:4)\n  return'),
    "branches between blocks": "func.func @main() {\n  cf.br ^bb1\n^bb1:\n  return\n}",
}


def bytecode(text: str) -> bytes:
    """Returns the bytecode of a module that may have operations of any dialect."""
    from dialect_utils.stablehlo.bindings import context, ir

    with io.BytesIO() as file:
        ir.Module.parse(text, context()).operation.write_bytecode(file)
        return file.getvalue()


def crashing() -> bytes:
    """Returns bytecode on whose message MLIR's bindings abort, because a name in it is not UTF-8."""
    damaged = parse_module(DOUBLED).bytecode().replace(b"\0add\0", b"\0\xffdd\0")
    assert b"\xff" in damaged
    return damaged


@pytest.fixture(autouse=True)
def small_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """Gives this thread a new worker with little memory for one test."""
    with Worker(memory=300_000_000) as worker:
        monkeypatch.setattr(CONVERTER, "worker", worker)
        monkeypatch.setattr(CONVERTER, "bytes_read", 0)
        yield worker


def test_the_text_of_a_valid_file_is_returned() -> None:
    module = parse_module(DOUBLED)
    assert mlir_to_text(DOUBLED.encode()) == DOUBLED.encode()
    assert mlir_to_text(module.bytecode()).decode() == module.text()
    assert parse_bytes(module.bytecode(), "m.mlirbc").text() == module.text()


@pytest.mark.parametrize("text", REJECTED.values(), ids=REJECTED)
def test_an_error_is_that_of_direct_parsing(text: str) -> None:
    with pytest.raises(DiagnosticError) as direct:
        parse_module(text, "m.mlir")
    with pytest.raises(DiagnosticError) as found:
        parse_bytes(text.encode("utf-8", "surrogateescape"), "m.mlir")
    assert found.value.diagnostics == direct.value.diagnostics


def test_an_error_in_bytecode_is_in_its_text() -> None:
    data = bytecode("func.func @main() {\n  cf.br ^bb1\n^bb1:\n  return\n}")
    with pytest.raises(DiagnosticError) as direct:
        parse_module(data, "m.mlirbc")
    with pytest.raises(DiagnosticError, match="has branches between blocks") as found:
        parse_bytes(data, "m.mlirbc")
    assert found.value.diagnostics == direct.value.diagnostics


def test_a_crash_names_the_file_and_the_next_file_is_read() -> None:
    with pytest.raises(ExecutionError, match=r"^error: x\.mlirbc: the worker process was ended by SIGABRT") as caught:
        parse_bytes(crashing(), "x.mlirbc")
    assert "\n" not in str(caught.value)
    assert parse_bytes(DOUBLED.encode(), "m").dialect == "stablehlo"


def test_a_loop_of_mlir_ends_at_the_time_limit(small_worker: Worker) -> None:
    mlir_to_text(DOUBLED.encode())
    pid = small_worker.pid
    assert pid is not None
    with pytest.raises(ExecutionError, match=r"^error: loop\.mlir: no result after 1 seconds") as caught:
        mlir_to_text(ENDLESS.encode(), "loop.mlir", timeout=1)
    assert caught.value.failure == "timeout"
    assert wait_until_dead(pid)


def test_a_text_that_fills_the_memory_ends_at_the_limit() -> None:
    text = f"module attributes {{a = dense<[{'1,' * 8_000_000}1]> : tensor<8000001xi8>}} {{}}"
    with pytest.raises(ExecutionError, match=r"^error: large: the worker process needed more than 0\.3 GB of memory"):
        mlir_to_text(text.encode(), "large", timeout=60)


def test_a_kernel_that_crashes_mlir_is_an_error() -> None:
    nested = b"module attributes {a = " + 200_000 * b"["
    with pytest.raises(ExecutionError, match=r"^error: the kernel of k: the worker process was ended by SIGSEGV"):
        kernels_to_json([nested], "the kernel of k")
    with pytest.raises(DiagnosticError, match=r"^error: a kernel is not a valid Mosaic kernel: .*expected"):
        kernels_to_json([b"module {"])


def test_a_worker_that_has_read_other_files_is_tried_twice(
    small_worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlir_to_text(DOUBLED.encode())
    endings, first = [ExecutionError("crash", "the memory is full")], small_worker.pid
    read = Worker.read

    def fail_once(self: Worker, *arguments: object) -> bytes:
        if endings:
            self.close()
            raise endings.pop()
        return read(self, *arguments)  # type: ignore[arg-type]  # the same arguments

    monkeypatch.setattr(Worker, "read", fail_once)
    assert mlir_to_text(DOUBLED.encode()) == DOUBLED.encode()
    assert small_worker.pid not in (None, first)
    small_worker.close()
    endings.append(ExecutionError("crash", "the file is bad"))
    with pytest.raises(ExecutionError, match=r"m\.mlir: the file is bad"):
        mlir_to_text(DOUBLED.encode(), "m.mlir")


def test_a_worker_is_replaced_after_many_bytes(small_worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_BYTES_OF_A_WORKER", 2 * len(DOUBLED))
    pids = []
    for _ in range(4):
        mlir_to_text(DOUBLED.encode())
        pids.append(small_worker.pid)
    assert pids[0] == pids[1] == pids[2] != pids[3]


def test_a_process_that_may_crash_reads_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    data = parse_module(DOUBLED).bytecode()
    monkeypatch.setattr(execution, "mlir_to_text", None)
    monkeypatch.setattr(sandbox._State, "is_sandboxed", True)  # noqa: SLF001 (only this process's own entry sets it)
    assert parse_bytes(data, "m").dialect == "stablehlo"


def test_the_text_of_a_worker_does_not_replace_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "mlir_to_text", lambda data, name: b"module {}")
    assert parse_bytes(DOUBLED.encode(), "m").text() == parse_module(DOUBLED).text()


def test_diagnostics_survive_their_way() -> None:
    source = Source("m", "a text")
    note = Diagnostic("see here", None, "note")
    found = (Diagnostic("wrong", Location(source, Span(2, 6)), hint="edit", notes=(note,)), Diagnostic("also"))
    assert diagnostics_from_json(diagnostics_to_json(found), source) == found


@pytest.mark.parametrize(
    "described",
    [
        None,
        [3],
        [["m", "error", None, []]],
        [[3, "error", None, [], []]],
        [["m", "fatal", None, [], []]],
        [["m", [], None, [], []]],
        [["m", "error", 3, [], []]],
        [["m", "error", None, [3], []]],
        [["m", "error", None, [], [0, 7]]],
        [["m", "error", None, [], [-1, 2]]],
        [["m", "error", None, [], [2, 1]]],
        [["m", "error", None, [], [1]]],
    ],
)
def test_diagnostics_of_a_worker_are_checked(described: object) -> None:
    with pytest.raises(MalformedMessageError):
        diagnostics_from_json(described, Source("m", "a text"))


def test_a_conversion_that_loops_ends_at_the_time_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small_worker: Worker
) -> None:
    ready = b'{"status":"ready","unprotected":null,"blob_lengths":[]}'
    framed = len(ready).to_bytes(8, "little") + ready
    (tmp_path / "looping.py").write_text(f"import os\nos.write(1, {framed!r})\nwhile True: pass\n")
    monkeypatch.setitem(processes.PROGRAMS, processes.WORKER, "looping")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    small_worker.timeout = 0.5
    started: list[processes.Process] = []
    start = processes.start

    def recorded(program: str, *arguments: object) -> processes.Process:
        started.append(start(program, *arguments))
        return started[-1]

    monkeypatch.setattr(processes, "start", recorded)
    with pytest.raises(ExecutionError, match=r"no result after 0\.5 seconds"):
        small_worker.convert("proto-to-text", b"")
    assert [wait_until_dead(each.pid) for each in started] == [True]


PARENT = f"""
import sys, threading
from dialect_utils.execution import mlir_to_text
from dialect_utils.execution.conversion import CONVERTER

def loop():
    mlir_to_text({DOUBLED!r}.encode())
    print(CONVERTER.worker.pid, flush=True)
    mlir_to_text({ENDLESS!r}.encode())

if sys.argv[1] == "main thread":
    loop()
else:
    threading.Thread(target=loop).start()
"""


@pytest.mark.parametrize("where", ["main thread", "other thread"])
def test_a_loop_of_mlir_ends_with_the_parent(where: str) -> None:
    """MLIR holds the interpreter's lock meanwhile, so no thread of the worker sees the end of its input."""
    with default_signals():
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, where],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        # The second request arrives after that.
        with pytest.raises(subprocess.TimeoutExpired):
            parent.wait(1)
        parent.send_signal(signal.SIGKILL)
    assert wait_until_dead(pid, 2)
