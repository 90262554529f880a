func.func public @main(%x: tensor<4x6xf32> {mhlo.layout_mode = "{1,0:T(2,4)}"}, %y: tensor<4x6xi32> {mhlo.layout_mode = "{1,0:T(2,4)}"}) -> (tensor<4xf32> {mhlo.layout_mode = "{0:T(8)}"}, tensor<4xf32> {mhlo.layout_mode = "{0:T(8)}"}, tensor<4xi32> {mhlo.layout_mode = "{0:T(4)}"}, tensor<4x6xf32> {mhlo.layout_mode = "{1,0:T(2,4)}"}, tensor<4x6xi32> {mhlo.layout_mode = "{1,0:T(2,4)}"}, tensor<4x6xf32> {mhlo.layout_mode = "{1,0:T(2,4)}"}, tensor<2x3xf32> {mhlo.layout_mode = "{1,0:T(2,4)}"}, tensor<4x6xf32> {mhlo.layout_mode = "{1,0:T(2,4)}"}, tensor<4x6xf32> {mhlo.layout_mode = "{1,0:T(2,4)}"}) {
  %zero = stablehlo.constant {xla_shape = "f32[]{:T(128)}"} dense<0.0> : tensor<f32>
  %izero = stablehlo.constant {xla_shape = "s32[]{:T(128)}"} dense<0> : tensor<i32>
  %red = "stablehlo.reduce"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1>, xla_shape = "f32[4]{0:T(8)}"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %var:2 = "stablehlo.reduce"(%x, %y, %zero, %izero) ({
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
    %s = stablehlo.maximum %a, %b {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    %k = stablehlo.minimum %i, %j {xla_shape = "s32[]{:T(128)}"} : tensor<i32>
    stablehlo.return %s, %k : tensor<f32>, tensor<i32>
  }) {dimensions = array<i64: 1>, xla_shape = "(f32[4]{0:T(8)}, s32[4]{0:T(4)})"} : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  %so:2 = "stablehlo.sort"(%x, %y) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %s = stablehlo.compare LT, %a, %b {xla_shape = "pred[]{:T(512)}"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true, xla_shape = "(f32[4,6]{1,0:T(2,4)}, s32[4,6]{1,0:T(2,4)})"} : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  %map = "stablehlo.map"(%x, %x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant {xla_shape = "f32[]{:T(128)}"} dense<2.0> : tensor<f32>
    %s = stablehlo.multiply %a, %c {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    %t = stablehlo.add %s, %b {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 0, 1>, xla_shape = "f32[4,6]{1,0:T(2,4)}"} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %rw = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, xla_shape = "f32[2,3]{1,0:T(2,4)}"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  %sas = "stablehlo.select_and_scatter"(%x, %rw, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.compare GE, %a, %b {xla_shape = "pred[]{:T(512)}"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, xla_shape = "f32[4,6]{1,0:T(2,4)}"} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %idx = stablehlo.constant {xla_shape = "s32[1,1]{1,0:T(1,128)}"} dense<1> : tensor<1x1xi32>
  %upd = stablehlo.slice %x [0:1, 0:6] {xla_shape = "f32[1,6]{1,0:T(2,4)}"} : (tensor<4x6xf32>) -> tensor<1x6xf32>
  %sc = "stablehlo.scatter"(%x, %idx, %upd) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b {xla_shape = "f32[]{:T(128)}"} : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, xla_shape = "f32[4,6]{1,0:T(2,4)}"} : (tensor<4x6xf32>, tensor<1x1xi32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  return %red, %var#0, %var#1, %so#0, %so#1, %map, %rw, %sas, %sc : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x6xf32>, tensor<2x3xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
