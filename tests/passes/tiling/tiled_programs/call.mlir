module @m {
  func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, %unused: tensor<7xf32> {mhlo.layout_mode = "{0:T(4)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{0,1:T(2,2)}"}, tensor<3x5xf32>) {
    %0:2 = call @f(%arg0) {xla_shape = "(f32[3,5]{1,0:T(2,2)}, f32[3,5]{0,1:T(2,2)})"} : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
    %1 = call @g(%0#0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    return %0#1, %1 : tensor<3x5xf32>, tensor<3x5xf32>
  }
  func.func private @f(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<3x5xf32> {mhlo.layout_mode = "{0,1:T(2,2)}"}) {
    %n = stablehlo.negate %arg0 {xla_shape = "f32[3,5]{0,1:T(2,2)}"} : tensor<3x5xf32>
    return %arg0, %n : tensor<3x5xf32>, tensor<3x5xf32>
  }
  func.func private @g(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    return %arg0 : tensor<3x5xf32>
  }
  func.func public @other(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) {
    return %arg0 : tensor<3x5xf32>
  }
}
