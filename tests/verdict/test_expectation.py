"""How far outputs may be from expected ones."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.layout import parse_array_shape
from dialect_utils.verdict.differences import BITS, Tolerance
from dialect_utils.verdict.expectation import Allowance, Precision, allow_own_error, allowances, measure, precision_of

F32 = parse_array_shape("f32[4]")
HALF = Precision(2.0**-6, "operands")


def product(operands: str, result: str) -> str:
    return (
        f"HloModule m\nENTRY e {{\n  a = {operands}[4,4] parameter(0)\n"
        f"  ROOT d = {result}[4,4] dot(a, a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
    )


def library_product(target: str, operands: str, result: str) -> str:
    call = f'custom-call(a, a), custom_call_target="{target}"'
    return product(operands, result).replace("dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}", call)


@pytest.mark.parametrize(
    ("text", "share", "reason"),
    [
        (library_product("__cublas$lt$matmul", "bf16", "f32"), 2.0**-6, "operands of 16 bits"),
        (library_product("__cudnn$fmhaSoftmax", "f16", "f16"), 2.0**-5, "sums of 16 bits"),
        (library_product("__cublas$gemm", "f32", "f32"), 2.0**-17, "sums of f32"),
        (library_product("another", "bf16", "bf16"), 2.0**-17, "sums of f32"),
        (product("bf16", "bf16"), 2.0**-5, "sums of 16 bits"),
        (product("bf16", "f32"), 2.0**-6, "operands of 16 bits"),
        (product("f32", "f32"), 2.0**-17, "sums of f32"),
        (product("s8", "s32"), 2.0**-17, "sums of f32"),
        ("HloModule m\nENTRY e {\n  ROOT a = bf16[4] parameter(0)\n}\n", 2.0**-17, "sums of f32"),
    ],
)
def test_a_program_shows_its_precision(text: str, share: float, reason: str) -> None:
    assert precision_of(parse_module(text)) == Precision(share, reason)


def test_outputs_may_be_off_by_a_share_of_their_own_and_a_little_of_the_programs_largest() -> None:
    results = [F32, parse_array_shape("f32[1]"), parse_array_shape("s32[1]"), parse_array_shape("bf16[1]")]
    expected = [np.array([1e6, np.inf, np.nan, 0], np.float32), np.zeros(1, np.float32), np.ones(1, np.int32)]
    expected.append(np.ones(1, ml_dtypes.bfloat16))
    single = allowances(Precision(2.0**-17, "sums of f32"), results, expected)
    assert [each.tolerance.of_largest for each in single] == [2.0**-17, 2.0**-17, None, 2.0**-7]
    assert [each.tolerance.absolute for each in single] == [1.0, 1.0, 0.0, 1.0]
    assert [each.reason for each in single] == ["sums of f32", "sums of f32", "", "results of bf16"]
    near = np.array([0.9], np.float32)
    assert measure(near, expected[1], F32.element_type, single[1]).equal
    assert not measure(near * 2, expected[1], F32.element_type, single[1]).equal


def test_an_element_that_is_off_by_more_than_the_share_is_not_as_expected() -> None:
    [allowed] = allowances(HALF, [F32], [np.array([0, 1, 64, 2], np.float32)])
    expected = np.array([0, 1, 64, 2], np.float32)
    for off, equal in ((0.99, True), (1.01, False)):
        found = measure(expected + np.array([0, off, 0, 0], np.float32), expected, F32.element_type, allowed)
        assert found.equal == equal
        assert found.worst is not None
        assert found.worst[0] == pytest.approx(off / 64)
        assert found.worst[1] == (1,)
        answer = "as expected" if equal else "not as expected"
        assert str(found).startswith(
            f"{answer}, within 0.016 of the largest element (operands): 1 of 4 elements differ"
        )
    nan = measure(np.full(4, np.nan, np.float32), expected, F32.element_type, allowed)
    assert not nan.equal
    assert nan.worst == (np.inf, (0,))


def test_twice_the_own_error_is_allowed_up_to_a_half() -> None:
    allowed = Allowance(Tolerance(of_largest=0.01, absolute=0.5), "rule")
    output = np.array([1.0, 0.9], np.float32)
    for exact, share in (([1.0, 0.999], 0.198), ([1.0, 0.901], 0.01), ([1.0, 1.2], 0.01)):
        found = allow_own_error(allowed, output, np.array(exact), F32.element_type)
        assert found.tolerance.of_largest == pytest.approx(share, rel=1e-3)
        assert found.tolerance.absolute == 0.5
        assert (found.reason == "rule") == (share == 0.01)
    exactly = replace(allowed, tolerance=BITS)
    assert allow_own_error(exactly, output, output * 2, F32.element_type) is exactly
    empty = np.zeros(0, np.float32)
    assert allow_own_error(allowed, empty, empty, F32.element_type) is allowed
