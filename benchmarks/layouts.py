"""Measures the layout room: packing, index maps, proofs and verdicts, as ratios within one run.

Run: python -m benchmarks.layouts
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.arrays.pack import pack, unpack
from dialect_utils.layout.index.index_map import linear_indices
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.proof.bitcast_proof import prove_bitcast, prove_injective, prove_layout

ROUNDS = 9


def best(run: Callable[[], object]) -> float:
    """Returns the shortest of several times, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def naive(array: NDArray[Any], rows: int, columns: int, packing: int) -> NDArray[Any]:
    """Packs by numpy's pad, reshape and transpose, as anybody writes it first."""
    padded = np.pad(array, ((0, -array.shape[0] % rows), (0, -array.shape[1] % columns)))
    height, width = padded.shape
    split = padded.reshape(height // rows, rows // packing, packing, width // columns, columns)
    return np.ascontiguousarray(split.transpose(0, 3, 1, 4, 2))


def packing() -> None:
    print("pack, times faster than pad + reshape + transpose (new memory / given memory), unpack in ms")
    cases = [
        ("f32[4096,4096]{1,0:T(8,128)}", 8, 1),
        ("bf16[4096,4096]{1,0:T(8,128)(2,1)}", 8, 2),
        ("s8[4096,4096]{1,0:T(8,128)(4,1)}", 8, 4),
        ("f32[4001,4050]{1,0:T(8,128)}", 8, 1),
        ("bf16[4001,4050]{1,0:T(8,128)(2,1)}", 8, 2),
        ("s8[4001,4050]{1,0:T(8,128)(4,1)}", 8, 4),
    ]
    for text, rows, factor in cases:
        shape = parse_array_shape(text)
        bits = np.random.default_rng(0).integers(0, 255, shape.dimensions)
        array = bits.astype(f"u{shape.element_type.storage_bytes}")
        packed = pack(array, shape)
        assert np.array_equal(packed.ravel(), naive(array, rows, 128, factor).ravel())
        slow = best(lambda array=array, rows=rows, factor=factor: naive(array, rows, 128, factor))  # type: ignore[misc]
        new = best(lambda array=array, shape=shape: pack(array, shape))  # type: ignore[misc]
        given = best(lambda array=array, shape=shape, packed=packed: pack(array, shape, out=packed))  # type: ignore[misc]
        back = best(lambda packed=packed, shape=shape: unpack(packed, shape))  # type: ignore[misc]
        print(f"  {text:40} {slow / new:5.2f} / {slow / given:5.2f}   {back * 1e3:6.1f}")


def index_maps() -> None:
    print("linear_indices, million elements a second, and times what numpy's fill of the same memory takes")
    print(f"{'':48}new memory      given memory")
    for text in (
        "f32[1024,1024]{1,0:T(8,128)}",
        "f32[8192,4096]{1,0:T(8,128)}",
        "bf16[8001,4001]{1,0:T(8,128)(2,1)}",
        "f32[64,100,512]{2,1,0:T(8,128)}",
        "f32[200,8,10,20,5]{4,3,2,1,0:T(*,*,2,*,3)}",
    ):
        shape = parse_array_shape(text)
        out = np.zeros(shape.dimensions, np.int64)
        fresh = best(lambda shape=shape: np.full(shape.dimensions, 7, np.int64))  # type: ignore[misc]
        fill = best(lambda out=out: out.fill(7))  # type: ignore[misc]
        new = best(lambda shape=shape: linear_indices(shape))  # type: ignore[misc]
        given = best(lambda shape=shape, out=out: linear_indices(shape, out=out))  # type: ignore[misc]
        rates = [
            f"{shape.element_count / t / 1e6:6.0f} ({t / reference:4.2f})"
            for t, reference in ((new, fresh), (given, fill))
        ]
        print(f"  {text:44}  {rates[0]}   {rates[1]}")


def proofs() -> None:
    print("proofs on [100003,70001], milliseconds: plan is the layout, layout is injective")
    for text in (
        "f32[100003,70001]{1,0:T(8,128)}",
        "bf16[100003,70001]{1,0:T(8,128)(2,1)}",
        "bf16[100003,70001]{1,0:T(8,128)(2,1,1,1)}",
    ):
        shape = parse_array_shape(text)
        plan = physical_plan(shape)
        first = best(lambda plan=plan, shape=shape: prove_layout(plan, shape)) * 1e3  # type: ignore[misc]
        second = best(lambda shape=shape: prove_injective(shape)) * 1e3  # type: ignore[misc]
        print(f"  {text:44} {first:6.2f} {second:6.2f}")


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
    packing()
    index_maps()
    proofs()
    bitcasts()
