"""Calls are inlined, because the rewrites in the worker change main only."""

from __future__ import annotations

import numpy as np

from dialect_utils.execution import Program, Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.rewrites.editing import inline_calls
from dialect_utils.verdict import Options, compare_modules

NESTED = """module {
  func.func private @twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0, %a : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @looped(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<4xf32>
    cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y:2 = func.call @twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %w = stablehlo.add %y#0, %a : tensor<4xf32>
      %m = stablehlo.subtract %i, %one : tensor<i32>
      stablehlo.return %m, %w : tensor<i32>, tensor<4xf32>
    }
    return %r#1 : tensor<4xf32>
  }
  func.func public @main(%a: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = call @looped(%a, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    %1:2 = call @twice(%0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2 = call @looped(%1#0, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    return %2, %1#1 : tensor<4xf32>, tensor<4xf32>
  }
}
"""


def inlined(text: str) -> str:
    with context(allow_unregistered=False), ir.Location.unknown():
        module = ir.Module.parse(text)
        inline_calls(module)
        module.operation.verify()
        return str(module)


def test_calls_in_calls_and_loops_are_inlined(worker: Worker) -> None:
    text = inlined(NESTED)
    assert "call" not in text
    assert text.count("func.func") == 1
    inputs = [[np.arange(4, dtype=np.float32), np.array(n, np.int32)] for n in range(4)]
    before, after = (worker.run(Program(each, "stablehlo"), inputs) for each in (NESTED, text))
    np.testing.assert_array_equal(before, after)


TWICE = (
    "func.func {2} @{0}(%a: tensor<f32>) -> tensor<f32> {{\n %0 = call @{1}(%a) : (tensor<f32>) -> tensor<f32>\n"
    " %1 = call @{1}(%0) : (tensor<f32>) -> tensor<f32>\n return %1 : tensor<f32> }}\n"
)


def test_calls_that_expand_exponentially_stay() -> None:
    functions = "".join(TWICE.format(f"f{i + 1}", f"f{i}", "private") for i in range(40))
    last = "func.func private @f0(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }\n"
    assert "call @f" in inlined(f"module {{\n{last}{functions}{TWICE.format('main', 'f40', 'public')}}}\n")


def cumsum(body: str) -> str:
    return (
        "module {\n func.func private @f(%x: tensor<40xf32>) -> tensor<40xf32> {\n"
        f" %z = stablehlo.constant dense<0.0> : tensor<f32>\n {body}\n return %r : tensor<40xf32> }}\n"
        " func.func public @main(%x: tensor<40xf32>) -> tensor<40xf32> {\n"
        " %r = call @f(%x) : (tensor<40xf32>) -> tensor<40xf32>\n return %r : tensor<40xf32> }\n}\n"
    )


WINDOW = (
    '"stablehlo.reduce_window"({0}, %z) <{{padding = dense<[[39, 0]]> : tensor<1x2xi64>,'
    " window_dimensions = array<i64: 40>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>,"
    " window_dilations = array<i64: 1>}}> ({{ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    " %s = stablehlo.add %a, %b : tensor<f32>\n stablehlo.return %s : tensor<f32> }})"
    " : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>\n"
)
# Sums from the other end, subtracted from the total.
FROM_THE_END = (
    "%y = stablehlo.reverse %x, dims = [0] : tensor<40xf32>\n %v = {0} %u = stablehlo.reverse %v, dims = [0]"
    " : tensor<40xf32>\n %l = stablehlo.slice %u [0:1] : (tensor<40xf32>) -> tensor<1xf32>\n"
    " %t = stablehlo.reshape %l : (tensor<1xf32>) -> tensor<f32>\n"
    " %w = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<40xf32>\n"
    " %d = stablehlo.subtract %w, %u : tensor<40xf32>\n %r = stablehlo.add %d, %x : tensor<40xf32>"
)


def test_sums_in_a_function_have_their_own_error(worker: Worker) -> None:
    """The widened module once kept called functions unchanged, so no rounding error was allowed in them."""
    forms = cumsum("%r = " + WINDOW.format("%x")), cumsum(FROM_THE_END.format(WINDOW.format("%y")))
    finite = tuple(np.random.default_rng(0).standard_normal((1, 40)).astype(np.float32))
    a, b = (parse_bytes(text.encode(), "m.mlir") for text in forms)
    verdict = compare_modules(a, b, Options(engines=("xla",), inputs=finite, power=0), worker)
    assert verdict.verdict == "agrees", verdict
