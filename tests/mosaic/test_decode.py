"""A kernel decodes to plain values; a damaged one is an error with its name and never ends this process."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.ir import Operation
from dialect_utils.mosaic.decode import kernel_of, kernels_of
from dialect_utils.mosaic.kernel import Dense, describe_grid, describe_kernel
from dialect_utils.text import DiagnosticError
from tests.mosaic.kernels import TRIPLED, call_of


def call(text: str) -> Operation:
    (found,) = parse_module(text, "m.hlo").entry.operations
    return found


def test_a_kernel_has_its_grid_windows_and_ops() -> None:
    kernel = kernel_of(call(call_of(TRIPLED)))
    assert (kernel.name, kernel.grid, kernel.scalar_prefetch, kernel.scratch) == ("tripled", (3,), 0, 1)
    assert [(window.bounds, window.transform) for window in kernel.windows] == [((8, 128), "rows")] * 2
    assert [op.name for op in kernel.main.body.ops] == [
        "arith.constant",
        "vector.load",
        "arith.constant",
        "arith.mulf",
        "vector.store",
        "func.return",
    ]
    factor, product = kernel.main.body.ops[2:4]
    assert factor.attributes["value"] == Dense((3.0,))
    assert [operand.number for operand in product.operands] == [kernel.main.body.ops[1].results[0].number, 6]
    assert [str(value.type) for value in kernel.windowed] == ["memref<8x128xf32, #tpu.memory_space<vmem>>"] * 2
    assert kernel.op_count == 8


def test_an_op_is_rejected_at_its_location_in_the_kernels_text() -> None:
    kernel = kernel_of(call(call_of(TRIPLED)))
    error = kernel.refused(kernel.main.body.ops[3], "is not known here").diagnostics[0]
    assert error.message == "kernel tripled: arith.mulf is not known here"
    assert error.location is not None
    span = error.location.span
    assert error.location.source.text[span.start : span.end] == "arith.mulf"


def test_a_kernel_describes_itself() -> None:
    kernel = kernel_of(call(call_of(TRIPLED)))
    assert describe_grid(kernel) == "3 arbitrary"
    described = describe_kernel("k", kernel)
    assert "%arg1   operand   f32[8,128]{1,0:T(8,128)} in vmem, window 8x128 at @rows in blocks" in described
    assert "%arg3   scratch   s32[1]{0} in smem" in described
    assert "arith.mulf" in described


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"ML\xefR\x01MLIR23", "is not a valid Mosaic kernel"),
        (b"module {", "is not a valid Mosaic kernel"),
        (b"module {}", "holds no function"),
        (b"module { func.func @f() attributes {scratch_operands = 2 : i64} { return } }", "0 arguments"),
        (TRIPLED.replace("func.func @rows", "func.func @columns").encode(), "lacks the function @rows"),
    ],
)
def test_a_damaged_kernel_is_rejected_by_name(body: bytes, reason: str) -> None:
    with pytest.raises(DiagnosticError, match=f"(?s)the kernel of k.*{reason}"):
        kernel_of(call(call_of(body)))


def test_of_several_kernels_the_damaged_one_is_named() -> None:
    fine, damaged = call(call_of(TRIPLED)), call(call_of("module {").replace("ROOT k", "ROOT damaged"))
    with pytest.raises(DiagnosticError, match="the kernel of damaged") as caught:
        kernels_of([fine, damaged])
    assert [error.location is not None for error in caught.value.diagnostics] == [True]


def test_a_full_cache_keeps_the_kernels_of_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialect_utils.mosaic.decode._KEPT_READINGS", 0)
    known, new = call(call_of(TRIPLED)), call(call_of(TRIPLED.replace("@tripled", "@other")))
    kernel_of(known)
    assert [kernel.name for kernel in kernels_of([known, new])] == ["tripled", "other"]


@pytest.mark.parametrize("config", ["{}", '{"custom_call_config": 3}', "no json"])
def test_a_call_without_a_kernel_is_rejected(config: str) -> None:
    text = call_of(TRIPLED)
    start = text.index("backend_config=")
    with pytest.raises(DiagnosticError, match="custom call k"):
        kernel_of(call(text[:start] + f"backend_config={config}\n}}\n"))
