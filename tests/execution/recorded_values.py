"""Arrays of every element type that JAX and snapshots share, with values that are hard to encode."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

VALUES: dict[str, tuple[object, ...]] = {
    "bool": (True, False, True),
    **{f"int{bits}": (-(1 << bits - 1), -1, 0, 1, (1 << bits - 1) - 1, 3, -2) for bits in (4, 16, 32, 64)},
    **{f"uint{bits}": (0, 1, (1 << bits) - 1, 1 << bits - 1, 5) for bits in (4, 8, 64)},
    **{name: (-0.0, 1.5, float("inf"), -2.0) for name in ("bfloat16", "float32", "float64")},
    **dict.fromkeys(("float8_e5m2",), (-0.0, 1.5, -2.0)),
    **dict.fromkeys(("complex64", "complex128"), (1.5 - 2j, -0j)),
}


def values_of(name: str) -> NDArray[np.generic]:
    """Returns an array of two dimensions, of which the first is 2."""
    kind = getattr(ml_dtypes, name, None) or name
    wide = np.uint64 if name == "uint64" else None
    return np.array([VALUES[name], VALUES[name][::-1]], wide).astype(kind)
