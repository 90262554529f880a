"""StableHLO programs that several tests read."""

CONTROL_FLOW = """\
module @control {
  sdy.mesh @mesh = <["x"=2]>
  func.func private @twice(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %sum = stablehlo.add %x, %x : tensor<3x5xf32>
    return %sum : tensor<3x5xf32>
  }
  func.func public @main(%lhs: tensor<3x5xf32> {tf.aliasing_output = 1 : i32}, %token: !stablehlo.token)
      -> (tensor<3x5xf32>, tensor<3x5xf32>) {
    %called = func.call @twice(%lhs) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %total = stablehlo.reduce(%called init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %loop:2 = stablehlo.while(%it = %called, %other = %total) : tensor<3x5xf32>, tensor<f32>
      cond {
        %no = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %no : tensor<i1>
      } do {
        %next = stablehlo.add %it, %called : tensor<3x5xf32>
        stablehlo.return %next, %total : tensor<3x5xf32>, tensor<f32>
      }
    return %called, %loop#0 : tensor<3x5xf32>, tensor<3x5xf32>
  }
}
"""

# As XLA's importer writes it: the entry's layouts on the module, those of operations in xla_shape.
IMPORTED = """\
module @imported attributes {
    mhlo.xla_entry_computation_parameter_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    mhlo.xla_entry_computation_parameter_tiles =
      [[dense<[2, 4]> : tensor<2xindex>, dense<[2, 1]> : tensor<2xindex>], []],
    mhlo.xla_entry_computation_result_layout = [dense<[1, 0]> : tensor<2xindex>],
    mhlo.xla_entry_computation_result_tiles = [[dense<2> : tensor<2xindex>]]} {
  func.func @main(%p: tensor<4x8xbf16>, %q: tensor<i32>) -> tensor<4x8xbf16> {
    %sum = stablehlo.add %p, %p {result_layout = dense<[0, 1]> : tensor<2xindex>,
                                 xla_shape = "bf16[4,8]{0,1:T(2,4)(2,1)}"} : tensor<4x8xbf16>
    return %sum : tensor<4x8xbf16>
  }
}
"""

MANY_RESULTS = """\
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>) {
  %sorted:2 = "stablehlo.sort"(%a, %b) ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return %sorted#0, %sorted#1 : tensor<4x6xf32>, tensor<4x6xi32>
}
"""


def one_op(body: str, argument: str = "tensor<3x5xf32>", result: str = "tensor<3x5xf32>") -> str:
    """Returns a module whose main holds one operation on `%a` that defines `%r`."""
    return f"func.func @main(%a: {argument}) -> {result} {{\n  %r = {body}\n  return %r : {result}\n}}\n"
