"""Files of arrays: NPZ, flax's msgpack and orbax's checkpoints. The content decides the format, never the name.

The arrays of NPZ files are read late, because a small file may hold very large arrays. In the trees of JAX programs a
name is the path of an array, as JAX writes it: `params['dense'][0]`. Neither format runs code when it is read.
flax/serialization.py defines the msgpack; orbax lists the arrays of a checkpoint in the JSON file `_METADATA` and
stores each as zarr, in files of its own or inside an OCDBT database.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from io import BufferedIOBase, BytesIO
from itertools import islice
from math import prod
from typing import Any, cast

import numpy as np

from dialect_utils.execution.arrays import Array, SavedArray, damaged, readable, to_plain
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.text import DiagnosticError, entries_below, leaves_directory, open_input, read_input
from dialect_utils.text.input_file import located

LARGEST_FILE = 1 << 40
# numpy rejects headers of more than 10,000 bytes after it has read them.
_LARGEST_HEADER = 10_100
_LARGEST_ELEMENT = 16
_STEP = 1 << 20
_MEMBER = ".npy"
_NPY = b"\x93NUMPY"
# The compression methods that numpy writes. Decompressing another method could demand a dictionary of 4 GB.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_npz(path: str, choose: Callable[[Sequence[str]], Sequence[str]]) -> tuple[list[str], dict[str, SavedArray]]:
    """Returns the names of all members of an NPZ file, and the arrays that `choose` picks; reads only their headers.

    Raises DiagnosticError for an unreadable file, and for a name that occurs twice.
    """
    with open_input(path, LARGEST_FILE) as raw, readable(path), zipfile.ZipFile(raw) as file:
        members = [member.filename for member in file.infolist()]
        chosen = choose([name.removesuffix(_MEMBER) for name in members if name.endswith(_MEMBER)])
        repeated = next((name for name, count in Counter(chosen).items() if count > 1), None)
        if repeated is not None:
            raise damaged(path, f"{repeated}{_MEMBER} occurs twice")
        found = {name: _read_header(path, file, name + _MEMBER) for name in chosen}
    return [name.removesuffix(_MEMBER) for name in members], found


def _read_header(path: str, file: zipfile.ZipFile, member: str) -> SavedArray:
    if file.getinfo(member).compress_type not in _METHODS:
        raise damaged(path, f"{member} is compressed with a method that numpy does not write")
    with file.open(member) as stream:
        start = BytesIO(stream.read(_LARGEST_HEADER))
    version = np.lib.format.read_magic(start)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise damaged(path, f"{member} has version {version[0]}.{version[1]} of the format")
    shape, is_column_major, dtype = read(start)
    if dtype.hasobject or dtype.itemsize > _LARGEST_ELEMENT:
        raise damaged(path, f"{member} has elements of type {dtype}")
    order = "F" if is_column_major else "C"
    dimensions = tuple(map(int, shape))
    return SavedArray(dimensions, dtype, partial(_load, path, member, dimensions, dtype, order, start.tell()))


def _load(path: str, member: str, shape: tuple[int, ...], dtype: np.dtype[Any], order: Any, offset: int) -> Array:
    """Returns the array of a member, whose data begins at `offset`, and takes the memory of the array once.

    Raises DiagnosticError where the data's size is not the header's, and for damaged data.
    """
    size = prod(shape) * dtype.itemsize
    with readable(path), zipfile.ZipFile(located(path)) as file, cast(BufferedIOBase, file.open(member)) as stream:
        if file.getinfo(member).file_size != offset + size:
            raise damaged(path, f"{member} has other data than its header says")
        stream.read(offset)
        data = np.empty(size, np.uint8)
        found = sum(stream.readinto(data[start : start + _STEP].data) for start in range(0, size, _STEP))
        # With the last byte of the member, zipfile compares the checksum.
        if found != size:
            raise damaged(path, f"{member} has other data than its header says")
    return data.view(dtype).reshape(shape, order=order)


def arrays_to_npz(prefix: str, arrays: Sequence[Array], shapes: Sequence[ArrayShape]) -> bytes:
    """Returns the bytes of an NPZ file that holds the arrays as `<prefix>0`, `<prefix>1`, ...

    Types numpy lacks become unsigned integers of the same width, 4-bit integers int8 and uint8.
    """
    named = {
        f"{prefix}{i}": to_plain(array, shape.element_type)
        for i, (array, shape) in enumerate(zip(arrays, shapes, strict=True))
    }
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **named)
    return buffer.getvalue()


# The most names that a message about unknown names lists.
_SHOWN_NAMES = 5
_HINT = "numpy.savez writes an NPZ file, flax.serialization.to_bytes msgpack, and orbax a directory"


def read_arrays(path: str, prefix: str) -> list[SavedArray]:
    """Returns the arrays `<prefix>0`, `<prefix>1`, ... of a file; their data is read when it is used.

    Raises DiagnosticError for an unreadable file, a gap in the numbers, and a name that occurs twice.
    """
    return in_order(path, prefix, *read_archive(path, [prefix]))


def in_order(path: str, prefix: str, names: Sequence[str], arrays: Mapping[str, SavedArray]) -> list[SavedArray]:
    """Returns the arrays of an archive of these names by their numbers; raises DiagnosticError for a gap."""
    found = {int(name[len(prefix) :]): array for name, array in arrays.items()}
    if names and not found:
        shown = ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")
        what = "output" if prefix == "out" else "input"
        hint = f"{prefix}0, {prefix}1, ... are the {what}s in their order"
        raise DiagnosticError(f"{path}: holds {shown}, but no {prefix}0", hint=hint)
    missing = next((number for number in range(len(found)) if number not in found), None)
    if missing is not None:
        raise DiagnosticError(f"{path}: holds {prefix}{max(found)}, but no {prefix}{missing}")
    return [found[number] for number in range(len(found))]


def numbered(prefix: str) -> re.Pattern[str]:
    """Returns the pattern of the names `<prefix>0`, `<prefix>1`, ..."""
    return re.compile(rf"{prefix}(?:0|[1-9][0-9]{{0,6}})", re.ASCII)


def read_archive(path: str, prefixes: Sequence[str]) -> tuple[list[str], dict[str, SavedArray]]:
    """Returns the names of all arrays of a file, and some of the arrays, whose data is read when it is used.

    These are the arrays numbered after the first of the prefixes that any name has; all for an empty prefix. Raises
    DiagnosticError for an unreadable file, and for a name that occurs twice.
    """
    choose = partial(_chosen, prefixes=prefixes)
    read = _reader(path)
    if read is None:
        names, chosen = read_npz(path, choose)
    else:
        arrays = read(path)
        names, chosen = list(arrays), {name: arrays[name] for name in choose(list(arrays))}
    return names, {name: replace(array, file=path) for name, array in chosen.items()}


def _chosen(names: Sequence[str], prefixes: Sequence[str]) -> Sequence[str]:
    return next(filter(None, (_numbered_among(names, prefix) for prefix in prefixes)), [])


def _numbered_among(names: Sequence[str], prefix: str) -> list[str]:
    """Returns the names that a prefix and a number form; all for an empty prefix."""
    pattern = numbered(prefix)
    return [name for name in names if not prefix or pattern.fullmatch(name)]


def _reader(path: str) -> Callable[[str], dict[str, SavedArray]] | None:
    """Returns the function that reads a checkpoint, None for an NPZ file; raises DiagnosticError for other files."""
    if os.path.isdir(located(path)):
        return read_orbax
    with open_input(path, LARGEST_FILE) as file, readable(path):
        try:
            is_zip = zipfile.is_zipfile(file)
        except zipfile.BadZipFile:
            # An archive of several disks, which the reader of NPZ files rejects.
            is_zip = True
        if is_zip:
            return None
        file.seek(0)
        if (start := file.read(len(_NPY)))[:1] in MAPS:
            return read_msgpack
    if start == _NPY:
        hint = f"numpy.savez('inputs.npz', in0=numpy.load({path!r})) gives it one; in1, in2, ... are the next arrays"
        raise DiagnosticError(f"{path}: no NPZ file: an NPY file holds one array without a name", hint=hint)
    raise DiagnosticError(f"{path}: no NPZ file, msgpack or checkpoint", hint=_HINT)


# The first byte of a map in msgpack's specification: fixmap, map 16 and map 32.
MAPS = tuple(bytes([each]) for each in (*range(0x80, 0x90), 0xDE, 0xDF))

Path = tuple[str, ...]

_MSGPACK, _ORBAX = "msgpack of flax", "checkpoint of orbax"
# The types of flax's extension of msgpack.
_ARRAY, _COMPLEX, _NUMPY_SCALAR = 1, 2, 3
_CHUNKED = "__msgpack_chunked_array__"
# flax writes tuples of few elements as arrays, and names as strings.
_MOST_ELEMENTS, _LONGEST_KEY = 1 << 16, 1 << 16
_LARGEST_MSGPACK = 1 << 36
_LARGEST_METADATA = 1 << 26
_METADATA = "_METADATA"
_PLAIN_KEY = re.compile(r"[^\[\]./'\"]+")
_SKIPPED = frozenset({"string", "None"})
# Directories in which a message seeks checkpoints, and those that it names.
_MOST_FOLDERS, _SHOWN_FOLDERS = 1000, 4
# A process has at most 128 files open.
_OPEN_FILES = 16


def _package(name: str, path: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        message = f"{path}: is read with the package {name}, which is not installed"
        raise DiagnosticError(message, hint="pip install 'relayout[checkpoints]'") from None


def written_path(path: Path) -> str:
    """Returns a path as JAX writes it, such as `params['w']`."""
    first, *others = path or ("",)
    start = first if _PLAIN_KEY.fullmatch(first) else _bracketed(first) if path else ""
    return start + "".join(map(_bracketed, others))


def _bracketed(key: str) -> str:
    return f'["{key}"]' if "'" in key else f"['{key}']"


def read_msgpack(path: str) -> dict[str, SavedArray]:
    """Returns the arrays and numbers of a file of `flax.serialization.to_bytes` or `msgpack_serialize` by their paths.

    Raises DiagnosticError for an unreadable file, and where the package msgpack is not installed.
    """
    msgpack = _package("msgpack", path)
    with open_input(path, _LARGEST_MSGPACK) as file, readable(path, _MSGPACK):
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            tree = msgpack.unpackb(
                data,
                ext_hook=partial(_extension, msgpack),
                strict_map_key=False,
                max_array_len=_MOST_ELEMENTS,
                max_str_len=_LONGEST_KEY,
            )
        return {written_path(keys): leaf for keys, leaf in _leaves(tree, ())}


def _extension(msgpack: Any, code: int, data: bytes) -> Array | complex:
    if code == _COMPLEX:
        real, imaginary = msgpack.unpackb(data)
        return complex(real, imaginary)
    if code not in (_ARRAY, _NUMPY_SCALAR):
        raise ValueError(f"it has an extension of the type {code}, which flax does not write")
    shape, name, elements = msgpack.unpackb(data, raw=True)
    dtype = _dtypes().get(name.decode())
    if dtype is None:
        raise ValueError(f"an array has elements of the type {name.decode()}")
    if not all(isinstance(size, int) and size >= 0 for size in shape) or len(elements) != prod(shape) * dtype.itemsize:
        raise ValueError(f"{len(elements)} bytes are no array of {dtype}{shape}")
    return np.frombuffer(elements, dtype).reshape(shape)


@cache
def _dtypes() -> dict[str, np.dtype[Any]]:
    """Returns the dtypes of all element types by numpy's names, those that this ml_dtypes lacks left out."""
    found = {}
    for element_type in ELEMENT_TYPES.values():
        try:
            dtype = dtype_of(element_type)
        except ValueError:
            continue
        found[dtype.name] = dtype
    return found


def _leaves(tree: Any, path: Path) -> Iterator[tuple[Path, SavedArray]]:
    """Yields the arrays and numbers of a tree; texts and None are skipped."""
    if isinstance(tree, dict) and _CHUNKED in tree:
        yield path, _joined(tree)
    elif isinstance(tree, dict):
        for key, each in tree.items():
            yield from _leaves(each, (*path, str(key)))
    elif isinstance(tree, list):
        for number, each in enumerate(tree):
            yield from _leaves(each, (*path, str(number)))
    elif isinstance(tree, bool | int | float | complex | np.ndarray):
        array = np.asarray(tree)
        is_number = not isinstance(tree, np.ndarray)
        yield path, SavedArray(array.shape, array.dtype, lambda: array, is_number)


def _joined(tree: dict[str, Any]) -> SavedArray:
    """Returns an array that flax cut into flat chunks because msgpack has no longer values."""
    shape = tuple(tree["shape"][str(i)] for i in range(len(tree["shape"])))
    chunks = [tree["chunks"][str(i)] for i in range(len(tree["chunks"]))]
    if any(chunk.dtype != chunks[0].dtype for chunk in chunks) or sum(chunk.size for chunk in chunks) != prod(shape):
        raise ValueError(f"{len(chunks)} chunks are no array of {list(shape)}")
    return SavedArray(shape, chunks[0].dtype, lambda: np.concatenate(chunks).reshape(shape))


def read_orbax(path: str) -> dict[str, SavedArray]:
    """Returns the arrays and numbers of a checkpoint's directory by their paths; their data is read when it is used.

    Raises DiagnosticError for another directory, and where the package tensorstore is not installed.
    """
    if not os.path.isfile(located(os.path.join(path, _METADATA))):
        with readable(path, _ORBAX):
            inner = ", ".join(os.path.join(path, each) for each in _checkpoints_in(located(path)))
        hint = f"its checkpoints: {inner}" if inner else f"each checkpoint of orbax has a file {_METADATA}"
        raise DiagnosticError(f"{path}: is a directory, but no checkpoint of orbax", hint=hint)
    with readable(path, _ORBAX):
        _check_files(path)
        tree = json.loads(read_input(os.path.join(path, _METADATA), _LARGEST_METADATA))
        names = dict(_stored(tree))
    tensorstore = _package("tensorstore", path)
    with readable(path, _ORBAX):
        context = tensorstore.Context({"file_io_concurrency": {"limit": _OPEN_FILES}})
        futures = {keys: tensorstore.open(_specification(located(path), keys, tree), context=context) for keys in names}
        stores = {keys: future.result() for keys, future in futures.items()}
    return {written_path(keys): _saved(path, keys, store, names[keys]) for keys, store in stores.items()}


def _check_files(path: str) -> None:
    """Raises DiagnosticError where anything in a directory is no file: a pipe, a device, or a link that leaves it."""
    root = located(path)
    for each in entries_below(root):
        is_other = not (os.path.isfile(each.path) or os.path.isdir(each.path))
        if is_other or (each.is_symlink() and leaves_directory(each.path, root)):
            raise damaged(path, f"{os.path.relpath(each.path, root)} is no file of this directory", _ORBAX)


def _checkpoints_in(path: str) -> list[str]:
    """Returns some directories in a directory, or in those, that hold a checkpoint: a manager's steps and items."""
    outer = [each.name for each in islice(os.scandir(path), _MOST_FOLDERS) if each.is_dir()]
    inner = (os.path.join(name, each.name) for name in outer for each in os.scandir(os.path.join(path, name)))
    folders = [*outer, *islice(inner, _MOST_FOLDERS)]
    found = sorted(each for each in folders if os.path.isfile(os.path.join(path, each, _METADATA)))
    return found[:_SHOWN_FOLDERS]


def _stored(tree: Any) -> Iterator[tuple[Path, bool]]:
    """Yields the path of each array that a checkpoint lists, and whether it is a Python number."""
    for entry in tree["tree_metadata"].values():
        value = entry["value_metadata"]
        if not value.get("skip_deserialize") and value["value_type"] not in _SKIPPED:
            yield tuple(str(key["key"]) for key in entry["key_metadata"]), value["value_type"] == "scalar"


def _specification(path: str, keys: Path, tree: Any) -> dict[str, Any]:
    """Returns tensorstore's description of an array of a checkpoint."""
    name = ".".join(keys)
    if os.pardir in name.split("/"):
        raise ValueError(f"the key {name} leads out of the directory")
    files = {"driver": "file", "path": path + "/"}
    store = {"driver": "ocdbt", "base": files, "path": name + "/"}
    return {
        "driver": "zarr3" if tree.get("use_zarr3") else "zarr",
        "kvstore": store if tree.get("use_ocdbt") else {**files, "path": f"{path}/{name}/"},
        "open": True,
        # If orbax stores zeros, too, a missing part is damage.
        "fill_missing_data_reads": not tree.get("store_array_data_equal_to_fill_value"),
    }


def _saved(path: str, keys: Path, store: Any, is_number: bool) -> SavedArray:
    name, dtype = written_path(keys), _dtypes().get(store.dtype.name)
    chunk = store.chunk_layout.read_chunk.shape or ()
    if dtype is None:
        raise damaged(path, f"{name} has elements of the type {store.dtype.name}", _ORBAX)
    # A part is decompressed as a whole, however little of it the array has.
    if any(part > max(size, 1) for part, size in zip(chunk, store.shape, strict=True)):
        raise damaged(path, f"{name} has parts of {list(chunk)}, but {list(store.shape)} elements", _ORBAX)

    def load() -> Array:
        with readable(f"{path}: {name}", "whole array"):
            array: Array = store.read().result()
            return array

    return SavedArray(tuple(store.shape), dtype, load, is_number)
