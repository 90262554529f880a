"""NPZ files: what is read of them, in how much memory, and which damage is an error."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.execution import read_arrays
from dialect_utils.text import DiagnosticError
from tests.profiling import least_seconds

_PEAK = """
import resource, sys
import numpy as np
from dialect_utils.execution import read_arrays
[first] = read_arrays(sys.argv[1], "out")
np.asarray(first)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
[array] = read_arrays(sys.argv[1], "in")
assert np.asarray(array).sum() == float(sys.argv[2])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def header(array: np.ndarray) -> bytes:
    buffer = BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()[: -array.nbytes or None]


def written(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> str:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return str(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1 << 20,), ((1 << 18) + 1, 5)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_read_as_they_were_written(save: object, shape: tuple[int, ...], order: str, tmp_path: Path) -> None:
    assert callable(save)
    array = np.asarray(np.random.default_rng(0).random(shape), dtype=np.float32, order=order)  # type: ignore[call-overload] # a name
    save(tmp_path / "a.npz", in0=array)
    [read] = read_arrays(str(tmp_path / "a.npz"), "in")
    assert np.array_equal(np.asarray(read), array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_array_takes_its_own_memory_once(save: object, tmp_path: Path) -> None:
    assert callable(save)
    array = np.ones(20 << 20, np.float32)
    save(tmp_path / "a.npz", in0=array, out0=array[:9])
    command = [sys.executable, "-c", _PEAK, str(tmp_path / "a.npz"), str(array.size)]
    growth = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert growth < array.nbytes * 1.2


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_methods_with_large_dictionaries_are_rejected_before_they_are_read(method: int, tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"in0.npy": header(np.zeros(4)) + bytes(32)}, method)
    with pytest.raises(DiagnosticError, match=r"in0\.npy is compressed with a method that numpy does not write"):
        read_arrays(path, "in")


@pytest.mark.parametrize("size", [0, 31, 33, 1 << 21])
def test_data_of_another_size_than_the_header_says_are_an_error(size: int, tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"in0.npy": header(np.zeros(4)) + bytes(size)})
    [array] = read_arrays(path, "in")
    with pytest.raises(DiagnosticError, match=r"in0\.npy has other data than its header says"):
        np.asarray(array)


def test_a_claimed_size_allocates_nothing(tmp_path: Path) -> None:
    claimed = BytesIO()
    np.lib.format.write_array_header_1_0(claimed, {"descr": "<f8", "fortran_order": False, "shape": (1 << 50,)})
    [array] = read_arrays(written(tmp_path / "a.npz", {"in0.npy": claimed.getvalue() + bytes(64)}), "in")
    with pytest.raises(DiagnosticError, match=r"in0\.npy has other data than its header says"):
        np.asarray(array)


def test_a_directory_that_states_another_size_than_the_data_have_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    start = header(np.zeros(100))
    written(path, {"in0.npy": start + bytes(64)})
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<I", len(start) + 800)
    path.write_bytes(data)
    [read] = read_arrays(str(path), "in")
    with pytest.raises(DiagnosticError, match=r"in0\.npy has other data than its header says"):
        np.asarray(read)


def test_damaged_data_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    written(path, {"in0.npy": header(np.zeros(4096)) + bytes(32768)}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") - 1] ^= 1
    path.write_bytes(data)
    [array] = read_arrays(str(path), "in")
    with pytest.raises(DiagnosticError, match="Bad CRC-32"):
        np.asarray(array)


def test_many_names_take_time_in_proportion(tmp_path: Path) -> None:
    small, large = (
        written(tmp_path / f"{count}.npz", {f"in{i}.npy": header(np.zeros(0)) for i in range(count)}, 0)
        for count in (2000, 16_000)
    )
    seconds = [least_seconds(partial(read_arrays, path, "in")) for path in (small, large)]
    assert seconds[1] < 16 * seconds[0]
