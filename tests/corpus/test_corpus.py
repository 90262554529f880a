"""The corpus says what it holds: descriptions agree with the arrays, and no file names a folder of some machine."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
DUMPS = sorted(path.parent for path in HERE.glob("tpu/*/meta.json"))
TEXTS = [path for path in sorted(HERE.rglob("*")) if path.suffix in {".hlo", ".mlir", ".json"}]
FOLDERS = re.compile(r"\"/[a-z]|site-packages|/(root|tmp|home|usr)/")
STORED = {"bfloat16": "uint16", "int2": "int8", "int4": "int8", "uint2": "uint8", "uint4": "uint8"}
MINIMUM_OF_DUMPS = 40


def stored_type(dtype: str) -> str:
    return "uint8" if dtype.startswith(("float8", "float4")) else STORED.get(dtype, dtype)


def mismatch(described: list[dict[str, Any]], arrays: Any, prefix: str) -> str | None:
    for i, array in enumerate(described):
        found = arrays[f"{prefix}{i}"]
        if (found.dtype.name, list(found.shape)) != (stored_type(array["dtype"]), array["shape"]):
            return f"{prefix}{i}: described as {array}, stored as {found.dtype}{found.shape}"
    return None


def test_there_are_dumps_of_every_current_tpu() -> None:
    platforms = {json.loads((dump / "meta.json").read_text())["platform"] for dump in DUMPS}
    assert len(DUMPS) >= MINIMUM_OF_DUMPS
    assert platforms >= {"v4", "v5e", "v5p", "v6e", "tpu7x"}


@pytest.mark.parametrize("side", ["in", "out"])
def test_descriptions_agree_with_the_arrays(side: str) -> None:
    for dump in DUMPS:
        meta = json.loads((dump / "meta.json").read_text())
        with np.load(dump / "data.npz") as arrays:
            described = meta[f"{side}puts"]
            assert len([name for name in arrays.files if name.startswith(side)]) == len(described), dump.name
            assert mismatch(described, arrays, side) is None, dump.name


def test_a_wrong_description_is_noticed() -> None:
    arrays = {"in0": np.zeros((2, 3), np.uint16)}
    assert mismatch([{"dtype": "bfloat16", "shape": [2, 3]}], arrays, "in") is None
    assert mismatch([{"dtype": "float16", "shape": [2, 3]}], arrays, "in") is not None
    assert mismatch([{"dtype": "bfloat16", "shape": [3, 2]}], arrays, "in") is not None


def test_shards_cover_every_element_of_a_sharded_array() -> None:
    for dump in DUMPS:
        meta = json.loads((dump / "meta.json").read_text())
        for array in (a for a in meta["inputs"] + meta["outputs"] if "shards" in a):
            covered = np.zeros(array["shape"], bool)
            for part in array["shards"]:
                covered[tuple(slice(*bounds) for bounds in part)] = True
            assert len(array["shards"]) == meta["devices"]
            assert covered.all(), dump.name


def test_no_file_names_a_folder_of_some_machine() -> None:
    assert FOLDERS.search('1 "/somewhere/programs.py"')
    named = [path.name for path in TEXTS if FOLDERS.search(path.read_text())]
    assert named == []


def test_only_elided_twins_lack_constants() -> None:
    for path in HERE.glob("tpu/*/*.hlo"):
        assert ("constant({...})" in path.read_text()) == (path.name == "tpu_elided.hlo"), path
