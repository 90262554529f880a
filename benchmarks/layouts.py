"""Measures the layout package: reading shapes, index maps, verdicts and proofs of bitcasts.

Run: python -m benchmarks.layouts
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.index.index_map import linear_indices
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.proof.bitcast_proof import prove_bitcast
from dialect_utils.layout.text.grammar import ShapeParser
from dialect_utils.layout.text.parse import try_common_shape
from dialect_utils.text import Source

ROUNDS = 9


def best(run: Callable[[], object]) -> float:
    """Returns the shortest of several times, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def texts() -> None:
    print("shapes read, microseconds: by a regular expression, by the grammar")
    for text in ("f32[3,5]", "bf16[8001,4001]{1,0:T(8,128)(2,1)S(1)}", "(f32[3,5]{1,0}, s32[], pred[7]{0:T(512)})"):
        source = Source("<shape>", text)
        read = best(lambda text=text: [try_common_shape(text) for _ in range(1000)])  # type: ignore[misc]
        slow = best(lambda source=source: [ShapeParser(source).whole_shape() for _ in range(100)])  # type: ignore[misc]
        print(f"  {text:44}  {read * 1e3:6.2f} {slow * 1e4:6.2f}")


def index_maps() -> None:
    print("linear_indices, million elements a second, and times what numpy's fill of the same memory takes")
    for text in (
        "f32[1024,1024]{1,0:T(8,128)}",
        "f32[8192,4096]{1,0:T(8,128)}",
        "bf16[8001,4001]{1,0:T(8,128)(2,1)}",
        "f32[64,100,512]{2,1,0:T(8,128)}",
        "f32[200,8,10,20,5]{4,3,2,1,0:T(*,*,2,*,3)}",
    ):
        shape = parse_array_shape(text)
        fill = best(lambda shape=shape: np.full(shape.dimensions, 7, np.int64))  # type: ignore[misc]
        found = best(lambda shape=shape: linear_indices(shape))  # type: ignore[misc]
        print(f"  {text:44}  {shape.element_count / found / 1e6:6.0f} ({found / fill:4.2f})")


def bitcasts() -> None:
    print("bitcasts, milliseconds: verdict (not cached), proof")
    pairs = [
        ("bf16[100008,70016]{1,0:T(8,128)(2,1)}", "bf16[12501,8,70016]{2,1,0:T(8,128)(2,1)}"),
        ("bf16[100008,70016]{1,0:T(8,128)(2,1)}", "f32[50004,70016]{1,0:T(4,128)}"),
        ("s32[2,512]{1,0:T(2,128)}", "s32[1,4,2,128]{3,2,1,0:T(2,128)}"),
    ]
    for a, b in pairs:
        source, destination = parse_array_shape(a), parse_array_shape(b)
        verdict = classify_bitcast.__wrapped__
        fresh = best(lambda s=source, d=destination, v=verdict: v(s, d)) * 1e3  # type: ignore[misc]
        proof = best(lambda s=source, d=destination: prove_bitcast(s, d)) * 1e3  # type: ignore[misc]
        print(f"  {a} -> {b}: {classify_bitcast(source, destination).verdict} {fresh:6.2f} {proof:6.2f}")


if __name__ == "__main__":
    texts()
    index_maps()
    bitcasts()
