module @m {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<4xi32> {mhlo.layout_mode = "{0:T(8)}"}) {
    %0:2 = "stablehlo.case"(%arg0) ({
      %a = stablehlo.negate %arg1 {xla_shape = "f32[3,5]{1,0:T(2,2)}"} : tensor<3x5xf32>
      %b = stablehlo.constant {xla_shape = "s32[4]{0:T(8)}"} dense<[1,2,3,4]> : tensor<4xi32>
      stablehlo.return %a, %b : tensor<3x5xf32>, tensor<4xi32>
    }, {
      %b = stablehlo.constant dense<7> : tensor<4xi32>
      stablehlo.return %arg1, %b : tensor<3x5xf32>, tensor<4xi32>
    }) {xla_shape = "(f32[3,5]{1,0:T(2,2)}, s32[4]{0:T(8)})"} : (tensor<i32>) -> (tensor<3x5xf32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<3x5xf32>, tensor<4xi32>
  }
}
