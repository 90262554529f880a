"""The rewrite that rounds operands of products to bf16: which it rounds, and to what."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dialect_utils.execution import Program, Worker

# Numbers 0, 1 and 2 may be rounded; 1 is equal to 0. The others are of another precision or type.
TEXT = """
func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>, %c: tensor<3x4xbf16>) -> (tensor<3x2xf32>, tensor<3x2xf32>,
    tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
    : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %4 = stablehlo.dot_general %c, %c, contracting_dims = [1] x [1]
    : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> tensor<3x3xf32>
  return %0, %1, %2, %3, %4 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>
}
"""


def test_the_operands_of_each_product_are_rounded_on_their_own(worker: Worker) -> None:
    program = Program(TEXT, "stablehlo", "m")
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=sizes).astype(np.float32) for sizes in ((3, 4), (4, 2)))
    narrow = [each.astype(ml_dtypes.bfloat16).astype(np.float32) for each in (a, b)]
    inputs = [a, b, a.astype(ml_dtypes.bfloat16)]
    plain = worker.run(program, [inputs])[0]
    for number in range(3):
        for side in range(2):
            rounded, numbers = worker.rewrite("round", program, operands=1 << (2 * number + side))
            assert numbers == (0, 0, 0, 0, 2, 1)
            found = worker.run(rounded, [inputs])[0]
            for output, (before, after) in enumerate(zip(plain, found, strict=True)):
                wanted = (narrow[0] if side == 0 else a) @ (narrow[1] if side == 1 else b)
                assert np.array_equal(before, after) == (output != number)
                if output == number:
                    np.testing.assert_allclose(after, wanted, rtol=1e-5, atol=1e-6)
