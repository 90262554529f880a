"""Snapshots of the installed jaxlib give its inputs and results; hostile snapshots give diagnostics."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dialect_utils.execution.recorded import Recorded, read_literal, read_recorded
from dialect_utils.io.protos import MalformedProtoError
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from tests.execution.recorded_values import VALUES, values_of
from tests.io.test_protos import MODULE, field
from tests.paths import ROOT


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns the snapshots by the element type of their program."""
    folder = tmp_path_factory.mktemp("snapshots")
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_snapshots"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, "-m", "tests.execution.recorded_program"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return {path.name.split(".")[1].removeprefix("jit_"): path for path in sorted(folder.glob("*.snapshot.*"))}


def plain(array: np.ndarray) -> bytes:
    """Returns the bytes of an array; the upper half of a 4-bit integer's byte is undefined."""
    return (array.astype(np.int8) if "int4" in array.dtype.name else array).tobytes()


def test_recorded_inputs_are_those_that_were_given(snapshots: dict[str, Path]) -> None:
    assert snapshots.keys() == VALUES.keys()
    for name, path in snapshots.items():
        recorded = read_recorded(path.read_bytes(), str(path))
        assert recorded is not None
        assert recorded.results is not None
        expected = values_of(name)
        for [array], wanted in ((recorded.inputs, expected), (recorded.results, np.flip(expected))):
            assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape)
            assert plain(array) == plain(wanted)


def test_run_replays_snapshots_and_finds_another_result(
    snapshots: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = ("int4", "bfloat16", "complex64")
    assert main(["run", *(str(snapshots[name]) for name in some)]) == 0
    assert capsys.readouterr().out.count("out0: equal bits") == len(some)
    data = bytearray(snapshots["float64"].read_bytes())
    # The last 1.5 belongs to the result; the platform's name follows it.
    data[data.rindex(np.float64(1.5).tobytes())] ^= 1
    changed = tmp_path / "changed.pb"
    changed.write_bytes(data)
    assert main(["run", str(changed)]) == 1
    assert "out0: " in capsys.readouterr().out


def shape(kind: int, dimensions: bytes, minor_to_major: bytes = b"") -> bytes:
    return field(1, field(2, kind) + field(3, dimensions) + field(5, field(1, minor_to_major)))


S32, F32, S4, TUPLE = 4, 11, 21, 13


def test_elements_are_in_the_order_of_their_layout() -> None:
    numbers = field(4, bytes(range(6)))
    [rows] = read_literal(memoryview(shape(S32, b"\x02\x03", b"\x01\x00") + numbers))
    [columns] = read_literal(memoryview(shape(S32, b"\x02\x03", b"\x00\x01") + numbers))
    assert rows.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert columns.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_integers_may_be_packed_or_not_and_tuples_are_flattened() -> None:
    single = shape(S32, b"\x02") + field(4, 7) + field(4, (1 << 64) - 1)
    packed = shape(S4, b"\x03") + field(21, b"\x01\x0f\x07")
    arrays = read_literal(memoryview(field(1, field(2, TUPLE)) + field(10, single) + field(10, packed)))
    assert [array.tolist() for array in arrays] == [[7, -1], [1, -1, 7]]


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        (shape(F32, b"\x03") + field(8, b"\0" * 8), "has 2 elements"),
        (shape(F32, b"\x03") + field(8, b"\0" * 9), "has 9 bytes"),
        (shape(F32, b"\xff\xff\xff\xff\xff\xff\xff\x7f"), "has 0 elements"),
        (shape(F32, b"\xff" * 9 + b"\x01"), "has 0 elements"),
        (shape(F32, b"\x01", b"\x01") + field(8, b"\0" * 4), "minor_to_major"),
        (shape(S32, b"\x01") + field(4, b"\x80"), "cut short"),
        (shape(S32, b"\x01") + field(4, b"\x80" * 11 + b"\x01"), "more than 64 bits"),
        (shape(S32, b"\x01") + field(4, b"\x01")[:-1], "cut short"),
        (shape(99, b""), "element type 99"),
        (b"", "element type 0"),
        (field(1, 5), "has no length"),
        (field(1, field(2, F32) + field(3, b"\x01") + field(6, b"\x01")) + field(8, b"\0" * 4), "dynamic"),
    ],
)
def test_a_damaged_recording_is_a_diagnostic(literal: bytes, message: str) -> None:
    with pytest.raises(DiagnosticError, match=rf"x\.pb: the recorded execution is damaged: .*{message}"):
        read_recorded(field(1, field(1, MODULE)) + field(2, literal), "x.pb")


def test_a_recording_nests_no_deeper_than_programs_do() -> None:
    literal = shape(S32, b"") + field(4, 1)
    for _ in range(101):
        literal = field(1, field(2, TUPLE)) + field(10, literal)
    with pytest.raises(MalformedProtoError, match="too deep"):
        read_literal(memoryview(literal))


def test_partitions_get_a_dimension_that_counts_them() -> None:
    partitions = [field(2, field(1, shape(S32, b"\x01") + field(4, number))) for number in (7, 8)]
    recorded = read_recorded(field(1, MODULE) + b"".join(partitions), "x.pb")
    assert recorded is not None
    assert [array.tolist() for array in recorded.inputs] == [[[7], [8]]]
    with pytest.raises(DiagnosticError, match="different shapes"):
        read_recorded(field(1, MODULE) + partitions[0] + field(2, b""), "x.pb")
    with pytest.raises(DiagnosticError, match="described, but not there"):
        read_recorded(field(1, MODULE) + field(2, field(2, field(1, 1))), "x.pb")


@pytest.mark.parametrize("data", [b"", b"HloModule m", MODULE, field(1, MODULE)])
def test_other_bytes_record_no_execution(data: bytes) -> None:
    assert read_recorded(data, "x") is None


@given(st.binary(max_size=60), st.booleans())
def test_damaged_bytes_give_only_diagnostics(data: bytes, has_shape: bool) -> None:
    literal = (shape(S32, b"\x02") if has_shape else b"") + data
    try:
        found = read_recorded(field(1, field(1, MODULE)) + field(2, literal), "x.pb")
    except DiagnosticError:
        return
    assert isinstance(found, Recorded)
