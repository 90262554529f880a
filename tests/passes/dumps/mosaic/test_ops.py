"""Single ops in kernels of text, each against numpy."""

from __future__ import annotations

import math
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
from tests.passes.dump_files import UNOPTIMIZED

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
    return np.asarray(worker.run(prepare(module, "m"), [[X]], options=UNOPTIMIZED)[0][0])


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
    with pytest.raises(DiagnosticError, match=r"tpu\.wait_dma2 waits forever: its semaphore holds 0"):
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


# Ops on rows of a hundred numbers: %a and %b of both signs, %p positive, %i, %j and %k (1 to 7) integers.
ROW, INTEGER_ROW = "vector<1x128xf32>", "vector<1x128xi32>"
A, B = X[11:12], X[12:13]
P = np.abs(A) + np.float32(0.5)
INTEGER_A, INTEGER_B = (A * 64).astype(np.int32), (B * 16).astype(np.int32) * 2 + 1
K = (np.abs(INTEGER_A) % 7 + 1).astype(np.int32)
UNSIGNED_A, UNSIGNED_B = INTEGER_A.view(np.uint32), INTEGER_B.view(np.uint32)
ROWS_OF = f"""%in11 = arith.constant 11 : index
    %in12 = arith.constant 12 : index
    %a = vector.load %in_ref[%in11, %z] : {REF}, {ROW}
    %b = vector.load %in_ref[%in12, %z] : {REF}, {ROW}
    %half = arith.constant dense<0.5> : {ROW}
    %size = math.absf %a : {ROW}
    %p = arith.addf %size, %half : {ROW}
    %s64 = arith.constant dense<64.0> : {ROW}
    %a64 = arith.mulf %a, %s64 : {ROW}
    %i = arith.fptosi %a64 : {ROW} to {INTEGER_ROW}
    %s16 = arith.constant dense<16.0> : {ROW}
    %b16 = arith.mulf %b, %s16 : {ROW}
    %b16i = arith.fptosi %b16 : {ROW} to {INTEGER_ROW}
    %one = arith.constant dense<1> : {INTEGER_ROW}
    %two = arith.constant dense<2> : {INTEGER_ROW}
    %b32i = arith.muli %b16i, %two : {INTEGER_ROW}
    %j = arith.addi %b32i, %one : {INTEGER_ROW}
    %sizei = math.absi %i : {INTEGER_ROW}
    %seven = arith.constant dense<7> : {INTEGER_ROW}
    %rest = arith.remsi %sizei, %seven : {INTEGER_ROW}
    %k = arith.addi %rest, %one : {INTEGER_ROW}"""


def half_away(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.copysign(np.floor(np.abs(x) + 0.5), x))


FLOAT_OPS: dict[str, NDArray[Any]] = {
    "arith.addf %a, %b": A + B,
    "arith.subf %a, %b": A - B,
    "arith.mulf %a, %b": A * B,
    "arith.divf %a, %p": A / P,
    "arith.remf %a, %half": np.fmod(A, 0.5),
    "arith.maximumf %a, %b": np.maximum(A, B),
    "arith.minimumf %a, %b": np.minimum(A, B),
    "arith.maxnumf %a, %b": np.fmax(A, B),
    "arith.minnumf %a, %b": np.fmin(A, B),
    "arith.negf %a": -A,
    "math.powf %p, %a": P**A,
    "math.atan2 %a, %b": np.arctan2(A, B),
    "math.absf %a": np.abs(A),
    "math.exp %a": np.exp(A),
    "math.expm1 %a": np.expm1(A),
    "math.log %p": np.log(P),
    "math.log1p %p": np.log1p(P),
    "math.log2 %p": np.log2(P),
    "math.exp2 %a": np.exp2(A),
    "math.sqrt %p": np.sqrt(P),
    "math.rsqrt %p": 1 / np.sqrt(P),
    "math.cbrt %a": np.cbrt(A),
    "math.tanh %a": np.tanh(A),
    "math.sin %a": np.sin(A),
    "math.cos %a": np.cos(A),
    "math.tan %a": np.tan(A),
    "math.erf %a": np.vectorize(math.erf)(A),
    "math.ceil %b": np.ceil(B),
    "math.floor %b": np.floor(B),
    "math.round %b": half_away(B),
    "math.roundeven %b": np.rint(B),
    "math.fma %a, %b, %p": A * B + P,
    "math.copysign %a, %b": np.copysign(A, B),
    "tpu.reciprocal %p": 1 / P,
}
INTEGER_OPS: dict[str, NDArray[Any]] = {
    "arith.addi %i, %j": INTEGER_A + INTEGER_B,
    "arith.subi %i, %j": INTEGER_A - INTEGER_B,
    "arith.muli %i, %j": INTEGER_A * INTEGER_B,
    "arith.divsi %i, %j": np.trunc(INTEGER_A / INTEGER_B),
    "arith.remsi %i, %j": np.fmod(INTEGER_A, INTEGER_B),
    "arith.maxsi %i, %j": np.maximum(INTEGER_A, INTEGER_B),
    "arith.minsi %i, %j": np.minimum(INTEGER_A, INTEGER_B),
    "arith.andi %i, %j": INTEGER_A & INTEGER_B,
    "arith.ori %i, %j": INTEGER_A | INTEGER_B,
    "arith.xori %i, %j": INTEGER_A ^ INTEGER_B,
    "arith.divui %i, %j": UNSIGNED_A // UNSIGNED_B,
    "arith.remui %i, %j": UNSIGNED_A % UNSIGNED_B,
    "arith.maxui %i, %j": np.maximum(UNSIGNED_A, UNSIGNED_B),
    "arith.minui %i, %j": np.minimum(UNSIGNED_A, UNSIGNED_B),
    "arith.shli %i, %k": INTEGER_A << K,
    "arith.shrsi %i, %k": INTEGER_A >> K,
    "arith.shrui %i, %k": UNSIGNED_A >> K.view(np.uint32),
    "arith.floordivsi %i, %j": INTEGER_A // INTEGER_B,
    "arith.ceildivsi %i, %j": -(-INTEGER_A // INTEGER_B),
    "math.absi %i": np.abs(INTEGER_A),
    "math.ctpop %k": np.vectorize(lambda each: int(each).bit_count())(K),
    "math.ctlz %k": 32 - np.vectorize(lambda each: int(each).bit_length())(K),
}


def rows_of(worker: Worker, ops: list[str], kind: str) -> NDArray[Any]:
    """Returns what each op makes of the rows, a row of the result for each."""
    lines = [ROWS_OF]
    for number, op in enumerate(ops):
        lines += [
            f"%at{number} = arith.constant {number} : index",
            f"%r{number} = {op} : {kind}{f' -> {kind}' * op.startswith('tpu.')}",
        ]
        found = f"%r{number}"
        if kind == INTEGER_ROW:
            lines.append(f"%f{number} = tpu.bitcast %r{number} : {INTEGER_ROW} -> {ROW}")
            found = f"%f{number}"
        lines.append(f"vector.store {found}, %out_ref[%at{number}, %z] : {REF}, {ROW}")
    return run(worker, kernel("\n    ".join(lines)))[: len(ops)]


@pytest.mark.parametrize("begin", [0, 17])
def test_float_ops_compute_what_numpy_computes(begin: int, worker: Worker) -> None:
    ops = list(FLOAT_OPS)[begin : begin + 17]
    for op, found in zip(ops, rows_of(worker, ops, ROW), strict=True):
        assert np.allclose(found, FLOAT_OPS[op][0], rtol=3e-6, atol=1e-6), op


def test_integer_ops_compute_what_numpy_computes(worker: Worker) -> None:
    ops = list(INTEGER_OPS)
    for op, found in zip(ops, rows_of(worker, ops, INTEGER_ROW), strict=True):
        expected = INTEGER_OPS[op][0].astype(np.int64).astype(np.uint32)
        assert np.array_equal(found.view(np.uint32), expected), op


SIGNED, WITHOUT_SIGN = ("eq", "ne", "slt", "sle", "sgt", "sge"), ("ult", "ule", "ugt", "uge")
ORDERED = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")
NUMPY = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


def test_comparisons_of_integers_by_every_predicate(worker: Worker) -> None:
    """The result is a sum of powers of two, one for each predicate that holds."""
    lines = [f"%sum0 = arith.constant dense<0> : {INTEGER_ROW}", f"%zero = arith.constant dense<0> : {INTEGER_ROW}"]
    expected = np.zeros_like(INTEGER_A)
    lines += [
        f"%three = arith.constant dense<3> : {INTEGER_ROW}",
        f"%u = arith.andi %i, %three : {INTEGER_ROW}",
        f"%v0 = arith.andi %k, %three : {INTEGER_ROW}",
        f"%v = arith.subi %v0, %two : {INTEGER_ROW}",
    ]
    u, v = INTEGER_A & 3, (K & 3) - 2
    for number, predicate in enumerate((*SIGNED, *WITHOUT_SIGN)):
        lines += [
            f"%c{number} = arith.cmpi {predicate}, %u, %v : {INTEGER_ROW}",
            f"%w{number} = arith.constant dense<{1 << number}> : {INTEGER_ROW}",
            f"%t{number} = arith.select %c{number}, %w{number}, %zero : vector<1x128xi1>, {INTEGER_ROW}",
            f"%sum{number + 1} = arith.addi %sum{number}, %t{number} : {INTEGER_ROW}",
        ]
        left, right = (u.view(np.uint32), v.view(np.uint32)) if predicate in WITHOUT_SIGN else (u, v)
        expected += getattr(np, NUMPY[predicate[-2:]])(left, right) * (1 << number)
    lines += [f"%f = tpu.bitcast %sum10 : {INTEGER_ROW} -> {ROW}", f"vector.store %f, %out_ref[%z, %z] : {REF}, {ROW}"]
    found = run(worker, kernel("\n    ".join([ROWS_OF, *lines])))[0]
    assert np.array_equal(found.view(np.int32), expected[0])


def test_comparisons_of_floats_by_every_predicate(worker: Worker) -> None:
    """Some numbers are equal, and some are NaN."""
    lines = [
        f"%four = arith.constant dense<4.0> : {ROW}",
        f"%b4 = arith.mulf %b, %four : {ROW}",
        f"%u = math.floor %b4 : {ROW}",
        f"%twof = arith.constant dense<2.0> : {ROW}",
        f"%u2 = arith.subf %u, %twof : {ROW}",
        f"%nan = arith.divf %u2, %u2 : {ROW}",  # 0 / 0 is NaN
        f"%five = arith.constant dense<5.0> : {ROW}",
        f"%v2 = arith.mulf %nan, %five : {ROW}",
        f"%sum0 = arith.constant dense<0.0> : {ROW}",
        f"%zero = arith.constant dense<0.0> : {ROW}",
    ]
    u = np.floor(B * 4)
    with np.errstate(invalid="ignore"):
        v = (u - 2) / (u - 2) * np.float32(5)
    assert np.isnan(v).any()
    assert (u == v).any()
    either = np.isnan(u) | np.isnan(v)
    expected = np.zeros_like(A)
    for number, predicate in enumerate(ORDERED):
        lines += [
            f"%c{number} = arith.cmpf {predicate}, %u, %v2 : {ROW}",
            f"%w{number} = arith.constant dense<{float(1 << number)}> : {ROW}",
            f"%t{number} = arith.select %c{number}, %w{number}, %zero : vector<1x128xi1>, {ROW}",
            f"%sum{number + 1} = arith.addf %sum{number}, %t{number} : {ROW}",
        ]
        if predicate in ("ord", "uno"):
            holds = either == (predicate == "uno")
        else:
            holds = getattr(np, NUMPY[predicate[1:]])(u, v)
            holds = holds | either if predicate[0] == "u" else holds & ~either
        expected += holds * np.float32(1 << number)
    lines.append(f"vector.store %sum{len(ORDERED)}, %out_ref[%z, %z] : {REF}, {ROW}")
    found = run(worker, kernel("\n    ".join([ROWS_OF, *lines])))[0]
    assert np.array_equal(found, expected[0])
