"""Checkpoints of orbax: values, names, and damaged files. `test_checkpoints.py` runs these tests in a process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialect_utils.text import DiagnosticError
from tests.execution.test_checkpoints import HLO, NAMES, TREE, assert_same, read_all


def write_checkpoint(folder: Path, tree: Mapping[tuple[str, ...], Any], *, ocdbt: bool, zarr3: bool) -> None:
    """Writes the files of orbax's PyTreeCheckpointer: an array each, and the JSON that lists them."""
    tensorstore = pytest.importorskip("tensorstore")
    folder.mkdir()
    entries = {}
    for keys, value in tree.items():
        is_number = isinstance(value, int | float)
        name, array, files = ".".join(keys), np.asarray(value), {"driver": "file", "path": f"{folder}/"}
        store = (
            {"driver": "ocdbt", "base": files, "path": f"{name}/"} if ocdbt else {**files, "path": f"{folder}/{name}/"}
        )
        created = tensorstore.open(
            {"driver": "zarr3" if zarr3 else "zarr", "kvstore": store, "store_data_equal_to_fill_value": True},
            create=True,
            dtype=array.dtype,
            shape=array.shape,
        ).result()
        created.write(array).result()
        entries[str(keys)] = {
            "key_metadata": [{"key": key, "key_type": 2} for key in keys],
            "value_metadata": {"value_type": "scalar" if is_number else "jax.Array", "skip_deserialize": False},
        }
    empty = {
        "key_metadata": [{"key": "e", "key_type": 2}],
        "value_metadata": {"value_type": "Dict", "skip_deserialize": True},
    }
    described = {
        "tree_metadata": {**entries, "('e',)": empty},
        "use_ocdbt": ocdbt,
        "use_zarr3": zarr3,
        "store_array_data_equal_to_fill_value": True,
    }
    (folder / "_METADATA").write_text(json.dumps(described))


ARRAYS = {("params", "dense/1", "kernel"): NAMES["params['dense/1']['kernel']"], ("s",): np.array([0, 0], np.float32)}


@pytest.mark.parametrize("ocdbt", [False, True])
@pytest.mark.parametrize("zarr3", [False, True])
def test_checkpoints_are_read_by_their_paths(ocdbt: bool, zarr3: bool, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {**ARRAYS, ("n",): 7}, ocdbt=ocdbt, zarr3=zarr3)
    found = read_all(tmp_path / "c")
    assert found["n"].is_number
    assert int(np.asarray(found.pop("n"))) == 7
    assert_same(found, {"params['dense/1']['kernel']": ARRAYS["params", "dense/1", "kernel"], "s": ARRAYS[("s",)]})


@pytest.mark.parametrize("ocdbt", [False, True])
@pytest.mark.parametrize("zarr3", [False, True])
def test_checkpoints_that_orbax_writes_are_read(ocdbt: bool, zarr3: bool, tmp_path: Path) -> None:
    checkpoint = pytest.importorskip("orbax.checkpoint")
    tree = {
        **TREE,
        "params": {**TREE["params"], "list": [np.array([1 + 2j], np.complex64), np.array([3], np.int8)]},
        "n": 7,
    }
    handler = checkpoint.PyTreeCheckpointHandler(use_ocdbt=ocdbt, use_zarr3=zarr3)
    checkpoint.Checkpointer(handler).save(tmp_path / "step" / "c", tree)
    found = read_all(tmp_path / "step" / "c")
    assert [int(np.asarray(found.pop("n"))), float(np.asarray(found.pop("scale")))] == [7, 3.5]
    names = {name: array for name, array in NAMES.items() if name != "scale"}
    assert_same(found, {**names, "params['list']['1']": np.array([3], np.int8)})
    with pytest.raises(DiagnosticError, match="is a directory, but no checkpoint of orbax") as error:
        read_all(tmp_path / "step")
    assert error.value.diagnostics[0].hint == f"its checkpoints: {tmp_path}/step/c"


def test_a_lost_part_of_an_array_is_an_error(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", ARRAYS, ocdbt=False, zarr3=False)
    (tmp_path / "c" / "s" / "0").unlink()
    with pytest.raises(DiagnosticError, match=r"c: s: no whole array: .*missing"):
        np.asarray(read_all(tmp_path / "c")["s"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-1], "no checkpoint of orbax"),
        (lambda _: "[]", "no checkpoint of orbax"),
        (lambda _: "[" * 100_000, "recursion"),
        (lambda text: text.replace('"dense/1"', '"/../../x"'), "leads out of the directory"),
        (lambda text: text.replace('"use_zarr3": false', '"use_zarr3": true'), "NOT_FOUND"),
    ],
)
def test_damaged_checkpoints_are_errors(change: Callable[[str], str], message: str, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", ARRAYS, ocdbt=False, zarr3=False)
    metadata = tmp_path / "c" / "_METADATA"
    metadata.write_text(change(metadata.read_text()))
    with pytest.raises(DiagnosticError, match=message):
        read_all(tmp_path / "c")


def test_a_part_larger_than_its_array_is_not_decompressed(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", ARRAYS, ocdbt=False, zarr3=False)
    described = tmp_path / "c" / "s" / ".zarray"
    described.write_text(described.read_text().replace('"chunks":[2]', '"chunks":[1099511627776]'))
    with pytest.raises(DiagnosticError, match=r"s has parts of \[1099511627776\], but \[2\] elements"):
        read_all(tmp_path / "c")


def test_a_checkpoint_is_read_in_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(HLO)
    np.savez(tmp_path / "x.npz", x=np.array([[1, 0, 0], [0, 0, 1]], np.float32))
    write_checkpoint(tmp_path / "v", {**ARRAYS, ("n",): 10}, ocdbt=True, zarr3=False)
    command = [sys.executable, "-m", "relayout", "run", "m.hlo", "--inputs", "variables=v", "--inputs", "x.npz"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "[[10. 11.]\n [14. 15.]]" in ran.stdout
    assert ran.stderr == "note: v: s is no input of the program (jit drops arguments that nothing uses)\n"
    assert ran.returncode == 0
