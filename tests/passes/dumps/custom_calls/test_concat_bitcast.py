"""ConcatBitcast equals the concatenated bytes of the operands, packed with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.layout import ArrayShape, parse_array_shape
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.text import DiagnosticError
from passes.dumps.make_portable import make_portable
from tests.layout.packing import pack, unpack
from tests.passes.dump_files import UNOPTIMIZED

PLAIN = {"bf16": "u2", "s16": "i2", "s8": "i1", "s32": "i4", "u32": "u4", "f32": "u4"}


def text_of(result: str, *operands: str) -> str:
    lines = [f"  p{i} = {shape} parameter({i})" for i, shape in enumerate(operands)]
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    call = f'  ROOT r = {result} custom-call({names}), custom_call_target="ConcatBitcast"'
    return "HloModule m, is_scheduled=true\nENTRY e {\n" + "\n".join([*lines, call]) + "\n}\n"


def expected(result: ArrayShape, shapes: list[ArrayShape], inputs: list[NDArray[Any]]) -> NDArray[Any]:
    memory = b"".join(pack(array, shape).tobytes() for array, shape in zip(inputs, shapes, strict=True))
    dtype = PLAIN[result.element_type.name]
    found: NDArray[Any] = unpack(np.frombuffer(memory, dtype).reshape(physical_plan(result).result[1]), result)
    return found


@pytest.mark.parametrize(
    ("result", "operands"),
    [
        ("bf16[16,128]{1,0:T(8,128)(2,1)}", ("s8[8,256]{1,0:T(8,128)(4,1)}", "s8[16,128]{1,0:T(8,128)(4,1)}")),
        ("s8[64,128]{1,0:T(32,128)(4,1)}", ("bf16[16,128]{1,0:T(8,128)(2,1)}", "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}")),
        ("s32[16,128]{1,0:T(8,128)}", ("u32[8,128]{1,0:T(8,128)}", "u32[1024]{0:T(1024)}")),
    ],
)
def test_bytes_in_a_row_are_read_as_another_type(result: str, operands: tuple[str, ...]) -> None:
    shapes = [parse_array_shape(text) for text in operands]
    rng = np.random.default_rng(0)
    # Only half the values of a byte, so that no float is NaN, whose bits an engine may change.
    inputs = [
        rng.integers(0, 100, (*shape.dimensions, shape.element_type.bits // 8), np.uint8)
        .view(PLAIN[shape.element_type.name])
        .reshape(shape.dimensions)
        for shape in shapes
    ]
    module = parse_module(text_of(result, *operands))
    make_portable(module)
    import ml_dtypes

    given = [
        a.view(ml_dtypes.bfloat16) if s.element_type.name == "bf16" else a for a, s in zip(inputs, shapes, strict=True)
    ]
    with Worker() as worker:
        (found,) = worker.run(prepare(module, "<test>"), [given], options=UNOPTIMIZED)[0]
    wanted = expected(parse_array_shape(result), shapes, inputs)
    assert (found.view(wanted.dtype) == wanted).all()


@pytest.mark.parametrize(
    ("result", "operands", "message"),
    [
        ("bf16[16,128]{1,0:T(8,128)(2,1)}", ("s8[8,128]{1,0:T(8,128)(4,1)}",), "joins 1024 elements in memory"),
        ("bf16[8,128]{1,0:T(8,128)(2,1)}", ("s8[15,128]{1,0:T(8,128)(4,1)}",), "reads padding of its operands"),
        ("s32[8,128]{1,0:T(8,128)}", ("s4[64,128]{1,0:T(64,128)(8,1)E(4)}",), "reads s4 as s32"),
        ("s32[8,128]{1,0:T(8,128)}", ("s8[8,128]{1,0}", "s16[8,192]{1,0}"), "joins s16 and s8"),
    ],
)
def test_operands_with_other_bytes_than_the_result_are_rejected(
    result: str, operands: tuple[str, ...], message: str
) -> None:
    with pytest.raises(DiagnosticError, match=f"ConcatBitcast r {message}"):
        make_portable(parse_module(text_of(result, *operands)))
