"""Optimized TPU dumps with inputs and outputs, and the comparison of results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import entry_arrays, from_plain, prepare
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.layout import ArrayShape
from dialect_utils.ops.device_counts import devices_of
from passes.dumps.make_portable import make_portable
from tests.conftest import Workers
from tests.paths import OWN_CORPUS, SHARED_DATA

Array = NDArray[Any]

SHARED = SHARED_DATA / "corpus" / "tpu"
OWN = OWN_CORPUS / "tpu"

# Options of XLA for programs that run once: they compute the same, and compiling them takes half the time.
UNOPTIMIZED = {"xla_backend_optimization_level": 0}
# Largest difference, as a share of the largest magnitude. The dumps round operands of f32 products to
# bf16; 16-bit types have 8 to 11 bits.
_WIDE_TOLERANCE = 1e-2
_NARROW_TOLERANCE = 3e-2
_NARROW_BITS = 16
# A TPU computes in pairs of f32, which have 48 bits.
_DOUBLE_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True)
class Dump:
    """The folder of a dump: tpu.hlo, data.npz and meta.json."""

    folder: Path
    file: str = "tpu.hlo"

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def meta(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "meta.json").read_text("utf-8"))
        return found

    def text(self) -> str:
        return (self.folder / self.file).read_text("utf-8")

    def module(self) -> HloModule:
        return parse_module(self.text(), self.name)


def dumps(folder: Path) -> list[Dump]:
    return [Dump(path.parent) for path in sorted(folder.glob("*/tpu.hlo"))] if folder.is_dir() else []


def run(dump: Dump, workers: Workers) -> list[str]:
    """Runs a dump's portable form and returns the differences from the expected outputs."""
    module = dump.module()
    make_portable(module)
    devices = devices_of(module).count
    parameters, results = entry_arrays(module)
    inputs = arrays_of(dump, "in", parameters, "inputs", devices)
    expected = arrays_of(dump, "out", results, "outputs", devices)
    worker = workers[devices]
    outputs = worker.run(prepare(module, dump.name), [inputs], options=UNOPTIMIZED)[0]
    pairs = zip(outputs, expected, results, strict=True)
    found = [difference(out, wanted, shape) for out, wanted, shape in pairs]
    return [f"out{i}: {text}" for i, text in enumerate(found) if text is not None]


def arrays_of(dump: Dump, prefix: str, shapes: list[ArrayShape], kind: str, devices: int) -> list[Array]:
    """Returns the arrays of data.npz; on several devices the parts of each, one after another."""
    found = []
    with np.load(dump.folder / "data.npz") as data:
        for i, shape in enumerate(shapes):
            array = data[f"{prefix}{i}"]
            if devices == 1:
                found.append(from_plain(array, shape, f"{prefix}{i}"))
                continue
            shards = dump.meta[kind][i]["shards"]
            parts = [array[tuple(slice(a, b) for a, b in shard)] for shard in shards]
            found.append(np.stack([from_plain(part, shape, f"{prefix}{i}") for part in parts]))
    return found


def difference(actual: Array, expected: Array, shape: ArrayShape) -> str | None:
    """Returns the difference of two outputs, or None if they match: integers exactly, floats within the tolerance."""
    kind = shape.element_type
    if not (kind.is_floating or kind.is_complex):
        count = int((actual != expected).sum())
        return f"{count} of {expected.size} elements differ" if count else None
    wide: Any = np.complex128 if kind.is_complex else np.float64
    with np.errstate(invalid="ignore"):
        a, b = actual.astype(wide), expected.astype(wide)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return "infinities or NaNs are elsewhere"
    error = float(np.abs(a[finite] - b[finite]).max(initial=0))
    limit = _DOUBLE_TOLERANCE if kind.name in ("f64", "c128") else _WIDE_TOLERANCE
    limit = _NARROW_TOLERANCE if kind.bits <= _NARROW_BITS else limit
    scale = float(np.abs(b)[finite].max(initial=0))
    return f"differs by {error:g} of {scale:g}" if error > limit * scale else None
