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
    with context(), ir.Location.unknown():
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


def test_observed_values_are_those_of_main_its_calls_and_first_iterations(worker: Worker) -> None:
    a, n = np.arange(4, dtype=np.float32), np.array(3, np.int32)
    program = Program(NESTED, "stablehlo")
    own = worker.run(program, [[a, n]])[0]
    found, start, total = [], 0, 1
    while start < total:
        text, (count, total) = worker.rewrite("observe", program, first=start, most_elements=10, iterations=1)
        outputs = worker.run(text, [[a, n]])[0]
        np.testing.assert_array_equal(outputs[:2], own)
        assert 1 <= count == len(outputs) - 2
        assert sum(array.size for array in outputs[2:]) <= 10
        found += outputs[2:]
        start += count
    # The additions and the subtraction in the first iteration of a loop, its results, an addition; the other loop.
    looped = a * (2**3 + 2**3 - 1)
    second = 2 * looped * 2**3 + 2 * looped * (2**3 - 1)
    assert [array.shape for array in found] == [(4,), (4,), (), (), (4,), (4,), (4,), (4,), (), (), (4,)]
    for got, wanted in zip(
        found, [2 * a, 3 * a, 2, 0, looped, 2 * looped, 4 * looped, 6 * looped, 2, 0, second], strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
    whole, (count, total) = worker.rewrite("observe", program, first=0, most_elements=1 << 20, iterations=1)
    assert count == total == len(found)
    assert len(worker.run(whole, [[a, n]])[0]) == 2 + total


def test_an_array_that_is_larger_than_the_limit_is_returned_alone(worker: Worker) -> None:
    program = Program(NESTED, "stablehlo")
    _, (count, total) = worker.rewrite("observe", program, first=1, most_elements=0, iterations=1)
    assert (count, total) == (1, 11)
    assert worker.rewrite("observe", program, first=11, most_elements=0, iterations=1)[1] == (0, 11)


def test_a_loop_is_observed_for_several_iterations(worker: Worker) -> None:
    a, n = np.arange(4, dtype=np.float32), np.array(4, np.int32)
    text, (count, total) = worker.rewrite(
        "observe", Program(NESTED, "stablehlo"), first=0, most_elements=1 << 20, iterations=3
    )
    outputs = worker.run(text, [[a, n]])[0][2:]
    assert count == total == 11 + 2 * 2 * 3
    states = [array for array in outputs if array.shape == (4,)][:6]
    for got, wanted in zip(states, [2 * a, 3 * a, 6 * a, 7 * a, 14 * a, 15 * a], strict=True):
        np.testing.assert_array_equal(got, wanted)


LARGEST = """module {
  func.func private @larger(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = func.call @compared(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @compared(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @main(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
    %0 = stablehlo.custom_call @TopK(%x) {called_computations = [@larger], xla_shape = "(f32[2,2]{1,0}, s32[2,2]{1,0})"}
      : (tensor<2x4xf32>) -> tuple<tensor<2x2xf32>, tensor<2x2xi32>>
    %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<2x2xf32>, tensor<2x2xi32>>) -> tensor<2x2xf32>
    %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2x2xf32>, tensor<2x2xi32>>) -> tensor<2x2xi32>
    %3 = stablehlo.add %1, %1 : tensor<2x2xf32>
    return %3, %2 : tensor<2x2xf32>, tensor<2x2xi32>
  }
}
"""


def test_a_function_that_a_custom_call_applies_stays_and_its_tuple_is_widened(worker: Worker) -> None:
    """XLA crashed on a call of a function that was removed."""
    x = np.array([[3, 1, 4, 1.5], [9, 2, 6, 5]], np.float32)
    text, _ = worker.rewrite("unround", Program(LARGEST, "stablehlo"))
    values, numbers = worker.run(text, [[x]])[0]
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, [[8, 6], [18, 12]])
    np.testing.assert_array_equal(numbers, [[2, 0], [0, 2]])
    assert "@larger" in inlined(LARGEST)
