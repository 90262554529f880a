"""Single ops in kernels of text, each against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.make_portable import make_portable
from passes.framework.base import Report
from tests.mosaic.kernels import call_of

X = (np.arange(24 * 128, dtype=np.float32).reshape(24, 128) - 1500) / 64
WORDS = X.view(np.int32)
VMEM = "#tpu.memory_space<vmem>"
REF = f"memref<24x128xf32, {VMEM}>"
VECTOR = "vector<24x128xf32>"
INTEGERS = "vector<24x128xi32>"
SEMAPHORE = "memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>"


def kernel(body: str, scratch: str = "") -> str:
    """Returns a kernel with %x (the input's value) and %z (index 0), whose body defines %out or stores itself."""
    count = scratch.count("%") if scratch else 0
    store = "" if "%out_ref" in body else f"vector.store %out, %out_ref[%z, %z] : {REF}, {VECTOR}"
    return f"""module {{
  func.func @one(%in_ref: {REF}, %out_ref: {REF}{scratch}) attributes {{scratch_operands = {count} : i64}} {{
    %z = arith.constant 0 : index
    %x = vector.load %in_ref[%z, %z] : {REF}, {VECTOR}
    {body}
    {store}
    return
  }}
}}
"""


def run(worker: Worker, text: str) -> NDArray[Any]:
    module = parse_module(call_of(text), "m.hlo")
    make_portable(module, Report(), unwritten="poison")
    return np.asarray(worker.run(prepare(module, "m"), [[X]])[0][0])


def integer(body: str) -> str:
    """Wraps a body on the words %w, which defines %r, into one on floats."""
    return (
        f"%w = tpu.bitcast %x : {VECTOR} -> {INTEGERS}\n    {body}\n    %out = tpu.bitcast %r : {INTEGERS} -> {VECTOR}"
    )


UNSIGNED = WORDS.view(np.uint32)
CASES: dict[str, tuple[str, NDArray[Any]]] = {
    "exp2": (f"%out = math.exp2 %x : {VECTOR}", np.exp2(X)),
    "absf": (f"%out = math.absf %x : {VECTOR}", np.abs(X)),
    "copysign": (
        f"%a = math.absf %x : {VECTOR}\n    %out = math.copysign %a, %x : {VECTOR}",
        X,
    ),
    "unordered": (
        f"%c = arith.cmpf ult, %x, %n : {VECTOR}\n    %out = arith.select %c, %x, %n : vector<24x128xi1>, {VECTOR}",
        np.where(X < -X, X, -X),
    ),
    "rotate": (
        f"%k = arith.constant 3 : i32\n    %out = tpu.dynamic_rotate %x by %k dim 1 : {VECTOR}, i32 -> {VECTOR}",
        np.roll(X, 3, 1),
    ),
    "divui": (
        integer(f"%s = arith.constant dense<7> : {INTEGERS}\n    %r = arith.divui %w, %s : {INTEGERS}"),
        UNSIGNED // 7,
    ),
    "maxui": (
        integer(f"%s = arith.constant dense<7> : {INTEGERS}\n    %r = arith.maxui %w, %s : {INTEGERS}"),
        np.maximum(UNSIGNED, 7),
    ),
    "shrui": (
        integer(f"%s = arith.constant dense<7> : {INTEGERS}\n    %r = arith.shrui %w, %s : {INTEGERS}"),
        UNSIGNED >> 7,
    ),
    "shrsi": (
        integer(f"%s = arith.constant dense<7> : {INTEGERS}\n    %r = arith.shrsi %w, %s : {INTEGERS}"),
        WORDS >> 7,
    ),
    "floordivsi": (
        integer(f"%s = arith.constant dense<-7> : {INTEGERS}\n    %r = arith.floordivsi %w, %s : {INTEGERS}"),
        WORDS // -7,
    ),
    "ceildivsi": (
        integer(f"%s = arith.constant dense<7> : {INTEGERS}\n    %r = arith.ceildivsi %w, %s : {INTEGERS}"),
        -(-WORDS.astype(np.int64) // 7).astype(np.int32),
    ),
    "halves": (
        integer(
            "%h = tpu.bitcast %w : vector<24x128xi32> -> vector<48x128xi16>\n    "
            "%r = tpu.bitcast %h : vector<48x128xi16> -> vector<24x128xi32>"
        ),
        WORDS,
    ),
    "reduction": (
        f"%s = arith.constant dense<2.0> : vector<24xf32>\n    "
        f"%m = vector.multi_reduction <maximumf>, %x, %s [1] : {VECTOR} to vector<24xf32>\n    "
        f"%c = vector.shape_cast %m : vector<24xf32> to vector<24x1xf32>\n    "
        f"%out = vector.broadcast %c : vector<24x1xf32> to {VECTOR}",
        np.broadcast_to(np.maximum(X.max(1, keepdims=True), 2), X.shape),
    ),
    "if": (
        f"%c = arith.constant true\n    %out = scf.if %c -> ({VECTOR}) {{ scf.yield %x : {VECTOR} }} "
        f"else {{ scf.yield %n : {VECTOR} }}",
        X,
    ),
    "loop": (
        "%a = arith.constant 0 : i32\n    %b = arith.constant 9 : i32\n    %s = arith.constant 2 : i32\n    "
        f"%out = scf.for %i = %a to %b step %s iter_args(%v = %x) -> ({VECTOR}) : i32 {{\n      "
        f"%f = arith.sitofp %i : i32 to f32\n      %g = vector.broadcast %f : f32 to {VECTOR}\n      "
        f"%w = arith.addf %v, %g : {VECTOR}\n      scf.yield %w : {VECTOR}\n    }}",
        X + np.float32(20),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_op_computes_what_numpy_computes(name: str, worker: Worker) -> None:
    body, expected = CASES[name]
    found = run(worker, kernel(f"%n = arith.negf %x : {VECTOR}\n    {body}"))
    if expected.dtype != np.float32:
        assert np.array_equal(found.view(np.uint32), expected.astype(np.int64).astype(np.uint32))
    else:
        assert np.allclose(found, expected, rtol=1e-6)


def test_a_wait_that_never_ends_is_refused(worker: Worker) -> None:
    wait = f"tpu.wait_dma2 semaphore(%s : {SEMAPHORE}) src(%in_ref : {REF}) dst(%out_ref : {REF})"
    with pytest.raises(DiagnosticError, match=r"tpu\.wait_dma2 waits for ever: its semaphore holds 0"):
        run(worker, kernel(wait, f", %s: {SEMAPHORE}"))


def test_a_wait_that_may_not_end_gives_poison(worker: Worker) -> None:
    """The copy depends on the first element being positive, which it is not."""
    body = f"""%e = vector.extract %x[0, 0] : f32 from {VECTOR}
    %f = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %e, %f : f32
    scf.if %c {{
      tpu.enqueue_dma source(%in_ref : {REF}) target(%out_ref : {REF}) target_semaphore(%s : {SEMAPHORE})
    }}
    tpu.wait_dma2 semaphore(%s : {SEMAPHORE}) src(%in_ref : {REF}) dst(%out_ref : {REF})"""
    text = kernel(body, f", %s: {SEMAPHORE}")
    assert np.isnan(run(worker, text)).all()
    assert np.array_equal(run(worker, text.replace("cmpf ogt", "cmpf olt")), X)


@pytest.mark.parametrize(("comparison", "is_taken"), [("ogt", False), ("olt", True)])
@pytest.mark.parametrize("is_otherwise", [False, True])
def test_a_branch_replaces_a_part_without_copying_the_whole(
    comparison: str, is_taken: bool, is_otherwise: bool, worker: Worker
) -> None:
    row = f"""%v = vector.load %in_ref[%i, %z] : {REF}, vector<1x128xf32>
    %row = arith.negf %v : vector<1x128xf32>
    vector.store %row, %out_ref[%i, %z] : {REF}, vector<1x128xf32>"""
    branches = f"{{\n }} else {{\n {row}\n }}" if is_otherwise else f"{{\n {row}\n }}"
    body = f"""vector.store %x, %out_ref[%z, %z] : {REF}, {VECTOR}
    %i = arith.constant 5 : index
    %e = vector.extract %x[0, 0] : f32 from {VECTOR}
    %f = arith.constant 0.0 : f32
    %c = arith.cmpf {comparison}, %e, %f : f32
    scf.if %c {branches}"""
    module = parse_module(call_of(kernel(body)), "m.hlo")
    make_portable(module, Report())
    (line,) = [line for line in module.text().split("\n") if " conditional(" in line]
    assert "f32[24,128]" not in line.partition(" conditional(")[0]
    expected = X.copy()
    expected[5] = -X[5] if is_taken != is_otherwise else X[5]
    assert np.array_equal(run(worker, kernel(body)), expected)


def test_scratch_that_nothing_wrote_is_poison(worker: Worker) -> None:
    body = f"%out = vector.load %s[%z, %z] : {REF}, {VECTOR}"
    assert np.isnan(run(worker, kernel(body, f", %s: {REF}"))).all()
