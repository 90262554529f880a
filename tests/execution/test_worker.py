import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dialect_utils import processes
from dialect_utils.engine_names import ENGINE_TITLES, ENGINES
from dialect_utils.execution import Engine, ExecutionError, Program, Worker, from_bits
from dialect_utils.execution.serve import PREPARE
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.arrays.dtypes import dtype_of
from tests.execution.rejected import A_REDUCTION_OF_ANOTHER_TYPE
from tests.jaxlib import DIES_OF_DIVISION_BY_ZERO
from tests.paths import ROOT
from tests.signals import default_signals

DOUBLE_HLO = """HloModule double
ENTRY main {
  p = f32[3]{0} parameter(0)
  ROOT sum = f32[3]{0} add(p, p)
}
"""

KEEP = """module {{
  func.func @main(%a: tensor<4x{0}>) -> tensor<4x{0}> {{
    return %a : tensor<4x{0}>
  }}
}}"""

MLIR_NAMES = {
    "pred": "i1",
    "s4": "i4",
    "u4": "ui4",
    "s8": "i8",
    "u16": "ui16",
    "s64": "i64",
    "f16": "f16",
    "bf16": "bf16",
    "f64": "f64",
    "f8e5m2": "f8E5M2",
    "f8e4m3fn": "f8E4M3FN",
    "c64": "complex<f32>",
    "c128": "complex<f64>",
}

# A loop that never ends.
ENDLESS = """HloModule endless
condition { p = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT c = pred[] compare(p, one), direction=LT }
body { p = s32[] parameter(0)
  zero = s32[] constant(0)
  ROOT m = s32[] multiply(p, zero) }
ENTRY main { p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=condition, body=body }
"""

# jaxlib's parser aborts on a negative tile size, which our verifier rejects.
ABORTS = DOUBLE_HLO.replace("f32[3]{0} add", "f32[3]{0:T(-1,2)} add")


def ones() -> list[np.ndarray]:
    return [np.ones(3, np.float32)]


def is_alive(pid: int) -> bool:
    try:
        # A dead child without a waiting parent is a zombie.
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_dead(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(pid)


@pytest.mark.parametrize("engine", ENGINES)
def test_hlo_text_runs_once_per_list_of_inputs(worker: Worker, engine: Engine) -> None:
    runs = [[np.arange(3, dtype=np.float32)], ones()]
    results = worker.run(Program(DOUBLE_HLO, "hlo"), runs, engine=engine)
    assert [[list(array) for array in outputs] for outputs in results] == [[[0, 2, 4]], [[2, 2, 2]]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MLIR_NAMES)
def test_every_type_comes_back_with_its_bits(worker: Worker, name: str, engine: Engine) -> None:
    element_type = ELEMENT_TYPES[name]
    values = np.array([0, 1, 2, 3]).astype(dtype_of(element_type))
    program = Program(KEEP.format(MLIR_NAMES[name]), "stablehlo")
    [[result]] = worker.run(program, [[values]], engine=engine)
    assert result.dtype == values.dtype
    assert result.tobytes() == values.tobytes()


def test_nan_payloads_pass_through_the_interpreter(worker: Worker) -> None:
    values = from_bits(np.array([0x7FC1, 0xFFC3, 0x7F81, 0x8000], np.uint16), ELEMENT_TYPES["bf16"])
    [[result]] = worker.run(Program(KEEP.format("bf16"), "stablehlo"), [[values]], engine="interpreter")
    assert result.tobytes() == values.tobytes()


def test_nested_tuples_are_flattened(worker: Worker) -> None:
    text = """HloModule m
ENTRY e {
  p = (f32[3], (s32[2])) parameter(0)
  a = f32[3] get-tuple-element(p), index=0
  b = (s32[2]) get-tuple-element(p), index=1
  ROOT t = ((s32[2]), f32[3]) tuple(b, a)
}
"""
    [[b, a]] = worker.run(Program(text, "hlo"), [[np.ones(3, np.float32), np.arange(2, dtype=np.int32)]])
    assert list(b) == [0, 1]
    assert list(a) == [1, 1, 1]


@pytest.mark.parametrize("engine", ["xla", "interpreter"])
def test_errors_move_to_line_and_column(worker: Worker, engine: Engine) -> None:
    with pytest.raises(ExecutionError) as caught:
        worker.run(Program(DOUBLE_HLO.replace("add", "ad"), "hlo", "my.hlo"), [ones()], engine=engine)
    assert str(caught.value).splitlines() == [
        "my.hlo:4:24: error: unknown opcode: ad",
        "    ROOT sum = f32[3]{0} ad(p, p)",
        "                         ^~",
    ]
    assert caught.value.failure == "rejected"


@pytest.mark.parametrize("engine", ["xla", "interpreter"])
def test_errors_that_name_an_instruction_move_to_it(worker: Worker, engine: Engine) -> None:
    text = (
        "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = (f32[9], s32[9]) topk(p), k=9, largest=true\n}\n"
    )
    with pytest.raises(ExecutionError) as caught:
        worker.run(Program(text, "hlo", "my.hlo"), [[np.ones(4, np.float32)]], engine=engine)
    assert str(caught.value).startswith("my.hlo:4:8: error: operand's last dimension must be at least 9")


def test_an_error_at_a_name_that_occurs_twice_has_no_location(worker: Worker) -> None:
    with pytest.raises(ExecutionError, match=r"^error: b\.1: the type of reduction-region's parameter"):
        worker.run(Program(A_REDUCTION_OF_ANOTHER_TYPE, "hlo", "my.hlo"), [[np.ones((3, 4), np.float32)]])


def test_mlir_errors_move_to_line_and_column(worker: Worker) -> None:
    with pytest.raises(ExecutionError) as caught:
        worker.run(Program(KEEP.format("f33"), "stablehlo", "my.mlir"), [ones()])
    assert str(caught.value).startswith("my.mlir:2:")


def test_inputs_of_another_shape_are_rejected(worker: Worker) -> None:
    with pytest.raises(ExecutionError, match=r"the inputs are \(s32\[3\]\), but main takes \(f32\[3\]\)"):
        worker.run(Program(DOUBLE_HLO, "hlo"), [[np.ones(3, np.int32)]])


def test_operations_without_an_interpretation_are_unsupported(worker: Worker) -> None:
    text = """func.func @main(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
      return %0 : tensor<3x3xf32>
    }"""
    with pytest.raises(ExecutionError, match=r"^error: operation stablehlo.cholesky is unsupported$") as caught:
        worker.run(Program(text, "stablehlo"), [[np.eye(3, dtype=np.float32)]], engine="interpreter")
    assert caught.value.failure == "unsupported"


def test_the_interpreter_looks_through_copies(worker: Worker) -> None:
    text = DOUBLE_HLO.replace("add(p, p)", "copy(p)")
    [[result]] = worker.run(Program(text, "hlo"), [ones()], engine="interpreter")
    assert list(result) == [1, 1, 1]


def test_chlo_runs_in_both_engines(worker: Worker) -> None:
    text = """func.func @main(%a: tensor<1xf32>) -> tensor<1xf32> {
      %0 = chlo.erf %a : tensor<1xf32> -> tensor<1xf32>
      return %0 : tensor<1xf32>
    }"""
    for engine in ("xla", "interpreter"):
        [[result]] = worker.run(Program(text, "stablehlo"), [[np.zeros(1, np.float32)]], engine=engine)
        assert result == 0


def test_a_crash_is_an_error_and_the_next_request_runs(worker: Worker) -> None:
    with pytest.raises(
        ExecutionError, match=r"was ended by SIGABRT while the module was compiled\nnote: Tile dimension size"
    ) as caught:
        worker.run(Program(ABORTS, "hlo"), [ones()])
    assert caught.value.failure == "crash"
    [[result]] = worker.run(Program(DOUBLE_HLO, "hlo"), [ones()])
    assert list(result) == [2, 2, 2]


def test_a_timeout_ends_the_process(worker: Worker) -> None:
    worker.run(Program(DOUBLE_HLO, "hlo"), [ones()])
    assert worker.pid is not None
    pid = worker.pid
    with pytest.raises(ExecutionError, match=r"no result after 0\.5 seconds") as caught:
        worker.run(Program(ENDLESS, "hlo"), [[np.zeros((), np.int32)]], timeout=0.5)
    assert caught.value.failure == "timeout"
    assert wait_until_dead(pid)


def test_leaving_the_context_ends_the_process() -> None:
    with Worker() as own:
        own.run(Program(DOUBLE_HLO, "hlo"), [ones()])
        pid = own.pid
        assert pid is not None
        assert is_alive(pid)
    assert wait_until_dead(pid)


PARENT = f"""
import numpy as np
from dialect_utils.execution import Program, Worker
worker = Worker()
worker.run(Program({DOUBLE_HLO!r}, "hlo"), [[np.ones(3, np.float32)]])
print(worker.pid, flush=True)
worker.run(Program({ENDLESS!r}, "hlo"), [[np.int32(0)]])
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_its_parent(ending: signal.Signals) -> None:
    """A busy worker ends with its parent, after Ctrl-C and after a kill."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with default_signals():
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.send_signal(ending)
        parent.wait(10)
    assert wait_until_dead(pid)


MALFORMED = {
    "a header that is too long": b"\xff" * 8,
    "a header that is no JSON": (5).to_bytes(8, "little") + b"hello",
    "a header that is a list": (2).to_bytes(8, "little") + b"[]",
    "lengths of more than there may be": b'{"status":"ok","blob_lengths":[99999999999999]}',
    "a negative length": b'{"status":"ok","blob_lengths":[-1]}',
    "no lengths": b'{"status":"ok"}',
    "an array of another size": b'{"status":"ok","runs":[[["f32",[2,2]]]],"blob_lengths":[0]}',
    "an unknown type": b'{"status":"ok","runs":[[["f31",[0]]]],"blob_lengths":[0]}',
    "a negative dimension": b'{"status":"ok","runs":[[["f32",[-1]]]],"blob_lengths":[0]}',
    "fewer runs": b'{"status":"ok","runs":[],"blob_lengths":[]}',
    "no status": b'{"blob_lengths":[]}',
    "an error without a message": b'{"status":"error","failure":"rejected","blob_lengths":[]}',
}


@pytest.mark.parametrize("name", MALFORMED)
def test_answers_of_a_worker_are_checked(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A worker that a module controls may send anything."""
    answer = MALFORMED[name]
    framed = answer if not answer.startswith(b"{") else len(answer).to_bytes(8, "little") + answer
    ready = b'{"status":"ready","unprotected":null,"blob_lengths":[]}'
    script = tmp_path / "liar.py"
    script.write_text(
        "import os, sys\n"
        f"os.write(1, {len(ready).to_bytes(8, 'little') + ready!r})\nos.read(0, 1)\nos.write(1, {framed!r})\n"
        "while os.read(0, 65536): pass\n"
    )
    monkeypatch.setitem(processes.PROGRAMS, processes.WORKER, "liar")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Worker(timeout=20) as own, pytest.raises(ExecutionError, match="sent no answer") as caught:
        own.run(Program(DOUBLE_HLO, "hlo"), [ones()])
    assert caught.value.failure == "crash"


CONFINED = """
import os, resource, socket, subprocess, sys
from dialect_utils import sandbox
os.fchdir(sandbox.empty_directory())
sandbox.limit_resources(200_000_000)
print(sandbox.enter_sandbox())
tries = {
    "write": lambda: open(sys.argv[1], "w"),
    "network": lambda: socket.socket(),
    "program": lambda: subprocess.run(["true"]),
    "process": lambda: os.fork(),
    "signal": lambda: os.kill(os.getppid(), 0),
    "remove": lambda: os.unlink(sys.argv[1]),
    "directory": lambda: os.mkdir("x"),
    "memory": lambda: bytearray(400_000_000),
}
for name, attempt in tries.items():
    try:
        attempt()
        print(name, "allowed")
    except (OSError, MemoryError):
        print(name, "refused")
print(os.listdir("."), resource.getrlimit(resource.RLIMIT_CORE), open(sys.argv[1]).read())
"""


def test_the_worker_is_kept_from_files_network_and_programs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("whole")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", CONFINED, str(file)], env=environment, capture_output=True, text=True, check=True
    )
    protected, *tried, rest = ended.stdout.splitlines()
    assert rest == "[] (0, 0) whole"
    if protected != "None":
        pytest.skip(f"this system has no protection: {protected}")
    assert [line for line in tried if not line.endswith("refused")] == []
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_its_environment_holds_named_variables_only(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    with Worker() as own:
        own.run(Program(DOUBLE_HLO, "hlo"), [ones()])
        found = Path(f"/proc/{own.pid}/environ").read_bytes()
    assert b"PYTHONPATH" in found
    assert b"secret" not in found


@pytest.mark.skipif(not DIES_OF_DIVISION_BY_ZERO, reason="this jaxlib divides integers by 0 without ending")
def test_a_crash_names_its_stage(worker: Worker) -> None:
    text = (
        "HloModule m\nENTRY e {\n  a = s32[] constant(1)\n  z = s32[] constant(0)\n  ROOT d = s32[] divide(a, z)\n}\n"
    )
    with pytest.raises(ExecutionError, match=r"SIGFPE while the module was compiled: an integer was") as caught:
        worker.run(Program(text, "hlo"), [[]])
    assert caught.value.is_refusal


def test_an_error_about_memory_names_the_option() -> None:
    text = """HloModule m
ENTRY e {
  i = f32[60000000] iota(), iota_dimension=0
  s = f32[60000000] sine(i)
  ROOT r = (f32[60000000], f32[60000000]) tuple(i, s)
}
"""
    with Worker(memory=100_000_000) as own, pytest.raises(ExecutionError, match="--memory") as caught:
        own.run(Program(text, "hlo"), [[]])
    assert not caught.value.is_refusal


def test_every_engine_has_a_title_and_a_way_to_prepare_programs() -> None:
    assert set(ENGINES) == ENGINE_TITLES.keys() == PREPARE.keys()


def test_a_program_of_one_device_runs_without_jax() -> None:
    code = """if True:
        import sys
        import numpy as np
        from dialect_utils.execution import engines, serve
        serve.warm_up(1)
        program = "func.func @main(%a: tensor<2xf64>) -> tensor<2xf64> { return %a : tensor<2xf64> }"
        [(kind, array)] = engines.prepare_xla(program, {})([np.array([1.5, -0.0])])
        print(kind.name, array.tolist(), sys.modules["jax"])
    """
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == "f64 [1.5, -0.0] None\n"


def test_options_that_a_version_of_jaxlib_lacks_are_left_out() -> None:
    code = """if True:
        import jaxlib.version
        from dialect_utils.execution.adapter import _compile_options
        for version in ((0, 10, 2), (0, 11, 0), (0, 11, 1), (0, 12, 0)):
            jaxlib.version.__version_info__ = version
            options = {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0}
            print(len(_compile_options(options, 1).env_option_overrides))
    """
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["2", "2", "1", "1"]


TOTAL = """module {
  func.func @main(%a: tensor<7x7xf32>, %b: tensor<7x7xf32>) -> tensor<7x7xi1> {
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xi1>
    return %0 : tensor<7x7xi1>
  }
}"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "f64"])
def test_floats_have_a_total_order(worker: Worker, engine: Engine, kind: str) -> None:
    """-NaN, -infinity, -1, -0, 0, 1, NaN: each is less than all behind it, and no other."""
    dtype = dtype_of(ELEMENT_TYPES[kind])
    ascending = np.array([np.copysign(np.nan, -1), -np.inf, -1, -0.0, 0, 1, np.copysign(np.nan, 1)]).astype(dtype)
    a, b = np.meshgrid(ascending, ascending, indexing="ij")
    program = Program(TOTAL.replace("f32", kind), "stablehlo")
    [[less]] = worker.run(program, [[a, b]], engine=engine)
    np.testing.assert_array_equal(less, np.triu(np.ones((7, 7), np.bool_), 1))


def test_a_worker_keeps_those_of_other_numbers_of_devices() -> None:
    with Worker() as worker:
        other = worker.of_devices(2)
        [[sums]] = other.run(Program(DOUBLE_HLO, "hlo", "double"), [[np.ones((2, 3), np.float32)]])
        assert sums.tolist() == [[2.0] * 3] * 2
        assert worker.of_devices(2) is other
        assert worker.of_devices(1) is worker
        assert worker.pid is None
        assert other.pid is not None
    assert other.pid is None
