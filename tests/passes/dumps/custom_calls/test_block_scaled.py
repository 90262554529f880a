"""Products with scales for blocks equal numpy's products of the scaled operands."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.expand_custom_calls import expand_custom_calls
from tests.passes.dump_files import UNOPTIMIZED

SHAPES = ("f32[2,3,8]", "f32[2,5,8]", "f32[2,3,2]", "f32[2,5,4]", "f32[]")
DIMS = ((2, 3, 8), (2, 5, 8), (2, 3, 2), (2, 5, 4), ())


def text_of(attributes: str = "", result: str = "f32[2,3,5]", first: str = SHAPES[0]) -> str:
    lines = [f"  p{i} = {shape} parameter({i})" for i, shape in enumerate((first, *SHAPES[1:]))]
    call = f'{result} custom-call(p0, p1, p2, p3, p4), custom_call_target="__op$block_scaled_dot"{attributes}'
    return "HloModule m\nENTRY e {\n" + "\n".join([*lines, f"  ROOT r = {call}"]) + "\n}\n"


def test_a_product_of_scaled_blocks() -> None:
    rng = np.random.default_rng(0)
    inputs = [np.asarray(rng.integers(-4, 5, dims), np.float32) for dims in DIMS]
    module = parse_module(text_of())
    expand_custom_calls(module)
    with Worker() as worker:
        (found,) = worker.run(prepare(module, "<test>"), [inputs], options=UNOPTIMIZED)[0]
    a, b, a_scale, b_scale, scale = inputs
    left, right = a * np.repeat(a_scale, 4, -1), b * np.repeat(b_scale, 2, -1)
    assert (found == np.einsum("bik,bjk->bij", left, right) * scale).all()


@pytest.mark.parametrize(
    "text", [text_of(', backend_config={"dimension_numbers":{}}'), text_of(first="f32[2,3,9]"), text_of(first="f32[]")]
)
def test_other_forms_are_refused_by_name(text: str) -> None:
    with pytest.raises(DiagnosticError, match=r"calls __op\$block_scaled_dot, but"):
        expand_custom_calls(parse_module(text))
