"""A module may call only listed targets, with their operands, results and attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dialect_utils.execution import Array, ForbiddenCallError, Worker, prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.verdict import Options, compare_modules

# Reads the address 8 * index of the executing process.
CALLBACK_MLIR = """func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {
    backend_config = {index = 99 : ui64}, api_version = 4 : i32} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
CALLBACK_HLO = """HloModule m

ENTRY main {
  p = f32[8] parameter(0)
  ROOT c = f32[8] custom-call(p), custom_call_target="xla_ffi_python_cpu_callback",
    api_version=API_VERSION_TYPED_FFI, backend_config={index = 99 : ui64}
}
"""

ROUTINES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "cholesky": (jax.lax.linalg.cholesky, ((2, 4, 4),)),
    "qr": (lambda x: jax.lax.linalg.qr(x, full_matrices=False), ((5, 3),)),
    "qr with pivots": (lambda x: jax.lax.linalg.qr(x, pivoting=True, full_matrices=False), ((5, 3),)),
    "svd": (lambda x: jax.lax.linalg.svd(x, full_matrices=False), ((2, 5, 3),)),
    "svd full": (lambda x: jax.lax.linalg.svd(x, full_matrices=True), ((3, 5),)),
    "svd by qr": (
        lambda x: jax.lax.linalg.svd(x, full_matrices=False, algorithm=jax.lax.linalg.SvdAlgorithm.QR),
        ((5, 3),),
    ),
    "eigh": (jax.lax.linalg.eigh, ((4, 4),)),
    "eig": (jax.lax.linalg.eig, ((4, 4),)),
    "lu": (jax.lax.linalg.lu, ((5, 3),)),
    "schur": (jax.lax.linalg.schur, ((4, 4),)),
    "hessenberg": (jax.lax.linalg.hessenberg, ((4, 4),)),
    "tridiagonal": (jax.lax.linalg.tridiagonal, ((4, 4),)),
    "tridiagonal solve": (jax.lax.linalg.tridiagonal_solve, ((5,), (5,), (5,), (5, 2))),
    "triangular solve": (
        lambda a, b: jax.lax.linalg.triangular_solve(a, b, left_side=False, lower=True),
        ((4, 4), (3, 4)),
    ),
    "householder": (jax.lax.linalg.householder_product, ((5, 3), (3,))),
}
# One fault each: the text to replace in JAX's lowering of the SVD, the new text, and the message.
FAULTS = {
    "smaller result": ("5x3xf32>, tensor<3xf32>", "1x3xf32>, tensor<3xf32>", r"result 0 is f32\[1,3\]"),
    "another type": ("tensor<3xf32>, tensor<5", "tensor<3xf64>, tensor<5", r"result 1 is f64\[3\], but f32\[3\]"),
    "another mode": ("mode = 83 : ui8", "mode = 65 : ui8", r"result 2 is f32\[5,3\]"),
    "no known mode": ("mode = 83 : ui8", "mode = 1 : ui8", "its attribute mode is 1, but may be"),
    "no mode": ("mode = 83 : ui8", "", "its attributes are none, but mode are needed"),
    "one more": ("mode = 83 : ui8", "mode = 83 : ui8, a = 1 : ui8", "its attributes are a, mode"),
    "no number": ("mode = 83 : ui8", 'mode = "S"', "which is no list of numbers"),
    "another routine": ("lapack_sgesdd_ffi", "lapack_sgetrf_ffi", "its attributes are mode, but none are needed"),
    "a routine not on the list": ("lapack_sgesdd_ffi", "lapack_sgesddx_ffi", "must not run here"),
}


def read(text: str, name: str = "m") -> Module:
    return parse_bytes(text.encode(), name)


CALLBACK_STARTED = """HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  s = ((f32[8]), f32[8], u32[]) custom-call-start(p), custom_call_target="xla_ffi_python_cpu_callback"
  ROOT d = f32[8] custom-call-done(s)
}
"""


def lowered(name: str, dialect: str, kind: Any = jnp.float32) -> str:
    function, shapes = ROUTINES[name]
    arguments = [jax.ShapeDtypeStruct(shape, kind) for shape in shapes]
    return str(jax.jit(function).lower(*arguments).as_text("hlo" if dialect == "hlo" else None))


@pytest.mark.parametrize("text", [CALLBACK_MLIR, CALLBACK_HLO, CALLBACK_STARTED], ids=["stablehlo", "hlo", "async"])
def test_a_call_of_another_target_is_rejected_with_name_and_location(text: str) -> None:
    expected = r"^m:\d+:\d+: error: the custom call xla_ffi_python_cpu_callback must not run here"
    with pytest.raises(ForbiddenCallError, match=expected):
        prepare(read(text), "m")


@pytest.mark.parametrize("engines", [("proof", "xla"), ("proof",), ("xla",)])
@pytest.mark.parametrize("text", [CALLBACK_MLIR, CALLBACK_HLO, CALLBACK_STARTED], ids=["stablehlo", "hlo", "async"])
def test_a_call_that_must_not_run_is_never_proved(text: str, engines: Any) -> None:
    with pytest.raises(ForbiddenCallError):
        compare_modules(read(text), read(text), Options(engines=engines))


def test_the_worker_rejects_it_too(worker: Worker) -> None:
    """The worker rejects a call that only XLA's parser finds."""
    from dialect_utils.execution import ExecutionError, Program

    with pytest.raises(ExecutionError, match="xla_ffi_python_cpu_callback must not run") as caught:
        worker.run(Program(CALLBACK_MLIR, "stablehlo"), [[np.zeros(8, np.float32)]])
    assert caught.value.failure == "unsupported"


def test_the_interpreters_own_operations_write_files_and_are_rejected() -> None:
    text = """func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "interpreter.probe"(%a) {probe_id = "../x"} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(ForbiddenCallError, match=r"^m:2:\d+: error: interpreter\.probe"):
        prepare(read(text), "m")


@pytest.mark.parametrize("name", ROUTINES)
def test_jax_lowerings_give_the_results_of_jax(worker: Worker, name: str) -> None:
    function, shapes = ROUTINES[name]
    rng = np.random.default_rng(1)
    arrays: list[Array] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    if name == "cholesky":
        arrays = [array @ array.transpose(0, 2, 1) + 4 * np.eye(4, dtype=np.float32) for array in arrays]
    expected = jax.tree.leaves(jax.jit(function)(*arrays))
    for dialect in ("hlo", "stablehlo"):
        program = prepare(read(lowered(name, dialect)), "m")
        [outputs] = worker.run(program, [arrays])
        for output, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(output, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["cholesky", "qr", "svd", "eigh", "eig", "lu", "schur", "tridiagonal"])
def test_complex_types_are_accepted(name: str) -> None:
    for dialect in ("hlo", "stablehlo"):
        prepare(read(lowered(name, dialect, jnp.complex64)), "m")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_call_is_rejected_before_its_kernel_runs(fault: str) -> None:
    old, new, message = FAULTS[fault]
    call = """func.func public @main(%a: tensor<5x3xf32>) -> tensor<i32> {
      %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {
        mhlo.backend_config = {mode = 83 : ui8}, api_version = 4 : i32}
        : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<5x3xf32>, tensor<3x3xf32>, tensor<i32>)
      return %0#4 : tensor<i32>
    }"""
    assert call.count(old) == 1
    prepare(read(call), "m")
    with pytest.raises(ForbiddenCallError, match=message):
        prepare(read(call.replace(old, new)), "m")


def test_a_wrong_call_in_hlo_is_rejected_at_its_location() -> None:
    text = lowered("cholesky", "hlo")
    module = prepare(read(text), "m")
    assert "lapack_spotrf_ffi" in str(module.text)
    wrong = re.sub(r"\(f32\[2,4,4\]\{\S+\}, s32\[2\]", "(f32[2,2,2]{1,2,0}, s32[2]", text)
    assert wrong != text
    with pytest.raises(ForbiddenCallError, match=r"result 0 is f32\[2,2,2\], but f32\[2,4,4\] is needed"):
        prepare(read(wrong), "m")


@pytest.mark.parametrize("target", ["Sharding", "MoveToHost"])
def test_an_identity_returns_its_operand(worker: Worker, target: str) -> None:
    text = f"""func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
      %0 = stablehlo.custom_call @{target}(%a) {{mhlo.sharding = "{{replicated}}"}} : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }}"""
    [[output]] = worker.run(prepare(read(text), "m"), [[np.ones(2, np.float32)]])
    assert list(output) == [1, 1]
    with pytest.raises(ForbiddenCallError, match="it returns its operand"):
        prepare(
            read(text.replace("-> tensor<2xf32>", "-> tensor<3xf32>").replace("%0 : tensor<2", "%0 : tensor<3")), "m"
        )
