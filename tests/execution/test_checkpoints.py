"""Trees of arrays in msgpack files of flax: values, names, damaged files, and what `run` does with them."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dialect_utils.execution.archives import read_archive, read_arrays, written_path
from dialect_utils.execution.arrays import SavedArray, from_plain
from dialect_utils.execution.named import path_of
from dialect_utils.layout import parse_array_shape
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from tests.paths import ROOT

TREE: dict[str, Any] = {
    "params": {
        "dense/1": {
            "kernel": np.arange(6).reshape(3, 2).astype(ml_dtypes.bfloat16),
            "bias": np.array([1, 2], np.float32),
        },
        "list": {"0": np.array([1 + 2j], np.complex64), "1": np.array([], np.int8)},
    },
    "f8": np.ones(2, ml_dtypes.float8_e4m3fn),
    "s4": np.array([1, -2], ml_dtypes.int4),
    "flags": np.array([True, False]),
    "scale": np.float32(3.5),
}
NAMES = {
    "params['dense/1']['kernel']": TREE["params"]["dense/1"]["kernel"],
    "params['dense/1']['bias']": TREE["params"]["dense/1"]["bias"],
    "params['list']['0']": TREE["params"]["list"]["0"],
    "params['list']['1']": TREE["params"]["list"]["1"],
    **{name: TREE[name] for name in ("f8", "s4", "flags", "scale")},
}


def flax_bytes(tree: object) -> bytes:
    """Returns the bytes that flax.serialization defines for a tree, with extensions 1 and 3 for arrays and scalars."""
    msgpack = pytest.importorskip("msgpack")

    def extension(value: Any) -> object:
        if isinstance(value, complex):
            return msgpack.ExtType(2, msgpack.packb((value.real, value.imag)))
        array = np.asarray(value)
        content = msgpack.packb((array.shape, array.dtype.name, array.tobytes()), use_bin_type=True)
        return msgpack.ExtType(3 if isinstance(value, np.generic) else 1, content)

    packed: bytes = msgpack.packb(tree, default=extension, strict_types=True)
    return packed


def read_all(path: Path) -> dict[str, SavedArray]:
    return read_archive(str(path), ["in", ""])[1]


def file_of(tmp_path: Path, data: bytes) -> Path:
    (tmp_path / "tree.msgpack").write_bytes(data)
    return tmp_path / "tree.msgpack"


def assert_same(found: Mapping[str, SavedArray], expected: Mapping[str, Any]) -> None:
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        read = np.asarray(found[name])
        assert (read.dtype, read.shape, read.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert (found[name].dtype, found[name].shape, found[name].is_number) == (array.dtype, array.shape, False)


def test_arrays_of_flax_are_read_by_their_paths(tmp_path: Path) -> None:
    assert_same(read_all(file_of(tmp_path, flax_bytes(TREE))), NAMES)


def test_a_file_that_flax_writes_is_read(tmp_path: Path) -> None:
    serialization = pytest.importorskip("flax.serialization")
    data = serialization.to_bytes(TREE)
    assert data == flax_bytes(TREE)
    assert_same(read_all(file_of(tmp_path, data)), NAMES)


def test_numbers_of_python_get_the_type_of_the_parameter(tmp_path: Path) -> None:
    found = read_all(file_of(tmp_path, flax_bytes({"n": 7, "f": 0.1, "z": 2 - 1j, "b": True, "t": "text", "no": None})))
    assert list(found) == ["n", "f", "z", "b"]
    for name, type_, value in (
        ("n", "s32", np.int32(7)),
        ("n", "u4", ml_dtypes.uint4(7)),
        ("n", "f32", np.float32(7)),
        ("f", "f32", np.float32(0.1)),
        ("f", "bf16", ml_dtypes.bfloat16(0.1)),
        ("z", "c64", np.complex64(2 - 1j)),
        ("b", "pred", np.bool_(True)),
    ):
        typed = from_plain(found[name], parse_array_shape(f"{type_}[]"), "in0")
        assert (typed.dtype, typed.tobytes()) == (np.asarray(value).dtype, value.tobytes())


@pytest.mark.parametrize(
    ("number", "type_"), [(1 << 40, "s32"), (-1, "u8"), (9, "s4"), (2.5, "s32"), (1j, "f32"), (2, "pred")]
)
def test_numbers_that_a_type_does_not_hold_are_errors(number: object, type_: str, tmp_path: Path) -> None:
    [array] = read_arrays(str(file_of(tmp_path, flax_bytes({"in0": number}))), "in")
    with pytest.raises(DiagnosticError, match="in0 "):
        from_plain(array, parse_array_shape(f"{type_}[]"), "in0")


def test_chunks_of_a_large_array_are_joined(tmp_path: Path) -> None:
    whole = np.arange(6, dtype=np.float32)
    chunked = {
        "__msgpack_chunked_array__": True,
        "shape": {"0": 2, "1": 3},
        "chunks": {"0": whole[:4], "1": whole[4:]},
    }
    assert_same(read_all(file_of(tmp_path, flax_bytes({"w": chunked}))), {"w": whole.reshape(2, 3)})
    chunked["shape"] = {"0": 2, "1": 1 << 50}
    with pytest.raises(DiagnosticError, match="2 chunks are no array of"):
        read_all(file_of(tmp_path, flax_bytes({"w": chunked})))


def extension(code: int, content: object) -> Callable[[], bytes]:
    def make() -> bytes:
        msgpack = pytest.importorskip("msgpack")
        packed: bytes = msgpack.packb({"in0": msgpack.ExtType(code, msgpack.packb(content))})
        return packed

    return make


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: b"\x81\xa3in0\xc9" + struct.pack(">I", 0xFFFFFFFF) + b"\x01", "msgpack of flax"),
        (lambda: b"\x81\xa3in0\xdd" + struct.pack(">I", 0xFFFFFFFF), "msgpack of flax"),
        (lambda: b"\x81\xa1a" * 3000, "msgpack of flax"),
        (lambda: flax_bytes(TREE)[:-3], "msgpack of flax"),
        (lambda: pickle.dumps([1], 4), "extra data"),
        (extension(1, ([1 << 60], "float32", b"")), "0 bytes are no array of float32"),
        (extension(1, ([-1], "float32", b"")), "are no array"),
        (extension(1, ([2.0], "float32", bytes(8))), "are no array"),
        (extension(1, ([1], "object", bytes(8))), "elements of the type object"),
        (extension(1, 3), "msgpack of flax"),
        (extension(9, 3), "an extension of the type 9"),
    ],
)
def test_damaged_files_are_errors(data: Callable[[], bytes], message: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, data())
    with pytest.raises(DiagnosticError, match=f"(?i){message}") as error:
        read_all(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("package", ["msgpack", "tensorstore"])
def test_a_missing_package_is_named(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, b"\x80")
    if package == "tensorstore":
        path = tmp_path
        (path / "_METADATA").write_text('{"tree_metadata": {}}')
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DiagnosticError, match=f"package {package}, which is not installed") as error:
        read_all(path)
    assert error.value.diagnostics[0].hint == "pip install 'relayout[checkpoints]'"


@pytest.mark.parametrize("path", [("a",), ("a", "b"), ("a/b", "c.d"), ("0",), ("a", "it's"), ("a", "0", "w[1]")])
def test_a_path_is_read_back_from_its_name(path: tuple[str, ...]) -> None:
    assert path_of(written_path(path)) == path


HLO = """HloModule m

ENTRY e {
  w = bf16[3,2] parameter(0), metadata={op_name="variables['params']['dense/1']['kernel']"}
  n = s32[] parameter(1), metadata={op_name="variables['n']"}
  x = f32[2,3] parameter(2), metadata={op_name="x"}
  c = f32[3,2] convert(w)
  d = f32[2,2] dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[] convert(n)
  b = f32[2,2] broadcast(f), dimensions={}
  ROOT r = f32[2,2] add(d, b)
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "m.hlo").write_text(HLO)
    np.savez(tmp_path / "x.npz", x=np.array([[1, 0, 0], [0, 0, 1]], np.float32))
    kernel = NAMES["params['dense/1']['kernel']"]
    (tmp_path / "v.msgpack").write_bytes(flax_bytes({"params": {"dense/1": {"kernel": kernel}}, "n": 10}))
    return tmp_path / "m.hlo"


def test_a_file_gives_one_argument(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = program.parent
    inputs = ["--inputs", f"variables={folder}/v.msgpack", "--inputs", f"{folder}/x.npz"]
    assert main(["run", str(program), *inputs]) == 0
    out, err = capsys.readouterr()
    assert "[[10. 11.]\n [14. 15.]]" in out
    assert err == ""
    # Beside another file, in2 is the third input of the program.
    np.savez(folder / "numbered.npz", in2=np.array([[1, 0, 0], [0, 0, 1]], np.float32))
    assert main(["run", str(program), *inputs[:3], f"{folder}/numbered.npz"]) == 0
    assert capsys.readouterr().out == out
    # The results as a tree, too.
    (folder / "out.msgpack").write_bytes(flax_bytes({"out0": np.array([[10, 11], [14, 15]], np.float32)}))
    assert main(["run", str(program), *inputs, "--expect", str(folder / "out.msgpack")]) == 0
    assert "out0: equal bits" in capsys.readouterr().out


def test_checkpoints_of_orbax() -> None:
    """Runs orbax_checkpoints.py in a process of its own, because a process with tensorstore cannot fork."""
    pytest.importorskip("msgpack")
    if find_spec("tensorstore") is None:
        pytest.skip("tensorstore is not installed")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/execution/orbax_checkpoints.py"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.count(".") >= 12, ran.stdout


@pytest.mark.parametrize(
    ("inputs", "messages"),
    [
        (["v.msgpack"], ["holds nothing for variables['params']", "if the file holds variables, give variables=FILE"]),
        (["variables=v.msgpack"], ["holds nothing for x f32[2,3]"]),
        (["variables=v.msgpack", "x.npz", "y.msgpack"], ["y.msgpack: x is also in x.npz"]),
        (["random", "x.npz"], ["--inputs random gives all inputs"]),
        (["m.hlo"], ["no NPZ file, msgpack or checkpoint"]),
        (["."], ["is a directory, but no checkpoint of orbax"]),
    ],
)
def test_wrong_inputs_are_errors(
    inputs: list[str],
    messages: list[str],
    program: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(program.parent)
    Path("y.msgpack").write_bytes(flax_bytes({"x": np.array([1], np.float32)}))
    given = [argument for each in inputs for argument in ("--inputs", each)]
    assert main(["run", "m.hlo", *given]) != 0
    err = capsys.readouterr().err
    assert [message for message in messages if message not in err] == []


@pytest.mark.parametrize("kind", ["link", "device", "pipe", "folder"])
def test_nothing_outside_of_a_checkpoint_is_read(kind: str, tmp_path: Path) -> None:
    """A link that leads out of it, a device or a pipe is an error before any array is read."""
    folder = tmp_path / "checkpoint"
    (folder / "x").mkdir(parents=True)
    (folder / "_METADATA").write_text('{"tree_metadata": {}}')
    (tmp_path / "secret").mkdir()
    makes = {
        "link": lambda: (folder / "x" / "0.0").symlink_to("../../secret"),
        "device": lambda: (folder / "x" / "0.0").symlink_to("/dev/zero"),
        "pipe": lambda: os.mkfifo(folder / "x" / "0.0"),
        "folder": lambda: (folder / "y").symlink_to("../secret", target_is_directory=True),
    }
    makes[kind]()
    with pytest.raises(DiagnosticError, match="is no file of this directory"):
        read_archive(str(folder), [""])
